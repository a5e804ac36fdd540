//===- CarriedSum.cpp - Sums that a loop carries and decays ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Transforms/CarriedSum.h"

#include "kvc/Dialect/KVC/KVCTiles.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace kvc {

/// The result of the one user of a value, if it is an `Op`.
template <typename Op>
static Op onlyUser(Value value) {
  return value.hasOneUse() ? dyn_cast<Op>(*value.user_begin()) : Op();
}

std::optional<CarriedSum> CarriedSum::of(Value addend) {
  if (auto join = onlyUser<JoinOp>(addend))
    addend = join.getResult();
  auto sum = onlyUser<arith::AddFOp>(addend);
  auto loop = sum ? dyn_cast<scf::ForOp>(sum->getParentOp()) : scf::ForOp();
  if (!loop || !sum->hasOneUse())
    return std::nullopt;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto position = llvm::find(yield.getOperands(), sum.getResult());
  if (position == yield.getOperands().end())
    return std::nullopt;
  unsigned number = std::distance(yield.getOperands().begin(), position);
  Value carried = loop.getRegionIterArg(number);
  auto decayed = (sum.getLhs() == addend ? sum.getRhs() : sum.getLhs())
                     .getDefiningOp<arith::MulFOp>();
  if (!decayed || !decayed->hasOneUse() || !carried.hasOneUse() ||
      (decayed.getLhs() != carried && decayed.getRhs() != carried))
    return std::nullopt;
  auto decay =
      (decayed.getLhs() == carried ? decayed.getRhs() : decayed.getLhs())
          .getDefiningOp<BroadcastOp>();
  if (!decay ||
      dimsOf(decay.getSource().getType()) != SmallVector<StringRef>{"r"})
    return std::nullopt;
  return CarriedSum(loop, number, decayed, decay);
}

bool CarriedSum::canDecayBehind(Operation *op) {
  Operation *source = decay.getSource().getDefiningOp();
  bool isKnown = !source || source->getBlock() != op->getBlock() ||
                 source->isBeforeInBlock(op);
  return isKnown && decayed->getBlock() == op->getBlock() &&
         op->isBeforeInBlock(decayed);
}

void CarriedSum::setDecay(OpBuilder &builder, Value factors) {
  auto wide =
      BroadcastOp::create(builder, decay.getLoc(), decay.getType(), factors);
  decayed->replaceUsesOfWith(decay, wide);
  if (decay->use_empty())
    decay->erase();
  decay = wide;
}

Value CarriedSum::carryBeside(Value init,
                              llvm::function_ref<Value(Value before)> next) {
  IRRewriter rewriter(loop.getContext());
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, init, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument> added)
          -> SmallVector<Value> { return {next(added[0])}; }));
  return loop.getResults().back();
}

} // namespace kvc
