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
//   channels (c, d, e) or numbers of a table (n) if there are any, else tokens
//   (t), else none (scalars).
//
// Channels or tokens too many for one vector are a loop over chunks as well.
//
// So a tile without loops is one SSA vector, and any other tile that lives
// longer than one loop iteration is a scratch memref
// [loops in the order r t b][vector dim].
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVCTOKVK_TILEVALUES_H
#define KVC_CONVERSION_KVCTOKVK_TILEVALUES_H

#include "kvc/Dialect/KVC/KVCTiles.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace kvc {

/// Elements of one vector where a row of `extent` channels is taken in chunks:
/// machine code for vectors of many registers is slow to make.
int64_t chunkLanes(int64_t extent);

/// A loop over one dim: over its indices, or over chunks of `step`.
struct TileLoop {
  llvm::StringRef dim;
  int64_t extent, step = 1;

  bool isChunks() const { return step != 1; }
  bool operator==(const TileLoop &) const = default;
};

/// A tile type split into its loops and its vector dim.
struct TileShape {
  /// In the order r, t, b, o, then chunks of the vector dim.
  llvm::SmallVector<TileLoop, 4> loops;
  std::optional<TileDim> vector;
  mlir::Type element;

  static TileShape of(mlir::Type tile);

  /// Whether there is a loop over the indices of `dim`.
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
