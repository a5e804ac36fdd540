//===- UndefinedResults.h - What becomes of undefined bits ------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What an instruction computes from undefined bits is undefined where the
// result depends on them: bitwise for logic, shifts, fields and choices; from
// the lowest undefined bit on for sums and products of integers; as a whole for
// everything else, halves of packed types apart. 0 * x stays undefined.
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
