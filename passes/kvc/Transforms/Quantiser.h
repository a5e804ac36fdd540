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

#include "llvm/ADT/STLFunctionalExtras.h"

namespace kvc {

/// What scale blocks are stored as.
struct Quantised {
  mlir::Value codes; ///< As the elements; `kvc.store_codes` takes them.
  mlir::Value scale; ///< One per block, values of the scale's dtype; null for
                     ///< static ones.
  mlir::Value zero;  ///< The same; null for schemes without.
};

/// What nearest entries are found by where the table is given per kv head.
struct QuantiserTables {
  mlir::Value thresholds, codes; ///< <n>.
  mlir::Value largest;           ///< f32.
};

/// Makes a tile. A statistic is complete only when it has seen all of a tile,
/// so what follows it may make the tile anew instead of keeping it.
using MakeTile = llvm::function_ref<mlir::Value()>;

/// What is quantised.
struct Elements {
  MakeTile x;
  MakeTile isOutlier; ///< i1, or null: elements that are none of their block's;
                      ///< their code is 0.
};

/// Quantises the tile <b, e> of one token of a part that is not raw, or <t, b,
/// e> or <t, c> of a scale block of tokens. `blocks` is the tile of scales:
/// <b>, or <c> where a block has one channel. `staticScale` is <e>, with the
/// second level, or null.
Quantised quantise(TileBuilder &b, const spec::PartScheme &scheme,
                   Elements elements, mlir::RankedTensorType blocks,
                   mlir::Value staticScale, const QuantiserTables &tables);

} // namespace kvc

#endif // KVC_TRANSFORMS_QUANTISER_H
