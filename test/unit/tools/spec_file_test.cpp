//===- spec_file_test.cpp - Specs and their f16 twins ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/SpecFile.h"

#include <gtest/gtest.h>

using namespace kvc;

namespace {

std::string specWith(const std::string &key, const std::string &value,
                     const std::string &rest = "") {
  return R"({"kvc": 1, "name": "x", "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 32},
    "io": {"query": "bf16"}, "key": )" +
         key + R"(, "value": )" + value + rest + "}";
}

constexpr const char *kInt8 =
    R"({"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}})";

TEST(Twin, IsTheSameCacheIn16BitsOfTheQueries) {
  SpecHandle spec = parseSpec(
      specWith(kInt8, R"({"codec": "f32"})",
               R"(, "layout": {"kind": "paged", "page": 16, "order": "nhd"})"),
      "x");
  std::optional<std::string> text = twinOf(spec.get());
  ASSERT_TRUE(text);
  SpecHandle twin = parseSpec(*text, "twin");
  for (kvc_tensor tensor : {KVC_KEY, KVC_VALUE})
    EXPECT_STREQ(partInfoOf(twin.get(), tensor, 0).codec, "bf16");
  EXPECT_EQ(specInfoOf(twin.get()).query, KVC_BF16);
  EXPECT_EQ(specInfoOf(twin.get()).page, 16);
  EXPECT_FALSE(twinOf(twin.get())) << "it is its own";
}

TEST(Twin, DropsSegmentsAndKeepsRope) {
  SpecHandle spec = parseSpec(
      specWith(
          R"({"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"},
              "rope": {"style": "half", "dims": 32}})",
          kInt8, R"(, "segments": {"sink": 4, "recent": 64})"),
      "x");
  std::optional<std::string> text = twinOf(spec.get());
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("rope"), std::string::npos);
  EXPECT_EQ(specInfoOf(parseSpec(*text, "twin").get()).recent, 0);
}

TEST(Twin, KeepsWhatARingNeeds) {
  SpecHandle spec = parseSpec(
      R"({"kvc": 1, "name": "x", "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 32,
          "window": 64, "window_sinks": 4}, "io": {"query": "f16"}, "key": )" +
          std::string(kInt8) + R"(, "value": )" + kInt8 +
          R"(, "segments": {"sink": 4, "recent": 16}, "layout": {"kind": "ring"}})",
      "x");
  const kvc_spec_info info =
      specInfoOf(parseSpec(*twinOf(spec.get()), "twin").get());
  EXPECT_EQ(info.sink, 4);
  EXPECT_EQ(info.recent, 0);
}

TEST(Twin, InterleavesRowsOfOneLength) {
  // 64 channels of 4 bits are as long as 32 of 8.
  SpecHandle spec = parseSpec(
      R"({"kvc": 1, "name": "x", "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 64,
          "value_dim": 32}, "io": {"query": "f16"}, "key": {"codec": "int4", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}},
          "value": )" +
          std::string(kInt8) +
          R"(, "layout": {"kind": "paged", "page": 16, "order": "nhd", "interleaved": true}})",
      "x");
  ASSERT_TRUE(isInterleaved(spec.get()));
  EXPECT_FALSE(isInterleaved(parseSpec(*twinOf(spec.get()), "twin").get()));
}

TEST(SpecFile, ErrorsNameThePlace) {
  try {
    parseSpec("{}", "some/file.json");
    FAIL() << "parsed";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.code, 1);
    EXPECT_TRUE(std::string(failure.what()).starts_with("some/file.json: $"));
  }
  EXPECT_THROW(readFile("/"), Failure);
  EXPECT_THROW(readFile("/no such file"), Failure);
}

TEST(SpecFile, InterleavedIsSeen) {
  auto isInterleavedWith = [](const char *layout) {
    return isInterleaved(parseSpec(specWith(kInt8, kInt8, layout), "x").get());
  };
  EXPECT_FALSE(isInterleavedWith(""));
  EXPECT_FALSE(isInterleavedWith(
      R"(, "layout": {"kind": "paged", "page": 16, "order": "nhd"})"));
  EXPECT_TRUE(isInterleavedWith(
      R"(, "layout": {"kind": "paged", "page": 16, "order": "nhd", "interleaved": true})"));
}

} // namespace
