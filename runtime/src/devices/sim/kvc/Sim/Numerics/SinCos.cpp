//===- SinCos.cpp - Sines of every f32 ------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/SinCos.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace {

__extension__ using UInt128 = unsigned __int128;
__extension__ using Int128 = __int128;

/// The binary digits of 2/pi.
constexpr uint64_t kTwoOverPi[] = {0xA2F9836E4E441529, 0xFC2757D1F534DDC0,
                                   0xDB6295993C439041, 0xFE5163ABDEBBC561};

/// 128 digits of 2/pi from digit `first` on, counting from 0.
UInt128 digitsOfTwoOverPi(int first) {
  int word = first / 64, bit = first % 64;
  UInt128 digits = (UInt128(kTwoOverPi[word]) << 64) | kTwoOverPi[word + 1];
  if (bit == 0)
    return digits;
  return digits << bit | kTwoOverPi[word + 2] >> (64 - bit);
}

/// A quarter turn's number, modulo 4, and the angle from there.
struct Angle {
  int quarter;
  double rest;
};

Angle reduce(double x) {
  if (x < 0.75 && x > -0.75)
    return {0, x};
  uint64_t code = std::bit_cast<uint64_t>(x);
  // x = mantissa * 2^exponent with 24 bits.
  uint64_t mantissa = (code & 0xFFFFFFFFFFFFF) >> 29 | uint64_t(1) << 23;
  int exponent = int(code >> 52 & 0x7FF) - 1023 - 23;
  // Digits whose products are multiples of four turns' quarters are skipped;
  // the product then counts units of 2^-126 quarters.
  int skipped = exponent > 2 ? exponent - 2 : 0;
  UInt128 digits = digitsOfTwoOverPi(skipped);
  UInt128 low = digits * mantissa;
  if (exponent <= 2) {
    UInt128 high = ((digits >> 64) * mantissa +
                    ((digits & ~uint64_t(0)) * mantissa >> 64)) >>
                   64;
    int shift = 2 - exponent;
    low = shift == 0 ? low : low >> shift | high << (128 - shift);
  }
  // To the nearest quarter.
  UInt128 half = UInt128(1) << 125;
  auto quarter = int((low + half) >> 126);
  auto rest = Int128(low - (UInt128(unsigned(quarter)) << 126));
  double angle = double(rest) * 0x1p-126 * 0x1.921fb54442d18p0;
  bool isNegative = code >> 63 != 0;
  return {isNegative ? -quarter & 3 : quarter & 3, isNegative ? -angle : angle};
}

double sinNear0(double x) {
  double z = x * x;
  double sum = 1.0 / 355687428096000.0; // 1 / 17!
  sum = sum * z - 1.0 / 1307674368000.0;
  sum = sum * z + 1.0 / 6227020800.0;
  sum = sum * z - 1.0 / 39916800.0;
  sum = sum * z + 1.0 / 362880.0;
  sum = sum * z - 1.0 / 5040.0;
  sum = sum * z + 1.0 / 120.0;
  sum = sum * z - 1.0 / 6.0;
  return x + x * (z * sum);
}

double cosNear0(double x) {
  double z = x * x;
  double sum = 1.0 / 20922789888000.0; // 1 / 16!
  sum = sum * z - 1.0 / 87178291200.0;
  sum = sum * z + 1.0 / 479001600.0;
  sum = sum * z - 1.0 / 3628800.0;
  sum = sum * z + 1.0 / 40320.0;
  sum = sum * z - 1.0 / 720.0;
  sum = sum * z + 1.0 / 24.0;
  return 1.0 - z * 0.5 + z * z * sum;
}

} // namespace

double kvc::sim::sinAfterQuarters(double x, int quarters) {
  if (!std::isfinite(x))
    return std::nan("");
  if (x == 0.0 && quarters == 0)
    return x;
  Angle angle = reduce(x);
  int quarter = (angle.quarter + quarters) & 3;
  double value = quarter & 1 ? cosNear0(angle.rest) : sinNear0(angle.rest);
  return quarter & 2 ? -value : value;
}
