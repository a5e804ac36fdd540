//===- Blocks.h - Who holds the blocks of every pool ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Blocks of all pools are numbered through, pool after pool; what is known of
// them lies in arrays. A pool's first block is its null block. Free,
// quarantined and cached blocks are in lists that run through the same two
// arrays, since a block is in one of them at most. Nothing here allocates.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_BLOCKS_H
#define KVC_MANAGE_BLOCKS_H

#include "kvc/Manage/Steps.h"
#include "kvc/Manage/ZeroedArray.h"

#include <vector>

namespace kvc::manage {

/// The number of a block among those of all pools; 0: none (it is a null
/// block).
using BlockId = int32_t;

enum class BlockState : uint8_t {
  Free, ///< Never taken ones too.
  Quarantined,
  Used,   ///< Has references.
  Pinned, ///< An entry without references that is kept.
  Cached, ///< An entry without references.
  Null
};

/// A list through Blocks::previous and Blocks::next.
struct BlockList {
  BlockId first = 0, last = 0;
  int64_t count = 0;
};

struct Pool {
  BlockId base = 0;
  int64_t total = 0, bytes = 0;
  int64_t fresh = 1; ///< First block, by its number in the pool, never taken.
  int64_t used = 0, pinned = 0, quarantined = 0;
  int64_t evictions = 0;
  BlockList free;   ///< Given back; the last is taken first.
  BlockList cached; ///< The least recently used first.
  /// By slot of the step that must retire.
  std::array<BlockList, KVC_MAX_STEPS> quarantine;
  /// Cached blocks whose fence has not passed, by slot of that step.
  std::array<int64_t, KVC_MAX_STEPS> cachedWaiting{};

  int64_t freeCount() const { return total - fresh + free.count; }
  int64_t waitingCount() const;
};

class Blocks {
public:
  /// Adds a pool of `total` blocks, its null block included.
  void addPool(int64_t total, int64_t bytes);
  /// After the last pool.
  void allocate();

  const std::vector<Pool> &pools() const { return allPools; }
  Pool &pool(int32_t number) { return allPools[size_t(number)]; }
  int32_t poolOf(BlockId block) const;
  int64_t total() const { return totalBlocks; }

  /// Blocks of a pool that can be taken at once, those included that the pool
  /// evicts for it.
  int64_t available(int32_t pool) const;

  /// A free block, with one reference; there is one.
  BlockId take(int32_t pool);
  void addReference(BlockId block);
  /// Takes one reference away; `fence` as of now.
  void dropReference(BlockId block, int64_t fence);
  void setEntry(BlockId block);
  /// The block is no entry any more.
  void clearEntry(BlockId block);
  void keep(BlockId block);   ///< One more pin needs it.
  void unkeep(BlockId block); ///< One pin less.
  void setWritten(BlockId block, int64_t step) { written[block] = step; }
  /// Frees what waited for steps from `from` up to `through`.
  void release(int64_t from, int64_t through);

  bool isEntry(BlockId block) const { return entry[block] != 0; }
  bool isWritable(BlockId block) const {
    return references[block] == 1 && !isEntry(block);
  }
  BlockState state(BlockId block) const;

  // By block. Lists and counts follow the functions above.
  ZeroedArray<uint32_t> references;
  ZeroedArray<uint32_t> keeps;  ///< Pins that need it.
  ZeroedArray<int64_t> fence;   ///< Of the last reference that was dropped.
  ZeroedArray<int64_t> written; ///< The step that wrote it last.
  ZeroedArray<BlockId> previous, next;
  ZeroedArray<uint8_t> entry;
  ZeroedArray<uint8_t> states; ///< BlockState, but for null blocks.
  int64_t passed = 0;          ///< The last fence that has passed.

private:
  void push(BlockList &list, BlockId block);
  void remove(BlockList &list, BlockId block);
  void setState(BlockId block, BlockState state) {
    states[block] = uint8_t(state);
  }
  /// A block without references enters or leaves the state that it has then.
  void settle(BlockId block);
  void unsettle(BlockId block);

  std::vector<Pool> allPools;
  int64_t totalBlocks = 0;
};

} // namespace kvc::manage

#endif // KVC_MANAGE_BLOCKS_H
