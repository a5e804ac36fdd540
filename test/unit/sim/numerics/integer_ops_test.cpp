//===- integer_ops_test.cpp - Integer instructions ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The oracle is the text of the ISA, bit by bit, in wide integers.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "kvc/Sim/Numerics/IntegerOps.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace kvc;
using namespace kvc::sim::integer;
using namespace kvc::test;

namespace {

const Sign kSigns[] = {Sign::Unsigned, Sign::Signed};

/// Random words, often small, negative or at the ends.
template <typename W>
W wordOf(Codes &codes) {
  uint64_t bits = codes.bits(), shift = codes.bits() % 64;
  switch (bits % 8) {
  case 0:
    return W(int64_t(bits) >> shift);
  case 1:
    return W(bits >> shift);
  case 2:
    return W(W(1) << (bits >> 32) % (sizeof(W) * 8));
  case 3:
    return W(0) - W((bits >> 32) % 3);
  case 4:
    return W(~W(0) >> 1) + W((bits >> 32) % 3);
  default:
    return W(bits);
  }
}

template <typename W>
Quad valueOf(W word, Sign sign) {
  return sign == Sign::Signed ? Quad(std::make_signed_t<W>(word)) : Quad(word);
}

/// The low bits of an integer that f128 holds exactly.
uint64_t lowBits(Quad value) {
  // Above 2^64 by halves.
  const Quad two64 = Quad(18446744073709551616.0);
  bool negative = value < 0;
  Quad magnitude = negative ? -value : value;
  Quad above = Quad(uint64_t(magnitude / two64));
  uint64_t low = uint64_t(magnitude - above * two64);
  return negative ? 0 - low : low;
}

TEST(IntegerOps, Products) {
  Codes codes(51);
  for (int i = 0; i < 200000; ++i) {
    auto a = wordOf<uint32_t>(codes), b = wordOf<uint32_t>(codes),
         c = wordOf<uint32_t>(codes);
    for (Sign sign : kSigns) {
      uint64_t product = lowBits(valueOf(a, sign) * valueOf(b, sign));
      ASSERT_EQ(multiplyHigh(a, b, sign), uint32_t(product >> 32));
      ASSERT_EQ(multiplyWide(a, b, sign), product);
      bool isSigned = sign == Sign::Signed;
      auto to24 = [&](uint32_t word) {
        int64_t value = word & 0xFFFFFF;
        return isSigned && value >= 0x800000 ? value - 0x1000000 : value;
      };
      int64_t product24 = to24(a) * to24(b);
      ASSERT_EQ(multiply24Low(a, b, sign), uint32_t(product24));
      ASSERT_EQ(multiply24High(a, b, sign),
                uint32_t(uint64_t(product24) >> 16));
    }
    auto clamp = [](int64_t value) {
      return uint32_t(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
    };
    int64_t x = int32_t(a), y = int32_t(b), z = int32_t(c);
    ASSERT_EQ(addSaturated(a, b), clamp(x + y));
    ASSERT_EQ(subtractSaturated(a, b), clamp(x - y));
    ASSERT_EQ(multiplyAddHighSaturated(a, b, c), clamp((x * y >> 32) + z));
    int64_t x24 = int32_t(a << 8) >> 8, y24 = int32_t(b << 8) >> 8;
    ASSERT_EQ(multiplyAdd24HighSaturated(a, b, c),
              clamp(int64_t(int32_t(x24 * y24 >> 16)) + z));
  }
  // 64 bits, by 32-bit parts.
  for (int i = 0; i < 100000; ++i) {
    auto a = wordOf<uint64_t>(codes), b = wordOf<uint64_t>(codes);
    uint64_t a0 = uint32_t(a), a1 = a >> 32, b0 = uint32_t(b), b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t high =
        a1 * b1 + (middle >> 32) + ((a0 * b1 + uint32_t(middle)) >> 32);
    ASSERT_EQ(multiplyHigh(a, b, Sign::Unsigned), high);
    uint64_t correction = (int64_t(a) < 0 ? b : 0) + (int64_t(b) < 0 ? a : 0);
    ASSERT_EQ(multiplyHigh(a, b, Sign::Signed), high - correction);
  }
}

TEST(IntegerOps, DotProducts) {
  Codes codes(52);
  for (int i = 0; i < 100000; ++i) {
    auto a = uint32_t(codes.bits()), b = uint32_t(codes.bits()),
         c = uint32_t(codes.bits());
    for (Sign signA : kSigns)
      for (Sign signB : kSigns) {
        auto part = [](uint32_t word, int number, int bits, Sign sign) {
          int64_t value = (word >> (number * bits)) & ((1u << bits) - 1);
          bool isNegative = sign == Sign::Signed && value >= int64_t(1)
                                                                 << (bits - 1);
          return isNegative ? value - (int64_t(1) << bits) : value;
        };
        int64_t four = c, low = c, high = c;
        for (int k = 0; k < 4; ++k)
          four += part(a, k, 8, signA) * part(b, k, 8, signB);
        for (int k = 0; k < 2; ++k) {
          low += part(a, k, 16, signA) * part(b, k, 8, signB);
          high += part(a, k, 16, signA) * part(b, k + 2, 8, signB);
        }
        ASSERT_EQ(dot4(a, signA, b, signB, c), uint32_t(four));
        ASSERT_EQ(dot2(a, signA, b, signB, c, false), uint32_t(low));
        ASSERT_EQ(dot2(a, signA, b, signB, c, true), uint32_t(high));
      }
  }
}

template <typename W>
void checkSums(uint64_t seed) {
  Codes codes(seed);
  // 2^bits.
  const Quad modulus = Quad(W(1) << (sizeof(W) * 8 - 1)) * 2;
  for (int i = 0; i < 100000; ++i) {
    W a = wordOf<W>(codes), b = wordOf<W>(codes), c = wordOf<W>(codes);
    bool carry = codes.bits() % 2 != 0;
    Quad sum = Quad(a) + Quad(b) + Quad(carry);
    ASSERT_EQ(addCarry(a, b, carry),
              (WithCarry<W>{W(a + b + W(carry)), sum >= modulus}));
    ASSERT_EQ(
        subtractBorrow(a, b, carry),
        (WithCarry<W>{W(a - b - W(carry)), Quad(a) < Quad(b) + Quad(carry)}));
    W product = W(a * b);
    ASSERT_EQ(multiplyAddLowCarry(a, b, c, carry),
              (WithCarry<W>{W(product + c + W(carry)),
                            Quad(product) + Quad(c) + Quad(carry) >= modulus}));
    for (Sign sign : kSigns) {
      W high = multiplyHigh(a, b, sign);
      ASSERT_EQ(multiplyAddHighCarry(a, b, c, carry, sign),
                (WithCarry<W>{W(high + c + W(carry)),
                              Quad(high) + Quad(c) + Quad(carry) >= modulus}));
      Quad difference = valueOf(a, sign) - valueOf(b, sign);
      ASSERT_EQ(sumOfDifference(a, b, c, sign),
                W(c + W(lowBits(difference < 0 ? -difference : difference))));
      if (b == 0)
        continue;
      Quad quotient = valueOf(a, sign) / valueOf(b, sign);
      // Toward zero; a quotient of integers is further from the next integer
      // than f128 rounds, so cutting it is safe.
      uint64_t whole = lowBits(quotient < 0 ? -quotient : quotient);
      W expected = W(quotient < 0 ? 0 - whole : whole);
      ASSERT_EQ(divide(a, b, sign), expected);
      ASSERT_EQ(remainder(a, b, sign), W(a - expected * b));
    }
  }
  EXPECT_EQ(divide(W(7), W(0), Sign::Signed), W(~W(0)));
  EXPECT_EQ(remainder(W(7), W(0), Sign::Unsigned), W(7));
  const W lowest = W(1) << (sizeof(W) * 8 - 1);
  EXPECT_EQ(divide(lowest, W(~W(0)), Sign::Signed), lowest);
  EXPECT_EQ(remainder(lowest, W(~W(0)), Sign::Signed), W(0));
}

TEST(IntegerOps, Sums32) { checkSums<uint32_t>(53); }
TEST(IntegerOps, Sums64) { checkSums<uint64_t>(54); }

template <typename W>
void checkFields(uint64_t seed) {
  Codes codes(seed);
  const int bits = sizeof(W) * 8, msb = bits - 1;
  auto bit = [](W word, int number) { return (word >> number & 1) != 0; };
  for (int i = 0; i < 50000; ++i) {
    W a = wordOf<W>(codes), base = wordOf<W>(codes);
    // Bytes count, what lies above them does not.
    uint32_t noise = uint32_t(codes.bits()) << 8;
    int position = int(codes.bits() % (i % 4 ? 70 : 256));
    int length = int(codes.bits() % (i % 4 ? 70 : 256));
    for (Sign sign : kSigns) {
      bool extension = sign == Sign::Signed && length != 0 &&
                       bit(a, std::min(position + length - 1, msb));
      W expected = 0;
      for (int n = 0; n <= msb; ++n) {
        bool isIn = n < length && position + n <= msb;
        expected |= W(isIn ? bit(a, position + n) : extension) << n;
      }
      ASSERT_EQ(extractField(a, uint32_t(position) | noise,
                             uint32_t(length) | noise, sign),
                expected)
          << hex(a) << " " << position << " " << length;
      W magnitude = sign == Sign::Signed && bit(a, msb) ? ~a : a;
      uint32_t highest = ~0u;
      for (int n = msb; n >= 0 && highest == ~0u; --n)
        if (bit(magnitude, n))
          highest = uint32_t(n);
      ASSERT_EQ(findHighest(a, sign, false), highest);
      ASSERT_EQ(findHighest(a, sign, true),
                highest == ~0u ? ~0u : uint32_t(msb) - highest);
      // Shifts by any amount.
      auto amount = uint32_t(position);
      W left = 0, right = 0;
      for (int n = 0; n <= msb; ++n) {
        left |= W(n >= position && bit(a, n - position)) << n;
        bool fill = sign == Sign::Signed && bit(a, msb);
        right |= W(n + position <= msb ? bit(a, n + position) : fill) << n;
      }
      ASSERT_EQ(shiftLeft(a, amount), left);
      ASSERT_EQ(shiftRight(a, amount, sign), right);
    }
    W inserted = base;
    for (int n = 0; n < length && position + n <= msb; ++n) {
      W mask = W(1) << (position + n);
      inserted = bit(a, n) ? inserted | mask : inserted & ~mask;
    }
    ASSERT_EQ(insertField(a, base, uint32_t(position) | noise,
                          uint32_t(length) | noise),
              inserted);
    W reversed = 0;
    uint32_t ones = 0, zeros = 0;
    for (int n = 0; n <= msb; ++n) {
      reversed |= W(bit(a, n)) << (msb - n);
      ones += bit(a, n);
    }
    while (zeros < uint32_t(bits) && !bit(a, msb - int(zeros)))
      ++zeros;
    ASSERT_EQ(reverseBits(a), reversed);
    ASSERT_EQ(populationCount(a), ones);
    ASSERT_EQ(leadingZeros(a), zeros);
  }
}

TEST(IntegerOps, Fields32) { checkFields<uint32_t>(55); }
TEST(IntegerOps, Fields64) { checkFields<uint64_t>(56); }

TEST(IntegerOps, FunnelShifts) {
  Codes codes(57);
  for (int i = 0; i < 50000; ++i) {
    auto low = uint32_t(codes.bits()), high = uint32_t(codes.bits());
    auto amount = uint32_t(i % 3 ? codes.bits() % 70 : codes.bits());
    uint32_t wrapped = amount % 32, clamped = std::min(amount, 32u);
    for (auto [mode, n] : {std::pair(Amount::Wrap, wrapped),
                           std::pair(Amount::Clamp, clamped)}) {
      uint32_t left = n == 0    ? high
                      : n == 32 ? low
                                : high << n | low >> (32 - n);
      uint32_t right = n == 0    ? low
                       : n == 32 ? high
                                 : low >> n | high << (32 - n);
      ASSERT_EQ(funnelLeft(low, high, amount, mode), left);
      ASSERT_EQ(funnelRight(low, high, amount, mode), right);
    }
  }
}

// The table of the ISA: bytes 7..4 are b's, 3..0 are a's.
TEST(IntegerOps, Permutations) {
  const uint32_t a = 0x33221100, b = 0x77665544;
  struct {
    Permute mode;
    uint32_t results[4];
  } table[] = {
      {Permute::F4e, {0x33221100, 0x44332211, 0x55443322, 0x66554433}},
      {Permute::B4e, {0x55667700, 0x66770011, 0x77001122, 0x00112233}},
      {Permute::Rc8, {0x00000000, 0x11111111, 0x22222222, 0x33333333}},
      {Permute::Ecl, {0x33221100, 0x33221111, 0x33222222, 0x33333333}},
      {Permute::Ecr, {0x00000000, 0x11111100, 0x22221100, 0x33221100}},
      {Permute::Rc16, {0x11001100, 0x33223322, 0x11001100, 0x33223322}},
  };
  for (const auto &[mode, results] : table)
    for (uint32_t selector = 0; selector < 4; ++selector)
      EXPECT_EQ(permuteBytes(a, b, selector | 0xFFFFFFF0, mode),
                results[selector])
          << int(mode) << " " << selector;
  EXPECT_EQ(permuteBytes(a, b, 0x7250, Permute::Default), 0x77225500u);
  EXPECT_EQ(permuteBytes(0x00FF7F80, b, 0xBA98, Permute::Default), 0x00FF00FFu);
  EXPECT_EQ(permuteBytes(0x00FF7F80, b, 0x3210, Permute::Default), 0x00FF7F80u);
}

TEST(IntegerOps, TruthTables) {
  Codes codes(58);
  for (int table = 0; table < 256; ++table) {
    auto a = uint32_t(codes.bits()), b = uint32_t(codes.bits()),
         c = uint32_t(codes.bits());
    uint32_t expected = 0;
    for (int n = 0; n < 32; ++n) {
      int row = int((a >> n & 1) * 4 + (b >> n & 1) * 2 + (c >> n & 1));
      expected |= uint32_t(table >> row & 1) << n;
    }
    ASSERT_EQ(logic3(a, b, c, uint8_t(table)), expected);
  }
  // The ISA's own constants.
  EXPECT_EQ(logic3(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0x80), 0x80808080u);
  EXPECT_EQ(logic3(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0x1A), 0x1A1A1A1Au);
}

TEST(IntegerOps, NthSetBit) {
  // The ISA's example mask.
  EXPECT_EQ(findNthSet(0x00000016, 0, 1), 1u);
  EXPECT_EQ(findNthSet(0x00000016, 0, 3), 4u);
  EXPECT_EQ(findNthSet(0x00000016, 4, -2), 2u);
  EXPECT_EQ(findNthSet(0x00000016, 3, 0), ~0u);
  EXPECT_EQ(findNthSet(0x00000016, 2, 0), 2u);
  EXPECT_EQ(findNthSet(0x80000000, 31, 1), 31u);
  EXPECT_EQ(findNthSet(0xFFFFFFFF, 31, 2), ~0u);
  EXPECT_EQ(findNthSet(0xFFFFFFFF, 40, 1), ~0u);
  EXPECT_EQ(findNthSet(0xFFFFFFFF, 5, INT32_MIN), ~0u);
}

TEST(IntegerOps, MasksAndExtensions) {
  EXPECT_EQ(bitMask(4, 8, Amount::Clamp), 0xFF0u);
  EXPECT_EQ(bitMask(4, 40, Amount::Clamp), 0xFFFFFFF0u);
  EXPECT_EQ(bitMask(36, 40, Amount::Wrap), 0xFF0u);
  EXPECT_EQ(bitMask(40, 4, Amount::Clamp), 0u);
  EXPECT_EQ(extendLow(0x1234F0, 8, Amount::Clamp, Sign::Signed), 0xFFFFFFF0u);
  EXPECT_EQ(extendLow(0x1234F0, 8, Amount::Clamp, Sign::Unsigned), 0xF0u);
  EXPECT_EQ(extendLow(0x1234F0, 40, Amount::Clamp, Sign::Signed), 0x1234F0u);
  EXPECT_EQ(extendLow(0x1234F0, 40, Amount::Wrap, Sign::Signed), 0xFFFFFFF0u);
  EXPECT_EQ(extendLow(0x1234F0, 0, Amount::Wrap, Sign::Signed), 0u);
}

TEST(IntegerOps, Pairs) {
  Codes codes(59);
  for (int i = 0; i < 50000; ++i) {
    auto a = wordOf<uint32_t>(codes), b = wordOf<uint32_t>(codes);
    uint32_t sum = ((a + b) & 0xFFFF) | ((a >> 16) + (b >> 16)) << 16;
    ASSERT_EQ(addPairs(a, b), sum);
    for (bool isMin : {false, true}) {
      uint32_t expected[3] = {};
      for (int half = 0; half < 2; ++half) {
        auto x = uint16_t(a >> (16 * half)), y = uint16_t(b >> (16 * half));
        auto sx = int16_t(x), sy = int16_t(y);
        uint16_t plain = isMin ? std::min(x, y) : std::max(x, y);
        int16_t signedOne = isMin ? std::min(sx, sy) : std::max(sx, sy);
        expected[0] |= uint32_t(plain) << (16 * half);
        expected[1] |= uint32_t(uint16_t(signedOne)) << (16 * half);
        expected[2] |= uint32_t(uint16_t(std::max<int16_t>(signedOne, 0)))
                       << (16 * half);
      }
      ASSERT_EQ(minMaxPairs(a, b, Sign::Unsigned, isMin, false), expected[0]);
      ASSERT_EQ(minMaxPairs(a, b, Sign::Signed, isMin, false), expected[1]);
      ASSERT_EQ(minMaxPairs(a, b, Sign::Signed, isMin, true), expected[2]);
    }
  }
}

} // namespace
