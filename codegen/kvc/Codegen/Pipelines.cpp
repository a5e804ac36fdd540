//===- Pipelines.cpp - The stages of compilation --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Pipelines.h"

#include "kvc/Conversion/Passes.h"
#include "kvc/Dialect/Register.h"
#include "kvc/Transforms/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/WithColor.h"
#include <algorithm>

using namespace mlir;

namespace kvc {

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Cleans up after a pass that leaves constants and dead values behind.
static void addCleanup(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

static void buildKernels(OpPassManager &passes, const CompileOptions &options) {
  passes.addPass(createCreateKernels());
}

static void buildSchedule(OpPassManager &passes,
                          const CompileOptions &options) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createSchedule(ScheduleOptions{
      options.decodeRows, options.prefillRows, options.tileTokens,
      options.target.vectorBits, options.target.warps, options.remarks}));
  functions.addPass(createSplitKV(
      SplitKVOptions{options.splitTokens, options.prefillSplitTokens,
                     options.target.warps, options.remarks}));
}

static void buildTiles(OpPassManager &passes, const CompileOptions &options) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createExpand());
  addCleanup(functions);
}

static void buildPlacement(OpPassManager &passes,
                           const CompileOptions &options) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createPlaceFactors(
      PlaceFactorsOptions{options.remarks, options.target.warps}));
  functions.addPass(createApplyPlacement());
  addCleanup(functions);
}

static void buildLoops(OpPassManager &passes, const CompileOptions &options) {
  if (options.target.warps) {
    OpPassManager &functions = passes.nest<func::FuncOp>();
    functions.addPass(createFormMma());
    addCleanup(functions);
    return;
  }
  passes.addNestedPass<func::FuncOp>(createConvertKVCToKVK(
      ConvertKVCToKVKOptions{options.target.integerDots, options.remarks}));
}

static void buildLayouts(OpPassManager &passes, const CompileOptions &options) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createDeriveStorage(
      DeriveStorageOptions{options.remarks, options.target.warps}));
  if (options.target.warps) {
    functions.addPass(createAssignLanes(AssignLanesOptions{options.remarks}));
    return;
  }
  functions.addPass(createAssignLayouts(AssignLayoutsOptions{options.remarks}));
}

static void buildVector(OpPassManager &passes, const CompileOptions &options) {
  if (options.target.warps) {
    passes.addPass(createConvertKVCToGPU(
        ConvertKVCToGPUOptions{options.target.hasFloat8}));
    passes.addPass(createExpandMath(
        ExpandMathOptions{/*hasF16C=*/true, /*hasSSE41=*/true}));
    OpPassManager &functions = passes.nest<func::FuncOp>();
    addCleanup(functions);
    functions.addPass(createLoopInvariantCodeMotionPass());
    return;
  }
  ConvertKVKToVectorOptions vectors;
  vectors.dot = nameOf(options.target.dot).str();
  vectors.vectorBits = options.target.vectorBits;
  auto distance = [](int64_t asked, int64_t target) {
    return asked ? std::max<int64_t>(0, asked) : target;
  };
  vectors.prefetchBytes =
      distance(options.prefetchBytes, options.target.prefetchBytes);
  vectors.prefetchPages =
      distance(options.prefetchPages, options.target.prefetchPages);
  passes.addPass(createConvertKVKToVector(vectors));
  passes.addPass(createExpandMath(
      ExpandMathOptions{options.target.hasF16C, options.target.hasSSE41}));
  OpPassManager &functions = passes.nest<func::FuncOp>();
  addCleanup(functions);
  functions.addPass(createLoopInvariantCodeMotionPass());
}

/// From upstream dialects to the LLVM dialect. Contractions become outer
/// products: the order in which each loaded vector meets every row.
static void buildLLVM(OpPassManager &passes, const CompileOptions &options) {
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createConvertKernelABI(ConvertKernelABIOptions{
      /*mxcsr=*/!options.target.warps, options.target.warps}));
  ConvertVectorToLLVMPassOptions vectors;
  vectors.vectorContractLowering = vector::VectorContractLowering::OuterProduct;
  passes.addPass(createConvertVectorToLLVMPass(vectors));
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

static const Stage kHostStages[] = {
    {"kernels", "one function per kernel, a level-0 op over its parameters",
     std::nullopt, buildKernels},
    {"schedule",
     "the same with the sizes of tiles and splits",
     {{0, 0}},
     buildSchedule},
    {"tiles",
     "loops over tiles with all arithmetic explicit (level 1)",
     {{0, 1}},
     buildTiles},
    {"placement",
     "scales and zeros at their places (level 2)",
     {{1, 2}},
     buildPlacement},
    {"loops",
     "loops over rows, scratch memory and kvk dots; on GPUs products on tensor "
     "cores (level 3)",
     {{2, 3}},
     buildLoops},
    {"layouts",
     "the same with storage orders and register layouts",
     {{3, 3}},
     buildLayouts},
    {"vector",
     "upstream dialects over 1-D vectors (level 4)",
     {{3, 4}},
     buildVector},
    {"llvm", "the LLVM dialect behind the kernel ABI", {{4, 5}}, buildLLVM},
};

llvm::ArrayRef<Stage> hostStages() { return kHostStages; }

const Stage *findHostStage(llvm::StringRef name) {
  const Stage *stage = llvm::find_if(
      kHostStages, [&](const Stage &each) { return each.name == name; });
  return stage == std::end(kHostStages) ? nullptr : stage;
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void registerHostDialects(DialectRegistry &registry) {
  registerKVCDialects(registry);
  registerUpstreamDialects(registry);
  registerConvertToLLVMDependentDialectLoading(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {

/// The options of a pipeline on kvc-opt's command line.
struct HostPipelineOptions : PassPipelineOptions<HostPipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("A target of `kvc compile`."),
                             llvm::cl::init("host")};
  Option<int64_t> decodeRows{
      *this, "decode-rows",
      llvm::cl::desc("Query rows of a tile of decode and of merge.")};
  Option<int64_t> prefillRows{
      *this, "prefill-rows",
      llvm::cl::desc("Query rows of a tile of prefill.")};
  Option<int64_t> tileTokens{*this, "tile-tokens",
                             llvm::cl::desc("Keys of a tile.")};
  Option<int64_t> splitTokens{*this, "split-tokens",
                              llvm::cl::desc("Keys of a split of decode.")};
  Option<int64_t> prefetchBytes{
      *this, "prefetch-bytes",
      llvm::cl::desc("Bytes to prefetch ahead; -1: none.")};
  Option<int64_t> prefetchPages{
      *this, "prefetch-pages",
      llvm::cl::desc("Pages to prefetch ahead; -1: none.")};
  Option<int64_t> prefillSplitTokens{
      *this, "prefill-split-tokens",
      llvm::cl::desc("Keys of a split of prefill.")};
  Option<bool> remarks{*this, "remarks",
                       llvm::cl::desc("Have passes explain their choices.")};
};

} // namespace

static void registerPipeline(llvm::StringRef name, llvm::StringRef summary,
                             llvm::ArrayRef<Stage> stages) {
  // The caller's handler gives errors a place in a file, which options have
  // not.
  auto build = [stages, option = "--" + name.str()](
                   OpPassManager &passes, llvm::StringRef text,
                   llvm::function_ref<LogicalResult(const llvm::Twine &)>)
      -> LogicalResult {
    HostPipelineOptions parsed;
    if (failed(parsed.parseFromString(text)))
      return failure();
    llvm::Expected<Target> target = parseTarget(parsed.target);
    if (!target) {
      llvm::WithColor::error(llvm::errs(), option)
          << llvm::toString(target.takeError()) << "\n";
      return failure();
    }
    CompileOptions options;
    options.target = std::move(*target);
    options.decodeRows = parsed.decodeRows;
    options.prefillRows = parsed.prefillRows;
    options.tileTokens = parsed.tileTokens;
    options.splitTokens = parsed.splitTokens;
    options.prefillSplitTokens = parsed.prefillSplitTokens;
    options.prefetchBytes = parsed.prefetchBytes;
    options.prefetchPages = parsed.prefetchPages;
    options.remarks = parsed.remarks;
    for (const Stage &stage : stages) {
      if (stage.levels)
        passes.addPass(createCheckLevel(CheckLevelOptions{
            stage.levels->first, stage.levels->second, options.target.warps}));
      stage.build(passes, options);
    }
    return success();
  };
  registerPassPipeline(
      name, summary, build,
      [](llvm::function_ref<void(const mlir::detail::PassOptions &)> visit) {
        visit(HostPipelineOptions());
      });
}

void registerHostPipelines() {
  registerPipeline("kvc-to-host",
                   "From a spec to the LLVM dialect, for a host target",
                   kHostStages);
  for (const Stage &stage : kHostStages)
    registerPipeline(("kvc-stage-" + stage.name).str(), stage.summary, stage);
}

} // namespace kvc
