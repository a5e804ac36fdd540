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
  mlir::Value
      scale;        ///< <b>, values of the scale's dtype; null for static ones.
  mlir::Value zero; ///< <b>, the same; null for schemes without.
};

/// What nearest entries are found by where the table is given per kv head.
struct QuantiserTables {
  mlir::Value thresholds, codes; ///< <n>.
  mlir::Value largest;           ///< f32.
};

/// Quantises a <b, e> tile of one token of a part that is not raw.
/// `staticScale` is <e>, with the second level, or null.
Quantised quantise(TileBuilder &b, const spec::PartScheme &scheme,
                   mlir::Value x, mlir::Value staticScale,
                   const QuantiserTables &tables);

} // namespace kvc

#endif // KVC_TRANSFORMS_QUANTISER_H
