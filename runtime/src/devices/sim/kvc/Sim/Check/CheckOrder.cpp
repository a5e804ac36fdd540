//===- CheckOrder.cpp - Races and barriers --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Checker.h"
#include "kvc/Sim/Check/Lanes.h"

#include <algorithm>

using namespace kvc::sim;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static Strength strengthOf(const MemoryAccess &access, bool isInit) {
  if (isInit)
    return Strength::Weak;
  if (access.kind == MemoryAccess::Kind::Mbarrier)
    return Strength::Block;
  const bool isStrong = access.kind == MemoryAccess::Kind::Atomic ||
                        access.order != MemoryOrder::Weak;
  if (!isStrong)
    return Strength::Weak;
  return access.scope == MemoryScope::Cta ? Strength::Block : Strength::Device;
}

/// A number that is the same for lanes that write the same.
static uint32_t valueOf(const Program &program, const WarpInfo &warp,
                        const Inst &inst, unsigned lane) {
  uint64_t hash = 1469598103934665603u;
  auto mix = [&](uint32_t word) { hash = (hash ^ word) * 1099511628211u; };
  const auto slots = program.slotsOf(inst);
  // An address comes first.
  for (size_t i = 2; i < slots.size(); ++i) {
    const Slot slot = slots[i];
    const bool isConstant = slot.file() == Slot::File::Constant;
    if (slot.file() != Slot::File::Register && !isConstant)
      continue;
    const uint32_t *row = (isConstant ? warp.constants : warp.registers) +
                          size_t(slot.index()) * kLanes +
                          size_t(lane) * slot.rows();
    for (unsigned word = 0; word < slot.rows(); ++word)
      mix(row[word]);
  }
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

/// Whether all lanes of a warp must come to a barrier together: bar, and
/// barrier with .aligned.
static bool isAligned(const Program &program, uint32_t at) {
  const Modifiers &modifiers = program.modifiersOf(program.code[at]);
  return modifiers.form->name == "bar" || modifiers.has(Word::Aligned);
}

/// The lanes whose registers hold parts of a row of an 8x8 matrix, whichever
/// lane gives its address.
static LaneMask lanesOfRow(unsigned row, bool isTransposed) {
  return isTransposed ? LaneMask(0x11111111) << row / 2
                      : LaneMask(0xF) << 4 * row;
}

LaneMask kvc::sim::lanesOnRow(const MemoryAccess &access, LaneMask rest) {
  constexpr uint64_t kRow = RaceMemory::kRowBytes;
  const auto first = unsigned(std::countr_zero(rest));
  const uint64_t begin = access.addresses[first];
  const uint32_t bytes = access.bytes;
  if (begin % kRow != 0 || bytes < 2 || bytes >= kRow ||
      !std::has_single_bit(bytes))
    return 0;
  const auto count = unsigned(kRow / bytes);
  const LaneMask lanes = (kAllLanes >> (kLanes - count)) << first;
  if (first + count > kLanes || (rest & lanes) != lanes)
    return 0;
  uint64_t differs = 0;
  for (unsigned i = 1; i < count; ++i)
    differs |= access.addresses[first + i] ^ (begin + uint64_t(i) * bytes);
  return differs == 0 ? lanes : 0;
}

void Checker::order(BlockState &state, const WarpInfo &warp, uint32_t at,
                    const MemoryAccess &access) {
  using Kind = MemoryAccess::Kind;
  const Inst &inst = launch.program->code[at];
  const bool isInit = access.kind == Kind::Mbarrier &&
                      launch.program->modifiersOf(inst).has(Word::Init);
  AccessRecord record;
  record.block = warp.block;
  record.warp = uint16_t(warp.warp);
  record.at = at;
  record.time = state.clocks.now();
  record.strength = strengthOf(access, isInit);
  record.isConstant = inst.family == Family::LdNc;
  const bool isStrong =
      record.strength != Strength::Weak && access.kind != Kind::Mbarrier;
  const bool reads = access.kind != Kind::Write;
  const bool writes = access.kind != Kind::Read;
  const bool tellsValue =
      access.kind == Kind::Write && inst.family == Family::St;
  const bool isShared = access.space == MemorySpace::Shared;
  const bool isMatrix =
      inst.family == Family::LdMatrix || inst.family == Family::StMatrix;
  const bool isTransposed =
      isMatrix && launch.program->modifiersOf(inst).has(Word::Trans);
  auto orderLane = [&](unsigned lane) {
    const uint64_t address = access.addresses[lane];
    const uint32_t thread = warp.warp * kLanes + lane;
    const uint64_t block =
        isShared && access.blocks ? access.blocks[lane] : warp.block;
    // The memory of other blocks has clocks of its own: not followed.
    if (isShared && block != warp.block)
      return;
    // Acquiring reads hear before their own access is judged.
    if (isStrong && reads) {
      if (isShared) {
        const auto told = state.told.find(address);
        if (told != state.told.end())
          hear(state, thread, access, told->second, warp.block);
      } else {
        const auto told = globalTold.find(address);
        if (told != globalTold.end())
          hear(state, thread, access, told->second, warp.block);
      }
    }
    record.lanes =
        isMatrix ? lanesOfRow(lane % 8, isTransposed) : LaneMask(1) << lane;
    record.step = 0;
    if (tellsValue)
      record.value = valueOf(*launch.program, warp, inst, lane);
    race(state, record, access.space, reads, writes, address, access.bytes);
  };
  auto orderRow = [&](LaneMask lanes) {
    const auto first = unsigned(std::countr_zero(lanes));
    uint32_t values[kLanes] = {};
    if (tellsValue)
      eachLane(lanes, [&](unsigned lane) {
        values[lane] = valueOf(*launch.program, warp, inst, lane);
      });
    record.lanes = lanes;
    record.step = uint8_t(access.bytes);
    record.value = 0;
    RaceMemory &memory = isShared ? state.races : globalRaces;
    return memory.accessRow(state.clocks, record, reads, writes,
                            access.addresses[first],
                            tellsValue ? values : nullptr);
  };
  const bool hasRows =
      !isMatrix && record.strength == Strength::Weak && !access.blocks;
  LaneMask rest = access.lanes;
  while (rest != 0) {
    const LaneMask row = hasRows ? lanesOnRow(access, rest) : 0;
    if (row != 0 && orderRow(row)) {
      rest &= ~row;
      continue;
    }
    orderLane(unsigned(std::countr_zero(rest)));
    rest &= rest - 1;
  }
  // Lanes of one instruction are judged at one time, so they tell afterwards.
  if (isStrong && writes)
    eachLane(access.lanes, [&](unsigned lane) {
      tell(state, warp.warp * kLanes + lane, access, warp.block,
           access.addresses[lane]);
    });
}

void Checker::race(BlockState &state, const AccessRecord &record,
                   MemorySpace space, bool reads, bool writes, uint64_t address,
                   uint32_t bytes) {
  RaceMemory &memory = space == MemorySpace::Shared ? state.races : globalRaces;
  const std::optional<RaceFound> found =
      memory.access(state.clocks, record, reads, writes, address, bytes);
  if (!found)
    return;
  const AccessRecord &earlier = found->earlier;
  auto threadOf = [](const AccessRecord &access) {
    return access.warp * kLanes + unsigned(std::countr_zero(access.lanes));
  };
  auto nameOf = [&](const AccessRecord &access) {
    return describeThread(launch, access.block, threadOf(access));
  };
  std::string why = "; nothing says which comes first";
  if (record.isConstant || earlier.isConstant)
    why = "; what .nc reads must not be written by the kernel";
  else if (record.proxy == Proxy::AsyncRead &&
           earlier.proxy == Proxy::Generic &&
           state.clocks.knows(threadOf(record), threadOf(earlier),
                              earlier.time))
    why = "; no fence.proxy.async lies in between";
  report(Finding::Kind::Race, record.at, earlier.at,
         describePlace(launch, record.at) + ": " + nameOf(record) + " " +
             (writes ? "writes " : "reads ") + describe(space, address) +
             ", which " + nameOf(earlier) + " " +
             (found->wasWrite ? "writes" : "reads") + " in " +
             describePlace(launch, earlier.at) + why);
}

/// What a strong read learns of those whose write it may have read.
void Checker::hear(BlockState &state, uint32_t thread,
                   const MemoryAccess &access, const Told &told,
                   uint64_t block) {
  Message message;
  if (access.scope != MemoryScope::Cta) {
    message.grid = told.message.grid;
    message.fenced.wide = told.message.fenced.wide;
  }
  if (told.block == block) {
    message.times = told.message.times;
    message.fenced.here = told.message.fenced.here;
    message.halves = told.message.halves;
    message.proxied = told.message.proxied;
  }
  if (access.order == MemoryOrder::Acquire ||
      access.order == MemoryOrder::AcqRel)
    state.clocks.acquire(thread, message);
  else
    state.clocks.relaxedAcquire(thread, message);
}

void Checker::tell(BlockState &state, uint32_t thread,
                   const MemoryAccess &access, uint64_t block,
                   uint64_t address) {
  const bool isWide = access.scope != MemoryScope::Cta;
  const bool isRelease = access.order == MemoryOrder::Release ||
                         access.order == MemoryOrder::AcqRel;
  Message message = isRelease ? state.clocks.release(thread)
                              : state.clocks.relaxedRelease(thread, isWide);
  if (isRelease)
    message.fenced = state.clocks.fencesOf(thread, isWide);
  if (!isWide)
    message.grid.clear();
  const bool isUpdate = access.kind == MemoryAccess::Kind::Atomic;
  ToldByAddress &all =
      access.space == MemorySpace::Shared ? state.told : globalTold;
  const auto before = all.find(address);
  // A plain write ends what other threads told here; what its own thread told
  // goes on behind it, and an update passes everything on.
  const bool isOwn = before != all.end() && before->second.block == block &&
                     before->second.thread == thread;
  if (before != all.end() && !isUpdate && !isOwn)
    all.erase(before);
  if (message.isEmpty())
    return;
  const auto [place, isFirst] = all.try_emplace(address);
  Told &told = place->second;
  if (!isFirst && told.block != block) {
    told.message.times.clear();
    told.message.fenced.here.clear();
    told.message.halves = {};
    told.message.proxied.clear();
  }
  told.thread = isFirst || isOwn ? thread : Told::kMany;
  told.block = block;
  told.message.join(message);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void Checker::onBarrierArrive(const WarpInfo &warp, uint32_t at, LaneMask lanes,
                              uint32_t id, bool waits) {
  BlockState &state = stateOf(warp.block);
  Barrier &barrier = state.barriers[id % std::size(state.barriers)];
  if (isAligned(*launch.program, at))
    meet(state, barrier, warp, at, lanes);
  eachLane(lanes, [&](unsigned lane) {
    const uint32_t thread = warp.warp * kLanes + lane;
    if (waits)
      barrier.waiting.push_back(thread);
    else
      barrier.told.join(state.clocks.release(thread));
  });
}

/// Lanes of a warp may come in parts, but to one instruction and all of them.
void Checker::meet(const BlockState &state, Barrier &barrier,
                   const WarpInfo &warp, uint32_t at, LaneMask lanes) {
  for (Barrier::Visit &visit : barrier.visits) {
    // It may arrive more than once, each time as a whole.
    if (visit.warp != warp.warp || (state.live[warp.warp] & ~visit.lanes) == 0)
      continue;
    if (visit.at != at) {
      const auto lane = unsigned(std::countr_zero(lanes));
      const auto other = unsigned(std::countr_zero(visit.lanes));
      report(
          Finding::Kind::Sync, at, visit.at,
          describePlace(launch, at) + ": " +
              describeThread(launch, warp.block, warp.warp * kLanes + lane) +
              " comes to a barrier where all lanes of its warp must come, "
              "and " +
              describeThread(launch, warp.block, warp.warp * kLanes + other) +
              " to the one in " + describePlace(launch, visit.at));
    }
    visit.lanes |= lanes;
    return;
  }
  barrier.visits.push_back({warp.warp, at, lanes});
}

void Checker::checkMet(const BlockState &state, const Barrier &barrier,
                       uint64_t block) {
  for (const Barrier::Visit &visit : barrier.visits) {
    const LaneMask absent = state.live[visit.warp] & ~visit.lanes;
    if (absent == 0)
      continue;
    const auto lane = unsigned(std::countr_zero(absent));
    report(Finding::Kind::Sync, visit.at, kNowhere,
           describePlace(launch, visit.at) + ": " +
               describeThread(launch, block, visit.warp * kLanes + lane) +
               " does not come to a barrier where all lanes of its warp must "
               "come");
  }
}

void Checker::complete(BlockState &state, Barrier &barrier) {
  size_t alive = 0;
  for (LaneMask lanes : state.live)
    alive += size_t(std::popcount(lanes));
  if (barrier.waiting.size() == alive && barrier.told.isEmpty()) {
    state.clocks.syncBlock();
  } else {
    Message all = std::move(barrier.told);
    for (uint32_t thread : barrier.waiting)
      all.join(state.clocks.release(thread));
    for (uint32_t thread : barrier.waiting)
      state.clocks.acquire(thread, all);
  }
  barrier = {};
}

void Checker::onBarrierComplete(uint64_t block, uint32_t id) {
  BlockState &state = stateOf(block);
  Barrier &barrier = state.barriers[id % std::size(state.barriers)];
  checkMet(state, barrier, block);
  complete(state, barrier);
}

void Checker::onClusterArrive(const WarpInfo &warp, uint32_t at,
                              LaneMask lanes) {
  BlockState &state = stateOf(warp.block);
  const bool isRelaxed = isRelaxedAt(at);
  eachLane(lanes, [&](unsigned lane) {
    const uint32_t thread = warp.warp * kLanes + lane;
    state.cluster.told.join(isRelaxed
                                ? state.clocks.relaxedRelease(thread, true)
                                : state.clocks.release(thread));
    state.cluster.waiting.push_back(thread);
  });
}

void Checker::onClusterComplete(uint64_t firstBlock) {
  BlockState &state = stateOf(firstBlock);
  for (uint32_t thread : state.cluster.waiting)
    state.clocks.acquire(thread, state.cluster.told);
  state.cluster = {};
}

bool Checker::isRelaxedAt(uint32_t at) const {
  return launch.program->modifiersOf(launch.program->code[at])
      .has(Word::Relaxed);
}

void Checker::onMbarrier(const WarpInfo &warp, uint32_t at,
                         const MbarrierEvent &event) {
  BlockState &state = stateOf(warp.block);
  const bool isRelaxed = isRelaxedAt(at);
  eachLane(event.lanes, [&](unsigned lane) {
    const uint32_t thread = warp.warp * kLanes + lane;
    const uint64_t offset = event.offsets[lane];
    switch (event.kind) {
    case MbarrierEvent::Kind::Init:
    case MbarrierEvent::Kind::Invalidate:
      state.mbarriers.erase(offset);
      break;
    case MbarrierEvent::Kind::Arrive:
      if (event.isAsync)
        for (Copy &copy : state.copies)
          if (!copy.isDone && copy.thread == thread && !copy.mbarrier)
            copy.mbarrier = offset;
      // What the thread does until its copies have arrived is not told.
      state.mbarriers[offset].arrived.join(
          isRelaxed ? state.clocks.relaxedRelease(thread, true)
                    : state.clocks.release(thread));
      break;
    case MbarrierEvent::Kind::Observe: {
      const Message &complete = state.mbarriers[offset].complete;
      isRelaxed ? state.clocks.relaxedAcquire(thread, complete)
                : state.clocks.acquire(thread, complete);
      break;
    }
    case MbarrierEvent::Kind::ExpectTx:
      break;
    }
  });
}

void Checker::onMbarrierPhase(uint64_t block, uint64_t offset) {
  BlockState &state = stateOf(block);
  Mbarrier &mbarrier = state.mbarriers[offset];
  for (Copy &copy : state.copies)
    if (!copy.isDone && copy.mbarrier == offset) {
      const Time time = state.clocks.arrive(copy.thread, mbarrier.arrived);
      finish(state, block, copy, time, true);
    }
  // A phase hears of the phases before it through those who waited for them.
  mbarrier.complete = std::move(mbarrier.arrived);
  mbarrier.arrived = {};
  forgetCopies(state);
}
