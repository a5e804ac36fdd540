//===- block_test.cpp - The rules of SPEC.md section 2 --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each test is one sentence of section 2, with numbers worked out by hand.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Block.h"

#include "kvc/Test/Floats.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kvc;
using namespace kvc::test;
using spec::CodecKind;
using spec::DType;
using spec::PartScheme;

namespace {

using Codes = std::vector<uint8_t>;
using Floats = std::vector<float>;

PartScheme scheme(CodecKind kind, unsigned bits, DType scaleType) {
  PartScheme result;
  result.end = 64;
  result.codec.kind = kind;
  result.codec.bits = bits;
  result.scale = spec::Scale{};
  result.scale->dtype = scaleType;
  if (scaleType == DType::E8M0)
    result.scale->round = spec::ScaleRound::Down;
  return result;
}
PartScheme ints(unsigned bits, DType scaleType = DType::F32) {
  return scheme(CodecKind::Int, bits, scaleType);
}
PartScheme lut(DType scaleType = DType::F32) {
  return scheme(CodecKind::Lut, 2, scaleType);
}

BlockCodes quantise(const PartScheme &scheme, const Floats &values,
                    const Floats &table = {},
                    std::vector<uint8_t> isOutlier = {},
                    std::optional<float> staticScale = std::nullopt) {
  isOutlier.resize(values.size());
  return quantiseBlock(scheme, table, values, isOutlier, staticScale);
}

/// Codes of symmetric ints.
Codes signedCodes(std::initializer_list<int> codes) {
  Codes result;
  for (int code : codes)
    result.push_back(uint8_t(int8_t(code)));
  return result;
}

//===----------------------------------------------------------------------===//
// Ints
//===----------------------------------------------------------------------===//

TEST(Symmetric, ScaleFromAmaxCodesClampedSymmetrically) {
  BlockCodes block = quantise(ints(4), {7, -14, 3, -3, 0});
  EXPECT_EQ(block.scale, 2);
  EXPECT_EQ(block.codes, signedCodes({4, -7, 2, -2, 0})); // 3.5, 1.5 to even.
}

TEST(Symmetric, TheCodeComesFromTheRoundedScale) {
  // f16 rounds 1.0002 down to 1, so x/s = 7.0014 clamps to 7.
  float amax = 7 * 1.0002f;
  BlockCodes block = quantise(ints(4, DType::F16), {amax, -amax});
  EXPECT_EQ(block.scale, 1);
  EXPECT_EQ(block.codes, signedCodes({7, -7}));
}

TEST(Symmetric, ClipMultipliesAmax) {
  PartScheme s = ints(4);
  s.clip = 0.5;
  BlockCodes block = quantise(s, {14, -14, 1});
  EXPECT_EQ(block.scale, 1);
  EXPECT_EQ(block.codes, signedCodes({7, -7, 1}));
}

TEST(Symmetric, AScaleOfZeroGivesCodesOfZero) {
  BlockCodes block = quantise(ints(8), {0, -0.0f});
  EXPECT_EQ(bitsOfFloat(block.scale), 0u);
  EXPECT_EQ(block.codes, (Codes{0, 0}));
  // f16 has no 1e-10: the scale underflows and the block with it.
  block = quantise(ints(8, DType::F16), {1e-10f});
  EXPECT_EQ(block.scale, 0);
  EXPECT_EQ(block.codes, Codes{0});
}

TEST(Signed, TakesTheFirstOfTheLargest) {
  PartScheme s = ints(4);
  s.estimate = spec::Estimate::Signed;
  BlockCodes block = quantise(s, {1, -8, 8});
  EXPECT_EQ(block.scale, 1);
  EXPECT_EQ(block.codes, signedCodes({1, -8, 7}));
  block = quantise(s, {1, 8, -8});
  EXPECT_EQ(block.scale, -1);
  EXPECT_EQ(block.codes, signedCodes({-1, -8, 7}));
}

TEST(Signed, ABlockOfZerosStoresNegativeZero) {
  PartScheme s = ints(4, DType::F16);
  s.estimate = spec::Estimate::Signed;
  for (float zero : {0.0f, -0.0f})
    EXPECT_EQ(bitsOfFloat(quantise(s, {zero}).scale), 0x80000000u);
}

TEST(Min, ScaleAndMinimum) {
  PartScheme s = ints(2);
  s.zero = spec::Zero::Min;
  BlockCodes block = quantise(s, {1, 4, 2.4f, 3.6f});
  EXPECT_EQ(block.zero, 1);
  EXPECT_EQ(block.scale, 1);
  EXPECT_EQ(block.codes, (Codes{0, 3, 1, 3}));
  EXPECT_EQ(dequantise(s, {}, block.scale, block.zero, 3), 4);
}

TEST(Min, TheScaleIsNegativeWhenTheMinimumRoundsAboveTheMaximum) {
  PartScheme s = ints(4, DType::F16);
  s.zero = spec::Zero::Min;
  float x = 1 + 0x1.8p-11f; // f16 rounds it up.
  BlockCodes block = quantise(s, {x, x});
  EXPECT_EQ(block.zero, 1 + 0x1p-10f);
  EXPECT_LT(block.scale, 0);
  EXPECT_EQ(block.codes, (Codes{15, 15}));
}

TEST(Min, TheMinimumIsNeverNegativeZero) {
  PartScheme s = ints(4);
  s.zero = spec::Zero::Min;
  BlockCodes block = quantise(s, {-0.0f, 15});
  EXPECT_EQ(bitsOfFloat(block.zero), 0u);
  EXPECT_EQ(block.codes, (Codes{0, 15}));
}

TEST(Min, TheMaximumIsNegativeZeroOnlyIfAllValuesAre) {
  PartScheme s = ints(4);
  s.zero = spec::Zero::Min;
  EXPECT_EQ(bitsOfFloat(quantise(s, {-0.0f, -0.0f}).scale), 0x80000000u);
  EXPECT_EQ(bitsOfFloat(quantise(s, {-0.0f, 0.0f}).scale), 0u);
  EXPECT_EQ(bitsOfFloat(quantise(s, {0.0f, -0.0f}).scale), 0u);
}

TEST(Code, ScaleAndZero) {
  PartScheme s = ints(2);
  s.zero = spec::Zero::Code;
  BlockCodes block = quantise(s, {-1, 2, 0.4f});
  EXPECT_EQ(block.scale, 1);
  EXPECT_EQ(block.zero, 1);
  EXPECT_EQ(block.codes, (Codes{0, 3, 1}));
  EXPECT_EQ(dequantise(s, {}, block.scale, block.zero, 3), 2);
}

TEST(Code, AConstantBlockIsKept) {
  PartScheme s = ints(4, DType::F16);
  s.zero = spec::Zero::Code;
  for (float x : {5.0f, -5.0f}) {
    BlockCodes block = quantise(s, {x, x});
    EXPECT_EQ(block.scale, 5);
    EXPECT_EQ(block.zero, x > 0 ? -1 : 1);
    EXPECT_EQ(block.codes, (Codes{0, 0}));
    EXPECT_EQ(dequantise(s, {}, block.scale, block.zero, 0), x);
  }
  BlockCodes block = quantise(s, {0, 0});
  EXPECT_EQ(block.scale, 0);
  EXPECT_EQ(bitsOfFloat(block.zero), 0u);
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

TEST(Round, AwayFromZeroAndUp) {
  PartScheme s = ints(4);
  Floats values = {7, 2.5f, -2.5f, 0.5f, -0.5f, -1.5f};
  EXPECT_EQ(quantise(s, values).codes, signedCodes({7, 2, -2, 0, 0, -2}));
  s.round = spec::Round::Away;
  EXPECT_EQ(quantise(s, values).codes, signedCodes({7, 3, -3, 1, -1, -2}));
  s.round = spec::Round::Up;
  EXPECT_EQ(quantise(s, values).codes, signedCodes({7, 3, -2, 1, 0, -1}));
}

TEST(Round, AwayAddsExactly) {
  // 0.5f + the f32 below 0.5 would round to 1 in f32.
  PartScheme s = ints(4);
  s.round = spec::Round::Away;
  float below = std::nextafterf(0.5f, 0);
  EXPECT_EQ(quantise(s, {7, below}).codes, signedCodes({7, 0}));
}

TEST(Round, UpOfSymmetricIntsIsOneAddition) {
  // 8.5 + the f32 below -0.5 rounds to 8 in f32, which floor keeps.
  PartScheme s = ints(4);
  s.round = spec::Round::Up;
  float below = std::nextafterf(-0.5f, -1);
  EXPECT_EQ(quantise(s, {7, below}).codes, signedCodes({7, 0}));
}

TEST(Round, UpOfUnsignedCodes) {
  PartScheme s = ints(2);
  s.zero = spec::Zero::Min;
  s.round = spec::Round::Up;
  EXPECT_EQ(quantise(s, {0, 3, 0.5f, 1.5f}).codes, (Codes{0, 3, 1, 2}));
}

//===----------------------------------------------------------------------===//
// fp8, fp4, lut
//===----------------------------------------------------------------------===//

TEST(Minifloat, KeepsTheSignOfZero) {
  BlockCodes block =
      quantise(scheme(CodecKind::FP4E2M1, 4, DType::F32), {6, -0.0f, -6, 2.5f});
  EXPECT_EQ(block.scale, 1);
  EXPECT_EQ(block.codes, (Codes{7, 8, 15, 4}));
}

TEST(Minifloat, CodecMax) {
  EXPECT_EQ(quantise(scheme(CodecKind::FP8E4M3, 8, DType::F32), {448}).scale,
            1);
  EXPECT_EQ(quantise(scheme(CodecKind::FP8E5M2, 8, DType::F32), {57344}).scale,
            1);
}

TEST(Lut, NearestEntryAndTies) {
  Floats table = {-1, 0, 0, 2};
  EXPECT_EQ(nearestEntry(table, 0.1f), 1);
  EXPECT_EQ(nearestEntry(table, 1.0f), 1); // A tie: the lower index.
  EXPECT_EQ(nearestEntry(table, std::nextafterf(1, 2)), 3);
  EXPECT_EQ(nearestEntry(table, -0.5f), 0);
  EXPECT_EQ(nearestEntry(Floats{2, 0, -1, 0}, 1.0f), 0);
}

TEST(Lut, ComparesExactly) {
  // The middle of 1 and 1e-30 lies above 0.5 by less than any f64 shows.
  Floats table = {1, 1e-30f};
  EXPECT_EQ(nearestEntry(table, 0.5f), 1);
  EXPECT_EQ(nearestEntry(Floats{1, -1e-30f}, 0.5f), 0);
  EXPECT_EQ(nearestEntry(Floats{1e-30f, 1}, 0.5f), 0);
  EXPECT_EQ(nearestEntry(Floats{-1e-30f, 1}, 0.5f), 1);
  float huge = std::numeric_limits<float>::max();
  EXPECT_EQ(nearestEntry(Floats{-huge, huge}, HUGE_VALF), 1);
}

TEST(Lut, ScaleByTheLargestEntry) {
  BlockCodes block = quantise(lut(), {4, -2}, {-2, -1, 0.5f, 1});
  EXPECT_EQ(block.scale, 2);
  EXPECT_EQ(block.codes, (Codes{3, 1}));
}

TEST(ScaleOfZero, GivesZeroAndNoNegativeOne) {
  const Floats table = {-1, 1};
  BlockCodes block = quantise(lut(), {0, -0.0f}, table);
  EXPECT_EQ(bitsOfFloat(block.scale), 0u);
  EXPECT_EQ(block.codes, (Codes{0, 0}));
  EXPECT_EQ(bitsOfFloat(dequantise(lut(), table, 0, 0, 0)), 0u);

  PartScheme s = ints(4);
  s.estimate = spec::Estimate::Signed;
  EXPECT_EQ(bitsOfFloat(dequantise(s, {}, -0.0f, 0, 0)), 0u);
  // "exact" has codes beside such scales: x' = s * u.
  s.codesFrom = spec::CodesFrom::Exact;
  EXPECT_EQ(bitsOfFloat(dequantise(s, {}, 0, 0, uint8_t(-3))), 0x80000000u);
}

TEST(Lut, Mid) {
  PartScheme s = lut();
  s.zero = spec::Zero::Mid;
  BlockCodes block = quantise(s, {1, 5, 3}, {-1, 0, 0.5f, 1});
  EXPECT_EQ(block.zero, 3);
  EXPECT_EQ(block.scale, 2);
  EXPECT_EQ(block.codes, (Codes{0, 3, 1}));
  s.clip = 0.5; // max and min, then the amax of x - m.
  block = quantise(s, {1, 5, 3}, {-1, 0, 0.5f, 1});
  EXPECT_EQ(block.zero, 1.5f);
  EXPECT_EQ(block.scale, 1.75f);
}

TEST(Rms, PairwiseWithOutliersAsZero) {
  PartScheme s = lut();
  s.estimate = spec::Estimate::Rms;
  Floats table = {-1, 0, 0.5f, 1};
  EXPECT_EQ(quantise(s, {3, 4, 100, 0, 0}, table, {0, 0, 1, 0, 0}).scale,
            std::sqrt(25.0f / 4.0f));
  // In sequence every summand after the first would be lost.
  Floats values = {1e4f, 1, 2, 2, 2};
  float pairwise = ((1e8f + 1.0f) + (4.0f + 4.0f)) + 4.0f;
  EXPECT_EQ(quantise(s, values, table).scale, std::sqrt(pairwise / 5.0f));
}

//===----------------------------------------------------------------------===//
// Scale types
//===----------------------------------------------------------------------===//

TEST(E8M0, DownAndUp) {
  PartScheme s = scheme(CodecKind::FP4E2M1, 4, DType::E8M0);
  EXPECT_EQ(quantise(s, {7}).scale, 1); // 2 - 2
  EXPECT_EQ(quantise(s, {8}).scale, 2); // 3 - 2
  EXPECT_EQ(quantise(s, {0x1p-149f}).scale, 0x1p-127f);
  s.scale->round = spec::ScaleRound::Up;
  EXPECT_EQ(quantise(s, {6}).scale, 1);
  EXPECT_EQ(quantise(s, {6.5f}).scale, 2);
  // Ints: codec_max 7, whose logarithm has floor 2.
  EXPECT_EQ(quantise(ints(4, DType::E8M0), {7}).scale, 1);
}

TEST(E8M0, ABlockOfZeros) {
  PartScheme s = scheme(CodecKind::FP4E2M1, 4, DType::E8M0);
  BlockCodes block = quantise(s, {-0.0f});
  EXPECT_EQ(block.scale, 0x1p-127f);
  EXPECT_EQ(block.codes, Codes{0});
  Floats table = {-1, 0, 0.5f, 1};
  PartScheme l = lut(DType::E8M0);
  block = quantise(l, {0}, table);
  EXPECT_EQ(block.codes, Codes{0});
  EXPECT_EQ(dequantise(l, table, block.scale, 0, 0), -0x1p-127f);
}

TEST(E8M0, RmsStandsForTheQuotient) {
  PartScheme s = lut(DType::E8M0);
  s.estimate = spec::Estimate::Rms;
  EXPECT_EQ(quantise(s, {3, 3}, {-4, 0, 0.5f, 4}).scale, 2);
}

TEST(E4M3, TwoLevels) {
  PartScheme s = ints(8, DType::E4M3);
  s.scale->global = 0.25;
  BlockCodes block = quantise(s, {127, -127});
  EXPECT_EQ(block.scale, 4); // Before global.
  EXPECT_EQ(effectiveScale(*s.scale, block.scale), 1);
  EXPECT_EQ(block.codes, signedCodes({127, -127}));
  EXPECT_EQ(dequantise(s, {}, block.scale, 0, 127), 127);
}

TEST(ScaleRound, UpIsAPowerOfTwo) {
  PartScheme s = ints(4, DType::F16);
  s.scale->round = spec::ScaleRound::Up;
  EXPECT_EQ(quantise(s, {7.1f}).scale, 2);
  EXPECT_EQ(quantise(s, {0}).scale, 0);
  EXPECT_EQ(storeStaticScale(*s.scale, 0.3f), 0.5f);
}

TEST(ScaleFloor, RaisesTheQuotient) {
  PartScheme s = ints(4);
  s.scale->floor = 0.1;
  EXPECT_EQ(quantise(s, {0}).scale, 0.1f);
  EXPECT_EQ(quantise(s, {0.35f}).scale, 0.1f);
  EXPECT_EQ(quantise(s, {7}).scale, 1);
  s = ints(4, DType::E4M3);
  s.scale->floor = 1.0;
  s.scale->global = 0.5;
  EXPECT_EQ(quantise(s, {0}).scale, 2);
  s.scale->round = spec::ScaleRound::Up;
  s.scale->floor = 1.1;
  EXPECT_EQ(quantise(s, {0}).scale, 4);
}

TEST(StaticScale, RoundsLikeADynamicOne) {
  PartScheme s = ints(4, DType::E8M0);
  EXPECT_EQ(storeStaticScale(*s.scale, 3.9f), 2);
  s.scale->round = spec::ScaleRound::Up; // Always down.
  EXPECT_EQ(storeStaticScale(*s.scale, 3.9f), 2);
  s = ints(4, DType::F16);
  BlockCodes block = quantise(s, {2, 100}, {}, {}, 1 + 0x1p-12f);
  EXPECT_EQ(block.scale, 1);
  EXPECT_EQ(block.codes, signedCodes({2, 7}));
}

//===----------------------------------------------------------------------===//
// codes_from exact, outliers
//===----------------------------------------------------------------------===//

TEST(Exact, CodesFromTheQuotientWhateverIsStored) {
  PartScheme s = ints(8, DType::F16);
  s.codesFrom = spec::CodesFrom::Exact;
  BlockCodes block = quantise(s, {1e-10f, -1e-10f});
  EXPECT_EQ(block.scale, 0);
  EXPECT_EQ(block.codes, signedCodes({127, -127}));
  EXPECT_EQ(dequantise(s, {}, block.scale, 0, 127), 0);
}

TEST(Exact, ByTheReciprocal) {
  PartScheme s = ints(8);
  s.codesFrom = spec::CodesFrom::Exact;
  for (float amax : {1.0f, 3.7f, 123.456f, 0.001f}) {
    float inverse = 1.0f / (amax / 127.0f);
    for (float x : {amax, amax * 0.3f, -amax * 0.77f})
      EXPECT_EQ(int8_t(quantise(s, {amax, x}).codes[1]),
                int(std::nearbyint(x * inverse)));
  }
}

TEST(Exact, AnInfiniteReciprocalGivesZero) {
  PartScheme s = ints(4);
  s.codesFrom = spec::CodesFrom::Exact;
  BlockCodes block = quantise(s, {0x1p-146f});
  EXPECT_GT(block.scale, 0);
  EXPECT_EQ(block.codes, Codes{0});
}

TEST(Exact, MinSubtractsTheUnroundedMinimum) {
  PartScheme s = ints(2, DType::BF16);
  s.zero = spec::Zero::Min;
  s.codesFrom = spec::CodesFrom::Exact;
  float min = 1 + 0x1.8p-8f; // bf16 rounds it up.
  BlockCodes block = quantise(s, {min, min + 0x1p-7f * 3});
  EXPECT_EQ(block.zero, 1 + 0x1p-7f);
  EXPECT_EQ(block.scale, 0x1p-7f);
  EXPECT_EQ(block.codes, (Codes{0, 3}));
}

TEST(Outliers, CountForNothingAndHaveCodeZero) {
  BlockCodes block = quantise(ints(4), {100, 7, -7}, {}, {1, 0, 0});
  EXPECT_EQ(block.scale, 1);
  EXPECT_EQ(block.codes, signedCodes({0, 7, -7}));
  PartScheme s = ints(4);
  s.zero = spec::Zero::Min;
  block = quantise(s, {100, 100}, {}, {1, 1}); // Nothing left: zeros.
  EXPECT_EQ(block.scale, 0);
  EXPECT_EQ(block.zero, 0);
}

} // namespace
