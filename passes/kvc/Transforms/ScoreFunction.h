//===- ScoreFunction.h - A score region on tiles ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Evaluates a score region at three times: for a kv head, for a tile of rows,
// for a tile of keys. Each operation is emitted once all that it depends on is
// there, on tiles of no more dims than that has: what depends on positions of
// keys alone is <t>, what depends on queries alone <r> and outside of the loop
// over keys.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_SCOREFUNCTION_H
#define KVC_TRANSFORMS_SCOREFUNCTION_H

#include "kvc/Dialect/KVC/ScoreRegion.h"
#include "kvc/Transforms/TileBuilder.h"

#include "mlir/IR/IRMapping.h"

namespace kvc {

/// A copy goes on from where the original was.
class ScoreFunction {
public:
  /// `region` is not empty, and outlives this.
  explicit ScoreFunction(mlir::Region &region) : region(&region) {}

  /// Whether anything depends on an argument.
  bool uses(ScoreArgument argument) const {
    return !argumentOf(argument).use_empty();
  }

  /// What depends on no more than the kv head, an index.
  void emitOfHead(TileBuilder &b, mlir::Value kvHead);
  /// What depends on rows too. `position` and `number` are i64 <r>, null where
  /// nothing uses positions of queries, or neither these nor heads.
  void emitOfRows(TileBuilder &b, mlir::Value position, mlir::Value number,
                  mlir::Value kvHead, int64_t group);
  /// The rest, for `scores` <r, t> of the keys from the index `start` on: what
  /// is yielded, with all dims of `scores`. `iota` is i32 <t>.
  mlir::Value emitOfTile(TileBuilder &b, mlir::Value scores, mlir::Value iota,
                         mlir::Value start) const;

private:
  void give(ScoreArgument argument, mlir::Value value) {
    values.map(argumentOf(argument), value);
  }
  /// Emits what can be by now.
  void emitKnown(TileBuilder &b);

  mlir::BlockArgument argumentOf(ScoreArgument argument) const {
    return region->getArgument(static_cast<unsigned>(argument));
  }

  mlir::Region *region;
  mlir::IRMapping values; ///< Of what has been given or emitted.
};

} // namespace kvc

#endif // KVC_TRANSFORMS_SCOREFUNCTION_H
