//===- ManagerAPI.cpp - The C API of managers -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Struct.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Manage/Manager.h"
#include "kvc/Spec/Segments.h"

using namespace kvc;
using namespace kvc::manage;

namespace {

/// Runs a call that changes the manager.
template <typename Body>
kvc_status mutate(kvc_manager *manager, kvc_diag *diag, Body &&body) noexcept {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(manager, "manager", diag));
    std::unique_lock lock(manager->mutex, std::defer_lock);
    if (manager->isLocked)
      lock.lock();
    return body(*manager);
  });
}

/// Runs a call that does not.
template <typename Body>
kvc_status probe(const kvc_manager *manager, kvc_diag *diag,
                 Body &&body) noexcept {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(manager, "manager", diag));
    std::shared_lock lock(manager->mutex, std::defer_lock);
    if (manager->isLocked)
      lock.lock();
    return body(*manager);
  });
}

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

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

constexpr int64_t kDefaultSequences = 65536;

kvc_status checkOptions(const kvc_manager_options &options, kvc_diag *diag) {
  if (options.num_groups < 1 || options.num_groups > KVC_MAX_LAYER_GROUPS ||
      !options.groups)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.groups: expected 1 to %d groups, got %lld%s",
                KVC_MAX_LAYER_GROUPS,
                static_cast<long long>(options.num_groups),
                options.groups ? "" : " at null");
  const uint32_t known = KVC_MANAGER_LOCK | KVC_MANAGER_FREE_WINDOW;
  if (options.flags & ~known)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.flags: expected KVC_MANAGER_LOCK, "
                "KVC_MANAGER_FREE_WINDOW or 0, got 0x%x",
                options.flags);
  struct Bounded {
    const char *name;
    int64_t value;
  };
  for (const Bounded &given : {Bounded{"max_sequences", options.max_sequences},
                               Bounded{"max_tokens", options.max_tokens},
                               Bounded{"max_queries", options.max_queries}})
    if (given.value < 0 || given.value > kMaxTokens)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.%s: expected 0 to %lld, got %lld", given.name,
                  static_cast<long long>(kMaxTokens),
                  static_cast<long long>(given.value));
  for (int64_t g = 0; g < options.num_groups; ++g) {
    const kvc_layer_group &group = options.groups[g];
    if (!group.spec || group.layers < 1 || group.blocks < 1 ||
        group.raw_blocks < 0)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.groups[%lld]: expected a spec, at least one layer "
                  "and one block, got %s, %lld, %lld and %lld raw blocks",
                  static_cast<long long>(g), group.spec ? "one" : "null",
                  static_cast<long long>(group.layers),
                  static_cast<long long>(group.blocks),
                  static_cast<long long>(group.raw_blocks));
    if (const char *reason = spec::unsupportedReason(group.spec->spec))
      return fail(diag, KVC_UNSUPPORTED, "options.groups[%lld].spec: %s",
                  static_cast<long long>(g), reason);
    if (group.spec->spec.layout.kind != spec::LayoutKind::Paged)
      return fail(diag, KVC_UNSUPPORTED,
                  "options.groups[%lld].spec: expected layout.kind \"paged\", "
                  "got another",
                  static_cast<long long>(g));
  }
  return KVC_OK;
}

/// Pools as they come together from the groups' wishes.
struct PoolSizes {
  std::vector<int64_t> bytes, tokens;
  std::vector<Checked> blocks;

  int32_t add(int64_t size, int64_t page, int64_t count) {
    size_t pool = 0;
    while (pool < bytes.size() && bytes[pool] != size)
      ++pool;
    if (pool == bytes.size()) {
      bytes.push_back(size);
      tokens.push_back(0);
      blocks.push_back(1);
    }
    tokens[pool] = std::max(tokens[pool], page);
    blocks[pool] = blocks[pool] + count;
    return int32_t(pool);
  }
};

kvc_status makePools(const kvc_manager_options &options, kvc_diag *diag,
                     kvc_manager &manager) {
  PoolSizes sizes;
  for (size_t g = 0; g < manager.groups.size(); ++g) {
    Group &group = manager.groups[g];
    const kvc_layer_group &given = options.groups[g];
    auto add = [&](const spec::Spec &spec, int64_t page, int64_t count,
                   int32_t &pool) -> kvc_status {
      const Checked bytes =
          Checked(layout::pageBytes(spec, layout::TargetFamily::Host)) *
          group.layers;
      if (!bytes.isValid())
        return fail(diag, KVC_INVALID_ARGUMENT,
                    "options.groups[%zu].layers: expected blocks of fewer than "
                    "2^63 bytes, got %lld layers",
                    g, static_cast<long long>(group.layers));
      pool = sizes.add(bytes.get(), page, count);
      return KVC_OK;
    };
    KVC_TRY(add(group.spec->spec, group.page, given.blocks, group.pool));
    if (group.hasRaw)
      KVC_TRY(add(spec::rawRows(group.spec->spec), group.rawPage,
                  given.raw_blocks
                      ? given.raw_blocks
                      : group.rawBlocksFor(
                            manager.maxSequences,
                            (Checked(given.blocks) * group.page).saturated()),
                  group.rawPool));
  }
  Checked all = 0, ids = 0;
  for (size_t i = 0; i < sizes.bytes.size(); ++i) {
    all = all + sizes.blocks[i];
    ids = ids + sizes.blocks[i] * sizes.tokens[i];
  }
  if (!all.isValid() || !ids.isValid() || all.get() > kMaxTokens)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.groups: expected at most %lld blocks together, got "
                "%lld",
                static_cast<long long>(kMaxTokens),
                static_cast<long long>(all.saturated()));
  for (size_t i = 0; i < sizes.bytes.size(); ++i)
    manager.blocks.addPool(sizes.blocks[i].get(), sizes.bytes[i]);
  manager.blocks.allocate();
  manager.prefixes.allocate(sizes.tokens, options.hash, options.hash_user,
                            {options.listener, options.listener_user});
  return KVC_OK;
}

} // namespace

extern "C" kvc_status kvc_manager_create(const kvc_manager_options *options,
                                         kvc_diag *diag,
                                         kvc_manager **manager) {
  return guarded(diag, [&]() -> kvc_status {
    kvc_manager_options given;
    KVC_TRY(readStruct(options, "options", diag, given));
    KVC_TRY(requirePointer(manager, "manager", diag));
    KVC_TRY(checkOptions(given, diag));
    auto made = std::make_unique<kvc_manager>();
    made->isLocked = (given.flags & KVC_MANAGER_LOCK) != 0;
    made->maxSequences =
        given.max_sequences ? given.max_sequences : kDefaultSequences;
    made->maxTokens = given.max_tokens;
    made->policy = given.policy;
    for (int64_t g = 0; g < given.num_groups; ++g)
      made->groups.emplace_back(given.groups[g], given);
    KVC_TRY(makePools(given, diag, *made));
    *manager = made.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_free(kvc_manager *manager) {
  delete manager;
  return KVC_OK;
}

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

extern "C" kvc_status kvc_manager_create_sequence(kvc_manager *manager,
                                                  kvc_diag *diag,
                                                  kvc_sequence *sequence) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(sequence, "sequence", diag));
    size_t slot = 0;
    KVC_TRY(m.createSequence(diag, slot));
    *sequence = m.handleOf(slot);
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_free_sequence(kvc_manager *manager,
                                                kvc_sequence sequence,
                                                kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    size_t slot = 0;
    KVC_TRY(m.find(sequence, diag, slot));
    m.freeSequence(slot);
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_fork(kvc_manager *manager,
                                       kvc_sequence parent, int64_t position,
                                       kvc_diag *diag, kvc_sequence *child,
                                       int64_t *nearest) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(child, "child", diag));
    return m.fork(parent, position, diag, *child, nearest);
  });
}

extern "C" kvc_status kvc_manager_truncate(kvc_manager *manager,
                                           kvc_sequence sequence,
                                           int64_t length, kvc_diag *diag,
                                           int64_t *nearest) {
  return mutate(manager, diag, [&](kvc_manager &m) {
    return m.truncate(sequence, length, diag, nearest);
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
  return mutate(manager, diag,
                [&](kvc_manager &m) { return m.append(rows, count, diag); });
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
    return m.commit(sequence, accepted, diag);
  });
}

extern "C" kvc_status kvc_manager_rollback(kvc_manager *manager,
                                           kvc_sequence sequence,
                                           kvc_diag *diag) {
  return mutate(manager, diag,
                [&](kvc_manager &m) { return m.rollback(sequence, diag); });
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
    for (int64_t i = 0; i < number; ++i) {
      const PendingCopy &copy = m.copies[size_t(i)];
      taken[i] = copy.what;
      m.blocks.dropReference(copy.source, m.steps.lastBegun());
    }
    m.copies.erase(m.copies.begin(), m.copies.begin() + number);
    *count = number;
    return KVC_OK;
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
    return m.publish(sequence, tokens, count, read, diag, *prefix);
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
    m.match(tokens, count, read, attend_length, *prefix);
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_adopt(kvc_manager *manager,
                                        kvc_sequence sequence,
                                        const kvc_prefix *prefix,
                                        kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(prefix, "prefix", diag));
    return m.adopt(sequence, *prefix, diag);
  });
}

extern "C" kvc_status kvc_manager_reset(kvc_manager *manager, kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) {
    m.prefixes.clear();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_pin(kvc_manager *manager,
                                      const kvc_prefix *prefix,
                                      int32_t priority, int64_t ttl,
                                      kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(prefix, "prefix", diag));
    return m.pin(*prefix, priority, ttl, diag);
  });
}

extern "C" kvc_status kvc_manager_unpin(kvc_manager *manager,
                                        const kvc_prefix *prefix,
                                        kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(prefix, "prefix", diag));
    return m.unpin(*prefix, diag);
  });
}

extern "C" kvc_status kvc_manager_set_time(kvc_manager *manager, int64_t now,
                                           kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    if (now < m.now)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "now: expected at least %lld, got %lld",
                  static_cast<long long>(m.now), static_cast<long long>(now));
    m.setTime(now);
    return KVC_OK;
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
    const Pool &from = m.blocks.pools()[size_t(pool)];
    const int64_t before = from.cached.count;
    while (from.cached.count > std::max<int64_t>(before - count, 0))
      m.evictOne(int32_t(pool), /*isAny=*/true);
    *evicted = before - from.cached.count;
    return KVC_OK;
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

extern "C" kvc_status kvc_manager_begin_step(kvc_manager *manager,
                                             kvc_diag *diag, int64_t *epoch) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(epoch, "epoch", diag));
    if (m.steps.open())
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "step: expected none open, got step %lld",
                  static_cast<long long>(m.steps.open()));
    if (m.steps.isFull())
      return fail(diag, KVC_WAIT,
                  "step: expected fewer than %d in flight, got all of them",
                  KVC_MAX_STEPS);
    *epoch = m.steps.begin();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_end_step(kvc_manager *manager, int64_t epoch,
                                           kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    if (epoch < 1 || epoch != m.steps.open())
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "epoch: expected the open step, %lld, got %lld",
                  static_cast<long long>(m.steps.open()),
                  static_cast<long long>(epoch));
    m.steps.end(epoch);
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_retire(kvc_manager *manager, int64_t epoch,
                                         int32_t failed, kvc_diag *diag) {
  return mutate(manager, diag, [&](kvc_manager &m) {
    return m.retire(epoch, failed != 0, diag);
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
