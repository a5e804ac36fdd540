//===- FloatMath.h - Float functions as polynomials -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Builders of the float functions that kernels need, from nothing but adds,
// multiplies, compares and integer arithmetic: an object for plain x86-64 calls
// no library. Every function takes f32 (conversions: f16 or bf16 too), a
// scalar, vector or tensor, and returns the same shape.
//
// `contract` fastmath is set on multiply-add pairs of polynomials alone;
// nothing that decides stored bytes (roundings, conversions) carries a flag.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_EXPANDMATH_FLOATMATH_H
#define KVC_CONVERSION_EXPANDMATH_FLOATMATH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvc::floatmath {

using mlir::ImplicitLocOpBuilder;
using mlir::Type;
using mlir::Value;

/// 2^x to 1 ulp. Results under 2^-126 are 0, at -inf exactly; NaN stays NaN.
Value exp2(ImplicitLocOpBuilder &b, Value x);
/// e^x to 2 ulp, with the ends of exp2.
Value exp(ImplicitLocOpBuilder &b, Value x);
/// log2 and ln to 2 ulp of max(|result|, 1): -inf at 0, NaN under it.
Value log2(ImplicitLocOpBuilder &b, Value x);
Value log(ImplicitLocOpBuilder &b, Value x);
/// tanh to 2 ulp, odd, without cancellation near 0.
Value tanh(ImplicitLocOpBuilder &b, Value x);

/// sin and cos within 2^-22 for |x| < 2^50, reduced in f64.
Value sin(ImplicitLocOpBuilder &b, Value x);
Value cos(ImplicitLocOpBuilder &b, Value x);

/// Exact: nearest integer (ties to even), and the integers below and above. The
/// sign of zero is kept.
Value roundEven(ImplicitLocOpBuilder &b, Value x);
Value floor(ImplicitLocOpBuilder &b, Value x);
Value ceil(ImplicitLocOpBuilder &b, Value x);

/// IEEE conversions, nearest even; overflow gives infinity, NaN a quiet NaN.
Value f16ToF32(ImplicitLocOpBuilder &b, Value x);
Value f32ToF16(ImplicitLocOpBuilder &b, Value x);
Value bf16ToF32(ImplicitLocOpBuilder &b, Value x);
Value f32ToBF16(ImplicitLocOpBuilder &b, Value x);

/// Clamps to the finite range of `element` (f16, bf16): what precedes a
/// conversion that saturates. NaN stays NaN; f32 is left alone.
Value clampToFinite(ImplicitLocOpBuilder &b, Value x, Type element);

/// The nearest value of `element` (f32, f16, bf16), ties to even, saturating,
/// as f32: `kvc.round_to`. Leaves arith.truncf and arith.extf to be opened or
/// not.
Value roundTo(ImplicitLocOpBuilder &b, Value x, Type element);

} // namespace kvc::floatmath

#endif // KVC_CONVERSION_EXPANDMATH_FLOATMATH_H
