//===- Calls.h - The driver in this process ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_DRIVER_CALLS_H
#define KVC_TEST_DRIVER_CALLS_H

#include "kvc/Driver/Api.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace kvc::test {

/// A test with a context of its own.
class DriverTest : public ::testing::Test {
protected:
  void SetUp() override {
    // Nothing runs by itself, however long a test takes.
    setenv("KVC_SIM_HOLD", "forever", 1);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);
  }

  static CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cuMemAlloc_v2(&made, bytes), CUDA_SUCCESS);
    return made;
  }
  static CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream made = nullptr;
    EXPECT_EQ(cuStreamCreate(&made, flags), CUDA_SUCCESS);
    return made;
  }
  static CUevent event() {
    CUevent made = nullptr;
    EXPECT_EQ(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    return made;
  }
  static CUmodule load(const std::string &text) {
    CUmodule made = nullptr;
    EXPECT_EQ(cuModuleLoadData(&made, text.c_str()), CUDA_SUCCESS);
    return made;
  }
  static CUfunction kernel(CUmodule module, const char *name) {
    CUfunction made = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&made, module, name), CUDA_SUCCESS);
    return made;
  }
  static std::vector<uint32_t> read(CUdeviceptr from, size_t count) {
    std::vector<uint32_t> words(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(words.data(), from, count * 4), CUDA_SUCCESS);
    return words;
  }
  /// By one thread: x[0] = 3 * x[0] + value.
  static CUresult step(CUfunction function, CUdeviceptr x, uint32_t value,
                       CUstream stream) {
    void *params[] = {&x, &value};
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params,
                          nullptr);
  }

  CUcontext context = nullptr;
};

/// With the kernel that step() launches.
inline constexpr char kStep[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry step(.param .u64 x, .param .u32 value) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [value];
  ld.global.u32 %r2, [%rd1];
  mad.lo.u32 %r3, %r2, 3, %r1;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";

} // namespace kvc::test

#endif // KVC_TEST_DRIVER_CALLS_H
