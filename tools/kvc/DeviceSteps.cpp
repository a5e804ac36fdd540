//===- DeviceSteps.cpp - Decode steps of kvc bench on a device ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/DeviceSteps.h"

#include "kvc/CommandLine.h"
#include "kvc/Table.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace kvc;

//===----------------------------------------------------------------------===//
// Streams, events
//===----------------------------------------------------------------------===//

DeviceStream::DeviceStream(const kvc_device *device) : device(device) {
  Diag diag;
  diag.check(device->stream_create(device->self, diag, &stream));
}

namespace {

/// Two events around some work of a stream.
class EventTimer {
public:
  EventTimer(const kvc_device *device, void *stream)
      : device(device), stream(stream), begin(device), end(device) {}

  /// Microseconds of what `work` puts into the stream, which nothing else uses.
  template <typename Work>
  double time(const Work &work) {
    Diag diag;
    record(begin);
    work();
    record(end);
    diag.check(device->event_synchronize(device->self, end.event, diag));
    double milliseconds = 0;
    diag.check(device->event_elapsed(device->self, begin.event, end.event, diag,
                                     &milliseconds));
    return milliseconds * 1e3;
  }

private:
  struct Event {
    explicit Event(const kvc_device *device) : device(device) {
      Diag diag;
      diag.check(device->timed_event_create(device->self, diag, &event));
    }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    ~Event() { device->event_destroy(device->self, event); }

    const kvc_device *device;
    void *event = nullptr;
  };

  void record(const Event &event) const {
    Diag diag;
    diag.check(device->event_record(device->self, event.event, stream, diag));
  }

  const kvc_device *device;
  void *stream;
  Event begin, end;
};

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// About normal, and the same again after some number of them that no row is a
/// multiple of: what kernels cost does not depend on it.
Values normalRows(int64_t count, kvc_dtype dtype, unsigned seed) {
  constexpr int64_t kPeriod = 65537;
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> some(std::min(count, kPeriod));
  for (float &value : some)
    value = normal(generator);
  const Values period = convert("random", some.data(), KVC_F32,
                                static_cast<int64_t>(some.size()), dtype);
  Values all{dtype, std::vector<std::byte>(count * bytesOf(dtype))};
  for (size_t begin = 0; begin < all.bytes.size(); begin += period.bytes.size())
    std::copy_n(period.bytes.begin(),
                std::min(period.bytes.size(), all.bytes.size() - begin),
                all.bytes.begin() + static_cast<std::ptrdiff_t>(begin));
  return all;
}

} // namespace

//===----------------------------------------------------------------------===//
// DeviceSteps
//===----------------------------------------------------------------------===//

int64_t DeviceSteps::groupsFor(const Engine &engine, int64_t context,
                               int64_t batch, double coldBytes) {
  // Each has a plan of its own; short contexts need not be cold.
  constexpr int64_t kMostGroups = 256;
  const kvc_device *device = engine.device();
  const kvc_spec_info &info = engine.info();
  const double tokenBytes =
      engine.bytesPerToken() * static_cast<double>(info.kv_heads);
  const double groupBytes =
      tokenBytes * static_cast<double>(batch) *
      static_cast<double>(visibleTokens(info, context, 1));
  const auto groups = std::clamp<int64_t>(
      static_cast<int64_t>(std::ceil(coldBytes / groupBytes)), 1, kMostGroups);

  kvc_device_info deviceInfo{};
  deviceInfo.struct_size = sizeof(deviceInfo);
  Diag diag;
  diag.check(device->get_info(device->self, diag, &deviceInfo));
  const double tokens = static_cast<double>(context) *
                        static_cast<double>(batch) *
                        static_cast<double>(groups);
  const auto available = static_cast<double>(deviceInfo.memory_bytes);
  if (tokens * tokenBytes > 0.8 * available ||
      tokens > static_cast<double>(kMaxTokens))
    throw Failure("--context, --batch: expected caches that fit into the "
                  "device's memory, got " +
                  significant(tokens * tokenBytes * 1e-6) + " MB for " +
                  info.name + ", the device has " +
                  significant(available * 1e-6) + " MB");
  return groups;
}

DeviceSteps::DeviceSteps(const Engine &engine, int64_t context, int64_t batch,
                         double coldBytes, const DeviceStream &stream)
    : engine(engine), batch(batch), stream(stream.get()) {
  append(context, groupsFor(engine, context, batch, coldBytes) * batch);
  plan(context);
}

/// All sequences hold the same rows.
void DeviceSteps::append(int64_t context, int64_t count) {
  const kvc_spec_info &info = engine.info();
  BatchInputs all;
  all.keyStarts.resize(count + 1);
  for (int64_t i = 0; i <= count; ++i)
    all.keyStarts[i] = static_cast<int32_t>(i * context);
  all.schemeValues = anySchemeValues(engine.spec());
  cache = engine.createCache(all, false);

  const Values keys =
      normalRows(context * info.kv_heads * info.head_dim, info.query, 11);
  const Values values = normalRows(
      info.value_is_key ? 0 : context * info.kv_heads * info.value_dim,
      info.query, 13);
  const DeviceBytes key(engine.device(), keys.bytes),
      value(engine.device(), values.bytes);
  const int32_t starts[] = {0, static_cast<int32_t>(context)};
  kvc_batch rows{};
  rows.struct_size = sizeof(rows);
  rows.cache = cache.get();
  rows.num_sequences = 1;
  rows.token_start = starts;
  rows.key.data = key.data();
  rows.value.data = value.data();
  rows.stream = stream;
  Diag diag;
  for (int64_t i = 0; i < count; ++i) {
    kvc_sequence &sequence = sequences.emplace_back();
    diag.check(kvc_cache_create_sequence(cache.get(), diag, &sequence));
    const kvc_append_request request{sizeof(request), 1, &sequence, &context};
    diag.check(kvc_cache_append(cache.get(), &request, diag));
    rows.sequences = &sequence;
    diag.check(kvc_run_append(engine.module(), &rows, nullptr, diag));
    diag.check(kvc_cache_commit(cache.get(), sequence, context, diag));
  }
  waitFor(engine.device());
  stepBytes = static_cast<double>(batch) *
              engine.bytesRead(cache.get(), sequences.front(), context, 1);
}

void DeviceSteps::plan(int64_t context) {
  const kvc_spec_info &info = engine.info();
  const kvc_device *device = engine.device();
  const int64_t heads = batch * info.q_heads;
  auto place = [&](std::span<const std::byte> bytes) -> void * {
    inputs.push_back(std::make_unique<DeviceBytes>(device, bytes));
    return inputs.back()->data();
  };
  const Values query = normalRows(heads * info.head_dim, info.query, 7);
  const std::vector<float> perHead(info.q_heads, 0.01f);
  const std::vector<std::byte> outBytes(heads * info.value_dim *
                                        bytesOf(info.output)),
      lseBytes(heads * int64_t(sizeof(float)));
  kvc_batch step{};
  step.struct_size = sizeof(step);
  step.cache = cache.get();
  step.num_sequences = batch;
  step.query.data = place(query.bytes);
  if (info.alibi)
    step.alibi_slopes =
        static_cast<float *>(place(std::as_bytes(std::span(perHead))));
  if (info.sink_logits)
    step.sink_logits =
        static_cast<float *>(place(std::as_bytes(std::span(perHead))));
  step.stream = stream;
  const kvc_out_rows out{place(outBytes), 0, 0}, lse{place(lseBytes), 0, 0};

  std::vector<int32_t> starts(batch + 1);
  for (int64_t i = 0; i <= batch; ++i)
    starts[i] = static_cast<int32_t>(i);
  step.token_start = starts.data();
  const std::vector<int32_t> queries(batch, 1),
      lengths(batch, static_cast<int32_t>(context));
  kvc_plan_options options{};
  options.struct_size = sizeof(options);
  options.module = engine.module();
  options.num_sequences = batch;
  options.queries = queries.data();
  options.lengths = lengths.data();
  options.device = device;
  bool isDecode = false;
  for (const kvc_kernel_info &kernel : engine.kernels())
    if (kernel.name == std::string_view("decode"))
      isDecode = info.q_heads / info.kv_heads <=
                 KVC_DECODE_MAX_TILES * kernel.tile_rows;
  Diag diag;
  for (size_t first = 0; first < sequences.size(); first += batch) {
    kvc_plan *made = nullptr;
    diag.check(kvc_plan_create(&options, diag, &made));
    plans.emplace_back(made);
    step.sequences = &sequences[first];
    diag.check(kvc_run_update(made, &step, KVC_RUN_ATTEND, diag, &out, &lse));
  }
  waitFor(device);
  kvc_plan_info planned{};
  planned.struct_size = sizeof(planned);
  diag.check(kvc_plan_get_info(plans.front().get(), diag, &planned));
  split = isDecode ? planned.decode_split : planned.prefill_split;
}

void DeviceSteps::launch() {
  Diag diag;
  diag.check(kvc_run_launch(plans[next].get(), KVC_RUN_ATTEND, stream, diag));
  next = (next + 1) % plans.size();
}

double DeviceSteps::neededBytes() const {
  const kvc_spec_info &info = engine.info();
  return stepBytes +
         static_cast<double>(batch * info.q_heads *
                             (info.head_dim * bytesOf(info.query) +
                              info.value_dim * bytesOf(info.output)));
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

CopyMemory::CopyMemory(const kvc_device *device, int64_t bytes)
    : device(device), half(bytes) {
  Diag diag;
  diag.check(device->allocate(device->self, 2 * half, diag, &memory));
  const kvc_status status =
      device->fill(device->self, memory, 1, 2 * half, diag);
  if (status != KVC_OK)
    device->release(device->self, memory, 2 * half);
  diag.check(status);
}

CopyMemory::~CopyMemory() { device->release(device->self, memory, 2 * half); }

void CopyMemory::copy(void *stream) const {
  Diag diag;
  diag.check(device->copy_async(device->self, stream, KVC_COPY_ON_DEVICE,
                                static_cast<std::byte *>(memory) + half, memory,
                                half, diag));
}

DeviceMeasurement kvc::measureOnDevice(const kvc_device *device,
                                       DeviceSteps &ours, DeviceSteps *twin,
                                       const CopyMemory &memory,
                                       const DeviceStream &stream) {
  // Behind a copy, so that the device has work while it is told of the steps
  // that are measured, and behind steps, so that no line which the copy wrote
  // is still to be brought to memory. Short ones are several.
  constexpr double kBytes = 64 << 20;
  constexpr int kMost = 32;
  EventTimer timer(device, stream.get());
  auto timesOf = [&](DeviceSteps &steps) {
    const auto count = static_cast<int>(
        std::clamp(std::ceil(kBytes / steps.cacheBytes()), 1.0, double(kMost)));
    memory.copy(stream.get());
    for (int i = 0; i < count; ++i)
      steps.launch();
    return timer.time([&] {
      for (int i = 0; i < count; ++i)
        steps.launch();
    }) / count;
  };
  std::vector<std::function<double()>> parts;
  parts.emplace_back([&] { return timesOf(ours); });
  parts.emplace_back([&] {
    memory.copy(stream.get());
    return timer.time([&] { memory.copy(stream.get()); });
  });
  if (twin)
    parts.emplace_back([&] { return timesOf(*twin); });
  const auto times = timesInTurn(parts, {});
  const std::vector<double> &stepUs = times[0], &copyUs = times[1],
                            &twinUs = twin ? times[2] : times[0];
  std::vector<double> shares, factors;
  for (size_t i = 0; i < stepUs.size(); ++i) {
    shares.push_back(ours.cacheBytes() / stepUs[i] /
                     (memory.movedBytes() / copyUs[i]));
    factors.push_back(twinUs[i] / stepUs[i]);
  }
  DeviceMeasurement result;
  result.stepUs = quartilesOf(stepUs);
  result.shareOfCopy = quartilesOf(shares);
  result.overF16 = quartilesOf(factors);
  result.copyGBs = memory.movedBytes() * 1e-3 / quartilesOf(copyUs).median;
  result.repetitions = static_cast<int64_t>(stepUs.size());
  return result;
}
