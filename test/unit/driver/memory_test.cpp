//===- memory_test.cpp - Memory, copies, fills ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include <cstring>
#include <numeric>

using namespace kvc::test;

namespace {

class Memory : public DriverTest {};

std::vector<uint32_t> counting(size_t count) {
  std::vector<uint32_t> words(count);
  std::iota(words.begin(), words.end(), 1u);
  return words;
}

TEST_F(Memory, CountsWhatIsUsed) {
  size_t before = 0, after = 0, all = 0;
  EXPECT_EQ(cuMemGetInfo_v2(&before, &all), CUDA_SUCCESS);
  const CUdeviceptr x = allocate(4096);
  EXPECT_EQ(cuMemGetInfo_v2(&after, &all), CUDA_SUCCESS);
  EXPECT_EQ(before - after, 4096u);
  CUdeviceptr more = 0;
  EXPECT_EQ(cuMemAlloc_v2(&more, after + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc_v2(&more, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc_v2(&more, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc_v2(nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(x), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetInfo_v2(&after, &all), CUDA_SUCCESS);
  EXPECT_EQ(before, after);
  EXPECT_EQ(cuMemFree_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(x + 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, FillsAndCopies) {
  const CUdeviceptr x = allocate(64), y = allocate(64);
  EXPECT_EQ(cuMemsetD8_v2(x, 0xAB, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD16_v2(x + 2, 0x1234, 3), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32_v2(x + 8, 0x89ABCDEF, 2), CUDA_SUCCESS);
  const std::vector<uint32_t> expected{0x1234ABAB, 0x12341234, 0x89ABCDEF,
                                       0x89ABCDEF, 0xABABABAB};
  EXPECT_EQ(read(x, 5), expected);
  EXPECT_EQ(cuMemcpyDtoD_v2(y + 4, x, 20), CUDA_SUCCESS);
  EXPECT_EQ(read(y + 4, 5), expected);
  // Ends that the call has to find out.
  uint32_t word = 7;
  EXPECT_EQ(cuMemcpy(y, reinterpret_cast<uintptr_t>(&word), 4), CUDA_SUCCESS);
  word = 0;
  EXPECT_EQ(cuMemcpy(reinterpret_cast<uintptr_t>(&word), y, 4), CUDA_SUCCESS);
  EXPECT_EQ(word, 7u);
  EXPECT_EQ(cuMemsetD32_v2(x + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32_v2(x, 0, 17), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32_v2(x, 0, SIZE_MAX / 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoD_v2(y, x, 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(y, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(0, &word, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(y, reinterpret_cast<void *>(x), 4),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(y, nullptr, 0), CUDA_SUCCESS);
}

TEST_F(Memory, CopiesRectangles) {
  CUdeviceptr x = 0;
  size_t pitch = 0;
  EXPECT_EQ(cuMemAllocPitch_v2(&x, &pitch, 12, 4, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch % 512, 0u);
  EXPECT_EQ(cuMemsetD2D32_v2(x, pitch, 0, 3, 4), CUDA_SUCCESS);
  const std::vector<uint32_t> words = counting(12);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = words.data();
  copy.srcPitch = 12;
  copy.srcXInBytes = 4;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = x;
  copy.dstPitch = pitch;
  copy.dstY = 2;
  copy.WidthInBytes = 8;
  copy.Height = 2;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_SUCCESS);
  EXPECT_EQ(read(x + pitch, 3), (std::vector<uint32_t>{0, 0, 0}));
  EXPECT_EQ(read(x + 2 * pitch, 3), (std::vector<uint32_t>{5, 6, 0}));
  EXPECT_EQ(read(x + 3 * pitch, 3), (std::vector<uint32_t>{8, 9, 0}));
  copy.dstPitch = 4;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  copy.dstPitch = SIZE_MAX / 2;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_NE(cuMemcpy2D_v2(&copy), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy2D_v2(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, CopiesBoxes) {
  // 2 planes of 3 rows of 4 words; the copy takes 2 x 2 x 2 of them.
  const std::vector<uint32_t> words = counting(24);
  const CUdeviceptr x = allocate(32);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = words.data();
  copy.srcPitch = 16;
  copy.srcHeight = 3;
  copy.srcXInBytes = 8;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = x;
  copy.dstPitch = 8;
  copy.dstHeight = 2;
  copy.WidthInBytes = 8;
  copy.Height = copy.Depth = 2;
  EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_SUCCESS);
  EXPECT_EQ(read(x, 8), (std::vector<uint32_t>{7, 8, 11, 12, 19, 20, 23, 24}));
}

TEST_F(Memory, PageableMemoryIsReadWhenTheCallIsMade) {
  const CUstream s = stream();
  const CUdeviceptr x = allocate(4);
  uint32_t word = 5;
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(x, &word, 4, s), CUDA_SUCCESS);
  word = 6;
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(read(x, 1)[0], 5u);
  // And written when it returns.
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(&word, x, 4, s), CUDA_SUCCESS);
  EXPECT_EQ(word, 5u);
}

TEST_F(Memory, PinnedMemoryIsReadWhenTheStreamComesToIt) {
  const CUstream s = stream();
  const CUdeviceptr x = allocate(4);
  uint32_t *pinned = nullptr;
  EXPECT_EQ(cuMemAllocHost_v2(reinterpret_cast<void **>(&pinned), 8),
            CUDA_SUCCESS);
  pinned[0] = 5;
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(x, pinned, 4, s), CUDA_SUCCESS);
  pinned[0] = 6;
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(pinned + 1, x, 4, s), CUDA_SUCCESS);
  EXPECT_EQ(pinned[1], 0u);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(pinned[1], 6u);
  // Beyond its end is no memory of somebody else's.
  EXPECT_EQ(cuMemcpy(x, reinterpret_cast<uintptr_t>(pinned + 1), 8),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, KernelsUseTheHostsMemory) {
  const CUfunction function = kernel(load(kStep), "step");
  uint32_t own = 1;
  CUdeviceptr managed = 0, registered = 0;
  EXPECT_EQ(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  *reinterpret_cast<uint32_t *>(managed) = 2;
  EXPECT_EQ(cuMemHostRegister_v2(&own, 4, CU_MEMHOSTREGISTER_DEVICEMAP),
            CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister_v2(&own, 4, 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemHostGetDevicePointer_v2(&registered, &own, 0), CUDA_SUCCESS);
  EXPECT_EQ(step(function, managed, 10, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(step(function, registered, 10, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<uint32_t *>(managed), 16u);
  EXPECT_EQ(own, 13u);
  EXPECT_EQ(cuMemHostUnregister(&own), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(&own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuMemHostRegister_v2(&own, 4, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(&own), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(managed), CUDA_SUCCESS);
}

TEST_F(Memory, PointersTellWhatTheyAre) {
  const CUdeviceptr x = allocate(100);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, x + 50), CUDA_SUCCESS);
  EXPECT_EQ(base, x);
  EXPECT_EQ(bytes, 100u);
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, x + 100),
            CUDA_ERROR_NOT_FOUND);
  unsigned type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x),
            CUDA_SUCCESS);
  EXPECT_EQ(type, unsigned(CU_MEMORYTYPE_DEVICE));
  void *pinned = nullptr;
  EXPECT_EQ(cuMemHostAlloc(&pinned, 4, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  reinterpret_cast<uintptr_t>(pinned)),
            CUDA_SUCCESS);
  EXPECT_EQ(type, unsigned(CU_MEMORYTYPE_HOST));
  unsigned flags = 0;
  EXPECT_EQ(cuMemHostGetFlags(&flags, pinned), CUDA_SUCCESS);
  EXPECT_TRUE(flags & CU_MEMHOSTALLOC_PORTABLE);
  // Memory of nobody: an error of one attribute, not of several.
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  reinterpret_cast<uintptr_t>(&type)),
            CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void *values[] = {&type};
  EXPECT_EQ(cuPointerGetAttributes(1, &attribute, values,
                                   reinterpret_cast<uintptr_t>(&type)),
            CUDA_SUCCESS);
  EXPECT_EQ(type, 0u);
}

TEST_F(Memory, FreedInAStreamsOrder) {
  const CUfunction function = kernel(load(kStep), "step");
  const CUstream s = stream();
  CUdeviceptr x = 0;
  uint32_t word = 0;
  EXPECT_EQ(cuMemAllocAsync(&x, 4, s), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(x, 4, 1, s), CUDA_SUCCESS);
  EXPECT_EQ(step(function, x, 1, s), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(&word, x, 4, s), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(x, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(word, 13u);
  EXPECT_EQ(cuMemFreeAsync(x, s), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH_v2(&word, x, 4), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
