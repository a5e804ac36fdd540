//===- ParseExpressions.cpp - Constant expressions ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Integers are 64 bits wide and follow C: an operation is unsigned where one
// side is. Fractions are f64. The two do not mix.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/ParserState.h"

#include <bit>

using namespace kvc::sim;

using Kind = Token::Kind;

/// Threads of a warp, which PTX has as a word.
static constexpr int64_t kWarpSize = 32;

/// How tightly a binary operator binds; 0: not one.
static int levelOf(const Token &token) {
  if (token.kind != Kind::Punctuation)
    return 0;
  static constexpr std::string_view levels[][4] = {{"||"},
                                                   {"&&"},
                                                   {"|"},
                                                   {"^"},
                                                   {"&"},
                                                   {"==", "!="},
                                                   {"<", "<=", ">", ">="},
                                                   {"<<", ">>"},
                                                   {"+", "-"},
                                                   {"*", "/", "%"}};
  int level = 1;
  for (const auto &operators : levels) {
    for (std::string_view op : operators)
      if (!op.empty() && token.text == op)
        return level;
    ++level;
  }
  return 0;
}

/// A whole expression, `? :` included.
bool Parser::readConstant(Constant &value) {
  if (nesting == kMaxNesting)
    return fail("expression",
                "at most " + std::to_string(kMaxNesting) + " levels");
  ++nesting;
  bool ok = readBinary(1, value);
  if (ok && token.is("?")) {
    Constant yes, no;
    ok = advance() && readConstant(yes) && take(":", "expression") &&
         readConstant(no);
    value = value.isZero() ? no : yes;
  }
  --nesting;
  return ok;
}

/// An expression that is an offset in bytes or elements.
bool Parser::readOffset(std::string_view what, int64_t &offset) {
  const Position at = token.at;
  Constant constant;
  if (!readConstant(constant))
    return false;
  if (!constant.isInteger() || (constant.kind == Constant::Kind::Unsigned &&
                                constant.bits > uint64_t(INT64_MAX)))
    return diagnosis.fail(at, what, "an offset of 64 bits",
                          constant.isInteger() ? "a larger one" : "a fraction");
  offset = static_cast<int64_t>(constant.bits);
  return true;
}

bool Parser::readBinary(int level, Constant &value) {
  if (!readUnary(value))
    return false;
  for (;;) {
    const Token op = token;
    const int found = levelOf(op);
    if (found == 0 || found < level)
      return true;
    Constant right;
    if (!advance() || !readBinary(found + 1, right) ||
        !applyBinary(op, right, value))
      return false;
  }
}

bool Parser::readUnary(Constant &value) {
  // Signs before a number, last one first.
  std::vector<Token> operators;
  while (token.is("-") || token.is("+") || token.is("!") || token.is("~")) {
    operators.push_back(token);
    if (!advance())
      return false;
  }
  if (!readPrimary(value))
    return false;
  while (!operators.empty()) {
    if (!applyUnary(operators.back(), value))
      return false;
    operators.pop_back();
  }
  return true;
}

bool Parser::readPrimary(Constant &value) {
  if (token.kind == Kind::Number) {
    Expected<Constant> number = parseNumber(token.text, token.at);
    if (!number) {
      diagnosis.error = number.error();
      return false;
    }
    value = *number;
    return advance();
  }
  if (token.kind == Kind::Word && token.text == "WARP_SZ") {
    value = Constant::integer(kWarpSize);
    return advance();
  }
  if (!token.is("("))
    return fail("expression", "a number");
  const Token inside = peek();
  if (inside.isDirective(".s64") || inside.isDirective(".u64")) {
    const Position at = token.at;
    if (nesting == kMaxNesting)
      return fail("expression",
                  "at most " + std::to_string(kMaxNesting) + " levels");
    ++nesting;
    const bool ok =
        advance() && advance() && take(")", "cast") && readUnary(value);
    --nesting;
    if (!ok)
      return false;
    if (!value.isInteger())
      return diagnosis.fail(at, "cast", "an integer", "a fraction");
    value.kind = inside.text == ".s64" ? Constant::Kind::Signed
                                       : Constant::Kind::Unsigned;
    return true;
  }
  return advance() && readConstant(value) && take(")", "expression");
}

bool Parser::applyUnary(const Token &op, Constant &value) {
  if (op.text == "!") {
    value = Constant::integer(value.isZero());
    return true;
  }
  if (value.isInteger()) {
    if (op.text == "-") {
      // -1 is signed, whatever it was written as; so is -2^63.
      value.bits = 0 - value.bits;
      if (value.bits >> 63 || value.bits == 0)
        value.kind = Constant::Kind::Signed;
    } else if (op.text == "~") {
      value.bits = ~value.bits;
    }
    return true;
  }
  if (op.text == "~")
    return diagnosis.fail(op.at, "\"~\"", "an integer", "a fraction");
  if (op.text == "-")
    value.bits ^= value.kind == Constant::Kind::F32 ? uint64_t(1) << 31
                                                    : uint64_t(1) << 63;
  return true;
}

namespace {

/// Comparisons and logic, which give 0 or 1; nothing for other operators.
template <typename T>
std::optional<bool> compare(std::string_view op, T left, T right) {
  if (op == "==")
    return left == right;
  if (op == "!=")
    return left != right;
  if (op == "<")
    return left < right;
  if (op == "<=")
    return left <= right;
  if (op == ">")
    return left > right;
  if (op == ">=")
    return left >= right;
  if (op == "&&")
    return left != T(0) && right != T(0);
  if (op == "||")
    return left != T(0) || right != T(0);
  return std::nullopt;
}

/// Of operands that are not zero where they divide.
uint64_t divide(bool isSigned, bool isRemainder, uint64_t left,
                uint64_t right) {
  if (!isSigned)
    return isRemainder ? left % right : left / right;
  const auto a = static_cast<int64_t>(left), b = static_cast<int64_t>(right);
  if (b == -1) // -2^63 / -1 has no value of 64 bits.
    return isRemainder ? 0 : 0 - left;
  return static_cast<uint64_t>(isRemainder ? a % b : a / b);
}

/// Shifts by 64 or more leave nothing but the sign.
uint64_t shift(bool isSigned, bool isLeft, uint64_t left, uint64_t by) {
  if (isLeft)
    return by < 64 ? left << by : 0;
  if (isSigned)
    return static_cast<uint64_t>(static_cast<int64_t>(left) >>
                                 (by < 64 ? by : 63));
  return by < 64 ? left >> by : 0;
}

} // namespace

/// value = value `op` right.
bool Parser::applyBinary(const Token &op, const Constant &right,
                         Constant &value) {
  const std::string what = quote(op.text);
  if (value.isInteger() != right.isInteger())
    return diagnosis.fail(op.at, what, "two integers or two fractions",
                          "one of each");
  if (!value.isInteger()) {
    const double a = value.asDouble(), b = right.asDouble();
    if (std::optional<bool> truth = compare(op.text, a, b))
      value = Constant::integer(*truth);
    else if (op.text == "+")
      value = Constant::real(a + b);
    else if (op.text == "-")
      value = Constant::real(a - b);
    else if (op.text == "*")
      value = Constant::real(a * b);
    else if (op.text == "/")
      value = Constant::real(a / b);
    else
      return diagnosis.fail(op.at, what, "integers", "fractions");
    return true;
  }

  const bool isShift = op.text == "<<" || op.text == ">>";
  const bool isSigned = value.kind == Constant::Kind::Signed &&
                        (isShift || right.kind == Constant::Kind::Signed);
  const uint64_t a = value.bits, b = right.bits;
  const std::optional<bool> truth =
      isSigned
          ? compare(op.text, static_cast<int64_t>(a), static_cast<int64_t>(b))
          : compare(op.text, a, b);
  if (truth) {
    value = Constant::integer(*truth);
    return true;
  }
  value.kind = isSigned ? Constant::Kind::Signed : Constant::Kind::Unsigned;
  switch (op.text[0]) {
  case '+':
    value.bits = a + b;
    return true;
  case '-':
    value.bits = a - b;
    return true;
  case '*':
    value.bits = a * b;
    return true;
  case '/':
  case '%':
    if (b == 0)
      return diagnosis.fail(op.at, what, "a divisor other than 0", "0");
    value.bits = divide(isSigned, op.text[0] == '%', a, b);
    return true;
  case '&':
    value.bits = a & b;
    return true;
  case '|':
    value.bits = a | b;
    return true;
  case '^':
    value.bits = a ^ b;
    return true;
  default:
    value.bits = shift(isSigned, op.text[0] == '<', a, b);
    return true;
  }
}
