//===- Layout.h - Layouts as digit assignments ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Where an element of a tile lives is an assignment of the digits of its index
// to hardware positions. A digit is `(index[dim] / place) % count`; almost all
// digits are bits (count 2), an odd extent (80 = 16 * 5) leaves one larger
// digit. Tensor-core fragments, SIMD lanes and the storage orders of this and
// every other engine are instances, and everything else is list manipulation:
// no function here knows a scheme, a codec's name or an engine.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_LAYOUT_LAYOUT_H
#define KVC_LAYOUT_LAYOUT_H

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvc::layout {

/// Names of the dims that kvc's tiles have: t token, c channel (of the tensor
/// at hand), q query row, h kv head, b channel block; fragments use m, n, k.
using Dim = char;

/// One digit of an index: (index[dim] / place) % count. `dim == '*'` says that
/// the value is replicated there (lanes and warps only).
struct Digit {
  Dim dim = '*';
  int64_t place = 1;
  int64_t count = 2;

  bool isReplicated() const { return dim == '*'; }
  bool operator==(const Digit &) const = default;
};

/// "t3" for bit 3, "c[16:5]" for the digit of place 16 and count 5, "*".
std::string str(const Digit &digit);
std::optional<Digit> parseDigit(std::string_view text);
/// Bit `number` of a dim: bitOf('t', 3) is t3.
constexpr Digit bitOf(Dim dim, unsigned number) {
  return {dim, int64_t(1) << number, 2};
}

using Digits = std::vector<Digit>;
/// A set of dims, "tc"; order and repetition mean nothing.
using Dims = std::string_view;

inline bool contains(Dims dims, const Digit &digit) {
  return !digit.isReplicated() && dims.find(digit.dim) != Dims::npos;
}

/// Digits separated by single blanks; the empty list is the empty string.
std::string str(const Digits &digits);
/// Any run of blanks separates.
std::optional<Digits> parseDigits(std::string_view text);

/// Product of the counts.
int64_t extentOf(const Digits &digits);
/// Extent of one dim inside a digit list.
int64_t extentOf(const Digits &digits, Dim dim);
/// The digits of a whole extent, lowest first: its factors of two as bits, then
/// the odd rest as one digit. digitsOf('c', 80): c0 c1 c2 c3 c[16:5]. `place`
/// is the place of the lowest: digitsOf('t', 4, 16) is t4 t5.
Digits digitsOf(Dim dim, int64_t extent, int64_t place = 1);
/// True if the digits of `dim` in `digits`, in whatever order, are each digit
/// of an index below `extent` exactly once.
bool coversOnce(const Digits &digits, Dim dim, int64_t extent);

/// Where the elements of a tile are in registers. Lowest position first.
struct RegisterLayout {
  Digits pack; ///< Elements inside one 32-bit register (or SIMD word).
  Digits reg;  ///< Register number, or iterations of an unrolled loop.
  Digits lane; ///< Lane of a warp or of a SIMD register.
  Digits warp; ///< Warp of a block.

  bool operator==(const RegisterLayout &) const = default;

  /// All digits that are not replicated: pack, reg, lane, warp.
  Digits digits() const;
  /// Registers per lane.
  int64_t numRegs() const { return extentOf(reg); }
};

/// "pack c0 | reg t3 c3 | lane c1 c2 t0 t1 t2", empty spaces left out.
std::string str(const RegisterLayout &layout);
std::optional<RegisterLayout> parseRegisterLayout(std::string_view text);

/// A digit that no dense order places: (index[dim] / place) % count steps of
/// `bytes`. Records have other things between their elements, rows may end in
/// the middle of a byte.
struct Step {
  Digit digit;
  int64_t bytes;
  bool operator==(const Step &) const = default;
};

/// "t0 t1 * 36": a step as text.
std::string str(const Step &step);

/// The byte order of one kind of element: digits of the address, counted in
/// elements of `width` bits, lowest first. Strides follow from the order. Steps
/// are added to that.
struct Storage {
  Digits addr;
  unsigned width = 8;           ///< Bits of an element.
  std::vector<Step> steps = {}; // NOLINT(readability-redundant-member-init)

  bool operator==(const Storage &) const = default;
};

/// Digits, then steps.
std::string str(const Storage &storage);
/// Extent of a dim, of its digits in steps too.
int64_t extentOf(const Storage &storage, Dim dim);

/// One summand of an address: ((index[dim] / place) % count) * stride, in
/// elements. Adjacent digits of one dim with proportional strides are merged.
struct Term {
  Dim dim;
  int64_t place, count, stride;
  bool operator==(const Term &) const = default;
};

/// The address as a sum of terms, fewest possible, lowest stride first.
std::vector<Term> termsOf(const Storage &storage);
/// Address of one element in a storage without steps; `index` holds (dim,
/// value) pairs, absent dims are 0.
int64_t addressOf(const Storage &storage,
                  std::initializer_list<std::pair<Dim, int64_t>> index);
/// The same in bits, of any storage.
int64_t bitAddressOf(const Storage &storage,
                     std::initializer_list<std::pair<Dim, int64_t>> index);
/// The sum of the terms of `dims` alone: the part of an address that an index
/// in those dims adds.
std::vector<Term> termsOf(const Storage &storage, Dims dims);

} // namespace kvc::layout

#endif // KVC_LAYOUT_LAYOUT_H
