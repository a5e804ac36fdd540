//===- LowerDot.cpp - Choosing the loop nest of kvk.dot -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Dot.h"
#include "kvc/Conversion/KVKToVector/Lowering.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

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
  int64_t channels = layout::extentOf(storage.addr, 'c'), word = 8;
  if (channels % (32 / storage.width) == 0)
    word = std::max<int64_t>(word, 32 / storage.width);
  // A slice begins at a multiple of its extent.
  int64_t furthest = word - std::gcd(slice, word);
  auto extent = int64_t(llvm::alignTo(slice + furthest, word));
  extent = std::min(extent, channels);
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
  Dot dot(b, target, op, widen.getBias());
  bool isTokenFree = op.getContract() == "c";
  layout::Storage storage = load.getStorage().getStorage();
  int64_t tokens = isTokenFree ? dot.lanes : dot.depth, page = load.getPage();
  if (page % tokens != 0 && tokens % page != 0)
    return op.emitOpError("a tile of ")
           << tokens << " tokens neither divides nor is a multiple of pages of "
           << page;
  auto orderOf = [&](int64_t depth, int64_t lanes) {
    return isTokenFree
               ? tileOrder(storage, 'c', 't', dot.isInteger, depth, lanes)
               : tileOrder(storage, 't', 'c', dot.isInteger, depth, lanes);
  };
  HeadRegion region(b, views, load.getCache(), load.getKvHead(),
                    load.getTensor(), layout::RegionKind::Codes, storage, page);
  auto element = cast<kvk::TileType>(load.getType()).getElementType();
  auto tileOf = [&](const TileOrder &order, Value channel) {
    return TileOperand{
        region,      order,           element,         int64_t(widen.getBias()),
        isTokenFree, load.getToken(), load.getValid(), channel};
  };
  if (auto order = orderOf(dot.depth, dot.lanes)) {
    emitTileDot(dot, tileOf(*order, load.getChannel()));
    return success();
  }
  // A slice that cuts words or bytes of codes: the product over its cover.
  if (isa<IntegerType>(element)) {
    Cover cover = coverSlice(b, load.getChannel(),
                             isTokenFree ? dot.depth : dot.lanes, storage);
    auto order = isTokenFree ? orderOf(cover.extent, dot.lanes)
                             : orderOf(dot.depth, cover.extent);
    // Runs begin at multiples of their extent; a cover does not.
    if (order && order->kind != TileOrder::Kind::Words && !order->isWholeRun)
      order.reset();
    if (order && isTokenFree) {
      emitTileDot(dot.withWeights(padWeights(dot, cover), cover.extent),
                  tileOf(*order, cover.begin));
      return success();
    }
    if (order) {
      Value sums = b.scratch({dot.rows, cover.extent}, b.getF32Type());
      emitTileDot(dot.into(sums, cover.extent), tileOf(*order, cover.begin));
      storeSlice(dot, sums, cover);
      return success();
    }
  }
  return op.emitOpError("no loop nest over '")
         << op.getContract() << "' reads the order " << load.getStorage()
         << " with " << dot.depth << " x " << dot.lanes
         << " elements: dequantise it into a panel";
}

LogicalResult lowerDot(Emit &b, const HostTarget &target, CacheViews &views,
                       kvk::DotOp op) {
  if (op.getTileType())
    return lowerTileDot(b, target, views, op);
  Dot dot(b, target, op, /*bias=*/0);
  if (op.getContract() == "major")
    emitLaneDot(dot, nullptr);
  else
    emitRowDot(dot, nullptr);
  return success();
}

} // namespace kvc
