//===- ScoreRegion.h - A function of one score ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The score region of `kvc.attention_spec` and `kvc.attend`: how it is written,
// and what it may hold (kvc.attend, C7 to C9).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_SCOREREGION_H
#define KVC_DIALECT_KVC_SCOREREGION_H

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/Region.h"

#include <cstdint>

namespace kvc {

/// The arguments of a score region, in their order.
enum class ScoreArgument : uint8_t { Score, Query, Key, Head, KVHead };

/// `(%score: f32, ..) { .. }`.
mlir::ParseResult parseScoreRegion(mlir::OpAsmParser &parser,
                                   mlir::Region &region);
void printScoreRegion(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::Region &region);

/// Checks C7 to C9 of a region that may be empty.
llvm::LogicalResult verifyScoreRegion(mlir::Operation *op,
                                      mlir::Region &region);

} // namespace kvc

#endif // KVC_DIALECT_KVC_SCOREREGION_H
