//===- ManagerAPI.cpp - The C API of managers -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Struct.h"
#include "kvc/Manage/Calls.h"

using namespace kvc;
using namespace kvc::manage;

namespace {

kvc_status checkIndex(const char *name, int64_t index, size_t count,
                      kvc_diag *diag) {
  if (index >= 0 && index < int64_t(count))
    return KVC_OK;
  return fail(diag, KVC_INVALID_ARGUMENT, "%s: expected 0 to %zu, got %lld",
              name, count - 1, static_cast<long long>(index));
}

kvc_status checkTokens(const int32_t *tokens, int64_t count, kvc_diag *diag) {
  if (count >= 0 && count <= kMaxTokens && (count == 0 || tokens))
    return KVC_OK;
  return fail(diag, KVC_INVALID_ARGUMENT,
              "tokens: expected a list of 0 to %lld, got %lld%s",
              static_cast<long long>(kMaxTokens), static_cast<long long>(count),
              tokens ? "" : " at null");
}

kvc_status readName(const kvc_namespace *given, kvc_diag *diag,
                    kvc_namespace &name, const kvc_namespace *&read) {
  read = nullptr;
  if (!given)
    return KVC_OK;
  KVC_TRY(readStruct(given, "namespace", diag, name));
  if ((name.salt_size && !name.salt) || (name.adapter_size && !name.adapter) ||
      (name.media_size && !name.media))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "namespace: expected bytes where a size is given, got null");
  read = &name;
  return KVC_OK;
}

} // namespace

extern "C" kvc_status kvc_manager_get_group(const kvc_manager *manager,
                                            int64_t group, kvc_diag *diag,
                                            kvc_group_info *info) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    KVC_TRY(checkIndex("group", group, m.groups.size(), diag));
    const Group &found = m.groups[size_t(group)];
    const kvc_group_info result = {0,
                                   found.pool,
                                   found.hasRaw ? found.rawPool : -1,
                                   found.page,
                                   found.rawPage,
                                   found.sink,
                                   found.recent,
                                   found.keyTokens,
                                   found.valueTokens,
                                   found.window,
                                   found.windowSinks};
    return writeStruct(result, "info", diag, info);
  });
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

kvc_status kvc::manage::freeTraced(kvc_manager &manager, kvc_sequence sequence,
                                   kvc_diag *diag) {
  Record record(manager.tracer, Call::FreeSequence);
  record.add(sequence).expect(0);
  size_t slot = 0;
  const kvc_status status = manager.find(sequence, diag, slot);
  if (status == KVC_OK)
    manager.freeSequence(slot);
  return record.add(status).finish(status);
}

extern "C" kvc_status kvc_manager_create_sequence(kvc_manager *manager,
                                                  kvc_diag *diag,
                                                  kvc_sequence *sequence) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(sequence, "sequence", diag));
    Record record(m.tracer, Call::CreateSequence);
    record.expect(1);
    size_t slot = 0;
    const kvc_status status = m.createSequence(diag, slot);
    record.add(status);
    if (status == KVC_OK)
      record.add(*sequence = m.handleOf(slot));
    return record.finish(status);
  });
}

extern "C" kvc_status kvc_manager_free_sequence(kvc_manager *manager,
                                                kvc_sequence sequence,
                                                kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    return freeTraced(m, sequence, diag);
  });
}

extern "C" kvc_status kvc_manager_fork(kvc_manager *manager,
                                       kvc_sequence parent, int64_t position,
                                       kvc_diag *diag, kvc_sequence *child,
                                       int64_t *nearest) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(child, "child", diag));
    Record record(m.tracer, Call::Fork);
    record.add(parent).add(position).expect(2);
    int64_t below = -1;
    const kvc_status status = m.fork(parent, position, diag, *child, below);
    if (nearest && below >= 0)
      *nearest = below;
    record.add(status).add(status == KVC_OK ? *child : 0).add(below);
    return record.finish(status);
  });
}

extern "C" kvc_status kvc_manager_truncate(kvc_manager *manager,
                                           kvc_sequence sequence,
                                           int64_t length, kvc_diag *diag,
                                           int64_t *nearest) {
  return mutate(manager, diag, [&](kvc_manager &m) {
    Record record(m.tracer, Call::Truncate);
    record.add(sequence).add(length).expect(1);
    int64_t below = -1;
    const kvc_status status = m.truncate(sequence, length, diag, below);
    if (nearest && below >= 0)
      *nearest = below;
    return record.add(status).add(below).finish(status);
  });
}

extern "C" kvc_status kvc_manager_get_sequence(const kvc_manager *manager,
                                               kvc_sequence sequence,
                                               int64_t group, kvc_diag *diag,
                                               kvc_sequence_state *state) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    KVC_TRY(checkIndex("group", group, m.groups.size(), diag));
    const Sequence *found = nullptr;
    KVC_TRY(m.findSound(sequence, diag, found));
    const Held &held = found->groups[size_t(group)];
    const kvc_sequence_state result = {0,
                                       found->committed,
                                       found->pending,
                                       held.ends.key,
                                       held.ends.value,
                                       held.nextEnds.key,
                                       held.nextEnds.value,
                                       held.body.data(),
                                       int64_t(held.body.size()),
                                       held.raw.data(),
                                       int64_t(held.raw.size())};
    return writeStruct(result, "state", diag, state);
  });
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

extern "C" kvc_status kvc_manager_append(kvc_manager *manager,
                                         const kvc_append_rows *rows,
                                         int64_t count, kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) {
    Record record(m.tracer, Call::Append);
    record.addRows(rows, count, m.maxSequences).expect(0);
    const kvc_status status = m.append(rows, count, diag);
    return record.add(status).finish(status);
  });
}

extern "C" kvc_status kvc_manager_can_append(const kvc_manager *manager,
                                             const kvc_append_rows *rows,
                                             int64_t count, kvc_diag *diag) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    Wanted wanted;
    KVC_TRY(m.planAppend(rows, count, diag, wanted));
    return m.checkTwice(rows, count, diag);
  });
}

extern "C" kvc_status kvc_manager_commit(kvc_manager *manager,
                                         kvc_sequence sequence,
                                         int64_t accepted, kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) {
    Record record(m.tracer, Call::Commit);
    record.add(sequence).add(accepted).expect(0);
    const kvc_status status = m.commit(sequence, accepted, diag);
    return record.add(status).finish(status);
  });
}

extern "C" kvc_status kvc_manager_rollback(kvc_manager *manager,
                                           kvc_sequence sequence,
                                           kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) {
    Record record(m.tracer, Call::Rollback);
    record.add(sequence).expect(0);
    const kvc_status status = m.rollback(sequence, diag);
    return record.add(status).finish(status);
  });
}

extern "C" kvc_status kvc_manager_take_copies(kvc_manager *manager,
                                              int64_t capacity, kvc_diag *diag,
                                              kvc_block_copy *taken,
                                              int64_t *count) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(count, "count", diag));
    if (capacity < 0 || (capacity > 0 && !taken))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "copies: expected room for at least 0, got %lld%s",
                  static_cast<long long>(capacity), taken ? "" : " at null");
    const int64_t number = std::min(capacity, int64_t(m.copies.size()));
    Record record(m.tracer, Call::TakeCopies);
    record.add(number).expect(size_t(2 * number));
    record.add(KVC_OK);
    for (int64_t i = 0; i < number; ++i) {
      const PendingCopy &copy = m.copies[size_t(i)];
      record.add(int64_t(copy.source)).add(int64_t(copy.target));
      taken[i] = copy.what;
      m.blocks.dropReference(copy.source, m.steps.lastBegun());
    }
    m.copies.erase(m.copies.begin(), m.copies.begin() + number);
    *count = number;
    return record.finish(KVC_OK);
  });
}

//===----------------------------------------------------------------------===//
// Prefixes and retention
//===----------------------------------------------------------------------===//

extern "C" kvc_status kvc_manager_publish(kvc_manager *manager,
                                          kvc_sequence sequence,
                                          const int32_t *tokens, int64_t count,
                                          const kvc_namespace *name,
                                          kvc_diag *diag, kvc_prefix *prefix) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(prefix, "prefix", diag));
    KVC_TRY(checkTokens(tokens, count, diag));
    kvc_namespace space;
    const kvc_namespace *read = nullptr;
    KVC_TRY(readName(name, diag, space, read));
    Record record(m.tracer, Call::Publish);
    record.add(sequence).addTokens(tokens, count).add(spaceOf(read));
    record.expect(1 + KVC_MAX_LAYER_GROUPS);
    const kvc_status status =
        m.publish(sequence, tokens, count, spaceOf(read), diag, *prefix);
    record.add(status);
    return (status == KVC_OK ? record.add(*prefix) : record).finish(status);
  });
}

extern "C" kvc_status kvc_manager_match(const kvc_manager *manager,
                                        const int32_t *tokens, int64_t count,
                                        const kvc_namespace *name,
                                        int64_t attend_length, kvc_diag *diag,
                                        kvc_prefix *prefix) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(prefix, "prefix", diag));
    KVC_TRY(checkTokens(tokens, count, diag));
    if (attend_length < 0 || attend_length > kMaxTokens)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "attend_length: expected 0 to %lld, got %lld",
                  static_cast<long long>(kMaxTokens),
                  static_cast<long long>(attend_length));
    kvc_namespace space;
    const kvc_namespace *read = nullptr;
    KVC_TRY(readName(name, diag, space, read));
    m.match(tokens, count, spaceOf(read), attend_length, *prefix);
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_adopt(kvc_manager *manager,
                                        kvc_sequence sequence,
                                        const kvc_prefix *prefix,
                                        kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(prefix, "prefix", diag));
    Record record(m.tracer, Call::Adopt);
    record.add(sequence).add(*prefix).expect(0);
    const kvc_status status = m.adopt(sequence, *prefix, diag);
    return record.add(status).finish(status);
  });
}

extern "C" kvc_status kvc_manager_reset(kvc_manager *manager, kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) {
    Record record(m.tracer, Call::Reset);
    record.expect(0);
    m.prefixes.clear();
    return record.add(KVC_OK).finish(KVC_OK);
  });
}

extern "C" kvc_status kvc_manager_pin(kvc_manager *manager,
                                      const kvc_prefix *prefix,
                                      int32_t priority, int64_t ttl,
                                      kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(prefix, "prefix", diag));
    Record record(m.tracer, Call::Pin);
    record.add(*prefix).add(int64_t(priority)).add(ttl).expect(0);
    const kvc_status status = m.pin(*prefix, priority, ttl, diag);
    return record.add(status).finish(status);
  });
}

extern "C" kvc_status kvc_manager_unpin(kvc_manager *manager,
                                        const kvc_prefix *prefix,
                                        kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(prefix, "prefix", diag));
    Record record(m.tracer, Call::Unpin);
    record.add(*prefix).expect(0);
    const kvc_status status = m.unpin(*prefix, diag);
    return record.add(status).finish(status);
  });
}

extern "C" kvc_status kvc_manager_set_time(kvc_manager *manager, int64_t now,
                                           kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    Record record(m.tracer, Call::SetTime);
    record.add(now).expect(0);
    const kvc_status status = m.setTime(now, diag);
    return record.add(status).finish(status);
  });
}

extern "C" kvc_status kvc_manager_evict(kvc_manager *manager, int64_t pool,
                                        int64_t count, kvc_diag *diag,
                                        int64_t *evicted) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(evicted, "evicted", diag));
    KVC_TRY(checkIndex("pool", pool, m.blocks.pools().size(), diag));
    if (count < 0)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "count: expected at least 0, got %lld",
                  static_cast<long long>(count));
    Record record(m.tracer, Call::Evict);
    record.add(pool).add(count).expect(1);
    const Pool &from = m.blocks.pools()[size_t(pool)];
    const int64_t before = from.cached.count;
    while (from.cached.count > std::max<int64_t>(before - count, 0))
      m.evictOne(int32_t(pool), /*isAny=*/true);
    *evicted = before - from.cached.count;
    return record.add(KVC_OK).add(*evicted).finish(KVC_OK);
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

extern "C" kvc_status kvc_manager_begin_step(kvc_manager *manager,
                                             kvc_diag *diag, int64_t *epoch) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(epoch, "epoch", diag));
    Record record(m.tracer, Call::BeginStep);
    record.expect(1);
    const kvc_status status = m.beginStep(diag, *epoch);
    record.add(status);
    return (status == KVC_OK ? record.add(*epoch) : record).finish(status);
  });
}

extern "C" kvc_status kvc_manager_end_step(kvc_manager *manager, int64_t epoch,
                                           kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    Record record(m.tracer, Call::EndStep);
    record.add(epoch).expect(0);
    const kvc_status status = m.endStep(epoch, diag);
    return record.add(status).finish(status);
  });
}

extern "C" kvc_status kvc_manager_retire(kvc_manager *manager, int64_t epoch,
                                         int32_t failed, kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) {
    Record record(m.tracer, Call::Retire);
    record.add(epoch).add(int64_t(failed != 0)).expect(0);
    const kvc_status status = m.retire(epoch, failed != 0, diag);
    return record.add(status).finish(status);
  });
}

//===----------------------------------------------------------------------===//
// Looking in
//===----------------------------------------------------------------------===//

extern "C" kvc_status kvc_manager_get_pool(const kvc_manager *manager,
                                           int64_t pool, kvc_diag *diag,
                                           kvc_pool_stats *stats) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    KVC_TRY(checkIndex("pool", pool, m.blocks.pools().size(), diag));
    const Pool &found = m.blocks.pools()[size_t(pool)];
    kvc_pool_stats result = {};
    result.block_bytes = found.bytes;
    result.total = found.total;
    result.null = 1;
    result.quarantined = found.quarantined;
    result.used = found.used;
    result.pinned = found.pinned;
    result.cached = found.cached.count;
    result.free = found.freeCount();
    for (const PendingCopy &copy : m.copies)
      result.in_flight += copy.what.pool == pool;
    result.evictions = found.evictions;
    return writeStruct(result, "stats", diag, stats);
  });
}

extern "C" kvc_status kvc_manager_get_stats(const kvc_manager *manager,
                                            kvc_diag *diag,
                                            kvc_manager_stats *stats) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    kvc_manager_stats result = {};
    result.pools = int64_t(m.blocks.pools().size());
    for (const Sequence &sequence : m.slots) {
      result.sequences += sequence.isLive;
      for (size_t g = 0; g < sequence.groups.size(); ++g)
        result.waste += m.groups[g].unusedRows(sequence.groups[g].nextEnds);
    }
    result.entries = m.prefixes.count();
    result.hits = m.hits;
    result.hit_tokens = m.hitTokens;
    return writeStruct(result, "stats", diag, stats);
  });
}

extern "C" kvc_status kvc_manager_check(const kvc_manager *manager,
                                        kvc_diag *diag) {
  return probe(manager, diag,
               [&](const kvc_manager &m) { return m.check(diag); });
}

extern "C" kvc_status kvc_manager_digest(const kvc_manager *manager,
                                         kvc_diag *diag, uint8_t digest[32]) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(digest, "digest", diag));
    m.digest(digest);
    return KVC_OK;
  });
}
