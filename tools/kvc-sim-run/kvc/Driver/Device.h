//===- Device.h - The simulated device --------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Memory, modules and launches of one device, and who watches them. Everything
// here may be called by several threads; what needs the memory waits for the
// operation that runs.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DRIVER_DEVICE_H
#define KVC_DRIVER_DEVICE_H

#include "kvc/Driver/Objects.h"
#include "kvc/Driver/Reports.h"
#include "kvc/Driver/Settings.h"
#include "kvc/Sim/Syntax/Diagnostics.h"

namespace kvc::driver {

enum class MemoryKind : uint8_t {
  Device,
  Managed,    ///< The host's memory, given to both.
  Pinned,     ///< The same, as the host's.
  Registered, ///< The program's own.
  Module      ///< Variables.
};

/// Memory that a program can name.
struct Range {
  uint64_t address = 0, bytes = 0;
  MemoryKind kind = MemoryKind::Device;
  unsigned flags = 0;
  const Context *context = nullptr;
  uint64_t number = 0;

  bool isOfHost() const {
    return kind == MemoryKind::Managed || kind == MemoryKind::Pinned ||
           kind == MemoryKind::Registered;
  }
};

/// One end of a copy: memory of the host, else of the device.
struct Side {
  void *host = nullptr;
  uint64_t address = 0;
  uint64_t pitch = 0, slice = 0; ///< Bytes from row to row, plane to plane.
};

/// Rows of bytes.
struct Copy {
  Side from, to;
  uint64_t width = 0, height = 1, depth = 1;
};

struct Fill {
  uint64_t address = 0, pitch = 0;
  uint32_t value = 0, elementBytes = 1;
  uint64_t width = 0, height = 1; ///< In elements, rows.
};

struct Launch {
  std::shared_ptr<Function> function;
  sim::Extent3 grid, block;
  uint64_t dynamicShared = 0;
  std::vector<uint8_t> params;
};

class Device {
public:
  explicit Device(const Settings &settings);

  // Memory.
  CUresult allocate(const Context *context, MemoryKind kind, uint64_t bytes,
                    unsigned flags, uint64_t &address);
  CUresult lend(const Context *context, void *data, uint64_t bytes,
                unsigned flags);
  /// The kind must be this one.
  CUresult free(uint64_t address, MemoryKind kind);
  void freeAll(const Context *context);
  /// The range that holds all of these bytes.
  std::optional<Range> find(uint64_t address, uint64_t bytes) const;
  /// Whether it is an address that only the device has, in use or not.
  bool isDeviceAddress(uint64_t address) const;
  uint64_t usedBytes() const;
  uint64_t mostUsedBytes() const;

  // What operations do.
  CUresult run(const Copy &copy);
  CUresult run(const Fill &fill);
  CUresult run(const Launch &launch);

  // Modules.
  /// What does not run of it is in `notes`.
  std::optional<std::string> load(Module &module, std::string text,
                                  std::string &notes);
  void unload(Module &module);
  /// Of a variable; 0 if there is none of that name.
  uint64_t variable(Module &module, std::string_view name, uint64_t &bytes);

  const Settings &settings;
  Reports reports;

private:
  void insert(Range range);
  uint8_t *at(const Side &side, uint64_t offset, uint64_t bytes) const;

  mutable std::mutex memoryLock; ///< Of memory, modules, observers.
  sim::Memory memory;
  mutable std::mutex rangesLock; ///< After memoryLock.
  std::map<uint64_t, Range> ranges;
  uint64_t used = 0, mostUsed = 0, numbers = 0, end = sim::kGlobalBase;
};

} // namespace kvc::driver

#endif // KVC_DRIVER_DEVICE_H
