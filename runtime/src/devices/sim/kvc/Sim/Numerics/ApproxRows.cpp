//===- ApproxRows.cpp - Elementary functions, per level -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The functions' values in f64, from additions, multiplications, divisions and
// square roots alone, so that every machine has the same bits. SinCos.cpp has
// the two that are not here.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/Lanes.h"
#include "kvc/Sim/Numerics/Levels.h"
#include "kvc/Sim/Numerics/SinCos.h"

namespace kvc::sim::KVC_SIM_LEVEL {

namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
/// ln 2 in a part with zeros at its end and a rest.
constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;

/// Adding and taking away this leaves the nearest integer; in between it lies
/// in the lowest bits.
constexpr double kRoundingMagic = 0x1.8p52;

/// e^z - 1 for |z| <= 0.35, by its series, to a few units of 2^-53 of itself.
inline double expm1Near0(double z) {
  double sum = 1.0 / 6227020800.0; // 1 / 13!
  sum = sum * z + 1.0 / 479001600.0;
  sum = sum * z + 1.0 / 39916800.0;
  sum = sum * z + 1.0 / 3628800.0;
  sum = sum * z + 1.0 / 362880.0;
  sum = sum * z + 1.0 / 40320.0;
  sum = sum * z + 1.0 / 5040.0;
  sum = sum * z + 1.0 / 720.0;
  sum = sum * z + 1.0 / 120.0;
  sum = sum * z + 1.0 / 24.0;
  sum = sum * z + 1.0 / 6.0;
  sum = sum * z + 0.5;
  return z + z * z * sum;
}

/// 2^n for the integer that lies in the lowest bits of `magic`, |n| < 1000.
inline double powerOfTwo(double magic) {
  return toFloat((toCode(magic) << 52) + toCode(1.0));
}

inline double ex2(double x) {
  // Beyond this every format has 0 or infinity.
  x = x < -300.0 ? -300.0 : x;
  x = x > 300.0 ? 300.0 : x;
  double magic = x + kRoundingMagic;
  double rest = x - (magic - kRoundingMagic);
  double power = powerOfTwo(magic);
  return power + power * expm1Near0(rest * kLn2);
}

/// Of a number that is normal in f64.
inline double lg2(double x) {
  uint64_t code = toCode(x);
  // The mantissa between sqrt(1/2) and sqrt(2), so that logarithms near 0 come
  // from it alone.
  uint64_t fraction = code & 0xFFFFFFFFFFFFF;
  uint64_t isHigh = fraction > 0x6A09E667F3BCC ? 1 : 0;
  double mantissa = toFloat(fraction | (uint64_t(1023) - isHigh) << 52);
  // An integer below 2^52 to f64, without a conversion that levels lack.
  double exponent =
      toFloat(toCode(0x1p52) | ((code >> 52) + isHigh)) - (0x1p52 + 1023.0);
  double s = (mantissa - 1.0) / (mantissa + 1.0), z = s * s;
  double sum = 1.0 / 21.0;
  sum = sum * z + 1.0 / 19.0;
  sum = sum * z + 1.0 / 17.0;
  sum = sum * z + 1.0 / 15.0;
  sum = sum * z + 1.0 / 13.0;
  sum = sum * z + 1.0 / 11.0;
  sum = sum * z + 1.0 / 9.0;
  sum = sum * z + 1.0 / 7.0;
  sum = sum * z + 1.0 / 5.0;
  sum = sum * z + 1.0 / 3.0;
  double logarithm = (s + s * (z * sum)) * (2.0 / kLn2);
  double result = exponent + logarithm;
  result = x > 0x1p1000 ? x : result; // Infinity.
  result = x == 0.0 ? -__builtin_inf() : result;
  return x >= 0.0 ? result : __builtin_nan("");
}

/// By e^(2|x|) - 1, which keeps small results relative to themselves.
inline double tangent(double x) {
  double magnitude = toFloat(toCode(x) & ~(uint64_t(1) << 63));
  double twice = magnitude > 30.0 ? 60.0 : magnitude * 2.0;
  double magic = twice * (1.0 / kLn2) + kRoundingMagic;
  double n = magic - kRoundingMagic;
  double rest = (twice - n * kLn2High) - n * kLn2Low;
  double power = powerOfTwo(magic);
  double expm1 = (power - 1.0) + power * expm1Near0(rest);
  double result = expm1 / (expm1 + 2.0);
  return toFloat(toCode(result) | (toCode(x) & uint64_t(1) << 63));
}

inline double reciprocal(double x) { return 1.0 / x; }
inline double squareRoot(double x) { return __builtin_sqrt(x); }
inline double inverseRoot(double x) { return 1.0 / __builtin_sqrt(x); }

/// The ISA: for divisors beyond 2^126 an infinite dividend gives NaN, others 0.
inline double quickQuotient(double a, double b) {
  double exact = a / b;
  double magnitude = toFloat(toCode(b) & ~(uint64_t(1) << 63));
  bool isHuge = magnitude > 0x1p126 && magnitude < 0x1p128;
  double huge = (a - a) * (1.0 / b); // NaN for infinities, else 0.
  uint64_t sign = (toCode(a) ^ toCode(b)) & uint64_t(1) << 63;
  huge = huge == 0.0 ? toFloat(sign) : huge;
  return isHuge ? huge : exact;
}
inline double quotient(double a, double b) { return a / b; }

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

template <double (*function)(double), bool ftz>
void rowF32(void *d, const void *a, const void *) {
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t code = static_cast<const uint32_t *>(a)[lane];
    double value = function(double(toFloat(flushF32<ftz>(code))));
    static_cast<uint32_t *>(d)[lane] = finishF32<ftz, false>(float(value));
  }
}

template <int quarters, bool ftz>
void sineRow(void *d, const void *a, const void *) {
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t code = static_cast<const uint32_t *>(a)[lane];
    double value =
        sinAfterQuarters(double(toFloat(flushF32<ftz>(code))), quarters);
    static_cast<uint32_t *>(d)[lane] = finishF32<ftz, false>(float(value));
  }
}

template <double (*function)(double, double), bool ftz>
void divRowF32(void *d, const void *a, const void *b) {
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t x = static_cast<const uint32_t *>(a)[lane];
    uint32_t y = static_cast<const uint32_t *>(b)[lane];
    double value = function(double(toFloat(flushF32<ftz>(x))),
                            double(toFloat(flushF32<ftz>(y))));
    static_cast<uint32_t *>(d)[lane] = finishF32<ftz, false>(float(value));
  }
}

template <double (*function)(double), bool packed>
void rowF16(void *d, const void *a, const void *) {
  auto apply = [](uint32_t code) {
    double value = function(double(widenF16(code)));
    return narrowToF16(narrowToOddF32(value));
  };
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t codes = static_cast<const uint32_t *>(a)[lane];
    uint32_t result = apply(codes & 0xFFFF);
    if constexpr (packed)
      result |= apply(codes >> 16) << 16;
    static_cast<uint32_t *>(d)[lane] = result;
  }
}

ApproxRowFn findF32(const ApproxForm &form) {
  const bool ftz = form.ftz;
  switch (form.op) {
  case ApproxOp::Ex2:
    return ftz ? rowF32<ex2, true> : rowF32<ex2, false>;
  case ApproxOp::Lg2:
    return ftz ? rowF32<lg2, true> : rowF32<lg2, false>;
  case ApproxOp::Rcp:
    return ftz ? rowF32<reciprocal, true> : rowF32<reciprocal, false>;
  case ApproxOp::Rsqrt:
    return ftz ? rowF32<inverseRoot, true> : rowF32<inverseRoot, false>;
  case ApproxOp::Sqrt:
    return ftz ? rowF32<squareRoot, true> : rowF32<squareRoot, false>;
  case ApproxOp::Tanh:
    return rowF32<tangent, false>;
  case ApproxOp::Div:
    return ftz ? divRowF32<quickQuotient, true>
               : divRowF32<quickQuotient, false>;
  case ApproxOp::DivFull:
    return ftz ? divRowF32<quotient, true> : divRowF32<quotient, false>;
  case ApproxOp::Sin:
    return ftz ? sineRow<0, true> : sineRow<0, false>;
  case ApproxOp::Cos:
    return ftz ? sineRow<1, true> : sineRow<1, false>;
  }
  return nullptr;
}

} // namespace

double approxValue(ApproxOp op, double a, double b) {
  switch (op) {
  case ApproxOp::Ex2:
    return ex2(a);
  case ApproxOp::Lg2:
    return lg2(a);
  case ApproxOp::Rcp:
    return reciprocal(a);
  case ApproxOp::Rsqrt:
    return inverseRoot(a);
  case ApproxOp::Sqrt:
    return squareRoot(a);
  case ApproxOp::Tanh:
    return tangent(a);
  case ApproxOp::Div:
    return quickQuotient(a, b);
  case ApproxOp::DivFull:
    return quotient(a, b);
  case ApproxOp::Sin:
  case ApproxOp::Cos:
    break;
  }
  return __builtin_nan("");
}

ApproxRowFn findApproxRow(const ApproxForm &form) {
  bool isEx2 = form.op == ApproxOp::Ex2;
  switch (form.type) {
  case Type::F32:
    return findF32(form);
  case Type::F16:
    return isEx2 ? rowF16<ex2, false> : rowF16<tangent, false>;
  case Type::F16x2:
    return isEx2 ? rowF16<ex2, true> : rowF16<tangent, true>;
  default:
    return nullptr;
  }
}

} // namespace kvc::sim::KVC_SIM_LEVEL
