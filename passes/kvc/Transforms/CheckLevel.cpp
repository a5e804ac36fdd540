//===- CheckLevel.cpp - Refuse kernels of another level -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A pass that finds none of its ops has nothing to do and says so by leaving
// the module as it is. Behind a name like "the stage that makes level 2" that
// would hide a mistake, so pipelines ask first.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVK/KVKDialect.h"
#include "kvc/Dialect/KVK/KVKOps.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_CHECKLEVEL
#include "kvc/Transforms/Passes.h.inc"

namespace {

/// The levels at which an op may stand.
struct Levels {
  int64_t lowest, highest;
};

/// Before level 0: kernels are to be made.
constexpr int64_t kSpec = -1;
/// The LLVM dialect behind the kernel ABI.
constexpr int64_t kEntries = 5;

class CheckLevel : public impl::CheckLevelBase<CheckLevel> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (lowest < 0 || highest > kEntries || lowest > highest) {
      module.emitError("options 'lowest' and 'highest': expected 0 <= lowest "
                       "<= highest <= 5, got ")
          << int64_t(lowest) << " and " << int64_t(highest);
      return signalPassFailure();
    }
    for (Operation &op : module.getBody()->getOperations()) {
      const bool isRight = isa<AttentionSpecOp>(op) ? check(&op, {kSpec, kSpec})
                                                    : checkFunction(&op);
      if (!isRight)
        return signalPassFailure();
    }
  }

private:
  bool checkFunction(Operation *function) {
    bool hasLevel = false;
    WalkResult result = function->walk([&](Operation *op) {
      std::optional<Levels> levels = levelsOf(op);
      if (!levels)
        return WalkResult::advance();
      hasLevel = true;
      return check(op, *levels) && checkTarget(op) ? WalkResult::advance()
                                                   : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return false;
    // A kernel of upstream ops has left the tiles behind.
    auto kernel = dyn_cast<FunctionOpInterface>(function);
    if (hasLevel || !kernel || kernel.isExternal() ||
        !function->hasAttr(KVCDialect::getKernelAttrName()) ||
        kernel.getFunctionBody().front().getOperations().size() <= 1)
      return true;
    return check(function, isa<func::FuncOp>(function)
                               ? Levels{warps ? 4 : 3, 4}
                               : Levels{kEntries, kEntries});
  }

  /// What kvc's own ops and tiles say; other ops stand at any level.
  std::optional<Levels> levelsOf(Operation *op) const {
    if (isa<AttendOp, AppendOp, MergeOp, UnpackOp>(op))
      return Levels{0, 0};
    if (isa<DequantizeOp>(op))
      return Levels{1, 1};
    if (isa<ContractOp>(op))
      return Levels{1, 2};
    if (isa_and_nonnull<kvk::KVKDialect>(op->getDialect()))
      return Levels{3, 3};
    if (isa<RawRowsOp, CodedEndOp>(op))
      return Levels{1, 3};
    // Upstream ops on tiles have one of kvc's beside them, and those of kvc's
    // that take no tiles stand at level 4 too.
    if (!isa_and_nonnull<KVCDialect>(op->getDialect()))
      return std::nullopt;
    const auto isOfTiles = [](Type type) { return isTile(type); };
    if (llvm::any_of(op->getResultTypes(), isOfTiles) ||
        llvm::any_of(op->getOperandTypes(), isOfTiles))
      return Levels{1, warps ? 3 : 2};
    return std::nullopt;
  }

  bool check(Operation *op, Levels levels) {
    if (levels.highest >= lowest && levels.lowest <= highest)
      return true;
    InFlightDiagnostic error = op->emitOpError("level: expected ");
    print(error, {lowest, highest});
    error << ", got ";
    print(error, levels);
    if (levels.highest < lowest)
      error << ": run " << passFrom(levels.highest) << " first";
    return false;
  }

  /// Level 3 has ops for hosts, ops for GPUs, and few for both.
  bool checkTarget(Operation *op) {
    if (!isa_and_nonnull<kvk::KVKDialect>(op->getDialect()) ||
        isa<kvk::LoadOp, kvk::WidenOp>(op) ||
        isa<kvk::MmaOp, kvk::ConvertLayoutOp>(op) == warps)
      return true;
    op->emitOpError("level 3: expected it for ")
        << (warps ? "GPUs, got it for hosts" : "hosts, got it for GPUs");
    return false;
  }

  static void print(InFlightDiagnostic &error, Levels levels) {
    if (levels.lowest == kSpec) {
      error << "a spec";
      return;
    }
    error << levels.lowest;
    if (levels.lowest != levels.highest)
      error << (levels.lowest + 1 == levels.highest ? " or " : " to ")
            << levels.highest;
  }

  /// What leads from a level to the next.
  StringRef passFrom(int64_t level) const {
    constexpr StringRef hosts[] = {
        "kvc-create-kernels",    "kvc-expand",
        "kvc-apply-placement",   "convert-kvc-to-kvk",
        "convert-kvk-to-vector", "convert-kernel-abi"};
    constexpr StringRef gpus[] = {"kvc-create-kernels",  "kvc-expand",
                                  "kvc-apply-placement", "kvk-form-mma",
                                  "convert-kvc-to-gpu",  "convert-kernel-abi"};
    return (warps ? gpus : hosts)[level - kSpec];
  }
};

} // namespace

} // namespace kvc
