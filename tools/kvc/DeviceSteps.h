//===- DeviceSteps.h - Decode steps of kvc bench on a device ----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_DEVICESTEPS_H
#define KVC_TOOLS_DEVICESTEPS_H

#include "kvc/DeviceBytes.h"
#include "kvc/Engine.h"
#include "kvc/Timing.h"

#include <memory>
#include <vector>

namespace kvc {

/// A stream of a device.
class DeviceStream {
public:
  explicit DeviceStream(const kvc_device *device);
  DeviceStream(const DeviceStream &) = delete;
  DeviceStream &operator=(const DeviceStream &) = delete;
  ~DeviceStream() { device->stream_destroy(device->self, stream); }
  void *get() const { return stream; }

private:
  const kvc_device *device;
  void *stream = nullptr;
};

/// Sequences of one context length in groups of a batch, each with a plan that
/// is ready to launch: a step is its kernels alone.
class DeviceSteps {
public:
  /// As many groups as it takes for their caches to be beyond `coldBytes`, at
  /// least one. Throws where the device's memory is too small.
  DeviceSteps(const Engine &engine, int64_t context, int64_t batch,
              double coldBytes, const DeviceStream &stream);

  /// Throws where the device's memory is too small.
  static int64_t groupsFor(const Engine &engine, int64_t context, int64_t batch,
                           double coldBytes);

  /// Launches the step of the next group.
  void launch();

  /// Codes, scales and what else a step reads of the cache.
  double cacheBytes() const { return stepBytes; }
  /// With the queries and the output.
  double neededBytes() const;
  /// Keys of one item, as the plan cut them.
  int64_t splitTokens() const { return split; }

private:
  void append(int64_t context, int64_t count);
  void plan(int64_t context);

  const Engine &engine;
  int64_t batch;
  void *stream;
  CacheHandle cache;
  std::vector<kvc_sequence> sequences;
  std::vector<std::unique_ptr<DeviceBytes>> inputs; ///< Of all steps.
  std::vector<PlanHandle> plans;
  double stepBytes = 0;
  int64_t split = 0;
  size_t next = 0;
};

/// Memory that a device copies from one half to the other: the yardstick.
class CopyMemory {
public:
  CopyMemory(const kvc_device *device, int64_t bytes);
  CopyMemory(const CopyMemory &) = delete;
  CopyMemory &operator=(const CopyMemory &) = delete;
  ~CopyMemory();

  void copy(void *stream) const;
  /// That a copy moves, read and written.
  double movedBytes() const { return 2 * static_cast<double>(half); }

private:
  const kvc_device *device;
  int64_t half;
  void *memory = nullptr;
};

/// Times of steps, of their f16 twin's and of copies, taken in turn.
struct DeviceMeasurement {
  Quartiles stepUs;
  Quartiles shareOfCopy; ///< Of the bandwidth at which the device copies.
  Quartiles overF16;     ///< How many times as fast.
  double copyGBs = 0;    ///< Read and written.
  int64_t repetitions = 0;
};

/// `twin` is null where the spec is its own twin.
DeviceMeasurement measureOnDevice(const kvc_device *device, DeviceSteps &ours,
                                  DeviceSteps *twin, const CopyMemory &memory,
                                  const DeviceStream &stream);

} // namespace kvc

#endif // KVC_TOOLS_DEVICESTEPS_H
