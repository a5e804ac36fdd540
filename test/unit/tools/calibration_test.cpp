//===- calibration_test.cpp - Inputs of schemes from real activations -----===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What calibration finds is judged by the reference of test/support: whole
// caches as a spec keeps them, and attention over them.
//
//===----------------------------------------------------------------------===//

#include "kvc/Calibration.h"

#include "kvc/Inputs.h"
#include "kvc/SpecFile.h"
#include "kvc/Test/Floats.h"
#include "kvc/Test/Inputs.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

struct Problem {
  spec::Spec spec;
  kvc_spec_info info{};
  test::Inputs given;
  BatchInputs batch;
};

Values asValues(const std::vector<float> &values) {
  Values result{KVC_F32, std::vector<std::byte>(values.size() * 4)};
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

std::string specText(const std::string &rest) {
  return R"({"kvc": 1, "attention": {"q_heads": 4, "kv_heads": 2,
             "head_dim": 32}, "io": {"query": "f32"}, )" +
         rest + "}";
}

Problem problemOf(const std::string &rest, InputMode mode, uint64_t seed = 1) {
  const std::string text = specText(rest);
  spec::Expected<spec::Spec> parsed = spec::parseSpec(text);
  EXPECT_TRUE(parsed) << parsed.error().str();
  Problem problem;
  problem.spec = *parsed;
  problem.info = specInfoOf(kvc::parseSpec(text, "spec").get());
  const Lengths lengths[] = {{4, 60}, {0, 9}, {8, 75}};
  problem.given = randomInputs(problem.spec, lengths, mode, seed);
  problem.batch.q = asValues(problem.given.q);
  problem.batch.k = asValues(problem.given.k);
  problem.batch.v = asValues(problem.given.v);
  problem.batch.queryStarts.assign(problem.given.cuQ.begin(),
                                   problem.given.cuQ.end());
  problem.batch.keyStarts.assign(problem.given.cuKv.begin(),
                                 problem.given.cuKv.end());
  return problem;
}

Calibration calibrated(const Problem &problem,
                       ScaleMethod method = ScaleMethod::Search) {
  CalibrationOptions options;
  options.method = method;
  return calibrate(problem.spec, problem.info, problem.batch, options);
}

/// The error of the output by the reference, with these inputs of the schemes.
double errorOf(const Problem &problem, const Calibration &found) {
  test::Inputs inputs = problem.given;
  for (const CalibratedInput &each : found.inputs) {
    SchemeInputs &of =
        each.input.tensor == spec::Tensor::Key ? inputs.key : inputs.value;
    (each.input.kind == spec::InputKind::Smooth ? of.smooth
     : each.input.kind == spec::InputKind::Scale
         ? of.parts[each.input.part].scale
         : of.parts[each.input.part].table) = each.values;
  }
  const Reference exact =
      attend(problem.spec.attention, problem.spec.key.rope,
             {inputs.q, inputs.k, inputs.v, inputs.cuQ, inputs.cuKv, {}, {}});
  const Reference coded = answer(problem.spec, inputs).reference;
  double error = 0, norm = 0;
  for (size_t i = 0; i < exact.out.size(); ++i) {
    error += std::pow(coded.out[i] - exact.out[i], 2);
    norm += std::pow(exact.out[i], 2);
  }
  return std::sqrt(error / norm);
}

constexpr const char *kStatic =
    R"("key": {"codec": "int4", "scale": {"tokens": "all", "channels": 8,
       "dtype": "f16", "static": true}}, "value": {"codec": "int4", "scale":
       {"tokens": "all", "channels": "all", "dtype": "f32", "static": true}})";

TEST(Calibration, AmaxGivesTheLargestMagnitudeTheLargestCode) {
  const Problem problem = problemOf(kStatic, InputMode::Normal);
  const Calibration found = calibrated(problem, ScaleMethod::Amax);
  ASSERT_EQ(found.inputs.size(), 2U);
  EXPECT_EQ(found.inputs[0].input.name, "key_scale");
  ASSERT_EQ(found.inputs[0].values.size(), 2U * 4);
  for (int64_t head = 0; head < 2; ++head)
    for (int64_t block = 0; block < 4; ++block) {
      double amax = 0;
      for (int64_t t = 0; t < problem.given.cuKv.back(); ++t)
        for (int64_t c = 8 * block; c < 8 * block + 8; ++c)
          amax = std::max(amax, std::fabs(double(
                                    problem.given.k[(t * 2 + head) * 32 + c])));
      EXPECT_FLOAT_EQ(found.inputs[0].values[head * 4 + block],
                      static_cast<float>(amax / 7));
    }
  EXPECT_EQ(found.all.before, found.all.after);
}

TEST(Calibration, ErrorsAreThoseOfTheReference) {
  for (ScaleMethod method :
       {ScaleMethod::Amax, ScaleMethod::Percentile, ScaleMethod::Search}) {
    const Problem problem = problemOf(kStatic, InputMode::Normal);
    const Calibration found = calibrated(problem, method);
    EXPECT_NEAR(found.all.after, errorOf(problem, found),
                1e-9 * found.all.after);
  }
}

TEST(Calibration, SearchIsNoWorseThanAmaxAndBetterOnNormalValues) {
  const Problem problem = problemOf(kStatic, InputMode::Normal);
  const double amax = errorOf(problem, calibrated(problem, ScaleMethod::Amax));
  const Calibration found = calibrated(problem);
  EXPECT_LT(errorOf(problem, found), 0.95 * amax);
  for (const CalibrationError &each : found.tensors)
    EXPECT_LT(each.after, each.before);
}

TEST(Calibration, PercentilesAreBelowTheLargest) {
  const Problem problem = problemOf(kStatic, InputMode::Normal);
  const Calibration largest = calibrated(problem, ScaleMethod::Amax);
  CalibrationOptions options;
  options.method = ScaleMethod::Percentile;
  options.percentile = 100;
  const Calibration all =
      calibrate(problem.spec, problem.info, problem.batch, options);
  options.percentile = 90;
  const Calibration most =
      calibrate(problem.spec, problem.info, problem.batch, options);
  EXPECT_EQ(all.inputs[0].values, largest.inputs[0].values);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_LT(most.inputs[0].values[i], largest.inputs[0].values[i]);
    EXPECT_GT(most.inputs[0].values[i], 0.3 * largest.inputs[0].values[i]);
  }
}

TEST(Calibration, SmoothingHelpsWhereChannelsDiffer) {
  const Problem problem = problemOf(
      R"("key": {"codec": "int4", "scale": {"tokens": 1, "channels": "all",
         "dtype": "f16"}, "zero": "min", "smooth": true},
         "value": {"codec": "f32"})",
      InputMode::OutlierChannels);
  const Calibration found = calibrated(problem);
  ASSERT_EQ(found.inputs.size(), 1U);
  EXPECT_EQ(found.inputs[0].input.name, "key_smooth");
  EXPECT_LT(found.all.after, 0.7 * found.all.before);
  EXPECT_NEAR(found.all.after, errorOf(problem, found), 1e-9 * found.all.after);
  for (double alpha : found.inputs[0].choices)
    EXPECT_GT(alpha, 0);
}

TEST(Calibration, PairsShareASmoothingFactor) {
  const Problem problem = problemOf(
      R"("key": {"codec": "int4", "scale": {"tokens": 1, "channels": "all",
         "dtype": "f16"}, "smooth": true, "rope": {"style": "pairs",
         "dims": 16, "offset": 8}}, "value": {"codec": "f32"})",
      InputMode::OutlierChannels, 3);
  CalibrationOptions options;
  options.pairs = problem.spec.key.rope;
  const Calibration found =
      calibrate(problem.spec, problem.info, problem.batch, options);
  const std::vector<float> &factors = found.inputs[0].values;
  for (int64_t head = 0; head < 2; ++head)
    for (int64_t c = 8; c < 24; c += 2)
      EXPECT_EQ(factors[head * 32 + c], factors[head * 32 + c + 1]);
  EXPECT_NE(factors[0], factors[1]);
}

/// Values of four sizes: evenly spaced entries miss them, k-means does not.
TEST(Calibration, TablesFindWhereValuesLie) {
  Problem problem = problemOf(
      R"("key": {"codec": "f32"}, "value": {"codec": "lut", "table":
         {"bits": 2}, "scale": {"tokens": 1, "channels": "all",
         "dtype": "f32"}})",
      InputMode::Normal);
  const float levels[] = {-0.9F, -0.125F, 0.25F, 1};
  test::Random random(7);
  for (size_t i = 0; i < problem.given.v.size(); ++i)
    problem.given.v[i] = i % 32 == 0 ? 2.0F : 2 * levels[random.below(4)];
  problem.batch.v = asValues(problem.given.v);
  const Calibration found = calibrated(problem);
  ASSERT_EQ(found.inputs[0].values.size(), 8U);
  for (size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(found.inputs[0].values[i], levels[i % 4], 1e-6);
  EXPECT_GT(found.all.before, 0.05);
  EXPECT_LT(found.all.after, 1e-6);
}

TEST(Calibration, ManySchemesGetBetterAndNoneWorse) {
  const std::string keyCodec[] = {
      R"("codec": "lut", "table": {"bits": 3}, "scale": {"tokens": "all",
         "channels": 1, "dtype": "f32", "static": true}, "outliers": 1,
         "rope": {"style": "half", "dims": 32})",
      R"("codec": "fp4_e2m1", "scale": {"tokens": "all", "channels": 16,
         "dtype": "e8m0", "static": true}, "rotate": 16, "smooth": true)",
      R"("codec": "lut", "table": {"bits": 4}, "scale": {"tokens": 1,
         "channels": 16, "dtype": "e8m0"}, "smooth": true)",
      R"("parts": [{"channels": [0, 16], "codec": "int3", "scale": {"tokens":
         "all", "channels": 4, "dtype": "e4m3", "static": true, "global": 0.01}},
         {"channels": [16, 32], "codec": "lut", "table": {"bits": 2}, "scale":
         {"tokens": 4, "channels": 1, "dtype": "f16"}, "zero": "mid",
         "smooth": true}])"};
  for (const std::string &codec : keyCodec) {
    SCOPED_TRACE(codec);
    const Problem problem = problemOf(
        "\"key\": {" + codec +
            R"(}, "value": {"codec": "lut", "table": {"bits": 3}, "estimate":
            "rms", "rotate": 8, "scale": {"tokens": 1, "channels": "all",
            "dtype": "bf16"}}, "segments": {"sink": 3, "recent": 4})",
        InputMode::Normal);
    const Calibration found = calibrated(problem);
    for (const CalibrationError &each : found.tensors)
      EXPECT_LT(each.after, each.before);
    EXPECT_LT(found.all.after, found.all.before);
    for (const CalibratedInput &each : found.inputs) {
      EXPECT_EQ(each.values.size(),
                size_t(each.input.heads * each.input.columns));
      for (float value : each.values)
        EXPECT_TRUE(std::isfinite(value) &&
                    (value > 0 || each.input.kind == spec::InputKind::Table));
    }
    const Calibration again = calibrated(problem);
    for (size_t i = 0; i < found.inputs.size(); ++i)
      EXPECT_EQ(found.inputs[i].values, again.inputs[i].values);
  }
}

TEST(Calibration, ZerosGetScalesAndTablesThatMayBeUsed) {
  Problem problem = problemOf(
      R"("key": {"codec": "lut", "table": {"bits": 2}, "smooth": true, "scale":
         {"tokens": "all", "channels": 1, "dtype": "f16", "static": true}},
         "value": {"codec": "int8", "scale": {"tokens": "all", "channels": 1,
         "dtype": "e4m3", "static": true}})",
      InputMode::Normal);
  problem.given.k.assign(problem.given.k.size(), 0);
  problem.given.v.assign(problem.given.v.size(), 1e-30F);
  problem.batch.k = asValues(problem.given.k);
  problem.batch.v = asValues(problem.given.v);
  const Calibration found = calibrated(problem);
  for (const CalibratedInput &each : found.inputs)
    for (float value : each.values)
      EXPECT_TRUE(each.input.kind == spec::InputKind::Table || value > 0);
  // e4m3's smallest number is 2^-9.
  EXPECT_GE(found.inputs.back().values[0], 0x1p-10F);
}

TEST(Calibration, NeedsQueriesAndTokensBeyondTheSink) {
  Problem problem =
      problemOf(std::string(kStatic) + R"(, "segments": {"sink": 75})",
                InputMode::Normal);
  EXPECT_THROW(calibrated(problem), Failure);
  problem = problemOf(kStatic, InputMode::Normal);
  problem.batch.queryStarts.assign(4, 0);
  EXPECT_THROW(calibrated(problem), Failure);
}

} // namespace
