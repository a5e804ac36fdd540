//===- MemoryCalls.cpp - Allocations, pools, pointers ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

static constexpr size_t kPitchStep = 512;

static CUresult allocate(CUdeviceptr *address, size_t bytes, MemoryKind kind,
                         unsigned flags) {
  if (!address)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t made = 0;
  const CUresult result = theDriver()->device.allocate(
      heldContext().get(), kind, bytes, flags, made);
  if (result == CUDA_SUCCESS)
    *address = made;
  return result;
}

/// Frees what nothing uses any more.
static CUresult freeWhenDone(uint64_t address, MemoryKind kind) {
  Driver &driver = *theDriver();
  {
    const Guard guard(driver.lock);
    if (const CUresult result = checkCapture(driver, nullptr))
      return result;
  }
  driver.queue.waitAll(*heldContext()->failure);
  if (const CUresult failure = heldContext()->failure->result.load())
    return failure;
  return driver.device.free(address, kind);
}

CUresult calls::memAlloc(CUdeviceptr *address, size_t bytes) {
  return allocate(address, bytes, MemoryKind::Device, 0);
}

CUresult calls::memAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width,
                              size_t height, unsigned int element) {
  if (!pitch || width == 0 || height == 0 || width > SIZE_MAX / 2 / height ||
      (element != 4 && element != 8 && element != 16))
    return CUDA_ERROR_INVALID_VALUE;
  const size_t step = (width + kPitchStep - 1) / kPitchStep * kPitchStep;
  if (step > sim::kMaxAllocationBytes / height)
    return CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult result = memAlloc(address, step * height);
  if (result == CUDA_SUCCESS)
    *pitch = step;
  return result;
}

CUresult calls::memAllocManaged(CUdeviceptr *address, size_t bytes,
                                unsigned int flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
    return CUDA_ERROR_INVALID_VALUE;
  return allocate(address, bytes, MemoryKind::Managed, flags);
}

CUresult calls::memFree(CUdeviceptr address) {
  if (address == 0)
    return CUDA_SUCCESS;
  const std::optional<Range> range = theDriver()->device.find(address, 1);
  return freeWhenDone(address, range && range->kind == MemoryKind::Managed
                                   ? MemoryKind::Managed
                                   : MemoryKind::Device);
}

CUresult calls::memHostAlloc(void **data, size_t bytes, unsigned int flags) {
  CUdeviceptr address = 0;
  if (!data || (flags & ~7u) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = allocate(&address, bytes, MemoryKind::Pinned, flags);
  if (result == CUDA_SUCCESS)
    *data = reinterpret_cast<void *>(address);
  return result;
}

CUresult calls::memAllocHost(void **data, size_t bytes) {
  return memHostAlloc(data, bytes, 0);
}

CUresult calls::memFreeHost(void *data) {
  return freeWhenDone(reinterpret_cast<uintptr_t>(data), MemoryKind::Pinned);
}

CUresult calls::memHostRegister(void *data, size_t bytes, unsigned int flags) {
  return theDriver()->device.lend(heldContext().get(), data, bytes, flags);
}

CUresult calls::memHostUnregister(void *data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  const std::optional<Range> range = theDriver()->device.find(address, 1);
  if (!range || range->address != address ||
      range->kind != MemoryKind::Registered)
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  return freeWhenDone(address, MemoryKind::Registered);
}

/// Memory of the host that the device shares, at this place.
static std::optional<Range> sharedAt(const void *data) {
  std::optional<Range> range =
      theDriver()->device.find(reinterpret_cast<uintptr_t>(data), 1);
  return range && range->isOfHost() ? range : std::nullopt;
}

CUresult calls::memHostGetDevicePointer(CUdeviceptr *address, void *data,
                                        unsigned int flags) {
  if (!address || flags != 0 || !sharedAt(data))
    return CUDA_ERROR_INVALID_VALUE;
  *address = reinterpret_cast<uintptr_t>(data);
  return CUDA_SUCCESS;
}

CUresult calls::memHostGetFlags(unsigned int *flags, void *data) {
  const std::optional<Range> range = sharedAt(data);
  if (!flags || !range)
    return CUDA_ERROR_INVALID_VALUE;
  // Every one is mapped.
  *flags = range->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

CUresult calls::memGetInfo(size_t *available, size_t *all) {
  const Driver &driver = *theDriver();
  if (available)
    *available = driver.settings.memoryBytes - driver.device.usedBytes();
  if (all)
    *all = driver.settings.memoryBytes;
  return CUDA_SUCCESS;
}

CUresult calls::memGetAddressRange(CUdeviceptr *base, size_t *bytes,
                                   CUdeviceptr address) {
  const std::optional<Range> range = theDriver()->device.find(address, 1);
  if (!range)
    return CUDA_ERROR_NOT_FOUND;
  if (base)
    *base = range->address;
  if (bytes)
    *bytes = range->bytes;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// In a stream's order, and the pool
//===----------------------------------------------------------------------===//

CUresult calls::memAllocAsync(CUdeviceptr *address, size_t bytes,
                              CUstream handle) {
  Driver &driver = *theDriver();
  {
    const Guard guard(driver.lock);
    const std::shared_ptr<Stream> stream = streamOf(driver, handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
      return refuse("cuMemAllocAsync in a capture");
  }
  // It is there at once, so it is there when the stream comes to it.
  return memAlloc(address, bytes);
}

static bool isPool(CUmemoryPool pool) {
  return pool == handleOf<CUmemoryPool>(*theDriver()->pool);
}

CUresult calls::memAllocFromPoolAsync(CUdeviceptr *address, size_t bytes,
                                      CUmemoryPool pool, CUstream stream) {
  return isPool(pool) ? memAllocAsync(address, bytes, stream)
                      : CUDA_ERROR_INVALID_VALUE;
}

CUresult calls::memFreeAsync(CUdeviceptr address, CUstream handle) {
  Driver &driver = *theDriver();
  const std::optional<Range> range = driver.device.find(address, 1);
  if (!range || range->address != address || range->kind != MemoryKind::Device)
    return CUDA_ERROR_INVALID_VALUE;
  {
    const Guard guard(driver.lock);
    const std::shared_ptr<Stream> stream = streamOf(driver, handle);
    if (stream && stream->capture)
      return refuse("cuMemFreeAsync in a capture");
  }
  Work work;
  work.run = [&device = driver.device, address] {
    return device.free(address, MemoryKind::Device);
  };
  return enqueue(driver, handle, CU_GRAPH_NODE_TYPE_EMPTY, std::move(work));
}

CUresult calls::memPoolSetAttribute(CUmemoryPool pool,
                                    CUmemPool_attribute attribute,
                                    void *value) {
  if (!isPool(pool) || !value)
    return CUDA_ERROR_INVALID_VALUE;
  const Guard guard(theDriver()->lock);
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    theDriver()->pool->releaseThreshold = *static_cast<cuuint64_t *>(value);
  return CUDA_SUCCESS;
}

CUresult calls::memPoolGetAttribute(CUmemoryPool pool,
                                    CUmemPool_attribute attribute,
                                    void *value) {
  if (!isPool(pool) || !value)
    return CUDA_ERROR_INVALID_VALUE;
  Driver &driver = *theDriver();
  auto &number = *static_cast<cuuint64_t *>(value);
  switch (attribute) {
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: {
    const Guard guard(driver.lock);
    number = driver.pool->releaseThreshold;
    return CUDA_SUCCESS;
  }
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    number = driver.device.usedBytes();
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    number = driver.device.mostUsedBytes();
    return CUDA_SUCCESS;
  }
  // Whether memory is used again: an int.
  *static_cast<int *>(value) = 0;
  return CUDA_SUCCESS;
}

CUresult calls::memPoolTrimTo(CUmemoryPool pool, size_t) {
  return isPool(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

/// A value of the attribute's own type.
template <typename T>
static CUresult put(void *to, T value) {
  *static_cast<T *>(to) = value;
  return CUDA_SUCCESS;
}

CUresult calls::pointerGetAttribute(void *value, CUpointer_attribute attribute,
                                    CUdeviceptr address) {
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  const std::optional<Range> range = theDriver()->device.find(address, 1);
  if (!range)
    return because(CUDA_ERROR_INVALID_VALUE, "no memory of the driver's");
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return put(value, handleOf<CUcontext>(*heldContext()));
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return put<unsigned>(value,
                         range->isOfHost() && range->kind != MemoryKind::Managed
                             ? CU_MEMORYTYPE_HOST
                             : CU_MEMORYTYPE_DEVICE);
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return put<CUdeviceptr>(value, address);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (!range->isOfHost())
      return CUDA_ERROR_INVALID_VALUE;
    return put(value, reinterpret_cast<void *>(address));
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    return put<unsigned>(value, 0);
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    return put<unsigned long long>(value, range->number);
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return put<unsigned>(value, range->kind == MemoryKind::Managed);
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return put<int>(value, 0);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return put<CUdeviceptr>(value, range->address);
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return put<size_t>(value, range->bytes);
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return put<unsigned>(value, 1);
  }
  return refuse("cuPointerGetAttribute of attribute " +
                std::to_string(int(attribute)));
}

CUresult calls::pointerGetAttributes(unsigned int count,
                                     CUpointer_attribute *attributes,
                                     void **values, CUdeviceptr address) {
  if (count > 0 && (!attributes || !values))
    return CUDA_ERROR_INVALID_VALUE;
  const bool isKnown = theDriver()->device.find(address, 1).has_value();
  for (unsigned i = 0; i < count; ++i) {
    if (isKnown) {
      const CUresult result =
          pointerGetAttribute(values[i], attributes[i], address);
      if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
        return result;
    } else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
      put<int>(values[i], -2);
    } else if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
               attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED) {
      // Memory that the driver does not know is no error here.
      put<unsigned>(values[i], 0);
    } else if (attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
               attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
               attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER) {
      put<void *>(values[i], nullptr);
    }
  }
  return CUDA_SUCCESS;
}

CUresult calls::pointerSetAttribute(const void *, CUpointer_attribute attribute,
                                    CUdeviceptr) {
  return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------===//
// Managed memory is where everybody has it
//===----------------------------------------------------------------------===//

static CUresult checkManaged(CUdeviceptr address, size_t bytes) {
  const std::optional<Range> range = theDriver()->device.find(address, bytes);
  return range && range->kind == MemoryKind::Managed ? CUDA_SUCCESS
                                                     : CUDA_ERROR_INVALID_VALUE;
}

CUresult calls::memPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice,
                                 CUstream) {
  return checkManaged(address, bytes);
}
CUresult calls::memPrefetchToAsync(CUdeviceptr address, size_t bytes,
                                   CUmemLocation, unsigned int, CUstream) {
  return checkManaged(address, bytes);
}
CUresult calls::memAdvise(CUdeviceptr address, size_t bytes, CUmem_advise,
                          CUdevice) {
  return checkManaged(address, bytes);
}
CUresult calls::memAdviseAt(CUdeviceptr address, size_t bytes, CUmem_advise,
                            CUmemLocation) {
  return checkManaged(address, bytes);
}
