//===- WarpOperand.cpp - What a warp loads as an operand ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/WarpOperand.h"

namespace kvc {

using namespace spec;

bool isWordOperand(const Spec &spec, const PartScheme &part) {
  constexpr int64_t kFragment = 16; // Channels.
  if (part.channels() % kFragment != 0 || spec.layout.order == Order::Ggml ||
      spec.layout.order == Order::Token)
    return false;
  if (part.codec.isRaw())
    return part.codec.raw == spec.io.query && spec.io.query != DType::F32;
  if (spec.io.query == DType::F32 || part.codec.kind == CodecKind::Lut)
    return false;
  return part.codec.bits == 8 ||
         (part.codec.isInt() && (part.codec.bits == 4 || part.codec.bits == 2));
}

bool isInPlaceOperand(const Spec &spec, const PartScheme &part) {
  return isWordOperand(spec, part) && spec.io.query == DType::F16 &&
         part.codec.isInt() && part.codec.bits < 8;
}

std::vector<PlacedDigit> placedDigits(const layout::Storage &storage) {
  constexpr int64_t kByte = 8;
  std::vector<PlacedDigit> digits;
  int64_t bits = storage.width;
  for (const layout::Digit &digit : storage.addr) {
    if (bits >= kByte)
      break;
    if (digit.dim == 'c')
      digits.push_back({digit.place, bits});
    bits *= digit.count;
  }
  return digits;
}

} // namespace kvc
