//===- KVCToGPU.cpp - Tiles to the registers of a warp --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVCToGPU/WarpLowering.h"
#include "kvc/Conversion/Passes.h"
#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVK/KVKDialect.h"

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
      if (kvc::WarpLowering lowering(func, {hasFloat8});
          !func.isExternal() && failed(lowering.run()))
        return signalPassFailure();
  }
};

} // namespace
