//===- KVCDialect.cpp - The kvc dialect -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCDialect.h"

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include "kvc/Dialect/KVC/KVCDialect.cpp.inc"

using namespace mlir;

namespace kvc {

namespace {
/// Prints specs once, at the top of a module, under their own name.
struct KVCAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    auto spec = dyn_cast<SpecAttr>(attr);
    if (!spec)
      return AliasResult::NoAlias;
    StringRef name = spec.getName().getValue();
    auto isWordChar = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    bool isIdentifier = !name.empty() && llvm::isAlpha(name.front()) &&
                        llvm::all_of(name, isWordChar);
    os << (isIdentifier ? name : "spec");
    return AliasResult::FinalAlias;
  }
};
} // namespace

void KVCDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
  registerTileOps();
  addInterfaces<KVCAsmInterface>();
}

ArrayRef<StringRef> KVCDialect::getKernelKinds() {
  static constexpr StringRef kinds[] = {"decode", "prefill", "append", "merge",
                                        "unpack"};
  return kinds;
}

LogicalResult KVCDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() != getKernelAttrName())
    return success();
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError() << "carries '" << getKernelAttrName()
                             << "', expected on functions only";
  auto kind = dyn_cast<StringAttr>(attribute.getValue());
  if (!kind || !llvm::is_contained(getKernelKinds(), kind.getValue())) {
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "'" << getKernelAttrName()
                                    << "': expected one of ";
    llvm::interleaveComma(getKernelKinds(), diagnostic, [&](StringRef name) {
      diagnostic << '"' << name << '"';
    });
    return diagnostic << ", got " << attribute.getValue();
  }
  return success();
}

} // namespace kvc
