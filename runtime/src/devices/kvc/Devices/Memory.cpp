//===- Memory.cpp - Which device a caller means ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Devices/Memory.h"

#include <cstddef>

namespace {

/// What devices with the host's memory have at least.
constexpr size_t kHostTableBytes = offsetof(kvc_device, flags);
/// What the first devices with memory of their own had. Not the size of the
/// struct, which may grow.
constexpr size_t kOwnMemoryTableBytes =
    offsetof(kvc_device, graph_destroy) + sizeof(kvc_device::graph_destroy);

bool hasEveryFunction(const kvc_device &device, bool hasOwnMemory) {
  const bool hasMemory =
      device.allocate && device.release && device.copy && device.fill;
  if (!hasOwnMemory)
    return hasMemory && device.launch;
  const bool hasStreams =
      device.allocate_host && device.release_host && device.stream_create &&
      device.stream_destroy && device.stream_synchronize && device.copy_async &&
      device.fill_async && device.event_create && device.event_destroy &&
      device.event_record && device.event_wait && device.event_query &&
      device.event_synchronize;
  const bool hasKernels =
      device.module_load && device.module_unload && device.module_function &&
      device.occupancy && device.launch_grid && device.capture_begin &&
      device.capture_end && device.graph_launch && device.graph_destroy;
  return hasMemory && device.get_info && device.synchronize && hasStreams &&
         hasKernels;
}

} // namespace

bool kvc::hasOwnMemory(const kvc_device &device) {
  return device.struct_size >= kOwnMemoryTableBytes &&
         (device.flags & KVC_DEVICE_OWN_MEMORY) != 0;
}

kvc_status kvc::resolveDevice(const kvc_device *given, kvc_diag *diag,
                              const kvc_device *&device) {
  if (!given)
    return kvc_host_device(&device);
  if (given->struct_size < kHostTableBytes)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "device.struct_size: expected at least %zu, got %zu",
                kHostTableBytes, given->struct_size);
  if (!hasEveryFunction(*given, hasOwnMemory(*given)))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "device: expected every function, got a null");
  device = given;
  return KVC_OK;
}

kvc_status kvc::copyToDevice(const kvc_device &device, void *to,
                             const void *from, int64_t bytes, kvc_diag *diag) {
  if (bytes == 0)
    return KVC_OK;
  if (!hasOwnMemory(device))
    return device.copy(device.self, to, from, bytes, diag);
  KVC_TRY(device.copy_async(device.self, nullptr, KVC_COPY_TO_DEVICE, to, from,
                            bytes, diag));
  return device.stream_synchronize(device.self, nullptr, diag);
}

kvc_status kvc::copyFromDevice(const kvc_device &device, void *to,
                               const void *from, int64_t bytes,
                               kvc_diag *diag) {
  if (bytes == 0)
    return KVC_OK;
  if (!hasOwnMemory(device))
    return device.copy(device.self, to, from, bytes, diag);
  KVC_TRY(device.copy_async(device.self, nullptr, KVC_COPY_FROM_DEVICE, to,
                            from, bytes, diag));
  return device.stream_synchronize(device.self, nullptr, diag);
}
