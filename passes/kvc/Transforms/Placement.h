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
//   keep   in registers, on the code             always
//   zero   sum A m   = sum_Y m sum_{X - Y} A     without codes: a product of
//                                                metadata with sums of A
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

  /// Something else reads the dequantised values too: they stay what they are.
  bool isShared() const;
  /// Keys are contracted over channels and give scores, values over tokens.
  bool givesScores() const;
  /// The contracted dims.
  llvm::SmallVector<llvm::StringRef> contracted() const;
};

/// The contractions in `function` whose right side is a kvc.dequantize.
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

/// Whether the scales, as a cache stores them, may be as small as f32s are:
/// p * scale may underflow.
bool scalesHaveExponentsOfF32(const CodeContraction &contraction);

} // namespace kvc

#endif // KVC_TRANSFORMS_PLACEMENT_H
