//===- PlainMma.h - Products of matrices without a model --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_PLAINMMA_H
#define KVC_SIM_MACHINE_PLAINMMA_H

#include "kvc/Sim/Machine/Warp.h"

namespace kvc::sim {

/// mma of f64, of single bits, and of integers in any shape.
class PlainMma {
public:
  static std::optional<PlainMma> create(const Modifiers &modifiers);

  /// d, a, b, c. All lanes take part.
  void operator()(Warp &warp, const uint32_t *operands) const;

  uint32_t rows = 0, k = 0; ///< There are 8 columns.
  uint32_t perRegister = 1; ///< Elements of A and B.
  bool isDouble = false, signedA = false, signedB = false;
  bool isAnd = false; ///< Of single bits; else xor.
  bool satfinite = false;

private:
  void runIntegers(Warp &warp, const uint32_t *operands) const;
  void runDoubles(Warp &warp, const uint32_t *operands) const;
};

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_PLAINMMA_H
