//===- Clocks.h - What threads know of each other ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Happens-before. A block has a time that goes on at every synchronisation; an
// access has the time at which it was made. A thread knows of another one's
// accesses up to a time: the block's floor, set by barriers that all threads
// pass; what bar.warp.sync told it of its warp; and, in blocks that
// synchronise in other ways, one number for each thread of the block. Of other
// blocks it knows what fences, atomics and acquiring reads told it.
//
// A fence is one half of what orders: a relaxed write after it tells what was
// known at the fence; a fence after a relaxed read learns what the read heard.
// Barriers hand on halves, so that another thread may do the rest.
//
// Copies that an mbarrier tells of have times of their own, one for each thread
// that issues them: those behind the threads'.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_CLOCKS_H
#define KVC_SIM_CHECK_CLOCKS_H

#include "kvc/Sim/Numerics/Row.h"

#include <array>
#include <map>
#include <memory>
#include <vector>

namespace kvc::sim {

using Time = uint32_t;

/// What is known of each thread of one block.
using ThreadTimes = std::vector<Time>;

/// What is known of one block from outside.
struct BlockKnowledge {
  Time floor = 0;
  std::map<uint32_t, Time> threads; ///< Later than the floor.

  bool isEmpty() const { return floor == 0 && threads.empty(); }
  /// One more than the last thread beyond the floor.
  uint32_t end() const {
    return threads.empty() ? 0 : threads.rbegin()->first + 1;
  }
  void join(const BlockKnowledge &other);
  Time of(uint32_t thread) const;
  bool covers(const BlockKnowledge &other) const;
};
using GridKnowledge = std::map<uint64_t, BlockKnowledge>;
void join(GridKnowledge &to, const GridKnowledge &from);

/// What fences began or have yet to end.
struct FenceHalves {
  BlockKnowledge fenced;    ///< Of the block itself, at any fence,
  GridKnowledge fencedWide; ///< and of all blocks at a wide one.
  GridKnowledge heard;      ///< By relaxed reads, until a fence.
  bool isEmpty() const;
  void join(const FenceHalves &other);
};

/// What a release told whoever acquires: for threads of the same block, and for
/// those of others.
struct Message {
  ThreadTimes times = {};
  GridKnowledge grid = {};
  FenceHalves halves = {}; ///< By barriers of the block alone.
  bool isEmpty() const {
    return times.empty() && grid.empty() && halves.isEmpty();
  }
  void join(const Message &other);
};

class BlockClocks {
public:
  BlockClocks(uint64_t block, uint32_t threads);

  Time now() const { return time; }
  uint32_t threads() const { return count; }
  /// Of accesses up to which every thread knows.
  Time floor() const { return floorTime; }

  /// Whether any thread ever learned of others in another way than by barriers
  /// of the block or its warp.
  bool hasHeard() const { return heardAny; }

  /// Whether `thread` knows of what thread `other` of this block did at `at`.
  bool knows(uint32_t thread, uint32_t other, Time at) const;
  /// The same of a thread of another block.
  bool knows(uint32_t thread, uint64_t block, uint32_t other, Time at) const;

  /// bar.warp.sync.
  void syncWarp(uint32_t warp, LaneMask members);
  /// All threads that live have come to a barrier.
  void syncBlock();
  /// All that a thread knows and did, for a barrier that not all come to. What
  /// it does afterwards is not part of that: the time goes on.
  Message release(uint32_t thread);
  /// A time for what a thread's copy brings, and who knows of it.
  Time arrive(uint32_t thread, Message &message);
  void acquire(uint32_t thread, const Message &message);

  /// A fence, of the whole device or of the block: later relaxed writes
  /// release what came before, and what relaxed reads heard is acquired.
  void fence(uint32_t thread, bool isWide);
  /// What a relaxed write after a fence tells: nothing without one.
  Message relaxedRelease(uint32_t thread, bool isWide) const;
  void relaxedAcquire(uint32_t thread, const Message &message);

private:
  struct Thread {
    std::unique_ptr<ThreadTimes> times;  ///< If more than floor and warp.
    GridKnowledge grid;                  ///< More than the block's.
    std::unique_ptr<FenceHalves> halves; ///< Beside the block's.
  };
  FenceHalves &halvesOf(uint32_t thread);

  Time known(uint32_t thread, uint32_t other) const;
  ThreadTimes timesOf(uint32_t thread, Time own) const;
  GridKnowledge gridOf(uint32_t thread, Time own) const;

  uint64_t number;
  uint32_t count;
  Time time = 1, floorTime = 0;
  bool heardAny = false;
  std::vector<std::array<Time, kLanes>> warps; ///< [thread][lane of its warp]
  std::vector<Thread> states;
  GridKnowledge grid; ///< That all threads have.
  FenceHalves halves; ///< The same.
};

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_CLOCKS_H
