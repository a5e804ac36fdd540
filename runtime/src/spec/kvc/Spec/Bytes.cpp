//===- Bytes.cpp - What a scheme costs ------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Bytes.h"

using namespace kvc::spec;

double kvc::spec::bytesPerToken(const Scheme &scheme) {
  double bits = 0;
  for (const PartScheme &part : scheme.parts) {
    bits += double(part.channels()) * part.codec.bits;
    if (part.scale && !part.scale->isStatic) {
      int perBlock = part.zero == Zero::None ? 1 : 2;
      bits += double(part.blocks()) * perBlock * bitsOf(part.scale->dtype) /
              double(part.scale->tokens);
    }
    // An outlier is a u16 index and an f16 value.
    bits += 32.0 * double(part.outliers);
  }
  return bits / 8;
}
