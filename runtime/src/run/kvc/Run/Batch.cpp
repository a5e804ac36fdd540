//===- Batch.cpp - A checked batch ----------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Run/Batch.h"

#include "kvc/Base/Checked.h"
#include "kvc/Base/Struct.h"

using namespace kvc;

kvc_status kvc::readBatch(const kvc_module &module, const kvc_batch *given,
                          kvc_diag *diag, kvc_batch &batch) {
  KVC_TRY(readStruct(given, "batch", diag, batch));
  if (!batch.cache)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.cache: expected a cache, got null");
  if (batch.cache->spec->hash != module.spec->hash)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.cache: expected the module's layout hash %s, got %s",
                module.spec->hash.c_str(), batch.cache->spec->hash.c_str());
  KVC_TRY(requireDevice(module, *batch.cache->device, diag));
  if (batch.flags & ~uint32_t(KVC_SKIP_FINITE_CHECK))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.flags: expected KVC_SKIP_FINITE_CHECK or 0, got 0x%x",
                batch.flags);
  if (batch.stream && !batch.cache->hasOwnMemory())
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.stream: expected null with memory of the host, got one");
  // Nobody here can read the rows.
  if (batch.cache->hasOwnMemory())
    batch.flags |= KVC_SKIP_FINITE_CHECK;
  if (batch.num_sequences < 0 || batch.num_sequences > kMaxInt32)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.num_sequences: expected 0 to %lld, got %lld",
                static_cast<long long>(kMaxInt32),
                static_cast<long long>(batch.num_sequences));
  return KVC_OK;
}

kvc_status kvc::checkTokens(const kvc_batch &batch, kvc_diag *diag) {
  if (batch.num_sequences == 0)
    return KVC_OK;
  if (!batch.token_start)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.token_start: expected %lld offsets, got null",
                static_cast<long long>(batch.num_sequences + 1));
  int32_t least = 0;
  for (int64_t i = 0; i <= batch.num_sequences; ++i) {
    if (batch.token_start[i] < least)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "batch.token_start[%lld]: expected at least %d, got %d",
                  static_cast<long long>(i), least, batch.token_start[i]);
    least = batch.token_start[i];
  }
  return KVC_OK;
}

namespace {

/// The caller's own table of sequence i.
kvc_status resolveTable(const kvc_batch &batch, int64_t i, kvc_diag *diag,
                        BatchEntry &entry) {
  const kvc_cache &cache = *batch.cache;
  int64_t length = batch.lengths[i];
  if (length < 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.lengths[%lld]: expected at least 0, got %lld",
                static_cast<long long>(i), static_cast<long long>(length));
  int64_t pages = cache.blocksFor(length);
  if (pages > batch.block_table_stride)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.block_table_stride: expected at least %lld for the %lld "
                "tokens of sequence %lld, got %lld",
                static_cast<long long>(pages), static_cast<long long>(length),
                static_cast<long long>(i),
                static_cast<long long>(batch.block_table_stride));
  const int32_t *table = batch.block_table + i * batch.block_table_stride;
  for (int64_t page = 0; page < pages; ++page)
    if (table[page] < 0 || table[page] >= cache.totalBlocks())
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "batch.block_table[%lld, %lld]: expected a page below %lld, "
                  "got %d",
                  static_cast<long long>(i), static_cast<long long>(page),
                  static_cast<long long>(cache.totalBlocks()), table[page]);
  entry.view = cache.viewOf(table);
  entry.extent.pages = pages;
  entry.length = length;
  return KVC_OK;
}

kvc_status checkTables(const kvc_batch &batch, kvc_diag *diag) {
  if (batch.sequences)
    return batch.lengths || batch.block_table
               ? fail(diag, KVC_INVALID_ARGUMENT,
                      "batch: expected sequences or lengths and block_table, "
                      "got both")
               : KVC_OK;
  if (!batch.cache->isPaged)
    return fail(
        diag, KVC_INVALID_ARGUMENT,
        "batch.sequences: expected handles with a cache without pages, got "
        "null");
  if (batch.cache->raw)
    return fail(diag, KVC_UNSUPPORTED,
                "batch.block_table: expected a spec without segments, got one "
                "with them");
  if (!batch.lengths || !batch.block_table)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch: expected sequences or lengths and block_table, got no "
                "%s",
                batch.lengths ? "block_table" : "lengths");
  Checked bytes = Checked(batch.block_table_stride) * batch.num_sequences *
                  int64_t(sizeof(int32_t));
  if (batch.block_table_stride < 0 || !bytes.isValid())
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.block_table_stride: expected at least 0 and all rows "
                "within 2^63 bytes, got %lld",
                static_cast<long long>(batch.block_table_stride));
  return KVC_OK;
}

} // namespace

kvc_status kvc::resolveAttend(const kvc_batch &batch, bool isAppending,
                              kvc_diag *diag,
                              std::vector<BatchEntry> &entries) {
  entries.clear();
  if (batch.num_sequences == 0)
    return KVC_OK;
  KVC_TRY(checkTables(batch, diag));
  for (int64_t i = 0; i < batch.num_sequences; ++i) {
    BatchEntry entry = {};
    entry.tokenBegin = batch.token_start[i];
    entry.tokens = batch.token_start[i + 1] - batch.token_start[i];
    if (batch.sequences) {
      const Sequence *sequence = nullptr;
      KVC_TRY(
          std::as_const(*batch.cache).find(batch.sequences[i], diag, sequence));
      if (!isAppending && sequence->written < sequence->pending)
        return fail(
            diag, KVC_INVALID_ARGUMENT,
            "batch.sequences[%lld]: expected its %lld reserved tokens "
            "written, got none",
            static_cast<long long>(i),
            static_cast<long long>(sequence->pending - sequence->written));
      if (batch.cache->ringTokens && entry.tokens > batch.cache->maxQueries)
        return fail(diag, KVC_UNSUPPORTED,
                    "batch.sequences[%lld]: expected at most the cache's "
                    "max_queries (%lld), got %lld queries",
                    static_cast<long long>(i),
                    static_cast<long long>(batch.cache->maxQueries),
                    static_cast<long long>(entry.tokens));
      entry.view = batch.cache->viewOf(*sequence, sequence->nextCoded);
      entry.extent = batch.cache->extentOf(*sequence);
      entry.length = sequence->pending;
    } else {
      KVC_TRY(resolveTable(batch, i, diag, entry));
    }
    entries.push_back(entry);
  }
  return KVC_OK;
}
