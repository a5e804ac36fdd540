//===- CudaDevice.cpp - NVIDIA devices behind the device table ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/cuda.h"

#include "Driver.h"
#include "kvc/Base/Struct.h"

#include <memory>

using namespace kvc;
using namespace kvc::cuda;

namespace {

struct CudaDevice {
  kvc_device table = {};
  Driver driver;
  Ordinal ordinal = 0;
  Context context = nullptr;

  ~CudaDevice() {
    if (context)
      driver.cuDevicePrimaryCtxRelease_v2(ordinal);
  }
};

/// Makes the device's context current while it lives.
class Current {
public:
  explicit Current(void *self) : device(*static_cast<CudaDevice *>(self)) {
    status = device.driver.cuCtxPushCurrent_v2(device.context);
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  ~Current() {
    Context popped = nullptr;
    if (status == Success)
      device.driver.cuCtxPopCurrent_v2(&popped);
  }

  const Driver *operator->() const { return &device.driver; }

  /// What a call of the driver came to.
  kvc_status check(Result result, const char *what, kvc_diag *diag) const {
    if (status != Success)
      return device.driver.check(status, "cuCtxPushCurrent", diag);
    return device.driver.check(result, what, diag);
  }

private:
  CudaDevice &device;
  Result status;
};

Address addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

kvc_status allocate(void *self, int64_t bytes, kvc_diag *diag, void **memory) {
  const Current current(self);
  Address address = 0;
  const Result result = current->cuMemAlloc_v2(&address, size_t(bytes));
  if (result == OutOfMemory)
    return fail(diag, KVC_FAILED,
                "memory: expected %lld bytes of the device, got none",
                static_cast<long long>(bytes));
  KVC_TRY(current.check(result, "cuMemAlloc", diag));
  *memory = reinterpret_cast<void *>(static_cast<uintptr_t>(address));
  return KVC_OK;
}

kvc_status release(void *self, void *memory, int64_t) {
  const Current current(self);
  return current.check(current->cuMemFree_v2(addressOf(memory)), "cuMemFree",
                       nullptr);
}

kvc_status allocateHost(void *self, int64_t bytes, kvc_diag *diag,
                        void **memory) {
  const Current current(self);
  return current.check(current->cuMemHostAlloc(memory, size_t(bytes), 0),
                       "cuMemHostAlloc", diag);
}

kvc_status releaseHost(void *self, void *memory) {
  const Current current(self);
  return current.check(current->cuMemFreeHost(memory), "cuMemFreeHost",
                       nullptr);
}

kvc_status copyAsync(void *self, void *stream, kvc_copy_kind kind, void *to,
                     const void *from, int64_t bytes, kvc_diag *diag) {
  const Current current(self);
  auto *on = static_cast<Stream>(stream);
  const auto count = static_cast<size_t>(bytes);
  switch (kind) {
  case KVC_COPY_TO_DEVICE:
    return current.check(
        current->cuMemcpyHtoDAsync_v2(addressOf(to), from, count, on),
        "cuMemcpyHtoDAsync", diag);
  case KVC_COPY_FROM_DEVICE:
    return current.check(
        current->cuMemcpyDtoHAsync_v2(to, addressOf(from), count, on),
        "cuMemcpyDtoHAsync", diag);
  case KVC_COPY_ON_DEVICE:
    return current.check(current->cuMemcpyDtoDAsync_v2(
                             addressOf(to), addressOf(from), count, on),
                         "cuMemcpyDtoDAsync", diag);
  }
  return fail(diag, KVC_INVALID_ARGUMENT,
              "copy: expected a kind from 0 to 2, got %d",
              static_cast<int>(kind));
}

kvc_status fillAsync(void *self, void *stream, void *to, int32_t byte,
                     int64_t bytes, kvc_diag *diag) {
  const Current current(self);
  return current.check(
      current->cuMemsetD8Async(addressOf(to), static_cast<unsigned char>(byte),
                               size_t(bytes), static_cast<Stream>(stream)),
      "cuMemsetD8Async", diag);
}

kvc_status copy(void *self, void *to, const void *from, int64_t bytes,
                kvc_diag *diag) {
  KVC_TRY(copyAsync(self, nullptr, KVC_COPY_ON_DEVICE, to, from, bytes, diag));
  const Current current(self);
  return current.check(current->cuStreamSynchronize(nullptr),
                       "cuStreamSynchronize", diag);
}

kvc_status fill(void *self, void *to, int32_t byte, int64_t bytes,
                kvc_diag *diag) {
  KVC_TRY(fillAsync(self, nullptr, to, byte, bytes, diag));
  const Current current(self);
  return current.check(current->cuStreamSynchronize(nullptr),
                       "cuStreamSynchronize", diag);
}

//===----------------------------------------------------------------------===//
// Streams, events
//===----------------------------------------------------------------------===//

kvc_status synchronize(void *self, kvc_diag *diag) {
  const Current current(self);
  return current.check(current->cuCtxSynchronize(), "cuCtxSynchronize", diag);
}

kvc_status streamCreate(void *self, kvc_diag *diag, void **stream) {
  const Current current(self);
  Stream made = nullptr;
  KVC_TRY(current.check(current->cuStreamCreate(&made, kStreamNonBlocking),
                        "cuStreamCreate", diag));
  *stream = made;
  return KVC_OK;
}

kvc_status streamDestroy(void *self, void *stream) {
  const Current current(self);
  return current.check(current->cuStreamDestroy_v2(static_cast<Stream>(stream)),
                       "cuStreamDestroy", nullptr);
}

kvc_status streamSynchronize(void *self, void *stream, kvc_diag *diag) {
  const Current current(self);
  return current.check(
      current->cuStreamSynchronize(static_cast<Stream>(stream)),
      "cuStreamSynchronize", diag);
}

kvc_status makeEvent(void *self, unsigned flags, kvc_diag *diag, void **event) {
  const Current current(self);
  Event made = nullptr;
  KVC_TRY(current.check(current->cuEventCreate(&made, flags), "cuEventCreate",
                        diag));
  *event = made;
  return KVC_OK;
}

kvc_status eventCreate(void *self, kvc_diag *diag, void **event) {
  return makeEvent(self, kEventDisableTiming, diag, event);
}

kvc_status timedEventCreate(void *self, kvc_diag *diag, void **event) {
  return makeEvent(self, 0, diag, event);
}

kvc_status eventElapsed(void *self, void *begin, void *end, kvc_diag *diag,
                        double *milliseconds) {
  const Current current(self);
  float elapsed = 0;
  KVC_TRY(current.check(current->cuEventElapsedTime(&elapsed,
                                                    static_cast<Event>(begin),
                                                    static_cast<Event>(end)),
                        "cuEventElapsedTime", diag));
  *milliseconds = elapsed;
  return KVC_OK;
}

kvc_status eventDestroy(void *self, void *event) {
  const Current current(self);
  return current.check(current->cuEventDestroy_v2(static_cast<Event>(event)),
                       "cuEventDestroy", nullptr);
}

kvc_status eventRecord(void *self, void *event, void *stream, kvc_diag *diag) {
  const Current current(self);
  return current.check(current->cuEventRecord(static_cast<Event>(event),
                                              static_cast<Stream>(stream)),
                       "cuEventRecord", diag);
}

kvc_status eventWait(void *self, void *event, void *stream, kvc_diag *diag) {
  const Current current(self);
  return current.check(current->cuStreamWaitEvent(static_cast<Stream>(stream),
                                                  static_cast<Event>(event), 0),
                       "cuStreamWaitEvent", diag);
}

kvc_status eventQuery(void *self, void *event, kvc_diag *diag,
                      int32_t *is_done) {
  const Current current(self);
  const Result result = current->cuEventQuery(static_cast<Event>(event));
  *is_done = result == Success;
  return result == NotReady ? KVC_OK
                            : current.check(result, "cuEventQuery", diag);
}

kvc_status eventSynchronize(void *self, void *event, kvc_diag *diag) {
  const Current current(self);
  return current.check(current->cuEventSynchronize(static_cast<Event>(event)),
                       "cuEventSynchronize", diag);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

kvc_status moduleLoad(void *self, const void *code, int64_t, kvc_diag *diag,
                      void **module) {
  const Current current(self);
  char log[1024] = "";
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  Module made = nullptr;
  const Result result =
      current->cuModuleLoadDataEx(&made, code, 2, options, values);
  log[sizeof(log) - 1] = 0;
  if (result != Success && log[0])
    return fail(diag, KVC_FAILED, "cuda: cuModuleLoadDataEx: %s", log);
  KVC_TRY(current.check(result, "cuModuleLoadDataEx", diag));
  *module = made;
  return KVC_OK;
}

kvc_status moduleUnload(void *self, void *module) {
  const Current current(self);
  return current.check(current->cuModuleUnload(static_cast<Module>(module)),
                       "cuModuleUnload", nullptr);
}

kvc_status moduleFunction(void *self, void *module, const char *symbol,
                          kvc_diag *diag, void **function) {
  const Current current(self);
  Function found = nullptr;
  const Result result =
      current->cuModuleGetFunction(&found, static_cast<Module>(module), symbol);
  if (result != Success)
    return fail(diag, KVC_INVALID_DATA,
                "module: expected an entry \"%s\", got none (%d)", symbol,
                static_cast<int>(result));
  *function = found;
  return KVC_OK;
}

/// More than 48 KiB of a block has to be asked for.
kvc_status allowShared(const Current &current, Function function,
                       uint32_t bytes, kvc_diag *diag) {
  // The kernel may have static shared memory beside it.
  if (bytes == 0)
    return KVC_OK;
  return current.check(
      current->cuFuncSetAttribute(function, kMaxDynamicSharedBytes, int(bytes)),
      "cuFuncSetAttribute", diag);
}

kvc_status occupancy(void *self, void *function, uint32_t threads,
                     uint32_t shared_bytes, kvc_diag *diag, int32_t *blocks) {
  const Current current(self);
  auto *of = static_cast<Function>(function);
  KVC_TRY(allowShared(current, of, shared_bytes, diag));
  return current.check(current->cuOccupancyMaxActiveBlocksPerMultiprocessor(
                           blocks, of, int(threads), shared_bytes),
                       "cuOccupancyMaxActiveBlocksPerMultiprocessor", diag);
}

kvc_status launchGrid(void *self, void *stream, const kvc_grid *grid,
                      kvc_diag *diag) {
  if (grid->blocks == 0)
    return KVC_OK;
  const Current current(self);
  auto *function = static_cast<Function>(grid->function);
  KVC_TRY(allowShared(current, function, grid->shared_bytes, diag));
  // The driver's marks for a buffer of all parameters, its size, and the end.
  auto bytes = static_cast<size_t>(grid->param_bytes);
  void *extra[] = {reinterpret_cast<void *>(1),
                   const_cast<void *>(grid->params),
                   reinterpret_cast<void *>(2), &bytes, nullptr};
  return current.check(
      current->cuLaunchKernel(function, grid->blocks, 1, 1, grid->threads, 1, 1,
                              grid->shared_bytes, static_cast<Stream>(stream),
                              nullptr, extra),
      "cuLaunchKernel", diag);
}

kvc_status captureBegin(void *self, void *stream, kvc_diag *diag) {
  const Current current(self);
  return current.check(current->cuStreamBeginCapture_v2(
                           static_cast<Stream>(stream), kCaptureThreadLocal),
                       "cuStreamBeginCapture", diag);
}

kvc_status captureEnd(void *self, void *stream, kvc_diag *diag, void **graph) {
  const Current current(self);
  Graph captured = nullptr;
  KVC_TRY(current.check(
      current->cuStreamEndCapture(static_cast<Stream>(stream), &captured),
      "cuStreamEndCapture", diag));
  GraphExec made = nullptr;
  const Result result =
      current->cuGraphInstantiateWithFlags(&made, captured, 0);
  current->cuGraphDestroy(captured);
  KVC_TRY(current.check(result, "cuGraphInstantiate", diag));
  *graph = made;
  return KVC_OK;
}

kvc_status graphLaunch(void *self, void *graph, void *stream, kvc_diag *diag) {
  const Current current(self);
  return current.check(current->cuGraphLaunch(static_cast<GraphExec>(graph),
                                              static_cast<Stream>(stream)),
                       "cuGraphLaunch", diag);
}

kvc_status graphDestroy(void *self, void *graph) {
  const Current current(self);
  return current.check(
      current->cuGraphExecDestroy(static_cast<GraphExec>(graph)),
      "cuGraphExecDestroy", nullptr);
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

kvc_status getInfo(void *self, kvc_diag *diag, kvc_device_info *info) {
  const auto &device = *static_cast<CudaDevice *>(self);
  const Driver &driver = device.driver;
  kvc_device_info result = {};
  int major = 0, minor = 0, count = 0;
  size_t bytes = 0;
  const Result results[] = {
      driver.cuDeviceGetName(result.name, int(sizeof(result.name)),
                             device.ordinal),
      driver.cuDeviceGetAttribute(&major, kCapabilityMajor, device.ordinal),
      driver.cuDeviceGetAttribute(&minor, kCapabilityMinor, device.ordinal),
      driver.cuDeviceGetAttribute(&count, kMultiprocessorCount, device.ordinal),
      driver.cuDeviceTotalMem_v2(&bytes, device.ordinal)};
  for (Result each : results)
    KVC_TRY(driver.check(each, "cuDeviceGetAttribute", diag));
  result.capability = 10 * major + minor;
  result.multiprocessors = count;
  result.memory_bytes = static_cast<int64_t>(bytes);
  return writeStruct(result, "info", diag, info);
}

void fillTable(CudaDevice &device) {
  kvc_device &table = device.table;
  table.struct_size = sizeof(table);
  table.name = "cuda";
  table.self = &device;
  table.flags = KVC_DEVICE_OWN_MEMORY;
  table.get_info = getInfo;
  table.synchronize = synchronize;
  table.allocate = allocate;
  table.release = release;
  table.copy = copy;
  table.fill = fill;
  table.allocate_host = allocateHost;
  table.release_host = releaseHost;
  table.stream_create = streamCreate;
  table.stream_destroy = streamDestroy;
  table.stream_synchronize = streamSynchronize;
  table.copy_async = copyAsync;
  table.fill_async = fillAsync;
  table.event_create = eventCreate;
  table.event_destroy = eventDestroy;
  table.event_record = eventRecord;
  table.event_wait = eventWait;
  table.event_query = eventQuery;
  table.event_synchronize = eventSynchronize;
  table.module_load = moduleLoad;
  table.module_unload = moduleUnload;
  table.module_function = moduleFunction;
  table.occupancy = occupancy;
  table.launch_grid = launchGrid;
  table.capture_begin = captureBegin;
  table.capture_end = captureEnd;
  table.graph_launch = graphLaunch;
  table.graph_destroy = graphDestroy;
  table.timed_event_create = timedEventCreate;
  table.event_elapsed = eventElapsed;
}

} // namespace

extern "C" kvc_status kvc_cuda_device_create(const kvc_cuda_options *options,
                                             kvc_diag *diag,
                                             kvc_device **device) {
  return guarded(diag, [&]() -> kvc_status {
    kvc_cuda_options given = {};
    if (options)
      KVC_TRY(readStruct(options, "options", diag, given));
    KVC_TRY(requirePointer(device, "device", diag));
    auto made = std::make_unique<CudaDevice>();
    Driver &driver = made->driver;
    KVC_TRY(driver.open(given.library ? given.library : "libcuda.so.1", diag));
    KVC_TRY(driver.check(driver.cuInit(0), "cuInit", diag));
    int count = 0;
    KVC_TRY(driver.check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount",
                         diag));
    if (given.ordinal < 0 || given.ordinal >= count)
      return fail(diag, KVC_UNSUPPORTED,
                  "options.ordinal: expected one of %d devices, got %d", count,
                  given.ordinal);
    KVC_TRY(driver.check(driver.cuDeviceGet(&made->ordinal, given.ordinal),
                         "cuDeviceGet", diag));
    KVC_TRY(driver.check(
        driver.cuDevicePrimaryCtxRetain(&made->context, made->ordinal),
        "cuDevicePrimaryCtxRetain", diag));
    fillTable(*made);
    *device = &made.release()->table;
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_cuda_device_free(kvc_device *device) {
  if (device)
    delete static_cast<CudaDevice *>(device->self);
  return KVC_OK;
}
