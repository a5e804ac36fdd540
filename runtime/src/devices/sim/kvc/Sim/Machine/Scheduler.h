//===- Scheduler.h - The order in which blocks and warps run ----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_SCHEDULER_H
#define KVC_SIM_MACHINE_SCHEDULER_H

#include "kvc/Sim/Machine/State.h"

namespace kvc::sim {

/// Runs all blocks of a launch whose options are right.
void runBlocks(const ExecutableKernel &kernel, const LaunchOptions &options,
               Memory &memory, const std::vector<uint8_t> &constants,
               LaunchResult &result);

/// Delivers everything that a block's copies have yet to bring.
void finishArrivals(BlockState &block);

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_SCHEDULER_H
