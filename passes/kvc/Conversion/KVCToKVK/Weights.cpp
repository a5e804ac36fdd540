//===- Weights.cpp - Rows as weights of integer dots ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "kvc/Dialect/KVK/KVKOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

/// The rows as weights of a dot, made where the rows are: outside every loop
/// that does not change them.
Converter::Weights Converter::weightsOf(Value tile, Value rows,
                                        ContractOp contract, bool integer) {
  if (!integer)
    return Weights::floats(rows);
  Weights &known = quantisedRows[tile];
  if (known.rows)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  Operation *outermost = nullptr;
  for (Operation *loop = contract->getParentOp(); loop != function;
       loop = loop->getParentOp())
    if (isa<scf::ForOp>(loop) &&
        !loop->isAncestor(tile.getParentBlock()->getParentOp()))
      outermost = loop;
  if (outermost)
    builder.setInsertionPoint(newLoops.lookup(outermost));
  known = quantise(rows);
  // Probabilities need none: they are small where they are off.
  if (!hasDim(tile.getType(), "t"))
    addResidual(known, tile, rows);
  return known;
}

Converter::Weights Converter::quantise(Value rows) {
  auto type = cast<MemRefType>(rows.getType());
  Weights weights;
  weights.rows =
      newScratch(MemRefType::get(type.getShape(), builder.getI16Type()));
  weights.scale =
      newScratch(MemRefType::get({type.getDimSize(0)}, builder.getF32Type()));
  kvk::QuantizeRowsOp::create(builder, function.getLoc(), rows, weights.rows,
                              weights.scale);
  return weights;
}

/// The rotation behind a tile of queries, or null.
static RotateOp rotationBehind(Value tile) {
  while (auto split = tile.getDefiningOp<SplitOp>())
    tile = split.getSource();
  return tile.getDefiningOp<RotateOp>();
}

/// Whether a tile of queries is the product of rotated channels with something
/// that they do not have in common.
static bool scalesRotated(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (isa_and_present<SplitOp, BroadcastOp>(op))
    return scalesRotated(op->getOperand(0));
  return isa_and_present<arith::MulFOp>(op) &&
         llvm::any_of(op->getOperands(), [](Value factor) {
           while (auto broadcast = factor.getDefiningOp<BroadcastOp>())
             factor = broadcast.getSource();
           return rotationBehind(factor) || scalesRotated(factor);
         });
}

/// A 16-bit weight is off by up to max|q| / 65534, whatever channel it is in:
/// too much for a row whose maximum stands out, against keys that are large in
/// other channels. What rounding left is then a second set of weights.
void Converter::addResidual(Weights &weights, Value tile, Value rows) {
  Location loc = function.getLoc();
  auto type = cast<MemRefType>(rows.getType());
  Value left =
      newScratch(MemRefType::get(type.getShape(), type.getElementType()));
  if (scalesRotated(tile)) {
    weights.residualMatters =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  } else {
    RotateOp rotate = rotationBehind(tile);
    weights.residualMatters = anyRowStandsOut(
        rows, rotate ? rotatedRows(rows, int64_t(rotate.getBlock())) : rows);
  }

  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, loc, weights.residualMatters,
                                  /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  forVectors(type, [&](VectorType floats, ValueRange at) {
    Value exact = vector::LoadOp::create(builder, loc, floats, rows, at);
    Value code = vector::LoadOp::create(
        builder, loc, floats.clone(builder.getI16Type()), weights.rows, at);
    Value scale =
        memref::LoadOp::create(builder, loc, weights.scale, at.drop_back());
    Value rounded = arith::MulFOp::create(
        builder, loc, arith::SIToFPOp::create(builder, loc, floats, code),
        vector::BroadcastOp::create(builder, loc, floats, scale));
    vector::StoreOp::create(builder, loc,
                            arith::SubFOp::create(builder, loc, exact, rounded),
                            left, at);
  });
  Weights residual = quantise(left);
  weights.residualRows = residual.rows;
  weights.residualScale = residual.scale;
}

/// Folds the chunks of one row: `body` gets where a chunk begins, its type and
/// what the chunks before it came to.
static Value
foldRow(OpBuilder &builder, Location loc, MemRefType type,
        llvm::function_ref<Value(Value begin, VectorType vector, Value before)>
            body) {
  int64_t extent = type.getDimSize(1), lanes = chunkLanes(extent);
  auto vector = VectorType::get({lanes}, type.getElementType());
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  if (lanes == extent)
    return body(index(0), vector, zero);
  auto loop = scf::ForOp::create(builder, loc, index(0), index(extent),
                                 index(lanes), zero);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), vector, loop.getRegionIterArg(0));
  scf::YieldOp::create(builder, loc, next);
  return loop.getResult(0);
}

/// A copy of rows of channels, each rotated.
Value Converter::rotatedRows(Value rows, int64_t block) {
  auto type = cast<MemRefType>(rows.getType());
  Location loc = function.getLoc();
  Value result =
      newScratch(MemRefType::get(type.getShape(), type.getElementType()));
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(builder, loc, index(0),
                                 index(type.getDimSize(0)), index(1));
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> at{loop.getInductionVar(), index(0)};
  Value row = vector::LoadOp::create(
      builder, loc,
      VectorType::get({type.getDimSize(1)}, type.getElementType()), rows, at);
  vector::StoreOp::create(builder, loc, emitRotate(row, block), result, at);
  return result;
}

/// Whether in some row most channels are under max / kStandsOut. Rounding
/// moves a score by max * ||k|| / 113000 (one standard deviation), and may move
/// it by 1e-3 * ||q o k||. Where ||k|| comes from channels of a median query,
/// that takes a maximum of 113 medians. Queries of a normal distribution reach
/// 6, those of real models 40. The maximum is that of the weights, the median
/// that of the query's channels as they were `given`: a rotation keeps ||k||,
/// not ||q o k||.
Value Converter::anyRowStandsOut(Value rows, Value given) {
  constexpr float kStandsOut = 48;
  Location loc = function.getLoc();
  auto type = cast<MemRefType>(rows.getType());
  OpBuilder::InsertionGuard guard(builder);
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  auto loop = scf::ForOp::create(builder, loc, index(0),
                                 index(type.getDimSize(0)), index(1), none);
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  auto magnitudes = [&](Value of, Value begin, VectorType vector) -> Value {
    return math::AbsFOp::create(builder, loc,
                                vector::LoadOp::create(builder, loc, vector, of,
                                                       ValueRange{row, begin}));
  };
  auto constant = [&](Type type, float value) -> Value {
    TypedAttr attribute = builder.getF32FloatAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = SplatElementsAttr::get(vector, attribute);
    return arith::ConstantOp::create(builder, loc, attribute);
  };
  Value largest =
      foldRow(builder, loc, type,
              [&](Value begin, VectorType vector, Value before) -> Value {
                return vector::ReductionOp::create(
                    builder, loc, vector::CombiningKind::MAXNUMF,
                    magnitudes(rows, begin, vector), before);
              });
  Value small = foldRow(
      builder, loc, type,
      [&](Value begin, VectorType vector, Value before) -> Value {
        Value isSmall = arith::CmpFOp::create(
            builder, loc, arith::CmpFPredicate::OLT,
            arith::MulFOp::create(builder, loc,
                                  magnitudes(given, begin, vector),
                                  constant(vector, kStandsOut)),
            vector::BroadcastOp::create(builder, loc, vector, largest));
        return vector::ReductionOp::create(
            builder, loc, vector::CombiningKind::ADD,
            arith::SelectOp::create(builder, loc, isSmall, constant(vector, 1),
                                    constant(vector, 0)),
            before, arith::FastMathFlags::reassoc);
      });
  auto half = static_cast<float>(type.getDimSize(1)) / 2;
  Value standsOut =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, small,
                            constant(builder.getF32Type(), half));
  Value any =
      arith::OrIOp::create(builder, loc, loop.getRegionIterArg(0), standsOut);
  scf::YieldOp::create(builder, loc, any);
  return loop.getResult(0);
}

} // namespace kvc
