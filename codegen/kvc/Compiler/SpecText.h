//===- SpecText.h - Specs as JSON and as MLIR -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPECTEXT_H
#define KVC_COMPILER_SPECTEXT_H

#include "kvc/Spec/Spec.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace kvc {

class AttentionSpecOp;

/// Reads a spec file of either form; the first non-blank byte `{` means JSON.
/// The result is canonical: equal for specs and score regions that are.
/// Errors are "PLACE: what, expected, got", a JSON path or LINE:COLUMN.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
readSpec(llvm::StringRef text, mlir::MLIRContext &context);

/// A module that declares `spec`, and nothing else.
mlir::OwningOpRef<mlir::ModuleOp> makeSpecModule(const spec::Spec &spec,
                                                 mlir::MLIRContext &context);

/// The one operation of such a module.
AttentionSpecOp declarationIn(mlir::ModuleOp module);

/// The score region as MLIR writes it, "score(..) {..}"; "" where there is
/// none. Behind a declaration without one it gives the whole.
std::string scoreText(AttentionSpecOp declaration);

/// What artefacts are named after: the spec, and with a score region 8 digits
/// of that text's hash.
std::string artifactName(llvm::StringRef specName, llvm::StringRef score);

/// `name` as the stem of a file name: characters other than letters, digits and
/// "._-" become '_', and one is put before a leading '.' or '-' or nothing.
std::string fileStem(llvm::StringRef name);

} // namespace kvc

#endif // KVC_COMPILER_SPECTEXT_H
