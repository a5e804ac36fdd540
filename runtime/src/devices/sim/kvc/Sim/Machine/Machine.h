//===- Machine.h - A device that runs kernels -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A module is placed into a device's memory once; its kernels are then launched
// as often as one likes. README.md says how blocks, warps and lanes take turns.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_MACHINE_H
#define KVC_SIM_MACHINE_MACHINE_H

#include "kvc/Sim/Decode/Decoder.h"
#include "kvc/Sim/Machine/Memory.h"
#include "kvc/Sim/Machine/Observer.h"
#include "kvc/Sim/Numerics/Approx.h"
#include "kvc/Sim/Numerics/TensorCore.h"

#include <functional>
#include <map>
#include <span>

namespace kvc::sim {

struct ExecutableKernel;

/// A module whose variables lie in memory.
class LoadedModule {
public:
  /// Parses, places and initialises variables. The memory must outlive it.
  static Expected<std::unique_ptr<LoadedModule>> load(std::string text,
                                                      Memory &memory);
  ~LoadedModule();
  LoadedModule(const LoadedModule &) = delete;
  LoadedModule &operator=(const LoadedModule &) = delete;

  const Module &module() const { return *syntax; }
  const Symbols &symbols() const { return *names; }
  /// Its kernels with a body, in the order of the text.
  std::vector<std::string_view> kernels() const;
  /// A kernel, decoded when it is asked for the first time.
  Expected<const Program *> program(std::string_view kernel);
  /// Of a variable in .global; 0 if there is none of that name.
  uint64_t addressOf(std::string_view variable) const;
  /// The bank of .const, which launches read: a host may write to it.
  std::span<uint8_t> constantBank() { return constants; }

private:
  friend class Launcher;
  LoadedModule() = default;
  bool place(Memory &memory, Diagnosis &diagnosis);
  bool initialise(const Variable &variable, uint8_t *bytes,
                  Diagnosis &diagnosis) const;
  Expected<ExecutableKernel *> executable(std::string_view kernel);

  std::unique_ptr<Module> syntax;
  std::unique_ptr<Symbols> names;
  std::vector<uint64_t> addresses; ///< Of each variable of names.
  std::vector<uint8_t> constants;  ///< The bank of .const.
  std::map<std::string, std::unique_ptr<ExecutableKernel>, std::less<>> decoded;
};

/// A parameter of a kernel.
struct KernelParam {
  std::string_view name;
  Type type = Type::None;
  uint64_t offset = 0, bytes = 0;
  bool isArray = false; ///< A struct, passed by value.
};
/// In order; `kernel` is one of the module's.
std::vector<KernelParam> paramsOf(const Module &module,
                                  std::string_view kernel);

/// How sums of mma come out.
struct MmaMode {
  /// Null: what the module's target means.
  const TensorCore *core = nullptr;
  bool isChain = false; ///< A chain of f32 fma instead.
};

struct LaunchOptions {
  Extent3 grid, block;
  uint64_t dynamicShared = 0;
  std::vector<uint8_t> params; ///< As many bytes as the kernel has.
  MmaMode mma;
  ApproxMode approx;
  /// 0: blocks and warps in order. Others: an order of its own each.
  uint64_t seed = 0;
  /// Threads of the host, where blocks may run beside each other.
  unsigned threads = 1;
  SimdLevel level = bestSimdLevel();
  /// Warp instructions after which the launch is given up; 0: none.
  uint64_t maxSteps = 0;
  Observer *observer = nullptr;
  /// Called now and then on the calling thread: blocks done and of all.
  std::function<void(uint64_t, uint64_t)> progress;
};

struct LaunchResult {
  std::optional<Fault> fault;
  /// Of the fault; 0 if the launch itself was wrong.
  Position at;
  uint64_t steps = 0;  ///< Warp instructions.
  std::string printed; ///< By vprintf, block by block.
};

/// Runs one kernel to its end or its first fault. A kernel that does not decode
/// or does not fit the options is a fault too.
LaunchResult launch(LoadedModule &module, std::string_view kernel,
                    Memory &memory, const LaunchOptions &options);

/// Why a kernel does not run: what does not decode, or decodes but has no
/// handler.
std::optional<Error> whatIsMissing(LoadedModule &module,
                                   std::string_view kernel);

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_MACHINE_H
