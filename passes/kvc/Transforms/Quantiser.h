//===- Quantiser.h - The arithmetic of scales and codes --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// "Quantisation, to the bit" of the spec as level-1 IR: f32, every operation
// written there is one operation here, in the same order, without fast-math
// flags; divisions stay divisions.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_QUANTISER_H
#define KVC_TRANSFORMS_QUANTISER_H

#include "kvc/Transforms/TileBuilder.h"

namespace kvc {

/// What blocks of channels are stored as.
struct Quantised {
  mlir::Value codes; ///< <b, e>, as `kvc.store_codes` takes them.
  mlir::Value scale; ///< <b>, values of the scale's dtype.
  mlir::Value zero;  ///< <b>, the same; null for schemes without.
};

/// Quantises a <b, e> tile of one token of a part that is not raw.
Quantised quantise(TileBuilder &b, const spec::PartScheme &scheme,
                   mlir::Value x);

} // namespace kvc

#endif // KVC_TRANSFORMS_QUANTISER_H
