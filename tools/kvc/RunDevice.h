//===- RunDevice.h - The device that --device names -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_RUNDEVICE_H
#define KVC_TOOLS_RUNDEVICE_H

#include "kvc/sim.h"

#include <string>
#include <vector>

namespace kvc {

/// What a launch on the simulator came to.
struct LaunchCounts {
  std::string kernel; ///< Its symbol.
  kvc_sim_counts counts;
};

class RunDevice {
public:
  /// "host", "sim", "cuda" or "cuda:N"; `threads` of the host for "sim", which
  /// adds each launch to `launches` if that is not null.
  RunDevice(const std::string &name, int64_t threads,
            std::vector<LaunchCounts> *launches = nullptr);
  RunDevice(const RunDevice &) = delete;
  RunDevice &operator=(const RunDevice &) = delete;
  ~RunDevice();

  /// Null: the host.
  const kvc_device *get() const { return device; }
  /// What to compile for: the best that the compiler has for the device.
  const std::string &target() const { return targetName; }

private:
  RunDevice() = default;

  kvc_device *device = nullptr;
  kvc_status (*free)(kvc_device *device) = nullptr;
  std::string targetName = "host";
};

} // namespace kvc

#endif // KVC_TOOLS_RUNDEVICE_H
