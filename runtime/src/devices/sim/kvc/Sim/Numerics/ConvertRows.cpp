//===- ConvertRows.cpp - Rows of conversions, per level -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The conversions that kernels are full of; the rest is left to integers.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/Lanes.h"
#include "kvc/Sim/Numerics/Levels.h"

namespace kvc::sim::KVC_SIM_LEVEL {

namespace {

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

struct IntegerType {
  int bits; ///< 0: no integer.
  bool isSigned;
};

IntegerType integerOf(Type type) {
  switch (type) {
  case Type::U8:
    return {8, false};
  case Type::U16:
    return {16, false};
  case Type::U32:
    return {32, false};
  case Type::U64:
    return {64, false};
  case Type::S8:
    return {8, true};
  case Type::S16:
    return {16, true};
  case Type::S32:
    return {32, true};
  case Type::S64:
    return {64, true};
  default:
    return {0, false};
  }
}

/// What of a word belongs to the destination's register.
template <typename To>
To registerMask(const ConvertForm &form) {
  return ~To(0) >> (int(sizeof(To)) * 8 - form.toRegister);
}

/// Without .sat: the narrower of the two types decides which bits count, and
/// the destination's own sign extends them if it is the narrower one.
template <typename To, typename From>
void extendRow(const ConvertForm &form, void *d, const void *a, const void *) {
  const IntegerType to = integerOf(form.to), from = integerOf(form.from);
  const IntegerType kept = to.bits <= from.bits ? to : from;
  const int unused = 64 - kept.bits;
  const bool isSigned = kept.isSigned;
  const int toUnused = 64 - to.bits;
  const bool toSigned = to.isSigned;
  const To mask = registerMask<To>(form);
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint64_t shifted = uint64_t(static_cast<const From *>(a)[lane]) << unused;
    uint64_t value =
        isSigned ? uint64_t(int64_t(shifted) >> unused) : shifted >> unused;
    // A negative value in a wider unsigned type ends at that type's bits.
    value <<= toUnused;
    static_cast<To *>(d)[lane] =
        mask &
        To(toSigned ? uint64_t(int64_t(value) >> toUnused) : value >> toUnused);
  }
}

//===----------------------------------------------------------------------===//
// From integers to floats
//===----------------------------------------------------------------------===//

/// f16 by way of f32: an integer that f32 does not hold is beyond f16.
template <typename Number>
uint32_t narrowInteger(Number value, Type to) {
  return to == Type::F16 ? narrowToF16(float(value)) : toCode(float(value));
}

template <typename From, bool isSigned>
void integerRow(const ConvertForm &form, void *d, const void *a, const void *) {
  const Type to = form.to;
  const int unused = int(sizeof(From)) * 8 - integerOf(form.from).bits;
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    From shifted = static_cast<const From *>(a)[lane] << unused;
    if constexpr (sizeof(From) == 4)
      static_cast<uint32_t *>(d)[lane] =
          isSigned ? narrowInteger(int32_t(shifted) >> unused, to)
                   : narrowInteger(shifted >> unused, to);
    else
      static_cast<uint32_t *>(d)[lane] =
          isSigned ? narrowInteger(int64_t(shifted) >> unused, to)
                   : narrowInteger(shifted >> unused, to);
  }
}

ConvertRowFn findFromInteger(const ConvertForm &form, IntegerType from) {
  if ((form.to != Type::F32 && form.to != Type::F16) || form.sat ||
      form.toRegister == 64 || form.rounding != Rounding::NearestEven ||
      (form.fromRegister == 64 && from.bits < 64))
    return nullptr;
  if (from.bits == 64)
    return from.isSigned ? integerRow<uint64_t, true>
                         : integerRow<uint64_t, false>;
  return from.isSigned ? integerRow<uint32_t, true>
                       : integerRow<uint32_t, false>;
}

//===----------------------------------------------------------------------===//
// From floats to integers
//===----------------------------------------------------------------------===//

template <Rounding rounding>
double integral(double value) {
  if constexpr (rounding == Rounding::NearestEven)
    return __builtin_rint(value);
  else if constexpr (rounding == Rounding::TowardZero)
    return __builtin_trunc(value);
  else if constexpr (rounding == Rounding::Down)
    return __builtin_floor(value);
  else
    return __builtin_ceil(value);
}

/// A register of a float type.
template <Type type>
struct RegisterOf {
  using Word = uint32_t;
};
template <>
struct RegisterOf<Type::F64> {
  using Word = uint64_t;
};

template <Type from>
double toDouble(uint64_t code, bool ftz) {
  if constexpr (from == Type::F64)
    return toFloat(code);
  else if constexpr (from == Type::F16)
    return double(widenF16(uint32_t(code) & 0xFFFF));
  else if constexpr (from == Type::BF16)
    return double(widenBF16(uint32_t(code)));
  else
    return double(
        toFloat(ftz ? flushF32<true>(uint32_t(code)) : uint32_t(code)));
}

/// To integers of at most 32 bits, which f64 holds, in a 32-bit register.
template <Type from, Rounding rounding>
void toIntegerRow(const ConvertForm &form, void *d, const void *a,
                  const void *) {
  using From = typename RegisterOf<from>::Word;
  const IntegerType to = integerOf(form.to);
  const double low = to.isSigned ? -double(int64_t(1) << (to.bits - 1)) : 0;
  const double high =
      double((int64_t(1) << (to.isSigned ? to.bits - 1 : to.bits)) - 1);
  // f64 is the one format here whose NaN is not 0.
  const double nan = from != Type::F64 ? 0
                     : to.isSigned     ? low
                                       : double(int64_t(1) << (to.bits - 1));
  const bool ftz = form.ftz;
  const auto mask = registerMask<uint32_t>(form);
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    double value = toDouble<from>(static_cast<const From *>(a)[lane], ftz);
    bool isNan = value != value;
    value = integral<rounding>(value);
    value = value < low ? low : value;
    value = value > high ? high : value;
    value = isNan ? nan : value;
    static_cast<uint32_t *>(d)[lane] = mask & uint32_t(int64_t(value));
  }
}

template <Type from>
ConvertRowFn pickRounding(Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return toIntegerRow<from, Rounding::NearestEven>;
  case Rounding::TowardZero:
    return toIntegerRow<from, Rounding::TowardZero>;
  case Rounding::Down:
    return toIntegerRow<from, Rounding::Down>;
  case Rounding::Up:
    return toIntegerRow<from, Rounding::Up>;
  case Rounding::NearestAway:
    break;
  }
  return nullptr;
}

ConvertRowFn findToInteger(const ConvertForm &form, IntegerType to) {
  bool isF64 = form.from == Type::F64;
  if (to.bits > 32 || form.toRegister == 64 ||
      (form.fromRegister == 64) != isF64)
    return nullptr;
  switch (form.from) {
  case Type::F16:
    return pickRounding<Type::F16>(form.rounding);
  case Type::BF16:
    return pickRounding<Type::BF16>(form.rounding);
  case Type::F32:
    return pickRounding<Type::F32>(form.rounding);
  case Type::F64:
    return pickRounding<Type::F64>(form.rounding);
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Between floats
//===----------------------------------------------------------------------===//

/// To the nearest number of a format with few bits that has no use for
/// infinity.
template <const FloatFormat &format>
uint32_t narrowFinite(uint32_t code) {
  constexpr int dropped = kF32.fractionBits - format.fractionBits;
  constexpr uint32_t smallest =
      uint32_t(kF32.bias() + format.smallestExponent()) << kF32.fractionBits;
  // Adding this leaves units of the format's smallest number in the lowest
  // bits, rounded.
  constexpr uint32_t magic =
      uint32_t(kF32.bias() + format.smallestExponent() + dropped)
      << kF32.fractionBits;
  uint32_t magnitude = code & 0x7FFFFFFF;
  uint32_t rounded =
      magnitude + ((1u << (dropped - 1)) - 1) + ((magnitude >> dropped) & 1);
  uint32_t normal =
      (rounded >> dropped) -
      (uint32_t(kF32.bias() - format.bias()) << format.fractionBits);
  uint32_t small = toCode(toFloat(magnitude) + toFloat(magic)) - magic;
  uint32_t result = magnitude < smallest ? small : normal;
  result = result > format.largest() || magnitude >= 0x7F800000
               ? uint32_t(format.largest())
               : result;
  result |= code >> (32 - format.bits()) & uint32_t(format.signBit());
  return magnitude > 0x7F800000 ? uint32_t(format.nan) : result;
}

uint32_t narrowToLargestF16(uint32_t code) {
  uint32_t result = narrowToF16(toFloat(code));
  return (result & 0x7FFF) == 0x7C00 ? result - 1 : result;
}
uint32_t narrowToLargestBF16(uint32_t code) {
  uint32_t result = narrowToBF16(toFloat(code));
  return (result & 0x7FFF) == 0x7F80 ? result - 1 : result;
}

/// A narrowing from f32 to the nearest, made a lane by a name.
struct ToF16 {
  static constexpr int bits = 16;
  static uint32_t lane(uint32_t code) { return narrowToF16(toFloat(code)); }
};
struct ToBF16 {
  static constexpr int bits = 16;
  static uint32_t lane(uint32_t code) { return narrowToBF16(toFloat(code)); }
};
struct ToLargestF16 {
  static constexpr int bits = 16;
  static uint32_t lane(uint32_t code) { return narrowToLargestF16(code); }
};
struct ToLargestBF16 {
  static constexpr int bits = 16;
  static uint32_t lane(uint32_t code) { return narrowToLargestBF16(code); }
};
template <const FloatFormat &format, int places>
struct ToFinite {
  static constexpr int bits = places;
  static uint32_t lane(uint32_t code) { return narrowFinite<format>(code); }
};

template <typename Narrow, bool packed>
void narrowRow(const ConvertForm &form, void *d, const void *a, const void *b) {
  const auto *high = static_cast<const uint32_t *>(a);
  const auto *low = static_cast<const uint32_t *>(packed ? b : a);
  // With .relu negative operands are zeros, but for NaN, which loses its sign.
  const uint32_t relu = form.relu;
  auto clamp = [relu](uint32_t code) {
    bool isNegative = relu && (code >> 31) != 0;
    bool isNan = (code & 0x7FFFFFFF) > 0x7F800000;
    return isNegative && !isNan ? 0 : code;
  };
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t result = Narrow::lane(clamp(low[lane]));
    if constexpr (packed)
      result |= Narrow::lane(clamp(high[lane])) << Narrow::bits;
    static_cast<uint32_t *>(d)[lane] = result;
  }
}

template <const FloatFormat &format, int places>
void narrowHalvesRow(const ConvertForm &form, void *d, const void *a,
                     const void *) {
  const uint32_t relu = form.relu;
  auto narrow = [relu](uint32_t half) {
    float value = widenF16(half);
    value = relu && value <= 0 ? 0.0f : value;
    return narrowFinite<format>(toCode(value));
  };
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t halves = static_cast<const uint32_t *>(a)[lane];
    static_cast<uint32_t *>(d)[lane] =
        narrow(halves & 0xFFFF) | narrow(halves >> 16) << places;
  }
}

template <bool isF16>
void widenRow(const ConvertForm &, void *d, const void *a, const void *) {
  const auto *codes = static_cast<const uint32_t *>(a);
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    float value = isF16 ? widenF16(codes[lane] & 0xFFFF)
                        : widenBF16(codes[lane] & 0xFFFF);
    static_cast<uint32_t *>(d)[lane] =
        value != value ? uint32_t(kF32.nan) : toCode(value);
  }
}

void f32ToF64Row(const ConvertForm &form, void *d, const void *a,
                 const void *) {
  const bool ftz = form.ftz;
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t code = static_cast<const uint32_t *>(a)[lane];
    static_cast<uint64_t *>(d)[lane] =
        finishF64(double(toFloat(ftz ? flushF32<true>(code) : code)));
  }
}

void f64ToF32Row(const ConvertForm &form, void *d, const void *a,
                 const void *) {
  const bool ftz = form.ftz;
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    auto value = float(toFloat(static_cast<const uint64_t *>(a)[lane]));
    static_cast<uint32_t *>(d)[lane] =
        ftz ? finishF32<true, false>(value) : finishF32<false, false>(value);
  }
}

template <Rounding rounding>
void integralRow(const ConvertForm &form, void *d, const void *a,
                 const void *) {
  const bool ftz = form.ftz;
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t code = static_cast<const uint32_t *>(a)[lane];
    float value = toFloat(ftz ? flushF32<true>(code) : code);
    float result;
    if constexpr (rounding == Rounding::NearestEven)
      result = __builtin_rintf(value);
    else if constexpr (rounding == Rounding::TowardZero)
      result = __builtin_truncf(value);
    else if constexpr (rounding == Rounding::Down)
      result = __builtin_floorf(value);
    else
      result = __builtin_ceilf(value);
    static_cast<uint32_t *>(d)[lane] =
        value != value ? uint32_t(kF32.nan) : toCode(result);
  }
}

/// Between 32-bit registers, from f32 to the nearest.
ConvertRowFn findNarrowing(const ConvertForm &form) {
  if (form.rounding != Rounding::NearestEven || form.sat || form.ftz)
    return nullptr;
  switch (form.to) {
  case Type::F16:
    return form.satfinite ? narrowRow<ToLargestF16, false>
                          : narrowRow<ToF16, false>;
  case Type::F16x2:
    return form.satfinite ? narrowRow<ToLargestF16, true>
                          : narrowRow<ToF16, true>;
  case Type::BF16:
    return form.satfinite ? narrowRow<ToLargestBF16, false>
                          : narrowRow<ToBF16, false>;
  case Type::BF16x2:
    return form.satfinite ? narrowRow<ToLargestBF16, true>
                          : narrowRow<ToBF16, true>;
  case Type::E4M3x2:
    return narrowRow<ToFinite<kE4M3, 8>, true>;
  case Type::E5M2x2:
    return narrowRow<ToFinite<kE5M2, 8>, true>;
  case Type::E2M3x2:
    return narrowRow<ToFinite<kE2M3, 8>, true>;
  case Type::E3M2x2:
    return narrowRow<ToFinite<kE3M2, 8>, true>;
  case Type::E2M1x2:
    return narrowRow<ToFinite<kE2M1, 4>, true>;
  default:
    return nullptr;
  }
}

ConvertRowFn findFromHalves(const ConvertForm &form) {
  switch (form.to) {
  case Type::E4M3x2:
    return narrowHalvesRow<kE4M3, 8>;
  case Type::E5M2x2:
    return narrowHalvesRow<kE5M2, 8>;
  case Type::E2M1x2:
    return narrowHalvesRow<kE2M1, 4>;
  default:
    return nullptr;
  }
}

ConvertRowFn findIntegral(const ConvertForm &form) {
  if (form.word != RoundingWord::Integer || form.sat)
    return nullptr;
  switch (form.rounding) {
  case Rounding::NearestEven:
    return integralRow<Rounding::NearestEven>;
  case Rounding::TowardZero:
    return integralRow<Rounding::TowardZero>;
  case Rounding::Down:
    return integralRow<Rounding::Down>;
  case Rounding::Up:
    return integralRow<Rounding::Up>;
  case Rounding::NearestAway:
    break;
  }
  return nullptr;
}

} // namespace

ConvertRowFn findConvertRow(const ConvertForm &form) {
  IntegerType to = integerOf(form.to), from = integerOf(form.from);
  if (to.bits && from.bits) {
    if (form.sat)
      return nullptr;
    bool fromWide = form.fromRegister == 64;
    if (form.toRegister == 64)
      return fromWide ? extendRow<uint64_t, uint64_t>
                      : extendRow<uint64_t, uint32_t>;
    return fromWide ? extendRow<uint32_t, uint64_t>
                    : extendRow<uint32_t, uint32_t>;
  }
  if (from.bits)
    return findFromInteger(form, from);
  if (to.bits)
    return findToInteger(form, to);
  if (form.from == Type::F32 && form.to == Type::F64 && !form.sat)
    return f32ToF64Row;
  if (form.from == Type::F64 && form.to == Type::F32 && !form.sat &&
      form.rounding == Rounding::NearestEven)
    return f64ToF32Row;
  if (form.toRegister == 64 || form.fromRegister == 64)
    return nullptr;
  if (form.from == Type::F16x2)
    return findFromHalves(form);
  if (form.from == Type::F32)
    return form.to == Type::F32 ? findIntegral(form) : findNarrowing(form);
  if (form.to == Type::F32 && !form.sat) {
    if (form.from == Type::F16)
      return widenRow<true>;
    // bf16 has subnormal f32 among its values.
    if (form.from == Type::BF16 && !form.ftz)
      return widenRow<false>;
  }
  return nullptr;
}

} // namespace kvc::sim::KVC_SIM_LEVEL
