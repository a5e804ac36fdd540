//===- Memory.cpp - Which device a caller means ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Devices/Memory.h"

kvc_status kvc::resolveDevice(const kvc_device *given, kvc_diag *diag,
                              const kvc_device *&device) {
  if (!given)
    return kvc_host_device(&device);
  if (given->struct_size < sizeof(kvc_device))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "device.struct_size: expected at least %zu, got %zu",
                sizeof(kvc_device), given->struct_size);
  if (!given->allocate || !given->release || !given->copy || !given->fill ||
      !given->launch)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "device: expected every function, got a null");
  device = given;
  return KVC_OK;
}
