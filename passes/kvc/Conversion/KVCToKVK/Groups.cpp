//===- Groups.cpp - Neighbouring tile operations as one loop nest ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A group is emitted as
//
//   for r { for b {
//     loads from scratch; one vector operation per tile operation;
//     stores of what is used outside the group } }
//
// Operations without loops (tiles that are one vector) stand before it.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kvc {

namespace {

/// The tile whose dims an operation iterates over: its widest one.
Type iterationTile(Operation *op) {
  Type widest;
  auto consider = [&](Type type) {
    if (isTile(type) &&
        (!widest || cast<RankedTensorType>(type).getRank() >
                        cast<RankedTensorType>(widest).getRank()))
      widest = type;
  };
  llvm::for_each(op->getResultTypes(), consider);
  llvm::for_each(op->getOperandTypes(), consider);
  return widest;
}

/// The loops of an operation's nest.
SmallVector<TileLoop, 4> loopsOf(Operation *op, Type tile) {
  SmallVector<TileLoop, 4> loops = TileShape::of(tile).loops;
  if (needsWholeRows(op))
    llvm::erase_if(loops, [](const TileLoop &loop) { return loop.isChunks(); });
  return loops;
}

/// A reduction over one of the loops: complete only after the whole nest.
bool reducesLoops(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return false;
  return llvm::any_of(loopsOf(op, reduce.getSource().getType()),
                      [&](const TileLoop &loop) {
                        return !hasDim(reduce.getType(), loop.dim);
                      });
}

/// The value an accumulation starts from.
TypedAttr identityOf(ReduceOp reduce, Builder &builder) {
  auto type = cast<FloatType>(
      cast<RankedTensorType>(reduce.getType()).getElementType());
  if (reduce.getKind() == ReductionKind::Add ||
      reduce.getKind() == ReductionKind::PairwiseAdd)
    return builder.getFloatAttr(type, 0.0);
  bool isMinimum = reduce.getKind() == ReductionKind::MinimumF;
  return builder.getFloatAttr(
      type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/!isMinimum));
}

} // namespace

bool needsWholeRows(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == ReductionKind::PairwiseAdd;
  return isa<RotateOp, RopeOp, LoadSchemeOp, LoadScaleOp, LoadZeroOp>(op);
}

TileShape Iteration::shapeOf(Type tile) const {
  TileShape shape = TileShape::of(tile);
  llvm::erase_if(shape.loops, [&](const TileLoop &loop) {
    return loop.isChunks() && !llvm::is_contained(loops, loop);
  });
  return shape;
}

bool Iteration::isLoop(StringRef dim) const {
  return llvm::any_of(loops, [&](const TileLoop &loop) {
    return loop.dim == dim && !loop.isChunks();
  });
}

Value Iteration::iv(StringRef dim) const {
  for (auto [loop, iv] : llvm::zip_equal(loops, ivs))
    if (loop.dim == dim && !loop.isChunks())
      return iv;
  llvm_unreachable("not a loop of this nest");
}

Value Converter::beginOf(const TileShape &shape, const Iteration &iteration) {
  for (auto [loop, iv] : llvm::zip_equal(iteration.loops, iteration.ivs))
    if (loop.dim == shape.vector->first && loop.isChunks())
      return iv;
  return index(0);
}

LogicalResult Converter::addToGroup(Operation *op) {
  if (isa<SplitOp, JoinOp, SliceOp, ConcatOp, FindOutliersOp, PickOp,
          GatherDotOp, ScatterDotOp>(op)) {
    if (failed(flush()))
      return failure();
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](ConcatOp op) { convertConcat(op); })
        .Case([&](FindOutliersOp op) { convertFindOutliers(op); })
        .Case([&](PickOp op) { convertPick(op); })
        .Case([&](GatherDotOp op) { convertGatherDot(op); })
        .Case([&](ScatterDotOp op) { convertScatterDot(op); })
        .Default([&](Operation *op) { reinterpret(op); });
    return success();
  }
  if (auto patch = dyn_cast<PatchOp>(op)) {
    // Its scalars are read from scratch.
    bool isPending = llvm::any_of(
        ValueRange{patch.getIndex(), patch.getValue()}, [&](Value operand) {
          return llvm::is_contained(pending.ops, operand.getDefiningOp());
        });
    if (isPending && failed(flush()))
      return failure();
    for (Value operand : {patch.getIndex(), patch.getValue()})
      if (!tiles[operand].splat)
        scratchOf(operand);
  }
  if (auto load = dyn_cast<LoadCodesOp>(op); load && onlyDotsRead(load)) {
    tiles[op->getResult(0)].codes = op;
    return success();
  }
  if (isWidening(op) && tiles[op->getOperand(0)].codes) {
    tiles[op->getResult(0)].codes = tiles[op->getOperand(0)].codes;
    return success();
  }

  if (auto reduce = dyn_cast<ReduceOp>(op);
      reduce && reduce.getKind() == ReductionKind::PairwiseAdd &&
      reducesLoops(reduce)) {
    if (failed(flush()))
      return failure();
    emitPairwise(reduce);
    return success();
  }

  if (loadsMetaTile(op)) {
    if (failed(flush()))
      return failure();
    convertLoadMetaTile(op);
    return success();
  }

  bool readsPending = llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && llvm::is_contained(pending.ops, producer);
  });
  bool readsUnfinished = llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && llvm::is_contained(pending.ops, producer) &&
           reducesLoops(producer);
  });

  SmallVector<TileLoop, 4> loops = loopsOf(op, iterationTile(op));
  if (loops.empty()) {
    if (readsPending && failed(flush()))
      return failure();
    return emitUniform(op);
  }
  if (!pending.ops.empty() && (readsUnfinished || pending.loops != loops) &&
      failed(flush()))
    return failure();
  if (pending.ops.empty())
    pending.loops = std::move(loops);
  pending.ops.push_back(op);
  return success();
}

/// A pairwise sum over tokens and channels, token by token: in a copy of each
/// block, halved until one element is left.
void Converter::emitPairwise(ReduceOp reduce) {
  Location loc = reduce.getLoc();
  Value source = scratchOf(reduce.getSource());
  TileShape shape = TileShape::of(reduce.getSource().getType());
  bool keepsVector = hasDim(reduce.getType(), shape.vector->first);
  int64_t tokens = extentOf(reduce.getSource().getType(), "t"),
          blocks = extentOf(reduce.getSource().getType(), "b"),
          width = shape.vector->second, run = keepsVector ? 1 : width;
  if (keepsVector)
    blocks = width;
  Type f32 = builder.getF32Type();
  Value copy = newScratch(MemRefType::get({tokens * run}, f32));
  Value result = newScratch(TileShape::of(reduce.getType()).scratchType());
  tiles[reduce.getResult()].scratch = result;

  OpBuilder::InsertionGuard guard(builder);
  auto enter = [&](int64_t count) {
    auto loop =
        scf::ForOp::create(builder, loc, index(0), index(count), index(1));
    builder.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  Value block = enter(blocks);
  {
    OpBuilder::InsertionGuard inner(builder);
    Value token = enter(tokens), channel = enter(run);
    SmallVector<Value> from{token};
    if (!keepsVector)
      from.push_back(block);
    from.push_back(keepsVector ? block : channel);
    Value at = arith::AddIOp::create(
        builder, loc, arith::MulIOp::create(builder, loc, token, index(run)),
        channel);
    memref::StoreOp::create(builder, loc,
                            memref::LoadOp::create(builder, loc, source, from),
                            copy, at);
  }
  for (int64_t count = tokens * run; count > 1; count = (count + 1) / 2) {
    OpBuilder::InsertionGuard inner(builder);
    // The one without a neighbour stays as it is: + 0.
    if (count % 2 != 0) {
      Value last = memref::LoadOp::create(builder, loc, copy, index(count - 1));
      Value pairs = index(count / 2);
      OpBuilder::InsertionGuard loopGuard(builder);
      Value i = enter(count / 2);
      addNeighbours(copy, i);
      builder.setInsertionPointAfter(i.getParentBlock()->getParentOp());
      memref::StoreOp::create(builder, loc, last, copy, pairs);
      continue;
    }
    addNeighbours(copy, enter(count / 2));
  }
  memref::StoreOp::create(builder, loc,
                          memref::LoadOp::create(builder, loc, copy, index(0)),
                          result, block);
}

/// copy[i] = copy[2 i] + copy[2 i + 1].
void Converter::addNeighbours(Value copy, Value i) {
  Location loc = function.getLoc();
  Value even = arith::MulIOp::create(builder, loc, i, index(2));
  Value odd = arith::AddIOp::create(builder, loc, even, index(1));
  Value sum = arith::AddFOp::create(
      builder, loc, memref::LoadOp::create(builder, loc, copy, even),
      memref::LoadOp::create(builder, loc, copy, odd));
  memref::StoreOp::create(builder, loc, sum, copy, i);
}

LogicalResult Converter::emitUniform(Operation *op) {
  Iteration iteration({}, {});
  if (failed(emitInIteration(op, iteration)))
    return failure();
  for (Value result : op->getResults()) {
    TileShape shape = TileShape::of(result.getType());
    if (shape.loops.empty()) {
      tiles[result].vector = iteration.values[result];
      continue;
    }
    // Others take this row in chunks.
    Value scratch = newScratch(shape.scratchType());
    tiles[result].scratch = scratch;
    storeInIteration(iteration, iteration.values[result], shape, scratch);
  }
  return success();
}

LogicalResult Converter::flush() {
  if (pending.ops.empty())
    return success();
  Group group = std::move(pending);
  pending = Group();
  return emitNest(group);
}

LogicalResult Converter::emitNest(const Group &group) {
  Operation *last = group.ops.back();
  Location loc = last->getLoc();
  DenseSet<Operation *> members(group.ops.begin(), group.ops.end());

  bool loopsOverTokens = llvm::any_of(
      group.loops, [](const TileLoop &loop) { return loop.dim == "t"; });
  Value tokens = loopsOverTokens ? tokenBound(group) : Value();

  // Scratch for what outlives an iteration; accumulators start from their
  // identity.
  SmallVector<std::pair<Value, Value>> outputs; // tile, scratch
  for (Operation *op : group.ops)
    for (Value result : op->getResults()) {
      bool outlives = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !members.contains(user);
      });
      if (!outlives)
        continue;
      Value scratch =
          reducesLoops(op) ? Value() : carriedScratchFor(result, last);
      if (!scratch)
        scratch = newScratch(TileShape::of(result.getType()).scratchType());
      if (reducesLoops(op))
        fill(scratch, identityOf(cast<ReduceOp>(op), builder));
      tiles[result].scratch = scratch;
      if (hasDim(result.getType(), "t"))
        tiles[result].valid = tokens;
      outputs.push_back({result, scratch});
    }

  // What the body reads from outside may have to be spilled before the loops.
  for (Operation *op : group.ops)
    for (Value operand : op->getOperands())
      if (isTile(operand.getType()) &&
          !members.contains(operand.getDefiningOp())) {
        TileShape shape = TileShape::of(operand.getType());
        bool vectorIsLoop =
            shape.vector &&
            Iteration(group.loops, {}).isLoop(shape.vector->first);
        if (tiles[operand].vector && vectorIsLoop)
          scratchOf(operand);
      }

  OpBuilder::InsertionGuard guard(builder);
  Iteration iteration(group.loops, {});
  for (const TileLoop &loop : group.loops) {
    Value bound = loop.dim == "t" ? tokens : Value();
    auto nest = scf::ForOp::create(builder, loc, index(0),
                                   bound ? bound : index(loop.extent),
                                   index(loop.step));
    builder.setInsertionPointToStart(nest.getBody());
    iteration.ivs.push_back(nest.getInductionVar());
  }
  for (Operation *op : group.ops)
    if (failed(emitInIteration(op, iteration)))
      return failure();
  // Stores come last: a carried tile is read by this iteration before it
  // changes.
  for (auto [tile, scratch] : outputs)
    storeInIteration(iteration, iteration.values[tile],
                     TileShape::of(tile.getType()), scratch);
  return success();
}

/// Tokens that a loop over t may touch: those that its loads or stores call
/// valid.
Value Converter::tokenBound(const Group &group) {
  for (Operation *op : group.ops) {
    if (auto codes = dyn_cast<LoadCodesOp>(op))
      return scalar(codes.getValid());
    if (auto store = dyn_cast<StoreRowsOp>(op))
      return scalar(store.getValid());
    if (auto load = dyn_cast<LoadScaleOp>(op))
      return scalar(load.getValid());
    if (auto load = dyn_cast<LoadZeroOp>(op))
      return scalar(load.getValid());
    // What reads a tile of fewer tokens has no more.
    for (Value operand : op->getOperands())
      if (auto it = tiles.find(operand); it != tiles.end() && it->second.valid)
        return it->second.valid;
  }
  return {};
}

Value Converter::inIteration(Iteration &iteration, Value tile) {
  if (!isTile(tile.getType()))
    return scalar(tile);
  if (Value value = iteration.values.lookup(tile))
    return value;

  Location loc = tile.getLoc();
  TileShape shape = iteration.shapeOf(tile.getType());
  bool asScalar = !shape.vector || iteration.isLoop(shape.vector->first);
  const TileValue &value = tiles[tile];
  if (value.splat) {
    if (asScalar)
      return arith::ConstantOp::create(builder, loc, value.splat);
    auto type = cast<VectorType>(shape.iterationType());
    return arith::ConstantOp::create(builder, loc,
                                     SplatElementsAttr::get(type, value.splat));
  }
  if (value.vector && !asScalar)
    return value.vector;

  SmallVector<Value> indices;
  for (const TileLoop &loop : shape.loops)
    if (!loop.isChunks())
      indices.push_back(iteration.iv(loop.dim));
  if (shape.vector)
    indices.push_back(asScalar ? iteration.iv(shape.vector->first)
                               : beginOf(shape, iteration));
  Value &loaded = iteration.values[tile];
  if (asScalar)
    loaded = memref::LoadOp::create(builder, loc, value.scratch, indices);
  else
    loaded = vector::LoadOp::create(builder, loc,
                                    cast<VectorType>(shape.iterationType()),
                                    value.scratch, indices);
  return loaded;
}

void Converter::storeInIteration(const Iteration &iteration, Value value,
                                 const TileShape &shape, Value scratch) {
  Location loc = value.getLoc();
  SmallVector<Value> indices;
  for (const TileLoop &loop : shape.loops)
    if (!loop.isChunks())
      indices.push_back(iteration.iv(loop.dim));
  bool isVector = isa<VectorType>(value.getType());
  if (shape.vector)
    indices.push_back(isVector ? beginOf(shape, iteration)
                               : iteration.iv(shape.vector->first));
  if (isVector)
    vector::StoreOp::create(builder, loc, value, scratch, indices);
  else
    memref::StoreOp::create(builder, loc, value, scratch, indices);
}

/// Each range of channels goes to its columns.
void Converter::convertConcat(ConcatOp op) {
  Value result = newScratch(TileShape::of(op.getType()).scratchType());
  int64_t first = 0;
  for (Value source : op.getSources()) {
    int64_t channels =
        extentOf(source.getType(), dimsOf(source.getType()).back());
    copy(scratchOf(source),
         columnsOf(result, builder.getIndexAttr(first), channels));
    first += channels;
    tiles[op.getResult()].valid = tiles[source].valid;
  }
  tiles[op.getResult()].scratch = result;
}

/// Splitting, joining and slicing channels only renames indices of the same
/// memory.
void Converter::reinterpret(Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  if (tiles[input].codes) {
    tiles[result].codes = tiles[input].codes;
    return;
  }
  if (tiles[input].splat) {
    tiles[result].splat = tiles[input].splat;
    return;
  }
  Value scratch = scratchOf(input);
  auto from = cast<MemRefType>(scratch.getType());
  MemRefType to = TileShape::of(result.getType()).scratchType();
  if (auto slice = dyn_cast<SliceOp>(op)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(scratch.getDefiningOp());
    tiles[result].scratch =
        columnsOf(scratch, builder.getIndexAttr(int64_t(slice.getFirst())),
                  to.getShape().back());
    tiles[result].valid = tiles[input].valid;
    return;
  }
  // Both end in channels: [.., C] against [.., B, E].
  bool splits = to.getRank() > from.getRank();
  int64_t kept = (splits ? from : to).getRank() - 1;
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < kept; ++dim)
    groups.push_back({dim});
  groups.push_back({kept, kept + 1});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(scratch.getDefiningOp());
  tiles[result].scratch =
      splits ? Value(memref::ExpandShapeOp::create(
                   builder, op->getLoc(), to.getShape(), scratch, groups))
             : Value(memref::CollapseShapeOp::create(builder, op->getLoc(),
                                                     scratch, groups));
  tiles[result].valid = tiles[input].valid;
}

} // namespace kvc
