//===- Check.cpp - Invariants ---------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Everything is counted again from the tables and compared with what the
// manager keeps. The numbers are those of the cache's contract: I1 states and
// counts, I2 references, I3 nothing shared is written, I4 entries and blocks,
// I8 nothing is lost, I11 sums; "table" is what a sequence must hold.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Manager.h"

using namespace kvc;
using namespace kvc::manage;

namespace {

class Checker {
public:
  Checker(const kvc_manager &manager, kvc_diag *diag)
      : manager(manager), blocks(manager.blocks), prefixes(manager.prefixes),
        diag(diag), holders(size_t(blocks.total()), 0),
        keeps(size_t(blocks.total()), 0) {}

  kvc_status run();

private:
  kvc_status sequenceTables(size_t slot);
  kvc_status rawTable(size_t slot, const Group &group, const Held &held);
  kvc_status checkList(const Pool &pool, const BlockList &list,
                       BlockState state, int64_t fence);
  kvc_status checkPool(const Pool &pool);
  kvc_status checkBlock(BlockId number);
  kvc_status checkEntry(BlockId number);
  kvc_status writes(const Sequence &sequence);
  kvc_status no(const char *rule, const char *what, int64_t place,
                int64_t expected, int64_t got) const {
    return fail(diag, KVC_INVALID_DATA, "%s: %s %lld, expected %lld, got %lld",
                rule, what, static_cast<long long>(place),
                static_cast<long long>(expected), static_cast<long long>(got));
  }

  const kvc_manager &manager;
  const Blocks &blocks;
  const Prefixes &prefixes;
  kvc_diag *diag;
  std::vector<uint32_t> holders, keeps;
  int64_t entries = 0;
};

#define EXPECT(rule, what, place, expected, got)                               \
  do {                                                                         \
    const auto expectWants = int64_t(expected), expectHas = int64_t(got);      \
    if (expectWants != expectHas)                                              \
      return no(rule, what, int64_t(place), expectWants, expectHas);           \
  } while (false)

kvc_status Checker::rawTable(size_t slot, const Group &group,
                             const Held &held) {
  const Sequence &sequence = manager.slots[slot];
  const Span before =
      kvc_manager::rawSpan(group, held.ends, sequence.committed);
  const Span after =
      kvc_manager::rawSpan(group, held.nextEnds, sequence.pending);
  const int64_t sinkEnd = group.sinkPages(sequence.pending);
  EXPECT("table", "raw pages of slot", slot,
         std::max({before.end, after.end, sinkEnd}), held.raw.size());
  for (int64_t i = 0; i < int64_t(held.raw.size()); ++i) {
    const bool isHeld = i < sinkEnd || before.contains(i) || after.contains(i);
    EXPECT("table", "raw page", i, isHeld, held.raw[size_t(i)] != 0);
    if (isHeld)
      ++holders[size_t(manager.idOf(group.rawPool, held.raw[size_t(i)]))];
  }
  return KVC_OK;
}

kvc_status Checker::sequenceTables(size_t slot) {
  const Sequence &sequence = manager.slots[slot];
  if (sequence.committed < 0 || sequence.pending > kMaxTokens ||
      sequence.pending < sequence.committed ||
      (!sequence.isOpen && sequence.pending != sequence.committed))
    return no("I11", "pending tokens of slot", int64_t(slot),
              sequence.committed, sequence.pending);
  EXPECT("table", "groups of slot", slot, manager.groups.size(),
         sequence.groups.size());
  for (size_t g = 0; g < manager.groups.size(); ++g) {
    const Group &group = manager.groups[g];
    const Held &held = sequence.groups[g];
    for (const Ends &ends : {held.ends, held.nextEnds}) {
      EXPECT("table", "cut block of keys, slot", slot, 0,
             (ends.key - group.sink) % group.keyTokens);
      EXPECT("table", "cut block of values, slot", slot, 0,
             (ends.value - group.sink) % group.valueTokens);
      if (ends.least() < group.sink ||
          ends.most() > std::max(group.sink, sequence.pending))
        return no("table", "coded end of slot", int64_t(slot), sequence.pending,
                  ends.most());
    }
    if (!group.hasRaw)
      EXPECT("table", "coded end of slot", slot, sequence.committed,
             held.ends.least());
    EXPECT("table", "body blocks of slot", slot,
           group.bodyBlocks(held.nextEnds), held.body.size());
    const Span freed = group.freedBlocks(held.ends, sequence.committed);
    for (int64_t i = 0; i < int64_t(held.body.size()); ++i) {
      const int32_t number = held.body[size_t(i)];
      if (number)
        ++holders[size_t(manager.idOf(group.pool, number))];
      if (i >= held.freed)
        EXPECT("table", "body block", i, 1, number != 0);
      else if (freed.contains(i))
        EXPECT("table", "body block behind the window", i, 0, number);
    }
    if (group.hasRaw)
      KVC_TRY(rawTable(slot, group, held));
  }
  return KVC_OK;
}

kvc_status Checker::checkList(const Pool &pool, const BlockList &list,
                              BlockState state, int64_t fence) {
  int64_t count = 0;
  BlockId before = 0;
  for (BlockId block = list.count ? list.first : 0; block;
       block = blocks.next[block]) {
    if (++count > list.count)
      break;
    EXPECT("I1", "state of listed block", block, state, blocks.state(block));
    EXPECT("I1", "block before block", block, before, blocks.previous[block]);
    EXPECT("I1", "pool of block", block, pool.base,
           blocks.pools()[size_t(blocks.poolOf(block))].base);
    if (fence)
      EXPECT("I1", "fence of block", block, fence, blocks.fence[block]);
    before = block;
  }
  EXPECT("I1", "length of a list of the pool at", pool.base, list.count, count);
  if (count)
    EXPECT("I1", "last block of a list of the pool at", pool.base, list.last,
           before);
  return KVC_OK;
}

kvc_status Checker::checkPool(const Pool &pool) {
  std::array<int64_t, 6> counts{};
  std::array<int64_t, KVC_MAX_STEPS> waiting{};
  for (int64_t i = 0; i < pool.total; ++i) {
    const auto block = BlockId(pool.base + i);
    const BlockState state = blocks.state(block);
    ++counts[size_t(state)];
    if (state == BlockState::Cached &&
        !manager.steps.hasPassed(blocks.fence[block]))
      ++waiting[Steps::slot(blocks.fence[block])];
    if (i >= pool.fresh)
      EXPECT("I1", "state of fresh block", block, BlockState::Free, state);
  }
  auto has = [&](BlockState state) { return counts[size_t(state)]; };
  EXPECT("I1", "null blocks of the pool at", pool.base, 1,
         has(BlockState::Null));
  EXPECT("I1", "free blocks of the pool at", pool.base, has(BlockState::Free),
         pool.freeCount());
  EXPECT("I1", "used blocks of the pool at", pool.base, has(BlockState::Used),
         pool.used);
  EXPECT("I1", "pinned blocks of the pool at", pool.base,
         has(BlockState::Pinned), pool.pinned);
  EXPECT("I1", "cached blocks of the pool at", pool.base,
         has(BlockState::Cached), pool.cached.count);
  EXPECT("I1", "quarantined blocks of the pool at", pool.base,
         has(BlockState::Quarantined), pool.quarantined);
  KVC_TRY(checkList(pool, pool.free, BlockState::Free, 0));
  KVC_TRY(checkList(pool, pool.cached, BlockState::Cached, 0));
  int64_t quarantined = 0;
  const Steps &steps = manager.steps;
  for (int64_t step = steps.retiredThrough() + 1; step <= steps.lastBegun();
       ++step) {
    const size_t slot = Steps::slot(step);
    KVC_TRY(
        checkList(pool, pool.quarantine[slot], BlockState::Quarantined, step));
    quarantined += pool.quarantine[slot].count;
    EXPECT("I1", "cached blocks that wait for step", step, waiting[slot],
           pool.cachedWaiting[slot]);
  }
  EXPECT("I1", "quarantined blocks in lists of the pool at", pool.base,
         pool.quarantined, quarantined);
  if (steps.retiredThrough() == steps.lastBegun())
    EXPECT("I8", "quarantined blocks of the pool at", pool.base, 0,
           pool.quarantined);
  return KVC_OK;
}

kvc_status Checker::checkEntry(BlockId number) {
  ++entries;
  const int32_t g = prefixes.groups[number];
  const BlockId parent = prefixes.parents[number];
  const EntryName name = {g,
                          prefixes.spaces[number],
                          parent,
                          {prefixes.begins[number], prefixes.ends[number]},
                          prefixes.idsOf(number),
                          prefixes.keys[number]};
  EXPECT("I4", "entry that is found under the name of block", number, number,
         prefixes.find(blocks.poolOf(number), name));
  EXPECT("I4", "first token of entry", number,
         parent ? prefixes.ends[parent] : 0, prefixes.begins[number]);
  if (!parent)
    return KVC_OK;
  EXPECT("I4", "entry before block", number, 1, blocks.isEntry(parent));
  EXPECT("I4", "group before block", number, g, prefixes.groups[parent]);
  BlockId child = prefixes.children[parent];
  while (child && child != number)
    child = prefixes.siblings[child];
  EXPECT("I4", "child that is block", number, number, child);
  return KVC_OK;
}

kvc_status Checker::checkBlock(BlockId number) {
  const BlockState state = blocks.state(number);
  const size_t at = size_t(number);
  EXPECT("I2", "references of block", number, holders[at],
         blocks.references[number]);
  EXPECT("I4", "pins that need block", number, keeps[at], blocks.keeps[number]);
  const bool isEntry = blocks.isEntry(number);
  EXPECT("I1", "used block", number, holders[at] > 0,
         state == BlockState::Used);
  EXPECT("I1", "kept block", number,
         isEntry && holders[at] == 0 && keeps[at] > 0,
         state == BlockState::Pinned);
  EXPECT("I1", "cached block", number,
         isEntry && holders[at] == 0 && keeps[at] == 0,
         state == BlockState::Cached);
  return isEntry ? checkEntry(number) : KVC_OK;
}

kvc_status Checker::writes(const Sequence &sequence) {
  auto check = [&](int32_t pool, int32_t number) -> kvc_status {
    const BlockId block = manager.idOf(pool, number);
    EXPECT("I3", "shared or published block that is written,", block, 1,
           blocks.isWritable(block));
    return KVC_OK;
  };
  for (size_t g = 0; g < manager.groups.size(); ++g) {
    const Group &group = manager.groups[g];
    const Held &held = sequence.groups[g];
    for (int64_t i = 0; i < int64_t(held.body.size()); ++i) {
      const Span tokens = group.tokensOf(i);
      auto overlaps = [&](int64_t begin, int64_t end) {
        return std::max(begin, tokens.begin) < std::min(end, tokens.end);
      };
      if (overlaps(held.ends.key, held.nextEnds.key) ||
          overlaps(held.ends.value, held.nextEnds.value))
        KVC_TRY(check(group.pool, held.body[size_t(i)]));
    }
    for (int64_t i = 0; i < int64_t(held.raw.size()); ++i) {
      const Span tokens = group.rawTokensOf(i);
      const int64_t first =
          tokens.begin < group.sink
              ? sequence.committed
              : std::max(sequence.committed, held.nextEnds.least());
      if (std::max(first, tokens.begin) <
          std::min(sequence.pending, tokens.end))
        KVC_TRY(check(group.rawPool, held.raw[size_t(i)]));
    }
  }
  return KVC_OK;
}

kvc_status Checker::run() {
  int64_t living = 0;
  for (size_t slot = 0; slot < manager.slots.size(); ++slot)
    if (manager.slots[slot].isLive) {
      ++living;
      KVC_TRY(sequenceTables(slot));
    }
  if (living > manager.maxSequences)
    return no("I11", "sequences", 0, manager.maxSequences, living);
  for (const PendingCopy &copy : manager.copies)
    ++holders[size_t(copy.source)];
  for (BlockId leaf : prefixes.pinned())
    for (BlockId block = leaf; block; block = prefixes.parents[block])
      ++keeps[size_t(block)];
  for (const Pool &pool : blocks.pools()) {
    KVC_TRY(checkPool(pool));
    for (int64_t i = 1; i < pool.total; ++i)
      KVC_TRY(checkBlock(BlockId(pool.base + i)));
    EXPECT("I2", "references of the null block of the pool at", pool.base, 0,
           holders[size_t(pool.base)]);
  }
  EXPECT("I4", "entries", 0, entries, prefixes.count());
  for (const Sequence &sequence : manager.slots)
    if (sequence.isLive && sequence.isOpen)
      KVC_TRY(writes(sequence));
  return KVC_OK;
}

} // namespace

kvc_status kvc_manager::check(kvc_diag *diag) const {
  return Checker(*this, diag).run();
}
