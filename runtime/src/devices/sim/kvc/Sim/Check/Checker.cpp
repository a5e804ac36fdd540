//===- Checker.cpp - Whether a kernel is safe -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Checker.h"

#include "kvc/Sim/Check/Lanes.h"
#include "kvc/Sim/Check/UndefinedResults.h"

#include <algorithm>

using namespace kvc::sim;

Checker::BlockState::BlockState(uint64_t number, const LaunchInfo &launch)
    : clocks(number, static_cast<uint32_t>(launch.block.count())),
      shared(launch.sharedBytes), onTheWay((launch.sharedBytes + 3) / 4, 0),
      groups{std::vector<uint32_t>(launch.block.count(), 0),
             std::vector<uint32_t>(launch.block.count(), 0)} {
  const uint64_t threads = launch.block.count();
  const uint64_t warps = (threads + kLanes - 1) / kLanes;
  locals.assign(warps * kLanes, ByteShadow(launch.program->localBytes));
  registers.assign(warps, UndefinedRegisters(*launch.program));
  unsure.assign(warps, 0);
  for (uint64_t warp = 0; warp < warps; ++warp) {
    const uint64_t left = threads - warp * kLanes;
    live.push_back(left >= kLanes ? kAllLanes : (LaneMask(1) << left) - 1);
  }
}

void Checker::clear() {
  found.clear();
  known.clear();
}

void Checker::report(Finding::Kind kind, uint32_t at, uint32_t other,
                     const std::string &message) {
  if (!kinds.has(kind))
    return;
  const auto [entry, isNew] =
      known.emplace(std::tuple(kind, at, other), found.size());
  if (!isNew) {
    if (entry->second < found.size())
      ++found[entry->second].count;
    return;
  }
  if (found.size() >= kMaxFindings)
    return;
  Finding finding{kind, at, other, 1, message, {}};
  for (uint32_t place : {at, other})
    if (place != kNowhere)
      finding.places.push_back(placeOf(launch, place));
  found.push_back(std::move(finding));
}

Checker::BlockState &Checker::stateOf(uint64_t block) {
  if (block != lastBlock || !last) {
    std::unique_ptr<BlockState> &state = blocks[block];
    if (!state)
      state = std::make_unique<BlockState>(block, launch);
    lastBlock = block;
    last = state.get();
  }
  return *last;
}

//===----------------------------------------------------------------------===//
// Launches, blocks, memory
//===----------------------------------------------------------------------===//

void Checker::onLaunch(const LaunchInfo &info) {
  launch = info;
  blocks.clear();
  last = nullptr;
  globalRaces = {};
  globalTold.clear();
  undefinedLoads.clear();
  known.clear();
}

void Checker::onLaunchEnd() {
  blocks.clear();
  last = nullptr;
}

void Checker::onBlock(uint64_t block) { stateOf(block); }

void Checker::onBlockEnd(uint64_t block) {
  blocks.erase(block);
  last = nullptr;
}

void Checker::onAllocate(uint64_t address, uint64_t bytes,
                         std::string_view name) {
  global.allocate(address, bytes, std::string(name));
}

void Checker::onFree(uint64_t address) { global.free(address); }

void Checker::onHostWrite(uint64_t address, uint64_t bytes) {
  global.define(address, bytes);
}

void Checker::onFault(const Fault &fault) {
  const Finding finding = findingOf(launch, fault);
  report(finding.kind, fault.at, kNowhere, finding.message);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static FenceKind fenceKindOf(const Modifiers &modifiers) {
  const bool acquires = modifiers.has(Word::Acquire);
  const bool releases = modifiers.has(Word::Release);
  FenceKind kind;
  // Of mbarrier.init and of shared memory alone: no further than a cluster,
  // which is one block.
  kind.isWide = !modifiers.has(Word::Cta) &&
                !modifiers.has(Word::MbarrierInit) &&
                !modifiers.has(Word::SyncRestrictSharedCluster) &&
                !modifiers.has(Word::SyncRestrictSharedCta);
  kind.isSequential =
      modifiers.has(Word::Sc) || modifiers.form->name == "membar";
  kind.acquires = acquires || !releases;
  kind.releases = releases || !acquires;
  return kind;
}

void Checker::onStep(const WarpInfo &warp, uint32_t at, LaneMask active,
                     LaneMask lanes) {
  BlockState &state = stateOf(warp.block);
  const Inst &inst = launch.program->code[at];
  UndefinedRegisters &registers = state.registers[warp.warp];
  const LaneMask unsure = registers.undefinedLanes(inst.guard, active);
  if (unsure != 0 && hasTrait(inst.family, kEffect))
    checkDefined(state, warp, at, inst.guard, unsure,
                 inst.family == Family::Bra ? "where it goes"
                                            : "whether it runs");
  if (lanes != 0) {
    const bool isTogether = hasTrait(inst.family, kTogether);
    if (hasTrait(inst.family, kDecides) && !isTogether)
      checkOperands(state, warp, at, lanes);
    if (!isTogether && !hasTrait(inst.family, kElsewhere))
      runUndefined(registers, *launch.program, warp, at, lanes);
    switch (inst.family) {
    case Family::Call:
      passParams(state, warp, at, lanes);
      break;
    case Family::Ret:
      passResults(state, warp, at, lanes);
      break;
    case Family::Exit:
      state.live[warp.warp] &= ~lanes;
      break;
    case Family::Fence: {
      const FenceKind kind = fenceKindOf(launch.program->modifiersOf(inst));
      eachLane(lanes, [&](unsigned lane) {
        state.clocks.fence(warp.warp * kLanes + lane, kind);
      });
      break;
    }
    case Family::FenceProxy: {
      const Modifiers &modifiers = launch.program->modifiersOf(inst);
      // That of global memory alone lets no copy see shared memory.
      if (modifiers.has(Word::Async) && !modifiers.has(Word::Global))
        eachLane(lanes, [&](unsigned lane) {
          state.clocks.fenceProxy(warp.warp * kLanes + lane);
        });
      break;
    }
    case Family::CpAsyncCommit:
    case Family::CpBulkCommit:
      eachLane(lanes, [&](unsigned lane) {
        ++state.groups[inst.family == Family::CpBulkCommit]
                      [warp.warp * kLanes + lane];
      });
      break;
    case Family::CpAsyncWait:
    case Family::CpBulkWait:
      waitForGroups(state, warp, at, lanes);
      break;
    default:
      break;
    }
  }
  state.unsure[warp.warp] = unsure;
  if (unsure != 0 && !hasTrait(inst.family, kEffect))
    leaveOpen(state, warp, at, unsure);
}

/// Whether it ran in these lanes is open, and so is what it leaves.
void Checker::leaveOpen(BlockState &state, const WarpInfo &warp, uint32_t at,
                        LaneMask lanes) {
  for (const Slot &slot : launch.program->slotsOf(launch.program->code[at]))
    if (slot.isWritten())
      eachLane(lanes, [&](unsigned lane) {
        state.registers[warp.warp].set(slot, lane, ~uint64_t(0), at);
      });
}

void Checker::onWarpSync(const WarpInfo &warp, uint32_t at, LaneMask members) {
  BlockState &state = stateOf(warp.block);
  const Inst &inst = launch.program->code[at];
  if (inst.family == Family::BarWarp) {
    state.clocks.syncWarp(warp.warp, members);
    return;
  }
  if (!hasTrait(inst.family, kTogether))
    return;
  if (hasTrait(inst.family, kDecides))
    checkOperands(state, warp, at, members);
  if (inst.family != Family::LdMatrix && inst.family != Family::StMatrix)
    runUndefined(state.registers[warp.warp], *launch.program, warp, at,
                 members);
}

void Checker::onAccess(const WarpInfo &warp, uint32_t at,
                       const MemoryAccess &access) {
  using Kind = MemoryAccess::Kind;
  if (access.kind == Kind::Prefetch)
    return;
  BlockState &state = stateOf(warp.block);
  if (access.space == MemorySpace::Shared && state.copiesOnTheWay > 0)
    checkOnTheWay(state, warp, at, access);
  const bool isMatrix = launch.program->code[at].family == Family::LdMatrix ||
                        launch.program->code[at].family == Family::StMatrix;
  switch (access.kind) {
  case Kind::Read:
    isMatrix ? loadMatrix(state, warp, at, access)
             : load(state, warp, at, access);
    // What came is there only if the load ran.
    if (const LaneMask open = state.unsure[warp.warp] & access.lanes)
      leaveOpen(state, warp, at, open);
    break;
  case Kind::Write:
    isMatrix ? storeMatrix(state, warp, at, access)
             : store(state, warp, at, access);
    break;
  case Kind::Atomic:
    update(state, warp, at, access);
    break;
  case Kind::Mbarrier:
    eachLane(access.lanes, [&](unsigned lane) {
      state.shared.define(access.addresses[lane], access.bytes);
    });
    break;
  case Kind::Prefetch:
    break;
  }
  if (access.space == MemorySpace::Global ||
      access.space == MemorySpace::Shared)
    order(state, warp, at, access);
}
