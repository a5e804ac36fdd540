//===- planner_test.cpp - How long the ranges of keys are -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Run/SplitPlanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <queue>
#include <random>

using namespace kvc;

namespace {

constexpr int64_t kTile = 64;

/// int8 keys and values of 128 channels, 4 query rows, on 132 multiprocessors
/// with 4 blocks each.
SplitShape shapeOf(const std::vector<int64_t> &lengths, int64_t heads = 8) {
  SplitShape shape;
  for (int64_t length : lengths)
    shape.sequences.push_back({length, heads});
  shape.tileTokens = kTile;
  shape.slots = 132 * 4;
  shape.tileBytes = kTile * 2 * 130;
  shape.partialBytes = 2 * 4 * 4 * 129;
  return shape;
}

/// The cost, item by item.
double countedCost(const SplitShape &shape, int64_t split) {
  std::vector<int64_t> items;
  for (const SplitShape::Sequences &each : shape.sequences)
    for (int64_t key = 0; key < each.keys; key += split)
      items.insert(items.end(), size_t(each.items),
                   (std::min(split, each.keys - key) + shape.tileTokens - 1) /
                       shape.tileTokens);
  std::sort(items.begin(), items.end(), std::greater<>());
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (int64_t i = 0; i < shape.slots; ++i)
    free.push(0);
  double end = 0;
  for (int64_t tiles : items) {
    const double done = free.top() + double(kStartBytes) +
                        double(tiles * shape.tileBytes + shape.partialBytes);
    free.pop();
    free.push(done);
    end = std::max(end, done);
  }
  return end + double(kStartBytes) +
         double(items.size()) * double(shape.partialBytes) /
             double(shape.slots);
}

/// Of every length of ranges.
double leastCost(const SplitShape &shape) {
  int64_t longest = kTile;
  for (const SplitShape::Sequences &each : shape.sequences)
    longest = std::max(longest, each.keys);
  double least = splitCost(shape, kTile);
  for (int64_t split = kTile; split < longest + kTile; split += kTile)
    least = std::min(least, splitCost(shape, split));
  return least;
}

int64_t itemsOf(const SplitShape &shape, int64_t split) {
  int64_t items = 0;
  for (const SplitShape::Sequences &each : shape.sequences)
    items += (each.keys + split - 1) / split * each.items;
  return items;
}

TEST(SplitPlanner, TableOfShapes) {
  struct Row {
    const char *name;
    std::vector<int64_t> lengths;
    int64_t heads, minItems, maxItems;
  };
  std::vector<int64_t> giant(63, 1024);
  giant.push_back(131072);
  const Row rows[] = {
      // One sequence fills the device, in one round.
      {"1 x 128k", {131072}, 8, 500, 528},
      {"1 x 128k, one head", {131072}, 1, 250, 528},
      {"1 x 1M", {1 << 20}, 8, 500, 4224},
      // Many sequences fill it already: hardly a cut.
      {"256 x 1k", std::vector<int64_t>(256, 1024), 8, 2048, 4096},
      {"64 x 4k", std::vector<int64_t>(64, 4096), 8, 512, 2112},
      {"one giant", giant, 8, 1000, 4000},
      {"one short", {100}, 8, 8, 16},
      {"all empty", {0, 0, 0}, 8, 0, 0},
      {"nothing", {}, 8, 0, 0},
  };
  std::printf("%-20s %8s %8s %10s\n", "shape", "split", "items", "over best");
  for (const Row &row : rows) {
    const SplitShape shape = shapeOf(row.lengths, row.heads);
    const int64_t split = chooseSplit(shape);
    const int64_t items = itemsOf(shape, split);
    const double over = splitCost(shape, split) / leastCost(shape) - 1;
    std::printf("%-20s %8lld %8lld %9.2f%%\n", row.name,
                static_cast<long long>(split), static_cast<long long>(items),
                100 * over);
    EXPECT_GE(split, kTile) << row.name;
    EXPECT_EQ(split % kTile, 0) << row.name;
    EXPECT_GE(items, row.minItems) << row.name;
    EXPECT_LE(items, row.maxItems) << row.name;
    EXPECT_LE(over, 0.05) << row.name;
    EXPECT_EQ(split, chooseSplit(shape)) << row.name;
  }
}

TEST(SplitPlanner, DoesNotDependOnTheOrderOfSequences) {
  const SplitShape one = shapeOf({100, 5000, 70000, 5000});
  const SplitShape other = shapeOf({5000, 70000, 5000, 100});
  EXPECT_EQ(chooseSplit(one), chooseSplit(other));
}

TEST(SplitPlanner, CostIsThatOfItemAfterItem) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    std::vector<int64_t> lengths;
    for (uint32_t n = random() % 12; n > 0; --n)
      lengths.push_back(int64_t(random() % (random() % 3 ? 3000 : 30000)));
    SplitShape shape = shapeOf(lengths, 1 + int64_t(random() % 8));
    shape.slots = 1 + int64_t(random() % 200);
    const int64_t split = kTile * (1 + int64_t(random() % 40));
    EXPECT_DOUBLE_EQ(splitCost(shape, split), countedCost(shape, split)) << i;
  }
}

/// Batches, contexts, heads, devices and bytes of codes; every other one mixed.
TEST(SplitPlanner, NearTheBestUniformSplit) {
  std::mt19937 random(2);
  double worst = 0, sum = 0;
  int shapes = 0;
  for (int64_t batch : {1, 3, 8, 32, 256})
    for (int64_t context : {500, 1024, 4096, 20000, 131072})
      for (int64_t heads : {1, 4, 8, 32})
        for (int64_t slots : {108, 132 * 2, 132 * 4, 142 * 6, 132 * 16})
          for (bool isMixed : {false, true}) {
            std::vector<int64_t> lengths;
            for (int64_t i = 0; i < batch; ++i)
              lengths.push_back(isMixed
                                    ? 1 + int64_t(random() % 16) * context / 16
                                    : context);
            SplitShape shape = shapeOf(lengths, heads);
            shape.slots = slots;
            shape.tileBytes = kTile * (shapes % 3 == 0   ? 512
                                       : shapes % 3 == 1 ? 260
                                                         : 132);
            shape.partialBytes = 1032 * (1 + shapes % 16);
            const double over =
                splitCost(shape, chooseSplit(shape)) / leastCost(shape) - 1;
            ASSERT_LE(over, 0.05)
                << batch << " x " << context << ", " << heads << " heads, "
                << slots << " slots" << (isMixed ? ", mixed" : "");
            worst = std::max(worst, over);
            sum += over;
            ++shapes;
          }
  EXPECT_EQ(shapes, 1000);
  std::printf("1000 shapes: %.2f %% above the best uniform split on average, "
              "%.2f %% at most\n",
              100 * sum / shapes, 100 * worst);
}

} // namespace
