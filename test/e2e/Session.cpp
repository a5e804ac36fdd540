//===- Session.cpp - One batch through compiled kernels -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "kvc/Layout/PageLayout.h"
#include "kvc/Spec/SchemeInputs.h"
#include "kvc/Spec/Segments.h"

#include "kvc/Test/Dump.h"
#include "kvc/Test/PackedBytes.h"

#include <algorithm>
#include <cstring>

using namespace kvc;
using namespace kvc::test;
using spec::Tensor;

kvc_compile_options kvc::test::testOptionsFor(const std::string &target) {
  kvc_compile_options options = compileOptionsFor(target);
  options.asan = KVC_TEST_ASAN;
  return options;
}

Session::Session(const Engine &engine, const spec::Spec &spec,
                 const Inputs &inputs, RowOrder rowOrder, int64_t chunk,
                 const LentPages &pages)
    : spec(spec), inputs(inputs), rowOrder(rowOrder),
      specHandle(engine.spec()) {
  createCache(inputs, pages);
  append(engine, chunk);
}

Session::Session(const Engine &engine, const spec::Spec &spec,
                 const Inputs &inputs, RowOrder rowOrder, const Inputs &largest)
    : spec(spec), inputs(inputs), rowOrder(rowOrder),
      specHandle(engine.spec()) {
  createCache(largest, {});
  append(engine, 0);
}

/// Inputs of the spec's schemes by their names.
static std::vector<SchemeValues> schemeValuesOf(const spec::Spec &spec,
                                                const Inputs &inputs) {
  std::vector<SchemeValues> result;
  for (const spec::SchemeInput &input : spec::schemeInputs(spec))
    result.push_back({input.name, valuesOf(input, inputs)});
  return result;
}

static GuardedRuns filledPages(int64_t count, int64_t bytes,
                               const LentPages &pages) {
  GuardedRuns runs(count, bytes, pages.stride);
  // Pages are multiples of 16 bytes.
  for (int64_t i = 0; i < count; ++i)
    std::fill_n(reinterpret_cast<uint32_t *>(runs.run(i)),
                bytes / int64_t(sizeof(pages.fill)), pages.fill);
  return runs;
}

void Session::createCache(const Inputs &largest, const LentPages &pages) {
  Diag diag;
  auto room = [&](size_t i) { return largest.cuKv[i + 1] - largest.cuKv[i]; };
  kvc_cache_options options{};
  options.struct_size = sizeof(options);
  options.spec = specHandle;
  options.flags = KVC_CACHE_POISON;
  options.device = guardedDevice.get();
  options.max_sequences = std::max<int64_t>(1, int64_t(batch()));
  for (size_t i = 0; i < batch(); ++i)
    options.max_queries = std::max(options.max_queries,
                                   int64_t(inputs.cuQ[i + 1] - inputs.cuQ[i]));
  const int64_t page = spec.layout.page;
  kvc_page_memory lent{};
  const bool isPaged = spec.layout.kind == spec::LayoutKind::Paged;
  if (isPaged) {
    options.num_pages = 1;
    for (size_t i = 0; i < batch(); ++i)
      options.num_pages += (room(i) + page - 1) / page;
  }
  // With segments not all of a sequence is in its pages, and none can be lent.
  if (isPaged && !spec::hasSegments(spec)) {
    int64_t bytes[2];
    for (kvc_tensor tensor : {KVC_KEY, KVC_VALUE})
      diag.check(
          kvc_page_slice_bytes(specHandle, tensor, page, diag, &bytes[tensor]));
    if (spec.layout.interleaved)
      diag.check(kvc_page_bytes(specHandle, page, diag, &bytes[KVC_KEY]));
    else if (spec.value)
      valuePages.emplace(
          filledPages(options.num_pages, bytes[KVC_VALUE], pages));
    keyPages.emplace(filledPages(options.num_pages, bytes[KVC_KEY], pages));
    lent.key = keyPages->run(0);
    lent.key_stride = keyPages->stride();
    if (valuePages) {
      lent.value = valuePages->run(0);
      lent.value_stride = valuePages->stride();
    }
    // Lent memory is never filled.
    options.flags = 0;
    options.borrowed = &lent;
  } else if (!isPaged) {
    options.capacity_tokens = 64;
    for (size_t i = 0; i < batch(); ++i)
      options.capacity_tokens += (room(i) + 63) / 64 * 64;
  }
  const std::vector<SchemeValues> given = schemeValuesOf(spec, inputs);
  const std::vector<kvc_scheme_values> values =
      schemeValuesFor(specHandle, given);
  options.inputs = values.data();
  options.num_inputs = int64_t(values.size());
  kvc_cache *made = nullptr;
  diag.check(kvc_cache_create(&options, diag, &made));
  cache.reset(made);
  sequences.resize(batch());
  for (kvc_sequence &sequence : sequences)
    diag.check(kvc_cache_create_sequence(made, diag, &sequence));
}

void Session::append(const Engine &engine, int64_t chunk) {
  Diag diag;
  const spec::Attention &attention = spec.attention;
  const int64_t count = int64_t(batch());
  std::vector<int64_t> fresh(batch());
  done.resize(batch());
  for (;;) {
    std::vector<int32_t> starts{0};
    for (size_t i = 0; i < batch(); ++i) {
      int64_t left = length(i) - done[i];
      fresh[i] = chunk ? std::min(chunk, left) : left;
      starts.push_back(int32_t(starts.back() + fresh[i]));
    }
    if (starts.back() == 0)
      return;
    auto gather = [&](const std::vector<float> &from, int64_t channels) {
      Rows rows(starts.back(), attention.kvHeads, channels, spec.io.query,
                rowOrder);
      const auto width = size_t(attention.kvHeads * channels);
      for (size_t i = 0; i < batch() && !from.empty(); ++i)
        for (int64_t t = 0; t < fresh[i]; ++t)
          rows.setToken(
              starts[i] + t,
              std::span(from).subspan(
                  size_t(inputs.cuKv[i] + done[i] + t) * width, width));
      return rows;
    };
    Rows key = gather(inputs.k, attention.headDim);
    Rows value = gather(inputs.v, attention.valueDim);
    kvc_append_request request{sizeof(request), count, sequences.data(),
                               fresh.data()};
    diag.check(kvc_cache_append(cache.get(), &request, diag));
    kvc_batch batch{};
    batch.struct_size = sizeof(batch);
    batch.cache = cache.get();
    batch.num_sequences = count;
    batch.token_start = starts.data();
    batch.sequences = sequences.data();
    batch.key = key.in();
    if (spec.value)
      batch.value = value.in();
    diag.check(kvc_run_append(engine.module(), &batch, nullptr, diag));
    for (size_t i = 0; i < sequences.size(); ++i) {
      diag.check(kvc_cache_commit(cache.get(), sequences[i], fresh[i], diag));
      done[i] += fresh[i];
    }
  }
}

/// One f32 per query head, behind which nothing may be read.
static GuardedBuffer perHead(const std::vector<float> &values) {
  GuardedBuffer buffer(int64_t(values.size() * sizeof(float)));
  std::copy(values.begin(), values.end(),
            reinterpret_cast<float *>(buffer.data()));
  return buffer;
}

GuardedRuns Session::blockTables() const {
  Diag diag;
  int64_t columns = 0;
  for (size_t i = 0; i < batch(); ++i)
    columns = std::max(columns,
                       (length(i) + spec.layout.page - 1) / spec.layout.page);
  GuardedRuns tables(int64_t(batch()), columns * int64_t(sizeof(int32_t)));
  for (size_t i = 0; i < batch(); ++i) {
    int32_t tokens = 0;
    diag.check(kvc_cache_block_table(
        cache.get(), &sequences[i], 1, columns, diag,
        reinterpret_cast<int32_t *>(tables.run(int64_t(i))), &tokens));
  }
  return tables;
}

Attended Session::attend(const kvc_module *module,
                         const kvc_parallel_for *threads,
                         bool ownTables) const {
  Diag diag;
  const spec::Attention &attention = spec.attention;
  std::vector<int32_t> starts(inputs.cuQ.begin(), inputs.cuQ.end());
  std::vector<int32_t> queries, lengths, bounds;
  for (size_t i = 0; i < batch(); ++i) {
    queries.push_back(starts[i + 1] - starts[i]);
    lengths.push_back(int32_t(length(i)));
    bounds.push_back(lengths.back() + moreKeys);
  }
  kvc_plan_options options{};
  options.struct_size = sizeof(options);
  options.module = module;
  options.num_sequences = int64_t(batch());
  options.queries = queries.data();
  options.lengths = bounds.data();
  options.device = guardedDevice.get();
  kvc_plan *planned = nullptr;
  diag.check(kvc_plan_create(&options, diag, &planned));
  const PlanHandle plan(planned);

  const int64_t tokens = inputs.cuQ.back();
  Rows query(tokens, attention.qHeads, attention.headDim, spec.io.query,
             rowOrder);
  const auto width = size_t(attention.qHeads * attention.headDim);
  for (int64_t t = 0; t < tokens; ++t)
    query.setToken(t, std::span(inputs.q).subspan(size_t(t) * width, width));
  Rows out(tokens, attention.qHeads, attention.valueDim, spec.io.output,
           rowOrder);
  Rows lse(tokens, attention.qHeads, 1, spec::DType::F32, rowOrder);
  const GuardedBuffer slopes = perHead(inputs.slopes);
  const GuardedBuffer sinks = perHead(inputs.sinks);
  kvc_batch batch{};
  batch.struct_size = sizeof(batch);
  batch.cache = cache.get();
  batch.num_sequences = options.num_sequences;
  batch.token_start = starts.data();
  std::optional<GuardedRuns> tables;
  if (ownTables && spec.layout.kind == spec::LayoutKind::Paged &&
      !spec::hasSegments(spec)) {
    tables.emplace(blockTables());
    batch.lengths = lengths.data();
    batch.block_table = reinterpret_cast<const int32_t *>(tables->run(0));
    batch.block_table_stride = tables->stride() / int64_t(sizeof(int32_t));
  } else {
    batch.sequences = sequences.data();
  }
  batch.query = query.in();
  if (attention.alibi)
    batch.alibi_slopes = reinterpret_cast<const float *>(slopes.data());
  if (attention.sinkLogits)
    batch.sink_logits = reinterpret_cast<const float *>(sinks.data());
  const kvc_out_rows outRows = out.out(), lseRows = lse.out();
  diag.check(
      kvc_run_attend(plan.get(), &batch, threads, diag, &outRows, &lseRows));

  Attended result;
  result.out = out.values();
  result.lse = lse.values();
  result.outBytes.assign(out.bytes().begin(), out.bytes().end());
  result.lseBytes.assign(lse.bytes().begin(), lse.bytes().end());
  result.gapsAreUntouched = out.gapsAreUntouched() && lse.gapsAreUntouched();
  return result;
}

Unpacked Session::unpack(const Engine &engine, Tensor tensor, size_t number,
                         const TensorData &data) const {
  Diag diag;
  const std::vector<bool> kept = keptRows(tensor, data);
  const spec::PartScheme &part = spec::schemeOf(spec, tensor)->parts[number];
  const size_t keyParts = spec.key.parts.size(),
               allParts =
                   keyParts + (spec.value ? spec.value->parts.size() : 0);
  const int64_t rows = inputs.cuKv.back() * spec.attention.kvHeads;
  Unpacked result;
  result.values.resize(size_t(rows * part.channels()));
  result.codes.resize(part.codec.isRaw() ? 0 : result.values.size());
  result.scales.resize(size_t(rows * part.blocks()));
  result.zeros.resize(part.zero == spec::Zero::None ? 0 : result.scales.size());
  result.outlierIndices.resize(size_t(rows * part.outliers));
  result.outlierValues.resize(size_t(rows * part.outliers));
  auto unpack = [&](size_t i, int64_t begin, int64_t end) {
    const int64_t row = (inputs.cuKv[i] + begin) * spec.attention.kvHeads;
    std::vector<kvc_unpacked> parts(allParts,
                                    {sizeof(kvc_unpacked), nullptr, nullptr,
                                     nullptr, nullptr, nullptr, nullptr});
    kvc_unpacked &to = parts[(tensor == Tensor::Key ? 0 : keyParts) + number];
    to.values = result.values.data() + row * part.channels();
    if (!result.codes.empty())
      to.codes = reinterpret_cast<int8_t *>(result.codes.data()) +
                 row * part.channels();
    if (!result.scales.empty())
      to.scales = result.scales.data() + row * part.blocks();
    if (!result.zeros.empty())
      to.zeros = result.zeros.data() + row * part.blocks();
    if (part.outliers > 0) {
      to.outlier_indices = result.outlierIndices.data() + row * part.outliers;
      to.outlier_values = result.outlierValues.data() + row * part.outliers;
    }
    diag.check(kvc_cache_unpack(cache.get(), engine.module(), sequences[i],
                                begin, end, nullptr, diag, parts.data(),
                                int64_t(parts.size())));
  };
  for (size_t i = 0; i < batch(); ++i) {
    // Runs of rows that are kept.
    for (int64_t begin = 0, end = 0; begin < length(i); begin = end) {
      bool isKept = kept[size_t(inputs.cuKv[i] + begin)];
      for (end = begin;
           end < length(i) && kept[size_t(inputs.cuKv[i] + end)] == isKept;)
        ++end;
      if (isKept)
        unpack(i, begin, end);
    }
  }
  return result;
}

std::vector<bool> Session::keptRows(Tensor tensor,
                                    const TensorData &data) const {
  return shownRows(spec, tensor, inputs, data);
}

//===----------------------------------------------------------------------===//
// Documented bytes
//===----------------------------------------------------------------------===//

std::vector<std::string> Session::wrongBytes(const Answer &expected,
                                             spec::Order order) const {
  Diag diag;
  spec::Spec packing = spec;
  packing.layout.order = order;
  std::vector<std::string> wrong;
  for (size_t i = 0; i < batch(); ++i) {
    if (length(i) == 0)
      continue;
    kvc_cache_view view{};
    diag.check(kvc_cache_get_view(cache.get(), sequences[i], diag, &view));
    if (spec.layout.kind == spec::LayoutKind::Paged) {
      comparePages(packing, expected, i, view, wrong);
    } else {
      compareRun(packing, expected, Tensor::Key, i, view, wrong);
      if (spec.value)
        compareRun(packing, expected, Tensor::Value, i, view, wrong);
    }
  }
  return wrong;
}

/// The first byte that any region of a tensor has in page 0.
static const uint8_t *firstByteOf(const spec::Spec &packing, Tensor tensor,
                                  const kvc_cache_view &view) {
  constexpr auto family = kvc::layout::TargetFamily::Host;
  const uint8_t *first = nullptr;
  for (const kvc::layout::Region &region :
       kvc::layout::pageLayout(packing, tensor, family).regions) {
    const uint8_t *base =
        view.regions[kvc::layout::regionNumber(packing, tensor, region.kind,
                                               region.part, family)]
            .base;
    first = first ? std::min(first, base) : base;
  }
  return first;
}

void Session::comparePages(const spec::Spec &packing, const Answer &expected,
                           size_t sequence, const kvc_cache_view &view,
                           std::vector<std::string> &wrong) const {
  const BodyRows key = bodyRows(packing, Tensor::Key, inputs.cuKv, sequence);
  const BodyRows value =
      packing.value ? bodyRows(packing, Tensor::Value, inputs.cuKv, sequence)
                    : BodyRows();
  auto compare = [&](const char *what, int64_t page, Tensor tensor,
                     const PackedBytes &bytes) {
    const int64_t stride =
        view.regions[kvc::layout::regionNumber(
                         packing, tensor, kvc::layout::RegionKind::Codes,
                         /*part=*/0, kvc::layout::TargetFamily::Host)]
            .page_stride;
    const uint8_t *actual =
        firstByteOf(packing, tensor, view) + view.page_table[page] * stride;
    std::string difference =
        bytes.firstDifference({actual, bytes.bytes.size()});
    if (!difference.empty())
      wrong.push_back("sequence " + std::to_string(sequence) + ", " + what +
                      " page " + std::to_string(page) + ": " + difference);
  };
  const int64_t tokens = packing.layout.page;
  const int64_t rows = std::max(key.end - key.begin, value.end - value.begin);
  for (int64_t page = 0; page * tokens < rows; ++page) {
    if (packing.layout.interleaved) {
      compare("interleaved", page, Tensor::Key,
              packedInterleavedPage(packing, expected.k, key, expected.v, value,
                                    page));
      continue;
    }
    compare("key", page, Tensor::Key,
            packedPage(packing, Tensor::Key, expected.k, key, page));
    if (packing.value)
      compare("value", page, Tensor::Value,
              packedPage(packing, Tensor::Value, expected.v, value, page));
  }
}

void Session::compareRun(const spec::Spec &packing, const Answer &expected,
                         Tensor tensor, size_t sequence,
                         const kvc_cache_view &view,
                         std::vector<std::string> &wrong) const {
  const TensorData &data = tensor == Tensor::Key ? expected.k : expected.v;
  const BodyRows body = bodyRows(packing, tensor, inputs.cuKv, sequence);
  const PackedBytes all = packedContiguous(packing, tensor, data, body);
  if (packing.layout.order == spec::Order::Ggml ||
      packing.layout.order == spec::Order::Token) {
    compareRecords(packing, tensor, all, view, wrong);
    return;
  }
  const int64_t capacity = (body.end - body.begin + 63) / 64 * 64;
  const int64_t heads = data.heads;
  // The cache's memory may have room for more tokens than the documented page
  // of the tokens it holds, which moves regions and, with "hnd", heads.
  const bool headFirst = packing.layout.order == spec::Order::Hnd;
  int64_t offset = 0;
  auto compare = [&](const char *what, kvc::layout::RegionKind kind,
                     unsigned part, int64_t rowBytes, int64_t tokens) {
    const int64_t steps = (capacity + tokens - 1) / tokens;
    const kvc_region &region = view.regions[kvc::layout::regionNumber(
        packing, tensor, kind, part, kvc::layout::TargetFamily::Host)];
    const int64_t runs = headFirst ? heads : 1;
    const int64_t runBytes = steps * heads * rowBytes / runs;
    for (int64_t run = 0; run < runs; ++run) {
      auto cut = [&](const std::vector<uint8_t> &bytes) {
        auto begin = bytes.begin() + offset + run * runBytes;
        return std::vector<uint8_t>(begin, begin + runBytes);
      };
      PackedBytes here{cut(all.bytes), cut(all.known)};
      std::string difference = here.firstDifference(
          {region.base + run * region.head_stride, size_t(runBytes)});
      if (!difference.empty())
        wrong.push_back("sequence " + std::to_string(sequence) +
                        (tensor == Tensor::Key ? ", key " : ", value ") + what +
                        " of run " + std::to_string(run) + ": " + difference);
    }
    offset += (steps * heads * rowBytes + 15) / 16 * 16;
  };
  const spec::Scheme &scheme = *spec::schemeOf(packing, tensor);
  for (unsigned i = 0; i < scheme.parts.size(); ++i) {
    const spec::PartScheme &part = scheme.parts[i];
    compare("codes", kvc::layout::RegionKind::Codes, i,
            (part.channels() * part.codec.bits + 7) / 8, 1);
    if (part.scale && !part.hasStaticScale()) {
      const int64_t blockBytes =
          part.blocks() * spec::bitsOf(part.scale->dtype) / 8;
      const int64_t tokens = part.scale->tokens;
      compare("scales", kvc::layout::RegionKind::Scales, i, blockBytes, tokens);
      if (part.zero != spec::Zero::None)
        compare("zeros", kvc::layout::RegionKind::Zeros, i, blockBytes, tokens);
    }
    if (part.outliers == 0)
      continue;
    compare("outlier indices", kvc::layout::RegionKind::OutlierIndices, i,
            2 * part.outliers, 1);
    compare("outlier values", kvc::layout::RegionKind::OutlierValues, i,
            2 * part.outliers, 1);
  }
}

/// Records follow each other.
void Session::compareRecords(const spec::Spec &packing, Tensor tensor,
                             const PackedBytes &all, const kvc_cache_view &view,
                             std::vector<std::string> &wrong) {
  std::string difference = all.firstDifference(
      {firstByteOf(packing, tensor, view), all.bytes.size()});
  if (!difference.empty())
    wrong.push_back((tensor == Tensor::Key ? "key" : "value") +
                    std::string(" records: ") + difference);
}
