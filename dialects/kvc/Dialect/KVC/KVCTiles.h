//===- KVCTiles.h - Tiles by the names of their dims ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A tile is a ranked tensor with static extents whose encoding is #kvc.dims.
// Passes ask for dims by name, never by position, except that the last dim is
// the one that vectors run over.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCTILES_H
#define KVC_DIALECT_KVC_KVCTILES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <utility>

namespace kvc {

/// A dim of a tile: its name and extent.
using TileDim = std::pair<llvm::StringRef, int64_t>;

bool isTile(mlir::Type type);

/// Names of the dims, outermost first; none if `type` is no tile.
llvm::SmallVector<llvm::StringRef> dimsOf(mlir::Type type);
/// The same with extents.
llvm::SmallVector<TileDim> tileDimsOf(mlir::Type type);

/// Position of a dim, if the tile has it.
std::optional<unsigned> findDim(mlir::Type type, llvm::StringRef dim);
bool hasDim(mlir::Type type, llvm::StringRef dim);
/// Extent of a dim; 1 for dims that the tile lacks, so scalars work too.
int64_t extentOf(mlir::Type type, llvm::StringRef dim);
/// The innermost dim: the one that vectors run over.
llvm::StringRef vectorDimOf(mlir::Type tile);

mlir::RankedTensorType makeTile(mlir::MLIRContext *context,
                                llvm::ArrayRef<TileDim> dims,
                                mlir::Type element);

/// `tile` without the named dims; at least one must stay.
mlir::RankedTensorType tileWithoutDims(mlir::Type tile,
                                       llvm::ArrayRef<llvm::StringRef> dims);
/// The named dims of `tile`, in the order of `dims`.
mlir::RankedTensorType tileWithDims(mlir::Type tile,
                                    llvm::ArrayRef<llvm::StringRef> dims);
/// The same dims, another element type.
mlir::RankedTensorType cloneWithElement(mlir::Type tile, mlir::Type element);
/// The last dim becomes `outer` x `inner` with `blocks` steps of `outer`.
mlir::RankedTensorType tileWithSplitLastDim(mlir::Type tile, int64_t blocks,
                                            llvm::StringRef outer = "b",
                                            llvm::StringRef inner = "e");
/// The two last dims become one.
mlir::RankedTensorType tileWithJoinedLastDims(mlir::Type tile,
                                              llvm::StringRef dim);

} // namespace kvc

#endif // KVC_DIALECT_KVC_KVCTILES_H
