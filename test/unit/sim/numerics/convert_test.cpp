//===- convert_test.cpp - The conversions of cvt --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "kvc/Sim/Numerics/Convert.h"
#include "kvc/Sim/Numerics/HostFloat.h"
#include "kvc/Test/Sanitizers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace kvc;
using namespace kvc::sim;
using namespace kvc::test;

namespace {

const Type kScalars[] = {Type::U8,  Type::U16, Type::U32, Type::U64, Type::S8,
                         Type::S16, Type::S32, Type::S64, Type::F16, Type::BF16,
                         Type::F32, Type::F64, Type::TF32};
const Type kPacked[] = {Type::F16x2,  Type::BF16x2, Type::E4M3x2,
                        Type::E5M2x2, Type::E2M3x2, Type::E3M2x2,
                        Type::E2M1x2, Type::UE8M0x2};
const Rounding kRoundings[] = {Rounding::NearestEven, Rounding::TowardZero,
                               Rounding::Down, Rounding::Up,
                               Rounding::NearestAway};

bool isWide(Type type) {
  return type == Type::U64 || type == Type::S64 || type == Type::F64;
}

bool isNarrow(Type type) {
  return type == Type::U8 || type == Type::S8 || type == Type::U16 ||
         type == Type::S16 || type == Type::F16 || type == Type::BF16;
}

/// Every form that PTX has, each with registers of the types' own size.
std::vector<ConvertForm> allConvertForms() {
  std::vector<Type> types(std::begin(kScalars), std::end(kScalars));
  types.insert(types.end(), std::begin(kPacked), std::end(kPacked));
  std::vector<ConvertForm> forms;
  for (Type to : types)
    for (Type from : types)
      for (RoundingWord word :
           {RoundingWord::None, RoundingWord::Number, RoundingWord::Integer})
        for (Rounding rounding : kRoundings)
          for (int flags = 0; flags < 16; ++flags) {
            ConvertForm form{to,
                             from,
                             word,
                             rounding,
                             (flags & 1) != 0,
                             (flags & 2) != 0,
                             (flags & 4) != 0,
                             (flags & 8) != 0,
                             isWide(to) ? 64 : 32,
                             isWide(from) ? 64 : 32};
            bool isRounding = word != RoundingWord::None;
            if ((isRounding || rounding == Rounding::NearestEven) &&
                exists(form))
              forms.push_back(form);
          }
  return forms;
}

/// One lane with registers that hold everything.
uint64_t converted(ConvertForm form, uint64_t a, uint64_t b) {
  form.toRegister = 64;
  form.fromRegister = 64;
  return evaluate(form, a, b);
}

std::string describe(const ConvertForm &form) {
  return "to " + std::to_string(int(form.to)) + " from " +
         std::to_string(int(form.from)) + " word " +
         std::to_string(int(form.word)) + " rounding " +
         std::to_string(int(form.rounding)) + (form.ftz ? " ftz" : "") +
         (form.sat ? " sat" : "") + (form.relu ? " relu" : "") +
         (form.satfinite ? " satfinite" : "") + " registers " +
         std::to_string(form.toRegister) + " " +
         std::to_string(form.fromRegister);
}

/// A register's worth of `type`, with rubbish above it.
uint64_t operandOf(Type type, Codes &codes) {
  uint64_t bits = codes.bits();
  switch (type) {
  case Type::F64:
    // Now and then in the range of the others.
    if (bits % 2)
      return codeOf(double(asFloat(uint32_t(codes.next(kF32)))));
    if (bits % 4 == 0)
      return codeOf(double(int64_t(codes.bits()) >> (bits >> 58)) / 4);
    return codes.next(kF64);
  case Type::F32:
    if (bits % 4 == 0)
      return codeOf(float(int32_t(codes.bits()) >> (bits >> 59)) / 4);
    if (bits % 4 == 1)
      return codeOf(std::ldexp(float(int8_t(bits >> 8)) / 16,
                               int((bits >> 16) % 40) - 30));
    return codes.next(kF32);
  case Type::F16:
  case Type::F16x2:
    return codes.next(kF16) | codes.next(kF16) << 16;
  case Type::BF16:
  case Type::BF16x2:
    return codes.next(kBF16) | codes.next(kBF16) << 16;
  default:
    // Integers of every length.
    return bits % 3 ? uint64_t(int64_t(bits) >> (codes.bits() % 64)) : bits;
  }
}

template <typename To, typename From>
void checkRow(const ConvertForm &form, int rounds) {
  for (SimdLevel level : levels()) {
    auto row = ConvertRow::create(form, level);
    ASSERT_TRUE(row);
    Codes codes(21);
    for (int round = 0; round < rounds; ++round) {
      From a[kLanes], b[kLanes];
      To d[kLanes], part[kLanes] = {};
      for (int lane = 0; lane < kLanes; ++lane) {
        a[lane] = From(operandOf(form.from, codes));
        b[lane] = From(operandOf(form.from, codes));
      }
      LaneMask active = LaneMask(codes.bits());
      {
        HostFloatScope scope;
        (*row)(d, a, hasTwoOperands(form) ? b : nullptr);
        (*row)(part, a, b, active);
      }
      for (int lane = 0; lane < kLanes; ++lane) {
        ASSERT_EQ(d[lane], To(evaluate(form, a[lane], b[lane])))
            << describe(form) << " " << nameOf(level) << " " << hex(a[lane])
            << " " << hex(b[lane]);
        ASSERT_EQ(part[lane], (active >> lane) & 1 ? d[lane] : 0);
      }
    }
  }
}

void checkAnyRow(const ConvertForm &form, int rounds) {
  if (form.toRegister == 64)
    form.fromRegister == 64 ? checkRow<uint64_t, uint64_t>(form, rounds)
                            : checkRow<uint64_t, uint32_t>(form, rounds);
  else
    form.fromRegister == 64 ? checkRow<uint32_t, uint64_t>(form, rounds)
                            : checkRow<uint32_t, uint32_t>(form, rounds);
}

TEST(Convert, RowsAreWhatIntegersSay) {
  for (ConvertForm form : allConvertForms()) {
    checkAnyRow(form, 12);
    // Narrow values in wide registers, and in narrower ones.
    if (!isWide(form.to) && !isWide(form.from)) {
      form.toRegister = 64;
      checkAnyRow(form, 2);
      form.fromRegister = 64;
      checkAnyRow(form, 2);
      form.toRegister = 16;
      if (isNarrow(form.to))
        checkAnyRow(form, 2);
      form.fromRegister = 32;
      if (isNarrow(form.to))
        checkAnyRow(form, 2);
    }
  }
}

// Every f16 and bf16 code, and f32 codes around all of them, to each format
// with few bits.
TEST(Convert, NarrowRowsOverAllHalves) {
  for (Type to : {Type::F16x2, Type::BF16x2, Type::E4M3x2, Type::E5M2x2,
                  Type::E2M3x2, Type::E3M2x2, Type::E2M1x2})
    for (bool satfinite : {false, true})
      for (bool relu : {false, true}) {
        ConvertForm form{.to = to,
                         .from = Type::F32,
                         .word = RoundingWord::Number,
                         .relu = relu,
                         .satfinite = satfinite};
        if (!exists(form))
          continue;
        for (SimdLevel level : levels()) {
          auto row = ConvertRow::create(form, level);
          HostFloatScope scope;
          for (uint32_t high = 0; high < 0x10000; high += 16) {
            uint32_t a[kLanes], b[kLanes], d[kLanes];
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
              // bf16 codes, and what lies around f16's midpoints and fp8's.
              a[lane] = (high + lane / 2) << 16 | (lane % 2 ? 0xFFFF : 0);
              b[lane] = (high + lane / 2) << 16 | (lane % 2 ? 0x1000 : 1);
            }
            (*row)(d, a, b);
            for (int lane = 0; lane < kLanes; ++lane)
              ASSERT_EQ(d[lane], evaluate(form, a[lane], b[lane]))
                  << describe(form) << " " << hex(a[lane]) << " "
                  << hex(b[lane]);
          }
        }
      }
}

// Exhaustive over the narrow formats, by the list of their values.
TEST(Convert, WidensEveryNarrowCode) {
  struct {
    Type from;
    FloatFormat format;
    int bits;
  } types[] = {{Type::E4M3x2, kE4M3, 8},
               {Type::E5M2x2, kE5M2, 8},
               {Type::E2M3x2, kE2M3, 8},
               {Type::E3M2x2, kE3M2, 8},
               {Type::E2M1x2, kE2M1, 4}};
  ValueTable f16(kF16);
  for (const auto &[from, format, bits] : types) {
    ValueTable table(format);
    for (bool relu : {false, true}) {
      ConvertForm form{.to = Type::F16x2,
                       .from = from,
                       .word = RoundingWord::Number,
                       .relu = relu};
      ASSERT_TRUE(exists(form));
      for (uint64_t code = 0; code < format.signBit() * 2; ++code) {
        uint64_t both = converted(form, code << bits, 0);
        EXPECT_EQ(both & 0xFFFF, 0u);
        EXPECT_EQ(converted(form, code, 0), both >> 16);
        uint64_t expected;
        uint64_t magnitude = code & (format.signBit() - 1);
        bool negative = code != magnitude;
        if (format.isNan(code))
          expected = 0x7FFF;
        else if (negative && relu)
          expected = 0;
        else if (magnitude > format.largest())
          expected = negative ? 0xFC00 : 0x7C00;
        else
          expected = (negative ? 0x8000 : 0) |
                     f16.round(table.value(magnitude), Rounding::NearestEven);
        EXPECT_EQ(both >> 16, expected) << describe(form) << hex(code);
      }
    }
  }
}

// Exhaustive over f16: each conversion from it, against f64 arithmetic.
TEST(Convert, FromEveryF16) {
  ValueTable table(kF16);
  for (uint64_t code = 0; code < 0x10000; ++code) {
    bool isNan = kF16.isNan(code);
    uint64_t magnitude = code & 0x7FFF;
    double value = isNan ? std::nan("")
                   : magnitude == 0x7C00
                       ? (code & 0x8000 ? -HUGE_VAL : HUGE_VAL)
                       : table.value(code);
    uint64_t f32 = isNan ? 0x7FFFFFFF : codeOf(float(value));
    ASSERT_EQ(converted({.to = Type::F32, .from = Type::F16}, code, 0), f32);
    ASSERT_EQ(converted({.to = Type::F64, .from = Type::F16}, code, 0),
              isNan ? kF64.nan : codeOf(value));
    struct {
      Rounding rounding;
      double integer;
    } roundings[] = {{Rounding::NearestEven, std::nearbyint(value)},
                     {Rounding::TowardZero, std::trunc(value)},
                     {Rounding::Down, std::floor(value)},
                     {Rounding::Up, std::ceil(value)}};
    for (const auto &[rounding, integer] : roundings) {
      ConvertForm form{.from = Type::F16,
                       .word = RoundingWord::Integer,
                       .rounding = rounding};
      form.to = Type::S32;
      double clamped = std::clamp(integer, -2147483648.0, 2147483647.0);
      ASSERT_EQ(int64_t(converted(form, code, 0)),
                isNan ? 0 : int64_t(clamped));
      form.to = Type::U8;
      clamped = std::clamp(integer, 0.0, 255.0);
      ASSERT_EQ(converted(form, code, 0), isNan ? 0 : uint64_t(clamped));
      form.to = Type::S8;
      clamped = std::clamp(integer, -128.0, 127.0);
      ASSERT_EQ(int64_t(converted(form, code, 0)),
                isNan ? 0 : int64_t(clamped));
      form.to = Type::F16;
      ASSERT_EQ(converted(form, code, 0), isNan               ? 0x7FFF
                                          : std::isinf(value) ? code
                                          : integer == 0
                                              ? code & 0x8000
                                              : table.round(integer, rounding));
    }
    uint64_t fp8 = converted({.to = Type::E4M3x2,
                              .from = Type::F16x2,
                              .word = RoundingWord::Number,
                              .satfinite = true},
                             code, 0);
    static const ValueTable e4m3(kE4M3);
    ASSERT_EQ(fp8, isNan               ? 0x7F
                   : std::isinf(value) ? (code >> 8 & 0x80) | 0x7E
                   : value == 0
                       ? code >> 8
                       : e4m3.round(value, Rounding::NearestEven, true));
  }
}

// Between 32-bit integers and f32, in the machine's own roundings.
TEST(Convert, IntegersAndF32) {
  Codes codes(22);
  for (int i = 0; i < fewerUnderAsan(200000); ++i) {
    uint64_t bits = codes.bits() >> (codes.bits() % 64);
    for (Rounding rounding : kIeeeRoundings) {
      volatile int32_t s32 = int32_t(bits);
      volatile uint32_t u32 = uint32_t(bits);
      volatile int64_t s64 = int64_t(bits);
      volatile uint64_t u64 = bits;
      float expected[4];
      double wide;
      {
        MachineRounding mode(rounding);
        expected[0] = float(s32);
        expected[1] = float(u32);
        expected[2] = float(s64);
        wide = double(s64);
      }
      ConvertForm form{.from = Type::S32,
                       .word = RoundingWord::Number,
                       .rounding = rounding};
      ASSERT_EQ(converted(form, bits, 0), codeOf(expected[0]));
      form.from = Type::U32;
      ASSERT_EQ(converted(form, bits, 0), codeOf(expected[1]));
      form.from = Type::S64;
      ASSERT_EQ(converted(form, bits, 0), codeOf(expected[2]));
      form.to = Type::F64;
      ASSERT_EQ(converted(form, bits, 0), codeOf(wide));
      (void)u64;
    }
  }
}

TEST(Convert, ResultsFitTheirRegister) {
  ConvertForm form{.to = Type::S8, .from = Type::S32};
  EXPECT_EQ(evaluate(form, 0x80, 0), 0xFFFFFF80u);
  form.toRegister = 16;
  EXPECT_EQ(evaluate(form, 0x80, 0), 0xFF80u);
  form.toRegister = 8;
  EXPECT_EQ(evaluate(form, 0x80, 0), 0x80u);
  form.toRegister = 64;
  EXPECT_EQ(evaluate(form, 0x80, 0), ~uint64_t(0x7F));
}

TEST(Convert, IntegersExtendAndClamp) {
  auto convert = [](Type to, Type from, uint64_t a, bool sat = false) {
    ConvertForm form{.to = to, .from = from, .sat = sat};
    EXPECT_TRUE(exists(form));
    return converted(form, a, 0);
  };
  EXPECT_EQ(convert(Type::S32, Type::S8, 0xABCDEF80), ~uint64_t(0x7F));
  EXPECT_EQ(convert(Type::U32, Type::S8, 0x80), 0xFFFFFF80u);
  EXPECT_EQ(convert(Type::U32, Type::U8, 0xFFFFFF80), 0x80u);
  EXPECT_EQ(convert(Type::S64, Type::S32, 0x80000000), 0xFFFFFFFF80000000u);
  EXPECT_EQ(convert(Type::U64, Type::U32, ~uint64_t(0)), 0xFFFFFFFFu);
  EXPECT_EQ(convert(Type::S8, Type::U32, 0x1234), 0x34u);
  EXPECT_EQ(convert(Type::S8, Type::U32, 0x12F4), ~uint64_t(0xB));
  EXPECT_EQ(convert(Type::U8, Type::S32, uint64_t(-5), true), 0u);
  EXPECT_EQ(convert(Type::U8, Type::S32, 300, true), 255u);
  EXPECT_EQ(convert(Type::S8, Type::S32, uint64_t(-300), true), uint64_t(-128));
  EXPECT_EQ(convert(Type::S8, Type::U32, 0xFFFFFFFF, true), 127u);
  EXPECT_EQ(convert(Type::U32, Type::S64, uint64_t(-1), true), 0u);
  EXPECT_EQ(convert(Type::U32, Type::S64, uint64_t(1) << 40, true),
            0xFFFFFFFFu);
}

// The ISA: 0, or the highest bit of the type where one side has 64 bits.
TEST(Convert, NanBecomesAnInteger) {
  auto convert = [](Type to, Type from, uint64_t a) {
    return converted({.to = to, .from = from, .word = RoundingWord::Integer}, a,
                     0);
  };
  const uint64_t nan32 = 0x7FC00000, nan64 = 0x7FF8000000000000;
  EXPECT_EQ(convert(Type::S32, Type::F32, nan32), 0u);
  EXPECT_EQ(convert(Type::U32, Type::F32, nan32), 0u);
  EXPECT_EQ(convert(Type::S32, Type::F16, 0x7E00), 0u);
  EXPECT_EQ(convert(Type::S64, Type::F32, nan32), uint64_t(1) << 63);
  EXPECT_EQ(convert(Type::U64, Type::F16, 0xFFFF), uint64_t(1) << 63);
  EXPECT_EQ(convert(Type::S32, Type::F64, nan64), ~uint64_t(0x7FFFFFFF));
  EXPECT_EQ(convert(Type::U32, Type::F64, nan64), 0x80000000u);
  EXPECT_EQ(convert(Type::U16, Type::F64, nan64), 0x8000u);
}

TEST(Convert, FloatsClampAndFlush) {
  const uint64_t subnormal = 1, minusSubnormal = 0x80000001;
  ConvertForm up{.to = Type::S32,
                 .from = Type::F32,
                 .word = RoundingWord::Integer,
                 .rounding = Rounding::Up};
  EXPECT_EQ(converted(up, subnormal, 0), 1u);
  up.ftz = true;
  EXPECT_EQ(converted(up, subnormal, 0), 0u);
  ConvertForm same{.to = Type::F32, .from = Type::F32, .ftz = true};
  EXPECT_EQ(converted(same, minusSubnormal, 0), 0x80000000u);
  same.sat = true;
  EXPECT_EQ(converted(same, codeOf(7.0f), 0), codeOf(1.0f));
  EXPECT_EQ(converted(same, codeOf(-7.0f), 0), 0u);
  EXPECT_EQ(converted(same, 0x7FC00000, 0), 0u);
  ConvertForm narrow{.to = Type::F32,
                     .from = Type::F64,
                     .word = RoundingWord::Number,
                     .ftz = true};
  EXPECT_EQ(converted(narrow, codeOf(-0x1p-140), 0), 0x80000000u);
  EXPECT_EQ(converted(narrow, codeOf(0x1p-126), 0), 0x00800000u);
  EXPECT_EQ(converted({.to = Type::F64, .from = Type::F32, .ftz = true},
                      subnormal, 0),
            0u);
  EXPECT_EQ(converted({.to = Type::F64, .from = Type::F32}, subnormal, 0),
            codeOf(0x1p-149));
}

// a goes above b.
TEST(Convert, PacksTheFirstOperandHigh) {
  const uint64_t a = codeOf(-1.5f), b = codeOf(3.0f);
  auto pack = [&](Type to, bool satfinite, bool relu = false) {
    return converted({.to = to,
                      .from = Type::F32,
                      .word = RoundingWord::Number,
                      .relu = relu,
                      .satfinite = satfinite},
                     a, b);
  };
  EXPECT_EQ(pack(Type::F16x2, false), 0xBE004200u);
  EXPECT_EQ(pack(Type::BF16x2, false), 0xBFC04040u);
  EXPECT_EQ(pack(Type::E4M3x2, true), 0xBC44u);
  EXPECT_EQ(pack(Type::E5M2x2, true), 0xBE42u);
  EXPECT_EQ(pack(Type::E2M1x2, true), 0xB5u);
  EXPECT_EQ(pack(Type::E2M3x2, true), 0x2C14u);
  EXPECT_EQ(pack(Type::E3M2x2, true), 0x2E12u);
  EXPECT_EQ(pack(Type::E4M3x2, true, true), 0x0044u);
}

TEST(Convert, FormatsWithoutNanOrInfinity) {
  auto narrow = [](Type to, uint64_t b) {
    return converted({.to = to,
                      .from = Type::F32,
                      .word = RoundingWord::Number,
                      .satfinite = true},
                     0, b);
  };
  const uint64_t nan = 0xFFC00000, inf = 0x7F800000, minusInf = 0xFF800000;
  EXPECT_EQ(narrow(Type::E4M3x2, nan), 0x7Fu);
  EXPECT_EQ(narrow(Type::E5M2x2, nan), 0x7Fu);
  EXPECT_EQ(narrow(Type::E2M1x2, nan), 0x7u);
  EXPECT_EQ(narrow(Type::E2M3x2, nan), 0x1Fu);
  EXPECT_EQ(narrow(Type::E3M2x2, nan), 0x1Fu);
  EXPECT_EQ(narrow(Type::E4M3x2, inf), 0x7Eu);
  EXPECT_EQ(narrow(Type::E5M2x2, minusInf), 0xFBu);
  EXPECT_EQ(narrow(Type::E2M1x2, minusInf), 0xFu);
  EXPECT_EQ(narrow(Type::F16x2, inf), 0x7BFFu);
  EXPECT_EQ(narrow(Type::BF16x2, nan), 0x7FFFu);
}

TEST(Convert, Scales) {
  auto scale = [](double x, Rounding rounding, bool satfinite = false) {
    return converted({.to = Type::UE8M0x2,
                      .from = Type::F32,
                      .word = RoundingWord::Number,
                      .rounding = rounding,
                      .satfinite = satfinite},
                     0, codeOf(float(x)));
  };
  const Rounding down = Rounding::TowardZero, up = Rounding::Up;
  EXPECT_EQ(scale(1, down), 127u);
  EXPECT_EQ(scale(1, up), 127u);
  EXPECT_EQ(scale(1.5, down), 127u);
  EXPECT_EQ(scale(1.5, up), 128u);
  EXPECT_EQ(scale(-3, down), 128u);
  EXPECT_EQ(scale(-3, up), 129u);
  EXPECT_EQ(scale(0, up), 0u);
  EXPECT_EQ(scale(0x1p-127, up), 0u);
  EXPECT_EQ(scale(0x1.8p-127, down), 0u);
  EXPECT_EQ(scale(0x1.8p-127, up), 1u);
  EXPECT_EQ(scale(0x1p-149, up), 0u);
  EXPECT_EQ(scale(0x1p127, up), 254u);
  EXPECT_EQ(scale(0x1.8p127, down), 254u);
  EXPECT_EQ(scale(0x1.8p127, up), 255u);
  EXPECT_EQ(scale(0x1.8p127, up, true), 254u);
  EXPECT_EQ(scale(HUGE_VAL, down), 255u);
  EXPECT_EQ(scale(HUGE_VAL, down, true), 254u);
  EXPECT_EQ(scale(std::nan(""), down, true), 255u);
  // And back, every code.
  ConvertForm back{
      .to = Type::BF16x2, .from = Type::UE8M0x2, .word = RoundingWord::Number};
  for (uint64_t code = 0; code < 256; ++code) {
    uint64_t expected =
        code == 255 ? 0x7FFF
                    : codeOf(float(std::ldexp(1.0, int(code) - 127))) >> 16;
    EXPECT_EQ(converted(back, code << 8 | code, 0), expected << 16 | expected);
  }
}

TEST(Convert, TF32) {
  ConvertForm away{.to = Type::TF32,
                   .from = Type::F32,
                   .word = RoundingWord::Number,
                   .rounding = Rounding::NearestAway};
  ConvertForm even = away;
  even.rounding = Rounding::NearestEven;
  EXPECT_EQ(converted(away, 0x3F801000, 0), 0x3F802000u);
  EXPECT_EQ(converted(even, 0x3F801000, 0), 0x3F800000u);
  EXPECT_EQ(converted(even, 0x3F803000, 0), 0x3F804000u);
  EXPECT_EQ(converted(away, 0x3F800FFF, 0), 0x3F800000u);
  EXPECT_EQ(converted(away, 0x7F7FFFFF, 0), 0x7F800000u);
  EXPECT_EQ(converted(away, 0xFFC00000, 0), 0x7FFFFFFFu);
  away.satfinite = true;
  EXPECT_EQ(converted(away, 0x7F7FFFFF, 0), 0x7F7FE000u);
  EXPECT_EQ(converted(away, 0xFF800000, 0), 0xFF7FE000u);
}

} // namespace
