//===- Convert.h - The conversions of cvt -----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// All of cvt but stochastic rounding, to the bit. What the ISA says in words:
//
// * From a float to an integer: clamped to the integer's range. NaN becomes 0,
//   but the type's highest bit alone if either side has 64 bits.
// * Narrow integers come out extended to the register by their sign or by
// zeros.
// * .ftz flushes subnormal f32, operands and rounded results.
// * Formats without infinity take their largest number for what is beyond it,
//   and those without NaN for NaN too (positive).
// * ue8m0 takes the magnitude. What is beyond 2^127 is NaN (0xFF) or, with
//   .satfinite, 2^127; NaN stays NaN.
// * tf32 leaves the 13 bits below it 0; NaN is that of f32.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_CONVERT_H
#define KVC_SIM_NUMERICS_CONVERT_H

#include "kvc/Sim/Numerics/FloatFormat.h"
#include "kvc/Sim/Numerics/Row.h"
#include "kvc/Sim/Syntax/Types.h"

#include <optional>

namespace kvc::sim {

/// Which rounding modifier a cvt has.
enum class RoundingWord : uint8_t {
  None,
  Number,  ///< .rn .rz .rm .rp .rna: to a number of the destination.
  Integer, ///< .rni .rzi .rmi .rpi: to an integer.
};

struct ConvertForm {
  Type to = Type::F32;
  Type from = Type::F32;
  RoundingWord word = RoundingWord::None;
  Rounding rounding = Rounding::NearestEven;
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool satfinite = false;
  /// Bits of the registers, which may be more than those of the types: 64 are
  /// a row of uint64_t.
  int toRegister = 32;
  int fromRegister = 32;

  bool operator==(const ConvertForm &) const = default;
};

/// Whether PTX has it, register sizes aside.
bool exists(const ConvertForm &form);

/// Whether it packs two f32, `a` above `b`. All others have one operand.
bool hasTwoOperands(const ConvertForm &form);

/// One lane, from integers alone.
uint64_t evaluate(const ConvertForm &form, uint64_t a, uint64_t b);

using ConvertRowFn = void (*)(const ConvertForm &form, void *d, const void *a,
                              const void *b);

/// A conversion, ready to run on rows inside a HostFloatScope.
class ConvertRow {
public:
  /// Nothing if PTX has no such form.
  static std::optional<ConvertRow> create(const ConvertForm &form,
                                          SimdLevel level = bestSimdLevel());

  /// `b` may be null if there is one operand.
  void operator()(void *d, const void *a, const void *b,
                  LaneMask active = kAllLanes) const;

private:
  ConvertRow(const ConvertForm &form, ConvertRowFn fn) : form(form), fn(fn) {}

  ConvertForm form;
  ConvertRowFn fn;
};

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_CONVERT_H
