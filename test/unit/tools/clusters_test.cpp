//===- clusters_test.cpp - Weighted k-means -------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Clusters.h"

#include "kvc/Test/Inputs.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace kvc;

namespace {

TEST(Clusters, FindGroupsThatLieApart) {
  std::vector<WeightedValue> values;
  for (double centre : {-3.0, -1.0, 0.5, 2.0})
    for (double off : {-0.01, 0.0, 0.01})
      values.push_back({centre + off, 1});
  const Clusters found = clusterValues(values, 4);
  ASSERT_EQ(found.centres.size(), 4U);
  EXPECT_FLOAT_EQ(found.centres[0], -3);
  EXPECT_FLOAT_EQ(found.centres[1], -1);
  EXPECT_FLOAT_EQ(found.centres[2], 0.5);
  EXPECT_FLOAT_EQ(found.centres[3], 2);
  EXPECT_NEAR(found.loss, 8 * 1e-4, 1e-12);
}

TEST(Clusters, GoWhereTheWeightIs) {
  // Four centres for five values: the two of least weight share one.
  const std::vector<WeightedValue> values = {
      {0, 10}, {1, 10}, {2, 10}, {3, 3}, {4, 1}};
  const Clusters found = clusterValues(values, 4);
  EXPECT_FLOAT_EQ(found.centres[3], 3.25);
  EXPECT_NEAR(found.loss, 3 * 0.25 * 0.25 + 0.75 * 0.75, 1e-9);
}

/// The levels that SPEC.md lists for turbo3 are those of a unit Gaussian.
TEST(Clusters, OfAGaussianAreLloydMaxLevels) {
  std::vector<WeightedValue> values;
  for (int i = -25000; i <= 25000; ++i) {
    const double x = i * 2e-4;
    values.push_back({x, std::exp(-x * x / 2)});
  }
  const double levels[] = {0.245094179, 0.756005281, 1.343909279, 2.151945705};
  const Clusters found = clusterValues(values, 8);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(found.centres[4 + i], levels[i], 2e-3);
    EXPECT_NEAR(found.centres[3 - i], -levels[i], 2e-3);
  }
}

TEST(Clusters, KeepTheLargestWhereItIsTied) {
  test::Random random(1);
  std::vector<WeightedValue> values = {{-0.9, 1}, {1, 1}};
  for (int i = 0; i < 1000; ++i)
    values.push_back({0.3 * random.normal() / 4, 1});
  const Clusters found = clusterValues(values, 4, {1, 1});
  EXPECT_EQ(std::max(-found.centres.front(), found.centres.back()), 1);
  const Clusters above =
      clusterValues({{-1.5, 1}, {0.2, 1}, {0.1, 1}}, 4, {1, 1.25});
  EXPECT_EQ(above.centres.front(), -1.25F);
}

TEST(Clusters, TakeFewerValuesThanCentres) {
  const Clusters found = clusterValues({{0.5, 1}}, 16);
  ASSERT_EQ(found.centres.size(), 16U);
  EXPECT_EQ(found.loss, 0);
}

} // namespace
