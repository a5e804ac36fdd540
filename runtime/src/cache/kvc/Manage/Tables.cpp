//===- Tables.cpp - What kernels of an engine's own read ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Calls.h"

#include <algorithm>

using namespace kvc;
using namespace kvc::manage;

namespace {

/// Checks what the calls have in common.
kvc_status checkSequences(const kvc_manager &manager, int64_t group,
                          const kvc_sequence *sequences, int64_t count,
                          kvc_diag *diag) {
  if (group < 0 || group >= int64_t(manager.groups.size()))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "group: expected 0 to %zu, got %lld", manager.groups.size() - 1,
                static_cast<long long>(group));
  if (count < 0 || (count > 0 && !sequences))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "sequences: expected a list of at least 0, got %lld%s",
                static_cast<long long>(count), sequences ? "" : " at null");
  const Sequence *found = nullptr;
  for (int64_t i = 0; i < count; ++i)
    KVC_TRY(manager.findSound(sequences[i], diag, found));
  return KVC_OK;
}

const Sequence &sequenceOf(const kvc_manager &manager, kvc_sequence handle) {
  return manager.slots[size_t(handle & 0xFFFFFFFFu)];
}

} // namespace

extern "C" kvc_status kvc_manager_block_table(const kvc_manager *manager,
                                              int64_t group,
                                              const kvc_sequence *sequences,
                                              int64_t count, int64_t columns,
                                              kvc_diag *diag, int32_t *table,
                                              int32_t *lengths) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    KVC_TRY(checkSequences(m, group, sequences, count, diag));
    if (columns < 0 || (count > 0 && columns > 0 && !table) ||
        (count > 0 && !lengths))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "table: expected room for %lld rows of at least 0 columns, "
                  "got %lld columns",
                  static_cast<long long>(count),
                  static_cast<long long>(columns));
    for (int64_t i = 0; i < count; ++i) {
      const auto size = int64_t(
          sequenceOf(m, sequences[i]).groups[size_t(group)].body.size());
      if (size > columns)
        return fail(diag, KVC_INVALID_ARGUMENT,
                    "columns: expected at least %lld for sequences[%lld], got "
                    "%lld",
                    static_cast<long long>(size), static_cast<long long>(i),
                    static_cast<long long>(columns));
    }
    for (int64_t i = 0; i < count; ++i) {
      const Sequence &sequence = sequenceOf(m, sequences[i]);
      const std::vector<int32_t> &body = sequence.groups[size_t(group)].body;
      int32_t *row = table + i * columns;
      std::copy(body.begin(), body.end(), row);
      std::fill(row + body.size(), row + columns, 0);
      lengths[i] = int32_t(sequence.pending);
    }
    return KVC_OK;
  });
}

extern "C" kvc_status
kvc_manager_block_rows(const kvc_manager *manager, int64_t group,
                       const kvc_sequence *sequences, int64_t count,
                       int64_t capacity, kvc_diag *diag, int64_t *indptr,
                       int32_t *indices, int32_t *last_page_len) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    KVC_TRY(checkSequences(m, group, sequences, count, diag));
    KVC_TRY(requirePointer(indptr, "indptr", diag));
    Checked size = 0;
    for (int64_t i = 0; i < count; ++i)
      size = size +
             int64_t(
                 sequenceOf(m, sequences[i]).groups[size_t(group)].body.size());
    if (!size.isValid() || size.get() > capacity ||
        (size.get() > 0 && !indices) || (count > 0 && !last_page_len))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "indices: expected room for %lld blocks and %lld lengths, "
                  "got %lld",
                  static_cast<long long>(size.saturated()),
                  static_cast<long long>(count),
                  static_cast<long long>(capacity));
    const Group &layers = m.groups[size_t(group)];
    indptr[0] = 0;
    for (int64_t i = 0; i < count; ++i) {
      const Held &held = sequenceOf(m, sequences[i]).groups[size_t(group)];
      std::copy(held.body.begin(), held.body.end(), indices + indptr[i]);
      const auto blocks = int64_t(held.body.size());
      indptr[i + 1] = indptr[i] + blocks;
      last_page_len[i] = blocks ? int32_t(held.nextEnds.most() -
                                          layers.tokensOf(blocks - 1).begin)
                                : 0;
    }
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_slot_mapping(const kvc_manager *manager,
                                               int64_t group,
                                               const kvc_sequence *sequences,
                                               int64_t count, int64_t num_slots,
                                               kvc_diag *diag, int64_t *slots) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    KVC_TRY(checkSequences(m, group, sequences, count, diag));
    const Group &layers = m.groups[size_t(group)];
    if (layers.hasRaw)
      return fail(diag, KVC_UNSUPPORTED,
                  "group: expected one without segments, got %lld, whose raw "
                  "rows lie in other blocks",
                  static_cast<long long>(group));
    Checked rows = 0;
    for (int64_t i = 0; i < count; ++i) {
      const Sequence &sequence = sequenceOf(m, sequences[i]);
      rows = rows + (sequence.pending - sequence.committed);
    }
    if (!rows.isValid() || rows.get() != num_slots || (num_slots > 0 && !slots))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "slots: expected room for the %lld reserved rows, got %lld",
                  static_cast<long long>(rows.saturated()),
                  static_cast<long long>(num_slots));
    for (int64_t i = 0; i < count; ++i) {
      const Sequence &sequence = sequenceOf(m, sequences[i]);
      const std::vector<int32_t> &body = sequence.groups[size_t(group)].body;
      for (int64_t token = sequence.committed; token < sequence.pending;
           ++token)
        *slots++ = body[size_t(token / layers.page)] * layers.page +
                   token % layers.page;
    }
    return KVC_OK;
  });
}
