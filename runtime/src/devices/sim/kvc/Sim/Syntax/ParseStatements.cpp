//===- ParseStatements.cpp - Bodies of functions --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/ParserState.h"

using namespace kvc::sim;

using Kind = Token::Kind;

/// Operands of one instruction, a call's arguments included.
static constexpr size_t kMaxOperands = 4096;

static uint32_t indexOf(size_t index) { return static_cast<uint32_t>(index); }

bool Parser::readBody(Function &function) {
  location = 0;
  depth = 0;
  if (!take("{", "body"))
    return false;
  for (;;) {
    if (token.kind == Kind::End)
      return fail("body", "\"}\"");
    if (token.is("{")) {
      if (++depth > kMaxNesting)
        return fail("body", "at most " + std::to_string(kMaxNesting) +
                                " blocks inside of each other");
      function.statements.push_back({Statement::Kind::Open, 0, token.at});
      if (!advance())
        return false;
    } else if (token.is("}")) {
      const Position at = token.at;
      if (!advance())
        return false;
      if (depth == 0) {
        function.end = at;
        return true;
      }
      --depth;
      function.statements.push_back({Statement::Kind::Close, 0, at});
    } else if (!readStatement(function)) {
      return false;
    }
  }
}

bool Parser::readStatement(Function &function) {
  if (token.kind == Kind::Directive) {
    if (token.text == ".loc")
      return readLocation();
    if (token.text == ".pragma")
      return readPragma();
    static constexpr std::pair<std::string_view, Space> spaces[] = {
        {".reg", Space::Register},  {".param", Space::Param},
        {".local", Space::Local},   {".shared", Space::Shared},
        {".global", Space::Global}, {".const", Space::Const}};
    for (auto [name, space] : spaces) {
      if (token.text != name)
        continue;
      const Position at = token.at;
      const size_t first = function.variables.size();
      if (!advance() ||
          !readVariables(space, Linkage::None, function.variables))
        return false;
      for (size_t i = first; i < function.variables.size(); ++i)
        function.statements.push_back(
            {Statement::Kind::Declare, indexOf(i), at});
      return true;
    }
    return fail("body", "a declaration, .loc or .pragma");
  }
  if (token.kind == Kind::Word && peek().is(":"))
    return readLabel(function);
  if (token.kind == Kind::Word || token.is("@"))
    return readInstruction(function);
  return fail("body", "an instruction, a label, a declaration or \"}\"");
}

bool Parser::readLabel(Function &function) {
  Name label;
  if (!readName("label", label) || !take(":", "label"))
    return false;
  if (token.isDirective(".branchtargets") ||
      token.isDirective(".calltargets") || token.isDirective(".callprototype"))
    return readTargetList(function, label);
  function.statements.push_back(
      {Statement::Kind::Label, indexOf(function.labels.size()), label.at});
  function.labels.push_back(label);
  return true;
}

bool Parser::readTargetList(Function &function, const Name &label) {
  TargetList list;
  list.name = label;
  const std::string_view what = token.text;
  list.kind = what == ".branchtargets" ? TargetList::Kind::Branches
              : what == ".calltargets" ? TargetList::Kind::Calls
                                       : TargetList::Kind::Prototype;
  if (!advance())
    return false;
  if (list.kind == TargetList::Kind::Prototype) {
    if (token.is("(") && !readParams(what, false, list.results))
      return false;
    Name blank;
    if (!readName(what, blank) ||
        (token.is("(") && !readParams(what, false, list.params)))
      return false;
    while (token.kind == Kind::Directive) {
      uint64_t ignored = 0;
      const bool isNumbered = token.text.starts_with(".abi_preserve");
      if (!isNumbered && token.text != ".noreturn")
        return fail(what, "\";\"");
      if (!advance() || (isNumbered && !readInteger(what, 0, 255, ignored)))
        return false;
    }
  } else {
    for (;;) {
      Name target;
      if (!readName(what, target))
        return false;
      list.targets.push_back(target);
      if (!token.is(","))
        break;
      if (!advance())
        return false;
    }
  }
  function.statements.push_back({Statement::Kind::Targets,
                                 indexOf(function.targetLists.size()),
                                 label.at});
  function.targetLists.push_back(std::move(list));
  return take(";", what);
}

/// .loc file line column [, function_name label [+ n], inlined_at f l c]
bool Parser::readLocation() {
  if (!advance())
    return false;
  uint64_t numbers[3] = {0, 0, 0};
  for (uint64_t &number : numbers)
    if (!readInteger(".loc", 0, UINT32_MAX, number))
      return false;
  if (token.is(",")) {
    Name label;
    uint64_t ignored = 0;
    if (!advance())
      return false;
    if (token.text != "function_name")
      return fail(".loc", "\"function_name\"");
    if (!advance() || !readName(".loc", label))
      return false;
    if (token.is("+") &&
        (!advance() || !readInteger(".loc", 0, UINT32_MAX, ignored)))
      return false;
    if (!take(",", ".loc"))
      return false;
    if (token.text != "inlined_at")
      return fail(".loc", "\"inlined_at\"");
    if (!advance())
      return false;
    for (int i = 0; i < 3; ++i)
      if (!readInteger(".loc", 0, UINT32_MAX, ignored))
        return false;
  }
  module.locations.push_back({static_cast<uint32_t>(numbers[0]),
                              static_cast<uint32_t>(numbers[1]),
                              static_cast<uint32_t>(numbers[2])});
  location = indexOf(module.locations.size());
  return true;
}

bool Parser::readInstruction(Function &function) {
  Instruction instruction;
  instruction.location = location;
  if (token.is("@")) {
    if (!advance())
      return false;
    if (token.is("!")) {
      instruction.isGuardNegated = true;
      if (!advance())
        return false;
    }
    if (token.kind != Kind::Word)
      return fail("guard", "a predicate");
    instruction.guard = {token.text, token.at};
    if (!advance())
      return false;
  }
  if (token.kind != Kind::Word)
    return fail("body", "an instruction");
  instruction.opcode = token.text;
  instruction.at = token.at;
  if (!advance())
    return false;

  std::vector<Operand> operands;
  const bool isCall = instruction.opcode.substr(0, 4) == "call";
  while (!token.is(";")) {
    if (!operands.empty() && !token.is(","))
      return fail("operands", "\",\" or \";\"");
    if (!operands.empty() && !advance())
      return false;
    if (operands.size() == kMaxOperands)
      return fail("operands", "at most " + std::to_string(kMaxOperands));
    Operand operand;
    if (!readOperand(function, isCall, operand))
      return false;
    operands.push_back(operand);
  }
  instruction.firstOperand = indexOf(function.operands.size());
  instruction.operandCount = indexOf(operands.size());
  function.operands.insert(function.operands.end(), operands.begin(),
                           operands.end());
  function.statements.push_back({Statement::Kind::Instruction,
                                 indexOf(function.instructions.size()),
                                 instruction.at});
  function.instructions.push_back(instruction);
  return advance();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool Parser::readOperand(Function &function, bool isCall, Operand &operand) {
  operand.at = token.at;
  if (token.is("{")) {
    operand.kind = Operand::Kind::Vector;
    return readChildren(function, "vector", "}", operand);
  }
  if (isCall && token.is("(")) {
    operand.kind = Operand::Kind::List;
    return readChildren(function, "call", ")", operand);
  }
  if (token.is("["))
    return readAddress(function, operand);
  if (token.is("!") && peek().kind == Kind::Word) {
    operand.isNegated = true;
    operand.kind = Operand::Kind::Word;
    if (!advance())
      return false;
    operand.text = token.text;
    return advance();
  }
  if (token.kind == Kind::Word && token.text != "WARP_SZ")
    return readWordOperand(function, operand);
  static constexpr std::string_view signs[] = {"(", "-", "+", "~", "!"};
  bool isConstant = token.kind == Kind::Number || token.text == "WARP_SZ";
  for (std::string_view sign : signs)
    isConstant |= token.is(sign);
  if (!isConstant)
    return fail("operand", "a name, number, vector or address");
  operand.kind = Operand::Kind::Number;
  return readConstant(operand.constant);
}

/// a, a + 4, a[1], a|b, _
bool Parser::readWordOperand(Function &function, Operand &operand) {
  auto word = [&](Operand &result) {
    result.at = token.at;
    if (token.kind != Kind::Word)
      return fail("operand", "a name");
    result.text = token.text;
    result.kind = token.text == "_" ? Operand::Kind::Sink : Operand::Kind::Word;
    return advance();
  };
  if (!word(operand))
    return false;
  if (token.is("|")) {
    std::vector<Operand> both{operand, Operand()};
    if (!advance() || !word(both[1]))
      return false;
    operand = Operand();
    operand.kind = Operand::Kind::Pair;
    operand.at = both[0].at;
    addChildren(function, both, operand);
    return true;
  }
  if (operand.kind == Operand::Kind::Sink)
    return true;
  if (token.is("+"))
    return advance() && readOffset("operand", operand.offset);
  if (token.is("[")) {
    operand.isIndexed = true;
    return advance() && readOffset("operand", operand.offset) &&
           take("]", "operand");
  }
  return true;
}

/// [a], [a + 4], [16], and what instructions on tensors put behind a comma.
bool Parser::readAddress(Function &function, Operand &operand) {
  operand.kind = Operand::Kind::Address;
  if (!advance())
    return false;
  if (token.kind == Kind::Word) {
    operand.text = token.text;
    if (!advance())
      return false;
    if (token.is("+") && (!advance() || !readOffset("address", operand.offset)))
      return false;
  } else if (!readOffset("address", operand.offset)) {
    return false;
  }
  if (!token.is(","))
    return take("]", "address");
  return readChildren(function, "address", "]", operand);
}

void Parser::addChildren(Function &function,
                         const std::vector<Operand> &children,
                         Operand &operand) {
  operand.firstChild = indexOf(function.operands.size());
  operand.childCount = indexOf(children.size());
  function.operands.insert(function.operands.end(), children.begin(),
                           children.end());
}

/// Operands between commas, from the opening sign up to `end`.
bool Parser::readChildren(Function &function, std::string_view what,
                          std::string_view end, Operand &operand) {
  if (nesting == 2)
    return fail(what, "no list inside of a list");
  ++nesting;
  std::vector<Operand> children;
  if (!advance())
    return false;
  while (!token.is(end)) {
    if (!children.empty() && !take(",", what))
      return false;
    if (children.size() == kMaxOperands)
      return fail(what,
                  "at most " + std::to_string(kMaxOperands) + " operands");
    Operand child;
    if (!readOperand(function, false, child))
      return false;
    children.push_back(child);
  }
  addChildren(function, children, operand);
  --nesting;
  return advance();
}
