//===- Rotate.cpp - Walsh-Hadamard on a vector of channels ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The channels are cut into pieces of at most a machine's widest vector.
// Strides inside a piece exchange its lanes; larger ones add and subtract whole
// pieces and move nothing.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace kvc {

namespace {

/// f32s of a 512-bit vector. Narrower machines split a piece; that is as good
/// as smaller pieces.
constexpr int64_t kMostLanes = 16;

/// The lanes of `piece` at `stride` after one step.
Value stepInside(OpBuilder &builder, Location loc, Value piece,
                 int64_t stride) {
  int64_t lanes = cast<VectorType>(piece.getType()).getNumElements();
  SmallVector<int64_t> lower, upper, merged;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    bool isUpper = (lane & stride) != 0;
    lower.push_back(lane & ~stride);
    upper.push_back(lane | stride);
    merged.push_back(isUpper ? lanes + lane : lane);
  }
  Value a = vector::ShuffleOp::create(builder, loc, piece, piece, lower);
  Value b = vector::ShuffleOp::create(builder, loc, piece, piece, upper);
  Value sum = arith::AddFOp::create(builder, loc, a, b);
  Value difference = arith::SubFOp::create(builder, loc, a, b);
  return vector::ShuffleOp::create(builder, loc, sum, difference, merged);
}

} // namespace

/// `channels`, a vector of f32s, with each `block` of them rotated.
Value Converter::emitRotate(Value channels, int64_t block) {
  Location loc = channels.getLoc();
  auto type = cast<VectorType>(channels.getType());
  int64_t count = type.getNumElements();
  // A power of two, and a multiple of smaller blocks: the block divides the
  // channels.
  int64_t lanes = std::gcd(count, kMostLanes);
  SmallVector<Value> pieces;
  for (int64_t first = 0; first < count; first += lanes)
    pieces.push_back(vector::ExtractStridedSliceOp::create(
        builder, loc, channels, first, lanes, 1));

  for (int64_t stride = 1; stride < std::min(block, lanes); stride *= 2)
    for (Value &piece : pieces)
      piece = stepInside(builder, loc, piece, stride);
  for (int64_t stride = lanes; stride < block; stride *= 2) {
    size_t apart = static_cast<size_t>(stride / lanes);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if ((i & apart) != 0)
        continue;
      Value a = pieces[i], b = pieces[i + apart];
      pieces[i] = arith::AddFOp::create(builder, loc, a, b);
      pieces[i + apart] = arith::SubFOp::create(builder, loc, a, b);
    }
  }

  auto norm = static_cast<float>(1.0 / std::sqrt(static_cast<double>(block)));
  auto pieceType = VectorType::get({lanes}, type.getElementType());
  Value factor = arith::ConstantOp::create(
      builder, loc,
      SplatElementsAttr::get(pieceType, builder.getF32FloatAttr(norm)));
  Value result =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    Value scaled = arith::MulFOp::create(builder, loc, piece, factor);
    result = vector::InsertStridedSliceOp::create(
        builder, loc, scaled, result, static_cast<int64_t>(i) * lanes, 1);
  }
  return result;
}

} // namespace kvc
