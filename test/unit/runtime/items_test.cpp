//===- items_test.cpp - How the work of one sequence is cut ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "FakeModule.h"
#include "kvc/Run/Items.h"

#include <gtest/gtest.h>

#include <random>

using namespace kvc;
using namespace kvc::test;

namespace {

spec::Attention attention(bool isCausal, int64_t window, int64_t sinks) {
  spec::Attention attention;
  attention.causal = isCausal;
  if (window)
    attention.window = window;
  attention.windowSinks = sinks;
  return attention;
}

kvc_kernel_info kernel(int64_t tile, int64_t split) {
  return {"decode", nullptr, 4, tile, split, "", nullptr, 0, 0, 0, 0};
}

std::vector<Range> split(const spec::Attention &attention,
                         const kvc_kernel_info &kernel, int64_t group,
                         int64_t queries, int64_t length, Range rows) {
  std::vector<Range> splits;
  splitKeys(Visibility(attention), kernel, group, queries, length, rows,
            splits);
  return splits;
}

using Ranges = std::vector<Range>;

} // namespace

TEST(Items, SplitsAtMultiplesAndStopsAtTheLastVisibleTile) {
  kvc_kernel_info info = kernel(16, 64);
  auto causal = attention(true, 0, 0);
  EXPECT_EQ(split(causal, info, 1, 1, 150, {0, 1}),
            (Ranges{{0, 64}, {64, 128}, {128, 150}}));
  // 8 queries on 100 keys: row 0 has position 92, row 3 sees keys below 96.
  EXPECT_EQ(split(causal, info, 1, 8, 100, {0, 4}),
            (Ranges{{0, 64}, {64, 96}}));
  EXPECT_EQ(split(causal, info, 1, 8, 100, {4, 8}),
            (Ranges{{0, 64}, {64, 100}}));
  // Without a mask every query sees every key.
  EXPECT_EQ(split(attention(false, 0, 0), info, 1, 8, 100, {0, 4}),
            (Ranges{{0, 64}, {64, 100}}));
}

TEST(Items, NothingToSee) {
  kvc_kernel_info info = kernel(16, 64);
  auto causal = attention(true, 0, 0);
  EXPECT_EQ(split(causal, info, 1, 1, 0, {0, 1}), Ranges());
  // Positions -6 .. 1: the first four rows see nothing, the last two do.
  EXPECT_EQ(split(causal, info, 1, 8, 2, {0, 4}), Ranges());
  EXPECT_EQ(split(causal, info, 1, 8, 2, {4, 8}), (Ranges{{0, 2}}));
  EXPECT_EQ(split(attention(true, 3, 2), info, 1, 8, 2, {0, 4}), Ranges());
  EXPECT_EQ(split(attention(false, 0, 0), info, 1, 8, 0, {0, 4}), Ranges());
}

TEST(Items, WindowsClipAtTilesAndKeepTheirSinks) {
  kvc_kernel_info info = kernel(16, 64);
  // Position 199, window 10: keys 190 .. 199.
  EXPECT_EQ(split(attention(true, 10, 0), info, 1, 1, 200, {0, 1}),
            (Ranges{{176, 192}, {192, 200}}));
  EXPECT_EQ(split(attention(true, 10, 3), info, 1, 1, 200, {0, 1}),
            (Ranges{{0, 16}, {176, 192}, {192, 200}}));
  // Sinks and window meet in one split.
  EXPECT_EQ(split(attention(true, 10, 3), info, 1, 1, 60, {0, 1}),
            (Ranges{{0, 60}}));
  // The window reaches the sinks: one range.
  EXPECT_EQ(split(attention(true, 100, 90), info, 1, 1, 150, {0, 1}),
            (Ranges{{0, 64}, {64, 128}, {128, 150}}));
  // Sinks beyond the last visible key.
  EXPECT_EQ(split(attention(true, 4, 1000), info, 1, 4, 100, {0, 1}),
            (Ranges{{0, 64}, {64, 100}}));
}

TEST(Items, EveryVisibleKeyIsInExactlyOneSplit) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 3000; ++trial) {
    int64_t tile = 1 << (random() % 5), splitTokens = tile * (1 + random() % 4);
    kvc_kernel_info info = kernel(tile, splitTokens);
    int64_t window = random() % 3 ? random() % 40 : 0;
    int64_t sinks = window && random() % 2 ? random() % 50 : 0;
    auto spec = attention(window || random() % 2, window, sinks);
    int64_t group = 1 + random() % 5, queries = 1 + random() % 30,
            length = random() % 120;
    int64_t rows = queries * group;
    int64_t begin = random() % rows,
            end = begin + 1 + random() % (rows - begin);
    Ranges splits = split(spec, info, group, queries, length, {begin, end});
    std::vector<int> covered(size_t(length), 0);
    for (Range range : splits) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_EQ(range.begin % tile, 0);
      ASSERT_TRUE(range.end % tile == 0 || range.end == length);
      ASSERT_EQ(range.begin / splitTokens, (range.end - 1) / splitTokens);
      for (int64_t key = range.begin; key < range.end; ++key)
        ++covered[size_t(key)];
    }
    for (int64_t key = 0; key < length; ++key) {
      bool isVisible = false;
      for (int64_t row = begin; row < end; ++row) {
        int64_t position = length - queries + row / group;
        isVisible |= !spec.causal ||
                     (key <= position &&
                      (!window || key > position - window || key < sinks));
      }
      ASSERT_LE(covered[size_t(key)], 1);
      ASSERT_GE(covered[size_t(key)], int(isVisible));
    }
    // The plan's bound holds for every smaller batch too.
    ASSERT_LE(int64_t(splits.size()),
              maxSplits(Visibility(spec), info, group, queries + random() % 5,
                        length + random() % 70, end - begin));
  }
}

TEST(Items, TheKernelIsAFunctionOfTheQueriesAlone) {
  SpecText text;
  text.qHeads = 8, text.kvHeads = 2; // Group 4.
  FakeModule fake(text);
  const kvc_module &module = *fake.get();
  EXPECT_EQ(&attendKernel(module, 1), module.decode);
  EXPECT_EQ(&attendKernel(module, 4), module.decode); // 16 rows, 4 tiles of 4.
  EXPECT_EQ(&attendKernel(module, 5), module.prefill);
  EXPECT_EQ(rowsOfItem(module, *module.decode), 16);
  EXPECT_EQ(rowsOfItem(module, *module.prefill), 8);
  text.qHeads = 2;
  FakeModule single(text);
  EXPECT_EQ(&attendKernel(*single.get(), 8), single.get()->decode);
  EXPECT_EQ(&attendKernel(*single.get(), 9), single.get()->prefill);
}
