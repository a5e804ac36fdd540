//===- floats_test.cpp - Storage types ------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Floats.h"

#include "kvc/Test/Inputs.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kvc::test;

namespace {

struct Format {
  const char *name;
  const FloatFormat *format;
  uint32_t largestBits; ///< Pattern of the largest finite value.
};

const Format kFormats[] = {{"f16", &kF16, 0x7bff},
                           {"bf16", &kBF16, 0x7f7f},
                           {"e5m2", &kE5M2, 0x7b},
                           {"e4m3", &kE4M3, 0x7e},
                           {"e2m1", &kE2M1, 0x7}};

class Formats : public testing::TestWithParam<Format> {};

/// Patterns of non-negative values count up with the values, so the neighbour
/// of a pattern is the next integer. That fixes every format by two facts.
TEST_P(Formats, PatternsAreOrderedAndRoundTrip) {
  const auto &[name, format, largest] = GetParam();
  EXPECT_EQ(decode(*format, 0), 0.0f);
  EXPECT_EQ(double(decode(*format, 1)), format->smallestPower());
  EXPECT_EQ(double(decode(*format, largest)), format->largest);
  uint32_t sign = uint32_t(1) << (format->bits() - 1);
  for (uint32_t bits = 0; bits <= largest; ++bits) {
    float value = decode(*format, bits);
    ASSERT_EQ(encode(*format, value), bits);
    ASSERT_EQ(encode(*format, -value), bits | sign);
    ASSERT_EQ(roundTo(*format, value), value);
    if (bits < largest)
      ASSERT_LT(value, decode(*format, bits + 1));
  }
}

/// Between two neighbours: below the middle down, above up, the middle to the
/// even pattern. f32 has room for the middle and its neighbours.
TEST_P(Formats, RoundToTheNearestAndTiesToEven) {
  const auto &[name, format, largest] = GetParam();
  for (uint32_t bits = 0; bits < largest; ++bits) {
    float low = decode(*format, bits), high = decode(*format, bits + 1);
    float middle = float((double(low) + double(high)) / 2);
    if (double(middle) * 2 != double(low) + double(high))
      continue; // bf16's subnormals of f32's smallest size.
    uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(encode(*format, middle), even) << bits;
    ASSERT_EQ(encode(*format, std::nextafterf(middle, 0)), bits);
    ASSERT_EQ(encode(*format, std::nextafterf(middle, HUGE_VALF)), bits + 1);
    ASSERT_EQ(roundTo(*format, -middle), -decode(*format, even));
  }
}

TEST_P(Formats, Saturate) {
  const auto &[name, format, largest] = GetParam();
  float infinity = std::numeric_limits<float>::infinity();
  uint32_t sign = uint32_t(1) << (format->bits() - 1);
  for (float x : {infinity, std::numeric_limits<float>::max(),
                  float(format->largest * 1.001)}) {
    EXPECT_EQ(encode(*format, x), largest);
    EXPECT_EQ(encode(*format, -x), largest | sign);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Formats, testing::ValuesIn(kFormats),
                         [](const auto &info) { return info.param.name; });

TEST(Floats, KnownPatterns) {
  EXPECT_EQ(encode(kF16, 1.0f), 0x3c00u);
  EXPECT_EQ(encode(kF16, 65519.99f), 0x7bffu);
  EXPECT_EQ(encode(kF16, 0x1p-24f), 1u);
  EXPECT_EQ(encode(kF16, 0x1p-25f), 0u);
  EXPECT_EQ(encode(kBF16, 1.0f), 0x3f80u);
  EXPECT_EQ(encode(kBF16, -0.0f), 0x8000u);
  EXPECT_EQ(encode(kE4M3, 1.0f), 0x38u);
  EXPECT_EQ(encode(kE5M2, 1.0f), 0x3cu);
  float fp4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(decode(kE2M1, i), fp4[i]);
    EXPECT_EQ(decode(kE2M1, i | 8), -fp4[i]);
  }
  EXPECT_EQ(encode(kE2M1, -0.0f), 8u);
}

TEST(Floats, F32PassesThrough) {
  Random random(1);
  for (int i = 0; i < 100000; ++i) {
    uint32_t bits = uint32_t(random.next());
    float x = floatOfBits(bits);
    if (!std::isfinite(x))
      continue;
    ASSERT_EQ(bitsOfFloat(roundTo(kF32, x)), bits);
    ASSERT_EQ(encode(kF32, x), bits);
    ASSERT_EQ(bitsOfFloat(decode(kF32, bits)), bits);
  }
  EXPECT_EQ(roundTo(kF32, HUGE_VALF), std::numeric_limits<float>::max());
}

TEST(Floats, RoundFromF64Once) {
  // Rounding to f32 first would land on the tie and go to even: twice wrong.
  double justAbove = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(roundTo(kF16, justAbove), 1 + 0x1p-10f);
  EXPECT_EQ(roundTo(kF16, double(float(justAbove))), 1.0f);
}

TEST(Floats, PowersOfTwo) {
  EXPECT_EQ(powerOfTwoAtLeast(kF16, 0.0f), 0.0f);
  EXPECT_EQ(powerOfTwoAtLeast(kF16, 1.0f), 1.0f);
  EXPECT_EQ(powerOfTwoAtLeast(kF16, 1.0001f), 2.0f);
  EXPECT_EQ(powerOfTwoAtLeast(kF16, 1e-20f), 0x1p-24f);
  EXPECT_EQ(powerOfTwoAtLeast(kF16, 1e20f), 0x1p15f);
  EXPECT_EQ(powerOfTwoAtLeast(kBF16, 1e-45f), 0x1p-133f);
  EXPECT_EQ(powerOfTwoAtLeast(kF32, 0x1p-149f), 0x1p-149f);
  EXPECT_EQ(powerOfTwoAtLeast(kF32, HUGE_VALF), 0x1p127f);
  EXPECT_EQ(powerOfTwoAtLeast(kE4M3, 1e-9f), 0x1p-9f);
  EXPECT_EQ(powerOfTwoAtLeast(kE4M3, 400.0f), 256.0f);
}

TEST(Floats, E8M0) {
  EXPECT_EQ(decodeE8M0(0), 0x1p-127f);
  EXPECT_EQ(decodeE8M0(127), 1.0f);
  EXPECT_EQ(decodeE8M0(254), 0x1p127f);
  EXPECT_EQ(encodeE8M0(-149), 0);
  EXPECT_EQ(encodeE8M0(128), 254);
  EXPECT_EQ(floorLog2(0x1p-149f), -149);
  EXPECT_EQ(floorLog2(std::nextafterf(2, 0)), 0);
  EXPECT_EQ(ceilLog2(std::nextafterf(2, 3)), 2);
  EXPECT_EQ(ceilLog2(2), 1);
}

TEST(Floats, RoundEven) {
  for (double x : {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999999999999994,
                   4503599627370497.0})
    EXPECT_EQ(roundEven(x), std::nearbyint(x)) << x;
}

TEST(Floats, HalfUlp) {
  EXPECT_EQ(halfUlp(kF16, 1.0), 0x1p-11);
  EXPECT_EQ(halfUlp(kF16, 0.0), 0x1p-25);
  EXPECT_EQ(halfUlp(kBF16, -3.0), 0x1p-7);
  EXPECT_EQ(halfUlp(kF16, 1e9), 16.0);
}

} // namespace
