//===- kvc-opt.cpp - Runs passes on MLIR files ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/Register.h"
#ifdef KVC_HAS_TRANSFORMS
#include "kvc/Transforms/Passes.h"
#endif
#ifdef KVC_HAS_CONVERSION
#include "kvc/Conversion/Passes.h"
#endif
#ifdef KVC_HAS_CODEGEN
#include "kvc/Codegen/Pipelines.h"
#endif

#include "mlir/Conversion/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"

/// What is registered before main() are hundreds of options of LLVM's code
/// generators, of no use to passes: --help is for ours, --help-hidden has all.
static void hideOptionsOfLLVM() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (option->getOptionHiddenFlag() == llvm::cl::NotHidden &&
        llvm::is_contained(option->Categories, &llvm::cl::getGeneralCategory()))
      option->setHiddenFlag(llvm::cl::Hidden);
}

int main(int argc, char **argv) {
  hideOptionsOfLLVM();
  mlir::DialectRegistry registry;
  kvc::registerKVCDialects(registry);
  kvc::registerUpstreamDialects(registry);
#ifdef KVC_HAS_CODEGEN
  kvc::registerHostDialects(registry);
  kvc::registerHostPipelines();
#endif

  mlir::registerTransformsPasses();
  mlir::registerArithToLLVMConversionPass();
  mlir::registerFinalizeMemRefToLLVMConversionPass();
  mlir::registerReconcileUnrealizedCastsPass();
#ifdef KVC_HAS_TRANSFORMS
  kvc::registerKVCTransformsPasses();
#endif
#ifdef KVC_HAS_CONVERSION
  kvc::registerKVCConversionPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "kvc pass driver\n", registry));
}
