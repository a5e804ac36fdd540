//===- WarpShared.cpp - Elements moved through shared memory --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What no digit of a layout says: ranges of channels, channels that an index
// names, pairs of RoPE. The tile is written to the kernel's buffer, row by row,
// and read from there; the lanes of a warp wait for each other before both.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/ExpandMath/FloatMath.h"
#include "kvc/Conversion/KVCToGPU/WarpLowering.h"
#include "kvc/Dialect/KVC/KVCTiles.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

using namespace mlir;

namespace kvc {

namespace {
constexpr unsigned kShared = 3, kConstant = 4; ///< Address spaces.
/// Between rows, so that lanes with different rows meet different banks.
constexpr int64_t kPad = 4;

bool isRow(StringRef dim) { return dim == "t" || dim == "r"; }

int64_t channelsOf(Type tile) {
  int64_t channels = 1;
  for (auto [dim, extent] : tileDimsOf(tile))
    if (!isRow(dim))
      channels *= extent;
  return channels;
}

int64_t rowsOf(Type tile) {
  return cast<RankedTensorType>(tile).getNumElements() / channelsOf(tile);
}

/// Elements between rows.
int64_t pitchOf(int64_t channels) { return channels + kPad; }

int64_t bytesOf(Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}
} // namespace

//===----------------------------------------------------------------------===//
// The buffer
//===----------------------------------------------------------------------===//

Value WarpLowering::shared(int64_t bytes) {
  sharedBytes = std::max(sharedBytes, bytes);
  if (!sharedPointer) {
    InsertionGuard guard(b);
    b.setInsertionPointToStart(body);
    sharedPointer = LLVM::AddressOfOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), kShared),
        (func.getName() + "_shared").str());
  }
  return sharedPointer;
}

LogicalResult WarpLowering::declareShared() {
  if (!sharedPointer)
    return success();
  constexpr int64_t kMostShared = 48 << 10;
  if (sharedBytes > kMostShared)
    return func.emitError("expected tiles of at most ")
           << kMostShared << " bytes of shared memory, got " << sharedBytes;
  OpBuilder outside(func);
  auto type = LLVM::LLVMArrayType::get(outside.getI8Type(), sharedBytes);
  LLVM::GlobalOp::create(outside, func.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::Internal,
                         (func.getName() + "_shared").str(), Attribute(),
                         /*alignment=*/16, kShared);
  return success();
}

void WarpLowering::waitForWarp() {
  constexpr int64_t kAll = 0xffffffff;
  NVVM::SyncWarpOp::create(b, b.splat(kAll, b.getI32Type()));
}

Value WarpLowering::flatIndex(const WarpTile &tile, Type type, int64_t number) {
  int64_t stride = 1, pitch = pitchOf(channelsOf(type));
  Value index = b.index(0);
  SmallVector<TileDim> dims = tileDimsOf(type);
  for (auto [dim, extent] : llvm::reverse(dims)) {
    Value own = lanes->index(tile, dim.front(), number);
    index = b.add(index, b.mul(own, isRow(dim) ? pitch : stride));
    stride *= extent;
  }
  return index;
}

void WarpLowering::writeShared(Value source, const WarpTile &tile,
                               function_ref<Value(int64_t)> indexOf) {
  Type element = getElementTypeOrSelf(source);
  int64_t bytes = bytesOf(element);
  emitIf(b, lanes->isFirstCopy(tile.layout()), [&] {
    for (int64_t i = 0; i < tile.size(); ++i)
      b.storeBytes(at(source, i),
                   b.offset(sharedPointer, b.mul(indexOf(i), bytes)), bytes);
  });
}

Value WarpLowering::readShared(const WarpTile &tile, Type element,
                               function_ref<Value(int64_t)> indexOf) {
  int64_t bytes = bytesOf(element);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < tile.size(); ++i)
    elements.push_back(b.loadBytes(
        b.offset(sharedPointer, b.mul(indexOf(i), bytes)), element, bytes));
  return collect(elements);
}

/// Makes room for a tile, whose last readers have come so far.
void WarpLowering::beginShared(Type tile) {
  int64_t bytes = bytesOf(getElementTypeOrSelf(tile));
  shared(rowsOf(tile) * pitchOf(channelsOf(tile)) * bytes);
  waitForWarp();
}

Value WarpLowering::writeTile(Value tile) {
  beginShared(tile.getType());
  WarpTile from = tileOf(tile);
  writeShared(get(tile), from,
              [&](int64_t i) { return flatIndex(from, tile.getType(), i); });
  waitForWarp();
  return sharedPointer;
}

//===----------------------------------------------------------------------===//
// Channels under other names and numbers
//===----------------------------------------------------------------------===//

WarpLowering::Result WarpLowering::lowerSlice(SliceOp op) {
  writeTile(op.getSource());
  WarpTile tile = tileOf(op);
  // Rows are as far apart as in the source.
  int64_t pitch = pitchOf(channelsOf(op.getSource().getType()));
  auto dims = tileDimsOf(op.getType());
  return readShared(tile, getElementTypeOrSelf(op.getType()), [&](int64_t i) {
    Value index = b.add(lanes->index(tile, dims.back().first.front(), i),
                        int64_t(op.getFirst()));
    for (auto [dim, extent] : ArrayRef(dims).drop_back())
      index = b.add(index, b.mul(lanes->index(tile, dim.front(), i), pitch));
    return index;
  });
}

WarpLowering::Result WarpLowering::lowerConcat(ConcatOp op) {
  beginShared(op.getType());
  int64_t pitch = pitchOf(channelsOf(op.getType())), first = 0;
  for (Value source : op.getSources()) {
    WarpTile from = tileOf(source);
    auto dims = tileDimsOf(source.getType());
    writeShared(get(source), from, [&](int64_t i) {
      Value index =
          b.add(lanes->index(from, dims.back().first.front(), i), first);
      for (auto [dim, extent] : ArrayRef(dims).drop_back())
        index = b.add(index, b.mul(lanes->index(from, dim.front(), i), pitch));
      return index;
    });
    first += dims.back().second;
  }
  waitForWarp();
  WarpTile tile = tileOf(op);
  return readShared(tile, getElementTypeOrSelf(op.getType()), [&](int64_t i) {
    return flatIndex(tile, op.getType(), i);
  });
}

/// Blocks of channels that no digits tell apart.
Value WarpLowering::renumber(Value source, Value result) {
  writeTile(source);
  WarpTile tile = tileOf(result);
  return readShared(tile, getElementTypeOrSelf(result), [&](int64_t i) {
    return flatIndex(tile, result.getType(), i);
  });
}

//===----------------------------------------------------------------------===//
// Channels that an index names
//===----------------------------------------------------------------------===//

/// Element `i` of a tile of channel numbers, and its row's first element.
std::pair<Value, Value> WarpLowering::namedChannel(Value index, int64_t i,
                                                   int64_t pitch) {
  WarpTile tile = tileOf(index);
  Value number = arith::FPToUIOp::create(b, b.getI32Type(), at(get(index), i));
  Value row = b.index(0);
  for (StringRef dim : dimsOf(index.getType()))
    if (isRow(dim))
      row = b.mul(lanes->index(tile, dim.front(), i), pitch);
  return {arith::IndexCastUIOp::create(b, b.getIndexType(), number), row};
}

WarpLowering::Result WarpLowering::lowerPick(PickOp op) {
  writeTile(op.getSource());
  Type source = op.getSource().getType();
  int64_t channels = channelsOf(source),
          pitch = rowsOf(source) > 1 ? pitchOf(channels) : 0;
  return readShared(tileOf(op), b.getF32Type(), [&](int64_t i) {
    auto [channel, row] = namedChannel(op.getIndex(), i, pitch);
    // Numbers may come from memory, where any bits are.
    return b.add(row, b.min(b.div(channel, int64_t(op.getWidth())),
                            b.index(channels - 1)));
  });
}

WarpLowering::Result WarpLowering::lowerPatch(PatchOp op) {
  writeTile(op.getDense());
  Type dense = op.getType();
  int64_t channels = channelsOf(dense), pitch = pitchOf(channels);
  WarpTile sparse = tileOf(op.getIndex());
  Value values = get(op.getValue()),
        isFirst = lanes->isFirstCopy(sparse.layout());
  for (int64_t i = 0; i < sparse.size(); ++i) {
    auto [channel, row] = namedChannel(op.getIndex(), i, pitch);
    Value isHere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, channel,
                                         b.index(channels));
    if (isFirst)
      isHere = arith::AndIOp::create(b, isHere, isFirst);
    Value place = b.offset(sharedPointer, b.mul(b.add(row, channel), 4));
    emitIf(b, isHere, [&] { b.storeBytes(at(values, i), place, 4); });
  }
  waitForWarp();
  WarpTile tile = tileOf(op);
  return readShared(tile, b.getF32Type(),
                    [&](int64_t i) { return flatIndex(tile, dense, i); });
}

/// An element is one of the k largest if fewer than k come before it; its place
/// among them is how many of them have lower numbers.
WarpLowering::Result WarpLowering::lowerFindOutliers(FindOutliersOp op) {
  Type type = op.getSource().getType();
  int64_t channels = channelsOf(type),
          count = extentOf(op.getType(), dimsOf(op.getType()).front());
  // Magnitudes, whether each is one of the largest, their numbers.
  shared((2 * channels + count) * 4);
  waitForWarp();
  WarpTile tile = tileOf(op.getSource());
  Value source = get(op.getSource());
  SmallVector<TileDim> dims = tileDimsOf(type);
  SmallVector<Value> channel;
  for (int64_t i = 0; i < tile.size(); ++i) {
    Value number = b.index(0);
    int64_t stride = 1;
    for (auto [dim, extent] : llvm::reverse(dims)) {
      if (!isRow(dim))
        number =
            b.add(number, b.mul(lanes->index(tile, dim.front(), i), stride));
      stride *= extent;
    }
    channel.push_back(number);
  }
  writeShared(source, tile, [&](int64_t i) { return channel[size_t(i)]; });
  waitForWarp();
  Type i32 = b.getI32Type();
  Value zeros = b.splat(int64_t(0), Emit::vectorOf(tile.size(), i32));
  auto countOf = [&](function_ref<Value(Value, Value, int64_t)> isCounted,
                     Type element, int64_t first) {
    return b
        .loop(b.index(0), b.index(channels), 1, zeros,
              [&](Value j, ValueRange carried) -> SmallVector<Value> {
                Value there = b.loadBytes(
                    b.offset(sharedPointer, b.mul(b.add(j, first), 4)), element,
                    4);
                SmallVector<Value> counts;
                for (int64_t i = 0; i < tile.size(); ++i) {
                  Value one =
                      arith::ExtUIOp::create(b, i32, isCounted(there, j, i));
                  counts.push_back(
                      arith::AddIOp::create(b, at(carried[0], i), one));
                }
                return {collect(counts)};
              })
        .front();
  };
  auto isLower = [&](Value j, int64_t i) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, j,
                                 channel[size_t(i)]);
  };
  Value before = countOf(
      [&](Value there, Value j, int64_t i) -> Value {
        Value own = at(source, i);
        Value isLarger =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, there, own);
        Value isSame =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, there, own);
        return arith::OrIOp::create(
            b, isLarger, arith::AndIOp::create(b, isSame, isLower(j, i)));
      },
      b.getF32Type(), 0);
  Value isChosen = arith::ExtUIOp::create(
      b, zeros.getType(),
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, before,
                            b.splat(count, zeros.getType())));
  writeShared(isChosen, tile,
              [&](int64_t i) { return b.add(channel[size_t(i)], channels); });
  waitForWarp();
  Value place = countOf(
      [&](Value there, Value j, int64_t i) -> Value {
        Value isSet = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, there,
                                            b.splat(int64_t(0), i32));
        return arith::AndIOp::create(b, isSet, isLower(j, i));
      },
      i32, channels);
  Value isFirst = lanes->isFirstCopy(tile.layout());
  for (int64_t i = 0; i < tile.size(); ++i) {
    Value at32 = at(place, i);
    // NaN is larger than nothing: more than k may think they are chosen.
    Value stores = arith::AndIOp::create(
        b,
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at(before, i),
                              b.splat(count, i32)),
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at32,
                              b.splat(count, i32)));
    if (isFirst)
      stores = arith::AndIOp::create(b, stores, isFirst);
    Value number = arith::UIToFPOp::create(
        b, b.getF32Type(),
        arith::IndexCastUIOp::create(b, i32, channel[size_t(i)]));
    Value index = b.add(arith::IndexCastUIOp::create(b, b.getIndexType(), at32),
                        2 * channels);
    emitIf(b, stores, [&] {
      b.storeBytes(number, b.offset(sharedPointer, b.mul(index, 4)), 4);
    });
  }
  waitForWarp();
  WarpTile result = tileOf(op);
  char dim = dimsOf(op.getType()).front().front();
  return readShared(result, b.getF32Type(), [&](int64_t i) {
    return b.add(lanes->index(result, dim, i), 2 * channels);
  });
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

/// Each digit below the block is one stride; a lane that has the upper element
/// of a pair subtracts.
WarpLowering::Result WarpLowering::lowerRotate(RotateOp op) {
  WarpTile tile = tileOf(op);
  if (tileOf(op.getSource()).layout() != tile.layout())
    return op.emitOpError("expected the source's layout");
  char dim = dimsOf(op.getType()).back().front();
  auto block = int64_t(op.getBlock());
  Value source = get(op.getSource());
  SmallVector<Value> x;
  for (int64_t i = 0; i < tile.size(); ++i)
    x.push_back(at(source, i));
  for (int64_t h = 1; h < block; h *= 2) {
    const layout::Digit digit = {dim, h, 2};
    const layout::Digits &onLanes = tile.layout().lane;
    auto lane = llvm::find(onLanes, digit);
    if (lane != onLanes.end()) {
      int64_t mask = int64_t(1) << (lane - onLanes.begin());
      Value isUpper = lanes->bit(unsigned(lane - onLanes.begin()));
      for (Value &value : x) {
        Value other = lanes->butterfly(value, mask);
        Value minus = arith::NegFOp::create(b, value);
        value = arith::AddFOp::create(
            b, other, arith::SelectOp::create(b, isUpper, minus, value));
      }
      continue;
    }
    if (!llvm::is_contained(tile.elements(), digit))
      return op.emitOpError("expected channels in digits of 2 below ") << block;
    int64_t stride = tile.number({{dim, h}});
    for (int64_t i = 0; i < tile.size(); ++i) {
      if (i / stride % 2 != 0)
        continue;
      Value low = x[size_t(i)], high = x[size_t(i + stride)];
      x[size_t(i)] = arith::AddFOp::create(b, low, high);
      x[size_t(i + stride)] = arith::SubFOp::create(b, low, high);
    }
  }
  Value factor = arith::ConstantOp::create(
      b, b.getF32FloatAttr(float(1 / std::sqrt(double(block)))));
  for (Value &value : x)
    value = arith::MulFOp::create(b, value, factor);
  return collect(x);
}

Value WarpLowering::constants(ArrayRef<float> values, StringRef name) {
  OpBuilder outside(func);
  auto count = int64_t(values.size());
  auto type = LLVM::LLVMArrayType::get(b.getF32Type(), unsigned(count));
  std::string symbol = (func.getName() + "_" + name).str();
  LLVM::GlobalOp::create(
      outside, func.getLoc(), type, /*isConstant=*/true,
      LLVM::Linkage::Internal, symbol,
      DenseElementsAttr::get(RankedTensorType::get({count}, b.getF32Type()),
                             values),
      /*alignment=*/4, kConstant);
  InsertionGuard guard(b);
  b.setInsertionPointToStart(body);
  return LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kConstant), symbol);
}

WarpLowering::Result WarpLowering::lowerRope(RopeOp op) {
  const auto values = llvm::to_vector(op.getFrequencies());
  const size_t number = frequencies.size();
  Value &table = frequencies[{values.begin(), values.end()}];
  if (!table)
    table = constants(values, number == 0
                                  ? std::string("frequencies")
                                  : "frequencies_" + std::to_string(number));
  writeTile(op.getSource());
  WarpTile tile = tileOf(op);
  Type type = op.getType();
  auto dims = int64_t(op.getDims()), offset = int64_t(op.getOffset());
  int64_t pairs = dims / 2, pitch = pitchOf(channelsOf(type));
  char channelDim = dimsOf(type).back().front();
  Value first = get(op.getFirst());
  SmallVector<Value> angles, others, own, isSecond, isTurned;
  for (int64_t i = 0; i < tile.size(); ++i) {
    Value channel = lanes->index(tile, channelDim, i);
    Value inDims = arith::SubIOp::create(b, channel, b.index(offset));
    Value turned = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, inDims,
                                         b.index(dims));
    inDims = arith::SelectOp::create(b, turned, inDims, b.index(0));
    Value pair, second, other;
    if (op.getPairs()) {
      pair = b.div(inDims, 2);
      second = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                     b.rem(inDims, 2), b.index(0));
      other = arith::XOrIOp::create(b, inDims, b.index(1));
    } else {
      second = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, inDims,
                                     b.index(pairs));
      Value lower = arith::SubIOp::create(b, inDims, b.index(pairs));
      pair = arith::SelectOp::create(b, second, lower, inDims);
      other = arith::SelectOp::create(b, second, lower, b.add(inDims, pairs));
    }
    Value token = b.add(first, lanes->index(tile, 't', i));
    Value position = arith::SIToFPOp::create(
        b, b.getF32Type(),
        arith::IndexCastOp::create(b, b.getI64Type(), token));
    Value frequency =
        b.loadBytes(b.offset(table, b.mul(pair, 4)), b.getF32Type(), 4);
    // One f32 product, which decides the angle.
    angles.push_back(arith::MulFOp::create(b, position, frequency));
    Value index =
        b.add(b.add(other, offset), b.mul(lanes->index(tile, 't', i), pitch));
    others.push_back(b.loadBytes(b.offset(sharedPointer, b.mul(index, 4)),
                                 b.getF32Type(), 4));
    own.push_back(
        b.loadBytes(b.offset(sharedPointer, b.mul(flatIndex(tile, type, i), 4)),
                    b.getF32Type(), 4));
    isSecond.push_back(second);
    isTurned.push_back(turned);
  }
  Value angle = collect(angles), cosine = floatmath::cos(b, angle),
        sine = floatmath::sin(b, angle), x = collect(own);
  Value signedSine = arith::SelectOp::create(b, collect(isSecond), sine,
                                             arith::NegFOp::create(b, sine));
  Value result = b.fma(x, cosine, b.mulF(collect(others), signedSine));
  return Value(arith::SelectOp::create(b, collect(isTurned), result, x));
}

} // namespace kvc
