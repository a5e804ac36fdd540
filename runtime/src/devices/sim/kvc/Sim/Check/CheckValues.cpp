//===- CheckValues.cpp - Values that were never set -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Checker.h"
#include "kvc/Sim/Check/Lanes.h"
#include "kvc/Sim/Numerics/Fragment.h"

#include <algorithm>

using namespace kvc::sim;

using File = Slot::File;

/// The most that one lane accesses.
static constexpr uint32_t kMostBytes = 64;

std::string Checker::describe(MemorySpace space, uint64_t address) {
  if (space == MemorySpace::Global)
    return global.describe(address);
  return describeOffset(*launch.program, space, address) + " of " +
         std::string(nameOf(space)) + " memory";
}

/// The shadow that holds an address, which becomes the offset in it; null:
/// memory that counts as defined.
ByteShadow *Checker::shadowOf(BlockState &state, MemorySpace space,
                              uint32_t thread, uint64_t &address) {
  switch (space) {
  case MemorySpace::Global: {
    GlobalShadow::Object *object = global.find(address, address);
    return object ? &object->shadow : nullptr;
  }
  case MemorySpace::Shared:
    return &state.shared;
  case MemorySpace::Local:
    return &state.locals[thread];
  default:
    return nullptr;
  }
}

void Checker::readShadow(BlockState &state, MemorySpace space, uint32_t thread,
                         uint64_t address, uint8_t *to, uint32_t bytes) {
  if (const ByteShadow *shadow = shadowOf(state, space, thread, address))
    return shadow->read(address, to, bytes);
  std::fill_n(to, bytes, uint8_t(0));
}

void Checker::writeShadow(BlockState &state, MemorySpace space, uint32_t thread,
                          uint64_t address, const uint8_t *from,
                          uint32_t bytes) {
  if (ByteShadow *shadow = shadowOf(state, space, thread, address))
    shadow->write(address, from, bytes);
}

/// Bytes behind the source's become zeros.
void Checker::copyShadow(BlockState &state, const WarpInfo &warp, uint32_t at,
                         const AsyncCopy &copy, unsigned lane) {
  const uint32_t thread = warp.warp * kLanes + lane;
  uint64_t from = copy.sources[lane], to = copy.destinations[lane];
  const uint32_t bytes = copy.bytes[lane];
  const uint32_t read = std::min(copy.sourceBytes[lane], bytes);
  const ByteShadow *source = shadowOf(state, copy.from, thread, from);
  ByteShadow *destination = shadowOf(state, copy.to, thread, to);
  if (!destination)
    return;
  destination->define(to, bytes);
  if (!source || !source->isUndefined(from, read))
    return;
  if (copy.to == MemorySpace::Global)
    return report(Finding::Kind::Init, at, kNowhere,
                  describePlace(launch, at) + ": what it copies in " +
                      describeThread(launch, warp.block, thread) +
                      " holds bytes behind " +
                      describe(copy.from, copy.sources[lane]) +
                      " that nobody has written");
  std::vector<uint8_t> bits(read);
  source->read(from, bits.data(), read);
  destination->write(to, bits.data(), read);
}

/// Whether nothing of what an access reads is undefined.
bool Checker::readsDefined(BlockState &state, const WarpInfo &warp,
                           const MemoryAccess &access, uint32_t bytes) {
  bool isDefined = true;
  const ByteShadow *last = nullptr;
  uint64_t origin = 0;
  eachLane(access.lanes, [&](unsigned lane) {
    uint64_t offset = access.addresses[lane] - origin;
    if (!last || access.space == MemorySpace::Local || offset >= last->size()) {
      offset = access.addresses[lane];
      last = shadowOf(state, access.space, warp.warp * kLanes + lane, offset);
      origin = access.addresses[lane] - offset;
    }
    if (last && last->isUndefined(offset, bytes))
      isDefined = false;
  });
  return isDefined;
}

//===----------------------------------------------------------------------===//
// Where a value decides
//===----------------------------------------------------------------------===//

void Checker::checkDefined(BlockState &state, const WarpInfo &warp, uint32_t at,
                           const Slot &slot, LaneMask lanes,
                           std::string_view what) {
  UndefinedRegisters &registers = state.registers[warp.warp];
  const LaneMask undefined = registers.undefinedLanes(slot, lanes);
  if (undefined == 0)
    return;
  const uint32_t origin = registers.originOf(slot);
  const auto lane = static_cast<unsigned>(std::countr_zero(undefined));
  std::string whence = "a register that was never set";
  if (origin != kNowhere) {
    whence = "the result of " + describePlace(launch, origin);
    const auto load = undefinedLoads.find(origin);
    if (load != undefinedLoads.end())
      whence = load->second;
  }
  report(Finding::Kind::Init, at, origin,
         describePlace(launch, at) + ": " + std::string(what) + " in " +
             describeThread(launch, warp.block, warp.warp * kLanes + lane) +
             " depends on " + whence);
  registers.define(slot, undefined);
}

/// Addresses, indices and what leaves for memory that others read.
void Checker::checkOperands(BlockState &state, const WarpInfo &warp,
                            uint32_t at, LaneMask lanes) {
  const Inst &inst = launch.program->code[at];
  const auto slots = launch.program->slotsOf(inst);
  const bool isMatrix =
      inst.family == Family::LdMatrix || inst.family == Family::StMatrix;
  // One or two matrices have the addresses of the first lanes alone.
  if (isMatrix)
    lanes &= launch.program->modifiersOf(inst).has(Word::X1)   ? 0xFF
             : launch.program->modifiersOf(inst).has(Word::X2) ? 0xFFFF
                                                               : kAllLanes;
  auto check = [&](size_t slot, std::string_view what) {
    if (slot < slots.size())
      checkDefined(state, warp, at, slots[slot], lanes, what);
  };
  const size_t vector = launch.program->modifiersOf(inst).vector();
  switch (inst.family) {
  case Family::Brx:
    check(0, "where it goes");
    return;
  case Family::Ld:
  case Family::LdNc:
  case Family::Ldu:
  case Family::Atom:
    check(vector, "its address");
    return;
  case Family::LdMatrix: {
    size_t address = 0;
    while (address < slots.size() && slots[address].isWritten())
      ++address;
    check(address, "its address");
    return;
  }
  case Family::CpBulk:
    check(2, "the address of its source");
    check(4, "its size");
    if (!launch.program->modifiersOf(inst).has(Word::BulkGroup))
      check(5, "the address of its mbarrier");
    check(0, "its address");
    return;
  case Family::CpAsync:
    check(2, "the address of its source");
    check(5, "its size");
    [[fallthrough]];
  case Family::St:
  case Family::Red:
  case Family::StMatrix:
  case Family::Discard:
  case Family::CpAsyncArrive:
    check(0, "its address");
    return;
  case Family::Mbarrier: {
    // Arrivals have a result first, which may be left out.
    const Modifiers &modifiers = launch.program->modifiersOf(inst);
    const size_t address =
        modifiers.has(Word::Arrive) || modifiers.has(Word::ArriveDrop) ? 1 : 0;
    check(address, "its address");
    check(address + 2, "its count");
    return;
  }
  case Family::MbarrierTest:
    check(1, "its address");
    return;
  case Family::Bar:
    check(0, "which barrier it means");
    check(1, "how many threads it waits for");
    return;
  case Family::BarRed:
    check(1, "which barrier it means");
    check(2, "how many threads it waits for");
    check(3, "what it tells the others");
    return;
  case Family::BarWarp:
  case Family::Shfl:
  case Family::Vote:
  case Family::Match:
  case Family::Redux:
  case Family::Elect:
    check(slots.size() - 1, "who takes part");
    return;
  default:
    return;
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void Checker::copyPlace(BlockState &state, const WarpInfo &warp,
                        const ParamPlace &from, const ParamPlace &to,
                        LaneMask lanes) {
  UndefinedRegisters &registers = state.registers[warp.warp];
  eachLane(lanes, [&](unsigned lane) {
    ByteShadow &local = state.locals[warp.warp * kLanes + lane];
    if (!from.slot.isNothing() && from.slot.file() == File::Predicate) {
      registers.set(to.slot, lane, registers.bitsOf(from.slot, lane),
                    registers.originOf(from.slot));
      return;
    }
    std::vector<uint8_t> bits(std::max<uint64_t>(from.bytes, 1), 0);
    const auto size = static_cast<uint32_t>(
        std::min({from.bytes, to.bytes, uint64_t(bits.size())}));
    if (from.slot.isNothing())
      local.read(from.offset, bits.data(), size);
    else
      registers.readBytes(from.slot, lane, bits.data(), size);
    if (to.slot.isNothing())
      local.write(to.offset, bits.data(), size);
    else
      registers.writeBytes(to.slot, lane, bits.data(), size, false,
                           registers.originOf(from.slot));
  });
}

/// A call through a register: whichever is meant, rows of the others are read
/// by nobody.
void Checker::passParams(BlockState &state, const WarpInfo &warp, uint32_t at,
                         LaneMask lanes) {
  const Program &program = *launch.program;
  const CallSite &site = program.calls[program.code[at].target];
  if (!site.pointer.isNothing())
    checkDefined(state, warp, at, site.pointer, lanes, "what it calls");
  std::vector<uint32_t> targets = site.candidates;
  if (site.function != kNowhere)
    targets.push_back(site.function);
  for (uint32_t target : targets) {
    const ProgramFunction &function = program.functions[target];
    for (size_t i = 0; i < function.params.size(); ++i)
      copyPlace(state, warp, site.arguments[i], function.params[i], lanes);
  }
  if (site.builtin == Builtin::None)
    return;
  for (const ParamPlace &place : site.results)
    eachLane(lanes, [&](unsigned lane) {
      if (place.slot.isNothing())
        state.locals[warp.warp * kLanes + lane].define(place.offset,
                                                       place.bytes);
      else
        state.registers[warp.warp].set(place.slot, lane, 0, kNowhere);
    });
}

void Checker::passResults(BlockState &state, const WarpInfo &warp, uint32_t at,
                          LaneMask lanes) {
  const Program &program = *launch.program;
  const uint32_t index = program.blocks[program.blockOf[at]].function;
  if (index == 0) {
    state.live[warp.warp] &= ~lanes;
    return;
  }
  const ProgramFunction &function = program.functions[index];
  const uint32_t *back =
      warp.registers + size_t(function.returnAddress.index()) * kLanes;
  eachLane(lanes, [&](unsigned lane) {
    const uint32_t call = back[lane] - 1;
    if (call >= program.code.size() ||
        program.code[call].family != Family::Call)
      return;
    const CallSite &site = program.calls[program.code[call].target];
    for (size_t i = 0; i < function.results.size(); ++i)
      copyPlace(state, warp, function.results[i], site.results[i],
                LaneMask(1) << lane);
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// What the instruction at `at` was the first to read, for those that use it.
void Checker::noteUndefined(const WarpInfo &warp, uint32_t at,
                            const MemoryAccess &access, unsigned lane,
                            std::string_view how) {
  if (undefinedLoads.contains(at))
    return;
  undefinedLoads.emplace(
      at, describePlace(launch, at) + ", where " +
              describeThread(launch, warp.block, warp.warp * kLanes + lane) +
              std::string(how) +
              describe(access.space, access.addresses[lane]) +
              ", which nobody has written");
}

void Checker::load(BlockState &state, const WarpInfo &warp, uint32_t at,
                   const MemoryAccess &access) {
  const Inst &inst = launch.program->code[at];
  const Modifiers &modifiers = launch.program->modifiersOf(inst);
  const auto slots = launch.program->slotsOf(inst);
  UndefinedRegisters &registers = state.registers[warp.warp];
  const size_t vector = modifiers.vector();
  const Type type = modifiers.types[modifiers.typeCount - 1];
  const auto size = static_cast<uint32_t>(access.bytes / vector);
  const bool isSigned = kindOf(type) == TypeKind::Signed;
  const LaneMask lanes = access.lanes;
  for (size_t i = 0; i < vector; ++i)
    registers.define(slots[i], lanes);
  if (readsDefined(state, warp, access, access.bytes))
    return;
  eachLane(lanes, [&](unsigned lane) {
    uint8_t bits[kMostBytes];
    const uint32_t thread = warp.warp * kLanes + lane;
    const uint32_t bytes = std::min(access.bytes, kMostBytes);
    readShadow(state, access.space, thread, access.addresses[lane], bits,
               bytes);
    if (!isAnySet(bits, bytes))
      return;
    noteUndefined(warp, at, access, lane, " reads ");
    for (size_t i = 0; i < vector; ++i)
      registers.writeBytes(slots[i], lane, bits + i * size, size, isSigned, at);
  });
}

/// The undefined bits of what one lane stores.
static void gatherStored(const UndefinedRegisters &registers,
                         std::span<const Slot> slots, size_t first,
                         size_t vector, uint32_t size, unsigned lane,
                         uint8_t *bits) {
  for (size_t i = 0; i < vector; ++i)
    registers.readBytes(slots[first + i], lane, bits + i * size, size);
}

void Checker::store(BlockState &state, const WarpInfo &warp, uint32_t at,
                    const MemoryAccess &access) {
  const Inst &inst = launch.program->code[at];
  const auto slots = launch.program->slotsOf(inst);
  const size_t vector = launch.program->modifiersOf(inst).vector();
  const auto size = static_cast<uint32_t>(access.bytes / vector);
  constexpr size_t first = 2; // Behind the address.
  const auto stored = slots.subspan(first, vector);
  if (std::none_of(stored.begin(), stored.end(), [&](const Slot &slot) {
        return state.registers[warp.warp].isDirty(slot);
      })) {
    eachLane(access.lanes, [&](unsigned lane) {
      uint64_t address = access.addresses[lane];
      if (ByteShadow *shadow =
              shadowOf(state, access.space, warp.warp * kLanes + lane, address))
        shadow->define(address, std::min(access.bytes, kMostBytes));
    });
    return;
  }
  if (access.space == MemorySpace::Global)
    for (size_t i = 0; i < vector; ++i) {
      const Slot slot = slots[first + i];
      // Only bits that are stored.
      LaneMask undefined = 0;
      eachLane(access.lanes, [&](unsigned lane) {
        uint8_t bits[kMostBytes];
        state.registers[warp.warp].readBytes(slot, lane, bits, size);
        undefined |= LaneMask(isAnySet(bits, size)) << lane;
      });
      if (undefined != 0)
        checkDefined(state, warp, at, slot, undefined, "what it stores");
    }
  eachLane(access.lanes, [&](unsigned lane) {
    uint8_t bits[kMostBytes] = {};
    gatherStored(state.registers[warp.warp], slots, first, vector, size, lane,
                 bits);
    writeShadow(state, access.space, warp.warp * kLanes + lane,
                access.addresses[lane], bits,
                std::min(access.bytes, kMostBytes));
  });
}

void Checker::loadMatrix(BlockState &state, const WarpInfo &warp, uint32_t at,
                         const MemoryAccess &access) {
  const Inst &inst = launch.program->code[at];
  const auto slots = launch.program->slotsOf(inst);
  UndefinedRegisters &registers = state.registers[warp.warp];
  const size_t matrices = size_t(std::popcount(access.lanes)) / 8;
  for (size_t i = 0; i < matrices; ++i)
    registers.define(slots[i], kAllLanes);
  if (readsDefined(state, warp, access, 16))
    return;
  uint8_t rows[kLanes][16] = {};
  eachLane(access.lanes, [&](unsigned lane) {
    readShadow(state, access.space, warp.warp * kLanes + lane,
               access.addresses[lane], rows[lane], 16);
    if (!isAnySet(rows[lane], 16))
      return;
    noteUndefined(warp, at, access, lane, " gives the row at ");
  });
  const MatrixPlaces &places =
      matrixPlaces(launch.program->modifiersOf(inst).has(Word::Trans));
  for (size_t i = 0; i < matrices; ++i)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint8_t bits[4];
      for (size_t half = 0; half < 2; ++half) {
        const MatrixPlace place = places[lane][half];
        const uint8_t *from =
            rows[i * 8 + place.row] + size_t(place.column) * 2;
        std::copy_n(from, 2, bits + half * 2);
      }
      registers.writeBytes(slots[i], lane, bits, 4, false, at);
    }
}

void Checker::storeMatrix(BlockState &state, const WarpInfo &warp, uint32_t at,
                          const MemoryAccess &access) {
  const Inst &inst = launch.program->code[at];
  const auto slots = launch.program->slotsOf(inst);
  const size_t matrices = size_t(std::popcount(access.lanes)) / 8;
  const MatrixPlaces &places =
      matrixPlaces(launch.program->modifiersOf(inst).has(Word::Trans));
  uint8_t rows[kLanes][16] = {};
  for (size_t i = 0; i < matrices; ++i)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint8_t bits[4];
      state.registers[warp.warp].readBytes(slots[2 + i], lane, bits, 4);
      for (size_t half = 0; half < 2; ++half) {
        const MatrixPlace place = places[lane][half];
        std::copy_n(bits + half * 2, 2,
                    rows[i * 8 + place.row] + size_t(place.column) * 2);
      }
    }
  eachLane(access.lanes, [&](unsigned lane) {
    writeShadow(state, access.space, warp.warp * kLanes + lane,
                access.addresses[lane], rows[lane], 16);
  });
}

/// atom and red: what was there and what comes decide the whole that is left.
void Checker::update(BlockState &state, const WarpInfo &warp, uint32_t at,
                     const MemoryAccess &access) {
  const Inst &inst = launch.program->code[at];
  const auto slots = launch.program->slotsOf(inst);
  const Modifiers &modifiers = launch.program->modifiersOf(inst);
  UndefinedRegisters &registers = state.registers[warp.warp];
  const bool isAtom = inst.family == Family::Atom;
  const size_t vector = modifiers.vector();
  const size_t results = isAtom ? vector : 0;
  const auto size = static_cast<uint32_t>(access.bytes / vector);
  const size_t first = results + 2;
  const size_t sources = modifiers.has(Word::Cas) ? 2 * vector : vector;
  if (access.space == MemorySpace::Global)
    for (size_t i = 0; i < sources && first + i < slots.size(); ++i)
      checkDefined(state, warp, at, slots[first + i], access.lanes,
                   "what it stores");
  for (size_t i = 0; i < results; ++i)
    registers.define(slots[i], access.lanes);
  eachLane(access.lanes, [&](unsigned lane) {
    const uint32_t thread = warp.warp * kLanes + lane;
    const uint32_t bytes = std::min(access.bytes, kMostBytes);
    uint8_t before[kMostBytes], stored[kMostBytes] = {};
    readShadow(state, access.space, thread, access.addresses[lane], before,
               bytes);
    gatherStored(registers, slots, first, vector, size, lane, stored);
    if (isAnySet(before, bytes)) {
      noteUndefined(warp, at, access, lane, " reads ");
      for (size_t i = 0; i < results; ++i)
        registers.writeBytes(slots[i], lane, before + i * size, size, false,
                             at);
    }
    if (!modifiers.has(Word::Exch)) {
      const bool any = isAnySet(before, bytes) || isAnySet(stored, bytes);
      std::fill_n(stored, bytes, uint8_t(any ? 0xFF : 0));
    }
    writeShadow(state, access.space, thread, access.addresses[lane], stored,
                bytes);
  });
}
