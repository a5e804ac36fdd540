//===- segments_test.cpp - Raw rows, codes and the border between them ----===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Short sequences around every border of the segments: no token, fewer than the
// sink, fewer than the recent ones, a block just full, windows that end in each
// of the ranges. Appended in every way; the stored bytes and the outputs must
// not tell.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"
#include "Guard.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

struct Scheme {
  const char *name, *text;
};

constexpr Scheme kTokenBlocks = {"blocks_of_8",
                                 R"({"codec": "int4", "zero": "min",
        "scale": {"tokens": 8, "channels": 1, "dtype": "f16"}})"};
constexpr Scheme kWideBlocks = {
    "blocks_of_3",
    R"({"codec": "int5", "scale": {"tokens": 3, "channels": 16, "dtype": "bf16"}})"};
constexpr Scheme kTokens = {
    "tokens",
    R"({"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})"};
constexpr Scheme kRotated = {"rotated",
                             R"({"codec": "int4", "zero": "code", "rotate": 16,
        "scale": {"tokens": 4, "channels": "all", "dtype": "f16"}})"};
constexpr Scheme kRms = {
    "rms",
    R"({"codec": "lut", "table": [-1.5, -0.5, 0.5, 1.5], "estimate": "rms",
        "scale": {"tokens": 6, "channels": 8, "dtype": "f32"}})"};
constexpr Scheme kSigned = {
    "signed",
    R"({"codec": "int4", "estimate": "signed", "round": "up",
        "scale": {"tokens": 5, "channels": 2, "dtype": "f16"}})"};

struct Case {
  const char *name;
  const Scheme &key, &value;
  const char *attention, *segments, *layout;
};

const Case kCases[] = {
    {"SinkAndRecent", kTokens, kTokens, "", R"("sink": 3, "recent": 5)",
     R"("kind": "contiguous")"},
    {"SinkAlone", kTokens, kTokens, "", R"("sink": 9)",
     R"("kind": "paged", "page": 4)"},
    {"KeysInBlocks", kTokenBlocks, kTokens, "", R"("sink": 1, "recent": 8)",
     R"("kind": "paged", "page": 16)"},
    {"ValuesInBlocks", kTokens, kTokenBlocks, "", R"("recent": 10)",
     R"("kind": "contiguous", "order": "hnd")"},
    {"BlocksThatDoNotDivide", kWideBlocks, kTokenBlocks, "",
     R"("sink": 2, "recent": 8)", R"("kind": "contiguous", "order": "nhd")"},
    {"RotatedAndRms", kRotated, kRms, "", R"("sink": 4, "recent": 6)",
     R"("kind": "contiguous")"},
    {"RmsAndRotated", kRms, kRotated, "", R"("recent": 7)",
     R"("kind": "contiguous")"},
    {"Signed", kSigned, kSigned, "", R"("recent": 5)",
     R"("kind": "contiguous")"},
    {"WindowInsideRecent", kTokenBlocks, kTokens, R"(, "window": 5)",
     R"("sink": 4, "recent": 12)", R"("kind": "contiguous")"},
    {"WindowBehindTheSink", kTokenBlocks, kTokens,
     R"(, "window": 30, "window_sinks": 2)", R"("sink": 4, "recent": 8)",
     R"("kind": "paged", "page": 8)"},
    {"VisibleSinksBeyondTheSink", kTokens, kTokenBlocks,
     R"(, "window": 10, "window_sinks": 20)", R"("sink": 3, "recent": 8)",
     R"("kind": "contiguous")"},
    {"Ring", kTokenBlocks, kTokens, R"(, "window": 40, "window_sinks": 3)",
     R"("sink": 4, "recent": 8)", R"("kind": "ring")"},
    {"RingOfOddBlocks", kWideBlocks, kSigned, R"(, "window": 17)",
     R"("recent": 7)", R"("kind": "ring")"},
    {"RingWithoutSegments", kTokens, kTokens, R"(, "window": 70)", "",
     R"("kind": "ring")"}};

std::string textOf(const Case &test) {
  return std::string(R"({"kvc": 1, "name": "segments", "attention": )"
                     R"({"q_heads": 6, "kv_heads": 2, "head_dim": 32, )"
                     R"("value_dim": 48)") +
         test.attention + R"(}, "io": {"query": "f16"}, "key": )" +
         test.key.text + R"(, "value": )" + test.value.text +
         R"(, "segments": {)" + test.segments + R"(}, "layout": {)" +
         test.layout + "}}";
}

class Segments : public testing::TestWithParam<Case> {};

TEST_P(Segments, NeverTellHowTokensArrived) {
  const Case &test = GetParam();
  const std::string text = textOf(test);
  SCOPED_TRACE(text);
  const auto spec = spec::parseSpec(text);
  ASSERT_TRUE(spec) << spec.error().str();
  // Keys of 0, 1, 8, 9, 15 tokens and of several tiles; a decode, more queries
  // than keys, a prefill.
  const Lengths lengths[] = {{2, 0},  {1, 1},   {1, 8},   {2, 9},  {1, 15},
                             {1, 16}, {20, 20}, {1, 300}, {5, 97}, {130, 130}};
  const Inputs inputs = randomInputs(*spec, lengths, InputMode::Normal, 5);
  const Answer expected = answer(*spec, inputs);
  const CompilerHandle compiler = createCompiler();
  const Threads twoThreads(2);
  std::vector<std::string> targets = {"host"};
  // Instrumented kernels take several times as long; the matrix has portable
  // ones.
  if (!KVC_TEST_ASAN)
    targets.emplace_back("portable");
  for (const std::string &target : targets) {
    SCOPED_TRACE(target);
    kvc_compile_options options = testOptionsFor(target);
    // Compiling is nearly all of the time, and each of the kernels that attend
    // runs all rows where it is alone.
    if (target == "portable")
      options.kernels = "append,decode,merge,unpack";
    const Engine engine(compiler.get(), text, test.name, options);
    std::optional<Attended> first;
    for (int64_t chunk : {0, 1, 3, 16}) {
      SCOPED_TRACE("chunk " + std::to_string(chunk));
      Session session(engine, *spec, inputs, RowOrder::Padded, chunk);
      for (const std::string &line :
           wrongStored(*spec, session, engine, expected))
        ADD_FAILURE() << line;
      const Attended attended = session.attend(engine, twoThreads.loop());
      for (const std::string &line :
           wrongAttended(*spec, inputs, attended, expected))
        ADD_FAILURE() << line;
      if (!first)
        first = attended;
      EXPECT_EQ(first->outBytes, attended.outBytes);
      EXPECT_EQ(first->lseBytes, attended.lseBytes);
      session.freeCache();
      EXPECT_FALSE(session.device().overruns());
    }
  }
}

/// The first `tokens` of every sequence, or as many as it has.
Inputs cutTo(const spec::Attention &attention, const Inputs &all,
             int64_t tokens) {
  Inputs result = all;
  result.k.clear();
  result.v.clear();
  for (size_t i = 0; i + 1 < all.cuKv.size(); ++i) {
    const int64_t count = std::min(tokens, all.cuKv[i + 1] - all.cuKv[i]);
    auto take = [&](const std::vector<float> &from, int64_t channels,
                    std::vector<float> &to) {
      const int64_t width = attention.kvHeads * channels;
      const auto first = from.begin() + all.cuKv[i] * width;
      to.insert(to.end(), first, first + count * width);
    };
    take(all.k, attention.headDim, result.k);
    take(all.v, attention.valueDim, result.v);
    result.cuKv[i + 1] = result.cuKv[i] + count;
  }
  return result;
}

/// As a model generates: some tokens are appended, queries attend, and so on.
TEST_P(Segments, AreTheSameAtEveryStepOfAGrowingSequence) {
  const std::string text = textOf(GetParam());
  SCOPED_TRACE(text);
  const auto spec = spec::parseSpec(text);
  ASSERT_TRUE(spec) << spec.error().str();
  const Lengths lengths[] = {{2, 90}, {1, 9}, {3, 41}};
  const Inputs all = randomInputs(*spec, lengths, InputMode::Normal, 6);
  const CompilerHandle compiler = createCompiler();
  const std::string target = "host";
  kvc_compile_options options = testOptionsFor(target);
  options.kernels = "append,decode,merge,unpack";
  const Engine engine(compiler.get(), text, GetParam().name, options);
  Inputs now = cutTo(spec->attention, all, 0);
  Session grown(engine, *spec, now, RowOrder::Padded, all);
  // One by one over the borders, then in steps of many.
  for (int64_t tokens : {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                         15, 16, 17, 18, 19, 20, 23, 31, 32, 48, 49, 66, 90}) {
    SCOPED_TRACE(std::to_string(tokens) + " tokens");
    now = cutTo(spec->attention, all, tokens);
    grown.appendNew(engine);
    const Answer expected = answer(*spec, now);
    EXPECT_EQ(wrongStored(*spec, grown, engine, expected),
              std::vector<std::string>());
    const Attended attended = grown.attend(engine, nullptr);
    EXPECT_EQ(wrongAttended(*spec, now, attended, expected),
              std::vector<std::string>());
    const Session once(engine, *spec, now, RowOrder::Padded, 0);
    const Attended attendedOnce = once.attend(engine, nullptr);
    EXPECT_EQ(attended.outBytes, attendedOnce.outBytes);
    EXPECT_EQ(attended.lseBytes, attendedOnce.lseBytes);
  }
  grown.freeCache();
  EXPECT_FALSE(grown.device().overruns());
}

//===----------------------------------------------------------------------===//
// Blocks that no stack holds
//===----------------------------------------------------------------------===//

/// What is kept of a whole block of tokens while it is quantised lies in a
/// workspace; each codec keeps something else.
TEST(LargeBlocks, AreQuantisedInAWorkspace) {
  constexpr int64_t tokens = 40000;
  const std::string scale =
      R"("scale": {"tokens": 40000, "channels": 16, "dtype": "f32"}})";
  const std::string schemes[] = {
      R"({"codec": "int4", "estimate": "signed", )" + scale,
      R"({"codec": "int8", "zero": "min", "outliers": 1, )" + scale,
      R"({"codec": "lut", "table": [-1, -0.5, 0.25, 1], "estimate": "rms", "rotate": 16, )" +
          scale};
  const CompilerHandle compiler = createCompiler();
  for (size_t i = 0; i < std::size(schemes); ++i) {
    const std::string text =
        R"({"kvc": 1, "name": "large", "attention": {"q_heads": 2, )"
        R"("kv_heads": 2, "head_dim": 16}, "io": {"query": "f16"}, "key": )" +
        schemes[i] + R"(, "value": )" + schemes[(i + 1) % std::size(schemes)] +
        R"(, "segments": {"recent": 40000}})";
    SCOPED_TRACE(text);
    const auto spec = spec::parseSpec(text);
    ASSERT_TRUE(spec) << spec.error().str();
    const Lengths lengths[] = {{1, 2 * tokens + 7}, {2, tokens + 1}};
    const Inputs inputs = randomInputs(*spec, lengths, InputMode::Normal, 8);
    const std::string target = "host";
    kvc_compile_options options = testOptionsFor(target);
    options.kernels = "append,decode,merge,unpack";
    const Engine engine(compiler.get(), text, "large", options);
    for (int64_t k = 0; k < engine.table().num_kernels; ++k) {
      const kvc_kernel_info &kernel = engine.table().kernels[k];
      EXPECT_EQ(kernel.workspace_bytes > 4 * tokens * 16,
                std::string_view(kernel.name) == "append")
          << kernel.name << ": " << kernel.workspace_bytes;
    }
    const Answer expected = answer(*spec, inputs);
    Session session(engine, *spec, inputs, RowOrder::Dense, 30000);
    EXPECT_EQ(wrongStored(*spec, session, engine, expected),
              std::vector<std::string>());
    EXPECT_EQ(
        wrongAttended(*spec, inputs, session.attend(engine, nullptr), expected),
        std::vector<std::string>());
    session.freeCache();
    EXPECT_FALSE(session.device().overruns());
  }
}

/// f32 tells 2^24 elements of a block apart. In larger ones the first of the
/// largest is found by token and channel, and those that outliers leave are
/// counted in f64.
TEST(LargeBlocks, OfMoreElementsThanF32Counts) {
  if (KVC_TEST_ASAN)
    GTEST_SKIP() << "minutes, of kernels that are instrumented above";
  constexpr int64_t tokens = 32768, channels = 520;
  const std::string scale =
      R"("scale": {"tokens": 32768, "channels": "all", "dtype": "f32"}})";
  struct {
    std::string scheme;
    float largest, scale;
  } cases[] = {
      // The first of two neighbours, which have one number in f32.
      {R"({"codec": "int8", "estimate": "signed", )" + scale, 3, -3.0F / -128},
      // Of elements of 1 and -1 without the outliers.
      {R"({"codec": "lut", "table": [-1, -0.5, 0.25, 1], "estimate": "rms", "outliers": 1, )" +
           scale,
       1, 1}};
  static_assert(tokens * channels > (1 << 24) + 4);
  const CompilerHandle compiler = createCompiler();
  for (const auto &[scheme, largest, expected] : cases) {
    const std::string text =
        R"({"kvc": 1, "name": "large", "attention": {"q_heads": 1, "kv_heads": 1, )"
        R"("head_dim": 520, "value_dim": 16}, "io": {"query": "f16"}, "key": )" +
        scheme +
        R"(, "value": {"codec": "f16"}, "segments": {"recent": 32768}})";
    SCOPED_TRACE(text);
    const auto spec = spec::parseSpec(text);
    ASSERT_TRUE(spec) << spec.error().str();
    Inputs inputs;
    inputs.q.assign(channels, 1.0F);
    inputs.k.assign(2 * tokens * channels, 1.0F);
    inputs.v.assign(2 * tokens * 16, 1.0F);
    inputs.cuQ = {0, 1};
    inputs.cuKv = {0, 2 * tokens};
    inputs.key.parts.resize(1);
    inputs.value.parts.resize(1);
    inputs.k[(1 << 24) + 3] = -largest;
    inputs.k[(1 << 24) + 4] = largest;
    const std::string target = "host";
    kvc_compile_options options = testOptionsFor(target);
    options.kernels = "append,unpack";
    const Engine engine(compiler.get(), text, "large", options);
    const Session session(engine, *spec, inputs, RowOrder::Dense, 0);
    TensorData data;
    data.tokens = inputs.cuKv.back();
    EXPECT_EQ(session.unpack(engine, spec::Tensor::Key, 0, data).scales.front(),
              expected);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Segments, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

} // namespace
