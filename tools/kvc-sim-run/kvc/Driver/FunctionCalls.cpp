//===- FunctionCalls.cpp - What is known of kernels; occupancy ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

#include <algorithm>

using namespace kvc;
using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

/// What a block may have without asking for more.
static constexpr int kSharedWithoutAsking = 49152;

static std::shared_ptr<Function> find(CUfunction handle) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  return functionOf(driver, handle);
}
static CUfunction functionOfKernel(CUkernel kernel) {
  return reinterpret_cast<CUfunction>(kernel);
}

static int mostThreads(const Function &function) {
  const sim::FunctionHints &hints = function.hints;
  unsigned most = 1;
  const unsigned *given =
      hints.requiredThreads[0] != 0 ? hints.requiredThreads : hints.maxThreads;
  if (given[0] == 0)
    return 1024;
  for (int i = 0; i < 3; ++i)
    most *= std::max(1u, given[i]);
  return int(std::min(most, 1024u));
}

CUresult calls::funcGetAttribute(int *value, CUfunction_attribute attribute,
                                 CUfunction handle) {
  const std::shared_ptr<Function> function = find(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  Driver &driver = *theDriver();
  const sim::DeviceModel &model = *driver.settings.device;
  const Guard guard(driver.lock);
  if (const auto set = function->attributes.find(attribute);
      set != function->attributes.end()) {
    *value = set->second;
    return CUDA_SUCCESS;
  }
  const unsigned *cluster = function->hints.requiredCluster;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = mostThreads(*function);
    break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = int(function->sharedBytes);
    break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = int(function->localBytes);
    break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = int(model.sm);
    break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = std::max(0, kSharedWithoutAsking - int(function->sharedBytes));
    break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *value = -1;
    break;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    *value = function->hints.explicitCluster && cluster[0] == 0;
    break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    *value = int(cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]);
    break;
  // PTX has no machine registers, and nothing keeps count of constants.
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    *value = 0;
    break;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult calls::funcSetAttribute(CUfunction handle,
                                 CUfunction_attribute attribute, int value) {
  const std::shared_ptr<Function> function = find(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  Driver &driver = *theDriver();
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
    const int64_t most = int64_t(driver.settings.device->sharedBytesOfBlock) -
                         int64_t(function->sharedBytes);
    if (value < 0 || value > most)
      return because(CUDA_ERROR_INVALID_VALUE,
                     "at most " + std::to_string(most) + " bytes");
    break;
  }
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    if (value < -1 || value > 100)
      return CUDA_ERROR_INVALID_VALUE;
    break;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    break;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Guard guard(driver.lock);
  function->attributes[attribute] = value;
  return CUDA_SUCCESS;
}

CUresult calls::funcSetCacheConfig(CUfunction handle, CUfunc_cache) {
  return find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult calls::funcSetSharedMemConfig(CUfunction handle, CUsharedconfig) {
  return find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult calls::funcGetModule(CUmodule *module, CUfunction handle) {
  const std::shared_ptr<Function> function = find(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  *module = handleOf<CUmodule>(*function->module);
  return CUDA_SUCCESS;
}

CUresult calls::funcGetName(const char **name, CUfunction handle) {
  const std::shared_ptr<Function> function = find(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  *name = function->name.c_str();
  return CUDA_SUCCESS;
}

CUresult calls::funcGetParamInfo(CUfunction handle, size_t index,
                                 size_t *offset, size_t *bytes) {
  const std::shared_ptr<Function> function = find(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!offset || index >= function->params.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = function->params[index].offset;
  if (bytes)
    *bytes = function->params[index].bytes;
  return CUDA_SUCCESS;
}

CUresult calls::funcIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
  if (!find(handle))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!state)
    return CUDA_ERROR_INVALID_VALUE;
  *state = 1;
  return CUDA_SUCCESS;
}

CUresult calls::funcLoad(CUfunction handle) {
  return find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

//===----------------------------------------------------------------------===//
// The same of kernels
//===----------------------------------------------------------------------===//

CUresult calls::kernelGetFunction(CUfunction *function, CUkernel kernel) {
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  *function = functionOfKernel(kernel);
  return funcLoad(*function);
}

CUresult calls::kernelGetAttribute(int *value, CUfunction_attribute attribute,
                                   CUkernel kernel, CUdevice) {
  return funcGetAttribute(value, attribute, functionOfKernel(kernel));
}

CUresult calls::kernelSetAttribute(CUfunction_attribute attribute, int value,
                                   CUkernel kernel, CUdevice) {
  return funcSetAttribute(functionOfKernel(kernel), attribute, value);
}

CUresult calls::kernelSetCacheConfig(CUkernel kernel, CUfunc_cache config,
                                     CUdevice) {
  return funcSetCacheConfig(functionOfKernel(kernel), config);
}

CUresult calls::kernelGetName(const char **name, CUkernel kernel) {
  return funcGetName(name, functionOfKernel(kernel));
}

CUresult calls::kernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  return funcGetModule(reinterpret_cast<CUmodule *>(library),
                       functionOfKernel(kernel));
}

CUresult calls::kernelGetParamInfo(CUkernel kernel, size_t index,
                                   size_t *offset, size_t *bytes) {
  return funcGetParamInfo(functionOfKernel(kernel), index, offset, bytes);
}

//===----------------------------------------------------------------------===//
// Occupancy. Registers are ptxas's to say, so these are bounds from above.
//===----------------------------------------------------------------------===//

/// Blocks of one multiprocessor.
static int blocksFor(const Function &function, int block, size_t dynamic) {
  sim::LaunchInfo launch;
  launch.block.x = uint32_t(block);
  launch.sharedBytes = function.dynamicOffset + dynamic;
  return int(sim::occupancyOf(*theDriver()->settings.device, launch,
                              function.hints.maxRegisters)
                 .blocks);
}

CUresult calls::occupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                          CUfunction handle,
                                                          int block,
                                                          size_t dynamic) {
  return occupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle,
                                                            block, dynamic, 0);
}

CUresult calls::occupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, CUfunction handle, int block, size_t dynamic, unsigned int) {
  const std::shared_ptr<Function> function = find(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!blocks || block < 1)
    return CUDA_ERROR_INVALID_VALUE;
  *blocks =
      block > mostThreads(*function) ? 0 : blocksFor(*function, block, dynamic);
  return CUDA_SUCCESS;
}

CUresult calls::occupancyMaxPotentialBlockSize(int *grid, int *block,
                                               CUfunction handle,
                                               CUoccupancyB2DSize sharedOf,
                                               size_t dynamic, int limit) {
  return occupancyMaxPotentialBlockSizeWithFlags(grid, block, handle, sharedOf,
                                                 dynamic, limit, 0);
}

CUresult calls::occupancyMaxPotentialBlockSizeWithFlags(
    int *grid, int *block, CUfunction handle, CUoccupancyB2DSize sharedOf,
    size_t dynamic, int limit, unsigned int) {
  const std::shared_ptr<Function> function = find(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!grid || !block || limit < 0)
    return CUDA_ERROR_INVALID_VALUE;
  const int most = limit == 0 ? mostThreads(*function)
                              : std::min(limit, mostThreads(*function));
  int bestThreads = 0;
  *grid = *block = 0;
  // The largest of the best ones.
  for (int size = most; size > 0; size = (size - 1) / 32 * 32) {
    const int blocks =
        blocksFor(*function, size, sharedOf ? sharedOf(size) : dynamic);
    if (blocks * size > bestThreads) {
      bestThreads = blocks * size;
      *block = size;
      *grid = blocks * int(theDriver()->settings.device->multiprocessors);
    }
  }
  return CUDA_SUCCESS;
}

CUresult calls::occupancyAvailableDynamicSMemPerBlock(size_t *bytes,
                                                      CUfunction handle,
                                                      int blocks, int block) {
  const std::shared_ptr<Function> function = find(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!bytes || blocks < 1 || block < 1 || block > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  const sim::DeviceModel &model = *theDriver()->settings.device;
  // The device keeps 1 KiB of each block for itself, and gives 128 at a time.
  const uint64_t share = model.sharedBytes / unsigned(blocks) / 128 * 128;
  const uint64_t taken = function->dynamicOffset + 1024;
  *bytes = std::min<uint64_t>(share > taken ? share - taken : 0,
                              model.sharedBytesOfBlock -
                                  std::min<uint64_t>(function->dynamicOffset,
                                                     model.sharedBytesOfBlock));
  return CUDA_SUCCESS;
}
