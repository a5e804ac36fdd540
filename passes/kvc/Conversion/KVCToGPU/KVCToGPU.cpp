//===- KVCToGPU.cpp - Tiles to the registers of a warp --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVCToGPU/WarpLowering.h"
#include "kvc/Conversion/KernelForm.h"
#include "kvc/Conversion/Passes.h"
#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Dialect/KVK/KVKDialect.h"
#include "kvc/Dialect/KVK/KVKTypes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kvc {
#define GEN_PASS_DEF_CONVERTKVCTOGPU
#include "kvc/Conversion/Passes.h.inc"
} // namespace kvc

using namespace mlir;

namespace {

class ConvertKVCToGPU : public kvc::impl::ConvertKVCToGPUBase<ConvertKVCToGPU> {
public:
  using Base::Base;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal() &&
          (failed(kvc::requireKernelForm(func)) || failed(requireLanes(func)) ||
           failed(kvc::WarpLowering(func, {hasFloat8}).run())))
        return signalPassFailure();
  }

private:
  /// Each tile says which of its elements a lane has.
  static LogicalResult requireLanes(func::FuncOp func) {
    if (func.getNumResults() != 0)
      return func.emitOpError("expected a kernel, which has no results, got ")
             << func.getResultTypes();
    WalkResult result = func.walk([](Operation *op) {
      auto layouts = op->getAttrOfType<ArrayAttr>(
          kvc::kvk::KVKDialect::getLayoutsAttrName());
      for (OpResult value : op->getResults()) {
        bool hasLayout =
            !kvc::isTile(value.getType()) ||
            (layouts && value.getResultNumber() < layouts.size() &&
             isa<kvc::kvk::LayoutAttr>(layouts[value.getResultNumber()]));
        if (auto codes = dyn_cast<kvc::kvk::TileType>(value.getType()))
          hasLayout = bool(codes.getLayout());
        if (!hasLayout) {
          op->emitOpError("expected a tile whose elements lie on lanes, which "
                          "kvk-assign-lanes says, got ")
              << value.getType();
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
