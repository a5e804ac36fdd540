//===- Targets.h - Names that the compiler knows ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_TARGETS_H
#define KVC_TOOLS_TARGETS_H

#include <string>
#include <vector>

namespace kvc {

/// Targets of code generation, "host" first.
std::vector<std::string> targetNames();
/// Whether a target's kernels run on NVIDIA's GPUs and the simulator.
bool isGPU(const std::string &target);
/// Those whose kernels a CPU runs.
std::vector<std::string> cpuNames();
/// Stages of compilation in their order.
std::vector<std::string> stageNames();

} // namespace kvc

#endif // KVC_TOOLS_TARGETS_H
