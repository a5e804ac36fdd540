//===- Constant.h - Numbers in the text of a module -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_SYNTAX_CONSTANT_H
#define KVC_SIM_SYNTAX_CONSTANT_H

#include "kvc/Sim/Syntax/Diagnostics.h"
#include "kvc/Sim/Syntax/Types.h"

namespace kvc::sim {

/// A literal, or what an expression of literals comes to. Integers are 64 bits
/// wide; F32 is an exact pattern (0f..), F64 everything else with a fraction.
struct Constant {
  enum class Kind : uint8_t { Signed, Unsigned, F32, F64 };

  Kind kind = Kind::Signed;
  uint64_t bits = 0; ///< Two's complement, or the pattern of the float.

  static Constant integer(int64_t value) {
    return {Kind::Signed, static_cast<uint64_t>(value)};
  }
  static Constant unsignedInteger(uint64_t value) {
    return {Kind::Unsigned, value};
  }
  static Constant real(double value);

  bool isInteger() const {
    return kind == Kind::Signed || kind == Kind::Unsigned;
  }
  bool isNegative() const {
    return kind == Kind::Signed && static_cast<int64_t>(bits) < 0;
  }
  bool isZero() const;
  /// Of floats only.
  double asDouble() const;

  bool operator==(const Constant &) const = default;
};

/// Reads a number as the lexer cut it out: 12, 017, 0b101, 0xFFU, 1.5e3,
/// 0f3F800000, 0d3FF0000000000000.
Expected<Constant> parseNumber(std::string_view text, Position at);

/// The pattern of `constant` where an instruction or an initialiser of type
/// `type` stands; nothing where the type takes no such constant. Integers have
/// to fit, with a sign or without, floats are rounded to the type.
std::optional<uint64_t> patternOf(const Constant &constant, Type type);

/// The digits of an integer that is too large for a type of integers or bits.
/// ptxas cuts it, as the ISA lets it: whoever wrote it meant something else.
std::optional<std::string> tooLarge(const Constant &constant, Type type);

} // namespace kvc::sim

#endif // KVC_SIM_SYNTAX_CONSTANT_H
