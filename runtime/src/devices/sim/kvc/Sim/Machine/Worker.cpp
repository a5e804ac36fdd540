//===- Worker.cpp - What one thread of the host does ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Worker.h"

#include "kvc/Sim/Machine/Scheduler.h"
#include "kvc/Sim/Syntax/Types.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

using namespace kvc::sim;

/// Steps of a warp before another one gets a turn.
static constexpr uint64_t kTurn = 1 << 14;
/// The same, at most, in an order of its own.
static constexpr uint64_t kRandomTurn = 256;
/// Waits for mbarriers with nothing else between, after which nothing is
/// expected any more.
static constexpr uint64_t kVainWaits = uint64_t(1) << 19;

Worker::Worker(const ExecutableKernel &kernel, const LaunchOptions &options,
               Memory &memory, const std::vector<uint8_t> &constants)
    : kernel(kernel), options(options) {
  state.kernel = &kernel;
  state.options = &options;
  state.memory = &memory;
  state.constants = &constants;
  state.observer = options.observer;
  state.info = {kernel.module,
                &kernel.program,
                options.grid,
                options.block,
                {},
                kernel.program.dynamicSharedOffset + options.dynamicShared};
  state.sharedBytes = state.info.sharedBytes;
  state.maxSteps = options.maxSteps;
  state.lastTouched.resize(kernel.steps.size());
}

uint64_t Worker::rowBytes() const {
  return alignedTo(uint64_t(kernel.program.registerRows) * kLanes * 4 + 64, 64);
}

static uint32_t componentOf(const Extent3 &extent, unsigned component) {
  return component == 0   ? extent.x
         : component == 1 ? extent.y
         : component == 2 ? extent.z
                          : 0;
}

uint32_t Worker::specialOf(const BlockState &block, const Warp &warp,
                           SpecialRegister id, unsigned component,
                           uint32_t lane) const {
  using Id = SpecialRegister;
  const Extent3 &size = options.block;
  const uint32_t thread = warp.number * kLanes + lane;
  switch (id) {
  case Id::Tid:
    return componentOf(
        {thread % size.x, thread / size.x % size.y, thread / size.x / size.y},
        component);
  case Id::Ntid:
    return componentOf(size, component);
  case Id::Ctaid:
  case Id::Clusterid:
    return componentOf(block.at, component);
  case Id::Nctaid:
  case Id::Nclusterid:
    return componentOf(options.grid, component);
  case Id::Laneid:
    return lane;
  case Id::Warpid:
    return warp.number;
  case Id::Nwarpid:
    return uint32_t(warpsOfBlock());
  case Id::Nsmid:
  case Id::ClusterNctarank:
    return 1;
  case Id::ClusterNctaid:
    return component < 3 ? 1 : 0;
  case Id::LanemaskEq:
    return uint32_t(1) << lane;
  case Id::LanemaskLt:
    return (uint32_t(1) << lane) - 1;
  case Id::LanemaskLe:
    return uint32_t((uint64_t(2) << lane) - 1);
  case Id::LanemaskGe:
    return ~((uint32_t(1) << lane) - 1);
  case Id::LanemaskGt:
    return ~uint32_t((uint64_t(2) << lane) - 1);
  case Id::TotalSmemSize:
  case Id::AggrSmemSize:
    return uint32_t(state.sharedBytes);
  case Id::DynamicSmemSize:
    return uint32_t(options.dynamicShared);
  default:
    // No reserved shared memory, one multiprocessor, one grid, no environment.
    return 0;
  }
}

void Worker::setSpecials(BlockState &block, Warp &warp) const {
  for (const SpecialRow &special : kernel.program.specials) {
    if (special.slot.file() == Slot::File::Predicate)
      continue; // %is_explicit_cluster: false, as it is set already.
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t value =
          specialOf(block, warp, special.id, special.component, lane);
      if (special.slot.bits() == 64)
        warp.wide(special.slot.index())[lane] = value;
      else
        warp.row(special.slot.index())[lane] = value;
    }
  }
}

void Worker::start(BlockState &block, uint64_t number) {
  const Extent3 &grid = options.grid;
  block.number = number;
  block.at = {uint32_t(number % grid.x), uint32_t(number / grid.x % grid.y),
              uint32_t(number / grid.x / grid.y)};
  block.shared.assign(state.sharedBytes, kPoison);
  block.local.assign(localBytes(), kPoison);
  const uint64_t count = warpsOfBlock();
  if (!block.rows)
    block.rows = {
        static_cast<uint32_t *>(std::aligned_alloc(64, rowBytes() * count)),
        std::free};
  if (!block.rows)
    throw std::bad_alloc();
  std::memset(block.rows.get(), 0, rowBytes() * count);
  const size_t predicates = kernel.program.predicates;
  block.predicates.assign(predicates * count, 0);
  block.warps.clear();
  block.warps.resize(count);
  std::fill(std::begin(block.barriers), std::end(block.barriers),
            BarrierState());
  block.clusterArrived = block.clusterPhase = 0;
  block.arrivals.clear();
  block.printed.clear();
  block.nextWarp = 0;
  block.liveThreads = uint32_t(options.block.count());
  for (uint32_t i = 0; i < count; ++i) {
    Warp &warp = block.warps[i];
    warp.files[0] = block.rows.get() + rowBytes() / 4 * i;
    // Nobody writes constants.
    warp.files[1] = const_cast<uint32_t *>(kernel.constantRows.data());
    warp.predicates = block.predicates.data() + predicates * i;
    warp.predicates[kTrue] = kAllLanes;
    warp.block = &block;
    warp.launch = &state;
    warp.steps = kernel.steps.data();
    warp.current = warp.steps;
    warp.pc = kernel.program.functions.front().first;
    warp.number = i;
    const uint64_t threads = options.block.count() - uint64_t(i) * kLanes;
    warp.live = threads >= kLanes ? kAllLanes : (LaneMask(1) << threads) - 1;
    warp.active = warp.live;
    warp.info = {number,          i,
                 warp.live,       warp.files[0],
                 warp.predicates, kernel.constantRows.data()};
    setSpecials(block, warp);
  }
  if (state.observer)
    state.observer->onBlock(number);
}

bool Worker::advance(BlockState &block, uint64_t turns) {
  bool ran = false;
  const size_t count = block.warps.size();
  for (; turns > 0 && !isDone(block) && !state.fault; --turns) {
    uint64_t budget = kTurn;
    if (state.random != 0) {
      budget = 1 + state.nextRandom() % kRandomTurn;
      block.nextWarp = state.nextRandom() % count;
    }
    if (state.maxSteps != 0) {
      if (state.steps >= state.maxSteps) {
        Fault fault;
        fault.kind = Fault::Kind::Limit;
        fault.block = block.number;
        fault.message = "launch: expected an end within " +
                        std::to_string(state.maxSteps) +
                        " warp instructions, got more";
        state.fault = fault;
        return true;
      }
      budget = std::min(budget, state.maxSteps - state.steps);
    }
    // The next warp that has something to run.
    bool found = false;
    for (size_t i = 0; i < count && !found; ++i) {
      Warp &warp = block.warps[(block.nextWarp + i) % count];
      if (!warp.isReady())
        continue;
      found = true;
      block.nextWarp = (block.nextWarp + i + 1) % count;
      const uint64_t before = warp.stepsRun;
      warp.run(budget);
      if (warp.stepsRun - before >= kTurn)
        state.vainWaits = 0;
    }
    if (!found)
      return ran;
    ran = true;
    if (state.vainWaits > kVainWaits)
      setVainWaits(block);
  }
  return ran;
}

void Worker::end(BlockState &block) {
  finishArrivals(block);
  if (state.observer)
    state.observer->onBlockEnd(block.number);
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

std::string Worker::describeWait(const Warp &warp, const Part &part) const {
  const uint32_t at = part.wait == Wait::Barrier ? part.pc - 1 : part.pc;
  const Position place = kernel.program.places[at].at;
  const auto lane = static_cast<unsigned>(std::countr_zero(part.lanes));
  std::string text = warp.nameOfLane(lane) + " at " +
                     std::to_string(place.line) + ":" +
                     std::to_string(place.column) + " for ";
  if (part.wait == Wait::Barrier)
    return text + (part.members == kClusterBarrier
                       ? std::string("its cluster")
                       : "barrier " + std::to_string(part.members));
  return text + "lanes " + hex(part.members & warp.live & ~part.lanes);
}

/// Nothing runs any more: says who waits where.
void Worker::setDeadlock(const std::vector<BlockState *> &blocks) {
  constexpr size_t mostNamed = 4;
  Fault fault;
  fault.kind = Fault::Kind::Deadlock;
  std::string text;
  size_t named = 0, all = 0;
  for (const BlockState *block : blocks)
    for (const Warp &warp : block->warps)
      for (const Part &part : warp.parts) {
        if (all++ == 0) {
          fault.block = block->number;
          fault.warp = warp.number;
          fault.lanes = part.lanes;
          fault.at = part.wait == Wait::Barrier ? part.pc - 1 : part.pc;
        }
        if (part.wait != Wait::Barrier && fault.kind == Fault::Kind::Deadlock)
          fault.kind = Fault::Kind::DivergentSync;
        if (named < mostNamed) {
          text += (named ? "; " : "") + describeWait(warp, part);
          ++named;
        }
      }
  if (all > named)
    text += "; and " + std::to_string(all - named) + " more";
  fault.message =
      "launch: expected threads that go on, got all waiting: " + text;
  state.fault = fault;
}

/// All that run poll mbarriers whose phases nobody completes.
void Worker::setVainWaits(const BlockState &block) {
  Fault fault;
  fault.kind = Fault::Kind::Deadlock;
  fault.block = block.number;
  std::string where = "nowhere";
  for (const Warp &warp : block.warps)
    if (warp.active != 0 && where == "nowhere") {
      fault.warp = warp.number;
      fault.lanes = warp.active;
      fault.at = warp.at();
      where = warp.nameOfLane(unsigned(std::countr_zero(warp.active)));
    }
  fault.message = "launch: expected an mbarrier whose phase ends, got " +
                  std::to_string(kVainWaits) +
                  " waits for none that does, one by " + where;
  state.fault = fault;
}
