//===- UndefinedRegisters.h - Bits of registers never set -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A shadow of a warp's files, a bit for each bit. UndefinedResults.h says what
// instructions do to it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_UNDEFINEDREGISTERS_H
#define KVC_SIM_CHECK_UNDEFINEDREGISTERS_H

#include "kvc/Sim/Machine/Observer.h"

namespace kvc::sim {

class UndefinedRegisters {
public:
  UndefinedRegisters() = default;
  explicit UndefinedRegisters(const Program &program);

  /// Whether any bits of a slot may be undefined, in any lane.
  bool isDirty(const Slot &slot) const {
    if (slot.file() == Slot::File::Predicate)
      return predicates[slot.index()] != 0;
    if (slot.file() != Slot::File::Register)
      return false;
    for (unsigned i = 0; i < slot.rows(); ++i)
      if (dirty[slot.index() + i])
        return true;
    return false;
  }
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

  /// After bits were cleared: whether any of the slot is left.
  void settle(const Slot &slot);

private:
  std::vector<uint32_t> rows;       ///< Undefined bits, as WarpInfo::registers.
  std::vector<uint8_t> dirty;       ///< Of each row: some lane has some.
  std::vector<uint32_t> origins;    ///< Of each row.
  std::vector<LaneMask> predicates; ///< Undefined lanes.
  std::vector<uint32_t> predicateOrigins;
};

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_UNDEFINEDREGISTERS_H
