//===- FunctionDecoder.h - One function's instructions ----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_DECODE_FUNCTIONDECODER_H
#define KVC_SIM_DECODE_FUNCTIONDECODER_H

#include "kvc/Sim/Decode/ProgramBuilder.h"
#include "kvc/Sim/Decode/Scopes.h"

namespace kvc::sim {

/// Reads statements in order. Every function returns false after an error.
class FunctionDecoder {
public:
  FunctionDecoder(ProgramBuilder &builder, uint32_t owner,
                  const Function &syntax, DecodedFunction &result)
      : builder(builder), owner(owner), syntax(syntax), result(result),
        scopes(syntax) {}

  bool run();

private:
  /// An instruction that is being decoded.
  struct Pending {
    const Instruction *syntax = nullptr;
    const Match *match = nullptr;
    Inst inst;
    std::vector<Slot> slots;
    /// Type of an operand of the form.
    Type typeOf(const OperandForm &form) const;
    unsigned countOf(const OperandForm &form) const;
    const Modifiers &modifiers() const { return match->modifiers; }
  };

  // FunctionDecoder.cpp: statements and control flow.
  bool layOutParams();
  bool decode(const Instruction &instruction);
  bool pickForm(const Instruction &instruction, Pending &pending);
  bool hasShape(const Match &match, std::span<const Operand> operands) const;
  void finish(Pending &pending);
  bool decodeBranch(Pending &pending);
  bool decodeSwitch(Pending &pending);
  bool findLabel(const Name &name, uint32_t &label);
  bool readTargets(uint32_t list);
  bool declare(uint32_t variable);
  bool addToFrame(const Variable &variable, uint64_t &offset);
  void addReturn();
  void bindTargets();
  bool fail(Position at, std::string_view what, std::string_view expected,
            std::string_view got) {
    return builder.diagnosis.fail(at, what, expected, got);
  }

  // DecodeOperands.cpp.
  bool decodeOperands(Pending &pending);
  bool addOperand(Pending &pending, const OperandForm &form,
                  const Operand &operand);
  void addMissing(Pending &pending, const OperandForm &form);
  bool addVector(Pending &pending, const OperandForm &form,
                 const Operand &operand, unsigned count);
  bool addDestination(Pending &pending, const OperandForm &form,
                      const Operand &operand, Type type, bool isElement);
  bool addSource(Pending &pending, const OperandForm &form,
                 const Operand &operand, Type type, bool isElement);
  bool addPredicate(Pending &pending, const Operand &operand, bool isWritten,
                    bool takesSink, bool takesSpecial);
  bool addPair(Pending &pending, const OperandForm &form,
               const Operand &operand);
  bool addAddress(Pending &pending, const OperandForm &form,
                  const Operand &operand);
  bool addSymbolAddress(Pending &pending, const Operand &operand, Type type);
  bool addSpecial(Pending &pending, Position at, const SpecialInfo &info,
                  unsigned component, Type type);
  bool addInteger(Pending &pending, const OperandForm &form,
                  const Operand &operand);
  bool checkGuard(Pending &pending);

  // Names and registers.
  struct RegisterUse {
    uint32_t id = kNowhere; ///< The first virtual register.
    unsigned count = 1;     ///< More than one: a whole vector.
    Type type = Type::None;
  };
  bool findRegister(std::string_view name, RegisterUse &use);
  uint32_t registerFor(const Variable &variable, const Symbol &symbol,
                       unsigned component);
  Slot slotOf(const RegisterUse &use, bool isWritten, bool isNegated = false);
  std::string describe(const Operand &operand);
  struct VariableUse {
    const Variable *variable = nullptr;
    MemorySpace space = MemorySpace::None;
    uint32_t moduleIndex = kNowhere; ///< Of one in .global or .const.
    uint64_t frameOffset = 0;        ///< Of one in local memory.
    uint64_t paramOffset = 0;        ///< Of a kernel's parameter.
  };
  bool findVariable(std::string_view name, VariableUse &use);
  bool checkDefined(const Operand &operand, const VariableUse &use);
  Slot addressOf(const VariableUse &use, int64_t addend, unsigned width);
  bool offsetOf(const Operand &operand, const Variable &variable,
                int64_t &offset);

  // DecodeCalls.cpp.
  using Signature =
      std::pair<const std::vector<Variable> *, const std::vector<Variable> *>;
  bool decodeCall(Pending &pending);
  bool callNamed(const Pending &pending, const Operand &target,
                 Signature &signature, CallSite &site);
  bool callPointer(const Pending &pending, const Operand &target,
                   const Operand *list, Signature &signature, CallSite &site);
  bool callFunction(Position at, std::string_view name, Signature &signature,
                    CallSite &site);
  void addCallee(uint32_t function);
  bool addPlaces(const Pending &pending, const Operand *list,
                 const std::vector<Variable> &formals, bool areResults,
                 std::vector<ParamPlace> &places);
  bool placeOf(const Pending &pending, const Operand &actual,
               const Variable &formal, bool isResult, ParamPlace &place);

  std::span<const Operand> childrenOf(const Operand &operand) const {
    return {syntax.operands.data() + operand.firstChild, operand.childCount};
  }

  ProgramBuilder &builder;
  uint32_t owner;
  const Function &syntax;
  DecodedFunction &result;
  Scopes scopes;

  /// Virtual registers and predicates by declaration, element and component.
  std::map<std::tuple<Symbol::Kind, uint32_t, uint64_t>, uint32_t> registers;
  std::map<std::pair<SpecialRegister, unsigned>, uint32_t> specials;
  std::unordered_map<const Variable *, uint64_t> frameOffsets;
  std::vector<uint64_t> kernelParams; ///< Offsets.
  std::vector<uint32_t> labelTargets; ///< Instruction of each label.
  std::vector<std::pair<uint32_t, uint32_t>> branches; ///< To which label.
  std::vector<std::vector<uint32_t>> listLabels;       ///< Of each target list.
  std::vector<uint32_t> switchLists; ///< The target list of each switch.
  uint32_t carry = kNowhere; ///< The predicate that holds the carry flag.
};

} // namespace kvc::sim

#endif // KVC_SIM_DECODE_FUNCTIONDECODER_H
