//===- CacheAPI.cpp - The C API of caches ---------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Checked.h"
#include "kvc/Base/Struct.h"
#include "kvc/Cache/Cache.h"
#include "kvc/Spec/Segments.h"

#include <algorithm>
#include <numeric>

using namespace kvc;
using spec::Tensor;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t kDefaultSequences = 65536;

kvc_status checkSpec(const kvc_spec *spec, kvc_diag *diag) {
  if (!spec)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.spec: expected a spec, got null");
  return KVC_OK;
}

/// Blocks of the cache, page 0 included where it is paged.
kvc_status blocksOf(const kvc_cache_options &options, const kvc_cache &cache,
                    kvc_diag *diag, int64_t &blocks) {
  if ((options.num_pages > 0) == (options.capacity_tokens > 0) ||
      options.num_pages < 0 || options.capacity_tokens < 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options: expected exactly one of num_pages and "
                "capacity_tokens above 0, got %lld and %lld",
                static_cast<long long>(options.num_pages),
                static_cast<long long>(options.capacity_tokens));
  if (options.num_pages > 0 && !cache.isPaged)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.num_pages: expected capacity_tokens with a contiguous "
                "layout, got %lld pages",
                static_cast<long long>(options.num_pages));
  blocks = options.num_pages > 0
               ? options.num_pages
               : cache.blocksFor(options.capacity_tokens) + cache.isPaged;
  if (cache.isPaged && blocks > kMaxInt32)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.num_pages: expected at most %lld, got %lld",
                static_cast<long long>(kMaxInt32),
                static_cast<long long>(blocks));
  return KVC_OK;
}

kvc_status allocatePages(kvc_cache &cache, kvc_diag *diag) {
  const spec::Spec &spec = cache.spec->spec;
  layout::TensorStrides key =
      layout::tensorStrides(spec, Tensor::Key, cache.family(), 0);
  layout::TensorStrides value =
      layout::tensorStrides(spec, Tensor::Value, cache.family(), 0);
  Checked keyBytes = Checked(key.bytes) * cache.totalBlocks();
  Checked bytes = keyBytes + Checked(value.bytes) * cache.totalBlocks();
  if (!bytes.isValid())
    return fail(diag, KVC_FAILED,
                "memory: expected at most 2^63 - 1 bytes, got %lld pages of "
                "%lld bytes",
                static_cast<long long>(cache.totalBlocks()),
                static_cast<long long>(key.bytes + value.bytes));
  KVC_TRY(cache.memory.allocate(*cache.device, bytes.get(), diag));
  uint8_t *base = cache.memory.data();
  if (cache.isPoisoned)
    KVC_TRY(
        cache.device->fill(cache.device->self, base, 0xFF, bytes.get(), diag));
  // Interleaved pages are one memory, in which V has offsets of its own.
  uint8_t *valueBase = spec.layout.interleaved ? base : base + keyBytes.get();
  placeTensor(key, base, cache.regions);
  placeTensor(value, valueBase, cache.regions);
  return KVC_OK;
}

/// Checks lent pages of one tensor and adds their regions to the cache's.
kvc_status borrowTensor(kvc_cache &cache, Tensor tensor, void *base,
                        int64_t stride, int64_t pageBytes, kvc_diag *diag) {
  const char *name = tensor == Tensor::Key ? "key" : "value";
  constexpr int64_t alignment = layout::kRegionAlignment;
  if (!base || reinterpret_cast<uintptr_t>(base) % alignment != 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.borrowed.%s: expected an address that is a multiple "
                "of %lld, got %p",
                name, static_cast<long long>(alignment), base);
  if (stride < pageBytes || stride % alignment != 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.borrowed.%s_stride: expected a multiple of %lld, at "
                "least %lld bytes, got %lld",
                name, static_cast<long long>(alignment),
                static_cast<long long>(pageBytes),
                static_cast<long long>(stride));
  if (!(Checked(stride) * cache.totalBlocks()).isValid())
    return fail(
        diag, KVC_INVALID_ARGUMENT,
        "options.borrowed.%s_stride: expected at most 2^63 - 1 bytes of "
        "pages, got %lld bytes for each of %lld",
        name, static_cast<long long>(stride),
        static_cast<long long>(cache.totalBlocks()));
  const spec::Spec &spec = cache.spec->spec;
  layout::TensorStrides strides =
      layout::tensorStrides(spec, tensor, cache.family(), 0);
  for (layout::RegionStrides &region : strides.regions)
    region.pageStride = stride;
  placeTensor(strides, static_cast<uint8_t *>(base), cache.regions);
  return KVC_OK;
}

kvc_status borrowPages(kvc_cache &cache, const kvc_page_memory &lent,
                       kvc_diag *diag) {
  const spec::Spec &spec = cache.spec->spec;
  if (!cache.isPaged)
    return fail(
        diag, KVC_UNSUPPORTED,
        "options.borrowed: expected layout.kind \"paged\", got another");
  // Nothing of a sequence may lie outside of its pages, and the owner may
  // rewrite any slot by itself.
  if (spec.segments.sink != 0 || spec.segments.recent != 0)
    return fail(diag, KVC_UNSUPPORTED,
                "options.borrowed: expected segments.sink and segments.recent "
                "0, got %lld and %lld",
                static_cast<long long>(spec.segments.sink),
                static_cast<long long>(spec.segments.recent));
  int64_t bytes[2] = {0, 0};
  for (Tensor tensor : {Tensor::Key, Tensor::Value}) {
    const spec::Scheme *scheme = spec::schemeOf(spec, tensor);
    if (!scheme)
      continue;
    if (scheme->blockTokens() != 1)
      return fail(diag, KVC_UNSUPPORTED,
                  "options.borrowed: expected scale.tokens 1, got %lld",
                  static_cast<long long>(scheme->blockTokens()));
    bytes[size_t(tensor)] =
        layout::pageLayout(spec, tensor, cache.family()).bytes;
  }
  if (spec.layout.interleaved) {
    if (lent.value || lent.value_stride != 0)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.borrowed.value: expected null and stride 0 with "
                  "interleaved pages, got %p and %lld",
                  lent.value, static_cast<long long>(lent.value_stride));
    for (Tensor tensor : {Tensor::Key, Tensor::Value})
      KVC_TRY(borrowTensor(cache, tensor, lent.key, lent.key_stride,
                           bytes[0] + bytes[1], diag));
    return KVC_OK;
  }
  KVC_TRY(borrowTensor(cache, Tensor::Key, lent.key, lent.key_stride, bytes[0],
                       diag));
  if (!spec::schemeOf(spec, Tensor::Value))
    return KVC_OK;
  return borrowTensor(cache, Tensor::Value, lent.value, lent.value_stride,
                      bytes[1], diag);
}

/// Tokens that each sequence of a ring keeps: whole blocks of whatever divides
/// its memory.
kvc_status sizeRing(const kvc_cache_options &options, kvc_cache &cache,
                    kvc_diag *diag) {
  const spec::Spec &spec = cache.spec->spec;
  if (options.max_queries < 0 || options.max_queries > kMaxInt32)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.max_queries: expected 0 to %lld, got %lld",
                static_cast<long long>(kMaxInt32),
                static_cast<long long>(options.max_queries));
  if (spec.layout.kind != spec::LayoutKind::Ring)
    return KVC_OK;
  cache.maxQueries = std::max<int64_t>(options.max_queries, 1);
  Checked block = cache.blockTokens;
  for (Tensor tensor : {Tensor::Key, Tensor::Value})
    if (const spec::Scheme *scheme = spec::schemeOf(spec, tensor);
        scheme && block.isValid())
      block = block * (scheme->blockTokens() /
                       std::gcd(block.get(), scheme->blockTokens()));
  int64_t least = *spec.attention.window + cache.maxQueries - 1;
  Checked tokens =
      block.isValid() ? block * divideCeil(least, block.get()) : block;
  if (!tokens.isValid())
    return fail(diag, KVC_FAILED,
                "memory: expected a ring of fewer than 2^63 tokens, got more");
  cache.ringTokens = tokens.get();
  return KVC_OK;
}

kvc_status allocateRawRows(const kvc_cache_options &options, kvc_cache &cache,
                           kvc_diag *diag) {
  const spec::Spec &spec = cache.spec->spec;
  if (options.raw_pages < 0 || options.raw_pages > kMaxInt32)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.raw_pages: expected 0 to %lld, got %lld",
                static_cast<long long>(kMaxInt32),
                static_cast<long long>(options.raw_pages));
  if (!spec::hasSegments(spec))
    return KVC_OK;
  Checked tokens = Checked(cache.totalBlocks()) * cache.blockTokens;
  int64_t pages =
      options.raw_pages
          ? options.raw_pages
          : RawRows::pagesFor(spec, cache.maxSequences, tokens.saturated());
  cache.raw.emplace();
  return cache.raw->allocate(spec, *cache.device, pages, cache.isPoisoned,
                             diag);
}

kvc_status checkCache(const kvc_cache *cache, kvc_diag *diag) {
  return cache ? KVC_OK
               : fail(diag, KVC_INVALID_ARGUMENT,
                      "cache: expected a cache, got null");
}

} // namespace

extern "C" kvc_status kvc_cache_create(const kvc_cache_options *options,
                                       kvc_diag *diag, kvc_cache **cache) {
  return guarded(diag, [&]() -> kvc_status {
    kvc_cache_options given;
    KVC_TRY(readStruct(options, "options", diag, given));
    KVC_TRY(requirePointer(cache, "cache", diag));
    KVC_TRY(checkSpec(given.spec, diag));
    if (given.flags & ~uint32_t(KVC_CACHE_POISON))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.flags: expected KVC_CACHE_POISON or 0, got 0x%x",
                  given.flags);
    if (given.max_sequences < 0 || given.max_sequences > kMaxInt32)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.max_sequences: expected 0 to %lld, got %lld",
                  static_cast<long long>(kMaxInt32),
                  static_cast<long long>(given.max_sequences));
    auto made = std::make_unique<kvc_cache>();
    made->spec = std::make_unique<kvc_spec>(given.spec->spec);
    KVC_TRY(
        made->inputs.read(*made->spec, given.inputs, given.num_inputs, diag));
    KVC_TRY(resolveDevice(given.device, diag, made->device));
    const spec::Layout &layout = made->spec->spec.layout;
    made->isPaged = layout.kind == spec::LayoutKind::Paged;
    made->isPoisoned = (given.flags & KVC_CACHE_POISON) != 0;
    made->blockTokens =
        made->isPaged ? layout.page : layout::kContiguousPageTokens;
    made->maxSequences =
        given.max_sequences ? given.max_sequences : kDefaultSequences;
    int64_t blocks = 0;
    KVC_TRY(blocksOf(given, *made, diag, blocks));
    KVC_TRY(sizeRing(given, *made, diag));
    if (made->isPaged)
      made->pool = BlockPool(blocks, 1);
    else
      made->totalRuns = blocks;
    if (given.borrowed)
      KVC_TRY(borrowPages(*made, *given.borrowed, diag));
    else if (made->isPaged)
      KVC_TRY(allocatePages(*made, diag));
    KVC_TRY(allocateRawRows(given, *made, diag));
    if (made->hasOwnMemory())
      KVC_TRY(made->onDevice.create(*made->device, made->regions,
                                    made->raw ? made->raw->allRegions()
                                              : std::vector<kvc_region>(),
                                    made->inputs.all(), diag));
    *cache = made.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_cache_free(kvc_cache *cache) {
  delete cache;
  return KVC_OK;
}

extern "C" kvc_status kvc_cache_spec(const kvc_cache *cache, kvc_diag *diag,
                                     const kvc_spec **spec) {
  KVC_TRY(checkCache(cache, diag));
  KVC_TRY(requirePointer(spec, "spec", diag));
  *spec = cache->spec.get();
  return KVC_OK;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

extern "C" kvc_status kvc_cache_create_sequence(kvc_cache *cache,
                                                kvc_diag *diag,
                                                kvc_sequence *sequence) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkCache(cache, diag));
    KVC_TRY(requirePointer(sequence, "sequence", diag));
    return cache->createSequence(diag, *sequence);
  });
}

extern "C" kvc_status kvc_cache_free_sequence(kvc_cache *cache,
                                              kvc_sequence sequence,
                                              kvc_diag *diag) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkCache(cache, diag));
    Sequence *found = nullptr;
    KVC_TRY(cache->find(sequence, diag, found));
    KVC_TRY(cache->waitForRuns(diag));
    cache->freeSequence(*found);
    return KVC_OK;
  });
}

static kvc_status readLength(const kvc_cache *cache, kvc_sequence sequence,
                             int64_t Sequence::*field, kvc_diag *diag,
                             int64_t *length) {
  KVC_TRY(checkCache(cache, diag));
  KVC_TRY(requirePointer(length, "length", diag));
  const Sequence *found = nullptr;
  KVC_TRY(cache->find(sequence, diag, found));
  *length = found->*field;
  return KVC_OK;
}

extern "C" kvc_status kvc_cache_length(const kvc_cache *cache,
                                       kvc_sequence sequence, kvc_diag *diag,
                                       int64_t *length) {
  return readLength(cache, sequence, &Sequence::committed, diag, length);
}

extern "C" kvc_status kvc_cache_pending_length(const kvc_cache *cache,
                                               kvc_sequence sequence,
                                               kvc_diag *diag,
                                               int64_t *length) {
  return readLength(cache, sequence, &Sequence::pending, diag, length);
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

static kvc_status planRequest(const kvc_cache *cache,
                              const kvc_append_request *request, kvc_diag *diag,
                              std::vector<AppendStep> &steps) {
  KVC_TRY(checkCache(cache, diag));
  kvc_append_request given;
  KVC_TRY(readStruct(request, "append", diag, given));
  return cache->planAppend(given, diag, steps);
}

extern "C" kvc_status kvc_cache_append(kvc_cache *cache,
                                       const kvc_append_request *request,
                                       kvc_diag *diag) {
  return guarded(diag, [&]() -> kvc_status {
    std::vector<AppendStep> steps;
    KVC_TRY(planRequest(cache, request, diag, steps));
    return cache->append(steps, diag);
  });
}

extern "C" kvc_status kvc_cache_can_append(const kvc_cache *cache,
                                           const kvc_append_request *request,
                                           kvc_diag *diag) {
  return guarded(diag, [&]() -> kvc_status {
    std::vector<AppendStep> steps;
    return planRequest(cache, request, diag, steps);
  });
}

static kvc_status findOpen(kvc_cache *cache, kvc_sequence sequence,
                           kvc_diag *diag, Sequence *&found) {
  KVC_TRY(checkCache(cache, diag));
  KVC_TRY(cache->find(sequence, diag, found));
  if (!found->isOpen)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "sequence: expected one with a reservation, got none");
  return KVC_OK;
}

extern "C" kvc_status kvc_cache_commit(kvc_cache *cache, kvc_sequence sequence,
                                       int64_t accepted, kvc_diag *diag) {
  Sequence *found = nullptr;
  KVC_TRY(findOpen(cache, sequence, diag, found));
  int64_t reserved = found->pending - found->committed;
  if (accepted != reserved)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "accepted: expected the %lld reserved tokens, got %lld",
                static_cast<long long>(reserved),
                static_cast<long long>(accepted));
  cache->commit(*found);
  return KVC_OK;
}

extern "C" kvc_status
kvc_cache_rollback(kvc_cache *cache, kvc_sequence sequence, kvc_diag *diag) {
  return guarded(diag, [&]() -> kvc_status {
    Sequence *found = nullptr;
    KVC_TRY(findOpen(cache, sequence, diag, found));
    KVC_TRY(cache->checkRollback(*found, diag));
    cache->rollback(*found);
    return KVC_OK;
  });
}

//===----------------------------------------------------------------------===//
// Looking in
//===----------------------------------------------------------------------===//

extern "C" kvc_status kvc_cache_get_view(const kvc_cache *cache,
                                         kvc_sequence sequence, kvc_diag *diag,
                                         kvc_cache_view *view) {
  KVC_TRY(checkCache(cache, diag));
  KVC_TRY(requirePointer(view, "view", diag));
  const Sequence *found = nullptr;
  KVC_TRY(cache->find(sequence, diag, found));
  *view = cache->viewOf(*found);
  return KVC_OK;
}

extern "C" kvc_status kvc_cache_coded_end(const kvc_cache *cache,
                                          kvc_sequence sequence,
                                          kvc_tensor tensor, kvc_diag *diag,
                                          int64_t *end) {
  KVC_TRY(checkCache(cache, diag));
  KVC_TRY(requirePointer(end, "end", diag));
  if (tensor != KVC_KEY && tensor != KVC_VALUE)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "tensor: expected KVC_KEY or KVC_VALUE, got %d",
                static_cast<int>(tensor));
  const Sequence *found = nullptr;
  KVC_TRY(cache->find(sequence, diag, found));
  kvc_cache_view view = cache->viewOf(*found);
  *end = tensor == KVC_KEY ? view.key_coded_end : view.value_coded_end;
  return KVC_OK;
}

extern "C" kvc_status kvc_cache_block_table(const kvc_cache *cache,
                                            const kvc_sequence *sequences,
                                            int64_t count, int64_t columns,
                                            kvc_diag *diag, int32_t *table,
                                            int32_t *lengths) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkCache(cache, diag));
    if (!cache->isPaged)
      return fail(diag, KVC_UNSUPPORTED,
                  "block_table: expected layout.kind \"paged\", got one "
                  "without pages");
    if (cache->raw)
      return fail(diag, KVC_UNSUPPORTED,
                  "block_table: expected a spec without segments, got one with "
                  "them, whose raw rows lie beside the pages");
    if (count < 0 || columns < 0)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "block_table: expected count and columns of at least 0, got "
                  "%lld and %lld",
                  static_cast<long long>(count),
                  static_cast<long long>(columns));
    if (count == 0)
      return KVC_OK;
    KVC_TRY(requirePointer(sequences, "sequences", diag));
    if (columns > 0)
      KVC_TRY(requirePointer(table, "table", diag));
    KVC_TRY(requirePointer(lengths, "lengths", diag));
    const Sequence *found = nullptr;
    for (int64_t i = 0; i < count; ++i) {
      KVC_TRY(cache->find(sequences[i], diag, found));
      auto pages = static_cast<int64_t>(found->pages.size());
      if (pages > columns)
        return fail(diag, KVC_INVALID_ARGUMENT,
                    "columns: expected at least %lld for sequences[%lld], got "
                    "%lld",
                    static_cast<long long>(pages), static_cast<long long>(i),
                    static_cast<long long>(columns));
    }
    for (int64_t i = 0; i < count; ++i) {
      KVC_TRY(cache->find(sequences[i], diag, found));
      int32_t *row = table + i * columns;
      std::copy(found->pages.begin(), found->pages.end(), row);
      std::fill(row + found->pages.size(), row + columns, 0);
      lengths[i] = static_cast<int32_t>(found->pending);
    }
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_cache_get_stats(const kvc_cache *cache,
                                          kvc_diag *diag,
                                          kvc_cache_stats *stats) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkCache(cache, diag));
    kvc_cache_stats result = {};
    result.total = cache->totalBlocks();
    result.null = cache->isPaged;
    result.free = cache->freeBlocks();
    result.used = result.total - result.null - result.free;
    result.sequences =
        std::count_if(cache->slots.begin(), cache->slots.end(),
                      [](const Sequence &slot) { return slot.isLive; });
    result.bytes = cache->memory.bytes();
    if (cache->raw) {
      result.bytes += cache->raw->bytes();
      result.raw_total = cache->raw->blocks().total();
      result.raw_used = result.raw_total - 1 - cache->raw->blocks().free();
      result.raw_free = cache->raw->blocks().free();
    }
    for (const Sequence &slot : cache->slots)
      result.bytes += slot.run.memory.bytes();
    return writeStruct(result, "stats", diag, stats);
  });
}
