//===- kvc-opt.cpp - Runs passes on MLIR files ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Pipelines.h"
#include "kvc/Conversion/Passes.h"
#include "kvc/Transforms/Passes.h"

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
  kvc::registerHostDialects(registry);

  mlir::registerTransformsPasses();
  mlir::registerArithToLLVMConversionPass();
  mlir::registerFinalizeMemRefToLLVMConversionPass();
  mlir::registerReconcileUnrealizedCastsPass();
  kvc::registerKVCTransformsPasses();
  kvc::registerKVCConversionPasses();
  kvc::registerHostPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "kvc pass driver\n", registry));
}
