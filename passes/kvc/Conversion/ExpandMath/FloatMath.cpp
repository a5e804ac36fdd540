//===- FloatMath.cpp - Float functions as polynomials ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Coefficients are minimax fits (Remez, relative error of the function) rounded
// to f32; the error of each fit stands beside it.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/ExpandMath/FloatMath.h"
#include "kvc/Conversion/ExpandMath/Shaped.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

#include <array>

using namespace mlir;

namespace kvc::floatmath {
namespace {

/// 1.5 * 2^23: adding it rounds to an integer.
constexpr float kRound = 12582912.0f;
constexpr float kLog2E = 1.442695041f;
/// ln 2 = high + low. high has few enough bits for n * high to be exact up to
/// |n| = 256.
constexpr float kLn2High = 0.693145752f, kLn2Low = 1.42860677e-6f;
/// (2^f - 1) / f on [-1/2, 1/2]: 4e-9 of 2^f.
constexpr std::array<float, 6> kExp2 = {0.693147242f,   0.240226507f,
                                        0.0555029735f,  0.00961803086f,
                                        0.00134100008f, 0.000154697322f};
/// (log((1+s)/(1-s)) - 2s) / s^3 in s^2: 8e-10.
constexpr std::array<float, 3> kLog = {0.666667759f, 0.399775267f,
                                       0.298721522f};
/// (tanh x - x) / x^3 in x^2 on [0, 0.65]: 6e-9.
constexpr std::array<float, 5> kTanh = {-0.333332628f, 0.133308992f,
                                        -0.0536929667f, 0.0204833169f,
                                        -0.00552863395f};

/// 1.5 * 2^52: the same for f64.
constexpr double kRound64 = 6755399441055744.0;
/// 2 / pi = high + low. high has 29 bits, so its product with an f32 is exact.
constexpr double kTwoByPi = 0x1.45f306dc9c883p-1, kTwoByPiHigh = 0x1.45f306dp-1,
                 kTwoByPiLow = 0x1.9391054a7f09dp-30;
/// sin(pi/2 r) / r and cos(pi/2 r) in r^2 for |r| <= 1/2: 3e-8, 5e-8 absolute.
constexpr std::array<float, 4> kSin = {1.5707962513f, -0.6459629536f,
                                       0.0796758905f, -0.0045922539f};
constexpr std::array<float, 4> kCos = {1.0f, -1.2336970568f, 0.2535986006f,
                                       -0.0204081722f};

/// x rounded to an integer, as a float and, in the low bits, as an integer.
/// |x| < 2^22.
std::pair<Value, Value> nearestInt(const Shaped &s, Value x) {
  Value shifted = s.add(x, s.f(kRound));
  return {s.sub(shifted, s.f(kRound)), s.toInt(shifted)};
}

/// 2^n * 2^f for an integer n given in the low bits of `n` and f in [-1/2,
/// 1/2]. `exponent` is n + f, which decides where the ends of the range are.
Value scaleByPowerOfTwo(const Shaped &s, Value f, Value n, Value exponent) {
  Value power = s.fma(s.poly(f, kExp2), f, s.f(1.0f));
  Value result = s.toFloat(s.addi(s.toInt(power), s.shl(n, 23)));
  // Unordered compares are false for NaN, which the polynomial has passed on.
  result = s.select(s.cmp(arith::CmpFPredicate::OLT, exponent, s.f(-126.0f)),
                    s.f(0.0f), result);
  return s.select(s.cmp(arith::CmpFPredicate::OGE, exponent, s.f(128.0f)),
                  s.bits(0x7f800000), result);
}

/// x = 2^e * m with m in [sqrt(1/2), sqrt(2)); returns (e, log m) for positive,
/// finite x.
std::pair<Value, Value> splitLog(const Shaped &s, Value x) {
  Value tiny = s.cmp(arith::CmpFPredicate::OLT, x, s.bits(0x00800000));
  Value normal = s.select(tiny, s.mul(x, s.f(8388608.0f)), x);
  // Subtracting the bits of sqrt(1/2) makes the exponent field floor(log2(x *
  // sqrt 2)).
  Value offset = s.subi(s.toInt(normal), s.i(0x3f3504f3));
  Value exponent = arith::ShRSIOp::create(s.b, offset, s.i(23));
  Value m = s.toFloat(s.subi(s.toInt(normal), s.shl(exponent, 23)));
  Value e = arith::SIToFPOp::create(s.b, s.f32(), exponent);
  e = s.select(tiny, s.sub(e, s.f(23.0f)), e);
  Value f = s.sub(m, s.f(1.0f));
  Value t = s.div(f, s.add(f, s.f(2.0f)));
  Value z = s.mul(t, t);
  // log m = 2t + t^3 p(t^2), written as f - t * (f - z * p) to keep the bits of
  // f.
  Value zp = s.mul(z, s.poly(z, kLog));
  return {e, s.sub(f, s.mul(t, s.sub(f, zp)))};
}

/// x = (n + r) * pi/2 with |r| <= 1/2: r as f32, n modulo 4 in the low bits of
/// an i32.
std::pair<Value, Value> reduceQuarters(const Shaped &s, Value x) {
  ImplicitLocOpBuilder &b = s.b;
  Type f64 = s.typeOf(b.getF64Type());
  auto constant = [&](double value) {
    return s.constant(f64, b.getF64FloatAttr(value));
  };
  Value wide = arith::ExtFOp::create(b, f64, x);
  Value shifted = s.add(s.mul(wide, constant(kTwoByPi)), constant(kRound64));
  Value n = s.sub(shifted, constant(kRound64));
  Value rest = s.add(s.sub(s.mul(wide, constant(kTwoByPiHigh)), n),
                     s.mul(wide, constant(kTwoByPiLow)));
  Value bits = arith::BitcastOp::create(b, s.typeOf(b.getI64Type()), shifted);
  return {arith::TruncFOp::create(b, s.f32(), rest),
          arith::TruncIOp::create(b, s.i32(), bits)};
}

/// sin((quarters + r) * pi/2).
Value sineOf(const Shaped &s, Value r, Value quarters) {
  Value z = s.mul(r, r);
  Value isOdd = s.cmp(arith::CmpIPredicate::ne, s.andi(quarters, 1), s.i(0));
  Value magnitude = s.select(isOdd, s.poly(z, kCos), s.mul(r, s.poly(z, kSin)));
  Value sign = s.shl(s.andi(quarters, 2), 30);
  return s.toFloat(
      arith::XOrIOp::create(s.b, s.toInt(magnitude), sign).getResult());
}

/// The ends of a logarithm's domain.
Value logEnds(const Shaped &s, Value x, Value result) {
  result = s.select(s.cmp(arith::CmpFPredicate::OEQ, x, s.bits(0x7f800000)), x,
                    result);
  result = s.select(s.cmp(arith::CmpFPredicate::OEQ, x, s.f(0.0f)),
                    s.bits(0xff800000), result);
  return s.select(s.cmp(arith::CmpFPredicate::UGE, x, s.f(0.0f)),
                  s.select(s.cmp(arith::CmpFPredicate::UNO, x, x), x, result),
                  s.bits(0x7fc00000));
}

} // namespace

Value exp2(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  auto [n, bits] = nearestInt(s, x);
  return scaleByPowerOfTwo(s, s.sub(x, n), bits, x);
}

Value exp(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  Value exponent = s.mul(x, s.f(kLog2E));
  auto [n, bits] = nearestInt(s, exponent);
  Value rest = s.sub(s.sub(x, s.mul(n, s.f(kLn2High))), s.mul(n, s.f(kLn2Low)));
  return scaleByPowerOfTwo(s, s.mul(rest, s.f(kLog2E)), bits, exponent);
}

Value log2(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  auto [e, logM] = splitLog(s, x);
  return logEnds(s, x, s.fma(logM, s.f(kLog2E), e));
}

Value log(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  auto [e, logM] = splitLog(s, x);
  return logEnds(
      s, x,
      s.add(s.mul(e, s.f(kLn2High)), s.add(s.mul(e, s.f(kLn2Low)), logM)));
}

Value tanh(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  Value magnitude = s.abs(x);
  Value z = s.mul(x, x);
  Value small = s.fma(s.mul(z, s.poly(z, kTanh)), magnitude, magnitude);
  // From 10 on the result is 1 to the last bit; the bound keeps e^2x finite.
  Value bounded =
      s.select(s.cmp(arith::CmpFPredicate::OGT, magnitude, s.f(10.0f)),
               s.f(10.0f), magnitude);
  Value power = exp2(b, s.mul(bounded, s.f(2.0f * kLog2E)));
  Value large = s.sub(s.f(1.0f), s.div(s.f(2.0f), s.add(power, s.f(1.0f))));
  Value result = s.select(
      s.cmp(arith::CmpFPredicate::OLT, magnitude, s.f(0.625f)), small, large);
  return s.toFloat(s.ori(s.toInt(result), s.signBits(x)));
}

Value sin(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  auto [r, quarters] = reduceQuarters(s, x);
  return sineOf(s, r, quarters);
}

Value cos(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  auto [r, quarters] = reduceQuarters(s, x);
  return sineOf(s, r, s.addi(quarters, s.i(1)));
}

Value roundEven(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  Value magnitude = s.abs(x);
  Value two23 = s.f(8388608.0f);
  Value rounded = s.sub(s.add(magnitude, two23), two23);
  Value small = s.cmp(arith::CmpFPredicate::OLT, magnitude, two23);
  return s.select(small, s.toFloat(s.ori(s.toInt(rounded), s.signBits(x))), x);
}

Value floor(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  Value nearest = roundEven(b, x);
  Value above = s.cmp(arith::CmpFPredicate::OGT, nearest, x);
  return s.select(above, s.sub(nearest, s.f(1.0f)), nearest);
}

Value ceil(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  Value nearest = roundEven(b, x);
  Value below = s.cmp(arith::CmpFPredicate::OLT, nearest, x);
  // The sign survives in ceil(-0.5) = -0.
  Value result = s.select(below, s.add(nearest, s.f(1.0f)), nearest);
  return s.toFloat(s.ori(s.toInt(result), s.signBits(x)));
}

Value f16ToF32(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  Value half = arith::ExtUIOp::create(b, s.i32(),
                                      arith::BitcastOp::create(b, s.i16(), x));
  Value sign = s.shl(s.andi(half, 0x8000), 16);
  Value magnitude = s.shl(s.andi(half, 0x7fff), 13);
  Value exponent = s.andi(magnitude, 0x0f800000);
  Value normal = s.addi(magnitude, s.i((127 - 15) << 23));
  Value special = s.addi(normal, s.i((128 - 16) << 23));
  // A subnormal is mantissa * 2^-24: put it under an implicit one, take that
  // off.
  Value oneAbove = s.toFloat(s.addi(magnitude, s.i((127 - 14) << 23)));
  Value subnormal = s.toInt(s.sub(oneAbove, s.bits((127 - 14) << 23)));
  Value bits =
      s.select(s.cmp(arith::CmpIPredicate::eq, exponent, s.i(0x0f800000)),
               special, normal);
  bits = s.select(s.cmp(arith::CmpIPredicate::eq, exponent, s.i(0)), subnormal,
                  bits);
  return s.toFloat(s.ori(bits, sign));
}

Value f32ToF16(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  Value sign = s.shr(s.signBits(x), 16);
  Value magnitude = s.andi(s.toInt(x), 0x7fffffff);
  // Rounds at bit 13, ties to even; a carry into the exponent is right as it
  // is.
  Value odd = s.andi(s.shr(magnitude, 13), 1);
  Value normal = s.shr(
      s.addi(s.addi(magnitude, s.i(static_cast<int32_t>(0xc8000fffu))), odd),
      13);
  // Under 2^-14 the float adder rounds: the sum's last bit is 2^-24.
  constexpr uint32_t kHalf = (127 - 15 + 23 - 10 + 1) << 23;
  Value subnormal =
      s.subi(s.toInt(s.add(s.toFloat(magnitude), s.bits(kHalf))), s.i(kHalf));
  Value isNaN = s.cmp(arith::CmpIPredicate::sgt, magnitude, s.i(0x7f800000));
  Value special = s.select(isNaN, s.i(0x7e00), s.i(0x7c00));
  Value bits = s.select(
      s.cmp(arith::CmpIPredicate::slt, magnitude, s.i((127 - 14) << 23)),
      subnormal, normal);
  bits = s.select(
      s.cmp(arith::CmpIPredicate::sge, magnitude, s.i((127 + 16) << 23)),
      special, bits);
  Value half = arith::TruncIOp::create(b, s.i16(), s.ori(bits, sign));
  return arith::BitcastOp::create(b, s.typeOf(b.getF16Type()), half);
}

Value bf16ToF32(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  Value bits = arith::ExtUIOp::create(b, s.i32(),
                                      arith::BitcastOp::create(b, s.i16(), x));
  return s.toFloat(s.shl(bits, 16));
}

Value f32ToBF16(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  Value bits = s.toInt(x);
  Value odd = s.andi(s.shr(bits, 16), 1);
  Value rounded = s.shr(s.addi(s.addi(bits, s.i(0x7fff)), odd), 16);
  Value quiet = s.ori(s.shr(bits, 16), s.i(0x40));
  Value result =
      s.select(s.cmp(arith::CmpFPredicate::UNO, x, x), quiet, rounded);
  return arith::BitcastOp::create(b, s.typeOf(b.getBF16Type()),
                                  arith::TruncIOp::create(b, s.i16(), result));
}

Value clampToFinite(ImplicitLocOpBuilder &b, Value x, Type element) {
  if (!element.isF16() && !element.isBF16())
    return x;
  Shaped s(b, x);
  Value largest = element.isF16() ? s.f(65504.0f) : s.bits(0x7f7f0000);
  Value smallest = element.isF16() ? s.f(-65504.0f) : s.bits(0xff7f0000);
  x = s.select(s.cmp(arith::CmpFPredicate::OGT, x, largest), largest, x);
  return s.select(s.cmp(arith::CmpFPredicate::OLT, x, smallest), smallest, x);
}

Value roundTo(ImplicitLocOpBuilder &b, Value x, Type element) {
  if (element.isF32())
    return x;
  Shaped s(b, x);
  Value narrow = arith::TruncFOp::create(b, s.typeOf(element),
                                         clampToFinite(b, x, element));
  return arith::ExtFOp::create(b, x.getType(), narrow);
}

} // namespace kvc::floatmath
