//===- extremes_test.cpp - Numbers at the ends of their ranges ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Scale, softcap and slopes anywhere in their ranges, on inputs whose scores
// and outputs f32 can hold: products of factors that f32 cannot hold are the
// compiler's to avoid.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"
#include "kvc/Test/Floats.h"

#include <functional>
#include <gtest/gtest.h>
#include <limits>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr float kLargest = std::numeric_limits<float>::max();

struct Extreme {
  const char *name;
  const char *attention;                ///< Beside heads and dims.
  double query = 1, key = 1, value = 1; ///< Factors of the inputs.
  float slope = 0;                      ///< Of every head; 0: as they come.
};

constexpr Extreme kExtremes[] = {
    {"cap_beyond_base_two", R"("softcap": 3e38)"},
    {"cap_beyond_base_two_sees_no_query", R"("softcap": 3.4e38)", 0},
    {"cap_with_subnormal_factor", R"("softcap": 3e38, "scale": 0.001)", 30, 30},
    {"cap_without_inverse", R"("softcap": 1e-41, "scale": 1)"},
    {"cap_without_inverse_sees_no_query", R"("softcap": 1e-41)", 0},
    {"smallest_cap_sees_no_query", R"("softcap": 2e-45)", 0},
    {"scale_beyond_base_two", R"("scale": 3e38)", 1e-38},
    {"scale_beyond_base_two_sees_no_query", R"("scale": 3.4e38)", 0},
    {"scale_over_cap_sees_no_query", R"("scale": 1e38, "softcap": 0.1)", 0},
    {"smallest_scale", R"("scale": 2e-45)"},
    {"small_values", R"("scale": 1)", 1, 1, 1e-36},
    {"smallest_values", R"("scale": 1)", 1, 1, 1e-41},
    {"small_queries", R"("scale": 1)", 1e-36, 1e36},
    {"slope_beyond_base_two", R"("alibi": true)", 1, 1, 1, 3e38F},
    {"largest_slope", R"("alibi": true)", 1, 1, 1, kLargest},
    {"slope_over_cap", R"("alibi": true, "softcap": 1e-30)", 1, 1, 1, 1e10F},
};

constexpr const char *kRaw = R"({"codec": "f32"})";
constexpr const char *kCodes =
    R"({"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})";

/// Runs a spec on inputs that `change` has been at.
void checkChanged(kvc_compiler *compiler, const std::string &attention,
                  const char *query, const std::string &scheme,
                  const std::function<void(Inputs &)> &change) {
  const std::string text = R"({"kvc": 1, "name": "extremes", "attention": )"
                           R"({"q_heads": 4, "kv_heads": 2, "head_dim": 32, )" +
                           attention + R"(}, "io": {"query": ")" + query +
                           R"("}, "key": )" + scheme + R"(, "value": )" +
                           scheme + "}";
  SCOPED_TRACE(text);
  const auto spec = spec::parseSpec(text);
  ASSERT_TRUE(spec) << spec.error().str();
  const Lengths lengths[] = {{1, 70}, {5, 9}};
  Inputs inputs = randomInputs(*spec, lengths, InputMode::Normal, 3);
  change(inputs);
  const FloatFormat &format = spec->io.query == spec::DType::F32   ? kF32
                              : spec->io.query == spec::DType::F16 ? kF16
                                                                   : kBF16;
  for (std::vector<float> *values : {&inputs.q, &inputs.k, &inputs.v})
    for (float &x : *values)
      x = roundTo(format, x);
  const Answer expected = answer(*spec, inputs);
  const std::string target = "host";
  kvc_compile_options options = testOptionsFor(target);
  // Both kernels that attend are made from one expansion, and each runs all
  // rows where it is alone.
  options.kernels = spec->io.query == spec::DType::F32 ? "append,decode,merge"
                                                       : "append,merge,prefill";
  const Engine engine(compiler, text, "extremes", options);
  const Session session(engine, *spec, inputs, RowOrder::Dense, 0);
  EXPECT_EQ(
      wrongAttended(*spec, inputs, session.attend(engine, nullptr), expected),
      std::vector<std::string>());
}

void checkExtreme(kvc_compiler *compiler, const Extreme &extreme,
                  const char *query, const std::string &scheme) {
  auto multiply = [](std::vector<float> &values, double factor) {
    for (float &x : values)
      x = static_cast<float>(x * factor);
  };
  checkChanged(compiler, extreme.attention, query, scheme, [&](Inputs &inputs) {
    multiply(inputs.q, extreme.query);
    multiply(inputs.k, extreme.key);
    multiply(inputs.v, extreme.value);
    if (extreme.slope != 0)
      for (float &x : inputs.slopes)
        x = extreme.slope;
  });
}

class Extremes : public testing::TestWithParam<Extreme> {};

TEST_P(Extremes, StayWithinTheBounds) {
  const CompilerHandle compiler = createCompiler();
  checkExtreme(compiler.get(), GetParam(), "f32", kRaw);
  checkExtreme(compiler.get(), GetParam(), "bf16", kCodes);
}

/// Inputs that are no normal numbers of bf16 or f32, in each kind of cache:
/// raw, codes whose scales are subnormal too, and codes that are floats.
constexpr Extreme kSubnormals[] = {
    {"queries", R"("scale": 1)", 2e-39, 1e37},
    {"keys", R"("scale": 1e5)", 1e33, 2e-39},
    {"values", R"("scale": 1)", 1, 1, 2e-39},
    {"all", R"("scale": 1)", 2e-39, 2e-39, 2e-39},
};

class Subnormals : public testing::TestWithParam<Extreme> {};

TEST_P(Subnormals, StayWithinTheBounds) {
  const CompilerHandle compiler = createCompiler();
  for (const char *query : {"bf16", "f32"}) {
    for (const char *codec : {"bf16", "f32"})
      checkExtreme(compiler.get(), GetParam(), query,
                   std::string(R"({"codec": ")") + codec + R"("})");
    for (const char *codec : {"int8", "int4", "fp8_e4m3", "fp4_e2m1"})
      checkExtreme(
          compiler.get(), GetParam(), query,
          std::string(R"({"codec": ")") + codec +
              R"(", "scale": {"tokens": 1, "channels": "all", "dtype": ")" +
              query + R"("}})");
  }
}

/// Queries whose sums f32 cannot hold, though scores are ordinary.
constexpr Extreme kLargeQueries[] = {
    {"of_small_keys", R"("scale": 1)", 4e37, 1e-37},
    {"of_small_scale", R"("scale": 1e-37)", 4e37},
    {"of_small_scale_and_cap", R"("scale": 1e-37, "softcap": 3)", 4e37},
};

class LargeQueries : public testing::TestWithParam<Extreme> {};

TEST_P(LargeQueries, StayWithinTheBounds) {
  const CompilerHandle compiler = createCompiler();
  const char *const bf16Schemes[] = {
      R"({"codec": "f32"})",
      R"({"codec": "int8", "zero": "min", "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})",
      R"({"codec": "int4", "zero": "code", "scale": {"tokens": 1, "channels": 16, "dtype": "bf16"}})",
      R"({"codec": "int8", "smooth": true, "scale": {"tokens": "all", "static": true, "channels": "all", "dtype": "f32"}})"};
  for (const char *scheme : bf16Schemes)
    checkExtreme(compiler.get(), GetParam(), "bf16", scheme);
  const char *const f32Schemes[] = {
      R"({"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})",
      R"({"codec": "int4", "zero": "min", "rotate": 32, "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})",
      R"({"codec": "fp8_e4m3", "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})",
      R"({"codec": "lut", "table": [-1, -0.5, 0.25, 1], "zero": "mid", "scale": {"tokens": 1, "channels": 8, "dtype": "f32"}})"};
  for (const char *scheme : f32Schemes)
    checkExtreme(compiler.get(), GetParam(), "f32", scheme);
}

/// Queries and keys each have a channel that stands out, and not the same one.
/// Products of rotated channels are as large as |q| |k|, their sum is not.
TEST(RotatedKeys, MayBeLargeInOtherChannelsThanQueries) {
  const CompilerHandle compiler = createCompiler();
  auto enlarge = [](float factor) {
    return [factor](Inputs &inputs) {
      for (size_t i = 0; i < inputs.q.size(); i += 32)
        inputs.q[i + 3] *= factor;
      for (size_t i = 0; i < inputs.k.size(); i += 32)
        inputs.k[i + 17] *= factor;
    };
  };
  const char *const schemes[] = {
      R"({"codec": "int8", "rotate": 32, "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}})",
      R"({"codec": "int4", "zero": "code", "rotate": 16, "scale": {"tokens": 1, "channels": 16, "dtype": "f16"}})",
      R"({"codec": "int8", "rotate": 32, "scale": {"tokens": "all", "static": true, "channels": 1, "dtype": "f32"}})"};
  for (const char *scheme : schemes)
    checkChanged(compiler.get(), R"("scale": 0.001)", "f16", scheme,
                 enlarge(5000));
  // Roundings of f32 reach the bound of f32 queries a tenth of the way there.
  checkChanged(compiler.get(), R"("scale": 0.01)", "f32", schemes[0],
               enlarge(500));
}

INSTANTIATE_TEST_SUITE_P(Numbers, LargeQueries,
                         testing::ValuesIn(kLargeQueries),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

INSTANTIATE_TEST_SUITE_P(Numbers, Subnormals, testing::ValuesIn(kSubnormals),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

INSTANTIATE_TEST_SUITE_P(Numbers, Extremes, testing::ValuesIn(kExtremes),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
