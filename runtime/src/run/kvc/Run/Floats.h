//===- Floats.h - Floats as bits --------------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Conversions in integer arithmetic: the same result whatever the caller's
// rounding mode and flush-to-zero flags say.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_FLOATS_H
#define KVC_RUN_FLOATS_H

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kvc {

inline constexpr uint32_t kExponentF32 = 0x7F800000;
inline constexpr uint16_t kExponentF16 = 0x7C00;
inline constexpr uint16_t kExponentBF16 = 0x7F80;

/// f16 bits to f32 bits; exact.
constexpr uint32_t widenF16(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 0x1F, fraction = half & 0x3FF;
  if (exponent == 0x1F)
    return sign | kExponentF32 | fraction << 13;
  if (exponent != 0)
    return sign | (exponent + 112) << 23 | fraction << 13;
  if (fraction == 0)
    return sign;
  // A subnormal: its leading one becomes the hidden bit.
  auto shift = static_cast<uint32_t>(std::countl_zero(fraction)) - 21;
  return sign | (113 - shift) << 23 | ((fraction << shift) & 0x3FF) << 13;
}

/// `value >> shift` rounded to nearest even.
constexpr uint32_t shiftRightEven(uint32_t value, uint32_t shift) {
  uint32_t kept = value >> shift, half = uint32_t(1) << (shift - 1);
  uint32_t rest = value & (2 * half - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

/// Finite f32 bits to f16 bits: nearest even, saturating at 65504.
constexpr uint16_t narrowF16(uint32_t bits) {
  auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t exponent = (bits >> 23) & 0xFF, fraction = bits & 0x7FFFFF;
  uint32_t rounded;
  // From 2^-14 on normal: a carry out of the fraction is the next exponent.
  // Then subnormal: the hidden bit moves into the fraction. Under 2^-25 it is
  // less than half of the smallest subnormal.
  if (exponent >= 113)
    rounded = shiftRightEven((exponent - 112) << 23 | fraction, 13);
  else if (exponent >= 102)
    rounded = shiftRightEven(0x800000 | fraction, 126 - exponent);
  else
    rounded = 0;
  return sign | static_cast<uint16_t>(std::min<uint32_t>(rounded, 0x7BFF));
}

/// Finite f32 bits to bf16 bits: nearest even, saturating at the largest
/// finite.
constexpr uint16_t narrowBF16(uint32_t bits) {
  auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t rounded = shiftRightEven(bits & 0x7FFFFFFF, 16);
  return sign | static_cast<uint16_t>(std::min<uint32_t>(rounded, 0x7F7F));
}

} // namespace kvc

#endif // KVC_RUN_FLOATS_H
