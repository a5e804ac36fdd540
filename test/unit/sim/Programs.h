//===- Programs.h - Decoded kernels for tests -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_PROGRAMS_H
#define KVC_TEST_UNIT_SIM_PROGRAMS_H

#include "PtxText.h"

#include "kvc/Sim/Decode/Decoder.h"

namespace kvc::test {

/// The kernel k of a text, or the error that is in the way.
inline sim::Expected<sim::Program> decode(const std::string &text,
                                          std::string_view name = "k") {
  sim::Expected<sim::Module> module = sim::parseModule(text);
  if (!module)
    return module.error();
  sim::Expected<sim::Symbols> symbols = sim::Symbols::of(*module);
  if (!symbols)
    return symbols.error();
  return sim::decodeKernel(*symbols, name);
}

/// The same of a text that must decode.
inline sim::Program decoded(const std::string &text,
                            std::string_view name = "k") {
  sim::Expected<sim::Program> program = decode(text, name);
  if (program)
    return std::move(*program);
  ADD_FAILURE() << program.error().str() << "\n" << text;
  return {};
}

/// "LINE:COLUMN: message" of a text that must not.
inline std::string decodeErrorOf(const std::string &text,
                                 std::string_view name = "k") {
  sim::Expected<sim::Program> program = decode(text, name);
  if (!program)
    return program.error().str();
  ADD_FAILURE() << "no error in\n" << text;
  return "";
}

/// One slot: %r1 a register, *%r1 one that is written, #ff a constant, =4 an
/// immediate, !%p a negated predicate, _ nothing.
inline std::string slotText(const sim::Program &program, size_t index) {
  using File = sim::Slot::File;
  const sim::Slot slot = program.slots[index];
  char buffer[32];
  switch (slot.file()) {
  case File::Nothing:
    return "_";
  case File::Constant:
    for (const sim::ConstantRow &row : program.constants)
      if (row.row == slot.index()) {
        std::snprintf(buffer, sizeof(buffer), "#%llx",
                      static_cast<unsigned long long>(row.bits));
        return buffer;
      }
    return "#?";
  case File::Immediate:
    return "=" + std::to_string(program.immediates[slot.index()]);
  case File::Predicate:
    if (slot.index() <= sim::kTrue)
      return slot.index() == sim::kTrue ? "true" : "false";
    [[fallthrough]];
  case File::Register:
    return std::string(slot.isWritten() ? "*" : "") +
           (slot.isNegated() ? "!" : "") +
           std::string(program.slotNames[index]);
  }
  return "?";
}

/// The slots of one instruction.
inline std::string slotsText(const sim::Program &program, size_t index) {
  const sim::Inst &inst = program.code.at(index);
  std::string text;
  for (uint32_t i = 0; i < inst.slotCount; ++i)
    text += (i ? " " : "") + slotText(program, inst.firstSlot + i);
  return text;
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_PROGRAMS_H
