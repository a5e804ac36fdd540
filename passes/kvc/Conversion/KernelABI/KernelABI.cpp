//===- KernelABI.cpp - The signature of kvc/kernel_abi.h ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Workspace.h"

#include "kvc/Conversion/Passes.h"
#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/kernel_abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvc {
#define GEN_PASS_DEF_CONVERTKERNELABI
#include "kvc/Conversion/Passes.h.inc"
} // namespace kvc

using namespace mlir;

namespace {

constexpr int64_t kSlotBytes = 8;
/// Every exception masked, round to nearest, no flush to zero.
constexpr int32_t kDefaultMXCSR = 0x1f80;
constexpr unsigned kGlobal = 1; ///< Address space of device memory.
constexpr int32_t kThreads = 32;

/// Reads the parameters of one kernel out of its argument struct.
class SlotReader {
public:
  SlotReader(ImplicitLocOpBuilder &b, Value args) : b(b), args(args) {}

  /// The parameter that was block argument `old`, or null if the ABI has no
  /// such type, which is reported.
  Value parameter(func::FuncOp func, BlockArgument old) {
    Type type = old.getType();
    unsigned number = old.getArgNumber();
    if (isa<LLVM::LLVMPointerType>(type) &&
        func.getArgAttr(number, kvc::KVCDialect::getCacheViewAttrName())) {
      Value view = address();
      slot += sizeof(kvc_cache_view) / kSlotBytes;
      return view;
    }
    if (isa<IndexType>(type))
      return arith::IndexCastOp::create(b, type, load(b.getI64Type()));
    if (auto memref = dyn_cast<MemRefType>(type))
      return descriptor(func, old, memref);
    func.emitOpError("parameter ")
        << number << ": expected a cache view, a memref or an index, got "
        << type;
    return {};
  }

  /// Bytes of the parameters read so far.
  int64_t bytes() const { return slot * kSlotBytes; }

private:
  Value address() {
    return LLVM::GEPOp::create(b, args.getType(), b.getI8Type(), args,
                               ArrayRef<LLVM::GEPArg>{slot * kSlotBytes});
  }

  Value load(Type type) {
    Value pointer = address();
    ++slot;
    return LLVM::LoadOp::create(b, type, pointer, kSlotBytes,
                                /*isVolatile=*/false, /*isNonTemporal=*/false,
                                /*isInvariant=*/true);
  }

  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(b, b.getI64Type(), value);
  }

  /// The descriptor that memref's own lowering works on. Dynamic extents are no
  /// part of the ABI: kernels know their bounds from other parameters.
  Value descriptor(func::FuncOp func, BlockArgument old, MemRefType type) {
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
        type.getMemorySpaceAsInt() != 0) {
      func.emitOpError("parameter ")
          << old.getArgNumber()
          << ": expected a strided memref without offset or memory space, got "
          << type;
      return {};
    }
    for (Operation *user : old.getUsers()) {
      auto dim = dyn_cast<memref::DimOp>(user);
      std::optional<int64_t> number =
          dim ? dim.getConstantIndex() : std::nullopt;
      bool isStatic = number && *number >= 0 && *number < type.getRank() &&
                      !type.isDynamicDim(*number);
      if (dim && !isStatic) {
        dim.emitOpError(
            "reads a dynamic extent of a kernel's parameter, which has none");
        return {};
      }
    }
    int64_t rank = type.getRank();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto numbers = LLVM::LLVMArrayType::get(b.getI64Type(), rank);
    SmallVector<Type> fields{pointer, pointer, b.getI64Type()};
    if (rank > 0)
      fields.append({numbers, numbers});
    Value result = LLVM::PoisonOp::create(
        b, LLVM::LLVMStructType::getLiteral(b.getContext(), fields));
    auto set = [&](Value value, ArrayRef<int64_t> position) {
      result = LLVM::InsertValueOp::create(b, result, value, position);
    };
    Value base = load(pointer);
    set(base, 0);
    set(base, 1);
    set(constant(0), 2);
    for (int64_t i = 0; i < rank; ++i)
      set(constant(type.isDynamicDim(i) ? 0 : type.getDimSize(i)), {3, i});
    for (int64_t i = 0; i < rank; ++i)
      set(ShapedType::isDynamic(strides[i]) ? load(b.getI64Type())
                                            : constant(strides[i]),
          {4, i});
    return UnrealizedConversionCastOp::create(b, type, result).getResult(0);
  }

  ImplicitLocOpBuilder &b;
  Value args;
  int32_t slot = 0;
};

class ConvertKernelABI
    : public kvc::impl::ConvertKernelABIBase<ConvertKernelABI> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func->getAttrOfType<StringAttr>(kvc::KVCDialect::getKernelAttrName()))
        kernels.push_back(func);
    for (func::FuncOp kernel : kernels)
      if (failed(convert(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult convert(func::FuncOp func) {
    auto kernel =
        func->getAttrOfType<StringAttr>(kvc::KVCDialect::getKernelAttrName());
    if (func.isDeclaration() || func.getNumResults() != 0)
      return func.emitOpError("a kernel needs a body and has no results");
    std::string symbol = ("kvc_" + kernel.getValue()).str();
    if (SymbolTable::lookupSymbolIn(getOperation(), symbol))
      return func.emitOpError("symbol '")
             << symbol << "' of the kernel is taken";

    kvc::moveScratchToWorkspace(func);
    ImplicitLocOpBuilder b(func.getLoc(), func);
    auto pointer =
        LLVM::LLVMPointerType::get(&getContext(), blocks ? kGlobal : 0);
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(&getContext()), pointer);
    auto body = LLVM::LLVMFuncOp::create(
        b, mxcsr ? symbol + "_body" : symbol, type,
        mxcsr ? LLVM::Linkage::Internal : LLVM::Linkage::External);
    body.setNoUnwind(true);
    if (failed(moveBody(func, body)))
      return failure();
    LLVM::LLVMFuncOp entry = body;
    if (mxcsr) {
      body.setNoInline(true);
      entry = emitEntry(b, symbol, body);
    }
    // What the kernel's table will say of it.
    for (NamedAttribute attribute : func->getDiscardableAttrs())
      if (attribute.getName().strref().starts_with("kvc."))
        entry->setAttr(attribute.getName(), attribute.getValue());
    func.erase();
    return success();
  }

  /// Where a block's item begins in an array of structs of `bytes`, which is
  /// known once the parameters were read.
  static Value itemOf(ImplicitLocOpBuilder &b, Value items,
                      LLVM::ConstantOp &bytes) {
    Value block = NVVM::BlockIdXOp::create(b, b.getI32Type());
    Value number = LLVM::ZExtOp::create(b, b.getI64Type(), block);
    bytes = LLVM::ConstantOp::create(b, b.getI64Type(), 0);
    Value offset = LLVM::MulOp::create(b, number, bytes);
    return LLVM::GEPOp::create(b, items.getType(), b.getI8Type(), items,
                               ArrayRef<LLVM::GEPArg>{offset});
  }

  LogicalResult moveBody(func::FuncOp func, LLVM::LLVMFuncOp body) {
    body.getBody().takeBody(func.getBody());
    Block &entry = body.getBody().front();
    auto old = llvm::to_vector(entry.getArguments());
    Value args = entry.addArgument(body.getFunctionType().getParamType(0),
                                   func.getLoc());
    ImplicitLocOpBuilder b(func.getLoc(), OpBuilder::atBlockBegin(&entry));
    LLVM::ConstantOp itemBytes;
    if (blocks)
      args = itemOf(b, args, itemBytes);
    SlotReader slots(b, args);
    for (BlockArgument argument : old) {
      Value value = slots.parameter(func, argument);
      if (!value)
        return failure();
      argument.replaceAllUsesWith(value);
    }
    if (blocks) {
      itemBytes.setValueAttr(b.getI64IntegerAttr(slots.bytes()));
      body->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
      body->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    b.getDenseI32ArrayAttr(kThreads));
    }
    entry.eraseArguments(0, old.size());
    body.walk([](func::ReturnOp op) {
      OpBuilder at(op);
      LLVM::ReturnOp::create(at, op.getLoc(), ValueRange());
      op.erase();
    });
    return success();
  }

  static LLVM::LLVMFuncOp emitEntry(ImplicitLocOpBuilder &b, StringRef symbol,
                                    LLVM::LLVMFuncOp body) {
    auto entry = LLVM::LLVMFuncOp::create(b, symbol, body.getFunctionType());
    entry.setNoUnwind(true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry.addEntryBlock(b));
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value one = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
    auto word = [&]() -> Value {
      return LLVM::AllocaOp::create(b, pointer, b.getI32Type(), one, 4);
    };
    auto control = [&](StringRef name, Value word) {
      LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), ValueRange(word));
    };
    Value saved = word(), wanted = word();
    control("llvm.x86.sse.stmxcsr", saved);
    LLVM::StoreOp::create(
        b, LLVM::ConstantOp::create(b, b.getI32Type(), kDefaultMXCSR), wanted);
    control("llvm.x86.sse.ldmxcsr", wanted);
    LLVM::CallOp::create(b, body, entry.getArguments());
    control("llvm.x86.sse.ldmxcsr", saved);
    LLVM::ReturnOp::create(b, ValueRange());
    return entry;
  }
};

} // namespace
