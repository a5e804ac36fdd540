//===- Optimise.cpp - LLVM passes that pay on generated kernels -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The list is short on purpose. Left out, and why:
//   reassociate     turns chains of integer accumulators into trees: spills
//   loop unrolling  kvc unrolls; more of it evicts accumulators
//   vectorisers     the code is vectors already
//   loop idioms     make calls of memset and memcpy, and kernels call nothing
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Optimise.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
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
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace kvc {

/// The integer type of the same shape where `type` is bfloat, otherwise null.
static Type *integerLike(Type *type) {
  if (!type->getScalarType()->isBFloatTy())
    return nullptr;
  Type *element = Type::getInt16Ty(type->getContext());
  auto *vector = dyn_cast<VectorType>(type);
  return vector ? VectorType::get(element, vector->getElementCount()) : element;
}

/// Moves bfloats through memory as integers. Kernels only ever take them apart
/// bit by bit, so none is left then; on machines without bfloat registers one
/// that lives across blocks would be kept as f32, with library calls to get
/// there and back.
static void moveBFloatsAsIntegers(Function &function) {
  IRBuilder<> builder(function.getContext());
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      Type *type = integerLike(load->getType());
      if (!type)
        continue;
      builder.SetInsertPoint(load);
      LoadInst *bits =
          builder.CreateAlignedLoad(type, load->getPointerOperand(),
                                    load->getAlign(), load->isVolatile());
      load->replaceAllUsesWith(builder.CreateBitCast(bits, load->getType()));
      load->eraseFromParent();
    } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      Type *type = integerLike(store->getValueOperand()->getType());
      if (!type)
        continue;
      builder.SetInsertPoint(store);
      store->setOperand(0,
                        builder.CreateBitCast(store->getValueOperand(), type));
    }
  }
}

/// What hosts and GPUs do alike: less in loops, and nothing twice. scf loops
/// test at the top; rotated they have a preheader for LICM to fill.
static void addLoopPasses(FunctionPassManager &passes) {
  LoopPassManager loops;
  loops.addPass(LoopRotatePass());
  loops.addPass(LICMPass(LICMOptions()));
  passes.addPass(
      createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
  passes.addPass(GVNPass());
  passes.addPass(InstCombinePass());
  passes.addPass(ADCEPass());
}

static FunctionPassManager functionPasses() {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
  addLoopPasses(passes);
  passes.addPass(SimplifyCFGPass(
      SimplifyCFGOptions().sinkCommonInsts(true).hoistCommonInsts(true)));
  return passes;
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

/// Assembly that the lanes of a warp run together must not move below
/// conditions; the dialect cannot say so.
static void markConvergent(Function &function) {
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallInst>(&instruction))
      if (auto *text = dyn_cast<InlineAsm>(call->getCalledOperand());
          text && StringRef(text->getAsmString()).contains(".sync"))
        call->setConvergent();
}

/// Vectors of a lane's elements become scalars; pairs of 16 bits are one
/// register.
static FunctionPassManager warpPasses() {
  FunctionPassManager passes;
  ScalarizerPassOptions scalars;
  scalars.ScalarizeMinBits = 32;
  scalars.ScalarizeLoadStore = false;
  passes.addPass(ScalarizerPass(scalars));
  passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  addLoopPasses(passes);
  passes.addPass(SimplifyCFGPass());
  return passes;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static void run(Module &module, TargetMachine &machine,
                ModulePassManager passes) {
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
  passes.run(module, moduleAnalyses);
}

void optimiseWarps(Module &module, TargetMachine &machine) {
  for (Function &function : module)
    markConvergent(function);
  ModulePassManager passes;
  passes.addPass(createModuleToFunctionPassAdaptor(warpPasses()));
  run(module, machine, std::move(passes));
}

void optimiseModule(Module &module, TargetMachine &machine, bool asan) {
  for (Function &function : module)
    moveBFloatsAsIntegers(function);

  ModulePassManager passes;
  passes.addPass(createModuleToFunctionPassAdaptor(functionPasses()));
  if (asan) {
    // No constructor: a kernel module has no start-up code, and its only
    // globals are constants that kernels index by themselves.
    AddressSanitizerOptions options;
    options.UseAfterReturn = AsanDetectStackUseAfterReturnMode::Never;
    // Inline checks of vectors wider than 16 bytes look at the first and the
    // last byte; the functions look at all of them, and compile in less time.
    options.InstrumentationWithCallsThreshold = 0;
    passes.addPass(AddressSanitizerPass(
        options, /*UseGlobalGC=*/false, /*UseOdrIndicator=*/false,
        AsanDtorKind::None, AsanCtorKind::None));
  }
  run(module, machine, std::move(passes));
}

} // namespace kvc
