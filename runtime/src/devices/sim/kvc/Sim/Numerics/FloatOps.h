//===- FloatOps.h - Float arithmetic as PTX has it --------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// add, sub, mul, fma, div, rcp, sqrt with their IEEE roundings, min, max, abs,
// neg, copysign, and comparisons: to the bit. Approximations are in Approx.h.
//
// Where the ISA leaves bits open: results that are NaN are the format's NaN of
// FloatFormat.h; abs, neg and copysign change the sign of NaN alone; .ftz
// flushes the rounded result; what .sat and .relu clamp to 0 is +0.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_FLOATOPS_H
#define KVC_SIM_NUMERICS_FLOATOPS_H

#include "kvc/Sim/Numerics/FloatFormat.h"
#include "kvc/Sim/Numerics/Row.h"
#include "kvc/Sim/Syntax/Types.h"

#include <optional>

namespace kvc::sim {

enum class FloatOp : uint8_t {
  Add,
  Sub,
  Mul,
  Fma,
  Div,
  Rcp,
  Sqrt,
  Min,
  Max,
  Abs,
  Neg,
  CopySign, ///< The magnitude of b with the sign of a.
};

/// An instruction: its type is F16, F16x2, BF16, BF16x2, F32 or F64.
struct FloatForm {
  FloatOp op = FloatOp::Add;
  Type type = Type::F32;
  Rounding rounding = Rounding::NearestEven;
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool nan = false;        ///< min, max: .NaN
  bool xorsignAbs = false; ///< min, max: .xorsign.abs
};

/// Whether PTX has it.
bool exists(const FloatForm &form);

/// One lane, from integers alone; operands that the instruction lacks are
/// ignored.
uint64_t evaluate(const FloatForm &form, uint64_t a, uint64_t b, uint64_t c);

using FloatRowFn = void (*)(const FloatForm &form, void *d, const void *a,
                            const void *b, const void *c);

/// An instruction, ready to run on rows inside a HostFloatScope.
class FloatRow {
public:
  /// Nothing if PTX has no such form.
  static std::optional<FloatRow> create(const FloatForm &form,
                                        SimdLevel level = bestSimdLevel());

  /// Rows of operands that the instruction lacks may be null.
  void operator()(void *d, const void *a, const void *b, const void *c,
                  LaneMask active = kAllLanes) const;

  const FloatForm &form() const { return ownForm; }

private:
  FloatRow(const FloatForm &form, FloatRowFn fn) : ownForm(form), fn(fn) {}

  FloatForm ownForm;
  FloatRowFn fn;
};

/// Comparisons. The ones from Equ on are true if an operand is NaN.
enum class Comparison : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};

/// A comparison of F16, BF16, F32 or F64, of the lower halves of F16x2 and
/// BF16x2, or with `upper` of their upper halves.
struct CompareForm {
  Comparison comparison = Comparison::Eq;
  Type type = Type::F32;
  bool ftz = false;
  bool upper = false;
};

bool exists(const CompareForm &form);

/// One lane, from integers alone.
bool evaluate(const CompareForm &form, uint64_t a, uint64_t b);

using CompareRowFn = LaneMask (*)(const CompareForm &form, const void *a,
                                  const void *b);

/// A comparison, ready to run on rows inside a HostFloatScope: a bit for each
/// lane.
class CompareRow {
public:
  static std::optional<CompareRow> create(const CompareForm &form,
                                          SimdLevel level = bestSimdLevel());

  LaneMask operator()(const void *a, const void *b) const;

private:
  CompareRow(const CompareForm &form, CompareRowFn fn) : form(form), fn(fn) {}

  CompareForm form;
  CompareRowFn fn;
};

/// testp, of F32 and F64.
enum class FloatTest : uint8_t {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal
};
bool evaluate(FloatTest test, Type type, uint64_t a);
LaneMask testRow(FloatTest test, Type type, const void *a);

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_FLOATOPS_H
