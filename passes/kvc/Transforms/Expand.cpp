//===- Expand.cpp - Level 0 to level 1 ------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The pass kvc-expand. Each level-0 op has its pattern family in a file of its
// own; here is what they share: ops without tile sizes are refused before
// anything is rewritten.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Transforms/ExpandPatterns.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kvc {

#define GEN_PASS_DEF_EXPAND
#include "kvc/Transforms/Passes.h.inc"

} // namespace kvc

using namespace mlir;
using namespace kvc;

namespace {

WalkResult checkScheduled(Operation *op, bool isScheduled) {
  if (isScheduled)
    return WalkResult::advance();
  op->emitOpError("has no tile sizes: run kvc-schedule first");
  return WalkResult::interrupt();
}

struct ExpandPass : kvc::impl::ExpandBase<ExpandPass> {
  void runOnOperation() override {
    WalkResult scheduled = getOperation().walk([](Operation *op) {
      return TypeSwitch<Operation *, WalkResult>(op)
          .Case([](AttendOp op) {
            return checkScheduled(op, op.getTileRows() && op.getTileTokens());
          })
          .Case([](MergeOp op) {
            return checkScheduled(op, op.getTileRows().has_value());
          })
          .Default(WalkResult::advance());
    });
    if (scheduled.wasInterrupted())
      return signalPassFailure();

    RewritePatternSet patterns(&getContext());
    populateExpandAttendPatterns(patterns);
    populateExpandAppendPatterns(patterns);
    populateExpandMergePatterns(patterns);
    populateExpandUnpackPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
