//===- Convert.cpp - The conversions of cvt -------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/Convert.h"

#include "kvc/Sim/Numerics/Exact.h"
#include "kvc/Sim/Numerics/HostFloat.h"
#include "kvc/Sim/Numerics/Levels.h"

#include <algorithm>
#include <array>
#include <cassert>

using namespace kvc::sim;

//===----------------------------------------------------------------------===//
// Types as conversions see them
//===----------------------------------------------------------------------===//

namespace {

enum class Class : uint8_t { None, Integer, Float, Pair, Scales };

struct Side {
  Class kind = Class::None;
  /// Bits of an integer, or of the place of one value of a pair.
  int bits = 0;
  bool isSigned = false;
  const FloatFormat *format = nullptr; ///< Of Float and Pair.
};

Side sideOf(Type type) {
  switch (type) {
  case Type::U8:
    return {Class::Integer, 8, false};
  case Type::U16:
    return {Class::Integer, 16, false};
  case Type::U32:
    return {Class::Integer, 32, false};
  case Type::U64:
    return {Class::Integer, 64, false};
  case Type::S8:
    return {Class::Integer, 8, true};
  case Type::S16:
    return {Class::Integer, 16, true};
  case Type::S32:
    return {Class::Integer, 32, true};
  case Type::S64:
    return {Class::Integer, 64, true};
  case Type::F16:
    return {Class::Float, 16, true, &kF16};
  case Type::BF16:
    return {Class::Float, 16, true, &kBF16};
  case Type::TF32:
    return {Class::Float, 32, true, &kTF32};
  case Type::F32:
    return {Class::Float, 32, true, &kF32};
  case Type::F64:
    return {Class::Float, 64, true, &kF64};
  case Type::F16x2:
    return {Class::Pair, 16, true, &kF16};
  case Type::BF16x2:
    return {Class::Pair, 16, true, &kBF16};
  case Type::E4M3x2:
    return {Class::Pair, 8, true, &kE4M3};
  case Type::E5M2x2:
    return {Class::Pair, 8, true, &kE5M2};
  case Type::E2M3x2:
    return {Class::Pair, 8, true, &kE2M3};
  case Type::E3M2x2:
    return {Class::Pair, 8, true, &kE3M2};
  case Type::E2M1x2:
    return {Class::Pair, 4, true, &kE2M1};
  case Type::UE8M0x2:
    return {Class::Scales, 8, false};
  default:
    return {};
  }
}

bool isNarrowPair(const Side &side) {
  return side.kind == Class::Pair && side.bits <= 8;
}

bool isHalfPair(const Side &side) {
  return side.kind == Class::Pair && side.bits == 16;
}

/// Whether every value of one integer type is one of the other.
bool contains(const Side &to, const Side &from) {
  if (to.isSigned == from.isSigned)
    return to.bits >= from.bits;
  return to.isSigned && to.bits > from.bits;
}

//===----------------------------------------------------------------------===//
// What exists
//===----------------------------------------------------------------------===//

/// Roundings that instructions on two packed values have.
bool isNearestOrZero(Rounding rounding) {
  return rounding == Rounding::NearestEven || rounding == Rounding::TowardZero;
}

bool existsPacked(const ConvertForm &form, const Side &to, const Side &from) {
  if (form.word != RoundingWord::Number || form.ftz || form.sat)
    return false;
  bool isNearest = form.rounding == Rounding::NearestEven;
  if (to.kind == Class::Scales)
    return (form.from == Type::F32 || form.from == Type::BF16x2) &&
           (form.rounding == Rounding::TowardZero ||
            form.rounding == Rounding::Up) &&
           !form.relu;
  if (from.kind == Class::Scales)
    return form.to == Type::BF16x2 && isNearest && !form.relu &&
           !form.satfinite;
  if (isNarrowPair(to))
    return (form.from == Type::F32 ||
            (form.from == Type::F16x2 && to.format != &kE2M3 &&
             to.format != &kE3M2)) &&
           isNearest && form.satfinite;
  if (isNarrowPair(from))
    return form.to == Type::F16x2 && isNearest && !form.satfinite;
  return isHalfPair(to) && form.from == Type::F32 &&
         isNearestOrZero(form.rounding);
}

/// Whether every value of one float type is one of the other.
bool holds(const FloatFormat &to, const FloatFormat &from) {
  return to.exponentBits >= from.exponentBits &&
         to.fractionBits >= from.fractionBits;
}

bool existsBetweenFloats(const ConvertForm &form, const Side &to,
                         const Side &from) {
  bool hasBF16 = to.format == &kBF16 || from.format == &kBF16;
  if (form.to == Type::TF32) {
    if (form.from != Type::F32 || form.word != RoundingWord::Number ||
        form.ftz || form.sat)
      return false;
    return form.rounding == Rounding::NearestAway
               ? !form.relu
               : isNearestOrZero(form.rounding);
  }
  if (form.from == Type::TF32 || form.rounding == Rounding::NearestAway)
    return false;
  if (form.relu || form.satfinite)
    return form.from == Type::F32 && to.bits == 16 && !form.ftz && !form.sat &&
           form.word == RoundingWord::Number && isNearestOrZero(form.rounding);
  if (form.sat && hasBF16)
    return false;
  if (form.ftz && form.to != Type::F32 && form.from != Type::F32)
    return false;
  if (form.to == form.from)
    return form.word != RoundingWord::Number;
  // Conversions with bf16 may name a rounding that they do not need, and go
  // between it and f16 without one.
  if (form.word == RoundingWord::None)
    return holds(*to.format, *from.format) || (hasBF16 && to.bits == from.bits);
  return form.word == RoundingWord::Number &&
         (!holds(*to.format, *from.format) || from.format == &kBF16);
}

} // namespace

bool kvc::sim::exists(const ConvertForm &form) {
  Side to = sideOf(form.to), from = sideOf(form.from);
  if (to.kind == Class::None || from.kind == Class::None)
    return false;
  auto isPacked = [](const Side &side) {
    return side.kind == Class::Pair || side.kind == Class::Scales;
  };
  if (isPacked(to) || isPacked(from))
    return existsPacked(form, to, from);
  if (to.kind == Class::Float && from.kind == Class::Float)
    return existsBetweenFloats(form, to, from);
  if (form.relu || form.satfinite || form.to == Type::TF32 ||
      form.from == Type::TF32)
    return false;
  if (to.kind == Class::Integer && from.kind == Class::Integer)
    return form.word == RoundingWord::None && !form.ftz &&
           !(form.sat && contains(to, from));
  const Side &number = to.kind == Class::Integer ? from : to;
  if (number.format == &kBF16 && form.sat)
    return false;
  if (form.ftz && number.format != &kF32)
    return false;
  return form.word == (to.kind == Class::Integer ? RoundingWord::Integer
                                                 : RoundingWord::Number) &&
         form.rounding != Rounding::NearestAway;
}

bool kvc::sim::hasTwoOperands(const ConvertForm &form) {
  Side to = sideOf(form.to);
  return form.from == Type::F32 &&
         (to.kind == Class::Pair || to.kind == Class::Scales);
}

//===----------------------------------------------------------------------===//
// One lane
//===----------------------------------------------------------------------===//

namespace {

uint64_t lowBits(uint64_t value, int bits) {
  return value & (~uint64_t(0) >> (64 - bits));
}

/// Extended from its bits by its sign or by zeros.
uint64_t extend(uint64_t value, const Side &side) {
  int unused = 64 - side.bits;
  return side.isSigned ? uint64_t(int64_t(value << unused) >> unused)
                       : lowBits(value, side.bits);
}

exact::Number integerNumber(uint64_t value, const Side &side) {
  uint64_t wide = extend(value, side);
  bool negative = side.isSigned && int64_t(wide) < 0;
  return exact::fromInteger(negative, negative ? -wide : wide);
}

uint64_t integerToInteger(const ConvertForm &form, uint64_t a, const Side &to,
                          const Side &from) {
  if (!form.sat)
    return extend(extend(a, from), to);
  return extend(exact::toInteger(integerNumber(a, from), to.bits, to.isSigned),
                to);
}

uint64_t floatToInteger(const ConvertForm &form, const exact::Number &number,
                        const Side &to, const Side &from) {
  if (number.isNan())
    return to.bits == 64 || from.bits == 64
               ? extend(uint64_t(1) << (to.bits - 1), to)
               : 0;
  return extend(exact::toInteger(exact::roundToInteger(number, form.rounding),
                                 to.bits, to.isSigned),
                to);
}

constexpr int kScaleBias = 127;
constexpr uint64_t kScaleNan = 0xFF, kLargestScale = 0xFE;

/// The power of two of ue8m0 for the magnitude of a number.
uint64_t encodeScale(const ConvertForm &form, exact::Number number) {
  if (number.isNan())
    return kScaleNan;
  uint64_t beyond = form.satfinite ? kLargestScale : kScaleNan;
  if (number.isInfinite())
    return beyond;
  // As an f64 its exponent can be read off; nothing here is subnormal there.
  number.negative = false;
  uint64_t code = exact::encode(kF64, number);
  int exponent = int(code >> kF64.fractionBits) - kF64.bias() + kScaleBias;
  bool isPower = (code & kF64.fractionMask()) == 0;
  if (number.isZero() || exponent < 0 || (exponent == 0 && isPower))
    return 0;
  exponent += form.rounding == Rounding::Up && !isPower;
  return exponent >= int(kScaleNan) ? beyond : uint64_t(exponent);
}

exact::Number decodeScale(uint64_t code) {
  if (code == kScaleNan)
    return {exact::Number::Kind::NaN};
  return {exact::Number::Kind::Finite, false, int(code) - kScaleBias, 1};
}

uint64_t convertPair(const ConvertForm &form, uint64_t a, uint64_t b,
                     const Side &to, const Side &from) {
  uint64_t result = 0;
  for (int half = 0; half < 2; ++half) {
    exact::Number number;
    if (form.from == Type::F32)
      number = exact::decode(kF32, lowBits(half ? a : b, 32));
    else if (from.kind == Class::Scales)
      number = decodeScale(lowBits(a >> (half * from.bits), from.bits));
    else
      number = exact::decode(
          *from.format, lowBits(a >> (half * from.bits), from.format->bits()));
    uint64_t code = to.kind == Class::Scales
                        ? encodeScale(form, number)
                        : exact::encode(*to.format, number,
                                        {.rounding = form.rounding,
                                         .satfinite = form.satfinite,
                                         .relu = form.relu});
    result |= code << (half * to.bits);
  }
  return result;
}

uint64_t toFloat(const ConvertForm &form, exact::Number number,
                 const Side &to) {
  if (form.word == RoundingWord::Integer)
    number = exact::roundToInteger(number, form.rounding);
  uint64_t code = exact::encode(*to.format, number,
                                {.rounding = form.rounding,
                                 .flush = form.ftz && form.to == Type::F32,
                                 .saturate = form.sat,
                                 .satfinite = form.satfinite,
                                 .relu = form.relu});
  if (form.to != Type::TF32)
    return code;
  return number.isNan() ? kF32.nan : code << kTF32Padding;
}

} // namespace

/// The result before it is cut to its register.
static uint64_t converted(const ConvertForm &form, uint64_t a, uint64_t b) {
  Side to = sideOf(form.to), from = sideOf(form.from);
  if (to.kind == Class::Pair || to.kind == Class::Scales)
    return convertPair(form, a, b, to, from);
  if (to.kind == Class::Integer && from.kind == Class::Integer)
    return integerToInteger(form, a, to, from);
  if (from.kind == Class::Integer)
    return toFloat(form, integerNumber(a, from), to);
  exact::Number number = exact::decode(*from.format, lowBits(a, from.bits),
                                       form.ftz && form.from == Type::F32);
  return to.kind == Class::Integer ? floatToInteger(form, number, to, from)
                                   : toFloat(form, number, to);
}

uint64_t kvc::sim::evaluate(const ConvertForm &form, uint64_t a, uint64_t b) {
  return lowBits(converted(form, a, b), form.toRegister);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

template <typename To, typename From>
void exactRow(const ConvertForm &form, void *d, const void *a, const void *b) {
  for (int lane = 0; lane < kLanes; ++lane)
    static_cast<To *>(d)[lane] =
        To(evaluate(form, static_cast<const From *>(a)[lane],
                    b ? static_cast<const From *>(b)[lane] : From(0)));
}

/// The f16 of every code of a narrow format, in the byte that it lies in.
std::array<uint16_t, 256> makeF16Table(const FloatFormat &format) {
  std::array<uint16_t, 256> table{};
  for (uint64_t code = 0; code < 256; ++code)
    table[code] = uint16_t(exact::encode(
        kF16, exact::decode(format, lowBits(code, format.bits()))));
  return table;
}

template <const FloatFormat &format, int bits>
void rowFromNarrow(const ConvertForm &form, void *d, const void *a,
                   const void *) {
  static const std::array<uint16_t, 256> table = makeF16Table(format);
  const uint32_t mask = (1u << bits) - 1;
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t codes = static_cast<const uint32_t *>(a)[lane];
    uint32_t low = table[codes & mask], high = table[(codes >> bits) & mask];
    if (form.relu) {
      low = low & 0x8000 ? 0 : low;
      high = high & 0x8000 ? 0 : high;
    }
    static_cast<uint32_t *>(d)[lane] = low | high << 16;
  }
}

ConvertRowFn findFromNarrow(const ConvertForm &form) {
  if (form.to != Type::F16x2)
    return nullptr;
  switch (form.from) {
  case Type::E4M3x2:
    return rowFromNarrow<kE4M3, 8>;
  case Type::E5M2x2:
    return rowFromNarrow<kE5M2, 8>;
  case Type::E2M3x2:
    return rowFromNarrow<kE2M3, 8>;
  case Type::E3M2x2:
    return rowFromNarrow<kE3M2, 8>;
  case Type::E2M1x2:
    return rowFromNarrow<kE2M1, 4>;
  default:
    return nullptr;
  }
}

ConvertRowFn findLevelRow(const ConvertForm &form, SimdLevel level) {
  switch (level) {
#define KVC_SIM_CASE(Name, name)                                               \
  case SimdLevel::Name:                                                        \
    return name::findConvertRow(form);
    KVC_SIM_FOR_EACH_LEVEL(KVC_SIM_CASE)
#undef KVC_SIM_CASE
  default:
    return nullptr;
  }
}

ConvertRowFn findExactRow(const ConvertForm &form) {
  bool fromWide = form.fromRegister == 64;
  if (form.toRegister == 64)
    return fromWide ? exactRow<uint64_t, uint64_t>
                    : exactRow<uint64_t, uint32_t>;
  return fromWide ? exactRow<uint32_t, uint64_t> : exactRow<uint32_t, uint32_t>;
}

} // namespace

std::optional<ConvertRow> ConvertRow::create(const ConvertForm &form,
                                             SimdLevel level) {
  if (!exists(form))
    return std::nullopt;
  bool isPlain = form.toRegister <= 32 && form.fromRegister <= 32;
  ConvertRowFn fn = isPlain ? findFromNarrow(form) : nullptr;
  if (!fn)
    fn = findLevelRow(form, level);
  if (!fn)
    fn = findExactRow(form);
  return ConvertRow(form, fn);
}

void ConvertRow::operator()(void *d, const void *a, const void *b,
                            LaneMask active) const {
  assert(isHostFloatReady() && "rows run inside a HostFloatScope");
  if (active == kAllLanes)
    return fn(form, d, a, b);
  if (form.toRegister == 64) {
    alignas(64) uint64_t results[kLanes];
    fn(form, results, a, b);
    copyLanes(static_cast<uint64_t *>(d), results, active);
  } else {
    alignas(64) uint32_t results[kLanes];
    fn(form, results, a, b);
    copyLanes(static_cast<uint32_t *>(d), results, active);
  }
}
