//===- module_test.cpp - Devices, contexts, modules, launches -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include "kvc/Driver/Exports.h"

#include <cstring>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace kvc::test;

namespace {

class Modules : public DriverTest {};

constexpr char kShared[] = R"(.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 memory[];
.visible .entry use(.param .u64 x) .maxntid 64, 1, 1 {
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  st.shared.u32 [memory], %r1;
  ld.shared.u32 %r2, [memory];
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry strange() {
  wgmma.fence.sync.aligned;
  ret;
}
)";

TEST(Device, TellsWhatItIs) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  char name[32] = "";
  EXPECT_EQ(cuDeviceGetName(name, sizeof(name), 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "kvc simulator of H100");
  EXPECT_EQ(cuDeviceGetName(name, 4, 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "kvc");
  int major = 0, minor = -1, value = 0;
  EXPECT_EQ(cuDeviceComputeCapability(&major, &minor, 0), CUDA_SUCCESS);
  EXPECT_EQ(major * 10 + minor, 90);
  EXPECT_EQ(
      cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(value, 132);
  EXPECT_EQ(
      cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 1000, 0), CUDA_ERROR_INVALID_VALUE);
  CUuuid id{};
  EXPECT_EQ(cuDeviceGetUuid_v2(&id, 0), CUDA_SUCCESS);
  EXPECT_EQ(std::string(id.bytes, 12), "kvc-sim H100");
  char bus[16] = "";
  EXPECT_EQ(cuDeviceGetPCIBusId(bus, sizeof(bus), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, bus), CUDA_SUCCESS);
}

TEST(Contexts, AreAStack) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUcontext one = nullptr, two = nullptr, current = nullptr;
  EXPECT_EQ(cuCtxCreate_v2(&one, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxCreate_v2(&two, 4, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, two);
  EXPECT_EQ(cuCtxPopCurrent_v2(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, two);
  EXPECT_EQ(cuCtxPushCurrent_v2(two), CUDA_SUCCESS);
  unsigned flags = 0;
  EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, 4u);
  EXPECT_EQ(cuCtxDestroy_v2(two), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(two), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDestroy_v2(one), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent_v2(&current), CUDA_ERROR_INVALID_CONTEXT);

  CUcontext again = nullptr;
  int active = -1;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&one, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(one, again);
  EXPECT_EQ(cuCtxDestroy_v2(one), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Modules, ChecksLaunches) {
  const CUmodule module = load(kShared);
  const CUfunction use = kernel(module, "use");
  CUdeviceptr x = allocate(4);
  void *params[] = {&x};
  auto launch = [&](unsigned grid, unsigned block, unsigned shared) {
    return cuLaunchKernel(use, grid, 1, 1, block, 1, 1, shared, nullptr, params,
                          nullptr);
  };
  EXPECT_EQ(launch(1, 1, 4), CUDA_SUCCESS);
  EXPECT_EQ(launch(0, 1, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 0, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 65, 4), CUDA_ERROR_INVALID_VALUE); // .maxntid
  EXPECT_EQ(launch(1, 1025, 4), CUDA_ERROR_INVALID_VALUE);
  // More than 48 KiB has to be asked for.
  EXPECT_EQ(launch(1, 1, 50000), CUDA_ERROR_INVALID_VALUE);
  const auto most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(cuFuncSetAttribute(use, most, 300000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(use, most, 50000), CUDA_SUCCESS);
  EXPECT_EQ(launch(1, 1, 50000), CUDA_SUCCESS);
  EXPECT_EQ(launch(1, 1, 50001), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(use, 1, 1, 1, 1, 1, 1, 4, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  size_t size = 4;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &x,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  EXPECT_EQ(cuLaunchKernel(use, 1, 1, 1, 1, 1, 1, 4, nullptr, nullptr, extra),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(use, 1, 1, 1, 1, 1, 1, 4, nullptr, params, extra),
            CUDA_ERROR_INVALID_VALUE);
  int value = 0;
  EXPECT_EQ(
      cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, use),
      CUDA_SUCCESS);
  EXPECT_EQ(value, 64);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(Modules, AreNotReadFromPipes) {
  const std::string pipe =
      testing::TempDir() + "kvc_module_" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoad(&module, pipe.c_str()), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuModuleLoad(&module, testing::TempDir().c_str()),
            CUDA_ERROR_FILE_NOT_FOUND);
  std::remove(pipe.c_str());
}

TEST_F(Modules, RefusesWhatTheSimulatorLacks) {
  const CUmodule module = load(kShared);
  const CUfunction strange = kernel(module, "strange");
  EXPECT_EQ(
      cuLaunchKernel(strange, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
      CUDA_ERROR_NOT_SUPPORTED);
  CUlaunchAttribute attribute{};
  const CUlaunchConfig config{1, 1, 1, 1, 1, 1, 4, nullptr, &attribute, 1};
  CUdeviceptr x = allocate(4);
  void *params[] = {&x};
  const CUfunction use = kernel(module, "use");
  EXPECT_EQ(cuLaunchKernelEx(&config, use, params, nullptr), CUDA_SUCCESS);
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  EXPECT_EQ(cuLaunchKernelEx(&config, use, params, nullptr), CUDA_SUCCESS);
  attribute.value.number = 1;
  EXPECT_EQ(cuLaunchKernelEx(&config, use, params, nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {1, 1, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, use, params, nullptr), CUDA_SUCCESS);
  attribute.value.clusterDim.x = 2;
  EXPECT_EQ(cuLaunchKernelEx(&config, use, params, nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  CUmodule none = nullptr;
  const std::string newer = ".version 8.6\n.target sm_100a\n"
                            ".address_size 64\n.visible .entry k() { ret; }\n";
  EXPECT_EQ(cuModuleLoadData(&none, newer.c_str()), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleLoadData(&none, "\x50\xED\x55\xBA"),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(Modules, LibrariesAndLinkedTextAreModules) {
  CUlibrary library = nullptr;
  CUkernel function = nullptr;
  unsigned count = 0;
  const char *name = nullptr;
  size_t offset = 0, bytes = 0;
  EXPECT_EQ(cuLibraryLoadData(&library, kStep, nullptr, nullptr, 0, nullptr,
                              nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cuLibraryGetKernel(&function, library, "step"), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryGetKernel(&function, library, "stop"),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuKernelGetName(&name, function), CUDA_SUCCESS);
  EXPECT_STREQ(name, "step");
  EXPECT_EQ(cuKernelGetParamInfo(function, 1, &offset, &bytes), CUDA_SUCCESS);
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(cuKernelGetParamInfo(function, 2, &offset, &bytes),
            CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr x = allocate(4);
  EXPECT_EQ(cuMemsetD32_v2(x, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(step(reinterpret_cast<CUfunction>(function), x, 1, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(read(x, 1)[0], 4u);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(step(reinterpret_cast<CUfunction>(function), x, 1, nullptr),
            CUDA_ERROR_INVALID_HANDLE);

  CUlinkState link = nullptr;
  void *image = nullptr;
  std::string text = kStep;
  EXPECT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text.data(), text.size(),
                             "step", 0, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_CUBIN, text.data(), text.size(),
                             "step", 0, nullptr, nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuLinkComplete(link, &image, &bytes), CUDA_SUCCESS);
  EXPECT_EQ(bytes, text.size() + 1);
  kernel(load(static_cast<const char *>(image)), "step");
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
}

TEST_F(Modules, OccupancyIsABound) {
  const CUfunction use = kernel(load(kShared), "use");
  int blocks = 0, grid = 0, block = 0;
  size_t bytes = 0;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use, 64, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(blocks, 32);
  EXPECT_EQ(
      cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use, 64, 100 << 10),
      CUDA_SUCCESS);
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, use, nullptr, 0, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(block, 64);
  EXPECT_EQ(grid, 132 * 32);
  EXPECT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, use, 2, 64),
            CUDA_SUCCESS);
  EXPECT_EQ(bytes, size_t(228 * 1024 / 2 - 1024));
}

TEST(Exports, AreFoundByVersion) {
  void *old = nullptr, *made = nullptr, *twin = nullptr;
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(cuGetProcAddress_v2("cuCtxCreate", &old, 10000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(old, reinterpret_cast<void *>(&cuCtxCreate_v2));
  EXPECT_EQ(cuGetProcAddress_v2("cuCtxCreate", &made, 13000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(made, reinterpret_cast<void *>(&cuCtxCreate_v4));
  EXPECT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &made, 13000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &twin, 13000,
                                CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                                &status),
            CUDA_SUCCESS);
  EXPECT_NE(made, twin);
  EXPECT_EQ(cuGetProcAddress_v2("cuGraphLaunch", &made, 9000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(cuGetProcAddress("cuNothing", &made, 13000, 0),
            CUDA_ERROR_NOT_FOUND);
  // What is missing is there, to say so.
  EXPECT_EQ(cuGetProcAddress_v2("cuArrayCreate", &made, 13000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_NE(made, nullptr);
  std::set<std::pair<std::string_view, int>> names;
  for (const kvc::driver::Exported &each : kvc::driver::allCalls())
    EXPECT_TRUE(names.emplace(each.name, each.version).second) << each.name;
}

} // namespace
