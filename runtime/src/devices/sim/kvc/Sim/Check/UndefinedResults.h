//===- UndefinedResults.h - What becomes of undefined bits ------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_UNDEFINEDRESULTS_H
#define KVC_SIM_CHECK_UNDEFINEDRESULTS_H

#include "kvc/Sim/Check/UndefinedRegisters.h"

namespace kvc::sim {

/// What the instruction at `at` does to a warp's shadow: everything but memory
/// and control. `lanes` run it; where it exchanges lanes, all of them.
void runUndefined(UndefinedRegisters &shadow, const Program &program,
                  const WarpInfo &warp, uint32_t at, LaneMask lanes);

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_UNDEFINEDRESULTS_H
