//===- kvc-lsp-server.cpp - MLIR with kvc's dialects in an editor ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Pipelines.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kvc::registerHostDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
