//===- ScoreFunction.cpp - A score region on tiles ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Transforms/ScoreFunction.h"

#include "kvc/Dialect/KVC/KVCOps.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kvc {

/// The dims that any of the operands has; rows are before tokens.
static SmallVector<TileDim> dimsOf(ValueRange operands) {
  SmallVector<TileDim> dims;
  for (StringRef name : {"r", "t"})
    for (Value operand : operands)
      if (isTile(operand.getType()) && hasDim(operand.getType(), name)) {
        dims.push_back({name, extentOf(operand.getType(), name)});
        break;
      }
  return dims;
}

/// A constant is made where it is wanted, with the dims that it needs there.
static Value withType(TileBuilder &b, Value value, Type type) {
  TypedAttr constant;
  if (value.getType() != type && matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(
        b, SplatElementsAttr::get(cast<ShapedType>(type), constant));
  return b.broadcast(value, type);
}

/// One operation on tiles. Flags are left behind: they only promise what
/// nothing here needs.
static Value emitOnTiles(TileBuilder &b, Operation &op,
                         SmallVector<Value> operands) {
  SmallVector<TileDim> dims = dimsOf(operands);
  auto typeOf = [&](Type element) {
    return dims.empty() ? element : Type(b.tile(dims, element));
  };
  for (auto [operand, original] : llvm::zip_equal(operands, op.getOperands()))
    operand = withType(b, operand, typeOf(original.getType()));
  SmallVector<NamedAttribute> meaning;
  for (StringRef name : {"value", "predicate"})
    if (Attribute attribute = op.getAttr(name))
      meaning.push_back(b.getNamedAttr(name, attribute));
  return b
      .create(b.getLoc(), op.getName().getIdentifier(), operands,
              typeOf(op.getResult(0).getType()), meaning)
      ->getResult(0);
}

void ScoreFunction::emitKnown(TileBuilder &b) {
  for (Operation &op : region->front().without_terminator()) {
    if (values.contains(op.getResult(0)))
      continue;
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      if (Value known = values.lookupOrNull(operand))
        operands.push_back(known);
    if (operands.size() == op.getNumOperands())
      values.map(op.getResult(0), emitOnTiles(b, op, std::move(operands)));
  }
}

void ScoreFunction::emitOfHead(TileBuilder &b, Value kvHead) {
  if (uses(ScoreArgument::KVHead))
    give(ScoreArgument::KVHead, b.toI32(b.toI64(kvHead)));
  emitKnown(b);
}

void ScoreFunction::emitOfRows(TileBuilder &b, Value position, Value number,
                               Value kvHead, int64_t group) {
  if (uses(ScoreArgument::Query))
    give(ScoreArgument::Query, b.toI32(position));
  if (uses(ScoreArgument::Head)) {
    Value first = b.mulInt(b.toI64(kvHead), group);
    give(ScoreArgument::Head,
         b.toI32(b.addInt(b.remInt(number, group), first)));
  }
  emitKnown(b);
}

Value ScoreFunction::emitOfTile(TileBuilder &b, Value scores, Value iota,
                                Value start) const {
  ScoreFunction ofTile = *this;
  if (uses(ScoreArgument::Key))
    ofTile.give(ScoreArgument::Key, b.addInt(iota, b.toI32(b.toI64(start))));
  ofTile.give(ScoreArgument::Score, scores);
  ofTile.emitKnown(b);
  auto yield = cast<YieldOp>(region->front().getTerminator());
  return withType(b, ofTile.values.lookup(yield.getScore()), scores.getType());
}

} // namespace kvc
