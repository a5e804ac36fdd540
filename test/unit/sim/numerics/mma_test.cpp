//===- mma_test.cpp - Matrix instructions ---------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "MmaSupport.h"

#include "kvc/Sim/Numerics/Exact.h"
#include "kvc/Sim/Numerics/FusedSum.h"
#include "kvc/Test/Sanitizers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace kvc;
using namespace kvc::sim;
using namespace kvc::test;

namespace {

const Type kElements[] = {Type::F16,  Type::BF16, Type::TF32,
                          Type::E4M3, Type::E5M2, Type::S8,
                          Type::U8,   Type::S4,   Type::U4};

std::vector<MmaForm> allMmaForms() {
  std::vector<MmaForm> forms;
  for (Type a : kElements)
    for (Type b : kElements)
      for (Type d : {Type::F32, Type::F16, Type::S32})
        for (int k : {4, 8, 16, 32, 64, 128})
          for (bool satfinite : {false, true}) {
            MmaForm form{k, a, b, d, satfinite};
            if (exists(form))
              forms.push_back(form);
          }
  return forms;
}

std::string describe(const MmaForm &form) {
  return "k " + std::to_string(form.k) + " a " + std::to_string(int(form.a)) +
         " b " + std::to_string(int(form.b)) + " d " +
         std::to_string(int(form.d)) + (form.satfinite ? " satfinite" : "");
}

bool isInteger(const MmaForm &form) { return form.d == Type::S32; }
bool isFp8(const MmaForm &form) {
  return form.a == Type::E4M3 || form.a == Type::E5M2;
}

TEST(Mma, ExistsAsTheIsaSays) {
  // f16 2 * 2, bf16 2, tf32 2, fp8 2 * 2 * 2 * 2, 8 bits 2 * 2 * 2 * 2, 4 bits
  // as many.
  EXPECT_EQ(allMmaForms().size(), 4u + 2 + 2 + 16 + 16 + 16);
  EXPECT_TRUE(exists({.k = 4, .a = Type::TF32, .b = Type::TF32}));
  EXPECT_FALSE(exists({.k = 16, .a = Type::TF32, .b = Type::TF32}));
  EXPECT_FALSE(exists({.k = 16, .a = Type::F16, .b = Type::BF16}));
  EXPECT_FALSE(
      exists({.k = 16, .a = Type::BF16, .b = Type::BF16, .d = Type::F16}));
  EXPECT_FALSE(exists({.k = 16, .satfinite = true}));
  EXPECT_FALSE(exists({.k = 32, .a = Type::S8, .b = Type::S4, .d = Type::S32}));
  EXPECT_FALSE(exists({.k = 32, .a = Type::S8, .b = Type::S8}));
}

/// Codes for an operand, by how wild they are: 0 of like size, 1 with
/// subnormals and the ends of the range, 2 with infinities and NaN.
uint32_t operandCode(const FloatFormat &format, int wildness, Codes &codes) {
  auto magnitude = [&](uint64_t code) { return code & (format.signBit() - 1); };
  if (wildness == 0) {
    auto exponent =
        uint64_t(std::max(1, format.bias() - int(codes.bits() % 6) + 2));
    return uint32_t((codes.bits() & format.signBit()) |
                    exponent << format.fractionBits |
                    (codes.bits() & format.fractionMask()));
  }
  for (;;) {
    uint64_t code = codes.next(format);
    // A few extremes are enough.
    bool isFinite = magnitude(code) <= format.largest();
    if (isFinite || (wildness == 2 && codes.bits() % 16 == 0))
      return uint32_t(code);
  }
}

void fill(const MmaForm &form, int wildness, Codes &codes, Matrices &m) {
  const FloatFormat &a = mmaFormat(form.a), &b = mmaFormat(form.b);
  const FloatFormat &c = form.d == Type::F16 ? kF16 : kF32;
  const int padding = form.a == Type::TF32 ? kTF32Padding : 0;
  auto rubbish = [&] { return padding ? uint32_t(codes.bits()) & 0x1FFF : 0; };
  for (auto &row : m.a)
    for (int k = 0; k < form.k; ++k)
      row[k] = operandCode(a, wildness, codes) << padding | rubbish();
  for (int k = 0; k < form.k; ++k)
    for (uint32_t &code : m.b[k])
      code = operandCode(b, wildness, codes) << padding | rubbish();
  for (auto &row : m.c)
    for (uint32_t &code : row)
      code = operandCode(c, wildness, codes);
}

/// Element (row, column) of the result by fusedSum and exact additions.
uint32_t expectedFused(const MmaForm &form, const TensorCore &core,
                       const Matrices &m, int row, int column) {
  const bool isF16 = form.d == Type::F16;
  uint32_t a[64], b[64];
  const int padding = form.a == Type::TF32 ? kTF32Padding : 0;
  for (int k = 0; k < form.k; ++k) {
    a[k] = m.a[row][k] >> padding;
    b[k] = m.b[k][column] >> padding;
  }
  uint32_t c = m.c[row][column];
  if (!isFp8(form) || !core.fp8ThroughF16) {
    const SumRule &rule = isFp8(form)            ? core.fp8
                          : form.a == Type::TF32 ? core.tf32
                                                 : core.f16;
    return fusedSum(rule, {mmaFormat(form.a), mmaFormat(form.b), isF16}, form.k,
                    a, 1, b, 1, c);
  }
  uint32_t sum = 0;
  for (int part = 0; part < 2; ++part) {
    std::vector<uint32_t> x, y;
    for (int k = 0; k < form.k; ++k)
      if (k % 4 / 2 == part) {
        auto f16 = [](const FloatFormat &format, uint32_t code) {
          return uint32_t(exact::encode(kF16, exact::decode(format, code)));
        };
        x.push_back(f16(mmaFormat(form.a), a[k]));
        y.push_back(f16(mmaFormat(form.b), b[k]));
      }
    sum = fusedSum(core.f16, {kF16, kF16, isF16}, form.k / 2, x.data(), 1,
                   y.data(), 1, sum);
  }
  return uint32_t(evaluate(
      {.op = FloatOp::Add, .type = isF16 ? Type::F16 : Type::F32}, c, sum, 0));
}

// Every form on every device at every level: what one result at a time gives.
TEST(Mma, KernelsGiveWhatSingleSumsGive) {
  for (const MmaForm &form : allMmaForms()) {
    if (isInteger(form))
      continue;
    for (const TensorCore &core : tensorCores()) {
      if (isFp8(form) && !core.hasFp8())
        continue;
      for (SimdLevel level : levels()) {
        auto mma = Mma::create(form, &core, level);
        ASSERT_TRUE(mma);
        Codes codes(41);
        for (int round = 0; round < 8 + fewerUnderAsan(16); ++round) {
          Matrices m;
          fill(form, round % 3, codes, m);
          // Sums that nearly cancel.
          if (round % 4 == 0)
            for (int row = 0; row < 16; ++row)
              for (int k = 0; k + 1 < form.k; k += 2)
                m.a[row][k + 1] = m.a[row][k] ^ 1u << (elementBits(form.a) - 1);
          // Whole matrices of zeros, of either sign.
          if (round == 7)
            for (auto &row : m.a)
              std::fill(row, row + 64, 0);
          runMma(*mma, form, m);
          for (int row = 0; row < 16; ++row)
            for (int column = 0; column < 8; ++column)
              ASSERT_EQ(m.d[row][column],
                        expectedFused(form, core, m, row, column))
                  << describe(form) << " " << core.names[0] << " "
                  << nameOf(level) << " round " << round;
        }
      }
    }
  }
}

// Random finite operands: fusedSum against the definition, in f128 whose 113
// bits hold every sum of summands that lie within 25 bits of the largest.
TEST(Mma, SingleSumsAreWhatTheDefinitionSays) {
  auto decoded = [](const FloatFormat &format, uint32_t code) {
    uint64_t f64 = exact::encode(kF64, exact::decode(format, code));
    return asFloat(f64);
  };
  auto exponentOf = [](const FloatFormat &format, double x) {
    return std::max(std::ilogb(x), format.smallestExponent());
  };
  for (const TensorCore &core : tensorCores())
    for (Type type :
         {Type::F16, Type::BF16, Type::TF32, Type::E4M3, Type::E5M2}) {
      const SumRule &rule = type == Type::TF32 ? core.tf32
                            : type == Type::E4M3 || type == Type::E5M2
                                ? core.fp8
                                : core.f16;
      if (rule.terms == 0)
        continue;
      const FloatFormat &format = mmaFormat(type);
      Codes codes(42);
      for (int i = 0; i < fewerUnderAsan(3000); ++i) {
        uint32_t a[32], b[32];
        uint32_t c = operandCode(kF32, i % 2, codes);
        for (int k = 0; k < rule.terms; ++k) {
          a[k] = operandCode(format, i % 2, codes);
          b[k] = operandCode(format, i % 2, codes);
        }
        int top = rule.lowestForF32;
        std::vector<std::pair<Quad, int>> summands;
        auto add = [&](Quad value, int exponent) {
          if (value != 0) {
            summands.emplace_back(value, exponent);
            top = std::max(top, exponent);
          }
        };
        for (int k = 0; k < rule.terms; ++k) {
          double x = decoded(format, a[k]), y = decoded(format, b[k]);
          if (x != 0 && y != 0)
            add(Quad(x) * y, exponentOf(format, x) + exponentOf(format, y));
        }
        double z = decoded(kF32, c);
        if (z != 0)
          add(z, exponentOf(kF32, z));
        // Powers of two by halves, so that none leaves f64.
        auto scale = [](Quad x, int by) {
          return x * Quad(std::ldexp(1.0, by / 2)) *
                 Quad(std::ldexp(1.0, by - by / 2));
        };
        Quad sum = 0;
        for (const auto &[value, exponent] : summands) {
          Quad units = scale(value, rule.fractionBits - top);
          sum += Quad(std::trunc(double(units)));
        }
        sum = scale(sum, top - rule.fractionBits);
        uint32_t got =
            fusedSum(rule, {format, format, false}, rule.terms, a, 1, b, 1, c);
        Quad magnitude = sum < 0 ? -sum : sum;
        if (magnitude >= Quad(0x1p127) * 2) {
          ASSERT_EQ(got & 0x7FFFFFFF, 0x7F800000u);
          continue;
        }
        // The next number toward zero of the sum is the result.
        Quad result = Quad(asFloat(got));
        Quad low = result < 0 ? -result : result;
        uint32_t step = 1u << (kF32.fractionBits - rule.resultBits);
        uint32_t next = (got & 0x7FFFFFFF) + step;
        Quad high =
            next >= 0x7F800000 ? Quad(0x1p127) * 2 : Quad(asFloat(next));
        ASSERT_TRUE(low <= magnitude && magnitude < high &&
                    (result == 0 || (result < 0) == (sum < 0)))
            << core.names[0] << " " << int(type) << " " << hex(got);
        ASSERT_EQ(got & (step - 1), 0u);
      }
    }
}

// Infinities and NaN do what they do in IEEE sums.
TEST(Mma, SpecialValues) {
  const TensorCore *core = tensorCoreNamed("h100");
  SumFormats f16{kF16, kF16, false}, toF16{kF16, kF16, true};
  const uint32_t one = 0x3C00, inf = 0x7C00, minusInf = 0xFC00, nan = 0x7E00,
                 large = 0x7BFF;
  auto sum = [&](const SumFormats &formats, uint32_t a, uint32_t b,
                 uint32_t c) {
    return fusedSum(core->f16, formats, 1, &a, 1, &b, 1, c);
  };
  EXPECT_EQ(sum(f16, inf, one, 0), 0x7F800000u);
  EXPECT_EQ(sum(f16, inf, minusInf, 0), 0xFF800000u);
  EXPECT_EQ(sum(f16, inf, 0, 0), 0x7FFFFFFFu);
  EXPECT_EQ(sum(f16, nan, one, 0), 0x7FFFFFFFu);
  EXPECT_EQ(sum(f16, one, one, 0xFFC00000), 0x7FFFFFFFu);
  EXPECT_EQ(sum(f16, inf, one, 0xFF800000), 0x7FFFFFFFu);
  EXPECT_EQ(sum(f16, one, one, 0xFF800000), 0xFF800000u);
  EXPECT_EQ(sum(toF16, large, large, 0), 0x7C00u);
  EXPECT_EQ(sum(toF16, large, one, 0), 0x7BFFu);
  EXPECT_EQ(sum(toF16, nan, one, 0), 0x7FFFu);
  // The addend and one product of 2^127 overflow f32.
  SumFormats bf16{kBF16, kBF16, false};
  EXPECT_EQ(sum(bf16, 0x7F00, 0x3F80, 0x7F000000), 0x7F800000u);
  // Products may be larger than f32 as long as the sum is not.
  uint32_t a[] = {0x7F00, 0xFF00, 0x3F80}, b[] = {0x7F00, 0x7F00, 0x3F80};
  EXPECT_EQ(fusedSum(core->f16, bf16, 2, a, 1, b, 1, 0), 0u);
}

TEST(Mma, ChainsAreChainsOfFma) {
  for (const MmaForm &form : allMmaForms()) {
    if (isInteger(form))
      continue;
    for (SimdLevel level : levels()) {
      auto mma = Mma::create(form, nullptr, level);
      ASSERT_TRUE(mma);
      Codes codes(43);
      for (int round = 0; round < 12; ++round) {
        Matrices m;
        fill(form, round % 3, codes, m);
        runMma(*mma, form, m);
        const bool isF16 = form.d == Type::F16;
        const int padding = form.a == Type::TF32 ? kTF32Padding : 0;
        auto f32 = [](const FloatFormat &format, uint32_t code) {
          return exact::encode(kF32, exact::decode(format, code));
        };
        for (int row = 0; row < 16; ++row)
          for (int column = 0; column < 8; ++column) {
            uint64_t sum = f32(isF16 ? kF16 : kF32, m.c[row][column]);
            for (int k = 0; k < form.k; ++k)
              sum = evaluate({.op = FloatOp::Fma, .type = Type::F32},
                             f32(mmaFormat(form.a), m.a[row][k] >> padding),
                             f32(mmaFormat(form.b), m.b[k][column] >> padding),
                             sum);
            if (isF16)
              sum = exact::encode(kF16, exact::decode(kF32, sum));
            ASSERT_EQ(m.d[row][column], sum)
                << describe(form) << " " << nameOf(level);
          }
      }
    }
  }
}

TEST(Mma, IntegersAreExact) {
  for (const MmaForm &form : allMmaForms()) {
    if (!isInteger(form))
      continue;
    const int bits = elementBits(form.a);
    auto value = [&](Type type, uint32_t code) {
      bool isSigned = type == Type::S8 || type == Type::S4;
      auto unsignedValue = int64_t(code);
      return isSigned && (code >> (bits - 1)) != 0
                 ? unsignedValue - (int64_t(1) << bits)
                 : unsignedValue;
    };
    for (SimdLevel level : levels()) {
      auto mma = Mma::create(form, tensorCoreNamed("a100"), level);
      ASSERT_TRUE(mma);
      Codes codes(44);
      for (int round = 0; round < 20; ++round) {
        Matrices m;
        for (auto &row : m.a)
          for (uint32_t &code : row)
            code = uint32_t(codes.bits()) & ((1u << bits) - 1);
        for (auto &row : m.b)
          for (uint32_t &code : row)
            code = uint32_t(codes.bits()) & ((1u << bits) - 1);
        for (auto &row : m.c)
          for (uint32_t &code : row)
            code = round % 2 ? uint32_t(codes.bits())
                             : 0x7FFFFFFF + uint32_t(codes.bits() % 3);
        runMma(*mma, form, m);
        for (int row = 0; row < 16; ++row)
          for (int column = 0; column < 8; ++column) {
            int64_t sum = int32_t(m.c[row][column]);
            for (int k = 0; k < form.k; ++k)
              sum += value(form.a, m.a[row][k]) * value(form.b, m.b[k][column]);
            if (form.satfinite)
              sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
            ASSERT_EQ(m.d[row][column], uint32_t(sum))
                << describe(form) << " " << nameOf(level);
          }
      }
    }
  }
}

// Accumulators are usually written in place.
TEST(Mma, WritesOverOperands) {
  for (const TensorCore *core :
       {tensorCoreNamed("l40s"), tensorCoreNamed("h100")}) {
    MmaForm form{.k = 32, .a = Type::E4M3, .b = Type::E4M3};
    auto mma = Mma::create(form, core);
    Codes codes(45);
    uint32_t rows[10][kLanes];
    for (auto &row : rows)
      for (uint32_t &word : row)
        word = uint32_t(codes.bits()) & 0x37373737;
    HostFloatScope scope;
    uint32_t fresh[4][kLanes];
    const uint32_t *a[] = {rows[0], rows[1], rows[2], rows[3]},
                   *b[] = {rows[4], rows[5]},
                   *c[] = {rows[6], rows[7], rows[8], rows[9]};
    uint32_t *d[] = {fresh[0], fresh[1], fresh[2], fresh[3]};
    (*mma)(d, a, b, c);
    // Even in another order.
    uint32_t *over[] = {rows[7], rows[6], rows[0], rows[4]};
    (*mma)(over, a, b, c);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int reg = 0; reg < 4; ++reg)
        ASSERT_EQ(over[reg][lane], fresh[reg][lane]);
  }
}

// The ISA's picture of an 8x8 matrix: row lane / 4, columns 2 * (lane % 4) and
// the next.
TEST(Mma, EightByEightMatrices) {
  uint32_t words[kLanes], turned[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto &plain = matrixPlaces(false)[size_t(lane)],
               &transposed = matrixPlaces(true)[size_t(lane)];
    for (int half = 0; half < 2; ++half) {
      EXPECT_EQ(plain[size_t(half)].row, lane / 4);
      EXPECT_EQ(plain[size_t(half)].column, lane % 4 * 2 + half);
      EXPECT_EQ(transposed[size_t(half)].row, lane % 4 * 2 + half);
      EXPECT_EQ(transposed[size_t(half)].column, lane / 4);
    }
    words[lane] = uint32_t(lane * 2) | uint32_t(lane * 2 + 1) << 16;
  }
  moveMatrix(turned, words);
  for (int lane = 0; lane < kLanes; ++lane)
    for (int half = 0; half < 2; ++half) {
      int row = lane / 4, column = lane % 4 * 2 + half;
      EXPECT_EQ(turned[lane] >> (16 * half) & 0xFFFF,
                uint32_t(column * 8 + row));
    }
  moveMatrix(turned, turned);
  EXPECT_TRUE(std::equal(words, words + kLanes, turned));
}

} // namespace
