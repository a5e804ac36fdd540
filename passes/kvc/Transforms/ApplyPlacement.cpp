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
// Outliers that leave the codes take what the codes under them stand for along:
// those are 0 (SPEC.md section 2), so that it is x' of code 0.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Transforms/CarriedSum.h"
#include "kvc/Transforms/Passes.h"
#include "kvc/Transforms/Placement.h"
#include "kvc/Transforms/TileBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_APPLYPLACEMENT
#include "kvc/Transforms/Passes.h.inc"

namespace {

/// Values of 1e-37 have scales so small that p * s underflows. It is taken
/// kEnlarge times as large, which a sum of 2^30 tokens outlives, unless a tile
/// has a scale of kLarge or more.
constexpr double kEnlarge = 0x1p90, kLarge = 1;

/// The codes of `op` as floats, as stored if their centre is added, with the
/// factors that stay on them.
Value onCodes(TileBuilder &b, DequantizeOp op, bool centre, bool scale,
              bool zero) {
  Value x = op.getCodes();
  Type element = cast<RankedTensorType>(x.getType()).getElementType(),
       type = op.getType();
  if (element.isInteger())
    x = arith::SIToFPOp::create(b, type, x);
  else if (!element.isF32())
    x = arith::ExtFOp::create(b, type, x);
  if (centre && op.getCentre() != 0)
    x = b.add(x, static_cast<double>(op.getCentre()));
  if (zero && op.getZeroKind() == spec::Zero::Code)
    x = b.sub(x, b.broadcast(op.getZero(), type));
  if (scale)
    x = b.mul(x, b.broadcast(op.getScale(), type));
  if (zero && op.getZeroKind() == spec::Zero::Min)
    x = b.add(x, b.broadcast(op.getZero(), type));
  return x;
}

class Rewrite {
public:
  Rewrite(CodeContraction contraction)
      : contraction(contraction), contract(contraction.contract),
        dequantize(contraction.dequantize), at(contract),
        b(contract.getLoc(), at, arith::FastMathFlags::contract) {}

  void run() {
    if (contraction.patch)
      splitSparse();
    scaleInRegisters = dequantize.getScalePlace() == Place::Register;
    bool zeroLeaves =
        dequantize.getZero() && dequantize.getZeroPlace() != Place::Register;
    Value codes = operandOfProduct();
    if (zeroLeaves && !contraction.givesScores() && carryOutputZero())
      zeroLeaves = false;
    Value result = product(codes);
    if (zeroLeaves)
      result =
          b.add(result, b.broadcast(contraction.givesScores() ? scoreZero()
                                                              : outputZero(),
                                    result.getType()));
    contract.replaceAllUsesWith(result);
    contract.erase();
    if (contraction.rope)
      contraction.rope.erase();
    if (dequantize->use_empty())
      dequantize.erase();
  }

private:
  //===--------------------------------------------------------------------===//
  // Outliers
  //===--------------------------------------------------------------------===//

  /// What is contracted becomes the codes' values alone, the outliers' product
  /// is added: to the scores, or to the sum over tiles, beside which theirs is
  /// carried, since factors may give that one units of its own.
  void splitSparse() {
    PatchOp patch = contraction.patch;
    Value index = patch.getIndex(), value = patch.getValue();
    if (Value base = codeZero(index))
      value = b.sub(value, base);
    if (contraction.givesScores()) {
      Value sparse = GatherDotOp::create(
          b, contract.getType(), joined(contract.getLhs()), index, value);
      b.setInsertionPointAfter(contract);
      addTo(contract.getResult(), sparse);
      b.setInsertionPoint(contract);
    } else {
      scatter(index, value);
    }
    contract.getRhsMutable().assign(dequantize.getResult());
    if (patch->use_empty())
      patch.erase();
  }

  void scatter(Value index, Value value) {
    Value p = contract.getLhs(), product = contract.getResult();
    if (hasDim(product.getType(), "b") && product.hasOneUse())
      if (auto join = dyn_cast<JoinOp>(*product.user_begin()))
        product = join.getResult();
    auto type = cast<RankedTensorType>(product.getType());
    Value sparse = ScatterDotOp::create(b, type, p, index, value);
    std::optional<CarriedSum> sum = CarriedSum::of(contract.getResult());
    if (!sum) {
      b.setInsertionPointAfterValue(product);
      addTo(product, sparse);
      b.setInsertionPoint(contract);
      return;
    }
    b.setInsertionPoint(sum->getLoop());
    Value zero = b.constantLike(sparse, 0.0);
    b.setInsertionPoint(contract);
    Value total = sum->carryBeside(zero, [&](Value before) {
      b.setInsertionPoint(sum->getLoop().getBody()->getTerminator());
      return b.add(b.mul(before, b.broadcast(sum->getDecay(), type)), sparse);
    });
    b.setInsertionPointAfter(sum->getLoop());
    addTo(sum->getResult(), total);
    b.setInsertionPoint(contract);
  }

  /// `term` is part of `value` for all that read it.
  void addTo(Value value, Value term) {
    auto sum = b.add(value, term);
    value.replaceAllUsesExcept(sum, sum.getDefiningOp());
  }

  /// Blocks of channels as channels.
  Value joined(Value rows) {
    if (!hasDim(rows.getType(), "b"))
      return rows;
    if (auto split = rows.getDefiningOp<SplitOp>())
      return split.getSource();
    return JoinOp::create(b, rows, "c");
  }

  /// What code 0 stands for at some channels of each token; null for 0.
  Value codeZero(Value index) {
    DequantizeOp op = dequantize;
    Value base = decodedZero(index);
    if (base && op.getScale())
      base = b.mul(base, factorAt(op.getScale(), index));
    if (!op.getZero())
      return base;
    Value zero = factorAt(op.getZero(), index);
    if (op.getZeroKind() == spec::Zero::Code)
      zero = b.mul(factorAt(op.getScale(), index), b.mul(zero, -1.0));
    return base ? b.add(base, zero) : zero;
  }

  /// What code 0 is before factors; null for 0.
  Value decodedZero(Value index) {
    Operation *codes = dequantize.getCodes().getDefiningOp();
    while (isa_and_present<SplitOp>(codes))
      codes = codes->getOperand(0).getDefiningOp();
    if (auto lookup = dyn_cast_if_present<LookupOp>(codes))
      return b.constantLike(index, lookup.getTable().front());
    if (auto gather = dyn_cast_if_present<GatherOp>(codes))
      return PickOp::create(b, gather.getTable(), b.constantLike(index, 0.0));
    return {};
  }

  /// A scale or zero of the codes, at some channels of each token.
  Value factorAt(Value factor, Value index) {
    Type type = factor.getType(), codes = dequantize.getCodes().getType();
    bool isByBlocks = hasDim(type, "b");
    if (!isByBlocks && !hasDim(type, dimsOf(codes).back()))
      return b.broadcast(factor, index.getType());
    return PickOp::create(b, factor, index,
                          isByBlocks ? extentOf(codes, "e") : 1);
  }

  //===--------------------------------------------------------------------===//
  // Factors
  //===--------------------------------------------------------------------===//

  /// What the product reads of the codes: with the factors that stay on them.
  Value operandOfProduct() {
    bool zeroInRegisters =
        dequantize.getZero() && dequantize.getZeroPlace() == Place::Register;
    // Without a zero there is no m that could take the centre; beside a zero in
    // registers it would only cost the zero digits.
    Value x = onCodes(b, dequantize, !dequantize.getZero() || zeroInRegisters,
                      scaleInRegisters, zeroInRegisters);
    RopeOp rope = contraction.rope;
    if (!rope)
      return x;
    IRMapping mapping;
    mapping.map(rope.getSource(), x);
    return b.clone(*rope, mapping)->getResult(0);
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
    case Place::Output:
      if (scaleBehindLoop())
        return ContractOp::create(b, type, lhs, codes);
      [[fallthrough]];
    case Place::Score:
      return b.mul(ContractOp::create(b, type, lhs, codes),
                   b.broadcast(scale, type));
    case Place::Query:
      return ContractOp::create(b, type, scaledRows(lhs), codes);
    case Place::P:
      if (scalesHaveExponentsOfF32(contraction))
        return productInUnits(codes);
      return ContractOp::create(b, type, scaledRows(lhs), codes);
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

  /// Where the result is summed over tiles, from zero, and the scale is the
  /// same for all of them, it multiplies the sum once, at the end. False if it
  /// does not.
  bool scaleBehindLoop() {
    Value scale = dequantize.getScale();
    std::optional<CarriedSum> sum = CarriedSum::of(contract.getResult());
    if (!sum || !sum->getLoop().isDefinedOutsideOfLoop(scale))
      return false;
    auto result = cast<OpResult>(sum->getResult());
    if (!matchPattern(sum->getLoop().getTiedLoopInit(result)->get(),
                      m_AnyZeroFloat()))
      return false;
    b.setInsertionPointAfter(sum->getLoop());
    Value total = b.mul(result, b.broadcast(scale, result.getType()));
    result.replaceAllUsesExcept(total, total.getDefiningOp());
    b.setInsertionPoint(contract);
    return true;
  }

  /// The rows times the scale, with its blocks of channels.
  Value scaledRows(Value rows) {
    Value scale = dequantize.getScale();
    SmallVector<TileDim> dims = tileDimsOf(rows.getType());
    for (TileDim dim : tileDimsOf(scale.getType()))
      if (!hasDim(rows.getType(), dim.first))
        dims.push_back(dim);
    RankedTensorType scaled = makeTile(b.getContext(), dims, b.getF32Type());
    return b.mul(b.broadcast(rows, scaled), b.broadcast(scale, scaled));
  }

  /// The product of p * s where that may underflow: p is enlarged before and
  /// the sum over all tiles made small behind their loop. A tile of large
  /// scales ends that for its rows, and what was summed before shrinks with the
  /// decay.
  Value productInUnits(Value codes) {
    Value p = contract.getLhs();
    auto type = cast<RankedTensorType>(contract.getType());
    Value factor = enlargement(p);
    std::optional<CarriedSum> sum = CarriedSum::of(contract.getResult());
    if (!sum || !sum->canDecayBehind(contract)) {
      Value rows = scaledRows(b.mul(p, b.broadcast(factor, p.getType())));
      return b.mul(ContractOp::create(b, type, rows, codes), inverse(factor));
    }
    b.setInsertionPoint(sum->getLoop());
    Value init = b.constantLike(factor, kEnlarge);
    b.setInsertionPoint(contract);
    Value last = sum->carryBeside(init, [&](Value before) -> Value {
      factor = arith::MinNumFOp::create(b, before, factor);
      sum->setDecay(b, b.mul(sum->getDecay(), b.div(factor, before)));
      return factor;
    });
    b.setInsertionPointAfter(sum->getLoop());
    Value enlarged = sum->getResult();
    Value small = b.mul(enlarged, inverse(last));
    enlarged.replaceAllUsesExcept(small, small.getDefiningOp());
    b.setInsertionPoint(contract);
    Value rows = scaledRows(b.mul(p, b.broadcast(factor, p.getType())));
    return ContractOp::create(b, type, rows, codes);
  }

  Value inverse(Value factor) {
    return b.div(b.constantLike(factor, 1.0), factor);
  }

  /// For each row of `p`, by how much this tile's products may be enlarged.
  Value enlargement(Value p) {
    Value size = dequantize.getScale();
    size = b.max(size, b.mul(size, -1.0));
    auto reduceTo = [&](Type type) {
      if (size.getType() != type)
        size = ReduceOp::create(b, type, ReductionKind::MaxNumF, size);
    };
    SmallVector<StringRef> contracted = contraction.contracted(), rows;
    reduceTo(tileWithDims(p.getType(), contracted));
    for (StringRef dim : dimsOf(p.getType()))
      if (!llvm::is_contained(contracted, dim))
        rows.push_back(dim);
    size = b.broadcast(size, p.getType());
    reduceTo(tileWithDims(p.getType(), rows));
    return b.select(b.compare(arith::CmpFPredicate::OLT, size, kLarge),
                    b.constantLike(size, kEnlarge), b.constantLike(size, 1.0));
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
  Value scoreZero() {
    Value sum = contract.getLhs(), m = minimum();
    Type result = contract.getType();
    SmallVector<StringRef> kept;
    for (StringRef dim : dimsOf(sum.getType()))
      if (hasDim(result, dim) || hasDim(m.getType(), dim))
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
      return b.mul(b.broadcast(sum, result), b.broadcast(m, result));
    return ContractOp::create(b, termType(sum, m), sum, m);
  }

  /// Values: sum_t p * m is the same for all channels of a block.
  Value outputZero() {
    Value lhs = contract.getLhs(), m = minimum();
    RankedTensorType type = termType(lhs, m);
    if (hasDim(m.getType(), "t"))
      return ContractOp::create(b, type, lhs, m);
    // One m for the tile's tokens: p is summed before it meets its channels.
    Value sum = ReduceOp::create(b, ReductionKind::Add, lhs, "t");
    return b.mul(b.broadcast(sum, type), b.broadcast(m, type));
  }

  /// Where the result is summed over tiles, the zero's sum is carried beside it
  /// and added once, at the end. False if it is not.
  bool carryOutputZero() {
    std::optional<CarriedSum> sum = CarriedSum::of(contract.getResult());
    if (!sum)
      return false;
    Value term = outputZero();
    b.setInsertionPoint(sum->getLoop());
    Value zero = b.constantLike(term, 0.0);
    b.setInsertionPoint(contract);
    Value offset = sum->carryBeside(zero, [&](Value before) {
      b.setInsertionPoint(sum->getLoop().getBody()->getTerminator());
      return b.add(b.mul(before, b.broadcast(sum->getDecay(), term.getType())),
                   term);
    });
    b.setInsertionPointAfter(sum->getLoop());
    Value result = sum->getResult();
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
    b.setInsertionPoint(contract);
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
      if (!contraction.isShared())
        Rewrite(contraction).run();
    // What no product reads, or not alone, is dequantised as it is written.
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
    if (PatchOp patch = contraction.patch) {
      if (!patch.getPlace())
        return patch.emitOpError("has no place; run kvc-place-factors first");
      if (failed(
              check("outliers", *patch.getPlace(), sparsePlaces(contraction))))
        return failure();
    }
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
    const bool hasZero = static_cast<bool>(op.getZero());
    Value x = onCodes(b, op, true, static_cast<bool>(op.getScale()), hasZero);
    op.replaceAllUsesWith(x);
    op.erase();
  }
};

} // namespace

} // namespace kvc
