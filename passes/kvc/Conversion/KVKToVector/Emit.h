//===- Emit.h - Building loops over vectors ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// An op builder with the vocabulary of the kernels: index arithmetic that
// folds, loops that vanish when they run once, splats, shuffles, memory behind
// a pointer.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVKTOVECTOR_EMIT_H
#define KVC_CONVERSION_KVKTOVECTOR_EMIT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>

namespace kvc {

using mlir::ArrayRef;
using mlir::SmallVector;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using mlir::VectorType;

class Emit : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  //===--------------------------------------------------------------------===//
  // Indices
  //===--------------------------------------------------------------------===//
  Value index(int64_t value);
  static std::optional<int64_t> constantOf(Value index);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y);
  Value sub(Value x, Value y);
  Value mul(Value x, int64_t y);
  Value div(Value x, int64_t y);
  Value ceilDiv(Value x, int64_t y) { return div(add(x, y - 1), y); }
  Value rem(Value x, int64_t y);
  Value min(Value x, Value y);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//
  using Body =
      mlir::function_ref<SmallVector<Value>(Value index, ValueRange carried)>;
  /// for index = begin to end step `step`. Constant bounds that leave one
  /// iteration give no loop; none gives `init` back.
  SmallVector<Value> loop(Value begin, Value end, int64_t step, ValueRange init,
                          Body body);
  /// The same for constant bounds, written out where it runs a few times.
  SmallVector<Value> shortLoop(int64_t begin, int64_t end, int64_t step,
                               ValueRange init, Body body);
  /// The same as `loop`, without values.
  void loop(Value begin, Value end, int64_t step,
            mlir::function_ref<void(Value)> body);

  //===--------------------------------------------------------------------===//
  // Vectors
  //===--------------------------------------------------------------------===//
  static VectorType vectorOf(int64_t lanes, Type element) {
    return VectorType::get({lanes}, element);
  }
  static int64_t lanesOf(Value vector) {
    return mlir::cast<VectorType>(vector.getType()).getDimSize(0);
  }
  Value splat(Value scalar, int64_t lanes);
  Value splat(int64_t value, Type vector);
  Value splat(double value, int64_t lanes);
  Value shuffle(Value x, Value y, ArrayRef<int64_t> lanes);
  /// The lanes of x, then those of y.
  Value concat(Value x, Value y) {
    return shuffle(
        x, y, llvm::to_vector(llvm::seq<int64_t>(0, lanesOf(x) + lanesOf(y))));
  }
  /// Lanes [begin, begin + count).
  Value slice(Value x, int64_t begin, int64_t count);
  /// x0 y0 x1 y1 .. of as many vectors as there are, a power of two.
  Value interleave(ArrayRef<Value> vectors);
  Value bitcast(Value x, Type type);
  /// Integer arithmetic with a splat constant; 0 shifts are left out.
  Value shl(Value x, int64_t bits);
  Value shr(Value x, int64_t bits);
  Value sar(Value x, int64_t bits);
  Value mask(Value x, int64_t bits);
  Value bitOr(Value x, Value y) {
    return mlir::arith::OrIOp::create(*this, x, y);
  }
  Value widen(Value x, Type element, bool isSigned);
  /// f16, bf16 to f32.
  Value toF32(Value x);
  /// f32 to an element type.
  Value fromF32(Value x, Type element);
  /// x * y + z, in one rounding where the target has it.
  Value fma(Value x, Value y, Value z);
  Value mulF(Value x, Value y) {
    return mlir::arith::MulFOp::create(*this, x, y);
  }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//
  Value i64(Value index);
  /// pointer + index bytes.
  Value offset(Value pointer, Value bytes);
  Value loadBytes(Value pointer, Type type, int64_t alignment = 1);
  /// `count` bytes and no more, in a vector of the next power of two.
  Value loadBytes(Value pointer, int64_t count);
  void storeBytes(Value value, Value pointer, int64_t alignment = 1);
  Value loadVector(Value memref, ValueRange indices, int64_t lanes);
  void storeVector(Value vector, Value memref, ValueRange indices);
  /// A 64-byte aligned buffer that lives as long as the function.
  Value scratch(ArrayRef<int64_t> shape, Type element);
};

/// Restores the insertion point of an Emit at the end of a scope.
using InsertionGuard = mlir::OpBuilder::InsertionGuard;

} // namespace kvc

#endif // KVC_CONVERSION_KVKTOVECTOR_EMIT_H
