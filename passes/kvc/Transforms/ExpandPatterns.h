//===- ExpandPatterns.h - Pattern families of kvc-expand --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_EXPANDPATTERNS_H
#define KVC_TRANSFORMS_EXPANDPATTERNS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace kvc {

/// `kvc.attend`: row tiles, key tiles, online softmax.
void populateExpandAttendPatterns(mlir::RewritePatternSet &patterns);
/// `kvc.append`: tokens, statistics, scale, zero, codes.
void populateExpandAppendPatterns(mlir::RewritePatternSet &patterns);
/// `kvc.merge`: row tiles, splits, sink logits.
void populateExpandMergePatterns(mlir::RewritePatternSet &patterns);
/// `kvc.unpack`: tokens, canonical codes, dequantised values.
void populateExpandUnpackPatterns(mlir::RewritePatternSet &patterns);

} // namespace kvc

#endif // KVC_TRANSFORMS_EXPANDPATTERNS_H
