//===- section_test.cpp - One section on its own --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Spec.h"

#include <gtest/gtest.h>

using namespace kvc::spec;

namespace {

TEST(SectionTest, Good) {
  EXPECT_FALSE(checkSection(
      "attention", R"({"q_heads": 8, "kv_heads": 2, "head_dim": 64})"));
  EXPECT_FALSE(checkSection("io", R"({"query": "f16"})"));
  EXPECT_FALSE(checkSection("segments", "{}"));
  EXPECT_FALSE(checkSection(
      "layout", R"({"kind": "paged", "page": 64, "interleaved": true})"));
  // What needs the number of channels, or another section, is left out.
  EXPECT_FALSE(checkSection(
      "scheme",
      R"({"codec": "int4", "scale": {"tokens": 64, "channels": 48, "dtype": "f16"}})"));
  EXPECT_FALSE(checkSection("scheme", R"({"codec": "f16", "rotate": 512})"));
  EXPECT_FALSE(checkSection(
      "scheme", R"({"codec": "f16", "rope": {"style": "half", "dims": 576}})"));
  EXPECT_FALSE(checkSection(
      "scheme",
      R"({"codec": "int4", "outliers": 500, "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})"));
  EXPECT_FALSE(checkSection(
      "scheme", R"({"parts": [{"channels": [0, 64], "codec": "f16"}]})"));
  EXPECT_FALSE(checkSection("layout", R"({"kind": "ring", "order": "ggml"})"));
}

TEST(SectionTest, Bad) {
  struct Case {
    const char *section, *json, *path, *rule;
  } cases[] = {
      {"attention", R"({"q_heads": 9, "kv_heads": 2, "head_dim": 64})",
       "$.q_heads", "A2"},
      {"io", R"({"query": "f8"})", "$.query", "I1"},
      {"scheme",
       R"({"codec": "int4", "scale": {"tokens": "all", "channels": "all", "dtype": "f16"}})",
       "$.scale.tokens", "K9"},
      {"scheme",
       R"({"codec": "int4", "rotate": 48, "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}})",
       "$.rotate", "K28"},
      {"scheme",
       R"({"parts": [{"channels": [0, 60], "codec": "int4", "scale": {"tokens": 1, "channels": 16, "dtype": "f16"}}]})",
       "$.parts[0].scale.channels", "K10"},
      {"scheme",
       R"({"codec": "f16", "rotate": 8, "rope": {"style": "half", "dims": 8}})",
       "$.rope", "K38"},
      {"segments", R"({"sink": -1})", "$.sink", "G1"},
      {"layout", R"({"interleaved": true})", "$.interleaved", "L8"},
      {"layouts", "{}", "$", "J8"},
      {"io", "[", "$[0]", "J2"},
  };
  for (const Case &c : cases) {
    std::optional<Error> error = checkSection(c.section, c.json);
    ASSERT_TRUE(error) << c.json;
    EXPECT_EQ(error->path, c.path) << error->str();
    EXPECT_EQ(error->rule, c.rule) << error->str();
  }
}

} // namespace
