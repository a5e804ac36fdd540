//===- KernelTable.cpp - The table that a module exports ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/KernelTable.h"

#include "kvc/Conversion/KernelABI/Workspace.h"
#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/kernel_abi.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace kvc {

namespace {

/// Builds constants inside one module.
class TableBuilder {
public:
  explicit TableBuilder(Module &module)
      : module(module), context(module.getContext()),
        i32(Type::getInt32Ty(context)), i64(Type::getInt64Ty(context)),
        pointer(PointerType::getUnqual(context)) {}

  Constant *text(StringRef value) {
    return global(ConstantDataArray::getString(context, value));
  }

  GlobalVariable *global(Constant *value) {
    auto *variable =
        new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                           GlobalValue::PrivateLinkage, value);
    return variable;
  }

  /// kvc_kernel_info.
  Constant *kernel(const KernelEntry &entry, Function *function) {
    return ConstantStruct::get(
        kernelType(), text(entry.name), function,
        ConstantInt::getSigned(i64, entry.tileRows),
        ConstantInt::getSigned(i64, entry.tileTokens),
        ConstantInt::getSigned(i64, entry.splitTokens), text(entry.operands),
        null(), zero(), zero(), zero(),
        ConstantInt::getSigned(i64, entry.workspaceBytes));
  }

  /// kvc_module_table.
  Constant *table(const KernelTable &table, ArrayRef<Constant *> kernels) {
    auto *list = ConstantArray::get(
        ArrayType::get(kernelType(), kernels.size()), kernels);
    auto *type = StructType::get(context, {i32, i32, pointer, pointer, pointer,
                                           pointer, pointer, pointer, i64});
    return ConstantStruct::get(
        type, ConstantInt::get(i32, KVC_KERNEL_ABI_VERSION),
        ConstantInt::get(i32, kernels.size()), text(table.specJson),
        text(table.layoutHash), text(table.target), global(list),
        text(table.score), null(), zero());
  }

private:
  StructType *kernelType() {
    return StructType::get(context, {pointer, pointer, i64, i64, i64, pointer,
                                     pointer, i64, i64, i64, i64});
  }
  /// What only GPU kernels have.
  Constant *null() { return ConstantPointerNull::get(pointer); }
  Constant *zero() { return ConstantInt::get(i64, 0); }

  Module &module;
  LLVMContext &context;
  Type *i32, *i64;
  PointerType *pointer;
};

int64_t intAttr(mlir::Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<mlir::IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

/// A name of C.
std::string inC(std::string name) {
  for (char &c : name)
    if (!isAlnum(c))
      c = '_';
  return name;
}

int64_t threadsOf(mlir::Operation *op) {
  auto threads = op->getAttrOfType<mlir::DenseI32ArrayAttr>(
      mlir::NVVM::NVVMDialect::getReqntidAttrName());
  return threads ? threads[0] : 0;
}

std::string textAttr(mlir::Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<mlir::StringAttr>(name);
  return attr ? attr.str() : "";
}

} // namespace

std::string uniqueTableSymbol(StringRef name, StringRef target,
                              StringRef specHash) {
  return inC(
      (kTableSymbol + "_" + name + "_" + target + "_" + specHash.take_front(8))
          .str());
}

Error nameEntries(Module &module, KernelTable &table, StringRef name) {
  for (KernelEntry &entry : table.kernels) {
    Function *function = module.getFunction(entry.symbol);
    if (!function || function->isDeclaration())
      return createStringError("kernel " + entry.name + ": its function " +
                               entry.symbol + " is not defined");
    entry.symbol = inC(entry.name + "_" + name.str());
    function->setName(entry.symbol);
  }
  return Error::success();
}

std::vector<KernelEntry> readKernels(mlir::ModuleOp module) {
  std::vector<KernelEntry> kernels;
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    auto name = function->getAttrOfType<mlir::StringAttr>(
        KVCDialect::getKernelAttrName());
    if (!name)
      continue;
    kernels.push_back({name.str(), function.getSymName().str(),
                       intAttr(function, KVCDialect::getTileRowsAttrName()),
                       intAttr(function, KVCDialect::getTileTokensAttrName()),
                       intAttr(function, KVCDialect::getSplitTokensAttrName()),
                       textAttr(function, KVCDialect::getOperandsAttrName()),
                       intAttr(function, kWorkspaceBytesAttrName),
                       threadsOf(function)});
  }
  return kernels;
}

Error addKernelTable(Module &module, const KernelTable &table,
                     StringRef uniqueSymbol) {
  if (table.kernels.empty())
    return createStringError("module: expected at least one kernel, got none");

  TableBuilder builder(module);
  SmallVector<Constant *> kernels;
  for (const KernelEntry &entry : table.kernels) {
    Function *function = module.getFunction(entry.symbol);
    if (!function || function->isDeclaration())
      return createStringError("kernel " + entry.name + ": its function " +
                               entry.symbol + " is not defined");
    kernels.push_back(builder.kernel(entry, function));
  }

  for (Function &function : module)
    if (!function.isDeclaration())
      function.setLinkage(GlobalValue::InternalLinkage);
  for (GlobalVariable &variable : module.globals())
    if (!variable.isDeclaration() && !variable.hasPrivateLinkage())
      variable.setLinkage(GlobalValue::InternalLinkage);

  Constant *value = builder.table(table, kernels);
  auto *unique =
      new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                         GlobalValue::ExternalLinkage, value, uniqueSymbol);
  GlobalAlias::create(value->getType(), /*AddressSpace=*/0,
                      GlobalValue::WeakAnyLinkage, kTableSymbol, unique,
                      &module);
  return Error::success();
}

} // namespace kvc
