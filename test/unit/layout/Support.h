//===- Support.h - Helpers of the layout tests ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Enumerates what a digit list means, position by position, independently of
// the library's own address computation.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_LAYOUT_SUPPORT_H
#define KVC_TEST_UNIT_LAYOUT_SUPPORT_H

#include "kvc/Layout/Layout.h"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace kvc::test {

inline layout::Digits digits(std::string_view text) {
  auto parsed = layout::parseDigits(text);
  if (!parsed)
    throw std::invalid_argument(std::string(text));
  return *parsed;
}

inline layout::RegisterLayout registers(std::string_view text) {
  auto parsed = layout::parseRegisterLayout(text);
  if (!parsed)
    throw std::invalid_argument(std::string(text));
  return *parsed;
}

/// Index values by dim.
struct Index {
  std::array<int64_t, 128> values{};
  int64_t operator[](char dim) const { return values[size_t(dim)]; }
  /// Adds what position `number` in a space says.
  void add(const layout::Digits &space, int64_t number) {
    for (const layout::Digit &digit : space) {
      if (!digit.isReplicated())
        values[size_t(digit.dim)] += number % digit.count * digit.place;
      number /= digit.count;
    }
  }
};

/// Calls fn(lane, reg, pack, index) for every position of a layout without
/// warps.
template <typename Fn>
void forEachElement(const layout::RegisterLayout &layout, Fn fn) {
  for (int64_t lane = 0; lane < layout::extentOf(layout.lane); ++lane)
    for (int64_t reg = 0; reg < layout::extentOf(layout.reg); ++reg)
      for (int64_t pack = 0; pack < layout::extentOf(layout.pack); ++pack) {
        Index index;
        index.add(layout.lane, lane);
        index.add(layout.reg, reg);
        index.add(layout.pack, pack);
        fn(lane, reg, pack, index);
      }
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_LAYOUT_SUPPORT_H
