//===- DeviceCalls.cpp - Devices and contexts -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

#include <algorithm>
#include <cstring>

using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

static constexpr CUdevice kDevice = 0;
static constexpr int kLastAttribute = 147;
static constexpr char kBusId[] = "0000:01:00.0";

/// Whether all that a call writes to is there, and the device is the only one.
template <typename... T>
static CUresult checkDevice(CUdevice device, const T *...outputs) {
  if (((outputs == nullptr) || ...))
    return CUDA_ERROR_INVALID_VALUE;
  return device == kDevice ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static void copyText(char *to, int bytes, std::string_view text) {
  const size_t length = std::min(text.size(), size_t(bytes - 1));
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

CUresult calls::deviceGet(CUdevice *device, int ordinal) {
  if (const CUresult result = checkDevice(ordinal, device))
    return result;
  *device = kDevice;
  return CUDA_SUCCESS;
}

CUresult calls::deviceGetCount(int *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult calls::deviceGetName(char *name, int bytes, CUdevice device) {
  if (const CUresult result = checkDevice(device, name))
    return result;
  if (bytes < 1)
    return CUDA_ERROR_INVALID_VALUE;
  copyText(name, bytes,
           "kvc simulator of " +
               std::string(theDriver()->settings.device->name));
  return CUDA_SUCCESS;
}

CUresult calls::deviceGetUuid(CUuuid *uuid, CUdevice device) {
  if (const CUresult result = checkDevice(device, uuid))
    return result;
  std::memset(uuid->bytes, 0, sizeof(uuid->bytes));
  const std::string name =
      "kvc-sim " + std::string(theDriver()->settings.device->name);
  std::memcpy(uuid->bytes, name.data(),
              std::min(name.size(), sizeof(uuid->bytes)));
  return CUDA_SUCCESS;
}

CUresult calls::deviceTotalMem(size_t *bytes, CUdevice device) {
  if (const CUresult result = checkDevice(device, bytes))
    return result;
  *bytes = theDriver()->settings.memoryBytes;
  return CUDA_SUCCESS;
}

CUresult calls::deviceGetAttribute(int *value, CUdevice_attribute attribute,
                                   CUdevice device) {
  if (const CUresult result = checkDevice(device, value))
    return result;
  if (attribute < 1 || attribute > kLastAttribute)
    return CUDA_ERROR_INVALID_VALUE;
  const sim::DeviceModel &model = *theDriver()->settings.device;
  *value = 0;
  switch (attribute) {
#define KVC_ATTRIBUTE(NUMBER, VALUE)                                           \
  case NUMBER:                                                                 \
    *value = int(VALUE);                                                       \
    break;
#include "kvc/Driver/DeviceAttributes.def"
#undef KVC_ATTRIBUTE
  default:
    break;
  }
  return CUDA_SUCCESS;
}

CUresult calls::deviceComputeCapability(int *major, int *minor,
                                        CUdevice device) {
  if (const CUresult result = checkDevice(device, major, minor))
    return result;
  *major = int(theDriver()->settings.device->sm / 10);
  *minor = int(theDriver()->settings.device->sm % 10);
  return CUDA_SUCCESS;
}

CUresult calls::deviceGetPCIBusId(char *id, int bytes, CUdevice device) {
  if (const CUresult result = checkDevice(device, id))
    return result;
  if (bytes < int(sizeof(kBusId)))
    return CUDA_ERROR_INVALID_VALUE;
  copyText(id, bytes, kBusId);
  return CUDA_SUCCESS;
}

CUresult calls::deviceGetByPCIBusId(CUdevice *device, const char *id) {
  if (!device || !id)
    return CUDA_ERROR_INVALID_VALUE;
  *device = kDevice;
  return std::string_view(id) == kBusId ? CUDA_SUCCESS
                                        : CUDA_ERROR_INVALID_DEVICE;
}

CUresult calls::deviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  if (const CUresult result = checkDevice(device, can))
    return result;
  *can = 0;
  return peer == kDevice ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult calls::deviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  if (const CUresult result = checkDevice(device, pool))
    return result;
  *pool = handleOf<CUmemoryPool>(*theDriver()->pool);
  return CUDA_SUCCESS;
}

CUresult calls::deviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  return deviceGetDefaultMemPool(pool, device);
}

CUresult calls::deviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  if (const CUresult result = checkDevice(device))
    return result;
  return pool == handleOf<CUmemoryPool>(*theDriver()->pool)
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------===//
// The primary context
//===----------------------------------------------------------------------===//

CUresult calls::devicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  if (const CUresult result = checkDevice(device, context))
    return result;
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  if (!driver.primary) {
    driver.primary = driver.makeContext(driver.primaryFlags);
    driver.primary->isPrimary = true;
  }
  ++driver.primaryUses;
  *context = handleOf<CUcontext>(*driver.primary);
  return CUDA_SUCCESS;
}

static CUresult endPrimary(bool isReset) {
  Driver &driver = *theDriver();
  std::shared_ptr<Context> old;
  {
    const Guard guard(driver.lock);
    if (!driver.primary)
      return isReset ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    if (!isReset && --driver.primaryUses > 0)
      return CUDA_SUCCESS;
    driver.primaryUses = 0;
    old = std::move(driver.primary);
  }
  driver.destroyContext(old);
  return CUDA_SUCCESS;
}

CUresult calls::devicePrimaryCtxRelease(CUdevice device) {
  const CUresult result = checkDevice(device);
  return result ? result : endPrimary(false);
}

CUresult calls::devicePrimaryCtxReset(CUdevice device) {
  const CUresult result = checkDevice(device);
  return result ? result : endPrimary(true);
}

CUresult calls::devicePrimaryCtxGetState(CUdevice device, unsigned int *flags,
                                         int *active) {
  if (const CUresult result = checkDevice(device, flags, active))
    return result;
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  *flags = driver.primary ? driver.primary->flags : driver.primaryFlags;
  *active = driver.primary != nullptr;
  return CUDA_SUCCESS;
}

CUresult calls::devicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  if (const CUresult result = checkDevice(device))
    return result;
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  driver.primaryFlags = flags;
  if (driver.primary)
    driver.primary->flags = flags;
  return CUDA_SUCCESS;
}
