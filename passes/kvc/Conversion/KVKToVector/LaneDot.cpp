//===- LaneDot.cpp - Dots with the free dim on lanes ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// for groups of rows                                  (weights' sums, once)
//   for passes of a few vectors of the free dim
//     for the contracted dim                          (tokens page by page)
//       for codes of a word, or neighbouring elements (written out)
//         for rows: one weight meets all vectors      (written out)
//     scale and store
//
// No sum crosses lanes, and every loaded vector meets all rows of the group.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Dot.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace kvc {
namespace {

/// Passes over [begin, begin + count * extent) of the free dim, each of
/// `vectors` vectors of `lanes` lanes.
struct Passes {
  int64_t begin, count, lanes, vectors, extent;
};

class LaneDot {
public:
  LaneDot(const Dot &dot, const TileOperand *tile)
      : dot(dot), b(dot.b), tile(tile) {
    fields = tile ? tile->order.perByte : 1;
    isWords = tile && tile->order.kind == TileOrder::Kind::Words;
    blocking = blockingFor(dot.target, dot.rows, fields, fields > 1 ? 1 : 2);
  }

  void emit() {
    SmallVector<Passes> all = passes();
    dot.forRowGroups(blocking.rows, [&](Value row, int64_t count) {
      SmallVector<Value> corrections = dot.corrections(row, count);
      for (const Passes &some : all) {
        Value number = b.index(some.count);
        if (tile && tile->isTokenFree) // Passes that begin before `valid`.
          number = b.min(number, b.ceilDiv(leftOf(some.begin), some.extent));
        b.loop(b.index(0), number, 1, [&](Value i) {
          pass(row, count, corrections, some,
               b.add(b.mul(i, some.extent), some.begin));
        });
      }
    });
  }

private:
  using Values = SmallVector<Value>;

  //===--------------------------------------------------------------------===//
  // Shape
  //===--------------------------------------------------------------------===//

  SmallVector<Passes> passes() const {
    int64_t widest = dot.lanes;
    if (tile && !tile->order.isWholeRun)
      widest = std::gcd(widest, tile->order.run);
    SmallVector<Passes> result;
    int64_t begin = 0, most = dot.target.lanes();
    if (tile && tile->order.crossesBytes)
      most = std::max<int64_t>(most, kCrossing);
    for (int64_t lanes = most; begin < dot.lanes; lanes /= 2) {
      if (lanes * fields > widest)
        continue;
      if (tile && !tile->order.isWholeRun && widest % (lanes * fields) != 0)
        continue;
      for (int64_t vectors = blocking.vectors; vectors > 0; vectors /= 2) {
        int64_t extent = lanes * fields * vectors,
                count = (dot.lanes - begin) / extent;
        if (count > 0)
          result.push_back({begin, count, lanes, vectors, extent});
        begin += count * extent;
      }
    }
    return result;
  }

  /// max(valid - begin, 0).
  Value leftOf(int64_t begin) const {
    if (begin == 0)
      return tile->valid;
    return arith::MaxSIOp::create(b, b.sub(tile->valid, b.index(begin)),
                                  b.index(0));
  }

  //===--------------------------------------------------------------------===//
  // One pass
  //===--------------------------------------------------------------------===//

  void pass(Value row, int64_t rows, const Values &corrections,
            const Passes &some, Value begin) {
    Values sums;
    VectorType type = Emit::vectorOf(some.lanes, dot.sumElement());
    for (int64_t r = 0; r < rows; ++r) {
      Value first = !corrections.empty() ? b.splat(corrections[r], some.lanes)
                    : dot.isInteger      ? b.splat(0, type)
                                         : b.splat(0.0, some.lanes);
      sums.append(some.vectors * fields, first);
    }
    State state{row, rows, some};
    if (!tile)
      sums = contractPanel(state, begin, sums);
    else if (tile->isTokenFree)
      sums = contractChannels(state, begin, sums);
    else
      sums = contractTokens(state, begin, sums);
    finish(state, begin, sums);
  }

  struct State {
    Value row;
    int64_t rows;
    Passes pass;
  };

  void finish(const State &state, Value begin, const Values &sums) {
    int64_t width = state.pass.lanes * fields;
    for (int64_t v = 0; v < state.pass.vectors; ++v) {
      Value lane = b.add(begin, v * width), scale = dot.laneScale(lane, width);
      for (int64_t r = 0; r < state.rows; ++r) {
        // Lanes hold bytes; the elements of a byte are one accumulator each.
        auto first = (r * state.pass.vectors + v) * fields;
        Value sum = b.interleave(ArrayRef(sums).slice(first, fields));
        dot.store(sum, b.add(state.row, r), lane, scale);
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // The contracted dim
  //===--------------------------------------------------------------------===//

  /// Contracted elements of an iteration where nothing limits them.
  int64_t wantedUnit() const {
    return isWords ? tile->order.group : dot.isInteger ? 2 : kUnroll;
  }

  /// Where the vectors of a pass begin, without what the contracted dim adds.
  using Pointers = SmallVector<Value>;

  Values contractPanel(const State &state, Value begin, const Values &init) {
    auto load = [&](Value k, int64_t v, int64_t step, int64_t) {
      Value lane = b.add(begin, v * state.pass.lanes);
      return Values{
          b.loadVector(dot.operand, {b.add(k, step), lane}, state.pass.lanes)};
    };
    return contract(state, b.index(0), b.index(dot.depth), kUnroll,
                    /*isExact=*/true, init, load);
  }

  Values contractChannels(const State &state, Value begin, const Values &init) {
    const HeadRegion &region = tile->region;
    const Passes &pass = state.pass;
    Value token = b.add(tile->token, begin);
    Pointers pointers;
    if (region.page % pass.extent == 0) {
      Value first = region.tokenPointer(b, token, pass.lanes);
      for (int64_t v = 0; v < pass.vectors; ++v)
        pointers.push_back(
            b.offset(first, b.index(region.order.bytes('t', v * pass.lanes))));
    } else {
      // Vectors in pages of their own: those that begin beyond `valid` read the
      // last one that does not.
      Value last = b.mul(b.div(b.add(tile->valid, -1), pass.lanes), pass.lanes);
      for (int64_t v = 0; v < pass.vectors; ++v) {
        Value relative = b.min(b.add(begin, v * pass.lanes), last);
        pointers.push_back(
            region.tokenPointer(b, b.add(tile->token, relative), pass.lanes));
      }
    }
    int64_t unit = std::gcd(wantedUnit(), dot.depth);
    return contractTile(state, pointers, tile->channel, b.index(0),
                        b.index(dot.depth), unit, init);
  }

  Values contractTokens(const State &state, Value begin, const Values &init) {
    const HeadRegion &region = tile->region;
    // One page look-up serves a span; the tile begins at a multiple of its
    // tokens.
    int64_t span = std::min(region.page, dot.depth);
    int64_t unit = std::gcd(wantedUnit(), span);
    Value channel = b.add(tile->channel, begin);
    Value spans = b.ceilDiv(tile->valid, span);
    if (span == dot.depth)
      spans = b.index(1); // No valid token: no iteration inside.
    return b.loop(b.index(0), spans, 1, init, [&](Value i, ValueRange sums) {
      Value first = b.mul(i, span), token = b.add(tile->token, first);
      Value page = region.pageOf(b, token);
      Value inPage = region.page <= span ? b.index(0) : region.inPage(b, token);
      Value count = span == dot.depth
                        ? tile->valid
                        : b.min(b.sub(tile->valid, first), b.index(span));
      return contractTile(state, vectorPointers(page, channel, state.pass),
                          inPage, first, count, unit, Values(sums));
    });
  }

  /// The vectors of a pass over channels from `channel` on, at `base`.
  Pointers vectorPointers(Value base, Value channel, const Passes &pass) {
    const PageBytes &order = tile->region.order;
    int64_t width = pass.lanes * fields;
    // Digits below and above do not carry into each other where the pass is
    // aligned to its own extent.
    bool isAligned =
        Emit::constantOf(tile->channel) == 0 || dot.lanes % pass.extent == 0;
    isAligned &=
        llvm::isPowerOf2_64(pass.extent) && pass.begin % pass.extent == 0;
    Pointers pointers;
    Value first = b.offset(base, order.bytes(b, 'c', channel));
    for (int64_t v = 0; v < pass.vectors; ++v)
      pointers.push_back(
          isAligned
              ? b.offset(first, b.index(order.bytes('c', v * width)))
              : b.offset(base, order.bytes(b, 'c', b.add(channel, v * width))));
    return pointers;
  }

  /// Elements [0, count) of the contracted dim, whose index in memory begins at
  /// `origin`, and in the weights at `first`.
  Values contractTile(const State &state, const Pointers &pointers,
                      Value origin, Value first, Value count, int64_t unit,
                      const Values &init) {
    bool isExact = tile->isExact();
    const PageBytes &order = tile->region.order;
    auto load = [&](Value k, int64_t v, int64_t step, int64_t size) -> Values {
      // The first step of a unit computes the address; others are constants
      // away.
      Value bytes = order.bytes(b, tile->contracted(), b.add(origin, k), size);
      return loadStep(state.pass, b.offset(pointers[v], bytes), v, step, size);
    };
    return contract(state, first, count, unit, isExact, init, load);
  }

  /// for k = 0 to count: `load(k, vector, step, unit)` gives the operand of the
  /// products with weights[.., first + k + step], one value per field. Without
  /// `isExact` the last unit may reach beyond `count`.
  template <typename Load>
  Values contract(const State &state, Value first, Value count, int64_t unit,
                  bool isExact, const Values &init, const Load &load) {
    Value whole = count;
    std::optional<int64_t> constant = Emit::constantOf(count);
    bool hasRest = isExact && unit > 1 && !(constant && *constant % unit == 0);
    if (hasRest)
      whole = b.mul(b.div(count, unit), unit);
    auto body = [&](int64_t size) {
      return [&, size](Value k, ValueRange sums) {
        return products(state, first, k, size, Values(sums), load);
      };
    };
    Values sums = b.loop(b.index(0), whole, unit, init, body(unit));
    return hasRest ? b.loop(whole, count, 1, sums, body(1)) : sums;
  }

  template <typename Load>
  Values products(const State &state, Value first, Value k, int64_t unit,
                  Values sums, const Load &load) {
    bool isPair = dot.isInteger && unit > 1;
    words.assign(state.pass.vectors, Value());
    entries.assign(state.pass.vectors, Values());
    for (int64_t step = 0; step < unit; step += isPair ? 2 : 1) {
      SmallVector<Values> operands;
      for (int64_t v = 0; v < state.pass.vectors; ++v)
        operands.push_back(load(k, v, step, unit));
      for (int64_t r = 0; r < state.rows; ++r) {
        Value weight =
            dot.weightSplat(b.add(state.row, r), b.add(b.add(first, k), step),
                            state.pass.lanes, isPair);
        for (int64_t v = 0; v < state.pass.vectors; ++v)
          for (int64_t f = 0; f < fields; ++f) {
            Value &sum = sums[(r * state.pass.vectors + v) * fields + f];
            sum = dot.multiplyAdd(sum, operands[v][f], weight);
          }
      }
    }
    return sums;
  }

  //===--------------------------------------------------------------------===//
  // Loads
  //===--------------------------------------------------------------------===//

  /// The operand of step `step` of a unit that begins at `pointer`.
  Values loadStep(const Passes &pass, Value pointer, int64_t v, int64_t step,
                  int64_t unit) {
    const PageBytes &order = tile->region.order;
    const Codes &codes = tile->codes;
    unsigned width = order.width;
    if (isWords) {
      if (!words[v])
        words[v] = loadAhead(pointer,
                             Emit::vectorOf(pass.lanes, b.getI32Type()), v, 0);
      unsigned bit = tile->order.bitOf[step];
      if (!dot.isInteger)
        return {codes.toF32(b, words[v], bit, 32)};
      Type halves = Emit::vectorOf(2 * pass.lanes, b.getIntegerType(16));
      if (!codes.looksUpBytes(pass.lanes))
        return {codes.toI16(b, b.bitcast(words[v], halves), bit, 16)};
      entries[v].resize(8 / width);
      Value &bytes = entries[v][bit % 8 / width];
      if (!bytes)
        bytes = codes.lookUpBytes(b, words[v], bit % 8 / width);
      return {extractField(b, b.bitcast(bytes, halves), bit / 8 * 8, 8,
                           /*isSigned=*/false, 16)};
    }
    auto at = [&](int64_t index) {
      return b.offset(pointer, b.index(order.bytes(tile->contracted(), index)));
    };
    if (tile->isRaw())
      return {b.toF32(loadAhead(
          at(step), Emit::vectorOf(pass.lanes, tile->element), v, step))};
    if (tile->order.crossesBytes)
      return {loadCrossing(pass, at, v, step, unit)};
    VectorType bytes = Emit::vectorOf(pass.lanes, b.getI8Type());
    if (codes.isFloat())
      return {codes.floatsToF32(b, loadAhead(at(step), bytes, v, step))};
    auto widened = [&](int64_t index) {
      return b.widen(loadAhead(at(index), bytes, v, index), b.getI32Type(),
                     false);
    };
    Value x = widened(step);
    if (dot.isInteger && unit > 1)
      x = b.bitOr(x, b.shl(widened(step + 1), 16));
    Values result;
    for (int64_t f = 0; f < fields; ++f) {
      if (!dot.isInteger) {
        result.push_back(codes.toF32(b, x, f * width, 8));
        continue;
      }
      Value halves =
          b.bitcast(x, Emit::vectorOf(2 * pass.lanes, b.getIntegerType(16)));
      result.push_back(codes.toI16(b, halves, f * width, 8));
    }
    return result;
  }

  /// Codes that lie across bytes: pairs of i16 from two steps, or f32.
  Value loadCrossing(const Passes &pass,
                     llvm::function_ref<Value(int64_t index)> at, int64_t v,
                     int64_t step, int64_t unit) {
    const Codes &codes = tile->codes;
    int64_t width = tile->region.order.width, count = pass.lanes * width / 8;
    // One load instead of several where the pass has bytes to spare around
    // those of the vector.
    auto size = static_cast<int64_t>(llvm::PowerOf2Ceil(uint64_t(count)));
    int64_t behind = pass.vectors * count - v * count;
    bool isOne = size <= pass.vectors * count &&
                 (tile->order.isWholeRun || tile->order.run % pass.extent == 0);
    int64_t before = isOne ? std::max<int64_t>(0, size - behind) : 0;
    auto loadBytes = [&](int64_t index) {
      Value pointer = at(index);
      prefetch(pointer, count, v, index);
      return isOne ? b.loadBytes(b.offset(pointer, b.index(-before)),
                                 Emit::vectorOf(size, b.getI8Type()))
                   : b.loadBytes(pointer, count);
    };
    Values sources{loadBytes(step)};
    if (dot.isInteger) // The partner of a single code has weight 0.
      sources.push_back(unit > 1 ? loadBytes(step + 1) : sources.front());
    SmallVector<int64_t> bitOf;
    for (int64_t lane = 0; lane < pass.lanes; ++lane)
      bitOf.push_back(before * 8 + lane * width);
    Value fields = codes.gather(b, sources, bitOf, dot.isInteger ? 16 : 32);
    return dot.isInteger ? codes.toI16(b, fields, 0, unsigned(width))
                         : codes.toF32(b, fields, 0, unsigned(width));
  }

  Value loadAhead(Value pointer, VectorType type, int64_t v, int64_t step) {
    prefetch(pointer, type.getDimSize(0) * type.getElementTypeBitWidth() / 8, v,
             step);
    return b.loadBytes(pointer, type);
  }

  /// Prefetches once per line of the stream: neighbouring vectors share lines
  /// in long rows, neighbouring steps in short ones.
  void prefetch(Value pointer, int64_t bytes, int64_t v, int64_t step) {
    constexpr int64_t kLine = 64;
    bool isLongRow =
        isWords ? tile->order.run > bytes / 4 : tile->order.isWholeRun;
    if ((isLongRow ? v : step) * bytes % kLine == 0)
      prefetchAhead(b, dot.target, pointer, tile->region.view.pageStride);
  }

  /// Codes of whole bytes, whatever their bits.
  static constexpr int64_t kCrossing = 8;
  /// Float elements of the contracted dim in one iteration.
  static constexpr int64_t kUnroll = 4;

  const Dot &dot;
  Emit &b;
  const TileOperand *tile;
  int64_t fields;
  bool isWords;
  Blocking blocking;
  Values words; ///< Words of the unit at hand, one per vector.
  /// What is looked up for each field of their bytes.
  SmallVector<Values> entries;
};

} // namespace

void emitLaneDot(const Dot &dot, const TileOperand *tile) {
  LaneDot(dot, tile).emit();
}

} // namespace kvc
