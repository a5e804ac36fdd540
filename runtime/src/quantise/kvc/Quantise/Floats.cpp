//===- Floats.cpp - Storage types in scalar arithmetic --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Quantise/Floats.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace kvc;
using spec::DType;
using spec::FloatFormat;

namespace {

constexpr FloatFormat kF32{8, 23, 127, 0x7F7FFFFF, 0x1.fffffep127};
constexpr FloatFormat kF16{5, 10, 15, 0x7BFF, 65504};
constexpr FloatFormat kBF16{8, 7, 127, 0x7F7F, 0x1.fep127};

/// `value >> shift` rounded to nearest even; `shift` is at least 1.
uint32_t shiftRightEven(uint32_t value, int shift) {
  if (shift > 25) // less than half of the last place of any significand
    return 0;
  const uint32_t kept = value >> shift, half = uint32_t(1) << (shift - 1);
  const uint32_t rest = value & (2 * half - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

} // namespace

const FloatFormat &quantise::formatOf(DType type) {
  switch (type) {
  case DType::F16:
    return kF16;
  case DType::BF16:
    return kBF16;
  case DType::E4M3:
    return spec::kFP8E4M3;
  default:
    return kF32;
  }
}

uint32_t quantise::encode(const FloatFormat &format, float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 31, magnitude = bits & 0x7FFFFFFF;
  const uint32_t signBit = sign << (format.exponentBits + format.mantissaBits);
  if (magnitude >= 0x7F800000)
    return signBit | format.largestCode;
  // x is significand * 2^(exponent - 23).
  const uint32_t field = magnitude >> 23, fraction = magnitude & 0x7FFFFF;
  const uint32_t significand = field ? 0x800000 | fraction : fraction;
  const int exponent = field ? static_cast<int>(field) - 127 : -126;
  // Under the smallest normal number the last place stays where it is there.
  const int smallest = 1 - format.bias;
  const int binade = std::max(exponent, smallest);
  const int shift = 23 - format.mantissaBits + (binade - exponent);
  const uint32_t rounded =
      shift == 0 ? significand : shiftRightEven(significand, shift);
  // The hidden bit of a normal number counts its exponent up to 1, and so does
  // a carry out of the fraction.
  const uint32_t pattern =
      (static_cast<uint32_t>(binade - smallest) << format.mantissaBits) +
      rounded;
  return signBit | std::min<uint32_t>(pattern, format.largestCode);
}

float quantise::decode(const FloatFormat &format, uint32_t pattern) {
  const uint32_t hidden = uint32_t(1) << format.mantissaBits;
  const uint32_t fraction = pattern & (hidden - 1);
  const uint32_t field = (pattern >> format.mantissaBits) &
                         ((uint32_t(1) << format.exponentBits) - 1);
  const bool isNegative =
      pattern >> (format.exponentBits + format.mantissaBits) & 1;
  const int lastPlace =
      std::max(static_cast<int>(field), 1) - format.bias - format.mantissaBits;
  const float value = std::ldexp(
      static_cast<float>(field ? hidden | fraction : fraction), lastPlace);
  return isNegative ? -value : value;
}

float quantise::roundTo(DType type, float x) {
  const FloatFormat &format = formatOf(type);
  return decode(format, encode(format, x));
}

int quantise::floorLog2(float x) { return std::ilogb(double(x)); }

int quantise::ceilLog2(float x) {
  const int exponent = floorLog2(x);
  return std::ldexp(1.0, exponent) == double(x) ? exponent : exponent + 1;
}

float quantise::powerOfTwoAtLeast(DType type, float x) {
  if (x == 0)
    return x;
  const FloatFormat &format = formatOf(type);
  const int largest = std::ilogb(format.largest);
  const int smallest = 1 - format.bias - format.mantissaBits;
  const int power = std::isfinite(x) ? ceilLog2(x) : largest;
  return std::ldexp(1.0f, std::clamp(power, smallest, largest));
}

float quantise::e8m0(int exponent) {
  return std::ldexp(1.0f, std::clamp(exponent, -127, 127));
}
