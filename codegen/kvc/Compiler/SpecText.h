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

/// Reads a spec file of either form; the first non-blank byte `{` means JSON.
/// Errors are "PLACE: what, expected, got", a JSON path or LINE:COLUMN.
llvm::Expected<spec::Spec> readSpec(llvm::StringRef text,
                                    mlir::MLIRContext &context);

/// A module that declares `spec`, and nothing else.
mlir::OwningOpRef<mlir::ModuleOp> makeSpecModule(const spec::Spec &spec,
                                                 mlir::MLIRContext &context);

/// The canonical text of `spec` as MLIR.
std::string printSpecMLIR(const spec::Spec &spec, mlir::MLIRContext &context);

/// `name` as the stem of a file name: characters other than letters, digits and
/// "._-" become '_', and one is put before a leading '.' or '-' or nothing.
std::string fileStem(llvm::StringRef name);

} // namespace kvc

#endif // KVC_COMPILER_SPECTEXT_H
