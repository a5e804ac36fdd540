//===- Driver.h - What the backend calls of the CUDA driver -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The few calls and numbers of the driver's documented interface that a runtime
// needs, so that building it takes no toolkit. Names are the driver's symbols:
// a suffix _v2 is part of the interface.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DEVICES_CUDA_DRIVER_H
#define KVC_DEVICES_CUDA_DRIVER_H

#include "kvc/Base/Diag.h"

#include <cstddef>
#include <cstdint>

namespace kvc::cuda {

/// Handles, all pointers to what the driver alone knows.
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;
using Ordinal = int;
using Address = unsigned long long;

/// The driver's numbers; any other one may come back too.
enum Result : int { Success = 0, OutOfMemory = 2, NotReady = 600 };

inline constexpr int kMultiprocessorCount = 16, kCapabilityMajor = 75,
                     kCapabilityMinor = 76;
inline constexpr int kMaxDynamicSharedBytes = 8; ///< Of a function.
inline constexpr unsigned kStreamNonBlocking = 1, kEventDisableTiming = 2;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;

/// KVC_CALL(symbol, parameters)
#define KVC_CUDA_CALLS(KVC_CALL)                                               \
  KVC_CALL(cuInit, (unsigned))                                                 \
  KVC_CALL(cuGetErrorName, (Result, const char **))                            \
  KVC_CALL(cuDeviceGetCount, (int *))                                          \
  KVC_CALL(cuDeviceGet, (Ordinal *, int))                                      \
  KVC_CALL(cuDeviceGetName, (char *, int, Ordinal))                            \
  KVC_CALL(cuDeviceGetAttribute, (int *, int, Ordinal))                        \
  KVC_CALL(cuDeviceTotalMem_v2, (size_t *, Ordinal))                           \
  KVC_CALL(cuDevicePrimaryCtxRetain, (Context *, Ordinal))                     \
  KVC_CALL(cuDevicePrimaryCtxRelease_v2, (Ordinal))                            \
  KVC_CALL(cuCtxPushCurrent_v2, (Context))                                     \
  KVC_CALL(cuCtxPopCurrent_v2, (Context *))                                    \
  KVC_CALL(cuCtxSynchronize, ())                                               \
  KVC_CALL(cuMemAlloc_v2, (Address *, size_t))                                 \
  KVC_CALL(cuMemFree_v2, (Address))                                            \
  KVC_CALL(cuMemHostAlloc, (void **, size_t, unsigned))                        \
  KVC_CALL(cuMemFreeHost, (void *))                                            \
  KVC_CALL(cuMemcpyHtoDAsync_v2, (Address, const void *, size_t, Stream))      \
  KVC_CALL(cuMemcpyDtoHAsync_v2, (void *, Address, size_t, Stream))            \
  KVC_CALL(cuMemcpyDtoDAsync_v2, (Address, Address, size_t, Stream))           \
  KVC_CALL(cuMemsetD8Async, (Address, unsigned char, size_t, Stream))          \
  KVC_CALL(cuStreamCreate, (Stream *, unsigned))                               \
  KVC_CALL(cuStreamDestroy_v2, (Stream))                                       \
  KVC_CALL(cuStreamSynchronize, (Stream))                                      \
  KVC_CALL(cuStreamWaitEvent, (Stream, Event, unsigned))                       \
  KVC_CALL(cuStreamBeginCapture_v2, (Stream, int))                             \
  KVC_CALL(cuStreamEndCapture, (Stream, Graph *))                              \
  KVC_CALL(cuEventCreate, (Event *, unsigned))                                 \
  KVC_CALL(cuEventDestroy_v2, (Event))                                         \
  KVC_CALL(cuEventRecord, (Event, Stream))                                     \
  KVC_CALL(cuEventQuery, (Event))                                              \
  KVC_CALL(cuEventSynchronize, (Event))                                        \
  KVC_CALL(cuEventElapsedTime, (float *, Event, Event))                        \
  KVC_CALL(cuModuleLoadDataEx,                                                 \
           (Module *, const void *, unsigned, int *, void **))                 \
  KVC_CALL(cuModuleUnload, (Module))                                           \
  KVC_CALL(cuModuleGetFunction, (Function *, Module, const char *))            \
  KVC_CALL(cuFuncSetAttribute, (Function, int, int))                           \
  KVC_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor,                        \
           (int *, Function, int, size_t))                                     \
  KVC_CALL(cuLaunchKernel,                                                     \
           (Function, unsigned, unsigned, unsigned, unsigned, unsigned,        \
            unsigned, unsigned, Stream, void **, void **))                     \
  KVC_CALL(cuGraphInstantiateWithFlags,                                        \
           (GraphExec *, Graph, unsigned long long))                           \
  KVC_CALL(cuGraphDestroy, (Graph))                                            \
  KVC_CALL(cuGraphLaunch, (GraphExec, Stream))                                 \
  KVC_CALL(cuGraphExecDestroy, (GraphExec))

/// The calls, found in the driver's library.
struct Driver {
#define KVC_CALL(SYMBOL, PARAMETERS) Result(*SYMBOL) PARAMETERS = nullptr;
  KVC_CUDA_CALLS(KVC_CALL)
#undef KVC_CALL

  /// KVC_UNSUPPORTED where there is no such library or it lacks a call.
  kvc_status open(const char *library, kvc_diag *diag);

  /// KVC_FAILED, "cuda: WHAT: expected success, got CUDA_ERROR_..".
  kvc_status check(Result result, const char *what, kvc_diag *diag) const;
};

} // namespace kvc::cuda

#endif // KVC_DEVICES_CUDA_DRIVER_H
