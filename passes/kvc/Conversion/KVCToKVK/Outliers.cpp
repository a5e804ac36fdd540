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

/// An element of a tile in scratch, by the names of its dims; those of one
/// element need none.
Value Converter::elementOf(Value tile,
                           ArrayRef<std::pair<StringRef, Value>> indices) {
  Location loc = tile.getLoc();
  TileShape shape = TileShape::of(tile.getType());
  SmallVector<Value> at;
  auto add = [&](StringRef dim) {
    const auto *given =
        llvm::find_if(indices, [&](auto &index) { return index.first == dim; });
    at.push_back(given == indices.end() ? index(0) : given->second);
  };
  for (const TileLoop &loop : shape.loops)
    if (!loop.isChunks())
      add(loop.dim);
  if (shape.vector)
    add(shape.vector->first);
  return memref::LoadOp::create(builder, loc, scratchOf(tile), at);
}

void Converter::convertPick(PickOp op) {
  Location loc = op.getLoc();
  Value source = op.getSource(), index = op.getIndex();
  TileShape shape = TileShape::of(op.getType());
  Value result = newScratch(shape.scratchType());
  tiles[op.getResult()].scratch = result;
  scratchOf(source);
  scratchOf(index);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<std::pair<StringRef, Value>> indices;
  SmallVector<Value> at;
  auto enter = [&](StringRef dim, int64_t extent) {
    auto loop = scf::ForOp::create(builder, loc, this->index(0),
                                   this->index(extent), this->index(1));
    builder.setInsertionPointToStart(loop.getBody());
    indices.emplace_back(dim, loop.getInductionVar());
    at.push_back(loop.getInductionVar());
  };
  for (const TileLoop &loop : shape.loops)
    enter(loop.dim, loop.extent);
  if (shape.vector)
    enter(shape.vector->first, shape.vector->second);
  Value element = toIndex(builder, loc, elementOf(index, indices));
  if (op.getWidth() != 1)
    element = arith::DivUIOp::create(
        builder, loc, element,
        this->index(static_cast<int64_t>(op.getWidth())));
  indices.emplace_back(dimsOf(source.getType()).back(), element);
  Value value = elementOf(source, indices);
  memref::StoreOp::create(builder, loc, value, result, at);
}

/// Row by row of the result, a vector of tokens at a time.
void Converter::convertGatherDot(GatherDotOp op) {
  Location loc = op.getLoc();
  Value rows = scratchOf(op.getRows()), numbers = scratchOf(op.getIndex()),
        values = scratchOf(op.getValue());
  RankedTensorType type = op.getType();
  int64_t channels = op.getRows().getType().getDimSize(1),
          outliers = op.getIndex().getType().getDimSize(1);
  Value result = newScratch(TileShape::of(type).scratchType());
  tiles[op.getResult()].scratch = result;
  OpBuilder::InsertionGuard guard(builder);
  auto ofRows = scf::ForOp::create(builder, loc, index(0),
                                   index(type.getDimSize(0)), index(1));
  builder.setInsertionPointToStart(ofRows.getBody());
  Value row = ofRows.getInductionVar();
  forChunks(type.getDimSize(1), [&](Value token, int64_t lanes) {
    auto floats = VectorType::get({lanes}, builder.getF32Type());
    auto integers = VectorType::get({lanes}, builder.getI32Type());
    auto bits = VectorType::get({lanes}, builder.getI1Type());
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(floats));
    Value all = arith::ConstantOp::create(
        builder, loc, SplatElementsAttr::get(bits, builder.getBoolAttr(true)));
    // Whatever a page holds, no access leaves the row.
    Value last = arith::ConstantOp::create(
        builder, loc,
        SplatElementsAttr::get(
            integers,
            builder.getI32IntegerAttr(static_cast<int32_t>(channels - 1))));
    auto sum = scf::ForOp::create(builder, loc, index(0), index(outliers),
                                  index(1), ValueRange{zero});
    {
      OpBuilder::InsertionGuard inner(builder);
      builder.setInsertionPointToStart(sum.getBody());
      SmallVector<Value> at{sum.getInductionVar(), token};
      Value number = arith::FPToSIOp::create(
          builder, loc, integers,
          vector::LoadOp::create(builder, loc, floats, numbers, at));
      number = arith::MinUIOp::create(builder, loc, number, last);
      Value element = vector::GatherOp::create(builder, loc, floats, rows,
                                               ValueRange{row, index(0)},
                                               number, all, zero);
      Value value = vector::LoadOp::create(builder, loc, floats, values, at);
      Value product = arith::MulFOp::create(builder, loc, element, value,
                                            arith::FastMathFlags::contract);
      Value next =
          arith::AddFOp::create(builder, loc, sum.getRegionIterArg(0), product,
                                arith::FastMathFlags::contract);
      scf::YieldOp::create(builder, loc, next);
    }
    vector::StoreOp::create(builder, loc, sum.getResult(0), result,
                            ValueRange{row, token});
  });
}

/// One outlier at a time: two of a token may not be in one channel, those of
/// two tokens may.
void Converter::convertScatterDot(ScatterDotOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  Value into = rescaledSumOf(op);
  if (!into) {
    into = newScratch(TileShape::of(type).scratchType());
    fill(into, builder.getF32FloatAttr(0));
    tiles[op.getResult()].scratch = into;
  }
  Value rows = scratchOf(op.getRows());
  scratchOf(op.getIndex());
  scratchOf(op.getValue());
  OpBuilder::InsertionGuard guard(builder);
  auto enter = [&](int64_t extent) {
    auto loop =
        scf::ForOp::create(builder, loc, index(0), index(extent), index(1));
    builder.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  Value token = enter(op.getIndex().getType().getDimSize(0)),
        outlier = enter(op.getIndex().getType().getDimSize(1));
  std::pair<StringRef, Value> at[] = {
      {dimsOf(op.getIndex().getType())[0], token},
      {dimsOf(op.getIndex().getType())[1], outlier}};
  Value channel = toIndex(builder, loc, elementOf(op.getIndex(), at));
  channel = arith::MinUIOp::create(builder, loc, channel,
                                   index(type.getDimSize(1) - 1));
  Value value = elementOf(op.getValue(), at);
  Value row = enter(type.getDimSize(0));
  Value weight =
      memref::LoadOp::create(builder, loc, rows, ValueRange{row, token});
  Value before =
      memref::LoadOp::create(builder, loc, into, ValueRange{row, channel});
  Value product = arith::MulFOp::create(builder, loc, weight, value,
                                        arith::FastMathFlags::contract);
  Value after = arith::AddFOp::create(builder, loc, before, product,
                                      arith::FastMathFlags::contract);
  memref::StoreOp::create(builder, loc, after, into, ValueRange{row, channel});
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
