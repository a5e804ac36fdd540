//===- reference_test.cpp - The tool's attention against the tests' own ---===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Reference.h"

#include "kvc/SpecFile.h"

#include "kvc/Test/Attention.h"
#include "kvc/Test/Inputs.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace kvc;

namespace {

BatchInputs batchOf(const test::Inputs &given) {
  auto valuesOf = [](const std::vector<float> &values) {
    return convert("x", values.data(), KVC_F32,
                   static_cast<int64_t>(values.size()), KVC_F32);
  };
  BatchInputs inputs;
  inputs.queryStarts.assign(given.cuQ.begin(), given.cuQ.end());
  inputs.keyStarts.assign(given.cuKv.begin(), given.cuKv.end());
  inputs.q = valuesOf(given.q);
  inputs.k = valuesOf(given.k);
  inputs.v = valuesOf(given.v);
  inputs.alibiSlopes = given.slopes;
  inputs.sinkLogits = given.sinks;
  return inputs;
}

/// Both references over one random batch, in which a sequence has more queries
/// than keys and another none at all.
void compare(const std::string &attention, const std::string &key = "") {
  const std::string text =
      R"({"kvc": 1, "name": "x", "attention": {"q_heads": 6, "kv_heads": 2, "head_dim": 24, "value_dim": 16)" +
      attention + R"(}, "io": {"query": "f32"}, "key": {"codec": "f32")" + key +
      R"(}, "value": {"codec": "f32"}})";
  auto parsed = spec::parseSpec(text);
  ASSERT_TRUE(parsed) << parsed.error().str();
  const test::Lengths lengths[] = {{3, 40}, {1, 1}, {0, 7}, {5, 2}, {2, 0}};
  const test::Inputs random =
      test::randomInputs(*parsed, lengths, test::InputMode::Normal, 20241);
  const test::Reference expected =
      test::attend(parsed->attention, parsed->key.rope,
                   {random.q, random.k, random.v, random.cuQ, random.cuKv,
                    random.slopes, random.sinks});

  const BatchInputs inputs = batchOf(random);
  const SpecHandle spec = parseSpec(text, "x");
  const Threads threads(2);
  for (const kvc_parallel_for *loop : {threads.loop(), Threads(1).loop()}) {
    const ReferenceOutputs got =
        attendInF64(specInfoOf(spec.get()), inputs, loop);
    ASSERT_EQ(got.out.size(), expected.out.size());
    for (size_t i = 0; i < got.out.size(); ++i)
      EXPECT_NEAR(got.out[i], expected.out[i], 1e-12) << i;
    ASSERT_EQ(got.lse.size(), expected.lse.size());
    for (size_t i = 0; i < got.lse.size(); ++i)
      if (got.lse[i] != expected.lse[i])
        EXPECT_NEAR(got.lse[i], expected.lse[i], 1e-12) << i;
  }
}

TEST(ToolReference, Plain) { compare(""); }
TEST(ToolReference, NoMask) { compare(R"(, "mask": "none")"); }
TEST(ToolReference, Window) { compare(R"(, "window": 5)"); }
TEST(ToolReference, WindowWithSinks) {
  compare(R"(, "window": 5, "window_sinks": 3)");
}
TEST(ToolReference, ScaleAlibiAndSoftcap) {
  compare(R"(, "scale": 0.3, "alibi": true, "softcap": 2.5)");
}
TEST(ToolReference, SinkLogits) { compare(R"(, "sink_logits": true)"); }

TEST(ToolReference, KeysBeforeRope) {
  compare("", R"(, "rope": {"style": "half", "dims": 16, "offset": 4})");
  compare("", R"(, "rope": {"style": "pairs", "dims": 24, "theta": 500.0})");
}

/// Two keys, one query head each; worked out by hand.
TEST(ToolScores, DifferencesOfScoresAndWeights) {
  const SpecHandle spec = parseSpec(
      R"({"kvc": 1, "attention": {"q_heads": 2, "kv_heads": 1, "head_dim": 16, "scale": 0.5, "sink_logits": true},
          "io": {"query": "f32"}, "key": {"codec": "f32"}, "value": {"codec": "f32"}})",
      "x");
  BatchInputs inputs;
  inputs.queryStarts = {0, 1, 2};
  inputs.keyStarts = {0, 2, 2}; // The second sequence has no key.
  std::vector<float> q(2 * 2 * 16), k(2 * 16), v(2 * 16);
  q[0] = 2;      // Head 0: scores are the first channels of keys.
  q[16 + 1] = 2; // Head 1: the second ones.
  k[0] = 1;
  k[16] = 3;
  k[1] = -2;
  auto valuesOf = [](const std::vector<float> &values) {
    return convert("x", values.data(), KVC_F32,
                   static_cast<int64_t>(values.size()), KVC_F32);
  };
  inputs.q = valuesOf(q);
  inputs.k = valuesOf(k);
  inputs.v = valuesOf(v);
  inputs.sinkLogits = {-INFINITY, 0.5f};
  std::vector<float> other = k;
  other[0] = 2;  // Head 0: scores 2 and 3 instead of 1 and 3.
  other[17] = 1; // Head 1: -2 and 1 instead of -2 and 0.
  const ScoreDifferences got =
      compareScores(specInfoOf(spec.get()), inputs, other, nullptr);
  EXPECT_EQ(got.queries, 1);
  ASSERT_EQ(got.errors.size(), 2u);
  EXPECT_NEAR(got.errors[0], 1, 1e-12);
  EXPECT_NEAR(got.norms[0], 10, 1e-12);
  EXPECT_NEAR(got.errors[1], 1, 1e-12);
  EXPECT_NEAR(got.norms[1], 4, 1e-12);
  auto divergence = [](std::vector<double> s, std::vector<double> t) {
    double sSum = 0, tSum = 0, result = 0;
    for (double each : s)
      sSum += std::exp(each);
    for (double each : t)
      tSum += std::exp(each);
    for (size_t i = 0; i < s.size(); ++i) {
      const double p = std::exp(s[i]) / sSum, r = std::exp(t[i]) / tSum;
      result += p * std::log(p / r);
    }
    return result;
  };
  EXPECT_NEAR(got.divergences[0], divergence({1, 3}, {2, 3}), 1e-12);
  EXPECT_NEAR(got.divergences[1], divergence({-2, 0, 0.5}, {-2, 1, 0.5}),
              1e-12);
  // Equal keys differ in nothing.
  const ScoreDifferences same =
      compareScores(specInfoOf(spec.get()), inputs, k, nullptr);
  EXPECT_EQ(same.errors, (std::vector<double>{0, 0}));
  EXPECT_EQ(same.divergences, (std::vector<double>{0, 0}));
}

TEST(ToolReference, VisibleTokens) {
  kvc_spec_info spec{};
  EXPECT_EQ(visibleTokens(spec, 100, 1), 100);
  spec.window = 16;
  EXPECT_EQ(visibleTokens(spec, 100, 1), 16);
  EXPECT_EQ(visibleTokens(spec, 100, 4), 19);
  EXPECT_EQ(visibleTokens(spec, 10, 1), 10);
  spec.window_sinks = 4;
  EXPECT_EQ(visibleTokens(spec, 100, 1), 20);
  EXPECT_EQ(visibleTokens(spec, 18, 1), 18);
}

/// A number that moves by h moves the output by the root of its sensitivity
/// times h.
void checkSensitivities(const std::string &attention, const std::string &key) {
  const std::string text =
      R"({"kvc": 1, "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 16)" +
      attention + R"(}, "io": {"query": "f32"}, "key": {"codec": "f32")" + key +
      R"(}, "value": {"codec": "f32"}})";
  auto parsed = spec::parseSpec(text);
  ASSERT_TRUE(parsed) << parsed.error().str();
  const kvc_spec_info info = specInfoOf(parseSpec(text, "spec").get());
  const test::Lengths lengths[] = {{2, 12}, {3, 9}};
  const test::Inputs given =
      test::randomInputs(*parsed, lengths, test::InputMode::Normal, 11);
  const BatchInputs inputs = batchOf(given);
  const Sensitivities found = sensitivitiesOf(info, inputs, inputs.q.toF32());
  constexpr float h = 0x1p-10F;
  auto moved = [&](Values BatchInputs::*tensor, size_t place) {
    auto squares = [&](float by) {
      BatchInputs changed = inputs;
      std::vector<float> values = (inputs.*tensor).toF32();
      values[place] += by;
      std::memcpy((changed.*tensor).bytes.data(), values.data(),
                  values.size() * sizeof(float));
      return attendInF64(info, changed, nullptr).out;
    };
    const std::vector<double> up = squares(h), down = squares(-h);
    double sum = 0;
    for (size_t i = 0; i < up.size(); ++i)
      sum += (up[i] - down[i]) * (up[i] - down[i]);
    return sum / (4.0 * h * h);
  };
  for (size_t place = 0; place < given.k.size(); place += 7)
    EXPECT_NEAR(found.keys[place], moved(&BatchInputs::k, place),
                2e-3 * found.keys[place] + 1e-7)
        << place;
  for (size_t place = 0; place < given.v.size(); place += 5)
    EXPECT_NEAR(found.values[place / 16], moved(&BatchInputs::v, place),
                2e-3 * found.values[place / 16] + 1e-7)
        << place;
}

TEST(Sensitivities, AreSquaredDerivatives) {
  checkSensitivities("", "");
  checkSensitivities(R"(, "softcap": 2, "window": 5)", "");
  checkSensitivities("",
                     R"(, "rope": {"style": "half", "dims": 8, "offset": 4})");
  checkSensitivities("", R"(, "rope": {"style": "pairs", "dims": 16})");
}

} // namespace
