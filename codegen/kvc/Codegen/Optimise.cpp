//===- Optimise.cpp - LLVM passes that pay on generated kernels
//------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The list is short on purpose. Left out, and why:
//   reassociate     turns chains of integer accumulators into trees, which
//   spill loop unrolling  kvc unrolls; more of it evicts accumulators
//   vectorisers     the code is vectors already
//   loop idioms     make calls of memset and memcpy, and kernels call nothing
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Optimise.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace kvc {

static FunctionPassManager functionPasses() {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());

  // scf loops test at the top; rotated they have a preheader for LICM to fill.
  LoopPassManager loops;
  loops.addPass(LoopRotatePass());
  loops.addPass(LICMPass(LICMOptions()));
  passes.addPass(
      createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));

  passes.addPass(GVNPass());
  passes.addPass(InstCombinePass());
  passes.addPass(ADCEPass());
  passes.addPass(SimplifyCFGPass(
      SimplifyCFGOptions().sinkCommonInsts(true).hoistCommonInsts(true)));
  return passes;
}

void optimiseModule(Module &module, TargetMachine &machine, bool asan) {
  LoopAnalysisManager loopAnalyses;
  FunctionAnalysisManager functionAnalyses;
  CGSCCAnalysisManager cgsccAnalyses;
  ModuleAnalysisManager moduleAnalyses;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(moduleAnalyses);
  builder.registerCGSCCAnalyses(cgsccAnalyses);
  builder.registerFunctionAnalyses(functionAnalyses);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functionAnalyses, cgsccAnalyses,
                               moduleAnalyses);

  ModulePassManager passes;
  passes.addPass(createModuleToFunctionPassAdaptor(functionPasses()));
  if (asan) {
    // No constructor: a kernel module has no start-up code, and its only
    // globals are constants that kernels index by themselves.
    AddressSanitizerOptions options;
    options.UseAfterReturn = AsanDetectStackUseAfterReturnMode::Never;
    passes.addPass(AddressSanitizerPass(
        options, /*UseGlobalGC=*/false, /*UseOdrIndicator=*/false,
        AsanDtorKind::None, AsanCtorKind::None));
  }
  passes.run(module, moduleAnalyses);
}

} // namespace kvc
