//===- Floats.cpp - Storage types as scalar arithmetic --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// All work is done in f64, where every step below is exact for f32 arguments:
// scaling by powers of two, and integers below 2^25.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Floats.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace kvc::test;

const FloatFormat kvc::test::kF32 = {8, 23, 127, 0x1.fffffep127};
const FloatFormat kvc::test::kF16 = {5, 10, 15, 65504};
const FloatFormat kvc::test::kBF16 = {8, 7, 127, 0x1.fep127};
const FloatFormat kvc::test::kE5M2 = {5, 2, 15, 57344};
const FloatFormat kvc::test::kE4M3 = {4, 3, 7, 448};
const FloatFormat kvc::test::kE2M1 = {2, 1, 1, 6};

double FloatFormat::smallestPower() const {
  return std::ldexp(1.0, smallestExponent() - mantissaBits);
}

double FloatFormat::largestPower() const {
  return std::ldexp(1.0, std::ilogb(largest));
}

uint32_t kvc::test::bitsOfFloat(float x) { return std::bit_cast<uint32_t>(x); }
float kvc::test::floatOfBits(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

double kvc::test::roundEven(double x) {
  double below = std::floor(x);
  double rest = x - below;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(below, 2.0) != 0.0))
    return below + 1.0;
  return below;
}

/// Exponent of the binade of a finite magnitude, no lower than the subnormals'.
static int binadeOf(const FloatFormat &format, double magnitude) {
  if (magnitude == 0)
    return format.smallestExponent();
  return std::max(std::ilogb(magnitude), format.smallestExponent());
}

float kvc::test::roundTo(const FloatFormat &format, double x) {
  if (std::isnan(x))
    return float(x);
  double magnitude = std::fabs(x);
  if (magnitude < format.largest) {
    // The distance between neighbours in x's binade.
    double step =
        std::ldexp(1.0, binadeOf(format, magnitude) - format.mantissaBits);
    magnitude = roundEven(magnitude / step) * step;
  }
  magnitude = std::min(magnitude, format.largest);
  return float(std::copysign(magnitude, x));
}

float kvc::test::roundTo(const FloatFormat &format, float x) {
  return roundTo(format, double(x));
}

uint32_t kvc::test::encode(const FloatFormat &format, float x) {
  double value = roundTo(format, x);
  double magnitude = std::fabs(value);
  int exponent = binadeOf(format, magnitude);
  // In units of the last place: below 2^mantissaBits exactly the subnormals.
  auto significand =
      uint32_t(std::ldexp(magnitude, format.mantissaBits - exponent));
  uint32_t hidden = uint32_t(1) << format.mantissaBits;
  uint32_t bits = significand;
  if (significand >= hidden)
    bits = (uint32_t(exponent + format.bias) << format.mantissaBits) |
           (significand - hidden);
  uint32_t sign = std::signbit(value) ? 1 : 0;
  return bits | sign << (format.bits() - 1);
}

float kvc::test::decode(const FloatFormat &format, uint32_t bits) {
  uint32_t hidden = uint32_t(1) << format.mantissaBits;
  uint32_t mantissa = bits & (hidden - 1);
  uint32_t exponent = (bits >> format.mantissaBits) &
                      ((uint32_t(1) << format.exponentBits) - 1);
  bool negative = bits >> (format.bits() - 1) & 1;
  double magnitude =
      exponent == 0
          ? std::ldexp(mantissa,
                       format.smallestExponent() - format.mantissaBits)
          : std::ldexp(hidden + mantissa,
                       int(exponent) - format.bias - format.mantissaBits);
  return float(negative ? -magnitude : magnitude);
}

double kvc::test::halfUlp(const FloatFormat &format, double x) {
  double magnitude = std::min(std::fabs(x), format.largest);
  return std::ldexp(0.5, binadeOf(format, magnitude) - format.mantissaBits);
}

int kvc::test::floorLog2(float x) { return std::ilogb(double(x)); }

int kvc::test::ceilLog2(float x) {
  int exponent = floorLog2(x);
  return std::ldexp(1.0, exponent) == double(x) ? exponent : exponent + 1;
}

float kvc::test::powerOfTwoAtLeast(const FloatFormat &format, float x) {
  if (x == 0)
    return x;
  double power =
      std::isinf(x) ? format.largestPower() : std::ldexp(1.0, ceilLog2(x));
  return float(
      std::clamp(power, format.smallestPower(), format.largestPower()));
}

uint8_t kvc::test::encodeE8M0(int exponent) {
  return uint8_t(std::clamp(exponent, -127, 127) + 127);
}

float kvc::test::decodeE8M0(uint8_t byte) {
  return float(std::ldexp(1.0, int(byte) - 127));
}
