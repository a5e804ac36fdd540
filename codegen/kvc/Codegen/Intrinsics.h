//===- Intrinsics.h - What a target can select ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CODEGEN_INTRINSICS_H
#define KVC_CODEGEN_INTRINSICS_H

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kvc {

struct Target;

/// Fails on the first machine intrinsic in `module` that `target` has no
/// instruction for, or that kvc does not know: LLVM would end the process on
/// it.
llvm::Error checkIntrinsics(const llvm::Module &module,
                            const llvm::TargetMachine &machine,
                            const Target &target);

/// The lowest version of PTX, 81 for 8.1, that has all instructions which some
/// kernels of GPUs use and others do not; 0 where `module` uses none of them.
unsigned ptxVersionFor(const llvm::Module &module);

} // namespace kvc

#endif // KVC_CODEGEN_INTRINSICS_H
