//===- Approx.h - The approximations of PTX ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh and div where the ISA promises no
// bits but an error. The bits of devices are not public, so there are two
// models, both the same on every machine:
//
// * exact: the function's value in f64 (to about 2^-50) rounded once, which is
//   the correctly rounded result but for a few operands in 10^8;
// * perturbed: a result that the ISA allows too, as far off as it allows or
//   less, drawn from a seed, the instruction and its operands. A kernel whose
//   results depend on it asks more of a device than the ISA says.
//
// Results that the ISA names (zeros, infinities, NaN, ex2 and cos of zeros) are
// never perturbed.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_APPROX_H
#define KVC_SIM_NUMERICS_APPROX_H

#include "kvc/Sim/Numerics/Row.h"
#include "kvc/Sim/Syntax/Types.h"

#include <optional>
#include <span>

namespace kvc::sim {

enum class ApproxOp : uint8_t {
  Ex2,
  Lg2,
  Rcp,
  Rsqrt,
  Sqrt,
  Sin,
  Cos,
  Tanh,
  Div,     ///< div.approx
  DivFull, ///< div.full
};

/// An instruction: its type is F16, F16x2, BF16, BF16x2, F32 or F64.
struct ApproxForm {
  ApproxOp op = ApproxOp::Ex2;
  Type type = Type::F32;
  bool ftz = false;
};

/// Whether PTX has it.
bool exists(const ApproxForm &form);

enum class ErrorKind : uint8_t {
  Ulp,      ///< Units in the last place of the result.
  Relative, ///< Of the exact value.
  Absolute,
};

/// An error that the ISA allows for operands `low` <= |x| < `high`; the type is
/// that of one value. f64 has no stated bound, and none is here.
struct ApproxBound {
  ApproxOp op;
  Type type;
  double low, high;
  ErrorKind kind;
  double error;
  const char *text; ///< As a person writes it: "2^-22".
};

/// Every bound in use, the first that fits an operand counting.
std::span<const ApproxBound> approxBounds();
/// The bound for a result of operand `x` (of div: the divisor); null if the ISA
/// names the result or says nothing of it.
const ApproxBound *boundFor(const ApproxForm &form, double x);

/// How approximations come out.
struct ApproxMode {
  bool perturb = false;
  uint64_t seed = 0;
};

/// One lane, inside a HostFloatScope.
uint64_t evaluate(const ApproxForm &form, const ApproxMode &mode, uint64_t a,
                  uint64_t b);

using ApproxRowFn = void (*)(void *d, const void *a, const void *b);

/// An approximation, ready to run on rows inside a HostFloatScope.
class ApproxRow {
public:
  /// Nothing if PTX has no such form.
  static std::optional<ApproxRow> create(const ApproxForm &form,
                                         const ApproxMode &mode = {},
                                         SimdLevel level = bestSimdLevel());

  /// `b` may be null but for div.
  void operator()(void *d, const void *a, const void *b,
                  LaneMask active = kAllLanes) const;

private:
  ApproxRow(const ApproxForm &form, const ApproxMode &mode, ApproxRowFn fn)
      : form(form), mode(mode), fn(fn) {}

  void run(void *d, const void *a, const void *b) const;

  ApproxForm form;
  ApproxMode mode;
  ApproxRowFn fn; ///< Null: lane by lane.
};

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_APPROX_H
