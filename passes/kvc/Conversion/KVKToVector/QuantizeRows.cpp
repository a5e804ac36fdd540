//===- QuantizeRows.cpp - Rows of weights as 16-bit integers --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Lowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace kvc {

/// The smallest magnitude that counts as a row's largest: its quotient with the
/// largest weight is a normal f32, and so is the inverse.
static const double kSmallest = std::ldexp(1.0, -110);
/// 1.5 * 2^23: the low bits of the sum are the nearest integer.
constexpr double kRound = 12582912.0;

void lowerQuantizeRows(Emit &b, const HostTarget &target,
                       kvk::QuantizeRowsOp op) {
  auto type = cast<MemRefType>(op.getRows().getType());
  int64_t rows = type.getDimSize(0), depth = type.getDimSize(1),
          lanes = target.lanes();
  while (depth % lanes != 0)
    lanes /= 2;
  double most = double(kvk::QuantizeRowsOp::getMaxWeight(depth));
  Type i32 = Emit::vectorOf(lanes, b.getI32Type()),
       f32 = Emit::vectorOf(lanes, b.getF32Type());
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
  };
  auto greater = [&](Value x, Value y) -> Value {
    return arith::SelectOp::create(
        b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y), x, y);
  };

  b.loop(b.index(0), b.index(rows), 1, [&](Value row) {
    Value largest = b.shortLoop(
        0, depth, lanes, b.splat(0.0, lanes), [&](Value k, ValueRange carried) {
          Value x = b.loadVector(op.getRows(), {row, k}, lanes);
          Value magnitude =
              b.bitcast(b.mask(b.bitcast(x, i32), 0x7fffffff), f32);
          return SmallVector<Value>{greater(magnitude, carried[0])};
        })[0];
    Value amax = vector::ReductionOp::create(
        b, vector::CombiningKind::MAXNUMF, largest, arith::FastMathFlags::nnan);
    Value bounded = greater(amax, constant(kSmallest));
    Value inverse =
        b.splat(arith::DivFOp::create(b, constant(most), bounded), lanes);
    Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, amax,
                                         constant(0.0));
    Value scale = arith::SelectOp::create(
        b, isZero, amax, arith::DivFOp::create(b, bounded, constant(most)));
    memref::StoreOp::create(b, scale, op.getScale(), row);
    b.shortLoop(0, depth, lanes, ValueRange(), [&](Value k, ValueRange) {
      Value x = b.loadVector(op.getRows(), {row, k}, lanes);
      Value rounded = b.fma(x, inverse, b.splat(kRound, lanes));
      Value weights = arith::TruncIOp::create(
          b, Emit::vectorOf(lanes, b.getIntegerType(16)),
          b.bitcast(rounded, i32));
      b.storeVector(weights, op.getWeights(), {row, k});
      return SmallVector<Value>();
    });
  });
}

} // namespace kvc
