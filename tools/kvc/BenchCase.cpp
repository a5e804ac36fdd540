//===- BenchCase.cpp - One measurement of kvc bench -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/BenchCase.h"

#include "kvc/CommandLine.h"
#include "kvc/StreamRead.h"
#include "kvc/Table.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <sys/mman.h>

using namespace kvc;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

MappedMemory::MappedMemory(size_t bytes) : size(bytes) {
  void *mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::bad_alloc();
  ::madvise(mapped, size, MADV_HUGEPAGE);
  data = static_cast<std::byte *>(mapped);
}

MappedMemory::~MappedMemory() { ::munmap(data, size); }

/// The number before " kB" behind `key` in /proc/meminfo, in bytes; 0 without.
static size_t memoryInfo(const std::string &key) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key))
      return std::strtoull(line.c_str() + key.size(), nullptr, 10) << 10;
  return 0;
}

/// The largest data or unified cache of the first core; 0 where not said.
static size_t lastLevelCacheBytes() {
  size_t largest = 0;
  for (int index = 0;; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" +
                       std::to_string(index) + "/size");
    size_t count = 0;
    char unit = 0;
    if (!(file >> count))
      return largest;
    file >> unit;
    largest = std::max(largest, unit == 'K'   ? count << 10
                                : unit == 'M' ? count << 20
                                              : count);
  }
}

size_t kvc::coldBytes() {
  // Some machines, virtual ones first, say less than they have.
  const size_t wanted =
      std::max<size_t>(4 * lastLevelCacheBytes(), size_t(512) << 20);
  const size_t available = memoryInfo("MemAvailable:");
  return available ? std::min(wanted, available / 6) : wanted;
}

//===----------------------------------------------------------------------===//
// ColdCache
//===----------------------------------------------------------------------===//

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

/// Random rows, as keys, values and queries are: about normal.
static Values randomRows(int64_t count, kvc_dtype dtype, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(generator);
  return convert("random", values.data(), KVC_F32, count, dtype);
}

int64_t ColdCache::sequencesFor(const Engine &engine, int64_t context,
                                int64_t batch, size_t coldBytes) {
  const kvc_spec_info &info = engine.info();
  const double tokenBytes =
      engine.bytesPerToken() * static_cast<double>(info.kv_heads);
  // Of a window, a step reads, and memory is touched, no further than it goes.
  const double sequenceBytes =
      tokenBytes * static_cast<double>(visibleTokens(info, context, 1));
  // Whole batches, and one more: no step follows itself.
  const auto cold = static_cast<int64_t>(
      std::ceil(static_cast<double>(coldBytes) / sequenceBytes));
  const int64_t sequences = divideUp(cold, batch) * batch + batch;

  // Pages are copied whole, also where a step reads one token of each.
  int64_t held = visibleTokens(info, context, 1);
  if (info.layout == KVC_PAGED)
    held = divideUp(held, info.page) * info.page;
  const double needed =
      tokenBytes * static_cast<double>(held) * static_cast<double>(sequences);
  const auto available = static_cast<double>(memoryInfo("MemAvailable:"));
  if ((available > 0 && needed > 0.8 * available) ||
      static_cast<double>(context) * static_cast<double>(sequences) >
          static_cast<double>(kMaxTokens))
    throw Failure("--context, --batch: expected caches that fit into memory, "
                  "got " +
                  significant(needed * 1e-6) + " MB for " + engine.info().name +
                  ", " + significant(available * 1e-6) + " MB are free");
  return sequences;
}

ColdCache::ColdCache(const Engine &engine, int64_t context, int64_t batch,
                     size_t coldBytes)
    : engine(engine), context(context), batch(batch),
      numSequences(sequencesFor(engine, context, batch, coldBytes)) {
  const kvc_spec_info &info = engine.info();
  stepBytes = engine.bytesPerToken() * static_cast<double>(info.kv_heads) *
              static_cast<double>(batch) *
              static_cast<double>(visibleTokens(info, context, 1));

  if (info.layout == KVC_PAGED && info.sink == 0 && info.recent == 0)
    fillPages();
  else
    fillSequences();
  if (!handles.empty())
    stepBytes = static_cast<double>(batch) *
                engine.bytesRead(cache.get(), handles.front(), context, 1);

  std::vector<float> perHead(info.q_heads, 0.01f);
  step = std::make_unique<DecodeStep>(
      engine, std::vector<int32_t>(batch, static_cast<int32_t>(context)),
      randomRows(batch * info.q_heads * info.head_dim, info.query, 7),
      info.alibi ? perHead : std::vector<float>(),
      info.sink_logits ? perHead : std::vector<float>());
}

ColdCache::~ColdCache() = default;

BatchInputs ColdCache::randomKeys(int64_t tokens) const {
  const kvc_spec_info &info = engine.info();
  BatchInputs inputs;
  inputs.keyStarts = {0, static_cast<int32_t>(tokens)};
  inputs.k = randomRows(tokens * info.kv_heads * info.head_dim, info.query, 11);
  if (!info.value_is_key)
    inputs.v =
        randomRows(tokens * info.kv_heads * info.value_dim, info.query, 13);
  return inputs;
}

/// Quantising takes longer than all measurements together, so one sequence is
/// appended and its pages are copied to all others.
void ColdCache::fillPages() {
  const kvc_spec_info &info = engine.info();
  Diag diag;
  int64_t keySlice = 0, valueSlice = 0, pageBytes = 0;
  diag.check(
      kvc_page_slice_bytes(engine.spec(), KVC_KEY, info.page, diag, &keySlice));
  diag.check(kvc_page_slice_bytes(engine.spec(), KVC_VALUE, info.page, diag,
                                  &valueSlice));
  diag.check(kvc_page_bytes(engine.spec(), info.page, diag, &pageBytes));
  const int64_t perSequence = divideUp(context, info.page);
  const int64_t numPages = perSequence * numSequences + 1;
  pages = std::make_unique<MappedMemory>(numPages * pageBytes);

  // A page of K, then its page of V, whether the spec interleaves them or not:
  // one stride serves both.
  std::byte *memory = pages->bytes().data();
  const bool interleaved = isInterleaved(engine.spec());
  kvc_page_memory lent{memory, pageBytes, nullptr, 0};
  if (!interleaved && valueSlice > 0)
    lent = {memory, pageBytes, memory + keySlice, pageBytes};
  kvc_cache_options options{};
  options.struct_size = sizeof(options);
  options.spec = engine.spec();
  options.num_pages = numPages;
  options.max_sequences = 1;
  options.borrowed = &lent;
  const std::vector<SchemeValues> given = anySchemeValues(engine.spec());
  const std::vector<kvc_scheme_values> values =
      schemeValuesFor(engine.spec(), given);
  options.inputs = values.data();
  options.num_inputs = static_cast<int64_t>(values.size());
  kvc_cache *created = nullptr;
  diag.check(kvc_cache_create(&options, diag, &created));
  cache.reset(created);

  // Page 0 is the null page; sequence i has the pages behind it in order.
  const BatchInputs inputs = randomKeys(context);
  std::vector<int64_t> slots(context);
  std::iota(slots.begin(), slots.end(), info.page);
  kvc_batch request{};
  request.struct_size = sizeof(request);
  request.cache = cache.get();
  request.num_slots = context;
  request.slot_mapping = slots.data();
  request.key.data = inputs.k.bytes.data();
  request.value.data = inputs.v.bytes.data();
  const Threads threads(0);
  diag.check(kvc_run_append(engine.module(), &request, threads.loop(), diag));

  // Pages that no query sees stay memory that was never touched.
  const int64_t behind =
      info.window ? std::max<int64_t>(context - info.window, 0) / info.page : 0;
  const int64_t sinks =
      std::min(behind, divideUp(info.window_sinks, info.page));
  const int64_t sequenceBytes = perSequence * pageBytes;
  std::byte *first = memory + pageBytes;
  for (int64_t i = 1; i < numSequences; ++i) {
    std::byte *copy = first + i * sequenceBytes;
    std::memcpy(copy, first, sinks * pageBytes);
    std::memcpy(copy + behind * pageBytes, first + behind * pageBytes,
                (perSequence - behind) * pageBytes);
  }
  table.resize(perSequence * numSequences);
  std::iota(table.begin(), table.end(), 1);
}

void ColdCache::fillSequences() {
  const BatchInputs one = randomKeys(context);
  BatchInputs all;
  all.keyStarts.resize(numSequences + 1);
  for (int64_t i = 0; i <= numSequences; ++i)
    all.keyStarts[i] = static_cast<int32_t>(i * context);
  all.schemeValues = anySchemeValues(engine.spec());
  cache = engine.createCache(all, false);
  const Threads threads(0);
  for (int64_t i = 0; i < numSequences; ++i) {
    std::vector<kvc_sequence> appended;
    engine.append(one, cache.get(), 0, threads.loop(), appended);
    handles.push_back(appended.front());
  }
}

double ColdCache::run(const kvc_parallel_for *threads) {
  const int64_t first = next;
  next = (next + batch) % numSequences;
  if (table.empty())
    return step->run(cache.get(), std::span(handles).subspan(first, batch),
                     threads);
  const auto perSequence = static_cast<int64_t>(table.size()) / numSequences;
  return step->run(cache.get(),
                   std::span<const int32_t>(table).subspan(first * perSequence,
                                                           batch * perSequence),
                   threads);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

Measurement kvc::measure(ColdCache &ours, ColdCache *twin,
                         std::span<const std::byte> memory,
                         const Threads &threads) {
  constexpr size_t kCounts = std::size(kStreamCounts);
  const auto stepBytes = static_cast<size_t>(ours.bytesPerStep());

  size_t readAt = 0;
  auto nextRead = [&] {
    if (memory.size() - readAt < stepBytes)
      readAt = 0;
    std::span<const std::byte> part = memory.subspan(readAt, stepBytes);
    readAt += stepBytes;
    return part;
  };

  std::vector<std::function<double()>> parts;
  parts.emplace_back([&] { return ours.run(threads.loop()); });
  for (const int count : kStreamCounts)
    parts.emplace_back([&, count] {
      return readStreams(nextRead(), count, threads.count(), threads.loop());
    });
  if (twin)
    parts.emplace_back([&] { return twin->run(threads.loop()); });
  const auto times = timesInTurn(parts, {});
  const std::vector<double> &stepUs = times.front(),
                            &twinUs = twin ? times.back() : times.front();
  const std::span readUs = std::span(times).subspan(1, kCounts);

  size_t best = 0;
  for (size_t j = 1; j < kCounts; ++j)
    if (quartilesOf(readUs[j]).median < quartilesOf(readUs[best]).median)
      best = j;
  std::vector<double> shares, factors;
  for (size_t i = 0; i < stepUs.size(); ++i) {
    shares.push_back(readUs[best][i] / stepUs[i]);
    factors.push_back(twinUs[i] / stepUs[i]);
  }
  Measurement result;
  result.stepUs = quartilesOf(stepUs);
  result.shareOfRead = quartilesOf(shares);
  result.overF16 = quartilesOf(factors);
  result.streams = kStreamCounts[best];
  result.readGBs =
      static_cast<double>(stepBytes) * 1e-3 / quartilesOf(readUs[best]).median;
  result.repetitions = static_cast<int64_t>(stepUs.size());
  return result;
}
