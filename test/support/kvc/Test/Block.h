//===- Block.h - Quantising one block ---------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// SPEC.md section 2 for one block: the values that share a scale become codes,
// a scale and a zero, and codes become x' again. Each rule of the section is
// one function in Block.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_BLOCK_H
#define KVC_TEST_BLOCK_H

#include "kvc/Spec/Spec.h"

#include <optional>
#include <span>
#include <vector>

namespace kvc::test {

struct BlockCodes {
  float scale = 0; ///< As stored, read back as f32; e4m3: before `global`.
  float zero = 0;  ///< m or z; 0 without one.
  /// One byte a code: two's complement for symmetric ints, unsigned for others,
  /// bit patterns for fp8 and fp4, indices for lut.
  std::vector<uint8_t> codes;
};

/// Quantises `values`, token-major. Those with `isOutlier` set count for
/// nothing and get code 0. `table` is lut's; `staticScale` replaces the
/// estimate.
BlockCodes quantiseBlock(const spec::PartScheme &scheme,
                         std::span<const float> table,
                         std::span<const float> values,
                         std::span<const uint8_t> isOutlier,
                         std::optional<float> staticScale);

/// A static scale, rounded to the scale's type as stored.
float storeStaticScale(const spec::Scale &scale, float input);

/// The scale that multiplies: f32(stored * global) for e4m3.
float effectiveScale(const spec::Scale &scale, float stored);

/// x' of one code.
float dequantise(const spec::PartScheme &scheme, std::span<const float> table,
                 float scale, float zero, uint8_t code);

/// Symmetric ints: their codes are signed.
bool hasSignedCodes(const spec::PartScheme &scheme);

/// Entry of `table` nearest to `x`, ties to the lower index.
uint8_t nearestEntry(std::span<const float> table, float x);

} // namespace kvc::test

#endif // KVC_TEST_BLOCK_H
