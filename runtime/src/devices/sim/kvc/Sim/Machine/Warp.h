//===- Warp.h - 32 lanes that run together ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Lanes of a warp that are at the same instruction run as one part. A branch
// may split a part; parts meet again as follows. At the beginning of every
// block the part whose place comes first in the program's order (Program.h,
// Block::rank) goes on, and parts at the same place become one. An instruction
// with a member mask, or one that all lanes take together, waits for its
// lanes. A part that waits for another one's store gets its turn since no part
// runs for ever while another could.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_WARP_H
#define KVC_SIM_MACHINE_WARP_H

#include "kvc/Sim/Machine/Machine.h"

#include <cstring>

namespace kvc::sim {

class Warp;
struct BlockState;
struct LaunchState;
struct Step;

/// Executes one instruction for some lanes, at least one. Warp::pc is already
/// that of the next instruction.
using Handler = void (*)(Warp &warp, const Step &step, LaneMask lanes);

/// An operand: a row of one of a warp's two files. kNoOperand is nothing.
using Operand32 = uint32_t;
inline constexpr uint32_t kNoOperand = ~uint32_t(0);
inline constexpr uint32_t kConstantFile = uint32_t(1) << 31;
/// A predicate: a word, or its negation.
inline constexpr uint32_t kNegated = uint32_t(1) << 31;

/// An instruction, ready to run.
struct Step {
  Handler run = nullptr;
  const void *form = nullptr; ///< What the handler made of the modifiers.
  const uint32_t *operands = nullptr;
  uint32_t guard = kTrue;
  bool startsBlock = false;
  bool readsChanging = false; ///< A special register that changes.
  bool gathers = false;       ///< Its lanes wait for others before it runs.
  uint8_t count = 0;          ///< Of the operands.
  /// The row of masks of those others; kNoOperand: all that live.
  uint32_t members = kNoOperand;
};

/// What a part of a warp waits for.
enum class Wait : uint8_t {
  Nothing,
  Members,  ///< That `members` come to the same instruction.
  WarpSync, ///< That `members` come to a bar.warp.sync.
  Barrier   ///< Of the block: number `members`.
};

/// Lanes at one place.
struct Part {
  uint32_t pc = 0;
  LaneMask lanes = 0;
  Wait wait = Wait::Nothing;
  uint32_t members = 0;
};

/// Why a warp stops running.
enum class Signal : uint8_t {
  None,
  Yield, ///< It waits for others: let them run.
  Empty, ///< No lane is at work: pick another part.
  Fault
};

/// cp.async of one lane, or a bulk copy: arrives at a wait.
struct PendingCopy {
  uint8_t *to = nullptr;
  const uint8_t *from = nullptr;
  uint32_t bytes = 0, sourceBytes = 0;
  uint32_t group = 0;
  uint64_t number = 0; ///< Of the lane's, in order.

  void finish() const;
};

/// The copies of a lane that are on their way, and how many groups of them are
/// closed.
struct CopyQueue {
  std::vector<PendingCopy> copies;
  uint32_t closed = 0;
  uint64_t issued = 0;

  void add(PendingCopy copy);
  /// Brings all but those of the last `groups` closed groups and of the open
  /// one.
  void waitFor(uint32_t groups);
  /// Brings those with numbers below this.
  void finishUntil(uint64_t number);
};

class Warp {
public:
  /// Runs at most that many steps. False if nothing was left to run.
  bool run(uint64_t budget);

  uint32_t *row(uint32_t operand) const {
    return files[operand >> 31] + size_t(operand & ~kConstantFile) * kLanes;
  }
  uint64_t *wide(uint32_t operand) const {
    return reinterpret_cast<uint64_t *>(row(operand));
  }
  LaneMask predicate(uint32_t operand) const {
    const LaneMask word = predicates[operand & ~kNegated];
    return operand & kNegated ? ~word : word;
  }
  void setPredicate(uint32_t operand, LaneMask value, LaneMask lanes) const {
    uint32_t &word = predicates[operand];
    word = (word & ~lanes) | (value & lanes);
  }

  /// Of the instruction that runs.
  uint32_t at() const { return uint32_t(current - steps); }
  const Inst &inst() const;
  void fault(Fault::Kind kind, LaneMask lanes, std::string message);
  /// "thread (1, 0, 0) of block (0, 0, 0)"
  std::string nameOfLane(unsigned lane) const;

  // Flow.
  void branch(LaneMask taken, uint32_t target);
  void call(const CallSite &site, LaneMask lanes);
  void enter(uint32_t function, const CallSite &site, LaneMask lanes);
  void giveBack(LaneMask lanes);
  void exitLanes(LaneMask lanes);
  /// True if all living lanes of `members` run this instruction together; else
  /// the lanes wait, and the handler returns.
  bool gather(LaneMask lanes, LaneMask members, Wait wait = Wait::Members);
  /// The same with the members that each lane names in a row of masks; those
  /// of a tile may name others than those of the next.
  bool gatherMembers(uint32_t operand, LaneMask lanes,
                     Wait wait = Wait::Members);
  /// The lanes stop until the block's barrier lets them go on.
  void waitAtBarrier(LaneMask lanes, uint32_t id);
  /// An access that asks what others did: who asks often lets them run.
  void ask() {
    constexpr uint32_t often = 64;
    if (++asked % often == 0 && signal == Signal::None)
      signal = Signal::Yield;
  }
  /// Lets lanes go on that wait at the barrier.
  void release(uint32_t id);
  bool isReady() const;

  uint32_t *files[2] = {nullptr, nullptr}; ///< Registers, constants.
  uint32_t *predicates = nullptr;
  BlockState *block = nullptr;
  LaunchState *launch = nullptr;
  const Step *steps = nullptr;
  const Step *current = nullptr;
  uint32_t pc = 0;
  LaneMask active = 0, live = 0;
  uint32_t number = 0; ///< In its block.
  Signal signal = Signal::None;
  bool mustPick = false; ///< Parts may meet before the next block begins.
  uint64_t turns = 0;    ///< Blocks that the running part began, others ready.
  uint64_t stepsRun = 0;
  uint32_t asked = 0;
  std::vector<Part> parts; ///< Others than the running one.
  WarpInfo info;
  /// Of cp.async and of cp.async.bulk, 32 lanes each; made when needed.
  std::vector<CopyQueue> copies, bulkCopies;
  uint32_t clusterPhase[kLanes] = {}; ///< In which each lane arrived.

private:
  bool pick();
  bool arrive(LaneMask lanes);
  bool canGo(const Part &part) const;
  bool comesBefore(const Part &a, const Part &b) const;
  std::vector<uint32_t> placesOf(const Part &part) const;
  void setClocks() const;
  void copyPlace(const ParamPlace &from, const ParamPlace &to,
                 LaneMask lanes) const;
};

/// Calls `each(lane)` for every lane of a mask.
template <typename Each>
inline void eachLane(LaneMask lanes, Each each) {
  for (; lanes != 0; lanes &= lanes - 1)
    each(static_cast<unsigned>(__builtin_ctz(lanes)));
}

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_WARP_H
