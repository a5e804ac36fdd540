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
#include "kvc/Dialect/KVK/KVKOps.h"
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
  static bool liesOnLanes(OpResult value) {
    Operation *op = value.getOwner();
    if (auto codes = dyn_cast<kvc::kvk::TileType>(value.getType())) {
      auto load = dyn_cast<kvc::kvk::LoadOp>(op);
      if (load && (!load.getStorageAttr() || !load.getPage()))
        return false;
      // What widens codes says where they lie.
      return codes.getLayout() ||
             (load &&
              llvm::any_of(op->getUsers(), llvm::IsaPred<kvc::kvk::WidenOp>));
    }
    if (!kvc::isTile(value.getType()))
      return true;
    auto layouts = op->getAttrOfType<ArrayAttr>(
        kvc::kvk::KVKDialect::getLayoutsAttrName());
    const unsigned number = value.getResultNumber();
    return layouts && number < layouts.size() &&
           isa<kvc::kvk::LayoutAttr>(layouts[number]);
  }

  /// The lanes hold all of the tile and nothing else.
  static bool isWhole(OpResult value) {
    if (!kvc::isTile(value.getType()))
      return true;
    Operation *op = value.getOwner();
    auto layouts = op->getAttrOfType<ArrayAttr>(
        kvc::kvk::KVKDialect::getLayoutsAttrName());
    auto layout = cast<kvc::kvk::LayoutAttr>(layouts[value.getResultNumber()]);
    auto tile = cast<RankedTensorType>(value.getType());
    // The rules of a tile of codes, of a width that fills a packed word.
    int64_t packed = 1;
    for (const kvc::layout::Digit &digit : layout.getPack())
      packed *= digit.count;
    auto code = IntegerType::get(op->getContext(), packed > 1 && packed <= 32
                                                       ? unsigned(32 / packed)
                                                       : 8);
    return succeeded(kvc::kvk::TileType::verify(
        [&] { return op->emitOpError(); }, tile.getShape(), code,
        cast<kvc::DimsAttr>(tile.getEncoding()), layout));
  }

  /// Elements of a tile: what a lane does to each is written out, so that twice
  /// as many take four times as long to compile.
  static constexpr int64_t kMostElements = int64_t(1) << 18;

  /// Each tile says which of its elements a lane has.
  static LogicalResult requireLanes(func::FuncOp func) {
    if (func.getNumResults() != 0)
      return func.emitOpError("expected a kernel, which has no results, got ")
             << func.getResultTypes();
    WalkResult result = func.walk([](Operation *op) {
      for (OpResult value : op->getResults())
        if (!liesOnLanes(value)) {
          op->emitOpError("expected a tile whose elements lie on lanes, which "
                          "kvk-assign-lanes says, got ")
              << value.getType();
          return WalkResult::interrupt();
        } else if (!isWhole(value)) {
          return WalkResult::interrupt();
        } else if (auto tile = dyn_cast<RankedTensorType>(value.getType());
                   tile && tile.getNumElements() > kMostElements) {
          op->emitOpError("expected a tile of at most ")
              << kMostElements
              << " elements, which a GPU's kernels write out, got "
              << tile.getNumElements() << ": blocks of fewer tokens have fewer";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
