//===- Exact.cpp - Float arithmetic in integers ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/Exact.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace kvc::sim::exact {

namespace {

using Kind = Number::Kind;

int bitWidth(UInt128 value) {
  auto high = uint64_t(value >> 64);
  return high ? 64 + int(std::bit_width(high))
              : int(std::bit_width(uint64_t(value)));
}

/// Shifts right; the lowest bit of the result also stands for what is lost.
UInt128 shiftKeepingRest(UInt128 value, int count) {
  if (count <= 0)
    return value;
  if (count >= 128)
    return value != 0;
  UInt128 kept = value >> count;
  return kept | UInt128((kept << count) != value);
}

/// The highest bit of both terms of a sum: one bit for the carry above it.
/// Products have 106 bits, so that twenty zero bits or more lie below either
/// term, and a term that loses bits is too small to cancel the other.
constexpr int kSumBits = 126;

Number normalised(Number number) {
  int shift = kSumBits - bitWidth(number.significand);
  number.significand <<= shift;
  number.exponent -= shift;
  return number;
}

/// significand / 2^shift as an integer.
UInt128 roundedQuotient(UInt128 significand, int shift, bool negative,
                        Rounding rounding) {
  assert(shift > 0 && "nothing to round");
  UInt128 quotient = shift >= 128 ? 0 : significand >> shift;
  UInt128 rest = shift >= 128 ? significand : significand - (quotient << shift);
  if (rest == 0)
    return quotient;
  bool up = false;
  switch (rounding) {
  case Rounding::TowardZero:
    break;
  case Rounding::Down:
    up = negative;
    break;
  case Rounding::Up:
    up = !negative;
    break;
  case Rounding::NearestEven:
  case Rounding::NearestAway: {
    // Significands have at most 127 bits: less than half from 128 on.
    UInt128 half = shift > 128 ? 0 : UInt128(1) << (shift - 1);
    up = half != 0 &&
         (rest > half || (rest == half && (rounding == Rounding::NearestAway ||
                                           (quotient & 1) != 0)));
    break;
  }
  }
  return quotient + UInt128(up);
}

Number special(Kind kind, bool negative = false) { return {kind, negative}; }

uint64_t overflowed(const FloatFormat &format, bool negative,
                    const Modifiers &modifiers) {
  if (modifiers.satfinite || format.extremes != Extremes::Ieee)
    return format.largest();
  switch (modifiers.rounding) {
  case Rounding::TowardZero:
    return format.largest();
  case Rounding::Down:
    return negative ? format.infinity() : format.largest();
  case Rounding::Up:
    return negative ? format.largest() : format.infinity();
  case Rounding::NearestEven:
  case Rounding::NearestAway:
    break;
  }
  return format.infinity();
}

/// The code without its sign.
uint64_t encodeMagnitude(const FloatFormat &format, const Number &number,
                         const Modifiers &modifiers) {
  if (number.isZero())
    return 0;
  if (number.isInfinite())
    return modifiers.satfinite || format.extremes != Extremes::Ieee
               ? format.largest()
               : format.infinity();
  int exponent = number.exponent + bitWidth(number.significand) - 1;
  // The place of the fraction's lowest bit; below the smallest normal number it
  // moves no further.
  int lowest =
      std::max(exponent, format.smallestExponent()) - format.fractionBits;
  int shift = lowest - number.exponent;
  UInt128 fraction = shift > 0
                         ? roundedQuotient(number.significand, shift,
                                           number.negative, modifiers.rounding)
                         : number.significand << -shift;
  int biased = lowest + format.fractionBits + format.bias() - 1;
  int exponents = 1 << format.exponentBits;
  if (biased >= exponents)
    return overflowed(format, number.negative, modifiers);
  // The leading bit of the fraction, where there is one, adds itself to the
  // exponent, and so does a carry.
  uint64_t code =
      (uint64_t(biased) << format.fractionBits) + uint64_t(fraction);
  if (code > format.largest())
    return overflowed(format, number.negative, modifiers);
  if (modifiers.flush && code <= format.fractionMask())
    return 0;
  return code;
}

} // namespace

Number decode(const FloatFormat &format, uint64_t code, bool flush) {
  bool negative = (code & format.signBit()) != 0;
  uint64_t fraction = code & format.fractionMask();
  uint64_t exponent = (code & (format.signBit() - 1)) >> format.fractionBits;
  if (format.isNan(code))
    return special(Kind::NaN, negative);
  if (format.extremes == Extremes::Ieee &&
      (code & (format.signBit() - 1)) == format.infinity())
    return special(Kind::Infinity, negative);
  if (exponent == 0) {
    if (fraction == 0 || flush)
      return special(Kind::Zero, negative);
    return {Kind::Finite, negative,
            format.smallestExponent() - format.fractionBits, fraction};
  }
  return {Kind::Finite, negative,
          int(exponent) - format.bias() - format.fractionBits,
          fraction | (uint64_t(1) << format.fractionBits)};
}

Number fromInteger(bool negative, uint64_t magnitude) {
  if (magnitude == 0)
    return {};
  return {Kind::Finite, negative, 0, magnitude};
}

uint64_t encode(const FloatFormat &format, const Number &number,
                const Modifiers &modifiers) {
  if (number.isNan())
    return modifiers.saturate ? 0 : format.nan;
  if (number.negative && (modifiers.saturate || modifiers.relu))
    return 0;
  uint64_t magnitude = encodeMagnitude(format, number, modifiers);
  if (modifiers.saturate && magnitude > format.one())
    return format.one();
  return number.negative ? magnitude | format.signBit() : magnitude;
}

Number negate(Number a) {
  a.negative = !a.negative;
  return a;
}

Number add(const Number &a, const Number &b, Rounding rounding) {
  if (a.isNan() || b.isNan() ||
      (a.isInfinite() && b.isInfinite() && a.negative != b.negative))
    return special(Kind::NaN);
  if (a.isInfinite())
    return a;
  if (b.isInfinite())
    return b;
  bool signOfZero = rounding == Rounding::Down;
  if (a.isZero() && b.isZero())
    return special(Kind::Zero,
                   a.negative == b.negative ? a.negative : signOfZero);
  if (a.isZero())
    return b;
  if (b.isZero())
    return a;

  Number high = normalised(a), low = normalised(b);
  if (high.exponent < low.exponent)
    std::swap(high, low);
  low.significand =
      shiftKeepingRest(low.significand, high.exponent - low.exponent);
  if (high.negative == low.negative) {
    high.significand += low.significand;
    return high;
  }
  if (high.significand == low.significand)
    return special(Kind::Zero, signOfZero);
  bool swapped = high.significand < low.significand;
  return {Kind::Finite, swapped ? low.negative : high.negative, high.exponent,
          swapped ? low.significand - high.significand
                  : high.significand - low.significand};
}

Number multiply(const Number &a, const Number &b) {
  bool negative = a.negative != b.negative;
  if (a.isNan() || b.isNan() || (a.isInfinite() && b.isZero()) ||
      (a.isZero() && b.isInfinite()))
    return special(Kind::NaN);
  if (a.isInfinite() || b.isInfinite())
    return special(Kind::Infinity, negative);
  if (a.isZero() || b.isZero())
    return special(Kind::Zero, negative);
  assert(bitWidth(a.significand) + bitWidth(b.significand) <= 127 &&
         "operands of products come from decode");
  return {Kind::Finite, negative, a.exponent + b.exponent,
          a.significand * b.significand};
}

Number divide(const Number &a, const Number &b) {
  bool negative = a.negative != b.negative;
  if (a.isNan() || b.isNan() || (a.isInfinite() && b.isInfinite()) ||
      (a.isZero() && b.isZero()))
    return special(Kind::NaN);
  if (a.isInfinite() || b.isZero())
    return special(Kind::Infinity, negative);
  if (a.isZero() || b.isInfinite())
    return special(Kind::Zero, negative);
  Number high = normalised(a);
  UInt128 quotient = high.significand / b.significand;
  bool rest = quotient * b.significand != high.significand;
  // A quotient of 126 by at most 53 bits has more than any format, and one bit
  // for the rest.
  return {Kind::Finite, negative, high.exponent - b.exponent - 1,
          quotient << 1 | UInt128(rest)};
}

Number squareRoot(const Number &a) {
  if (a.isNan() || a.isZero())
    return a;
  if (a.negative)
    return special(Kind::NaN);
  if (a.isInfinite())
    return a;
  Number radicand = normalised(a);
  if (radicand.exponent & 1) {
    radicand.significand <<= 1;
    --radicand.exponent;
  }
  UInt128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    UInt128 trial = root | UInt128(1) << bit;
    if (trial * trial <= radicand.significand)
      root = trial;
  }
  bool rest = root * root != radicand.significand;
  return {Kind::Finite, false, radicand.exponent / 2 - 1,
          root << 1 | UInt128(rest)};
}

Number roundToInteger(const Number &a, Rounding rounding) {
  if (a.kind != Kind::Finite || a.exponent >= 0)
    return a;
  UInt128 value =
      roundedQuotient(a.significand, -a.exponent, a.negative, rounding);
  if (value == 0)
    return special(Kind::Zero, a.negative);
  return {Kind::Finite, a.negative, 0, value};
}

uint64_t toInteger(const Number &a, int bits, bool isSigned) {
  uint64_t all = ~uint64_t(0) >> (64 - bits);
  uint64_t high = isSigned ? all >> 1 : all;
  uint64_t low = isSigned ? high + 1 : 0; // The magnitude of the lowest value.
  if (a.isZero())
    return 0;
  uint64_t limit = a.negative ? low : high;
  bool beyond = a.isInfinite() || a.exponent > 64 ||
                bitWidth(a.significand) + a.exponent > 64;
  assert((beyond || a.exponent >= 0) && "not an integer");
  uint64_t magnitude =
      beyond ? limit : std::min(limit, uint64_t(a.significand << a.exponent));
  return (a.negative ? -magnitude : magnitude) & all;
}

} // namespace kvc::sim::exact
