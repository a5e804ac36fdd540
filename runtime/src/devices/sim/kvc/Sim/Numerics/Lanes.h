//===- Lanes.h - What rows do in one lane -----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Included by the sources that are compiled per level, and written for their
// vectorisers: no branches, no calls. Floats are codes (uint32_t, uint64_t) as
// in Row.h; arithmetic is that of the machine inside a HostFloatScope.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_LANES_H
#define KVC_SIM_NUMERICS_LANES_H

#include "kvc/Sim/Numerics/FloatFormat.h"
#include "kvc/Sim/Numerics/Row.h"

/// Before a loop over lanes: iterations are independent, although a result may
/// lie where an operand of the same lane lay.
#if defined(__clang__)
#define KVC_SIM_LANES                                                          \
  _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#elif defined(__GNUC__)
#define KVC_SIM_LANES _Pragma("GCC ivdep")
#else
#define KVC_SIM_LANES
#endif

/// Compilers that make vectors of the machine's conversions of f16.
#if defined(__clang__) && defined(__F16C__)
#define KVC_SIM_HAS_F16
#endif

namespace kvc::sim::KVC_SIM_LEVEL {

inline float toFloat(uint32_t code) { return __builtin_bit_cast(float, code); }
inline uint32_t toCode(float value) {
  return __builtin_bit_cast(uint32_t, value);
}
inline double toFloat(uint64_t code) {
  return __builtin_bit_cast(double, code);
}
inline uint64_t toCode(double value) {
  return __builtin_bit_cast(uint64_t, value);
}

//===----------------------------------------------------------------------===//
// f32 and f64
//===----------------------------------------------------------------------===//

template <bool ftz>
uint32_t flushF32(uint32_t code) {
  if constexpr (!ftz)
    return code;
  return (code & 0x7F800000) == 0 ? code & 0x80000000 : code;
}

/// A result with .ftz and .sat.
template <bool ftz, bool sat>
uint32_t finishF32(float result) {
  uint32_t code = flushF32<ftz>(toCode(result));
  if constexpr (sat) {
    float value = toFloat(code);
    // Comparisons with NaN are false.
    value = value < 1.0f ? value : (value >= 1.0f ? 1.0f : 0.0f);
    return toCode(value > 0.0f ? value : 0.0f);
  }
  return result != result ? uint32_t(kF32.nan) : code;
}

inline uint64_t finishF64(double result) {
  return result != result ? kF64.nan : toCode(result);
}

//===----------------------------------------------------------------------===//
// f16 and bf16, widened to f32
//===----------------------------------------------------------------------===//

template <bool ftz>
uint32_t flushF16(uint32_t code) {
  if constexpr (!ftz)
    return code;
  return (code & 0x7C00) == 0 ? code & 0x8000 : code;
}

/// Exact. Infinity and NaN stay what they are.
inline float widenF16(uint32_t code) {
#ifdef KVC_SIM_HAS_F16
  return float(__builtin_bit_cast(_Float16, uint16_t(code)));
#else
  uint32_t magnitude = code & 0x7FFF;
  uint32_t normal = (magnitude << 13) + 0x38000000;
  uint32_t extreme = magnitude >= 0x7C00 ? normal + 0x38000000 : normal;
  // A subnormal code counts units of 2^-24.
  uint32_t small = toCode(float(int32_t(magnitude)) * 0x1p-24f);
  return toFloat((magnitude < 0x400 ? small : extreme) | (code & 0x8000) << 16);
#endif
}

inline float widenBF16(uint32_t code) { return toFloat(code << 16); }

/// To the nearest f16, ties to even.
inline uint32_t narrowToF16(float value) {
#ifdef KVC_SIM_HAS_F16
  uint32_t result = __builtin_bit_cast(uint16_t, _Float16(value));
#else
  uint32_t code = toCode(value), magnitude = code & 0x7FFFFFFF;
  uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
  uint32_t normal = (rounded - 0x38000000) >> 13;
  // Adding 1/2 leaves units of 2^-24 in the lowest bits, rounded.
  uint32_t small = toCode(toFloat(magnitude) + 0.5f) - toCode(0.5f);
  uint32_t result = magnitude < 0x38800000 ? small : normal;
  result = rounded >= 0x47800000 ? 0x7C00 : result;
  result |= (code >> 16) & 0x8000;
#endif
  return value != value ? uint32_t(kF16.nan) : result;
}

/// To the nearest bf16, ties to even.
inline uint32_t narrowToBF16(float value) {
  uint32_t code = toCode(value);
  uint32_t rounded = (code + 0x7FFF + ((code >> 16) & 1)) >> 16;
  return value != value ? uint32_t(kBF16.nan) : rounded;
}

//===----------------------------------------------------------------------===//
// Sums that are rounded twice
//===----------------------------------------------------------------------===//

/// a + b with the lowest bit of the significand set where the sum is not exact
/// (rounding to odd): a second rounding to a format with at least two bits less
/// then gives what one rounding of the exact sum gives.
template <typename Float>
Float addToOdd(Float a, Float b) {
  Float sum = a + b;
  Float partA = sum - b, partB = sum - partA;
  Float error = (a - partA) + (b - partB);
  auto code = toCode(sum);
  using Code = decltype(code);
  // The error is NaN where the sum is infinite or NaN.
  bool isInexact = error < 0 || error > 0;
  bool isAway = (error > 0) == (sum > 0); // The exact sum is larger than |sum|.
  Code odd = isAway ? code + 1 : code - 1;
  return toFloat(isInexact && (code & 1) == 0 ? odd : code);
}

/// An f64 to the nearest f32, made odd where that is not exact.
inline float narrowToOddF32(double value) {
  uint64_t code = toCode(value);
  float nearest = float(value);
  double back = double(nearest);
  uint32_t result = toCode(nearest);
  bool isInexact = back < value || back > value;
  bool isAway = (value > back) == (code >> 63 == 0);
  uint32_t odd = isAway ? result + 1 : result - 1;
  bool isFinite = (result & 0x7FFFFFFF) < 0x7F800000;
  return toFloat(isInexact && isFinite && (result & 1) == 0 ? odd : result);
}

} // namespace kvc::sim::KVC_SIM_LEVEL

#endif // KVC_SIM_NUMERICS_LANES_H
