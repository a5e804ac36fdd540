//===- approx_test.cpp - Approximations and their bounds ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The oracle is the C library in long double, which has 64 bits or more.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "kvc/Sim/Numerics/Approx.h"
#include "kvc/Sim/Numerics/HostFloat.h"
#include "kvc/Test/Sanitizers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

using namespace kvc;
using namespace kvc::sim;
using namespace kvc::test;

namespace {

using Oracle = long double;
static_assert(std::numeric_limits<Oracle>::digits >= 64);

const ApproxOp kUnary[] = {ApproxOp::Ex2,   ApproxOp::Lg2,  ApproxOp::Rcp,
                           ApproxOp::Rsqrt, ApproxOp::Sqrt, ApproxOp::Sin,
                           ApproxOp::Cos,   ApproxOp::Tanh};

Oracle oracle(ApproxOp op, Oracle x) {
  switch (op) {
  case ApproxOp::Ex2:
    return std::exp2(x);
  case ApproxOp::Lg2:
    return std::log2(x);
  case ApproxOp::Rcp:
    return 1 / x;
  case ApproxOp::Rsqrt:
    return 1 / std::sqrt(x);
  case ApproxOp::Sqrt:
    return std::sqrt(x);
  case ApproxOp::Sin:
    return std::sin(x);
  case ApproxOp::Cos:
    return std::cos(x);
  case ApproxOp::Tanh:
    return std::tanh(x);
  case ApproxOp::Div:
  case ApproxOp::DivFull:
    break;
  }
  return std::nanl("");
}

/// Operands where something happens: for ex2, near its range.
uint32_t operandFor(ApproxOp op, Codes &codes) {
  auto random = uint32_t(codes.bits());
  if (op == ApproxOp::Ex2 && random % 4)
    return codeOf(float(double(int64_t(codes.bits())) * 0x1p-63 * 155));
  if ((op == ApproxOp::Sin || op == ApproxOp::Cos) && random % 4)
    return codeOf(float(double(int64_t(codes.bits())) * 0x1p-63 *
                        (random % 8 ? 7 : 320)));
  if (op == ApproxOp::Tanh && random % 4)
    return codeOf(float(double(int64_t(codes.bits())) * 0x1p-63 * 11));
  if (op == ApproxOp::Lg2 && random % 4)
    return codeOf(0.4f + float(random >> 8) * 0x1p-23f);
  return uint32_t(codes.next(kF32));
}

bool isInteresting(uint32_t code) { return (code & 0x7FFFFFFF) < 0x7F800000; }

// The f32 nearest to the value.
TEST(Approx, ExactIsTheNearest) {
  HostFloatScope scope;
  for (ApproxOp op : kUnary) {
    Codes codes(31);
    for (int i = 0; i < fewerUnderAsan(300000); ++i) {
      uint32_t a = operandFor(op, codes);
      if (!isInteresting(a))
        continue;
      float expected = float(oracle(op, Oracle(asFloat(a))));
      if (std::isnan(expected))
        expected = asFloat(uint32_t(0x7FFFFFFF));
      ASSERT_EQ(evaluate({op, Type::F32}, {}, a, 0), codeOf(expected))
          << "op " << int(op) << " " << hex(a) << " " << asFloat(a);
    }
  }
}

// The hardest operands of sin and cos: multiples of pi/2, rounded to f32, and
// huge ones.
TEST(Approx, SinesOfEverySize) {
  HostFloatScope scope;
  const Oracle quarter = std::acos(Oracle(-1)) / 2;
  for (int i = 1; i < fewerUnderAsan(200000); ++i) {
    uint32_t near = codeOf(float(quarter * i));
    uint32_t huge = uint32_t(i) * 19937 % 0x7F800000;
    for (uint32_t a : {near, near ^ 0x80000000, huge, huge | 0x80000000})
      for (ApproxOp op : {ApproxOp::Sin, ApproxOp::Cos})
        ASSERT_EQ(evaluate({op, Type::F32}, {}, a, 0),
                  codeOf(float(oracle(op, Oracle(asFloat(a))))))
            << "op " << int(op) << " " << hex(a) << " " << asFloat(a);
  }
}

TEST(Approx, ExactIsTheNearestInF16AndBF16) {
  HostFloatScope scope;
  struct {
    Type type;
    FloatFormat format;
  } types[] = {{Type::F16, kF16}, {Type::BF16, kBF16}};
  for (const auto &[type, format] : types) {
    ValueTable table(format);
    for (ApproxOp op : {ApproxOp::Ex2, ApproxOp::Tanh}) {
      ApproxForm form{op, type, type == Type::BF16 && op == ApproxOp::Ex2};
      ASSERT_TRUE(exists(form));
      for (uint32_t code = 0; code < 0x10000; ++code) {
        uint32_t magnitude = code & 0x7FFF;
        if (magnitude > format.largest())
          continue;
        double x = table.value(code);
        if (form.ftz && magnitude <= format.fractionMask())
          x = 0;
        Oracle value = oracle(op, x);
        // What long double cannot hold is far beyond the format.
        value = std::fmin(value, Oracle(1e300));
        uint64_t expected =
            value == 0 ? code & 0x8000
                       : table.round(Quad(value), Rounding::NearestEven);
        if (op == ApproxOp::Ex2)
          expected &= 0x7FFF;
        if (form.ftz && (expected & 0x7FFF) <= format.fractionMask())
          expected &= 0x8000;
        ASSERT_EQ(evaluate(form, {}, code, 0), expected)
            << int(op) << " " << hex(code) << " " << x;
      }
    }
  }
}

TEST(Approx, Division) {
  HostFloatScope scope;
  Codes codes(32);
  for (int i = 0; i < fewerUnderAsan(300000); ++i) {
    auto a = uint32_t(codes.next(kF32)), b = uint32_t(codes.next(kF32));
    volatile float x = asFloat(a), y = asFloat(b);
    float quotient = x / y;
    uint32_t exact = std::isnan(quotient) ? 0x7FFFFFFF : codeOf(quotient);
    ASSERT_EQ(evaluate({ApproxOp::DivFull}, {}, a, b), exact);
    float divisor = std::fabs(y);
    uint32_t expected = exact;
    if (divisor > 0x1p126f && !std::isinf(divisor))
      expected = std::isinf(float(x)) || std::isnan(float(x))
                     ? 0x7FFFFFFF
                     : (a ^ b) & 0x80000000;
    ASSERT_EQ(evaluate({ApproxOp::Div}, {}, a, b), expected)
        << asFloat(a) << " / " << asFloat(b);
  }
}

// The tables of special operands in the ISA.
TEST(Approx, NamedResults) {
  HostFloatScope scope;
  const uint64_t zero = 0, minusZero = 0x80000000, inf = 0x7F800000,
                 minusInf = 0xFF800000, one = 0x3F800000, minusOne = 0xBF800000,
                 nan = 0x7FFFFFFF, subnormal = 0x00000100,
                 minusSubnormal = 0x80000100;
  struct {
    ApproxOp op;
    bool ftz;
    uint64_t operand, result;
  } rows[] = {
      {ApproxOp::Ex2, false, minusInf, zero},
      {ApproxOp::Ex2, false, inf, inf},
      {ApproxOp::Ex2, false, zero, one},
      {ApproxOp::Ex2, false, minusZero, one},
      {ApproxOp::Ex2, true, subnormal, one},
      {ApproxOp::Ex2, false, minusSubnormal, one},
      {ApproxOp::Ex2, false, nan, nan},
      {ApproxOp::Ex2, true, 0xC2FE0000, zero}, // -127
      {ApproxOp::Ex2, false, 0xC2FE0000, 0x00400000},
      {ApproxOp::Lg2, false, zero, minusInf},
      {ApproxOp::Lg2, false, minusZero, minusInf},
      {ApproxOp::Lg2, true, subnormal, minusInf},
      {ApproxOp::Lg2, true, minusSubnormal, minusInf},
      {ApproxOp::Lg2, false, minusSubnormal, nan},
      {ApproxOp::Lg2, false, minusOne, nan},
      {ApproxOp::Lg2, false, minusInf, nan},
      {ApproxOp::Lg2, false, inf, inf},
      {ApproxOp::Rcp, false, minusInf, minusZero},
      {ApproxOp::Rcp, false, minusZero, minusInf},
      {ApproxOp::Rcp, true, minusSubnormal, minusInf},
      {ApproxOp::Rcp, false, zero, inf},
      {ApproxOp::Rcp, false, inf, zero},
      {ApproxOp::Rcp, false, nan, nan},
      {ApproxOp::Rsqrt, false, minusInf, nan},
      {ApproxOp::Rsqrt, false, minusOne, nan},
      {ApproxOp::Rsqrt, false, minusZero, minusInf},
      {ApproxOp::Rsqrt, true, minusSubnormal, minusInf},
      {ApproxOp::Rsqrt, false, zero, inf},
      {ApproxOp::Rsqrt, false, inf, zero},
      {ApproxOp::Sqrt, false, minusInf, nan},
      {ApproxOp::Sqrt, false, minusOne, nan},
      {ApproxOp::Sqrt, false, minusZero, minusZero},
      {ApproxOp::Sqrt, true, minusSubnormal, minusZero},
      {ApproxOp::Sqrt, false, inf, inf},
      {ApproxOp::Sin, false, inf, nan},
      {ApproxOp::Sin, false, minusZero, minusZero},
      {ApproxOp::Sin, true, minusSubnormal, minusZero},
      {ApproxOp::Sin, false, minusSubnormal, minusSubnormal},
      {ApproxOp::Cos, false, minusInf, nan},
      {ApproxOp::Cos, false, minusZero, one},
      {ApproxOp::Cos, true, subnormal, one},
      {ApproxOp::Tanh, false, minusInf, minusOne},
      {ApproxOp::Tanh, false, inf, one},
      {ApproxOp::Tanh, false, minusZero, minusZero},
      {ApproxOp::Tanh, false, nan, nan},
  };
  for (const auto &[op, ftz, operand, result] : rows)
    for (bool perturb : {false, true}) {
      // sin of a subnormal is no named result.
      if (perturb && op == ApproxOp::Sin && operand == minusSubnormal && !ftz)
        continue;
      if (perturb && op == ApproxOp::Ex2 && !ftz && operand == 0xC2FE0000)
        continue;
      EXPECT_EQ(evaluate({op, Type::F32, ftz}, {perturb, 5}, operand, 0),
                result)
          << int(op) << (ftz ? " ftz " : " ") << hex(operand);
    }
  // tanh keeps subnormal operands.
  EXPECT_EQ(evaluate({ApproxOp::Tanh, Type::F16}, {}, 0x0001, 0), 0x0001u);
  EXPECT_EQ(evaluate({ApproxOp::Ex2, Type::BF16x2, true}, {}, 0x00017F80, 0),
            0x3F807F80u);
  // f64 gives upper halves.
  EXPECT_EQ(evaluate({ApproxOp::Rcp, Type::F64, true}, {}, codeOf(3.0), 0),
            0x3FD5555500000000u);
  EXPECT_EQ(evaluate({ApproxOp::Rsqrt, Type::F64}, {}, codeOf(0.25), 0),
            codeOf(2.0));
  EXPECT_EQ(evaluate({ApproxOp::Rcp, Type::F64, true}, {}, 1, 0),
            codeOf(HUGE_VAL));
}

TEST(Approx, ExistsAsTheIsaSays) {
  EXPECT_FALSE(exists({ApproxOp::Tanh, Type::F32, true}));
  EXPECT_TRUE(exists({ApproxOp::Tanh, Type::BF16x2}));
  EXPECT_FALSE(exists({ApproxOp::Ex2, Type::BF16}));
  EXPECT_TRUE(exists({ApproxOp::Ex2, Type::BF16, true}));
  EXPECT_FALSE(exists({ApproxOp::Ex2, Type::F16, true}));
  EXPECT_FALSE(exists({ApproxOp::Sin, Type::F16}));
  EXPECT_FALSE(exists({ApproxOp::Rcp, Type::F64}));
  EXPECT_TRUE(exists({ApproxOp::Rsqrt, Type::F64}));
  EXPECT_FALSE(ApproxRow::create({ApproxOp::Lg2, Type::F64}));
}

// Rows hold what single lanes give, at every level, in both modes.
TEST(Approx, RowsAreWhatLanesSay) {
  HostFloatScope scope;
  for (int opNumber = 0; opNumber <= int(ApproxOp::DivFull); ++opNumber)
    for (Type type : {Type::F16, Type::F16x2, Type::BF16, Type::BF16x2,
                      Type::F32, Type::F64})
      for (bool ftz : {false, true})
        for (bool perturb : {false, true})
          for (SimdLevel level : levels()) {
            auto op = ApproxOp(opNumber);
            ApproxForm form{op, type, ftz};
            ApproxMode mode{perturb, 77};
            auto row = ApproxRow::create(form, mode, level);
            ASSERT_EQ(row.has_value(), exists(form));
            if (!row)
              continue;
            Codes codes(33);
            for (int round = 0; round < 40; ++round) {
              LaneMask active = round % 2 ? LaneMask(codes.bits()) : kAllLanes;
              if (type == Type::F64) {
                uint64_t a[kLanes], d[kLanes] = {};
                for (uint64_t &code : a)
                  code = codes.next(kF64);
                (*row)(d, a, nullptr, active);
                for (int lane = 0; lane < kLanes; ++lane)
                  ASSERT_EQ(d[lane], (active >> lane) & 1
                                         ? evaluate(form, mode, a[lane], 0)
                                         : 0);
                continue;
              }
              uint32_t a[kLanes], b[kLanes], d[kLanes] = {};
              for (int lane = 0; lane < kLanes; ++lane) {
                a[lane] = type == Type::F32 ? operandFor(op, codes)
                                            : uint32_t(codes.bits());
                b[lane] = uint32_t(codes.next(kF32));
              }
              (*row)(d, a, b, active);
              for (int lane = 0; lane < kLanes; ++lane)
                ASSERT_EQ(d[lane], (active >> lane) & 1
                                       ? evaluate(form, mode, a[lane], b[lane])
                                       : 0)
                    << opNumber << " type " << int(type) << " " << nameOf(level)
                    << " " << hex(a[lane]);
            }
          }
}

/// The error of a result in the unit of its bound.
double errorOf(const ApproxBound &bound, const FloatFormat &format,
               Oracle result, Oracle value) {
  Oracle distance = std::fabs(result - value);
  switch (bound.kind) {
  case ErrorKind::Absolute:
    return double(distance);
  case ErrorKind::Relative:
    return double(distance / std::fabs(value));
  case ErrorKind::Ulp:
    break;
  }
  int exponent = std::max(std::ilogb(value), format.smallestExponent());
  return double(std::ldexp(distance, format.fractionBits - exponent));
}

// Both modes stay inside every bound; perturbed results reach close to it, on
// both sides, depend on the seed and on nothing else.
TEST(Approx, PerturbedResultsFillTheirBounds) {
  HostFloatScope scope;
  for (const ApproxBound &bound : approxBounds()) {
    const FloatFormat &format = bound.type == Type::F32   ? kF32
                                : bound.type == Type::F16 ? kF16
                                                          : kBF16;
    std::optional<ValueTable> table;
    if (format.bits() == 16)
      table.emplace(format);
    bool isDiv = bound.op == ApproxOp::Div || bound.op == ApproxOp::DivFull;
    ApproxForm form{bound.op, bound.type,
                    bound.type == Type::BF16 && bound.op == ApproxOp::Ex2};
    Codes codes(34);
    double lowest = 0, highest = 0, nearest = 0;
    int seen = 0, differ = 0, otherSeed = 0;
    for (int i = 0; i < 60000; ++i) {
      uint32_t a = format.bits() == 16 ? uint32_t(codes.next(format))
                                       : operandFor(bound.op, codes),
               b = uint32_t(codes.next(kF32));
      auto valueOf = [&](uint64_t code) {
        return table ? Oracle(table->value(code))
                     : Oracle(asFloat(uint32_t(code)));
      };
      if (table ? (a & 0x7FFF) > format.largest() : !isInteresting(a))
        continue;
      if (isDiv && (!isInteresting(b) || (a & 0x7FFFFFFF) == 0))
        continue;
      Oracle x = valueOf(a);
      double operand = isDiv ? double(asFloat(b)) : double(x);
      if (form.ftz && (a & 0x7FFF) <= format.fractionMask())
        continue;
      if (boundFor(form, operand) != &bound)
        continue;
      Oracle value = isDiv ? x / asFloat(b) : oracle(bound.op, x);
      // Beyond the format's ends no result is close enough, and below its
      // normal numbers none is relative to the value.
      int lowestExponent = format.smallestExponent();
      if (bound.kind == ErrorKind::Ulp)
        lowestExponent -= format.fractionBits;
      bool isInRange =
          std::fabs(value) >= std::ldexp(Oracle(1), lowestExponent) &&
          std::fabs(value) < std::ldexp(Oracle(1), format.bias());
      if (!isInRange && bound.kind != ErrorKind::Absolute)
        continue;
      if (form.ftz && std::fabs(value) < 0x1p-126)
        continue;
      uint64_t exact = evaluate(form, {}, a, b),
               perturbed = evaluate(form, {true, 1}, a, b);
      if (std::isnan(double(value)))
        continue;
      ASSERT_EQ(perturbed, evaluate(form, {true, 1}, a, b));
      otherSeed += perturbed != evaluate(form, {true, 2}, a, b);
      ++seen;
      differ += exact != perturbed;
      nearest =
          std::max(nearest, errorOf(bound, format, valueOf(exact), value));
      double error = errorOf(bound, format, valueOf(perturbed), value);
      ASSERT_LE(error, bound.error)
          << int(bound.op) << " " << bound.text << " " << hex(a);
      (valueOf(perturbed) < value ? lowest : highest) =
          std::max(valueOf(perturbed) < value ? lowest : highest, error);
    }
    std::string where = std::to_string(int(bound.op)) + " type " +
                        std::to_string(int(bound.type)) + " " + bound.text;
    EXPECT_GT(seen, 1000) << where;
    EXPECT_LE(nearest, bound.error) << where;
    // sqrt's bound leaves one neighbour at most, and tanh in f16 few.
    EXPECT_GT(differ, seen / 20) << where;
    EXPECT_GT(otherSeed, seen / 20) << where;
    EXPECT_GT(lowest, bound.error * 0.9) << where;
    EXPECT_GT(highest, bound.error * 0.9) << where;
  }
}

// The README's table of bounds is the one in use.
TEST(Approx, ReadmeSaysTheBounds) {
  std::ifstream file(KVC_TEST_NUMERICS_README);
  std::stringstream text;
  text << file.rdbuf();
  const char *names[] = {"ex2", "lg2", "rcp",  "rsqrt", "sqrt",
                         "sin", "cos", "tanh", "div",   "div.full"};
  std::string table;
  for (const ApproxBound &bound : approxBounds()) {
    std::stringstream row;
    row << "| " << names[int(bound.op)] << " | "
        << (bound.type == Type::F32   ? "f32"
            : bound.type == Type::F16 ? "f16"
                                      : "bf16")
        << " | ";
    if (std::isfinite(bound.high))
      row << bound.low << " .. " << bound.high;
    else
      row << "all";
    const char *kinds[] = {"ulp", "relative", "absolute"};
    row << " | " << bound.text << " " << kinds[int(bound.kind)] << " |\n";
    table += row.str();
    // The text is the number, or a little more.
    std::string power = bound.text;
    double stated = power.starts_with("2^")
                        ? std::exp2(std::stod(power.substr(2)))
                        : std::stod(power);
    EXPECT_LE(bound.error, stated);
    EXPECT_GE(bound.error, stated * (1 - 1e-5));
  }
  EXPECT_NE(text.str().find("|---|---|---|---|\n" + table + "\n"),
            std::string::npos)
      << table;
}

} // namespace
