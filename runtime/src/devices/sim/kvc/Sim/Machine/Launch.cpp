//===- Launch.cpp - From options to blocks that run -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Scheduler.h"

#include <algorithm>

using namespace kvc::sim;

namespace kvc::sim {

/// Checks options and runs the kernel.
class Launcher {
public:
  Launcher(LoadedModule &module, std::string_view name, Memory &memory,
           const LaunchOptions &options)
      : module(module), name(name), memory(memory), options(options) {}

  LaunchResult run() {
    Expected<ExecutableKernel *> found = module.executable(name);
    if (!found)
      return failed(found.error());
    ExecutableKernel &kernel = **found;
    if (std::optional<Error> error = clusterError(kernel))
      return failed(*error);
    if (!checkShape(kernel) || !checkMemory(kernel))
      return std::move(result);
    const LaunchOptions settled = settledOptions();
    if (std::optional<Error> error = kernel.bind(module.addresses, settled))
      return failed(*error);
    runBlocks(kernel, settled, memory, module.constants, result);
    if (result.fault && result.fault->at != kNowhere)
      result.at = kernel.program.places[result.fault->at].at;
    return std::move(result);
  }

  std::optional<Error> findMissing() {
    Expected<ExecutableKernel *> found = module.executable(name);
    if (!found)
      return found.error();
    if (std::optional<Error> error = clusterError(**found))
      return error;
    return (*found)->bind(module.addresses, settledOptions());
  }

private:
  /// With the tensor cores that the module's target means.
  LaunchOptions settledOptions() const {
    LaunchOptions settled = options;
    if (!settled.mma.core && !settled.mma.isChain) {
      settled.mma.core = tensorCoreFor(int(module.module().target.sm));
      if (!settled.mma.core)
        settled.mma.core = tensorCores().data();
    }
    return settled;
  }

  LaunchResult failed(const Error &error) {
    Fault fault;
    fault.kind = Fault::Kind::Unsupported;
    fault.message = error.message;
    result.fault = fault;
    result.at = error.at;
    return std::move(result);
  }

  bool fail(const std::string &what, const std::string &expected,
            const std::string &got) {
    Fault fault;
    fault.kind = Fault::Kind::Unsupported;
    fault.message = what + ": expected " + expected + ", got " + got;
    result.fault = fault;
    return false;
  }

  static std::string str(const Extent3 &extent) {
    return std::to_string(extent.x) + " x " + std::to_string(extent.y) + " x " +
           std::to_string(extent.z);
  }

  const FunctionHints &hintsOf(const ExecutableKernel &kernel) const {
    return module.module()
        .functions[kernel.program.functions.front().indexInModule]
        .hints;
  }

  /// Of a kernel whose blocks come in clusters.
  std::optional<Error> clusterError(const ExecutableKernel &kernel) const {
    const FunctionHints &hints = hintsOf(kernel);
    for (unsigned extent : hints.requiredCluster)
      if (extent > 1)
        return Error{hints.requiredClusterAt,
                     ".reqnctapercluster: expected clusters of one block, got "
                     "more, which this machine does not have"};
    return std::nullopt;
  }

  bool checkShape(const ExecutableKernel &kernel) {
    const Extent3 &block = options.block, &grid = options.grid;
    if (block.count() == 0 || block.x > 1024 || block.y > 1024 ||
        block.z > 64 || block.count() > 1024)
      return fail("block", "1 to 1024 threads, at most 1024 x 1024 x 64",
                  str(block));
    if (grid.count() == 0 || grid.x > 0x7FFFFFFF || grid.y > 65535 ||
        grid.z > 65535)
      return fail("grid", "1 to 2^31-1 x 65535 x 65535 blocks", str(grid));
    const FunctionHints &hints = hintsOf(kernel);
    const uint32_t sizes[] = {block.x, block.y, block.z};
    uint64_t most = 1;
    for (int i = 0; i < 3; ++i) {
      most *= std::max(1u, hints.maxThreads[i]);
      if (hints.requiredThreads[0] != 0 &&
          sizes[i] != std::max(1u, hints.requiredThreads[i]))
        return fail("block",
                    str({std::max(1u, hints.requiredThreads[0]),
                         std::max(1u, hints.requiredThreads[1]),
                         std::max(1u, hints.requiredThreads[2])}) +
                        " threads as the kernel's .reqntid says",
                    str(block));
    }
    if (hints.maxThreads[0] != 0 && block.count() > most)
      return fail("block",
                  "at most " + std::to_string(most) +
                      " threads as the kernel's .maxntid says",
                  std::to_string(block.count()));
    return true;
  }

  bool checkMemory(const ExecutableKernel &kernel) {
    const Program &program = kernel.program;
    if (options.params.size() != program.paramBytes)
      return fail("parameters", std::to_string(program.paramBytes) + " bytes",
                  std::to_string(options.params.size()));
    const uint64_t most = sharedLimit(module.module().target.sm);
    if (options.dynamicShared > most ||
        program.dynamicSharedOffset > most - options.dynamicShared)
      return fail("shared memory",
                  "at most " + std::to_string(most) +
                      " bytes of a block on sm_" +
                      std::to_string(module.module().target.sm),
                  std::to_string(program.dynamicSharedOffset) + " static and " +
                      std::to_string(options.dynamicShared) + " dynamic");
    return true;
  }

  /// What a block may have at most, when it asks for it.
  static uint64_t sharedLimit(unsigned sm) {
    const uint64_t kib = sm >= 120              ? 99
                         : sm >= 90             ? 227
                         : sm == 80 || sm == 87 ? 163
                         : sm >= 86             ? 99
                         : sm >= 75             ? 64
                         : sm >= 70             ? 96
                                                : 48;
    return kib * 1024;
  }

  LoadedModule &module;
  std::string_view name;
  Memory &memory;
  const LaunchOptions &options;
  LaunchResult result;
};

} // namespace kvc::sim

LaunchResult kvc::sim::launch(LoadedModule &module, std::string_view kernel,
                              Memory &memory, const LaunchOptions &options) {
  return Launcher(module, kernel, memory, options).run();
}

std::optional<Error> kvc::sim::whatIsMissing(LoadedModule &module,
                                             std::string_view kernel) {
  Memory unused;
  const LaunchOptions options;
  return Launcher(module, kernel, unused, options).findMissing();
}
