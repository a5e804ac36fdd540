//===- Shaped.h - Arithmetic on scalars and vectors alike -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_EXPANDMATH_SHAPED_H
#define KVC_CONVERSION_EXPANDMATH_SHAPED_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvc::floatmath {

using mlir::ImplicitLocOpBuilder;
using mlir::Type;
using mlir::Value;

/// Arithmetic on one shape: hides the difference between scalars and others.
struct Shaped {
  ImplicitLocOpBuilder &b;
  Type like;

  Shaped(ImplicitLocOpBuilder &b, Value x) : b(b), like(x.getType()) {}

  Type typeOf(Type element) const {
    auto shaped = llvm::dyn_cast<mlir::ShapedType>(like);
    return shaped ? Type(shaped.clone(element)) : element;
  }
  Type f32() const { return typeOf(b.getF32Type()); }
  Type i32() const { return typeOf(b.getI32Type()); }
  Type i16() const { return typeOf(b.getIntegerType(16)); }

  Value constant(Type type, mlir::TypedAttr scalar) const {
    if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type))
      return mlir::arith::ConstantOp::create(
          b, mlir::DenseElementsAttr::get(shaped, mlir::Attribute(scalar)));
    return mlir::arith::ConstantOp::create(b, scalar);
  }
  Value f(float value) const {
    return constant(f32(), b.getF32FloatAttr(value));
  }
  Value i(int32_t value) const {
    return constant(i32(), b.getI32IntegerAttr(value));
  }
  /// The f32 of given bits.
  Value bits(uint32_t value) const { return f(llvm::bit_cast<float>(value)); }

  Value add(Value x, Value y) const {
    return mlir::arith::AddFOp::create(b, x, y);
  }
  Value sub(Value x, Value y) const {
    return mlir::arith::SubFOp::create(b, x, y);
  }
  Value mul(Value x, Value y) const {
    return mlir::arith::MulFOp::create(b, x, y);
  }
  Value div(Value x, Value y) const {
    return mlir::arith::DivFOp::create(b, x, y);
  }
  /// x * y + z in one rounding where the target has it.
  Value fma(Value x, Value y, Value z) const {
    return mlir::arith::AddFOp::create(
        b,
        mlir::arith::MulFOp::create(b, x, y,
                                    mlir::arith::FastMathFlags::contract),
        z, mlir::arith::FastMathFlags::contract);
  }
  /// coefficients[0] + coefficients[1] * x + ..
  Value poly(Value x, llvm::ArrayRef<float> coefficients) const {
    Value sum = f(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, f(coefficient));
    return sum;
  }

  Value addi(Value x, Value y) const {
    return mlir::arith::AddIOp::create(b, x, y);
  }
  Value subi(Value x, Value y) const {
    return mlir::arith::SubIOp::create(b, x, y);
  }
  Value andi(Value x, int32_t y) const {
    return mlir::arith::AndIOp::create(b, x, i(y));
  }
  Value ori(Value x, Value y) const {
    return mlir::arith::OrIOp::create(b, x, y);
  }
  Value shl(Value x, int y) const {
    return mlir::arith::ShLIOp::create(b, x, i(y));
  }
  Value shr(Value x, int y) const {
    return mlir::arith::ShRUIOp::create(b, x, i(y));
  }
  Value toInt(Value x) const {
    return mlir::arith::BitcastOp::create(b, i32(), x);
  }
  Value toFloat(Value x) const {
    return mlir::arith::BitcastOp::create(b, f32(), x);
  }

  Value cmp(mlir::arith::CmpFPredicate p, Value x, Value y) const {
    return mlir::arith::CmpFOp::create(b, p, x, y);
  }
  Value cmp(mlir::arith::CmpIPredicate p, Value x, Value y) const {
    return mlir::arith::CmpIOp::create(b, p, x, y);
  }
  Value select(Value c, Value x, Value y) const {
    return mlir::arith::SelectOp::create(b, c, x, y);
  }
  Value abs(Value x) const { return toFloat(andi(toInt(x), 0x7fffffff)); }
  Value signBits(Value x) const { return andi(toInt(x), INT32_MIN); }
};

} // namespace kvc::floatmath

#endif // KVC_CONVERSION_EXPANDMATH_SHAPED_H
