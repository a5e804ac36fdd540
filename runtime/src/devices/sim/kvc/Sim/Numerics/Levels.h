//===- Levels.h - Rows compiled for each instruction set --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The sources *Rows.cpp are compiled once per SimdLevel, each time with
// KVC_SIM_LEVEL naming the namespace that they fill. Whatever they define or
// instantiate lies in that namespace, so that the linker never takes code of
// one instruction set for another's.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_LEVELS_H
#define KVC_SIM_NUMERICS_LEVELS_H

#include "kvc/Sim/Numerics/Approx.h"
#include "kvc/Sim/Numerics/Convert.h"
#include "kvc/Sim/Numerics/FloatOps.h"
#include "kvc/Sim/Numerics/IntegerForms.h"

#if defined(__x86_64__)
#define KVC_SIM_FOR_EACH_LEVEL(DO)                                             \
  DO(Baseline, baseline) DO(Avx2, avx2) DO(Avx512, avx512)
#else
#define KVC_SIM_FOR_EACH_LEVEL(DO) DO(Baseline, baseline)
#endif

namespace kvc::sim {

/// What two values are to each other, and which of it makes a comparison true.
enum Outcome : unsigned {
  kLess = 1,
  kEqual = 2,
  kGreater = 4,
  kUnordered = 8,
};
constexpr unsigned outcomesOf(Comparison comparison) {
  constexpr unsigned outcomes[] = {
      /*Eq=*/kEqual,
      /*Ne=*/kLess | kGreater,
      /*Lt=*/kLess,
      /*Le=*/kLess | kEqual,
      /*Gt=*/kGreater,
      /*Ge=*/kGreater | kEqual,
      /*Equ=*/kEqual | kUnordered,
      /*Neu=*/kLess | kGreater | kUnordered,
      /*Ltu=*/kLess | kUnordered,
      /*Leu=*/kLess | kEqual | kUnordered,
      /*Gtu=*/kGreater | kUnordered,
      /*Geu=*/kGreater | kEqual | kUnordered,
      /*Num=*/kLess | kEqual | kGreater,
      /*Nan=*/kUnordered,
  };
  return outcomes[unsigned(comparison)];
}

/// What one level has. Each finder answers null for a form without a row of its
/// own, which integers then compute lane by lane.
#define KVC_SIM_DECLARE_LEVEL(Name, name)                                      \
  namespace name {                                                             \
  FloatRowFn findFloatRow(const FloatForm &form);                              \
  CompareRowFn findCompareRow(const CompareForm &form);                        \
  ConvertRowFn findConvertRow(const ConvertForm &form);                        \
  ApproxRowFn findApproxRow(const ApproxForm &form);                           \
  IntegerRowFn findIntegerRow(const IntegerForm &form);                        \
  IntegerCompareFn findIntegerCompare(Comparison comparison, Type type);       \
  /* The value of a function in f64; NaN where it has none. */                 \
  double approxValue(ApproxOp op, double a, double b);                         \
  }
KVC_SIM_FOR_EACH_LEVEL(KVC_SIM_DECLARE_LEVEL)
#undef KVC_SIM_DECLARE_LEVEL

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_LEVELS_H
