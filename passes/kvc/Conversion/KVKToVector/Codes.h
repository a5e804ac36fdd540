//===- Codes.h - Stored codes as operands of dots ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What kvk.widen means in registers. Codes are integers, small floats, or
// indices of a table:
//
//   integers    sign-extended, or unsigned with a bias that dots take off
//   floats      of 8 bits become f16 by a shift: f16 has all their exponents
//   tables      a permutation of the table's registers, where the target has
//               one; tables of integers as bytes, with a bias too
//
// `unit`: the values that an operand's elements count. A dot multiplies its sum
// by it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVKTOVECTOR_CODES_H
#define KVC_CONVERSION_KVKTOVECTOR_CODES_H

#include "kvc/Analysis/HostTarget.h"
#include "kvc/Conversion/KVKToVector/Emit.h"
#include "kvc/Dialect/KVK/KVKOps.h"

namespace kvc {

class Codes {
public:
  Codes(kvk::WidenOp widen, const HostTarget &target);
  /// Indices of a table in registers.
  Codes(Value table, const HostTarget &target);

  int64_t bias = 0; ///< Of integer operands. 0: two's complement.
  double unit = 1;

  bool isSigned() const { return bias == 0 && !format && !isTable(); }
  bool isTable() const { return !table.empty() || loaded; }
  bool isFloat() const { return format != nullptr; }
  /// Whether some pattern of a code is no number.
  bool mayBeNaN() const;

  /// Field [bit, bit + width) of every lane, of which `valid` bits may be set,
  /// as an operand: lanes of i16, or lanes of i32 as f32.
  Value toI16(Emit &b, Value x, unsigned bit, unsigned valid) const;
  Value toF32(Emit &b, Value x, unsigned bit, unsigned valid) const;
  /// The codes at `bitOf` of one or two vectors of bytes, zero-extended to
  /// lanes of 16 or 32 bits; those of the second beside those of the first.
  Value gather(Emit &b, ArrayRef<Value> sources, ArrayRef<int64_t> bitOf,
               unsigned laneBits) const;
  /// Integer codes that fill their lanes as f32.
  Value integersToF32(Emit &b, Value integers) const;
  /// Small floats in bytes as f32.
  Value floatsToF32(Emit &b, Value bytes) const;

  /// The entries at indices in bytes.
  Value lookUp(Emit &b, Value bytes) const;

  /// Whether the entries of all bytes of a vector of 32-bit lanes are looked up
  /// at once.
  bool looksUpBytes(int64_t lanes) const;
  /// The entries at field `index` of each byte of `words`.
  Value lookUpBytes(Emit &b, Value words, unsigned index) const;

private:
  /// `lanes` entries from `begin` on, round and round.
  Value entriesFrom(Emit &b, int64_t begin, int64_t lanes) const;
  Value permute(Emit &b, Value index) const;
  Value lookUpIntegers(Emit &b, Value bytes) const;
  /// Bytes as numbers of a source and of a byte in it.
  using ByteOrder = SmallVector<std::pair<size_t, int64_t>>;
  Value gatherBytes(Emit &b, ArrayRef<Value> sources,
                    const ByteOrder &order) const;
  static Value shuffleBytes(Emit &b, Value bytes, Value from);
  Value select(Emit &b, Value index, ArrayRef<Value> entries) const;

  const HostTarget &target;
  unsigned width = 0;
  const spec::FloatFormat *format = nullptr;
  SmallVector<float> table;
  Value loaded; ///< A table that no attribute knows: a vector of entries.
  SmallVector<int8_t> integers; ///< Entries in units, with the bias.
};

/// Field [bit, bit + width) of every lane, of which `valid` bits may be set.
Value extractField(Emit &b, Value x, unsigned bit, unsigned width,
                   bool isSigned, unsigned valid);

} // namespace kvc

#endif // KVC_CONVERSION_KVKTOVECTOR_CODES_H
