//===- Covering.cpp - Rows in which levels meet ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Covering.h"

#include "kvc/Test/Inputs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

using namespace kvc::test;

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

namespace {

/// Rows that are tried for each one that is taken.
constexpr int kCandidates = 8;

class Builder {
public:
  Builder(std::span<const Property> properties, const Allowed &allowed,
          uint64_t seed)
      : properties(properties), random(seed) {
    for (const Property &property : properties) {
      first.push_back(levels);
      levels += property.levels.size();
    }
    isAllowed.resize(levels * levels);
    isWanted.resize(levels * levels);
    for (Level a : allLevels())
      for (Level b : allLevels())
        if (a.property != b.property && allowed(a, b)) {
          isAllowed[index(a, b)] = isWanted[index(a, b)] = true;
          if (a.property < b.property)
            wanted.push_back({a, b});
        }
    shuffle(wanted);
  }

  std::vector<Row> build() {
    std::vector<Row> rows;
    for (auto [a, b] : wanted) {
      if (!isWanted[index(a, b)])
        continue;
      std::optional<Row> best;
      size_t bestNew = 0;
      for (int i = 0; i < kCandidates; ++i)
        if (std::optional<Row> row = complete(a, b)) {
          size_t fresh = newPairs(*row);
          if (fresh > bestNew) {
            bestNew = fresh;
            best = std::move(row);
          }
        }
      if (!best)
        continue;
      for (Level x : levelsOf(*best))
        for (Level y : levelsOf(*best))
          isWanted[index(x, y)] = false;
      rows.push_back(std::move(*best));
    }
    return rows;
  }

private:
  std::vector<Level> allLevels() const {
    std::vector<Level> result;
    for (size_t p = 0; p < properties.size(); ++p)
      for (size_t l = 0; l < properties[p].levels.size(); ++l)
        result.push_back({p, l});
    return result;
  }

  static std::vector<Level> levelsOf(const Row &row) {
    std::vector<Level> result;
    for (size_t p = 0; p < row.size(); ++p)
      result.push_back({p, row[p]});
    return result;
  }

  size_t index(Level a, Level b) const {
    return (first[a.property] + a.level) * levels + first[b.property] + b.level;
  }

  template <typename T>
  void shuffle(std::vector<T> &items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[size_t(random.below(int64_t(i)))]);
  }

  size_t newPairs(const Row &row) const {
    size_t count = 0;
    for (Level a : levelsOf(row))
      for (Level b : levelsOf(row))
        count += a.property < b.property && isWanted[index(a, b)];
    return count;
  }

  /// A row with `a` and `b`, the other properties in random order, each with
  /// the allowed level that covers most. Nothing if one has none left.
  std::optional<Row> complete(Level a, Level b) {
    std::vector<size_t> order;
    for (size_t p = 0; p < properties.size(); ++p)
      if (p != a.property && p != b.property)
        order.push_back(p);
    shuffle(order);
    std::vector<Level> chosen = {a, b};
    for (size_t p : order) {
      std::vector<Level> best;
      size_t bestNew = 0;
      for (size_t l = 0; l < properties[p].levels.size(); ++l) {
        size_t fresh = 0;
        bool fits = true;
        for (Level other : chosen) {
          fits &= bool(isAllowed[index({p, l}, other)]);
          fresh += isWanted[index({p, l}, other)];
        }
        if (!fits || (fresh < bestNew && !best.empty()))
          continue;
        if (fresh > bestNew)
          best.clear();
        bestNew = fresh;
        best.push_back({p, l});
      }
      if (best.empty())
        return std::nullopt;
      chosen.push_back(best[size_t(random.below(int64_t(best.size())))]);
    }
    Row row(properties.size());
    for (Level level : chosen)
      row[level.property] = level.level;
    return row;
  }

  std::span<const Property> properties;
  Random random;
  std::vector<size_t> first; ///< Of each property, among all levels.
  size_t levels = 0;
  std::vector<bool> isAllowed, isWanted;
  std::vector<std::pair<Level, Level>> wanted;
};

} // namespace

std::vector<Row> kvc::test::coveringRows(std::span<const Property> properties,
                                         const Allowed &allowed,
                                         uint64_t seed) {
  return Builder(properties, allowed, seed).build();
}

//===----------------------------------------------------------------------===//
// Triples
//===----------------------------------------------------------------------===//

namespace {

/// Rows that are tried for three levels before any is looked for step by step.
constexpr int kTripleCandidates = 60;
/// Rows from which a search begins, and how often it goes over their
/// properties.
constexpr int kStarts = 12, kRounds = 4;

class TripleBuilder {
public:
  TripleBuilder(std::span<const Property> properties, const Faults &faults,
                uint64_t seed)
      : properties(properties), faults(faults), random(seed) {
    for (const Property &property : properties) {
      first.push_back(levels);
      levels += property.levels.size();
    }
    isCovered.resize(levels * levels * levels);
    isHopeless.resize(levels * levels);
  }

  std::vector<Row> build() {
    forEach([&](const Levels &three) { addByChance(three); });
    forEach([&](const Levels &three) { addBySteps(three); });
    return std::move(rows);
  }

private:
  using Levels = std::array<Level, 3>;

  template <typename Body>
  void forEach(Body body) const {
    const size_t count = properties.size();
    for (size_t a = 0; a < count; ++a)
      for (size_t b = a + 1; b < count; ++b)
        for (size_t c = b + 1; c < count; ++c)
          for (size_t x = 0; x < properties[a].levels.size(); ++x)
            for (size_t y = 0; y < properties[b].levels.size(); ++y)
              for (size_t z = 0; z < properties[c].levels.size(); ++z)
                body(Levels{{{a, x}, {b, y}, {c, z}}});
  }

  size_t index(Level a, Level b) const {
    return (first[a.property] + a.level) * levels + first[b.property] + b.level;
  }
  size_t index(const Levels &three) const {
    return index(three[0], three[1]) * levels + first[three[2].property] +
           three[2].level;
  }

  template <typename Body>
  static void forEachOf(const Row &row, Body body) {
    for (size_t a = 0; a < row.size(); ++a)
      for (size_t b = a + 1; b < row.size(); ++b)
        for (size_t c = b + 1; c < row.size(); ++c)
          body(Levels{{{a, row[a]}, {b, row[b]}, {c, row[c]}}});
  }

  void add(const Row &row) {
    forEachOf(row,
              [&](const Levels &three) { isCovered[index(three)] = true; });
    rows.push_back(row);
  }

  /// Any row with these levels, half of the others the first of their property.
  Row someRow(std::span<const Level> fixed) {
    Row row(properties.size());
    for (size_t p = 0; p < row.size(); ++p)
      if (random.below(2))
        row[p] = size_t(random.below(int64_t(properties[p].levels.size())));
    for (Level level : fixed)
      row[level.property] = level.level;
    return row;
  }

  void addByChance(const Levels &three) {
    if (isCovered[index(three)])
      return;
    Row best;
    size_t bestFresh = 0;
    for (int i = 0; i < kTripleCandidates; ++i) {
      const Row row = someRow(three);
      if (faults(row) != 0)
        continue;
      size_t fresh = 0;
      forEachOf(row, [&](const Levels &levels) {
        fresh += !isCovered[index(levels)];
      });
      if (fresh > bestFresh) {
        bestFresh = fresh;
        best = row;
      }
    }
    if (!best.empty())
      add(best);
  }

  void addBySteps(const Levels &three) {
    if (isCovered[index(three)])
      return;
    for (const auto &[a, b] : {std::pair(0, 1), {0, 2}, {1, 2}})
      if (!mayMeet(three[a], three[b]))
        return;
    if (std::optional<Row> row = search(three))
      add(*row);
  }

  /// Most triples that no row has contain two levels that no row has.
  bool mayMeet(Level a, Level b) {
    if (!isHopeless[index(a, b)]) {
      const auto isWithBoth = [&](const Row &row) {
        return row[a.property] == a.level && row[b.property] == b.level;
      };
      const std::array<Level, 2> both = {a, b};
      isHopeless[index(a, b)] =
          std::ranges::none_of(rows, isWithBoth) && !search(both);
    }
    return !isHopeless[index(a, b)];
  }

  /// A row without a fault, by changing one level at a time to one that leaves
  /// no more faults.
  std::optional<Row> search(std::span<const Level> fixed) {
    for (int start = 0; start < kStarts; ++start) {
      Row row = someRow(fixed);
      size_t count = faults(row);
      for (int round = 0; round < kRounds && count != 0; ++round)
        for (size_t p = 0; p < row.size() && count != 0; ++p)
          if (std::ranges::none_of(
                  fixed, [&](Level level) { return level.property == p; }))
            count = change(row, p, count);
      if (count == 0)
        return row;
    }
    return std::nullopt;
  }

  size_t change(Row &row, size_t p, size_t count) {
    const size_t numLevels = properties[p].levels.size();
    const size_t offset = size_t(random.below(int64_t(numLevels)));
    for (size_t i = 0; i < numLevels && count != 0; ++i) {
      const size_t before = std::exchange(row[p], (offset + i) % numLevels);
      const size_t now = faults(row);
      if (now <= count)
        count = now;
      else
        row[p] = before;
    }
    return count;
  }

  std::span<const Property> properties;
  const Faults &faults;
  Random random;
  std::vector<size_t> first; ///< Of each property, among all levels.
  size_t levels = 0;
  std::vector<bool> isCovered, isHopeless;
  std::vector<Row> rows;
};

} // namespace

std::vector<Row> kvc::test::rowsOfTriples(std::span<const Property> properties,
                                          const Faults &faults, uint64_t seed) {
  return TripleBuilder(properties, faults, seed).build();
}
