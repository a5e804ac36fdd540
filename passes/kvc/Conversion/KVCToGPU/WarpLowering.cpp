//===- WarpLowering.cpp - Control and arithmetic of a warp ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVCToGPU/WarpLowering.h"

#include "kvc/Conversion/ExpandMath/FloatCodes.h"
#include "kvc/Conversion/ExpandMath/FloatMath.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Dialect/KVK/KVKDialect.h"
#include "kvc/Dialect/KVK/KVKTypes.h"
#include "kvc/Layout/Tile.h"
#include "kvc/Spec/SchemeInputs.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kvc {

WarpLowering::WarpLowering(func::FuncOp func, WarpTarget target)
    : func(func), target(target), b(func.getLoc(), func.getContext()) {}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

LogicalResult WarpLowering::run() {
  Region old;
  old.takeBody(func.getBody());
  Block &from = old.front();
  Block *entry = func.addEntryBlock();
  map.map(from.getArguments(), entry->getArguments());
  b.setInsertionPointToStart(entry);
  Operation *end = func::ReturnOp::create(b, ValueRange());
  b.setInsertionPoint(end);
  body = entry;
  if (Value isWork = guard(from)) {
    auto branch = scf::IfOp::create(b, isWork, /*withElseRegion=*/false);
    body = branch.thenBlock();
    b.setInsertionPoint(body->getTerminator());
  }
  lanes.emplace(b, body);
  views.emplace(func, layout::TargetFamily::Nvptx, body);
  from.walk([&](StoreCodesOp) { storesCodes = true; });
  if (failed(lowerBlock(from)))
    return failure();
  old.dropAllReferences();
  for (Operation *rows : rawCaches)
    rows->erase();
  if (failed(declareShared()))
    return failure();
  return views->finish();
}

/// Whether a loop over rows or tokens has an iteration: an item of zeros has
/// none, and no address in it may be read. Null where nothing says so.
Value WarpLowering::guard(Block &from) {
  Value any;
  for (auto loop : from.getOps<scf::ForOp>()) {
    auto isParameter = [](Value bound) { return isa<BlockArgument>(bound); };
    if (!isParameter(loop.getUpperBound()))
      continue;
    Value begin = isParameter(loop.getLowerBound()) ? get(loop.getLowerBound())
                                                    : b.index(0);
    Value runs = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, begin,
                                       get(loop.getUpperBound()));
    any = any ? b.createOrFold<arith::OrIOp>(any, runs) : runs;
  }
  return any;
}

LogicalResult WarpLowering::lowerBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(lower(&op)))
      return failure();
  return success();
}

LogicalResult WarpLowering::lower(Operation *op) {
  b.setLoc(op->getLoc());
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp) { return lowerLoop(op); })
      .Case([&](scf::IfOp) { return lowerIf(op); })
      .Case([&](StorePartialOp store) { return lowerStorePartial(store); })
      .Case([&](StoreOutputOp store) { return lowerStoreOutput(store); })
      .Case([&](StoreRowsOp store) { return lowerStoreRows(store); })
      .Case([&](StoreCodesOp store) { return lowerStoreCodes(store); })
      .Case([&](RawRowsOp rows) {
        rawCaches.push_back(b.clone(*rows, map));
        return success();
      })
      .Case([&](CodedEndOp end) {
        map.map(end.getResult(),
                views->codedEnd(b, get(end.getCache()), end.getTensor()));
        return success();
      })
      .Case<StoreOutlierIndicesOp>([&](auto) {
        return lowerStoreMeta(op, layout::RegionKind::OutlierIndices);
      })
      .Case<StoreOutlierValuesOp>([&](auto) {
        return lowerStoreMeta(op, layout::RegionKind::OutlierValues);
      })
      .Case([&](StoreScaleOp) {
        return lowerStoreMeta(op, layout::RegionKind::Scales);
      })
      .Case([&](StoreZeroOp) {
        return lowerStoreMeta(op, layout::RegionKind::Zeros);
      })
      .Default([&](Operation *) -> LogicalResult {
        bool isScalar =
            llvm::none_of(op->getOperandTypes(), isTile) &&
            llvm::none_of(op->getResultTypes(), isTile) &&
            !isa_and_nonnull<KVCDialect, kvk::KVKDialect>(op->getDialect());
        if (isScalar) {
          b.clone(*op, map);
          return success();
        }
        return define(op, lowerValue(op));
      });
}

LogicalResult WarpLowering::lowerLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  // What other lanes read or wrote of the cache before.
  if (storesCodes && !rawCaches.empty())
    waitForWarp();
  findLaneSums(loop);
  SmallVector<Value> inits;
  SmallVector<SmallVector<int64_t>> laneMasks;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    laneMasks.push_back(lanesOfSum(loop, unsigned(i)));
    inits.push_back(shareOf(init, get(init), laneMasks.back().size()));
  }
  auto made =
      scf::ForOp::create(b, get(loop.getLowerBound()),
                         get(loop.getUpperBound()), get(loop.getStep()), inits);
  map.map(loop.getInductionVar(), made.getInductionVar());
  map.map(loop.getRegionIterArgs(), made.getRegionIterArgs());
  for (auto [old, sum, masks] :
       llvm::zip_equal(loop.getResults(), made.getResults(), laneMasks))
    map.map(old, sumOverLanes(sum, masks));
  InsertionGuard guard(b);
  Block *inside = made.getBody();
  if (inits.empty())
    b.setInsertionPoint(inside->getTerminator());
  else
    b.setInsertionPointToEnd(inside);
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  if (inits.empty())
    return success();
  SmallVector<Value> results;
  for (Value result : loop.getBody()->getTerminator()->getOperands())
    results.push_back(get(result));
  scf::YieldOp::create(b, results);
  return success();
}

LogicalResult WarpLowering::lowerIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  SmallVector<Type> types;
  for (Value result : branch.getResults())
    types.push_back(
        isTile(result.getType())
            ? Type(tileOf(result).type(getElementTypeOrSelf(result.getType())))
            : result.getType());
  bool hasElse = !branch.getElseRegion().empty();
  auto made = scf::IfOp::create(b, types, get(branch.getCondition()), hasElse);
  auto fill = [&](Region &from, Region &to) -> LogicalResult {
    InsertionGuard guard(b);
    Block *block = &to.front();
    if (types.empty())
      b.setInsertionPoint(block->getTerminator());
    else
      b.setInsertionPointToEnd(block);
    if (failed(lowerBlock(from.front())))
      return failure();
    if (types.empty())
      return success();
    SmallVector<Value> results;
    for (Value result : from.front().getTerminator()->getOperands())
      results.push_back(get(result));
    scf::YieldOp::create(b, results);
    return success();
  };
  if (failed(fill(branch.getThenRegion(), made.getThenRegion())) ||
      (hasElse && failed(fill(branch.getElseRegion(), made.getElseRegion()))))
    return failure();
  map.map(branch.getResults(), made.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

WarpTile WarpLowering::tileOf(Value value) {
  if (auto tile = dyn_cast<kvk::TileType>(value.getType()))
    return WarpTile(tile.getLayout().getLayout());
  Operation *op = value.getDefiningOp();
  unsigned number = 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    op = argument.getOwner()->getParentOp();
    number = argument.getArgNumber() - 1; // Behind the induction variable.
  } else {
    number = cast<OpResult>(value).getResultNumber();
  }
  auto layouts =
      op->getAttrOfType<ArrayAttr>(kvk::KVKDialect::getLayoutsAttrName());
  return WarpTile(cast<kvk::LayoutAttr>(layouts[number]).getLayout());
}

LogicalResult WarpLowering::define(Operation *op, Result value) {
  if (failed(value))
    return failure();
  map.map(op->getResult(0), *value);
  return success();
}

Value WarpLowering::at(Value vector, int64_t i) {
  return b.createOrFold<vector::ExtractOp>(vector, i);
}

Value WarpLowering::collect(ArrayRef<Value> elements) {
  return vector::FromElementsOp::create(
      b, Emit::vectorOf(int64_t(elements.size()), elements.front().getType()),
      elements);
}

Value WarpLowering::each(Value vector, function_ref<Value(Value)> f) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < Emit::lanesOf(vector); ++i)
    elements.push_back(f(at(vector, i)));
  return collect(elements);
}

WarpLowering::Result WarpLowering::lowerValue(Operation *op) {
  using Result = WarpLowering::Result;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::ConstantOp op) { return lowerConstant(op); })
      .Case([&](IotaOp op) { return lowerIota(op); })
      .Case([&](BroadcastOp op) { return lowerBroadcast(op); })
      .Case([&](ReduceOp op) { return lowerReduce(op); })
      .Case([&](arith::TruncFOp op) { return lowerNarrow(op); })
      .Case([&](arith::SelectOp op) { return lowerSelect(op); })
      .Case([&](arith::MulFOp op) { return lowerProduct(op); })
      .Case<SplitOp, JoinOp>([&](auto) { return lowerRenamed(op); })
      .Case([&](LoadQueryOp op) { return lowerLoadQuery(op); })
      .Case([&](LoadRowValuesOp op) { return lowerLoadRowValues(op); })
      .Case([&](LoadPartialOp op) { return lowerLoadPartial(op); })
      .Case([&](LoadInputOp op) { return lowerLoadInput(op); })
      .Case([&](LoadCodesOp op) { return lowerLoadCodes(op); })
      .Case([&](LoadScaleOp) {
        return lowerLoadMeta(op, layout::RegionKind::Scales);
      })
      .Case([&](LoadZeroOp) {
        return lowerLoadMeta(op, layout::RegionKind::Zeros);
      })
      .Case([&](LoadOutlierIndicesOp) {
        return lowerLoadMeta(op, layout::RegionKind::OutlierIndices);
      })
      .Case([&](LoadOutlierValuesOp) {
        return lowerLoadMeta(op, layout::RegionKind::OutlierValues);
      })
      .Case([&](LoadGivenOp op) { return lowerLoadGiven(op); })
      .Case([&](LoadSchemeOp op) { return lowerScheme(op); })
      .Case([&](SliceOp op) { return lowerSlice(op); })
      .Case([&](ConcatOp op) { return lowerConcat(op); })
      .Case([&](PickOp op) { return lowerPick(op); })
      .Case([&](PatchOp op) { return lowerPatch(op); })
      .Case([&](FindOutliersOp op) { return lowerFindOutliers(op); })
      .Case([&](RotateOp op) { return lowerRotate(op); })
      .Case([&](RopeOp op) { return lowerRope(op); })
      .Case([&](GatherOp op) -> Result {
        return floatmath::lookup(b, get(op.getCodes()), get(op.getTable()));
      })
      .Case([&](NearestOp op) -> Result {
        return floatmath::nearest(b, get(op.getSource()),
                                  get(op.getThresholds()), get(op.getCodes()));
      })
      .Case([&](kvk::LoadOp op) { return lowerLoadOperand(op); })
      .Case([&](kvk::WidenOp op) { return lowerWiden(op); })
      .Case([&](kvk::MmaOp op) { return lowerMma(op); })
      .Case([&](kvk::ConvertLayoutOp op) { return lowerConvert(op); })
      .Case([&](RoundToOp op) -> Result {
        Value x = get(op.getSource());
        if (op.getDtype() == spec::DType::F32)
          return x;
        if (op.getDtype() == spec::DType::E4M3)
          return floatmath::decodeFloat(
              b, floatmath::encodeFloat(b, x, spec::kFP8E4M3), spec::kFP8E4M3);
        return floatmath::roundTo(b, x,
                                  elementTypeOf(b.getContext(), op.getDtype()));
      })
      .Case([&](PowerOfTwoOp op) -> Result {
        return floatmath::powerOfTwo(
            b, get(op.getSource()), int64_t(op.getSmallest()),
            int64_t(op.getLargest()), int64_t(op.getOffset()), op.getDown());
      })
      .Case([&](EncodeFloatOp op) -> Result {
        return floatmath::encodeFloat(b, get(op.getSource()),
                                      spec::formatOf(op.getFormat()));
      })
      .Case([&](DecodeFloatOp op) -> Result {
        return floatmath::decodeFloat(b, get(op.getCodes()),
                                      spec::formatOf(op.getFormat()));
      })
      .Case([&](LookupOp op) -> Result {
        return floatmath::lookup(b, get(op.getCodes()), op.getTable());
      })
      .Case([&](math::Exp2Op op) -> Result {
        return each(get(op.getOperand()), [&](Value x) -> Value {
          return LLVM::CallIntrinsicOp::create(
                     b, b.getF32Type(),
                     b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), x)
              .getResult(0);
        });
      })
      .Case([&](math::Log2Op op) -> Result {
        return each(get(op.getOperand()), [&](Value x) -> Value {
          return LLVM::CallIntrinsicOp::create(
                     b, b.getF32Type(),
                     b.getStringAttr("llvm.nvvm.lg2.approx.f"), x)
              .getResult(0);
        });
      })
      .Default([&](Operation *op) -> Result {
        if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1)
          return lowerElementwise(op);
        return op->emitOpError("is not lowered for GPUs yet");
      });
}

LogicalResult
WarpLowering::failOfLayouts(Operation *op, const WarpTile &got,
                            const layout::RegisterLayout &expected) {
  return op->emitOpError("layout: expected an operand at \"")
         << str(expected) << "\", got one at \"" << str(got.layout()) << "\"";
}

WarpLowering::Result WarpLowering::lowerElementwise(Operation *op) {
  SmallVector<Value> operands;
  const WarpTile tile = tileOf(op->getResult(0));
  for (Value operand : op->getOperands()) {
    if (isTile(operand.getType())) {
      // L6. Numbers of elements are those of the result, packed or not.
      const WarpTile from = tileOf(operand);
      if (from.elements() != tile.elements() ||
          from.layout().lane != tile.layout().lane ||
          from.layout().warp != tile.layout().warp)
        return failOfLayouts(op, from, tile.layout());
    }
    operands.push_back(get(operand));
  }
  Type type = tile.type(getElementTypeOrSelf(op->getResult(0)));
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != kvk::KVKDialect::getLayoutsAttrName())
      attributes.push_back(attribute);
  return b
      .create(op->getLoc(), op->getName().getIdentifier(), operands, type,
              attributes)
      ->getResult(0);
}

WarpLowering::Result WarpLowering::lowerConstant(arith::ConstantOp op) {
  auto value = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!value || !value.isSplat())
    return op.emitOpError("expected one value for all elements");
  Type element = getElementTypeOrSelf(op.getType());
  VectorType type = tileOf(op).type(element);
  auto splat = value.getSplatValue<Attribute>();
  if (type.getElementType() != element) { // Pairs.
    llvm::APInt half = cast<FloatAttr>(splat).getValue().bitcastToAPInt();
    splat = b.getIntegerAttr(type.getElementType(), half.concat(half));
  }
  return Value(
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, splat)));
}

WarpLowering::Result WarpLowering::lowerIota(IotaOp op) {
  WarpTile tile = tileOf(op);
  layout::Dim dim = dimsOf(op.getType()).front().front();
  Type element = getElementTypeOrSelf(op.getType());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < tile.size(); ++i)
    elements.push_back(
        arith::IndexCastOp::create(b, element, lanes->index(tile, dim, i)));
  return collect(elements);
}

WarpLowering::Result WarpLowering::lowerBroadcast(BroadcastOp op) {
  WarpTile tile = tileOf(op);
  Value source = get(op.getSource());
  if (!isTile(op.getSource().getType()))
    return b.splat(source, tile.size());
  WarpTile from = tileOf(op.getSource());
  std::string kept;
  for (StringRef dim : dimsOf(op.getSource().getType()))
    kept += dim;
  const layout::RegisterLayout slice = sliceLayout(tile.layout(), kept); // L6
  if (from.layout().lane != slice.lane || from.layout().warp != slice.warp)
    return failOfLayouts(op, from, slice);
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < tile.size(); ++i) {
    Coordinates indices;
    for (StringRef dim : dimsOf(op.getSource().getType()))
      indices[dim.front()] = tile.index(dim.front(), i);
    numbers.push_back(from.number(indices));
  }
  return b.shuffle(source, source, numbers);
}

/// One step of a reduction.
static Value combine(Emit &b, ReductionKind kind, Value x, Value y) {
  switch (kind) {
  case ReductionKind::Add:
    if (isa<IntegerType>(getElementTypeOrSelf(x.getType())))
      return arith::AddIOp::create(b, x, y);
    return arith::AddFOp::create(b, x, y);
  case ReductionKind::PairwiseAdd:
    return arith::AddFOp::create(b, x, y);
  case ReductionKind::MaximumF:
    return arith::MaximumFOp::create(b, x, y);
  case ReductionKind::MaxNumF:
    return arith::MaxNumFOp::create(b, x, y);
  case ReductionKind::MinimumF:
    return arith::MinimumFOp::create(b, x, y);
  }
  llvm_unreachable("unknown reduction");
}

/// Digit by digit: neighbours first where the order counts, else those of a
/// lane before those of other lanes.
WarpLowering::Result WarpLowering::lowerReduce(ReduceOp op) {
  WarpTile tile = tileOf(op.getSource());
  struct Step {
    layout::Digit digit;
    int64_t laneMask; ///< 0: inside a lane.
  };
  SmallVector<Step> steps;
  for (const layout::Digit &digit : tile.elements())
    if (isReduced(op, digit))
      steps.push_back({digit, 0});
  for (auto [i, digit] : llvm::enumerate(tile.layout().lane))
    if (isReduced(op, digit) && !laneSums.contains(op))
      steps.push_back({digit, int64_t(1) << i});
  bool isOrdered = op.getKind() == ReductionKind::PairwiseAdd;
  if (isOrdered) // Channels first, then tokens.
    llvm::sort(steps, [](const Step &x, const Step &y) {
      return std::pair(x.digit.dim == 't', x.digit.place) <
             std::pair(y.digit.dim == 't', y.digit.place);
    });

  layout::Digits left = tile.elements();
  SmallVector<Value> values;
  Value source = get(op.getSource());
  for (int64_t i = 0; i < tile.size(); ++i)
    values.push_back(at(source, i));
  for (const auto &[number, step] : llvm::enumerate(steps)) {
    if (isOrdered && step.digit.count != 2) {
      // What is left are no pairs of digits: elements in their own order.
      layout::Digits rest;
      for (const Step &each : ArrayRef(steps).drop_front(number)) {
        if (each.laneMask)
          return op.emitOpError("expected what is added last in one lane");
        rest.push_back(each.digit);
      }
      return addPairwise(values, left, rest);
    }
    if (step.laneMask) {
      for (Value &value : values)
        value = combine(b, op.getKind(), value,
                        lanes->butterfly(value, step.laneMask));
      continue;
    }
    // Elements that differ in this digit alone.
    size_t position = size_t(llvm::find(left, step.digit) - left.begin());
    int64_t stride = 1, count = step.digit.count;
    for (size_t i = 0; i < position; ++i)
      stride *= left[i].count;
    SmallVector<Value> sums;
    for (int64_t i = 0; i < int64_t(values.size()); ++i) {
      if (i / stride % count != 0)
        continue;
      Value sum = values[size_t(i)];
      for (int64_t j = 1; j < count; ++j)
        sum = combine(b, op.getKind(), sum, values[size_t(i + j * stride)]);
      sums.push_back(sum);
    }
    values = std::move(sums);
    left.erase(left.begin() + ptrdiff_t(position));
  }
  return collect(values);
}

/// Sums of neighbours along `digits` of values whose positions are `left`, as
/// if zeros filled them up to a power of two.
Value WarpLowering::addPairwise(ArrayRef<Value> values,
                                const layout::Digits &left,
                                const layout::Digits &digits) {
  SmallVector<Value> sums;
  auto strideOf = [&](const layout::Digit &digit) {
    int64_t stride = 1;
    for (const layout::Digit &each : left) {
      if (each == digit)
        break;
      stride *= each.count;
    }
    return stride;
  };
  for (int64_t i = 0; i < int64_t(values.size()); ++i) {
    bool isFirst = llvm::all_of(digits, [&](const layout::Digit &digit) {
      return i / strideOf(digit) % digit.count == 0;
    });
    if (!isFirst)
      continue;
    SmallVector<Value> row;
    for (int64_t n = 0; n < layout::extentOf(digits); ++n) {
      int64_t at = i, rest = n;
      for (const layout::Digit &digit : digits) {
        at += rest % digit.count * strideOf(digit);
        rest /= digit.count;
      }
      row.push_back(values[size_t(at)]);
    }
    while (row.size() > 1) {
      SmallVector<Value> next;
      for (size_t j = 0; j + 1 < row.size(); j += 2)
        next.push_back(arith::AddFOp::create(b, row[j], row[j + 1]));
      if (row.size() % 2 != 0)
        next.push_back(row.back());
      row = std::move(next);
    }
    sums.push_back(row.front());
  }
  return collect(sums);
}

WarpLowering::Result WarpLowering::lowerNarrow(arith::TruncFOp op) {
  WarpTile tile = tileOf(op);
  Type element = getElementTypeOrSelf(op.getType());
  if (!tile.isPacked())
    return lowerElementwise(op);
  WarpTile from = tileOf(op.getIn());
  Value source = get(op.getIn());
  SmallVector<Value> pairs;
  for (int64_t i = 0; i < tile.size(); i += 2) {
    auto elementAt = [&](int64_t number) {
      Coordinates indices;
      for (StringRef dim : dimsOf(op.getType()))
        indices[dim.front()] = tile.index(dim.front(), number);
      return at(source, from.number(indices));
    };
    Value pair = collect({elementAt(i), elementAt(i + 1)});
    Value narrow = LLVM::FPTruncOp::create(b, Emit::vectorOf(2, element), pair);
    pairs.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), narrow));
  }
  return collect(pairs);
}

WarpLowering::Result WarpLowering::lowerRenamed(Operation *op) {
  WarpTile from = tileOf(op->getOperand(0)), to = tileOf(op->getResult(0));
  auto split = isa<SplitOp>(op) ? op->getResult(0) : op->getOperand(0);
  int64_t inner = extentOf(split.getType(), "e");
  StringRef name = vectorDimOf(isa<SplitOp>(op) ? op->getOperand(0).getType()
                                                : op->getResult(0).getType());
  // The digits of the dim that was cut, as those of both pieces.
  auto flat = [&](layout::Digits digits) {
    for (layout::Digit &digit : digits) {
      if (digit.dim == 'b')
        digit.place *= inner;
      if (digit.dim == 'b' || digit.dim == 'e')
        digit.dim = name.front();
    }
    return digits;
  };
  if (flat(from.elements()) != flat(to.elements()) ||
      flat(from.layout().lane) != flat(to.layout().lane))
    return renumber(op->getOperand(0), op->getResult(0));
  return get(op->getOperand(0));
}

WarpLowering::Result WarpLowering::lowerScheme(LoadSchemeOp op) {
  const spec::Spec &spec = op.getCache().getType().getSpec();
  const auto part = size_t(op.getPart());
  const spec::RowRange range =
      spec::rowRange(spec, op.getTensor(), part, op.getField());
  constexpr int64_t bytes = sizeof(float);
  Value row = b.offset(
      views->input(b, get(op.getCache()),
                   spec::inputNumber(spec, op.getTensor(), range.kind, part)),
      b.add(b.mul(get(op.getKvHead()), range.stride * bytes),
            range.begin * bytes));
  if (!isTile(op.getType()))
    return b.loadBytes(row, b.getF32Type(), bytes);
  WarpTile tile = tileOf(op);
  StringRef dim = dimsOf(op.getType()).front();
  int64_t repeats = extentOf(op.getType(), dim) / range.count;
  SmallVector<Value> elements;
  for (int64_t i = 0; i < tile.size(); ++i) {
    Value number = b.div(lanes->index(tile, dim.front(), i), repeats);
    elements.push_back(b.loadBytes(b.offset(row, b.mul(number, bytes)),
                                   b.getF32Type(), bytes));
  }
  return collect(elements);
}

} // namespace kvc
