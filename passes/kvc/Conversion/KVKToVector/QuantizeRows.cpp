//===- QuantizeRows.cpp - Rows of weights as 16-bit integers --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Lowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

/// Rows below have a scale whose inverse f32 may not hold, and are enlarged
/// before they are multiplied by it.
constexpr double kTiny = 0x1p-60, kEnlarge = 0x1p64;
/// The smallest f32, by which the scale of such rows is raised: a subnormal
/// one may have been rounded down, which would make weights too large.
constexpr double kQuantum = 0x1p-149;
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
    Value tiny = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, amax,
                                       constant(kTiny));
    Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, amax,
                                         constant(0.0));
    auto ifTiny = [&](double then, double otherwise) -> Value {
      return arith::SelectOp::create(b, tiny, constant(then),
                                     constant(otherwise));
    };
    Value enlarge = ifTiny(kEnlarge, 1.0);
    Value raised =
        arith::AddFOp::create(b, arith::DivFOp::create(b, amax, constant(most)),
                              ifTiny(kQuantum, 0.0));
    Value inverse = b.splat(
        arith::DivFOp::create(b, constant(1.0),
                              arith::MulFOp::create(b, raised, enlarge)),
        lanes);
    enlarge = b.splat(enlarge, lanes);
    Value scale = arith::SelectOp::create(b, isZero, amax, raised);
    memref::StoreOp::create(b, scale, op.getScale(), row);
    b.shortLoop(0, depth, lanes, ValueRange(), [&](Value k, ValueRange) {
      Value x = b.loadVector(op.getRows(), {row, k}, lanes);
      Value rounded =
          b.fma(b.mulF(x, enlarge), inverse, b.splat(kRound, lanes));
      Value weights = arith::TruncIOp::create(
          b, Emit::vectorOf(lanes, b.getIntegerType(16)),
          b.bitcast(rounded, i32));
      b.storeVector(weights, op.getWeights(), {row, k});
      return SmallVector<Value>();
    });
  });
}

} // namespace kvc
