//===- covering_test.cpp - Rows in which levels meet ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Combinations.h"
#include "kvc/Test/Inputs.h"
#include "kvc/Test/Sanitizers.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <unordered_set>

using namespace kvc::test;

namespace {

std::vector<Property> someProperties() {
  return {{"a", {"0", "1", "2"}},
          {"b", {"0", "1"}},
          {"c", {"0", "1", "2", "3"}},
          {"d", {"0", "1", "2"}},
          {"e", {"0", "1"}}};
}

/// No more than two of the levels are the same but 0, and 1 of `b` needs 2 of
/// `d`.
bool fits(const Row &row) {
  return (row[0] == 0 || row[0] != row[2] || row[2] != row[3]) &&
         (row[1] == 0 || row[3] == 2);
}

/// Three properties and the level of each, as one number.
uint64_t tripleOf(size_t a, size_t x, size_t b, size_t y, size_t c, size_t z) {
  uint64_t number = 0;
  for (const size_t digit : {a, x, b, y, c, z})
    number = number << 8 | digit;
  return number;
}

/// All triples of a row.
void addTriples(const Row &row, std::unordered_set<uint64_t> &triples) {
  for (size_t a = 0; a < row.size(); ++a)
    for (size_t b = a + 1; b < row.size(); ++b)
      for (size_t c = b + 1; c < row.size(); ++c)
        triples.insert(tripleOf(a, row[a], b, row[b], c, row[c]));
}

size_t faults(const Row &row) { return fits(row) ? 0 : 1; }

TEST(Covering, EveryThreeLevelsThatFitMeet) {
  const std::vector<Property> properties = someProperties();
  std::unordered_set<uint64_t> expected, covered;
  size_t all = 0;
  for (size_t n = 0; n < size_t(3 * 2 * 4 * 3 * 2); ++n) {
    const Row row = {n % 3, n / 3 % 2, n / 6 % 4, n / 24 % 3, n / 72};
    if (fits(row)) {
      addTriples(row, expected);
      ++all;
    }
  }
  const std::vector<Row> rows = rowsOfTriples(properties, faults, 1);
  for (const Row &row : rows) {
    EXPECT_TRUE(fits(row));
    addTriples(row, covered);
  }
  EXPECT_EQ(covered, expected);
  EXPECT_LT(rows.size(), all * 3 / 4);
}

TEST(Covering, RowsAreAFunctionOfTheSeed) {
  const std::vector<Property> properties = someProperties();
  EXPECT_EQ(rowsOfTriples(properties, faults, 1),
            rowsOfTriples(properties, faults, 1));
  EXPECT_NE(rowsOfTriples(properties, faults, 1),
            rowsOfTriples(properties, faults, 2));
}

TEST(Combinations, SayWhatTheyAre) {
  const std::vector<Combination> all = validCombinations();
  std::set<std::string> levels, texts;
  for (const Combination &combination : all) {
    EXPECT_TRUE(combination.broken().empty()) << combination.levels();
    EXPECT_NE(combination.levels().find("codec=" + combination.of("codec")),
              std::string::npos);
    levels.insert(combination.levels());
    texts.insert(combination.text("x"));
  }
  EXPECT_EQ(levels.size(), all.size());
  // What differs in the batch alone is one spec.
  EXPECT_GT(texts.size(), all.size() * 9 / 10);
}

/// Can the levels that are not fixed become such that no rule is broken, by
/// changing one at a time for the better?
bool canFit(Row row, const std::set<size_t> &fixed) {
  const auto properties = combinationProperties();
  size_t before, broken = Combination(row).broken().size();
  do {
    before = broken;
    for (size_t p = 0; p < row.size() && broken != 0; ++p) {
      if (fixed.count(p))
        continue;
      for (size_t level = 0; level < properties[p].levels.size(); ++level) {
        Row other = row;
        other[p] = level;
        const size_t count = Combination(other).broken().size();
        if (count < broken) {
          broken = count;
          row = other;
        }
      }
    }
  } while (broken != 0 && broken < before);
  return broken == 0;
}

TEST(Combinations, LackNoThreeLevelsThatCanMeet) {
  if (KVC_TEST_ASAN)
    GTEST_SKIP() << "a search in the test's own lists is for the other builds";
  const auto properties = combinationProperties();
  std::unordered_set<uint64_t> covered;
  for (const Combination &combination : validCombinations()) {
    Row row;
    for (const Property &property : properties)
      row.push_back(size_t(
          std::ranges::find(property.levels, combination.of(property.name)) -
          property.levels.begin()));
    addTriples(row, covered);
  }
  size_t lacking = 0;
  Random random(/*seed=*/3);
  const Row first(properties.size(), 0);
  for (size_t a = 0; a < first.size(); ++a)
    for (size_t b = a + 1; b < first.size(); ++b)
      for (size_t c = b + 1; c < first.size(); ++c)
        for (size_t x = 0; x < properties[a].levels.size(); ++x)
          for (size_t y = 0; y < properties[b].levels.size(); ++y)
            for (size_t z = 0; z < properties[c].levels.size(); ++z) {
              if (covered.count(tripleOf(a, x, b, y, c, z)))
                continue;
              ++lacking;
              Row other = first;
              for (size_t p = 0; p < other.size(); ++p)
                other[p] =
                    size_t(random.below(int64_t(properties[p].levels.size())));
              for (Row row : {first, other}) {
                row[a] = x;
                row[b] = y;
                row[c] = z;
                EXPECT_FALSE(canFit(row, {a, b, c}))
                    << Combination(row).levels() << " of " << a << b << c;
              }
            }
  EXPECT_GT(covered.size(), 6 * lacking);
}

} // namespace
