//===- KVCToKVK.cpp - From tiles to kernel level --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "kvc/Conversion/KernelForm.h"
#include "kvc/Conversion/Passes.h"
#include "kvc/Dialect/KVK/KVKDialect.h"
#include "kvc/Dialect/KVK/KVKOps.h"
#include "kvc/Remark.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_CONVERTKVCTOKVK
#include "kvc/Conversion/Passes.h.inc"

namespace {

class ConvertKVCToKVK : public impl::ConvertKVCToKVKBase<ConvertKVCToKVK> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (failed(requireKernelForm(getOperation())) ||
        failed(Converter(getOperation(), integerDots).run()))
      return signalPassFailure();
    if (!remarks)
      return;
    llvm::SmallPtrSet<void *, 4> explained;
    getOperation().walk([&](kvk::DotOp dot) {
      if (explained.insert(dot.getX().getAsOpaquePointer()).second)
        explain(dot);
    });
  }

private:
  void explain(kvk::DotOp dot) {
    InFlightDiagnostic remark = emitChoice(dot);
    bool isKey = dot.getContract() == "c" || dot.getContract() == "minor";
    remark << (isKey ? "key" : "value") << " product: ";
    if (!dot.getTileType()) {
      remark << "f32 weights and a panel of f32: factors stay on the codes";
    } else if (dot.getWeights().getType().getElementType().isInteger(16)) {
      remark << "16-bit integer weights and codes, two products per 32 bits";
      if (llvm::count_if(dot.getX().getUsers(), llvm::IsaPred<kvk::DotOp>) > 1)
        remark << "; once more with what rounding left of rows in which one "
                  "channel stands out";
    } else {
      auto widen = dot.getX().getDefiningOp<kvk::WidenOp>();
      remark << "f32 weights: "
             << (!widen.getSource().getType().getElementType().isInteger() ||
                         widen.getFormat()
                     ? "floats are stored"
                 : widen.getEntries() ||
                         (widen.getTable() &&
                          !kvk::WidenOp::unitOf(*widen.getTable()))
                     ? "the codes' table is of floats"
                 : integerDots ? "16 bits are too few for f32 queries"
                               : "this target takes no integer products");
    }
  }
};

} // namespace

} // namespace kvc
