//===- lookup_test.cpp - Steps of a table ---------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Lookup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace kvc::spec;

namespace {

uint8_t codeOf(const LookupSteps &steps, float x) {
  size_t step = 0;
  while (step < steps.thresholds.size() && x > steps.thresholds[step])
    ++step;
  return steps.codes[step];
}

/// By distances in long double, which hold these tables' differences exactly.
uint8_t nearest(const std::vector<float> &table, float x) {
  size_t best = 0;
  for (size_t i = 1; i < table.size(); ++i)
    if (std::fabs(static_cast<long double>(table[i]) - x) <
        std::fabs(static_cast<long double>(table[best]) - x))
      best = i;
  return static_cast<uint8_t>(best);
}

TEST(Lookup, TiesGoToTheLowerIndex) {
  LookupSteps steps = lookupSteps(std::vector<float>{1, 0});
  EXPECT_EQ(codeOf(steps, 0.5f), 0);
  EXPECT_EQ(codeOf(steps, std::nextafter(0.5f, 0.f)), 1);
  steps = lookupSteps(std::vector<float>{0, 1});
  EXPECT_EQ(codeOf(steps, 0.5f), 0);
  EXPECT_EQ(codeOf(steps, std::nextafter(0.5f, 1.f)), 1);
}

TEST(Lookup, OfEqualEntriesTheFirstIsNearest) {
  LookupSteps steps = lookupSteps(std::vector<float>{2, -1, 2, -1});
  ASSERT_EQ(steps.codes.size(), 2u);
  EXPECT_EQ(codeOf(steps, 100), 0);
  EXPECT_EQ(codeOf(steps, -100), 1);
}

TEST(Lookup, AgreesWithDistances) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-2, 2);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> table(size_t(4) << (round % 3));
    for (float &entry : table)
      entry = std::round(uniform(random) * 8) / 8;
    LookupSteps steps = lookupSteps(table);
    for (float threshold : steps.thresholds)
      // Beside 0 even long double cannot tell the distances apart.
      for (float x : {threshold, std::nextafter(threshold, 9.f),
                      std::nextafter(threshold, -9.f)})
        if (std::fabs(x) > 1e-6f)
          ASSERT_EQ(codeOf(steps, x), nearest(table, x)) << x;
    for (int i = 0; i < 50; ++i) {
      float x = uniform(random);
      ASSERT_EQ(codeOf(steps, x), nearest(table, x)) << x;
    }
  }
}

TEST(Lookup, EntriesFarApart) {
  LookupSteps steps = lookupSteps(std::vector<float>{1, 1e-30f, -1e30f, 0});
  EXPECT_EQ(codeOf(steps, 0.5f), 1) << "nearer to 1e-30 than to 1";
  EXPECT_EQ(codeOf(steps, std::nextafter(0.5f, 1.f)), 0);
  EXPECT_EQ(codeOf(steps, -1e29f), 3);
}

} // namespace
