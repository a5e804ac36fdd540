//===- MmaRows.h - Products of matrices, per level --------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_MMAROWS_H
#define KVC_SIM_NUMERICS_MMAROWS_H

#include "kvc/Sim/Numerics/FusedSum.h"

#include <cstdint>

namespace kvc::sim {

inline constexpr int kMmaRows = 16, kMmaColumns = 8;
/// The most products that an element of an mma has, in floats and in all.
inline constexpr int kMostFloatProducts = 32, kMostProducts = 64;

/// Matrices of codes, one a word: a is [products][16], b [8][products], c and d
/// [8][16], so that the 16 rows are lanes. tf32 comes without its padding.
struct FloatMatrices {
  SumFormats formats;
  int products;
  const uint32_t *a, *b, *c;
  uint32_t *d;
};

/// The same for integers of `bitsA`, `bitsB`; c and d are s32.
struct IntegerMatrices {
  int bitsA, bitsB;
  bool signedA, signedB;
  bool satfinite;
  int products;
  const uint32_t *a, *b, *c;
  uint32_t *d;
};

#define KVC_SIM_DECLARE_LEVEL(Name, name)                                      \
  namespace name {                                                             \
  /* Results of fusedSum. False, with d undefined, if there is an infinity or  \
     NaN on the way. */                                                        \
  bool fusedSums(const SumRule &rule, const FloatMatrices &matrices);          \
  /* c + a[0] * b[0] + a[1] * b[1] .. by fma in f32; f16 is rounded at the     \
     end. Inside a HostFloatScope. */                                          \
  void chainedSums(const FloatMatrices &matrices);                             \
  void integerSums(const IntegerMatrices &matrices);                           \
  }
#if defined(__x86_64__)
KVC_SIM_DECLARE_LEVEL(Avx2, avx2)
KVC_SIM_DECLARE_LEVEL(Avx512, avx512)
#endif
KVC_SIM_DECLARE_LEVEL(Baseline, baseline)
#undef KVC_SIM_DECLARE_LEVEL

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_MMAROWS_H
