//===- Lowering.h - The lowering of each kvk op -----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What the files here do, from the bottom up:
//
//   Emit        builds loops, and arithmetic on indices and vectors
//   CacheView   finds the bytes of a page, a head, a token
//   RowAccess   reads and writes channels of one token in canonical order
//   Meta        reads and writes scales and zeros
//   QuantizeRows  makes 16-bit weights
//   Dot         is what the loop nests of kvk.dot share: groups of rows, sums
//   LaneDot, RowDot  are the two: the free or the contracted dim on lanes
//   LowerDot    takes the one that the operand's layout asks for
//   KVKToVector walks over a kernel and calls these
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVKTOVECTOR_LOWERING_H
#define KVC_CONVERSION_KVKTOVECTOR_LOWERING_H

#include "kvc/Analysis/HostTarget.h"
#include "kvc/Conversion/KVKToVector/CacheView.h"
#include "kvc/Dialect/KVK/KVKOps.h"

namespace kvc {

/// Each builds what replaces the op before it and leaves the op itself. Those
/// that can fail have reported why.
mlir::LogicalResult lowerDot(Emit &b, const HostTarget &target,
                             CacheViews &views, kvk::DotOp op);
void lowerQuantizeRows(Emit &b, const HostTarget &target,
                       kvk::QuantizeRowsOp op);
Value lowerLoadRow(Emit &b, CacheViews &views, kvk::LoadRowOp op);
void lowerStoreRow(Emit &b, CacheViews &views, kvk::StoreRowOp op);
Value lowerLoadMeta(Emit &b, CacheViews &views, kvk::LoadMetaOp op);
Value lowerLoadScheme(Emit &b, CacheViews &views, kvk::LoadSchemeOp op);
void lowerLoadMetaTile(Emit &b, CacheViews &views, kvk::LoadMetaTileOp op);
Value lowerLoadMetaRow(Emit &b, CacheViews &views, kvk::LoadMetaRowOp op);
void lowerStoreMeta(Emit &b, CacheViews &views, kvk::StoreMetaOp op);

} // namespace kvc

#endif // KVC_CONVERSION_KVKTOVECTOR_LOWERING_H
