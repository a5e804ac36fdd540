//===- Covering.h - Rows in which levels meet -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Covering arrays: every two, or every three, levels of different properties
// that may stand together do so in at least one row.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_COVERING_H
#define KVC_TEST_COVERING_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kvc::test {

struct Property {
  std::string name;
  std::vector<std::string> levels;
};

/// A level of a property, by their numbers.
struct Level {
  size_t property, level;
  bool operator==(const Level &) const = default;
};

/// May the two stand in one row? Symmetric. A level of one property that has a
/// partner in each other one must have a row with all of them.
using Allowed = std::function<bool(Level, Level)>;

/// One level per property.
using Row = std::vector<size_t>;

/// Rows without a forbidden pair that cover every allowed one; a function of
/// the arguments alone. Greedy: few rows, not the fewest.
std::vector<Row> coveringRows(std::span<const Property> properties,
                              const Allowed &allowed, uint64_t seed);

/// What is wrong with a row: 0 if nothing is. Changing one level of a row
/// should change few of its faults.
using Faults = std::function<size_t(const Row &)>;

/// Rows without fault in which any three levels meet that can: by many random
/// rows, half of whose levels are the first of their property, which should
/// therefore fit most others, and then by a search from random rows that takes
/// faults away one by one. A function of the arguments alone.
std::vector<Row> rowsOfTriples(std::span<const Property> properties,
                               const Faults &faults, uint64_t seed);

} // namespace kvc::test

#endif // KVC_TEST_COVERING_H
