//===- TileMemoryOps.cpp - Loads and stores of tiles ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "TileFrame.h"
#include "kvc/Quantise/InputRows.h"
#include "kvc/Spec/Segments.h"
#include "kvc/Test/Block.h"
#include "kvc/Test/Floats.h"

#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Dialect/KVC/KVCTypes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace kvc;
using namespace kvc::test;

//===----------------------------------------------------------------------===//
// Host memory
//===----------------------------------------------------------------------===//

static size_t elementsIn(const std::vector<int64_t> &shape) {
  size_t elements = 1;
  for (int64_t extent : shape)
    elements *= size_t(extent);
  return elements;
}

HostArray::HostArray(std::vector<int64_t> shape, double fill)
    : shape(std::move(shape)) {
  values.resize(elementsIn(this->shape), fill);
}

HostArray::HostArray(std::vector<int64_t> shape, std::span<const float> given)
    : HostArray(std::move(shape), 0.0) {
  std::copy_n(given.begin(), std::min(given.size(), values.size()),
              values.begin());
}

double *HostArray::at(ArrayRef<int64_t> indices) {
  if (indices.size() != shape.size())
    return nullptr;
  size_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= shape[i])
      return nullptr;
    offset = offset * size_t(shape[i]) + size_t(indices[i]);
  }
  return &values[offset];
}

static HostPart hostPart(const spec::PartScheme &scheme, const PartData &part,
                         int64_t tokens, int64_t heads) {
  // Static scales are in no page.
  int64_t scales = scheme.hasStaticScale() ? 0 : part.blocks,
          zeros = scheme.zero == spec::Zero::None ? 0 : part.blocks;
  HostPart result{HostArray({tokens, heads, part.channels}, part.values),
                  HostArray({tokens, heads, scales}, part.scale),
                  HostArray({tokens, heads, zeros}, part.zero),
                  HostArray({tokens, heads, part.outliers}, 0.0),
                  HostArray({tokens, heads, part.outliers}, 0.0)};
  for (size_t i = 0; i < part.outlierIndex.size(); ++i) {
    result.outlierIndex.values[i] = part.outlierIndex[i];
    result.outlierValue.values[i] = decode(kF16, part.outlierValue[i]);
  }
  if (scheme.codec.isRaw())
    return result;
  double centre =
      scheme.codec.isInt() ? std::ldexp(1.0, int(scheme.codec.bits) - 1) : 0;
  for (size_t i = 0; i < part.codes.size(); ++i)
    result.codes.values[i] =
        hasSignedCodes(scheme) ? int8_t(part.codes[i]) : part.codes[i] - centre;
  return result;
}

/// Leaves out the first `tokens` tokens.
static void dropTokens(HostArray &array, int64_t tokens) {
  tokens = std::min(tokens, array.shape[0]);
  int64_t perToken = array.shape[1] * array.shape[2];
  array.values.erase(array.values.begin(),
                     array.values.begin() + tokens * perToken);
  array.shape[0] -= tokens;
}

/// The raw rows of a tensor; NaN where there is none.
static HostPart rawPart(const spec::Spec &spec, const TensorData &data) {
  int64_t sink = spec.segments.sink, body = spec::rawBody(spec);
  int64_t rows = body + std::max<int64_t>(data.tokens - sink, 0);
  int64_t perToken = data.heads * data.channels;
  const HostArray none({rows, data.heads, 0}, 0.0);
  HostPart result{HostArray({rows, data.heads, data.channels},
                            std::numeric_limits<double>::quiet_NaN()),
                  none, none, none, none};
  for (int64_t token = 0; token < data.tokens; ++token) {
    int64_t row = token < sink ? token : body + token - sink;
    if (data.isRaw[size_t(token)])
      std::copy_n(data.x.begin() + token * perToken, perToken,
                  result.codes.values.begin() + row * perToken);
  }
  return result;
}

HostCache kvc::test::hostCache(const spec::Spec &spec, const Inputs &inputs,
                               const TensorData &key, const TensorData &value) {
  HostCache cache;
  for (const spec::SchemeInput &input : spec::schemeInputs(spec)) {
    auto rows = quantise::kernelRows(spec, input, valuesOf(input, inputs));
    if (!rows)
      llvm::report_fatal_error(rows.error().str().c_str());
    cache.inputs.emplace_back(
        std::vector{input.heads, int64_t(rows->size()) / input.heads}, *rows);
  }
  auto fill = [&](std::vector<HostPart> &parts, const spec::Scheme &scheme,
                  const TensorData &data) {
    for (size_t i = 0; i < data.parts.size(); ++i) {
      HostPart part =
          hostPart(scheme.parts[i], data.parts[i], data.tokens, data.heads);
      for (HostArray *array : {&part.codes, &part.scale, &part.zero,
                               &part.outlierIndex, &part.outlierValue})
        dropTokens(*array, spec.segments.sink);
      parts.push_back(std::move(part));
    }
  };
  fill(cache.key, spec.key, key);
  if (spec.value)
    fill(cache.value, *spec.value, value);
  if (!spec::hasSegments(spec))
    return cache;
  auto codedEnd = [&](const TensorData &data) {
    return spec.segments.sink +
           std::count(data.isRaw.begin(), data.isRaw.end(), 0);
  };
  cache.keyCodedEnd = codedEnd(key);
  cache.valueCodedEnd = codedEnd(value);
  cache.raw = std::make_shared<HostCache>();
  cache.raw->key.push_back(rawPart(spec, key));
  if (spec.value)
    cache.raw->value.push_back(rawPart(spec, value));
  return cache;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {

/// What fills codes that are unspecified: in the range of i8, and far from the
/// others, so that one that gets through is seen.
constexpr double kUnspecifiedCode = 101;

class MemoryOp {
public:
  MemoryOp(Operation *op, Frame &frame) : op(op), frame(frame) {}

  std::optional<LogicalResult> run() {
    return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
        .Case<LoadQueryOp, LoadRowValuesOp, LoadCodesOp, LoadScaleOp,
              LoadZeroOp, LoadSchemeOp, LoadOutlierIndicesOp,
              LoadOutlierValuesOp, StoreOutlierIndicesOp, StoreOutlierValuesOp,
              LoadPartialOp, LoadInputOp, StorePartialOp, StoreOutputOp,
              StoreCodesOp, StoreScaleOp, StoreZeroOp, StoreRowsOp, RawRowsOp,
              CodedEndOp, LoadGivenOp>([&](auto typed) { return runOp(typed); })
        .Default([](Operation *) { return std::nullopt; });
  }

private:
  //===--------------------------------------------------------------------===//
  // Elements of a tile of one or two dims
  //===--------------------------------------------------------------------===//

  using Load = llvm::function_ref<std::optional<double>(int64_t, int64_t)>;
  using Store = llvm::function_ref<bool(int64_t, int64_t, double)>;

  static std::optional<double> read(HostArray &array,
                                    ArrayRef<int64_t> indices) {
    double *element = array.at(indices);
    return element ? std::optional(*element) : std::nullopt;
  }
  static bool write(HostArray &array, ArrayRef<int64_t> indices, double x) {
    double *element = array.at(indices);
    if (element)
      *element = x;
    return element;
  }

  LogicalResult outside() {
    return op->emitOpError("touches memory outside of its operand");
  }

  LogicalResult load(Load element) {
    Value result = op->getResult(0);
    TileDims dims = dimsOfType(result.getType());
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(result.getType()));
    TileValue tile = TileValue::zeros(dims, isFloat);
    int64_t columns = dims.size() >= 2 ? dims[1].second : 1;
    if (dims.size() == 3)
      columns *= dims[2].second;
    for (size_t i = 0; i < tile.size(); ++i) {
      std::optional<double> x =
          element(int64_t(i) / columns, int64_t(i) % columns);
      if (!x)
        return outside();
      if (isFloat)
        tile.floats[i] = *x;
      else
        tile.ints[i] = int64_t(*x);
    }
    frame.set(result, std::move(tile));
    return success();
  }

  LogicalResult store(Value source, Store element) {
    const TileValue &tile = frame.tile(source);
    int64_t columns = tile.dims.size() == 2 ? tile.dims[1].second : 1;
    for (size_t i = 0; i < tile.size(); ++i) {
      double x = tile.isFloat() ? tile.floats[i] : double(tile.ints[i]);
      if (!element(int64_t(i) / columns, int64_t(i) % columns, x))
        return outside();
    }
    return success();
  }

  /// `indices`, and the channel where the array has one more dim.
  static SmallVector<int64_t> withChannel(const HostArray &array,
                                          SmallVector<int64_t> indices,
                                          int64_t channel) {
    if (array.shape.size() > indices.size())
      indices.push_back(channel);
    return indices;
  }

  int64_t index(Value value) { return frame.index(value); }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  LogicalResult runOp(LoadQueryOp load) {
    HostArray &array = frame.array(load.getMemref());
    int64_t first = index(load.getRow()), end = index(load.getRowEnd()),
            head = index(load.getKvHead()), group = load.getGroup();
    return this->load([&](int64_t i, int64_t c) -> std::optional<double> {
      int64_t row = first + i;
      if (row >= end)
        return 0.0;
      return read(array, {row / group, head * group + row % group, c});
    });
  }

  LogicalResult runOp(LoadRowValuesOp load) {
    HostArray &array = frame.array(load.getMemref());
    int64_t first = index(load.getRow()), end = index(load.getRowEnd()),
            head = index(load.getKvHead()), group = load.getGroup();
    return this->load([&](int64_t i, int64_t) -> std::optional<double> {
      int64_t row = first + i;
      return row >= end ? 0.0 : read(array, {head * group + row % group});
    });
  }

  LogicalResult runOp(LoadPartialOp load) {
    HostArray &array = frame.array(load.getMemref());
    int64_t split = index(load.getSplit()), first = index(load.getRow()),
            end = index(load.getRowEnd());
    return this->load([&](int64_t i, int64_t d) -> std::optional<double> {
      if (first + i >= end)
        return 0.0;
      return read(array, withChannel(array, {split, first + i}, d));
    });
  }

  LogicalResult runOp(StorePartialOp store) {
    HostArray &array = frame.array(store.getMemref());
    int64_t first = index(store.getRow()), end = index(store.getRowEnd());
    return this->store(store.getSource(), [&](int64_t i, int64_t d, double x) {
      return first + i >= end ||
             write(array,
                   withChannel(array, {first + i},
                               int64_t(store.getChannel()) + d),
                   x);
    });
  }

  LogicalResult runOp(StoreOutputOp store) {
    HostArray &array = frame.array(store.getMemref());
    int64_t first = index(store.getRow()), end = index(store.getRowEnd()),
            head = index(store.getKvHead()), group = store.getGroup();
    Type element = store.getMemref().getType().getElementType();
    auto rounded = [&](double x) {
      // f64 stands for f32 everywhere else, so here too.
      return element.isF32()
                 ? x
                 : double(roundTo(element.isF16() ? kF16 : kBF16, x));
    };
    return this->store(store.getSource(), [&](int64_t i, int64_t d, double x) {
      int64_t row = first + i;
      return row >= end ||
             write(array,
                   withChannel(array, {row / group, head * group + row % group},
                               d),
                   rounded(x));
    });
  }

  LogicalResult runOp(LoadInputOp load) {
    HostArray &array = frame.array(load.getMemref());
    int64_t position = index(load.getIndex()), head = index(load.getKvHead());
    int64_t channel = load.getChannel(), width = load.getType().getDimSize(1);
    return this->load([&](int64_t b, int64_t e) {
      return read(array, {position, head, channel + b * width + e});
    });
  }

  LogicalResult runOp(StoreRowsOp store) {
    HostArray &array = frame.array(store.getMemref());
    int64_t first = index(store.getIndex()), valid = index(store.getValid());
    return this->store(store.getSource(), [&](int64_t i, int64_t c, double x) {
      return i >= valid || write(array, {first + i, c}, x);
    });
  }

  //===--------------------------------------------------------------------===//
  // The cache
  //===--------------------------------------------------------------------===//

  template <typename Op>
  HostPart *partOf(Op op) {
    HostCache &cache = frame.cache(op.getCache());
    auto &parts = op.getTensor() == spec::Tensor::Key ? cache.key : cache.value;
    size_t part = size_t(op.getPart());
    return part < parts.size() ? &parts[part] : nullptr;
  }

  template <typename Op>
  LogicalResult loadCache(Op load, HostArray HostPart::*member, double beyond) {
    HostPart *part = partOf(load);
    if (!part)
      return outside();
    int64_t head = index(load.getKvHead()), token = index(load.getToken()),
            valid = index(load.getValid());
    return this->load([&](int64_t t, int64_t j) -> std::optional<double> {
      if (t >= valid)
        return beyond;
      return read(part->*member, {token + t, head, j});
    });
  }
  LogicalResult runOp(LoadCodesOp load) {
    bool isRaw = isa<FloatType>(load.getType().getElementType());
    return loadCache(load, &HostPart::codes, isRaw ? 0.0 : kUnspecifiedCode);
  }
  LogicalResult runOp(LoadScaleOp load) {
    return loadFactors(load, &HostPart::scale);
  }
  LogicalResult runOp(LoadZeroOp load) {
    return loadFactors(load, &HostPart::zero);
  }

  /// One per token and block or channel, or per channel of the first token.
  template <typename Op>
  LogicalResult loadFactors(Op load, HostArray HostPart::*member) {
    RankedTensorType type = load.getType();
    StringRef last = vectorDimOf(type);
    HostPart *part = partOf(load);
    if ((last != "c" && last != "d") || !part)
      return loadCache(load, member, 0.0);
    HostArray &array = part->*member;
    int64_t head = index(load.getKvHead()), token = index(load.getToken()),
            valid = index(load.getValid());
    int64_t width = type.getShape().back() / array.shape[2];
    bool hasTokens = type.getRank() == 2;
    return this->load([&](int64_t i, int64_t j) -> std::optional<double> {
      int64_t t = hasTokens ? i : 0, channel = hasTokens ? j : i;
      if (t >= valid)
        return 0.0;
      return read(array, {token + t, head, channel / width});
    });
  }

  LogicalResult runOp(RawRowsOp rows) {
    HostCache &cache = frame.cache(rows.getCache());
    if (!cache.raw)
      return op->emitOpError("the cache has no raw rows");
    frame.bind(rows.getResult(), cache.raw.get());
    return success();
  }

  LogicalResult runOp(CodedEndOp end) {
    const HostCache &cache = frame.cache(end.getCache());
    frame.set(end.getResult(),
              TileValue::ofInt(end.getTensor() == spec::Tensor::Key
                                   ? cache.keyCodedEnd
                                   : cache.valueCodedEnd));
    return success();
  }

  LogicalResult runOp(LoadGivenOp load) {
    HostCache &cache = frame.cache(load.getRaw());
    auto &parts =
        load.getTensor() == spec::Tensor::Key ? cache.key : cache.value;
    HostArray &raw = parts.front().codes,
              &given = frame.array(load.getMemref());
    int64_t head = index(load.getKvHead()), token = index(load.getToken()),
            count = index(load.getCount()), first = index(load.getIndex());
    RankedTensorType type = load.getType();
    int64_t channels = type.getNumElements() / extentOf(type, "t");
    int64_t columns = type.getRank() == 3
                          ? type.getDimSize(1) * type.getDimSize(2)
                          : type.getDimSize(1);
    return this->load([&](int64_t i, int64_t j) {
      int64_t element = i * columns + j, row = element / channels,
              channel = int64_t(load.getChannel()) + element % channels;
      return row < count ? read(raw, {token + row, head, channel})
                         : read(given, {first + row, head, channel});
    });
  }

  LogicalResult runOp(LoadSchemeOp load) {
    const spec::Spec &spec = load.getCache().getType().getSpec();
    auto part = size_t(load.getPart());
    spec::RowRange range =
        spec::rowRange(spec, load.getTensor(), part, load.getField());
    HostArray &rows = frame.cache(load.getCache())
                          .inputs[spec::inputNumber(spec, load.getTensor(),
                                                    range.kind, part)];
    int64_t head = index(load.getKvHead()),
            elements = int64_t(pointsIn(dimsOfType(load.getType())));
    return this->load([&](int64_t i, int64_t) {
      return read(rows, {head, range.begin + i * range.count / elements});
    });
  }

  LogicalResult runOp(LoadOutlierIndicesOp load) {
    return loadCache(load, &HostPart::outlierIndex, kUnspecifiedCode);
  }
  LogicalResult runOp(LoadOutlierValuesOp load) {
    return loadCache(load, &HostPart::outlierValue, kUnspecifiedCode);
  }

  template <typename Op>
  LogicalResult storeCache(Op store, HostArray HostPart::*member) {
    HostPart *part = partOf(store);
    if (!part)
      return outside();
    int64_t head = index(store.getKvHead()), token = index(store.getToken());
    RankedTensorType type = store.getSource().getType();
    int64_t width = type.getRank() == 2 ? type.getDimSize(1) : 1;
    bool hasTokens = hasDim(type, "t");
    return this->store(store.getSource(), [&](int64_t b, int64_t e, double x) {
      return hasTokens ? write(part->*member, {token + b, head, e}, x)
                       : write(part->*member, {token, head, b * width + e}, x);
    });
  }
  LogicalResult runOp(StoreCodesOp store) {
    return storeCache(store, &HostPart::codes);
  }
  LogicalResult runOp(StoreScaleOp store) {
    return storeCache(store, &HostPart::scale);
  }
  LogicalResult runOp(StoreZeroOp store) {
    return storeCache(store, &HostPart::zero);
  }
  LogicalResult runOp(StoreOutlierIndicesOp store) {
    return storeCache(store, &HostPart::outlierIndex);
  }
  LogicalResult runOp(StoreOutlierValuesOp store) {
    return storeCache(store, &HostPart::outlierValue);
  }
  Operation *op;
  Frame &frame;
};

} // namespace

std::optional<LogicalResult> kvc::test::runMemoryOp(Operation *op,
                                                    Frame &frame) {
  return MemoryOp(op, frame).run();
}
