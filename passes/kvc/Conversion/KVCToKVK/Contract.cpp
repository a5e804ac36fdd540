//===- Contract.cpp - Contractions of codes become kvk.dot ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every contraction has rows of weights on its left (queries or probabilities,
// in scratch) and tokens on its right. If the right side is codes and nothing
// but a cast, the dot reads them from the cache itself; otherwise they were
// dequantised into a panel of scratch. Two shapes around a dot are folded into
// it:
//
//   o * alpha + dot          the rows of o whose alpha is not 1 are rescaled,
//                            then a dot accumulates (`Accumulation`)
//   sum_b scale[b] * dot[b]  dots over channel blocks accumulate, each scaled
//                            per token (`PartialDots`)
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "kvc/Analysis/TileOrder.h"
#include "kvc/Dialect/KVK/KVKOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

namespace {

/// The load_codes behind casts and splits, or null.
LoadCodesOp codesBehind(Value tile) {
  Operation *op = tile.getDefiningOp();
  while (op && (isWidening(op) || isa<SplitOp>(op)))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_if_present<LoadCodesOp>(op);
}

/// The one user of a value, or null.
Operation *onlyUser(Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

Value otherOperand(Operation *op, Value value) {
  return op->getOperand(0) == value ? op->getOperand(1) : op->getOperand(0);
}

bool isInteger(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getElementType().isInteger();
}

} // namespace

bool isWidening(Operation *op) {
  return isa<arith::SIToFPOp, arith::ExtFOp>(op);
}

bool onlyDotsRead(Value codes) {
  if (auto load = codes.getDefiningOp<LoadCodesOp>()) {
    const spec::Scheme *scheme =
        spec::schemeOf(load.getCache().getType().getSpec(), load.getTensor());
    if (crossesBytes(scheme->parts[load.getPart()].codec.bits))
      return false;
  }
  return llvm::all_of(codes.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<ContractOp>(user))
      return use.getOperandNumber() == 1;
    return (isWidening(user) || isa<SplitOp>(user)) &&
           onlyDotsRead(user->getResult(0));
  });
}

void Converter::findDotPatterns(Block &block) {
  for (auto contract : block.getOps<ContractOp>()) {
    Value dot = contract.getResult();
    Operation *user = onlyUser(dot), *join = nullptr;
    if (user && isa<JoinOp>(user)) {
      join = user;
      dot = join->getResult(0);
      user = onlyUser(dot);
    }
    if (!user || user->getBlock() != &block)
      continue;

    if (auto sum = dyn_cast<arith::AddFOp>(user)) {
      auto rescale = otherOperand(sum, dot).getDefiningOp<arith::MulFOp>();
      Value carried = carriedOfYielded.lookup(sum.getResult());
      if (!carried || !rescale || !rescale->hasOneUse() ||
          !carried.hasOneUse() || *carried.user_begin() != rescale)
        continue;
      auto alpha = otherOperand(rescale, carried).getDefiningOp<BroadcastOp>();
      Operation *definition =
          alpha ? alpha.getSource().getDefiningOp() : nullptr;
      if (!definition || definition->getBlock() != &block ||
          !definition->isBeforeInBlock(contract))
        continue;
      accumulations[contract] = {carried, alpha.getSource(), sum.getResult()};
      covered.insert(sum);
      covered.insert(rescale);
      if (join)
        covered.insert(join);
      if (alpha->hasOneUse())
        covered.insert(alpha);
      continue;
    }

    auto scaled = dyn_cast<arith::MulFOp>(user);
    auto sum = scaled
                   ? dyn_cast_if_present<ReduceOp>(onlyUser(scaled.getResult()))
                   : nullptr;
    if (join || !sum || sum.getKind() != ReductionKind::Add ||
        hasDim(sum.getType(), "b") || !hasDim(dot.getType(), "b") ||
        !hasDim(dot.getType(), "t"))
      continue;
    auto factor = otherOperand(scaled, dot).getDefiningOp<BroadcastOp>();
    if (!factor || hasDim(factor.getSource().getType(), "r") ||
        !hasDim(factor.getSource().getType(), "t"))
      continue;
    partialDots[contract] = {factor.getSource(), sum.getResult()};
    covered.insert(scaled);
    covered.insert(sum);
    if (factor->hasOneUse())
      covered.insert(factor);
  }
}

void Converter::expandSkinnyContracts() {
  SmallVector<ContractOp> skinny;
  function.walk([&](ContractOp contract) {
    TileShape rhs = TileShape::of(contract.getRhs().getType());
    if (rhs.vector && (rhs.vector->first == "t" || rhs.loops.empty()) &&
        !codesBehind(contract.getRhs()))
      skinny.push_back(contract);
  });
  for (ContractOp contract : skinny) {
    OpBuilder at(contract);
    Location loc = contract.getLoc();
    SmallVector<TileDim> dims;
    for (Value operand : contract->getOperands())
      for (StringRef dim : dimsOf(operand.getType()))
        if (llvm::none_of(dims,
                          [&](auto &known) { return known.first == dim; }))
          dims.push_back({dim, extentOf(operand.getType(), dim)});
    auto element = cast<RankedTensorType>(contract.getType()).getElementType();
    RankedTensorType product = makeTile(at.getContext(), dims, element);
    Value lhs = contract.getLhs(), rhs = contract.getRhs();
    if (lhs.getType() != product)
      lhs = BroadcastOp::create(at, loc, product, lhs);
    if (rhs.getType() != product)
      rhs = BroadcastOp::create(at, loc, product, rhs);
    Value scaled = arith::MulFOp::create(at, loc, lhs, rhs);
    Value sum = ReduceOp::create(at, loc, contract.getType(),
                                 ReductionKind::Add, scaled);
    contract.replaceAllUsesWith(sum);
    contract.erase();
  }
}

LogicalResult Converter::convertContract(ContractOp contract) {
  // Where the result goes: into the carried rows, into the sum of partial dots,
  // or into scratch of its own.
  Value result = contract.getResult(), into;
  bool accumulates = false;
  if (auto it = accumulations.find(contract); it != accumulations.end()) {
    const Accumulation &pattern = it->second;
    into = tiles[pattern.carried].scratch;
    rescaleRows(into, scratchOf(pattern.alpha));
    tiles[pattern.sum].scratch = into;
    if (TileShape shape = TileShape::of(result.getType());
        shape.isLoop("b")) // joined
      into = expandRows(into, shape.scratchType());
    accumulates = true;
  } else if (auto it = partialDots.find(contract); it != partialDots.end()) {
    into = newScratch(TileShape::of(it->second.sum.getType()).scratchType());
    fill(into, builder.getF32FloatAttr(0));
    tiles[it->second.sum].scratch = into;
    accumulates = true;
  } else {
    into = newScratch(TileShape::of(result.getType()).scratchType());
    tiles[result].scratch = into;
  }

  LoadCodesOp codes = codesBehind(contract.getRhs());
  if (codes && tiles[contract.getRhs()].codes)
    return emitDots(contract, codes, into, accumulates);
  return emitPanelDot(contract, into, accumulates);
}

/// rows[r] *= alpha[r] where alpha[r] is not 1 (it mostly is: maxima settle
/// early).
void Converter::rescaleRows(Value rows, Value alpha) {
  Location loc = function.getLoc();
  rows = flatRows(rows);
  auto type = cast<MemRefType>(rows.getType());
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(builder, loc, index(0),
                                 index(type.getDimSize(0)), index(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  Value factor = memref::LoadOp::create(builder, loc, alpha, ValueRange{row});
  Value one =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1));
  Value moved = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                      factor, one);
  auto branch =
      scf::IfOp::create(builder, loc, moved, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  auto vectorType =
      VectorType::get({type.getDimSize(1)}, type.getElementType());
  Value old = vector::LoadOp::create(builder, loc, vectorType, rows,
                                     ValueRange{row, index(0)});
  Value scaled = arith::MulFOp::create(
      builder, loc, old,
      vector::BroadcastOp::create(builder, loc, vectorType, factor));
  vector::StoreOp::create(builder, loc, scaled, rows,
                          ValueRange{row, index(0)});
}

/// Scratch [R][B][E] as [R][B*E].
Value Converter::flatRows(Value scratch) {
  if (cast<MemRefType>(scratch.getType()).getRank() == 2)
    return scratch;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(scratch.getDefiningOp());
  return memref::CollapseShapeOp::create(
      builder, function.getLoc(), scratch,
      ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

/// Scratch [R][C] as [R][B][E].
Value Converter::expandRows(Value scratch, MemRefType type) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(scratch.getDefiningOp());
  return memref::ExpandShapeOp::create(
      builder, function.getLoc(), type, scratch,
      ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

/// Slice b of dim 1 of [R][B][N]: memref<RxN>.
Value Converter::blockOf(Value scratch, Value block) {
  auto type = cast<MemRefType>(scratch.getType());
  SmallVector<OpFoldResult> offsets{builder.getIndexAttr(0), block,
                                    builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{builder.getIndexAttr(type.getDimSize(0)),
                                  builder.getIndexAttr(1),
                                  builder.getIndexAttr(type.getDimSize(2))};
  SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(0), type.getDimSize(2)}, type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, function.getLoc(),
                                   cast<MemRefType>(sliced), scratch, offsets,
                                   sizes, strides);
}

/// Row b of [B][N]: memref<N>.
Value Converter::rowOf(Value scratch, Value row) {
  auto type = cast<MemRefType>(scratch.getType());
  SmallVector<OpFoldResult> offsets{row, builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{builder.getIndexAttr(1),
                                  builder.getIndexAttr(type.getDimSize(1))};
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(1)}, type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, function.getLoc(),
                                   cast<MemRefType>(sliced), scratch, offsets,
                                   sizes, strides);
}

/// The rows as weights of a dot, made where the rows are: outside every loop
/// that does not change them.
Converter::Weights Converter::weightsOf(Value tile, Value rows,
                                        ContractOp contract, bool integer) {
  if (!integer)
    return {rows, {}, {}, {}, {}};
  Weights &known = quantisedRows[tile];
  if (known.rows)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  Operation *outermost = nullptr;
  for (Operation *loop = contract->getParentOp(); loop != function;
       loop = loop->getParentOp())
    if (isa<scf::ForOp>(loop) &&
        !loop->isAncestor(tile.getParentBlock()->getParentOp()))
      outermost = loop;
  if (outermost)
    builder.setInsertionPoint(newLoops.lookup(outermost));
  known = quantise(rows);
  // Probabilities need none: they are small where they are off.
  if (!hasDim(tile.getType(), "t"))
    addResidual(known, rows);
  return known;
}

Converter::Weights Converter::quantise(Value rows) {
  auto type = cast<MemRefType>(rows.getType());
  Weights weights;
  weights.rows =
      newScratch(MemRefType::get(type.getShape(), builder.getI16Type()));
  weights.scale =
      newScratch(MemRefType::get({type.getDimSize(0)}, builder.getF32Type()));
  kvk::QuantizeRowsOp::create(builder, function.getLoc(), rows, weights.rows,
                              weights.scale);
  return weights;
}

/// A 16-bit weight is off by up to max|q| / 65534, whatever channel it is in:
/// too much for a row whose maximum stands out from its root mean square,
/// against keys that are large in other channels. What rounding left is then a
/// second set of weights.
void Converter::addResidual(Weights &weights, Value rows) {
  Location loc = function.getLoc();
  auto type = cast<MemRefType>(rows.getType());
  auto floats = VectorType::get({type.getDimSize(1)}, type.getElementType());
  auto codes = VectorType::get({type.getDimSize(1)}, builder.getI16Type());
  Value left = newScratch(type);
  weights.residualMatters = anyRowStandsOut(rows);

  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, loc, weights.residualMatters,
                                  /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  {
    OpBuilder::InsertionGuard inner(builder);
    auto loop = scf::ForOp::create(builder, loc, index(0),
                                   index(type.getDimSize(0)), index(1));
    builder.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    SmallVector<Value> at{row, index(0)};
    Value exact = vector::LoadOp::create(builder, loc, floats, rows, at);
    Value code = vector::LoadOp::create(builder, loc, codes, weights.rows, at);
    Value scale =
        memref::LoadOp::create(builder, loc, weights.scale, ValueRange{row});
    Value rounded = arith::MulFOp::create(
        builder, loc, arith::SIToFPOp::create(builder, loc, floats, code),
        vector::BroadcastOp::create(builder, loc, floats, scale));
    vector::StoreOp::create(builder, loc,
                            arith::SubFOp::create(builder, loc, exact, rounded),
                            left, at);
  }
  Weights residual = quantise(left);
  weights.residualRows = residual.rows;
  weights.residualScale = residual.scale;
}

/// Whether some row has max^2 > limit * mean square.
Value Converter::anyRowStandsOut(Value rows) {
  Location loc = function.getLoc();
  auto type = cast<MemRefType>(rows.getType());
  // One channel alone gives at most `depth`, a row of a normal distribution 10.
  auto depth = static_cast<float>(type.getDimSize(1));
  const float limit = std::min(25.0f, depth / 4);
  auto vectorType =
      VectorType::get({type.getDimSize(1)}, type.getElementType());
  OpBuilder::InsertionGuard guard(builder);
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  auto loop = scf::ForOp::create(builder, loc, index(0),
                                 index(type.getDimSize(0)), index(1), none);
  builder.setInsertionPointToStart(loop.getBody());
  Value row =
      vector::LoadOp::create(builder, loc, vectorType, rows,
                             ValueRange{loop.getInductionVar(), index(0)});
  Value squares = arith::MulFOp::create(builder, loc, row, row);
  Value largest = vector::ReductionOp::create(
      builder, loc, vector::CombiningKind::MAXNUMF, squares);
  Value sum =
      vector::ReductionOp::create(builder, loc, vector::CombiningKind::ADD,
                                  squares, arith::FastMathFlags::reassoc);
  Value usual = arith::MulFOp::create(
      builder, loc, sum,
      arith::ConstantOp::create(builder, loc,
                                builder.getF32FloatAttr(limit / depth)));
  Value standsOut = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OGT, largest, usual);
  Value any =
      arith::OrIOp::create(builder, loc, loop.getRegionIterArg(0), standsOut);
  scf::YieldOp::create(builder, loc, any);
  return loop.getResult(0);
}

LogicalResult Converter::emitDots(ContractOp contract, LoadCodesOp codes,
                                  Value into, bool accumulates) {
  Location loc = contract.getLoc();
  Type rhs = contract.getRhs().getType();
  bool sumsTokens = !hasDim(contract.getType(), "t");
  bool perBlock = hasDim(rhs, "b") && hasDim(contract.getType(), "b") &&
                  hasDim(contract.getLhs().getType(), "b");
  const spec::Spec &spec = codes.getCache().getType().getSpec();
  bool integer = integerDots && isInteger(codes.getResult()) &&
                 spec.io.query != spec::DType::F32;
  Value rows = scratchOf(contract.getLhs());
  StoredCodes stored(codes.getCache().getType(), codes.getTensor(),
                     codes.getPart());

  auto dot = [&](Weights weights, Value acc, Value channel, int64_t channels,
                 Value scaleLanes, bool adds) {
    auto tileOf = [&](Type element) {
      return kvk::TileType::get(
          {extentOf(codes.getType(), "t"), channels}, element,
          DimsAttr::get(builder.getContext(), {"t", "c"}));
    };
    Value tile = kvk::LoadOp::create(
        builder, loc, tileOf(stored.element), scalar(codes.getCache()),
        scalar(codes.getKvHead()), scalar(codes.getToken()),
        scalar(codes.getValid()), channel, codes.getTensor(), codes.getPart(),
        /*storage=*/kvk::StorageAttr(), /*page=*/IntegerAttr());
    Type operand =
        integer ? Type(builder.getI16Type()) : Type(builder.getF32Type());
    Value wide =
        kvk::WidenOp::create(builder, loc, tile, operand, stored.centre);
    auto multiply = [&](Value rows, Value rowScale, bool accumulate) {
      kvk::DotOp::create(builder, loc, rows, wide, acc, rowScale, scaleLanes,
                         sumsTokens ? "t" : "c", accumulate);
    };
    multiply(weights.rows, weights.scale, adds);
    if (!weights.residualMatters)
      return;
    auto branch = scf::IfOp::create(builder, loc, weights.residualMatters,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    multiply(weights.residualRows, weights.residualScale, /*accumulate=*/true);
  };

  if (!perBlock) {
    Weights weights =
        weightsOf(contract.getLhs(), flatRows(rows), contract, integer);
    int64_t channels =
        extentOf(codes.getType(), dimsOf(codes.getType()).back());
    dot(weights, flatRows(into), index(0), channels, {}, accumulates);
    return success();
  }

  // One dot per channel block. Keys: the rows are quantised as a whole. Values:
  // each block has its own probabilities.
  int64_t blocks = extentOf(rhs, "b"), channels = extentOf(rhs, "e");
  Weights weights;
  if (!sumsTokens)
    weights = weightsOf(contract.getLhs(), flatRows(rows), contract, integer);
  Value scales;
  if (auto it = partialDots.find(contract); it != partialDots.end())
    scales = scratchOf(it->second.scale);

  OpBuilder::InsertionGuard guard(builder);
  auto loop =
      scf::ForOp::create(builder, loc, index(0), index(blocks), index(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value block = loop.getInductionVar();
  Value channel = arith::MulIOp::create(builder, loc, block, index(channels));
  if (sumsTokens) {
    Value ofBlock = blockOf(rows, block);
    Weights own =
        integer ? quantise(ofBlock) : Weights{ofBlock, {}, {}, {}, {}};
    dot(own, blockOf(into, block), channel, channels, {}, accumulates);
    return success();
  }
  Weights ofBlock = weights;
  ofBlock.rows = columnsOf(weights.rows, channel, channels);
  if (weights.residualRows)
    ofBlock.residualRows = columnsOf(weights.residualRows, channel, channels);
  dot(ofBlock, scales ? into : blockOf(into, block), channel, channels,
      scales ? rowOf(scales, block) : Value(), accumulates);
  return success();
}

/// Columns [first, first + count) of [R][N].
Value Converter::columnsOf(Value scratch, Value first, int64_t count) {
  auto type = cast<MemRefType>(scratch.getType());
  SmallVector<OpFoldResult> offsets{builder.getIndexAttr(0), first};
  SmallVector<OpFoldResult> sizes{builder.getIndexAttr(type.getDimSize(0)),
                                  builder.getIndexAttr(count)};
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  return memref::SubViewOp::create(builder, function.getLoc(), scratch, offsets,
                                   sizes, strides);
}

LogicalResult Converter::emitPanelDot(ContractOp contract, Value into,
                                      bool accumulates) {
  Location loc = contract.getLoc();
  Value panel = scratchOf(contract.getRhs()),
        rows = scratchOf(contract.getLhs());
  bool sumsTokens = !hasDim(contract.getType(), "t");
  if (sumsTokens && tiles[contract.getRhs()].valid)
    zeroRowsFrom(flatRows(panel), tiles[contract.getRhs()].valid);
  auto dot = [&](Value weights, Value x, Value acc, Value scaleLanes) {
    kvk::DotOp::create(builder, loc, weights, x, acc, Value(), scaleLanes,
                       sumsTokens ? "major" : "minor", accumulates);
  };
  bool perBlock = hasDim(contract.getType(), "b") &&
                  hasDim(contract.getLhs().getType(), "b");
  if (!perBlock) {
    dot(flatRows(rows), flatRows(panel), flatRows(into), Value());
    return success();
  }

  Value scales;
  if (auto it = partialDots.find(contract); it != partialDots.end())
    scales = scratchOf(it->second.scale);
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(
      builder, loc, index(0), index(extentOf(contract.getRhs().getType(), "b")),
      index(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value block = loop.getInductionVar();
  dot(blockOf(rows, block), blockOf(panel, block),
      scales ? into : blockOf(into, block),
      scales ? rowOf(scales, block) : Value());
  return success();
}

/// Rows [first, T) become zero: a probability of 0 must not meet a NaN.
void Converter::zeroRowsFrom(Value panel, Value first) {
  Location loc = function.getLoc();
  auto type = cast<MemRefType>(panel.getType());
  auto vectorType =
      VectorType::get({type.getDimSize(1)}, type.getElementType());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(vectorType));
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(builder, loc, first, index(type.getDimSize(0)),
                                 index(1));
  builder.setInsertionPointToStart(loop.getBody());
  vector::StoreOp::create(builder, loc, zero, panel,
                          ValueRange{loop.getInductionVar(), index(0)});
}

} // namespace kvc
