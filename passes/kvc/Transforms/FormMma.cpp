//===- FormMma.cpp - Products of tiles on tensor cores --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Level 2 for GPUs: a contraction of codes becomes a `kvk.mma` over what a lane
// loads and widens; the other operand is rounded to the same 16-bit type, after
// a power of two of its row has been taken out where it may leave that type's
// range. Keys and values that are dequantised (factors in registers, codes that
// no lane widens in words, rows that begin anywhere) are rounded in the same
// way, keys to two terms. Queries that were rotated are two terms too; products
// of f32 are those of three bf16 terms of each operand, without the three
// smallest. Contractions without a free dim on each side are written out.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/StoredCodes.h"
#include "kvc/Analysis/WarpOperand.h"
#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Dialect/KVK/KVKDialect.h"
#include "kvc/Dialect/KVK/KVKOps.h"
#include "kvc/Dialect/KVK/KVKTypes.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Transforms/CarriedSum.h"
#include "kvc/Transforms/Passes.h"
#include "kvc/Transforms/TileBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

#include <cmath>

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_FORMMMA
#include "kvc/Transforms/Passes.h.inc"

namespace {

/// What a contraction reads of a cache: codes, and how they become floats.
struct CacheOperand {
  LoadCodesOp load;
  StringAttr format; ///< Small floats.
};

std::optional<CacheOperand> cacheOperand(Value operand) {
  CacheOperand found;
  Operation *op = operand.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::SIToFPOp>(op)) {
    op = op->getOperand(0).getDefiningOp();
  } else if (auto decode = dyn_cast_or_null<DecodeFloatOp>(op)) {
    found.format = decode.getFormatAttr();
    op = decode.getCodes().getDefiningOp();
  }
  found.load = dyn_cast_or_null<LoadCodesOp>(op);
  if (!found.load || found.load.getUnaligned())
    return std::nullopt;
  const spec::Spec &spec = found.load.getCache().getType().getSpec();
  const spec::PartScheme &part =
      spec::schemeOf(spec, found.load.getTensor())->parts[found.load.getPart()];
  return isWordOperand(spec, part) ? std::optional(found) : std::nullopt;
}

/// Whether 16 bits hold every element: codes, or what was 16 bits before.
bool isNarrow(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<SplitOp, JoinOp, SliceOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::SIToFPOp, DecodeFloatOp>(op);
}

/// Whether the elements are at most 1: an exponential of what a maximum was
/// taken off.
bool isProbability(Value value) {
  return isa_and_nonnull<math::Exp2Op>(value.getDefiningOp());
}

/// Whether a product is one in another basis than the queries': terms may be
/// far larger there and cancel, so that they need more digits.
bool isRotated(Value rows) {
  Operation *op = rows.getDefiningOp();
  if (isa_and_nonnull<RotateOp>(op))
    return true;
  return isa_and_nonnull<arith::MulFOp, SplitOp, JoinOp, SliceOp, ConcatOp>(
             op) &&
         llvm::any_of(op->getOperands(), isRotated);
}

/// Dims of `type`, those of `other` left out.
SmallVector<StringRef> dimsWithout(Type type, Type other) {
  SmallVector<StringRef> dims;
  for (StringRef dim : dimsOf(type))
    if (!hasDim(other, dim))
      dims.push_back(dim);
  return dims;
}

class FormMma : public impl::FormMmaBase<FormMma> {
public:
  using Base::Base;

  void runOnOperation() override {
    io = queryType();
    operands.clear(); // One pass runs over several functions.
    SmallVector<ContractOp> contracts;
    getOperation().walk([&](ContractOp op) { contracts.push_back(op); });
    for (ContractOp op : contracts)
      if (failed(lower(op)))
        return signalPassFailure();
    if (!operands.empty())
      getOperation()->setAttr(
          KVCDialect::getOperandsAttrName(),
          StringAttr::get(&getContext(), llvm::join(operands, ", ")));
  }

private:
  LogicalResult lower(ContractOp op) {
    std::optional<CacheOperand> lhs = cacheOperand(op.getLhs()),
                                rhs = cacheOperand(op.getRhs());
    bool isMatrix =
        dimsOf(op.getLhs().getType()).size() == 2 &&
        dimsOf(op.getRhs().getType()).size() == 2 &&
        dimsOf(op.getType()).size() == 2 &&
        dimsWithout(op.getLhs().getType(), op.getRhs().getType()).size() == 1;
    if (isMatrix && rhs)
      return form(op, *rhs, op.getLhs());
    if (isMatrix && lhs)
      return form(op, *lhs, op.getRhs());
    Type x = op.getRhs().getType();
    bool isTile = hasDim(x, "t") && dimsOf(x).size() > 1 &&
                  hasDim(op.getLhs().getType(), "r") &&
                  dimsOf(op.getLhs().getType()).size() > 1;
    return isTile ? formOfTile(op) : writeOut(op);
  }

  /// io.query of the kernel's cache.
  std::optional<spec::DType> queryType() {
    for (Type type : getOperation().getArgumentTypes())
      if (auto cache = dyn_cast<CacheType>(type))
        return cache.getSpec().io.query;
    return std::nullopt;
  }

  //===--------------------------------------------------------------------===//
  // Dequantised tiles
  //===--------------------------------------------------------------------===//

  /// Keys or values as f32, which may be in blocks of channels, times rows.
  LogicalResult formOfTile(ContractOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    bool givesScores = hasDim(op.getType(), "t");
    StringRef channels = givesScores ? "c" : "d";
    Value x = wholeFragments(b, joined(b, op.getRhs(), channels));
    Value other = op.getLhs();
    if (givesScores) {
      // Once, where the query is.
      InsertionGuard at(b);
      b.setInsertionPointAfterValue(other);
      other = wholeFragments(b, joined(b, other, channels));
    }
    StringRef depth = givesScores ? "c" : "t";
    SmallVector<TileDim> dims = {tileDimsOf(op.getLhs().getType()).front()};
    dims.push_back(givesScores ? tileDimsOf(x.getType()).front()
                               : tileDimsOf(x.getType()).back());
    RankedTensorType type = makeTile(b.getContext(), dims, b.getF32Type());
    Value product = productOfTile(b, type, x, other, depth);
    // Channels beyond the part's, and blocks of them.
    auto result = cast<RankedTensorType>(op.getType());
    if (!givesScores) {
      int64_t count = result.getNumElements() / dims.front().second;
      if (count != dims.back().second)
        product = SliceOp::create(b, product, /*first=*/0, count, channels);
      if (hasDim(result, "b"))
        product = SplitOp::create(b, result, product);
    }
    op.replaceAllUsesWith(product);
    op.erase();
    return success();
  }

  static Value joined(ImplicitLocOpBuilder &b, Value tile, StringRef channels) {
    if (!hasDim(tile.getType(), "b"))
      return tile;
    if (auto split = tile.getDefiningOp<SplitOp>())
      return split.getSource();
    return JoinOp::create(b, tile, channels);
  }

  /// The channels of `tile` and zeros behind them.
  static Value wholeFragments(ImplicitLocOpBuilder &b, Value tile) {
    constexpr int64_t kChannels = 16;
    SmallVector<TileDim> dims = tileDimsOf(tile.getType());
    int64_t rest = dims.back().second % kChannels;
    if (rest == 0)
      return tile;
    dims.back().second = kChannels - rest;
    RankedTensorType type = makeTile(b.getContext(), dims, b.getF32Type());
    Value zeros = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, b.getF32FloatAttr(0)));
    return ConcatOp::create(b, ValueRange{tile, zeros});
  }

  Value productOfTile(ImplicitLocOpBuilder &b, Type type, Value x, Value other,
                      StringRef depth) {
    bool isF32 = io == spec::DType::F32, isHalf = io == spec::DType::F16;
    spec::DType dtype = isHalf ? spec::DType::F16 : spec::DType::BF16;
    // A score is as exact as raw keys of io.query's type make it.
    bool givesScores = depth != "t";
    size_t keyTerms = isF32 ? 3 : givesScores && !isNarrow(x) ? 2 : 1;
    std::pair<Value, Value> keys = {x, {}};
    if (isHalf && !isNarrow(x))
      keys = normalise(b, x, depth);
    SmallVector<Value> keysOf = termsOf(b, keys.first, keyTerms, dtype), rowsOf;
    std::pair<Value, Value> rows = {other, {}};
    {
      InsertionGuard at(b);
      b.setInsertionPointAfterValue(other);
      if (isHalf)
        rows = normalise(b, other, depth);
      size_t rowTerms = isF32 ? 3 : isRotated(other) ? 2 : 1;
      rowsOf = termsOf(b, rows.first, rowTerms, dtype);
    }
    Value product = productOfTerms(b, type, keysOf, rowsOf);
    for (Value factor : {keys.second, rows.second})
      if (factor)
        product = arith::MulFOp::create(b, product,
                                        BroadcastOp::create(b, type, factor),
                                        arith::FastMathFlags::contract);
    return product;
  }

  /// Products of terms, the smallest of which are left out, the smaller ones
  /// first.
  Value productOfTerms(ImplicitLocOpBuilder &b, Type type, ArrayRef<Value> keys,
                       ArrayRef<Value> rows, Value sum = Value()) {
    noteOperands(rows.front().getType(), std::max(keys.size(), rows.size()));
    for (size_t order = std::max(keys.size(), rows.size()); order-- > 0;)
      for (size_t i = 0; i < keys.size(); ++i)
        if (order >= i && order - i < rows.size())
          sum = kvk::MmaOp::create(b, type, keys[i], rows[order - i], sum);
    return sum;
  }

  void noteOperands(Type type, size_t terms) {
    Type element = cast<RankedTensorType>(type).getElementType();
    std::string name = element.isF16() ? "f16" : "bf16";
    if (terms > 1)
      name += " in " + std::to_string(terms) + " terms";
    operands.insert(std::move(name));
  }

  /// `x` as a sum of `count` values of a 16-bit type.
  static SmallVector<Value> termsOf(ImplicitLocOpBuilder &b, Value x,
                                    size_t count, spec::DType dtype) {
    Type element = dtype == spec::DType::F16 ? Type(b.getF16Type())
                                             : Type(b.getBF16Type());
    RankedTensorType narrow = cloneWithElement(x.getType(), element);
    SmallVector<Value> terms;
    for (Value rest = x; terms.size() < count;) {
      bool isLast = terms.size() + 1 == count;
      Value term =
          isLast ? rest : RoundToOp::create(b, rest.getType(), rest, dtype);
      terms.push_back(arith::TruncFOp::create(b, narrow, term));
      if (!isLast)
        rest = arith::SubFOp::create(b, rest, term);
    }
    return terms;
  }

  //===--------------------------------------------------------------------===//
  // Everything else
  //===--------------------------------------------------------------------===//

  /// Elementwise products, then a sum.
  static LogicalResult writeOut(ContractOp op) {
    Type lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
    bool isLhs = dimsWithout(rhs, lhs).empty();
    if (!isLhs && !dimsWithout(lhs, rhs).empty())
      return op.emitOpError("expected a product with codes, or one of whose "
                            "operands has all dims");
    return writeOut(op, isLhs ? op.getLhs() : op.getRhs(),
                    isLhs ? op.getRhs() : op.getLhs());
  }

  static LogicalResult writeOut(ContractOp op, Value all, Value some) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value repeated = BroadcastOp::create(b, all.getType(), some);
    Value product =
        arith::MulFOp::create(b, all, repeated, arith::FastMathFlags::contract);
    op.replaceAllUsesWith(
        Value(ReduceOp::create(b, op.getType(), ReductionKind::Add, product)));
    op.erase();
    return success();
  }

  LogicalResult form(ContractOp op, const CacheOperand &cache, Value other) {
    LoadCodesOp load = cache.load;
    const spec::Spec &spec = load.getCache().getType().getSpec();
    StringRef depth = dimsWithout(other.getType(), op.getType()).front();
    std::optional<CarriedSum> sum;
    if (depth == "t")
      sum = CarriedSum::of(op.getResult());
    bool isInPlace =
        isInPlaceOperand(spec, partOf(load)) && (depth != "t" || sum);
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Type element = spec.io.query == spec::DType::F16 ? Type(b.getF16Type())
                                                     : Type(b.getBF16Type());
    FailureOr<Value> codes = loadOperand(b, op, cache, element, isInPlace);
    if (failed(codes))
      return failure();
    if (isInPlace && !sum) {
      formScoresInPlace(op, load, *codes, other);
      return success();
    }

    std::pair<Value, Value> scaled = normalise(b, other, depth);
    SmallVector<Value> rows =
        termsOf(b, scaled.first, isRotated(other) ? 2 : 1, spec.io.query);
    if (isInPlace) {
      formValuesInPlace(op, load, *codes, rows, scaled.second, *sum);
      return success();
    }
    replace(b, op, *codes, rows, scaled.second);
    return success();
  }

  /// `op` by a product whose rows are multiplied by `factors` behind it, if
  /// there are some. One that is added to something right away starts from
  /// that.
  void replace(ImplicitLocOpBuilder &b, ContractOp op, Value codes,
               ArrayRef<Value> rows, Value factors) {
    Value result = op.getResult(), acc;
    if (!factors && result.hasOneUse())
      if (auto add = dyn_cast<arith::AddFOp>(*result.user_begin())) {
        acc = add.getLhs() == result ? add.getRhs() : add.getLhs();
        b.setInsertionPoint(add);
        result = add.getResult();
      }
    Value product = productOfTerms(b, op.getType(), codes, rows, acc);
    if (factors)
      product = arith::MulFOp::create(
          b, product, BroadcastOp::create(b, op.getType(), factors),
          arith::FastMathFlags::contract);
    result.replaceAllUsesWith(product);
    if (result.getDefiningOp() != op)
      result.getDefiningOp()->erase();
    op.erase();
  }

  static const spec::PartScheme &partOf(LoadCodesOp load) {
    const spec::Spec &spec = load.getCache().getType().getSpec();
    return spec::schemeOf(spec, load.getTensor())->parts[load.getPart()];
  }

  //===--------------------------------------------------------------------===//
  // Codes as they lie in their words
  //===--------------------------------------------------------------------===//

  /// The smallest f16, which is code 1 at the end of a byte, is 2^-24.
  static constexpr int kUnit = 24;

  static double biasOf(LoadCodesOp load) {
    return double(middleOfCodes(partOf(load).codec));
  }

  /// 2^(sign * k) of each channel, k the bits below its codes in a byte.
  static Value unitsOf(TileBuilder &b, LoadCodesOp load, StringRef channels,
                       int sign) {
    const spec::Spec &spec = load.getCache().getType().getSpec();
    const TileDim dim = {channels, extentOf(load.getType(), channels)};
    layout::PageLayout pages =
        layout::pageLayout(spec, load.getTensor(), layout::TargetFamily::Nvptx);
    const layout::Storage &storage =
        pages.region(layout::RegionKind::Codes, unsigned(load.getPart()))
            .storage;
    RankedTensorType type = makeTile(b.getContext(), dim, b.getF32Type());
    RankedTensorType numbers = makeTile(b.getContext(), dim, b.getI32Type());
    Value channel = IotaOp::create(b, numbers), units = b.constant(type, 1.0);
    for (const PlacedDigit &digit : placedDigits(storage)) {
      Value bit =
          arith::AndIOp::create(b, channel, b.constant(numbers, digit.place));
      Value isSet = b.compareInt(arith::CmpIPredicate::ne, bit,
                                 b.constantLike(bit, int64_t(0)));
      Value factor = b.constant(type, std::ldexp(1.0, sign * int(digit.bits)));
      units = b.mul(units, b.select(isSet, factor, b.constant(type, 1.0)));
    }
    return units;
  }

  /// Where scores are scale * product + sum of the query * (zero + bias *
  /// scale), the last term already has what codes are lowered by, and codes
  /// that are not lowered need the zero alone. A constant that all of it is
  /// multiplied by goes to the query's side, and is returned; nothing for other
  /// scores.
  static std::optional<float> raiseCodesInZero(ContractOp op, double bias,
                                               Value query) {
    auto scaled = onlyUser<arith::MulFOp>(op);
    auto score = scaled ? onlyUser<arith::AddFOp>(scaled) : arith::AddFOp();
    if (!score)
      return std::nullopt;
    auto other = [](Operation *user, Value operand) {
      return user->getOperand(user->getOperand(0) == operand ? 1 : 0);
    };
    auto scales = other(scaled, op).getDefiningOp<BroadcastOp>();
    auto term = other(score, scaled).getDefiningOp<arith::MulFOp>();
    if (!scales || !term)
      return std::nullopt;
    auto sums = term.getLhs().getDefiningOp<BroadcastOp>(),
         zeros = term.getRhs().getDefiningOp<BroadcastOp>();
    auto sum = sums ? sums.getSource().getDefiningOp<ReduceOp>() : ReduceOp();
    auto zero = zeros ? zeros.getSource().getDefiningOp<arith::AddFOp>()
                      : arith::AddFOp();
    if (!sum || !zero || sum.getSource() != query ||
        sum.getKind() != ReductionKind::Add || !term->hasOneUse() ||
        !zeros->hasOneUse())
      return std::nullopt;
    auto lowered = zero.getRhs().getDefiningOp<arith::MulFOp>();
    if (!lowered || lowered.getLhs() != scales.getSource() ||
        splatOf(lowered.getRhs()) != float(bias))
      return std::nullopt;
    zeros.getSourceMutable().set(zero.getLhs());
    auto all = onlyUser<arith::MulFOp>(score);
    std::optional<float> factor =
        all ? splatOf(other(all, score)) : std::nullopt;
    if (!factor || !sums->hasOneUse())
      return 1.0F;
    OpBuilder at(sum->getContext());
    at.setInsertionPointAfter(sum);
    TileBuilder b(op.getLoc(), at, arith::FastMathFlags::contract);
    sums.getSourceMutable().set(b.mul(Value(sum), double(*factor)));
    all.replaceAllUsesWith(score.getResult());
    all.erase();
    return factor;
  }

  /// The one element of a constant.
  static std::optional<float> splatOf(Value value) {
    DenseFPElementsAttr elements;
    if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
      return std::nullopt;
    return elements.getSplatValue<APFloat>().convertToFloat();
  }

  template <typename Op>
  static Op onlyUser(Operation *op) {
    return op->hasOneUse() ? dyn_cast<Op>(*op->user_begin()) : Op();
  }

  /// Each row of the query becomes as large as f16 allows, so that its channels
  /// may be divided by their units; what codes are not lowered by is taken off
  /// the scores.
  void formScoresInPlace(ContractOp op, LoadCodesOp load, Value codes,
                         Value query) {
    OpBuilder at(op);
    TileBuilder b(op.getLoc(), at, arith::FastMathFlags::contract);
    constexpr int kLargest = 15; // Below the end of f16.
    SmallVector<Value> rows;
    Value factors, sums;
    std::optional<float> raised = raiseCodesInZero(op, biasOf(load), query);
    {
      InsertionGuard guard(b);
      b.setInsertionPointAfterValue(query);
      StringRef channels = dimsOf(query.getType()).back();
      auto [inverse, power] = powersOf(b, query, channels, kLargest);
      Value scaled =
          b.mul(b.mul(query, inverse), unitsOf(b, load, channels, /*sign=*/-1));
      rows = termsOf(b, scaled, isRotated(query) ? 2 : 1, spec::DType::F16);
      factors = b.scale(power, std::ldexp(1.0, kUnit - kLargest) *
                                   double(raised.value_or(1.0F)));
      if (!raised)
        sums = b.scale(ReduceOp::create(b, ReductionKind::Add, query, channels),
                       -biasOf(load));
    }
    Value scores = productOfTerms(b, op.getType(), codes, rows);
    scores = b.mul(scores, factors);
    op.replaceAllUsesWith(raised ? scores : b.add(scores, sums));
    op.erase();
  }

  /// The sum that the loop carries is in units of its channels. What the codes
  /// are not lowered by is a sum of its own, over the rows as they were
  /// rounded.
  void formValuesInPlace(ContractOp op, LoadCodesOp load, Value codes,
                         ArrayRef<Value> rows, Value power, CarriedSum &sum) {
    OpBuilder at(op);
    TileBuilder b(op.getLoc(), at, arith::FastMathFlags::contract);
    constexpr int64_t kFragment = 16;
    TileDim row = tileDimsOf(op.getType()).front(),
            token = tileDimsOf(load.getType()).front();
    StringRef channels = dimsOf(load.getType()).back();
    auto wide = makeTile(b.getContext(), {token, {channels, kFragment}},
                         b.getF32Type());
    auto type =
        makeTile(b.getContext(), {row, {channels, kFragment}}, b.getF32Type());
    Value ones = arith::TruncFOp::create(
        b, cloneWithElement(wide, b.getF16Type()), b.constant(wide, 1.0));
    Value total = productOfTerms(b, type, ones, rows), factors;
    if (power) {
      factors = b.scale(power, std::ldexp(1.0, kUnit));
      total = b.mul(total, power);
    }
    replace(b, op, codes, rows, factors);

    b.setInsertionPoint(sum.getLoop());
    Value zero = b.constantLike(total, 0.0);
    Value last = sum.carryBeside(zero, [&](Value before) -> Value {
      b.setInsertionPoint(sum.getLoop().getBody()->getTerminator());
      return b.add(b.mul(before, b.broadcast(sum.getDecay(), type)), total);
    });
    double unit = power ? 1.0 : std::ldexp(1.0, -kUnit);
    b.setInsertionPoint(sum.getLoop());
    Value init = sum.getInit();
    if (!matchPattern(init, m_AnyZeroFloat()))
      sum.setInit(b.mul(init, b.scale(unitsOf(b, load, channels, 1), unit)));
    b.setInsertionPointAfter(sum.getLoop());
    Value inUnits = sum.getResult();
    Value whole =
        b.mul(inUnits, b.scale(unitsOf(b, load, channels, -1), 1.0 / unit));
    Operation *user = whole.getDefiningOp();
    Value all = ReduceOp::create(b, ReductionKind::MaxNumF, last, channels);
    whole = b.sub(whole, b.scale(all, biasOf(load)));
    inUnits.replaceAllUsesExcept(whole, user);
  }

  /// kvk.load, and a kvk.widen of what is no operand yet.
  FailureOr<Value> loadOperand(ImplicitLocOpBuilder &b, ContractOp op,
                               const CacheOperand &cache, Type element,
                               bool isInPlace) {
    LoadCodesOp load = cache.load;
    InsertionGuard at(b);
    b.setInsertionPoint(load);
    const spec::PartScheme &part = partOf(load);
    RankedTensorType type = load.getType();
    auto dims = cast<DimsAttr>(type.getEncoding());
    bool isRaw = isa<FloatType>(type.getElementType());
    if (isRaw && type.getElementType() != element)
      return op.emitOpError("expected raw values of io.query's type ")
             << element << ", got " << type.getElementType();
    Type stored = isRaw ? element : Type(b.getIntegerType(part.codec.bits));
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value tile = kvk::LoadOp::create(
        b, kvk::TileType::get(type.getShape(), stored, dims), load.getCache(),
        load.getKvHead(), load.getToken(), load.getValid(), zero,
        load.getTensorAttr(), load.getPartAttr(), kvk::StorageAttr(),
        IntegerAttr());
    if (isRaw)
      return tile;
    int64_t bias = cache.format || isInPlace ? 0 : storedCentre(part);
    auto widen = kvk::WidenOp::create(b, tile, element, bias, cache.format,
                                      DenseF32ArrayAttr());
    widen.setInPlace(isInPlace);
    return widen.getResult();
  }

  using InsertionGuard = OpBuilder::InsertionGuard;

  std::optional<spec::DType> io;
  std::set<std::string> operands; ///< What the kernel's products multiply.

  /// `x` with a power of two of each row taken out, and that power <rows>; null
  /// where 16 bits hold x as it is.
  static std::pair<Value, Value> normalise(ImplicitLocOpBuilder &b, Value x,
                                           StringRef depth) {
    if (isProbability(x) || x.getDefiningOp<LoadQueryOp>())
      return {x, {}};
    // Of a probability times a factor, the factor alone says how large it is.
    Value size = x, probability;
    if (auto product = x.getDefiningOp<arith::MulFOp>())
      if (isProbability(product.getLhs())) {
        probability = product.getLhs();
        size = product.getRhs();
      }
    auto [inverse, power] = powersOf(b, size, depth);
    // Factors of tokens are the same for all rows, and so is their product.
    Value scaled = arith::MulFOp::create(
        b, size, BroadcastOp::create(b, x.getType(), inverse));
    if (probability)
      scaled = arith::MulFOp::create(b, probability, scaled);
    return {scaled, power};
  }

  /// The power of two at or above the largest magnitude of each row, and 2^most
  /// over it: (inverse, power), both finite.
  static std::pair<Value, Value> powersOf(ImplicitLocOpBuilder &b, Value x,
                                          StringRef depth, int32_t most = 0) {
    Value magnitude = math::AbsFOp::create(b, x);
    Value largest =
        ReduceOp::create(b, ReductionKind::MaxNumF, magnitude, depth);
    // Exponents round up.
    auto f32 = cast<RankedTensorType>(largest.getType());
    auto i32 = cloneWithElement(f32, b.getI32Type());
    auto word = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(
          b, DenseElementsAttr::get(i32, b.getI32IntegerAttr(value)));
    };
    constexpr int32_t kMantissa = 0x7fffff, kExponent = 0x7f800000,
                      kTwiceBias = 254, kExponentBits = 23;
    Value bits = arith::BitcastOp::create(b, i32, largest);
    Value up = arith::AddIOp::create(b, bits, word(kMantissa));
    Value exponent = arith::AndIOp::create(b, up, word(kExponent));
    // Rows of zeros, and of so little that 2^most over it is not finite, keep
    // some of their smallness.
    Value power =
        arith::MaxSIOp::create(b, exponent, word((most + 1) << kExponentBits));
    Value inverse = arith::SubIOp::create(
        b, word(int32_t(uint32_t(kTwiceBias + most) << kExponentBits)), power);
    return {arith::BitcastOp::create(b, f32, inverse),
            arith::BitcastOp::create(b, f32, power)};
  }
};

} // namespace

} // namespace kvc
