//===- WarpSkips.cpp - What few tiles need --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Most tiles lie in front of what a row sees, end where their tokens end, and
// leave the maximum as it was: what they would mask or multiply by 1 stands
// under a branch that the whole warp takes or does not. Sums over the keys stay
// those of each lane's own keys until their loop has ended.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVCToGPU/WarpLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kvc {

/// `make()` where `condition` holds, else `otherwise`.
Value WarpLowering::choose(Value condition, Value otherwise,
                           function_ref<Value()> make) {
  auto branch = scf::IfOp::create(b, otherwise.getType(), condition,
                                  /*withElseRegion=*/true);
  InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  Value made = make();
  scf::YieldOp::create(b, made);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, otherwise);
  return branch.getResult(0);
}

/// Whether `condition` holds in any lane.
Value WarpLowering::inAnyLane(Value condition) {
  constexpr int64_t kAll = 0xffffffff;
  return NVVM::VoteSyncOp::create(b, b.getI1Type(),
                                  b.splat(kAll, b.getI32Type()), condition,
                                  NVVM::VoteSyncKind::any);
}

/// Whether `test` holds for any element.
Value WarpLowering::anyOf(Value vector, function_ref<Value(Value)> test) {
  Value any;
  for (int64_t i = 0; i < Emit::lanesOf(vector); ++i) {
    Value holds = test(at(vector, i));
    any = any ? b.createOrFold<arith::OrIOp>(any, holds) : holds;
  }
  return any;
}

/// `elements` of a tile of `tokens`, 0 where `isValid` is not.
Value WarpLowering::whereValid(Value elements, Value valid, int64_t tokens,
                               function_ref<Value(int64_t)> isValid) {
  Value isPartial = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, valid,
                                          b.index(tokens));
  Type element = getElementTypeOrSelf(elements.getType());
  return choose(isPartial, elements, [&] {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
    SmallVector<Value> kept;
    for (int64_t i = 0; i < Emit::lanesOf(elements); ++i)
      kept.push_back(
          arith::SelectOp::create(b, isValid(i), at(elements, i), zero));
    return collect(kept);
  });
}

/// A choice by which tokens lie below a limit of each row, or of all rows.
WarpLowering::Result WarpLowering::lowerSelect(arith::SelectOp op) {
  Value condition = op.getCondition();
  if (auto rows = condition.getDefiningOp<BroadcastOp>())
    condition = rows.getSource();
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
    return lowerElementwise(op);
  Value tokens = compare.getLhs(), limits = compare.getRhs();
  if (auto rows = tokens.getDefiningOp<BroadcastOp>())
    tokens = rows.getSource();
  if (auto keys = limits.getDefiningOp<BroadcastOp>())
    limits = keys.getSource();
  if (!tokens.getDefiningOp<IotaOp>())
    return lowerElementwise(op);
  Value limit = get(limits);
  Value count = b.splat(cast<RankedTensorType>(tokens.getType()).getDimSize(0),
                        getElementTypeOrSelf(limit.getType()));
  auto isBelow = [&](Value each) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, each, count);
  };
  Value any =
      isa<VectorType>(limit.getType()) ? anyOf(limit, isBelow) : isBelow(limit);
  return choose(inAnyLane(any), get(op.getTrueValue()), [&]() -> Value {
    return arith::SelectOp::create(b, get(op.getCondition()),
                                   get(op.getTrueValue()),
                                   get(op.getFalseValue()));
  });
}

/// What a loop carries, times a factor of each row that mostly is 1.
WarpLowering::Result WarpLowering::lowerProduct(arith::MulFOp op) {
  auto isCarried = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<scf::ForOp>(argument.getOwner()->getParentOp());
  };
  Value carried = op.getLhs(), other = op.getRhs();
  if (!isCarried(carried))
    std::swap(carried, other);
  auto factors = other.getDefiningOp<BroadcastOp>();
  if (!isTile(op.getType()) || !isCarried(carried) || !factors ||
      !isTile(factors.getSource().getType()) ||
      !getElementTypeOrSelf(op.getType()).isF32())
    return lowerElementwise(op);
  Value one = arith::ConstantOp::create(b, b.getF32FloatAttr(1));
  Value changes = anyOf(get(factors.getSource()), [&](Value factor) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, factor, one);
  });
  return choose(inAnyLane(changes), get(carried),
                [&] { return *lowerElementwise(op); });
}

//===----------------------------------------------------------------------===//
// Sums over keys
//===----------------------------------------------------------------------===//

/// The reduction in sum' = sum * decay + reduce(x), where nothing else reads
/// sum: null otherwise.
static ReduceOp addendOf(BlockArgument sum, Value next) {
  auto add = next.getDefiningOp<arith::AddFOp>();
  if (!add || !add->hasOneUse() || !sum.hasOneUse())
    return {};
  Value kept = add.getLhs(), added = add.getRhs();
  if (isa_and_nonnull<ReduceOp>(kept.getDefiningOp()))
    std::swap(kept, added);
  auto decayed = kept.getDefiningOp<arith::MulFOp>();
  auto addend = added.getDefiningOp<ReduceOp>();
  bool isSum = decayed && decayed->hasOneUse() &&
               llvm::is_contained(decayed->getOperands(), sum) && addend &&
               addend->hasOneUse() && addend.getKind() == ReductionKind::Add &&
               getElementTypeOrSelf(addend.getType()).isF32();
  return isSum ? addend : ReduceOp();
}

void WarpLowering::findLaneSums(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [argument, next] :
       llvm::zip_equal(loop.getRegionIterArgs(), yield.getOperands()))
    if (ReduceOp addend = addendOf(argument, next))
      laneSums.insert(addend);
}

SmallVector<int64_t> WarpLowering::lanesOfSum(scf::ForOp loop, unsigned i) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  ReduceOp addend = addendOf(loop.getRegionIterArg(i), yield.getOperand(i));
  SmallVector<int64_t> masks;
  if (!addend)
    return masks;
  WarpTile tile = tileOf(addend.getSource());
  for (auto [position, digit] : llvm::enumerate(tile.layout().lane))
    if (isReduced(addend, digit))
      masks.push_back(int64_t(1) << position);
  return masks;
}

bool WarpLowering::isReduced(ReduceOp op, const layout::Digit &digit) {
  return !digit.isReplicated() &&
         !hasDim(op.getType(), StringRef(&digit.dim, 1));
}

/// Every lane's share of what a sum was before its loop.
Value WarpLowering::shareOf(Value init, Value lowered, size_t lanes) {
  if (lanes == 0 || matchPattern(init, m_AnyZeroFloat()))
    return lowered;
  return b.mulF(lowered, b.splat(1.0 / double(int64_t(1) << lanes),
                                 Emit::lanesOf(lowered)));
}

Value WarpLowering::sumOverLanes(Value sum, ArrayRef<int64_t> masks) {
  for (int64_t mask : masks)
    sum = each(sum, [&](Value x) -> Value {
      return arith::AddFOp::create(b, x, lanes->butterfly(x, mask));
    });
  return sum;
}

} // namespace kvc
