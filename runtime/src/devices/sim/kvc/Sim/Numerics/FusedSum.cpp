//===- FusedSum.cpp - One result of a tensor core -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/FusedSum.h"

#include "kvc/Sim/Numerics/Exact.h"

#include <algorithm>
#include <bit>
#include <cassert>

using namespace kvc::sim;

namespace {

/// A summand: (-1)^negative * significand * 2^(exponent - fractionBits).
struct Summand {
  bool negative = false;
  uint64_t significand = 0; ///< 0: it plays no part.
  int exponent = 0;
  int fractionBits = 0;
};

/// What a sum comes to so far besides numbers.
struct Extreme {
  bool nan = false, positive = false, negative = false;
  void add(bool isNegative) { (isNegative ? negative : positive) = true; }
};

/// A code that is finite.
Summand takeApart(const FloatFormat &format, uint32_t code) {
  auto magnitude = uint32_t(code & (format.signBit() - 1));
  auto exponent = int(magnitude >> format.fractionBits);
  uint64_t fraction = magnitude & format.fractionMask();
  if (exponent != 0)
    fraction |= uint64_t(1) << format.fractionBits;
  return {(code & format.signBit()) != 0, fraction,
          std::max(exponent, 1) - format.bias(), format.fractionBits};
}

bool isInfinite(const FloatFormat &format, uint32_t code) {
  return format.extremes == Extremes::Ieee &&
         (code & (format.signBit() - 1)) == format.infinity();
}

bool isZero(const FloatFormat &format, uint32_t code) {
  return (code & (format.signBit() - 1)) == 0;
}

Summand productOf(const SumFormats &formats, uint32_t a, uint32_t b,
                  Extreme &extreme) {
  bool negative =
      ((a & formats.a.signBit()) != 0) != ((b & formats.b.signBit()) != 0);
  if (formats.a.isNan(a) || formats.b.isNan(b)) {
    extreme.nan = true;
    return {};
  }
  bool infiniteA = isInfinite(formats.a, a),
       infiniteB = isInfinite(formats.b, b);
  if (infiniteA || infiniteB) {
    if (isZero(formats.a, a) || isZero(formats.b, b))
      extreme.nan = true;
    extreme.add(negative);
    return {};
  }
  Summand x = takeApart(formats.a, a), y = takeApart(formats.b, b);
  return {negative, x.significand * y.significand, x.exponent + y.exponent,
          x.fractionBits + y.fractionBits};
}

/// The significand in units of 2^(top - fractionBits), cut.
int64_t aligned(const Summand &summand, int top, int fractionBits) {
  // A zero has no part in `top`, which may lie far below its exponent.
  if (summand.significand == 0)
    return 0;
  int shift = fractionBits - summand.fractionBits - (top - summand.exponent);
  uint64_t cut = shift >= 0    ? summand.significand << shift
                 : shift > -64 ? summand.significand >> -shift
                               : 0;
  return summand.negative ? -int64_t(cut) : int64_t(cut);
}

uint32_t roundedF32(const SumRule &rule, const exact::Number &sum) {
  auto width = int(std::bit_width(uint64_t(sum.significand)));
  if (width + sum.exponent > kF32.bias() + 1)
    return uint32_t(kF32.infinity() | (sum.negative ? kF32.signBit() : 0));
  FloatFormat format = kF32;
  format.fractionBits = rule.resultBits;
  return uint32_t(exact::encode(format, sum, {.rounding = Rounding::TowardZero})
                  << (kF32.fractionBits - rule.resultBits));
}

/// One sum of at most rule.terms products.
uint32_t oneSum(const SumRule &rule, const SumFormats &formats, int products,
                const uint32_t *a, int strideA, const uint32_t *b, int strideB,
                uint32_t c) {
  constexpr int kMostTerms = 32;
  assert(products <= kMostTerms);
  const FloatFormat &result = formats.isF16 ? kF16 : kF32;
  Summand summands[kMostTerms + 1];
  Extreme extreme;
  if (result.isNan(c))
    extreme.nan = true;
  else if (isInfinite(result, c))
    extreme.add((c & result.signBit()) != 0);
  else
    summands[products] = takeApart(result, c);
  for (int i = 0; i < products; ++i)
    summands[i] = productOf(formats, a[i * strideA], b[i * strideB], extreme);
  if (extreme.nan || (extreme.positive && extreme.negative))
    return uint32_t(result.nan);
  if (extreme.positive || extreme.negative)
    return uint32_t(result.infinity() |
                    (extreme.negative ? result.signBit() : 0));

  int top = formats.isF16 ? rule.lowestForF16 : rule.lowestForF32;
  for (const Summand &summand : summands)
    if (summand.significand != 0)
      top = std::max(top, summand.exponent);
  int64_t sum = 0;
  for (int i = 0; i <= products; ++i)
    sum += aligned(summands[i], top, rule.fractionBits);
  if (sum == 0)
    return 0;
  exact::Number number{exact::Number::Kind::Finite, sum < 0,
                       top - rule.fractionBits, uint64_t(sum < 0 ? -sum : sum)};
  return formats.isF16 ? uint32_t(exact::encode(kF16, number))
                       : roundedF32(rule, number);
}

} // namespace

uint32_t kvc::sim::fusedSum(const SumRule &rule, const SumFormats &formats,
                            int products, const uint32_t *a, int strideA,
                            const uint32_t *b, int strideB, uint32_t c) {
  for (int first = 0; first < products; first += rule.terms) {
    int count = std::min(rule.terms, products - first);
    c = oneSum(rule, formats, count, a + first * strideA, strideA,
               b + first * strideB, strideB, c);
  }
  return c;
}
