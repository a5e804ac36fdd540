//===- WarpOperand.h - What a warp loads as an operand ----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_ANALYSIS_WARPOPERAND_H
#define KVC_ANALYSIS_WARPOPERAND_H

#include "kvc/Layout/Layout.h"
#include "kvc/Spec/Spec.h"

#include <vector>

namespace kvc {

/// Whether the codes of a part are words of a cache that a lane widens to
/// operands of a product. All others are read one by one and dequantised.
bool isWordOperand(const spec::Spec &spec, const spec::PartScheme &part);

/// Whether those codes may be operands as they lie in their words: unsigned, of
/// few bits, and small numbers of the operand's type.
bool isInPlaceOperand(const spec::Spec &spec, const spec::PartScheme &part);

/// A binary digit of a channel's index that puts its code `bits` further up in
/// a byte.
struct PlacedDigit {
  int64_t place, bits;
};

/// Those of codes in `storage` whose pairs lie 16 bits apart. What else moves
/// codes in their words, tokens and whole bytes, is shifted out.
std::vector<PlacedDigit> placedDigits(const layout::Storage &storage);

} // namespace kvc

#endif // KVC_ANALYSIS_WARPOPERAND_H
