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

#include <vector>

/// What is registered before main() are hundreds of options of LLVM's code
/// generators, of no use to passes: --help is for ours, --help-hidden has all.
static void hideOptionsOfLLVM() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (option->getOptionHiddenFlag() == llvm::cl::NotHidden &&
        llvm::is_contained(option->Categories, &llvm::cl::getGeneralCategory()))
      option->setHiddenFlag(llvm::cl::Hidden);
}

/// The command line, with diagnostics that do not show all IR below their op
/// unless it asks for that.
static std::vector<char *> withoutOpsInDiagnostics(int argc, char **argv) {
  static char option[] = "--mlir-print-op-on-diagnostic=false";
  const llvm::StringRef name = "mlir-print-op-on-diagnostic";
  std::vector<char *> args(argv, argv + argc);
  if (llvm::none_of(args, [&](llvm::StringRef arg) {
        return arg.ltrim('-').split('=').first == name;
      }))
    args.insert(args.begin() + 1, option);
  return args;
}

int main(int argc, char **argv) {
  hideOptionsOfLLVM();
  std::vector<char *> args = withoutOpsInDiagnostics(argc, argv);
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
      mlir::MlirOptMain(static_cast<int>(args.size()), args.data(),
                        "kvc pass driver\n", registry));
}
