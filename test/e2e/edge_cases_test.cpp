//===- edge_cases_test.cpp - Attention where kernels break ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Lengths, shapes, masks and bytes that are rare in a model and hard on a
// kernel, each under a name of its own: decode and prefill, native and (one
// pair of schemes) portable, against the reference.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr const char *kF16 = R"({"codec": "f16"})";
constexpr const char *kF32 = R"({"codec": "f32"})";
constexpr const char *kInt8 =
    R"({"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}})";
constexpr const char *kSigned =
    R"({"codec": "int8", "estimate": "signed", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}})";
constexpr const char *kInt4 =
    R"({"codec": "int4", "zero": "min", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}})";
constexpr const char *kInt3 =
    R"({"codec": "int3", "zero": "code", "scale": {"tokens": 1, "channels": 8, "dtype": "f32"}})";
constexpr const char *kInt5Blocks =
    R"({"codec": "int5", "scale": {"tokens": 8, "channels": 1, "dtype": "bf16"}})";
constexpr const char *kTokenBlocks =
    R"({"codec": "int2", "zero": "min", "scale": {"tokens": 32, "channels": 1, "dtype": "f16"}})";
constexpr const char *kFp8 =
    R"({"codec": "fp8_e4m3", "scale": {"tokens": 1, "channels": 8, "dtype": "e8m0"}})";
constexpr const char *kLatents =
    R"({"parts": [{"channels": [0, 512], "codec": "fp8_e4m3",)"
    R"( "scale": {"tokens": 1, "channels": 128, "dtype": "f32", "round": "up", "floor": 0.0001}},)"
    R"( {"channels": [512, 576], "codec": "bf16"}]})";
constexpr const char *kLut =
    R"({"codec": "lut", "table": [-1, -0.25, 0.125, 1], "zero": "mid",)"
    R"( "scale": {"tokens": 1, "channels": 8, "dtype": "f16"}})";

constexpr const char *kPages = R"(, "layout": {"kind": "paged", "page": 16})";
constexpr const char *kRows =
    R"(, "layout": {"kind": "paged", "page": 16, "order": "nhd"})";
constexpr const char *kHeads =
    R"(, "layout": {"kind": "paged", "page": 64, "order": "hnd"})";

struct Schemes {
  const char *key, *value; ///< Null: the value is the key.
};

struct Edge {
  // Compilers want initialisers of members that are left out of a list.
  // NOLINTBEGIN(readability-redundant-member-init)
  std::string name = {};
  std::string attention = {}; ///< Without its braces.
  std::vector<Lengths> lengths = {};
  // NOLINTEND(readability-redundant-member-init)
  std::vector<Schemes> schemes = {{kInt4, kInt8}, {kF16, kFp8}};
  const char *query = "f16", *layout = "";
  std::vector<int64_t> chunks = {0};
  std::vector<LentPages> pages = {{}};
  int64_t tileTokens = 0, splitTokens = 0; ///< 0: the compiler's choice.
  int32_t moreKeys = 0;                    ///< That the plan is made for.
  InputMode values = InputMode::Normal;
};

/// Decode and prefill of a few tiles.
const std::vector<Lengths> kUsual = {{1, 70}, {3, 20}, {40, 90}};

std::string heads(int64_t query, int64_t kv, int64_t dim) {
  return "\"q_heads\": " + std::to_string(query) +
         ", \"kv_heads\": " + std::to_string(kv) +
         ", \"head_dim\": " + std::to_string(dim);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void addLengths(std::vector<Edge> &edges) {
  const std::vector<Schemes> all = {
      {kF16, kF32}, {kInt4, kInt8}, {kLut, kFp8}, {kInt3, kLut}};
  for (int64_t keys : {0, 1, 8, 9, 15})
    edges.push_back(
        {.name = "keys_" + std::to_string(keys),
         .attention = heads(6, 2, 32),
         .lengths = {{1, keys}, {3, keys}, {keys, keys}, {40, keys}},
         .schemes = {all[size_t(keys) % 4], all[1]},
         .layout = keys % 2 ? kPages : ""});
  edges.push_back({.name = "fewer_keys_than_queries",
                   .attention = heads(4, 2, 64),
                   .lengths = {{9, 4}, {30, 17}, {130, 5}, {2, 1}, {70, 66}}});
  edges.push_back({.name = "fewer_keys_than_queries_in_a_window",
                   .attention = heads(4, 2, 64) + R"(, "window": 3)",
                   .lengths = {{9, 4}, {30, 17}, {130, 5}, {2, 1}, {70, 66}},
                   .layout = kRows});
  edges.push_back(
      {.name = "one_query_against_chunks",
       .attention = heads(3, 1, 40),
       .lengths =
           {{1, 7}, {1, 8}, {1, 14}, {1, 63}, {1, 64}, {1, 65}, {1, 200}},
       .schemes = {{kInt4, kInt8}, {kInt5Blocks, kF16}},
       .layout = R"(, "segments": {"sink": 2, "recent": 9})",
       .chunks = {0, 1, 7, 64}});
  edges.push_back({.name = "one_query_against_chunks_in_pages",
                   .attention = heads(3, 1, 40),
                   .lengths = {{1, 7}, {1, 16}, {1, 17}, {1, 100}},
                   .schemes = {{kInt3, kLut}},
                   .layout = kPages,
                   .chunks = {0, 1, 7, 64}});
  for (const char *mask : {"", R"(, "window": 20)", R"(, "mask": "none")"})
    edges.push_back(
        {.name = std::string("more_splits_than_tiles_") +
                 (*mask ? mask[3] == 'w' ? "window" : "none" : "causal"),
         .attention = heads(5, 1, 32) + mask + R"(, "sink_logits": true)",
         .lengths = {{1, 5}, {1, 16}, {1, 17}, {2, 100}, {40, 41}, {1, 0}},
         .tileTokens = 16,
         .splitTokens = 16,
         .moreKeys = 5000});
}

void addShapes(std::vector<Edge> &edges) {
  for (int64_t group : {3, 5, 6, 7, 12, 71}) {
    edges.push_back({.name = "group_" + std::to_string(group),
                     .attention = heads(2 * group, 2, 64),
                     .lengths = {{1, 70}, {2, 20}, {15, 30}}});
    if (group % 2)
      edges.push_back(
          {.name = "sink_logits_of_group_" + std::to_string(group),
           .attention = heads(group, 1, 64) + R"(, "sink_logits": true)",
           .lengths = {{1, 70}, {2, 20}, {15, 30}, {2, 0}, {5, 2}},
           .schemes = {{kLut, kInt4}},
           .query = group == 5 ? "f32" : "bf16",
           .layout = kHeads});
  }
  for (int64_t dim : {72, 80, 96, 112, 256, 512})
    edges.push_back({.name = "head_dim_" + std::to_string(dim),
                     .attention = heads(4, 2, dim),
                     .lengths = {{1, 70}, {2, 20}, {15, 30}},
                     .schemes = {{kInt4, kInt8}, {kFp8, kInt3}},
                     .layout = dim % 16 ? kRows : kPages});
  edges.push_back({.name = "head_dim_192_value_dim_128",
                   .attention = heads(4, 2, 192) + R"(, "value_dim": 128)",
                   .lengths = kUsual,
                   .layout = kPages});
  edges.push_back({.name = "head_dim_192_in_blocks_of_tokens",
                   .attention = heads(4, 2, 192) + R"(, "value_dim": 256)",
                   .lengths = {{1, 100}, {3, 70}, {15, 90}},
                   .schemes = {{kTokenBlocks, kTokenBlocks}},
                   .layout = R"(, "segments": {"recent": 32})"});
  edges.push_back({.name = "head_dim_576_value_dim_512",
                   .attention = heads(4, 1, 576) + R"(, "value_dim": 512)",
                   .lengths = {{1, 70}, {2, 20}, {9, 10}},
                   .layout = kPages});
  // Where i32 sums of products come nearest to their end: codes of 127, 15 and
  // -128.
  for (const auto &[name, scheme] :
       {std::pair("int8", kInt8), std::pair("int4", kInt4),
        std::pair("signed", kSigned)})
    edges.push_back(
        {.name = std::string("head_dim_576_of_the_largest_codes_") + name,
         .attention = heads(4, 2, 576),
         .lengths = {{1, 70}, {2, 20}, {9, 10}},
         .schemes = {{scheme, scheme}},
         .layout = kPages,
         .values = InputMode::LargestCodes});
  edges.push_back(
      {.name = "head_dim_576_value_is_512_of_it",
       .attention = heads(16, 1, 576) + R"(, "value_is_key": [0, 512])",
       .lengths = {{1, 70}, {2, 20}},
       .schemes = {{kF16, nullptr}, {kFp8, nullptr}}});
  // Latents as DeepSeek's models cache them: the flashmla preset, written out.
  for (int64_t group : {16, 128})
    edges.push_back(
        {.name = "latents_of_" + std::to_string(group) + "_query_heads",
         .attention = heads(group, 1, 576) + R"(, "value_is_key": [0, 512])",
         .lengths = {{1, 70}, {9, 30}},
         .schemes = {{kLatents, nullptr}},
         .query = "bf16",
         .layout =
             R"(, "layout": {"kind": "paged", "page": 64, "order": "token"})",
         .chunks = {0, 7}});
}

void addMasks(std::vector<Edge> &edges) {
  // Beside single queries, rows of one tile whose windows begin in others.
  const std::vector<Lengths> long_ = {
      {1, 300}, {1, 64}, {1, 65}, {5, 129}, {90, 200}};
  for (int64_t window : {1, 7, 63, 65})
    edges.push_back({.name = "window_" + std::to_string(window),
                     .attention = heads(4, 2, 32) +
                                  ", \"window\": " + std::to_string(window),
                     .lengths = long_,
                     .layout = window % 2 ? kPages : ""});
  edges.push_back({.name = "window_511_of_257_tokens",
                   .attention = heads(4, 2, 64) + R"(, "window": 511)",
                   .lengths = {{1, 257}, {257, 257}},
                   .schemes = {{kInt4, kInt8}}});
  edges.push_back(
      {.name = "window_and_softcap_of_unlike_schemes",
       .attention = heads(6, 2, 64) + R"(, "window": 50, "softcap": 20)",
       .lengths = long_,
       .schemes = {{kInt4, kFp8}, {kLut, kF16}, {kInt3, kInt8}},
       .query = "bf16"});
  for (const char *more : {"", R"(, "sink_logits": true)"})
    edges.push_back({.name = std::string("all_rows_masked") +
                             (*more ? "_but_a_sink_logit" : ""),
                     .attention = heads(7, 1, 32) + R"(, "window": 1)" + more,
                     .lengths = {{1, 0}, {5, 0}, {64, 0}, {200, 0}, {40, 1}},
                     .layout = kHeads});
}

void addMemory(std::vector<Edge> &edges) {
  struct Layout {
    const char *name, *text;
    std::vector<Schemes> schemes;
  };
  const Layout layouts[] = {
      {"auto", kPages, {{kInt4, kInt3}, {kF16, kF32}}},
      {"nhd", kRows, {{kInt8, kFp8}, {R"({"codec": "bf16"})", kLut}}},
      {"hnd", kHeads, {{kInt4, kF32}, {kFp8, kInt8}}}};
  for (const Layout &layout : layouts) {
    // What all bytes of a page are before tokens come: NaN of each type,
    // infinity of f32 and of bf16, infinity of f16.
    edges.push_back(
        {.name = std::string("page_tails_of_nan_and_inf_") + layout.name,
         .attention = heads(6, 2, 32),
         .lengths = {{1, 1}, {1, 17}, {2, 70}, {20, 33}},
         .schemes = layout.schemes,
         .query = "bf16",
         .layout = layout.text,
         .pages = {{.fill = 0xFFFFFFFF},
                   {.fill = 0x7F800000},
                   {.fill = 0x7F807F80},
                   {.fill = 0x7C007C00}}});
    edges.push_back(
        {.name = std::string("pages_beyond_2_31_elements_") + layout.name,
         .attention = heads(4, 2, 32),
         .lengths = {{1, 600}, {40, 300}},
         .schemes = layout.schemes,
         .layout = layout.text,
         .chunks = {0, 100},
         .pages = {{.stride = int64_t(3) << 30}}});
  }
}

std::vector<Edge> allEdges() {
  std::vector<Edge> edges;
  addLengths(edges);
  addShapes(edges);
  addMasks(edges);
  addMemory(edges);
  return edges;
}

//===----------------------------------------------------------------------===//
// Running them
//===----------------------------------------------------------------------===//

std::string textOf(const Edge &edge, const Schemes &schemes) {
  std::string text = R"({"kvc": 1, "name": "edge", "attention": {)" +
                     edge.attention + R"(}, "io": {"query": ")" + edge.query +
                     R"("}, "key": )" + schemes.key;
  if (schemes.value)
    text += std::string(R"(, "value": )") + schemes.value;
  return text + edge.layout + "}";
}

kvc_compiler *compiler() {
  static const CompilerHandle handle = createCompiler();
  return handle.get();
}

void expectNone(const std::vector<std::string> &wrong) {
  for (const std::string &line : wrong)
    ADD_FAILURE() << line;
}

void runOn(const std::string &target, const Edge &edge, const std::string &text,
           const spec::Spec &spec, const Inputs &inputs,
           const Answer &expected) {
  SCOPED_TRACE(target);
  kvc_compile_options options = testOptionsFor(target);
  options.tile_tokens = edge.tileTokens;
  options.split_tokens = options.prefill_split_tokens = edge.splitTokens;
  const Engine engine(compiler(), text, edge.name, options);
  for (int64_t chunk : edge.chunks)
    for (const LentPages &pages : edge.pages) {
      SCOPED_TRACE("chunk " + std::to_string(chunk) + ", fill " +
                   std::to_string(pages.fill));
      Session session(engine, spec, inputs, RowOrder::Padded, chunk, pages);
      session.planForMoreKeys(edge.moreKeys);
      expectNone(wrongStored(spec, session, engine, expected));
      expectNone(wrongAttended(spec, inputs, session.attend(engine, nullptr),
                               expected));
      session.freeCache();
      EXPECT_FALSE(session.device().overruns());
    }
}

class EdgeCases : public testing::TestWithParam<Edge> {};

TEST_P(EdgeCases, StayWithinTheBounds) {
  const Edge &edge = GetParam();
  for (const Schemes &schemes : edge.schemes) {
    const std::string text = textOf(edge, schemes);
    SCOPED_TRACE(text);
    const auto spec = spec::parseSpec(text);
    ASSERT_TRUE(spec) << spec.error().str();
    const Inputs inputs =
        randomInputs(*spec, edge.lengths, edge.values, /*seed=*/7);
    const Answer expected = answer(*spec, inputs);
    // Compiling is nearly all of the time, of instrumented kernels more so.
    const int isOther = &schemes != &edge.schemes.front();
    for (const std::string target : {"host", "portable"})
      if (isOther + (target != "host") <= (KVC_TEST_ASAN ? 0 : 1))
        runOn(target, edge, text, *spec, inputs, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EdgeCases, testing::ValuesIn(allEdges()),
                         [](const auto &info) { return info.param.name; });

/// A running maximum that begins with a finite number would keep it, and every
/// p would be 0. The bounds allow much where scores are so large, so that all
/// values are one: whatever the weights are, the output is that.
TEST(Logits, FarBelowZeroHaveWeights) {
  for (const Schemes &schemes :
       {Schemes{kF16, kF16}, Schemes{kInt8, kInt4}, Schemes{kInt4, kFp8}}) {
    const Edge edge{.attention = heads(6, 2, 64) + R"(, "scale": 1)",
                    .lengths = {{1, 70}, {3, 200}, {40, 41}}};
    const std::string text = textOf(edge, schemes);
    SCOPED_TRACE(text);
    const auto spec = spec::parseSpec(text);
    ASSERT_TRUE(spec) << spec.error().str();
    Inputs inputs =
        randomInputs(*spec, edge.lengths, InputMode::Normal, /*seed=*/1);
    std::fill(inputs.q.begin(), inputs.q.end(), 62.5F);
    for (size_t i = 0; i < inputs.k.size(); ++i)
      inputs.k[i] = i % 67 == 0 ? -62.375F : -62.5F;
    std::fill(inputs.v.begin(), inputs.v.end(), 3.0F);
    const Answer expected = answer(*spec, inputs);
    for (double lse : expected.reference.lse)
      ASSERT_NEAR(lse, -2.5e5, 5e3);
    for (const std::string target : {"host", "portable"}) {
      SCOPED_TRACE(target);
      const Engine engine(compiler(), text, "logits", testOptionsFor(target));
      const Session session(engine, *spec, inputs, RowOrder::Dense, 0);
      const Attended attended = session.attend(engine, nullptr);
      expectNone(wrongAttended(*spec, inputs, attended, expected));
      for (size_t i = 0; i < attended.out.size(); ++i)
        ASSERT_NEAR(attended.out[i], 3.0, 0.01) << "element " << i;
    }
  }
}

} // namespace
