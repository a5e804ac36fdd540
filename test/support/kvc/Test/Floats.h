//===- Floats.h - Storage types as scalar arithmetic ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// round_T of SPEC.md section 2 and the meaning of every stored bit pattern,
// from the definition of the formats alone: no compiler type narrower than f32,
// no table, no conversion instruction.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_FLOATS_H
#define KVC_TEST_FLOATS_H

#include <cstdint>

namespace kvc::test {

/// A binary floating-point format with a sign bit on top.
struct FloatFormat {
  int exponentBits, mantissaBits;
  int bias;
  double largest; ///< Largest finite value.

  int bits() const { return 1 + exponentBits + mantissaBits; }
  /// Exponent of the smallest normal number.
  int smallestExponent() const { return 1 - bias; }
  /// The smallest power of two.
  double smallestPower() const;
  /// The largest power of two.
  double largestPower() const;
};

extern const FloatFormat kF32, kF16, kBF16, kE5M2, kE4M3, kE2M1;

/// Nearest even, saturating at the largest finite value (infinities too); the
/// sign of zero is kept.
float roundTo(const FloatFormat &format, float x);
/// The same from f64, for outputs and test data.
float roundTo(const FloatFormat &format, double x);

/// The bit pattern of roundTo(format, x).
uint32_t encode(const FloatFormat &format, float x);
/// The value of a bit pattern that is finite in its format.
float decode(const FloatFormat &format, uint32_t bits);

/// Half the distance between neighbours of `format` at magnitude |x|: how far
/// one rounding moves a number of that size.
double halfUlp(const FloatFormat &format, double x);

/// The smallest power of two of the format that is >= x, clamped to the
/// format's powers of two; 0 stays 0.
float powerOfTwoAtLeast(const FloatFormat &format, float x);

/// e8m0: an exponent alone, byte = exponent + 127.
uint8_t encodeE8M0(int exponent);
float decodeE8M0(uint8_t byte);

/// floor(log2 x) of a positive finite number, exact, subnormals too.
int floorLog2(float x);
/// ceil(log2 x) likewise.
int ceilLog2(float x);

/// Rounds to an integer, ties to even, whatever the rounding mode says.
double roundEven(double x);

/// The bits of an f32, and back.
uint32_t bitsOfFloat(float x);
float floatOfBits(uint32_t bits);

} // namespace kvc::test

#endif // KVC_TEST_FLOATS_H
