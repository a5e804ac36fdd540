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

class Segments : public testing::TestWithParam<Case> {};

TEST_P(Segments, NeverTellHowTokensArrived) {
  const Case &test = GetParam();
  const std::string text =
      std::string(R"({"kvc": 1, "name": "segments", "attention": )"
                  R"({"q_heads": 6, "kv_heads": 2, "head_dim": 32, )"
                  R"("value_dim": 48)") +
      test.attention + R"(}, "io": {"query": "f16"}, "key": )" + test.key.text +
      R"(, "value": )" + test.value.text + R"(, "segments": {)" +
      test.segments + R"(}, "layout": {)" + test.layout + "}}";
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

INSTANTIATE_TEST_SUITE_P(All, Segments, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

} // namespace
