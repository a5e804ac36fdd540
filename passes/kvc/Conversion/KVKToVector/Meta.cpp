//===- Meta.cpp - Scales, zeros, outliers, inputs of schemes --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/ExpandMath/FloatCodes.h"
#include "kvc/Conversion/KVKToVector/Lowering.h"
#include "kvc/Dialect/KVC/KVCTypes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

template <typename Op>
static HeadRegion regionOf(Emit &b, CacheViews &views, Op op) {
  return HeadRegion(b, views, op.getCache(), op.getKvHead(), op.getTensor(),
                    kvk::regionOf(op.getKind()), op.getPart(),
                    op.getStorageAttr().getStorage(), *op.getPage());
}

/// What an op's metadata is in memory.
struct StoredMeta {
  bool isNumber = false; ///< Of a channel; else `dtype`.
  spec::DType dtype = spec::DType::F16;
};

template <typename Op>
static StoredMeta storedMeta(Op op) {
  if (kvk::isOutlier(op.getKind()))
    return {op.getKind() == kvk::MetaKind::OutlierIndex, spec::DType::F16};
  const spec::Scheme *scheme = spec::schemeOf(
      cast<CacheType>(op.getCache().getType()).getSpec(), op.getTensor());
  return {false, scheme->parts[op.getPart()].scale->dtype};
}

/// The type that lies in memory: integers for what is no MLIR float here.
static Type storedType(MLIRContext *context, StoredMeta meta) {
  if (meta.isNumber)
    return IntegerType::get(context, 16);
  if (spec::bitsOf(meta.dtype) == 8)
    return IntegerType::get(context, 8);
  return elementTypeOf(context, meta.dtype);
}

static Type withElementOf(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

static Value widened(Emit &b, Value stored, StoredMeta meta) {
  if (meta.isNumber)
    return arith::UIToFPOp::create(
        b, withElementOf(stored.getType(), b.getF32Type()), stored);
  switch (meta.dtype) {
  case spec::DType::E8M0:
    return floatmath::decodeE8M0(b, stored);
  case spec::DType::E4M3:
    return floatmath::decodeFloat(b, stored, spec::kFP8E4M3);
  default:
    return b.toF32(stored);
  }
}

/// `value` is one of the stored type already.
static Value narrowed(Emit &b, Value value, StoredMeta meta) {
  if (meta.isNumber)
    return arith::FPToUIOp::create(b, b.getIntegerType(16), value);
  switch (meta.dtype) {
  case spec::DType::E8M0:
    return floatmath::encodeE8M0(b, value);
  case spec::DType::E4M3:
    return floatmath::encodeFloat(b, value, spec::kFP8E4M3);
  default:
    return b.fromF32(value, elementTypeOf(b.getContext(), meta.dtype));
  }
}

namespace {

/// Loads the metadata of neighbouring tokens.
class MetaTokens {
public:
  template <typename Op>
  MetaTokens(Emit &b, CacheViews &views, Op op, int64_t count, bool isUnaligned)
      : b(b), region(regionOf(b, views, op)), token(op.getToken()),
        valid(op.getValid()), meta(storedMeta(op)),
        stored(storedType(b.getContext(), meta)), count(count) {
    int64_t page = *op.getPage(), run = 1;
    for (const layout::Digit &digit : op.getStorageAttr().getStorage().addr) {
      if (digit.dim != 't' || digit.place != run)
        break;
      run *= digit.count;
    }
    isRun = run > 1 && !isUnaligned;
    // A piece lies in one page; a run is loaded whole, other tokens in eights.
    width = isUnaligned ? 1
            : isRun     ? std::gcd(count, run)
                        : std::gcd(std::gcd(count, page), int64_t(8));
  }

  /// All tokens of a block.
  Value load(Value block) {
    if (width == count)
      return piece(b.index(0), block);
    Value buffer = b.scratch(count, b.getF32Type());
    b.storeVector(b.splat(0.0, count), buffer, b.index(0));
    b.loop(b.index(0), valid, width, [&](Value begin) {
      b.storeVector(piece(begin, block), buffer, begin);
    });
    return b.loadVector(buffer, b.index(0), count);
  }

  /// All tokens of all blocks, a row for each.
  void loadInto(Value into, int64_t blocks) {
    bool isTogether = !isRun && blocksLieTogether(blocks);
    int64_t whole = isTogether ? blocks / kTogether * kTogether : 0;
    b.loop(b.index(0), valid, width, [&](Value begin) {
      if (!isTogether) {
        b.loop(b.index(0), b.index(blocks), 1, [&](Value block) {
          b.storeVector(piece(begin, block), into, {block, begin});
        });
        return;
      }
      b.loop(b.index(0), b.index(whole), kTogether,
             [&](Value block) { storePieces(into, begin, block, kTogether); });
      if (whole < blocks)
        storePieces(into, begin, b.index(whole), blocks - whole);
    });
    // What no piece has reached.
    b.loop(b.mul(b.ceilDiv(valid, width), width), b.index(count), width,
           [&](Value begin) {
             b.loop(b.index(0), b.index(blocks), 1, [&](Value block) {
               b.storeVector(b.splat(0.0, width), into, {block, begin});
             });
           });
  }

private:
  /// Blocks of a token that are loaded as one vector, of 16 bytes at most where
  /// they are f16.
  static constexpr int64_t kTogether = 8;

  bool blocksLieTogether(int64_t blocks) const {
    int64_t bytes = stored.getIntOrFloatBitWidth() / 8;
    return region.order.bytes('b', blocks - 1) == (blocks - 1) * bytes;
  }

  Value pointerTo(Value begin, Value block) {
    return b.offset(region.tokenPointer(b, b.add(token, begin)),
                    region.order.bytes(b, 'b', block));
  }

  // As integers: a lone bfloat is no legal value, and one that lives across a
  // branch would be widened and converted back by a library call.
  Type bits() { return b.getIntegerType(stored.getIntOrFloatBitWidth()); }

  /// `loaded` as f32, 0 where tokens are not valid. Element i is of token
  /// `begin` + i modulo `width`.
  Value validOnly(Value loaded, Value begin) {
    int64_t lanes = Emit::lanesOf(loaded);
    SmallVector<int32_t> numbers;
    for (int64_t i = 0; i < lanes; ++i)
      numbers.push_back(static_cast<int32_t>(i % width));
    Value number = arith::ConstantOp::create(
        b, DenseElementsAttr::get(Emit::vectorOf(lanes, b.getI32Type()),
                                  ArrayRef(numbers)));
    Value left =
        arith::IndexCastOp::create(b, b.getI32Type(), b.sub(valid, begin));
    Value isValid = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number,
                                          b.splat(left, lanes));
    return arith::SelectOp::create(b, isValid, widened(b, loaded, meta),
                                   b.splat(0.0, lanes));
  }

  /// Tokens [begin, begin + width) of a block, of which the first is valid.
  Value piece(Value begin, Value block) {
    Value pointer = pointerTo(begin, block);
    if (isRun)
      return validOnly(b.loadBytes(pointer, Emit::vectorOf(width, stored)),
                       begin);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(b.loadBytes(
          b.offset(pointer, b.index(region.order.bytes('t', i))), bits()));
    return validOnly(b.bitcast(vector::FromElementsOp::create(
                                   b, Emit::vectorOf(width, bits()), elements),
                               Emit::vectorOf(width, stored)),
                     begin);
  }

  /// The same of `blocks` blocks from `block` on: a row for each token is
  /// loaded, and each halving of the rows puts one bit of the token's number
  /// below that of the block.
  void storePieces(Value into, Value begin, Value block, int64_t blocks) {
    Value pointer = pointerTo(begin, block);
    SmallVector<Value> rows;
    for (int64_t i = 0; i < width; ++i)
      rows.push_back(
          b.loadBytes(b.offset(pointer, b.index(region.order.bytes('t', i))),
                      Emit::vectorOf(blocks, bits())));
    while (rows.size() > 1) {
      size_t half = rows.size() / 2;
      for (size_t i = 0; i < half; ++i)
        rows[i] = b.interleave({rows[i], rows[i + half]});
      rows.truncate(half);
    }
    Value all = validOnly(
        b.bitcast(rows.front(), Emit::vectorOf(blocks * width, stored)), begin);
    for (int64_t i = 0; i < blocks; ++i)
      b.storeVector(b.slice(all, i * width, width), into,
                    {b.add(block, i), begin});
  }

  Emit &b;
  HeadRegion region;
  Value token, valid;
  StoredMeta meta;
  Type stored;
  int64_t count, width;
  bool isRun;
};

} // namespace

Value lowerLoadMeta(Emit &b, CacheViews &views, kvk::LoadMetaOp op) {
  if (auto vector = dyn_cast<VectorType>(op.getType()))
    return MetaTokens(b, views, op, vector.getDimSize(0), op.getUnaligned())
        .load(op.getBlock());
  HeadRegion region = regionOf(b, views, op);
  Value pointer = b.offset(region.tokenPointer(b, op.getToken()),
                           region.order.bytes(b, 'b', op.getBlock()));
  StoredMeta meta = storedMeta(op);
  return widened(b, b.loadBytes(pointer, storedType(b.getContext(), meta)),
                 meta);
}

void lowerLoadMetaTile(Emit &b, CacheViews &views, kvk::LoadMetaTileOp op) {
  ArrayRef<int64_t> shape = op.getInto().getType().getShape();
  MetaTokens(b, views, op, shape[1], /*isUnaligned=*/false)
      .loadInto(op.getInto(), shape[0]);
}

Value lowerLoadScheme(Emit &b, CacheViews &views, kvk::LoadSchemeOp op) {
  const spec::Spec &spec = cast<CacheType>(op.getCache().getType()).getSpec();
  const auto part = size_t(op.getPart());
  const spec::RowRange range =
      spec::rowRange(spec, op.getTensor(), part, op.getField());
  constexpr int64_t bytes = sizeof(float);
  Value row = b.offset(
      views.input(b, op.getCache(),
                  spec::inputNumber(spec, op.getTensor(), range.kind, part)),
      b.add(b.mul(op.getKvHead(), range.stride * bytes), range.begin * bytes));
  auto vector = dyn_cast<VectorType>(op.getType());
  if (!vector)
    return b.loadBytes(row, b.getF32Type(), bytes);
  const int64_t lanes = vector.getDimSize(0), repeats = lanes / range.count;
  if (range.count == 1)
    return b.splat(b.loadBytes(row, b.getF32Type(), bytes), lanes);
  Value numbers =
      b.loadBytes(row, Emit::vectorOf(range.count, b.getF32Type()), bytes);
  if (repeats == 1)
    return numbers;
  SmallVector<int64_t> from;
  for (int64_t i = 0; i < lanes; ++i)
    from.push_back(i / repeats);
  return b.shuffle(numbers, numbers, from);
}

Value lowerLoadMetaRow(Emit &b, CacheViews &views, kvk::LoadMetaRowOp op) {
  HeadRegion region = regionOf(b, views, op);
  StoredMeta meta = storedMeta(op);
  Type stored = storedType(b.getContext(), meta);
  const layout::Storage &storage = op.getStorageAttr().getStorage();
  int64_t channels = op.getType().getDimSize(0);
  int64_t blocks = layout::extentOf(storage.addr, 'b');
  Value first = region.tokenPointer(b, op.getToken()), loaded;
  int64_t bytes = storage.width / 8;
  if (region.order.bytes('b', blocks - 1) == (blocks - 1) * bytes) {
    loaded = b.loadBytes(first, Emit::vectorOf(blocks, stored));
  } else {
    // As integers: see MetaVector.
    Type bits = b.getIntegerType(stored.getIntOrFloatBitWidth());
    SmallVector<Value> elements;
    for (int64_t i = 0; i < blocks; ++i)
      elements.push_back(b.loadBytes(
          b.offset(first, b.index(region.order.bytes('b', i))), bits));
    loaded = b.bitcast(vector::FromElementsOp::create(
                           b, Emit::vectorOf(blocks, bits), elements),
                       Emit::vectorOf(blocks, stored));
  }
  Value wide = widened(b, loaded, meta);
  if (blocks == channels)
    return wide;
  SmallVector<int64_t> blockOf;
  for (int64_t c = 0; c < channels; ++c)
    blockOf.push_back(c / (channels / blocks));
  return b.shuffle(wide, wide, blockOf);
}

void lowerStoreMeta(Emit &b, CacheViews &views, kvk::StoreMetaOp op) {
  HeadRegion region = regionOf(b, views, op);
  Value pointer = b.offset(region.tokenPointer(b, op.getToken()),
                           region.order.bytes(b, 'b', op.getBlock()));
  b.storeBytes(narrowed(b, op.getSource(), storedMeta(op)), pointer);
}

} // namespace kvc
