//===- races_test.cpp - Rows of memory against lanes one by one -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Two memories are told of the same accesses: one of whole rows where there are
// any, the other of one lane at a time. They must find the same.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Races.h"

#include <gtest/gtest.h>
#include <random>

using namespace kvc::sim;

namespace {

constexpr uint32_t kBlocks = 3, kWarps = 3;
/// Rows that mostly one block uses: all lie on a page and a bit.
constexpr uint32_t kRows = 6;

class RowsTest : public testing::TestWithParam<uint32_t> {
protected:
  RowsTest() {
    for (uint32_t block = 0; block < kBlocks; ++block)
      clocks.emplace_back(block, kWarps * kLanes);
  }

  uint32_t below(uint32_t bound) { return uint32_t(random() % bound); }

  /// Lanes from `first` on that fill one row, or the last of them alone.
  void access() {
    AccessRecord record;
    record.block = below(kBlocks);
    record.warp = uint16_t(below(kWarps));
    record.at = below(6);
    record.strength = below(8) == 0 ? Strength(1 + below(2)) : Strength::Weak;
    BlockClocks &clock = clocks[record.block];
    record.time = clock.now();
    const bool writes = record.at < 2, reads = !writes || below(9) == 0;
    const uint32_t step = below(4) == 0 ? 2u << below(5) : 4;
    const auto count = uint32_t(RaceMemory::kRowBytes / step);
    const uint32_t first = below(kLanes - count + 1);
    const uint64_t owner = below(8) == 0 ? below(kBlocks) : record.block;
    const uint64_t address =
        (owner * kRows + below(kRows)) * RaceMemory::kRowBytes;
    const LaneMask lanes = (kAllLanes >> (kLanes - count)) << first;
    uint32_t values[kLanes];
    for (uint32_t &value : values)
      value = 1 + below(2);
    const bool isRow = below(4) != 0 && record.strength == Strength::Weak;
    if (isRow) {
      record.lanes = lanes;
      record.step = uint8_t(step);
      rowsTaken += byRow = byRows.accessRow(clock, record, reads, writes,
                                            address, writes ? values : nullptr);
    }
    for (uint32_t lane = isRow ? 0 : count - 1; lane < count; ++lane) {
      AccessRecord one = record;
      one.lanes = LaneMask(1) << (first + lane);
      one.step = 0;
      one.value = writes ? values[first + lane] : 0;
      const uint64_t at = address + uint64_t(lane) * step;
      const auto expected = byLanes.access(clock, one, reads, writes, at, step);
      std::optional<RaceFound> found;
      if (!isRow || !byRow)
        found = byRows.access(clock, one, reads, writes, at, step);
      ASSERT_EQ(expected.has_value(), found.has_value());
      races += expected.has_value();
      if (!expected)
        continue;
      EXPECT_EQ(expected->wasWrite, found->wasWrite);
      EXPECT_EQ(expected->earlier.block, found->earlier.block);
      EXPECT_EQ(expected->earlier.warp, found->earlier.warp);
      EXPECT_EQ(expected->earlier.lanes, found->earlier.lanes);
      EXPECT_EQ(expected->earlier.at, found->earlier.at);
      EXPECT_EQ(expected->earlier.time, found->earlier.time);
    }
  }

  /// A barrier of a warp or block, or what one thread tells another.
  void order() {
    BlockClocks &clock = clocks[below(kBlocks)];
    switch (below(tells ? 4 : 2)) {
    case 0:
      clock.syncWarp(below(kWarps), below(2) ? kAllLanes : LaneMask(random()));
      break;
    case 1:
      clock.syncBlock();
      break;
    default:
      Message message = clocks[below(kBlocks)].release(below(kWarps * kLanes));
      message.times.clear();
      clock.acquire(below(kWarps * kLanes), message);
      break;
    }
  }

  std::mt19937 random{GetParam()};
  bool tells = GetParam() % 2 == 1;
  std::vector<BlockClocks> clocks;
  RaceMemory byRows, byLanes;
  bool byRow = false;
  uint64_t rowsTaken = 0, races = 0;
};

TEST_P(RowsTest, FindWhatLanesFind) {
  for (int i = 0; i < 4000 && !HasFatalFailure(); ++i)
    below(3) == 0 ? order() : access();
  EXPECT_GT(rowsTaken, 50u);
  EXPECT_GT(races, 50u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RowsTest, testing::Range(0u, 24u));

TEST(RowsTest, LanesOfARowRaceEachForItself) {
  BlockClocks clocks(0, 64);
  RaceMemory memory;
  AccessRecord record;
  record.lanes = 0xFFFF;
  record.step = 4;
  record.time = clocks.now();
  uint32_t values[kLanes] = {};
  ASSERT_TRUE(memory.accessRow(clocks, record, false, true, 64, values));
  // The other warp, by 16 bytes a lane: nothing is told of the row as a whole.
  record.warp = 1;
  record.lanes = 0xF0;
  record.step = 16;
  EXPECT_FALSE(memory.accessRow(clocks, record, true, false, 64, nullptr));
  record.lanes = 0x80;
  record.step = 0;
  const auto found = memory.access(clocks, record, true, false, 112, 16);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->earlier.lanes, LaneMask(1) << 12);
  EXPECT_TRUE(found->wasWrite);
  // A barrier makes the rows whole again to whoever comes next.
  clocks.syncBlock();
  record.time = clocks.now();
  EXPECT_FALSE(memory.access(clocks, record, false, true, 64, 16));
}

} // namespace
