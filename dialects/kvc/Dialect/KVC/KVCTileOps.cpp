//===- KVCTileOps.cpp - Computing by names of dims ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Builders, folders and verifiers of the level 1 ops that touch no memory.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCTileOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

#define GET_OP_CLASSES
#include "kvc/Dialect/KVC/KVCTileOps.cpp.inc"

using namespace mlir;

namespace kvc {

void KVCDialect::registerTileOps() {
  addOperations<
#define GET_OP_LIST
#include "kvc/Dialect/KVC/KVCTileOps.cpp.inc"
      >();
}

static LogicalResult verifySameElement(Operation *op, Type expected, Type got) {
  expected = getElementTypeOrSelf(expected);
  got = getElementTypeOrSelf(got);
  if (expected != got)
    return op->emitOpError() << "expected equal element types, got " << expected
                             << " and " << got;
  return success();
}

/// Each dim of `inner` is one of `outer`, of the same extent.
static LogicalResult verifySubset(Operation *op, StringRef innerName,
                                  Type inner, StringRef outerName, Type outer) {
  for (auto [dim, extent] : tileDimsOf(inner)) {
    if (!hasDim(outer, dim))
      return op->emitOpError() << innerName << " has dim " << dim << ", which "
                               << outerName << " lacks";
    if (extentOf(outer, dim) != extent)
      return op->emitOpError() << "dim " << dim << ": expected one extent, got "
                               << extent << " in " << innerName << " and "
                               << extentOf(outer, dim) << " in " << outerName;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// iota, broadcast
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  if (getType().getRank() != 1) // C1
    return emitOpError("expected a result with one dim, got ") << getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  if (failed(verifySameElement(*this, getSource().getType(), getType()))) // C1
    return failure();
  return verifySubset(*this, "the source", getSource().getType(), "the result",
                      getType()); // C2
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return {};
}

//===----------------------------------------------------------------------===//
// contract, reduce
//===----------------------------------------------------------------------===//

void ContractOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                       Value rhs, ArrayRef<StringRef> dims) {
  SmallVector<TileDim> resultDims;
  for (StringRef dim : dims)
    resultDims.emplace_back(
        dim,
        extentOf(hasDim(lhs.getType(), dim) ? lhs.getType() : rhs.getType(),
                 dim));
  build(builder, state,
        makeTile(builder.getContext(), resultDims,
                 getElementTypeOrSelf(lhs.getType())),
        lhs, rhs);
}

LogicalResult ContractOp::verify() {
  Type lhs = getLhs().getType(), rhs = getRhs().getType(), result = getType();
  if (failed(verifySameElement(*this, lhs, rhs)) ||
      failed(verifySameElement(*this, lhs, result))) // C1
    return failure();
  if (!isa<FloatType>(getElementTypeOrSelf(result))) // C1
    return emitOpError("expected floating-point elements, got ")
           << getElementTypeOrSelf(result);
  for (auto [dim, extent] : tileDimsOf(lhs)) // C2
    if (hasDim(rhs, dim) && extentOf(rhs, dim) != extent)
      return emitOpError("dim ")
             << dim << ": expected one extent, got " << extent << " in lhs and "
             << extentOf(rhs, dim) << " in rhs";
  for (auto [dim, extent] : tileDimsOf(result)) { // C3
    if (!hasDim(lhs, dim) && !hasDim(rhs, dim))
      return emitOpError("the result has dim ")
             << dim << ", which both operands lack";
    int64_t expected = extentOf(hasDim(lhs, dim) ? lhs : rhs, dim);
    if (extent != expected)
      return emitOpError("dim ") << dim << " of the result: expected extent "
                                 << expected << ", got " << extent;
  }
  return success();
}

void ReduceOp::build(OpBuilder &builder, OperationState &state,
                     ReductionKind kind, Value source, StringRef dim) {
  build(builder, state, tileWithoutDims(source.getType(), dim), kind, source);
}

LogicalResult ReduceOp::verify() {
  Type source = getSource().getType(), result = getType();
  if (failed(verifySameElement(*this, source, result))) // C1
    return failure();
  if (getKind() != ReductionKind::Add &&
      !isa<FloatType>(getElementTypeOrSelf(source))) // C1
    return emitOpError() << stringifyReductionKind(getKind())
                         << ": expected floating-point elements, got "
                         << getElementTypeOrSelf(source);
  if (failed(verifySubset(*this, "the result", result, "the source",
                          source))) // C2
    return failure();
  if (getType().getRank() == getSource().getType().getRank()) // C3
    return emitOpError("expected a result that lacks a dim of the source, got ")
           << result;
  return success();
}

//===----------------------------------------------------------------------===//
// split, join
//===----------------------------------------------------------------------===//

/// `wide` has the dims of `narrow` with the last one in two.
static LogicalResult verifySplit(Operation *op, StringRef narrowName,
                                 RankedTensorType narrow, StringRef wideName,
                                 RankedTensorType wide) {
  if (failed(verifySameElement(op, narrow, wide))) // C1
    return failure();
  SmallVector<TileDim> narrowDims = tileDimsOf(narrow),
                       wideDims = tileDimsOf(wide);
  if (wideDims.size() != narrowDims.size() + 1 ||
      ArrayRef(narrowDims).drop_back() != ArrayRef(wideDims).drop_back(2)) // C2
    return op->emitOpError() << "expected the dims of " << narrowName
                             << " with the last one in two in " << wideName
                             << ", got " << narrow << " and " << wide;
  uint64_t product = llvm::SaturatingMultiply<uint64_t>(
      wideDims.back().second, wideDims[wideDims.size() - 2].second);
  if (product != static_cast<uint64_t>(narrowDims.back().second)) // C3
    return op->emitOpError()
           << "expected the last dims of " << wideName << " to make up "
           << narrowDims.back().second << ", got " << product;
  return success();
}

void SplitOp::build(OpBuilder &builder, OperationState &state, Value source,
                    int64_t blocks) {
  build(builder, state, tileWithSplitLastDim(source.getType(), blocks), source);
}

LogicalResult SplitOp::verify() {
  return verifySplit(*this, "the source", getSource().getType(), "the result",
                     getType());
}

OpFoldResult SplitOp::fold(FoldAdaptor) {
  auto join = getSource().getDefiningOp<JoinOp>();
  return join && join.getSource().getType() == getType()
             ? OpFoldResult(join.getSource())
             : OpFoldResult();
}

void JoinOp::build(OpBuilder &builder, OperationState &state, Value source,
                   StringRef dim) {
  build(builder, state, tileWithJoinedLastDims(source.getType(), dim), source);
}

LogicalResult JoinOp::verify() {
  return verifySplit(*this, "the result", getType(), "the source",
                     getSource().getType());
}

OpFoldResult JoinOp::fold(FoldAdaptor) {
  auto split = getSource().getDefiningOp<SplitOp>();
  return split && split.getSource().getType() == getType()
             ? OpFoldResult(split.getSource())
             : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

void SliceOp::build(OpBuilder &builder, OperationState &state, Value source,
                    int64_t first, int64_t count, StringRef dim) {
  SmallVector<TileDim> dims = tileDimsOf(source.getType());
  dims.back() = {dim, count};
  build(builder, state,
        makeTile(builder.getContext(), dims,
                 getElementTypeOrSelf(source.getType())),
        source, first);
}

LogicalResult SliceOp::verify() {
  if (failed(verifySameElement(*this, getSource().getType(), getType()))) // C1
    return failure();
  SmallVector<TileDim> source = tileDimsOf(getSource().getType()),
                       result = tileDimsOf(getType());
  if (ArrayRef(source).drop_back() != ArrayRef(result).drop_back()) // C2
    return emitOpError("expected the dims of the source but for the last one, "
                       "got ")
           << getSource().getType() << " and " << getType();
  auto first = static_cast<int64_t>(getFirst());
  int64_t available = source.back().second;
  if (first < 0 || first > available ||
      result.back().second > available - first) // C3
    return emitOpError("expected channels inside [0, ")
           << available << "), got " << result.back().second << " from "
           << first;
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource())
                                            : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

void ConcatOp::build(OpBuilder &builder, OperationState &state,
                     ValueRange sources) {
  SmallVector<TileDim> dims = tileDimsOf(sources.front().getType());
  dims.back().second = 0;
  for (Value source : sources)
    dims.back().second += tileDimsOf(source.getType()).back().second;
  build(builder, state,
        makeTile(builder.getContext(), dims,
                 getElementTypeOrSelf(sources.front().getType())),
        sources);
}

LogicalResult ConcatOp::verify() {
  SmallVector<TileDim> result = tileDimsOf(getType());
  int64_t channels = 0;
  for (Value source : getSources()) {
    if (failed(verifySameElement(*this, getType(), source.getType()))) // C1
      return failure();
    SmallVector<TileDim> dims = tileDimsOf(source.getType());
    if (ArrayRef(dims).drop_back() != ArrayRef(result).drop_back()) // C2
      return emitOpError("expected the dims of the result but for the last "
                         "one, got ")
             << source.getType() << " and " << getType();
    channels += dims.back().second;
  }
  if (channels != result.back().second) // C3
    return emitOpError("expected sources of ")
           << result.back().second << " channels together, got " << channels;
  return success();
}

//===----------------------------------------------------------------------===//
// rotate
//===----------------------------------------------------------------------===//

LogicalResult RotateOp::verify() {
  auto block = static_cast<int64_t>(getBlock());
  int64_t channels = tileDimsOf(getType()).back().second;
  if (block < 1 || !llvm::has_single_bit(static_cast<uint64_t>(block)) ||
      channels % block != 0) // C1
    return emitOpError("block: expected a power of two that divides the ")
           << channels << " channels, got " << block;
  return success();
}

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  SmallVector<TileDim> tile = tileDimsOf(getType());
  if (tile.size() != 2 || tile[0].first != "t") // C1
    return emitOpError("expected a tile <t, c>, got ") << getType();
  auto dims = static_cast<int64_t>(getDims()),
       offset = static_cast<int64_t>(getOffset());
  int64_t channels = tile[1].second;
  if (dims <= 0 || dims % 2 != 0 || offset < 0 || dims > channels ||
      offset > channels - dims) // C2
    return emitOpError("expected an even number of dims inside the ")
           << channels << " channels, got " << dims << " from " << offset;
  if (!getTheta().isFinite() || getTheta().isNegative() ||
      getTheta().isZero()) // C3
    return emitOpError("theta: expected a finite number above 0, got ")
           << getTheta().convertToDouble();
  return success();
}

SmallVector<float> RopeOp::getFrequencies() {
  SmallVector<float> frequencies;
  auto dims = static_cast<double>(getDims());
  for (uint64_t i = 0; i < getDims() / 2; ++i)
    frequencies.push_back(static_cast<float>(std::pow(
        getTheta().convertToDouble(), -2.0 * static_cast<double>(i) / dims)));
  return frequencies;
}

//===----------------------------------------------------------------------===//
// dequantize, round_to, power_of_two
//===----------------------------------------------------------------------===//

void DequantizeOp::build(OpBuilder &builder, OperationState &state, Value codes,
                         Value scale, Value zero, int64_t centre,
                         spec::Zero zeroKind) {
  build(builder, state, cloneWithElement(codes.getType(), builder.getF32Type()),
        codes, scale, zero, centre, zeroKind,
        /*scale_place=*/PlaceAttr(), /*zero_place=*/PlaceAttr());
}

LogicalResult DequantizeOp::verify() {
  Type codes = getCodes().getType();
  Type expected = cloneWithElement(codes, Float32Type::get(getContext()));
  if (getType() != expected) // C1
    return emitOpError("expected result ") << expected << ", got " << getType();
  if (getScale() && failed(verifySubset(*this, "scale", getScale().getType(),
                                        "codes", codes))) // C2
    return failure();
  if (getZero() && failed(verifySubset(*this, "zero", getZero().getType(),
                                       "codes", codes))) // C2
    return failure();
  bool wantsZero = getZeroKind() != spec::Zero::None;
  if (wantsZero != static_cast<bool>(getZero()) ||
      (getZero() && !getScale())) // C3
    return emitOpError("zero_kind \"")
           << stringifyZeroKind(getZeroKind()) << "\": expected "
           << (wantsZero ? "a scale and a zero" : "no zero");
  Type element = getElementTypeOrSelf(codes);
  bool areCodes = element.isInteger(8);
  if (areCodes && !getScale()) // C4
    return emitOpError("expected a scale for i8 codes");
  if (getScale() && !areCodes && !element.isF32()) // C4
    return emitOpError("expected no scale for raw values");
  if (!areCodes && getCentre() != 0) // C4
    return emitOpError("centre: expected 0 for values, got ")
           << int64_t(getCentre());
  if ((getScalePlace() && !getScale()) || (getZeroPlace() && !getZero())) // C5
    return emitOpError("expected a place only where its factor is given");
  return success();
}

/// `codes` are `values` with i8 elements.
static LogicalResult verifyCodesOf(Operation *op, Type codes, Type values) {
  Type expected =
      cloneWithElement(values, IntegerType::get(op->getContext(), 8));
  if (codes != expected)
    return op->emitOpError("expected codes ") << expected << ", got " << codes;
  return success();
}

LogicalResult EncodeFloatOp::verify() {
  return verifyCodesOf(*this, getType(), getSource().getType()); // C1
}

LogicalResult DecodeFloatOp::verify() {
  return verifyCodesOf(*this, getCodes().getType(), getType()); // C1
}

LogicalResult LookupOp::verify() {
  if (failed(verifyCodesOf(*this, getCodes().getType(), getType()))) // C1
    return failure();
  size_t entries = getTable().size();
  if (entries != 4 && entries != 8 && entries != 16) // C2
    return emitOpError("table: expected 4, 8 or 16 entries, got ") << entries;
  return success();
}

/// C2: one dim of as many numbers as a table has.
static LogicalResult verifyTableRow(Operation *op, StringRef name, Type type) {
  auto tile = cast<RankedTensorType>(type);
  int64_t entries = tile.getRank() == 1 ? tile.getDimSize(0) : 0;
  if (entries == 4 || entries == 8 || entries == 16)
    return success();
  return op->emitOpError() << name
                           << ": expected one dim of 4, 8 or 16 numbers, got "
                           << type;
}

LogicalResult GatherOp::verify() {
  if (failed(verifyCodesOf(*this, getCodes().getType(), getType()))) // C1
    return failure();
  return verifyTableRow(*this, "table", getTable().getType()); // C2
}

LogicalResult NearestOp::verify() {
  if (failed(verifyCodesOf(*this, getType(), getSource().getType()))) // C1
    return failure();
  if (failed(verifyTableRow(*this, "thresholds",
                            getThresholds().getType()))) // C2
    return failure();
  return verifyTableRow(*this, "codes", getCodes().getType()); // C2
}

LogicalResult PowerOfTwoOp::verify() {
  int64_t smallest = getSmallest(), largest = getLargest();
  if (smallest < -149 || smallest > largest || largest > 127) // C1
    return emitOpError("expected exponents within -149 to 127 in order, got ")
           << smallest << " to " << largest;
  return success();
}

OpFoldResult RoundToOp::fold(FoldAdaptor) {
  if (getDtype() == spec::DType::F32)
    return getSource();
  // Rounding twice to one type is rounding once.
  if (auto inner = getSource().getDefiningOp<RoundToOp>();
      inner && inner.getDtype() == getDtype())
    return getSource();
  return {};
}

} // namespace kvc
