//===- AssignLayouts.cpp - Which elements of operands lie on lanes --------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Candidates have the free dim on the lanes, or the contracted one. The first
// is cheaper wherever the storage delivers it: no sum crosses lanes, and each
// loaded vector meets all rows of weights. A slice of channels that cuts words
// of codes is read with the channels around it, so an orientation that needs no
// such cover goes first.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/TileOrder.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Dialect/KVK/KVKOps.h"
#include "kvc/Remark.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "kvc/Transforms/Passes.h.inc"

namespace {

struct Candidate {
  layout::RegisterLayout layout;
  TileReading reading;
};

StringRef nameOf(layout::Dim dim) { return dim == 't' ? "tokens" : "channels"; }

class AssignLayouts : public impl::AssignLayoutsBase<AssignLayouts> {
public:
  using Base::Base;

  void runOnOperation() override {
    explained.clear();
    WalkResult result = getOperation().walk([&](kvk::DotOp dot) {
      return failed(assign(dot)) ? WalkResult::interrupt()
                                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult assign(kvk::DotOp dot) {
    kvk::TileType tile = dot.getTileType();
    if (!tile) // A panel.
      return success();
    auto widen = dot.getX().getDefiningOp<kvk::WidenOp>();
    auto load =
        widen ? widen.getSource().getDefiningOp<kvk::LoadOp>() : kvk::LoadOp();
    if (!load)
      return dot.emitOpError("operand: expected a kvk.widen of a kvk.load");
    if (!load.getStorageAttr())
      return load.emitOpError("storage: expected it, got none: run "
                              "kvk-derive-storage first");
    bool isTokenFree = dot.getContract() == "c";
    DotShape shape{isTokenFree ? 'c' : 't',
                   isTokenFree ? 't' : 'c',
                   dot.getDepth(),
                   dot.getNumLanes(),
                   tile.getElementType().isInteger(16),
                   isa<IntegerType>(load.getType().getElementType())};
    layout::Storage storage = load.getStorageAttr().getStorage();

    std::optional<Candidate> chosen;
    bool isGiven(tile.getLayout());
    if (isGiven) {
      layout::RegisterLayout given = tile.getLayout().getLayout();
      if (auto reading = readTile(storage, shape, given))
        chosen = {std::move(given), *std::move(reading)};
    } else {
      chosen = choose(storage, shape);
    }
    if (!chosen) {
      InFlightDiagnostic error =
          dot.emitOpError("no loop nest over '")
          << dot.getContract() << "' reads the order " << load.getStorageAttr()
          << " with " << shape.depth << " x " << shape.lanes << " elements";
      if (isGiven)
        return error << " in the layout " << tile.getLayout();
      return error << ": dequantise it into a panel";
    }
    widen.getResult().setType(kvk::TileType::get(
        tile.getShape(), tile.getElementType(), tile.getDims(),
        kvk::LayoutAttr::get(&getContext(), chosen->layout)));
    // A second dot over the same operand finds what the first was given.
    if (remarks && explained.insert(widen).second)
      explain(dot, stringifyTensor(load.getTensor()), shape, *chosen, isGiven);
    return success();
  }

  llvm::SmallPtrSet<Operation *, 4> explained;

  static std::optional<Candidate> choose(const layout::Storage &storage,
                                         const DotShape &shape) {
    std::optional<Candidate> covered;
    for (layout::Dim onLanes : {shape.free, shape.contracted}) {
      auto layout = operandLayout(storage, shape, onLanes);
      if (!layout)
        continue;
      auto reading = readTile(storage, shape, *layout);
      if (reading->channels == shape.extent('c'))
        return Candidate{*std::move(layout), *std::move(reading)};
      if (!covered)
        covered = {*std::move(layout), *std::move(reading)};
    }
    return covered;
  }

  static void explain(kvk::DotOp dot, StringRef tensor, const DotShape &shape,
                      const Candidate &chosen, bool isGiven) {
    layout::Dim onLanes = lanesOf(chosen.layout, shape);
    InFlightDiagnostic remark = emitChoice(dot);
    remark << tensor << " operand: " << nameOf(onLanes) << " on lanes"
           << (isGiven ? " as asked" : "")
           << (onLanes == shape.free ? ", no sum crosses lanes"
                                     : ", as they lie in memory: sums cross "
                                       "lanes at the end")
           << "; digits " << layout::str(chosen.layout);
    if (chosen.reading.order.kind == TileOrder::Kind::Words)
      remark << "; words of " << chosen.reading.order.group << " codes";
    if (chosen.reading.channels != shape.extent('c'))
      remark << "; reads " << chosen.reading.channels << " channels for "
             << shape.extent('c');
  }
};

} // namespace

} // namespace kvc
