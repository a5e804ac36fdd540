//===- Outliers.cpp - Channels kept apart ---------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A few scalars per token: loops over elements of scratch.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

static Value f32Constant(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

static Value toIndex(OpBuilder &builder, Location loc, Value number) {
  Value integer =
      arith::FPToSIOp::create(builder, loc, builder.getI32Type(), number);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    integer);
}

static Value toNumber(OpBuilder &builder, Location loc, Value index) {
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  return arith::SIToFPOp::create(builder, loc, builder.getF32Type(), integer);
}

/// As often as there are outliers: the first largest magnitude is taken, and
/// marked by a negative one. Then the marked channels are listed in order.
void Converter::convertFindOutliers(FindOutliersOp op) {
  Location loc = op.getLoc();
  int64_t channels = op.getSource().getType().getDimSize(1),
          count = op.getType().getDimSize(0);
  Value from = scratchOf(op.getSource());
  auto type = cast<MemRefType>(from.getType());
  Value left =
      newScratch(MemRefType::get(type.getShape(), type.getElementType()));
  copy(from, left);
  Value result = newScratch(TileShape::of(op.getType()).scratchType());
  fill(result, builder.getF32FloatAttr(0));
  tiles[op.getResult()].scratch = result;
  Value zero = index(0), one = index(1),
        taken = f32Constant(builder, loc, -2.0f);

  OpBuilder::InsertionGuard guard(builder);
  auto rounds = scf::ForOp::create(builder, loc, zero, index(count), one);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(rounds.getBody());
    Value none = f32Constant(builder, loc, -1.0f);
    auto search = scf::ForOp::create(builder, loc, zero, index(channels), one,
                                     ValueRange{none, zero});
    {
      OpBuilder::InsertionGuard innermost(builder);
      builder.setInsertionPointToStart(search.getBody());
      Value channel = search.getInductionVar();
      Value magnitude =
          memref::LoadOp::create(builder, loc, left, ValueRange{zero, channel});
      Value isLarger =
          arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT,
                                magnitude, search.getRegionIterArg(0));
      Value largest = arith::SelectOp::create(builder, loc, isLarger, magnitude,
                                              search.getRegionIterArg(0));
      Value where = arith::SelectOp::create(builder, loc, isLarger, channel,
                                            search.getRegionIterArg(1));
      scf::YieldOp::create(builder, loc, ValueRange{largest, where});
    }
    memref::StoreOp::create(builder, loc, taken, left,
                            ValueRange{zero, search.getResult(1)});
  }
  auto list = scf::ForOp::create(builder, loc, zero, index(channels), one,
                                 ValueRange{zero});
  builder.setInsertionPointToStart(list.getBody());
  Value channel = list.getInductionVar(), next = list.getRegionIterArg(0);
  Value magnitude =
      memref::LoadOp::create(builder, loc, left, ValueRange{zero, channel});
  Value isTaken = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                        magnitude, taken);
  auto branch =
      scf::IfOp::create(builder, loc, isTaken, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    memref::StoreOp::create(builder, loc, toNumber(builder, loc, channel),
                            result, ValueRange{next});
  }
  Value after = arith::AddIOp::create(builder, loc, next, one);
  scf::YieldOp::create(
      builder, loc,
      ValueRange{arith::SelectOp::create(builder, loc, isTaken, after, next)});
}

void Converter::convertPick(PickOp op) {
  Location loc = op.getLoc();
  Value from = scratchOf(op.getSource()), at = scratchOf(op.getIndex());
  Value result = newScratch(TileShape::of(op.getType()).scratchType());
  tiles[op.getResult()].scratch = result;
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(builder, loc, index(0),
                                 index(op.getType().getDimSize(0)), index(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value number = memref::LoadOp::create(builder, loc, at,
                                        ValueRange{loop.getInductionVar()});
  Value value = memref::LoadOp::create(
      builder, loc, from, ValueRange{index(0), toIndex(builder, loc, number)});
  memref::StoreOp::create(builder, loc, value, result,
                          ValueRange{loop.getInductionVar()});
}

/// One row of channels, or a chunk of one, takes the values that are in it.
Value Converter::emitPatch(PatchOp op, Iteration &iteration) {
  Location loc = op.getLoc();
  Value dense = inIteration(iteration, op.getDense());
  auto type = cast<VectorType>(dense.getType());
  Value buffer =
      newScratch(MemRefType::get(type.getShape(), type.getElementType()));
  vector::StoreOp::create(builder, loc, dense, buffer, ValueRange{index(0)});
  TileShape shape = iteration.shapeOf(op.getType());
  Value begin = beginOf(shape, iteration);
  if (shape.isLoop("b"))
    begin = arith::AddIOp::create(
        builder, loc, begin,
        arith::MulIOp::create(builder, loc, iteration.iv("b"),
                              index(shape.vector->second)));
  auto element = [&](Value tile, Value outlier) -> Value {
    if (TypedAttr splat = tiles[tile].splat)
      return arith::ConstantOp::create(builder, loc, splat);
    SmallVector<Value> indices{outlier};
    if (hasDim(tile.getType(), "t"))
      indices.push_back(iteration.iv("t"));
    return memref::LoadOp::create(builder, loc, tiles[tile].scratch, indices);
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    auto loop = scf::ForOp::create(
        builder, loc, index(0),
        index(op.getIndex().getType().getShape().back()), index(1));
    builder.setInsertionPointToStart(loop.getBody());
    Value outlier = loop.getInductionVar();
    Value channel = arith::SubIOp::create(
        builder, loc, toIndex(builder, loc, element(op.getIndex(), outlier)),
        begin);
    Value isHere =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, channel,
                              index(type.getDimSize(0)));
    auto branch =
        scf::IfOp::create(builder, loc, isHere, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
    memref::StoreOp::create(builder, loc, element(op.getValue(), outlier),
                            buffer, ValueRange{channel});
  }
  return vector::LoadOp::create(builder, loc, type, buffer,
                                ValueRange{index(0)});
}

} // namespace kvc
