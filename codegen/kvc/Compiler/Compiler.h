//===- Compiler.h - Spec and options to artefacts ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_COMPILER_H
#define KVC_COMPILER_COMPILER_H

#include "kvc/Codegen/KernelTable.h"
#include "kvc/Codegen/Options.h"
#include "kvc/Codegen/Pipelines.h"
#include "kvc/Compiler/Diagnostics.h"
#include "kvc/Spec/Spec.h"
#include "kvc/jit.h"
#include <memory>
#include <optional>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace kvc {

/// A named buffer; kvc_artifact with its memory.
struct Artifact {
  uint32_t kind; ///< KVC_EMIT_*, or 0.
  std::string name, data;
};

/// What to make: kinds of artefacts, and the stage after which MLIR is printed.
struct EmitRequest {
  uint32_t kinds = 0;
  const Stage *mlirStage = nullptr; ///< Null: the last.
};

struct EmitResult {
  std::vector<Artifact> artifacts; ///< In the order of the kinds.
  std::vector<kvc_phase> phases;   ///< Names live as long as the process.
  KernelTable table;               ///< Unless only MLIR was made.
};

/// The compiler behind kvc/jit.h. Errors carry their kvc_status (Status.h). One
/// call at a time.
class Compiler {
public:
  Compiler();
  ~Compiler();

  llvm::Expected<EmitResult> emit(llvm::StringRef specText,
                                  const CompileOptions &options,
                                  const EmitRequest &request,
                                  DiagnosticCatcher::RemarkFunction remark);

  llvm::Expected<Artifact> translate(llvm::StringRef specText,
                                     kvc_spec_format format);

  /// What JSON can say of a spec, then its score region, if there is one.
  llvm::Expected<std::vector<Artifact>> split(llvm::StringRef specText);

private:
  mlir::MLIRContext &freshContext();

  std::unique_ptr<mlir::MLIRContext> context;
  unsigned usesLeft = 0;
};

} // namespace kvc

#endif // KVC_COMPILER_COMPILER_H
