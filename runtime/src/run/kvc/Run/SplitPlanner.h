//===- SplitPlanner.h - How long the ranges of keys are ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// On a device with many multiprocessors the keys of a sequence are cut into
// ranges that blocks work on at the same time. Short ranges keep all of the
// device busy, long ones have less to merge. The cost model counts in bytes
// that one block moves while all of them are busy:
//
//   item   = start + tiles * bytes of a tile + bytes of its partial result
//   attend = when the last block ends, where the longest items begin first
//   merge  = start + bytes of all partial results / blocks at a time
//
// A plan is a pure function of the shape.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_SPLITPLANNER_H
#define KVC_RUN_SPLITPLANNER_H

#include <cstdint>
#include <vector>

namespace kvc {

/// What a batch asks of one attention kernel on one device.
struct SplitShape {
  /// Sequences that are alike: keys that their rows see, and how many items
  /// there are of each range of them (kv heads times ranges of rows).
  struct Sequences {
    int64_t keys, items;
  };
  std::vector<Sequences> sequences;
  int64_t tileTokens = 1;   ///< Ranges are multiples of it.
  int64_t slots = 1;        ///< Blocks that run at the same time.
  int64_t tileBytes = 1;    ///< That an item reads of one tile.
  int64_t partialBytes = 1; ///< Of an item's result, written and read.
};

/// Of beginning a block: its arguments, queries and first load.
inline constexpr int64_t kStartBytes = 8192;

/// The cost of ranges of `splitTokens` keys, a multiple of tileTokens.
double splitCost(const SplitShape &shape, int64_t splitTokens);

/// The range whose cost is the least, or nearly so; all of the longest sequence
/// at most, one tile at least.
int64_t chooseSplit(const SplitShape &shape);

} // namespace kvc

#endif // KVC_RUN_SPLITPLANNER_H
