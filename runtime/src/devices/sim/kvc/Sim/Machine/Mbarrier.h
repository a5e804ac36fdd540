//===- Mbarrier.h - The barrier objects of shared memory --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// An mbarrier is a word of 64 bits that programs may not look into: arrivals
// that the phase still needs, those that each phase needs, bytes that copies
// have yet to bring, and the number of the phase.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_MBARRIER_H
#define KVC_SIM_MACHINE_MBARRIER_H

#include "kvc/Sim/Machine/State.h"

namespace kvc::sim {

struct Mbarrier {
  static constexpr uint32_t kMostArrivals = (1 << 20) - 1;
  static constexpr int32_t kMostBytes = (1 << 20) - 1;

  uint32_t pending = 0, expected = 0;
  int32_t bytes = 0;
  bool phase = false;
  bool isValid = false;

  static Mbarrier read(const uint8_t *at);
  void write(uint8_t *at) const;
  static Mbarrier fromWord(uint64_t word);
  uint64_t word() const;

  /// Begins the next phase if this one has all. True if it had.
  bool complete();
};

/// Delivers what copies have yet to bring to the mbarrier at `offset`.
void finishArrivals(BlockState &block, LaunchState &launch, uint64_t offset);

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_MBARRIER_H
