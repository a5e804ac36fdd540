//===- Optimise.h - LLVM passes that pay on generated kernels ---*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CODEGEN_OPTIMISE_H
#define KVC_CODEGEN_OPTIMISE_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kvc {

/// The passes that pay on GPU kernels: vectors of a lane's elements become
/// scalars, and what exchanges values between lanes stays where it is.
void optimiseWarps(llvm::Module &module, llvm::TargetMachine &machine);

/// Optimises kernels in place. Loops arrive in their final shape: unrolled,
/// blocked and vectorised by kvc's own passes; what is left to LLVM is to keep
/// values in registers and loop-invariant work out of loops. With `asan` the
/// result is instrumented.
void optimiseModule(llvm::Module &module, llvm::TargetMachine &machine,
                    bool asan);

} // namespace kvc

#endif // KVC_CODEGEN_OPTIMISE_H
