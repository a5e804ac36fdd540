//===- UndefinedResults.cpp - What becomes of undefined bits --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/UndefinedResults.h"

#include "kvc/Sim/Check/Lanes.h"
#include "kvc/Sim/Check/UndefinedBits.h"
#include "kvc/Sim/Numerics/Fragment.h"
#include "kvc/Sim/Numerics/Shuffle.h"

#include <cstring>

using namespace kvc::sim;

using File = Slot::File;

namespace {

/// One instruction of a warp.
class Run {
public:
  Run(UndefinedRegisters &shadow, const Program &program, const WarpInfo &warp,
      const Inst &inst, LaneMask lanes)
      : shadow(shadow), program(program), warp(warp), inst(inst),
        modifiers(program.modifiersOf(inst)), slots(program.slotsOf(inst)),
        lanes(lanes) {}

  void run(uint32_t at);

private:
  PartlyUndefined sourceOf(const Slot &slot, unsigned lane) const;

  void runLane(unsigned lane);
  void runCompare();
  void runLogic();
  ShuffleSource shuffledFrom(unsigned lane) const;
  bool readsMembers() const;
  void runShuffle();
  void runTogether();
  void runMoves();
  void runMatrixMove();
  void runMma();

  UndefinedRegisters &shadow;
  const Program &program;
  const WarpInfo &warp;
  const Inst &inst;
  const Modifiers &modifiers;
  const std::span<const Slot> slots;
  const LaneMask lanes;
  uint32_t origin = kNowhere; ///< Of the undefined source that runs.
};

} // namespace

PartlyUndefined Run::sourceOf(const Slot &slot, unsigned lane) const {
  PartlyUndefined source;
  source.undefined = shadow.bitsOf(slot, lane);
  switch (slot.file()) {
  case File::Predicate:
    source.value = (warp.predicates[slot.index()] >> lane & 1) !=
                   uint32_t(slot.isNegated());
    break;
  case File::Immediate:
    source.value = static_cast<uint64_t>(program.immediates[slot.index()]);
    break;
  case File::Register:
  case File::Constant: {
    const uint32_t *row =
        (slot.file() == File::Register ? warp.registers : warp.constants) +
        size_t(slot.index()) * kLanes + size_t(lane) * slot.rows();
    source.value = row[0];
    if (slot.rows() > 1)
      source.value |= uint64_t(row[1]) << 32;
    break;
  }
  case File::Nothing:
    break;
  }
  return source;
}

void Run::run(uint32_t at) {
  bool readsUndefined = false;
  for (const Slot &slot : slots)
    if (!slot.isWritten() && shadow.isDirty(slot)) {
      readsUndefined = true;
      origin = shadow.originOf(slot);
      // Named after the instruction itself if its source was never set.
      if (origin == kNowhere)
        origin = at;
      break;
    }
  if (!readsUndefined && inst.family == Family::Shfl && !readsMembers()) {
    readsUndefined = true;
    origin = at;
  }
  if (!readsUndefined) {
    for (const Slot &slot : slots)
      if (slot.isWritten())
        shadow.define(slot, lanes);
    return;
  }
  switch (inst.family) {
  case Family::Setp:
  case Family::Set:
    runCompare();
    break;
  case Family::And:
  case Family::Or:
  case Family::Xor:
  case Family::Not:
    if (modifiers.types[0] == Type::Pred) {
      runLogic();
      break;
    }
    eachLane(lanes, [&](unsigned lane) { runLane(lane); });
    break;
  case Family::Mov:
  case Family::Pack:
  case Family::Unpack:
  case Family::Cvta:
  case Family::CvtaTo:
    runMoves();
    break;
  case Family::Shfl:
    runShuffle();
    break;
  case Family::Vote:
  case Family::Match:
  case Family::Redux:
    runTogether();
    break;
  case Family::MovMatrix:
    runMatrixMove();
    break;
  case Family::Mma:
    runMma();
    break;
  default:
    eachLane(lanes, [&](unsigned lane) { runLane(lane); });
    break;
  }
  for (const Slot &slot : slots)
    if (slot.isWritten() && slot.file() == File::Register)
      shadow.settle(slot);
}

void Run::runLane(unsigned lane) {
  PartlyUndefined sources[16];
  size_t count = 0;
  for (const Slot &slot : slots)
    if (!slot.isWritten() && !slot.isNothing() && count < std::size(sources))
      sources[count++] = sourceOf(slot, lane);
  const uint64_t undefined = undefinedResult(inst, modifiers, {sources, count});
  bool isFirst = true;
  for (const Slot &slot : slots)
    if (slot.isWritten()) {
      shadow.set(slot, lane,
                 isFirst     ? undefined
                 : undefined ? kAllBits
                             : 0,
                 origin);
      isFirst = false;
    }
}

/// setp and set: with a predicate that decides alone the rest does not matter.
void Run::runCompare() {
  const Slot combined = slots.back();
  const Word logic = modifiers.firstOf({Word::And, Word::Or, Word::Xor});
  const bool isCombined =
      logic != Word::None && combined.file() == File::Predicate;
  eachLane(lanes, [&](unsigned lane) {
    uint64_t compared = 0;
    for (size_t i = 0; i + isCombined < slots.size(); ++i)
      if (!slots[i].isWritten())
        compared |= shadow.bitsOf(slots[i], lane);
    uint64_t undefined = compared;
    if (isCombined) {
      const PartlyUndefined with = sourceOf(combined, lane);
      const bool decides =
          with.undefined == 0 && ((logic == Word::And && with.value == 0) ||
                                  (logic == Word::Or && with.value == 1));
      undefined = decides ? 0 : compared | with.undefined;
    }
    for (const Slot &slot : slots)
      if (slot.isWritten())
        shadow.set(slot, lane, undefined ? kAllBits : 0, origin);
  });
}

/// Predicates.
void Run::runLogic() {
  const LaneMask a = shadow.undefinedLanes(slots[1], kAllLanes);
  if (inst.family == Family::Not || inst.family == Family::Xor) {
    const LaneMask b = inst.family == Family::Not
                           ? 0
                           : shadow.undefinedLanes(slots[2], kAllLanes);
    eachLane(lanes, [&](unsigned lane) {
      shadow.set(slots[0], lane, (a | b) >> lane & 1, origin);
    });
    return;
  }
  const LaneMask b = shadow.undefinedLanes(slots[2], kAllLanes);
  auto valueOf = [&](const Slot &slot) {
    const LaneMask word = warp.predicates[slot.index()];
    return slot.isNegated() ? ~word : word;
  };
  const LaneMask flip = inst.family == Family::And ? 0 : kAllLanes;
  const LaneMask va = valueOf(slots[1]) ^ flip, vb = valueOf(slots[2]) ^ flip;
  const LaneMask undefined = (a & b) | (a & vb) | (b & va);
  eachLane(lanes, [&](unsigned lane) {
    shadow.set(slots[0], lane, undefined >> lane & 1, origin);
  });
}

/// mov in all its forms: parts of equal numbers of bits on both sides.
void Run::runMoves() {
  if (modifiers.types[0] == Type::Pred) {
    eachLane(lanes, [&](unsigned lane) {
      shadow.set(slots[0], lane, shadow.bitsOf(slots[1], lane), origin);
    });
    return;
  }
  size_t firstSource = 0;
  const size_t results = inst.family == Family::Unpack ? slots.size() - 1
                         : inst.family == Family::Pack ? 1
                                                       : slots.size() / 2;
  firstSource = results;
  const unsigned total = bitsOf(modifiers.types[0]);
  eachLane(lanes, [&](unsigned lane) {
    if (inst.family != Family::Pack && inst.family != Family::Unpack) {
      for (size_t i = 0; i < results; ++i) {
        uint8_t bytes[16];
        shadow.readBytes(slots[firstSource + i], lane, bytes, 16);
        if (slots[firstSource + i].bits() < 32)
          std::memset(bytes + slots[firstSource + i].bits() / 8, 0,
                      16 - slots[firstSource + i].bits() / 8);
        shadow.writeBytes(slots[i], lane, bytes, slots[i].bits() / 8, false,
                          origin);
      }
      return;
    }
    uint8_t bytes[16] = {};
    const size_t parts = inst.family == Family::Pack ? slots.size() - 1 : 1;
    const size_t size = total / 8 / parts;
    for (size_t i = 0; i < parts; ++i)
      shadow.readBytes(slots[firstSource + i], lane, bytes + i * size,
                       static_cast<uint32_t>(size));
    const size_t part = total / 8 / results;
    for (size_t i = 0; i < results; ++i)
      shadow.writeBytes(slots[i], lane, bytes + i * part,
                        static_cast<uint32_t>(part), false, origin);
  });
}

/// The lane of d|p, a, b, c, members from which another one gets its value.
ShuffleSource Run::shuffledFrom(unsigned lane) const {
  const Shuffle mode = modifiers.has(Word::Up)     ? Shuffle::Up
                       : modifiers.has(Word::Down) ? Shuffle::Down
                       : modifiers.has(Word::Bfly) ? Shuffle::Butterfly
                                                   : Shuffle::Index;
  return shuffleSource(mode, lane, uint32_t(sourceOf(slots[3], lane).value),
                       uint32_t(sourceOf(slots[4], lane).value));
}

/// Whether each lane gets its value from a member that is there. What others
/// have is not defined.
bool Run::readsMembers() const {
  const Slot members = slots.back();
  LaneMask named = kAllLanes;
  if (members.file() == File::Register)
    eachLane(lanes, [&](unsigned lane) {
      named &= LaneMask(sourceOf(members, lane).value);
    });
  else
    named = LaneMask(sourceOf(members, 0).value);
  if ((lanes & named) == kAllLanes)
    return true;
  bool result = true;
  eachLane(lanes, [&](unsigned lane) {
    const LaneMask there = lanes & LaneMask(sourceOf(members, lane).value);
    result &= (there >> shuffledFrom(lane).lane & 1) != 0;
  });
  return result;
}

/// d|p, a, b, c, members
void Run::runShuffle() {
  uint64_t result[kLanes] = {};
  eachLane(lanes, [&](unsigned lane) {
    const bool isDecided =
        (shadow.bitsOf(slots[3], lane) | shadow.bitsOf(slots[4], lane)) == 0;
    const uint32_t from = shuffledFrom(lane).lane;
    const LaneMask there = lanes & LaneMask(sourceOf(slots.back(), lane).value);
    result[lane] = isDecided && (there >> from & 1)
                       ? shadow.bitsOf(slots[2], from)
                       : kAllBits;
    shadow.set(slots[1], lane, isDecided ? 0 : 1, origin);
  });
  eachLane(lanes, [&](unsigned lane) {
    shadow.set(slots[0], lane, result[lane], origin);
  });
}

/// vote, match, redux: what one lane has, all that name it as a member see.
void Run::runTogether() {
  LaneMask undefined = 0;
  for (const Slot &slot : slots)
    if (!slot.isWritten())
      undefined |= shadow.undefinedLanes(slot, lanes);
  const bool isBallot = modifiers.has(Word::Ballot);
  eachLane(lanes, [&](unsigned lane) {
    const LaneMask seen =
        undefined & LaneMask(sourceOf(slots.back(), lane).value);
    for (const Slot &slot : slots)
      if (slot.isWritten())
        shadow.set(slot, lane, isBallot ? seen : seen ? kAllBits : 0, origin);
  });
}

void Run::runMatrixMove() {
  uint32_t row[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    row[lane] = static_cast<uint32_t>(shadow.bitsOf(slots[1], lane));
  moveMatrix(row, row);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    shadow.set(slots[0], lane, row[lane], origin);
}

/// A row of a times a column of b is undefined if anything in either is. Of all
/// shapes lane l holds parts of rows l / 4 (registers with an even number) and
/// l / 4 + 8 of a, of column l / 4 of b, and of columns 2 * (l % 4) and the
/// next of c and d, the second half of whose registers belong to row l / 4 + 8.
void Run::runMma() {
  size_t results = 0;
  while (results < slots.size() &&
         (slots[results].isWritten() || slots[results].isNothing()))
    ++results;
  // d and c have as many registers; a has more than b, or as many.
  const size_t factors = slots.size() - 2 * results;
  const size_t ofA = factors == 2 ? 1 : factors - factors / 3;
  const bool isTall =
      modifiers.firstOf({Word::M8n8k16, Word::M8n8k32, Word::M8n8k128,
                         Word::M8n8k4}) == Word::None;
  bool rowUndefined[16] = {}, columnUndefined[8] = {};
  for (size_t i = 0; i < factors; ++i) {
    const Slot slot = slots[results + i];
    eachLane(shadow.undefinedLanes(slot, kAllLanes), [&](unsigned lane) {
      if (i >= ofA)
        columnUndefined[lane / 4] = true;
      else
        rowUndefined[lane / 4 + (isTall && i % 2 == 1 ? 8 : 0)] = true;
    });
  }
  const bool isHalves = modifiers.types[0] == Type::F16;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (size_t i = 0; i < results; ++i) {
      const bool isLower = isTall && i >= results / 2;
      const bool isRow = rowUndefined[lane / 4 + (isLower ? 8 : 0)];
      const size_t column = size_t(2) * (lane % 4);
      uint64_t undefined =
          shadow.bitsOf(slots[slots.size() - results + i], lane);
      if (isHalves) {
        undefined = wholeHalves(undefined) |
                    (isRow || columnUndefined[column] ? 0xFFFFu : 0) |
                    (isRow || columnUndefined[column + 1] ? 0xFFFF0000u : 0);
      } else if (undefined || isRow || columnUndefined[column + i % 2]) {
        undefined = kAllBits;
      }
      shadow.set(slots[i], lane, undefined, origin);
    }
}

void kvc::sim::runUndefined(UndefinedRegisters &shadow, const Program &program,
                            const WarpInfo &warp, uint32_t at, LaneMask lanes) {
  Run(shadow, program, warp, program.code[at], lanes).run(at);
}
