//===- Pipelines.h - The stages of compilation ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One list of stages, in order, each a name and a function that adds its
// passes. The compiler, `kvc compile --stage` and kvc-opt's pipelines all walk
// this list; there is no second one.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CODEGEN_PIPELINES_H
#define KVC_CODEGEN_PIPELINES_H

#include "kvc/Codegen/Options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <utility>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace kvc {

/// A stage of kernels at a level of dialects/README.md, 5 being the LLVM
/// dialect behind the kernel ABI. What is at its highest level already is left
/// as it is.
struct Stage {
  llvm::StringLiteral name, summary;
  /// Of what it takes; the highest is what it leaves. None for a spec.
  std::optional<std::pair<int, int>> levels;
  void (*build)(mlir::OpPassManager &passes, const CompileOptions &options);
};

/// From a module with one `kvc.attention_spec` to the LLVM dialect.
llvm::ArrayRef<Stage> hostStages();

/// The stage of that name, or null.
const Stage *findHostStage(llvm::StringRef name);

/// Every dialect of every stage, with what lowers them to LLVM IR.
void registerHostDialects(mlir::DialectRegistry &registry);

/// Registers `--kvc-to-host`, all stages in one, and `--kvc-stage-NAME` for
/// each, with kvc-check-level before each stage.
void registerHostPipelines();

} // namespace kvc

#endif // KVC_CODEGEN_PIPELINES_H
