//===- Covering.cpp - Rows that cover all pairs of levels -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Covering.h"

#include "kvc/Test/Inputs.h"

#include <optional>

using namespace kvc::test;

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
