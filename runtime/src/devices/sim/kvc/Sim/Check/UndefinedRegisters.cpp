//===- UndefinedRegisters.cpp - Bits of registers that were never set -----===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/UndefinedRegisters.h"

#include "kvc/Sim/Check/Lanes.h"
#include "kvc/Sim/Check/UndefinedBits.h"

#include <algorithm>
#include <cstring>

using namespace kvc::sim;

using File = Slot::File;

UndefinedRegisters::UndefinedRegisters(const Program &program)
    : rows(size_t(program.registerRows) * kLanes, ~0u),
      dirty(program.registerRows, 1), origins(program.registerRows, kNowhere),
      predicates(program.predicates, kAllLanes),
      predicateOrigins(program.predicates, kNowhere) {
  predicates[kFalse] = predicates[kTrue] = 0;
  for (const SpecialRow &special : program.specials)
    define(special.slot, kAllLanes);
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

/// The shadow of one lane: registers of several rows are lanes of that many
/// bits.
uint64_t UndefinedRegisters::bitsOf(const Slot &slot, unsigned lane) const {
  if (slot.file() == File::Predicate)
    return predicates[slot.index()] >> lane & 1;
  if (slot.file() != File::Register)
    return 0;
  const uint32_t *row = rows.data() + size_t(slot.index()) * kLanes;
  const unsigned count = slot.rows();
  uint64_t bits = row[size_t(lane) * count];
  if (count > 1)
    bits |= uint64_t(row[size_t(lane) * count + 1]) << 32;
  return bits & maskOf(slot.bits());
}

LaneMask UndefinedRegisters::undefinedLanes(const Slot &slot,
                                            LaneMask lanes) const {
  if (!isDirty(slot))
    return 0;
  if (slot.file() == File::Predicate)
    return predicates[slot.index()] & lanes;
  LaneMask result = 0;
  eachLane(lanes, [&](unsigned lane) {
    bool any = bitsOf(slot, lane) != 0;
    if (slot.bits() == 128) {
      uint8_t bytes[16];
      readBytes(slot, lane, bytes, 16);
      any = std::any_of(bytes, bytes + 16, [](uint8_t b) { return b != 0; });
    }
    result |= LaneMask(any) << lane;
  });
  return result;
}

uint32_t UndefinedRegisters::originOf(const Slot &slot) const {
  if (slot.file() == File::Predicate)
    return predicateOrigins[slot.index()];
  return slot.file() == File::Register ? origins[slot.index()] : kNowhere;
}

void UndefinedRegisters::settle(const Slot &slot) {
  for (unsigned i = 0; i < slot.rows(); ++i) {
    const uint32_t *row = rows.data() + size_t(slot.index() + i) * kLanes;
    dirty[slot.index() + i] =
        std::any_of(row, row + kLanes, [](uint32_t bits) { return bits != 0; });
  }
}

void UndefinedRegisters::set(const Slot &slot, unsigned lane,
                             uint64_t undefined, uint32_t origin) {
  if (slot.file() == File::Predicate) {
    if (slot.index() <= kTrue)
      return;
    LaneMask &word = predicates[slot.index()];
    word = (word & ~(LaneMask(1) << lane)) | LaneMask(undefined != 0) << lane;
    if (undefined != 0)
      predicateOrigins[slot.index()] = origin;
    return;
  }
  if (slot.file() != File::Register)
    return;
  const unsigned count = slot.rows();
  uint32_t *at =
      rows.data() + size_t(slot.index()) * kLanes + size_t(lane) * count;
  undefined &= maskOf(slot.bits());
  at[0] = static_cast<uint32_t>(undefined);
  if (count > 1)
    at[1] = static_cast<uint32_t>(undefined >> 32);
  for (unsigned i = 2; i < count; ++i)
    at[i] = undefined ? ~0u : 0;
  if (undefined != 0)
    for (unsigned i = 0; i < count; ++i) {
      dirty[slot.index() + i] = 1;
      origins[slot.index() + i] = origin;
    }
}

void UndefinedRegisters::define(const Slot &slot, LaneMask lanes) {
  if (slot.file() == File::Predicate) {
    predicates[slot.index()] &= ~lanes;
    return;
  }
  if (!isDirty(slot))
    return;
  eachLane(lanes, [&](unsigned lane) { set(slot, lane, 0, kNowhere); });
  settle(slot);
}

void UndefinedRegisters::readBytes(const Slot &slot, unsigned lane, uint8_t *to,
                                   uint32_t bytes) const {
  std::memset(to, 0, bytes);
  if (slot.file() != File::Register)
    return;
  const uint32_t *at =
      rows.data() + size_t(slot.index()) * kLanes + size_t(lane) * slot.rows();
  std::memcpy(to, at, std::min<size_t>(bytes, slot.bits() / 8));
}

/// A register that is wider than what it takes gets zeros or the sign above.
void UndefinedRegisters::writeBytes(const Slot &slot, unsigned lane,
                                    const uint8_t *from, uint32_t bytes,
                                    bool isSigned, uint32_t origin) {
  if (slot.file() != File::Register)
    return;
  uint8_t all[16] = {};
  const size_t count = std::min<size_t>(bytes, sizeof(all));
  std::memcpy(all, from, count);
  if (isSigned && all[count - 1] & 0x80)
    std::memset(all + count, 0xFF, sizeof(all) - count);
  const size_t width = slot.bits() / 8;
  std::memset(all + width, 0, sizeof(all) - width);
  uint32_t *at =
      rows.data() + size_t(slot.index()) * kLanes + size_t(lane) * slot.rows();
  std::memcpy(at, all, size_t(4) * slot.rows());
  if (std::any_of(all, all + width, [](uint8_t b) { return b != 0; }))
    for (unsigned i = 0; i < slot.rows(); ++i) {
      dirty[slot.index() + i] = 1;
      origins[slot.index() + i] = origin;
    }
}
