//===- RowDot.cpp - Dots with the contracted dim on lanes -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// for groups of rows                                  (weights' sums, once)
//   for blocks of a few indices of the free dim       (their pages)
//     for chunks of the contracted dim
//       for rows: one chunk of weights meets the block (written out)
//     sum across lanes, block by block; scale and store
//
// Where blocks of the contracted dim have scales of their own, they multiply
// the sums of a block before they are summed across lanes, so that only one sum
// is.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Dot.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;

namespace kvc {
namespace {

/// Sums the lanes of each of `vectors` (a power of two) into one lane of the
/// result. Halves of pairs are added until one vector holds a segment of each,
/// then the segments are folded: 3 operations per vector rather than 2 per
/// vector and halving.
Value sumLanes(Emit &b, SmallVector<Value> vectors) {
  auto add = [&](Value x, Value y) -> Value {
    if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
      return arith::AddFOp::create(b, x, y);
    return arith::AddIOp::create(b, x, y);
  };
  int64_t width = Emit::lanesOf(vectors.front()), segment = width;
  // The lower (or upper) half of every segment of x, then of y.
  auto halves = [&](bool upper, int64_t lanes) {
    SmallVector<int64_t> order;
    for (int64_t begin = 0; begin < lanes; begin += segment)
      for (int64_t i = 0; i < segment / 2; ++i)
        order.push_back(begin + i + (upper ? segment / 2 : 0));
    return order;
  };
  for (; vectors.size() > 1; segment /= 2) {
    SmallVector<Value> next;
    for (size_t i = 0; i < vectors.size(); i += 2)
      next.push_back(
          add(b.shuffle(vectors[i], vectors[i + 1], halves(false, 2 * width)),
              b.shuffle(vectors[i], vectors[i + 1], halves(true, 2 * width))));
    vectors = std::move(next);
  }
  Value sum = vectors.front();
  for (; segment > 1; segment /= 2) {
    int64_t lanes = Emit::lanesOf(sum);
    sum = add(b.shuffle(sum, sum, halves(false, lanes)),
              b.shuffle(sum, sum, halves(true, lanes)));
  }
  return sum;
}

class RowDot {
public:
  RowDot(const Dot &dot, const TileOperand *tile)
      : dot(dot), b(dot.b), tile(tile) {
    // Elements of a chunk, one machine vector of operands.
    chunk = dot.target.lanes() * (dot.isInteger ? 2 : 1);
    if (tile && tile->order.crossesBytes)
      chunk = std::max<int64_t>(chunk, 8); // Whole bytes.
    if (tile && !tile->order.isWholeRun)
      chunk = std::gcd(chunk, std::gcd(tile->order.run, dot.depth));
    if (dot.scaleBlocks)
      chunk = std::gcd(chunk, dot.depth / dot.scaleBlocks);
    // Blocks have sums of integers beside the scaled ones.
    blocking = blockingFor(dot.target, dot.rows, dot.scaleBlocks ? 2 : 1, 2);
    while (dot.lanes % blocking.vectors != 0)
      blocking.vectors /= 2;
  }

  void emit() {
    dot.forRowGroups(blocking.rows, [&](Value row, int64_t count) {
      SmallVector<Value> corrections;
      if (!dot.scaleBlocks)
        corrections = dot.corrections(row, count);
      // Tokens beyond `valid` are left out, block by block.
      Value end = tile && tile->isTokenFree ? tile->valid : b.index(dot.lanes);
      b.loop(b.index(0), end, blocking.vectors,
             [&](Value lane) { block(row, count, corrections, lane); });
    });
  }

private:
  using Values = SmallVector<Value>;

  void block(Value row, int64_t rows, const Values &corrections, Value lane) {
    Values pointers = tile ? rowPointers(lane) : Values();
    Values sums = dot.scaleBlocks ? scaledSums(row, rows, lane, pointers)
                                  : plainSums(row, rows, lane, pointers);

    Value scale = dot.laneScale(lane, blocking.vectors);
    for (int64_t r = 0; r < rows; ++r) {
      Value sum = sumLanes(b, Values(ArrayRef(sums).slice(r * blocking.vectors,
                                                          blocking.vectors)));
      if (!corrections.empty())
        sum = arith::AddIOp::create(b, sum,
                                    b.splat(corrections[r], blocking.vectors));
      dot.store(sum, b.add(row, r), lane, scale);
    }
  }

  Value zero() const {
    int64_t lanes = dot.isInteger ? chunk / 2 : chunk;
    return dot.isInteger ? b.splat(0, Emit::vectorOf(lanes, b.getI32Type()))
                         : b.splat(0.0, lanes);
  }

  Values plainSums(Value row, int64_t rows, Value lane,
                   const Values &pointers) {
    int64_t whole = dot.depth / chunk * chunk;
    Values sums(rows * blocking.vectors, zero());
    sums = b.loop(b.index(0), b.index(whole), chunk, sums,
                  [&](Value k, ValueRange carried) {
                    return products(row, rows, lane, pointers, k, chunk,
                                    Values(carried));
                  });
    // What is left is shorter, padded with zeros on both sides of the product.
    for (int64_t width = chunk / 2; whole < dot.depth; width /= 2)
      for (; whole + width <= dot.depth; whole += width)
        sums = products(row, rows, lane, pointers, b.index(whole), width, sums);
    return sums;
  }

  /// Sums over blocks, each times its scale.
  Values scaledSums(Value row, int64_t rows, Value lane,
                    const Values &pointers) {
    int64_t size = dot.depth / dot.scaleBlocks, count = rows * blocking.vectors;
    Value none = b.splat(0.0, Emit::lanesOf(zero()));
    return b.loop(
        b.index(0), b.index(dot.scaleBlocks), 1, Values(count, none),
        [&](Value block, ValueRange carried) {
          Value first = b.mul(block, size);
          Values sums(count, zero()), totals(carried), scales;
          for (int64_t k = 0; k < size; k += chunk)
            sums = products(row, rows, lane, pointers, b.add(first, k), chunk,
                            sums);
          for (int64_t v = 0; v < blocking.vectors; ++v)
            scales.push_back(b.splat(
                memref::LoadOp::create(b, dot.laneScales,
                                       ValueRange{block, b.add(lane, v)}),
                Emit::lanesOf(none)));
          for (int64_t i = 0; i < count; ++i)
            totals[i] = b.fma(b.toF32(sums[i]), scales[i % blocking.vectors],
                              totals[i]);
          return totals;
        });
  }

  Values products(Value row, int64_t rows, Value lane, const Values &pointers,
                  Value k, int64_t width, Values sums) {
    Values operands;
    for (int64_t v = 0; v < blocking.vectors; ++v) {
      Value x =
          pad(tile ? load(pointers[v], k, width)
                   : b.loadVector(dot.operand, {b.add(lane, v), k}, width));
      // Sums of blocks have no common correction.
      if (dot.scaleBlocks && dot.isInteger && dot.bias != 0)
        x = arith::SubIOp::create(b, x, b.splat(dot.bias, x.getType()));
      operands.push_back(x);
    }
    for (int64_t r = 0; r < rows; ++r) {
      Value weights = pad(b.loadVector(dot.weights, {b.add(row, r), k}, width));
      for (int64_t v = 0; v < blocking.vectors; ++v) {
        Value &sum = sums[r * blocking.vectors + v];
        sum = dot.multiplyAdd(sum, operands[v], weights);
      }
    }
    return sums;
  }

  /// `x` with zeros up to a chunk.
  Value pad(Value x) {
    int64_t width = Emit::lanesOf(x);
    if (width == chunk)
      return x;
    Type element = getElementTypeOrSelf(x.getType());
    Value zero =
        isa<FloatType>(element) ? b.splat(0.0, width) : b.splat(0, x.getType());
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < chunk; ++i)
      order.push_back(i < width ? i : width);
    return b.shuffle(x, zero, order);
  }

  /// Where the rows of a block begin.
  Values rowPointers(Value lane) {
    const HeadRegion &region = tile->region;
    Values pointers;
    if (region.page % blocking.vectors == 0) {
      Value first =
          region.tokenPointer(b, b.add(tile->token, lane), blocking.vectors);
      for (int64_t v = 0; v < blocking.vectors; ++v)
        pointers.push_back(
            b.offset(first, b.index(region.order.bytes('t', v))));
      return pointers;
    }
    // Rows in pages of their own: those beyond `valid` read its last one.
    Value last = b.add(tile->valid, -1);
    for (int64_t v = 0; v < blocking.vectors; ++v)
      pointers.push_back(region.tokenPointer(
          b, b.add(tile->token, b.min(b.add(lane, v), last))));
    return pointers;
  }

  /// Elements [k, k + width) of a row, as the product wants them.
  Value load(Value row, Value k, int64_t width) {
    const PageBytes &order = tile->region.order;
    Value pointer = b.offset(row, order.bytes(b, 'c', b.add(tile->channel, k)));
    prefetchAhead(b, dot.target, pointer, tile->region.view.pageStride);
    if (tile->isRaw())
      return b.toF32(
          b.loadBytes(pointer, Emit::vectorOf(width, tile->element)));
    const Codes &codes = tile->codes;
    unsigned bits = order.width;
    if (tile->order.crossesBytes) {
      SmallVector<int64_t> bitOf;
      for (int64_t i = 0; i < width; ++i)
        bitOf.push_back(i * bits);
      Value bytes = b.loadBytes(pointer, width * bits / 8);
      Value fields = codes.gather(b, bytes, bitOf, dot.isInteger ? 16 : 32);
      return dot.isInteger ? codes.toI16(b, fields, 0, bits)
                           : codes.toF32(b, fields, 0, bits);
    }
    int64_t perByte = tile->order.perByte;
    Type i16 = b.getIntegerType(16);
    Value x =
        b.loadBytes(pointer, Emit::vectorOf(width / perByte, b.getI8Type()));
    if (codes.isFloat())
      return codes.floatsToF32(b, x);
    if (perByte == 1) {
      x = b.widen(x, dot.isInteger ? i16 : Type(b.getI32Type()),
                  codes.isSigned());
      return dot.isInteger ? x : codes.integersToF32(b, x);
    }
    // A byte becomes a lane of `perByte` i16, each shifted to its place.
    unsigned lane = 16 * perByte;
    x = b.widen(x, b.getIntegerType(lane), /*isSigned=*/false);
    Value spread = x;
    int64_t field = (int64_t(1) << bits) - 1, mask = field;
    for (int64_t i = 1; i < perByte; ++i) {
      spread = b.bitOr(spread, b.shl(x, (16 - bits) * i));
      mask |= field << (16 * i);
    }
    x = b.bitcast(b.mask(spread, mask), Emit::vectorOf(width, i16));
    if (dot.isInteger)
      return codes.toI16(b, x, 0, bits);
    return codes.toF32(b, b.widen(x, b.getI32Type(), /*isSigned=*/false), 0,
                       bits);
  }

  const Dot &dot;
  Emit &b;
  const TileOperand *tile;
  int64_t chunk;
  Blocking blocking;
};

} // namespace

void emitRowDot(const Dot &dot, const TileOperand *tile) {
  RowDot(dot, tile).emit();
}

} // namespace kvc
