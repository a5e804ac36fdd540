//===- convert_test.cpp - Conversions, planned and executed ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "kvc/Layout/Convert.h"
#include "kvc/Layout/Fragments.h"
#include "kvc/Layout/Tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

using namespace kvc::layout;
using namespace kvc::test;
using Op = ConversionStep::Op;

namespace {

/// The registers of all lanes; an element is its index in the tile.
struct Machine {
  int64_t lanes, regs, packs;
  std::vector<int64_t> data;

  Machine(int64_t lanes, int64_t regs, int64_t packs)
      : lanes(lanes), regs(regs), packs(packs),
        data(size_t(lanes * regs * packs), -1) {}

  /// The tile in the places that a layout says.
  explicit Machine(const RegisterLayout &layout)
      : Machine(extentOf(layout.lane), extentOf(layout.reg),
                extentOf(layout.pack)) {
    forEachElement(layout, [&](int64_t lane, int64_t reg, int64_t pack,
                               const Index &index) {
      // Dims that appear are few and small: their values side by side.
      int64_t element = 0;
      for (char dim : std::string_view("abcdqtv"))
        element = element << 8 | index[dim];
      at(lane, reg, pack) = element;
    });
  }

  int64_t &at(int64_t lane, int64_t reg, int64_t pack) {
    return data[size_t((lane * regs + reg) * packs + pack)];
  }
  bool operator==(const Machine &) const = default;
};

/// The weight of a digit in the number of its space.
int64_t strideOf(const Digits &space, size_t number) {
  return extentOf(Digits(space.begin(), space.begin() + ptrdiff_t(number)));
}

/// Elements that must stay in their lane (or with their whole register) do.
void expectSameLanes(Machine a, Machine b) {
  for (int64_t lane = 0; lane < a.lanes; ++lane) {
    auto sorted = [&](Machine &m) {
      auto begin = m.data.begin() + lane * m.regs * m.packs;
      std::vector<int64_t> elements(begin, begin + m.regs * m.packs);
      std::sort(elements.begin(), elements.end());
      return elements;
    };
    ASSERT_EQ(sorted(a), sorted(b));
  }
}

/// Does to the data what the instructions of a step do.
Machine execute(const ConversionStep &step, const RegisterLayout &before,
                Machine in) {
  Machine out(in.lanes, extentOf(step.after.reg), extentOf(step.after.pack));
  switch (step.op) {
  case Op::Movmatrix:
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t reg = 0; reg < in.regs; ++reg)
        for (int64_t pack = 0; pack < 2; ++pack) {
          int64_t row = lane / 4, column = lane % 4 * 2 + pack;
          out.at(lane, reg, pack) = in.at(column * 4 + row / 2, reg, row % 2);
        }
    return out;
  case Op::SwapLane: {
    int64_t lanes = int64_t(1) << step.from,
            half = strideOf(before.reg, step.to);
    for (int64_t lane = 0; lane < in.lanes; ++lane)
      for (int64_t reg = 0; reg < in.regs; ++reg)
        for (int64_t pack = 0; pack < in.packs; ++pack) {
          bool upperLane = lane / lanes % 2, upperReg = reg / half % 2;
          // The pair keeps one register and exchanges the other with its
          // partner.
          out.at(lane, reg, pack) =
              upperLane == upperReg
                  ? in.at(lane, reg, pack)
                  : in.at(lane ^ lanes, upperReg ? reg - half : reg + half,
                          pack);
        }
    return out;
  }
  case Op::Gather: {
    int64_t lanes = int64_t(1) << step.from;
    for (int64_t lane = 0; lane < in.lanes; ++lane)
      for (int64_t reg = 0; reg < in.regs; ++reg)
        for (int64_t pack = 0; pack < in.packs; ++pack) {
          out.at(lane, reg, pack) = in.at(lane & ~lanes, reg, pack);
          out.at(lane, reg + in.regs, pack) = in.at(lane | lanes, reg, pack);
        }
    return out;
  }
  case Op::Select: {
    int64_t stride = strideOf(before.reg, step.to);
    for (int64_t lane = 0; lane < in.lanes; ++lane)
      for (int64_t reg = 0; reg < out.regs; ++reg)
        for (int64_t pack = 0; pack < in.packs; ++pack)
          out.at(lane, reg, pack) =
              in.at(lane,
                    reg % stride +
                        (reg / stride * 2 + (lane >> step.from & 1)) * stride,
                    pack);
    return out;
  }
  case Op::Lanes: {
    // Whole registers move; each wanted lane reads one that has its digits.
    for (int64_t lane = 0; lane < in.lanes; ++lane) {
      int64_t source = 0;
      for (size_t i = 0; i < before.lane.size(); ++i)
        for (size_t j = 0; j < before.lane.size(); ++j)
          if (!before.lane[i].isReplicated() &&
              before.lane[i] == step.after.lane[j])
            source |= (lane >> j & 1) << i;
      for (int64_t reg = 0; reg < in.regs; ++reg)
        for (int64_t pack = 0; pack < in.packs; ++pack)
          out.at(lane, reg, pack) = in.at(source, reg, pack);
    }
    return out;
  }
  case Op::SwapPack:
  case Op::InLane:
  case Op::Rename: {
    // Any permutation inside a lane; a renaming keeps registers whole.
    out = Machine(step.after);
    expectSameLanes(in, out);
    if (step.op == Op::Rename)
      EXPECT_EQ(before.pack, step.after.pack);
    return out;
  }
  case Op::Shared:
    return Machine(step.after);
  }
  return out;
}

/// Runs a plan on data and checks every layout on the way.
void expectArrives(const RegisterLayout &from, const RegisterLayout &to,
                   const Conversion &conversion) {
  Machine machine(from);
  RegisterLayout now = from;
  for (const ConversionStep &step : conversion.steps) {
    machine = execute(step, now, machine);
    now = step.after;
    ASSERT_EQ(machine, Machine(now))
        << str(from) << " -> " << str(to) << " at " << str(now);
  }
  ASSERT_EQ(now, to) << str(from);
}

Conversion conversionOf(const RegisterLayout &from, const RegisterLayout &to,
                        Dims free = "") {
  auto conversion = convert(from, to, free);
  EXPECT_TRUE(conversion) << str(from) << " -> " << str(to);
  return conversion.value_or(Conversion());
}

RegisterLayout fragment(MmaOperand operand, unsigned bits, char m, char n,
                        char k) {
  return rename(mmaFragment(operand, bits), {{'m', m}, {'n', n}, {'k', k}});
}

TEST(Convert, Kinds) {
  RegisterLayout a = registers("pack a0 | reg b0 b1 | lane c0 c1 c2 d0 d1");
  auto kinds = [&](const char *to) {
    RegisterLayout target = registers(to);
    Conversion conversion = conversionOf(a, target);
    expectArrives(a, target, conversion);
    return conversion.str();
  };
  EXPECT_EQ(kinds("pack a0 | reg b0 b1 | lane c0 c1 c2 d0 d1"), "no-op");
  EXPECT_EQ(kinds("pack a0 | reg b1 b0 | lane c0 c1 c2 d0 d1"), "renaming");
  EXPECT_EQ(kinds("pack b0 | reg a0 b1 | lane c0 c1 c2 d0 d1"),
            "in-lane bytes");
  EXPECT_EQ(kinds("pack c2 | reg b0 b1 | lane d0 d1 a0 c0 c1"), "movmatrix");
  EXPECT_EQ(kinds("pack a0 | reg b0 c2 | lane c0 c1 b1 d0 d1"), "shuffles");
  EXPECT_EQ(kinds("pack a0 | reg b0 b1 | lane c1 c0 c2 d0 d1"), "shuffles");
  RegisterLayout from = registers(
                     "pack a0 | reg b0 | lane c0 c1 c2 d0 d1 | warp b1"),
                 to = registers(
                     "pack a0 | reg b1 | lane c0 c1 c2 d0 d1 | warp b0");
  EXPECT_EQ(conversionOf(from, to).kind(), ConversionKind::SharedMemory);
}

TEST(Convert, RefusesOtherTiles) {
  RegisterLayout a = registers("pack a0 | reg b0 | lane c0 c1");
  EXPECT_FALSE(convert(a, registers("pack a0 | reg b1 | lane c0 c1")));
  EXPECT_FALSE(convert(a, registers("reg b0 a0 | lane c0 c1")));
  EXPECT_FALSE(convert(a, registers("pack a0 | lane c0 c1 b0")));
  EXPECT_FALSE(convert(a, registers("pack a0 | reg b1 | lane c0 c1"), "b"));
}

TEST(Convert, TakesTheCheaperOfMovmatrixFirstAndLast) {
  // Only after a byte permutation do the six positions turn.
  RegisterLayout from = registers("pack a0 | reg b0 | lane c0 c1 c2 d0 d1"),
                 to = registers("pack c2 | reg a0 | lane d0 d1 b0 c0 c1");
  Conversion conversion = conversionOf(from, to);
  EXPECT_EQ(conversion.str(), "in-lane bytes + movmatrix");
  EXPECT_EQ(conversion.cost, 3.0);
  expectArrives(from, to, conversion);
}

TEST(Convert, Replication) {
  // Every lane needs all values of t1.
  RegisterLayout spread = registers("reg t2 | lane t0 t1 * * *"),
                 gathered = registers("reg t2 t1 | lane t0 * * * *");
  Conversion gather = conversionOf(spread, gathered);
  EXPECT_EQ(gather.str(), "shuffles");
  EXPECT_EQ(gather.steps.front().op, Op::Gather);
  expectArrives(spread, gathered, gather);
  // Back: each lane drops the half that it does not own, nothing is exchanged.
  Conversion select = conversionOf(gathered, spread);
  EXPECT_EQ(select.str(), "in-lane bytes");
  EXPECT_EQ(select.cost, 1.0);
  expectArrives(gathered, spread, select);
  // A row value from keys as rows to queries as rows.
  RegisterLayout s = *tile(fragment(MmaOperand::C, 16, 't', 'q', 'c'),
                           {{'t', 64}, {'q', 16}}),
                 o = *tile(fragment(MmaOperand::C, 16, 'q', 'c', 't'),
                           {{'q', 16}, {'c', 64}});
  RegisterLayout have = sliceLayout(s, "q"), want = sliceLayout(o, "q");
  expectArrives(have, want, conversionOf(have, want));
  expectArrives(want, have, conversionOf(want, have));
}

TEST(Convert, OddDigits) {
  RegisterLayout from = registers(
                     "pack c0 | reg c[16:5] t0 c1 | lane t1 t2 t3 c2 c3"),
                 to = registers(
                     "pack c0 | reg c1 c[16:5] t1 | lane t0 t2 t3 c2 c3");
  Conversion conversion = conversionOf(from, to);
  EXPECT_EQ(conversion.kind(), ConversionKind::Shuffles);
  expectArrives(from, to, conversion);
}

TEST(Convert, ProbabilitiesToOperands) {
  // Keys as rows: the accumulator, narrowed to f16 pairs, is one movmatrix away
  // from B: 8 per 64 tokens and 8 query rows.
  RegisterLayout s =
      narrow(*tile(fragment(MmaOperand::C, 16, 't', 'q', 'c'), {{'t', 64}}),
             digits("q0"));
  RegisterLayout b =
      *tile(fragment(MmaOperand::B, 16, 'v', 'q', 't'), {{'t', 64}});
  Conversion conversion = conversionOf(s, b);
  EXPECT_EQ(conversion.str(), "movmatrix");
  EXPECT_EQ(conversion.cost, 8.0);
  EXPECT_TRUE(conversion.renumbering.empty());
  expectArrives(s, b, conversion);
  // Queries as rows: it already is A.
  s = narrow(*tile(fragment(MmaOperand::C, 16, 'q', 't', 'c'), {{'t', 64}}),
             digits("t0"));
  RegisterLayout a =
      *tile(fragment(MmaOperand::A, 16, 'q', 'v', 't'), {{'t', 64}});
  EXPECT_EQ(conversionOf(s, a).kind(), ConversionKind::None);
}

TEST(Convert, BytesOfProbabilitiesAreARenumbering) {
  RegisterLayout p =
      narrow(*tile(fragment(MmaOperand::C, 8, 'q', 't', 'c'), {{'t', 32}}),
             digits("t0 t3"));
  Conversion conversion =
      conversionOf(p, fragment(MmaOperand::A, 8, 'q', 'v', 't'), "t");
  EXPECT_LE(conversion.kind(), ConversionKind::Renaming);
  EXPECT_FALSE(conversion.renumbering.empty());
  RegisterLayout columns =
      narrow(*tile(fragment(MmaOperand::C, 16, 't', 'q', 'c'), {{'t', 32}}),
             digits("q0"));
  RegisterLayout bytes = narrow(movmatrix(columns), digits("t3"));
  EXPECT_LE(conversionOf(bytes, fragment(MmaOperand::B, 8, 'v', 'q', 't'), "t")
                .kind(),
            ConversionKind::Renaming);
}

TEST(Convert, OneStorageTwoOrientations) {
  RegisterLayout ka = *tile(fragment(MmaOperand::A, 16, 't', 'q', 'c'),
                            {{'c', 128}, {'t', 64}}),
                 kb = *tile(fragment(MmaOperand::B, 16, 'q', 't', 'c'),
                            {{'c', 128}, {'t', 64}});
  RegisterLayout va = *tile(fragment(MmaOperand::A, 16, 'c', 'q', 't'),
                            {{'t', 64}, {'c', 128}}),
                 vb = *tile(fragment(MmaOperand::B, 16, 'q', 'c', 't'),
                            {{'t', 64}, {'c', 128}});
  EXPECT_EQ(conversionOf(ka, kb).kind(), ConversionKind::Renaming);
  EXPECT_EQ(conversionOf(va, vb).kind(), ConversionKind::Renaming);
  // value_is_key: one movmatrix per 8x8 block.
  Conversion shared = conversionOf(ka, va);
  EXPECT_EQ(shared.str(), "movmatrix");
  EXPECT_EQ(shared.cost, 128.0);
}

TEST(Convert, RowsAreReadWithoutSharedMemory) {
  // 4-bit rows as other engines store them. K: a lane's 32 codes are channels
  // of one token; channels are contracted, so they already are the operand.
  RegisterLayout k = *tile(fragment(MmaOperand::A, 16, 't', 'q', 'c'),
                           {{'c', 128}, {'t', 64}}),
                 v = *tile(fragment(MmaOperand::A, 16, 'c', 'q', 't'),
                           {{'t', 64}, {'c', 128}});
  Conversion keys = conversionOf(
      registers("pack c2 | reg c0 c1 c3 c4 t3 t4 t5 | lane c5 c6 t0 t1 t2"), k,
      "c");
  EXPECT_EQ(keys.kind(), ConversionKind::Renaming);
  EXPECT_FALSE(keys.renumbering.empty());
  // V: pairs are two tokens, a load has only channels: one permutation per
  // register.
  Conversion values = conversionOf(
      registers("pack c2 | reg c0 c1 c3 t0 t3 t4 t5 | lane t1 t2 c4 c5 c6"), v,
      "c");
  EXPECT_EQ(values.str(), "in-lane bytes");
  EXPECT_EQ(values.cost, 64.0);
}

TEST(Convert, RandomPairsArrive) {
  std::mt19937 random(1);
  std::map<ConversionKind, int> kinds;
  for (int round = 0; round < 300; ++round) {
    Digits bits = digits("a0 a1 a2 a3 a4 b0 b1 b2 b3");
    auto mix = [&] {
      std::shuffle(bits.begin(), bits.end(), random);
      return RegisterLayout{{bits[0]},
                            {bits.begin() + 1, bits.begin() + 4},
                            {bits.begin() + 4, bits.end()},
                            {}};
    };
    RegisterLayout from = mix(), to = mix();
    if (round % 3 == 0)
      to = movmatrix(from);
    if (round % 3 == 1) {
      to = from;
      std::shuffle(to.reg.begin(), to.reg.end(), random);
    }
    Conversion conversion = conversionOf(from, to);
    ASSERT_NO_FATAL_FAILURE(expectArrives(from, to, conversion));
    ++kinds[conversion.kind()];

    // With a free dim the plan arrives at the renumbered layout and costs no
    // more.
    Conversion cheaper = conversionOf(from, to, "a");
    EXPECT_LE(cheaper.cost, conversion.cost) << str(from) << " -> " << str(to);
    RegisterLayout there = to;
    for (Digits *space : {&there.pack, &there.reg, &there.lane})
      for (Digit &digit : *space) {
        auto found =
            std::find_if(cheaper.renumbering.begin(), cheaper.renumbering.end(),
                         [&](const auto &pair) { return pair.first == digit; });
        if (found != cheaper.renumbering.end()) {
          EXPECT_EQ(digit.dim, found->second.dim);
          digit = found->second;
        }
      }
    ASSERT_NO_FATAL_FAILURE(expectArrives(from, there, cheaper));
  }
  EXPECT_GE(kinds.size(), 3u);
}

} // namespace
