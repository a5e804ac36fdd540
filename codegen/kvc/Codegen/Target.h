//===- Target.h - What kvc knows about a machine ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A target is a name of `kvc compile --target` and everything that follows from
// it: what LLVM generates code for, and the few facts that passes choose by.
// Passes never see a name; two targets that agree in these facts get the same
// IR.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CODEGEN_TARGET_H
#define KVC_CODEGEN_TARGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace kvc {

/// How integer dots are computed, in the words of `convert-kvk-to-vector`.
enum class DotKind : uint8_t {
  Portable, ///< Upstream dialects alone; no intrinsics.
  AVX2,   ///< Pairs of i16 products summed to i32, then added: vpmaddwd on ymm.
  AVX512, ///< The same on zmm.
  VNNI    ///< Fused with the accumulation: vpdpwssd on zmm.
};

struct Target {
  std::string name; ///< "x86-64-v4+vnni"; never "host".
  std::string triple;
  /// LLVM's name of the instruction-set level, and what comes on top of it:
  /// "+avx512vnni".
  std::string cpu, features;
  /// What a machine must have to run the code: LLVM's names of features, which
  /// are those of __builtin_cpu_supports. Unlike `features` this has no tuning.
  std::vector<std::string> needs;
  /// LLVM's name of the CPU to schedule for; may be empty.
  std::string tuneCPU;
  DotKind dot = DotKind::Portable;
  unsigned vectorBits = 128;
  bool integerDots = true; ///< Codes meet 16-bit integer weights, not f32.
  bool hasF16C = false;    ///< Converts between f16 and f32 in one instruction.
  bool hasSSE41 = false;   ///< Rounds floats to integers in one instruction.
  /// How far ahead of its loads a kernel prefetches codes; 0: it does not.
  int64_t prefetchBytes = 0, prefetchPages = 0;

  /// Kernels run in warps of 32 lanes on a GPU; what is above is of hosts, but
  /// for names.
  bool warps = false;
  bool hasFloat8 = false; ///< Converts pairs of 8-bit floats to f16.
  /// Version of PTX, 78 for 7.8: the lowest with the generation and with what
  /// all kernels use. Emitter raises it to what a module uses beyond that.
  unsigned ptxVersion = 0;
  void setPTXVersion(unsigned version);

  /// f32 lanes of one machine vector.
  unsigned lanes() const { return vectorBits / 32; }
};

/// The name of a dot kind, as passes spell it: "portable", "avx2", "avx512",
/// "vnni".
llvm::StringRef nameOf(DotKind dot);

struct TargetName {
  llvm::StringLiteral name, summary;
};

/// Every name that parseTarget takes, in the order of the documentation.
llvm::ArrayRef<TargetName> targetNames();

/// The target called `name`. "host" is the highest level that this machine
/// runs, tuned for its CPU: its kernels are those of the level's own name,
/// scheduled for this machine. "portable" uses no intrinsic
/// and nothing beyond the architecture's baseline, and computes in f32
/// throughout: the oracle of the other targets.
llvm::Expected<Target> parseTarget(llvm::StringRef name);

/// Success if this machine runs code for `target`, otherwise what it lacks.
llvm::Error checkRunsHere(const Target &target);

/// Code generator for `target`. Never ends the process.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const Target &target);

} // namespace kvc

#endif // KVC_CODEGEN_TARGET_H
