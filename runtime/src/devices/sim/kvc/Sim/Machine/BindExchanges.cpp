//===- BindExchanges.cpp - Values between the lanes of a warp -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Bind.h"
#include "kvc/Sim/Numerics/Shuffle.h"

#include <bit>

using namespace kvc::sim;

namespace {

/// Calls `each(group)` with the lanes that name the same members.
template <typename Each>
void eachGroup(const uint32_t *masks, LaneMask lanes, Each each) {
  while (lanes != 0) {
    const uint32_t members = masks[std::countr_zero(lanes)];
    LaneMask group = 0;
    eachLane(lanes, [&](unsigned lane) {
      group |= masks[lane] == members ? LaneMask(1) << lane : 0;
    });
    each(group);
    lanes &= ~group;
  }
}

/// d|p, a, b, c, members
template <Shuffle mode>
void runShuffle(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *o = step.operands;
  if (!warp.gatherMembers(o[5], lanes))
    return;
  const uint32_t *a = warp.row(o[2]), *b = warp.row(o[3]), *c = warp.row(o[4]);
  alignas(64) uint32_t result[kLanes];
  LaneMask inside = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const ShuffleSource source = shuffleSource(mode, lane, b[lane], c[lane]);
    result[lane] = a[source.lane];
    inside |= LaneMask(source.isInside) << lane;
  }
  copyLanes(warp.row(o[0]), result, lanes);
  if (o[1] != kNoOperand)
    warp.setPredicate(o[1], inside, lanes);
}

/// p or d, a, members
void runVote(Warp &warp, const Step &step, LaneMask lanes) {
  const Word mode = formOf<Word>(step);
  const uint32_t *o = step.operands;
  if (!warp.gatherMembers(o[2], lanes))
    return;
  const LaneMask value = warp.predicate(o[1]);
  eachGroup(warp.row(o[2]), lanes, [&](LaneMask group) {
    const LaneMask ayes = value & group;
    if (mode == Word::Ballot) {
      uint32_t *to = warp.row(o[0]);
      eachLane(group, [&](unsigned lane) { to[lane] = ayes; });
      return;
    }
    const bool result = mode == Word::All   ? ayes == group
                        : mode == Word::Any ? ayes != 0
                                            : ayes == group || ayes == 0;
    warp.setPredicate(o[0], result ? kAllLanes : 0, group);
  });
}

/// match.any: d, a, members; match.all: d|p, a, members
template <typename Value>
void runMatch(Warp &warp, const Step &step, LaneMask lanes) {
  const bool isAll = formOf<Word>(step) == Word::All;
  const uint32_t *o = step.operands;
  const uint32_t source = o[isAll ? 2 : 1], masks = o[isAll ? 3 : 2];
  if (!warp.gatherMembers(masks, lanes))
    return;
  alignas(64) Value values[kLanes];
  std::memcpy(values, warp.row(source), sizeof(values));
  uint32_t *to = warp.row(o[0]);
  eachGroup(warp.row(masks), lanes, [&](LaneMask group) {
    auto equalTo = [&](unsigned first) {
      LaneMask same = 0;
      eachLane(group, [&](unsigned lane) {
        same |= values[lane] == values[first] ? LaneMask(1) << lane : 0;
      });
      return same;
    };
    if (!isAll) {
      eachLane(group, [&](unsigned lane) { to[lane] = equalTo(lane); });
      return;
    }
    const bool agree =
        equalTo(static_cast<unsigned>(std::countr_zero(group))) == group;
    eachLane(group, [&](unsigned lane) { to[lane] = agree ? group : 0; });
    if (o[1] != kNoOperand)
      warp.setPredicate(o[1], agree ? kAllLanes : 0, group);
  });
}

struct ReduceForm {
  Word op;
  bool isSigned;
};
uint32_t reduced(const ReduceForm &form, uint32_t a, uint32_t b) {
  const bool isLess = form.isSigned ? int32_t(a) < int32_t(b) : a < b;
  switch (form.op) {
  case Word::Add:
    return a + b;
  case Word::Min:
    return isLess ? a : b;
  case Word::Max:
    return isLess ? b : a;
  case Word::And:
    return a & b;
  case Word::Or:
    return a | b;
  default:
    return a ^ b;
  }
}
/// d, a, members
void runReduce(Warp &warp, const Step &step, LaneMask lanes) {
  const ReduceForm form = formOf<ReduceForm>(step);
  const uint32_t *o = step.operands;
  if (!warp.gatherMembers(o[2], lanes))
    return;
  alignas(64) uint32_t values[kLanes];
  std::memcpy(values, warp.row(o[1]), sizeof(values));
  uint32_t *to = warp.row(o[0]);
  eachGroup(warp.row(o[2]), lanes, [&](LaneMask group) {
    const auto first = static_cast<unsigned>(std::countr_zero(group));
    uint32_t result = values[first];
    eachLane(group & (group - 1), [&](unsigned lane) {
      result = reduced(form, result, values[lane]);
    });
    eachLane(group, [&](unsigned lane) { to[lane] = result; });
  });
}

void runActivemask(Warp &warp, const Step &step, LaneMask lanes) {
  uint32_t *to = warp.row(step.operands[0]);
  eachLane(lanes, [&](unsigned lane) { to[lane] = lanes; });
}

/// d|p, members: the lowest of them.
void runElect(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *o = step.operands;
  if (!warp.gatherMembers(o[2], lanes))
    return;
  eachGroup(warp.row(o[2]), lanes, [&](LaneMask group) {
    const auto leader = static_cast<uint32_t>(std::countr_zero(group));
    if (o[0] != kNoOperand) {
      uint32_t *to = warp.row(o[0]);
      eachLane(group, [&](unsigned lane) { to[lane] = leader; });
    }
    warp.setPredicate(o[1], LaneMask(1) << leader, group);
  });
}

} // namespace

bool kvc::sim::bindExchanges(Binding &binding) {
  const Modifiers &modifiers = binding.modifiers;
  switch (binding.family()) {
  case Family::Shfl:
  case Family::Vote:
  case Family::Match:
  case Family::Redux:
  case Family::Elect:
    // Their masks come last.
    binding.gatherBy(binding.slots.size() - 1);
    break;
  default:
    break;
  }
  switch (binding.family()) {
  case Family::Shfl:
    return binding.to(binding.has(Word::Up)     ? runShuffle<Shuffle::Up>
                      : binding.has(Word::Down) ? runShuffle<Shuffle::Down>
                      : binding.has(Word::Bfly) ? runShuffle<Shuffle::Butterfly>
                                                : runShuffle<Shuffle::Index>);
  case Family::Vote:
    return binding.to(runVote, modifiers.firstOf({Word::All, Word::Any,
                                                  Word::Uni, Word::Ballot}));
  case Family::Match:
    return binding.to(bitsOf(binding.type()) == 64 ? runMatch<uint64_t>
                                                   : runMatch<uint32_t>,
                      modifiers.firstOf({Word::All, Word::Any}));
  case Family::Redux:
    return binding.to(
        runReduce,
        ReduceForm{modifiers.firstOf({Word::Add, Word::Min, Word::Max,
                                      Word::And, Word::Or, Word::Xor}),
                   kindOf(binding.type()) == TypeKind::Signed});
  case Family::Activemask:
    return binding.to(runActivemask);
  case Family::Elect:
    return binding.to(runElect);
  default:
    return false;
  }
}
