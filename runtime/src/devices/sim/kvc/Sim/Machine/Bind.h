//===- Bind.h - From decoded instructions to handlers -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each Bind*.cpp knows some families: it makes of an instruction's modifiers
// what its handler needs, once per launch with new options.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_BIND_H
#define KVC_SIM_MACHINE_BIND_H

#include "kvc/Sim/Machine/State.h"
#include "kvc/Sim/Numerics/FloatOps.h"

namespace kvc::sim {

/// A register of 128 bits.
struct Long {
  uint64_t low, high;
  bool operator==(const Long &) const = default;
};

/// The handler of what has no effect here.
inline void runNothing(Warp &, const Step &, LaneMask) {}

/// One instruction on its way to a step.
class Binding {
public:
  Binding(ExecutableKernel &kernel, const Inst &inst, Step &step)
      : inst(inst), modifiers(kernel.program.modifiersOf(inst)),
        slots(kernel.program.slotsOf(inst)), kernel(kernel), step(step) {}

  Family family() const { return inst.family; }
  bool has(Word word) const { return modifiers.has(word); }
  Type type(unsigned index = 0) const { return modifiers.types[index]; }
  int64_t immediate(size_t slot) const {
    return kernel.program.immediates[slots[slot].index()];
  }
  bool isNothing(size_t slot) const {
    return slot >= slots.size() || slots[slot].isNothing();
  }

  /// The instruction's handler, with what it needs. Always true.
  bool to(Handler run) {
    step.run = run;
    return true;
  }
  template <typename Form>
  bool to(Handler run, Form form) {
    auto kept = std::make_shared<const Form>(std::move(form));
    step.form = kept.get();
    kernel.forms.push_back(std::move(kept));
    return to(run);
  }
  /// The same of a form that may not exist; false if it does not.
  template <typename Form>
  bool toIf(Handler run, std::optional<Form> form) {
    return form && to(run, std::move(*form));
  }

  /// The lanes wait for those that a slot of masks names, or for all.
  void gatherBy(size_t slot) {
    step.gathers = true;
    step.members = step.operands[slot];
  }
  void gatherAll() { step.gathers = true; }

  const Inst &inst;
  const Modifiers &modifiers;
  std::span<const Slot> slots;
  ExecutableKernel &kernel;

private:
  Step &step;
};

/// Each binds the instructions of its families; false for those of others, and
/// for forms that the machine lacks.
bool bindIntegers(Binding &binding);
bool bindFloats(Binding &binding);
bool bindComparisons(Binding &binding);
bool bindMoves(Binding &binding);
bool bindExchanges(Binding &binding);
bool bindMemory(Binding &binding);
bool bindAtomics(Binding &binding);
bool bindAsync(Binding &binding);
bool bindMbarriers(Binding &binding);
bool bindBarriers(Binding &binding);
bool bindMatrices(Binding &binding);
bool bindFlow(Binding &binding);

template <typename Form>
const Form &formOf(const Step &step) {
  return *static_cast<const Form *>(step.form);
}

/// The rounding that an instruction names, to nearest even if it names none.
Rounding roundingOf(const Modifiers &modifiers);

/// eq to nan, and lo, ls, hi, hs.
std::optional<Comparison> comparisonOf(const Modifiers &modifiers);

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_BIND_H
