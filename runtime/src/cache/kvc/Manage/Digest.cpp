//===- Digest.cpp - Whether anything changed ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Manager.h"

#include <cstring>

using namespace kvc;
using namespace kvc::manage;

namespace {

/// Four numbers, each a chain of multiplications: it compares
/// states of one process and keeps no secret.
class Digest {
public:
  void add(int64_t number) {
    for (size_t i = 0; i < sums.size(); ++i) {
      uint64_t &sum = sums[i];
      sum = (sum ^ uint64_t(number)) * (0x9E3779B97F4A7C15u + 2 * i);
      sum ^= sum >> 29;
    }
  }
  void add(const std::vector<int32_t> &table) {
    add(int64_t(table.size()));
    for (int32_t number : table)
      add(number);
  }
  void add(const Ends &ends) {
    add(ends.key);
    add(ends.value);
  }
  void add(const Sequence &sequence) {
    add(sequence.generation);
    add(sequence.isLive | sequence.isOpen << 1 | sequence.hasFailed << 2);
    for (int64_t number : {sequence.committed, sequence.pending,
                           sequence.newTokens, sequence.lastStep})
      add(number);
    for (const Held &held : sequence.groups) {
      add(held.ends);
      add(held.nextEnds);
      add(held.body);
      add(held.raw);
      add(held.freed);
      add(held.firstRaw);
    }
  }
  void add(const Blocks &blocks, const BlockList &list) {
    add(list.count);
    for (BlockId block = list.count ? list.first : 0; block;
         block = blocks.next[block])
      add(block);
  }
  void add(const Prefixes &prefixes, BlockId block) {
    for (int64_t number :
         {int64_t(prefixes.generations[block]),
          int64_t(prefixes.parents[block]), int64_t(prefixes.groups[block]),
          int64_t(prefixes.spaces[block]), int64_t(prefixes.uses[block]),
          int64_t(prefixes.priorities[block]), int64_t(prefixes.pins[block]),
          prefixes.lastUses[block], prefixes.pinEnds[block]})
      add(number);
    add(prefixes.begins[block]);
    add(prefixes.ends[block]);
    for (uint8_t byte : prefixes.keys[block])
      add(byte);
  }
  void add(const PendingCopy &copy) {
    add(copy.source);
    add(copy.target);
    const kvc_block_copy &what = copy.what;
    for (int64_t number :
         {int64_t(what.group), int64_t(what.raw), what.key_begin, what.key_end,
          what.value_begin, what.value_end})
      add(number);
  }
  void addSpaces(const Prefixes &prefixes) {
    for (const auto &[name, number] : prefixes.spacesByName()) {
      add(number);
      add(int64_t(name.size()));
      for (char byte : name)
        add(byte);
    }
    add(prefixes.unusedSpaces());
  }
  void finish(uint8_t *result) {
    std::memcpy(result, sums.data(), sizeof(sums));
  }

private:
  std::array<uint64_t, 4> sums{1, 2, 3, 4};
};

} // namespace

void kvc_manager::digest(uint8_t *result) const {
  Digest digest;
  for (const Sequence &sequence : slots)
    digest.add(sequence);
  digest.add(std::vector<int32_t>(freeSlots.begin(), freeSlots.end()));
  for (const Pool &pool : blocks.pools()) {
    digest.add(pool.fresh);
    digest.add(blocks, pool.free);
    digest.add(blocks, pool.cached);
    for (size_t slot = 0; slot < pool.quarantine.size(); ++slot)
      if (pool.quarantine[slot].count) {
        digest.add(int64_t(slot));
        digest.add(blocks, pool.quarantine[slot]);
      }
    for (int64_t i = 1; i < pool.fresh; ++i) {
      const auto block = BlockId(pool.base + i);
      digest.add(blocks.references[block]);
      digest.add(blocks.fence[block]);
      digest.add(blocks.written[block]);
      digest.add(int64_t(blocks.state(block)));
      // The next entry's handle is told apart by the last one's generation.
      if (blocks.isEntry(block))
        digest.add(prefixes, block);
      else
        digest.add(prefixes.generations[block]);
    }
    digest.add(pool.evictions);
  }
  digest.addSpaces(prefixes);
  digest.add(prefixes.pinned());
  for (const PendingCopy &copy : copies)
    digest.add(copy);
  for (int64_t step = steps.retiredThrough() + 1; step <= steps.lastBegun();
       ++step)
    digest.add(int64_t(steps.state(step)));
  for (int64_t number :
       {steps.open(), steps.lastBegun(), now, uses, hits, hitTokens})
    digest.add(number);
  digest.finish(result);
}
