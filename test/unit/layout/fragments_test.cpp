//===- fragments_test.cpp - Fragments against the PTX ISA -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The formulas are those of the PTX ISA for each shape: groupID = lane / 4,
// threadID_in_group = lane % 4, i = number of the element in the thread's
// fragment.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "kvc/Layout/Fragments.h"
#include "kvc/Layout/Tile.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

using namespace kvc::layout;
using namespace kvc::test;

namespace {

using Formula =
    std::function<int64_t(int64_t group, int64_t thread, int64_t i)>;

void check(const RegisterLayout &fragment, int64_t elements, char rowDim,
           Formula row, char columnDim, Formula column) {
  std::set<std::pair<int64_t, int64_t>> seen;
  forEachElement(fragment, [&](int64_t lane, int64_t reg, int64_t pack,
                               const Index &index) {
    int64_t i = reg * extentOf(fragment.pack) + pack;
    EXPECT_EQ(index[rowDim], row(lane / 4, lane % 4, i))
        << str(fragment) << " lane " << lane << " i " << i;
    EXPECT_EQ(index[columnDim], column(lane / 4, lane % 4, i))
        << str(fragment) << " lane " << lane << " i " << i;
    seen.insert({index[rowDim], index[columnDim]});
  });
  EXPECT_EQ(int64_t(seen.size()), 32 * elements);
}

TEST(Fragments, M16N8K16) {
  check(
      mmaFragment(MmaOperand::A, 16), 8, 'm',
      [](auto g, auto, auto i) {
        return (i < 2 || (i >= 4 && i < 6)) ? g : g + 8;
      },
      'k',
      [](auto, auto t, auto i) { return t * 2 + (i & 1) + (i >= 4 ? 8 : 0); });
  check(
      mmaFragment(MmaOperand::B, 16), 4, 'k',
      [](auto, auto t, auto i) { return t * 2 + (i & 1) + (i >= 2 ? 8 : 0); },
      'n', [](auto g, auto, auto) { return g; });
  check(
      mmaFragment(MmaOperand::C), 4, 'm',
      [](auto g, auto, auto i) { return i < 2 ? g : g + 8; }, 'n',
      [](auto, auto t, auto i) { return t * 2 + (i & 1); });
}

TEST(Fragments, M16N8K8OfTF32) {
  check(
      mmaFragment(MmaOperand::A, 32), 4, 'm',
      [](auto g, auto, auto i) { return i % 2 ? g + 8 : g; }, 'k',
      [](auto, auto t, auto i) { return i < 2 ? t : t + 4; });
  check(
      mmaFragment(MmaOperand::B, 32), 2, 'k',
      [](auto, auto t, auto i) { return i ? t + 4 : t; }, 'n',
      [](auto g, auto, auto) { return g; });
}

TEST(Fragments, M16N8K32) {
  check(
      mmaFragment(MmaOperand::A, 8), 16, 'm',
      [](auto g, auto, auto i) {
        return (i < 4 || (i >= 8 && i < 12)) ? g : g + 8;
      },
      'k',
      [](auto, auto t, auto i) { return t * 4 + (i & 3) + (i >= 8 ? 16 : 0); });
  check(
      mmaFragment(MmaOperand::B, 8), 8, 'k',
      [](auto, auto t, auto i) { return t * 4 + (i & 3) + (i >= 4 ? 16 : 0); },
      'n', [](auto g, auto, auto) { return g; });
}

TEST(Fragments, M16N8K64) {
  check(
      mmaFragment(MmaOperand::A, 4), 32, 'm',
      [](auto g, auto, auto i) {
        return (i < 8 || (i >= 16 && i < 24)) ? g : g + 8;
      },
      'k',
      [](auto, auto t, auto i) {
        return t * 8 + (i & 7) + (i >= 16 ? 32 : 0);
      });
  check(
      mmaFragment(MmaOperand::B, 4), 16, 'k',
      [](auto, auto t, auto i) { return t * 8 + (i & 7) + (i >= 8 ? 32 : 0); },
      'n', [](auto g, auto, auto) { return g; });
}

TEST(Fragments, Movmatrix) {
  // Row r of an 8x8 block is in lanes 4r .. 4r + 3, two columns each; movmatrix
  // transposes it, so each lane holds of the transpose what it held of the
  // block.
  RegisterLayout block = registers("pack c0 | lane c1 c2 r0 r1 r2"),
                 turned = movmatrix(block);
  EXPECT_EQ(str(turned), "pack r0 | lane r1 r2 c0 c1 c2");
  forEachElement(turned,
                 [&](int64_t lane, int64_t, int64_t pack, const Index &index) {
                   EXPECT_EQ(index['c'], lane / 4);
                   EXPECT_EQ(index['r'], lane % 4 * 2 + pack);
                 });
  EXPECT_EQ(movmatrix(turned), block);
  EXPECT_FALSE(canMovmatrix(mmaFragment(MmaOperand::A, 8)));
  EXPECT_FALSE(canMovmatrix(registers("pack c0 | lane * * t0 t1 t2")));
}

TEST(Fragments, Ldmatrix) {
  Storage rows{digits("c0 c1 c2 c3 c4 c5 c6 t0 t1 t2 t3 t4 t5"), 16};
  RegisterLayout a = mmaFragment(MmaOperand::A),
                 narrow = mmaFragment(MmaOperand::A, 8);
  EXPECT_EQ(ldmatrixForm(rows, rename(a, {{'m', 't'}, {'k', 'c'}})),
            LdmatrixForm::Plain);
  EXPECT_EQ(ldmatrixForm(rows, rename(a, {{'m', 'c'}, {'k', 't'}})),
            LdmatrixForm::Transposed);
  Storage bytes{rows.addr, 8};
  EXPECT_EQ(ldmatrixForm(bytes, rename(narrow, {{'m', 't'}, {'k', 'c'}})),
            LdmatrixForm::Plain);
  // Transposing would move pairs of codes.
  EXPECT_EQ(ldmatrixForm(bytes, rename(narrow, {{'m', 'c'}, {'k', 't'}})),
            LdmatrixForm::None);
}

TEST(Fragments, Simd) {
  EXPECT_EQ(str(simdFragment(digits("t0 t1 t2 t3"), digits("c0"))),
            "pack c0 | lane t0 t1 t2 t3");
}

} // namespace
