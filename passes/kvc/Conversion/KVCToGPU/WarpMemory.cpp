//===- WarpMemory.cpp - Queries, inputs, results of a warp ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVCToGPU/WarpLowering.h"

#include "kvc/Dialect/KVC/KVCTypes.h"

#include "kvc/Conversion/ExpandMath/FloatMath.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

namespace {
constexpr int64_t kMostBytes = 16; ///< Of one access of a lane.
constexpr unsigned kGlobal = 1;
} // namespace

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

const WarpLowering::Memory &WarpLowering::memoryOf(Value memref) {
  auto [known, isNew] = memories.try_emplace(memref);
  if (!isNew)
    return known->second;
  Memory memory;
  InsertionGuard guard(b);
  b.setInsertionPointToStart(body);
  Value given = get(memref);
  auto type = cast<MemRefType>(memref.getType());
  memory.element = type.getElementType();
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, given);
  memory.pointer = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kGlobal), b.i64(address));
  auto strides = memref::ExtractStridedMetadataOp::create(b, given)
                     .getConstifiedMixedStrides();
  for (OpFoldResult stride : strides)
    memory.strides.push_back(
        getValueOrCreateConstantIndexOp(b, b.getLoc(), stride));
  return memories[memref] = memory;
}

Value WarpLowering::address(const Memory &memory, ValueRange indices) {
  int64_t bytes = memory.element.getIntOrFloatBitWidth() / 8;
  Value sum = b.index(0);
  for (auto [index, stride] : llvm::zip_equal(indices, memory.strides))
    sum = b.add(sum, b.createOrFold<arith::MulIOp>(index, stride));
  return b.offset(memory.pointer, b.mul(sum, bytes));
}

std::pair<Value, Value> WarpLowering::rowBelow(Value row, Value end,
                                               Value own) {
  Value at = b.add(row, own);
  Value isBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, end);
  return {arith::SelectOp::create(b, isBelow, at, row), isBelow};
}

/// A vector of `count` elements, or for one the element.
static Type accessType(Type element, int64_t count) {
  return count == 1 ? element : Type(Emit::vectorOf(count, element));
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Loads runs along the last dim and widens them; `place` gives the address of
/// an element, and a condition without which it is 0.
template <typename Place>
static Value loadRuns(Emit &b, const WarpTile &tile,
                      ArrayRef<std::pair<int64_t, int64_t>> runs, Type element,
                      Place place) {
  SmallVector<Value> elements;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Type bits = b.getIntegerType(element.getIntOrFloatBitWidth());
  for (auto [first, count] : runs) {
    auto [pointer, condition] = place(first);
    Value loaded = b.loadBytes(pointer, accessType(bits, count), bytes * count);
    for (int64_t i = 0; i < count; ++i) {
      Value value =
          count == 1 ? loaded : b.createOrFold<vector::ExtractOp>(loaded, i);
      if (condition)
        value = arith::SelectOp::create(b, condition, value,
                                        b.splat(int64_t(0), bits));
      elements.push_back(b.bitcast(value, element));
    }
  }
  Value all = vector::FromElementsOp::create(
      b, Emit::vectorOf(tile.size(), element), elements);
  return b.toF32(all);
}

/// Cuts a lane's elements into runs along `dim`: (first, count).
static SmallVector<std::pair<int64_t, int64_t>>
runsOf(const WarpTile &tile, layout::Dim dim, Type element) {
  int64_t most = kMostBytes * 8 / element.getIntOrFloatBitWidth(), length = 1;
  for (const layout::Digit &digit : tile.elements()) {
    if (digit.dim != dim || digit.place != length ||
        length * digit.count > most || digit.count != 2)
      break;
    length *= digit.count;
  }
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (int64_t i = 0; i < tile.size(); i += length)
    runs.push_back({i, length});
  return runs;
}

WarpLowering::Result WarpLowering::lowerLoadQuery(LoadQueryOp op) {
  WarpTile tile = tileOf(op);
  const Memory &memory = memoryOf(op.getMemref());
  auto dims = dimsOf(op.getType());
  char row = dims[0].front(), channel = dims[1].front();
  return loadRuns(
      b, tile, runsOf(tile, channel, memory.element), memory.element,
      [&](int64_t i) {
        auto [at, isBelow] = rowBelow(get(op.getRow()), get(op.getRowEnd()),
                                      lanes->index(tile, row, i));
        auto group = int64_t(op.getGroup());
        Value head = b.add(b.mul(get(op.getKvHead()), group), b.rem(at, group));
        Value pointer = address(
            memory, {b.div(at, group), head, lanes->index(tile, channel, i)});
        return std::pair(pointer, isBelow);
      });
}

WarpLowering::Result WarpLowering::lowerLoadRowValues(LoadRowValuesOp op) {
  WarpTile tile = tileOf(op);
  const Memory &memory = memoryOf(op.getMemref());
  char row = dimsOf(op.getType())[0].front();
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (int64_t i = 0; i < tile.size(); ++i)
    runs.push_back({i, 1});
  return loadRuns(b, tile, runs, memory.element, [&](int64_t i) {
    auto [at, isBelow] = rowBelow(get(op.getRow()), get(op.getRowEnd()),
                                  lanes->index(tile, row, i));
    auto group = int64_t(op.getGroup());
    Value head = b.add(b.mul(get(op.getKvHead()), group), b.rem(at, group));
    return std::pair(address(memory, head), isBelow);
  });
}

WarpLowering::Result WarpLowering::lowerLoadPartial(LoadPartialOp op) {
  WarpTile tile = tileOf(op);
  const Memory &memory = memoryOf(op.getMemref());
  auto dims = dimsOf(op.getType());
  bool hasChannels = dims.size() > 1;
  char row = dims[0].front(), last = dims.back().front();
  auto runs = runsOf(tile, hasChannels ? last : '-', memory.element);
  return loadRuns(b, tile, runs, memory.element, [&](int64_t i) {
    auto [at, isBelow] = rowBelow(get(op.getRow()), get(op.getRowEnd()),
                                  lanes->index(tile, row, i));
    SmallVector<Value> indices{get(op.getSplit()), at};
    if (hasChannels)
      indices.push_back(lanes->index(tile, last, i));
    return std::pair(address(memory, indices), isBelow);
  });
}

WarpLowering::Result WarpLowering::lowerLoadInput(LoadInputOp op) {
  WarpTile tile = tileOf(op);
  const Memory &memory = memoryOf(op.getMemref());
  auto dims = dimsOf(op.getType());
  char block = dims[0].front(), inner = dims[1].front();
  int64_t width = extentOf(op.getType(), dims[1]);
  return loadRuns(
      b, tile, runsOf(tile, inner, memory.element), memory.element,
      [&](int64_t i) {
        Value channel = b.add(b.mul(lanes->index(tile, block, i), width),
                              lanes->index(tile, inner, i));
        channel = b.add(channel, int64_t(op.getChannel()));
        return std::pair(
            address(memory, {get(op.getIndex()), get(op.getKvHead()), channel}),
            Value());
      });
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Stores runs of `value`, rounded to `element`, by the first lane of those
/// that hold the same; `place` as above.
void WarpLowering::storeRuns(
    const WarpTile &tile, Value value, layout::Dim dim, Type element,
    function_ref<std::pair<Value, Value>(int64_t)> place) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value isFirst = lanes->isFirstCopy(tile.layout());
  for (auto [first, count] : runsOf(tile, dim, element)) {
    auto [pointer, condition] = place(first);
    if (isFirst)
      condition = condition ? b.createOrFold<arith::AndIOp>(condition, isFirst)
                            : isFirst;
    Value run = b.slice(value, first, count);
    if (element.isF16() || element.isBF16())
      run = b.fromF32(floatmath::clampToFinite(b, run, element), element);
    if (count == 1)
      run = at(run, 0);
    emitIf(b, condition, [&, to = pointer, length = bytes * count] {
      b.storeBytes(run, to, length);
    });
  }
}

LogicalResult WarpLowering::lowerStorePartial(StorePartialOp op) {
  WarpTile tile = tileOf(op.getSource());
  const Memory &memory = memoryOf(op.getMemref());
  auto dims = dimsOf(op.getSource().getType());
  bool hasChannels = dims.size() > 1;
  char row = dims[0].front(), last = hasChannels ? dims[1].front() : '-';
  storeRuns(tile, get(op.getSource()), last, memory.element, [&](int64_t i) {
    auto [at, isBelow] = rowBelow(get(op.getRow()), get(op.getRowEnd()),
                                  lanes->index(tile, row, i));
    SmallVector<Value> indices{at};
    if (hasChannels)
      indices.push_back(
          b.add(lanes->index(tile, last, i), int64_t(op.getChannel())));
    return std::pair(address(memory, indices), isBelow);
  });
  return success();
}

LogicalResult WarpLowering::lowerStoreOutput(StoreOutputOp op) {
  WarpTile tile = tileOf(op.getSource());
  const Memory &memory = memoryOf(op.getMemref());
  auto dims = dimsOf(op.getSource().getType());
  bool hasChannels = dims.size() > 1;
  char row = dims[0].front(), last = hasChannels ? dims[1].front() : '-';
  storeRuns(tile, get(op.getSource()), last, memory.element, [&](int64_t i) {
    auto [at, isBelow] = rowBelow(get(op.getRow()), get(op.getRowEnd()),
                                  lanes->index(tile, row, i));
    auto group = int64_t(op.getGroup());
    SmallVector<Value> indices{
        b.div(at, group),
        b.add(b.mul(get(op.getKvHead()), group), b.rem(at, group))};
    if (hasChannels)
      indices.push_back(lanes->index(tile, last, i));
    return std::pair(address(memory, indices), isBelow);
  });
  return success();
}

LogicalResult WarpLowering::lowerStoreRows(StoreRowsOp op) {
  WarpTile tile = tileOf(op.getSource());
  const Memory &memory = memoryOf(op.getMemref());
  auto dims = dimsOf(op.getSource().getType());
  char row = dims[0].front(), last = dims.size() > 1 ? dims[1].front() : '-';
  storeRuns(tile, get(op.getSource()), last, memory.element, [&](int64_t i) {
    Value own = lanes->index(tile, row, i);
    Value isValid = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, own,
                                          get(op.getValid()));
    Value column = last == '-' ? b.index(0) : lanes->index(tile, last, i);
    return std::pair(address(memory, {b.add(get(op.getIndex()), own), column}),
                     isValid);
  });
  return success();
}

} // namespace kvc
