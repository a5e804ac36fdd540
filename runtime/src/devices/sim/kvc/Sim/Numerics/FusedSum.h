//===- FusedSum.h - One result of a tensor core -----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_FUSEDSUM_H
#define KVC_SIM_NUMERICS_FUSEDSUM_H

#include "kvc/Sim/Numerics/FloatFormat.h"
#include "kvc/Sim/Numerics/TensorCore.h"

namespace kvc::sim {

/// What the products of an mma are made of, and what they are added to.
struct SumFormats {
  FloatFormat a, b;
  bool isF16; ///< Addends and results are f16 rather than f32.
};

/// d = c + sum of a[i] * b[i], by `rule`, from integers alone and one step at a
/// time: what the faster kernels are compared with. `products` may be more than
/// one sum takes. Infinities and NaN do what they do in IEEE sums; a result
/// beyond the largest number is infinite.
uint32_t fusedSum(const SumRule &rule, const SumFormats &formats, int products,
                  const uint32_t *a, int strideA, const uint32_t *b,
                  int strideB, uint32_t c);

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_FUSEDSUM_H
