//===- floats_test.cpp - Rounding to storage types ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Quantise/Floats.h"

#include "kvc/Test/Floats.h"
#include "kvc/Test/Inputs.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace kvc;
using spec::DType;

namespace {

struct Format {
  const char *name;
  spec::FloatFormat ours;
  test::FloatFormat reference;
};

const Format kFormats[] = {
    {"f16", quantise::formatOf(DType::F16), test::kF16},
    {"bf16", quantise::formatOf(DType::BF16), test::kBF16},
    {"f32", quantise::formatOf(DType::F32), test::kF32},
    {"e4m3", spec::kFP8E4M3, test::kE4M3},
    {"e5m2", spec::kFP8E5M2, test::kE5M2},
    {"e2m1", spec::kFP4E2M1, test::kE2M1}};

class Floats : public testing::TestWithParam<Format> {};

/// All signs and exponents with fractions at and beside every tie.
TEST_P(Floats, EncodeAgreesWithTheReference) {
  const Format &format = GetParam();
  const int dropped = 23 - format.ours.mantissaBits;
  test::Random random(1);
  for (uint32_t top = 0; top < 512; ++top) {
    if ((top & 255) == 255) // NaN, infinity
      continue;
    for (int i = 0; i < 400; ++i) {
      auto fraction = static_cast<uint32_t>(random.below(1 << 23));
      if (i % 2 && dropped > 0) {
        const uint32_t tie = (uint32_t(1) << (dropped - 1));
        fraction = (fraction & ~(2 * tie - 1)) + tie +
                   static_cast<uint32_t>(random.below(3)) - 1;
      }
      const auto x = std::bit_cast<float>(top << 23 | (fraction & 0x7FFFFF));
      ASSERT_EQ(quantise::encode(format.ours, x),
                test::encode(format.reference, x))
          << x;
    }
  }
}

TEST_P(Floats, DecodeAgreesWithTheReference) {
  const Format &format = GetParam();
  const int bits = 1 + format.ours.exponentBits + format.ours.mantissaBits;
  const uint32_t step = bits == 32 ? 65521 : 1;
  for (uint64_t i = 0; i <= format.ours.largestCode; i += step)
    for (uint32_t sign : {0U, 1U}) {
      const uint32_t pattern = static_cast<uint32_t>(i) | sign << (bits - 1);
      ASSERT_EQ(
          std::bit_cast<uint32_t>(quantise::decode(format.ours, pattern)),
          std::bit_cast<uint32_t>(test::decode(format.reference, pattern)))
          << pattern;
    }
}

TEST_P(Floats, InfinityIsTheLargestFiniteNumber) {
  const spec::FloatFormat &format = GetParam().ours;
  EXPECT_EQ(quantise::decode(format, quantise::encode(format, INFINITY)),
            static_cast<float>(format.largest));
  EXPECT_EQ(quantise::decode(format, quantise::encode(format, -INFINITY)),
            static_cast<float>(-format.largest));
}

INSTANTIATE_TEST_SUITE_P(All, Floats, testing::ValuesIn(kFormats),
                         [](const auto &each) {
                           return std::string(each.param.name);
                         });

TEST(PowersOfTwo, AgreeWithTheReference) {
  test::Random random(2);
  const std::pair<DType, test::FloatFormat> formats[] = {
      {DType::F16, test::kF16},
      {DType::BF16, test::kBF16},
      {DType::F32, test::kF32},
      {DType::E4M3, test::kE4M3}};
  for (int i = 0; i < 20000; ++i) {
    const auto x =
        std::bit_cast<float>(static_cast<uint32_t>(random.below(0x7F800000)));
    for (const auto &[type, reference] : formats)
      ASSERT_EQ(quantise::powerOfTwoAtLeast(type, x),
                test::powerOfTwoAtLeast(reference, x))
          << x;
    if (x > 0) {
      EXPECT_EQ(quantise::floorLog2(x), test::floorLog2(x)) << x;
      EXPECT_EQ(quantise::ceilLog2(x), test::ceilLog2(x)) << x;
    }
  }
  EXPECT_EQ(quantise::e8m0(-300), test::decodeE8M0(0));
  EXPECT_EQ(quantise::e8m0(300), test::decodeE8M0(254));
}

} // namespace
