//===- exact_test.cpp - Integer float arithmetic against two oracles ------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "kvc/Sim/Numerics/Exact.h"
#include "kvc/Test/Sanitizers.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace kvc;
using namespace kvc::sim;
using namespace kvc::test;
using exact::Number;

namespace {

struct Named {
  const char *name;
  FloatFormat format;
};
const Named kSmallFormats[] = {
    {"f16", kF16},   {"bf16", kBF16}, {"e5m2", kE5M2}, {"e4m3", kE4M3},
    {"e3m2", kE3M2}, {"e2m3", kE2M3}, {"e2m1", kE2M1}};

/// A number of f64, whose decoding CodesOfF64 checks.
Number numberOf(double x) { return exact::decode(kF64, codeOf(x)); }

// The largest values and special codes as the ISA prints them.
TEST(Exact, FormatsAreThoseOfTheIsa) {
  EXPECT_EQ(kF16.largest(), 0x7BFFu);
  EXPECT_EQ(kBF16.largest(), 0x7F7Fu);
  EXPECT_EQ(kE5M2.largest(), 0x7Bu);
  EXPECT_EQ(kE4M3.largest(), 0x7Eu);
  EXPECT_EQ(kE3M2.largest(), 0x1Fu);
  EXPECT_EQ(kE2M3.largest(), 0x1Fu);
  EXPECT_EQ(kE2M1.largest(), 0x7u);
  EXPECT_EQ(ValueTable(kF16).value(0x7BFF), 65504);
  EXPECT_EQ(ValueTable(kE5M2).value(0x7B), 57344);
  EXPECT_EQ(ValueTable(kE4M3).value(0x7E), 448);
  EXPECT_EQ(ValueTable(kE3M2).value(0x1F), 28);
  EXPECT_EQ(ValueTable(kE2M3).value(0x1F), 7.5);
  EXPECT_EQ(ValueTable(kE2M1).value(0x7), 6);
  EXPECT_TRUE(kE4M3.isNan(0x7F) && kE4M3.isNan(0xFF) && !kE4M3.isNan(0x7E));
  EXPECT_TRUE(kE5M2.isNan(0x7D) && !kE5M2.isNan(0x7C));
}

// Every code of every small format: what it means, and back.
TEST(Exact, DecodesEveryCode) {
  for (const auto &[name, format] : kSmallFormats) {
    ValueTable table(format);
    for (uint64_t code = 0; code < format.signBit() * 2; ++code) {
      Number number = exact::decode(format, code);
      SCOPED_TRACE(name + (" " + hex(code)));
      if (format.isNan(code)) {
        EXPECT_TRUE(number.isNan());
        EXPECT_EQ(exact::encode(format, number), format.nan);
        continue;
      }
      EXPECT_EQ(exact::encode(format, number), code);
      if (number.isInfinite()) {
        EXPECT_EQ(code & (format.signBit() - 1), format.infinity());
        continue;
      }
      // Through f64, which holds them all.
      EXPECT_EQ(exact::encode(kF64, number), codeOf(table.value(code)));
    }
  }
}

// Values, their neighbours and the midpoints between them, in every rounding.
TEST(Exact, RoundsToEverySmallFormat) {
  for (const auto &[name, format] : kSmallFormats) {
    ValueTable table(format);
    for (uint64_t code = 0; code < format.signBit() * 2; ++code) {
      if ((code & (format.signBit() - 1)) > format.largest())
        continue;
      double value = table.value(code);
      uint64_t magnitude = code & (format.signBit() - 1);
      double next = magnitude == format.largest()
                        ? value + (value - table.value(code - 1))
                        : table.value(code + 1);
      double middle = value + (next - value) / 2;
      for (double x : {value, middle, std::nextafter(middle, value),
                       std::nextafter(middle, next),
                       std::nextafter(value, next), next * 1.5})
        for (Rounding rounding :
             {Rounding::NearestEven, Rounding::TowardZero, Rounding::Down,
              Rounding::Up, Rounding::NearestAway})
          for (bool satfinite : {false, true}) {
            bool overflows = magnitude == format.largest();
            if (x == 0 || (satfinite && !overflows))
              continue;
            uint64_t got =
                exact::encode(format, numberOf(x),
                              {.rounding = rounding, .satfinite = satfinite});
            bool finite = satfinite || format.extremes != Extremes::Ieee;
            uint64_t expected = table.round(Quad(x), rounding, finite);
            EXPECT_EQ(got, expected)
                << name << " " << x << " rounding " << int(rounding);
          }
    }
  }
}

/// One machine operation that the compiler must not evaluate itself.
template <typename Float>
Float machine(char op, Float a, Float b, Float c) {
  volatile Float x = a, y = b, z = c;
  switch (op) {
  case '+':
    return x + y;
  case '*':
    return x * y;
  case '/':
    return x / y;
  case 'r':
    return std::sqrt(Float(x));
  default:
    return std::fma(Float(x), Float(y), Float(z));
  }
}

Number integers(char op, const Number &a, const Number &b, const Number &c,
                Rounding rounding) {
  switch (op) {
  case '+':
    return exact::add(a, b, rounding);
  case '*':
    return exact::multiply(a, b);
  case '/':
    return exact::divide(a, b);
  case 'r':
    return exact::squareRoot(a);
  default:
    return exact::add(exact::multiply(a, b), c, rounding);
  }
}

template <typename Float, typename Code>
void compareWithMachine(const FloatFormat &format, uint64_t seed, int count) {
  for (char op : {'+', '*', '/', 'r', 'f'})
    for (Rounding rounding : kIeeeRoundings) {
      Codes codes(seed);
      for (int i = 0; i < count; ++i) {
        auto a = Code(codes.next(format)), b = Code(codes.next(format)),
             c = Code(codes.next(format));
        Code expected;
        {
          MachineRounding mode(rounding);
          expected = codeOf(machine(op, asFloat(a), asFloat(b), asFloat(c)));
        }
        if (format.isNan(expected))
          expected = Code(format.nan);
        uint64_t got = exact::encode(
            format,
            integers(op, exact::decode(format, a), exact::decode(format, b),
                     exact::decode(format, c), rounding),
            {.rounding = rounding});
        ASSERT_EQ(got, expected) << op << " " << hex(a) << " " << hex(b) << " "
                                 << hex(c) << " rounding " << int(rounding);
      }
    }
}

TEST(Exact, AgreesWithTheMachineInF32) {
  compareWithMachine<float, uint32_t>(kF32, 1, 200000);
}

TEST(Exact, AgreesWithTheMachineInF64) {
  compareWithMachine<double, uint64_t>(kF64, 2, 200000);
}

// From f64 to f32 in each rounding, as the machine does it.
TEST(Exact, NarrowsAsTheMachineDoes) {
  Codes codes(3);
  for (int i = 0; i < fewerUnderAsan(500000); ++i) {
    uint64_t a = codes.next(kF64);
    if (i % 2) // Within reach of f32.
      a = exact::encode(kF64, exact::decode(kF32, codes.next(kF32))) ^
          (codes.bits() & 0x3FFFFFFF);
    for (Rounding rounding : kIeeeRoundings) {
      volatile double x = asFloat(a);
      uint32_t expected;
      {
        MachineRounding mode(rounding);
        expected = codeOf(float(x));
      }
      if (kF32.isNan(expected))
        expected = uint32_t(kF32.nan);
      ASSERT_EQ(
          exact::encode(kF32, exact::decode(kF64, a), {.rounding = rounding}),
          expected)
          << hex(a) << " rounding " << int(rounding);
    }
  }
}

TEST(Exact, ModifiersClampResults) {
  auto f32 = [](double x, exact::Modifiers modifiers) {
    return exact::encode(kF32, numberOf(x), modifiers);
  };
  const double subnormal = 0x1p-140, nan = std::nan("");
  EXPECT_EQ(f32(subnormal, {}), codeOf(0x1p-140f));
  EXPECT_EQ(f32(subnormal, {.flush = true}), 0u);
  EXPECT_EQ(f32(-subnormal, {.flush = true}), 0x80000000u);
  EXPECT_EQ(f32(0x1p-126, {.flush = true}), 0x00800000u);
  // Flushing looks at the rounded result.
  EXPECT_EQ(f32(0x1p-126 - 0x1p-152, {.flush = true}), 0x00800000u);
  EXPECT_EQ(f32(-0.5, {.saturate = true}), 0u);
  EXPECT_EQ(f32(-0.0, {.saturate = true}), 0u);
  EXPECT_EQ(f32(0.5, {.saturate = true}), codeOf(0.5f));
  EXPECT_EQ(f32(1.5, {.saturate = true}), codeOf(1.0f));
  EXPECT_EQ(f32(nan, {.saturate = true}), 0u);
  EXPECT_EQ(f32(-HUGE_VAL, {.saturate = true}), 0u);
  EXPECT_EQ(f32(HUGE_VAL, {.saturate = true}), codeOf(1.0f));
  EXPECT_EQ(f32(-2, {.relu = true}), 0u);
  EXPECT_EQ(f32(2, {.relu = true}), codeOf(2.0f));
  EXPECT_EQ(f32(-nan, {.relu = true}), 0x7FFFFFFFu);
  EXPECT_EQ(f32(HUGE_VAL, {.satfinite = true}), 0x7F7FFFFFu);
  EXPECT_EQ(f32(-0x1p200, {.satfinite = true}), 0xFF7FFFFFu);
  EXPECT_EQ(f32(nan, {.satfinite = true}), 0x7FFFFFFFu);
}

// Against the machine's own rounding to integers.
TEST(Exact, RoundsToIntegers) {
  Codes codes(4);
  for (int i = 0; i < fewerUnderAsan(300000); ++i) {
    uint64_t a = codes.next(kF64);
    double x = asFloat(a);
    if (std::isnan(x))
      continue;
    for (Rounding rounding : kIeeeRoundings) {
      double expected;
      {
        MachineRounding mode(rounding);
        volatile double operand = x;
        expected = std::nearbyint(operand);
      }
      Number integer = exact::roundToInteger(numberOf(x), rounding);
      ASSERT_EQ(exact::encode(kF64, integer), codeOf(expected)) << x;
      // toInteger clamps to the type's range.
      double clamped = std::fmin(std::fmax(expected, -32768), 32767);
      ASSERT_EQ(exact::toInteger(integer, 16, true),
                uint64_t(uint16_t(int16_t(clamped))))
          << x;
      clamped = std::fmin(std::fmax(expected, 0), 4294967295.0);
      ASSERT_EQ(exact::toInteger(integer, 32, false), uint64_t(clamped)) << x;
      if (std::fabs(expected) < 0x1p63) {
        ASSERT_EQ(int64_t(exact::toInteger(integer, 64, true)),
                  int64_t(expected))
            << x;
      }
    }
  }
  EXPECT_EQ(exact::toInteger(numberOf(0x1p64), 64, false), ~uint64_t(0));
  EXPECT_EQ(exact::toInteger(numberOf(0x1p63), 64, true), ~uint64_t(0) >> 1);
  EXPECT_EQ(exact::toInteger(numberOf(-HUGE_VAL), 64, true), uint64_t(1) << 63);
  EXPECT_EQ(exact::toInteger(exact::fromInteger(true, 1), 64, false), 0u);
}

} // namespace
