//===- Compiler.cpp - Spec and options to artefacts -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Compiler/Compiler.h"

#include "kvc/Codegen/Emit.h"
#include "kvc/Compiler/Manifest.h"
#include "kvc/Compiler/SpecText.h"
#include "kvc/Compiler/Status.h"
#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Layout/PageLayout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/LocationSnapshot.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;

namespace kvc {

/// A context keeps every type and attribute it has ever seen; after this many
/// specs a fresh one costs less than the memory.
static constexpr unsigned kUsesOfContext = 64;

Compiler::Compiler() { freshContext(); }
Compiler::~Compiler() = default;

MLIRContext &Compiler::freshContext() {
  if (usesLeft == 0) {
    DialectRegistry registry;
    registerHostDialects(registry);
    // Kernels are small: starting threads for their passes costs more than it
    // saves.
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    // Messages are for people who have written a spec.
    context->printOpOnDiagnostic(false);
    usesLeft = kUsesOfContext;
  }
  --usesLeft;
  return *context;
}

//===----------------------------------------------------------------------===//
// One compilation
//===----------------------------------------------------------------------===//

namespace {

class Compilation {
public:
  Compilation(MLIRContext &context, const CompileOptions &options,
              const EmitRequest &request,
              DiagnosticCatcher::RemarkFunction remark)
      : context(context), options(options), request(request),
        diagnostics(context, std::move(remark)),
        last(std::chrono::steady_clock::now()) {}

  llvm::Error run(llvm::StringRef specText) {
    llvm::Expected<OwningOpRef<ModuleOp>> parsed = readSpec(specText, context);
    if (!parsed)
      return parsed.takeError();
    module = std::move(*parsed);
    AttentionSpecOp declaration = declarationIn(*module);
    spec = declaration.getSpec().getSpec();
    score = scoreText(declaration);
    if (llvm::Error error = checkKinds())
      return error;
    name = artifactName(spec.name, score);
    stem = fileStem(name) + "." + options.target.name;
    endPhase("parse");

    if (llvm::Error error = lower())
      return error;
    if (request.kinds & ~uint32_t(KVC_EMIT_MLIR))
      return emit();
    return llvm::Error::success();
  }

  EmitResult takeResult() {
    llvm::sort(result.artifacts, [](const Artifact &a, const Artifact &b) {
      return a.kind < b.kind;
    });
    return std::move(result);
  }

private:
  llvm::Error checkKinds() const;
  llvm::Error lower();
  llvm::Error keepKernels();
  void printMLIR(llvm::raw_ostream &stream, const std::string &file);
  llvm::Error emit();

  void add(uint32_t kind, llvm::StringRef suffix, std::string data) {
    result.artifacts.push_back({kind, stem + suffix.str(), std::move(data)});
  }
  void endPhase(llvm::StringLiteral name) {
    auto now = std::chrono::steady_clock::now();
    result.phases.push_back(
        {name.data(),
         std::chrono::duration<double, std::milli>(now - last).count()});
    last = now;
  }

  MLIRContext &context;
  const CompileOptions &options;
  const EmitRequest &request;
  DiagnosticCatcher diagnostics;
  std::chrono::steady_clock::time_point last;

  spec::Spec spec;
  std::string score; ///< Text of the score region.
  std::string name;  ///< Of artefacts.
  std::string stem;  ///< Of file names: "NAME.TARGET".
  OwningOpRef<ModuleOp> module;
  bool hasLines = false; ///< Operations are located in a text of MLIR.
  std::vector<KernelSignature> signatures;
  EmitResult result;
};

} // namespace

/// Objects and assembly are of hosts, PTX of GPUs.
llvm::Error Compilation::checkKinds() const {
  constexpr uint32_t kHosts = KVC_EMIT_OBJ | KVC_EMIT_ASM;
  bool isGPU = options.target.warps;
  if (isGPU ? !(request.kinds & kHosts) : !(request.kinds & KVC_EMIT_PTX))
    return llvm::Error::success();
  return makeError(KVC_INVALID_ARGUMENT,
                   "emit: expected " +
                       llvm::StringRef(isGPU ? "ptx, llvm or mlir"
                                             : "obj, asm, llvm or mlir") +
                       " for target " + options.target.name + ", got " +
                       (isGPU ? "an object or assembly" : "ptx"));
}

/// Drops the kernels that were not asked for, and notes the parameters of the
/// rest. Their ops are from here on located in their kernel, which is what
/// errors and remarks of later passes begin with.
llvm::Error Compilation::keepKernels() {
  std::vector<std::string> available;
  for (auto function :
       llvm::make_early_inc_range(module->getOps<func::FuncOp>())) {
    auto kind =
        function->getAttrOfType<StringAttr>(KVCDialect::getKernelAttrName());
    if (!kind)
      continue;
    available.push_back(kind.str());
    if (!options.kernels.empty() &&
        !llvm::is_contained(options.kernels, kind.getValue())) {
      function.erase();
      continue;
    }
    signatures.push_back(
        signatureOf(kind.getValue(), function.getFunctionType()));
    function.walk([location = NameLoc::get(kind)](Operation *op) {
      op->setLoc(location);
    });
  }
  for (const std::string &wanted : options.kernels)
    if (!llvm::is_contained(available, wanted))
      return makeError(KVC_INVALID_ARGUMENT, "kernels: expected some of " +
                                                 llvm::join(available, ", ") +
                                                 "; got \"" + wanted + "\"");
  return llvm::Error::success();
}

/// Beside PTX, operations are from here on located in the lines of this text
/// too, which become its .loc lines.
void Compilation::printMLIR(llvm::raw_ostream &stream,
                            const std::string &file) {
  if (!(request.kinds & KVC_EMIT_PTX)) {
    module->print(stream);
    return;
  }
  generateLocationsFromIR(stream, file, *module, OpPrintingFlags());
  for (Operation &function : module->getOps())
    if (auto kind =
            function.getAttrOfType<StringAttr>(KVCDialect::getKernelAttrName()))
      function.walk(
          [&](Operation *op) { op->setLoc(NameLoc::get(kind, op->getLoc())); });
  hasLines = true;
}

llvm::Error Compilation::lower() {
  const Stage *mlirStage =
      request.mlirStage ? request.mlirStage : &hostStages().back();
  for (const Stage &stage : hostStages()) {
    PassManager passes(&context);
    passes.enableVerifier(options.verify);
    stage.build(passes, options);
    if (failed(passes.run(*module)))
      return makeError(
          KVC_UNSUPPORTED,
          spec.name + ": " +
              diagnostics.firstError("stage " + stage.name.str() + " failed"));
    if (&stage == &hostStages().front())
      if (llvm::Error error = keepKernels())
        return error;
    endPhase(stage.name);

    if ((request.kinds & KVC_EMIT_MLIR) && &stage == mlirStage) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      printMLIR(stream, stem + "." + stage.name.str() + ".mlir");
      add(KVC_EMIT_MLIR, "." + stage.name.str() + ".mlir", std::move(text));
      if (request.kinds == KVC_EMIT_MLIR)
        return llvm::Error::success();
      last = std::chrono::steady_clock::now(); // printing is no phase of
                                               // compilation
    }
  }
  return llvm::Error::success();
}

llvm::Error Compilation::emit() {
  KernelTable table;
  table.specJson = spec::printSpecCompact(spec);
  table.layoutHash = spec::layoutHash(spec);
  table.score = score;
  std::string symbol =
      uniqueTableSymbol(spec.name, options.target.name, specHash(table));
  if (hasLines) {
    // Lines alone, without tables for debuggers.
    PassManager passes(&context);
    passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(
        {LLVM::DIEmissionKind::DebugDirectivesOnly}));
    if (failed(passes.run(*module)))
      return makeError(KVC_FAILED, diagnostics.firstError("no lines"));
  }
  llvm::Expected<Emitter> emitter =
      Emitter::create(options.target, {options.asan, symbol, name});
  if (!emitter)
    return emitter.takeError();
  if (llvm::Error error = emitter->translate(*module, table))
    return makeError(KVC_FAILED,
                     diagnostics.firstError(llvm::toString(std::move(error))));
  if (llvm::Error error = emitter->checkIntrinsics())
    return error;
  endPhase("translate");
  if (request.kinds & KVC_EMIT_MANIFEST)
    add(KVC_EMIT_MANIFEST, ".json",
        printManifest(spec, emitter->target(), table, signatures, stem,
                      symbol));

  result.table = table;
  last = std::chrono::steady_clock::now();
  if (!(request.kinds &
        (KVC_EMIT_OBJ | KVC_EMIT_ASM | KVC_EMIT_LLVM | KVC_EMIT_PTX)))
    return llvm::Error::success();
  if (llvm::Error error = emitter->optimise())
    return error;
  endPhase("optimise");
  if (request.kinds & KVC_EMIT_LLVM)
    add(KVC_EMIT_LLVM, ".ll", emitter->printIR());
  if (request.kinds & KVC_EMIT_PTX) {
    llvm::Expected<std::string> text = emitter->emitPTX();
    if (!text)
      return text.takeError();
    add(KVC_EMIT_PTX, ".ptx", std::move(*text));
    endPhase("emit");
  }
  if (request.kinds & KVC_EMIT_ASM) {
    llvm::Expected<std::string> text = emitter->emitAssembly();
    if (!text)
      return text.takeError();
    add(KVC_EMIT_ASM, ".s", std::move(*text));
  }
  if (request.kinds & KVC_EMIT_OBJ) {
    last = std::chrono::steady_clock::now();
    llvm::Expected<std::string> object = emitter->emitObject();
    if (!object)
      return object.takeError();
    add(KVC_EMIT_OBJ, ".o", std::move(*object));
    endPhase("emit");
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

llvm::Expected<EmitResult>
Compiler::emit(llvm::StringRef specText, const CompileOptions &options,
               const EmitRequest &request,
               DiagnosticCatcher::RemarkFunction remark) {
  Compilation compilation(freshContext(), options, request, std::move(remark));
  if (llvm::Error error = compilation.run(specText))
    return std::move(error);
  return compilation.takeResult();
}

llvm::Expected<Artifact> Compiler::translate(llvm::StringRef specText,
                                             kvc_spec_format format) {
  MLIRContext &context = freshContext();
  llvm::Expected<OwningOpRef<ModuleOp>> module = readSpec(specText, context);
  if (!module)
    return module.takeError();
  AttentionSpecOp declaration = declarationIn(**module);
  const spec::Spec &spec = declaration.getSpec().getSpec();
  std::string stem = fileStem(spec.name);
  if (format == KVC_SPEC_JSON) {
    if (!declaration.getScore().empty())
      return makeError(KVC_UNSUPPORTED,
                       spec.name + ": score region: expected a spec that JSON "
                                   "can express, got a region, which only MLIR "
                                   "can");
    return Artifact{0, stem + ".json", spec::printSpec(spec)};
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream);
  return Artifact{0, stem + ".mlir", std::move(text)};
}

llvm::Expected<std::vector<Artifact>>
Compiler::split(llvm::StringRef specText) {
  llvm::Expected<OwningOpRef<ModuleOp>> module =
      readSpec(specText, freshContext());
  if (!module)
    return module.takeError();
  AttentionSpecOp declaration = declarationIn(**module);
  const spec::Spec &spec = declaration.getSpec().getSpec();
  std::string stem = fileStem(spec.name);
  std::vector<Artifact> parts = {{0, stem + ".json", spec::printSpec(spec)}};
  if (std::string score = scoreText(declaration); !score.empty())
    parts.push_back({0, stem + ".score.mlir", std::move(score)});
  return parts;
}

} // namespace kvc
