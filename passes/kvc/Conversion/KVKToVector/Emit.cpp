//===- Emit.cpp - Building loops over vectors -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Emit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;

namespace kvc {

constexpr int64_t kScratchAlignment = 64;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value Emit::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}
std::optional<int64_t> Emit::constantOf(Value index) {
  return getConstantIntValue(index);
}
Value Emit::add(Value x, Value y) { return createOrFold<arith::AddIOp>(x, y); }
Value Emit::add(Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
Value Emit::sub(Value x, Value y) { return createOrFold<arith::SubIOp>(x, y); }
Value Emit::mul(Value x, int64_t y) {
  return y == 1 ? x : createOrFold<arith::MulIOp>(x, index(y));
}
Value Emit::div(Value x, int64_t y) {
  return y == 1 ? x : createOrFold<arith::DivUIOp>(x, index(y));
}
Value Emit::rem(Value x, int64_t y) {
  return y == 1 ? index(0) : createOrFold<arith::RemUIOp>(x, index(y));
}
Value Emit::min(Value x, Value y) { return createOrFold<arith::MinSIOp>(x, y); }

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value> Emit::loop(Value begin, Value end, int64_t step,
                              ValueRange init, Body body) {
  std::optional<int64_t> first = constantOf(begin), last = constantOf(end);
  if (first && last && *last <= *first)
    return SmallVector<Value>(init);
  if (first && last && *first + step >= *last)
    return body(begin, init);
  auto loop = scf::ForOp::create(
      *this, begin, end, index(step), init,
      [&](OpBuilder &, Location, Value iv, ValueRange carried) {
        InsertionGuard guard(*this);
        setInsertionPointToEnd(iv.getParentBlock());
        scf::YieldOp::create(*this, body(iv, carried));
      });
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> Emit::shortLoop(int64_t begin, int64_t end, int64_t step,
                                   ValueRange init, Body body) {
  constexpr int64_t kFew = 8;
  if (end - begin > kFew * step)
    return loop(index(begin), index(end), step, init, body);
  SmallVector<Value> carried(init);
  for (int64_t i = begin; i < end; i += step)
    carried = body(index(i), carried);
  return carried;
}

void Emit::loop(Value begin, Value end, int64_t step,
                function_ref<void(Value)> body) {
  loop(begin, end, step, ValueRange(), [&](Value index, ValueRange) {
    body(index);
    return SmallVector<Value>();
  });
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value Emit::splat(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(*this, vectorOf(lanes, scalar.getType()),
                                     scalar);
}

Value Emit::splat(int64_t value, Type vector) {
  Type element = getElementTypeOrSelf(vector);
  auto scalar = IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(),
                                                value, /*isSigned=*/false,
                                                /*implicitTrunc=*/true));
  if (auto type = dyn_cast<VectorType>(vector))
    return arith::ConstantOp::create(*this,
                                     DenseElementsAttr::get(type, scalar));
  return arith::ConstantOp::create(*this, scalar);
}

Value Emit::splat(double value, int64_t lanes) {
  auto scalar = getF32FloatAttr(static_cast<float>(value));
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(vectorOf(lanes, getF32Type()), scalar));
}

Value Emit::shuffle(Value x, Value y, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(*this, x, y, lanes);
}

Value Emit::slice(Value x, int64_t begin, int64_t count) {
  if (count == lanesOf(x))
    return x;
  return shuffle(x, x,
                 llvm::to_vector(llvm::seq<int64_t>(begin, begin + count)));
}

Value Emit::interleave(ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors.front();
  SmallVector<Value> even, odd;
  for (auto [i, vector] : llvm::enumerate(vectors))
    (i % 2 ? odd : even).push_back(vector);
  Value x = interleave(even), y = interleave(odd);
  int64_t lanes = lanesOf(x);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < lanes; ++i)
    order.append({i, lanes + i});
  return shuffle(x, y, order);
}

Value Emit::bitcast(Value x, Type type) {
  if (x.getType() == type)
    return x;
  if (isa<VectorType>(type))
    return vector::BitCastOp::create(*this, type, x);
  return arith::BitcastOp::create(*this, type, x);
}

Value Emit::shl(Value x, int64_t bits) {
  return bits == 0
             ? x
             : Value(arith::ShLIOp::create(*this, x, splat(bits, x.getType())));
}
Value Emit::shr(Value x, int64_t bits) {
  return bits == 0 ? x
                   : Value(arith::ShRUIOp::create(*this, x,
                                                  splat(bits, x.getType())));
}
Value Emit::sar(Value x, int64_t bits) {
  return bits == 0 ? x
                   : Value(arith::ShRSIOp::create(*this, x,
                                                  splat(bits, x.getType())));
}
Value Emit::mask(Value x, int64_t bits) {
  return arith::AndIOp::create(*this, x, splat(bits, x.getType()));
}

Value Emit::widen(Value x, Type element, bool isSigned) {
  Type type = isa<VectorType>(x.getType()) ? Type(vectorOf(lanesOf(x), element))
                                           : element;
  if (type == x.getType())
    return x;
  if (isSigned)
    return arith::ExtSIOp::create(*this, type, x);
  return arith::ExtUIOp::create(*this, type, x);
}

Value Emit::toF32(Value x) {
  Type element = getElementTypeOrSelf(x.getType());
  if (element.isF32())
    return x;
  Type type = isa<VectorType>(x.getType())
                  ? Type(vectorOf(lanesOf(x), getF32Type()))
                  : Type(getF32Type());
  if (isa<IntegerType>(element))
    return arith::SIToFPOp::create(*this, type, x);
  return arith::ExtFOp::create(*this, type, x);
}

Value Emit::fromF32(Value x, Type element) {
  Type type = isa<VectorType>(x.getType()) ? Type(vectorOf(lanesOf(x), element))
                                           : element;
  return type == x.getType() ? x
                             : Value(arith::TruncFOp::create(*this, type, x));
}

Value Emit::fma(Value x, Value y, Value z) {
  constexpr auto contract = arith::FastMathFlags::contract;
  return arith::AddFOp::create(
      *this, arith::MulFOp::create(*this, x, y, contract), z, contract);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emit::i64(Value index) {
  return createOrFold<arith::IndexCastOp>(getI64Type(), index);
}

Value Emit::offset(Value pointer, Value bytes) {
  if (constantOf(bytes) == 0)
    return pointer;
  return LLVM::GEPOp::create(*this, pointer.getType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{i64(bytes)});
}

Value Emit::loadBytes(Value pointer, Type type, int64_t alignment) {
  return LLVM::LoadOp::create(*this, type, pointer,
                              static_cast<unsigned>(alignment));
}

Value Emit::loadBytes(Value pointer, int64_t count) {
  // Odd vectors would be loaded byte by byte.
  auto size = static_cast<int64_t>(llvm::PowerOf2Ceil(uint64_t(count)));
  Value bytes;
  for (int64_t begin = 0, piece = size; begin < count; piece /= 2) {
    if (begin + piece > count)
      continue;
    Value part =
        loadBytes(offset(pointer, index(begin)), vectorOf(piece, getI8Type()));
    SmallVector<int64_t> order(size_t(size), vector::ShuffleOp::kPoisonIndex);
    std::iota(order.begin(), order.begin() + piece, 0);
    if (piece < size)
      part = shuffle(part, part, order);
    if (bytes) {
      std::iota(order.begin(), order.begin() + begin, 0);
      std::iota(order.begin() + begin, order.begin() + begin + piece, size);
      part = shuffle(bytes, part, order);
    }
    bytes = part;
    begin += piece;
  }
  return bytes;
}

void Emit::storeBytes(Value value, Value pointer, int64_t alignment) {
  LLVM::StoreOp::create(*this, value, pointer,
                        static_cast<unsigned>(alignment));
}

Value Emit::loadVector(Value memref, ValueRange indices, int64_t lanes) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  return vector::LoadOp::create(*this, vectorOf(lanes, element), memref,
                                indices);
}

void Emit::storeVector(Value vector, Value memref, ValueRange indices) {
  vector::StoreOp::create(*this, vector, memref, indices);
}

Value Emit::scratch(ArrayRef<int64_t> shape, Type element) {
  InsertionGuard guard(*this);
  auto func =
      getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>();
  if (auto parent = dyn_cast<func::FuncOp>(getInsertionBlock()->getParentOp()))
    func = parent;
  setInsertionPointToStart(&func.getBody().front());
  return memref::AllocaOp::create(*this, MemRefType::get(shape, element),
                                  getI64IntegerAttr(kScratchAlignment));
}

} // namespace kvc
