//===- LowerDot.cpp - Choosing the loop nest of kvk.dot -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Dot.h"
#include "kvc/Conversion/KVKToVector/Lowering.h"

using namespace mlir;

namespace kvc {

namespace {

/// Channels that cover a slice and begin and end where words of codes do.
struct Cover {
  int64_t extent;
  Value begin, offset; ///< Of the cover; of the slice in it.
};

Cover coverSlice(Emit &b, Value channel, int64_t slice,
                 const layout::Storage &storage) {
  int64_t channels = layout::extentOf(storage, 'c'),
          word = wordChannels(storage),
          extent = coveringChannels(storage, slice);
  Value begin =
      b.min(b.mul(b.div(channel, word), word), b.index(channels - extent));
  return {extent, begin, b.sub(channel, begin)};
}

void emitTileDot(const Dot &dot, const TileOperand &tile) {
  if (tile.order.kind == TileOrder::Kind::Rows)
    emitRowDot(dot, &tile);
  else
    emitLaneDot(dot, &tile);
}

/// The slice's weights among zeros: the other channels of its words are finite
/// codes, and count for nothing.
Value padWeights(const Dot &dot, const Cover &cover) {
  Emit &b = dot.b;
  Type element = cast<MemRefType>(dot.weights.getType()).getElementType();
  Value padded = b.scratch({dot.rows, cover.extent}, element);
  Value zeros = dot.isInteger
                    ? b.splat(0, Emit::vectorOf(cover.extent, element))
                    : b.splat(0.0, cover.extent);
  b.loop(b.index(0), b.index(dot.rows), 1, [&](Value row) {
    Value zero = b.index(0);
    b.storeVector(zeros, padded, {row, zero});
    b.storeVector(b.loadVector(dot.weights, {row, zero}, dot.depth), padded,
                  {row, cover.offset});
  });
  return padded;
}

/// Scales the slice's lanes of `sums` into the result.
void storeSlice(const Dot &dot, Value sums, const Cover &cover) {
  Emit &b = dot.b;
  int64_t width = std::min<int64_t>(dot.lanes & -dot.lanes, dot.target.lanes());
  b.loop(b.index(0), b.index(dot.lanes), width, [&](Value lane) {
    Value scale = dot.laneScale(lane, width);
    b.loop(b.index(0), b.index(dot.rows), 1, [&](Value row) {
      Value sum = b.loadVector(sums, {row, b.add(cover.offset, lane)}, width);
      dot.store(sum, row, lane, scale);
    });
  });
}

} // namespace

static LogicalResult lowerTileDot(Emit &b, const HostTarget &target,
                                  CacheViews &views, kvk::DotOp op) {
  auto widen = op.getX().getDefiningOp<kvk::WidenOp>();
  auto load =
      widen ? widen.getSource().getDefiningOp<kvk::LoadOp>() : kvk::LoadOp();
  if (!load)
    return op.emitOpError("operand: expected a kvk.widen of a kvk.load");
  Codes codes(widen, target);
  Dot dot(b, target, op, codes.bias, codes.unit);
  auto element = cast<kvk::TileType>(load.getType()).getElementType();
  bool isTokenFree = op.getContract() == "c";
  DotShape shape{
      isTokenFree ? 'c' : 't', isTokenFree ? 't' : 'c',  dot.depth, dot.lanes,
      dot.isInteger,           isa<IntegerType>(element)};
  kvk::LayoutAttr layout = op.getTileType().getLayout();
  if (!layout)
    return op.emitOpError(
        "operand: expected a layout, got none: run kvk-assign-layouts first");
  layout::Storage storage = load.getStorageAttr().getStorage();
  int64_t tokens = shape.extent('t'), page = *load.getPage();
  if (page % tokens != 0 && tokens % page != 0)
    return op.emitOpError("a tile of ")
           << tokens << " tokens neither divides nor is a multiple of pages of "
           << page;
  std::optional<TileReading> reading =
      readTile(storage, shape, layout.getLayout());
  if (!reading)
    return op.emitOpError("no loop nest over '")
           << op.getContract() << "' reads the order " << load.getStorageAttr()
           << " in the layout " << layout;

  if (dot.scaleBlocks && (reading->order.kind != TileOrder::Kind::Rows ||
                          reading->channels != shape.extent('c')))
    return op.emitOpError("lane_scale: a row for each block needs the "
                          "contracted dim on the lanes, and whole words of it");

  HeadRegion region(b, views, load.getCache(), load.getKvHead(),
                    load.getTensor(), layout::RegionKind::Codes, load.getPart(),
                    storage, page);
  auto tileFrom = [&](Value channel) {
    return TileOperand{region,      reading->order,  element,         codes,
                       isTokenFree, load.getToken(), load.getValid(), channel};
  };
  if (reading->channels == shape.extent('c')) {
    emitTileDot(dot, tileFrom(load.getChannel()));
    return success();
  }
  // A slice that cuts words or bytes of codes: the product over its cover.
  Cover cover = coverSlice(b, load.getChannel(), shape.extent('c'), storage);
  if (isTokenFree) {
    emitTileDot(dot.withWeights(padWeights(dot, cover), cover.extent),
                tileFrom(cover.begin));
    return success();
  }
  Value sums = b.scratch({dot.rows, cover.extent}, b.getF32Type());
  emitTileDot(dot.into(sums, cover.extent), tileFrom(cover.begin));
  storeSlice(dot, sums, cover);
  return success();
}

LogicalResult lowerDot(Emit &b, const HostTarget &target, CacheViews &views,
                       kvk::DotOp op) {
  if (op.getTileType())
    return lowerTileDot(b, target, views, op);
  Dot dot(b, target, op, /*bias=*/0, /*unit=*/1);
  if (op.getContract() == "major")
    emitLaneDot(dot, nullptr);
  else
    emitRowDot(dot, nullptr);
  return success();
}

} // namespace kvc
