//===- Mma.h - mma.sync -----------------------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// mma.sync m16n8k4 to m16n8k64, A by rows and B by columns: f16, bf16, tf32,
// e4m3 and e5m2 with f32 or f16 results, 8- and 4-bit integers with s32. The
// sums are those of a generation of tensor cores (TensorCore.h), or a plain
// chain of f32 fma in order of k, rounded to f16 at the end.
//
// Integers: exact, modulo 2^32 or clamped with .satfinite.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_MMA_H
#define KVC_SIM_NUMERICS_MMA_H

#include "kvc/Sim/Numerics/FloatOps.h"
#include "kvc/Sim/Numerics/Fragment.h"
#include "kvc/Sim/Numerics/MmaRows.h"
#include "kvc/Sim/Numerics/TensorCore.h"
#include "kvc/Sim/Syntax/Types.h"

#include <memory>
#include <optional>

namespace kvc::sim {

struct MmaForm {
  int k = 16;
  Type a = Type::F16, b = Type::F16; ///< F16 BF16 TF32 E4M3 E5M2 S8 U8 S4 U4
  Type d = Type::F32;                ///< F32, F16 or S32, of C too.
  bool satfinite = false;
};

/// Whether PTX has it (as m16n8kK).
bool exists(const MmaForm &form);

/// The layouts of its operands, for tools that want to know.
layout::RegisterLayout layoutOfA(const MmaForm &form);
layout::RegisterLayout layoutOfB(const MmaForm &form);
layout::RegisterLayout layoutOfC(const MmaForm &form);

/// An instruction, ready to run inside a HostFloatScope.
class Mma {
public:
  /// Sums of the form's products by `core`, or chained if that is null. Nothing
  /// if PTX has no such form or the core no such operands.
  static std::optional<Mma> create(const MmaForm &form, const TensorCore *core,
                                   SimdLevel level = bestSimdLevel());

  int registersOfA() const { return maps->a.registers(); }
  int registersOfB() const { return maps->b.registers(); }
  int registersOfC() const { return maps->c.registers(); }

  /// All lanes take part. Rows of d may be rows of any operand.
  void operator()(uint32_t *const *d, const uint32_t *const *a,
                  const uint32_t *const *b, const uint32_t *const *c) const;

private:
  /// Arrays that the kernels take, from registers.
  struct Maps {
    FragmentMap a, b, c;
  };

  Mma(const MmaForm &form, SimdLevel level) : form(form), level(level) {}

  void runFloats(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                 uint32_t *d) const;
  void runThroughF16(uint32_t *a, uint32_t *b, uint32_t *d) const;
  void runIntegers(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                   uint32_t *d) const;

  MmaForm form;
  SimdLevel level;
  std::shared_ptr<const Maps> maps;
  SumRule rule{}; ///< No terms: chained.
  /// Adds the addend after products that went through f16.
  std::optional<FloatRow> lateAdd;
};

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_MMA_H
