//===- layout_test.cpp - Digits, text, addresses, tiles -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "kvc/Layout/Fragments.h"
#include "kvc/Layout/Tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace kvc::layout;
using kvc::test::digits;
using kvc::test::registers;

namespace {

TEST(Digits, Print) {
  EXPECT_EQ(str(bitOf('t', 3)), "t3");
  EXPECT_EQ(str(Digit{'c', 16, 5}), "c[16:5]");
  EXPECT_EQ(str(Digit{'c', 3, 2}), "c[3:2]");
  EXPECT_EQ(str(Digit{}), "*");
  EXPECT_EQ(str(Digits{}), "");
}

TEST(Digits, PrintParseIsAFixedPoint) {
  for (const char *text :
       {"t0", "t3", "c61", "c[16:5]", "c[3:2]", "*", "h[1:7]"}) {
    auto digit = parseDigit(text);
    ASSERT_TRUE(digit) << text;
    EXPECT_EQ(str(*digit), text);
  }
  EXPECT_EQ(parseDigit("t[8:2]"), bitOf('t', 3));
  EXPECT_EQ(str(digits("  c1 c2  c0 t[16:3] ")), "c1 c2 c0 t[16:3]");
  const char *layout =
      "pack c0 | reg t3 c3 c[16:5] | lane * c2 t0 t1 t2 | warp t4";
  EXPECT_EQ(str(registers(layout)), layout);
}

TEST(Digits, ParseRefuses) {
  for (const char *text :
       {"", "t", "3", "T0", "t-1", "t03", "t62", "t99999999999999999999", "t0x",
        "t[1]", "t[0:2]", "t[1:1]", "t[:2]", "t[1:]", "t[1:2", "t[1:2]x",
        "t[4611686018427387904:4]", "**", "* "})
    EXPECT_FALSE(parseDigit(text)) << text;
  EXPECT_FALSE(parseDigits("t0 ?"));
  for (const char *text :
       {"pack", "pack c0 | pack c1", "rag c0", "c0", "reg c0 | | lane c1"})
    EXPECT_FALSE(parseRegisterLayout(text)) << text;
}

TEST(Digits, OfExtents) {
  EXPECT_EQ(str(digitsOf('c', 1)), "");
  EXPECT_EQ(str(digitsOf('c', 72)), "c0 c1 c2 c[8:9]");
  EXPECT_EQ(str(digitsOf('c', 80)), "c0 c1 c2 c3 c[16:5]");
  EXPECT_EQ(str(digitsOf('c', 96)), "c0 c1 c2 c3 c4 c[32:3]");
  EXPECT_EQ(str(digitsOf('c', 576)), "c0 c1 c2 c3 c4 c5 c[64:9]");
  EXPECT_EQ(str(digitsOf('h', 7)), "h[1:7]");
  EXPECT_EQ(str(digitsOf('t', 4, 16)), "t4 t5");
  EXPECT_EQ(str(digitsOf('t', 6, 16)), "t4 t[32:3]");
  EXPECT_EQ(extentOf(digitsOf('c', 576)), 576);
  EXPECT_EQ(extentOf(digits("t0 c0 t1 c[2:5]"), 'c'), 10);
}

TEST(Digits, CoversOnce) {
  EXPECT_TRUE(coversOnce(digits("c1 t0 c2 c0 c[8:9]"), 'c', 72));
  EXPECT_TRUE(coversOnce(digits("t0"), 'c', 1));
  EXPECT_FALSE(coversOnce(digits("c1 c2 c[8:9]"), 'c', 72)) << "c0 is missing";
  EXPECT_FALSE(coversOnce(digits("c0 c0 c1"), 'c', 4)) << "c0 is there twice";
  EXPECT_FALSE(coversOnce(digits("c0 c1 c2"), 'c', 4)) << "c2 is too many";
}

TEST(Terms, AreMerged) {
  // The host's K order of 4-bit codes, head_dim 128, 64 tokens.
  Storage storage{digits("c1 c2 c0 t0 t1 t2 t3 c3 c4 c5 c6 t4 t5"), 4};
  std::vector<Term> expected = {{'c', 2, 4, 1},
                                {'c', 1, 2, 4},
                                {'t', 1, 16, 8},
                                {'c', 8, 16, 128},
                                {'t', 16, 4, 2048}};
  EXPECT_EQ(termsOf(storage), expected);
  EXPECT_EQ(termsOf(storage, "t"),
            (std::vector<Term>{{'t', 1, 16, 8}, {'t', 16, 4, 2048}}));
  // Rows of an odd extent are one term.
  EXPECT_EQ(
      termsOf({digits("c0 c1 c2 c3 c[16:5] h[1:3] t0 t1"), 8}),
      (std::vector<Term>{{'c', 1, 80, 1}, {'h', 1, 3, 80}, {'t', 1, 4, 240}}));
  EXPECT_TRUE(termsOf({}).empty());
}

TEST(Terms, SumToTheAddress) {
  std::mt19937 random(7);
  for (int64_t channels : {72, 80, 96, 128, 576})
    for (int round = 0; round < 20; ++round) {
      Digits order = digitsOf('c', channels), t = digitsOf('t', 64);
      order.insert(order.end(), t.begin(), t.end());
      std::shuffle(order.begin(), order.end(), random);
      Storage storage{order, 4};
      std::vector<Term> terms = termsOf(storage);
      std::vector<bool> seen(size_t(channels * 64), false);
      for (int64_t token = 0; token < 64; ++token)
        for (int64_t channel = 0; channel < channels; ++channel) {
          int64_t sum = 0;
          for (const Term &term : terms)
            sum += (term.dim == 't' ? token : channel) / term.place %
                   term.count * term.stride;
          int64_t address = addressOf(storage, {{'t', token}, {'c', channel}});
          ASSERT_EQ(sum, address) << str(order);
          ASSERT_LT(address, channels * 64);
          ASSERT_FALSE(seen[size_t(address)]) << str(order);
          seen[size_t(address)] = true;
        }
    }
}

TEST(Tiles, Fill) {
  RegisterLayout k =
      rename(mmaFragment(MmaOperand::A), {{'m', 't'}, {'k', 'c'}});
  EXPECT_EQ(str(*tile(k, {{'c', 128}, {'t', 64}})),
            "pack c0 | reg t3 c3 c4 c5 c6 t4 t5 | lane c1 c2 t0 t1 t2");
  EXPECT_EQ(str(*tile(k, {{'t', 16}, {'c', 80}})),
            "pack c0 | reg t3 c3 c[16:5] | lane c1 c2 t0 t1 t2");
  EXPECT_FALSE(tile(k, {{'c', 72}, {'t', 64}})) << "a tail of eight channels";
  EXPECT_FALSE(tile(k, {{'c', 128}, {'t', 8}}));
  RegisterLayout tail = withoutDigit(k, bitOf('c', 3));
  EXPECT_EQ(str(*tile(tail, {{'c', 8}, {'t', 64}})),
            "pack c0 | reg t3 t4 t5 | lane c1 c2 t0 t1 t2");
}

TEST(Tiles, SplitAndCover) {
  EXPECT_EQ(splitExtent(40, 16), (SplitExtent{5, 1, 8}));
  EXPECT_EQ(splitExtent(72, 16), (SplitExtent{6, 1, 8}));
  EXPECT_EQ(splitExtent(80, 16), (SplitExtent{4, 5, 0}));
  EXPECT_EQ(splitExtent(96, 16), (SplitExtent{5, 3, 0}));
  EXPECT_EQ(splitExtent(192, 16), (SplitExtent{6, 3, 0}));
  EXPECT_EQ(splitExtent(576, 16), (SplitExtent{6, 9, 0}));
  EXPECT_EQ(splitExtent(8, 16), (SplitExtent{4, 0, 8}));
  Cover cover = coverExtent(72, 16, {8});
  EXPECT_EQ(cover.parts, (std::vector<Cover::Part>{{4, 16}, {1, 8}}));
  EXPECT_EQ(cover.padded, 0);
  const int64_t rows[] = {3, 5, 7, 12, 71}, by8[] = {5, 3, 1, 4, 1},
                by16[] = {13, 11, 9, 4, 9};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(coverExtent(rows[i], 8).padded, by8[i]);
    EXPECT_EQ(coverExtent(rows[i], 16).padded, by16[i]);
  }
}

TEST(Tiles, SliceAndReduce) {
  RegisterLayout accumulator = mmaFragment(MmaOperand::C);
  // Keys as rows.
  RegisterLayout st =
      *tile(rename(accumulator, {{'m', 't'}, {'n', 'q'}}), {{'t', 64}});
  EXPECT_EQ(str(sliceLayout(st, "t")), "reg t3 t4 t5 | lane * * t0 t1 t2");
  Reduction rows = reductionOf(st, "t");
  EXPECT_EQ(rows.inLane, 7);
  EXPECT_EQ(rows.distances, (std::vector<int64_t>{4, 8, 16}));
  EXPECT_FALSE(rows.acrossWarps);
  // Queries as rows.
  RegisterLayout s =
      *tile(rename(accumulator, {{'m', 'q'}, {'n', 't'}}), {{'t', 64}});
  EXPECT_EQ(str(sliceLayout(s, "t")), "reg t0 t3 t4 t5 | lane t1 t2 * * *");
  Reduction columns = reductionOf(s, "t");
  EXPECT_EQ(columns.inLane, 15);
  EXPECT_EQ(columns.distances, (std::vector<int64_t>{1, 2}));
  // An odd digit counts fully; warps end in shared memory.
  Reduction odd =
      reductionOf(registers("reg t[16:5] q0 | lane t0 t1 | warp t2"), "t");
  EXPECT_EQ(odd.inLane, 4);
  EXPECT_TRUE(odd.acrossWarps);
}

TEST(Tiles, Narrow) {
  RegisterLayout s =
      *tile(rename(mmaFragment(MmaOperand::C), {{'m', 't'}, {'n', 'q'}}),
            {{'t', 32}});
  EXPECT_EQ(str(narrow(s, digits("q0"))),
            "pack q0 | reg t3 t4 | lane q1 q2 t0 t1 t2");
}

} // namespace
