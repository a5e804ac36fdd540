//===- SimDevice.cpp - The PTX machine behind the device table ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Everything is done by the call that asks for it, so streams are in order and
// events are done. A captured stream keeps its calls, which a graph repeats.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Struct.h"
#include "kvc/Sim/Check/Checker.h"
#include "kvc/Sim/Count/Devices.h"
#include "kvc/Sim/Machine/Machine.h"
#include "kvc/Sim/Machine/ObserverList.h"
#include "kvc/sim.h"

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>

using namespace kvc;

namespace {

struct SimModule {
  std::unique_ptr<sim::LoadedModule> loaded;
};

struct SimFunction {
  SimModule *module;
  std::string name;
  uint64_t sharedBytes, paramBytes;
};

using Work = std::function<kvc_status(kvc_diag *)>;

struct SimGraph {
  std::vector<Work> work;
};

struct SimStream {
  std::unique_ptr<SimGraph> captured; ///< While it is captured.
};

struct SimDevice {
  kvc_device table = {};
  const sim::DeviceModel *model = nullptr;
  kvc_sim_options options = {};
  sim::Checker checker;
  sim::Counter counter;
  sim::ObserverList both;
  sim::Observer *watcher = nullptr; ///< Of launches, as the options say.

  std::mutex lock; ///< Of everything below.
  sim::Memory memory;
  std::map<SimModule *, std::unique_ptr<SimModule>> modules;
  /// By module and name; a function lives as long as its module.
  std::map<std::pair<SimModule *, std::string>, std::unique_ptr<SimFunction>>
      functions;

  bool isChecked() const { return (options.flags & KVC_SIM_CHECK) != 0; }
};

SimDevice &deviceOf(void *self) { return *static_cast<SimDevice *>(self); }

uint64_t addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

kvc_status failBounds(SimDevice &device, const void *at, int64_t bytes,
                      kvc_diag *diag) {
  return fail(diag, KVC_INVALID_ARGUMENT,
              "sim: expected memory of the device, got %s",
              device.memory.describe(addressOf(at), uint64_t(bytes)).c_str());
}

/// Now, or where the stream is captured later.
kvc_status submit(void *stream, kvc_diag *diag, Work work) {
  auto *on = static_cast<SimStream *>(stream);
  if (!on || !on->captured)
    return work(diag);
  on->captured->work.push_back(std::move(work));
  return KVC_OK;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

kvc_status allocate(void *self, int64_t bytes, kvc_diag *diag, void **memory) {
  return guarded(diag, [&]() -> kvc_status {
    SimDevice &device = deviceOf(self);
    const std::lock_guard guard(device.lock);
    const uint64_t address =
        bytes > 0 ? device.memory.allocate(uint64_t(bytes), "memory") : 0;
    if (address == 0)
      return fail(diag, KVC_FAILED,
                  "memory: expected %lld bytes of the device, got none",
                  static_cast<long long>(bytes));
    *memory = reinterpret_cast<void *>(address);
    return KVC_OK;
  });
}

kvc_status release(void *self, void *memory, int64_t) {
  return guarded(nullptr, [&]() -> kvc_status {
    SimDevice &device = deviceOf(self);
    const std::lock_guard guard(device.lock);
    return device.memory.free(addressOf(memory)) ? KVC_OK
                                                 : KVC_INVALID_ARGUMENT;
  });
}

kvc_status allocateHost(void *, int64_t bytes, kvc_diag *diag, void **memory) {
  *memory = std::malloc(size_t(bytes));
  return *memory
             ? KVC_OK
             : fail(diag, KVC_FAILED, "memory: expected %lld bytes, got none",
                    static_cast<long long>(bytes));
}

kvc_status releaseHost(void *, void *memory) {
  std::free(memory);
  return KVC_OK;
}

kvc_status copyNow(SimDevice &device, kvc_copy_kind kind, void *to,
                   const void *from, int64_t bytes, kvc_diag *diag) {
  const std::lock_guard guard(device.lock);
  const auto count = static_cast<uint64_t>(bytes);
  if (kind != KVC_COPY_TO_DEVICE && !device.memory.find(addressOf(from), count))
    return failBounds(device, from, bytes, diag);
  switch (kind) {
  case KVC_COPY_TO_DEVICE:
    if (!device.memory.write(addressOf(to), from, count))
      return failBounds(device, to, bytes, diag);
    return KVC_OK;
  case KVC_COPY_FROM_DEVICE:
    device.memory.read(addressOf(from), to, count);
    return KVC_OK;
  case KVC_COPY_ON_DEVICE: {
    std::vector<uint8_t> content(count);
    device.memory.read(addressOf(from), content.data(), count);
    if (!device.memory.write(addressOf(to), content.data(), count))
      return failBounds(device, to, bytes, diag);
    return KVC_OK;
  }
  }
  return fail(diag, KVC_INVALID_ARGUMENT,
              "copy: expected a kind from 0 to 2, got %d",
              static_cast<int>(kind));
}

kvc_status copyAsync(void *self, void *stream, kvc_copy_kind kind, void *to,
                     const void *from, int64_t bytes, kvc_diag *diag) {
  return guarded(diag, [&] {
    return submit(stream, diag, [=](kvc_diag *later) {
      return copyNow(deviceOf(self), kind, to, from, bytes, later);
    });
  });
}

kvc_status copy(void *self, void *to, const void *from, int64_t bytes,
                kvc_diag *diag) {
  return copyAsync(self, nullptr, KVC_COPY_ON_DEVICE, to, from, bytes, diag);
}

kvc_status fillAsync(void *self, void *stream, void *to, int32_t byte,
                     int64_t bytes, kvc_diag *diag) {
  return guarded(diag, [&] {
    return submit(stream, diag, [=](kvc_diag *later) -> kvc_status {
      SimDevice &device = deviceOf(self);
      const std::lock_guard guard(device.lock);
      if (!device.memory.fill(addressOf(to), static_cast<uint8_t>(byte),
                              uint64_t(bytes)))
        return failBounds(device, to, bytes, later);
      return KVC_OK;
    });
  });
}

kvc_status fill(void *self, void *to, int32_t byte, int64_t bytes,
                kvc_diag *diag) {
  return fillAsync(self, nullptr, to, byte, bytes, diag);
}

//===----------------------------------------------------------------------===//
// Streams, events, graphs
//===----------------------------------------------------------------------===//

kvc_status synchronize(void *, kvc_diag *) { return KVC_OK; }

kvc_status streamCreate(void *, kvc_diag *diag, void **stream) {
  return guarded(diag, [&] {
    *stream = new SimStream;
    return KVC_OK;
  });
}

kvc_status streamDestroy(void *, void *stream) {
  delete static_cast<SimStream *>(stream);
  return KVC_OK;
}

kvc_status checkNotCaptured(void *stream, kvc_diag *diag) {
  const auto *on = static_cast<const SimStream *>(stream);
  return on && on->captured ? fail(diag, KVC_INVALID_ARGUMENT,
                                   "stream: expected one that is not captured")
                            : KVC_OK;
}

kvc_status streamSynchronize(void *, void *stream, kvc_diag *diag) {
  return checkNotCaptured(stream, diag);
}

/// When it was recorded, by the host's clock.
struct SimEvent {
  std::optional<std::chrono::steady_clock::time_point> time;
};

kvc_status eventCreate(void *, kvc_diag *diag, void **event) {
  return guarded(diag, [&] {
    *event = new SimEvent;
    return KVC_OK;
  });
}

kvc_status eventDestroy(void *, void *event) {
  delete static_cast<SimEvent *>(event);
  return KVC_OK;
}

kvc_status eventRecord(void *, void *event, void *, kvc_diag *) {
  static_cast<SimEvent *>(event)->time = std::chrono::steady_clock::now();
  return KVC_OK;
}

kvc_status eventWait(void *, void *, void *, kvc_diag *) { return KVC_OK; }

kvc_status eventElapsed(void *, void *begin, void *end, kvc_diag *diag,
                        double *milliseconds) {
  const auto &first = static_cast<SimEvent *>(begin)->time;
  const auto &last = static_cast<SimEvent *>(end)->time;
  if (!first || !last)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "event: expected two that were recorded, got one that was not");
  *milliseconds =
      std::chrono::duration<double, std::milli>(*last - *first).count();
  return KVC_OK;
}

kvc_status eventQuery(void *, void *, kvc_diag *, int32_t *is_done) {
  *is_done = 1;
  return KVC_OK;
}

kvc_status eventSynchronize(void *, void *, kvc_diag *) { return KVC_OK; }

kvc_status captureBegin(void *, void *stream, kvc_diag *diag) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(stream, "stream", diag));
    KVC_TRY(checkNotCaptured(stream, diag));
    static_cast<SimStream *>(stream)->captured = std::make_unique<SimGraph>();
    return KVC_OK;
  });
}

kvc_status captureEnd(void *, void *stream, kvc_diag *diag, void **graph) {
  auto *on = static_cast<SimStream *>(stream);
  if (!on || !on->captured)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "stream: expected one that is captured");
  *graph = on->captured.release();
  return KVC_OK;
}

kvc_status graphLaunch(void *, void *graph, void *stream, kvc_diag *diag) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(graph, "graph", diag));
    for (const Work &work : static_cast<SimGraph *>(graph)->work)
      KVC_TRY(submit(stream, diag, work));
    return KVC_OK;
  });
}

kvc_status graphDestroy(void *, void *graph) {
  delete static_cast<SimGraph *>(graph);
  return KVC_OK;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

kvc_status moduleLoad(void *self, const void *code, int64_t bytes,
                      kvc_diag *diag, void **module) {
  return guarded(diag, [&]() -> kvc_status {
    SimDevice &device = deviceOf(self);
    const auto *text = static_cast<const char *>(code);
    if (bytes < 1 || text[bytes - 1] != 0)
      return fail(diag, KVC_UNSUPPORTED,
                  "module: expected PTX text with a final NUL, got none");
    const std::lock_guard guard(device.lock);
    auto loaded = sim::LoadedModule::load(std::string(text), device.memory);
    if (!loaded)
      return fail(diag, KVC_INVALID_DATA, "module: %s",
                  loaded.error().str().c_str());
    const sim::Target &target = (*loaded)->module().target;
    if (target.sm > device.model->sm ||
        (target.specific && target.sm != device.model->sm))
      return fail(diag, KVC_UNSUPPORTED,
                  "module.target: expected one that sm_%u runs, got %s",
                  device.model->sm, target.str().c_str());
    auto made = std::make_unique<SimModule>(SimModule{std::move(*loaded)});
    SimModule *handle = made.get();
    device.modules.emplace(handle, std::move(made));
    *module = handle;
    return KVC_OK;
  });
}

kvc_status moduleUnload(void *self, void *module) {
  return guarded(nullptr, [&] {
    SimDevice &device = deviceOf(self);
    const std::lock_guard guard(device.lock);
    auto *unloaded = static_cast<SimModule *>(module);
    for (const sim::ModuleVariable &each :
         unloaded->loaded->symbols().variables)
      if (uint64_t address =
              unloaded->loaded->addressOf(each.variable->name.text))
        device.memory.free(address);
    std::erase_if(device.functions, [&](const auto &each) {
      return each.first.first == unloaded;
    });
    device.modules.erase(unloaded);
    return KVC_OK;
  });
}

kvc_status moduleFunction(void *self, void *module, const char *symbol,
                          kvc_diag *diag, void **function) {
  return guarded(diag, [&]() -> kvc_status {
    SimDevice &device = deviceOf(self);
    const std::lock_guard guard(device.lock);
    auto *of = static_cast<SimModule *>(module);
    const auto names = of->loaded->kernels();
    if (std::find(names.begin(), names.end(), symbol) == names.end())
      return fail(diag, KVC_INVALID_DATA,
                  "module: expected an entry \"%s\", got none", symbol);
    if (auto missing = sim::whatIsMissing(*of->loaded, symbol))
      return fail(diag, KVC_UNSUPPORTED, "module.%s: %s", symbol,
                  missing->str().c_str());
    auto &made = device.functions[{of, symbol}];
    if (!made) {
      const sim::Program &program = **of->loaded->program(symbol);
      made = std::make_unique<SimFunction>(
          SimFunction{of, symbol, program.sharedBytes, program.paramBytes});
    }
    *function = made.get();
    return KVC_OK;
  });
}

kvc_status occupancy(void *self, void *function, uint32_t threads,
                     uint32_t shared_bytes, kvc_diag *, int32_t *blocks) {
  sim::LaunchInfo info;
  info.block.x = threads;
  info.sharedBytes =
      static_cast<SimFunction *>(function)->sharedBytes + shared_bytes;
  // PTX does not say how many registers a kernel takes.
  *blocks = static_cast<int32_t>(
      sim::occupancyOf(*deviceOf(self).model, info, /*registers=*/1).blocks);
  return KVC_OK;
}

/// A grid with the parameters' bytes.
struct Launch {
  const SimFunction *function;
  sim::LaunchOptions options;
};

/// Tells the counts of the last launch.
void tellCounts(const SimDevice &device, const std::string &kernel) {
  const sim::Counts &counts = device.counter.counts();
  const uint64_t moves = counts.byGroup[size_t(sim::Group::Move)];
  kvc_sim_counts told = {};
  told.struct_size = sizeof(told);
  told.kernel = kernel.c_str();
  told.blocks = int64_t(counts.launch.grid.count());
  told.warp_instructions = int64_t(counts.issued);
  told.moves = int64_t(moves);
  told.mma = int64_t(counts.byGroup[size_t(sim::Group::Mma)]);
  told.bytes_read = int64_t(counts.globalReads.sectors * sim::kSectorBytes);
  told.bytes_written = int64_t(counts.globalWrites.sectors * sim::kSectorBytes);
  told.unique_bytes = int64_t(counts.uniqueSectors * sim::kSectorBytes);
  told.local_bytes = int64_t(counts.local.bytes);
  told.shared_wavefronts = int64_t(counts.shared.wavefronts);
  told.bank_conflicts =
      int64_t(counts.shared.wavefronts - counts.shared.idealWavefronts);
  device.options.count(device.options.user, &told);
}

kvc_status launchNow(SimDevice &device, const Launch &launch, kvc_diag *diag) {
  const std::lock_guard guard(device.lock);
  const SimFunction &function = *launch.function;
  const sim::LaunchResult result = sim::launch(
      *function.module->loaded, function.name, device.memory, launch.options);
  for (const sim::Finding &finding : device.checker.findings())
    if (device.options.report && !sim::kStops.has(finding.kind))
      device.options.report(device.options.user,
                            (function.name + ": " + finding.str()).c_str());
  device.checker.clear();
  if (!result.fault && device.options.count)
    tellCounts(device, function.name);
  if (!result.fault)
    return KVC_OK;
  return fail(diag, KVC_FAILED, "sim: %s:%u:%u: %s", function.name.c_str(),
              result.at.line, result.at.column, result.fault->message.c_str());
}

kvc_status launchGrid(void *self, void *stream, const kvc_grid *grid,
                      kvc_diag *diag) {
  return guarded(diag, [&]() -> kvc_status {
    if (grid->blocks == 0)
      return KVC_OK;
    SimDevice &device = deviceOf(self);
    Launch launch = {static_cast<const SimFunction *>(grid->function), {}};
    if (uint64_t(grid->param_bytes) != launch.function->paramBytes)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "grid.param_bytes: expected %llu for \"%s\", got %lld",
                  static_cast<unsigned long long>(launch.function->paramBytes),
                  launch.function->name.c_str(),
                  static_cast<long long>(grid->param_bytes));
    const auto *params = static_cast<const uint8_t *>(grid->params);
    launch.options.grid.x = grid->blocks;
    launch.options.block.x = grid->threads;
    launch.options.dynamicShared = grid->shared_bytes;
    launch.options.params.assign(params, params + grid->param_bytes);
    launch.options.mma.core = sim::tensorCoreFor(int(device.model->sm));
    launch.options.seed = device.options.seed;
    launch.options.approx.seed = device.options.seed;
    launch.options.threads = unsigned(std::max(device.options.threads, 1));
    launch.options.observer = device.watcher;
    return submit(stream, diag, [&device, launch](kvc_diag *later) {
      return launchNow(device, launch, later);
    });
  });
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

kvc_status getInfo(void *self, kvc_diag *diag, kvc_device_info *info) {
  const sim::DeviceModel &model = *deviceOf(self).model;
  kvc_device_info result = {};
  model.name.copy(result.name, sizeof(result.name) - 1);
  result.capability = static_cast<int32_t>(model.sm);
  result.multiprocessors = static_cast<int32_t>(model.multiprocessors);
  result.memory_bytes = int64_t(sim::kMaxAllocationBytes);
  return writeStruct(result, "info", diag, info);
}

void fillTable(SimDevice &device) {
  kvc_device &table = device.table;
  table.struct_size = sizeof(table);
  table.name = "sim";
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
  table.timed_event_create = eventCreate;
  table.event_elapsed = eventElapsed;
}

} // namespace

extern "C" kvc_status kvc_sim_device_create(const kvc_sim_options *options,
                                            kvc_diag *diag,
                                            kvc_device **device) {
  return guarded(diag, [&]() -> kvc_status {
    kvc_sim_options given = {};
    if (options)
      KVC_TRY(readStruct(options, "options", diag, given));
    KVC_TRY(requirePointer(device, "device", diag));
    if (given.flags & ~uint32_t(KVC_SIM_CHECK))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.flags: expected KVC_SIM_CHECK or 0, got 0x%x",
                  given.flags);
    if (given.threads < 0 || given.threads > 1024)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.threads: expected 0 to 1024, got %d", given.threads);
    auto made = std::make_unique<SimDevice>();
    const char *model = given.model ? given.model : "H100";
    made->model = sim::deviceNamed(model);
    if (!made->model)
      return fail(diag, KVC_UNSUPPORTED,
                  "options.model: expected a device that the simulator knows, "
                  "got \"%s\"",
                  model);
    made->options = given;
    if (made->isChecked()) {
      made->memory.setObserver(&made->checker);
      made->watcher = &made->checker;
    }
    if (given.count)
      made->watcher = &made->counter;
    if (given.count && made->isChecked()) {
      made->both.add(made->checker);
      made->both.add(made->counter);
      made->watcher = &made->both;
    }
    fillTable(*made);
    *device = &made.release()->table;
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_sim_device_free(kvc_device *device) {
  if (device)
    delete static_cast<SimDevice *>(device->self);
  return KVC_OK;
}
