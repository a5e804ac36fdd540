//===- Derive.h - Storage orders from operand layouts -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The storage order "auto" is not designed, it is derived: given where an
// instruction wants its operand and how codes become operand elements, the
// order in which a plain load already delivers the operand follows.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_LAYOUT_DERIVE_H
#define KVC_LAYOUT_DERIVE_H

#include "kvc/Layout/Layout.h"

namespace kvc::layout {

/// What a digit of the code's position inside a conversion unit (a 32-bit word)
/// becomes in the operand.
struct Role {
  enum class Kind : uint8_t {
    Pack,   ///< Pack digit number `index` of the operand register.
    Reg,    ///< A register digit: a shift or a byte selector reaches it.
    Weight, ///< A register digit that no shift reaches: its values carry a
            ///< constant factor, which for a contracted digit the other operand
            ///< absorbs.
  };
  Kind kind;
  unsigned index = 0;
  bool operator==(const Role &) const = default;
};

/// How a code is to be understood before it is widened.
enum class CodeForm : uint8_t { Integer, Float };
/// What an operand element is after widening.
enum class ElementForm : uint8_t {
  Lane32, ///< One 32-bit value per SIMD lane.
  I16,    ///< Pairs of i16 in 32-bit SIMD lanes.
  S8,     ///< Four bytes in a 32-bit register.
  F16,    ///< Pairs of f16.
  BF16,   ///< Pairs of bf16.
};

/// The roles of the code positions, lowest first; nothing where no conversion
/// from such codes to such elements is known.
std::optional<std::vector<Role>> conversionRoles(CodeForm form, unsigned bits,
                                                 ElementForm element);

struct DeriveOptions {
  unsigned bits = 8;       ///< Bits of one code.
  Dims contracted = "";    ///< Dims that the instruction sums over.
  unsigned vectorBits = 2; ///< Register digits below the lanes: 2 = a lane
                           ///< loads four words at once; 0 = a SIMD register.
  Dims separate = ""; ///< Dims whose neighbours may not share a byte, so that
                      ///< storing one of them is a plain store. A weight then
                      ///< goes to any digit of another dim and is a factor of
                      ///< some results.
};

/// The order in which a plain load delivers `operand` after the conversion:
/// code positions, vector of a load, lanes, everything else. Nothing if the
/// tile is too small for the conversion unit or a weight finds no contracted
/// digit.
std::optional<Storage> deriveStorage(const RegisterLayout &operand,
                                     const std::vector<Role> &roles,
                                     const DeriveOptions &options);

} // namespace kvc::layout

#endif // KVC_LAYOUT_DERIVE_H
