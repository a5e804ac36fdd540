//===- Scratch.cpp - Scratch memory, and views of it ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

/// A cache line and a full AVX-512 register.
constexpr int64_t kScratchAlignmentBytes = 64;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Converter::newScratch(MemRefType type) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  return memref::AllocaOp::create(
      builder, function.getLoc(), type,
      builder.getI64IntegerAttr(kScratchAlignmentBytes));
}

Value Converter::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, function.getLoc(), value);
}

void Converter::forChunks(
    int64_t extent, llvm::function_ref<void(Value begin, int64_t lanes)> body) {
  int64_t lanes = chunkLanes(extent);
  if (lanes == extent)
    return body(index(0), lanes);
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(builder, function.getLoc(), index(0),
                                 index(extent), index(lanes));
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar(), lanes);
}

void Converter::forVectors(
    MemRefType type,
    llvm::function_ref<void(VectorType vector, ValueRange at)> body) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> indices;
  for (int64_t extent : type.getShape().drop_back()) {
    auto loop = scf::ForOp::create(builder, function.getLoc(), index(0),
                                   index(extent), index(1));
    builder.setInsertionPointToStart(loop.getBody());
    indices.push_back(loop.getInductionVar());
  }
  forChunks(type.getShape().back(), [&](Value begin, int64_t lanes) {
    indices.push_back(begin);
    body(VectorType::get({lanes}, type.getElementType()), indices);
  });
}

void Converter::fill(Value scratch, TypedAttr element) {
  forVectors(cast<MemRefType>(scratch.getType()), [&](VectorType vector,
                                                      ValueRange at) {
    Value splat = arith::ConstantOp::create(
        builder, function.getLoc(), SplatElementsAttr::get(vector, element));
    vector::StoreOp::create(builder, function.getLoc(), splat, scratch, at);
  });
}

void Converter::copy(Value from, Value to) {
  forVectors(cast<MemRefType>(to.getType()), [&](VectorType vector,
                                                 ValueRange at) {
    Value moved =
        vector::LoadOp::create(builder, function.getLoc(), vector, from, at);
    vector::StoreOp::create(builder, function.getLoc(), moved, to, at);
  });
}

Value Converter::scratchOf(Value tile) {
  TileValue &value = tiles[tile];
  if (value.scratch)
    return value.scratch;
  Value scratch = newScratch(TileShape::of(tile.getType()).scratchType());
  if (value.splat)
    fill(scratch, value.splat);
  else
    vector::StoreOp::create(builder, tile.getLoc(), value.vector, scratch,
                            ValueRange{index(0)});
  value.scratch = scratch;
  return scratch;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// rows[r] *= alpha[r] where alpha[r] is not 1 (it mostly is: maxima settle
/// early).
void Converter::rescaleRows(Value rows, Value alpha) {
  Location loc = function.getLoc();
  rows = flatRows(rows);
  auto type = cast<MemRefType>(rows.getType());
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(builder, loc, index(0),
                                 index(type.getDimSize(0)), index(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  Value factor = memref::LoadOp::create(builder, loc, alpha, ValueRange{row});
  Value one =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1));
  Value moved = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                      factor, one);
  auto branch =
      scf::IfOp::create(builder, loc, moved, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  forChunks(type.getDimSize(1), [&](Value begin, int64_t lanes) {
    auto vectorType = VectorType::get({lanes}, type.getElementType());
    SmallVector<Value> at{row, begin};
    Value old = vector::LoadOp::create(builder, loc, vectorType, rows, at);
    Value scaled = arith::MulFOp::create(
        builder, loc, old,
        vector::BroadcastOp::create(builder, loc, vectorType, factor));
    vector::StoreOp::create(builder, loc, scaled, rows, at);
  });
}

/// Rows [first, T) become zero: a probability of 0 must not meet a NaN.
void Converter::zeroRowsFrom(Value panel, Value first) {
  Location loc = function.getLoc();
  auto type = cast<MemRefType>(panel.getType());
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(builder, loc, first, index(type.getDimSize(0)),
                                 index(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  forChunks(type.getDimSize(1), [&](Value begin, int64_t lanes) {
    auto vectorType = VectorType::get({lanes}, type.getElementType());
    Value zero = arith::ConstantOp::create(builder, loc,
                                           builder.getZeroAttr(vectorType));
    vector::StoreOp::create(builder, loc, zero, panel, ValueRange{row, begin});
  });
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Scratch [R][B][E] as [R][B*E].
Value Converter::flatRows(Value scratch) {
  if (cast<MemRefType>(scratch.getType()).getRank() == 2)
    return scratch;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(scratch.getDefiningOp());
  return memref::CollapseShapeOp::create(
      builder, function.getLoc(), scratch,
      ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

/// Scratch [R][C] as [R][B][E].
Value Converter::expandRows(Value scratch, MemRefType type) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(scratch.getDefiningOp());
  return memref::ExpandShapeOp::create(
      builder, function.getLoc(), type, scratch,
      ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

/// Slice b of dim 1 of [R][B][N]: memref<RxN>.
Value Converter::blockOf(Value scratch, Value block) {
  auto type = cast<MemRefType>(scratch.getType());
  SmallVector<OpFoldResult> offsets{builder.getIndexAttr(0), block,
                                    builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{builder.getIndexAttr(type.getDimSize(0)),
                                  builder.getIndexAttr(1),
                                  builder.getIndexAttr(type.getDimSize(2))};
  SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(0), type.getDimSize(2)}, type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, function.getLoc(),
                                   cast<MemRefType>(sliced), scratch, offsets,
                                   sizes, strides);
}

/// Row b of [B][N]: memref<N>.
Value Converter::rowOf(Value scratch, Value row) {
  auto type = cast<MemRefType>(scratch.getType());
  SmallVector<OpFoldResult> offsets{row, builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{builder.getIndexAttr(1),
                                  builder.getIndexAttr(type.getDimSize(1))};
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(1)}, type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, function.getLoc(),
                                   cast<MemRefType>(sliced), scratch, offsets,
                                   sizes, strides);
}

/// Elements [first, first + count) of the last dim.
Value Converter::columnsOf(Value scratch, OpFoldResult first, int64_t count) {
  auto type = cast<MemRefType>(scratch.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      sizes, strides(type.getRank(), builder.getIndexAttr(1));
  for (int64_t extent : type.getShape())
    sizes.push_back(builder.getIndexAttr(extent));
  offsets.back() = first;
  sizes.back() = builder.getIndexAttr(count);
  return memref::SubViewOp::create(builder, function.getLoc(), scratch, offsets,
                                   sizes, strides);
}

} // namespace kvc
