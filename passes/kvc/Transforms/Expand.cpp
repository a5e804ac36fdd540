//===- Expand.cpp - Level 0 to level 1 ------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The pass kvc-expand. Each level-0 op has its pattern family in a file of its
// own; here is what they share: specs that are not lowered yet are refused
// before anything is rewritten, so that the patterns meet only what they know.
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

/// Says at `op` why its spec is not lowered yet, if so.
WalkResult checkSupported(Operation *op, SpecAttr attr) {
  const char *reason = spec::unsupportedReason(attr.getSpec());
  if (!reason)
    return WalkResult::advance();
  op->emitOpError() << reason;
  return WalkResult::interrupt();
}

WalkResult checkScheduled(Operation *op, bool isScheduled) {
  if (isScheduled)
    return WalkResult::advance();
  op->emitOpError("has no tile sizes: run kvc-schedule first");
  return WalkResult::interrupt();
}

struct ExpandPass : kvc::impl::ExpandBase<ExpandPass> {
  void runOnOperation() override {
    WalkResult supported = getOperation().walk([](Operation *op) {
      return TypeSwitch<Operation *, WalkResult>(op)
          .Case<AttendOp, AppendOp, UnpackOp>([](auto op) {
            return checkSupported(op, op.getCache().getType().getSpecAttr());
          })
          .Case([](MergeOp op) { return checkSupported(op, op.getSpec()); })
          .Default(WalkResult::advance());
    });
    if (supported.wasInterrupted())
      return signalPassFailure();
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
