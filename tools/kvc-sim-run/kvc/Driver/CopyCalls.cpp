//===- CopyCalls.cpp - Copies and fills -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// All copies are rows of bytes between two places, all fills rows of elements.
//
// Memory of the host that the driver does not know is read when the call is
// made, and a copy to it is done when the call returns, as on a device. Pinned
// memory is read and written when the stream comes to it.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

#include <cstring>

using namespace kvc;
using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {

/// One end, as a program gives it.
struct End {
  CUmemorytype type;
  const void *host;
  CUdeviceptr device;
  size_t x, y, z, pitch, height;
};

/// Sums and products that know when they are too large.
struct Size {
  uint64_t value = 0;
  bool fits = true;

  Size plus(uint64_t other) const {
    Size result = *this;
    result.fits &= !__builtin_add_overflow(value, other, &result.value);
    return result;
  }
  Size times(uint64_t other) const {
    Size result = *this;
    result.fits &= !__builtin_mul_overflow(value, other, &result.value);
    return result;
  }
};

/// Where the end's first byte is. `isPageable`: memory that the driver does
/// not know.
CUresult place(const Device &device, const End &end, const Copy &copy,
               Side &side, bool &isPageable) {
  const uint64_t pitch = end.pitch != 0 ? end.pitch : end.x + copy.width;
  const uint64_t rows = end.height != 0 ? end.height : end.y + copy.height;
  const Size slice = Size{pitch}.times(rows);
  const Size offset =
      slice.times(end.z).plus(Size{pitch}.times(end.y).value).plus(end.x);
  const Size bytes = slice.times(copy.depth - 1)
                         .plus(Size{pitch}.times(copy.height - 1).value)
                         .plus(copy.width);
  if (!offset.fits || !bytes.fits || !Size{pitch}.times(copy.height).fits ||
      !Size{pitch}.times(end.y).fits)
    return because(CUDA_ERROR_INVALID_VALUE, "a size that no memory has");
  if ((copy.height > 1 || copy.depth > 1) && pitch < end.x + copy.width)
    return because(CUDA_ERROR_INVALID_VALUE, "rows longer than their pitch");
  side.pitch = pitch;
  side.slice = slice.value;

  const bool isUnified = end.type == CU_MEMORYTYPE_UNIFIED;
  if (end.type == CU_MEMORYTYPE_ARRAY)
    return refuse("copies of arrays");
  uint64_t address = end.type == CU_MEMORYTYPE_HOST
                         ? reinterpret_cast<uintptr_t>(end.host)
                         : end.device;
  if (address == 0 || __builtin_add_overflow(address, offset.value, &address))
    return because(CUDA_ERROR_INVALID_VALUE, "no memory at 0");
  const std::optional<Range> range = device.find(address, bytes.value);
  isPageable = !range;
  if (!range && device.find(address, 1))
    return because(CUDA_ERROR_INVALID_VALUE,
                   std::to_string(bytes.value) + " bytes at " +
                       sim::hex(address) + " are more than there are");
  if (end.type == CU_MEMORYTYPE_DEVICE || (isUnified && range)) {
    side.address = address;
    return range ? CUDA_SUCCESS
                 : because(CUDA_ERROR_INVALID_VALUE,
                           std::to_string(bytes.value) + " bytes at " +
                               sim::hex(address) + " are not allocated");
  }
  if (device.isDeviceAddress(address) && (!range || !range->isOfHost()))
    return because(CUDA_ERROR_INVALID_VALUE,
                   sim::hex(address) + " is no memory of the host");
  side.host = reinterpret_cast<void *>(address);
  return CUDA_SUCCESS;
}

/// Rows of the host, one after the other.
std::shared_ptr<std::vector<uint8_t>> stage(Copy &copy) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(copy.width * copy.height *
                                                      copy.depth);
  for (uint64_t row = 0; row < copy.height * copy.depth; ++row)
    std::memcpy(bytes->data() + row * copy.width,
                static_cast<const uint8_t *>(copy.from.host) +
                    row / copy.height * copy.from.slice +
                    row % copy.height * copy.from.pitch,
                copy.width);
  copy.from = {bytes->data(), 0, copy.width, copy.width * copy.height};
  return bytes;
}

} // namespace

CUresult kvc::driver::prepareCopy(Driver &driver, const CUDA_MEMCPY3D &params,
                                  Work &work, bool &waits, bool isCaptured) {
  waits = false;
  Copy copy;
  copy.width = params.WidthInBytes;
  copy.height = params.Height;
  copy.depth = params.Depth;
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0)
    return CUDA_SUCCESS;
  bool fromPageable = false, toPageable = false;
  if (const CUresult result =
          place(driver.device,
                {params.srcMemoryType, params.srcHost, params.srcDevice,
                 params.srcXInBytes, params.srcY, params.srcZ, params.srcPitch,
                 params.srcHeight},
                copy, copy.from, fromPageable))
    return result;
  if (const CUresult result =
          place(driver.device,
                {params.dstMemoryType, params.dstHost, params.dstDevice,
                 params.dstXInBytes, params.dstY, params.dstZ, params.dstPitch,
                 params.dstHeight},
                copy, copy.to, toPageable))
    return result;
  waits = toPageable;
  std::shared_ptr<std::vector<uint8_t>> staged;
  if (fromPageable && !toPageable && !isCaptured)
    staged = stage(copy);
  work.run = [&device = driver.device, copy, staged] {
    return device.run(copy);
  };
  return CUDA_SUCCESS;
}

/// Whether this stream records what it is given.
static bool isCapturing(Driver &driver, CUstream handle) {
  const Guard guard(driver.lock);
  const std::shared_ptr<Stream> stream = streamOf(driver, handle);
  return stream && stream->capture;
}

static CUresult copyIn(const CUDA_MEMCPY3D &params, CUstream stream) {
  Driver &driver = *theDriver();
  const bool isCaptured = isCapturing(driver, stream);
  Work work;
  bool waits = false;
  if (const CUresult result =
          prepareCopy(driver, params, work, waits, isCaptured))
    return result;
  if (waits && !isCaptured)
    return perform(driver, stream, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(work));
  return enqueue(driver, stream, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(work));
}

/// Waits, unless both ends are the device's.
static CUresult copyNow(const CUDA_MEMCPY3D &params) {
  Driver &driver = *theDriver();
  Work work;
  bool waits = false;
  if (const CUresult result = prepareCopy(driver, params, work, waits, false))
    return result;
  auto isOfHost = [&](CUmemorytype type, CUdeviceptr address) {
    const std::optional<Range> range = driver.device.find(address, 1);
    return type == CU_MEMORYTYPE_HOST || !range || range->isOfHost();
  };
  if (isOfHost(params.srcMemoryType, params.srcDevice) ||
      isOfHost(params.dstMemoryType, params.dstDevice))
    return perform(driver, nullptr, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(work));
  return enqueue(driver, nullptr, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(work));
}

/// One row.
static CUDA_MEMCPY3D row(CUmemorytype toType, CUdeviceptr to,
                         CUmemorytype fromType, CUdeviceptr from,
                         size_t bytes) {
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = fromType;
  params.srcDevice = from;
  params.srcHost = reinterpret_cast<const void *>(from);
  params.dstMemoryType = toType;
  params.dstDevice = to;
  params.dstHost = reinterpret_cast<void *>(to);
  params.WidthInBytes = bytes;
  params.Height = params.Depth = 1;
  return params;
}

static CUDA_MEMCPY3D unified(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return row(CU_MEMORYTYPE_UNIFIED, to, CU_MEMORYTYPE_UNIFIED, from, bytes);
}
static CUDA_MEMCPY3D inDevice(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return row(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, bytes);
}
static CUDA_MEMCPY3D toDevice(CUdeviceptr to, const void *from, size_t bytes) {
  return row(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_HOST,
             reinterpret_cast<uintptr_t>(from), bytes);
}
static CUDA_MEMCPY3D toHost(void *to, CUdeviceptr from, size_t bytes) {
  return row(CU_MEMORYTYPE_HOST, reinterpret_cast<uintptr_t>(to),
             CU_MEMORYTYPE_DEVICE, from, bytes);
}

static CUDA_MEMCPY3D plane(const CUDA_MEMCPY2D &of) {
  CUDA_MEMCPY3D params{};
  params.srcXInBytes = of.srcXInBytes;
  params.srcY = of.srcY;
  params.srcMemoryType = of.srcMemoryType;
  params.srcHost = of.srcHost;
  params.srcDevice = of.srcDevice;
  params.srcPitch = of.srcPitch;
  params.dstXInBytes = of.dstXInBytes;
  params.dstY = of.dstY;
  params.dstMemoryType = of.dstMemoryType;
  params.dstHost = of.dstHost;
  params.dstDevice = of.dstDevice;
  params.dstPitch = of.dstPitch;
  params.WidthInBytes = of.WidthInBytes;
  params.Height = of.Height;
  params.Depth = 1;
  return params;
}

CUresult calls::copy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyNow(unified(to, from, bytes));
}
CUresult calls::copyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                          CUstream stream) {
  return copyIn(unified(to, from, bytes), stream);
}
CUresult calls::copyInDevice(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyNow(inDevice(to, from, bytes));
}
CUresult calls::copyInDeviceAsync(CUdeviceptr to, CUdeviceptr from,
                                  size_t bytes, CUstream stream) {
  return copyIn(inDevice(to, from, bytes), stream);
}
CUresult calls::copyToDevice(CUdeviceptr to, const void *from, size_t bytes) {
  return copyNow(toDevice(to, from, bytes));
}
CUresult calls::copyToDeviceAsync(CUdeviceptr to, const void *from,
                                  size_t bytes, CUstream stream) {
  return copyIn(toDevice(to, from, bytes), stream);
}
CUresult calls::copyToHost(void *to, CUdeviceptr from, size_t bytes) {
  return copyNow(toHost(to, from, bytes));
}
CUresult calls::copyToHostAsync(void *to, CUdeviceptr from, size_t bytes,
                                CUstream stream) {
  return copyIn(toHost(to, from, bytes), stream);
}
CUresult calls::copyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                         size_t bytes) {
  return copyNow(inDevice(to, from, bytes));
}
CUresult calls::copyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from,
                              CUcontext, size_t bytes, CUstream stream) {
  return copyIn(inDevice(to, from, bytes), stream);
}
CUresult calls::copy2D(const CUDA_MEMCPY2D *params) {
  return params ? copyNow(plane(*params)) : CUDA_ERROR_INVALID_VALUE;
}
CUresult calls::copy2DAsync(const CUDA_MEMCPY2D *params, CUstream stream) {
  return params ? copyIn(plane(*params), stream) : CUDA_ERROR_INVALID_VALUE;
}
CUresult calls::copy3D(const CUDA_MEMCPY3D *params) {
  return params ? copyNow(*params) : CUDA_ERROR_INVALID_VALUE;
}
CUresult calls::copy3DAsync(const CUDA_MEMCPY3D *params, CUstream stream) {
  return params ? copyIn(*params, stream) : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------===//
// Fills: those without a stream do not wait either
//===----------------------------------------------------------------------===//

CUresult kvc::driver::prepareFill(Driver &driver, const Fill &fill,
                                  Work &work) {
  if (fill.width == 0 || fill.height == 0)
    return CUDA_SUCCESS;
  const Size row = Size{fill.width}.times(fill.elementBytes);
  const Size bytes = Size{fill.pitch}.times(fill.height - 1).plus(row.value);
  if (!row.fits || !bytes.fits || (fill.height > 1 && fill.pitch < row.value) ||
      (fill.elementBytes != 1 && fill.elementBytes != 2 &&
       fill.elementBytes != 4) ||
      fill.address % fill.elementBytes != 0 ||
      !driver.device.find(fill.address, bytes.value))
    return CUDA_ERROR_INVALID_VALUE;
  work.run = [&device = driver.device, fill] { return device.run(fill); };
  return CUDA_SUCCESS;
}

static CUresult fillIn(const Fill &fill, CUstream stream) {
  Work work;
  if (const CUresult result = prepareFill(*theDriver(), fill, work))
    return result;
  return enqueue(*theDriver(), stream, CU_GRAPH_NODE_TYPE_MEMSET,
                 std::move(work));
}

CUresult calls::fill8(CUdeviceptr at, unsigned char value, size_t count) {
  return fillIn({at, 0, value, 1, count}, nullptr);
}
CUresult calls::fill16(CUdeviceptr at, unsigned short value, size_t count) {
  return fillIn({at, 0, value, 2, count}, nullptr);
}
CUresult calls::fill32(CUdeviceptr at, unsigned int value, size_t count) {
  return fillIn({at, 0, value, 4, count}, nullptr);
}
CUresult calls::fill8Async(CUdeviceptr at, unsigned char value, size_t count,
                           CUstream stream) {
  return fillIn({at, 0, value, 1, count}, stream);
}
CUresult calls::fill16Async(CUdeviceptr at, unsigned short value, size_t count,
                            CUstream stream) {
  return fillIn({at, 0, value, 2, count}, stream);
}
CUresult calls::fill32Async(CUdeviceptr at, unsigned int value, size_t count,
                            CUstream stream) {
  return fillIn({at, 0, value, 4, count}, stream);
}
CUresult calls::fill2D8(CUdeviceptr at, size_t pitch, unsigned char value,
                        size_t width, size_t height) {
  return fillIn({at, pitch, value, 1, width, height}, nullptr);
}
CUresult calls::fill2D16(CUdeviceptr at, size_t pitch, unsigned short value,
                         size_t width, size_t height) {
  return fillIn({at, pitch, value, 2, width, height}, nullptr);
}
CUresult calls::fill2D32(CUdeviceptr at, size_t pitch, unsigned int value,
                         size_t width, size_t height) {
  return fillIn({at, pitch, value, 4, width, height}, nullptr);
}
CUresult calls::fill2D8Async(CUdeviceptr at, size_t pitch, unsigned char value,
                             size_t width, size_t height, CUstream stream) {
  return fillIn({at, pitch, value, 1, width, height}, stream);
}
CUresult calls::fill2D16Async(CUdeviceptr at, size_t pitch,
                              unsigned short value, size_t width, size_t height,
                              CUstream stream) {
  return fillIn({at, pitch, value, 2, width, height}, stream);
}
CUresult calls::fill2D32Async(CUdeviceptr at, size_t pitch, unsigned int value,
                              size_t width, size_t height, CUstream stream) {
  return fillIn({at, pitch, value, 4, width, height}, stream);
}
