//===- UndefinedRegisters.h - Which bits of registers were never set -*- C++
//-*-//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A shadow of a warp's files, a bit for each bit. What an instruction computes
// from undefined bits is undefined where the result depends on them: bitwise
// for logic, shifts, fields and choices; from the lowest undefined bit on for
// sums and products of integers; as a whole for everything else, halves of
// packed types apart. 0 * x stays undefined.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_UNDEFINEDREGISTERS_H
#define KVC_SIM_CHECK_UNDEFINEDREGISTERS_H

#include "kvc/Sim/Observer.h"

namespace kvc::sim {

struct ShuffleSource;

class UndefinedRegisters {
public:
  UndefinedRegisters() = default;
  explicit UndefinedRegisters(const Program &program);

  /// Whether any bits of a slot may be undefined, in any lane.
  bool isDirty(const Slot &slot) const;
  /// Whether any lane's bits of a register, constant or predicate are undefined
  /// in some of `lanes`: those lanes.
  LaneMask undefinedLanes(const Slot &slot, LaneMask lanes) const;
  /// Undefined bits of one lane: the low 64 of a register.
  uint64_t bitsOf(const Slot &slot, unsigned lane) const;
  /// The instruction that made a slot undefined; kNowhere: none ever set it.
  uint32_t originOf(const Slot &slot) const;

  void set(const Slot &slot, unsigned lane, uint64_t undefined,
           uint32_t origin);
  void define(const Slot &slot, LaneMask lanes);
  /// Rows of 128 bits, byte by byte.
  void readBytes(const Slot &slot, unsigned lane, uint8_t *to,
                 uint32_t bytes) const;
  void writeBytes(const Slot &slot, unsigned lane, const uint8_t *from,
                  uint32_t bytes, bool isSigned, uint32_t origin);

  /// What the instruction at `at` does to the shadow: everything but memory and
  /// control. `lanes` run it; where it exchanges lanes, all of them.
  void run(const WarpInfo &warp, uint32_t at, LaneMask lanes);

private:
  struct Source {
    uint64_t undefined = 0, value = 0;
  };
  Source sourceOf(const WarpInfo &warp, const Slot &slot, unsigned lane) const;
  void settle(const Slot &slot);

  void runLane(const WarpInfo &warp, const Inst &inst, unsigned lane);
  uint64_t resultOf(const Inst &inst, const Modifiers &modifiers,
                    const Source *sources, size_t count) const;
  void runCompare(const WarpInfo &warp, const Inst &inst, LaneMask lanes);
  void runLogic(const WarpInfo &warp, const Inst &inst, LaneMask lanes);
  void runShuffle(const WarpInfo &warp, const Inst &inst, LaneMask lanes);
  ShuffleSource shuffledFrom(const WarpInfo &warp, const Inst &inst,
                             unsigned lane) const;
  bool readsMembers(const WarpInfo &warp, const Inst &inst,
                    LaneMask lanes) const;
  void runTogether(const WarpInfo &warp, const Inst &inst, LaneMask lanes);
  void runMoves(const Inst &inst, LaneMask lanes);
  void runMatrixMove(const Inst &inst);
  void runMma(const Inst &inst);

  const Program *program = nullptr;
  std::vector<uint32_t> rows;       ///< Undefined bits, as WarpInfo::registers.
  std::vector<uint8_t> dirty;       ///< Of each row: some lane has some.
  std::vector<uint32_t> origins;    ///< Of each row.
  std::vector<LaneMask> predicates; ///< Undefined lanes.
  std::vector<uint32_t> predicateOrigins;
  uint32_t origin = kNowhere; ///< Of the undefined source that runs.
};

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_UNDEFINEDREGISTERS_H
