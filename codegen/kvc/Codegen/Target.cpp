//===- Target.cpp - What kvc knows about a machine ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;

namespace kvc {

namespace {

/// One instruction-set level. `needs` are the features (LLVM's names) that the
/// level has beyond the one before it, for choosing "host" and for refusing to
/// run what the machine lacks.
struct Level {
  StringLiteral name, cpu, features;
  DotKind dot;
  unsigned vectorBits;
  bool integerDots, hasF16C, hasSSE41;
  ArrayRef<StringLiteral> needs;
};

constexpr StringLiteral kNeedsV3[] = {"avx2", "bmi",   "bmi2",  "f16c",
                                      "fma",  "lzcnt", "movbe", "popcnt"};
constexpr StringLiteral kNeedsV4[] = {"avx512f", "avx512bw", "avx512cd",
                                      "avx512dq", "avx512vl"};
constexpr StringLiteral kNeedsVNNI[] = {"avx512vnni"};

/// Lowest first. "portable" stands apart: it is no level, "host" never picks
/// it.
const Level kLevels[] = {
    {"x86-64", "x86-64", "", DotKind::Portable, 128, true, false, false, {}},
    {"x86-64-v3", "x86-64-v3", "", DotKind::AVX2, 256, true, true, true,
     kNeedsV3},
    {"x86-64-v4", "x86-64-v4", "", DotKind::AVX512, 512, true, true, true,
     kNeedsV4},
    // Without fast-dpwssd LLVM turns most vpdpwssd back into two instructions.
    {"x86-64-v4+vnni", "x86-64-v4", "+avx512vnni,+fast-dpwssd", DotKind::VNNI,
     512, true, true, true, kNeedsVNNI},
};
const Level kPortable = {
    "portable", "x86-64", "", DotKind::Portable, 128, false, false, false, {}};

/// A generation of NVIDIA GPUs: LLVM's name of it, and the lowest version of
/// PTX that has the generation and movmatrix, which is of 7.8.
struct Generation {
  StringLiteral name;
  unsigned ptxVersion;
  bool hasFloat8;
};
constexpr Generation kGenerations[] = {
    {"sm_80", 78, false}, {"sm_86", 78, false}, {"sm_89", 78, true},
    {"sm_90", 78, true},  {"sm_100", 86, true}, {"sm_120", 87, true},
};
constexpr StringLiteral kGPUTriple = "nvptx64-nvidia-cuda";

constexpr TargetName kTargetNames[] = {
    {"host", "the highest level that this machine runs, tuned for its CPU"},
    {"x86-64", "SSE2: every x86-64 machine"},
    {"x86-64-v3", "AVX2, FMA, F16C"},
    {"x86-64-v4", "AVX-512 F, BW, CD, DQ, VL"},
    {"x86-64-v4+vnni", "x86-64-v4 with AVX-512 VNNI"},
    {"portable", "no machine intrinsics, nothing beyond x86-64"},
    {"sm_80", "PTX for NVIDIA GPUs from A100 on"},
    {"sm_86", "PTX for GeForce 30, A10, A40"},
    {"sm_89", "PTX for L4, L40, GeForce 40; 8-bit floats in hardware"},
    {"sm_90", "PTX for H100, H200"},
    {"sm_100", "PTX for B200"},
    {"sm_120", "PTX for GeForce 50"},
};

constexpr StringLiteral kTriple = "x86_64-unknown-linux-gnu";

/// What `level` and the levels below it need; nothing for the baseline.
std::vector<std::string> needsOf(const Level &level) {
  std::vector<std::string> needs;
  if (level.needs.empty())
    return needs;
  for (const Level &each : kLevels) {
    for (StringRef need : each.needs)
      needs.push_back(need.str());
    if (each.name == level.name)
      break;
  }
  return needs;
}

Target makeTarget(const Level &level) {
  Target target;
  target.name = level.name.str();
  target.triple = kTriple.str();
  target.cpu = level.cpu.str();
  target.features = level.features.str();
  target.needs = needsOf(level);
  target.dot = level.dot;
  target.vectorBits = level.vectorBits;
  target.integerDots = level.integerDots;
  target.hasF16C = level.hasF16C;
  target.hasSSE41 = level.hasSSE41;
  // Decode is bound by latency without it; further ahead gains nothing.
  target.prefetchPages = level.integerDots ? 1 : 0;
  return target;
}

Target makeTarget(const Generation &generation) {
  Target target;
  target.name = generation.name.str();
  target.triple = kGPUTriple.str();
  target.cpu = generation.name.str();
  target.setPTXVersion(generation.ptxVersion);
  target.integerDots = false;
  target.warps = true;
  target.hasFloat8 = generation.hasFloat8;
  return target;
}

bool machineIsX86() {
  return Triple(sys::getProcessTriple()).getArch() == Triple::x86_64;
}

/// The first feature of `target` that this machine lacks; empty if it has them
/// all.
StringRef missingFeature(const Target &target,
                         const StringMap<bool> &features) {
  for (StringRef need : target.needs)
    if (!features.lookup(need))
      return need;
  return {};
}

Expected<Target> hostTarget() {
  if (!machineIsX86())
    return createStringError(
        "target host: kvc generates code for x86-64 machines, this one is " +
        sys::getProcessTriple());
  StringMap<bool> features = sys::getHostCPUFeatures();
  Target target = makeTarget(kLevels[0]);
  for (const Level &level : kLevels)
    if (Target higher = makeTarget(level);
        missingFeature(higher, features).empty())
      target = std::move(higher);
  target.tuneCPU = sys::getHostCPUName().str();
  return target;
}

/// LLVM's registry of targets is process-wide; filling it twice is harmless but
/// not thread-safe.
void initialiseLLVMTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

} // namespace

StringRef nameOf(DotKind dot) {
  switch (dot) {
  case DotKind::Portable:
    return "portable";
  case DotKind::AVX2:
    return "avx2";
  case DotKind::AVX512:
    return "avx512";
  case DotKind::VNNI:
    return "vnni";
  }
  llvm_unreachable("every dot kind has a name");
}

ArrayRef<TargetName> targetNames() { return kTargetNames; }

void Target::setPTXVersion(unsigned version) {
  ptxVersion = version;
  features = "+ptx" + std::to_string(version);
}

Expected<Target> parseTarget(StringRef name) {
  if (name == "host")
    return hostTarget();
  if (name == kPortable.name)
    return makeTarget(kPortable);
  for (const Level &level : kLevels)
    if (name == level.name)
      return makeTarget(level);
  for (const Generation &generation : kGenerations)
    if (name == generation.name)
      return makeTarget(generation);
  auto names = map_range(kTargetNames, [](const TargetName &each) {
    return StringRef(each.name);
  });
  return createStringError("target: expected one of " + join(names, ", ") +
                           "; got \"" + name + "\"");
}

Error checkRunsHere(const Target &target) {
  if (target.warps)
    return createStringError("target " + target.name +
                             ": is code for devices, not for this CPU");
  if (!machineIsX86())
    return createStringError("target " + target.name +
                             ": needs an x86-64 machine, this one is " +
                             sys::getProcessTriple());
  StringMap<bool> features = sys::getHostCPUFeatures();
  StringRef missing = missingFeature(target, features);
  if (missing.empty())
    return Error::success();
  return createStringError("target " + target.name + ": needs a CPU with " +
                           missing + ", this one (" + sys::getHostCPUName() +
                           ") lacks it");
}

Expected<std::unique_ptr<TargetMachine>>
createTargetMachine(const Target &target) {
  initialiseLLVMTargets();
  Triple triple(target.triple);
  std::string message;
  const llvm::Target *llvmTarget =
      TargetRegistry::lookupTarget(triple, message);
  if (!llvmTarget)
    return createStringError("target " + target.name +
                             ": this LLVM has no backend for it: " + message);
  TargetOptions options;
  // Kernels neither throw nor are unwound through.
  options.ExceptionModel = ExceptionHandling::None;
  std::unique_ptr<TargetMachine> machine(llvmTarget->createTargetMachine(
      triple, target.cpu, target.features, options, Reloc::PIC_,
      CodeModel::Small, CodeGenOptLevel::Default));
  if (!machine)
    return createStringError("target " + target.name +
                             ": LLVM cannot generate code for it");
  return machine;
}

} // namespace kvc
