//===- Converter.cpp - Blocks and loops
//------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVK/KVKOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kvc {

namespace {

bool touchesTiles(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isTile) ||
         llvm::any_of(op->getResultTypes(), isTile);
}

} // namespace

LogicalResult Converter::run() {
  Region &body = function.getBody();
  Block &old = body.front();
  entry = new Block();
  body.push_back(entry);
  for (BlockArgument argument : old.getArguments())
    scalars.map(argument,
                entry->addArgument(argument.getType(), argument.getLoc()));

  expandSkinnyContracts();
  builder.setInsertionPointToEnd(entry);
  LogicalResult converted = convertBlock(old);
  if (succeeded(converted))
    builder.clone(*old.getTerminator(), scalars);
  // Values of the old body are used only there.
  old.dropAllDefinedValueUses();
  old.erase();
  noteOperands();
  return converted;
}

/// Says on the function which types its dots multiply by codes.
void Converter::noteOperands() {
  bool integers = false, floats = false;
  function.walk([&](kvk::DotOp dot) {
    bool isInteger = dot.getWeights().getType().getElementType().isInteger();
    (isInteger ? integers : floats) = true;
  });
  if (integers || floats)
    function->setAttr(KVCDialect::getOperandsAttrName(),
                      builder.getStringAttr(integers && floats ? "i16, f32"
                                            : integers         ? "i16"
                                                               : "f32"));
}

LogicalResult Converter::convertBlock(Block &block) {
  findDotPatterns(block);
  for (Operation &op : block.without_terminator())
    if (!covered.contains(&op) && failed(convertOp(&op)))
      return failure();
  return flush();
}

LogicalResult Converter::convertOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return success(succeeded(flush()) && succeeded(convertFor(loop)));
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return success(succeeded(flush()) && succeeded(convertIf(branch)));
  if (auto load = dyn_cast<LoadSchemeOp>(op); load && !isTile(load.getType())) {
    scalars.map(load.getResult(), emitLoadScheme(load, load.getType()));
    return success();
  }
  if (!touchesTiles(op)) {
    builder.clone(*op, scalars);
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!elements)
      return op->emitOpError("tile constants must be splats");
    tiles[constant.getResult()].splat = elements.getSplatValue<TypedAttr>();
    return success();
  }
  if (auto contract = dyn_cast<ContractOp>(op)) {
    if (failed(flush()))
      return failure();
    convertContract(contract);
    return success();
  }
  return addToGroup(op);
}

LogicalResult Converter::convertFor(scf::ForOp loop) {
  Location loc = loop.getLoc();
  SmallVector<Value> inits;
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (!isTile(init.getType())) {
      inits.push_back(scalar(init));
      continue;
    }
    Value scratch = newScratch(TileShape::of(init.getType()).scratchType());
    const TileValue &from = tiles[init];
    if (from.splat)
      fill(scratch, from.splat);
    else
      copy(scratchOf(init), scratch);
    tiles[argument].scratch = scratch;
  }

  auto newLoop = scf::ForOp::create(builder, loc, scalar(loop.getLowerBound()),
                                    scalar(loop.getUpperBound()),
                                    scalar(loop.getStep()), inits);
  newLoops[loop] = newLoop;
  OpBuilder::InsertionGuard guard(builder);
  // Without carried scalars the builder has already made the terminator.
  if (!newLoop.getBody()->empty())
    newLoop.getBody()->back().erase();
  builder.setInsertionPointToEnd(newLoop.getBody());
  scalars.map(loop.getInductionVar(), newLoop.getInductionVar());

  auto saved = std::move(carriedOfYielded);
  carriedOfYielded.clear();
  unsigned carried = 0;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [argument, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), yield.getOperands())) {
    if (isTile(argument.getType()))
      carriedOfYielded[yielded] = argument;
    else
      scalars.map(argument, newLoop.getRegionIterArg(carried++));
  }

  if (failed(convertBlock(*loop.getBody())))
    return failure();

  SmallVector<Value> yields;
  SmallVector<std::pair<Value, Value>> copies;
  SmallPtrSet<Value, 4> carriedScratches;
  carried = 0;
  for (auto [argument, yielded, result] : llvm::zip_equal(
           loop.getRegionIterArgs(), yield.getOperands(), loop.getResults())) {
    if (!isTile(argument.getType())) {
      yields.push_back(scalar(yielded));
      scalars.map(result, newLoop.getResult(carried++));
      continue;
    }
    Value scratch = tiles[argument].scratch;
    carriedScratches.insert(scratch);
    if (yielded != argument && tiles[yielded].scratch != scratch)
      copies.emplace_back(scratchOf(yielded), scratch);
    tiles[result].scratch = scratch;
  }
  // A tile that moves from one argument to another may be overwritten before
  // its turn comes.
  for (auto &[from, to] : copies) {
    if (!carriedScratches.contains(from))
      continue;
    Value moved = newScratch(cast<MemRefType>(from.getType()));
    copy(from, moved);
    from = moved;
  }
  for (auto [from, to] : copies)
    copy(from, to);
  scf::YieldOp::create(builder, loc, yields);
  carriedOfYielded = std::move(saved);
  return success();
}

LogicalResult Converter::convertIf(scf::IfOp branch) {
  if (branch.getNumResults() != 0)
    return branch.emitOpError(
        "with results cannot be converted; use arith.select");
  auto newBranch =
      scf::IfOp::create(builder, branch.getLoc(), scalar(branch.getCondition()),
                        !branch.getElseRegion().empty());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(newBranch.thenBlock());
  if (failed(convertBlock(*branch.thenBlock())))
    return failure();
  if (branch.getElseRegion().empty())
    return success();
  builder.setInsertionPointToStart(newBranch.elseBlock());
  return convertBlock(*branch.elseBlock());
}

Value Converter::carriedScratchFor(Value result, Operation *last) {
  Value carried = carriedOfYielded.lookup(result);
  if (!carried)
    return {};
  for (Operation *user : carried.getUsers()) {
    Operation *ancestor = last->getBlock()->findAncestorOpInBlock(*user);
    bool earlier =
        ancestor && (ancestor == last || ancestor->isBeforeInBlock(last));
    if (!earlier)
      return {};
  }
  return tiles[carried].scratch;
}

} // namespace kvc
