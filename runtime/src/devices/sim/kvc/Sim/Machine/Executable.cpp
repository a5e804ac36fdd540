//===- Executable.cpp - Instructions bound to handlers --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Bind.h"

#include <algorithm>

using namespace kvc::sim;

namespace {

uint32_t encoded(Slot slot) {
  switch (slot.file()) {
  case Slot::File::Register:
    return slot.index();
  case Slot::File::Constant:
    return slot.index() | kConstantFile;
  case Slot::File::Predicate:
    return slot.index() | (slot.isNegated() ? kNegated : 0);
  default:
    return kNoOperand;
  }
}

bool bindStep(Binding &binding) {
  return bindIntegers(binding) || bindFloats(binding) ||
         bindComparisons(binding) || bindMoves(binding) ||
         bindMemory(binding) || bindFlow(binding) || bindExchanges(binding) ||
         bindBarriers(binding) || bindMatrices(binding) ||
         bindAtomics(binding) || bindAsync(binding) || bindMbarriers(binding);
}

/// Whether an instruction lets blocks see each other's work before they end.
bool isBetweenBlocks(const Program &program, const Inst &inst) {
  const bool isGlobal =
      inst.space == MemorySpace::Global || inst.space == MemorySpace::Generic;
  const Modifiers &modifiers = program.modifiersOf(inst);
  switch (inst.family) {
  case Family::Atom:
  case Family::Red:
    return isGlobal;
  case Family::Ld:
  case Family::St:
    return isGlobal &&
           modifiers.firstOf({Word::Volatile, Word::Relaxed, Word::Acquire,
                              Word::Release, Word::Mmio}) != Word::None;
  case Family::Call: {
    const Builtin builtin = program.calls[inst.target].builtin;
    return builtin == Builtin::Malloc || builtin == Builtin::Free;
  }
  default:
    return false;
  }
}

/// An instruction's opcode as it is written.
std::string_view opcodeAt(std::string_view text, Position at) {
  for (uint32_t line = 1; line < at.line; ++line)
    text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  text.remove_prefix(std::min<size_t>(at.column - 1, text.size()));
  return text.substr(0, text.find_first_of(" \t\r\n;"));
}

} // namespace

std::optional<Error>
ExecutableKernel::bind(const std::vector<uint64_t> &addresses,
                       const LaunchOptions &options) {
  const bool isSame = isBound && mma.core == options.mma.core &&
                      mma.isChain == options.mma.isChain &&
                      approx.perturb == options.approx.perturb &&
                      approx.seed == options.approx.seed &&
                      level == options.level;
  if (isSame)
    return std::nullopt;
  isBound = false;
  mma = options.mma;
  approx = options.approx;
  level = options.level;
  forms.clear();
  operands.clear();
  steps.assign(program.code.size(), {});
  isShared = false;

  for (Slot slot : program.slots)
    operands.push_back(encoded(slot));
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Inst &inst = program.code[i];
    Step &step = steps[i];
    step.operands = operands.data() + inst.firstSlot;
    step.count = inst.slotCount;
    step.guard = encoded(inst.guard);
    step.readsChanging = inst.readsChanging;
    Binding binding(*this, inst, step);
    if (!bindStep(binding)) {
      Diagnosis diagnosis;
      diagnosis.fail(program.places[i].at, "instruction",
                     "one that the machine executes",
                     quote(opcodeAt(*program.text, program.places[i].at)));
      return diagnosis.error;
    }
    isShared |= isBetweenBlocks(program, inst);
  }
  for (const Block &block : program.blocks)
    steps[block.first].startsBlock = true;

  constantRows.assign(size_t(program.constantRows) * kLanes, 0);
  for (const ConstantRow &constant : program.constants) {
    uint64_t value = constant.bits;
    if (constant.kind == ConstantRow::Kind::Global)
      value += addresses[constant.index];
    else if (constant.kind == ConstantRow::Kind::Function)
      value = kFunctionWindow + constant.index * kFunctionBytes;
    uint32_t *row = constantRows.data() + size_t(constant.row) * kLanes;
    for (int lane = 0; lane < kLanes; ++lane)
      if (constant.width == 64)
        std::memcpy(row + size_t(lane) * 2, &value, sizeof(value));
      else
        row[lane] = uint32_t(value);
  }
  isBound = true;
  return std::nullopt;
}
