//===- Emit.cpp - From the LLVM dialect to machine code -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Emit.h"

#include "kvc/Codegen/Intrinsics.h"
#include "kvc/Codegen/Optimise.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace kvc {

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

struct Emitter::State {
  Target target;
  EmitOptions options;
  std::unique_ptr<TargetMachine> machine;
  LLVMContext context;
  std::unique_ptr<Module> module; ///< Dies before its context.
  std::string diagnostics;        ///< What LLVM reported as errors, one a line.

  /// Collects errors; LLVM without a handler would print them and exit.
  static void collectDiagnostic(const DiagnosticInfo *info, void *opaque) {
    if (info->getSeverity() != DS_Error)
      return;
    raw_string_ostream stream(static_cast<State *>(opaque)->diagnostics);
    DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    stream << '\n';
  }

  /// The collected diagnostics as one error, or success.
  Error takeDiagnostics(StringRef doing) {
    if (diagnostics.empty())
      return Error::success();
    std::string text;
    std::swap(text, diagnostics);
    return createStringError(doing + ": " + StringRef(text).rtrim());
  }
};

Emitter::Emitter() : state(std::make_unique<State>()) {}
Emitter::Emitter(Emitter &&) = default;
Emitter::~Emitter() = default;

Expected<Emitter> Emitter::create(const Target &target, EmitOptions options) {
  Emitter emitter;
  State &state = *emitter.state;
  state.target = target;
  state.options = std::move(options);
  Expected<std::unique_ptr<TargetMachine>> machine =
      createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  state.machine = std::move(*machine);
  state.context.setDiagnosticHandlerCallBack(State::collectDiagnostic, &state);
  return emitter;
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

/// Says in every definition what to generate code for. Names alone would leave
/// 512-bit registers unused on CPUs whose tuning prefers 256 bits.
static void setFunctionAttributes(Function &function, const Target &target,
                                  bool asan) {
  function.addFnAttr(Attribute::NoUnwind);
  if (target.warps)
    return;
  std::string width = std::to_string(target.vectorBits);
  function.addFnAttr("target-cpu", target.cpu);
  if (!target.features.empty())
    function.addFnAttr("target-features", target.features);
  if (!target.tuneCPU.empty())
    function.addFnAttr("tune-cpu", target.tuneCPU);
  function.addFnAttr("prefer-vector-width", width);
  function.addFnAttr("min-legal-vector-width", width);
  // Kernels call nothing, so no loop may become a call of memset or memcpy.
  function.addFnAttr("no-builtins");
  if (asan) {
    function.addFnAttr(Attribute::SanitizeAddress);
    function.addFnAttr("frame-pointer", "all"); // for the stacks of its reports
  }
}

Error Emitter::translate(mlir::ModuleOp module, KernelTable &table) {
  table.target = state->target.name;
  table.kernels = readKernels(module);
  state->module = mlir::translateModuleToLLVMIR(module, state->context, "kvc");
  if (!state->module)
    return createStringError("translation to LLVM IR failed");

  Module &llvmModule = *state->module;
  if (unsigned version = ptxVersionFor(llvmModule);
      state->target.warps && version > state->target.ptxVersion) {
    state->target.setPTXVersion(version);
    Expected<std::unique_ptr<TargetMachine>> machine =
        createTargetMachine(state->target);
    if (!machine)
      return machine.takeError();
    state->machine = std::move(*machine);
  }
  llvmModule.setTargetTriple(state->machine->getTargetTriple());
  llvmModule.setDataLayout(state->machine->createDataLayout());
  for (Function &function : llvmModule)
    if (!function.isDeclaration())
      setFunctionAttributes(function, state->target, state->options.asan);
  if (state->target.warps)
    return nameEntries(llvmModule, table, state->options.artifactName);
  return addKernelTable(llvmModule, table, state->options.uniqueSymbol);
}

const Target &Emitter::target() const { return state->target; }

Error Emitter::checkIntrinsics() const {
  return kvc::checkIntrinsics(*state->module, *state->machine, state->target);
}

/// What a kernel keeps on the stack of whoever calls it. A thread has 8 MiB by
/// default. Tiles as large as options allow stay below; buffers of whole scale
/// blocks lie in the workspace.
static constexpr uint64_t kMostStackBytes = uint64_t(4) << 20;

static Error checkStack(const Module &module) {
  for (const Function &function : module) {
    uint64_t bytes = 0;
    for (const Instruction &instruction : instructions(function))
      if (auto *slot = dyn_cast<AllocaInst>(&instruction))
        if (auto size = slot->getAllocationSize(module.getDataLayout()))
          bytes = SaturatingAdd(bytes, size->getFixedValue());
    if (bytes > kMostStackBytes)
      return createStringError("kernel " + function.getName() +
                               ": expected at most " + Twine(kMostStackBytes) +
                               " bytes of buffers for its tiles, got " +
                               Twine(bytes));
  }
  return Error::success();
}

Error Emitter::optimise() {
  if (Error error = checkStack(*state->module))
    return error;
  if (state->target.warps)
    optimiseWarps(*state->module, *state->machine);
  else
    optimiseModule(*state->module, *state->machine, state->options.asan);
  return state->takeDiagnostics("optimisation");
}

std::string Emitter::printIR() const {
  std::string text;
  raw_string_ostream stream(text);
  state->module->print(stream, nullptr);
  return text;
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

static Expected<std::string>
generateCode(Module &module, TargetMachine &machine, CodeGenFileType type) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError(
        "this LLVM cannot emit files of the requested kind");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

/// Kernels call nothing: an undefined symbol means that an operation was
/// lowered to a library call, which neither the JIT nor a user's linker can
/// resolve.
static Error checkUndefinedSymbols(MemoryBufferRef object, bool asan) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & object::SymbolRef::SF_Undefined) ||
        (*flags & object::SymbolRef::SF_FormatSpecific))
      continue;
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (asan && name->starts_with("__asan_"))
      continue;
    return createStringError("object: expected no undefined symbol, got " +
                             *name);
  }
  return Error::success();
}

Expected<std::string> Emitter::emitAssembly() const {
  std::unique_ptr<Module> copy = CloneModule(*state->module);
  Expected<std::string> text =
      generateCode(*copy, *state->machine, CodeGenFileType::AssemblyFile);
  if (Error error = state->takeDiagnostics("code generation"))
    return joinErrors(std::move(error), text.takeError());
  return text;
}

Expected<std::string> Emitter::emitObject() {
  Expected<std::string> object = generateCode(*state->module, *state->machine,
                                              CodeGenFileType::ObjectFile);
  if (Error error = state->takeDiagnostics("code generation"))
    return joinErrors(std::move(error), object.takeError());
  if (!object)
    return object;
  if (Error error = checkUndefinedSymbols(MemoryBufferRef(*object, "kernels"),
                                          state->options.asan))
    return error;
  return object;
}

} // namespace kvc
