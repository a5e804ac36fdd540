//===- MachineSupport.h - Kernels that run in tests -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_MACHINE_MACHINESUPPORT_H
#define KVC_TEST_UNIT_SIM_MACHINE_MACHINESUPPORT_H

#include "../PtxText.h"

#include "kvc/Sim/Machine/Machine.h"

#include <cstring>

namespace kvc::test {

/// A device with one module.
class Device {
public:
  explicit Device(const std::string &text, sim::Observer *observer = nullptr) {
    memory.setObserver(observer);
    options.observer = observer;
    sim::Expected<std::unique_ptr<sim::LoadedModule>> loaded =
        sim::LoadedModule::load(text, memory);
    if (loaded)
      module = std::move(*loaded);
    else
      ADD_FAILURE() << loaded.error().str() << "\n" << text;
  }

  /// An allocation with these values.
  template <typename T>
  uint64_t buffer(const std::vector<T> &values, std::string name = "buffer") {
    const uint64_t address =
        memory.allocate(values.size() * sizeof(T), std::move(name));
    EXPECT_TRUE(
        memory.write(address, values.data(), values.size() * sizeof(T)));
    return address;
  }

  template <typename T>
  std::vector<T> read(uint64_t address, size_t count) const {
    std::vector<T> values(count);
    EXPECT_TRUE(memory.read(address, values.data(), count * sizeof(T)));
    return values;
  }

  /// Launches with arguments laid out as their types are.
  template <typename... Args>
  sim::LaunchResult run(std::string_view kernel, sim::Extent3 grid,
                        sim::Extent3 block, Args... args) {
    options.grid = grid;
    options.block = block;
    options.params.clear();
    (add(args), ...);
    if (!module)
      return {};
    return sim::launch(*module, kernel, memory, options);
  }

  /// The same of a launch that must not fail.
  template <typename... Args>
  sim::LaunchResult mustRun(std::string_view kernel, sim::Extent3 grid,
                            sim::Extent3 block, Args... args) {
    sim::LaunchResult result = run(kernel, grid, block, args...);
    if (result.fault)
      ADD_FAILURE() << result.at.line << ":" << result.at.column << ": "
                    << result.fault->message;
    return result;
  }

  sim::Memory memory;
  std::unique_ptr<sim::LoadedModule> module;
  sim::LaunchOptions options;

private:
  template <typename T>
  void add(T value) {
    std::vector<uint8_t> &params = options.params;
    params.resize((params.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const size_t at = params.size();
    params.resize(at + sizeof(T));
    std::memcpy(params.data() + at, &value, sizeof(T));
  }
};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_MACHINE_MACHINESUPPORT_H
