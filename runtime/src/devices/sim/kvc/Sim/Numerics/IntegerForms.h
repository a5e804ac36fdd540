//===- IntegerForms.h - Integer instructions on rows ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Instructions on integers and bits, whole rows at a time. The frequent ones
// are compiled per level (IntegerRows.cpp), the others go lane by lane through
// IntegerOps.h.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_INTEGERFORMS_H
#define KVC_SIM_NUMERICS_INTEGERFORMS_H

#include "kvc/Sim/Numerics/FloatOps.h"

namespace kvc::sim {

enum class IntegerOp : uint8_t {
  Add,
  Sub,
  MulLow,
  MulHigh,
  MulWide, ///< The result has twice the bits; so has c of MadWide.
  MadLow,
  MadHigh,
  MadWide,
  Mul24Low,
  Mul24High,
  Mad24Low,
  Mad24High,
  Sad,
  Div,
  Rem,
  Abs,
  Neg,
  Min,
  Max,
  And,
  Or,
  Xor,
  Not,
  Cnot,
  Shl, ///< b: a row of u32, as all amounts, positions and lengths.
  Shr,
  Popc, ///< Results are u32.
  Clz,
  Bfind,
  BfindShift, ///< bfind.shiftamt
  Brev,
  Bfe,
  Bfi, ///< d: 4 operands; a field, b base, c position, e length.
  Fns,
  SzextClamp,
  SzextWrap,
  BmskClamp,
  BmskWrap,
  Dp4a, ///< Signs of a and b: type and typeB.
  Dp2aLow,
  Dp2aHigh,
  Lop3,           ///< parameter: the table.
  FunnelLeftWrap, ///< a low, b high, c amount.
  FunnelLeftClamp,
  FunnelRightWrap,
  FunnelRightClamp,
  Prmt, ///< parameter: integer::Permute.
};

/// An instruction. 16-bit values take 32-bit rows, whatever lies above them is
/// ignored in operands and 0 in results.
struct IntegerForm {
  IntegerOp op = IntegerOp::Add;
  Type type = Type::U32; ///< U, S or B of 16 to 64 bits, U16x2, S16x2
  Type typeB = Type::None;
  bool sat = false, relu = false;
  uint32_t parameter = 0;
};

/// Operands that the instruction lacks are not read.
using IntegerRowFn = void (*)(uint32_t parameter, void *d, const void *a,
                              const void *b, const void *c, const void *e);

/// An instruction, ready to run on rows.
class IntegerRow {
public:
  /// Nothing if PTX has no such form.
  static std::optional<IntegerRow> create(const IntegerForm &form,
                                          SimdLevel level = bestSimdLevel());

  void operator()(void *d, const void *a, const void *b, const void *c,
                  const void *e, LaneMask active = kAllLanes) const;

private:
  IntegerRow(IntegerRowFn fn, uint32_t parameter, bool isWide)
      : fn(fn), parameter(parameter), isWide(isWide) {}

  IntegerRowFn fn;
  uint32_t parameter;
  bool isWide; ///< Results are 64-bit.
};

/// A comparison of integers: Eq to Ge, by the type's sign and bits.
using IntegerCompareFn = LaneMask (*)(const void *a, const void *b);

/// Null if PTX has no such comparison.
IntegerCompareFn integerCompare(Comparison comparison, Type type,
                                SimdLevel level = bestSimdLevel());

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_INTEGERFORMS_H
