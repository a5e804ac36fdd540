//===- Memory.h - Memory of a device, owned ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DEVICES_MEMORY_H
#define KVC_DEVICES_MEMORY_H

#include "kvc/Base/Diag.h"
#include "kvc/device.h"

#include <utility>

namespace kvc {

/// A run of device memory that is released with its owner.
class Memory {
public:
  Memory() = default;
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept {
    std::swap(device, other.device);
    std::swap(base, other.base);
    std::swap(size, other.size);
    return *this;
  }
  ~Memory() {
    if (base)
      device->release(device->self, base, size);
  }

  /// Nothing is allocated where `bytes` is 0. The object is empty before.
  kvc_status allocate(const kvc_device &from, int64_t bytes, kvc_diag *diag) {
    if (bytes == 0)
      return KVC_OK;
    void *memory = nullptr;
    KVC_TRY(from.allocate(from.self, bytes, diag, &memory));
    device = &from;
    base = static_cast<uint8_t *>(memory);
    size = bytes;
    return KVC_OK;
  }

  uint8_t *data() const { return base; }
  int64_t bytes() const { return size; }

private:
  const kvc_device *device = nullptr;
  uint8_t *base = nullptr;
  int64_t size = 0;
};

/// Whether its addresses mean something to it alone; then every function but
/// `launch` is there.
bool hasOwnMemory(const kvc_device &device);

/// Between the host and memory of the device; done when the call returns.
kvc_status copyToDevice(const kvc_device &device, void *to, const void *from,
                        int64_t bytes, kvc_diag *diag);
kvc_status copyFromDevice(const kvc_device &device, void *to, const void *from,
                          int64_t bytes, kvc_diag *diag);

/// The caller's device, or the host where it gave none.
kvc_status resolveDevice(const kvc_device *given, kvc_diag *diag,
                         const kvc_device *&device);

} // namespace kvc

#endif // KVC_DEVICES_MEMORY_H
