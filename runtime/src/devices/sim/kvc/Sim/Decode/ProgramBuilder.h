//===- ProgramBuilder.h - What functions of a program share -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_DECODE_PROGRAMBUILDER_H
#define KVC_SIM_DECODE_PROGRAMBUILDER_H

#include "kvc/Sim/Decode/Decoder.h"

#include <map>
#include <tuple>

namespace kvc::sim {

/// A register of a function before it has rows.
struct VirtualRegister {
  std::string_view name;
  Type type = Type::None;
  uint32_t special = kNowhere; ///< In Program::specials.
};

/// One function, decoded by itself: targets are its own instructions, register
/// slots its virtual registers, predicate slots from 2 on its own predicates,
/// offsets in local memory those of its frame.
struct DecodedFunction {
  uint32_t indexInModule = 0;
  std::vector<Inst> code;
  std::vector<Place> places;
  std::vector<Slot> slots;
  std::vector<VirtualRegister> registers, predicates;
  uint32_t returnAddress = kNowhere; ///< A virtual register.
  std::vector<CallSite> calls;
  std::vector<Switch> switches;
  std::vector<MemoryObject> locals;
  uint64_t frameBytes = 0;
  std::vector<ParamPlace> params, results;
  std::vector<uint32_t> callees; ///< In Program::functions.
};

/// Pools of the program that is being made.
class ProgramBuilder {
public:
  explicit ProgramBuilder(const Symbols &symbols) : symbols(symbols) {}

  const Symbols &symbols;
  Program program;
  Diagnosis diagnosis;

  Slot constant(uint64_t bits, unsigned width);
  /// The address of a module's variable plus `addend`, in the variable's space.
  Slot address(uint32_t variable, int64_t addend, unsigned width);
  Slot functionAddress(uint32_t function, unsigned width);
  /// An offset in the frame of function `owner` of the program.
  Slot frameAddress(uint32_t owner, uint64_t offset, unsigned width);
  Slot sharedAddress(const Variable &variable, int64_t addend, unsigned width);
  Slot immediate(int64_t value);
  uint32_t modifiers(std::string_view opcode, const Modifiers &modifiers);
  uint32_t special(const SpecialInfo &info, unsigned component);
  /// The number in the program of a function of the module.
  uint32_t function(uint32_t indexInModule);
  /// Functions of the module that a pointer may mean.
  const std::vector<uint32_t> &addressTaken();
  /// Fails for an opcode that no form takes.
  const std::vector<Match> *match(std::string_view opcode, Position at);

  std::vector<uint32_t> functions; ///< Of the program, by module index.

  /// Gives offsets that are only known at the end: dynamic shared memory, and
  /// frames at `frameBases`.
  void settle(const std::vector<uint64_t> &frameBases);

private:
  enum class Kind : uint8_t { Bits, Global, Function, Frame, Dynamic };
  using Key = std::tuple<Kind, uint32_t, uint64_t, unsigned>;

  Slot pooled(const Key &key);

  std::map<Key, uint32_t> constants; ///< Index into Program::constants.
  std::map<int64_t, uint32_t> immediates;
  std::map<std::pair<std::string_view, const Form *>, uint32_t> modifierSets;
  std::map<std::pair<SpecialRegister, unsigned>, uint32_t> specials;
  std::unordered_map<std::string_view, std::vector<Match>> matches;
  std::unordered_map<const Variable *, uint64_t> sharedOffsets;
  std::unordered_map<uint32_t, uint32_t> programFunctions;
  std::optional<std::vector<uint32_t>> pointees;
  uint64_t dynamicAlign = 1;
};

/// Decodes one function of the module; `owner` is its number in the program.
bool decodeFunction(ProgramBuilder &builder, uint32_t owner,
                    DecodedFunction &function);

/// Puts the functions of the program together: rows, frames, blocks.
bool linkProgram(ProgramBuilder &builder,
                 std::vector<DecodedFunction> &functions);

} // namespace kvc::sim

#endif // KVC_SIM_DECODE_PROGRAMBUILDER_H
