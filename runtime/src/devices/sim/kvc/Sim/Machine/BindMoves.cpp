//===- BindMoves.cpp - Moves between registers ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Bind.h"

using namespace kvc::sim;

namespace {

template <typename Word>
void runMove(Warp &warp, const Step &step, LaneMask lanes) {
  // Elements of a vector may be named on both sides: all are read first.
  const uint32_t count = step.count / 2u;
  alignas(64) Word values[4][kLanes];
  for (uint32_t i = 0; i < count; ++i)
    std::memcpy(values[i], warp.row(step.operands[count + i]),
                sizeof(values[i]));
  for (uint32_t i = 0; i < count; ++i)
    if (step.operands[i] != kNoOperand)
      copyLanes(reinterpret_cast<Word *>(warp.row(step.operands[i])), values[i],
                lanes);
}

template <typename Word>
void runMoveOne(Warp &warp, const Step &step, LaneMask lanes) {
  auto *to = reinterpret_cast<Word *>(warp.row(step.operands[0]));
  const auto *from = reinterpret_cast<const Word *>(warp.row(step.operands[1]));
  if (lanes == kAllLanes)
    std::memmove(to, from, sizeof(Word) * kLanes);
  else
    copyLanes(to, from, lanes);
}

void runMovePredicate(Warp &warp, const Step &step, LaneMask lanes) {
  warp.setPredicate(step.operands[0], warp.predicate(step.operands[1]), lanes);
}

/// mov between a register and its parts: bits of the parts, from the lowest.
struct PartsForm {
  unsigned bits = 0, partBits = 0;
};

/// The word of a row that holds a lane's value, by the bits of the register.
template <typename Value>
Value valueAt(const uint32_t *row, unsigned bits, unsigned lane) {
  if (bits <= 32)
    return Value(row[lane] & (bits == 32 ? ~0u : (1u << bits) - 1));
  return Value(reinterpret_cast<const uint64_t *>(row)[lane]);
}

void storeAt(uint32_t *row, unsigned bits, unsigned lane, uint64_t value) {
  if (bits <= 32)
    row[lane] = uint32_t(value) & (bits == 32 ? ~0u : (1u << bits) - 1);
  else
    reinterpret_cast<uint64_t *>(row)[lane] = value;
}

void runPackParts(Warp &warp, const Step &step, LaneMask lanes) {
  const PartsForm form = formOf<PartsForm>(step);
  const uint32_t parts = step.count - 1u;
  eachLane(lanes, [&](unsigned lane) {
    uint64_t words[2] = {0, 0};
    for (uint32_t i = 0; i < parts; ++i) {
      const unsigned at = i * form.partBits;
      words[at / 64] |=
          valueAt<uint64_t>(warp.row(step.operands[1 + i]), form.partBits, lane)
          << at % 64;
    }
    if (form.bits == 128)
      reinterpret_cast<Long *>(warp.row(step.operands[0]))[lane] = {words[0],
                                                                    words[1]};
    else
      storeAt(warp.row(step.operands[0]), form.bits, lane, words[0]);
  });
}

void runUnpack(Warp &warp, const Step &step, LaneMask lanes) {
  const PartsForm form = formOf<PartsForm>(step);
  const uint32_t parts = step.count - 1u;
  const uint32_t *from = warp.row(step.operands[parts]);
  eachLane(lanes, [&](unsigned lane) {
    Long value{0, 0};
    if (form.bits == 128)
      value = reinterpret_cast<const Long *>(from)[lane];
    else
      value.low = valueAt<uint64_t>(from, form.bits, lane);
    for (uint32_t i = 0; i < parts; ++i) {
      const unsigned at = i * form.partBits;
      if (step.operands[i] != kNoOperand)
        storeAt(warp.row(step.operands[i]), form.partBits, lane,
                (at < 64 ? value.low : value.high) >> at % 64);
    }
  });
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Where a space's window begins; 0 for global memory.
uint64_t windowOf(const Modifiers &modifiers) {
  switch (modifiers.firstOf({Word::Const, Word::Local, Word::Shared,
                             Word::SharedCta, Word::SharedCluster, Word::Param,
                             Word::ParamEntry})) {
  case Word::Const:
    return kConstWindow;
  case Word::Local:
    return kLocalWindow;
  case Word::Shared:
  case Word::SharedCta:
  case Word::SharedCluster:
    return kSharedWindow;
  case Word::Param:
  case Word::ParamEntry:
    return kParamWindow;
  default:
    return 0;
  }
}

/// cvta: adds a window's beginning; cvta.to takes it away.
void runCvta(Warp &warp, const Step &step, LaneMask lanes) {
  const uint64_t window = formOf<uint64_t>(step);
  uint64_t *to = warp.wide(step.operands[0]);
  const uint64_t *from = warp.wide(step.operands[1]);
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = lanes >> lane & 1 ? from[lane] + window : to[lane];
}

void runIsspacep(Warp &warp, const Step &step, LaneMask lanes) {
  const uint64_t window = formOf<uint64_t>(step);
  const uint64_t *from = warp.wide(step.operands[1]);
  LaneMask result = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const bool isInside =
        window == 0 ? from[lane] < kSharedWindow || from[lane] >= kGlobalBase
                    : from[lane] - window < kWindowBytes;
    result |= LaneMask(isInside) << lane;
  }
  warp.setPredicate(step.operands[0], result, lanes);
}

/// mapa: an address in a block of the cluster, which is this one.
template <typename Word>
void runMapa(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *rank = warp.row(step.operands[2]);
  LaneMask wrong = 0;
  eachLane(lanes, [&](unsigned lane) {
    if (rank[lane] != 0)
      wrong |= LaneMask(1) << lane;
  });
  if (wrong != 0)
    return warp.fault(Fault::Kind::Unsupported, wrong,
                      "mapa: expected rank 0 in a cluster of one block, got " +
                          std::to_string(rank[__builtin_ctz(wrong)]) + ", in " +
                          warp.nameOfLane(unsigned(__builtin_ctz(wrong))));
  runMoveOne<Word>(warp, step, lanes);
}

void runZero(Warp &warp, const Step &step, LaneMask lanes) {
  uint32_t *to = warp.row(step.operands[0]);
  eachLane(lanes, [&](unsigned lane) { to[lane] = 0; });
}

/// createpolicy: hints do nothing, and any policy is as good as another.
void runPolicy(Warp &warp, const Step &step, LaneMask lanes) {
  uint64_t *to = warp.wide(step.operands[0]);
  eachLane(lanes, [&](unsigned lane) { to[lane] = 0; });
}

bool bindMove(Binding &binding) {
  const unsigned bits = bitsOf(binding.type());
  if (binding.type() == Type::Pred)
    return binding.to(runMovePredicate);
  const bool isOne = binding.slots.size() == 2;
  if (bits == 128)
    return binding.to(isOne ? runMoveOne<Long> : runMove<Long>);
  if (bits == 64)
    return binding.to(isOne ? runMoveOne<uint64_t> : runMove<uint64_t>);
  return binding.to(isOne ? runMoveOne<uint32_t> : runMove<uint32_t>);
}

} // namespace

bool kvc::sim::bindMoves(Binding &binding) {
  const unsigned bits = bitsOf(binding.type());
  const auto parts = static_cast<unsigned>(binding.slots.size() - 1);
  switch (binding.family()) {
  case Family::Mov:
    return bindMove(binding);
  case Family::Pack:
    return binding.to(runPackParts, PartsForm{bits, bits / parts});
  case Family::Unpack:
    return binding.to(runUnpack, PartsForm{bits, bits / parts});
  case Family::Cvta:
    return binding.to(runCvta, windowOf(binding.modifiers));
  case Family::CvtaTo:
    return binding.to(runCvta, uint64_t(0) - windowOf(binding.modifiers));
  case Family::Isspacep:
    return binding.to(runIsspacep, windowOf(binding.modifiers));
  case Family::Mapa:
    return binding.to(bits == 64 ? runMapa<uint64_t> : runMapa<uint32_t>);
  case Family::Getctarank:
    return binding.to(runZero);
  case Family::Createpolicy:
    return binding.to(runPolicy);
  default:
    return false;
  }
}
