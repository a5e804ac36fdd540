//===- Placement.h - Where factors of codes may go --------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A scale or zero stands on a code as f[..] with some of the code's dims, its
// *index set*. Inside  sum over X of A * (f * u)  it may leave the code by
// rules that look at index sets alone (X: the contracted dims, A: queries or
// p):
//
//   pull   sum A f u = f sum A u                 f has nothing of X
//   push   sum A f u = sum (A f) u               f meets A; blocks of channels
//                                                become batch dims
//   split  sum A f u = sum_Y f sum_{X - Y} A u   Y = f's part of X
//   pass   R (f u) = f (R u)                     f is the same for all channels
//                                                that R mixes; then as above
//   keep   in registers, on the code             always
//   zero   sum A m   = sum_Y m sum_{X - Y} A     without codes: a product of
//                                                metadata with sums of A
//
// Outliers that stand in the place of codes' values leave them too, as the
// product with what they are more than the codes under them stand for:
//
//   sparse sum A patch(x, v) = sum A x + sum_o A (v - x)[o]
//
// What a placement costs decides among the legal ones (PlaceFactors.cpp); the
// rewrites obey the decision (ApplyPlacement.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_PLACEMENT_H
#define KVC_TRANSFORMS_PLACEMENT_H

#include "kvc/Dialect/KVC/KVCAttrs.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"

#include "llvm/ADT/SmallVector.h"

namespace kvc {

/// One contraction over dequantised codes.
struct CodeContraction {
  ContractOp contract;
  DequantizeOp dequantize;
  PatchOp patch; ///< What puts outliers between the two, or null.
  RopeOp rope;   ///< What the values' factors pass on their way, or null.

  /// Something else reads the dequantised values too, outliers put in registers
  /// among them: they stay what they are.
  bool isShared() const;
  /// Keys are contracted over channels and give scores, values over tokens.
  bool givesScores() const;
  /// The contracted dims.
  llvm::SmallVector<llvm::StringRef> contracted() const;
};

/// The contractions in `function` whose right side is a kvc.dequantize, a
/// kvc.patch of one, or a kvc.rope of one whose factors pass it.
llvm::SmallVector<CodeContraction>
codeContractionsIn(mlir::Operation *function);

/// A place and what it costs: vector operations per tile, in lanes.
struct PlaceCost {
  Place place;
  double cost;
};

/// The legal places of the scale and of the zero, cheapest first; never empty
/// if the factor exists. Ties keep the earlier rule of the list above.
llvm::SmallVector<PlaceCost> scalePlaces(const CodeContraction &contraction);
/// `scale` is where the scale goes: a zero that stays in registers may need it
/// there.
llvm::SmallVector<PlaceCost> zeroPlaces(const CodeContraction &contraction,
                                        Place scale);

/// The legal places of the outliers, if there are some: as `Place::Score` or
/// `Place::Output` a product of their own. What the factors cost is part of it,
/// since values with outliers in them have theirs too.
llvm::SmallVector<PlaceCost> sparsePlaces(const CodeContraction &contraction);

/// Whether the scales, as a cache stores them, may be as small as f32s are:
/// p * scale may underflow.
bool scalesHaveExponentsOfF32(const CodeContraction &contraction);

} // namespace kvc

#endif // KVC_TRANSFORMS_PLACEMENT_H
