//===- TileValues.h - Where a tile lives at level 3 -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A tile of level 2 is a tensor with named dims. At level 3 one dim, the
// *vector dim*, becomes the elements of a 1-D vector; every other dim is a
// loop:
//
//   channels (c, d, e) if there are any, else tokens (t), else none (scalars).
//
// So a tile without loops is one SSA vector, and any other tile that lives
// longer than one loop iteration is a scratch memref [loops in the order r t
// b][vector].
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVCTOKVK_TILEVALUES_H
#define KVC_CONVERSION_KVCTOKVK_TILEVALUES_H

#include "kvc/Dialect/KVC/KVCTiles.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace kvc {

/// A tile type split into its loops and its vector dim.
struct TileShape {
  llvm::SmallVector<TileDim, 3> loops; ///< In the order r, t, b.
  std::optional<TileDim> vector;
  mlir::Type element;

  static TileShape of(mlir::Type tile);

  bool isLoop(llvm::StringRef dim) const;
  /// Type of the tile inside its loops: a 1-D vector or the element.
  mlir::Type iterationType() const;
  /// The memref that holds the whole tile.
  mlir::MemRefType scratchType() const;
};

/// What a tile was converted to. `vector` and `scratch` may both be there.
struct TileValue {
  mlir::Value vector;    ///< Tiles without loops.
  mlir::Value scratch;   ///< Memref of scratchType().
  mlir::TypedAttr splat; ///< A constant: the element's attribute.
  mlir::Value valid;     ///< Tokens of `scratch` that were written; null: all.
  mlir::Operation *codes = nullptr; ///< A kvc.load_codes that only dots read.
};

} // namespace kvc

#endif // KVC_CONVERSION_KVCTOKVK_TILEVALUES_H
