//===- ApplyPlacement.cpp - Move factors of codes to their places ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// With u the centred code, x' is one form for every kind of zero:
//
//   x' = s * u + m,   m = zero + s * centre        ("min")
//                     m = s * (centre - zero)      ("code")
//                     no m                         (no zero)
//
// so that the codes in a product lie around 0 (SPEC.md section 3) and m is only
// metadata. What stays in registers is computed as kvc.dequantize says.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Transforms/Passes.h"
#include "kvc/Transforms/Placement.h"
#include "kvc/Transforms/TileBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_APPLYPLACEMENT
#include "kvc/Transforms/Passes.h.inc"

namespace {

Value onlyResultUser(Value value, StringRef name) {
  if (!value.hasOneUse())
    return {};
  Operation *user = *value.user_begin();
  return user->getName().getStringRef() == name ? user->getResult(0) : Value();
}

class Rewrite {
public:
  Rewrite(CodeContraction contraction)
      : contraction(contraction), contract(contraction.contract),
        dequantize(contraction.dequantize), at(contract),
        b(contract.getLoc(), at, arith::FastMathFlags::contract) {}

  void run() {
    scaleInRegisters = dequantize.getScalePlace() == Place::Register;
    Value codes = operandOfProduct();
    Value result = product(codes);
    if (dequantize.getZero() && dequantize.getZeroPlace() != Place::Register)
      result = withZeroTerm(result);
    contract.replaceAllUsesWith(result);
    contract.erase();
    if (dequantize->use_empty())
      dequantize.erase();
  }

private:
  RankedTensorType f32Like(Value tile) {
    return cloneWithElement(tile.getType(), b.getF32Type());
  }

  /// The codes as floats, with the factors that stay on them.
  Value operandOfProduct() {
    Value codes = dequantize.getCodes();
    Type element = cast<RankedTensorType>(codes.getType()).getElementType();
    Value x = codes;
    if (element.isInteger())
      x = arith::SIToFPOp::create(b, f32Like(codes), codes);
    else if (!element.isF32())
      x = arith::ExtFOp::create(b, f32Like(codes), codes);
    bool zeroInRegisters =
        dequantize.getZero() && dequantize.getZeroPlace() == Place::Register;
    bool addsMinimum =
        zeroInRegisters && dequantize.getZeroKind() == spec::Zero::Min;
    // Without a zero there is no m that could take the centre; beside it in
    // registers m would only lose digits to it.
    if ((!dequantize.getZero() || addsMinimum) && dequantize.getCentre() != 0)
      x = b.add(x, centre());
    if (zeroInRegisters && dequantize.getZeroKind() == spec::Zero::Code)
      x = b.add(
          x, b.broadcast(b.sub(b.constantLike(dequantize.getZero(), centre()),
                               dequantize.getZero()),
                         x.getType()));
    if (scaleInRegisters)
      x = b.mul(x, b.broadcast(dequantize.getScale(), x.getType()));
    if (addsMinimum)
      x = b.add(x, b.broadcast(dequantize.getZero(), x.getType()));
    return x;
  }

  double centre() { return static_cast<double>(dequantize.getCentre()); }

  /// m: what code `centre` stands for.
  Value minimum() {
    if (dequantize.getZeroKind() == spec::Zero::Code)
      return b.mul(dequantize.getScale(),
                   b.sub(b.constantLike(dequantize.getZero(), centre()),
                         dequantize.getZero()));
    return b.add(dequantize.getZero(), b.mul(dequantize.getScale(), centre()));
  }

  /// The contraction with the scale where it belongs.
  Value product(Value codes) {
    Value lhs = contract.getLhs(), scale = dequantize.getScale();
    auto type = cast<RankedTensorType>(contract.getType());
    if (!scale || scaleInRegisters)
      return ContractOp::create(b, type, lhs, codes);
    switch (*dequantize.getScalePlace()) {
    case Place::Score:
    case Place::Output:
      return b.mul(ContractOp::create(b, type, lhs, codes),
                   b.broadcast(scale, type));
    case Place::Query:
    case Place::P: {
      SmallVector<TileDim> dims = tileDimsOf(lhs.getType());
      for (TileDim dim : tileDimsOf(scale.getType()))
        if (!hasDim(lhs.getType(), dim.first))
          dims.push_back(dim);
      RankedTensorType scaled = makeTile(b.getContext(), dims, b.getF32Type());
      Value rows = b.mul(b.broadcast(lhs, scaled), b.broadcast(scale, scaled));
      return ContractOp::create(b, type, rows, codes);
    }
    case Place::Partial: {
      SmallVector<TileDim> dims = tileDimsOf(type);
      for (TileDim dim : tileDimsOf(scale.getType()))
        if (!hasDim(type, dim.first))
          dims.push_back(dim);
      RankedTensorType partial = makeTile(b.getContext(), dims, b.getF32Type());
      Value dots = ContractOp::create(b, partial, lhs, codes);
      return ReduceOp::create(b, type, ReductionKind::Add,
                              b.mul(dots, b.broadcast(scale, partial)));
    }
    case Place::Register:
      break;
    }
    llvm_unreachable("handled above");
  }

  /// result + sum over X of A * m.
  Value withZeroTerm(Value result) {
    Value m = minimum();
    return contraction.givesScores() ? withScoreZero(result, m)
                                     : withOutputZero(result, m);
  }

  /// The dims of the result that `lhs` or `m` has: where the term varies.
  RankedTensorType termType(Value lhs, Value m) {
    SmallVector<StringRef> dims;
    for (StringRef dim : dimsOf(contract.getType()))
      if (hasDim(lhs.getType(), dim) || hasDim(m.getType(), dim))
        dims.push_back(dim);
    return tileWithDims(contract.getType(), dims);
  }

  /// Scores: A is summed over what m does not depend on before it meets m, once
  /// per query.
  Value withScoreZero(Value result, Value m) {
    Value sum = contract.getLhs();
    SmallVector<StringRef> kept;
    for (StringRef dim : dimsOf(sum.getType()))
      if (hasDim(result.getType(), dim) || hasDim(m.getType(), dim))
        kept.push_back(dim);
    if (kept.size() < dimsOf(sum.getType()).size()) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(sum);
      sum = ReduceOp::create(b, tileWithDims(sum.getType(), kept),
                             ReductionKind::Add, sum);
    }
    bool contracts = llvm::any_of(dimsOf(m.getType()), [&](StringRef dim) {
      return hasDim(sum.getType(), dim);
    });
    if (!contracts)
      return b.add(result, b.mul(b.broadcast(sum, result.getType()),
                                 b.broadcast(m, result.getType())));
    Value term = ContractOp::create(b, termType(sum, m), sum, m);
    return b.add(result, b.broadcast(term, result.getType()));
  }

  /// Values: sum_t p * m is the same for all channels of a block. Where the
  /// result is summed over tiles, that sum is carried beside it and added once,
  /// at the end.
  Value withOutputZero(Value result, Value m) {
    Value term = ContractOp::create(b, termType(contract.getLhs(), m),
                                    contract.getLhs(), m);

    Value joined =
        onlyResultUser(contract.getResult(), JoinOp::getOperationName());
    Value summed = onlyResultUser(joined ? joined : contract.getResult(),
                                  arith::AddFOp::getOperationName());
    auto loop = dyn_cast<scf::ForOp>(contract->getParentOp());
    if (!summed || !loop ||
        !carryBeside(loop, summed, joined ? joined : contract.getResult(),
                     term))
      return b.add(result, b.broadcast(term, result.getType()));
    return result;
  }

  /// Carries `term` through `loop` as `summed = carried * decay + addend` is,
  /// and adds it to that loop result. False if the loop has no such sum.
  bool carryBeside(scf::ForOp loop, Value summed, Value addend, Value term) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    auto position = llvm::find(yield.getOperands(), summed);
    if (position == yield.getOperands().end())
      return false;
    unsigned number = std::distance(yield.getOperands().begin(), position);
    Operation *sum = summed.getDefiningOp();
    Value other =
        sum->getOperand(0) == addend ? sum->getOperand(1) : sum->getOperand(0);
    auto decayed = other.getDefiningOp<arith::MulFOp>();
    Value carried = loop.getRegionIterArg(number);
    if (!decayed ||
        (decayed.getLhs() != carried && decayed.getRhs() != carried))
      return false;
    auto decay =
        (decayed.getLhs() == carried ? decayed.getRhs() : decayed.getLhs())
            .getDefiningOp<BroadcastOp>();
    if (!decay ||
        dimsOf(decay.getSource().getType()) != SmallVector<StringRef>{"r"})
      return false;
    // Whoever else reads the sum would miss the term.
    if (!summed.hasOneUse() || !other.hasOneUse() || !carried.hasOneUse())
      return false;

    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop);
    Value zero = b.constant(term.getType(), 0.0);
    IRRewriter rewriter(b.getContext());
    auto newLoop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, zero, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &inner, Location loc,
            ArrayRef<BlockArgument> added) -> SmallVector<Value> {
          TileBuilder body(loc, inner, arith::FastMathFlags::contract);
          return {body.add(body.mul(added[0], body.broadcast(decay.getSource(),
                                                             term.getType())),
                           term)};
        }));
    b.setInsertionPointAfter(newLoop);
    Value result = newLoop.getResult(number);
    Value offset = newLoop.getResults().back();
    Value wide;
    if (hasDim(term.getType(), "b") && !hasDim(result.getType(), "b")) {
      RankedTensorType split =
          tileWithSplitLastDim(result.getType(), extentOf(term.getType(), "b"));
      wide = JoinOp::create(b, result.getType(), b.broadcast(offset, split));
    } else {
      wide = b.broadcast(offset, result.getType());
    }
    Value total = b.add(result, wide);
    result.replaceAllUsesExcept(total, total.getDefiningOp());
    return true;
  }

  CodeContraction contraction;
  ContractOp contract;
  DequantizeOp dequantize;
  OpBuilder at;
  TileBuilder b;
  bool scaleInRegisters = false;
};

class ApplyPlacement : public impl::ApplyPlacementBase<ApplyPlacement> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<CodeContraction> contractions =
        codeContractionsIn(getOperation());
    for (CodeContraction &contraction : contractions)
      if (failed(checkPlaces(contraction)))
        return signalPassFailure();
    for (CodeContraction &contraction : contractions)
      Rewrite(contraction).run();
    // What no product reads is dequantised as it is written.
    getOperation()->walk([](DequantizeOp op) { expand(op); });
  }

private:
  /// The rewrites are right for legal places only.
  static LogicalResult checkPlaces(const CodeContraction &contraction) {
    DequantizeOp op = contraction.dequantize;
    if ((op.getScale() && !op.getScalePlace()) ||
        (op.getZero() && !op.getZeroPlace()))
      return op.emitOpError(
          "has a factor without a place; run kvc-place-factors first");
    auto check = [&](StringRef factor, Place place,
                     ArrayRef<PlaceCost> legal) -> LogicalResult {
      if (llvm::any_of(legal, [&](PlaceCost p) { return p.place == place; }))
        return success();
      return op.emitOpError(factor)
             << " cannot go to place " << stringifyPlace(place);
    };
    if (op.getScale() &&
        failed(check("scale", *op.getScalePlace(), scalePlaces(contraction))))
      return failure();
    if (op.getZero())
      return check("zero", *op.getZeroPlace(),
                   zeroPlaces(contraction, *op.getScalePlace()));
    return success();
  }

  static void expand(DequantizeOp op) {
    OpBuilder at(op);
    TileBuilder b(op.getLoc(), at);
    Type type = op.getType();
    Value codes = op.getCodes();
    Type element = cast<RankedTensorType>(codes.getType()).getElementType();
    Value x = codes;
    if (element.isInteger())
      x = arith::SIToFPOp::create(b, type, codes);
    else if (!element.isF32())
      x = arith::ExtFOp::create(b, type, codes);
    if (op.getScale()) {
      if (op.getCentre() != 0)
        x = b.add(x, static_cast<double>(op.getCentre()));
      if (op.getZeroKind() == spec::Zero::Code)
        x = b.sub(x, b.broadcast(op.getZero(), type));
      x = b.mul(x, b.broadcast(op.getScale(), type));
      if (op.getZeroKind() == spec::Zero::Min)
        x = b.add(x, b.broadcast(op.getZero(), type));
    }
    op.replaceAllUsesWith(x);
    op.erase();
  }
};

} // namespace

} // namespace kvc
