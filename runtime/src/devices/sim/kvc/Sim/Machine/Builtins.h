//===- Builtins.h - Functions that the device has itself --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_BUILTINS_H
#define KVC_SIM_MACHINE_BUILTINS_H

#include "kvc/Sim/Machine/State.h"

namespace kvc::sim {

/// vprintf, __assertfail, malloc, free.
void callBuiltin(Warp &warp, const CallSite &site, LaneMask lanes);

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_BUILTINS_H
