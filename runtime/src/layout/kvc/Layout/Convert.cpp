//===- Convert.cpp - Moving a tile between register layouts ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Layout/Convert.h"

#include "kvc/Layout/Fragments.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace kvc::layout {

using Op = ConversionStep::Op;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

std::string_view nameOf(ConversionKind kind) {
  switch (kind) {
  case ConversionKind::None:
    return "no-op";
  case ConversionKind::Renaming:
    return "renaming";
  case ConversionKind::InLaneBytes:
    return "in-lane bytes";
  case ConversionKind::Movmatrix:
    return "movmatrix";
  case ConversionKind::Shuffles:
    return "shuffles";
  case ConversionKind::SharedMemory:
    return "shared memory";
  }
  return "";
}

ConversionKind ConversionStep::kind() const {
  switch (op) {
  case Op::Movmatrix:
    return ConversionKind::Movmatrix;
  case Op::SwapPack:
  case Op::Select:
  case Op::InLane:
    return ConversionKind::InLaneBytes;
  case Op::SwapLane:
  case Op::Gather:
  case Op::Lanes:
    return ConversionKind::Shuffles;
  case Op::Rename:
    return ConversionKind::Renaming;
  case Op::Shared:
    return ConversionKind::SharedMemory;
  }
  return ConversionKind::None;
}

ConversionKind Conversion::kind() const {
  ConversionKind kind = ConversionKind::None;
  for (const ConversionStep &step : steps)
    kind = std::max(kind, step.kind());
  return kind;
}

std::string Conversion::str() const {
  std::vector<ConversionKind> kinds;
  for (const ConversionStep &step : steps)
    if (std::find(kinds.begin(), kinds.end(), step.kind()) == kinds.end())
      kinds.push_back(step.kind());
  if (kinds.size() > 1) // Renaming is free beside anything else.
    std::erase(kinds, ConversionKind::Renaming);
  if (kinds.empty())
    kinds.push_back(ConversionKind::None);
  std::string text;
  for (ConversionKind kind : kinds)
    text += (text.empty() ? "" : " + ") + std::string(nameOf(kind));
  return text;
}

//===----------------------------------------------------------------------===//
// Renumbering of free dims
//===----------------------------------------------------------------------===//

namespace {

enum class Space : uint8_t { Pack, Reg, Lane, Warp };

struct Position {
  Space space;
  size_t number;
  Digit digit;

  /// Registers are as good as each other; every other place is unique.
  bool isAsGoodAs(const Position &other) const {
    return space == other.space &&
           (space == Space::Reg || number == other.number);
  }
};

/// Lanes are the dearest to move, so they come, and choose, first.
std::vector<Position> positionsOf(const RegisterLayout &layout) {
  std::vector<Position> positions;
  auto add = [&](Space space, const Digits &digits) {
    for (size_t i = 0; i < digits.size(); ++i)
      if (!digits[i].isReplicated())
        positions.push_back({space, i, digits[i]});
  };
  add(Space::Lane, layout.lane);
  add(Space::Pack, layout.pack);
  add(Space::Reg, layout.reg);
  add(Space::Warp, layout.warp);
  return positions;
}

using Renumbering = std::vector<std::pair<Digit, Digit>>;

/// Chooses for every bit of the free dims in `want` one that `have`, a layout
/// of the same tile, holds, such that as many as possible already are where
/// they are wanted.
Renumbering renumber(const RegisterLayout &have, const RegisterLayout &want,
                     Dims free) {
  auto isFree = [&](const Position &position) {
    return contains(free, position.digit) && position.digit.count == 2;
  };
  std::vector<Position> left = positionsOf(have), spots = positionsOf(want);
  std::erase_if(left, std::not_fn(isFree));
  std::erase_if(spots, std::not_fn(isFree));

  Renumbering result;
  auto take = [&](const Position &spot,
                  std::vector<Position>::iterator chosen) {
    result.push_back({spot.digit, chosen->digit});
    left.erase(chosen);
  };
  std::vector<Position> rest;
  for (const Position &spot : spots) {
    auto fits = [&](const Position &position) {
      return position.digit.dim == spot.digit.dim && position.isAsGoodAs(spot);
    };
    auto keeps = [&](const Position &position) {
      return fits(position) && position.digit == spot.digit;
    };
    // The natural numbering where possible.
    auto found = std::find_if(left.begin(), left.end(), keeps);
    if (found == left.end())
      found = std::find_if(left.begin(), left.end(), fits);
    if (found == left.end())
      rest.push_back(spot);
    else
      take(spot, found);
  }
  std::sort(left.begin(), left.end(), [](const Position &a, const Position &b) {
    return a.digit.place < b.digit.place;
  });
  for (const Position &spot : rest) {
    auto isSame = [&](const Position &position) {
      return position.digit == spot.digit;
    };
    auto isSameDim = [&](const Position &position) {
      return position.digit.dim == spot.digit.dim;
    };
    auto found = std::find_if(left.begin(), left.end(), isSame);
    if (found == left.end())
      found = std::find_if(left.begin(), left.end(), isSameDim);
    take(spot, found);
  }
  std::erase_if(result,
                [](const auto &pair) { return pair.first == pair.second; });
  return result;
}

RegisterLayout renumbered(RegisterLayout layout,
                          const Renumbering &renumbering) {
  for (Digits *space : {&layout.pack, &layout.reg, &layout.lane, &layout.warp})
    for (Digit &digit : *space) {
      auto found =
          std::find_if(renumbering.begin(), renumbering.end(),
                       [&](const auto &pair) { return pair.first == digit; });
      if (found != renumbering.end())
        digit = found->second;
    }
  return layout;
}

Digits sorted(Digits digits) {
  std::sort(digits.begin(), digits.end(), [](const Digit &a, const Digit &b) {
    return std::tie(a.dim, a.place, a.count) <
           std::tie(b.dim, b.place, b.count);
  });
  return digits;
}

bool isSameTile(const RegisterLayout &a, const RegisterLayout &b) {
  return sorted(a.digits()) == sorted(b.digits()) &&
         a.pack.size() == b.pack.size() && a.lane.size() == b.lane.size();
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Plans one conversion step by step; `now` is the layout reached.
class Planner {
public:
  Planner(const RegisterLayout &from, const InstructionCosts &costs)
      : now(from), costs(costs) {}

  void movmatrix() {
    now = layout::movmatrix(now);
    add(Op::Movmatrix, double(now.numRegs()) * costs.movmatrix);
  }

  /// Without movmatrix: digits between lanes and registers, then lanes among
  /// themselves, then inside the lanes.
  void direct(const RegisterLayout &to) {
    if (now.warp != to.warp || !fillLanes(to)) {
      now = to;
      result = {};
      add(Op::Shared,
          double(to.numRegs()) / 4 * 2 * costs.shared16 + costs.barrier);
      return;
    }
    emptyLanes(to);
    if (now.lane != to.lane) {
      now.lane = to.lane;
      add(Op::Lanes, double(now.numRegs()) * costs.shuffle);
    }
    if (now.pack != to.pack) {
      // A permutation takes bytes of two registers, so every digit that comes
      // from a register is a round of its own.
      auto isNew = [&](const Digit &digit) {
        return std::find(now.pack.begin(), now.pack.end(), digit) ==
               now.pack.end();
      };
      auto rounds = std::max<ptrdiff_t>(
          1, std::count_if(to.pack.begin(), to.pack.end(), isNew));
      now = to;
      add(Op::InLane,
          double(rounds) * double(now.numRegs()) * costs.bytePermute);
    } else if (now.reg != to.reg) {
      now = to;
      add(Op::Rename, 0);
    }
  }

  Conversion result;

private:
  void add(Op op, double cost, size_t from = 0, size_t to = 0) {
    result.steps.push_back({op, unsigned(from), unsigned(to), now});
    result.cost += cost;
  }

  static bool has(const Digits &digits, const Digit &digit) {
    return std::find(digits.begin(), digits.end(), digit) != digits.end();
  }
  /// True if lane `lane` holds a digit that `to` wants inside the lanes'
  /// registers.
  bool isLeaving(size_t lane, const RegisterLayout &to) const {
    return !now.lane[lane].isReplicated() && !has(to.lane, now.lane[lane]);
  }

  /// Moves every digit that belongs to a lane there. False if it cannot.
  bool fillLanes(const RegisterLayout &to) {
    for (size_t target = 0; target < to.lane.size(); ++target) {
      const Digit digit = to.lane[target];
      if (digit.isReplicated() || has(now.lane, digit))
        continue;
      // Copies cost a select where a digit costs a shuffle; its own place saves
      // ordering the lanes afterwards.
      auto rank = [&](size_t lane) {
        bool isCopy = now.lane[lane].isReplicated();
        return !isCopy && !isLeaving(lane, to)
                   ? 0
                   : 1 + isCopy + 2 * (lane == target);
      };
      size_t lane = 0;
      for (size_t i = 1; i < now.lane.size(); ++i)
        if (rank(i) > rank(lane))
          lane = i;
      if (digit.count != 2 || rank(lane) == 0)
        return false;
      if (has(now.pack, digit) && !unpack(digit, to))
        return false;
      auto reg = std::find(now.reg.begin(), now.reg.end(), digit);
      size_t number = size_t(reg - now.reg.begin());
      double half = double(now.numRegs()) / 2;
      if (now.lane[lane].isReplicated()) {
        now.lane[lane] = digit;
        now.reg.erase(reg);
        add(Op::Select, half * costs.select, lane, number);
      } else {
        std::swap(now.lane[lane], *reg);
        add(Op::SwapLane, half * (costs.shuffle + 3 * costs.select), lane,
            number);
      }
    }
    return true;
  }

  /// Brings a digit of part of a register to whole registers.
  bool unpack(const Digit &digit, const RegisterLayout &to) {
    auto isBit = [](const Digit &reg) { return reg.count == 2; };
    auto reg =
        std::find_if(now.reg.begin(), now.reg.end(), [&](const Digit &reg) {
          return isBit(reg) && !has(to.lane, reg);
        });
    if (reg == now.reg.end())
      reg = std::find_if(now.reg.begin(), now.reg.end(), isBit);
    if (reg == now.reg.end())
      return false;
    auto pack = std::find(now.pack.begin(), now.pack.end(), digit);
    std::swap(*pack, *reg);
    add(Op::SwapPack, double(now.numRegs()) * costs.bytePermute,
        size_t(pack - now.pack.begin()), size_t(reg - now.reg.begin()));
    return true;
  }

  /// Digits left in lanes for which nothing came: every lane needs all values.
  void emptyLanes(const RegisterLayout &to) {
    for (size_t lane = 0; lane < now.lane.size(); ++lane) {
      if (!isLeaving(lane, to))
        continue;
      double shuffles = double(now.numRegs());
      now.reg.push_back(now.lane[lane]);
      now.lane[lane] = Digit{};
      add(Op::Gather, shuffles * (costs.shuffle + 2 * costs.select), lane);
    }
  }

  RegisterLayout now;
  const InstructionCosts &costs;
};

} // namespace

std::optional<Conversion> convert(const RegisterLayout &from,
                                  const RegisterLayout &to, Dims free,
                                  const InstructionCosts &costs) {
  if (!isSameTile(from, to))
    return std::nullopt;

  Conversion best;
  bool isFirst = true;
  // `first` and `last`: movmatrix begins or ends the plan. It is its own
  // inverse.
  auto consider = [&](bool first, bool last, const Renumbering &renumbering) {
    RegisterLayout target = renumbered(to, renumbering);
    Planner planner(from, costs);
    if (first)
      planner.movmatrix();
    planner.direct(last ? movmatrix(target) : target);
    if (last)
      planner.movmatrix();
    if (!isFirst && planner.result.cost >= best.cost)
      return;
    isFirst = false;
    best = std::move(planner.result);
    best.renumbering = renumbering;
  };
  auto considerNumberings = [&](bool first, bool last) {
    consider(first, last, {});
    // What is already in place depends on where movmatrix has turned things.
    if (!free.empty())
      consider(first, last,
               renumber(first ? movmatrix(from) : from,
                        last ? movmatrix(to) : to, free));
  };
  considerNumberings(false, false);
  if (canMovmatrix(from))
    considerNumberings(true, false);
  if (canMovmatrix(to))
    considerNumberings(false, true);
  return best;
}

} // namespace kvc::layout
