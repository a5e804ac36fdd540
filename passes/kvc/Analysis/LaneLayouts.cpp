//===- LaneLayouts.cpp - Where a kernel's tiles lie in a warp -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/LaneLayouts.h"

#include "kvc/Layout/Fragments.h"
#include "kvc/Layout/Tile.h"

#include <algorithm>
#include <bit>

namespace kvc {

using namespace layout;

namespace {

bool has(const Digits &digits, const Digit &digit) {
  return std::find(digits.begin(), digits.end(), digit) != digits.end();
}

void append(Digits &digits, const Digits &more) {
  digits.insert(digits.end(), more.begin(), more.end());
}

/// Digits of `dim` in the order in which a lane's load meets them: those that
/// become its elements first.
Digits inOrder(const RegisterLayout &operand, Dim dim) {
  Digits order;
  for (const Digits *space : {&operand.pack, &operand.reg, &operand.lane})
    std::copy_if(space->begin(), space->end(), std::back_inserter(order),
                 [&](const Digit &digit) { return digit.dim == dim; });
  return order;
}

RegisterLayout renumbered(RegisterLayout layout, const Digits &from,
                          const Digits &to) {
  for (Digits *space : {&layout.pack, &layout.reg, &layout.lane})
    for (Digit &digit : *space)
      if (auto found = std::find(from.begin(), from.end(), digit);
          found != from.end())
        digit = to[size_t(found - from.begin())];
  return layout;
}

/// Numbers the channels of `operand` as they lie in memory, or nothing where
/// that already is so.
std::optional<std::pair<Digits, Digits>>
renumberingOf(const RegisterLayout &operand, Dim channels, const Storage &loads,
              unsigned packPosition) {
  Digits from = inOrder(operand, channels), memory;
  for (const Digit &digit : loads.addr)
    if (digit.dim == channels)
      memory.push_back(digit);
  // A derived order begins with what the operand wants.
  bool isRows = loads.addr.size() >= 3;
  for (size_t i = 0; isRows && i < 3; ++i)
    isRows = loads.addr[i] == bitOf(channels, unsigned(i));
  if (!isRows || memory.size() != from.size())
    return std::nullopt;
  // Only bits change places; an odd digit stays the slowest.
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i].count != memory[i].count)
      return std::nullopt;
  // Elements that are 16 bits apart are a pair.
  bool isPacked = !operand.pack.empty() && operand.pack[0].dim == channels;
  if (isPacked && packPosition < memory.size())
    std::rotate(memory.begin(), memory.begin() + packPosition,
                memory.begin() + packPosition + 1);
  return std::pair(from, memory);
}

} // namespace

std::optional<ProductLayouts> productLayouts(std::pair<Dim, int64_t> rows,
                                             std::pair<Dim, int64_t> depth,
                                             std::pair<Dim, int64_t> columns,
                                             Dim channels, const Storage &loads,
                                             unsigned packPosition) {
  auto named = [&](MmaOperand operand) {
    return rename(
        mmaFragment(operand),
        {{'m', rows.first}, {'k', depth.first}, {'n', columns.first}});
  };
  std::optional<RegisterLayout> lhs =
      tile(named(MmaOperand::A),
           {{depth.first, depth.second}, {rows.first, rows.second}});
  std::optional<RegisterLayout> rhs =
      tile(named(MmaOperand::B),
           {{depth.first, depth.second}, {columns.first, columns.second}});
  std::optional<RegisterLayout> result =
      tile(named(MmaOperand::C),
           {{rows.first, rows.second}, {columns.first, columns.second}});
  if (!lhs || !rhs || !result)
    return std::nullopt;
  ProductLayouts layouts{*lhs, *rhs, *result};
  if (auto numbers = renumberingOf(*lhs, channels, loads, packPosition))
    for (RegisterLayout *layout : {&layouts.lhs, &layouts.rhs, &layouts.result})
      *layout = renumbered(*layout, numbers->first, numbers->second);
  return layouts;
}

RegisterLayout rowLayout(const LaneDims &dims, const Digits &inLane) {
  // Digits of the channels as one index: e below b.
  Digits channels;
  size_t inner = 1;
  if (dims.size() > 1 && dims.back().first == 'e' &&
      dims[dims.size() - 2].first == 'b')
    inner = 2;
  for (size_t i = 0; i < inner; ++i) {
    const auto &[dim, extent] = dims[dims.size() - 1 - i];
    append(channels, digitsOf(dim, extent));
  }
  RegisterLayout layout;
  Digits free;
  for (const Digit &digit : channels)
    (digit.count != 2 || has(inLane, digit) ? layout.reg : free)
        .push_back(digit);
  size_t lanes = std::min<size_t>(free.size(), kWarpLaneBits);
  layout.reg.insert(layout.reg.begin(), free.begin(),
                    free.end() - ptrdiff_t(lanes));
  layout.lane.assign(free.end() - ptrdiff_t(lanes), free.end());
  layout.lane.resize(kWarpLaneBits);
  for (size_t i = inner; i < dims.size(); ++i) {
    const auto &[dim, extent] = dims[dims.size() - 1 - i];
    append(layout.reg, digitsOf(dim, extent));
  }
  return layout;
}

} // namespace kvc
