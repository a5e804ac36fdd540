//===- FloatFormat.h - The float formats of PTX -----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_FLOATFORMAT_H
#define KVC_SIM_NUMERICS_FLOATFORMAT_H

#include <cstdint>

namespace kvc::sim {

/// Which neighbour a result takes that lies between two.
enum class Rounding : uint8_t {
  NearestEven, ///< .rn, .rni
  TowardZero,  ///< .rz, .rzi
  Down,        ///< .rm, .rmi
  Up,          ///< .rp, .rpi
  NearestAway, ///< .rna: ties go away from zero.
};

/// What the codes of the largest exponent mean.
enum class Extremes : uint8_t {
  Ieee,    ///< Infinity, and NaN where the fraction is not 0.
  NanOnly, ///< All ones is NaN, everything else is a number.
  Numbers, ///< Neither infinity nor NaN.
};

/// A sign bit, an exponent and a fraction, highest bits first.
struct FloatFormat {
  int exponentBits, fractionBits;
  Extremes extremes;
  /// What operations give that have no result. For formats without NaN: what a
  /// conversion makes of NaN, the largest number.
  uint64_t nan;

  constexpr int bits() const { return 1 + exponentBits + fractionBits; }
  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// Exponent of the smallest normal number.
  constexpr int smallestExponent() const { return 1 - bias(); }
  constexpr uint64_t signBit() const { return uint64_t(1) << (bits() - 1); }
  constexpr uint64_t fractionMask() const {
    return (uint64_t(1) << fractionBits) - 1;
  }
  /// Infinity in formats that have one.
  constexpr uint64_t infinity() const {
    return ((uint64_t(1) << exponentBits) - 1) << fractionBits;
  }
  constexpr uint64_t largest() const {
    switch (extremes) {
    case Extremes::Ieee:
      return infinity() - 1;
    case Extremes::NanOnly:
      return signBit() - 2;
    case Extremes::Numbers:
      break;
    }
    return signBit() - 1;
  }
  constexpr uint64_t one() const { return uint64_t(bias()) << fractionBits; }
  constexpr bool isNan(uint64_t code) const {
    uint64_t magnitude = code & (signBit() - 1);
    switch (extremes) {
    case Extremes::Ieee:
      return magnitude > infinity();
    case Extremes::NanOnly:
      return magnitude == signBit() - 1;
    case Extremes::Numbers:
      break;
    }
    return false;
  }
};

// The NaN of f64 is not said by the ISA; this one is what CUDA's headers name.
inline constexpr FloatFormat kF64{11, 52, Extremes::Ieee, 0xFFF8000000000000};
inline constexpr FloatFormat kF32{8, 23, Extremes::Ieee, 0x7FFFFFFF};
inline constexpr FloatFormat kF16{5, 10, Extremes::Ieee, 0x7FFF};
inline constexpr FloatFormat kBF16{8, 7, Extremes::Ieee, 0x7FFF};
/// tf32 without the 13 bits below it that make it an f32.
inline constexpr FloatFormat kTF32{8, 10, Extremes::Ieee, 0x3FFFF};
inline constexpr int kTF32Padding = 13;
inline constexpr FloatFormat kE5M2{5, 2, Extremes::Ieee, 0x7F};
inline constexpr FloatFormat kE4M3{4, 3, Extremes::NanOnly, 0x7F};
inline constexpr FloatFormat kE3M2{3, 2, Extremes::Numbers, 0x1F};
inline constexpr FloatFormat kE2M3{2, 3, Extremes::Numbers, 0x1F};
inline constexpr FloatFormat kE2M1{2, 1, Extremes::Numbers, 0x7};

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_FLOATFORMAT_H
