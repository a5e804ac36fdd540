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
// Both halves are of one thread, but for fence.sc and membar: all of these come
// one after the other, so that barriers may lie between a fence and its write,
// or a read and its fence, if both sides have such fences.
//
// Copies that an mbarrier tells of have times of their own, one for each thread
// that issues them. Only who has heard of the mbarrier knows of them, or who
// met somebody who has: a barrier alone does not wait for copies.
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
  std::map<uint32_t, Time> copies;  ///< Of each thread.

  bool isEmpty() const {
    return floor == 0 && threads.empty() && copies.empty();
  }
  void join(const BlockKnowledge &other);
  Time of(uint32_t thread) const;
  bool covers(const BlockKnowledge &other) const;
};
using GridKnowledge = std::map<uint64_t, BlockKnowledge>;
void join(GridKnowledge &to, const GridKnowledge &from);

/// What a thread knew at its last fence; or all threads of a block, those at
/// theirs. Nobody changes it, so that many may share it.
struct FenceKnowledge {
  Time time = 0; ///< Later ones of the same thread know more.
  GridKnowledge grid;
};
using FencePointer = std::shared_ptr<const FenceKnowledge>;
/// By block and thread.
using Fences = std::map<std::pair<uint64_t, uint32_t>, FencePointer>;

/// For threads of one block, and for those of others.
struct FencesByScope {
  Fences here, wide;
  bool isEmpty() const { return here.empty() && wide.empty(); }
  void join(const FencesByScope &other);
};

/// What fences began or have yet to end.
struct FenceHalves {
  FencesByScope fenced;
  FencesByScope heard; ///< By strong reads, until a fence.
  bool isEmpty() const { return fenced.isEmpty() && heard.isEmpty(); }
  void join(const FenceHalves &other);
};

/// What a release told whoever acquires: for threads of the same block, and for
/// those of others.
struct Message {
  ThreadTimes times;
  GridKnowledge grid;
  FencesByScope fenced; ///< fence.sc, for those that have one, too.
  FenceHalves halves;   ///< By threads of the block to each other.
  ThreadTimes proxied;
  bool isEmpty() const {
    return times.empty() && grid.empty() && fenced.isEmpty() &&
           halves.isEmpty() && proxied.empty();
  }
  void join(const Message &other);
};

struct FenceKind {
  bool isWide;       ///< Of the whole device, not of the block.
  bool isSequential; ///< fence.sc
  bool acquires, releases;
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
  /// All that a thread knows and did: what a release tells, or a barrier that
  /// not all come to. What it does afterwards is no part: the time goes on.
  Message release(uint32_t thread);
  /// A time for what a thread's copy brings, and who knows of it.
  Time arrive(uint32_t thread, Message &message);
  void acquire(uint32_t thread, const Message &message);

  /// Later relaxed writes release what came before a fence, and what relaxed
  /// reads heard is acquired.
  void fence(uint32_t thread, const FenceKind &kind);
  /// What a relaxed write after a fence tells: nothing without one.
  Message relaxedRelease(uint32_t thread, bool isWide) const;
  /// The fences of which a write may tell that are not its thread's own.
  FencesByScope fencesOf(uint32_t thread, bool isWide) const;
  void relaxedAcquire(uint32_t thread, const Message &message);

  /// fence.proxy.async: bulk copies that follow see what is known.
  void fenceProxy(uint32_t thread);
  /// Whether copies of `thread` see what thread `other` did at `at`.
  bool isProxied(uint32_t thread, uint32_t other, Time at) const;

private:
  /// Of fences of any kind, which must be a thread's own.
  struct OwnFences {
    FencePointer here, wide;
    GridKnowledge heard; ///< By relaxed reads, until a fence.
  };
  struct Thread {
    std::unique_ptr<ThreadTimes> times; ///< If more than floor and warp.
    GridKnowledge grid;                 ///< More than the block's.
    std::unique_ptr<OwnFences> own;
    /// Of fence.sc, which barriers hand on; beside the block's.
    std::unique_ptr<FenceHalves> halves;
    ThreadTimes proxied; ///< Beside the block's.
  };

  Time known(uint32_t thread, uint32_t other) const;
  /// Threads, and copies behind them if `thread` knows of any.
  uint32_t timesKnown(uint32_t thread) const;
  void shareFences();
  void hearFenced(uint32_t thread, const Message &message);
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
  // Of each thread, or empty:
  ThreadTimes copies;  ///< that all know of,
  ThreadTimes proxied; ///< up to which all copies see.
};

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_CLOCKS_H
