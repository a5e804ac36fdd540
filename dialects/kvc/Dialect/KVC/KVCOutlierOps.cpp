//===- KVCOutlierOps.cpp - Channels kept apart ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "CachePart.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"

using namespace mlir;

namespace kvc {

/// <b, e> with one block, or <t, c> with one token.
static LogicalResult verifyRow(Operation *op, RankedTensorType tile) {
  if (tile.getRank() != 2 || tile.getDimSize(0) != 1)
    return op->emitOpError("expected a source of one row of channels, got ")
           << tile;
  return success();
}

LogicalResult FindOutliersOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  if (failed(verifyRow(*this, source))) // C1
    return failure();
  if (result.getRank() != 1 ||
      result.getDimSize(0) >= source.getDimSize(1)) // C2
    return emitOpError("expected fewer channels than the ")
           << source.getDimSize(1) << " of the source in one dim, got "
           << result;
  return success();
}

/// <t, o> or <o>.
static LogicalResult verifyIndex(Operation *op, RankedTensorType index) {
  if (index.getRank() > 2)
    return op->emitOpError("expected an index with one dim or two, got ")
           << index;
  return success();
}

LogicalResult PickOp::verify() {
  RankedTensorType source = getSource().getType(), index = getType();
  if (failed(verifyIndex(*this, index))) // C1
    return failure();
  SmallVector<TileDim> dims = tileDimsOf(source);
  for (const TileDim &dim : ArrayRef(dims).drop_back())
    if (dim.second != 1 &&
        (index.getRank() == 1 || dim != tileDimsOf(index).front())) // C2
      return emitOpError("expected a source with dims of the index or of one "
                         "element before its last, got ")
             << source;
  return success();
}

void PatchOp::build(OpBuilder &builder, OperationState &state, Value dense,
                    Value index, Value value) {
  build(builder, state, dense, index, value, PlaceAttr());
}

LogicalResult PatchOp::verify() {
  RankedTensorType dense = getType(), index = getIndex().getType();
  if (failed(verifyIndex(*this, index))) // C1
    return failure();
  int64_t tokens = index.getRank() - 1, channels = dense.getRank() - tokens;
  if (channels < 1 || channels > 2 ||
      (tokens && tileDimsOf(index).front() != tileDimsOf(dense).front())) // C2
    return emitOpError("expected a dense tile with ")
           << (tokens ? "the index's first dim, then " : "")
           << "one or two dims of channels, got " << dense;
  return success();
}

/// `wide` has the first dim of `rows`, then that of `index`; all have two dims.
static LogicalResult verifySparseDot(Operation *op, StringRef name,
                                     RankedTensorType wide,
                                     RankedTensorType rows,
                                     RankedTensorType index) {
  for (RankedTensorType tile : {wide, rows, index})
    if (tile.getRank() != 2) // C1
      return op->emitOpError("expected tiles of two dims, got ") << tile;
  SmallVector<TileDim> expected = {tileDimsOf(rows).front(),
                                   tileDimsOf(index).front()};
  if (tileDimsOf(wide) != expected) // C2
    return op->emitOpError("expected ")
           << name << " of " << expected[0].second << " rows and "
           << expected[1].second << " tokens, got " << wide;
  return success();
}

LogicalResult GatherDotOp::verify() {
  return verifySparseDot(*this, "a result", getType(), getRows().getType(),
                         getIndex().getType());
}

LogicalResult ScatterDotOp::verify() {
  return verifySparseDot(*this, "rows", getRows().getType(), getType(),
                         getIndex().getType());
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

/// A tile of `rank` dims whose last one is the part's outliers.
template <typename Op>
static LogicalResult verifyOutliers(Op op, RankedTensorType tile,
                                    int64_t rank) {
  const spec::PartScheme *part = detail::partOrError(op);
  if (!part) // C1
    return failure();
  if (part->outliers == 0) // C2
    return op.emitOpError("the part has no outliers");
  if (tile.getRank() != rank || tile.getShape().back() != part->outliers) // C3
    return op.emitOpError("expected a tile of ")
           << rank << (rank == 1 ? " dim" : " dims") << " that ends in "
           << part->outliers << " outliers, got " << tile;
  return success();
}

LogicalResult LoadOutlierIndicesOp::verify() {
  return verifyOutliers(*this, getType(), /*rank=*/2);
}
LogicalResult LoadOutlierValuesOp::verify() {
  return verifyOutliers(*this, getType(), /*rank=*/2);
}
LogicalResult StoreOutlierIndicesOp::verify() {
  return verifyOutliers(*this, getSource().getType(), /*rank=*/1);
}
LogicalResult StoreOutlierValuesOp::verify() {
  return verifyOutliers(*this, getSource().getType(), /*rank=*/1);
}

} // namespace kvc
