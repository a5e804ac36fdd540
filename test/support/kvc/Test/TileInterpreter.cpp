//===- TileInterpreter.cpp - Kernels on tiles, run in f64 -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/TileInterpreter.h"

#include "TileFrame.h"
#include "kvc/Test/Floats.h"
#include "kvc/Test/Transforms.h"

#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace kvc;
using namespace kvc::test;

TileDims kvc::test::dimsOfType(Type type) {
  SmallVector<TileDim> dims = tileDimsOf(type);
  return TileDims(dims.begin(), dims.end());
}

namespace {

class Interpreter {
public:
  LogicalResult run(func::FuncOp function, ArrayRef<Argument> arguments) {
    if (function.isExternal() || function.getNumArguments() != arguments.size())
      return function.emitOpError("expected a body and ")
             << arguments.size() << " arguments";
    for (auto [parameter, argument] :
         llvm::zip(function.getArguments(), arguments))
      if (!bind(parameter, argument))
        return function.emitOpError("argument ")
               << parameter.getArgNumber() << " is no " << parameter.getType();
    return run(function.front());
  }

private:
  bool bind(Value parameter, const Argument &argument) {
    Type type = parameter.getType();
    if (auto *value = std::get_if<int64_t>(&argument)) {
      frame.set(parameter, TileValue::ofInt(*value));
      return type.isIndex();
    }
    if (auto *array = std::get_if<HostArray *>(&argument)) {
      frame.bind(parameter, *array);
      auto memref = dyn_cast<MemRefType>(type);
      return memref && memref.getRank() == int64_t((*array)->shape.size());
    }
    frame.bind(parameter, std::get<HostCache *>(argument));
    return isa<CacheType>(type);
  }

  LogicalResult run(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(run(&op)))
        return failure();
    return success();
  }

  LogicalResult run(Operation *op) {
    if (std::optional<LogicalResult> done = runElementwise(op, frame))
      return *done;
    if (std::optional<LogicalResult> done = runMemoryOp(op, frame))
      return *done;
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<scf::ForOp, scf::IfOp>([&](auto typed) { return runOp(typed); })
        .Case<IotaOp, BroadcastOp, ContractOp, ReduceOp, SplitOp, JoinOp,
              SliceOp, ConcatOp, FindOutliersOp, PickOp, PatchOp, GatherDotOp,
              ScatterDotOp, RotateOp, RopeOp, GatherOp, LookupOp, NearestOp,
              DecodeFloatOp, DequantizeOp, RoundToOp>([&](auto typed) {
          frame.set(typed.getResult(), compute(typed));
          return success();
        })
        .Default([](Operation *op) {
          return op->emitOpError("is none that the tile interpreter knows");
        });
  }

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  /// The operands of a region's terminator become the values of `targets`, all
  /// at once.
  void yield(Block &block, ValueRange targets) {
    SmallVector<TileValue> values;
    for (Value value : block.getTerminator()->getOperands())
      values.push_back(frame.tile(value));
    for (auto [target, value] : llvm::zip(targets, values))
      frame.set(target, std::move(value));
  }

  LogicalResult runOp(scf::ForOp loop) {
    int64_t begin = frame.index(loop.getLowerBound()),
            end = frame.index(loop.getUpperBound()),
            step = frame.index(loop.getStep());
    if (step <= 0)
      return loop.emitOpError("steps by ") << step;
    for (auto [init, carried] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
      TileValue value = frame.tile(init);
      frame.set(carried, std::move(value));
    }
    for (int64_t i = begin; i < end; i += step) {
      frame.set(loop.getInductionVar(), TileValue::ofInt(i));
      if (failed(run(*loop.getBody())))
        return failure();
      yield(*loop.getBody(), loop.getRegionIterArgs());
    }
    for (auto [carried, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getResults())) {
      TileValue value = frame.tile(carried);
      frame.set(result, std::move(value));
    }
    return success();
  }

  LogicalResult runOp(scf::IfOp branch) {
    Region &region = frame.index(branch.getCondition())
                         ? branch.getThenRegion()
                         : branch.getElseRegion();
    if (region.empty())
      return success();
    if (failed(run(region.front())))
      return failure();
    yield(region.front(), branch.getResults());
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Tile ops
  //===--------------------------------------------------------------------===//

  TileValue compute(IotaOp op) {
    TileValue result = TileValue::zeros(dimsOfType(op.getType()), false);
    std::iota(result.ints.begin(), result.ints.end(), int64_t(0));
    return result;
  }

  TileValue compute(BroadcastOp op) {
    return broadcast(frame.tile(op.getSource()), dimsOfType(op.getType()));
  }

  TileValue compute(ContractOp op) {
    return contract(frame.tile(op.getLhs()), frame.tile(op.getRhs()),
                    dimsOfType(op.getType()));
  }

  TileValue compute(ReduceOp op) {
    const TileValue &source = frame.tile(op.getSource());
    TileDims dims = dimsOfType(op.getType());
    TileValue result = TileValue::zeros(dims, source.isFloat());
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (op.getKind() != ReductionKind::Add)
      llvm::fill(result.floats, op.getKind() == ReductionKind::MinimumF
                                    ? infinity
                                    : -infinity);
    forEachPoint<2>(
        source.dims, {&source.dims, &dims}, [&](const auto &offsets) {
          auto [from, to] = offsets;
          if (source.isFloat())
            result.floats[to] =
                combine(op.getKind(), result.floats[to], source.floats[from]);
          else
            result.ints[to] += source.ints[from];
        });
    return result;
  }

  static double combine(ReductionKind kind, double a, double b) {
    bool isNaN = std::isnan(a) || std::isnan(b);
    switch (kind) {
    case ReductionKind::Add:
    case ReductionKind::PairwiseAdd:
      return a + b;
    case ReductionKind::MaxNumF:
      return std::fmax(a, b);
    case ReductionKind::MaximumF:
      return isNaN ? a + b : std::fmax(a, b);
    case ReductionKind::MinimumF:
      return isNaN ? a + b : std::fmin(a, b);
    }
    return 0;
  }

  /// Rows are row-major, so only the dims change.
  TileValue reshaped(Value source, Type type) {
    TileValue result = frame.tile(source);
    result.dims = dimsOfType(type);
    return result;
  }
  TileValue compute(SplitOp op) {
    return reshaped(op.getSource(), op.getType());
  }
  TileValue compute(JoinOp op) {
    return reshaped(op.getSource(), op.getType());
  }

  TileValue compute(SliceOp op) {
    const TileValue &source = frame.tile(op.getSource());
    TileValue result =
        TileValue::zeros(dimsOfType(op.getType()), source.isFloat());
    auto from = size_t(source.dims.back().second),
         count = size_t(result.dims.back().second);
    for (size_t i = 0; i < result.size(); ++i) {
      size_t at = i / count * from + size_t(op.getFirst()) + i % count;
      if (source.isFloat())
        result.floats[i] = source.floats[at];
      else
        result.ints[i] = source.ints[at];
    }
    return result;
  }

  TileValue compute(ConcatOp op) {
    TileValue result = TileValue::zeros(
        dimsOfType(op.getType()), frame.tile(op.getSources()[0]).isFloat());
    auto width = size_t(result.dims.back().second);
    size_t first = 0;
    for (Value operand : op.getSources()) {
      const TileValue &source = frame.tile(operand);
      auto count = size_t(source.dims.back().second);
      for (size_t i = 0; i < source.size(); ++i) {
        size_t at = i / count * width + first + i % count;
        if (source.isFloat())
          result.floats[at] = source.floats[i];
        else
          result.ints[at] = source.ints[i];
      }
      first += count;
    }
    return result;
  }

  TileValue compute(FindOutliersOp op) {
    std::vector<double> left = frame.tile(op.getSource()).floats;
    TileValue result = TileValue::zeros(dimsOfType(op.getType()), true);
    for (double &number : result.floats) {
      auto largest = std::max_element(left.begin(), left.end());
      number = double(largest - left.begin());
      *largest = -1;
    }
    std::sort(result.floats.begin(), result.floats.end());
    return result;
  }

  TileValue compute(PickOp op) {
    const TileValue &source = frame.tile(op.getSource());
    TileValue result = frame.tile(op.getIndex());
    size_t outliers = size_t(result.dims.back().second),
           elements = size_t(source.dims.back().second);
    bool hasTokens = source.size() > elements;
    for (size_t i = 0; i < result.size(); ++i) {
      size_t first = hasTokens ? i / outliers * elements : 0;
      result.floats[i] =
          source.floats[first + size_t(result.floats[i]) / op.getWidth()];
    }
    return result;
  }

  /// Products of rows with the channels that tokens keep apart: <r, c> gives
  /// sums <r, t>, or <r, t> sums <r, c>.
  template <typename Op>
  TileValue outlierDot(Op op, bool gathers) {
    const TileValue &rows = frame.tile(op.getRows()),
                    &index = frame.tile(op.getIndex()),
                    &value = frame.tile(op.getValue());
    TileValue result = TileValue::zeros(dimsOfType(op.getType()), true);
    auto outliers = size_t(index.dims.back().second),
         from = size_t(rows.dims.back().second),
         to = size_t(result.dims.back().second), channels = gathers ? from : to;
    for (size_t row = 0; row < size_t(rows.dims.front().second); ++row)
      for (size_t i = 0; i < index.size(); ++i) {
        size_t token = i / outliers, channel = size_t(index.floats[i]);
        if (channel < channels)
          result.floats[row * to + (gathers ? token : channel)] +=
              rows.floats[row * from + (gathers ? channel : token)] *
              value.floats[i];
      }
    return result;
  }
  TileValue compute(GatherDotOp op) { return outlierDot(op, true); }
  TileValue compute(ScatterDotOp op) { return outlierDot(op, false); }

  TileValue compute(PatchOp op) {
    TileValue result = frame.tile(op.getDense());
    const TileValue &index = frame.tile(op.getIndex()),
                    &value = frame.tile(op.getValue());
    auto outliers = size_t(index.dims.back().second),
         channels = result.size() / (index.size() / outliers);
    for (size_t i = 0; i < index.size(); ++i)
      if (auto channel = size_t(index.floats[i]); channel < channels)
        result.floats[i / outliers * channels + channel] = value.floats[i];
    return result;
  }

  TileValue compute(RotateOp op) {
    TileValue result = frame.tile(op.getSource());
    auto block = static_cast<size_t>(op.getBlock());
    for (size_t h = 1; h < block; h *= 2)
      for (size_t i = 0; i < result.size(); ++i)
        if ((i & h) == 0) {
          double a = result.floats[i], b = result.floats[i + h];
          result.floats[i] = a + b;
          result.floats[i + h] = a - b;
        }
    for (double &x : result.floats)
      x *= float(1.0 / std::sqrt(double(block)));
    return result;
  }

  TileValue compute(RopeOp op) {
    TileValue result = frame.tile(op.getSource());
    int64_t first = frame.index(op.getFirst()),
            channels = result.dims.back().second;
    spec::Rope rope{op.getPairs(), int64_t(op.getDims()),
                    int64_t(op.getOffset()), op.getTheta().convertToDouble()};
    for (int64_t t = 0; t < result.dims.front().second; ++t)
      applyRope(rope, first + t,
                std::span(result.floats)
                    .subspan(size_t(t * channels), size_t(channels)));
    return result;
  }

  TileValue compute(DecodeFloatOp op) {
    const TileValue &codes = frame.tile(op.getCodes());
    const FloatFormat &format =
        op.getFormat() == spec::CodecKind::FP8E4M3   ? kE4M3
        : op.getFormat() == spec::CodecKind::FP8E5M2 ? kE5M2
                                                     : kE2M1;
    TileValue result = TileValue::zeros(codes.dims, true);
    for (size_t i = 0; i < result.size(); ++i)
      result.floats[i] =
          decode(format, uint32_t(codes.ints[i]) & ((1u << format.bits()) - 1));
    return result;
  }

  TileValue compute(GatherOp op) {
    return lookedUp(op.getCodes(), ArrayRef(frame.tile(op.getTable()).floats));
  }
  TileValue compute(LookupOp op) {
    return lookedUp(op.getCodes(), op.getTable());
  }
  template <typename T>
  TileValue lookedUp(Value source, ArrayRef<T> table) {
    const TileValue &codes = frame.tile(source);
    TileValue result = TileValue::zeros(codes.dims, true);
    for (size_t i = 0; i < result.size(); ++i)
      result.floats[i] = double(table[size_t(codes.ints[i]) % table.size()]);
    return result;
  }

  TileValue compute(NearestOp op) {
    const TileValue &source = frame.tile(op.getSource());
    const std::vector<double> &thresholds =
                                  frame.tile(op.getThresholds()).floats,
                              &codes = frame.tile(op.getCodes()).floats;
    TileValue result = TileValue::zeros(source.dims, false);
    for (size_t i = 0; i < result.size(); ++i)
      result.ints[i] =
          int64_t(codes[size_t(llvm::lower_bound(thresholds, source.floats[i]) -
                               thresholds.begin())]);
    return result;
  }

  TileValue compute(DequantizeOp op) {
    const TileValue &codes = frame.tile(op.getCodes());
    TileDims dims = codes.dims;
    TileValue result = TileValue::zeros(dims, true);
    for (size_t i = 0; i < result.size(); ++i)
      result.floats[i] = codes.isFloat()
                             ? codes.floats[i]
                             : double(codes.ints[i] + int64_t(op.getCentre()));
    if (!op.getScale())
      return result;
    TileValue scale = broadcast(frame.tile(op.getScale()), dims);
    TileValue zero = TileValue::zeros(dims, true);
    if (op.getZero())
      zero = broadcast(frame.tile(op.getZero()), dims);
    bool isCode = op.getZeroKind() == spec::Zero::Code;
    for (size_t i = 0; i < result.size(); ++i) {
      double &x = result.floats[i];
      x = isCode ? scale.floats[i] * (x - zero.floats[i])
                 : scale.floats[i] * x + zero.floats[i];
    }
    return result;
  }

  TileValue compute(RoundToOp op) {
    TileValue result = frame.tile(op.getSource());
    const FloatFormat &format = op.getDtype() == spec::DType::F16    ? kF16
                                : op.getDtype() == spec::DType::BF16 ? kBF16
                                                                     : kF32;
    for (double &x : result.floats)
      if (!std::isnan(x))
        x = roundTo(format, x);
    return result;
  }

  Frame frame;
};

} // namespace

LogicalResult kvc::test::interpret(func::FuncOp function,
                                   ArrayRef<Argument> arguments) {
  return Interpreter().run(function, arguments);
}
