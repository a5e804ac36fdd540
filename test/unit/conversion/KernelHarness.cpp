//===- KernelHarness.cpp - Running level-3 functions ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include "kvc/Codegen/Emit.h"
#include "kvc/Conversion/Passes.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Dialect/KVK/KVKAttrs.h"
#include "kvc/Dialect/Register.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace kvc::test {

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

namespace {

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerKVCDialects(registry);
  registerUpstreamDialects(registry);
  registry.insert<func::FuncDialect>();
  registerConvertToLLVMDependentDialectLoading(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

LogicalResult lower(ModuleOp module, const Target &target) {
  PassManager passes(module.getContext());
  passes.addNestedPass<func::FuncOp>(createAssignLayouts());
  ConvertKVKToVectorOptions vectors;
  vectors.dot = nameOf(target.dot).str();
  vectors.vectorBits = target.vectorBits;
  passes.addPass(createConvertKVKToVector(vectors));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  ExpandMathOptions math;
  math.hasF16C = target.hasF16C;
  math.hasSSE41 = target.hasSSE41;
  passes.addPass(createExpandMath(math));
  passes.addPass(createConvertKernelABI());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(module);
}

llvm::Expected<std::string> compile(ModuleOp module, const Target &target) {
  if (failed(lower(module, target)))
    return llvm::createStringError("lowering failed");
  auto emitter = Emitter::create(target, {false, "kvc_module_test", "test"});
  if (!emitter)
    return emitter.takeError();
  KernelTable table;
  table.specJson = "{}";
  if (llvm::Error error = emitter->translate(module, table))
    return error;
  if (llvm::Error error = emitter->checkIntrinsics())
    return error;
  if (llvm::Error error = emitter->optimise())
    return error;
  // Fails where the object calls a library.
  return emitter->emitObject();
}

} // namespace

/// The names that a module's kernels may have.
constexpr const char *kNames[] = {"decode", "prefill", "append", "merge",
                                  "unpack"};

Program::Program(const std::vector<Kernel> &functions,
                 const std::string &target) {
  llvm::ArrayRef<Kernel> rest = functions;
  while (!rest.empty()) {
    size_t count = std::min(rest.size(), std::size(kNames));
    load(rest.take_front(count), target);
    rest = rest.drop_front(count);
  }
}

void Program::load(llvm::ArrayRef<Kernel> functions,
                   const std::string &target) {
  std::string text;
  for (auto [kernel, name] : llvm::zip(functions, kNames)) {
    std::string symbol = std::string("@") + name,
                attributes =
                    std::string("attributes {kvc.kernel = \"") + name + "\"}";
    std::string function = kernel.text;
    function.replace(function.find("@KERNEL"), strlen("@KERNEL"), symbol);
    function.replace(function.find("KERNEL"), strlen("KERNEL"), attributes);
    text += function;
  }
  static std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> parsed =
      parseSourceString<ModuleOp>(text, context.get());
  if (!parsed) {
    ADD_FAILURE() << "does not parse:\n" << text;
    return;
  }
  llvm::Expected<std::string> object = compile(*parsed, *parseTarget(target));
  if (!object) {
    ADD_FAILURE() << target << ": " << llvm::toString(object.takeError())
                  << "\n"
                  << text;
    return;
  }
  auto loaded = LoadedModule::load(*object, /*asan=*/false);
  if (!loaded) {
    ADD_FAILURE() << target << ": " << llvm::toString(loaded.takeError());
    return;
  }
  const kvc_module_table &table = (*loaded)->table();
  for (auto [kernel, name] : llvm::zip(functions, kNames))
    for (int32_t i = 0; i < table.num_kernels; ++i)
      if (std::string(name) == table.kernels[i].name)
        kernels[kernel.name] = table.kernels[i].function;
  modules.push_back(std::move(*loaded));
}

void Program::call(const std::string &kernel, const Args &args) const {
  auto found = kernels.find(kernel);
  if (found == kernels.end())
    ADD_FAILURE() << "no kernel " << kernel;
  else
    found->second(args.data());
}

std::vector<std::string> runnableTargets() {
  std::vector<std::string> result;
  for (const TargetName &each : targetNames()) {
    if (each.name == "host" || each.name == "portable")
      continue;
    if (llvm::Error error = checkRunsHere(*parseTarget(each.name)))
      llvm::consumeError(std::move(error));
    else
      result.push_back(each.name.str());
  }
  return result;
}

//===----------------------------------------------------------------------===//
// TestCache
//===----------------------------------------------------------------------===//

using layout::RegionKind;
using layout::TargetFamily;
using spec::Tensor;

static spec::Spec parsed(const std::string &json) {
  auto spec = spec::parseSpec(json);
  if (!spec)
    ADD_FAILURE() << spec.error().str() << "\n" << json;
  return *spec;
}

TestCache::TestCache(const std::string &json, int64_t tokens, bool hasTable)
    : spec(parsed(json)),
      layouts{layout::pageLayout(spec, Tensor::Key, TargetFamily::Host),
              layout::pageLayout(spec, Tensor::Value, TargetFamily::Host)} {
  bool isPaged = spec.layout.kind == spec::LayoutKind::Paged;
  int64_t page = this->page(Tensor::Key), pages = (tokens + page - 1) / page;
  for (int64_t i = 0; isPaged && hasTable && i < pages; ++i)
    table.push_back(int32_t(pages - 1 - i));
  // Numbers that a wrong look-up would follow out of memory.
  constexpr int32_t kNowhere = 0x3fffffff;
  if (isPaged && hasTable)
    table.insert(table.end(), 64, kNowhere);
  view.page_table = table.empty() ? nullptr : table.data();
  for (Tensor tensor : {Tensor::Key, Tensor::Value}) {
    auto strides =
        layout::tensorStrides(spec, tensor, TargetFamily::Host, pages * page);
    auto &bytes = memory[tensor == Tensor::Key ? 0 : 1];
    bytes.assign(size_t(isPaged ? strides.bytes * pages : strides.bytes), 0xff);
    for (const layout::RegionStrides &region : strides.regions)
      regions.push_back(
          {bytes.data() + region.offset, region.pageStride, region.headStride});
  }
  view.regions = regions.data();
}

std::string TestCache::type() const {
  static std::unique_ptr<MLIRContext> context = makeContext();
  std::string text;
  llvm::raw_string_ostream(text)
      << CacheType::get(SpecAttr::get(context.get(), spec));
  return text;
}

std::string TestCache::storage(Tensor tensor, RegionKind kind) const {
  const layout::Storage &storage = layoutOf(tensor).region(kind).storage;
  std::string text =
      "#kvk.storage<width = " + std::to_string(storage.width) + ", addr = [";
  for (size_t i = 0; i < storage.addr.size(); ++i)
    text += (i ? ", " : "") + layout::str(storage.addr[i]);
  text += "]";
  for (size_t i = 0; i < storage.steps.size(); ++i)
    text += (i ? ", " : ", steps = [") + layout::str(storage.steps[i]);
  return text + (storage.steps.empty() ? ">" : "]>");
}

int64_t TestCache::page(Tensor tensor) const {
  return layoutOf(tensor).pageTokens;
}

TestCache::Place TestCache::place(Tensor tensor, RegionKind kind, int64_t t,
                                  int64_t h, int64_t c) const {
  const layout::Storage &storage = layoutOf(tensor).region(kind).storage;
  const kvc_region &region = view.regions[layout::regionNumber(
      spec, tensor, kind, /*part=*/0, layout::TargetFamily::Host)];
  int64_t page = this->page(tensor),
          number = table.empty() ? t / page : table[size_t(t / page)];
  int64_t bits = layout::bitAddressOf(
      storage, {{'t', t % page}, {kind == RegionKind::Codes ? 'c' : 'b', c}});
  return {region.base + number * region.page_stride + h * region.head_stride +
              bits / 8,
          unsigned(bits % 8), storage.width};
}

uint32_t TestCache::get(Tensor tensor, RegionKind kind, int64_t t, int64_t h,
                        int64_t c) const {
  Place at = place(tensor, kind, t, h, c);
  uint32_t bits = 0;
  std::memcpy(&bits, at.byte, (at.shift + at.width + 7) / 8);
  return at.width < 8 ? bits >> at.shift & ((1u << at.width) - 1) : bits;
}

void TestCache::set(Tensor tensor, RegionKind kind, int64_t t, int64_t h,
                    int64_t c, uint32_t bits) {
  Place at = place(tensor, kind, t, h, c);
  if (at.width >= 8) {
    std::memcpy(at.byte, &bits, at.width / 8);
    return;
  }
  uint32_t mask = ((1u << at.width) - 1) << at.shift, old = 0;
  size_t size = (at.shift + at.width + 7) / 8;
  std::memcpy(&old, at.byte, size);
  old = (old & ~mask) | (bits << at.shift & mask);
  std::memcpy(at.byte, &old, size);
}

std::vector<uint8_t> TestCache::bytes() const {
  std::vector<uint8_t> all = memory[0];
  all.insert(all.end(), memory[1].begin(), memory[1].end());
  return all;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

float fromBits(spec::DType type, uint32_t bits) {
  if (type == spec::DType::F32)
    return llvm::bit_cast<float>(bits);
  if (type == spec::DType::BF16)
    return llvm::bit_cast<float>(bits << 16);
  return float(llvm::bit_cast<_Float16>(uint16_t(bits)));
}

uint32_t toBits(spec::DType type, float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if (type == spec::DType::F32)
    return bits;
  if (type == spec::DType::BF16)
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return llvm::bit_cast<uint16_t>(_Float16(value));
}

} // namespace kvc::test
