//===- Exact.h - Float arithmetic in integers -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every float operation of PTX but the approximations, in every format and
// rounding, from integers alone: no result depends on the machine's float unit
// or its modes. The rows of FloatRows.h are held to it by tests.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_EXACT_H
#define KVC_SIM_NUMERICS_EXACT_H

#include "kvc/Sim/Numerics/FloatFormat.h"

namespace kvc::sim::exact {

__extension__ using UInt128 = unsigned __int128;

/// (-1)^negative * significand * 2^exponent. Where an operation has more bits
/// than fit, the lowest bit of the significand stands for all that follow; no
/// rounding to 64 bits or fewer sees the difference.
struct Number {
  enum class Kind : uint8_t { Zero, Finite, Infinity, NaN };

  Kind kind = Kind::Zero;
  bool negative = false;
  int exponent = 0;
  UInt128 significand = 0;

  bool isZero() const { return kind == Kind::Zero; }
  bool isNan() const { return kind == Kind::NaN; }
  bool isInfinite() const { return kind == Kind::Infinity; }
};

/// What a code of `format` means; with `flush`, subnormal ones are zeros.
Number decode(const FloatFormat &format, uint64_t code, bool flush = false);
Number fromInteger(bool negative, uint64_t magnitude);

/// What happens to a result on its way into a format.
struct Modifiers {
  Rounding rounding = Rounding::NearestEven;
  bool flush = false;    ///< .ftz: subnormal results become zeros.
  bool saturate = false; ///< .sat: clamped to [0, 1], NaN becomes 0.
  /// What is beyond the largest number becomes it; implied by formats without
  /// infinity.
  bool satfinite = false;
  bool relu = false; ///< Negative results become +0.
};
uint64_t encode(const FloatFormat &format, const Number &number,
                const Modifiers &modifiers = {});

/// The rounding decides the sign of an exact zero.
Number add(const Number &a, const Number &b, Rounding rounding);
Number multiply(const Number &a, const Number &b);
Number divide(const Number &a, const Number &b);
Number squareRoot(const Number &a);
Number negate(Number a);

/// The nearest integer by `rounding`; the sign of zero is kept.
Number roundToInteger(const Number &a, Rounding rounding);
/// An integral number clamped to `bits` bits, two's complement if signed.
/// NaN is for the caller.
uint64_t toInteger(const Number &a, int bits, bool isSigned);

} // namespace kvc::sim::exact

#endif // KVC_SIM_NUMERICS_EXACT_H
