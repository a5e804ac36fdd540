//===- DecodeOperands.cpp - Operands as slots -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/FunctionDecoder.h"

#include <algorithm>

using namespace kvc::sim;

using OperandKind = Operand::Kind;

static std::string dotted(Type type) { return "." + std::string(nameOf(type)); }

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

uint32_t FunctionDecoder::registerFor(const Variable &variable,
                                      const Symbol &symbol,
                                      unsigned component) {
  auto &list =
      variable.type == Type::Pred ? result.predicates : result.registers;
  auto [entry, isNew] = registers.emplace(
      std::tuple(symbol.kind, symbol.index, symbol.element * 4 + component),
      static_cast<uint32_t>(list.size()));
  if (isNew)
    list.push_back({variable.name.text, variable.type});
  return entry->second;
}

Slot FunctionDecoder::slotOf(const RegisterUse &use, bool isWritten,
                             bool isNegated) {
  if (use.type == Type::Pred)
    return {Slot::File::Predicate, 32, 2 + use.id, isWritten, isNegated};
  return {Slot::File::Register, bitsOf(use.type), use.id, isWritten};
}

/// A register, one component of a vector, or a whole vector.
bool FunctionDecoder::findRegister(std::string_view name, RegisterUse &use) {
  const size_t dot = name.find('.');
  const Symbol symbol = scopes.find(name.substr(0, dot));
  const Variable *variable = nullptr;
  if (symbol.kind == Symbol::Kind::Register)
    variable = &syntax.variables[symbol.index];
  else if (symbol.kind == Symbol::Kind::Result)
    variable = &syntax.results[symbol.index];
  else if (symbol.kind == Symbol::Kind::Param)
    variable = &syntax.params[symbol.index];
  if (!variable || variable->space != Space::Register)
    return false;
  unsigned component = 0;
  use.count = variable->vector;
  if (dot != std::string_view::npos) {
    static constexpr std::string_view names = "xyzwrgba";
    const size_t at =
        dot + 2 == name.size() ? names.find(name[dot + 1]) : names.npos;
    component = static_cast<unsigned>(at % 4);
    if (at == names.npos || use.count == 1 || component >= use.count)
      return false;
    use.count = 1;
  }
  use.type = variable->type;
  use.id = registerFor(*variable, symbol, component);
  for (unsigned i = 1; i < use.count; ++i)
    registerFor(*variable, symbol, i);
  // Names in messages are those of single registers, not of their range.
  if (symbol.element > 0 || variable->isRange)
    (use.type == Type::Pred ? result.predicates : result.registers)[use.id]
        .name = name;
  return true;
}

bool FunctionDecoder::findVariable(std::string_view name, VariableUse &use) {
  const Symbol symbol = scopes.find(name);
  switch (symbol.kind) {
  case Symbol::Kind::Variable:
    use.variable = &syntax.variables[symbol.index];
    break;
  case Symbol::Kind::Result:
    use.variable = &syntax.results[symbol.index];
    break;
  case Symbol::Kind::Param:
    use.variable = &syntax.params[symbol.index];
    if (syntax.isEntry) {
      use.space = MemorySpace::Params;
      use.paramOffset = kernelParams[symbol.index];
      return true;
    }
    break;
  case Symbol::Kind::None:
    if (std::optional<uint32_t> index = builder.symbols.variableNamed(name)) {
      use.moduleIndex = *index;
      use.variable = builder.symbols.variables[*index].variable;
    }
    break;
  default:
    break;
  }
  if (!use.variable)
    return false;
  switch (use.variable->space) {
  case Space::Global:
  case Space::Const:
    if (use.moduleIndex == kNowhere)
      use.moduleIndex = builder.symbols.indexOf(*use.variable);
    use.space = use.variable->space == Space::Global ? MemorySpace::Global
                                                     : MemorySpace::Const;
    return true;
  case Space::Shared:
    use.space = MemorySpace::Shared;
    return true;
  case Space::Local:
  case Space::Param:
    use.space = MemorySpace::Local;
    use.frameOffset = frameOffsets.at(use.variable);
    return true;
  default:
    return false;
  }
}

Slot FunctionDecoder::addressOf(const VariableUse &use, int64_t addend,
                                unsigned width) {
  switch (use.space) {
  case MemorySpace::Params:
    return builder.constant(use.paramOffset + uint64_t(addend), width);
  case MemorySpace::Local:
    return builder.frameAddress(owner, use.frameOffset + uint64_t(addend),
                                width);
  case MemorySpace::Shared:
    return builder.sharedAddress(*use.variable, addend, width);
  default:
    return builder.address(use.moduleIndex, addend, width);
  }
}

/// In bytes.
bool FunctionDecoder::offsetOf(const Operand &operand, const Variable &variable,
                               int64_t &offset) {
  offset = operand.offset;
  if (!operand.isIndexed)
    return true;
  const uint64_t count =
      variable.extents.empty() ? 1 : std::max<uint64_t>(variable.extents[0], 1);
  const uint64_t step = variable.isUnsized
                            ? bitsOf(variable.type) / 8 * variable.vector
                            : variable.bytes / count;
  if (__builtin_mul_overflow(operand.offset, int64_t(step), &offset))
    return fail(operand.at, "index", "an offset of 64 bits", "a larger one");
  return true;
}

/// An operand in a message.
std::string FunctionDecoder::describe(const Operand &operand) {
  switch (operand.kind) {
  case OperandKind::Sink:
    return "\"_\"";
  case OperandKind::Vector:
    return "a vector";
  case OperandKind::Pair:
    return "a pair";
  case OperandKind::Address:
    return "an address";
  case OperandKind::List:
    return "a list";
  case OperandKind::Number:
    return operand.constant.isInteger() ? "an integer" : "a fraction";
  case OperandKind::Word:
    break;
  }
  RegisterUse use;
  if (findRegister(operand.text, use))
    return (operand.isNegated ? "the negation of " : "") + quote(operand.text) +
           " of type " + dotted(use.type) + (use.count > 1 ? ", a vector" : "");
  VariableUse variable;
  if (findVariable(operand.text, variable))
    return "the variable " + quote(operand.text);
  if (specialNamed(operand.text))
    return "the special register " + quote(operand.text);
  if (builder.symbols.functionNamed(operand.text))
    return "the function " + quote(operand.text);
  if (scopes.find(operand.text).kind != Symbol::Kind::None)
    return "the label " + quote(operand.text);
  return quote(operand.text) + ", which is not declared";
}

//===----------------------------------------------------------------------===//
// Operands by the form
//===----------------------------------------------------------------------===//

bool FunctionDecoder::checkGuard(Pending &pending) {
  const Instruction &instruction = *pending.syntax;
  if (instruction.guard.text.empty())
    return true;
  RegisterUse use;
  if (!findRegister(instruction.guard.text, use) || use.type != Type::Pred ||
      use.count != 1) {
    Operand operand;
    operand.text = instruction.guard.text;
    return fail(instruction.guard.at, "guard", "a register of type .pred",
                describe(operand));
  }
  pending.inst.guard = slotOf(use, false, instruction.isGuardNegated);
  return true;
}

bool FunctionDecoder::decodeOperands(Pending &pending) {
  const Instruction &instruction = *pending.syntax;
  const Modifiers &modifiers = pending.modifiers();
  size_t most = 0;
  for (const OperandForm &form : modifiers.form->operands)
    most += form.isWritten(modifiers);
  const bool isShort = instruction.operandCount < most;
  const Operand *next = syntax.operands.data() + instruction.firstOperand;
  for (const OperandForm &form : modifiers.form->operands) {
    if (!form.isWritten(modifiers) || (form.isOptional && isShort))
      addMissing(pending, form);
    else if (!addOperand(pending, form, *next++))
      return false;
  }
  return true;
}

/// What is not written: nothing, or the carry flag.
void FunctionDecoder::addMissing(Pending &pending, const OperandForm &form) {
  if (form.role != Role::CarryIn && form.role != Role::CarryOut) {
    pending.slots.emplace_back();
    return;
  }
  if (carry == kNowhere) {
    carry = static_cast<uint32_t>(result.predicates.size());
    result.predicates.push_back({"the carry flag", Type::Pred});
  }
  pending.slots.push_back(
      slotOf({carry, 1, Type::Pred}, form.role == Role::CarryOut));
}

bool FunctionDecoder::addOperand(Pending &pending, const OperandForm &form,
                                 const Operand &operand) {
  const std::string_view what = pending.syntax->opcode;
  if (operand.kind == OperandKind::List)
    return fail(operand.at, what, "an operand", "a list");
  switch (form.role) {
  case Role::Destination:
  case Role::Source:
  case Role::RegisterSource: {
    const unsigned count =
        form.isParts ? operand.childCount : pending.countOf(form);
    if (count > 0 || form.isParts)
      return addVector(pending, form, operand, count);
    if (form.takesPair)
      return addPair(pending, form, operand);
    const Type type = pending.typeOf(form);
    return form.role == Role::Destination
               ? addDestination(pending, form, operand, type, false)
               : addSource(pending, form, operand, type, false);
  }
  case Role::PredicateDestination:
    if (form.takesPair)
      return addPair(pending, form, operand);
    return addPredicate(pending, operand, true, form.takesSink, false);
  case Role::PredicateSource:
  case Role::BoolOperand:
    return addPredicate(pending, operand, false, false, form.takesSpecial);
  case Role::Address:
    return addAddress(pending, form, operand);
  case Role::Integer:
    return addInteger(pending, form, operand);
  case Role::Either: {
    RegisterUse use;
    if (operand.kind == OperandKind::Word && findRegister(operand.text, use) &&
        use.type == Type::Pred)
      return addPredicate(pending, operand, false, false, false);
    return addSource(pending, form, operand, Type::B32, false);
  }
  case Role::CachePolicy:
    return addSource(pending, form, operand, Type::B64, false);
  case Role::Sink:
    if (operand.kind != OperandKind::Sink)
      return fail(operand.at, what, "\"_\"", describe(operand));
    pending.slots.emplace_back();
    return true;
  case Role::CarryIn:
  case Role::CarryOut:
  case Role::Special:
    break;
  }
  return true;
}

/// d|p, or d alone.
bool FunctionDecoder::addPair(Pending &pending, const OperandForm &form,
                              const Operand &operand) {
  const bool isPair = operand.kind == OperandKind::Pair;
  if (!isPair && form.needsPair)
    return fail(operand.at, pending.syntax->opcode, "two destinations, d|p",
                describe(operand));
  const Operand &first = isPair ? childrenOf(operand)[0] : operand;
  if (form.role == Role::PredicateDestination
          ? !addPredicate(pending, first, true, isPair, false)
          : !addDestination(pending, form, first, pending.typeOf(form), false))
    return false;
  if (isPair)
    return addPredicate(pending, childrenOf(operand)[1], true, !form.needsPair,
                        false);
  pending.slots.emplace_back();
  return true;
}

/// {a, b}, or a register that is a vector.
bool FunctionDecoder::addVector(Pending &pending, const OperandForm &form,
                                const Operand &operand, unsigned count) {
  const std::string_view what = pending.syntax->opcode;
  const std::string expected = form.isParts
                                   ? "a vector whose parts have the type's bits"
                                   : "a vector of " + std::to_string(count);
  Type type = pending.typeOf(form);
  if (form.isParts) {
    const unsigned parts = count == 2 || count == 4 ? count : 0;
    type = parts ? bitsType(bitsOf(type) / parts) : Type::None;
    if (type == Type::None)
      return fail(operand.at, what, expected,
                  "a vector of " + std::to_string(count));
  }
  if (operand.kind == OperandKind::Vector) {
    if (operand.childCount != count)
      return fail(operand.at, what, expected,
                  "a vector of " + std::to_string(operand.childCount));
    for (const Operand &child : childrenOf(operand))
      if (form.role == Role::Destination
              ? !addDestination(pending, form, child, type, true)
              : !addSource(pending, form, child, type, true))
        return false;
    return true;
  }
  RegisterUse use;
  if (operand.kind == OperandKind::Word && findRegister(operand.text, use) &&
      use.count == count) {
    if (bitsOf(use.type) != bitsOf(type))
      return fail(operand.at, what, expected + " of type " + dotted(type),
                  describe(operand));
    for (unsigned i = 0; i < count; ++i) {
      const Symbol symbol = scopes.find(operand.text);
      const Variable &variable = syntax.variables[symbol.index];
      pending.slots.push_back(
          slotOf({registerFor(variable, symbol, i), 1, use.type},
                 form.role == Role::Destination));
    }
    return true;
  }
  if (form.takesSpecial && operand.kind == OperandKind::Word)
    if (std::optional<SpecialUse> special = specialNamed(operand.text);
        special && !special->component && special->info->components == count) {
      for (unsigned i = 0; i < count; ++i)
        if (!addSpecial(pending, operand.at, *special->info, i, type))
          return false;
      return true;
    }
  return fail(operand.at, what, expected, describe(operand));
}

bool FunctionDecoder::addDestination(Pending &pending, const OperandForm &form,
                                     const Operand &operand, Type type,
                                     bool isElement) {
  const std::string_view what = pending.syntax->opcode;
  // Of a form that is a vector if a word says so, only elements may be ignored.
  if (operand.kind == OperandKind::Sink && form.takesSink &&
      (isElement || !form.isVectorByWord)) {
    pending.slots.emplace_back();
    return true;
  }
  RegisterUse use;
  const bool isRegister = operand.kind == OperandKind::Word &&
                          !operand.isNegated && operand.offset == 0 &&
                          !operand.isIndexed &&
                          findRegister(operand.text, use) && use.count == 1;
  // Elements of a vector need no more than the size.
  const Type used = isElement ? bitsType(bitsOf(type)) : type;
  if (!isRegister ||
      !(form.takesWider ? fitsWider(used, use.type) : fits(used, use.type)))
    return fail(operand.at, what, "a register of type " + dotted(type),
                describe(operand));
  pending.slots.push_back(slotOf(use, true));
  return true;
}

bool FunctionDecoder::addSource(Pending &pending, const OperandForm &form,
                                const Operand &operand, Type type,
                                bool isElement) {
  const std::string_view what = pending.syntax->opcode;
  const bool takesConstant = form.role != Role::RegisterSource;
  const std::string expected = std::string("a register ") +
                               (takesConstant ? "or constant " : "") +
                               "of type " + dotted(type);
  if (operand.kind == OperandKind::Number) {
    if (const auto digits = tooLarge(operand.constant, type))
      return fail(operand.at, what,
                  "an integer of " + std::to_string(bitsOf(type)) + " bits",
                  *digits);
    std::optional<uint64_t> bits = patternOf(operand.constant, type);
    if (!takesConstant || !bits)
      return fail(operand.at, what, expected, describe(operand));
    pending.slots.push_back(builder.constant(*bits, bitsOf(type)));
    return true;
  }
  if (operand.kind != OperandKind::Word || operand.isNegated)
    return fail(operand.at, what, expected, describe(operand));
  RegisterUse use;
  if (findRegister(operand.text, use)) {
    const Type used = isElement ? bitsType(bitsOf(type)) : type;
    const bool isPlain = operand.offset == 0 && !operand.isIndexed;
    if (!isPlain)
      return fail(operand.at, what, expected, "a register and an offset");
    if (use.count != 1 ||
        !(form.takesWider ? fitsWider(used, use.type) : fits(used, use.type)))
      return fail(operand.at, what, expected, describe(operand));
    pending.slots.push_back(slotOf(use, false));
    return true;
  }
  if (std::optional<SpecialUse> special = specialNamed(operand.text);
      special && special->component && form.takesSpecial)
    return addSpecial(pending, operand.at, *special->info, *special->component,
                      type);
  if (form.takesSymbol && !isElement)
    return addSymbolAddress(pending, operand, type);
  return fail(operand.at, what, expected, describe(operand));
}

/// One component of a special register, in a row of its own.
bool FunctionDecoder::addSpecial(Pending &pending, Position at,
                                 const SpecialInfo &info, unsigned component,
                                 Type type) {
  const Target &target = builder.symbols.module().target;
  if (!info.since.isMetBy(target))
    return fail(at, info.name, info.since.str(), target.str());
  if (info.type == Type::Pred ? type != Type::Pred
                              : !fitsWider(type, info.type))
    return fail(at, pending.syntax->opcode, "a source of type " + dotted(type),
                "a special register of type " + dotted(info.type));
  auto &list = info.type == Type::Pred ? result.predicates : result.registers;
  auto [entry, isNew] = specials.emplace(std::pair(info.id, component),
                                         static_cast<uint32_t>(list.size()));
  if (isNew)
    list.push_back({info.name, info.type, builder.special(info, component)});
  pending.slots.push_back(slotOf({entry->second, 1, info.type}, false));
  pending.inst.readsChanging |= info.changes;
  return true;
}

/// The address of a variable or function, plus an offset.
bool FunctionDecoder::addSymbolAddress(Pending &pending, const Operand &operand,
                                       Type type) {
  const std::string_view what = pending.syntax->opcode;
  const unsigned bits = bitsOf(type);
  VariableUse use;
  std::optional<uint32_t> function;
  if (!findVariable(operand.text, use)) {
    function = builder.symbols.functionNamed(operand.text);
    if (!function || scopes.find(operand.text).kind != Symbol::Kind::None ||
        !builder.symbols.module().functions[*function].hasBody ||
        builder.symbols.module().functions[*function].isEntry)
      return fail(operand.at, what,
                  "a register, a constant, or a variable's address",
                  describe(operand));
  }
  const bool isWide = function || use.space == MemorySpace::Global;
  if ((!isInteger(type) && kindOf(type) != TypeKind::Bits) ||
      (bits != 64 && (isWide || bits != 32)))
    return fail(operand.at, what,
                isWide ? "a type of 64 bits for an address"
                       : "a type of 32 or 64 bits for an address",
                dotted(type));
  if (function) {
    builder.function(*function);
    pending.slots.push_back(builder.functionAddress(*function, bits));
    return true;
  }
  int64_t offset = 0;
  if (!checkDefined(operand, use) || !offsetOf(operand, *use.variable, offset))
    return false;
  pending.slots.push_back(addressOf(use, offset, bits));
  return true;
}

/// Only shared memory that the launch sizes may be without a definition.
bool FunctionDecoder::checkDefined(const Operand &operand,
                                   const VariableUse &use) {
  if (use.variable->linkage != Linkage::Extern ||
      (use.space == MemorySpace::Shared && use.variable->isUnsized) ||
      use.space == MemorySpace::Local)
    return true;
  return fail(operand.at, "variable", "a definition in this module",
              "only a declaration of " + quote(operand.text));
}

bool FunctionDecoder::addPredicate(Pending &pending, const Operand &operand,
                                   bool isWritten, bool takesSink,
                                   bool takesSpecial) {
  if (operand.kind == OperandKind::Sink && takesSink) {
    pending.slots.emplace_back();
    return true;
  }
  if (operand.kind == OperandKind::Number && !isWritten &&
      operand.constant.isInteger()) {
    pending.slots.emplace_back(Slot::File::Predicate, 32,
                               operand.constant.isZero() ? kFalse : kTrue);
    return true;
  }
  RegisterUse use;
  if (operand.kind == OperandKind::Word && !(isWritten && operand.isNegated) &&
      operand.offset == 0 && !operand.isIndexed &&
      findRegister(operand.text, use) && use.type == Type::Pred &&
      use.count == 1) {
    pending.slots.push_back(slotOf(use, isWritten, operand.isNegated));
    return true;
  }
  if (takesSpecial && operand.kind == OperandKind::Word && !operand.isNegated)
    if (std::optional<SpecialUse> special = specialNamed(operand.text);
        special && special->component)
      return addSpecial(pending, operand.at, *special->info,
                        *special->component, Type::Pred);
  return fail(operand.at, pending.syntax->opcode, "a register of type .pred",
              describe(operand));
}

bool FunctionDecoder::addInteger(Pending &pending, const OperandForm &form,
                                 const Operand &operand) {
  const auto &integers = form.integers;
  const auto value = static_cast<int64_t>(operand.constant.bits);
  const bool isInteger = operand.kind == OperandKind::Number &&
                         operand.constant.isInteger() &&
                         (value >= 0 || operand.constant.isNegative());
  const bool isAllowed = form.isRange
                             ? value >= integers[0] && value <= integers[1]
                             : std::find(integers.begin(), integers.end(),
                                         value) != integers.end();
  if (isInteger && isAllowed) {
    pending.slots.push_back(builder.immediate(value));
    return true;
  }
  std::string expected;
  for (size_t i = 0; i < integers.size(); ++i)
    expected += (i == 0                     ? ""
                 : form.isRange             ? " to "
                 : i + 1 == integers.size() ? " or "
                                            : ", ") +
                std::to_string(integers[i]);
  return fail(operand.at, pending.syntax->opcode, "the integer " + expected,
              isInteger ? std::to_string(value) : describe(operand));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The space that words of an opcode name.
static MemorySpace spaceOf(const Modifiers &modifiers,
                           const OperandForm &form) {
  if (form.space != Space::None)
    return form.space == Space::Shared ? MemorySpace::Shared
                                       : MemorySpace::Global;
  switch (modifiers.firstOf(
      {Word::Const, Word::Global, Word::Local, Word::Param, Word::ParamEntry,
       Word::ParamFunc, Word::Shared, Word::SharedCta, Word::SharedCluster})) {
  case Word::Const:
    return MemorySpace::Const;
  case Word::Global:
    return MemorySpace::Global;
  case Word::Local:
    return MemorySpace::Local;
  case Word::Param:
  case Word::ParamEntry:
  case Word::ParamFunc:
    return MemorySpace::Params;
  case Word::Shared:
  case Word::SharedCta:
  case Word::SharedCluster:
    return MemorySpace::Shared;
  default:
    return MemorySpace::Generic;
  }
}

static std::string_view nameOfSpace(MemorySpace space) {
  static constexpr std::string_view names[] = {
      "", "generic", ".global", ".shared", ".const", ".local", ".param"};
  return names[static_cast<size_t>(space)];
}

/// Two slots: what holds the base, and the offset.
bool FunctionDecoder::addAddress(Pending &pending, const OperandForm &form,
                                 const Operand &operand) {
  const std::string_view what = pending.syntax->opcode;
  MemorySpace space = spaceOf(pending.modifiers(), form);
  const bool isParam = space == MemorySpace::Params;
  const bool isNamed = operand.kind == OperandKind::Word && operand.isIndexed;
  if (operand.kind != OperandKind::Address && !isNamed)
    return fail(operand.at, what, "an address", describe(operand));
  if (operand.childCount > 0)
    return fail(operand.at, what, "an address without coordinates",
                "one with them");
  Operand inside = operand;
  inside.kind = OperandKind::Word;
  Slot base;
  int64_t offset = operand.offset;
  RegisterUse use;
  VariableUse variable;
  if (operand.text.empty()) {
    base = builder.constant(0, 64);
  } else if (operand.kind == OperandKind::Address &&
             findRegister(operand.text, use)) {
    const bool isWide =
        space == MemorySpace::Global || space == MemorySpace::Generic;
    const bool isAddress =
        use.count == 1 &&
        (fits(Type::B64, use.type) || (!isWide && fits(Type::B32, use.type)));
    if (!isAddress || kindOf(use.type) == TypeKind::Float)
      return fail(operand.at, what,
                  isWide ? "an address in a register of 64 bits"
                         : "an address in a register of 32 or 64 bits",
                  describe(inside));
    base = slotOf(use, false);
    // The kernel's own parameters are read only: what is written is a
    // parameter of a call.
    const bool isWritten = pending.inst.family == Family::St;
    if (isParam && (!syntax.isEntry || isWritten))
      space = MemorySpace::Local;
  } else if (findVariable(operand.text, variable)) {
    // Parameters of functions are local memory; without a space the
    // variable's own is meant.
    const bool agrees = space == variable.space ||
                        space == MemorySpace::Generic ||
                        (isParam && variable.variable->space == Space::Param);
    const bool isPlainLocal = variable.space == MemorySpace::Local &&
                              variable.variable->space == Space::Local;
    if (!agrees || (isParam && isPlainLocal) ||
        (space == MemorySpace::Local && !isPlainLocal))
      return fail(operand.at, what,
                  "a variable in " + std::string(nameOfSpace(space)),
                  quote(operand.text) + " in ." +
                      std::string(nameOf(variable.variable->space)));
    space = variable.space;
    if (!checkDefined(operand, variable) ||
        !offsetOf(operand, *variable.variable, offset))
      return false;
    base = addressOf(variable, 0, 64);
  } else {
    return fail(operand.at, what, "a register or variable in an address",
                describe(inside));
  }
  pending.slots.push_back(base);
  pending.slots.push_back(builder.immediate(offset));
  if (pending.inst.space == MemorySpace::None)
    pending.inst.space = space;
  const bool isStore = pending.inst.family == Family::St;
  if (isStore && (space == MemorySpace::Params || space == MemorySpace::Const))
    return fail(operand.at, what, "an address that can be written",
                "one in " + std::string(nameOfSpace(space)));
  return true;
}
