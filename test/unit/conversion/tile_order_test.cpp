//===- tile_order_test.cpp - Which loop nest reads which order ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/TileOrder.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace kvc;

namespace {

layout::Storage storage(unsigned width, const std::string &digits) {
  layout::Storage result{{}, width};
  std::istringstream words(digits);
  for (std::string word; words >> word;)
    result.addr.push_back(*layout::parseDigit(word));
  return result;
}

const layout::Storage kKey4 =
    storage(4, "c1 c2 c0 t0 t1 t2 t3 c3 c4 c5 c6 t4 t5");
const layout::Storage kValue4 =
    storage(4, "t1 t2 t0 c0 c1 c2 c3 t3 t4 t5 c4 c5 c6");
const layout::Storage kRows4 =
    storage(4, "c0 c1 c2 c3 c4 c5 c6 h0 t0 t1 t2 t3 t4 t5");

TEST(TileOrder, WordsOfContractedCodes) {
  auto order = tileOrder(kKey4, 'c', 't', /*needsPairs=*/true, 128, 64);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->kind, TileOrder::Kind::Words);
  EXPECT_EQ(order->group, 8);
  EXPECT_EQ(order->bitOf, (std::vector<unsigned>{0, 16, 4, 20, 8, 24, 12, 28}));
  EXPECT_EQ(order->run, 16);
  EXPECT_FALSE(order->isWholeRun);
  order = tileOrder(kValue4, 't', 'c', true, 64, 128);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->kind, TileOrder::Kind::Words);
  order = tileOrder(storage(8, "c1 c0 t0 t1 t2 t3 c2 c3 c4 t4 t5"), 'c', 't',
                    true, 32, 64);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->bitOf, (std::vector<unsigned>{0, 16, 8, 24}));
}

TEST(TileOrder, RowsEitherWay) {
  auto order = tileOrder(kRows4, 'c', 't', true, 128, 64);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->kind, TileOrder::Kind::Rows);
  EXPECT_TRUE(order->isWholeRun);
  EXPECT_EQ(order->perByte, 2);
  order = tileOrder(kRows4, 't', 'c', true, 64, 128);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->kind, TileOrder::Kind::Lanes);
  EXPECT_EQ(order->run, 128);
  order = tileOrder(storage(16, "t0 t1 t2 t3 c0 c1 c2 c3 c[16:5] t4 t5"), 'c',
                    't', false, 80, 64);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->kind, TileOrder::Kind::Lanes);
  EXPECT_EQ(order->run, 16);
}

TEST(TileOrder, RefusesWhatNoLoopNestReads) {
  // Tokens on lanes while tokens are contracted.
  EXPECT_FALSE(tileOrder(kKey4, 't', 'c', true, 64, 128));
  // Part of a word.
  EXPECT_FALSE(tileOrder(kKey4, 'c', 't', true, 4, 64));
  // Codes across bytes.
  EXPECT_FALSE(
      tileOrder(storage(3, "c0 c1 c2 c3 t0 t1"), 'c', 't', true, 16, 4));
}

TEST(TileOrder, WordsWhoseHalvesAreNoNeighbours) {
  layout::Storage natural = storage(4, "c0 c1 c2 t0 t1 t2 t3 c3 t4 t5");
  EXPECT_EQ(tileOrder(natural, 'c', 't', false, 16, 64)->kind,
            TileOrder::Kind::Words);
  // Pairs of i16 are not one mask away: short rows.
  auto order = tileOrder(natural, 'c', 't', true, 16, 64);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->kind, TileOrder::Kind::Rows);
  EXPECT_EQ(order->run, 8);
}

} // namespace
