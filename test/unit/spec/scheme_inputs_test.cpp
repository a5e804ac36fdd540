//===- scheme_inputs_test.cpp - Names and shapes of schemes' inputs -------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/SchemeInputs.h"

#include <gtest/gtest.h>

using namespace kvc::spec;

namespace {

std::vector<SchemeInput> inputsOf(const std::string &key,
                                  const std::string &value) {
  Expected<Spec> spec = parseSpec(
      R"({"kvc": 1, "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 64,
          "value_dim": 32}, "io": {"query": "f16"}, "key": )" +
      key + R"(, "value": )" + value + "}");
  EXPECT_TRUE(bool(spec)) << spec.error().str();
  return spec ? schemeInputs(*spec) : std::vector<SchemeInput>();
}

constexpr const char *kDynamic =
    R"({"codec": "int8", "scale": {"tokens": 1, "channels": "all",
        "dtype": "f16"}})";

TEST(SchemeInputs, NoneForDynamicSchemesAndRawCodecs) {
  EXPECT_TRUE(inputsOf(kDynamic, R"({"codec": "f16"})").empty());
}

TEST(SchemeInputs, AScalePerBlockThenATableThenSmoothingFactors) {
  const std::string scheme =
      R"({"codec": "lut", "table": {"bits": 3}, "smooth": true, "scale":
          {"tokens": "all", "channels": 16, "dtype": "f32", "static": true}})";
  const std::vector<SchemeInput> expected = {
      {"key_scale", Tensor::Key, InputKind::Scale, 0, 2, 4},
      {"key_table", Tensor::Key, InputKind::Table, 0, 2, 8},
      {"key_smooth", Tensor::Key, InputKind::Smooth, 0, 2, 64},
      {"value_scale", Tensor::Value, InputKind::Scale, 0, 2, 2},
      {"value_table", Tensor::Value, InputKind::Table, 0, 2, 8},
      {"value_smooth", Tensor::Value, InputKind::Smooth, 0, 2, 32}};
  EXPECT_EQ(inputsOf(scheme, scheme), expected);
}

TEST(SchemeInputs, PartsAreNumberedAndShareTheSmoothingFactors) {
  const std::string parts =
      R"({"parts": [{"channels": [0, 48], "codec": "f16", "smooth": true},
          {"channels": [48, 64], "codec": "int4", "smooth": true, "scale":
           {"tokens": "all", "channels": "all", "dtype": "f16",
            "static": true}}]})";
  const std::vector<SchemeInput> expected = {
      {"key1_scale", Tensor::Key, InputKind::Scale, 1, 2, 1},
      {"key_smooth", Tensor::Key, InputKind::Smooth, 0, 2, 64}};
  EXPECT_EQ(inputsOf(parts, kDynamic), expected);
}

TEST(SchemeInputs, AListedTableIsNoInput) {
  const std::string scheme =
      R"({"codec": "lut", "table": [-1, -0.25, 0.25, 1], "scale":
          {"tokens": 1, "channels": "all", "dtype": "f16"}})";
  EXPECT_TRUE(inputsOf(kDynamic, scheme).empty());
}

} // namespace
