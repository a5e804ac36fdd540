//===- TileMemoryOps.cpp - Loads and stores of tiles ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "TileFrame.h"
#include "kvc/Quantise/InputRows.h"
#include "kvc/Test/Block.h"
#include "kvc/Test/Floats.h"

#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>

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
                  HostArray({tokens, heads, zeros}, part.zero)};
  if (scheme.codec.isRaw())
    return result;
  double centre =
      scheme.codec.isInt() ? std::ldexp(1.0, int(scheme.codec.bits) - 1) : 0;
  for (size_t i = 0; i < part.codes.size(); ++i)
    result.codes.values[i] =
        hasSignedCodes(scheme) ? int8_t(part.codes[i]) : part.codes[i] - centre;
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
  auto fill = [](std::vector<HostPart> &parts, const spec::Scheme &scheme,
                 const TensorData &data) {
    for (size_t i = 0; i < data.parts.size(); ++i)
      parts.push_back(
          hostPart(scheme.parts[i], data.parts[i], data.tokens, data.heads));
  };
  fill(cache.key, spec.key, key);
  if (spec.value)
    fill(cache.value, *spec.value, value);
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
              LoadZeroOp, LoadSchemeOp, LoadPartialOp, LoadInputOp,
              StorePartialOp, StoreOutputOp, StoreCodesOp, StoreScaleOp,
              StoreZeroOp, StoreRowsOp>(
            [&](auto typed) { return runOp(typed); })
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
    int64_t columns = dims.size() == 2 ? dims[1].second : 1;
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
    return loadCache(load, &HostPart::scale, 0.0);
  }
  LogicalResult runOp(LoadZeroOp load) {
    return loadCache(load, &HostPart::zero, 0.0);
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

  template <typename Op>
  LogicalResult storeCache(Op store, HostArray HostPart::*member) {
    HostPart *part = partOf(store);
    if (!part)
      return outside();
    int64_t head = index(store.getKvHead()), token = index(store.getToken());
    RankedTensorType type = store.getSource().getType();
    int64_t width = type.getRank() == 2 ? type.getDimSize(1) : 1;
    return this->store(store.getSource(), [&](int64_t b, int64_t e, double x) {
      return write(part->*member, {token, head, b * width + e}, x);
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

  Operation *op;
  Frame &frame;
};

} // namespace

std::optional<LogicalResult> kvc::test::runMemoryOp(Operation *op,
                                                    Frame &frame) {
  return MemoryOp(op, frame).run();
}
