//===- KVKDialect.cpp - The kvk dialect -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVK/KVKDialect.h"
#include "kvc/Dialect/KVC/KVCDialect.h"

#include "kvc/Dialect/KVK/KVKDialect.cpp.inc"

using namespace mlir;

namespace kvc::kvk {

namespace {
/// Storage orders and register layouts are long and repeat; print them once.
struct KVKAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<StorageAttr>(attr))
      os << "storage";
    else if (isa<LayoutAttr>(attr))
      os << "layout";
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};
} // namespace

void KVKDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
  addInterfaces<KVKAsmInterface>();
}

} // namespace kvc::kvk
