//===- FloatCodes.cpp - Small floats and powers of two --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/ExpandMath/FloatCodes.h"

#include "kvc/Conversion/ExpandMath/Shaped.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc::floatmath {

namespace {

constexpr int kBias = 127, kMantissa = 23;

/// The f32 bits of 2^exponent, a normal number.
constexpr int32_t bitsOfPower(int exponent) {
  return (exponent + kBias) << kMantissa;
}

} // namespace

Value encodeFloat(ImplicitLocOpBuilder &b, Value x,
                  const spec::FloatFormat &format) {
  Shaped s(b, x);
  const int dropped = kMantissa - format.mantissaBits;
  Value magnitude = s.andi(s.toInt(x), INT32_MAX);
  // A carry into the exponent is right as it is.
  Value odd = s.andi(s.shr(magnitude, dropped), 1);
  Value rounded = s.addi(s.addi(magnitude, s.i((1 << (dropped - 1)) - 1)), odd);
  Value normal = s.subi(s.shr(rounded, dropped),
                        s.i((kBias - format.bias) << format.mantissaBits));
  // Subnormals: the float adder rounds to the format's last bit.
  const int32_t adder =
      bitsOfPower(kMantissa + 1 - format.bias - format.mantissaBits);
  Value subnormal = s.subi(
      s.toInt(s.add(s.toFloat(magnitude), s.toFloat(s.i(adder)))), s.i(adder));
  Value isSmall = s.cmp(arith::CmpIPredicate::slt, magnitude,
                        s.i(bitsOfPower(1 - format.bias)));
  Value code = s.select(isSmall, subnormal, normal);
  code = arith::MinSIOp::create(b, code, s.i(int32_t(format.largestCode)));
  Value sign =
      s.shr(s.signBits(x), 31 - format.exponentBits - format.mantissaBits);
  return arith::TruncIOp::create(b, s.typeOf(b.getI8Type()), s.ori(code, sign));
}

Value decodeFloat(ImplicitLocOpBuilder &b, Value code,
                  const spec::FloatFormat &format) {
  Shaped s(b, code);
  const int signBit = format.exponentBits + format.mantissaBits;
  Value bits = arith::ExtUIOp::create(b, s.i32(), code);
  Value magnitude =
      s.shl(s.andi(bits, (1 << signBit) - 1), kMantissa - format.mantissaBits);
  Value normal = s.addi(magnitude, s.i((kBias - format.bias) << kMantissa));
  // A subnormal is mantissa * 2^(1 - bias): put it under an implicit one, take
  // that off.
  Value one = s.i(bitsOfPower(1 - format.bias));
  Value subnormal =
      s.toInt(s.sub(s.toFloat(s.addi(magnitude, one)), s.toFloat(one)));
  Value isSmall =
      s.cmp(arith::CmpIPredicate::slt, magnitude, s.i(int32_t(1) << kMantissa));
  Value sign = s.shl(s.andi(bits, 1 << signBit), 31 - signBit);
  return s.toFloat(s.ori(s.select(isSmall, subnormal, normal), sign));
}

Value powerOfTwo(ImplicitLocOpBuilder &b, Value x, int64_t smallest,
                 int64_t largest, int64_t offset, bool down) {
  Shaped s(b, x);
  // Subnormals become normal; larger values have room for it too.
  constexpr int kLift = 64;
  Value isSmall = s.cmp(arith::CmpFPredicate::OLT, x, s.f(1.0f));
  Value bits = s.toInt(
      s.select(isSmall, s.mul(x, s.toFloat(s.i(bitsOfPower(kLift)))), x));
  // Up: to the next one where any bit of the mantissa is set.
  if (!down)
    bits = s.addi(bits, s.i((1 << kMantissa) - 1));
  Value exponent = s.addi(s.shr(bits, kMantissa), s.i(int32_t(offset) - kBias));
  exponent = s.select(isSmall, s.subi(exponent, s.i(kLift)), exponent);
  exponent = arith::MaxSIOp::create(b, exponent, s.i(int32_t(smallest)));
  exponent = arith::MinSIOp::create(b, exponent, s.i(int32_t(largest)));
  // Below 2^-126 the power is a bit of the mantissa.
  Value normal = s.shl(s.addi(exponent, s.i(kBias)), kMantissa);
  Value place = s.addi(exponent, s.i(kBias + kMantissa - 1));
  place = arith::MaxSIOp::create(b, place, s.i(0));
  place = arith::MinSIOp::create(b, place, s.i(kMantissa));
  Value subnormal = arith::ShLIOp::create(b, s.i(1), place);
  Value isNormal = s.cmp(arith::CmpIPredicate::sgt, exponent, s.i(-kBias));
  Value power = s.toFloat(s.select(isNormal, normal, subnormal));
  return s.select(s.cmp(arith::CmpFPredicate::OEQ, x, s.f(0.0f)), x, power);
}

/// One of `entries`, by the bits of `code`.
static Value choose(ImplicitLocOpBuilder &b, Value code,
                    SmallVector<Value> entries) {
  Shaped s(b, code);
  Value bits = arith::ExtUIOp::create(b, s.i32(), code);
  // The lowest bit halves the candidates first.
  for (int bit = 0; entries.size() > 1; ++bit) {
    Value isSet =
        s.cmp(arith::CmpIPredicate::ne, s.andi(bits, 1 << bit), s.i(0));
    SmallVector<Value> half;
    for (size_t i = 0; i < entries.size(); i += 2)
      half.push_back(s.select(isSet, entries[i + 1], entries[i]));
    entries = std::move(half);
  }
  return entries.front();
}

/// Number i of a vector in all elements of a shape.
static Value entryOf(const Shaped &s, Value vector, int64_t i) {
  Value entry = vector::ExtractOp::create(s.b, vector, i);
  auto shaped = dyn_cast<VectorType>(s.f32());
  return shaped ? vector::BroadcastOp::create(s.b, shaped, entry).getResult()
                : entry;
}

static int64_t lanesOf(Value vector) {
  return cast<VectorType>(vector.getType()).getDimSize(0);
}

Value lookup(ImplicitLocOpBuilder &b, Value code, ArrayRef<float> table) {
  Shaped s(b, code);
  SmallVector<Value> entries;
  for (float entry : table)
    entries.push_back(s.f(entry));
  return choose(b, code, std::move(entries));
}

Value lookup(ImplicitLocOpBuilder &b, Value code, Value table) {
  Shaped s(b, code);
  SmallVector<Value> entries;
  for (int64_t i = 0; i < lanesOf(table); ++i)
    entries.push_back(entryOf(s, table, i));
  return choose(b, code, std::move(entries));
}

Value nearest(ImplicitLocOpBuilder &b, Value x, Value thresholds, Value codes) {
  Shaped s(b, x);
  Value code = entryOf(s, codes, 0);
  for (int64_t i = 0; i + 1 < lanesOf(thresholds); ++i)
    code =
        s.select(s.cmp(arith::CmpFPredicate::OGT, x, entryOf(s, thresholds, i)),
                 entryOf(s, codes, i + 1), code);
  return arith::FPToSIOp::create(b, s.typeOf(b.getI8Type()), code);
}

Value decodeE8M0(ImplicitLocOpBuilder &b, Value byte) {
  Shaped s(b, byte);
  Value exponent = arith::ExtUIOp::create(b, s.i32(), byte);
  // 2^-127 is a bit of the mantissa.
  Value isLowest = s.cmp(arith::CmpIPredicate::eq, exponent, s.i(0));
  return s.toFloat(s.select(isLowest, s.i(1 << (kMantissa - 1)),
                            s.shl(exponent, kMantissa)));
}

Value encodeE8M0(ImplicitLocOpBuilder &b, Value x) {
  Shaped s(b, x);
  return arith::TruncIOp::create(b, s.typeOf(b.getI8Type()),
                                 s.shr(s.toInt(x), kMantissa));
}

} // namespace kvc::floatmath
