//===- Blocks.cpp - Who holds the blocks of every pool --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Blocks.h"

#include <numeric>

using namespace kvc::manage;

int64_t Pool::waitingCount() const {
  return std::accumulate(cachedWaiting.begin(), cachedWaiting.end(),
                         int64_t(0));
}

void Blocks::addPool(int64_t total, int64_t bytes) {
  Pool pool;
  pool.base = BlockId(totalBlocks);
  pool.total = total;
  pool.bytes = bytes;
  allPools.push_back(pool);
  totalBlocks += total;
}

void Blocks::allocate() {
  references = ZeroedArray<uint32_t>(totalBlocks);
  keeps = ZeroedArray<uint32_t>(totalBlocks);
  fence = ZeroedArray<int64_t>(totalBlocks);
  written = ZeroedArray<int64_t>(totalBlocks);
  previous = ZeroedArray<BlockId>(totalBlocks);
  next = ZeroedArray<BlockId>(totalBlocks);
  entry = ZeroedArray<uint8_t>(totalBlocks);
  states = ZeroedArray<uint8_t>(totalBlocks);
}

int32_t Blocks::poolOf(BlockId block) const {
  size_t pool = allPools.size() - 1;
  while (allPools[pool].base > block)
    --pool;
  return int32_t(pool);
}

int64_t Blocks::available(int32_t number) const {
  const Pool &pool = allPools[size_t(number)];
  return pool.freeCount() + pool.cached.count - pool.waitingCount();
}

BlockState Blocks::state(BlockId block) const {
  for (const Pool &pool : allPools)
    if (pool.base == block)
      return BlockState::Null;
  return BlockState(states[block]);
}

void Blocks::push(BlockList &list, BlockId block) {
  previous[block] = list.last;
  next[block] = 0;
  (list.count ? next[list.last] : list.first) = block;
  list.last = block;
  ++list.count;
}

void Blocks::remove(BlockList &list, BlockId block) {
  (list.first == block ? list.first : next[previous[block]]) = next[block];
  (list.last == block ? list.last : previous[next[block]]) = previous[block];
  previous[block] = next[block] = 0;
  --list.count;
}

BlockId Blocks::take(int32_t number) {
  Pool &from = pool(number);
  BlockId block = 0;
  if (from.free.count) {
    block = from.free.last;
    remove(from.free, block);
  } else {
    block = BlockId(from.base + from.fresh++);
  }
  references[block] = 1;
  setState(block, BlockState::Used);
  ++from.used;
  return block;
}

void Blocks::settle(BlockId block) {
  Pool &home = pool(poolOf(block));
  const bool hasPassed = fence[block] <= passed;
  if (isEntry(block) && keeps[block]) {
    setState(block, BlockState::Pinned);
    ++home.pinned;
  } else if (isEntry(block)) {
    setState(block, BlockState::Cached);
    push(home.cached, block);
    if (!hasPassed)
      ++home.cachedWaiting[Steps::slot(fence[block])];
  } else if (!hasPassed) {
    setState(block, BlockState::Quarantined);
    push(home.quarantine[Steps::slot(fence[block])], block);
    ++home.quarantined;
  } else {
    setState(block, BlockState::Free);
    push(home.free, block);
  }
}

void Blocks::unsettle(BlockId block) {
  Pool &home = pool(poolOf(block));
  if (BlockState(states[block]) == BlockState::Pinned) {
    --home.pinned;
    return;
  }
  remove(home.cached, block);
  if (fence[block] > passed)
    --home.cachedWaiting[Steps::slot(fence[block])];
}

void Blocks::addReference(BlockId block) {
  if (references[block]++ > 0)
    return;
  unsettle(block);
  setState(block, BlockState::Used);
  ++pool(poolOf(block)).used;
}

void Blocks::dropReference(BlockId block, int64_t now) {
  fence[block] = now;
  if (--references[block] > 0)
    return;
  --pool(poolOf(block)).used;
  settle(block);
}

void Blocks::setEntry(BlockId block) { entry[block] = 1; }

void Blocks::clearEntry(BlockId block) {
  const bool isIdle = references[block] == 0;
  if (isIdle)
    unsettle(block);
  entry[block] = 0;
  keeps[block] = 0;
  if (isIdle)
    settle(block);
}

void Blocks::keep(BlockId block) {
  const bool isIdle = references[block] == 0 && keeps[block] == 0;
  if (isIdle)
    unsettle(block);
  ++keeps[block];
  if (isIdle)
    settle(block);
}

void Blocks::unkeep(BlockId block) {
  const bool isIdle = references[block] == 0 && keeps[block] == 1;
  if (isIdle)
    unsettle(block);
  --keeps[block];
  if (isIdle)
    settle(block);
}

void Blocks::release(int64_t from, int64_t through) {
  passed = through;
  for (Pool &home : allPools)
    for (int64_t step = from; step <= through; ++step) {
      home.cachedWaiting[Steps::slot(step)] = 0;
      BlockList &waiting = home.quarantine[Steps::slot(step)];
      while (waiting.count) {
        const BlockId block = waiting.first;
        remove(waiting, block);
        --home.quarantined;
        setState(block, BlockState::Free);
        push(home.free, block);
      }
    }
}
