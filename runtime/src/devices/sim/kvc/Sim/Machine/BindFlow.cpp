//===- BindFlow.cpp - Branches, calls and ends ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Bind.h"
#include "kvc/Sim/Machine/Builtins.h"

#include <bit>

using namespace kvc::sim;

namespace {

void runBranch(Warp &warp, const Step &step, LaneMask lanes) {
  warp.branch(lanes, formOf<uint32_t>(step));
}

/// brx.idx: lanes by their targets.
void runSwitch(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &targets =
      warp.launch->kernel->program.switches[formOf<uint32_t>(step)].targets;
  const uint32_t *index = warp.row(step.operands[0]);
  LaneMask rest = lanes;
  while (rest != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(rest));
    if (index[first] >= targets.size())
      return warp.fault(Fault::Kind::BadCall, LaneMask(1) << first,
                        "brx.idx: expected an index below " +
                            std::to_string(targets.size()) + ", got " +
                            std::to_string(index[first]) + ", in " +
                            warp.nameOfLane(first));
    LaneMask same = 0;
    eachLane(rest, [&](unsigned lane) {
      if (index[lane] == index[first])
        same |= LaneMask(1) << lane;
    });
    rest &= ~same;
    if (rest == 0 && same == warp.active) {
      warp.pc = targets[index[first]];
      break;
    }
    warp.parts.push_back({targets[index[first]], same});
    warp.active &= ~same;
    if (warp.active == 0)
      warp.signal = Signal::Empty;
  }
}

void runCall(Warp &warp, const Step &step, LaneMask lanes) {
  const CallSite &site =
      warp.launch->kernel->program.calls[formOf<uint32_t>(step)];
  if (site.builtin != Builtin::None)
    return callBuiltin(warp, site, lanes);
  warp.call(site, lanes);
}

void runReturn(Warp &warp, const Step &, LaneMask lanes) {
  warp.giveBack(lanes);
}
void runExit(Warp &warp, const Step &, LaneMask lanes) {
  warp.exitLanes(lanes);
}
void runTrap(Warp &warp, const Step &, LaneMask lanes) {
  warp.fault(Fault::Kind::Trap, lanes,
             "trap: in " + warp.nameOfLane(unsigned(std::countr_zero(lanes))));
}
void runYield(Warp &warp, const Step &, LaneMask) {
  warp.signal = Signal::Yield;
}

} // namespace

bool kvc::sim::bindFlow(Binding &binding) {
  switch (binding.family()) {
  case Family::Bra:
    return binding.to(runBranch, binding.inst.target);
  case Family::Brx:
    return binding.to(runSwitch, binding.inst.target);
  case Family::Call:
    return binding.to(runCall, binding.inst.target);
  case Family::Ret:
    return binding.to(runReturn);
  case Family::Exit:
    return binding.to(runExit);
  case Family::Trap:
    return binding.to(runTrap);
  case Family::Nanosleep:
    return binding.to(runYield);
  case Family::Brkpt:
  case Family::Pmevent:
  case Family::Griddepcontrol:
  case Family::Setmaxnreg:
    return binding.to(runNothing);
  default:
    return false;
  }
}
