//===- Dot.cpp - What all loop nests of kvk.dot share ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Dot.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace kvc {

Dot::Dot(Emit &b, const HostTarget &target, kvk::DotOp op, int64_t bias,
         double unit)
    : b(b), target(target), weights(op.getWeights()), operand(op.getX()),
      acc(op.getAcc()), rowScales(op.getRowScale()),
      laneScales(op.getLaneScale()), accumulates(op.getAccumulate()),
      rows(op.getNumRows()), depth(op.getDepth()), lanes(op.getNumLanes()),
      isInteger(op.getWeights().getType().getElementType().isInteger(16)),
      bias(bias), unit(unit) {
  if (laneScales && op.getLaneScale().getType().getRank() == 2)
    scaleBlocks = op.getLaneScale().getType().getDimSize(0);
}

Dot Dot::withWeights(Value padded, int64_t depth) const {
  Dot result = *this;
  result.weights = padded;
  result.depth = depth;
  return result;
}

Dot Dot::into(Value sums, int64_t lanes) const {
  Dot result = *this;
  result.acc = sums;
  result.lanes = lanes;
  result.rowScales = result.laneScales = Value();
  result.accumulates = false;
  result.unit = 1;
  return result;
}

void Dot::forRowGroups(int64_t size,
                       llvm::function_ref<void(Value, int64_t)> body) const {
  int64_t whole = rows / size * size;
  b.loop(b.index(0), b.index(whole), size, [&](Value row) { body(row, size); });
  if (whole < rows)
    body(b.index(whole), rows - whole);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value Dot::pairDot(Value sum, Value x, Value pairs) const {
  int64_t lanes = Emit::lanesOf(sum);
  bool isMachineVector = lanes == 16 || lanes == 8 || lanes == 4;
  if (target.dot == HostTarget::Dot::Portable || !isMachineVector ||
      lanes > target.lanes()) {
    // Backends know this form of a pair product (pmaddwd, smull).
    Type wide = Emit::vectorOf(2 * lanes, b.getI32Type());
    Value products =
        arith::MulIOp::create(b, arith::ExtSIOp::create(b, wide, x),
                              arith::ExtSIOp::create(b, wide, pairs));
    SmallVector<int64_t> even, odd;
    for (int64_t i = 0; i < lanes; ++i) {
      even.push_back(2 * i);
      odd.push_back(2 * i + 1);
    }
    Value product =
        arith::AddIOp::create(b, b.shuffle(products, products, even),
                              b.shuffle(products, products, odd));
    return arith::AddIOp::create(b, sum, product);
  }
  auto call = [&](const Twine &name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, sum.getType(),
                                         b.getStringAttr(name), operands)
        .getResult(0);
  };
  if (target.dot == HostTarget::Dot::DPWSSD)
    return call("llvm.x86.avx512.vpdpwssd." + Twine(lanes * 32),
                {sum, x, pairs});
  StringRef name = lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                   : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                : "llvm.x86.sse2.pmadd.wd";
  Value next = arith::AddIOp::create(b, sum, call(name, {x, pairs}));
  // The sums of one accumulator form a chain. LLVM's machine combiner would
  // make a tree of it, shorter but with more values alive than there are
  // registers; an empty assembly statement is opaque to it and costs nothing.
  auto pin = LLVM::InlineAsmOp::create(
      b, sum.getType(), ValueRange(next), /*asm_string=*/"",
      /*constraints=*/"=x,0",
      /*has_side_effects=*/false, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
      /*operand_attrs=*/nullptr);
  return pin.getResult(0);
}

Value Dot::multiplyAdd(Value acc, Value x, Value weight) const {
  return isInteger ? pairDot(acc, x, weight) : b.fma(x, weight, acc);
}

Value Dot::weightSplat(Value row, Value k, int64_t lanes, bool isPair) const {
  if (!isInteger)
    return b.splat(memref::LoadOp::create(b, weights, ValueRange{row, k}),
                   lanes);
  Type words = Emit::vectorOf(lanes, b.getI32Type()),
       halves = Emit::vectorOf(2 * lanes, b.getIntegerType(16));
  if (!isPair) {
    // The partner of a single code is 0.
    Value weight = memref::LoadOp::create(b, weights, ValueRange{row, k});
    return b.bitcast(
        b.splat(b.widen(weight, b.getI32Type(), /*isSigned=*/false), lanes),
        halves);
  }
  Value pair = b.bitcast(b.loadVector(weights, {row, k}, 2),
                         Emit::vectorOf(1, b.getI32Type()));
  return b.bitcast(vector::BroadcastOp::create(b, words, pair), halves);
}

//===----------------------------------------------------------------------===//
// Bias
//===----------------------------------------------------------------------===//

Value Dot::weightSum(Value row) const {
  Value total;
  int64_t begin = 0;
  for (int64_t width = 2 * target.lanes(); begin < depth; width /= 2) {
    int64_t end = begin + (depth - begin) / width * width;
    if (end == begin)
      continue;
    Type i32 = b.getI32Type();
    Value zero =
        b.splat(0, Emit::vectorOf(std::max<int64_t>(1, width / 2), i32));
    Value sum;
    if (width == 1) {
      sum = b.widen(
          memref::LoadOp::create(b, weights, ValueRange{row, b.index(begin)}),
          i32, true);
    } else {
      Value ones = b.splat(1, Emit::vectorOf(width, b.getIntegerType(16)));
      // Straight-line code of weights that a loop over keys does not change is
      // moved out of that loop.
      sum = b.shortLoop(begin, end, width, zero, [&](Value k, ValueRange sums) {
        return SmallVector<Value>{
            pairDot(sums[0], b.loadVector(weights, {row, k}, width), ones)};
      })[0];
      sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, sum);
    }
    total = total ? Value(arith::AddIOp::create(b, total, sum)) : sum;
    begin = end;
  }
  return total;
}

SmallVector<Value> Dot::corrections(Value row, int64_t count) const {
  SmallVector<Value> result;
  if (!isInteger || bias == 0)
    return result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(arith::MulIOp::create(b, weightSum(b.add(row, i)),
                                           b.splat(-bias, b.getI32Type())));
  return result;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Value Dot::laneScale(Value lane, int64_t lanes) const {
  return laneScales && scaleBlocks == 0 ? b.loadVector(laneScales, lane, lanes)
                                        : Value();
}

void Dot::store(Value sums, Value row, Value lane, Value laneScale) const {
  int64_t lanes = Emit::lanesOf(sums);
  Value result = b.toF32(sums);
  SmallVector<Value> factors;
  if (unit != 1)
    factors.push_back(b.splat(unit, lanes));
  if (rowScales)
    factors.push_back(
        b.splat(memref::LoadOp::create(b, rowScales, row), lanes));
  if (laneScale)
    factors.push_back(laneScale);
  Value old = accumulates ? b.loadVector(acc, {row, lane}, lanes) : Value();
  for (auto [i, factor] : llvm::enumerate(factors)) {
    bool isLast = i + 1 == factors.size();
    result =
        old && isLast ? b.fma(result, factor, old) : b.mulF(result, factor);
  }
  if (old && factors.empty())
    result = arith::AddFOp::create(b, result, old);
  b.storeVector(result, acc, {row, lane});
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void prefetchAhead(Emit &b, const HostTarget &target, Value pointer,
                   Value pageStride) {
  // Locality 2: into the second level, which holds what is ahead.
  auto fetch = [&](Value address) {
    LLVM::Prefetch::create(b, address, /*rw=*/0, /*hint=*/2, /*cache=*/1);
  };
  if (target.prefetchBytes != 0)
    fetch(b.offset(pointer, b.index(target.prefetchBytes)));
  if (target.prefetchPages != 0)
    fetch(b.offset(pointer, b.mul(pageStride, target.prefetchPages)));
}

} // namespace kvc
