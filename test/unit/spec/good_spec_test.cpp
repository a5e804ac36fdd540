//===- good_spec_test.cpp - What the rules let through --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The other side of bad_spec_test.cpp: specs at the edge of each rule parse,
// and defaults are what the documentation says.
//
//===----------------------------------------------------------------------===//

#include "SpecText.h"

#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::spec;

namespace {

TEST(GoodSpecTest, DefaultsAreFilledIn) {
  Spec spec = test::parsePatched("{}");
  EXPECT_EQ(spec.name, "base");
  EXPECT_EQ(spec.attention.valueDim, 128);
  EXPECT_EQ(spec.attention.scale, 0.08838834764831845);
  EXPECT_EQ(spec.attention.group(), 4);
  EXPECT_TRUE(spec.attention.causal);
  EXPECT_FALSE(spec.attention.window);
  EXPECT_FALSE(spec.attention.softcap);
  EXPECT_FALSE(spec.attention.valueIsKey);
  EXPECT_EQ(spec.io.output, DType::F16);
  ASSERT_EQ(spec.key.parts.size(), 1u);
  EXPECT_FALSE(spec.key.explicitParts);
  EXPECT_FALSE(spec.key.isRaw());
  EXPECT_EQ(spec.key.blockTokens(), 1);
  const PartScheme &part = spec.key.parts[0];
  EXPECT_EQ(part.begin, 0);
  EXPECT_EQ(part.end, 128);
  EXPECT_EQ(part.blockChannels(), 128);
  EXPECT_EQ(part.blocks(), 1);
  EXPECT_EQ(part.zero, Zero::None);
  EXPECT_EQ(part.clip, 1);
  EXPECT_EQ(part.estimate, Estimate::Amax);
  EXPECT_EQ(part.codesFrom, CodesFrom::Stored);
  EXPECT_EQ(part.round, Round::Even);
  EXPECT_EQ(part.scale->round, ScaleRound::Nearest);
  EXPECT_EQ(spec.segments, Segments());
  EXPECT_EQ(spec.layout, Layout());
  EXPECT_EQ(spec.layout.order, Order::Auto);
  EXPECT_EQ(channelsOf(spec, Tensor::Key), 128);
  EXPECT_EQ(schemeOf(spec, Tensor::Value), &*spec.value);
}

TEST(GoodSpecTest, OutputFollowsQuery) {
  EXPECT_EQ(test::parsePatched(R"({"io": {"query": "bf16"}})").io.output,
            DType::BF16);
}

TEST(GoodSpecTest, ValueIsKey) {
  Spec spec = test::parsePatched(
      R"({"attention": {"value_is_key": [8, 72]}, "value": null})");
  EXPECT_EQ(spec.attention.valueDim, 64);
  EXPECT_FALSE(spec.value);
  EXPECT_EQ(schemeOf(spec, Tensor::Value), nullptr);
  spec = test::parsePatched(
      R"({"attention": {"value_is_key": "all", "value_dim": 128}, "value": null})");
  EXPECT_EQ((*spec.attention.valueIsKey)[1], 128);
}

TEST(GoodSpecTest, E8M0RoundsDownByDefault) {
  Spec spec = test::parsePatched(
      R"({"key": {"codec": "fp4_e2m1", "scale": {"dtype": "e8m0", "channels": 32}}})");
  EXPECT_EQ(spec.key.parts[0].scale->round, ScaleRound::Down);
  EXPECT_EQ(spec.key.parts[0].blocks(), 4);
}

TEST(GoodSpecTest, PartsBlocksAndInputs) {
  Spec spec = test::parsePatched(
      R"({"segments": {"recent": 8}, "key": {"codec": null, "scale": null,
    "rope": {"style": "pairs", "dims": 32, "offset": 96, "theta": 5e5},
    "parts": [
      {"channels": [0, 64], "codec": "int4", "scale": {"tokens": 8, "channels": 1, "dtype": "f16"}, "zero": "min"},
      {"channels": [64, 96], "codec": "lut", "table": {"bits": 3}, "scale": {"tokens": "all", "channels": 16, "dtype": "f32", "static": true}},
      {"channels": [96, 128], "codec": "bf16", "smooth": true}]}})");
  EXPECT_EQ(spec.key.blockTokens(), 8);
  EXPECT_FALSE(spec.key.isRaw());
  EXPECT_EQ(spec.key.parts[0].blocks(), 64);
  EXPECT_EQ(spec.key.parts[1].codec.bits, 3u);
  EXPECT_EQ(spec.key.parts[2].blocks(), 0);
  EXPECT_EQ(spec.key.parts[2].channels(), 32);
  EXPECT_TRUE(spec.key.rope->pairs);
}

TEST(GoodSpecTest, EdgesAreInside) {
  const char *patches[] = {
      R"({"attention": {"q_heads": 65536, "kv_heads": 65536}})",
      R"({"attention": {"q_heads": 128, "kv_heads": 1}})",
      R"({"attention": {"q_heads": 21, "kv_heads": 3}})",
      R"({"attention": {"head_dim": 16, "value_dim": 576}})",
      R"({"attention": {"scale": 1}})",
      R"({"attention": {"scale": 1e-45, "softcap": 3.4028235e38}})",
      R"({"attention": {"mask": "none", "window_sinks": 0}})",
      R"({"attention": {"window": 2147483647, "window_sinks": 2147483647}})",
      R"({"attention": {"alibi": true, "sink_logits": true, "mask": "none"}})",
      R"({"name": ""})",
      R"({"name": null})",
      R"({"key": {"clip": 1}})",
      R"({"key": {"clip": 1, "scale": {"static": true, "tokens": "all"}}})",
      R"({"key": {"clip": 1e-45}})",
      R"({"key": {"rotate": 1}})",
      R"({"key": {"outliers": 127}})",
      R"({"key": {"zero": "none", "codec": "f16", "scale": null, "rotate": 128, "smooth": true}})",
      R"({"key": {"codec": "int5", "round": "away", "estimate": "signed", "codes_from": "exact"}})",
      R"({"key": {"codec": "int8", "round": "up", "estimate": "signed"}})",
      R"({"key": {"codec": "fp8_e5m2", "round": "even", "scale": {"round": "up", "floor": 1e-4}}})",
      R"({"key": {"codec": "fp8_e4m3", "scale": {"dtype": "e8m0", "round": "down"}}})",
      R"({"key": {"scale": {"dtype": "e8m0", "round": "up"}}})",
      R"({"key": {"scale": {"dtype": "e4m3", "global": 0.5, "floor": 0.5, "round": "up", "channels": 16}}})",
      R"({"key": {"scale": {"static": true, "tokens": "all", "round": "up", "channels": 1}, "outliers": 3}})",
      R"({"key": {"zero": "min", "codes_from": "exact", "scale": {"dtype": "bf16"}}})",
      R"({"key": {"zero": "code", "scale": {"floor": 2, "dtype": "f32"}}})",
      R"({"key": {"codec": "lut", "table": [3, -1, 3, 1e-40], "zero": "mid", "codes_from": "stored"}})",
      R"({"key": {"codec": "lut", "table": {"bits": 4}, "estimate": "rms", "scale": {"dtype": "e4m3", "floor": 0.1}}})",
      R"({"key": {"codec": "lut", "table": {"bits": 2}, "codes_from": "exact"}})",
      R"({"key": {"rope": {"style": "half", "dims": 128, "offset": 0}}})",
      R"({"key": {"rope": {"style": "half", "dims": 64, "offset": 64}, "outliers": 1}})",
      R"({"segments": {"sink": 0, "recent": 0}, "layout": {}})",
      R"({"segments": {"recent": 3}, "key": {"scale": {"tokens": 3}}})",
      R"({"segments": {"recent": 3}, "key": {"scale": {"tokens": 3}}, "attention": {"window": 5}, "layout": {"kind": "ring"}})",
      R"({"segments": {"recent": 300, "sink": 4}, "attention": {"window": 5, "window_sinks": 4}, "layout": {"kind": "ring", "order": "token"}})",
      R"({"layout": {"kind": "paged", "page": 1}})",
      R"({"layout": {"kind": "paged", "page": 256, "order": "hnd", "interleaved": true}})",
      R"({"layout": {"kind": "paged", "page": 16, "order": "ggml", "interleaved": false}, "key": {"codec": "int5", "zero": "min", "scale": {"channels": 32}}, "value": {"codec": "f32", "scale": null}})",
      R"({"layout": {"order": "ggml"}, "attention": {"value_dim": 32}, "key": {"codec": "bf16", "scale": null}, "value": {"codec": "int8"}})",
      R"({"layout": {"order": "token"}, "key": {"codec": "fp4_e2m1", "scale": {"dtype": "e4m3", "channels": 16}, "outliers": 2}})",
  };
  for (const char *patch : patches)
    test::parsePatched(patch);
}

TEST(GoodSpecTest, InterleavedCountsBytesNotKeys) {
  // 64 bytes of int4 each, with 8 scales of 2 bytes per token, or with 32
  // scales of 4 bytes per 8 tokens: 16 bytes per token as well.
  test::parsePatched(
      R"({"layout": {"kind": "paged", "page": 16, "interleaved": true}, "segments": {"recent": 8},
    "key": {"scale": {"channels": 16}}, "value": {"scale": {"tokens": 8, "channels": 4, "dtype": "f32"}}})");
  // An outlier's index and value are 4 bytes, a second scale with zeros 6.
  test::expectRefused(
      "L11_Bytes",
      test::patched(
          R"({"layout": {"kind": "paged", "page": 16, "interleaved": true},
    "key": {"outliers": 1}, "value": {"scale": {"channels": 64}, "zero": "min"}})"),
      "$.layout.interleaved", "bytes");
}

TEST(GoodSpecTest, NamesOfCodecs) {
  for (const char *name : {"f32", "f16", "bf16"}) {
    std::string patch =
        std::string(R"({"key": {"scale": null, "codec": ")") + name + "\"}}";
    EXPECT_EQ(
        codecName(test::parsePatched(patch.c_str()).key.parts.front().codec),
        name);
  }
  unsigned bits[] = {8, 7, 6, 5, 4, 3, 2};
  for (unsigned b : bits) {
    std::string name = "int" + std::to_string(b),
                patch = R"({"key": {"codec": ")" + name + "\"}}";
    Spec spec = test::parsePatched(patch.c_str());
    EXPECT_EQ(spec.key.parts.at(0).codec.bits, b);
    EXPECT_EQ(codecName(spec.key.parts.at(0).codec), name);
  }
  EXPECT_EQ(bitsOf(DType::E8M0), 8u);
  EXPECT_EQ(bitsOf(DType::BF16), 16u);
  EXPECT_EQ(nameOf(DType::F32), "f32");
}

} // namespace
