//===- Lanes.h - Lanes of a mask --------------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_LANES_H
#define KVC_SIM_CHECK_LANES_H

#include "kvc/Sim/Numerics/Row.h"

#include <bit>

namespace kvc::sim {

struct MemoryAccess;

/// Calls `each(lane)` for every lane of a mask, from the lowest on.
template <typename Each>
inline void eachLane(LaneMask lanes, Each each) {
  for (; lanes != 0; lanes &= lanes - 1)
    each(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// The lanes from the first of a mask on that together access one row of
/// memory, the same number of bytes each; 0 if they do not.
LaneMask lanesOnRow(const MemoryAccess &access, LaneMask rest);

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_LANES_H
