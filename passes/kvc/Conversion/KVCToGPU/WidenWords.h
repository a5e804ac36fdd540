//===- WidenWords.h - Codes in words to pairs of 16-bit floats --*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The one place that knows how codes become operands of mma.sync. Everything is
// exact: integers are put into the mantissa of a power of two, which is then
// subtracted; small floats are moved to where the wider type has their bits.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVCTOGPU_WIDENWORDS_H
#define KVC_CONVERSION_KVCTOGPU_WIDENWORDS_H

#include "kvc/Conversion/KVKToVector/Emit.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

namespace kvc {

struct WidenForm {
  int64_t width;    ///< Bits of a code.
  int64_t distance; ///< Codes between the two of a pair.
  int64_t bias;     ///< Subtracted; 0: two's complement.
  Type element;     ///< f16 or bf16.
  bool hasFloat8;   ///< The target converts pairs of 8-bit floats.
};

class WidenWords {
public:
  WidenWords(Emit &b, const WidenForm &form) : b(b), form(form) {}

  /// Codes `position` and `position + distance` of `word` as a pair in an i32.
  Value pair(Value word, int64_t position);
  /// The same, each the smallest f16 times the code times 2^stays: of its bits'
  /// place in a byte, `stays` are left.
  Value pairInPlace(Value word, int64_t position, int64_t stays);

  llvm::StringRef format; ///< Of small floats; "": integers.

private:
  Value integers(Value word, int64_t offset);
  Value wideIntegers(Value word, int64_t position);
  Value floats(Value word, int64_t position);
  Value constant(double value);
  Value asFloats(Value word);
  Value asWord(Value floats);
  Value permute(Value x, int64_t selector);
  /// `word` shifted down, or two's complement made unsigned; made once.
  Value derived(Value word, int64_t shift, bool flip);

  Emit &b;
  WidenForm form;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> made;
};

} // namespace kvc

#endif // KVC_CONVERSION_KVCTOGPU_WIDENWORDS_H
