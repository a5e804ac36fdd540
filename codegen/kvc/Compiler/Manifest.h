//===- Manifest.h - What a program must know of an artefact -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_MANIFEST_H
#define KVC_COMPILER_MANIFEST_H

#include "kvc/Codegen/KernelTable.h"
#include "kvc/Codegen/Options.h"
#include "kvc/Spec/Spec.h"
#include <string>
#include <vector>

namespace mlir {
class FunctionType;
} // namespace mlir

namespace kvc {

/// One parameter of a kernel in the argument struct (the rule of kernel_abi.h).
struct KernelParameter {
  std::string type; ///< "!kvc.cache", "memref<?x128xf32>", "index".
  int64_t offset;   ///< Bytes from the start of the struct.
};

struct KernelSignature {
  std::string kernel;
  std::vector<KernelParameter> parameters;
  int64_t bytes = 0; ///< Size of the argument struct.
};

/// From the type of a kernel's level-0 function.
KernelSignature signatureOf(llvm::StringRef kernel, mlir::FunctionType type);

/// "kvc 0.1.0, LLVM 22.1.8".
std::string compilerVersion();

/// SHA-256 of the canonical spec and its score region, in hexadecimal digits.
std::string specHash(const KernelTable &table);

/// The manifest beside an object: JSON, keys in a fixed order. `stem` is the
/// name of the object file without its suffix, `symbol` that of its table.
std::string printManifest(const spec::Spec &spec, const Target &target,
                          const KernelTable &table,
                          const std::vector<KernelSignature> &signatures,
                          llvm::StringRef stem, llvm::StringRef symbol);

} // namespace kvc

#endif // KVC_COMPILER_MANIFEST_H
