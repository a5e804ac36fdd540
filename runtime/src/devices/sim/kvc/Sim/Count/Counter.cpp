//===- Counter.cpp - What a kernel asks of a device -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Count/Counter.h"

#include "kvc/Sim/Count/Coalescing.h"

#include <bit>

using namespace kvc::sim;

AccessCounts &AccessCounts::operator+=(const AccessCounts &other) {
  requests += other.requests;
  bytes += other.bytes;
  sectors += other.sectors;
  wavefronts += other.wavefronts;
  idealWavefronts += other.idealWavefronts;
  return *this;
}

InstructionCounts &
InstructionCounts::operator+=(const InstructionCounts &other) {
  issued += other.issued;
  lanes += other.lanes;
  skipped += other.skipped;
  divergences += other.divergences;
  global += other.global;
  shared += other.shared;
  return *this;
}

std::string_view kvc::sim::nameOf(Group group) {
  static constexpr std::string_view names[] = {
      "move", "alu", "fma", "mma", "sfu", "memory", "control"};
  return names[static_cast<size_t>(group)];
}

Group kvc::sim::groupOf(Class kind) {
  switch (kind) {
  case Class::Move:
    return Group::Move;
  case Class::Alu:
  case Class::Convert:
  case Class::Exchange:
    return Group::Alu;
  case Class::Fma:
  case Class::Half:
  case Class::Fp64:
    return Group::Fma;
  case Class::Sfu:
    return Group::Sfu;
  case Class::Mma:
    return Group::Mma;
  case Class::Matrix:
  case Class::Memory:
  case Class::Atomic:
  case Class::Async:
    return Group::Memory;
  case Class::Barrier:
  case Class::Control:
    break;
  }
  return Group::Control;
}

void Counter::onLaunch(const LaunchInfo &info) {
  result = {};
  result.launch = info;
  result.instructions.resize(info.program->code.size());
  gathers.clear();
  for (const Inst &inst : info.program->code)
    gathers.push_back(hasTrait(inst.family, kTogether));
  read = {};
  written = {};
}

void Counter::onLaunchEnd() {
  const Program &program = *result.launch.program;
  for (size_t i = 0; i < program.code.size(); ++i) {
    const InstructionCounts &here = result.instructions[i];
    const Class kind = program.modifiersOf(program.code[i]).form->kind;
    result.issued += here.issued;
    result.lanes += here.lanes;
    result.skipped += here.skipped;
    result.divergences += here.divergences;
    result.shared += here.shared;
    result.byClass[size_t(kind)] += here.issued;
    result.byGroup[size_t(groupOf(kind))] += here.issued;
    const Family family = program.code[i].family;
    if (family == Family::BarWarp)
      result.warpBarriers += here.issued;
    if (family == Family::Bar || family == Family::BarRed ||
        family == Family::BarWarp || family == Family::BarCluster)
      result.barrierInstructions += here.issued;
    if (kind == Class::Atomic)
      result.atomics += here.issued;
  }
  result.uniqueBytesRead = read.bytes();
  result.uniqueBytesWritten = written.bytes();
  result.uniqueSectors = read.sectorsWith(written);
}

void Counter::onStep(const WarpInfo &, uint32_t at, LaneMask, LaneMask lanes) {
  InstructionCounts &here = result.instructions[at];
  if (lanes != 0 && gathers[at])
    return;
  ++here.issued;
  here.lanes += uint64_t(std::popcount(lanes));
  here.skipped += lanes == 0;
}

void Counter::onWarpSync(const WarpInfo &, uint32_t at, LaneMask members) {
  if (!gathers[at])
    return;
  ++result.instructions[at].issued;
  result.instructions[at].lanes += uint64_t(std::popcount(members));
}

void Counter::onDivergence(const WarpInfo &, uint32_t at) {
  ++result.instructions[at].divergences;
}

void Counter::onBarrierComplete(uint64_t, uint32_t) { ++result.barriers; }

void Counter::addGlobal(AccessCounts &total, InstructionCounts &here,
                        const uint64_t *addresses, LaneMask lanes,
                        uint32_t bytes) {
  AccessCounts counts;
  counts.requests = 1;
  counts.bytes = uint64_t(std::popcount(lanes)) * bytes;
  counts.sectors = sectorsOf(addresses, lanes, bytes);
  total += counts;
  here.global += counts;
}

void Counter::addShared(InstructionCounts &here, const uint64_t *offsets,
                        LaneMask lanes, uint32_t bytes, bool isAtomic) {
  const Wavefronts wavefronts = wavefrontsOf(offsets, lanes, bytes, isAtomic);
  ++here.shared.requests;
  here.shared.bytes += uint64_t(std::popcount(lanes)) * bytes;
  here.shared.wavefronts += wavefronts.count;
  here.shared.idealWavefronts += wavefronts.ideal;
}

/// Adds what lanes touch, neighbours at once.
static void touch(TouchedBytes &set, const uint64_t *addresses, LaneMask lanes,
                  uint32_t bytes) {
  uint64_t from = 0, to = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint64_t address = addresses[std::countr_zero(lanes)];
    if (address == to) {
      to += bytes;
      continue;
    }
    set.add(from, to - from);
    from = address;
    to = address + bytes;
  }
  set.add(from, to - from);
}

void Counter::onAccess(const WarpInfo &, uint32_t at,
                       const MemoryAccess &access) {
  using Kind = MemoryAccess::Kind;
  if (access.kind == Kind::Prefetch)
    return;
  InstructionCounts &here = result.instructions[at];
  const bool isAtomic = access.kind == Kind::Atomic;
  switch (access.space) {
  case MemorySpace::Global:
    addGlobal(isAtomic                     ? result.globalAtomics
              : access.kind == Kind::Write ? result.globalWrites
                                           : result.globalReads,
              here, access.addresses, access.lanes, access.bytes);
    if (access.kind != Kind::Write)
      touch(read, access.addresses, access.lanes, access.bytes);
    if (access.kind != Kind::Read)
      touch(written, access.addresses, access.lanes, access.bytes);
    return;
  case MemorySpace::Shared:
    addShared(here, access.addresses, access.lanes, access.bytes, isAtomic);
    return;
  case MemorySpace::Local:
    ++result.local.requests;
    result.local.bytes += uint64_t(std::popcount(access.lanes)) * access.bytes;
    return;
  default:
    return;
  }
}

void Counter::onAsyncCopy(const WarpInfo &, uint32_t at,
                          const AsyncCopy &copy) {
  InstructionCounts &here = result.instructions[at];
  for (LaneMask rest = copy.lanes; rest != 0; rest &= rest - 1)
    result.asyncBytes += copy.bytes[std::countr_zero(rest)];
  // Lanes of one instruction that copy the same number of bytes are one
  // request; a bulk copy is its lane's own.
  auto add = [&](MemorySpace space, const uint64_t *addresses,
                 const uint32_t *bytes, bool isWrite) {
    LaneMask rest = copy.lanes;
    while (rest != 0) {
      const int first = std::countr_zero(rest);
      LaneMask same = LaneMask(1) << first;
      for (LaneMask others = rest; others != 0 && !copy.isBulk;
           others &= others - 1)
        if (bytes[std::countr_zero(others)] == bytes[first])
          same |= others & (~others + 1);
      rest &= ~same;
      if (bytes[first] == 0)
        continue;
      if (space == MemorySpace::Shared && !copy.isBulk)
        addShared(here, addresses, same, bytes[first], false);
      if (space != MemorySpace::Global)
        continue;
      AccessCounts counts;
      counts.requests = 1;
      counts.bytes = uint64_t(std::popcount(same)) * bytes[first];
      counts.sectors =
          copy.isBulk ? (addresses[first] + bytes[first] - 1) / kSectorBytes -
                            addresses[first] / kSectorBytes + 1
                      : sectorsOf(addresses, same, bytes[first]);
      here.global += counts;
      (isWrite ? result.globalWrites : result.globalReads) += counts;
      touch(isWrite ? written : read, addresses, same, bytes[first]);
    }
  };
  add(copy.from, copy.sources, copy.sourceBytes, false);
  add(copy.to, copy.destinations, copy.bytes, true);
}
