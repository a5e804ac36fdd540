//===- FloatCodes.h - Small floats and powers of two ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Builders like those of FloatMath.h, for formats that no target's arithmetic
// knows. All of them are exact: their bits are stored.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_EXPANDMATH_FLOATCODES_H
#define KVC_CONVERSION_EXPANDMATH_FLOATCODES_H

#include "kvc/Spec/Spec.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvc::floatmath {

/// f32 to the bit pattern (i8) of the nearest value of `format`, ties to even,
/// at most the largest finite one; the sign of zero is kept.
mlir::Value encodeFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                        const spec::FloatFormat &format);
/// A bit pattern (i8) that is finite in `format`, as f32.
mlir::Value decodeFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value code,
                        const spec::FloatFormat &format);

/// 2^(n + offset) for the least n with x <= 2^n (`down`: the largest n with
/// 2^n <= x), the exponent clamped to [smallest, largest]; 0 for 0. `x` is not
/// negative.
mlir::Value powerOfTwo(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                       int64_t smallest, int64_t largest, int64_t offset,
                       bool down);

/// table[code]: codes (i8) below the table's size, a power of two.
mlir::Value lookup(mlir::ImplicitLocOpBuilder &b, mlir::Value code,
                   llvm::ArrayRef<float> table);

/// The same for a table that is a vector of 4, 8 or 16 numbers.
mlir::Value lookup(mlir::ImplicitLocOpBuilder &b, mlir::Value code,
                   mlir::Value table);
/// codes[n] (as i8) for the n of `thresholds`, ascending, that are below x. The
/// last threshold is no number below any other and is not looked at.
mlir::Value nearest(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    mlir::Value thresholds, mlir::Value codes);

/// A byte (i8) of e8m0 as f32 and back; the f32 is a power of two.
mlir::Value decodeE8M0(mlir::ImplicitLocOpBuilder &b, mlir::Value byte);
mlir::Value encodeE8M0(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace kvc::floatmath

#endif // KVC_CONVERSION_EXPANDMATH_FLOATCODES_H
