//===- FunctionDecoder.cpp - One function's instructions ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/FunctionDecoder.h"

#include "kvc/Sim/Syntax/Types.h"

#include <algorithm>

using namespace kvc::sim;

using OperandKind = Operand::Kind;

bool kvc::sim::decodeFunction(ProgramBuilder &builder, uint32_t owner,
                              DecodedFunction &function) {
  const Function &syntax =
      builder.symbols.module().functions[function.indexInModule];
  return FunctionDecoder(builder, owner, syntax, function).run();
}

bool FunctionDecoder::run() {
  labelTargets.assign(syntax.labels.size(), kNowhere);
  listLabels.resize(syntax.targetLists.size());
  if (!scopes.build(builder.diagnosis) || !layOutParams())
    return false;
  for (const Statement &statement : syntax.statements) {
    bool ok = true;
    switch (statement.kind) {
    case Statement::Kind::Open:
      scopes.open();
      break;
    case Statement::Kind::Close:
      scopes.close();
      break;
    case Statement::Kind::Label:
      labelTargets[statement.index] = static_cast<uint32_t>(result.code.size());
      break;
    case Statement::Kind::Declare:
      ok = declare(statement.index);
      break;
    case Statement::Kind::Targets:
      ok = readTargets(statement.index);
      break;
    case Statement::Kind::Instruction:
      ok = decode(syntax.instructions[statement.index]);
      break;
    }
    if (!ok)
      return false;
  }
  addReturn();
  bindTargets();
  return true;
}

//===----------------------------------------------------------------------===//
// Parameters and variables
//===----------------------------------------------------------------------===//

/// Parameters of the kernel have a space of their own, those of functions lie
/// in the frame or in registers.
bool FunctionDecoder::layOutParams() {
  if (syntax.isEntry) {
    uint64_t &bytes = builder.program.paramBytes;
    for (const Variable &param : syntax.params) {
      const uint64_t offset = alignedTo(bytes, param.align);
      bytes = offset + param.bytes;
      if (bytes > kMaxParamBytes)
        return fail(param.name.at, "parameters",
                    "at most " + std::to_string(kMaxParamBytes) + " bytes",
                    std::to_string(bytes));
      kernelParams.push_back(offset);
      builder.program.objects.push_back({param.name.text, MemorySpace::Params,
                                         offset, param.bytes, param.align});
    }
    return true;
  }
  result.returnAddress = 0;
  result.registers.push_back({"", Type::B32});
  auto place = [&](const std::vector<Variable> &variables, Symbol::Kind kind,
                   std::vector<ParamPlace> &places) {
    for (uint32_t i = 0; i < variables.size(); ++i) {
      const Variable &variable = variables[i];
      ParamPlace &entry = places.emplace_back();
      if (variable.space == Space::Register)
        entry.slot = slotOf(
            {registerFor(variable, {kind, i, 0, 0}, 0), 1, variable.type},
            false);
      else if (!addToFrame(variable, entry.offset))
        return false;
      entry.bytes = variable.bytes;
    }
    return true;
  };
  return place(syntax.results, Symbol::Kind::Result, result.results) &&
         place(syntax.params, Symbol::Kind::Param, result.params);
}

bool FunctionDecoder::addToFrame(const Variable &variable, uint64_t &offset) {
  offset = alignedTo(result.frameBytes, variable.align);
  result.frameBytes = offset + variable.bytes;
  if (result.frameBytes > kMaxLocalBytes)
    return fail(variable.name.at, "local memory",
                "at most " + std::to_string(kMaxLocalBytes) + " bytes",
                std::to_string(result.frameBytes));
  frameOffsets[&variable] = offset;
  result.locals.push_back({variable.name.text, MemorySpace::Local, offset,
                           variable.bytes, variable.align});
  return true;
}

bool FunctionDecoder::declare(uint32_t index) {
  const Variable &variable = syntax.variables[index];
  if (!scopes.declare(index, builder.diagnosis))
    return false;
  uint64_t offset = 0;
  return (variable.space != Space::Local && variable.space != Space::Param) ||
         addToFrame(variable, offset);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

bool FunctionDecoder::decode(const Instruction &instruction) {
  Pending pending;
  pending.syntax = &instruction;
  if (!pickForm(instruction, pending))
    return false;
  const Form &form = *pending.modifiers().form;
  pending.inst.family = form.family;
  pending.inst.modifiers =
      builder.modifiers(instruction.opcode, pending.modifiers());
  if (!checkGuard(pending))
    return false;
  bool ok = true;
  switch (form.family) {
  case Family::Bra:
    ok = decodeBranch(pending);
    break;
  case Family::Brx:
    ok = decodeSwitch(pending);
    break;
  case Family::Call:
    ok = decodeCall(pending);
    break;
  default:
    ok = decodeOperands(pending);
    break;
  }
  if (ok)
    finish(pending);
  return ok;
}

Type FunctionDecoder::Pending::typeOf(const OperandForm &form) const {
  const Type type =
      form.typeIndex < 0 ? form.type : modifiers().types[form.typeIndex];
  return form.isWide ? twiceAsWide(type) : type;
}

/// Elements that the operand must have; 0: no vector.
unsigned FunctionDecoder::Pending::countOf(const OperandForm &form) const {
  if (!form.isVectorByWord)
    return form.count;
  const unsigned count = modifiers().vector();
  return count == 1 ? 0 : count;
}

static std::pair<size_t, size_t> countsOf(const Modifiers &modifiers) {
  size_t least = 0, most = 0;
  for (const OperandForm &form : modifiers.form->operands)
    if (form.isWritten(modifiers)) {
      least += !form.isOptional;
      ++most;
    }
  return {least, most};
}

/// Whether operands are as many as the form has, and vectors where it has them.
bool FunctionDecoder::hasShape(const Match &match,
                               std::span<const Operand> operands) const {
  const auto [least, most] = countsOf(match.modifiers);
  if (operands.size() < least || operands.size() > most)
    return false;
  size_t given = 0;
  for (const OperandForm &form : match.modifiers.form->operands) {
    if (!form.isWritten(match.modifiers) ||
        (form.isOptional && operands.size() < most))
      continue;
    const bool isVector = operands[given].kind == OperandKind::Vector;
    const bool isScalar =
        !form.isParts && form.count == 0 &&
        (!form.isVectorByWord || match.modifiers.vector() == 1);
    if (form.isParts ? !isVector : isScalar && isVector)
      return false;
    ++given;
  }
  return true;
}

bool FunctionDecoder::pickForm(const Instruction &instruction,
                               Pending &pending) {
  const std::vector<Match> *matches =
      builder.match(instruction.opcode, instruction.at);
  if (!matches)
    return false;
  const std::span<const Operand> operands{syntax.operands.data() +
                                              instruction.firstOperand,
                                          instruction.operandCount};
  const Target &target = builder.symbols.module().target;
  for (const Match &match : *matches) {
    const bool isSpecial =
        !match.modifiers.form->operands.empty() &&
        match.modifiers.form->operands[0].role == Role::Special;
    if (!isSpecial && !hasShape(match, operands))
      continue;
    // Two ways to the same may need different versions.
    const bool isBetter = pending.match && match.needs.isMetBy(target) &&
                          !pending.match->needs.isMetBy(target);
    if (!pending.match || isBetter)
      pending.match = &match;
  }
  if (!pending.match) {
    const auto [least, most] = countsOf(matches->front().modifiers);
    const bool isCount = operands.size() < least || operands.size() > most;
    return fail(instruction.at, instruction.opcode,
                (least == most
                     ? std::to_string(least)
                     : std::to_string(least) + " to " + std::to_string(most)) +
                    (most == 1 ? " operand" : " operands"),
                isCount ? std::to_string(operands.size())
                        : "a vector in a place for one value");
  }
  if (std::optional<Error> error = checkTarget(
          *pending.match, instruction.opcode, instruction.at, target)) {
    builder.diagnosis.error = *error;
    return false;
  }
  return true;
}

void FunctionDecoder::finish(Pending &pending) {
  pending.inst.firstSlot = static_cast<uint32_t>(result.slots.size());
  pending.inst.slotCount = static_cast<uint8_t>(pending.slots.size());
  result.slots.insert(result.slots.end(), pending.slots.begin(),
                      pending.slots.end());
  result.code.push_back(pending.inst);
  result.places.push_back({pending.syntax->at, pending.syntax->location});
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

bool FunctionDecoder::findLabel(const Name &name, uint32_t &label) {
  const Symbol symbol = scopes.find(name.text);
  if (symbol.kind != Symbol::Kind::Label)
    return fail(name.at, "branch", "a label of this block or one around it",
                quote(name.text));
  label = symbol.index;
  return true;
}

bool FunctionDecoder::decodeBranch(Pending &pending) {
  const Instruction &instruction = *pending.syntax;
  const Operand &operand = syntax.operands[instruction.firstOperand];
  if (instruction.operandCount != 1 || operand.kind != OperandKind::Word ||
      operand.isNegated || operand.offset != 0)
    return fail(instruction.at, instruction.opcode, "one label",
                std::to_string(instruction.operandCount) + " operands");
  uint32_t label = 0;
  if (!findLabel({operand.text, operand.at}, label))
    return false;
  branches.emplace_back(static_cast<uint32_t>(result.code.size()), label);
  return true;
}

/// brx.idx index, targets
bool FunctionDecoder::decodeSwitch(Pending &pending) {
  const Instruction &instruction = *pending.syntax;
  if (instruction.operandCount != 2)
    return fail(instruction.at, instruction.opcode, "2 operands",
                std::to_string(instruction.operandCount));
  const Operand &index = syntax.operands[instruction.firstOperand];
  const Operand &list = syntax.operands[instruction.firstOperand + 1];
  OperandForm form;
  form.role = Role::RegisterSource;
  form.type = Type::U32;
  if (!addOperand(pending, form, index))
    return false;
  const Symbol symbol = scopes.find(list.text);
  if (list.kind != OperandKind::Word || symbol.kind != Symbol::Kind::Targets ||
      syntax.targetLists[symbol.index].kind != TargetList::Kind::Branches)
    return fail(list.at, instruction.opcode, "the name of a .branchtargets",
                describe(list));
  pending.inst.target = static_cast<uint32_t>(result.switches.size());
  result.switches.emplace_back();
  switchLists.push_back(symbol.index);
  return true;
}

bool FunctionDecoder::readTargets(uint32_t index) {
  const TargetList &list = syntax.targetLists[index];
  if (list.kind != TargetList::Kind::Branches)
    return true;
  for (const Name &target : list.targets) {
    uint32_t label = 0;
    if (!findLabel(target, label))
      return false;
    listLabels[index].push_back(label);
  }
  return true;
}

/// A body may end without ret, and a label may be its last statement.
void FunctionDecoder::addReturn() {
  bool isOpen = result.code.empty();
  if (!isOpen) {
    const Inst &last = result.code.back();
    const bool isEnd =
        last.family == Family::Bra || last.family == Family::Brx ||
        last.family == Family::Ret || last.family == Family::Exit ||
        last.family == Family::Trap;
    isOpen = !isEnd || last.guard != Inst().guard;
  }
  for (uint32_t target : labelTargets)
    isOpen |= target == result.code.size();
  if (!isOpen)
    return;
  Instruction instruction;
  instruction.opcode = "ret";
  instruction.at = syntax.end;
  Pending pending;
  pending.syntax = &instruction;
  pending.match = &builder.match("ret", syntax.end)->front();
  pending.inst.family = Family::Ret;
  pending.inst.modifiers = builder.modifiers("ret", pending.modifiers());
  finish(pending);
}

void FunctionDecoder::bindTargets() {
  for (auto [instruction, label] : branches)
    result.code[instruction].target = labelTargets[label];
  for (size_t i = 0; i < result.switches.size(); ++i)
    for (uint32_t label : listLabels[switchLists[i]])
      result.switches[i].targets.push_back(labelTargets[label]);
}
