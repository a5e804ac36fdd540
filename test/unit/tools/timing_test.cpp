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

} // namespace
