//===- Types.h - The types of PTX -------------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_SYNTAX_TYPES_H
#define KVC_SIM_SYNTAX_TYPES_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvc::sim {

enum class Type : uint8_t {
  None,
#define KVC_SIM_TYPE(id, text, kind, bits) id,
#include "kvc/Sim/Syntax/Types.def"
#undef KVC_SIM_TYPE
};

/// How values of a type may lie in registers. Those of Sub, Packed and
/// Alternate have no registers of their own: bits of their size hold them.
enum class TypeKind : uint8_t {
  None,
  Predicate,
  Sub,
  Bits,
  Unsigned,
  Signed,
  Packed,
  Float,
  Alternate
};

std::string_view nameOf(Type type);
TypeKind kindOf(Type type);
/// Bits of one value, all parts of a packed one.
unsigned bitsOf(Type type);

/// The type of that spelling, without its dot.
std::optional<Type> typeNamed(std::string_view name);

/// Whether registers and variables may be declared with it.
bool isFundamental(Type type);
bool isInteger(Type type);
/// Bits of that size; None if there are none.
Type bitsType(unsigned bits);
/// The integers of twice as many bits: of the products of 16 and 32 bits.
Type twiceAsWide(Type type);

/// Whether a register declared as `held` may stand where an instruction of type
/// `used` reads or writes: sizes agree, and so do the kinds unless one of the
/// two is untyped bits.
bool fits(Type used, Type held);
/// The same for ld, st and cvt, whose registers may be wider.
bool fitsWider(Type used, Type held);

/// The first multiple of `align` that is not below `value`.
constexpr uint64_t alignedTo(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

} // namespace kvc::sim

#endif // KVC_SIM_SYNTAX_TYPES_H
