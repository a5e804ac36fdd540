//===- score_test.cpp - Score regions as machine code ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every region over every kind of cache: decode and prefill, splits of a few
// tiles, queries before the first key, segments, windows. Targets alternate, so
// that each region and each cache meets both.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"
#include "kvc/Test/ScoreRegions.h"

#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

struct CacheCase {
  const char *name, *attention, *query, *rest;
};

constexpr const char *kInt8 =
    R"("codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"})";

constexpr CacheCase kCaches[] = {
    {"F16", R"("q_heads": 6, "kv_heads": 2, "head_dim": 32)", "f16",
     R"("key": {"codec": "f16"}, "value": {"codec": "f16"})"},
    {"Int4WithoutMask",
     R"("q_heads": 4, "kv_heads": 2, "head_dim": 64, "mask": "none")", "f16",
     R"("key": {"codec": "int4", "zero": "min", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}},
        "value": {"codec": "int4", "zero": "min", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}},
        "layout": {"kind": "paged", "page": 16})"},
    {"Segments",
     R"("q_heads": 5, "kv_heads": 1, "head_dim": 32, "window": 90, "window_sinks": 3)",
     "f16",
     R"("key": {"codec": "int4", "zero": "min", "scale": {"tokens": 16, "channels": 1, "dtype": "f16"}},
        "value": {"codec": "int4", "zero": "min", "scale": {"tokens": 1, "channels": 16, "dtype": "f16"}},
        "segments": {"sink": 4, "recent": 20})"},
    {"CappedMicroscaled",
     R"("q_heads": 4, "kv_heads": 2, "head_dim": 64, "softcap": 3.0, "alibi": true, "sink_logits": true)",
     "bf16",
     R"("key": {"preset": "mxfp4"}, "value": {"codec": "fp8_e4m3", "rotate": 64,
          "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})"},
    {"SharedF32Queries",
     R"("q_heads": 3, "kv_heads": 1, "head_dim": 48, "value_is_key": [0, 32])",
     "f32",
     R"("key": {"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})"},
};

class Score : public testing::TestWithParam<std::tuple<size_t, size_t>> {};

TEST_P(Score, RegionIsItsFunction) {
  const auto [cacheNumber, caseNumber] = GetParam();
  const CacheCase &cache = kCaches[cacheNumber];
  const ScoreCase &score = scoreCases()[caseNumber];
  const std::string json =
      std::string(R"({"kvc": 1, "name": "score", "attention": {)") +
      cache.attention + R"(}, "io": {"query": ")" + cache.query + "\"}, " +
      cache.rest + "}";
  const auto spec = spec::parseSpec(json);
  ASSERT_TRUE(spec) << spec.error().str();
  // Decode over splits and over one key; more queries than keys; a prefill.
  const Lengths lengths[] = {{1, 700}, {1, 1}, {20, 9}, {130, 130}, {2, 0}};
  const Inputs inputs = randomInputs(*spec, lengths, InputMode::Normal, 11);
  const Answer expected = answer(*spec, inputs, score.region(spec->attention));
  const CompilerHandle compiler = createCompiler();
  const std::string target =
      (cacheNumber + caseNumber) % 2 ? "portable" : "host";
  kvc_compile_options options = testOptionsFor(target);
  options.kernels = "append,decode,prefill,merge";
  options.tile_tokens = 32;
  options.split_tokens = options.prefill_split_tokens = 64;
  const Engine engine(compiler.get(), joinSpec({json, score.text()}, json),
                      json, options);
  Session session(engine, *spec, inputs, RowOrder::Padded, 0);
  const Threads twoThreads(2);
  EXPECT_EQ(wrongAttended(*spec, inputs,
                          session.attend(engine, twoThreads.loop()), expected),
            std::vector<std::string>());
  session.freeCache();
  EXPECT_FALSE(session.device().overruns());
}

INSTANTIATE_TEST_SUITE_P(
    All, Score,
    testing::Combine(testing::Range<size_t>(0, std::size(kCaches)),
                     testing::Range<size_t>(0, scoreCases().size())),
    [](const auto &info) {
      return std::string(kCaches[std::get<0>(info.param)].name) + "_" +
             scoreCases()[std::get<1>(info.param)].name;
    });

/// Without a spec's mask or softcap the region's score is scale * q.k, and a
/// cache serves kernels of any region.
TEST(ScoreRegion, IsNoPropertyOfTheCache) {
  const std::string json =
      std::string(R"({"kvc": 1, "name": "score", "attention": {"q_heads": 2,
        "kv_heads": 1, "head_dim": 32}, "io": {"query": "f16"}, "key": {)") +
      kInt8 + R"(}, "value": {)" + kInt8 + "}}";
  const auto spec = spec::parseSpec(json);
  ASSERT_TRUE(spec) << spec.error().str();
  const Lengths lengths[] = {{3, 100}};
  const Inputs inputs = randomInputs(*spec, lengths, InputMode::Normal, 3);
  const CompilerHandle compiler = createCompiler();
  const std::string target = "host";
  kvc_compile_options options = testOptionsFor(target);
  options.kernels = "append,decode,prefill,merge";
  const Engine plain(compiler.get(), json, json, options);
  EXPECT_STREQ(plain.table().score, "");
  const Session session(plain, *spec, inputs, RowOrder::Dense, 0);
  std::vector<std::string> texts = {""};
  for (const ScoreCase &score : scoreCases().first(2)) {
    const Engine engine(compiler.get(), joinSpec({json, score.text()}, json),
                        json, options);
    EXPECT_STREQ(engine.table().layout_hash, plain.table().layout_hash);
    EXPECT_EQ(
        wrongAttended(*spec, inputs, session.attend(engine, nullptr),
                      answer(*spec, inputs, score.region(spec->attention))),
        std::vector<std::string>());
    for (const std::string &other : texts)
      EXPECT_NE(engine.table().score, other);
    texts.emplace_back(engine.table().score);
  }
}

} // namespace
