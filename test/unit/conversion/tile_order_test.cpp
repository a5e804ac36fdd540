//===- tile_order_test.cpp - Which loop nest reads which order ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/TileOrder.h"

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
  // Parts of the bytes that eight codes of 3 bits fill.
  EXPECT_FALSE(
      tileOrder(storage(3, "c0 c1 t0 t1 c2 c3"), 'c', 't', true, 16, 4));
  EXPECT_FALSE(
      tileOrder(storage(3, "c0 c1 c2 c3 t0 t1"), 'c', 't', true, 12, 4));
}

TEST(TileOrder, CodesAcrossBytesLieInRows) {
  layout::Storage rows = storage(3, "c0 c1 c2 c3 t0 t1");
  auto scores = tileOrder(rows, 'c', 't', true, 16, 4);
  ASSERT_TRUE(scores);
  EXPECT_EQ(scores->kind, TileOrder::Kind::Rows);
  EXPECT_TRUE(scores->crossesBytes);
  EXPECT_EQ(scores->perByte, 1);
  auto values = tileOrder(rows, 't', 'c', true, 4, 16);
  ASSERT_TRUE(values);
  EXPECT_EQ(values->kind, TileOrder::Kind::Lanes);
  EXPECT_TRUE(values->crossesBytes);
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

//===----------------------------------------------------------------------===//
// Operands of dots
//===----------------------------------------------------------------------===//

DotShape keyShape(int64_t channels, int64_t tokens, bool isPaired = true) {
  return {'c', 't', channels, tokens, isPaired, /*isInteger=*/true};
}

std::string layoutOf(const layout::Storage &storage, const DotShape &shape,
                     layout::Dim onLanes) {
  auto layout = operandLayout(storage, shape, onLanes);
  return layout ? layout::str(*layout) : "none";
}

TEST(OperandLayout, LanesAreWhatLiesTogether) {
  EXPECT_EQ(layoutOf(kKey4, keyShape(128, 64), 't'),
            "pack c0 | reg c1 c2 c3 c4 c5 c6 t4 t5 | lane t0 t1 t2 t3");
  EXPECT_EQ(layoutOf(kKey4, keyShape(128, 64), 'c'), "none");
  EXPECT_EQ(layoutOf(kRows4, keyShape(128, 64), 'c'),
            "pack c0 | reg t0 t1 t2 t3 t4 t5 | lane c1 c2 c3 c4 c5 c6");
  EXPECT_EQ(layoutOf(kRows4, keyShape(128, 64), 't'), "none");
  EXPECT_EQ(layoutOf(kRows4, {'t', 'c', 64, 128, true, true}, 'c'),
            "pack t0 | reg t1 t2 t3 t4 t5 | lane c0 c1 c2 c3 c4 c5 c6");
  // A slice of a longer row; an odd factor stays on the lanes.
  EXPECT_EQ(layoutOf(kRows4, {'t', 'c', 64, 32, false, true}, 'c'),
            "reg t0 t1 t2 t3 t4 t5 | lane c0 c1 c2 c3 c4");
  EXPECT_EQ(
      layoutOf(storage(8, "c0 c1 c2 c3 c[16:5] t0 t1"), keyShape(80, 4), 'c'),
      "pack c0 | reg t0 t1 | lane c1 c2 c3 c[16:5]");
}

TEST(OperandLayout, IsReadAsItSays) {
  DotShape shape = keyShape(128, 64);
  auto layout = operandLayout(kKey4, shape, 't');
  ASSERT_TRUE(layout);
  auto reading = readTile(kKey4, shape, *layout);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->order.kind, TileOrder::Kind::Words);
  EXPECT_EQ(reading->order.run, 16);
  EXPECT_EQ(reading->channels, 128);
  // Fewer lanes than lie together.
  layout->reg.push_back(layout->lane.back());
  layout->lane.pop_back();
  reading = readTile(kKey4, shape, *layout);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->order.run, 8);
  // A whole row cut into parts may no longer begin anywhere.
  auto rows = operandLayout(kRows4, shape, 'c');
  ASSERT_TRUE(rows);
  EXPECT_TRUE(readTile(kRows4, shape, *rows)->order.isWholeRun);
  rows->reg.push_back(rows->lane.back());
  rows->lane.pop_back();
  reading = readTile(kRows4, shape, *rows);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->order.run, 64);
  EXPECT_FALSE(reading->order.isWholeRun);
}

TEST(OperandLayout, RefusesWhatTheStorageHasNot) {
  DotShape shape = keyShape(128, 64);
  const char *layouts[] = {
      // More lanes than lie together.
      "pack c0 | reg c1 c2 c3 c4 c5 c6 t5 | lane t0 t1 t2 t3 t4",
      // Not neighbours.
      "pack c0 | reg c1 c2 c3 c4 c5 c6 t0 t5 | lane t1 t2 t3 t4",
      "pack c0 | reg c1 c2 c3 c4 c5 c6 t4 t5 | lane t1 t0 t2 t3",
      // No pairs, and pairs of the wrong channels.
      "reg c0 c1 c2 c3 c4 c5 c6 t4 t5 | lane t0 t1 t2 t3",
      "pack c1 | reg c0 c2 c3 c4 c5 c6 t4 t5 | lane t0 t1 t2 t3",
      // The other dim.
      "pack c0 | reg c5 c6 t0 t1 t2 t3 t4 t5 | lane c1 c2 c3 c4"};
  for (const char *text : layouts)
    EXPECT_FALSE(readTile(kKey4, shape, *layout::parseRegisterLayout(text)))
        << text;
}

TEST(OperandLayout, SlicesThatCutWordsAreReadWithTheirNeighbours) {
  DotShape shape = keyShape(5, 64);
  auto layout = operandLayout(kKey4, shape, 't');
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout::str(*layout), "reg c[1:5] t4 t5 | lane t0 t1 t2 t3");
  auto reading = readTile(kKey4, shape, *layout);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->channels, 16);
  // A single channel on the lanes leaves no digit there.
  DotShape single = keyShape(1, 64);
  layout = operandLayout(kRows4, single, 'c');
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout::str(*layout), "reg t0 t1 t2 t3 t4 t5");
  EXPECT_EQ(lanesOf(*layout, single), 'c');
  EXPECT_TRUE(readTile(kRows4, single, *layout));
  // Raw elements beside the slice may be NaN.
  shape.isInteger = false;
  EXPECT_FALSE(readTile(kKey4, shape, *layout));
}

} // namespace
