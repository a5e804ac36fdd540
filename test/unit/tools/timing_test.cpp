//===- timing_test.cpp - What is said of measurements ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Timing.h"

#include <gtest/gtest.h>

using namespace kvc;

namespace {

TEST(Quartiles, OfNothingOneAndMany) {
  EXPECT_EQ(quartilesOf({}).median, 0);
  EXPECT_EQ(quartilesOf({7}).low, 7);
  EXPECT_EQ(quartilesOf({7}).high, 7);
  const Quartiles four = quartilesOf({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(four.low, 1.75);
  EXPECT_DOUBLE_EQ(four.median, 2.5);
  EXPECT_DOUBLE_EQ(four.high, 3.25);
}

TEST(Quartiles, OneOutlierChangesNone) {
  EXPECT_EQ(quartilesOf({1, 2, 3, 4, 1e9}).median, 3);
}

/// Parts that write down when they ran, and say a number of their own.
struct Parts {
  std::vector<std::function<double()>> parts;
  std::vector<size_t> ran;

  explicit Parts(size_t count) {
    for (size_t part = 0; part < count; ++part)
      parts.emplace_back([this, part] {
        ran.push_back(part);
        return static_cast<double>(ran.size());
      });
  }
};

TEST(TimesInTurn, RunsAllPartsInEveryRoundAndDropsTheFirst) {
  Parts parts(3);
  const auto times =
      timesInTurn(parts.parts, {.least = 2, .most = 4, .seconds = 1e9});
  ASSERT_EQ(parts.ran.size(), 3U * (1 + 4));
  for (size_t i = 0; i < parts.ran.size(); ++i)
    EXPECT_EQ(parts.ran[i], i % 3);
  EXPECT_EQ(times, (std::vector<std::vector<double>>{
                       {4, 7, 10, 13}, {5, 8, 11, 14}, {6, 9, 12, 15}}));
}

TEST(TimesInTurn, EndsWithTheTimeButNotBeforeTheLeast) {
  Parts parts(2);
  EXPECT_EQ(timesInTurn(parts.parts, {.least = 3, .most = 9, .seconds = -1}),
            (std::vector<std::vector<double>>{{3, 5, 7}, {4, 6, 8}}));
}

} // namespace
