//===- TileFrame.h - The values of a running kernel -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Private to the tile interpreter: what SSA values hold, and the groups of ops
// that its files know.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_TILEFRAME_H
#define KVC_TEST_TILEFRAME_H

#include "kvc/Test/TileInterpreter.h"
#include "kvc/Test/TileValue.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace kvc::test {

class Frame {
public:
  void set(mlir::Value value, TileValue tile) {
    tiles[value] = std::move(tile);
  }
  void bind(mlir::Value value, HostArray *array) { arrays[value] = array; }
  void bind(mlir::Value value, HostCache *cache) { caches[value] = cache; }

  /// Valid until the next `set`.
  const TileValue &tile(mlir::Value value) const {
    return tiles.find(value)->second;
  }
  int64_t index(mlir::Value value) const { return tile(value).ints.front(); }
  HostArray &array(mlir::Value value) const { return *arrays.lookup(value); }
  HostCache &cache(mlir::Value value) const { return *caches.lookup(value); }

private:
  llvm::DenseMap<mlir::Value, TileValue> tiles;
  llvm::DenseMap<mlir::Value, HostArray *> arrays;
  llvm::DenseMap<mlir::Value, HostCache *> caches;
};

/// Dims of the result or operand, none for a scalar.
TileDims dimsOfType(mlir::Type type);

// Each runs one op if it is of its group, and says nothing otherwise.

/// arith and math, element by element.
std::optional<llvm::LogicalResult> runElementwise(mlir::Operation *op,
                                                  Frame &frame);
/// Tile ops of kvc that load and store.
std::optional<llvm::LogicalResult> runMemoryOp(mlir::Operation *op,
                                               Frame &frame);

} // namespace kvc::test

#endif // KVC_TEST_TILEFRAME_H
