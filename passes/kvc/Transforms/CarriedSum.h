//===- CarriedSum.h - Sums that a loop carries and decays ------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What an online softmax does to its output:
//
//   loop (carried = init) { yield carried * decay[r] + addend }
//
// A rewrite of the addend may have to keep something beside that sum: a term
// that is the same for many channels, or the units that the sum is in.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_CARRIEDSUM_H
#define KVC_TRANSFORMS_CARRIEDSUM_H

#include "kvc/Dialect/KVC/KVCTileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace kvc {

class CarriedSum {
public:
  /// The sum that `addend` (or its kvc.join) is added to, if there is one that
  /// nothing else reads.
  static std::optional<CarriedSum> of(mlir::Value addend);

  mlir::scf::ForOp getLoop() { return loop; }
  /// What the sum was when the loop ended.
  mlir::Value getResult() { return loop.getResult(number); }
  /// What it is when the loop begins.
  mlir::Value getInit() { return loop.getInitArgs()[number]; }
  void setInit(mlir::Value init) {
    loop.getInitArgsMutable()[number].set(init);
  }
  /// A tile <r>.
  mlir::Value getDecay() { return decay.getSource(); }
  /// Whether a decay that is known at `op` of the body could be the sum's: the
  /// present one is known there, and used behind it.
  bool canDecayBehind(mlir::Operation *op);
  /// Makes `factors`, a tile <r>, the decay of the sum.
  void setDecay(mlir::OpBuilder &builder, mlir::Value factors);

  /// Carries another tile, `init` at first: `next` gets the tile as it enters
  /// an iteration and gives the one that leaves it. Returns the last one. The
  /// body moves to another block: insertion points in it end here.
  mlir::Value
  carryBeside(mlir::Value init,
              llvm::function_ref<mlir::Value(mlir::Value before)> next);

private:
  CarriedSum(mlir::scf::ForOp loop, unsigned number,
             mlir::arith::MulFOp decayed, BroadcastOp decay)
      : loop(loop), number(number), decayed(decayed), decay(decay) {}

  mlir::scf::ForOp loop;
  unsigned number; ///< Of the sum among the carried values.
  mlir::arith::MulFOp decayed;
  BroadcastOp decay;
};

} // namespace kvc

#endif // KVC_TRANSFORMS_CARRIEDSUM_H
