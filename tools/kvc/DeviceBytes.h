//===- DeviceBytes.h - Bytes where a device's kernels find them -*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_DEVICEBYTES_H
#define KVC_TOOLS_DEVICEBYTES_H

#include "kvc/Failure.h"
#include "kvc/device.h"

#include <cstddef>
#include <cstring>
#include <span>

namespace kvc {

/// Waits for all work of a device; null: the host, which has none.
inline void waitFor(const kvc_device *device) {
  Diag diag;
  if (device)
    diag.check(device->synchronize(device->self, diag));
}

/// Copies from a device (null: the host) to the host.
inline void fetchBytes(const kvc_device *device, const void *from,
                       std::span<std::byte> to) {
  if (to.empty() || from == to.data())
    return;
  if (!device) {
    std::memcpy(to.data(), from, to.size());
    return;
  }
  Diag diag;
  waitFor(device);
  diag.check(device->copy_async(device->self, nullptr, KVC_COPY_FROM_DEVICE,
                                to.data(), from,
                                static_cast<int64_t>(to.size()), diag));
  diag.check(device->stream_synchronize(device->self, nullptr, diag));
}

/// Bytes of the host; on a device with memory of its own a copy of them there.
class DeviceBytes {
public:
  /// `device` may be null: the host. `host` outlives it.
  DeviceBytes(const kvc_device *device, std::span<const std::byte> host)
      : DeviceBytes(device, static_cast<int64_t>(host.size()),
                    const_cast<std::byte *>(host.data())) {
    if (!device)
      return;
    memory = nullptr;
    if (bytes == 0)
      return;
    Diag diag;
    diag.check(device->allocate(device->self, bytes, diag, &memory));
    diag.check(device->copy_async(device->self, nullptr, KVC_COPY_TO_DEVICE,
                                  memory, host.data(), bytes, diag));
    diag.check(device->stream_synchronize(device->self, nullptr, diag));
  }
  DeviceBytes(const DeviceBytes &) = delete;
  DeviceBytes &operator=(const DeviceBytes &) = delete;
  ~DeviceBytes() {
    if (device && memory)
      device->release(device->self, memory, bytes);
  }

  void *data() const { return memory; }
  /// What kernels have made of it, to the host.
  void fetch(std::span<std::byte> to) const { fetchBytes(device, memory, to); }

private:
  /// First, so that the memory is given back if copying to it fails.
  DeviceBytes(const kvc_device *device, int64_t bytes, void *memory)
      : device(device), bytes(bytes), memory(memory) {}

  const kvc_device *device;
  int64_t bytes;
  void *memory;
};

} // namespace kvc

#endif // KVC_TOOLS_DEVICEBYTES_H
