//===- TensorCore.h - How generations of tensor cores add -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The ISA leaves order, rounding and subnormals of mma open; devices have been
// measured. Their sums are block floating point: of an addend and `terms`
// products (exponents added, mantissas multiplied, not normalised, subnormal
// operands with the exponent of the smallest normal number), zeros left out,
// the largest exponent is taken; every summand is cut, toward zero, to
// `fractionBits` bits below it; the sum of those is exact and is rounded once:
// for f32 toward zero, to `resultBits` bits of fraction, for f16 to nearest
// even. An mma with more products goes through several such sums, in order of
// k, each the addend of the next.
//
// README.md says which entry agrees with which device's outputs.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_TENSORCORE_H
#define KVC_SIM_NUMERICS_TENSORCORE_H

#include <span>
#include <string_view>

namespace kvc::sim {

/// One sum.
struct SumRule {
  int terms;        ///< 0: the device has no such operands.
  int fractionBits; ///< At most 25.
  int resultBits;   ///< Of f32 results, 23 or fewer.
  /// The largest exponent counts as no smaller than this, by the result's type.
  int lowestForF32, lowestForF16;
};

struct TensorCore {
  /// Devices, by the names that --mma takes.
  std::string_view names[2];
  int firstTarget; ///< The lowest target that means it: 80 for sm_80.
  SumRule f16;     ///< And bf16.
  SumRule tf32;
  SumRule fp8;
  /// The device has no fp8 of its own: ptxas converts to f16 and makes two mma
  /// of them, of elements 0 and 1 of each four and of 2 and 3, the first one
  /// with addend 0, and adds the instruction's addend to the result in f32 or
  /// f16, to nearest even.
  bool fp8ThroughF16;

  bool hasFp8() const { return fp8ThroughF16 || fp8.terms != 0; }
};

std::span<const TensorCore> tensorCores();
/// Null if there is none of that name.
const TensorCore *tensorCoreNamed(std::string_view name);
/// The device of a module's target; null below sm_80.
const TensorCore *tensorCoreFor(int target);

/// fp8 operands of wgmma on sm_90, which are not those of its mma.
inline constexpr SumRule kWgmmaFp8{32, 13, 13, -133, -133};

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_TENSORCORE_H
