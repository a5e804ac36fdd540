//===- Lookup.cpp - The entry of a table nearest to a number --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Lookup.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace kvc::spec;

/// The sign of 2 * x - (a + b), exactly.
static int compareWithMiddle(float x, float a, float b) {
  double low = std::min(a, b), high = std::max(a, b);
  // The sum and its rounding error, which is an f64 too. 2 * x cannot lie
  // strictly between the rounded sum and the exact one.
  double sum = low + high, rounded = sum - low;
  double error = (low - (sum - rounded)) + (high - rounded);
  double twice = 2.0 * x;
  if (twice != sum)
    return twice < sum ? -1 : 1;
  return error > 0 ? -1 : error < 0 ? 1 : 0;
}

/// The largest x that still belongs to the lower one of two neighbours.
static float threshold(float below, float above, bool tieIsBelow) {
  auto x = static_cast<float>((double(below) + double(above)) / 2);
  auto isBelow = [&](float y) {
    int side = compareWithMiddle(y, below, above);
    return side < 0 || (side == 0 && tieIsBelow);
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  while (!isBelow(x))
    x = std::nextafter(x, -infinity);
  float next = std::nextafter(x, infinity);
  while (std::isfinite(next) && isBelow(next)) {
    x = next;
    next = std::nextafter(x, infinity);
  }
  return x;
}

LookupSteps kvc::spec::lookupSteps(std::span<const float> table) {
  std::vector<uint8_t> order(table.size());
  std::iota(order.begin(), order.end(), uint8_t(0));
  std::sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) {
    return table[a] != table[b] ? table[a] < table[b] : a < b;
  });
  // Of equal entries only the first is ever nearest.
  order.erase(
      std::unique(order.begin(), order.end(),
                  [&](uint8_t a, uint8_t b) { return table[a] == table[b]; }),
      order.end());
  LookupSteps steps;
  steps.codes = order;
  for (size_t i = 0; i + 1 < order.size(); ++i)
    steps.thresholds.push_back(threshold(table[order[i]], table[order[i + 1]],
                                         order[i] < order[i + 1]));
  return steps;
}
