//===- attention_test.cpp - The f64 reference and its bounds --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Attention.h"

#include "Specs.h"
#include "kvc/Test/Inputs.h"
#include "kvc/Test/Transforms.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One head of 16 channels, raw.
spec::Spec rawSpec(const std::string &attention,
                   const std::string &heads = "'q_heads': 1, 'kv_heads': 1") {
  return parsed(heads + ", 'head_dim': 16" + attention, "'codec': 'f16'",
                "'codec': 'f16'");
}

/// Scores are chosen: q is the first unit vector times 1/scale, so that key t
/// scores k[t][0]; value t is the unit vector t.
struct Chosen {
  spec::Spec spec;
  Inputs inputs;

  Chosen(spec::Spec s, int64_t queries, const std::vector<float> &scores)
      : spec(std::move(s)) {
    spec.attention.scale = 1;
    inputs.cuQ = {0, queries};
    inputs.cuKv = {0, int64_t(scores.size())};
    inputs.q.resize(size_t(queries * 16));
    inputs.k.resize(scores.size() * 16);
    inputs.v.resize(scores.size() * 16);
    for (int64_t i = 0; i < queries; ++i)
      inputs.q[size_t(i * 16)] = 1;
    for (size_t t = 0; t < scores.size(); ++t) {
      inputs.k[t * 16] = scores[t];
      inputs.v[t * 16 + t] = 1;
    }
  }

  Reference run() const { return answer(spec, inputs).reference; }

  /// The probabilities of query i, one per key.
  std::vector<double> probabilities(int64_t i = 0) const {
    Reference reference = run();
    auto begin = reference.out.begin() + i * 16;
    return {begin, begin + inputs.cuKv[1]};
  }
};

void expectNear(const std::vector<double> &got,
                const std::vector<double> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Keys that query i of `queries` sees, as a string of 0 and 1.
std::string seen(const spec::Attention &attention, int64_t i, int64_t queries,
                 int64_t keys) {
  std::string result;
  for (int64_t t = 0; t < keys; ++t)
    result += isVisible(attention, i, queries, t, keys) ? '1' : '0';
  return result;
}

TEST(Mask, CausalIsAlignedBottomRight) {
  spec::Attention a;
  EXPECT_EQ(seen(a, 2, 3, 5), "11111");
  EXPECT_EQ(seen(a, 0, 3, 5), "11100");
  // More queries than keys: the first ones are at negative positions.
  EXPECT_EQ(seen(a, 0, 4, 2), "00");
  EXPECT_EQ(seen(a, 2, 4, 2), "10");
}

TEST(Mask, NoneSeesAll) {
  spec::Attention a;
  a.causal = false;
  EXPECT_EQ(seen(a, 0, 3, 5), "11111");
}

TEST(Mask, WindowAndItsSinks) {
  spec::Attention a;
  a.window = 2;
  EXPECT_EQ(seen(a, 2, 3, 6), "000011");
  EXPECT_EQ(seen(a, 0, 3, 6), "001100");
  a.windowSinks = 1;
  EXPECT_EQ(seen(a, 2, 3, 6), "100011");
  a.windowSinks = 6; // Still causal.
  EXPECT_EQ(seen(a, 0, 3, 6), "111100");
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

TEST(Softmax, Plain) {
  Chosen chosen(rawSpec(""), 1, {0, 1});
  double e = std::exp(1.0);
  expectNear(chosen.probabilities(), {1 / (1 + e), e / (1 + e)});
  EXPECT_NEAR(chosen.run().lse[0], std::log(1 + e), 1e-12);
}

TEST(Softmax, NeverOverflows) {
  Chosen chosen(rawSpec(""), 1, {60000, 60000, -60000});
  expectNear(chosen.probabilities(), {0.5, 0.5, 0});
  EXPECT_NEAR(chosen.run().lse[0], 60000 + std::log(2.0), 1e-9);
}

TEST(Softmax, SinkLogitsJoinTheDenominatorAlone) {
  Chosen chosen(rawSpec(", 'sink_logits': true"), 1, {0, 0});
  chosen.inputs.sinks = {0};
  expectNear(chosen.probabilities(), {1.0 / 3, 1.0 / 3});
  EXPECT_NEAR(chosen.run().lse[0], std::log(3.0), 1e-12);
  chosen.inputs.sinks = {-HUGE_VALF};
  expectNear(chosen.probabilities(), {0.5, 0.5});
}

TEST(Softmax, NoVisibleKey) {
  Chosen chosen(rawSpec(""), 3, {0, 0});
  Reference reference = chosen.run();
  EXPECT_EQ(reference.lse[0], -kInfinity);
  EXPECT_EQ(reference.out[0], 0);
  Chosen sink(rawSpec(", 'sink_logits': true"), 3, {0, 0});
  sink.inputs.sinks = {1.5};
  EXPECT_EQ(sink.run().lse[0], 1.5);
  sink.inputs.sinks = {-HUGE_VALF};
  EXPECT_EQ(sink.run().lse[0], -kInfinity);
}

TEST(Scores, OrderIsScaleAlibiSoftcapMask) {
  spec::Spec spec = rawSpec(", 'alibi': true, 'softcap': 2.0");
  Chosen chosen(spec, 1, {1, 3});
  chosen.spec.attention.scale = 0.5;
  chosen.inputs.slopes = {0.25};
  double a = 2 * std::tanh((0.5 - 0.25) / 2), b = 2 * std::tanh(1.5 / 2);
  double pa = std::exp(a) / (std::exp(a) + std::exp(b));
  expectNear(chosen.probabilities(), {pa, 1 - pa});
}

TEST(Scores, AlibiCountsFromTheQuerysPosition) {
  spec::Spec spec = rawSpec(", 'alibi': true, 'mask': 'none'");
  Chosen chosen(spec, 2, {0, 0, 0});
  chosen.inputs.slopes = {1};
  // Query 0 is at position 1: distances -1, 0, 1.
  double sum = std::exp(-1) + 1 + std::exp(1);
  expectNear(chosen.probabilities(0),
             {std::exp(-1) / sum, 1 / sum, std::exp(1) / sum});
}

TEST(Heads, QueryHeadsOfAGroupShareOneKvHead) {
  spec::Spec spec = rawSpec("", "'q_heads': 6, 'kv_heads': 2");
  Lengths lengths[] = {{2, 5}, {0, 3}, {1, 0}, {3, 4}};
  Inputs inputs = randomInputs(spec, lengths, InputMode::Normal, 1);
  Reference all = answer(spec, inputs).reference;
  // The same with every kv head repeated three times.
  spec::Spec wide = rawSpec("", "'q_heads': 6, 'kv_heads': 6");
  Inputs repeated = inputs;
  for (auto [from, to] :
       {std::pair(&inputs.k, &repeated.k), std::pair(&inputs.v, &repeated.v)}) {
    to->clear();
    for (size_t row = 0; row < from->size() / 16; ++row)
      for (int copy = 0; copy < 3; ++copy)
        to->insert(to->end(), from->begin() + ptrdiff_t(row) * 16,
                   from->begin() + ptrdiff_t(row + 1) * 16);
  }
  Reference same = answer(wide, repeated).reference;
  EXPECT_EQ(all.out, same.out);
  EXPECT_EQ(all.lse, same.lse);
}

TEST(Batch, SequencesDoNotSeeEachOther) {
  spec::Spec spec = rawSpec("");
  Lengths lengths[] = {{2, 5}, {3, 7}};
  Inputs both = randomInputs(spec, lengths, InputMode::Normal, 2);
  Reference all = answer(spec, both).reference;
  Inputs second = both;
  second.cuQ = {0, 3};
  second.cuKv = {0, 7};
  second.q.erase(second.q.begin(), second.q.begin() + 2 * 16);
  second.k.erase(second.k.begin(), second.k.begin() + 5 * 16);
  second.v.erase(second.v.begin(), second.v.begin() + 5 * 16);
  Reference alone = answer(spec, second).reference;
  expectNear({all.out.begin() + 2 * 16, all.out.end()}, alone.out);
}

//===----------------------------------------------------------------------===//
// RoPE
//===----------------------------------------------------------------------===//

TEST(Rope, PairsOfBothStyles) {
  for (bool pairs : {false, true}) {
    spec::Rope rope;
    rope.pairs = pairs;
    rope.dims = 4;
    rope.offset = 2;
    std::vector<double> row = {9, 9, 1, 0, 0, 0, 9, 9};
    applyRope(rope, 3, row);
    double angle = 3; // f_0 is 1.
    size_t partner = pairs ? 3 : 4;
    EXPECT_NEAR(row[2], std::cos(angle), 1e-15);
    EXPECT_NEAR(row[partner], std::sin(angle), 1e-15);
    EXPECT_EQ(row[0], 9);
    EXPECT_EQ(row[6], 9);
  }
}

TEST(Rope, AnglesAreProductsInF32) {
  spec::Rope rope;
  rope.dims = 64;
  float f = float(std::pow(10000.0, -2.0 * 5 / 64));
  EXPECT_EQ(ropeFrequency(rope, 5), f);
  std::vector<double> row(64);
  row[5] = 1;
  applyRope(rope, 1000003, row);
  float angle = 1000003.0f * f;
  EXPECT_EQ(row[5], std::cos(double(angle)));
  EXPECT_EQ(row[5 + 32], std::sin(double(angle)));
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

TEST(Bounds, BaseFollowsTheQueryType) {
  EXPECT_EQ(boundBase(spec::DType::F16), 1e-3);
  EXPECT_EQ(boundBase(spec::DType::BF16), 6e-3);
  EXPECT_EQ(boundBase(spec::DType::F32), 2e-5);
}

TEST(Bounds, MeasureTheErrorInUnitsOfTheBound) {
  Chosen chosen(rawSpec(""), 1, {0.5, 0.5});
  chosen.spec.io.output = spec::DType::F32;
  Reference reference = chosen.run();
  // A = S = 0.5, so the relative bound is 1e-3 + 2^-23. ||ref|| =
  // ||sqrt(sum p^2 v^2)|| = sqrt(1/2).
  EXPECT_EQ(reference.a[0], 0.5);
  EXPECT_EQ(reference.s[0], 0.5);
  double bound = (1e-3 + 0x1p-23) * std::sqrt(0.5);
  for (double part : {0.5, 0.999, 1.01}) {
    std::vector<double> out = reference.out;
    out[3] += part * bound;
    BoundCheck check = checkOut(chosen.spec, reference, chosen.inputs.cuQ, out);
    EXPECT_NEAR(check.worst, part, 1e-3);
    EXPECT_EQ(check.ok(), part < 1);
  }
}

TEST(Bounds, GrowWithALargeLogit) {
  Chosen chosen(rawSpec(""), 1, {100, 0});
  Reference reference = chosen.run();
  EXPECT_EQ(reference.a[0], 100);
  std::vector<double> out = reference.out;
  out[0] += 0.09;
  EXPECT_TRUE(checkOut(chosen.spec, reference, chosen.inputs.cuQ, out).ok());
}

TEST(Bounds, GrowWithTheScore) {
  // 16 equal products: S is four times A, which shows beside f32's small base.
  Chosen chosen(rawSpec(""), 1, {0});
  chosen.spec.io = {spec::DType::F32, spec::DType::F32};
  std::fill(chosen.inputs.q.begin(), chosen.inputs.q.end(), 1.0f);
  std::fill(chosen.inputs.k.begin(), chosen.inputs.k.end(), 1.0f);
  Reference reference = chosen.run();
  EXPECT_EQ(reference.a[0], 4);
  EXPECT_EQ(reference.s[0], 16);
  std::vector<double> out = reference.out;
  out[1] += 0.5 * (2e-5 * 4 + 0x1p-22 * 16);
  BoundCheck check = checkOut(chosen.spec, reference, chosen.inputs.cuQ, out);
  EXPECT_NEAR(check.worst, 0.5, 1e-3);
}

TEST(Bounds, AllowSaturationOfTheOutput) {
  Chosen chosen(parsed("'q_heads': 1, 'kv_heads': 1, 'head_dim': 16",
                       "'codec': 'f32'", "'codec': 'f32'", "", "f32"),
                1, {0});
  chosen.spec.io.output = spec::DType::F16;
  chosen.inputs.v[0] = 1e5f;
  Reference reference = chosen.run();
  std::vector<double> out = reference.out;
  out[0] = 65504;
  EXPECT_TRUE(checkOut(chosen.spec, reference, chosen.inputs.cuQ, out).ok());
  out[0] = 65000;
  EXPECT_FALSE(checkOut(chosen.spec, reference, chosen.inputs.cuQ, out).ok());
}

TEST(Bounds, AllowTheRoundingOfTheOutput) {
  // f32 queries, f16 output: the rounding is larger than the rest.
  spec::Spec spec = parsed("'q_heads': 2, 'kv_heads': 1, 'head_dim': 16",
                           "'codec': 'f32'", "'codec': 'f32'", "", "f32");
  spec.io.output = spec::DType::F16;
  Lengths lengths[] = {{4, 40}};
  Inputs inputs = randomInputs(spec, lengths, InputMode::Normal, 3);
  Reference reference = answer(spec, inputs).reference;
  std::vector<double> out;
  for (double x : reference.out)
    out.push_back(double(float(_Float16(x))));
  EXPECT_TRUE(checkOut(spec, reference, inputs.cuQ, out).ok());
  spec.io.output = spec::DType::F32;
  EXPECT_FALSE(checkOut(spec, reference, inputs.cuQ, out).ok());
}

TEST(Bounds, ZeroMustBeExact) {
  Chosen chosen(rawSpec(""), 1, {1, 2});
  std::fill(chosen.inputs.v.begin(), chosen.inputs.v.end(), 0.0f);
  Reference reference = chosen.run();
  std::vector<double> out = reference.out;
  EXPECT_TRUE(checkOut(chosen.spec, reference, chosen.inputs.cuQ, out).ok());
  out[2] = -0.0;
  EXPECT_TRUE(checkOut(chosen.spec, reference, chosen.inputs.cuQ, out).ok());
  out[2] = 1e-30;
  EXPECT_FALSE(checkOut(chosen.spec, reference, chosen.inputs.cuQ, out).ok());
}

TEST(Bounds, NotANumberIsOutside) {
  Chosen chosen(rawSpec(""), 1, {1, 2});
  Reference reference = chosen.run();
  for (double bad : {std::nan(""), kInfinity}) {
    std::vector<double> out = reference.out, lse = reference.lse;
    out[1] = lse[0] = bad;
    EXPECT_FALSE(checkOut(chosen.spec, reference, chosen.inputs.cuQ, out).ok());
    EXPECT_FALSE(checkLse(chosen.spec, reference, chosen.inputs.cuQ, lse).ok());
  }
}

TEST(Bounds, Lse) {
  Chosen chosen(rawSpec(""), 1, {0, 0});
  Reference reference = chosen.run();
  double bound = 3e-3 + 4e-6 * std::log(2.0);
  for (double part : {0.99, 1.01}) {
    std::vector<double> lse = {reference.lse[0] - part * bound};
    EXPECT_EQ(checkLse(chosen.spec, reference, chosen.inputs.cuQ, lse).ok(),
              part < 1);
  }
}

TEST(Bounds, LseOfNoKeyIsMinusInfinity) {
  Chosen chosen(rawSpec(""), 1, {});
  Reference reference = chosen.run();
  auto ok = [&](double x) {
    return checkLse(chosen.spec, reference, chosen.inputs.cuQ,
                    std::vector<double>{x})
        .ok();
  };
  EXPECT_TRUE(ok(-kInfinity));
  EXPECT_FALSE(ok(-1e30));
  EXPECT_FALSE(ok(std::nan("")));
}

} // namespace
