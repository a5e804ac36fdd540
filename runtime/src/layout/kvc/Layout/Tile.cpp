//===- Tile.cpp - From fragments to tiles, slices and reductions ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Layout/Tile.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace kvc::layout {

std::optional<RegisterLayout> tile(RegisterLayout fragment,
                                   std::initializer_list<DimExtent> extents) {
  Digits inside = fragment.digits();
  for (auto [dim, extent] : extents) {
    int64_t unit = extentOf(inside, dim);
    if (extent < unit || extent % unit != 0)
      return std::nullopt;
    Digits copies = digitsOf(dim, extent / unit, unit);
    fragment.reg.insert(fragment.reg.end(), copies.begin(), copies.end());
  }
  return fragment;
}

SplitExtent splitExtent(int64_t extent, int64_t unit) {
  assert(unit > 0 && std::has_single_bit(uint64_t(unit)) &&
         "a unit is a power of two");
  int64_t units = extent / unit;
  unsigned doublings = units ? unsigned(std::countr_zero(uint64_t(units))) : 0;
  return {unsigned(std::countr_zero(uint64_t(unit))) + doublings,
          units >> doublings, extent % unit};
}

Cover coverExtent(int64_t extent, int64_t unit,
                  std::initializer_list<int64_t> smaller) {
  Cover cover;
  int64_t smallest = unit;
  auto take = [&](int64_t size) {
    if (extent >= size)
      cover.parts.push_back({extent / size, size});
    extent %= size;
    smallest = size;
  };
  take(unit);
  for (int64_t size : smaller)
    take(size);
  if (extent) {
    cover.parts.push_back({1, smallest});
    cover.padded = smallest - extent;
  }
  return cover;
}

RegisterLayout narrow(RegisterLayout layout, const Digits &digits) {
  for (const Digit &digit : digits) {
    [[maybe_unused]] size_t found = std::erase(layout.reg, digit);
    assert(found == 1 && "only register digits can be packed");
    layout.pack.push_back(digit);
  }
  return layout;
}

RegisterLayout sliceLayout(const RegisterLayout &layout, Dims keep) {
  RegisterLayout slice = layout;
  auto dropped = [&](const Digit &digit) { return !contains(keep, digit); };
  std::erase_if(slice.pack, dropped);
  std::erase_if(slice.reg, dropped);
  std::replace_if(slice.lane.begin(), slice.lane.end(), dropped, Digit{});
  std::replace_if(slice.warp.begin(), slice.warp.end(), dropped, Digit{});
  return slice;
}

Reduction reductionOf(const RegisterLayout &layout, Dims over) {
  Reduction reduction;
  int64_t values = 1;
  for (const Digits *space : {&layout.pack, &layout.reg})
    for (const Digit &digit : *space)
      values *= contains(over, digit) ? digit.count : 1;
  reduction.inLane = values - 1;
  for (size_t i = 0; i < layout.lane.size(); ++i)
    if (contains(over, layout.lane[i]))
      reduction.distances.push_back(int64_t(1) << i);
  reduction.acrossWarps =
      std::any_of(layout.warp.begin(), layout.warp.end(),
                  [&](const Digit &digit) { return contains(over, digit); });
  return reduction;
}

} // namespace kvc::layout
