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

/// What an attribute of a function should be, or nothing if it is that.
static std::optional<std::string> expectationOf(NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == KVCDialect::getKernelAttrName()) {
    ArrayRef<StringRef> kinds = KVCDialect::getKernelKinds();
    auto kind = dyn_cast<StringAttr>(attribute.getValue());
    if (kind && llvm::is_contained(kinds, kind.getValue()))
      return std::nullopt;
    return "one of \"" + llvm::join(kinds, "\", \"") + '"';
  }
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  if (number && number.getType().isSignlessInteger(64) && number.getInt() > 0)
    return std::nullopt;
  return "a positive i64";
}

LogicalResult KVCDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name != getKernelAttrName() && name != getTileRowsAttrName() &&
      name != getTileTokensAttrName() && name != getSplitTokensAttrName())
    return success();
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError()
           << "carries '" << name << "', expected on functions only";
  if (std::optional<std::string> expected = expectationOf(attribute))
    return op->emitOpError() << "'" << name << "': expected " << *expected
                             << ", got " << attribute.getValue();
  return success();
}

} // namespace kvc
