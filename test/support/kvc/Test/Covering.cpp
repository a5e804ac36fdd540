//===- Covering.cpp - Rows in which levels meet ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Covering.h"

#include "kvc/Test/Inputs.h"

#include <optional>

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

/// Rows that are tried for three levels.
constexpr int kTripleCandidates = 60;

class Triples {
public:
  explicit Triples(std::span<const Property> properties)
      : properties(properties) {
    for (const Property &property : properties) {
      first.push_back(levels);
      levels += property.levels.size();
    }
    covered.resize(levels * levels * levels);
  }

  /// Calls with three properties' numbers, ascending.
  template <typename Body>
  void forEach(Body body) const {
    for (size_t a = 0; a < properties.size(); ++a)
      for (size_t b = a + 1; b < properties.size(); ++b)
        for (size_t c = b + 1; c < properties.size(); ++c)
          body(a, b, c);
  }
  bool isCovered(const Row &row, size_t a, size_t b, size_t c) const {
    return covered[at(row, a, b, c)];
  }
  size_t numFresh(const Row &row) const {
    size_t count = 0;
    forEach([&](size_t a, size_t b, size_t c) {
      count += !isCovered(row, a, b, c);
    });
    return count;
  }
  void cover(const Row &row) {
    forEach([&](size_t a, size_t b, size_t c) {
      covered[at(row, a, b, c)] = true;
    });
  }

private:
  size_t at(const Row &row, size_t a, size_t b, size_t c) const {
    return ((first[a] + row[a]) * levels + first[b] + row[b]) * levels +
           first[c] + row[c];
  }

  std::span<const Property> properties;
  std::vector<size_t> first;
  size_t levels = 0;
  std::vector<bool> covered;
};

} // namespace

std::vector<Row>
kvc::test::rowsOfTriples(std::span<const Property> properties,
                         const std::function<bool(const Row &)> &may,
                         uint64_t seed) {
  Random random(seed);
  Triples triples(properties);
  std::vector<Row> rows;
  auto addRowWith = [&](size_t a, size_t x, size_t b, size_t y, size_t c,
                        size_t z) {
    Row best;
    size_t bestFresh = 0;
    for (int i = 0; i < kTripleCandidates; ++i) {
      Row row(properties.size());
      for (size_t p = 0; p < row.size(); ++p)
        if (random.below(2))
          row[p] = size_t(random.below(int64_t(properties[p].levels.size())));
      row[a] = x;
      row[b] = y;
      row[c] = z;
      if (triples.isCovered(row, a, b, c))
        return;
      if (!may(row))
        continue;
      if (size_t fresh = triples.numFresh(row); fresh > bestFresh) {
        bestFresh = fresh;
        best = row;
      }
    }
    if (best.empty())
      return;
    triples.cover(best);
    rows.push_back(best);
  };
  triples.forEach([&](size_t a, size_t b, size_t c) {
    for (size_t x = 0; x < properties[a].levels.size(); ++x)
      for (size_t y = 0; y < properties[b].levels.size(); ++y)
        for (size_t z = 0; z < properties[c].levels.size(); ++z)
          addRowWith(a, x, b, y, c, z);
  });
  return rows;
}
