//===- BlockPool.h - Which blocks are free ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CACHE_BLOCKPOOL_H
#define KVC_CACHE_BLOCKPOOL_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kvc {

/// Hands out numbered blocks. The last one given back is the next one taken
/// (its bytes are the likeliest to be in a cache of the machine); blocks never
/// taken yet cost no memory here. Blocks below `reserved` are never handed out.
class BlockPool {
public:
  BlockPool() = default;
  BlockPool(int64_t total, int64_t reserved)
      : totalBlocks(total), reserved(reserved), fresh(reserved) {}

  int64_t total() const { return totalBlocks; }
  int64_t free() const {
    return totalBlocks - fresh + static_cast<int64_t>(returned.size());
  }

  /// Appends `count` <= free() blocks to `table`, which has room for them.
  /// Allocates nothing.
  void take(int64_t count, std::vector<int32_t> &table) {
    for (; count > 0; --count)
      table.push_back(takeOne());
  }
  int32_t takeOne() {
    if (returned.empty())
      return static_cast<int32_t>(fresh++);
    int32_t block = returned.back();
    returned.pop_back();
    return block;
  }

  /// To be called before take(): then give() never allocates either.
  void prepare(int64_t count) {
    auto taken = static_cast<size_t>(fresh - reserved + count);
    if (returned.capacity() < taken)
      returned.reserve(std::max(taken, 2 * returned.capacity()));
  }

  /// Takes the blocks of `table` from `keep` on back.
  void give(std::vector<int32_t> &table, int64_t keep) {
    while (static_cast<int64_t>(table.size()) > keep) {
      giveOne(table.back());
      table.pop_back();
    }
  }
  void giveOne(int32_t block) { returned.push_back(block); }

private:
  int64_t totalBlocks = 0, reserved = 0;
  int64_t fresh = 0; ///< First block that was never taken.
  std::vector<int32_t> returned;
};

} // namespace kvc

#endif // KVC_CACHE_BLOCKPOOL_H
