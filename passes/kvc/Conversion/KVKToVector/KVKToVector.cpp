//===- KVKToVector.cpp - From kvk to loops over vectors -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One walk lowers what has an effect or a vector as result; a kvk.load or
// kvk.widen names something that only the dots read, so both go with their last
// user.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Codes.h"
#include "kvc/Conversion/KVKToVector/Lowering.h"
#include "kvc/Conversion/Passes.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVK/KVKDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kvc {
#define GEN_PASS_DEF_CONVERTKVKTOVECTOR
#include "kvc/Conversion/Passes.h.inc"
} // namespace kvc

using namespace mlir;

namespace {

class ConvertKVKToVector
    : public kvc::impl::ConvertKVKToVectorBase<ConvertKVKToVector> {
public:
  using Base::Base;

  void runOnOperation() override {
    std::optional<kvc::HostTarget> target = parseTarget();
    if (!target)
      return signalPassFailure();
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isDeclaration() && failed(lower(func, *target)))
        return signalPassFailure();
  }

private:
  std::optional<kvc::HostTarget> parseTarget() {
    using Dot = kvc::HostTarget::Dot;
    struct Kind {
      Dot dot;
      unsigned vectorBits;
    };
    std::optional<Kind> kind = llvm::StringSwitch<std::optional<Kind>>(dot)
                                   .Case("portable", Kind{Dot::Portable, 128})
                                   .Case("avx2", Kind{Dot::MAddWD, 256})
                                   .Case("avx512", Kind{Dot::MAddWD, 512})
                                   .Case("vnni", Kind{Dot::DPWSSD, 512})
                                   .Default(std::nullopt);
    if (!kind) {
      getOperation().emitError(
          "option 'dot': expected portable, avx2, avx512 or vnni, got '")
          << dot << "'";
      return std::nullopt;
    }
    kvc::HostTarget target;
    target.dot = kind->dot;
    target.vectorBits = vectorBits == 0 ? kind->vectorBits : vectorBits;
    if (target.vectorBits != 128 && target.vectorBits != 256 &&
        target.vectorBits != 512) {
      getOperation().emitError(
          "option 'vector-bits': expected 128, 256 or 512, got ")
          << target.vectorBits;
      return std::nullopt;
    }
    target.prefetchBytes = prefetchBytes;
    target.prefetchPages = prefetchPages;
    return target;
  }

  static LogicalResult checkStorage(Operation *op) {
    using namespace kvc::kvk;
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<LoadOp, LoadRowOp, StoreRowOp, LoadMetaOp, LoadMetaTileOp,
              LoadMetaRowOp, StoreMetaOp>([](auto op) -> LogicalResult {
          if (op.getStorageAttr())
            return success();
          return op.emitOpError("storage: expected it, got none: run "
                                "kvk-derive-storage first");
        })
        .Default(success());
  }

  static LogicalResult lower(func::FuncOp func, const kvc::HostTarget &target) {
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (isa_and_nonnull<kvc::kvk::KVKDialect>(op->getDialect()) ||
          isa<kvc::RawRowsOp, kvc::CodedEndOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(checkStorage(op)))
        return failure();
    kvc::CacheViews views(func);
    for (Operation *op : ops)
      if (failed(lower(op, views, target)))
        return failure();
    // Users come after what they use.
    for (Operation *op : llvm::reverse(ops)) {
      if (!op->use_empty())
        return op->emitOpError("is used by something other than a kvk.dot");
      op->erase();
    }
    return views.finish();
  }

  static LogicalResult lower(Operation *op, kvc::CacheViews &views,
                             const kvc::HostTarget &target) {
    kvc::Emit b(op->getLoc(), op);
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](kvc::kvk::DotOp dot) {
          return kvc::lowerDot(b, target, views, dot);
        })
        .Case([&](kvc::kvk::QuantizeRowsOp rows) {
          kvc::lowerQuantizeRows(b, target, rows);
          return success();
        })
        .Case([&](kvc::kvk::LookupOp lookup) {
          lookup.replaceAllUsesWith(kvc::Codes(lookup.getTable(), target)
                                        .lookUp(b, lookup.getCodes()));
          return success();
        })
        .Case([&](kvc::kvk::LoadRowOp load) {
          load.replaceAllUsesWith(kvc::lowerLoadRow(b, views, load));
          return success();
        })
        .Case([&](kvc::kvk::LoadMetaOp load) {
          load.replaceAllUsesWith(kvc::lowerLoadMeta(b, views, load));
          return success();
        })
        .Case([&](kvc::kvk::LoadMetaTileOp load) {
          kvc::lowerLoadMetaTile(b, views, load);
          return success();
        })
        .Case([&](kvc::kvk::LoadSchemeOp load) {
          load.replaceAllUsesWith(kvc::lowerLoadScheme(b, views, load));
          return success();
        })
        .Case([&](kvc::kvk::LoadMetaRowOp load) {
          load.replaceAllUsesWith(kvc::lowerLoadMetaRow(b, views, load));
          return success();
        })
        .Case([&](kvc::kvk::StoreRowOp store) {
          kvc::lowerStoreRow(b, views, store);
          return success();
        })
        .Case([&](kvc::kvk::StoreMetaOp store) {
          kvc::lowerStoreMeta(b, views, store);
          return success();
        })
        .Case([&](kvc::CodedEndOp end) {
          end.replaceAllUsesWith(
              views.codedEnd(b, end.getCache(), end.getTensor()));
          return success();
        })
        .Default([](Operation *) { return success(); });
  }
};

} // namespace
