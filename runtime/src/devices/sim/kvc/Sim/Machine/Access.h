//===- Access.h - From lanes' addresses to the host's memory ----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_ACCESS_H
#define KVC_SIM_MACHINE_ACCESS_H

#include "kvc/Sim/Machine/Bind.h"

namespace kvc::sim {

/// What an instruction does at its address.
struct AccessForm {
  MemorySpace space = MemorySpace::Global;
  MemoryAccess::Kind kind = MemoryAccess::Kind::Read;
  MemoryOrder order = MemoryOrder::Weak;
  MemoryScope scope = MemoryScope::None;
  uint32_t bytes = 4;  ///< Of a lane.
  uint32_t align = 4;  ///< Of an address.
  bool isWide = false; ///< The base is a register of 64 bits.
  bool isTold = true;  ///< To the observer, as an access.
  int64_t offset = 0;  ///< Added to the base.
};

/// Addresses of lanes, and where the host has what lies there.
struct Resolved {
  alignas(64) uint64_t addresses[kLanes];
  uint8_t *host[kLanes];
};

/// The form of the access whose address is in these two slots.
AccessForm accessFormOf(const Binding &binding, size_t slot,
                        MemoryAccess::Kind kind, uint32_t bytes);

/// Computes and checks the addresses, and tells the observer. False after a
/// fault.
bool resolve(Warp &warp, const AccessForm &form, uint32_t base, LaneMask lanes,
             Resolved &resolved);

/// The same with addresses that are there already, in a space that is not
/// Generic.
bool resolveIn(Warp &warp, const AccessForm &form, MemorySpace space,
               LaneMask lanes, Resolved &resolved);

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_ACCESS_H
