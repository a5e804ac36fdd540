//===- WarpTile.cpp - A tile in the registers of a warp -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVCToGPU/WarpTile.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

//===----------------------------------------------------------------------===//
// WarpTile
//===----------------------------------------------------------------------===//

WarpTile::WarpTile(layout::RegisterLayout layout)
    : where(std::move(layout)), digits(where.pack) {
  digits.insert(digits.end(), where.reg.begin(), where.reg.end());
  count = layout::extentOf(digits);
}

int64_t WarpTile::index(layout::Dim dim, int64_t number) const {
  int64_t index = 0;
  for (const layout::Digit &digit : digits) {
    if (digit.dim == dim)
      index += number % digit.count * digit.place;
    number /= digit.count;
  }
  return index;
}

int64_t WarpTile::number(const Coordinates &indices) const {
  int64_t number = 0, stride = 1;
  for (const layout::Digit &digit : digits) {
    auto found = indices.find(digit.dim);
    if (found != indices.end())
      number += found->second / digit.place % digit.count * stride;
    stride *= digit.count;
  }
  return number;
}

VectorType WarpTile::type(Type element) const {
  bool isHalf =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16;
  if (isPacked() && isHalf)
    return VectorType::get({count / 2},
                           IntegerType::get(element.getContext(), 32));
  return VectorType::get({count}, element);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Value Lanes::number() {
  if (!lane) {
    InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
    constexpr int64_t kLastLane = 31;
    lane = b.mask(thread, kLastLane);
  }
  return lane;
}

Value Lanes::bit(unsigned position) {
  Value bit = b.mask(number(), int64_t(1) << position);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit,
                               b.splat(int64_t(0), b.getI32Type()));
}

Value Lanes::begin(const layout::RegisterLayout &layout, layout::Dim dim) {
  std::string key = layout::str(layout.lane) + dim;
  Value &known = begins[key];
  if (known)
    return known;
  Value lane = number();
  InsertionGuard guard(b);
  b.setInsertionPointAfterValue(lane);
  Value sum = b.splat(int64_t(0), b.getI32Type());
  // Neighbouring digits on neighbouring lane bits move together.
  for (size_t i = 0; i < layout.lane.size();) {
    const layout::Digit &first = layout.lane[i];
    size_t end = i + 1;
    int64_t count = first.count;
    while (end < layout.lane.size() && layout.lane[end].dim == first.dim &&
           layout.lane[end].place == first.place * count) {
      count *= layout.lane[end].count;
      ++end;
    }
    if (first.dim == dim) {
      Value part = b.mask(b.shr(lane, int64_t(i)), count - 1);
      part = b.shl(part, int64_t(llvm::Log2_64(uint64_t(first.place))));
      sum = b.createOrFold<arith::AddIOp>(sum, part);
    }
    i = end;
  }
  return known = arith::IndexCastUIOp::create(b, b.getIndexType(), sum);
}

Value Lanes::index(const WarpTile &tile, layout::Dim dim, int64_t number) {
  return b.add(begin(tile.layout(), dim), tile.index(dim, number));
}

Value Lanes::isFirstCopy(const layout::RegisterLayout &layout) {
  int64_t copies = 0;
  for (size_t i = 0; i < layout.lane.size(); ++i)
    if (layout.lane[i].isReplicated())
      copies |= int64_t(1) << i;
  if (!copies)
    return {};
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                               b.mask(number(), copies),
                               b.splat(int64_t(0), b.getI32Type()));
}

Value Lanes::exchange(Value value, Value operand, bool isButterfly) {
  Type type = value.getType();
  Value word = value;
  if (type.isF32())
    word = b.bitcast(value, b.getI32Type());
  else if (type.getIntOrFloatBitWidth() < 32)
    word = b.widen(isa<FloatType>(type) ? b.bitcast(value, b.getIntegerType(16))
                                        : value,
                   b.getI32Type(), /*isSigned=*/false);
  else if (type.isInteger(64)) {
    Value low = arith::TruncIOp::create(b, b.getI32Type(), value);
    Value high = arith::TruncIOp::create(b, b.getI32Type(), b.shr(value, 32));
    low = b.widen(exchange(low, operand, isButterfly), type, false);
    high = b.widen(exchange(high, operand, isButterfly), type, false);
    return b.bitOr(low, b.shl(high, 32));
  }
  constexpr int64_t kAll = 0xffffffff, kClamp = 31;
  Value moved = NVVM::ShflOp::create(
      b, b.getI32Type(), b.splat(kAll, b.getI32Type()), word, operand,
      b.splat(kClamp, b.getI32Type()),
      isButterfly ? NVVM::ShflKind::bfly : NVVM::ShflKind::idx, UnitAttr());
  if (type.isF32())
    return b.bitcast(moved, type);
  if (moved.getType() == type)
    return moved;
  Value narrow = arith::TruncIOp::create(
      b, b.getIntegerType(type.getIntOrFloatBitWidth()), moved);
  return b.bitcast(narrow, type);
}

Value Lanes::shuffle(Value value, Value lane) {
  return exchange(value, lane, /*isButterfly=*/false);
}

Value Lanes::butterfly(Value value, int64_t mask) {
  return exchange(value, b.splat(mask, b.getI32Type()), /*isButterfly=*/true);
}

void emitIf(Emit &b, Value condition, llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  if (condition) {
    auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  body();
}

} // namespace kvc
