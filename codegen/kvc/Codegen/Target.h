//===- Target.h - What kvc knows about a machine ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A target is a name of SPEC.md section 4 and everything that follows from it:
// what LLVM generates code for, and the few facts that passes choose by. Passes
// never see a name; two targets that agree in these facts get the same IR.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CODEGEN_TARGET_H
#define KVC_CODEGEN_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace kvc {

/// The instruction behind an integer `kvk.dot`.
enum class DotKind : uint8_t {
  FMA,    ///< f32 multiply and add from upstream dialects alone; no intrinsics.
  MAddWD, ///< Pairs of i16 products summed to i32, then added: (v)pmaddwd.
  DPWSSD  ///< The same fused with the accumulation: vpdpwssd.
};

struct Target {
  std::string name; ///< "x86-64-v4+vnni"; never "host".
  std::string triple;
  std::string cpu; ///< LLVM's name of the instruction-set level.
  std::string
      tuneCPU; ///< LLVM's name of the CPU to schedule for; may be empty.
  std::string features; ///< Beyond `cpu`: "+avx512vnni".
  DotKind dot = DotKind::FMA;
  unsigned vectorBits = 128;
  bool hasF16C = false; ///< Converts between f16 and f32 in one instruction.
  bool hasFMA =
      false; ///< Has a fused multiply-add; without it `fma` is a call.

  /// f32 lanes of one machine vector.
  unsigned lanes() const { return vectorBits / 32; }
};

/// The name of a dot kind, as pass options spell it: "fma", "maddwd", "dpwssd".
llvm::StringRef nameOf(DotKind dot);

/// Every name that parseTarget takes, in the order of the documentation.
llvm::ArrayRef<llvm::StringLiteral> targetNames();

/// The target called `name`. "host" is the highest level that this machine
/// runs, tuned for its CPU: its kernels are those of the level's own name,
/// scheduled for this machine. "portable" uses no intrinsic and nothing beyond
/// the architecture's baseline.
llvm::Expected<Target> parseTarget(llvm::StringRef name);

/// Success if this machine runs code for `target`, otherwise what it lacks.
llvm::Error checkRunsHere(const Target &target);

/// Code generator for `target`. Never ends the process.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const Target &target);

} // namespace kvc

#endif // KVC_CODEGEN_TARGET_H
