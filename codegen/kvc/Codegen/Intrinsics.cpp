//===- Intrinsics.cpp - What a target can select --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Intrinsics.h"

#include "kvc/Codegen/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace kvc {

namespace {

/// Machine intrinsics by prefix and the features that their instructions need,
/// the more specific prefix first.
struct Requirement {
  StringLiteral prefix, features;
  unsigned ptxVersion = 0; ///< Beyond that of every generation.
};
constexpr Requirement kRequirements[] = {
    {"llvm.x86.sse.", "+sse"},
    {"llvm.x86.sse2.", "+sse2"},
    {"llvm.x86.ssse3.", "+ssse3"},
    {"llvm.x86.sse41.", "+sse4.1"},
    {"llvm.x86.avx2.", "+avx2"},
    {"llvm.x86.avx512.vpdp", "+avx512vnni,+avx512vl"},
    {"llvm.x86.avx512.vpermi2var.qi", "+avx512vbmi"},
    {"llvm.x86.avx512.permvar.qi", "+avx512vbmi"},
    {"llvm.x86.avx512.", "+avx512f,+avx512bw,+avx512dq,+avx512vl"},
    {"llvm.x86.avx.", "+avx"},
    {"llvm.x86.vcvtps2ph.", "+f16c"},
    // Every generation of kGenerations has these.
    {"llvm.nvvm.bar.warp.sync", ""},
    {"llvm.nvvm.barrier", ""},
    {"llvm.nvvm.ex2.", ""},
    {"llvm.nvvm.lg2.", ""},
    {"llvm.nvvm.mma.m16n8k16.", ""},
    {"llvm.nvvm.prmt", ""},
    {"llvm.nvvm.read.ptx.sreg.", ""},
    {"llvm.nvvm.shfl.sync.", ""},
    {"llvm.nvvm.vote.any.sync", ""},
    {"llvm.nvvm.ff2", ""},
    // What hasFloat8 stands for.
    {"llvm.nvvm.e4m3x2.", "", 81},
    {"llvm.nvvm.e5m2x2.", "", 81},
};

/// Null where kvc does not know it.
const Requirement *requirementOf(StringRef intrinsic) {
  const Requirement *known =
      find_if(kRequirements, [&](const Requirement &each) {
        return intrinsic.starts_with(each.prefix);
      });
  return known == std::end(kRequirements) ? nullptr : known;
}

/// Whether `name` belongs to one machine ("llvm.x86.avx2.pmadd.wd") rather than
/// to LLVM's language, which every backend lowers.
bool isMachineIntrinsic(StringRef name) {
  return any_of(ArrayRef<StringLiteral>{"llvm.x86.", "llvm.aarch64.",
                                        "llvm.arm.", "llvm.nvvm.",
                                        "llvm.amdgcn."},
                [&](StringRef prefix) { return name.starts_with(prefix); });
}

} // namespace

Error checkIntrinsics(const Module &module, const TargetMachine &machine,
                      const Target &target) {
  const MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  for (const Function &function : module) {
    StringRef name = function.getName();
    if (!function.isIntrinsic() || function.use_empty() ||
        !isMachineIntrinsic(name))
      continue;
    const Requirement *known = requirementOf(name);
    if (!known)
      return createStringError("target " + target.name +
                               ": unknown intrinsic " + name);
    if (!subtarget.checkFeatures(known->features))
      return createStringError("target " + target.name + ": intrinsic " + name +
                               " needs " + known->features);
  }
  return Error::success();
}

unsigned ptxVersionFor(const Module &module) {
  unsigned version = 0;
  for (const Function &function : module)
    if (function.isIntrinsic() && !function.use_empty())
      if (const Requirement *known = requirementOf(function.getName()))
        version = std::max(version, known->ptxVersion);
  return version;
}

} // namespace kvc
