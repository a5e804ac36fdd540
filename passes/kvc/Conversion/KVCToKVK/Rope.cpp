//===- Rope.cpp - RoPE on a vector of channels ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each token's sines and cosines are computed where its channels are: a table
// of them would be as long as f32 keys.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace kvc {

namespace {

/// f32s of a 512-bit vector, as in Rotate.cpp.
constexpr int64_t kMostPairs = 16;

Value shuffled(OpBuilder &builder, Location loc, Value a, Value b,
               int64_t lanes, llvm::function_ref<int64_t(int64_t)> from) {
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < lanes; ++lane)
    mask.push_back(from(lane));
  return vector::ShuffleOp::create(builder, loc, a, b, mask);
}

} // namespace

Value Converter::emitRope(RopeOp rope, Iteration &iteration) {
  Location loc = rope.getLoc();
  Value channels = inIteration(iteration, rope.getSource());
  auto offset = static_cast<int64_t>(rope.getOffset()),
       pairs = static_cast<int64_t>(rope.getDims()) / 2;
  int64_t lanes = std::gcd(pairs, kMostPairs);
  auto type = VectorType::get({lanes}, builder.getF32Type());
  SmallVector<float> frequencies = rope.getFrequencies();

  Value token = arith::AddIOp::create(builder, loc, scalar(rope.getFirst()),
                                      iteration.iv("t"));
  token = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), token);
  Value position = vector::BroadcastOp::create(
      builder, loc, type,
      arith::SIToFPOp::create(builder, loc, builder.getF32Type(), token));

  auto slice = [&](int64_t first, int64_t count) -> Value {
    return vector::ExtractStridedSliceOp::create(builder, loc, channels, first,
                                                 count, 1);
  };
  auto insert = [&](Value piece, int64_t first) {
    channels = vector::InsertStridedSliceOp::create(builder, loc, piece,
                                                    channels, first, 1);
  };
  constexpr auto contract = arith::FastMathFlags::contract;
  auto times = [&](Value x, Value y) -> Value {
    return arith::MulFOp::create(builder, loc, x, y, contract);
  };
  for (int64_t i = 0; i < pairs; i += lanes) {
    Value frequency = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            type, ArrayRef(frequencies).slice(size_t(i), size_t(lanes))));
    // One f32 product, which decides the angle.
    Value angle = arith::MulFOp::create(builder, loc, position, frequency);
    Value cosine = math::CosOp::create(builder, loc, angle),
          sine = math::SinOp::create(builder, loc, angle);
    Value a, b, both;
    if (rope.getPairs()) {
      both = slice(offset + 2 * i, 2 * lanes);
      a = shuffled(builder, loc, both, both, lanes,
                   [](int64_t lane) { return 2 * lane; });
      b = shuffled(builder, loc, both, both, lanes,
                   [](int64_t lane) { return 2 * lane + 1; });
    } else {
      a = slice(offset + i, lanes);
      b = slice(offset + pairs + i, lanes);
    }
    Value first = arith::SubFOp::create(builder, loc, times(a, cosine),
                                        times(b, sine), contract);
    Value second = arith::AddFOp::create(builder, loc, times(b, cosine),
                                         times(a, sine), contract);
    if (rope.getPairs()) {
      both =
          shuffled(builder, loc, first, second, 2 * lanes,
                   [&](int64_t lane) { return lane / 2 + lane % 2 * lanes; });
      insert(both, offset + 2 * i);
    } else {
      insert(first, offset + i);
      insert(second, offset + pairs + i);
    }
  }
  return channels;
}

} // namespace kvc
