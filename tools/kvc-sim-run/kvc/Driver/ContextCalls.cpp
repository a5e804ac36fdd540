//===- ContextCalls.cpp - Contexts ----------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

static std::shared_ptr<Context> find(CUcontext handle) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  return driver.registry.find<Context>(handle);
}

CUresult calls::ctxCreate(CUcontext *context, unsigned int flags,
                          CUdevice device) {
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  *context = handleOf<CUcontext>(*driver.makeContext(flags));
  contextStack().push_back(*context);
  return CUDA_SUCCESS;
}

CUresult calls::ctxCreateWithAffinity(CUcontext *context, CUexecAffinityParam *,
                                      int count, unsigned int flags,
                                      CUdevice device) {
  if (count != 0)
    return refuse("cuCtxCreate_v3 with an affinity");
  return ctxCreate(context, flags, device);
}

CUresult calls::ctxCreateWithParams(CUcontext *context,
                                    CUctxCreateParams *params,
                                    unsigned int flags, CUdevice device) {
  if (params && (params->numExecAffinityParams != 0 || params->cigParams))
    return refuse("cuCtxCreate_v4 with parameters");
  return ctxCreate(context, flags, device);
}

CUresult calls::ctxDestroy(CUcontext handle) {
  const std::shared_ptr<Context> context = find(handle);
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (context->isPrimary)
    return because(CUDA_ERROR_INVALID_CONTEXT,
                   "the primary context is released, not destroyed");
  theDriver()->destroyContext(context);
  if (!contextStack().empty() && contextStack().back() == handle)
    contextStack().pop_back();
  return CUDA_SUCCESS;
}

CUresult calls::ctxPushCurrent(CUcontext handle) {
  if (!find(handle))
    return CUDA_ERROR_INVALID_CONTEXT;
  contextStack().push_back(handle);
  return CUDA_SUCCESS;
}

CUresult calls::ctxPopCurrent(CUcontext *context) {
  if (contextStack().empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (context)
    *context = contextStack().back();
  contextStack().pop_back();
  return CUDA_SUCCESS;
}

CUresult calls::ctxSetCurrent(CUcontext handle) {
  if (handle && !find(handle))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!contextStack().empty())
    contextStack().pop_back();
  if (handle)
    contextStack().push_back(handle);
  return CUDA_SUCCESS;
}

CUresult calls::ctxGetCurrent(CUcontext *context) {
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  *context = contextStack().empty() ? nullptr : contextStack().back();
  return CUDA_SUCCESS;
}

CUresult calls::ctxGetDevice(CUdevice *device) {
  return ctxGetDeviceOf(device, nullptr);
}

/// Of the current context for null.
static std::shared_ptr<Context> thisOr(CUcontext handle) {
  return handle ? find(handle) : currentContext();
}

CUresult calls::ctxGetDeviceOf(CUdevice *device, CUcontext handle) {
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (!thisOr(handle))
    return CUDA_ERROR_INVALID_CONTEXT;
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult calls::ctxGetApiVersion(CUcontext handle, unsigned int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  if (!thisOr(handle))
    return CUDA_ERROR_INVALID_CONTEXT;
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult calls::ctxGetFlags(unsigned int *flags) {
  const std::shared_ptr<Context> context = currentContext();
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  const Guard guard(theDriver()->lock);
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult calls::ctxGetId(CUcontext handle, unsigned long long *id) {
  const std::shared_ptr<Context> context = thisOr(handle);
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  *id = context->number;
  return CUDA_SUCCESS;
}

static CUresult synchronize(const std::shared_ptr<Context> &context) {
  Driver &driver = *theDriver();
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  {
    const Guard guard(driver.lock);
    if (const CUresult result = checkCapture(driver, nullptr))
      return result;
  }
  driver.queue.waitAll(*context->failure);
  return context->failure->result.load();
}

CUresult calls::ctxSynchronize() { return synchronize(heldContext()); }

CUresult calls::ctxSynchronizeOf(CUcontext handle) {
  return synchronize(thisOr(handle));
}

//===----------------------------------------------------------------------===//
// What is only remembered
//===----------------------------------------------------------------------===//

CUresult calls::ctxSetLimit(CUlimit limit, size_t value) {
  if (limit < CU_LIMIT_STACK_SIZE || limit > CU_LIMIT_MALLOC_HEAP_SIZE)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  const std::shared_ptr<Context> context = heldContext();
  const Guard guard(theDriver()->lock);
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult calls::ctxGetLimit(size_t *value, CUlimit limit) {
  static constexpr size_t defaults[] = {1024, 1 << 20, 8 << 20};
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (limit < CU_LIMIT_STACK_SIZE || limit > CU_LIMIT_MALLOC_HEAP_SIZE)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  const std::shared_ptr<Context> context = heldContext();
  const Guard guard(theDriver()->lock);
  const auto found = context->limits.find(limit);
  *value = found == context->limits.end() ? defaults[limit] : found->second;
  return CUDA_SUCCESS;
}

CUresult calls::ctxGetCacheConfig(CUfunc_cache *config) {
  const std::shared_ptr<Context> context = heldContext();
  const Guard guard(theDriver()->lock);
  if (config)
    *config = context->cacheConfig;
  return config ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult calls::ctxSetCacheConfig(CUfunc_cache config) {
  const std::shared_ptr<Context> context = heldContext();
  const Guard guard(theDriver()->lock);
  context->cacheConfig = config;
  return CUDA_SUCCESS;
}

CUresult calls::ctxGetSharedMemConfig(CUsharedconfig *config) {
  const std::shared_ptr<Context> context = heldContext();
  const Guard guard(theDriver()->lock);
  if (config)
    *config = context->sharedConfig;
  return config ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult calls::ctxSetSharedMemConfig(CUsharedconfig config) {
  const std::shared_ptr<Context> context = heldContext();
  const Guard guard(theDriver()->lock);
  context->sharedConfig = config;
  return CUDA_SUCCESS;
}

CUresult calls::ctxGetStreamPriorityRange(int *least, int *greatest) {
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
}
