//===- CheckCopies.cpp - Copies that arrive later -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Checker.h"
#include "kvc/Sim/Check/Lanes.h"

using namespace kvc::sim;

void Checker::onAsyncCopy(const WarpInfo &warp, uint32_t at,
                          const AsyncCopy &copy) {
  BlockState &state = stateOf(warp.block);
  AccessRecord record;
  record.block = warp.block;
  record.warp = uint16_t(warp.warp);
  record.at = at;
  const LaneMask rows = orderSources(state, record, copy);
  eachLane(copy.lanes, [&](unsigned lane) {
    const uint32_t thread = warp.warp * kLanes + lane;
    const uint64_t from = copy.sources[lane], to = copy.destinations[lane];
    const uint32_t bytes = copy.bytes[lane], read = copy.sourceBytes[lane];
    record.lanes = LaneMask(1) << lane;
    record.time = state.clocks.now();
    copyShadow(state, warp, at, copy, lane);
    if (read > 0 && !(rows >> lane & 1)) {
      if (copy.isBulk)
        record.proxy =
            copy.from == MemorySpace::Shared ? Proxy::AsyncRead : Proxy::Async;
      race(state, record, copy.from, true, false, from, read);
    }
    if (bytes == 0)
      return;
    if (copy.to == MemorySpace::Shared && state.copiesOnTheWay > 0) {
      MemoryAccess access;
      access.kind = MemoryAccess::Kind::Write;
      access.space = MemorySpace::Shared;
      access.lanes = LaneMask(1) << lane;
      access.bytes = bytes;
      access.addresses = copy.destinations;
      checkOnTheWay(state, warp, at, access);
    }
    record.proxy = copy.isBulk ? Proxy::Async : Proxy::Generic;
    race(state, record, copy.to, false, true, to, bytes);
    if (copy.to != MemorySpace::Shared)
      return;
    Copy pending;
    pending.thread = thread;
    pending.at = at;
    pending.to = to;
    pending.bytes = bytes;
    pending.group = state.groups[copy.isBulk][thread];
    pending.isBulk = copy.isBulk;
    pending.mbarrier = copy.mbarrier;
    if (copy.mbarrier)
      state.mbarriers[*copy.mbarrier].arrived.join(
          state.clocks.release(thread));
    // Copies that have arrived make room.
    if (state.copiesOnTheWay == 0)
      state.copies.clear();
    state.copies.push_back(pending);
    ++state.copiesOnTheWay;
    for (uint64_t word = to / 4; word <= (to + bytes - 1) / 4; ++word)
      if (word < state.onTheWay.size())
        state.onTheWay[word] = static_cast<uint32_t>(state.copies.size());
  });
}

/// Lanes whose sources fill rows of global memory are judged together: these.
/// Rows of shared memory are read in other pieces than they are written in.
LaneMask Checker::orderSources(BlockState &state, AccessRecord record,
                               const AsyncCopy &copy) {
  if (copy.from != MemorySpace::Global || copy.isBulk)
    return 0;
  MemoryAccess access;
  access.bytes = copy.bytes[std::countr_zero(copy.lanes)];
  access.addresses = copy.sources;
  eachLane(copy.lanes, [&](unsigned lane) {
    access.lanes |= LaneMask(copy.sourceBytes[lane] == access.bytes) << lane;
  });
  record.time = state.clocks.now();
  record.step = uint8_t(access.bytes);
  LaneMask judged = 0;
  for (LaneMask rest = access.lanes; rest != 0; rest &= rest - 1) {
    record.lanes = lanesOnRow(access, rest);
    if (record.lanes == 0 ||
        !globalRaces.accessRow(state.clocks, record, true, false,
                               copy.sources[std::countr_zero(rest)], nullptr))
      continue;
    judged |= record.lanes;
    rest &= ~record.lanes | (rest & (~rest + 1));
  }
  return judged;
}

/// The data is there: written by the thread that has waited, or by the copy
/// for those who look at its mbarrier.
void Checker::finish(BlockState &state, uint64_t block, Copy &copy, Time time,
                     bool isCopy) {
  copy.isDone = true;
  --state.copiesOnTheWay;
  const auto number = static_cast<uint32_t>(&copy - state.copies.data()) + 1;
  for (uint64_t word = copy.to / 4; word <= (copy.to + copy.bytes - 1) / 4;
       ++word)
    if (word < state.onTheWay.size() && state.onTheWay[word] == number)
      state.onTheWay[word] = 0;
  AccessRecord record;
  record.block = block;
  record.warp = uint16_t(copy.thread / kLanes);
  record.lanes = LaneMask(1) << copy.thread % kLanes;
  record.at = copy.at;
  record.time = time;
  record.isCopy = isCopy;
  record.proxy = copy.isBulk ? Proxy::Async : Proxy::Generic;
  race(state, record, MemorySpace::Shared, false, true, copy.to, copy.bytes);
}

void Checker::waitForGroups(BlockState &state, const WarpInfo &warp,
                            uint32_t at, LaneMask lanes) {
  const Inst &inst = launch.program->code[at];
  const Modifiers &modifiers = launch.program->modifiersOf(inst);
  const bool isBulk = inst.family == Family::CpBulkWait;
  const bool isAll = modifiers.has(Word::WaitAll);
  const auto slots = launch.program->slotsOf(inst);
  const uint64_t keep =
      isAll || slots.empty()
          ? 0
          : uint64_t(launch.program->immediates[slots[0].index()]);
  for (Copy &copy : state.copies) {
    if (copy.isDone || copy.isBulk != isBulk ||
        copy.thread / kLanes != warp.warp ||
        !(lanes >> copy.thread % kLanes & 1))
      continue;
    const uint32_t closed = state.groups[isBulk][copy.thread];
    // Of the groups that are closed, the last `keep` may be on their way.
    if (isAll || (copy.group < closed && closed - copy.group > keep))
      finish(state, warp.block, copy, state.clocks.now(), false);
  }
  forgetCopies(state);
}

/// Where some copies are always on their way, those that have arrived would
/// become ever more.
void Checker::forgetCopies(BlockState &state) {
  constexpr size_t few = 256;
  if (state.copies.size() < few + 2 * state.copiesOnTheWay)
    return;
  size_t kept = 0;
  for (size_t i = 0; i < state.copies.size(); ++i) {
    const Copy &copy = state.copies[i];
    if (copy.isDone)
      continue;
    const auto before = static_cast<uint32_t>(i) + 1;
    const auto after = static_cast<uint32_t>(++kept);
    for (uint64_t word = copy.to / 4; word <= (copy.to + copy.bytes - 1) / 4;
         ++word)
      if (word < state.onTheWay.size() && state.onTheWay[word] == before)
        state.onTheWay[word] = after;
    state.copies[after - 1] = copy;
  }
  state.copies.resize(kept);
}

void Checker::checkOnTheWay(BlockState &state, const WarpInfo &warp,
                            uint32_t at, const MemoryAccess &access) {
  eachLane(access.lanes, [&](unsigned lane) {
    const uint64_t from = access.addresses[lane];
    for (uint64_t word = from / 4; word <= (from + access.bytes - 1) / 4;
         ++word) {
      if (word >= state.onTheWay.size() || state.onTheWay[word] == 0)
        continue;
      const Copy &copy = state.copies[state.onTheWay[word] - 1];
      report(Finding::Kind::Async, at, copy.at,
             describePlace(launch, at) + ": " +
                 describeThread(launch, warp.block, warp.warp * kLanes + lane) +
                 (access.kind == MemoryAccess::Kind::Write ? " writes "
                                                           : " reads ") +
                 describe(access.space, word * 4) + ", which the copy of " +
                 describeThread(launch, warp.block, copy.thread) + " in " +
                 describePlace(launch, copy.at) +
                 " has yet to bring: no wait comes in between");
      return;
    }
  });
}
