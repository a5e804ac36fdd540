//===- LowerDot.cpp - Choosing the loop nest of kvk.dot -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Dot.h"
#include "kvc/Conversion/KVKToVector/Lowering.h"

using namespace mlir;

namespace kvc {

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
  layout::Dim contracted = isTokenFree ? 'c' : 't',
              free = isTokenFree ? 't' : 'c';
  std::optional<TileOrder> order =
      tileOrder(storage, contracted, free, dot.isInteger, dot.depth, dot.lanes);
  if (!order)
    return op.emitOpError("no loop nest over '")
           << op.getContract() << "' reads the order " << load.getStorage()
           << " with " << dot.depth << " x " << dot.lanes
           << " elements: dequantise it into a panel";
  int64_t tokens = isTokenFree ? dot.lanes : dot.depth, page = load.getPage();
  if (page % tokens != 0 && tokens % page != 0)
    return op.emitOpError("a tile of ")
           << tokens << " tokens neither divides nor is a multiple of pages of "
           << page;
  HeadRegion region(b, views, load.getCache(), load.getKvHead(),
                    load.getTensor(), layout::RegionKind::Codes, storage, page);
  auto element = cast<kvk::TileType>(load.getType()).getElementType();
  TileOperand tile{
      region,      *order,          element,         int64_t(widen.getBias()),
      isTokenFree, load.getToken(), load.getValid(), load.getChannel()};
  if (order->kind == TileOrder::Kind::Rows)
    emitRowDot(dot, &tile);
  else
    emitLaneDot(dot, &tile);
  return success();
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
