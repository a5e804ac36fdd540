//===- ParseVariables.cpp - Variables, registers, parameters --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/ParserState.h"

#include <bit>

using namespace kvc::sim;

using Kind = Token::Kind;

/// Bytes that one vector holds at most.
static constexpr unsigned kMaxVectorBytes = 16;

static std::string placeOf(Space space) {
  return "." + std::string(nameOf(space));
}

/// Everything behind the state space, up to the semicolon.
bool Parser::readVariables(Space space, Linkage linkage,
                           std::vector<Variable> &variables) {
  Variable common;
  common.space = space;
  common.linkage = linkage;
  common.align = 0;
  if (!readVariableType(common))
    return false;
  for (;;) {
    Variable variable = common;
    if (!readVariableName(variable) || !finishVariable(variable))
      return false;
    variables.push_back(std::move(variable));
    if (!token.is(","))
      return take(";", placeOf(space));
    if (!advance())
      return false;
  }
}

bool Parser::readAttribute() {
  if (!advance() || !take("(", ".attribute"))
    return false;
  uint64_t ignored = 0;
  if (token.isDirective(".managed")) {
    if (!advance())
      return false;
  } else if (token.isDirective(".unified")) {
    if (!advance() || !take("(", ".unified") ||
        !readInteger(".unified", 0, UINT64_MAX, ignored) ||
        !take(",", ".unified") ||
        !readInteger(".unified", 0, UINT64_MAX, ignored) ||
        !take(")", ".unified"))
      return false;
  } else {
    return fail(".attribute", ".managed or .unified");
  }
  return take(")", ".attribute");
}

/// [.attribute(..)] [.align N] [.v2|.v4] .type
bool Parser::readVariableType(Variable &variable) {
  const std::string what = placeOf(variable.space);
  for (;;) {
    if (token.kind != Kind::Directive)
      return fail(what, "a type");
    const std::string_view text = token.text;
    if (text == ".attribute" && variable.align == 0) {
      if (!readAttribute())
        return false;
    } else if (text == ".align" && variable.vector == 1) {
      Position at = token.at;
      if (!advance() || !readInteger(".align", 1, 1 << 20, variable.align))
        return false;
      if (!std::has_single_bit(variable.align))
        return diagnosis.fail(at, ".align", "a power of two",
                              std::to_string(variable.align));
    } else if ((text == ".v2" || text == ".v4") && variable.vector == 1) {
      variable.vector = text == ".v2" ? 2 : 4;
      if (!advance())
        return false;
    } else {
      break;
    }
  }
  std::optional<Type> type = typeNamed(token.text.substr(1));
  if (!type || !isFundamental(*type))
    return fail(what, "a type of registers and variables");
  if (*type == Type::Pred && variable.space != Space::Register)
    return fail(what, "a type that memory can hold");
  if (variable.vector * bitsOf(*type) > 8 * kMaxVectorBytes)
    return fail(what, "a vector of at most 128 bits");
  variable.type = *type;
  return advance();
}

bool Parser::readVariableName(Variable &variable) {
  const std::string what = placeOf(variable.space);
  if (!readName(what, variable.name))
    return false;
  if (variable.space == Space::Register) {
    if (!token.is("<"))
      return true;
    variable.isRange = true;
    return advance() &&
           readInteger(what, 0, uint64_t(1) << 31, variable.count) &&
           take(">", what);
  }
  if (!readExtents(variable))
    return false;
  if (!token.is("="))
    return true;
  if (variable.space != Space::Global && variable.space != Space::Const)
    return fail(what, "no initial value in this state space");
  return advance() && readInitialiser(variable);
}

bool Parser::readExtents(Variable &variable) {
  const std::string what = placeOf(variable.space);
  while (token.is("[")) {
    if (variable.extents.size() == kMaxExtents)
      return fail(what, "at most " + std::to_string(kMaxExtents) + " extents");
    if (!advance())
      return false;
    uint64_t extent = 0;
    if (!token.is("]")) {
      if (!readExtent(what, extent))
        return false;
    } else if (!variable.extents.empty()) {
      return fail(what, "a number of elements");
    }
    variable.isUnsized |= extent == 0;
    variable.extents.push_back(extent);
    if (!take("]", what))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

bool Parser::readInitialiser(Variable &variable) {
  uint64_t count = 0;
  if (variable.extents.empty() && variable.vector == 1)
    return readInitialValue(variable, 0);
  if (!readInitialList(variable, 0, 0, count))
    return false;
  if (variable.isUnsized) {
    if (count == 0)
      return diagnosis.fail(variable.name.at, placeOf(variable.space),
                            "an extent or initial values", "neither");
    variable.extents.front() = count;
    variable.isUnsized = false;
  }
  return true;
}

/// Braces of extent number `level`; a vector's are the innermost. `first` is
/// the number of the first element inside.
bool Parser::readInitialList(Variable &variable, size_t level, uint64_t first,
                             uint64_t &count) {
  const std::string what = placeOf(variable.space);
  const size_t levels = variable.extents.size() + (variable.vector > 1);
  const uint64_t extent = level < variable.extents.size()
                              ? variable.extents[level]
                              : variable.vector;
  // Elements of one item: the product of the extents further in. Where it
  // wraps, finishVariable says so.
  uint64_t step = variable.vector;
  for (size_t i = level + 1; i < variable.extents.size(); ++i)
    step *= variable.extents[i];
  if (level >= variable.extents.size())
    step = 1;

  if (!take("{", what))
    return false;
  for (count = 0; !token.is("}"); ++count) {
    if (count > 0 && !take(",", what))
      return false;
    if (extent != 0 && count == extent)
      return fail(what,
                  "at most " + std::to_string(extent) + " values in braces");
    const uint64_t element = first + count * step;
    uint64_t inner = 0;
    if (level + 1 < levels
            ? !readInitialList(variable, level + 1, element, inner)
            : !readInitialValue(variable, element))
      return false;
  }
  return advance();
}

bool Parser::readInitialValue(Variable &variable, uint64_t element) {
  InitialValue value;
  value.element = element;
  const Position at = token.at;
  const unsigned bits = bitsOf(variable.type);
  const std::string what = placeOf(variable.space);
  if (token.kind == Kind::Word && token.text != "WARP_SZ") {
    if (!readSymbolValue(value))
      return false;
  } else {
    if (!readConstant(value.value))
      return false;
    if (token.is("(")) {
      // 0xFF00(symbol): one byte of its address.
      value.mask = value.value.bits;
      const unsigned shift =
          value.mask ? unsigned(std::countr_zero(value.mask)) : 0;
      if (!value.value.isInteger() || shift % 8 != 0 ||
          value.mask >> shift != 0xFF || bits != 8)
        return diagnosis.fail(at, what, "a mask of one byte for an 8-bit type",
                              "another one");
      value.value = {};
      if (!advance() || !readSymbolValue(value) || !take(")", what))
        return false;
      variable.initial.push_back(value);
      return true;
    }
  }
  if (value.symbol.text.empty()) {
    if (const auto digits = tooLarge(value.value, variable.type))
      return diagnosis.fail(
          at, what, "an integer of " + std::to_string(bits) + " bits", *digits);
    if (!patternOf(value.value, variable.type))
      return diagnosis.fail(
          at, what, "a value of type ." + std::string(nameOf(variable.type)),
          value.value.isInteger() ? "an integer" : "a fraction");
  } else if (bits < 32 || kindOf(variable.type) == TypeKind::Float) {
    return diagnosis.fail(at, what, "a type that holds addresses",
                          "." + std::string(nameOf(variable.type)));
  }
  variable.initial.push_back(value);
  return true;
}

/// symbol + 4, generic(symbol) + 4
bool Parser::readSymbolValue(InitialValue &value) {
  Name name;
  if (!readName("address", name))
    return false;
  if (name.text == "generic" && token.is("(")) {
    value.isGeneric = true;
    if (!advance() || !readName("generic", name) || !take(")", "generic"))
      return false;
  }
  value.symbol = name;
  if (!token.is("+"))
    return true;
  int64_t offset = 0;
  if (!advance() || !readOffset("address", offset))
    return false;
  value.value = Constant::integer(offset);
  return true;
}

/// Fills in elements, bytes and alignment.
bool Parser::finishVariable(Variable &variable) {
  const std::string what = placeOf(variable.space);
  if (variable.isUnsized && variable.linkage != Linkage::Extern)
    return diagnosis.fail(variable.name.at, what, "an extent", "[]");
  const uint64_t vectorBytes =
      uint64_t(variable.vector) * ((bitsOf(variable.type) + 7) / 8);
  if (variable.align == 0)
    variable.align = vectorBytes;
  uint64_t items = 1, bytes = 0;
  bool wraps = false;
  for (uint64_t extent : variable.extents)
    wraps |= __builtin_mul_overflow(items, extent, &items);
  wraps |= __builtin_mul_overflow(items, vectorBytes, &bytes);
  if (wraps || bytes > kMaxVariableBytes)
    return diagnosis.fail(variable.name.at, what, "at most 2^40 bytes", "more");
  variable.elements = items * variable.vector;
  variable.bytes = bytes;
  return true;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

bool Parser::readParams(std::string_view what, bool isEntry,
                        std::vector<Variable> &params) {
  if (!take("(", what))
    return false;
  while (!token.is(")")) {
    if (!params.empty() && !take(",", what))
      return false;
    Variable param;
    if (!readParam(isEntry, param))
      return false;
    params.push_back(std::move(param));
  }
  return advance();
}

/// .param [.align N] .type [.ptr [.space] [.align N]] name [extent]
bool Parser::readParam(bool isEntry, Variable &param) {
  const bool isRegister = !isEntry && token.isDirective(".reg");
  if (!isRegister && !token.isDirective(".param"))
    return fail("parameter", isEntry ? ".param" : ".param or .reg");
  param.space = isRegister ? Space::Register : Space::Param;
  param.align = 0;
  const Position at = token.at;
  if (!advance() || !readVariableType(param))
    return false;
  if (param.vector != 1)
    return diagnosis.fail(at, "parameter", "a type without .v2 and .v4",
                          "a vector");
  if (isEntry && token.isDirective(".ptr")) {
    if (!advance())
      return false;
    for (std::string_view space : {".const", ".global", ".local", ".shared"})
      if (token.isDirective(space)) {
        if (!advance())
          return false;
        break;
      }
    // How what it points to is aligned, which is a promise to an optimiser.
    uint64_t ignored = 0;
    if (token.isDirective(".align") &&
        (!advance() || !readInteger(".align", 1, 1 << 20, ignored)))
      return false;
  }
  if (!readName("parameter", param.name))
    return false;
  if (!isRegister && token.is("[")) {
    if (!advance())
      return false;
    uint64_t extent = 0;
    if (token.is("]"))
      param.isUnsized = true;
    else if (!readExtent("parameter", extent))
      return false;
    param.extents.push_back(extent);
    if (!take("]", "parameter"))
      return false;
  }
  if (param.isUnsized && isEntry)
    return diagnosis.fail(param.name.at, "parameter", "an extent", "[]");
  // The size of an unsized one is that of the argument.
  param.linkage = param.isUnsized ? Linkage::Extern : Linkage::None;
  return finishVariable(param);
}
