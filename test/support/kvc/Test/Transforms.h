//===- Transforms.h - Rotation, smoothing, RoPE -----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What SPEC.md section 2 does to rows of channels before they are quantised and
// after they are read.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_TRANSFORMS_H
#define KVC_TEST_TRANSFORMS_H

#include "kvc/Spec/Spec.h"

#include <span>

namespace kvc::test {

/// The orthonormal Walsh-Hadamard transform of every block of n channels, in
/// place, in f32. It is its own inverse.
void hadamard(std::span<float> row, int64_t n);

/// f_i of the i-th rotated pair.
float ropeFrequency(const spec::Rope &rope, int64_t i);

/// Rotates one key row to `position`, in f64 from the f32 angle.
void applyRope(const spec::Rope &rope, int64_t position, std::span<double> row);

} // namespace kvc::test

#endif // KVC_TEST_TRANSFORMS_H
