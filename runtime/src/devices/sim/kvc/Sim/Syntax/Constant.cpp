//===- Constant.cpp - Numbers in the text of a module ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/Constant.h"

#include <bit>
#include <charconv>
#include <cmath>

using namespace kvc::sim;

Constant Constant::real(double value) {
  return {Kind::F64, std::bit_cast<uint64_t>(value)};
}

double Constant::asDouble() const {
  return kind == Kind::F32 ? double(std::bit_cast<float>(uint32_t(bits)))
                           : std::bit_cast<double>(bits);
}

bool Constant::isZero() const {
  return isInteger() ? bits == 0 : asDouble() == 0;
}

namespace {

bool isPrefixed(std::string_view text, char lower) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == lower;
}

/// Digits of `base` that fill all of `text`.
std::errc readDigits(std::string_view text, int base, uint64_t &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc() && end != text.data() + text.size())
    return std::errc::invalid_argument;
  return error;
}

Error malformed(std::string_view text, Position at, std::string_view expected) {
  Diagnosis diagnosis;
  diagnosis.fail(at, "number", expected, quote(text));
  return *diagnosis.error;
}

Expected<Constant> parseInteger(std::string_view text, Position at) {
  std::string_view digits = text;
  const bool isUnsigned = digits.back() == 'U';
  if (isUnsigned)
    digits.remove_suffix(1);
  int base = 10;
  if (isPrefixed(digits, 'x') || isPrefixed(digits, 'b')) {
    base = (digits[1] | 0x20) == 'x' ? 16 : 2;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
    digits.remove_prefix(1);
  }
  uint64_t value = 0;
  const std::errc error = readDigits(digits, base, value);
  if (error == std::errc::result_out_of_range)
    return malformed(text, at, "an integer of at most 64 bits");
  if (error != std::errc())
    return malformed(text, at, "decimal, 0x, 0b or octal digits");
  if (isUnsigned || value > uint64_t(INT64_MAX))
    return Constant::unsignedInteger(value);
  return Constant::integer(static_cast<int64_t>(value));
}

Expected<Constant> parseExactFloat(std::string_view text, Position at,
                                   size_t digits, Constant::Kind kind) {
  uint64_t value = 0;
  if (text.size() != 2 + digits ||
      readDigits(text.substr(2), 16, value) != std::errc())
    return malformed(text, at,
                     digits == 8 ? "0f and 8 hexadecimal digits"
                                 : "0d and 16 hexadecimal digits");
  return Constant{kind, value};
}

} // namespace

Expected<Constant> kvc::sim::parseNumber(std::string_view text, Position at) {
  if (isPrefixed(text, 'f'))
    return parseExactFloat(text, at, 8, Constant::Kind::F32);
  if (isPrefixed(text, 'd'))
    return parseExactFloat(text, at, 16, Constant::Kind::F64);
  if (isPrefixed(text, 'x') || isPrefixed(text, 'b') ||
      text.find_first_of(".eE") == std::string_view::npos)
    return parseInteger(text, at);
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return malformed(text, at, "a number in the range of f64");
  if (error != std::errc() || end != text.data() + text.size())
    return malformed(text, at, "a decimal number");
  return Constant::real(value);
}

std::optional<std::string> kvc::sim::tooLarge(const Constant &constant,
                                              Type type) {
  const unsigned bits = bitsOf(type);
  const TypeKind kind = kindOf(type);
  const bool isInteger = kind == TypeKind::Bits || kind == TypeKind::Unsigned ||
                         kind == TypeKind::Signed;
  if (!isInteger || !constant.isInteger() || bits >= 64)
    return std::nullopt;
  const bool isUnsigned = constant.kind == Constant::Kind::Unsigned;
  const auto value = static_cast<int64_t>(constant.bits);
  // From 2^63 on an unsigned one is no negative number. All ones above a sign
  // are those of a narrower negative number.
  if (value >= (isUnsigned ? 0 : -(int64_t(1) << (bits - 1))) &&
      value < int64_t(1) << bits)
    return std::nullopt;
  return isUnsigned ? std::to_string(constant.bits) : std::to_string(value);
}

std::optional<uint64_t> kvc::sim::patternOf(const Constant &constant,
                                            Type type) {
  const unsigned bits = bitsOf(type);
  const uint64_t mask = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  switch (kindOf(type)) {
  case TypeKind::Predicate:
    if (!constant.isInteger())
      return std::nullopt;
    return constant.isZero() ? 0 : 1;
  case TypeKind::Bits:
    // Untyped bits take a pattern of their own size as it is.
    if (constant.kind == Constant::Kind::F32 && bits == 32)
      return constant.bits;
    if (constant.kind == Constant::Kind::F64 && bits == 64)
      return constant.bits;
    [[fallthrough]];
  case TypeKind::Unsigned:
  case TypeKind::Signed:
    if (!constant.isInteger() || bits > 64 || tooLarge(constant, type))
      return std::nullopt;
    return constant.bits & mask;
  case TypeKind::Float:
    if (constant.isInteger() || (type != Type::F32 && type != Type::F64))
      return std::nullopt;
    if (type == Type::F64)
      return std::bit_cast<uint64_t>(constant.asDouble());
    if (constant.kind == Constant::Kind::F32)
      return constant.bits;
    return std::bit_cast<uint32_t>(static_cast<float>(constant.asDouble()));
  default:
    return std::nullopt;
  }
}
