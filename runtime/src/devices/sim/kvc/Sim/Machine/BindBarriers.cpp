//===- BindBarriers.cpp - Barriers of warps and blocks --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Barriers count lanes: those that wait go on when as many have arrived as the
// barrier expects, all that live or as many as an instruction says. A warp that
// comes with all of its living lanes counts as a whole one then, as the ISA
// wants.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Bind.h"

#include <bit>

using namespace kvc::sim;

void BlockState::checkBarriers(LaunchState &launch) {
  const Program &program = launch.kernel->program;
  for (uint32_t id = 0; id < kBarriers; ++id) {
    BarrierState &barrier = barriers[id];
    const uint32_t needed = barrier.expected ? barrier.expected : liveThreads;
    if (!barrier.isOpen || barrier.arrived < needed)
      continue;
    for (Warp &warp : warps) {
      for (const Part &part : warp.parts) {
        if (part.wait != Wait::Barrier || part.members != id ||
            program.code[part.pc - 1].family != Family::BarRed)
          continue;
        const Modifiers &modifiers =
            program.modifiersOf(program.code[part.pc - 1]);
        const uint32_t to = warp.steps[part.pc - 1].operands[0];
        if (modifiers.has(Word::Popc)) {
          uint32_t *row = warp.row(to);
          eachLane(part.lanes,
                   [&](unsigned lane) { row[lane] = barrier.count; });
        } else {
          const bool result = modifiers.has(Word::And)
                                  ? barrier.count == barrier.threads
                                  : barrier.count > 0;
          warp.setPredicate(to, result ? kAllLanes : 0, part.lanes);
        }
      }
      warp.release(id);
    }
    barrier = {};
    if (launch.observer)
      launch.observer->onBarrierComplete(number, id);
  }
  if (clusterArrived > 0 && clusterArrived >= liveThreads) {
    clusterArrived = 0;
    ++clusterPhase;
    for (Warp &warp : warps)
      warp.release(kClusterBarrier);
    if (launch.observer)
      launch.observer->onClusterComplete(number);
  }
}

namespace {

/// Lanes come to a barrier. `ayes`: of bar.red, whose predicate is true.
void arrive(Warp &warp, LaneMask lanes, uint32_t id, uint32_t count, bool waits,
            LaneMask ayes) {
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const uint32_t number = warp.row(id)[first];
  const uint32_t expected = count == kNoOperand ? 0 : warp.row(count)[first];
  if (number >= kBarriers || expected % kLanes != 0)
    return warp.fault(
        Fault::Kind::Unsupported, lanes,
        number >= kBarriers
            ? "barrier: expected a number from 0 to 15, got " +
                  std::to_string(number) + ", in " + warp.nameOfLane(first)
            : "barrier: expected a count of threads of whole warps, got " +
                  std::to_string(expected) + ", in " + warp.nameOfLane(first));
  BarrierState &barrier = warp.block->barriers[number];
  if (barrier.isOpen && barrier.expected != expected)
    return warp.fault(Fault::Kind::DivergentBarrier, lanes,
                      "barrier " + std::to_string(number) + ": expected " +
                          std::to_string(barrier.expected) +
                          " threads as those that have come say, got " +
                          std::to_string(expected) + ", in " +
                          warp.nameOfLane(first));
  barrier.isOpen = true;
  barrier.expected = expected;
  const auto threads = static_cast<uint32_t>(std::popcount(lanes));
  barrier.arrived += expected && lanes == warp.live ? kLanes : threads;
  barrier.threads += threads;
  barrier.count += static_cast<uint32_t>(std::popcount(ayes & lanes));
  if (warp.launch->observer)
    warp.launch->observer->onBarrierArrive(warp.info, warp.at(), lanes, number,
                                           waits);
  if (waits)
    warp.waitAtBarrier(lanes, number);
  warp.block->checkBarriers(*warp.launch);
}

/// id, count
template <bool waits>
void runBarrier(Warp &warp, const Step &step, LaneMask lanes) {
  arrive(warp, lanes, step.operands[0], step.operands[1], waits, 0);
}

/// d or p, id, count, predicate
void runBarrierReduce(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *o = step.operands;
  arrive(warp, lanes, o[1], o[2], true, warp.predicate(o[3]));
}

void runWarpBarrier(Warp &warp, const Step &step, LaneMask lanes) {
  warp.gatherMembers(step.operands[0], lanes, Wait::WarpSync);
}

void runClusterArrive(Warp &warp, const Step &, LaneMask lanes) {
  BlockState &block = *warp.block;
  eachLane(lanes, [&](unsigned lane) {
    warp.clusterPhase[lane] = block.clusterPhase;
  });
  block.clusterArrived += static_cast<uint32_t>(std::popcount(lanes));
  if (warp.launch->observer)
    warp.launch->observer->onClusterArrive(warp.info, warp.at(), lanes);
  block.checkBarriers(*warp.launch);
}

void runClusterWait(Warp &warp, const Step &, LaneMask lanes) {
  LaneMask waiting = 0;
  eachLane(lanes, [&](unsigned lane) {
    if (warp.clusterPhase[lane] == warp.block->clusterPhase)
      waiting |= LaneMask(1) << lane;
  });
  if (warp.launch->observer)
    warp.launch->observer->onClusterWait(warp.info, warp.at(), lanes);
  if (waiting != 0)
    warp.waitAtBarrier(waiting, kClusterBarrier);
}

/// One thread of the host runs all that may talk to each other, in one order.
void runFence(Warp &, const Step &, LaneMask) {}

} // namespace

bool kvc::sim::bindBarriers(Binding &binding) {
  switch (binding.family()) {
  case Family::Bar:
    return binding.to(binding.has(Word::Arrive) ? runBarrier<false>
                                                : runBarrier<true>);
  case Family::BarRed:
    return binding.to(runBarrierReduce);
  case Family::BarWarp:
    return binding.to(runWarpBarrier);
  case Family::BarCluster:
    return binding.to(binding.has(Word::Arrive) ? runClusterArrive
                                                : runClusterWait);
  case Family::Fence:
  case Family::FenceProxy:
    return binding.to(runFence);
  default:
    return false;
  }
}
