//===- Elements.cpp - One tile operation inside a loop nest ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "kvc/Conversion/ExpandMath/FloatCodes.h"
#include "kvc/Dialect/KVK/KVKOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

namespace {

vector::CombiningKind vectorKind(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Add:
  case ReductionKind::PairwiseAdd:
    return vector::CombiningKind::ADD;
  case ReductionKind::MaximumF:
    return vector::CombiningKind::MAXIMUMF;
  case ReductionKind::MaxNumF:
    return vector::CombiningKind::MAXNUMF;
  case ReductionKind::MinimumF:
    return vector::CombiningKind::MINIMUMF;
  }
  llvm_unreachable("unknown reduction");
}

Value combine(OpBuilder &builder, Location loc, ReductionKind kind, Value a,
              Value b) {
  switch (kind) {
  case ReductionKind::Add:
  case ReductionKind::PairwiseAdd:
    return arith::AddFOp::create(builder, loc, a, b);
  case ReductionKind::MaximumF:
    return arith::MaximumFOp::create(builder, loc, a, b);
  case ReductionKind::MaxNumF:
    return arith::MaxNumFOp::create(builder, loc, a, b);
  case ReductionKind::MinimumF:
    return arith::MinimumFOp::create(builder, loc, a, b);
  }
  llvm_unreachable("unknown reduction");
}

/// Neighbours, then neighbouring sums, ..; zeros fill up to a power of two.
Value addPairwise(OpBuilder &builder, Location loc, Value x) {
  auto type = cast<VectorType>(x.getType());
  auto size = static_cast<int64_t>(llvm::PowerOf2Ceil(type.getDimSize(0)));
  auto lanes = [&](int64_t first, int64_t count, int64_t step) {
    SmallVector<int64_t> numbers;
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(first + i * step);
    return numbers;
  };
  if (size != type.getDimSize(0)) {
    Value zeros =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    x = vector::ShuffleOp::create(builder, loc, x, zeros, lanes(0, size, 1));
  }
  for (; size > 1; size /= 2) {
    Value even =
        vector::ShuffleOp::create(builder, loc, x, x, lanes(0, size / 2, 2));
    Value odd =
        vector::ShuffleOp::create(builder, loc, x, x, lanes(1, size / 2, 2));
    x = arith::AddFOp::create(builder, loc, even, odd);
  }
  return vector::ExtractOp::create(builder, loc, x, 0);
}

/// The table's entries at some codes.
Value lookUp(ImplicitLocOpBuilder &b, Value codes, Value table) {
  auto type = dyn_cast<VectorType>(codes.getType());
  if (!type) // One code.
    return floatmath::lookup(b, codes, table);
  return kvk::LookupOp::create(b, type.clone(b.getF32Type()), codes, table);
}

Value splatTo(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return vector::BroadcastOp::create(builder, loc, cast<VectorType>(type),
                                     value);
}

} // namespace

LogicalResult Converter::emitInIteration(Operation *op, Iteration &iteration) {
  Location loc = op->getLoc();
  if (emitMemory(op, iteration))
    return success();

  Value result;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Type type = iteration.shapeOf(broadcast.getType()).iterationType();
    result = splatTo(builder, loc, type,
                     inIteration(iteration, broadcast.getSource()));
  } else if (isa<IotaOp>(op)) {
    result = emitIota(op, iteration);
  } else if (isa<ReduceOp>(op)) {
    result = emitReduce(op, iteration);
  } else if (auto patch = dyn_cast<PatchOp>(op)) {
    result = emitPatch(patch, iteration);
  } else if (auto rotate = dyn_cast<RotateOp>(op)) {
    result = emitRotate(inIteration(iteration, rotate.getSource()),
                        static_cast<int64_t>(rotate.getBlock()));
  } else if (auto rope = dyn_cast<RopeOp>(op)) {
    result = emitRope(rope, iteration);
  } else if (auto round = dyn_cast<RoundToOp>(op)) {
    Value value = inIteration(iteration, round.getSource());
    result = value;
    if (round.getDtype() == spec::DType::E4M3) {
      ImplicitLocOpBuilder b(loc, builder);
      result = floatmath::decodeFloat(
          b, floatmath::encodeFloat(b, value, spec::kFP8E4M3), spec::kFP8E4M3);
    } else if (round.getDtype() != spec::DType::F32) {
      auto narrow = cast<FloatType>(
          elementTypeOf(builder.getContext(), round.getDtype()));
      Type wide = value.getType();
      Type narrowType = isa<VectorType>(wide)
                            ? Type(cast<VectorType>(wide).clone(narrow))
                            : Type(narrow);
      Value rounded = arith::TruncFOp::create(builder, loc, narrowType,
                                              saturate(value, narrow));
      result = arith::ExtFOp::create(builder, loc, wide, rounded);
    }
  } else if (auto power = dyn_cast<PowerOfTwoOp>(op)) {
    ImplicitLocOpBuilder b(loc, builder);
    result = floatmath::powerOfTwo(b, inIteration(iteration, power.getSource()),
                                   static_cast<int64_t>(power.getSmallest()),
                                   static_cast<int64_t>(power.getLargest()),
                                   static_cast<int64_t>(power.getOffset()),
                                   power.getDown());
  } else if (auto encode = dyn_cast<EncodeFloatOp>(op)) {
    ImplicitLocOpBuilder b(loc, builder);
    result =
        floatmath::encodeFloat(b, inIteration(iteration, encode.getSource()),
                               spec::formatOf(encode.getFormat()));
  } else if (auto decode = dyn_cast<DecodeFloatOp>(op)) {
    ImplicitLocOpBuilder b(loc, builder);
    result =
        floatmath::decodeFloat(b, inIteration(iteration, decode.getCodes()),
                               spec::formatOf(decode.getFormat()));
  } else if (auto lookup = dyn_cast<LookupOp>(op)) {
    ImplicitLocOpBuilder b(loc, builder);
    auto type = VectorType::get({int64_t(lookup.getTable().size())},
                                builder.getF32Type());
    result = lookUp(b, inIteration(iteration, lookup.getCodes()),
                    arith::ConstantOp::create(
                        b, DenseElementsAttr::get(type, lookup.getTable())));
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    ImplicitLocOpBuilder b(loc, builder);
    result = lookUp(b, inIteration(iteration, gather.getCodes()),
                    inIteration(iteration, gather.getTable()));
  } else if (auto nearest = dyn_cast<NearestOp>(op)) {
    ImplicitLocOpBuilder b(loc, builder);
    result = floatmath::nearest(b, inIteration(iteration, nearest.getSource()),
                                inIteration(iteration, nearest.getThresholds()),
                                inIteration(iteration, nearest.getCodes()));
  } else if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(inIteration(iteration, operand));
    Type type = iteration.shapeOf(op->getResult(0).getType()).iterationType();
    result = builder
                 .create(loc, op->getName().getIdentifier(), operands, type,
                         op->getAttrs())
                 ->getResult(0);
  } else {
    return op->emitOpError("has no form at kernel level");
  }
  iteration.values[op->getResult(0)] = result;
  return success();
}

Value Converter::emitIota(Operation *op, const Iteration &iteration) {
  auto iota = cast<IotaOp>(op);
  Location loc = op->getLoc();
  TileShape shape = iteration.shapeOf(iota.getType());
  if (!shape.vector)
    return arith::IndexCastOp::create(builder, loc, shape.element,
                                      iteration.iv(shape.loops.front().dim));
  auto type = cast<VectorType>(shape.iterationType());
  SmallVector<APInt> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(APInt(type.getElementTypeBitWidth(), i));
  Value lanes = arith::ConstantOp::create(builder, loc,
                                          DenseElementsAttr::get(type, values));
  if (type.getNumElements() == shape.vector->second)
    return lanes;
  Value begin = arith::IndexCastOp::create(builder, loc, shape.element,
                                           beginOf(shape, iteration));
  return arith::AddIOp::create(
      builder, loc, lanes,
      vector::BroadcastOp::create(builder, loc, type, begin));
}

Value Converter::emitReduce(Operation *op, Iteration &iteration) {
  auto reduce = cast<ReduceOp>(op);
  Location loc = op->getLoc();
  TileShape shape = iteration.shapeOf(reduce.getSource().getType());
  Value value = inIteration(iteration, reduce.getSource());
  if (reduce.getKind() == ReductionKind::PairwiseAdd)
    return addPairwise(builder, loc, value);
  if (shape.vector && !hasDim(reduce.getType(), shape.vector->first))
    // Sums may take any order: only attention adds, and it has bounds instead
    // of bits.
    value = vector::ReductionOp::create(
        builder, loc, vectorKind(reduce.getKind()), value,
        reduce.getKind() == ReductionKind::Add ? arith::FastMathFlags::reassoc
                                               : arith::FastMathFlags::none);

  bool reducesLoops = llvm::any_of(shape.loops, [&](const TileLoop &loop) {
    return !hasDim(reduce.getType(), loop.dim);
  });
  if (!reducesLoops)
    return value;
  Iteration accumulated(iteration.loops, iteration.ivs);
  return combine(builder, loc, reduce.getKind(),
                 inIteration(accumulated, reduce.getResult()), value);
}

/// Clamps to the finite range of `type`, keeping NaN; rounding to nearest then
/// never gives an infinity.
Value Converter::saturate(Value value, FloatType type) {
  Location loc = value.getLoc();
  APFloat largest = APFloat::getLargest(type.getFloatSemantics());
  bool losesInfo;
  largest.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  auto constant = [&](const APFloat &bound) -> Value {
    TypedAttr attribute = builder.getFloatAttr(builder.getF32Type(), bound);
    if (auto vectorType = dyn_cast<VectorType>(value.getType()))
      attribute = SplatElementsAttr::get(vectorType, attribute);
    return arith::ConstantOp::create(builder, loc, attribute);
  };
  Value below =
      arith::MinimumFOp::create(builder, loc, value, constant(largest));
  largest.changeSign();
  return arith::MaximumFOp::create(builder, loc, below, constant(largest));
}

} // namespace kvc
