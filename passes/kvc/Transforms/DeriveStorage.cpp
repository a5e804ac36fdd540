//===- DeriveStorage.cpp - The storage orders of kvk ops ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The order of every region follows from the spec: layout::pageLayout, which
// the runtime asks too. Append, attention and unpack therefore agree.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Dialect/KVK/KVKOps.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Remark.h"
#include "kvc/Spec/Names.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_DERIVESTORAGE
#include "kvc/Transforms/Passes.h.inc"

namespace {

class DeriveStorage : public impl::DeriveStorageBase<DeriveStorage> {
public:
  using Base::Base;

  void runOnOperation() override {
    remarked.clear();
    WalkResult result = getOperation().walk([&](Operation *op) {
      bool ok =
          TypeSwitch<Operation *, bool>(op)
              .Case([&](kvk::LoadOp op) {
                return derive(op, layout::RegionKind::Codes);
              })
              .Case<kvk::LoadRowOp, kvk::StoreRowOp>([&](auto op) {
                return derive(op, op.getHigh() ? layout::RegionKind::HighCodes
                                               : layout::RegionKind::Codes);
              })
              .Case<kvk::LoadMetaOp, kvk::LoadMetaTileOp, kvk::LoadMetaRowOp,
                    kvk::StoreMetaOp>([&](auto op) {
                return derive(op, kvk::regionOf(op.getKind()));
              })
              .Default(true);
      return ok ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  template <typename Op>
  bool derive(Op op, layout::RegionKind kind) {
    if (op.getStorageAttr()) // Asked for.
      return true;
    const spec::Spec &spec = op.getCache().getType().getSpec();
    layout::PageLayout pages = layout::pageLayout(
        spec, op.getTensor(),
        warps ? layout::TargetFamily::Nvptx : layout::TargetFamily::Host);
    Builder builder(op.getContext());
    const layout::Region &region = pages.region(kind, op.getPart());
    auto storage = kvk::StorageAttr::get(op.getContext(), region.storage);
    op.setStorageAttr(storage);
    op.setPageAttr(builder.getI64IntegerAttr(region.pageTokens));
    std::tuple known(Attribute(storage), kind, op.getTensor());
    if (remarks && !llvm::is_contained(remarked, known)) {
      remarked.push_back(known);
      emitChoice(op) << stringifyTensor(op.getTensor()) << " "
                     << layout::nameOf(kind) << ": " << storage.getWidth()
                     << " bits in order " << layout::str(storage.getStorage())
                     << ", lowest first, in pages of " << region.pageTokens
                     << " tokens; the spec's order \""
                     << spec::nameIn(spec::kOrderNames, spec.layout.order)
                     << "\"";
    }
    return true;
  }

  /// Regions that had their remark: all ops on one share its order.
  SmallVector<std::tuple<Attribute, layout::RegionKind, spec::Tensor>> remarked;
};

} // namespace

} // namespace kvc
