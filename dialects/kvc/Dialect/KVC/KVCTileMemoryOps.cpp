//===- KVCTileMemoryOps.cpp - Tiles from and to memory --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Verifiers of the level 1 ops that load and store tiles.
//
//===----------------------------------------------------------------------===//

#include "CachePart.h"
#include "MemRefShape.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kvc {

using detail::Extent;
using detail::MemRefShape;
using detail::partOrError;

/// A code in a tile of level 1 has a byte of its own.
constexpr unsigned kTileCodeBits = 8;

static SmallVector<Type, 3> floatTypes(MLIRContext *context) {
  return {Float16Type::get(context), BFloat16Type::get(context),
          Float32Type::get(context)};
}

static SmallVector<Type, 3> f32Only(MLIRContext *context) {
  return {Float32Type::get(context)};
}

static LogicalResult verifyRank(Operation *op, RankedTensorType tile,
                                int64_t rank) {
  if (tile.getRank() != rank)
    return op->emitOpError()
           << "expected a tile with " << rank << (rank == 1 ? " dim" : " dims")
           << ", got " << tile;
  return success();
}

static LogicalResult verifyLastExtent(Operation *op, RankedTensorType tile,
                                      int64_t expected) {
  if (tile.getShape().back() != expected)
    return op->emitOpError()
           << "dim " << vectorDimOf(tile) << " of the tile: expected extent "
           << expected << ", got " << tile.getShape().back();
  return success();
}

static LogicalResult verifyGroup(Operation *op, int64_t group) {
  if (group <= 0)
    return op->emitOpError()
           << "group: expected a positive number, got " << group;
  return success();
}

/// Elements of a tile; saturates, whatever extents the tile has.
static uint64_t countElements(RankedTensorType tile) {
  uint64_t count = 1;
  for (int64_t extent : tile.getShape())
    count = llvm::SaturatingMultiply<uint64_t>(count, extent);
  return count;
}

/// Channels [first, first + count) lie inside `available`.
static LogicalResult verifyChannels(Operation *op, int64_t first,
                                    uint64_t count, int64_t available) {
  if (first < 0 || first > available ||
      count > static_cast<uint64_t>(available - first))
    return op->emitOpError("expected channels inside [0, ")
           << available << "), got " << count << " from " << first;
  return success();
}

/// A memref with leading dims `leading`, plus static dense channels unless the
/// tile is one value per row, and the tile that goes with it.
static LogicalResult verifyRows(Operation *op, MemRefType memref,
                                RankedTensorType tile, ArrayRef<Extent> leading,
                                SmallVector<Type, 3> elements,
                                StringRef rowsName = "channels") {
  bool hasChannels = memref.getRank() > static_cast<int64_t>(leading.size());
  MemRefShape shape{SmallVector<Extent, 3>(leading), std::move(elements)};
  shape.denseInner = hasChannels;
  if (hasChannels)
    shape.extents.push_back(Extent::known(rowsName));
  if (failed(shape.verify(op, "memref", memref))) // C1
    return failure();
  if (failed(verifyRank(op, tile, hasChannels ? 2 : 1))) // C2
    return failure();
  return hasChannels ? verifyLastExtent(op, tile, memref.getShape().back())
                     : success(); // C2
}

//===----------------------------------------------------------------------===//
// Rows in plain memory
//===----------------------------------------------------------------------===//

LogicalResult LoadQueryOp::verify() {
  MemRefType memref = getMemref().getType();
  MemRefShape shape{{Extent::any("queries"), Extent::any("q_heads"),
                     Extent::known("channels")},
                    floatTypes(getContext())};
  if (failed(shape.verify(*this, "memref", memref))) // C1
    return failure();
  if (failed(verifyRank(*this, getType(), 2)) ||
      failed(
          verifyLastExtent(*this, getType(), memref.getShape().back()))) // C2
    return failure();
  return verifyGroup(*this, getGroup()); // C3
}

LogicalResult LoadRowValuesOp::verify() {
  MemRefShape shape{{Extent::any("q_heads")}, f32Only(getContext())};
  if (failed(shape.verify(*this, "memref", getMemref()))) // C1
    return failure();
  if (failed(verifyRank(*this, getType(), 1))) // C2
    return failure();
  return verifyGroup(*this, getGroup()); // C3
}

LogicalResult LoadPartialOp::verify() {
  return verifyRows(*this, getMemref().getType(), getType(),
                    {Extent::any("splits"), Extent::any("rows")},
                    f32Only(getContext())); // C1, C2
}

LogicalResult StorePartialOp::verify() {
  MemRefType memref = getMemref().getType();
  RankedTensorType tile = getSource().getType();
  bool hasChannels = memref.getRank() > 1;
  MemRefShape shape{{Extent::any("rows")}, f32Only(getContext())};
  shape.denseInner = hasChannels;
  if (hasChannels)
    shape.extents.push_back(Extent::known("channels"));
  if (failed(shape.verify(*this, "memref", memref))) // C1
    return failure();
  if (failed(verifyRank(*this, tile, hasChannels ? 2 : 1))) // C2
    return failure();
  return verifyChannels(*this, static_cast<int64_t>(getChannel()),
                        hasChannels ? tile.getShape().back() : 0,
                        hasChannels ? memref.getShape().back() : 0); // C2
}

LogicalResult StoreOutputOp::verify() {
  if (failed(verifyRows(*this, getMemref().getType(), getSource().getType(),
                        {Extent::any("queries"), Extent::any("q_heads")},
                        floatTypes(getContext())))) // C1, C2
    return failure();
  return verifyGroup(*this, getGroup()); // C3
}

LogicalResult LoadInputOp::verify() {
  MemRefType memref = getMemref().getType();
  MemRefShape shape{{Extent::any("tokens"), Extent::any("kv_heads"),
                     Extent::known("channels")},
                    floatTypes(getContext())};
  if (failed(shape.verify(*this, "memref", memref))) // C1
    return failure();
  if (failed(verifyRank(*this, getType(), 2))) // C2
    return failure();
  return verifyChannels(*this, static_cast<int64_t>(getChannel()),
                        countElements(getType()),
                        memref.getShape().back()); // C2
}

LogicalResult StoreRowsOp::verify() {
  RankedTensorType tile = getSource().getType();
  MemRefShape shape{{Extent::any("tokens"), Extent::known("columns")},
                    {tile.getElementType()}};
  if (failed(shape.verify(*this, "memref", getMemref()))) // C1
    return failure();
  int64_t columns = getMemref().getType().getShape().back();
  if (tile.getRank() == 1 && columns == 1) // C2
    return success();
  if (failed(verifyRank(*this, tile, 2))) // C2
    return failure();
  return verifyLastExtent(*this, tile, columns); // C2
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

static LogicalResult verifyHasScale(Operation *op,
                                    const spec::PartScheme &part) {
  if (!part.scale)
    return op->emitOpError() << "the part has no scale, its codec is "
                             << spec::codecName(part.codec);
  if (part.hasStaticScale())
    return op->emitOpError() << "the part's scale is static: no page has it";
  return success();
}

static LogicalResult verifyHasZero(Operation *op,
                                   const spec::PartScheme &part) {
  if (part.zero == spec::Zero::None)
    return op->emitOpError() << "the part has no zero";
  return success();
}

static bool isChannels(StringRef dim) { return dim == "c" || dim == "d"; }

/// <t, b>, or <t> where there is one block; <t, c> or <c>.
static LogicalResult verifyFactorTile(Operation *op, RankedTensorType tile,
                                      const spec::PartScheme &part) {
  if (isChannels(vectorDimOf(tile)) && tile.getRank() <= 2)
    return verifyLastExtent(op, tile, part.channels());
  if (tile.getRank() == 1 && part.blocks() == 1)
    return success();
  if (failed(verifyRank(op, tile, 2)))
    return failure();
  return verifyLastExtent(op, tile, part.blocks());
}

LogicalResult LoadCodesOp::verify() {
  const spec::PartScheme *part = partOrError(*this);
  if (!part) // C1
    return failure();
  if (failed(verifyRank(*this, getType(), 2)) ||
      failed(verifyLastExtent(*this, getType(), part->channels()))) // C2
    return failure();
  return detail::verifyCodeElement(*this, getType().getElementType(), *part,
                                   kTileCodeBits); // C3
}

LogicalResult LoadScaleOp::verify() {
  const spec::PartScheme *part = partOrError(*this);
  if (!part || failed(verifyHasScale(*this, *part))) // C1, C2
    return failure();
  return verifyFactorTile(*this, getType(), *part); // C3
}

LogicalResult LoadZeroOp::verify() {
  const spec::PartScheme *part = partOrError(*this);
  if (!part || failed(verifyHasZero(*this, *part))) // C1, C2
    return failure();
  return verifyFactorTile(*this, getType(), *part); // C3
}

LogicalResult LoadSchemeOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getType());
  if (tile && failed(verifyRank(*this, tile, 1))) // C3
    return failure();
  return detail::verifySchemeInput(*this, "tile"); // C1, C2, C3
}

LogicalResult StoreCodesOp::verify() {
  const spec::PartScheme *part = partOrError(*this);
  if (!part) // C1
    return failure();
  RankedTensorType tile = getSource().getType();
  if (failed(verifyRank(*this, tile, 2))) // C2
    return failure();
  uint64_t channels = countElements(tile) / extentOf(tile, "t");
  if (channels != static_cast<uint64_t>(part->channels())) // C2
    return emitOpError("expected a tile of ")
           << part->channels() << " channels, got " << channels;
  return detail::verifyCodeElement(*this, tile.getElementType(), *part,
                                   kTileCodeBits); // C3
}

LogicalResult StoreScaleOp::verify() {
  const spec::PartScheme *part = partOrError(*this);
  if (!part || failed(verifyHasScale(*this, *part))) // C1, C2
    return failure();
  if (failed(verifyRank(*this, getSource().getType(), 1))) // C3
    return failure();
  return verifyLastExtent(*this, getSource().getType(), part->blocks()); // C3
}

LogicalResult StoreZeroOp::verify() {
  const spec::PartScheme *part = partOrError(*this);
  if (!part || failed(verifyHasZero(*this, *part))) // C1, C2
    return failure();
  if (failed(verifyRank(*this, getSource().getType(), 1))) // C3
    return failure();
  return verifyLastExtent(*this, getSource().getType(), part->blocks()); // C3
}

} // namespace kvc
