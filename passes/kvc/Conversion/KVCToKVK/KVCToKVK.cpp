//===- KVCToKVK.cpp - From tiles to kernel level --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "kvc/Conversion/Passes.h"
#include "kvc/Dialect/KVK/KVKDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kvc {

#define GEN_PASS_DEF_CONVERTKVCTOKVK
#include "kvc/Conversion/Passes.h.inc"

namespace {

class ConvertKVCToKVK : public impl::ConvertKVCToKVKBase<ConvertKVCToKVK> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (failed(Converter(getOperation(), integerDots).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace kvc
