//===- Coalescing.h - What one access of a warp costs -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The documented rules: global memory moves sectors of 32 bytes; shared memory
// has 32 banks of 4 bytes, and one wavefront gives one word from each. Accesses
// of 8 bytes a lane go by half warps, of 16 bytes by quarters.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_COUNT_COALESCING_H
#define KVC_SIM_COUNT_COALESCING_H

#include "kvc/Sim/Numerics/Row.h"

namespace kvc::sim {

/// Different sectors that lanes touch.
unsigned sectorsOf(const uint64_t *addresses, LaneMask lanes, uint32_t bytes);

struct Wavefronts {
  unsigned count = 0;
  unsigned ideal = 0; ///< As many without conflicts.
};
/// `isAtomic`: lanes at the same word do not share a wavefront.
Wavefronts wavefrontsOf(const uint64_t *offsets, LaneMask lanes, uint32_t bytes,
                        bool isAtomic);

} // namespace kvc::sim

#endif // KVC_SIM_COUNT_COALESCING_H
