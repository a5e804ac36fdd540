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

LogicalResult PickOp::verify() {
  if (failed(verifyRow(*this, getSource().getType()))) // C1
    return failure();
  if (getType().getRank() != 1) // C2
    return emitOpError("expected an index with one dim, got ") << getType();
  return success();
}

LogicalResult PatchOp::verify() {
  RankedTensorType dense = getType(), index = getIndex().getType();
  if (index.getRank() > 2) // C1
    return emitOpError("expected an index with one dim or two, got ") << index;
  int64_t tokens = index.getRank() - 1, channels = dense.getRank() - tokens;
  if (channels < 1 || channels > 2 ||
      (tokens && tileDimsOf(index).front() != tileDimsOf(dense).front())) // C2
    return emitOpError("expected a dense tile with ")
           << (tokens ? "the index's first dim, then " : "")
           << "one or two dims of channels, got " << dense;
  return success();
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
