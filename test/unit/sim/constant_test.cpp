//===- constant_test.cpp - Numbers and constant expressions ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"

#include <bit>
#include <cmath>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

/// What `.global .b64 x = TEXT;` holds.
Constant valueOf(const std::string &text) {
  Module module = parsed(header() + ".global .b64 x = " + text + ";");
  if (module.variables.size() != 1 || module.variables[0].initial.size() != 1)
    return {};
  return module.variables[0].initial[0].value;
}

int64_t integerOf(const std::string &text) {
  Constant value = valueOf(text);
  EXPECT_TRUE(value.isInteger()) << text;
  return static_cast<int64_t>(value.bits);
}

double realOf(const std::string &text) {
  Constant value = valueOf(text);
  EXPECT_FALSE(value.isInteger()) << text;
  return value.asDouble();
}

TEST(ConstantTest, Integers) {
  EXPECT_EQ(integerOf("0"), 0);
  EXPECT_EQ(integerOf("42"), 42);
  EXPECT_EQ(integerOf("42U"), 42);
  EXPECT_EQ(integerOf("017"), 15);
  EXPECT_EQ(integerOf("017U"), 15);
  EXPECT_EQ(integerOf("0x1fF"), 511);
  EXPECT_EQ(integerOf("0X1FFU"), 511);
  EXPECT_EQ(integerOf("0b1010"), 10);
  EXPECT_EQ(integerOf("18446744073709551615"), -1);
  EXPECT_EQ(integerOf("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(integerOf("WARP_SZ"), 32);
}

TEST(ConstantTest, SignsFollowC) {
  EXPECT_EQ(valueOf("5").kind, Constant::Kind::Signed);
  EXPECT_EQ(valueOf("5U").kind, Constant::Kind::Unsigned);
  EXPECT_EQ(valueOf("0xFFFFFFFFFFFFFFFF").kind, Constant::Kind::Unsigned);
  EXPECT_EQ(valueOf("-1").kind, Constant::Kind::Signed);
  EXPECT_EQ(integerOf("-7 / 2"), -3);
  EXPECT_EQ(integerOf("-7 % 2"), -1);
  EXPECT_EQ(integerOf("-7 / 2U"), 0x7FFFFFFFFFFFFFFC);
  EXPECT_EQ(integerOf("-1 < 1"), 1);
  EXPECT_EQ(integerOf("-1 < 1U"), 0);
  EXPECT_EQ(integerOf("-8 >> 1"), -4);
  EXPECT_EQ(integerOf("(.u64)-8 >> 60"), 15);
  EXPECT_EQ(integerOf("(.s64)0xFFFFFFFFFFFFFFF8 >> 1"), -4);
}

TEST(ConstantTest, LargeUnsignedOnesFitNoNarrowType) {
  using enum Type;
  const auto large = Constant::unsignedInteger(~uint64_t(0));
  for (Type type : {B8, U16, S16, B32, U32, S32}) {
    EXPECT_EQ(tooLarge(large, type), "18446744073709551615");
    EXPECT_EQ(patternOf(large, type), std::nullopt);
    EXPECT_TRUE(patternOf(Constant::integer(-1), type)) << "negative, so short";
  }
  for (Type type : {B64, U64, S64})
    EXPECT_EQ(patternOf(large, type), ~uint64_t(0));
  EXPECT_EQ(patternOf(Constant::unsignedInteger(0xFFFFFFFF), U32), 0xFFFFFFFF);
  EXPECT_EQ(patternOf(valueOf("~0"), U32), 0xFFFFFFFF);
  EXPECT_EQ(patternOf(valueOf("-1U"), U32), 0xFFFFFFFF);
}

TEST(ConstantTest, OperatorsBindLikeC) {
  EXPECT_EQ(integerOf("1 + 2 * 3"), 7);
  EXPECT_EQ(integerOf("(1 + 2) * 3"), 9);
  EXPECT_EQ(integerOf("10 - 3 - 2"), 5);
  EXPECT_EQ(integerOf("1 << 2 + 1"), 8);
  EXPECT_EQ(integerOf("6 & 3 == 3"), 0);
  EXPECT_EQ(integerOf("1 | 2 ^ 3 & 5"), 3);
  EXPECT_EQ(integerOf("1 || 0 && 0"), 1);
  EXPECT_EQ(integerOf("- -5"), 5);
  EXPECT_EQ(integerOf("!5 + ~0"), -1);
  EXPECT_EQ(integerOf("3 > 2 ? 5 : 6"), 5);
  EXPECT_EQ(integerOf("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(integerOf("5 % 3"), 2);
  EXPECT_EQ(integerOf("(3 >= 3) + (3 <= 2) + (1 != 0)"), 2);
}

TEST(ConstantTest, ResultsWrapAndShiftsSaturate) {
  EXPECT_EQ(integerOf("9223372036854775807 + 1"), INT64_MIN);
  EXPECT_EQ(integerOf("-9223372036854775808 / -1"), INT64_MIN);
  EXPECT_EQ(integerOf("-9223372036854775808 % -1"), 0);
  EXPECT_EQ(integerOf("1 << 64"), 0);
  EXPECT_EQ(integerOf("1 << -1"), 0);
  EXPECT_EQ(integerOf("-1 >> 64"), -1);
  EXPECT_EQ(integerOf("0xFFFFFFFFFFFFFFFF >> 64"), 0);
}

TEST(ConstantTest, Fractions) {
  EXPECT_EQ(realOf("1.5"), 1.5);
  EXPECT_EQ(realOf("1."), 1.0);
  EXPECT_EQ(realOf(".5"), 0.5);
  EXPECT_EQ(realOf("1e3"), 1000.0);
  EXPECT_EQ(realOf("0e5"), 0.0);
  EXPECT_EQ(realOf("1.0E+5"), 1e5);
  EXPECT_EQ(realOf("25.0e-2"), 0.25);
  EXPECT_EQ(realOf("0d3FF8000000000000"), 1.5);
  EXPECT_EQ(realOf("0D3ff8000000000000"), 1.5);
  EXPECT_EQ(realOf("-0d3FF8000000000000"), -1.5);
  EXPECT_EQ(realOf("1.0 + 2.0 * 3.0"), 7.0);
  EXPECT_EQ(realOf("1.0 / 4.0 - 1.0"), -0.75);
  EXPECT_EQ(integerOf("1.0 < 2.0"), 1);
  EXPECT_TRUE(std::signbit(realOf("-0.0")));
}

TEST(ConstantTest, ExactFloatsKeepTheirBits) {
  Module module = parsed(header() + ".global .f32 x = 0fFF800001, y = "
                                    "0F3f800000, z = -0f3F800000, w = 0.1;");
  ASSERT_EQ(module.variables.size(), 4u);
  const uint64_t expected[] = {0xFF800001, 0x3F800000, 0xBF800000, 0x3DCCCCCD};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(patternOf(module.variables[i].initial[0].value, Type::F32),
              expected[i])
        << i;
}

TEST(ConstantTest, PatternsOfTypes) {
  const Constant minusOne = Constant::integer(-1);
  EXPECT_EQ(patternOf(minusOne, Type::U8), 0xFFu);
  EXPECT_EQ(patternOf(minusOne, Type::B64), ~uint64_t(0));
  EXPECT_EQ(patternOf(minusOne, Type::Pred), 1u);
  EXPECT_EQ(patternOf(minusOne, Type::F32), std::nullopt);
  EXPECT_EQ(patternOf(minusOne, Type::B128), std::nullopt);
  EXPECT_EQ(patternOf(Constant::integer(255), Type::S8), 0xFFu);
  EXPECT_EQ(patternOf(Constant::integer(-128), Type::U8), 0x80u);
  EXPECT_EQ(patternOf(Constant::unsignedInteger(~uint64_t(0)), Type::U8),
            std::nullopt);
  EXPECT_EQ(patternOf(Constant::integer(256), Type::U8), std::nullopt);
  EXPECT_EQ(patternOf(Constant::integer(-129), Type::S8), std::nullopt);
  EXPECT_EQ(patternOf(Constant::integer(int64_t(1) << 32), Type::B32),
            std::nullopt);
  const Constant half = Constant::real(0.5);
  EXPECT_EQ(patternOf(half, Type::F32), 0x3F000000u);
  EXPECT_EQ(patternOf(half, Type::B64), std::bit_cast<uint64_t>(0.5));
  EXPECT_EQ(patternOf(half, Type::B32), std::nullopt);
  EXPECT_EQ(patternOf(half, Type::U32), std::nullopt);
  EXPECT_EQ(patternOf(half, Type::F16), std::nullopt);
  const Constant one{Constant::Kind::F32, 0x3F800000};
  EXPECT_EQ(patternOf(one, Type::B32), 0x3F800000u);
  EXPECT_EQ(patternOf(one, Type::F64), std::bit_cast<uint64_t>(1.0));
  EXPECT_EQ(patternOf(one, Type::B64), std::nullopt);
}

} // namespace
