//===- LaunchCalls.cpp - Kernels and host functions -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

#include <algorithm>
#include <cstring>

using namespace kvc;
using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Attributes that do not change what a kernel computes here, and those that
/// the simulator would have to have.
static CUresult checkAttribute(const CUlaunchAttribute &attribute) {
  switch (attribute.id) {
  case CU_LAUNCH_ATTRIBUTE_IGNORE:
  case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
  case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    if (attribute.value.clusterDim.x <= 1 &&
        attribute.value.clusterDim.y <= 1 && attribute.value.clusterDim.z <= 1)
      return CUDA_SUCCESS;
    return refuse("cuLaunchKernelEx with clusters of several blocks");
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    if (attribute.value.number == 0)
      return CUDA_SUCCESS;
    return refuse("cuLaunchKernelEx of a cooperative kernel");
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    if (attribute.value.number == 0)
      return CUDA_SUCCESS;
    return refuse("cuLaunchKernelEx with programmatic stream serialization");
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    return refuse("cuLaunchKernelEx with a programmatic event");
  case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    return refuse("cuLaunchKernelEx with a completion event");
  case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    return refuse("cuLaunchKernelEx with a node that the device updates");
  }
  return refuse("cuLaunchKernelEx with attribute " +
                std::to_string(int(attribute.id)));
}

static CUresult checkShape(const Driver &driver, const Function &function,
                           const CUlaunchConfig &config) {
  const uint64_t threads =
      uint64_t(config.blockDimX) * config.blockDimY * config.blockDimZ;
  if (threads == 0 || config.blockDimX > 1024 || config.blockDimY > 1024 ||
      config.blockDimZ > 64 || threads > 1024)
    return because(CUDA_ERROR_INVALID_VALUE,
                   "block: expected 1 to 1024 threads, at most 1024 x 1024 x "
                   "64");
  if (config.gridDimX == 0 || config.gridDimY == 0 || config.gridDimZ == 0 ||
      config.gridDimX > 0x7FFFFFFF || config.gridDimY > 65535 ||
      config.gridDimZ > 65535)
    return because(CUDA_ERROR_INVALID_VALUE,
                   "grid: expected 1 to 2^31-1 x 65535 x 65535 blocks");
  const sim::FunctionHints &hints = function.hints;
  const unsigned block[] = {config.blockDimX, config.blockDimY,
                            config.blockDimZ};
  uint64_t most = 1;
  for (int i = 0; i < 3; ++i) {
    most *= std::max(1u, hints.maxThreads[i]);
    if (hints.requiredThreads[0] != 0 &&
        block[i] != std::max(1u, hints.requiredThreads[i]))
      return because(CUDA_ERROR_INVALID_VALUE,
                     "block: expected the kernel's .reqntid");
  }
  if (hints.maxThreads[0] != 0 && threads > most)
    return because(CUDA_ERROR_INVALID_VALUE,
                   "block: expected at most the kernel's .maxntid");
  if (hints.requiredCluster[0] > 1 || hints.requiredCluster[1] > 1 ||
      hints.requiredCluster[2] > 1)
    return refuse("cuLaunchKernel of kernel \"" + function.name +
                  "\" with clusters of several blocks");
  // More than 48 KiB has to be asked for.
  const auto asked =
      function.attributes.find(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  const uint64_t mostShared =
      asked != function.attributes.end()
          ? std::max<uint64_t>(49152, function.sharedBytes + asked->second)
          : 49152;
  if (function.dynamicOffset + config.sharedMemBytes > mostShared ||
      function.dynamicOffset + config.sharedMemBytes >
          driver.settings.device->sharedBytesOfBlock)
    return because(CUDA_ERROR_INVALID_VALUE,
                   "shared memory: expected at most " +
                       std::to_string(mostShared) + " bytes, got " +
                       std::to_string(function.dynamicOffset) + " static and " +
                       std::to_string(config.sharedMemBytes) + " dynamic");
  return CUDA_SUCCESS;
}

/// The bytes of all parameters, from pointers to each or from one buffer.
static CUresult readParams(const Function &function, void **params,
                           void **extra, std::vector<uint8_t> &bytes) {
  bytes.assign(function.paramBytes, 0);
  if (params && extra)
    return because(CUDA_ERROR_INVALID_VALUE, "kernelParams and extra");
  if (extra) {
    const void *buffer = nullptr;
    const size_t *size = nullptr;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
        buffer = extra[1];
      else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
        size = static_cast<const size_t *>(extra[1]);
      else
        return because(CUDA_ERROR_INVALID_VALUE, "extra: no such entry");
    }
    if (!buffer || !size || *size < function.paramBytes)
      return because(CUDA_ERROR_INVALID_VALUE,
                     "extra: expected a buffer of " +
                         std::to_string(function.paramBytes) + " bytes");
    if (!bytes.empty())
      std::memcpy(bytes.data(), buffer, bytes.size());
    return CUDA_SUCCESS;
  }
  if (!params && !function.params.empty())
    return because(CUDA_ERROR_INVALID_VALUE,
                   "expected " + std::to_string(function.params.size()) +
                       " parameters, got none");
  for (size_t i = 0; i < function.params.size(); ++i) {
    const sim::KernelParam &param = function.params[i];
    if (!params[i])
      return because(CUDA_ERROR_INVALID_VALUE,
                     "parameter " + std::to_string(i) + " is null");
    std::memcpy(bytes.data() + param.offset, params[i], param.bytes);
  }
  return CUDA_SUCCESS;
}

CUresult kvc::driver::prepareLaunch(Driver &driver,
                                    const std::shared_ptr<Function> &function,
                                    const CUlaunchConfig &config, void **params,
                                    void **extra, Work &work) {
  if (!function)
    return because(CUDA_ERROR_INVALID_HANDLE, "no such kernel");
  if (!function->missing.empty()) {
    sayOnce("kernel \"" + function->name + "\" of " + function->module->name +
            ":" + function->missing);
    return because(CUDA_ERROR_NOT_SUPPORTED, function->missing);
  }
  if (config.numAttrs > 0 && !config.attrs)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (const CUresult result = checkAttribute(config.attrs[i]))
      return result;
  {
    const Guard guard(driver.lock);
    if (const CUresult result = checkShape(driver, *function, config))
      return result;
  }
  Launch launch;
  launch.function = function;
  launch.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  launch.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  launch.dynamicShared = config.sharedMemBytes;
  if (const CUresult result =
          readParams(*function, params, extra, launch.params))
    return result;
  work.run = [&device = driver.device, launch = std::move(launch)] {
    return device.run(launch);
  };
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

CUresult calls::launchKernelEx(const CUlaunchConfig *config, CUfunction handle,
                               void **params, void **extra) {
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  Driver &driver = *theDriver();
  std::shared_ptr<Function> function;
  {
    const Guard guard(driver.lock);
    function = functionOf(driver, handle);
  }
  Work work;
  if (const CUresult result =
          prepareLaunch(driver, function, *config, params, extra, work))
    return result;
  return enqueue(driver, config->hStream, CU_GRAPH_NODE_TYPE_KERNEL,
                 std::move(work));
}

CUresult calls::launchKernel(CUfunction function, unsigned int gridX,
                             unsigned int gridY, unsigned int gridZ,
                             unsigned int blockX, unsigned int blockY,
                             unsigned int blockZ, unsigned int shared,
                             CUstream stream, void **params, void **extra) {
  const CUlaunchConfig config{gridX,  gridY,  gridZ,  blockX,  blockY,
                              blockZ, shared, stream, nullptr, 0};
  return launchKernelEx(&config, function, params, extra);
}

CUresult calls::launchHostFunc(CUstream stream, CUhostFn function, void *data) {
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  Work work;
  work.isEager = true;
  work.run = [function, data] {
    function(data);
    return CUDA_SUCCESS;
  };
  return enqueue(*theDriver(), stream, CU_GRAPH_NODE_TYPE_HOST,
                 std::move(work));
}

CUresult calls::streamAddCallback(CUstream stream, CUstreamCallback function,
                                  void *data, unsigned int flags) {
  if (!function || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  Work work;
  work.isEager = true;
  work.run = [=] {
    function(stream, CUDA_SUCCESS, data);
    return CUDA_SUCCESS;
  };
  work.onFailure = [=](CUresult failure) { function(stream, failure, data); };
  return enqueue(*theDriver(), stream, CU_GRAPH_NODE_TYPE_HOST,
                 std::move(work));
}
