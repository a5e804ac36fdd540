//===- Retention.cpp - Pins, eviction, what failed steps leave ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Struct.h"
#include "kvc/Manage/Manager.h"

#include <algorithm>
#include <string_view>

using namespace kvc;
using namespace kvc::manage;

//===----------------------------------------------------------------------===//
// Pins
//===----------------------------------------------------------------------===//

kvc_status kvc_manager::pin(const kvc_prefix &prefix, int32_t priority,
                            int64_t ttl, kvc_diag *diag) {
  if (priority < 0 || priority > 100 || ttl < 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "pin: expected a priority of 0 to 100 and a ttl of at least 0, "
                "got %d and %lld",
                priority, static_cast<long long>(ttl));
  std::array<BlockId, KVC_MAX_LAYER_GROUPS> entries{};
  KVC_TRY(resolve(prefix, diag, entries));
  prefixes.reservePins(groups.size());
  const int64_t end = ttl ? (Checked(now) + ttl).saturated() : INT64_MAX;
  for (size_t g = 0; g < groups.size(); ++g) {
    prefixes.pin(entries[g]);
    int64_t &pinEnd = prefixes.pinEnds[entries[g]];
    pinEnd = std::max(pinEnd, end);
    for (BlockId entry = entries[g]; entry; entry = prefixes.parents[entry])
      prefixes.priorities[entry] = priority;
  }
  return KVC_OK;
}

kvc_status kvc_manager::unpin(const kvc_prefix &prefix, kvc_diag *diag) {
  std::array<BlockId, KVC_MAX_LAYER_GROUPS> entries{};
  KVC_TRY(resolve(prefix, diag, entries));
  for (size_t g = 0; g < groups.size(); ++g)
    if (prefixes.pins[entries[g]] == 0)
      return fail(diag, KVC_STALE,
                  "prefix: expected a pinned one, got one without pins in "
                  "group %zu",
                  g);
  for (size_t g = 0; g < groups.size(); ++g)
    prefixes.unpin(entries[g]);
  return KVC_OK;
}

kvc_status kvc_manager::setTime(int64_t time, kvc_diag *diag) {
  if (time < now)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "now: expected at least %lld, got %lld",
                static_cast<long long>(now), static_cast<long long>(time));
  now = time;
  for (size_t i = prefixes.pinned().size(); i-- > 0;) {
    const BlockId leaf = prefixes.pinned()[i];
    if (prefixes.pinEnds[leaf] == INT64_MAX || prefixes.pinEnds[leaf] > now)
      continue;
    prefixes.pins[leaf] = 1;
    prefixes.unpin(leaf);
  }
  return KVC_OK;
}

//===----------------------------------------------------------------------===//
// Policies
//===----------------------------------------------------------------------===//

static double scoreLru(void *, const kvc_block_use *use) {
  return double(use->last_use);
}
static double scoreLfu(void *, const kvc_block_use *use) {
  return double(use->uses);
}
static double scorePriority(void *, const kvc_block_use *use) {
  return double(use->priority);
}
/// Attention over what lies before them makes later tokens dearer.
static double scoreCost(void *, const kvc_block_use *use) {
  return double(use->token_end) / double(use->bytes);
}

namespace {

struct NamedPolicy {
  const char *name;
  double (*score)(void *, const kvc_block_use *);
};
constexpr NamedPolicy kPolicies[] = {{"lru", scoreLru},
                                     {"lfu", scoreLfu},
                                     {"priority", scorePriority},
                                     {"cost", scoreCost}};

} // namespace

const char *kvc::manage::nameOfPolicy(const kvc_policy &policy) {
  if (!policy.score)
    return kPolicies[0].name;
  for (const NamedPolicy &known : kPolicies)
    if (known.score == policy.score)
      return known.name;
  return nullptr;
}

extern "C" kvc_status kvc_policy_get(const char *name, kvc_diag *diag,
                                     kvc_policy *policy) {
  KVC_TRY(requirePointer(name, "name", diag));
  for (const NamedPolicy &known : kPolicies)
    if (std::string_view(known.name) == name)
      return writeStruct({0, known.score, nullptr}, "policy", diag, policy);
  return fail(diag, KVC_INVALID_ARGUMENT,
              "name: expected \"lru\", \"lfu\", \"priority\" or \"cost\", got "
              "\"%s\"",
              name);
}

/// The last of the chain of cached blocks of one pool that begins with `block`:
/// what goes behind a window comes into the list in the order of its tokens.
BlockId kvc_manager::lastCached(BlockId block, bool isAny) const {
  const int32_t pool = blocks.poolOf(block);
  for (BlockId last = block;; block = last) {
    for (BlockId child = prefixes.children[block]; child;
         child = prefixes.siblings[child])
      if (blocks.poolOf(child) == pool &&
          blocks.state(child) == BlockState::Cached &&
          (isAny || steps.hasPassed(blocks.fence[child])))
        last = child;
    if (last == block)
      return block;
  }
}

void kvc_manager::evictOne(int32_t number, bool isAny) {
  Pool &pool = blocks.pool(number);
  const bool isLru = !policy.score || policy.score == scoreLru;
  // Entries come into the list after those that follow them, so the least
  // recently used one nearly always ends its chain.
  constexpr int64_t kFarthest = 64;
  BlockId victim = 0, fallback = 0;
  double least = 0;
  int64_t seen = 0;
  for (BlockId block = pool.cached.first; block; block = blocks.next[block]) {
    if (!isAny && !steps.hasPassed(blocks.fence[block]))
      continue;
    if (!fallback)
      fallback = block;
    if (isLru && ++seen > kFarthest)
      break;
    if (prefixes.children[block])
      continue;
    if (isLru) {
      victim = block;
      break;
    }
    const kvc_block_use use = {sizeof(use),          prefixes.lastUses[block],
                               prefixes.uses[block], prefixes.priorities[block],
                               prefixes.ends[block], pool.bytes};
    const double score = policy.score(policy.user, &use);
    if (!victim || score < least) {
      victim = block;
      least = score;
    }
  }
  const int64_t before = prefixes.count();
  prefixes.remove(victim ? victim : lastCached(fallback, isAny));
  pool.evictions += before - prefixes.count();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

kvc_status kvc_manager::beginStep(kvc_diag *diag, int64_t &step) {
  if (steps.open())
    return fail(diag, KVC_INVALID_ARGUMENT,
                "step: expected none open, got step %lld",
                static_cast<long long>(steps.open()));
  if (steps.isFull())
    return fail(diag, KVC_WAIT,
                "step: expected fewer than %d in flight, got all of them",
                KVC_MAX_STEPS);
  step = steps.begin();
  return KVC_OK;
}

kvc_status kvc_manager::endStep(int64_t step, kvc_diag *diag) {
  if (step < 1 || step != steps.open())
    return fail(diag, KVC_INVALID_ARGUMENT,
                "epoch: expected the open step, %lld, got %lld",
                static_cast<long long>(steps.open()),
                static_cast<long long>(step));
  steps.end(step);
  return KVC_OK;
}

kvc_status kvc_manager::retire(int64_t step, bool hasFailed, kvc_diag *diag) {
  if (steps.state(step) != Steps::State::Ended)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "epoch: expected a step that has ended and not retired, got "
                "%lld",
                static_cast<long long>(step));
  if (hasFailed) {
    for (Sequence &sequence : slots)
      if (sequence.isLive && sequence.lastStep >= step)
        sequence.hasFailed = true;
    for (const Pool &pool : blocks.pools())
      for (int64_t i = 1; i < pool.fresh; ++i) {
        const auto block = BlockId(pool.base + i);
        if (blocks.isEntry(block) && blocks.written[block] >= step)
          prefixes.remove(block);
      }
  }
  const int64_t before = steps.retiredThrough();
  steps.retire(step);
  if (steps.retiredThrough() > before)
    blocks.release(before + 1, steps.retiredThrough());
  return KVC_OK;
}
