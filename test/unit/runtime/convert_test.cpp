//===- convert_test.cpp - Element types and finite inputs -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "FakeModule.h"
#include "kvc/Run/Floats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace kvc;
using namespace kvc::test;

namespace {

/// The value of f16 bits by its definition.
double valueOfF16(uint16_t bits) {
  int exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24)
                                   : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

template <typename From, typename To>
To convertOne(From value, kvc_dtype from, kvc_dtype to) {
  To result = {};
  EXPECT_EQ(kvc_convert("x", &value, from, 1, to, nullptr, &result), KVC_OK);
  return result;
}

uint16_t toF16(float value) {
  return convertOne<float, uint16_t>(value, KVC_F32, KVC_F16);
}
uint16_t toBF16(float value) {
  return convertOne<float, uint16_t>(value, KVC_F32, KVC_BF16);
}

} // namespace

TEST(Convert, EveryF16WidensExactlyAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    if ((half & 0x7C00) == 0x7C00)
      continue;
    auto wide = convertOne<uint16_t, float>(half, KVC_F16, KVC_F32);
    ASSERT_EQ(double(wide), valueOfF16(half));
    ASSERT_EQ(std::signbit(wide), half >> 15 != 0);
    ASSERT_EQ(toF16(wide), half);
  }
}

TEST(Convert, F16RoundsToNearestEven) {
  // Between each finite value and the next: below, at and above the middle.
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    double low = valueOfF16(uint16_t(bits)),
           high = valueOfF16(uint16_t(bits + 1));
    auto middle = float((low + high) / 2);
    ASSERT_EQ(double(middle), (low + high) / 2);
    uint16_t even = bits & 1 ? bits + 1 : bits;
    ASSERT_EQ(toF16(middle), even) << bits;
    ASSERT_EQ(toF16(std::nextafter(middle, 0.f)), bits);
    ASSERT_EQ(toF16(std::nextafter(middle, 1e9f)), bits + 1);
    ASSERT_EQ(toF16(-middle), even | 0x8000);
  }
  EXPECT_EQ(toF16(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(toF16(-0.f), 0x8000);
}

TEST(Convert, BF16RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7F7F; ++bits) {
    auto middle = std::bit_cast<float>(bits << 16 | 0x8000);
    ASSERT_EQ(toBF16(middle), bits & 1 ? bits + 1 : bits);
    ASSERT_EQ(toBF16(std::bit_cast<float>(bits << 16 | 0x7FFF)), bits);
    ASSERT_EQ(toBF16(std::bit_cast<float>(bits << 16 | 0x8001)), bits + 1);
  }
}

TEST(Convert, FiniteOverflowSaturates) {
  float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(toF16(65519.f), 0x7BFF);
  EXPECT_EQ(toF16(65520.f), 0x7BFF);
  EXPECT_EQ(toF16(largest), 0x7BFF);
  EXPECT_EQ(toF16(-largest), 0xFBFF);
  EXPECT_EQ(toBF16(largest), 0x7F7F);
  EXPECT_EQ(toBF16(-largest), 0xFF7F);
  EXPECT_EQ((convertOne<uint16_t, uint16_t>(0x7F7F, KVC_BF16, KVC_F16)),
            0x7BFF);
}

TEST(Convert, NamesTheFirstNaNOrInfinity) {
  std::vector<float> data(5000, 1.f);
  std::vector<uint16_t> target(5000, 7);
  Message message;
  data[4321] = std::nanf("");
  data[4400] = INFINITY;
  EXPECT_EQ(kvc_convert("k", data.data(), KVC_F32, 5000, KVC_F16, message.get(),
                        target.data()),
            KVC_INVALID_DATA);
  EXPECT_STREQ(message.text, "k[4321]: expected a finite number, got NaN");
  EXPECT_EQ(target[0], 7) << "a failed call writes nothing";
  data[4321] = -INFINITY;
  EXPECT_EQ(kvc_check_finite("k", data.data(), KVC_F32, 5000, message.get()),
            KVC_INVALID_DATA);
  EXPECT_STREQ(message.text, "k[4321]: expected a finite number, got -inf");
  std::vector<uint16_t> halves = {0, 0x7BFF, 0x7C00};
  EXPECT_EQ(kvc_check_finite("q", halves.data(), KVC_F16, 2, message.get()),
            KVC_OK);
  EXPECT_EQ(kvc_check_finite("q", halves.data(), KVC_F16, 3, message.get()),
            KVC_INVALID_DATA);
  EXPECT_STREQ(message.text, "q[2]: expected a finite number, got inf");
  halves[2] = 0x7F81;
  EXPECT_EQ(kvc_check_finite("q", halves.data(), KVC_BF16, 3, message.get()),
            KVC_INVALID_DATA);
  EXPECT_STREQ(message.text, "q[2]: expected a finite number, got NaN");
}

TEST(Convert, Arguments) {
  float value = 2.5f, copy = 0;
  EXPECT_EQ(kvc_convert("x", &value, KVC_F32, 1, KVC_F32, nullptr, &copy),
            KVC_OK);
  EXPECT_EQ(copy, 2.5f);
  EXPECT_EQ(kvc_convert("x", &value, KVC_F32, 1, KVC_F32, nullptr, &value),
            KVC_OK);
  EXPECT_EQ(kvc_convert("x", nullptr, KVC_F32, 0, KVC_F16, nullptr, nullptr),
            KVC_OK);
  EXPECT_EQ(kvc_convert("x", &value, KVC_E8M0, 1, KVC_F16, nullptr, &copy),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_convert("x", &value, KVC_F32, 1, KVC_E4M3, nullptr, &copy),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_convert("x", nullptr, KVC_F32, 1, KVC_F16, nullptr, &copy),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_convert("x", &value, KVC_F32, 1, KVC_F16, nullptr, nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_check_finite(nullptr, &value, KVC_F32, -1, nullptr),
            KVC_INVALID_ARGUMENT);
}
