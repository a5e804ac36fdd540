//===- Emit.h - From the LLVM dialect to machine code -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The last stretch, shared by the JIT and by ahead-of-time objects: one module
// of the LLVM dialect becomes LLVM IR with the table of its kernels, is
// checked, optimised, and printed as IR, assembly or an object.
//
// LLVM ends the process on what it cannot select and prints its own
// diagnostics; so intrinsics are checked against the target first, and every
// diagnostic ends up in the returned error.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CODEGEN_EMIT_H
#define KVC_CODEGEN_EMIT_H

#include "kvc/Codegen/KernelTable.h"
#include "kvc/Codegen/Target.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm
namespace mlir {
class ModuleOp;
} // namespace mlir

namespace kvc {

struct EmitOptions {
  bool asan = false;        ///< Instrument kernels for AddressSanitizer.
  std::string uniqueSymbol; ///< See addKernelTable.
  /// What entries of GPU kernels are called after: KIND_NAME.
  std::string artifactName;
};

/// One module on its way through LLVM. The steps are called in the order of
/// their declaration; an error from any of them is final.
class Emitter {
public:
  static llvm::Expected<Emitter> create(const Target &target,
                                        EmitOptions options);
  Emitter(Emitter &&);
  ~Emitter();

  /// Translates a module that is wholly in the LLVM dialect, names the target
  /// in it and adds `table`, whose `kernels` and `target` are filled in here.
  /// Of GPUs the table is not part of the module.
  llvm::Error translate(mlir::ModuleOp module, KernelTable &table);

  /// What code is generated for: what create got, of GPUs with the version of
  /// PTX that the module needs.
  const Target &target() const;

  /// Fails if the module calls an intrinsic that the target has no instruction
  /// for.
  llvm::Error checkIntrinsics() const;

  /// Runs the optimisation passes that pay on generated kernels.
  llvm::Error optimise();

  std::string printIR() const;

  /// Assembly text. Code generation consumes the module, so this works on a
  /// copy.
  llvm::Expected<std::string> emitAssembly() const;

  /// PTX, a kernel's entry for each function.
  llvm::Expected<std::string> emitPTX() { return emitAssembly(); }

  /// An ELF object without undefined symbols (AddressSanitizer's own excepted).
  llvm::Expected<std::string> emitObject();

private:
  Emitter();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace kvc

#endif // KVC_CODEGEN_EMIT_H
