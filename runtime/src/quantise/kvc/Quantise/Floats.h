//===- Floats.h - Storage types in scalar arithmetic ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// round_T of SPEC.md section 2, and what stored bit patterns mean.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_QUANTISE_FLOATS_H
#define KVC_QUANTISE_FLOATS_H

#include "kvc/Spec/Spec.h"

#include <cstdint>

namespace kvc::quantise {

/// The format of a scale, a zero, an outlier or a raw code; not e8m0.
const spec::FloatFormat &formatOf(spec::DType type);

/// The pattern of `x` in `format`: nearest even, saturating at the largest
/// finite value, the sign of zero kept.
uint32_t encode(const spec::FloatFormat &format, float x);
/// The value of a finite pattern.
float decode(const spec::FloatFormat &format, uint32_t pattern);

/// round_T: decode(encode(x)).
float roundTo(spec::DType type, float x);

/// The smallest power of two of the type that is >= x, clamped to the type's
/// powers of two; 0 stays 0. `x` is not negative.
float powerOfTwoAtLeast(spec::DType type, float x);

/// 2^exponent, clamped to what an e8m0 byte can say.
float e8m0(int exponent);

/// floor(log2 x) and ceil(log2 x) of a positive number, subnormals too.
int floorLog2(float x);
int ceilLog2(float x);

} // namespace kvc::quantise

#endif // KVC_QUANTISE_FLOATS_H
