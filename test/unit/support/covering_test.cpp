//===- covering_test.cpp - Rows in which levels meet ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Combinations.h"

#include <gtest/gtest.h>
#include <set>

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

/// Properties and levels of all triples of a row.
void addTriples(const Row &row, std::set<std::vector<size_t>> &triples) {
  for (size_t a = 0; a < row.size(); ++a)
    for (size_t b = a + 1; b < row.size(); ++b)
      for (size_t c = b + 1; c < row.size(); ++c)
        triples.insert({a, row[a], b, row[b], c, row[c]});
}

TEST(Covering, EveryThreeLevelsThatFitMeet) {
  const std::vector<Property> properties = someProperties();
  std::set<std::vector<size_t>> expected, covered;
  size_t all = 0;
  for (size_t n = 0; n < size_t(3 * 2 * 4 * 3 * 2); ++n) {
    const Row row = {n % 3, n / 3 % 2, n / 6 % 4, n / 24 % 3, n / 72};
    if (fits(row)) {
      addTriples(row, expected);
      ++all;
    }
  }
  const std::vector<Row> rows = rowsOfTriples(properties, fits, 1);
  for (const Row &row : rows) {
    EXPECT_TRUE(fits(row));
    addTriples(row, covered);
  }
  EXPECT_EQ(covered, expected);
  EXPECT_LT(rows.size(), all * 3 / 4);
}

TEST(Covering, RowsAreAFunctionOfTheSeed) {
  const std::vector<Property> properties = someProperties();
  EXPECT_EQ(rowsOfTriples(properties, fits, 1),
            rowsOfTriples(properties, fits, 1));
  EXPECT_NE(rowsOfTriples(properties, fits, 1),
            rowsOfTriples(properties, fits, 2));
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

} // namespace
