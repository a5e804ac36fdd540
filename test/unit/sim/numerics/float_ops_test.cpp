//===- float_ops_test.cpp - Float instructions ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "kvc/Sim/Numerics/FloatOps.h"
#include "kvc/Sim/Numerics/HostFloat.h"
#include "kvc/Test/Sanitizers.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace kvc;
using namespace kvc::sim;
using namespace kvc::test;

namespace {

const FloatOp kOps[] = {FloatOp::Add,  FloatOp::Sub, FloatOp::Mul,
                        FloatOp::Fma,  FloatOp::Div, FloatOp::Rcp,
                        FloatOp::Sqrt, FloatOp::Min, FloatOp::Max,
                        FloatOp::Abs,  FloatOp::Neg, FloatOp::CopySign};
const Type kTypes[] = {Type::F16,    Type::F16x2, Type::BF16,
                       Type::BF16x2, Type::F32,   Type::F64};

/// Every form that PTX has.
std::vector<FloatForm> allFloatForms() {
  std::vector<FloatForm> forms;
  for (FloatOp op : kOps)
    for (Type type : kTypes)
      for (Rounding rounding : kIeeeRoundings)
        for (int flags = 0; flags < 32; ++flags) {
          FloatForm form{op,
                         type,
                         rounding,
                         (flags & 1) != 0,
                         (flags & 2) != 0,
                         (flags & 4) != 0,
                         (flags & 8) != 0,
                         (flags & 16) != 0};
          if (exists(form))
            forms.push_back(form);
        }
  return forms;
}

std::string describe(const FloatForm &form) {
  return "op " + std::to_string(int(form.op)) + " type " +
         std::to_string(int(form.type)) + " rounding " +
         std::to_string(int(form.rounding)) + (form.ftz ? " ftz" : "") +
         (form.sat ? " sat" : "") + (form.relu ? " relu" : "") +
         (form.nan ? " nan" : "") + (form.xorsignAbs ? " xorsign" : "");
}

const FloatFormat &formatOf(Type type) {
  switch (type) {
  case Type::F64:
    return kF64;
  case Type::F32:
    return kF32;
  case Type::F16:
  case Type::F16x2:
    return kF16;
  default:
    return kBF16;
  }
}

bool isPacked(Type type) { return type == Type::F16x2 || type == Type::BF16x2; }

uint64_t operandFor(Type type, Codes &codes) {
  uint64_t code = codes.next(formatOf(type));
  if (isPacked(type))
    code |= codes.next(formatOf(type)) << 16;
  return code;
}

/// Rows hold what evaluate gives for each lane, at every level, whatever the
/// caller's float unit was set to.
template <typename Word>
void checkRow(const FloatForm &form, uint64_t seed, int rounds) {
  for (SimdLevel level : levels()) {
    auto row = FloatRow::create(form, level);
    ASSERT_TRUE(row);
    Codes codes(seed);
    for (int round = 0; round < rounds; ++round) {
      Word a[kLanes], b[kLanes], c[kLanes], d[kLanes] = {};
      for (int lane = 0; lane < kLanes; ++lane) {
        a[lane] = Word(operandFor(form.type, codes));
        b[lane] = Word(operandFor(form.type, codes));
        c[lane] = Word(operandFor(form.type, codes));
      }
      {
        HostFloatScope scope;
        (*row)(d, a, b, c);
      }
      for (int lane = 0; lane < kLanes; ++lane)
        ASSERT_EQ(d[lane], evaluate(form, a[lane], b[lane], c[lane]))
            << describe(form) << " " << nameOf(level) << " " << hex(a[lane])
            << " " << hex(b[lane]) << " " << hex(c[lane]);
      // In place, and some lanes only.
      LaneMask active = LaneMask(codes.bits());
      Word before[kLanes];
      std::copy(a, a + kLanes, before);
      {
        HostFloatScope scope;
        (*row)(a, a, b, c, active);
      }
      for (int lane = 0; lane < kLanes; ++lane)
        ASSERT_EQ(a[lane], (active >> lane) & 1 ? d[lane] : before[lane]);
    }
  }
}

TEST(FloatOps, RowsAreWhatIntegersSay) {
  for (const FloatForm &form : allFloatForms()) {
    int rounds =
        form.rounding == Rounding::NearestEven ? fewerUnderAsan(300) : 20;
    if (form.type == Type::F64)
      checkRow<uint64_t>(form, 11, rounds);
    else
      checkRow<uint32_t>(form, 12, rounds);
  }
}

/// a + b with the lowest bit set where f128 does not hold the sum, so that a
/// rounding to fewer bits sees on which side of a midpoint it lies.
Quad addToOdd(Quad a, Quad b) {
  Quad sum = a + b;
  Quad partA = sum - b, partB = sum - partA;
  Quad error = (a - partA) + (b - partB);
  auto code = std::bit_cast<unsigned __int128>(sum);
  if (error == 0 || (code & 1) != 0)
    return sum;
  return std::bit_cast<Quad>((error > 0) == (sum > 0) ? code + 1 : code - 1);
}

// f16 and bf16 by the list of their values.
TEST(FloatOps, HalvesAgreeWithTheListOfValues) {
  for (Type type : {Type::F16, Type::BF16}) {
    const FloatFormat &format = formatOf(type);
    ValueTable table(format);
    Codes codes(13);
    for (int i = 0; i < fewerUnderAsan(400000); ++i) {
      uint64_t a = codes.next(format), b = codes.next(format),
               c = codes.next(format);
      bool finite = true;
      for (uint64_t code : {a, b, c})
        finite &= (code & 0x7FFF) <= format.largest();
      if (!finite)
        continue;
      Quad x = table.value(a), y = table.value(b), z = table.value(c);
      struct {
        FloatOp op;
        Quad exact;
      } cases[] = {{FloatOp::Add, addToOdd(x, y)},
                   {FloatOp::Sub, addToOdd(x, -y)},
                   {FloatOp::Mul, x * y},
                   {FloatOp::Fma, addToOdd(x * y, z)}};
      for (const auto &[op, exact] : cases) {
        if (exact == 0)
          continue;
        ASSERT_EQ(evaluate({op, type}, a, b, c),
                  table.round(exact, Rounding::NearestEven))
            << int(op) << " " << hex(a) << " " << hex(b) << " " << hex(c);
      }
    }
  }
}

// Signs of zero, infinities and NaN, worked out by hand.
TEST(FloatOps, SpecialValues) {
  const uint64_t inf = 0x7F800000, minusInf = 0xFF800000, nan = 0x7FC01234,
                 zero = 0, minusZero = 0x80000000, one = 0x3F800000,
                 minusOne = 0xBF800000, canonical = 0x7FFFFFFF;
  auto f32 = [](FloatOp op, uint64_t a, uint64_t b = 0, uint64_t c = 0,
                Rounding rounding = Rounding::NearestEven) {
    return evaluate({.op = op, .type = Type::F32, .rounding = rounding}, a, b,
                    c);
  };
  EXPECT_EQ(f32(FloatOp::Add, inf, minusInf), canonical);
  EXPECT_EQ(f32(FloatOp::Add, nan, one), canonical);
  EXPECT_EQ(f32(FloatOp::Add, one, minusOne), zero);
  EXPECT_EQ(f32(FloatOp::Add, one, minusOne, 0, Rounding::Down), minusZero);
  EXPECT_EQ(f32(FloatOp::Add, minusZero, minusZero), minusZero);
  EXPECT_EQ(f32(FloatOp::Sub, zero, zero), zero);
  EXPECT_EQ(f32(FloatOp::Mul, inf, zero), canonical);
  EXPECT_EQ(f32(FloatOp::Mul, minusOne, zero), minusZero);
  EXPECT_EQ(f32(FloatOp::Fma, inf, zero, one), canonical);
  EXPECT_EQ(f32(FloatOp::Fma, one, one, minusOne), zero);
  EXPECT_EQ(f32(FloatOp::Div, one, zero), inf);
  EXPECT_EQ(f32(FloatOp::Div, minusOne, zero), minusInf);
  EXPECT_EQ(f32(FloatOp::Div, zero, zero), canonical);
  EXPECT_EQ(f32(FloatOp::Div, inf, inf), canonical);
  EXPECT_EQ(f32(FloatOp::Rcp, minusZero), minusInf);
  EXPECT_EQ(f32(FloatOp::Rcp, minusInf), minusZero);
  EXPECT_EQ(f32(FloatOp::Sqrt, minusZero), minusZero);
  EXPECT_EQ(f32(FloatOp::Sqrt, minusOne), canonical);
  EXPECT_EQ(f32(FloatOp::Sqrt, inf), inf);
  EXPECT_EQ(f32(FloatOp::Abs, minusOne), one);
  EXPECT_EQ(f32(FloatOp::Neg, nan), nan | minusZero);
  EXPECT_EQ(f32(FloatOp::CopySign, minusOne, one), minusOne);
  EXPECT_EQ(f32(FloatOp::CopySign, one, minusInf), inf);
  EXPECT_EQ(evaluate({.op = FloatOp::Mul, .type = Type::F16x2}, 0x7C003C00,
                     0x00004000, 0),
            0x7FFF4000u);
  EXPECT_EQ(evaluate({.op = FloatOp::Fma, .type = Type::BF16, .relu = true},
                     0x3F80, 0xBF80, 0),
            0u);
  EXPECT_EQ(evaluate({.op = FloatOp::Fma, .type = Type::F16, .relu = true},
                     0x7C00, 0, 0),
            0x7FFFu);
}

// The ISA: the number where one operand is NaN, +0 above -0, .NaN and
// .xorsign.abs.
TEST(FloatOps, MinimaAndMaxima) {
  const uint64_t nan = 0x7FC01234, zero = 0, minusZero = 0x80000000,
                 one = 0x3F800000, minusTwo = 0xC0000000, two = 0x40000000,
                 subnormal = 1, canonical = 0x7FFFFFFF;
  auto min = [](uint64_t a, uint64_t b, FloatForm form = {}) {
    form.op = FloatOp::Min;
    return evaluate(form, a, b, 0);
  };
  auto max = [](uint64_t a, uint64_t b, FloatForm form = {}) {
    form.op = FloatOp::Max;
    return evaluate(form, a, b, 0);
  };
  EXPECT_EQ(min(zero, minusZero), minusZero);
  EXPECT_EQ(min(minusZero, zero), minusZero);
  EXPECT_EQ(max(zero, minusZero), zero);
  EXPECT_EQ(max(minusZero, zero), zero);
  EXPECT_EQ(min(nan, one), one);
  EXPECT_EQ(min(one, nan), one);
  EXPECT_EQ(max(nan, one), one);
  EXPECT_EQ(min(nan, nan), canonical);
  EXPECT_EQ(min(nan, one, {.nan = true}), canonical);
  EXPECT_EQ(max(one, nan, {.nan = true}), canonical);
  EXPECT_EQ(min(one, minusTwo), minusTwo);
  EXPECT_EQ(max(one, minusTwo), one);
  EXPECT_EQ(min(one, minusTwo, {.xorsignAbs = true}), one | minusZero);
  EXPECT_EQ(max(one, minusTwo, {.xorsignAbs = true}), minusTwo);
  EXPECT_EQ(max(minusTwo, minusTwo, {.xorsignAbs = true}), two);
  EXPECT_EQ(min(nan | minusZero, one, {.xorsignAbs = true}), one | minusZero);
  EXPECT_EQ(max(subnormal, minusZero, {.ftz = true}), zero);
  EXPECT_EQ(max(subnormal, zero), subnormal);
}

TEST(FloatOps, ExistsAsTheIsaSays) {
  auto has = [](FloatForm form) { return exists(form); };
  using enum FloatOp;
  EXPECT_TRUE(has({.op = Add,
                   .type = Type::F32,
                   .rounding = Rounding::Up,
                   .ftz = true,
                   .sat = true}));
  EXPECT_TRUE(has({.op = Fma, .type = Type::F64, .rounding = Rounding::Down}));
  EXPECT_FALSE(has({.op = Add, .type = Type::F64, .ftz = true}));
  EXPECT_FALSE(has({.op = Mul, .type = Type::F64, .sat = true}));
  EXPECT_FALSE(
      has({.op = Add, .type = Type::F16, .rounding = Rounding::TowardZero}));
  EXPECT_TRUE(has({.op = Fma, .type = Type::F16x2, .ftz = true, .relu = true}));
  EXPECT_FALSE(has({.op = Fma, .type = Type::F16, .sat = true, .relu = true}));
  EXPECT_FALSE(has({.op = Fma, .type = Type::F32, .relu = true}));
  EXPECT_FALSE(has({.op = Add, .type = Type::BF16, .ftz = true}));
  EXPECT_FALSE(has({.op = Div, .type = Type::F16}));
  EXPECT_FALSE(has({.op = Min, .type = Type::F64, .nan = true}));
  EXPECT_TRUE(
      has({.op = Min, .type = Type::BF16x2, .nan = true, .xorsignAbs = true}));
  EXPECT_FALSE(has({.op = CopySign, .type = Type::F16}));
  EXPECT_FALSE(has({.op = Add, .type = Type::U32}));
  EXPECT_FALSE(FloatRow::create({.op = Add, .type = Type::S32}));
  EXPECT_FALSE(CompareRow::create({.type = Type::BF16, .ftz = true}));
  EXPECT_FALSE(CompareRow::create({.type = Type::F32, .upper = true}));
}

TEST(FloatOps, Comparisons) {
  // What each comparison says of less, equal, greater, unordered.
  struct {
    Comparison comparison;
    bool less, equal, greater, unordered;
  } table[] = {
      {Comparison::Eq, false, true, false, false},
      {Comparison::Ne, true, false, true, false},
      {Comparison::Lt, true, false, false, false},
      {Comparison::Le, true, true, false, false},
      {Comparison::Gt, false, false, true, false},
      {Comparison::Ge, false, true, true, false},
      {Comparison::Equ, false, true, false, true},
      {Comparison::Neu, true, false, true, true},
      {Comparison::Ltu, true, false, false, true},
      {Comparison::Leu, true, true, false, true},
      {Comparison::Gtu, false, false, true, true},
      {Comparison::Geu, false, true, true, true},
      {Comparison::Num, true, true, true, false},
      {Comparison::Nan, false, false, false, true},
  };
  const ValueTable f16(kF16), bf16(kBF16);
  for (const auto &[comparison, less, equal, greater, unordered] : table)
    for (Type type : kTypes)
      for (bool upper : {false, true})
        for (bool ftz : {false, true}) {
          CompareForm form{comparison, type, ftz, upper};
          if (!exists(form))
            continue;
          const FloatFormat &format = formatOf(type);
          const ValueTable &values16 = format.exponentBits == 5 ? f16 : bf16;
          Codes codes(14);
          for (SimdLevel level : levels())
            for (int round = 0; round < 20; ++round) {
              uint64_t wide[2][kLanes];
              uint32_t narrow[2][kLanes];
              LaneMask expected = 0;
              for (int lane = 0; lane < kLanes; ++lane) {
                double values[2];
                for (int operand = 0; operand < 2; ++operand) {
                  uint64_t code = operandFor(type, codes);
                  if (operand == 1 && lane % 4 == 0)
                    code = wide[0][lane]; // Equal operands.
                  wide[operand][lane] = code;
                  narrow[operand][lane] = uint32_t(code);
                  code = (code >> (upper ? 16 : 0)) &
                         (~uint64_t(0) >> (64 - format.bits()));
                  bool isSubnormal = (code & format.infinity()) == 0;
                  if (isPacked(type) || format.bits() == 16) {
                    bool isFinite = (code & 0x7FFF) <= format.largest();
                    values[operand] =
                        format.isNan(code) ? std::nan("")
                        : !isFinite ? (code & 0x8000 ? -HUGE_VAL : HUGE_VAL)
                                    : values16.value(code);
                  } else {
                    values[operand] = type == Type::F32
                                          ? double(asFloat(uint32_t(code)))
                                          : asFloat(code);
                  }
                  if (ftz && isSubnormal)
                    values[operand] = 0;
                }
                bool holds = values[0] < values[1]    ? less
                             : values[0] > values[1]  ? greater
                             : values[0] == values[1] ? equal
                                                      : unordered;
                expected |= LaneMask(holds) << lane;
              }
              HostFloatScope scope;
              auto row = CompareRow::create(form, level);
              LaneMask got = type == Type::F64 ? (*row)(wide[0], wide[1])
                                               : (*row)(narrow[0], narrow[1]);
              ASSERT_EQ(got, expected) << int(comparison) << " " << int(type);
            }
        }
}

// testp, against the C library.
TEST(FloatOps, Tests) {
  Codes codes(16);
  for (int i = 0; i < 20000; ++i) {
    auto a = uint32_t(codes.next(kF32));
    uint64_t b = codes.next(kF64);
    auto check = [](Type type, uint64_t code, int kind) {
      EXPECT_EQ(evaluate(FloatTest::Finite, type, code),
                kind != FP_NAN && kind != FP_INFINITE);
      EXPECT_EQ(evaluate(FloatTest::Infinite, type, code), kind == FP_INFINITE);
      EXPECT_EQ(evaluate(FloatTest::Number, type, code), kind != FP_NAN);
      EXPECT_EQ(evaluate(FloatTest::NotANumber, type, code), kind == FP_NAN);
      EXPECT_EQ(evaluate(FloatTest::Normal, type, code), kind == FP_NORMAL);
      EXPECT_EQ(evaluate(FloatTest::Subnormal, type, code),
                kind == FP_SUBNORMAL);
    };
    check(Type::F32, a, std::fpclassify(asFloat(a)));
    check(Type::F64, b, std::fpclassify(asFloat(b)));
  }
  uint32_t row[kLanes] = {0x7F800000, 0x7FC00000, 0xFF800000};
  EXPECT_EQ(testRow(FloatTest::Infinite, Type::F32, row), 5u);
  EXPECT_EQ(testRow(FloatTest::NotANumber, Type::F32, row), 2u);
}

#if defined(__x86_64__)
// A scope makes rows independent of the caller's float unit, and leaves that as
// it was.
TEST(FloatOps, ScopesShieldFromTheCallersModes) {
  const uint32_t rounding[] = {0, 0x2000, 0x4000, 0x6000};
  const uint32_t saved = _mm_getcsr();
  auto fma = FloatRow::create({.op = FloatOp::Fma, .type = Type::F32});
  Codes codes(15);
  for (uint32_t flush : {0u, 0x8040u}) // Flush to zero, denormals are zero.
    for (uint32_t mode : rounding) {
      uint32_t a[kLanes], b[kLanes], c[kLanes], d[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        a[lane] = uint32_t(codes.next(kF32));
        b[lane] = uint32_t(codes.next(kF32));
        c[lane] = uint32_t(codes.next(kF32));
      }
      const uint32_t hostile = 0x1F80 | mode | flush;
      _mm_setcsr(hostile);
      EXPECT_EQ(isHostFloatReady(), mode == 0 && flush == 0);
      {
        HostFloatScope scope;
        EXPECT_TRUE(isHostFloatReady());
        (*fma)(d, a, b, c);
      }
      uint32_t after = _mm_getcsr();
      _mm_setcsr(saved);
      EXPECT_EQ(after & ~0x3Fu, hostile);
      for (int lane = 0; lane < kLanes; ++lane)
        EXPECT_EQ(d[lane], evaluate(fma->form(), a[lane], b[lane], c[lane]));
    }
}
#endif

} // namespace
