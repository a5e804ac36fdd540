//===- ExpandAttend.cpp - kvc.attend to tiles -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A loop over row tiles around a loop over key tiles with an online softmax:
//
//   for row tiles:  q, positions, range of keys that the tile sees at all
//     for key tiles:  S = q.k;  S = mask(region(softcap(scale S + ALiBi)))
//       m' = max(m, max S);  p = 2^(S - m');  a = 2^(m - m')
//       l = a l + sum p;  o = a o + p.v;  m = m'
//     out = o / l;  lse = ln l + m ln 2
//
// With segments the loop over key tiles is one after the other: tiles of codes,
// tiles of which one tensor is codes, raw rows. m, l and o go through all.
//
// Scores are in base 2: log2(e) is part of the factor that comes last before
// the mask, the scale or the softcap, or stands behind the score region. A
// masked score is -inf, so its p is exactly 0. A row that has seen no key yet
// has m = -inf; 0 stands in for it where m is subtracted, which keeps p and a
// at 2^-inf = 0 instead of NaN.
//
// Parts are ranges of channels: a score is the sum of the parts' products with
// their range of q, and each part of V has its own sum o. A V that is channels
// of K reads the very tile of x' that the scores read.
//
// A rotation H of channels is linear, keeps norms and undoes itself: o sums
// rotated values and is rotated back once, at the end; q is rotated once, for
// q . (H k) = (H q) . k. Keys whose channels are values too are rotated back
// tile by tile, for both. Smoothing factors are diagonal: each product stays
// what it was, so K's go to q, before it is rotated, and V's to o.
// RoPE differs from token to token: keys are rotated for the scores, and
// smoothed before that. The parts that it rotates channels of are one product.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/StoredCodes.h"
#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Spec/Segments.h"
#include "kvc/Transforms/ChannelRuns.h"
#include "kvc/Transforms/ExpandPatterns.h"
#include "kvc/Transforms/ScoreFunction.h"
#include "kvc/Transforms/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include <numbers>

using namespace mlir;
using namespace kvc;

namespace {

/// What stays the same over the key tiles of one row tile.
struct Rows {
  Value begin;                   ///< First row.
  Value query;                   ///< <r, c>, all channels.
  SmallVector<Value, 2> queries; ///< Of each run of K's parts: <r, c>.
  Value position;                ///< <r> i64; null where nothing depends on it.
  Value slope; ///< <r>, in the units of `scoreFactor`; null without ALiBi.
  /// <r>: what scores of large queries are multiplied by, which were divided,
  /// and the others; null where no query is.
  Value factor;
  std::optional<ScoreFunction> score; ///< What is known of it for all keys.
};

/// What the largest queries are divided by. Times codes, and summed, they are
/// beyond f32 where scores are not; here and below nothing near it is.
constexpr double kLargeQuery = 0x1p64;

/// Where a range of tokens is: in codes, or in raw rows. Only codes of both
/// begin at whole tiles.
struct Source {
  bool keyIsRaw = false, valueIsRaw = false;
  bool isAligned() const { return !keyIsRaw && !valueIsRaw; }
};

/// Keys of one iteration.
struct KeyTile {
  Source source;
  Value start;  ///< The first token.
  Value valid;  ///< Tokens, from the first on.
  Value rawRow; ///< Row of the first token in raw rows, if some are raw.
};

/// The key tiles that a row tile visits: a loop over one range of tokens, or
/// over two, one behind the other.
struct KeyTiles {
  Source source;
  Value begin, end, step;     ///< Bounds of the loop.
  Value keyEnd;               ///< No row sees a key of the range from here on.
  Value firstTiles;           ///< Two ranges: iterations of the first.
  Value firstBegin, firstEnd; ///< Tokens of the first; the second ends at
  Value secondBegin;          ///< keyEnd.
};

class AttendExpansion {
public:
  AttendExpansion(AttendOp op, OpBuilder &builder)
      : op(op), spec(op.getCache().getType().getSpec()),
        attention(spec.attention),
        b(op.getLoc(), builder, arith::FastMathFlags::contract),
        tileRows(*op.getTileRows()), tileTokens(*op.getTileTokens()),
        pieces(piecesOf(spec)), keyRuns(keyRunsOf(spec)) {}

  void emit() {
    tokenIota = IotaOp::create(b, b.tile({token()}, b.getI32Type()));
    loadGiven(spec::Tensor::Key, "c");
    if (spec.value)
      loadGiven(spec::Tensor::Value, "d");
    rowCount = b.subInt(op.getRowEnd(), op.getRowBegin());
    if (!op.getScore().empty()) {
      score.emplace(op.getScore());
      score->emitOfHead(b, op.getKvHead());
    }
    if (needsPositions())
      firstPosition = b.subInt(op.getLength(), op.getNumQueries());
    auto loop = scf::ForOp::create(b, op.getRowBegin(), op.getRowEnd(),
                                   b.index(tileRows));
    b.setInsertionPointToStart(loop.getBody());
    emitRowTile(loop.getInductionVar());
  }

private:
  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  TileDim row() const { return {"r", tileRows}; }
  TileDim token() const { return {"t", tileTokens}; }
  const spec::PartScheme &partOf(const Piece &piece) const {
    return spec::schemeOf(spec, piece.tensor)->parts[piece.part];
  }

  /// Loads what the parts of a tensor take beside k and v.
  void loadGiven(spec::Tensor tensor, StringRef channels) {
    const spec::Scheme &scheme = *spec::schemeOf(spec, tensor);
    for (unsigned part = 0; part < scheme.parts.size(); ++part)
      given[size_t(tensor)].push_back(
          b.schemeTiles(op.getCache(), op.getKvHead(), tensor, part, channels));
  }
  const SchemeTiles &givenOf(spec::Tensor tensor, unsigned part) const {
    return given[size_t(tensor)][part];
  }

  void emitRowTile(Value begin) {
    Rows rows = emitRows(begin);
    Value keyEnd = emitKeyEnd(begin);

    RankedTensorType perRow = b.f32Tile({row()});
    Value minusInf =
        b.constant(perRow, -std::numeric_limits<double>::infinity());
    State state = {minusInf, b.constant(perRow, 0.0)};
    for (const Piece &piece : pieces)
      state.push_back(b.constant(b.f32Tile({row(), {"d", piece.count}}), 0.0));
    if (spec::hasSegments(spec)) {
      emitSegments(rows, begin, keyEnd, state);
    } else {
      emitLoop(rows, emitCodedTiles(begin, op.getKeyBegin(), keyEnd), state);
      // A rotation of the sum is left to the end, behind its division.
    }
    emitStores(begin, state[0], state[1], ArrayRef(state).drop_front(2));
  }

  /// m, l and o of each piece of the online softmax.
  using State = SmallVector<Value, 4>;

  /// Carries `state` through the tiles.
  void emitLoop(const Rows &rows, const KeyTiles &tiles, State &state) {
    auto loop =
        scf::ForOp::create(b, tiles.begin, tiles.end, tiles.step, state);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    KeyTile tile = emitTileAt(tiles, loop.getInductionVar());
    ValueRange carried = loop.getRegionIterArgs();
    scf::YieldOp::create(b, emitKeyTile(rows, tile, carried[0], carried[1],
                                        carried.drop_front(2)));
    state.assign(loop.getResults().begin(), loop.getResults().end());
  }

  /// Codes of both tensors first, then tokens of which one is codes, then raw
  /// rows. What sums coded values may be in the basis of the codes; behind them
  /// it is brought back.
  void emitSegments(const Rows &rows, Value begin, Value keyEnd, State &state) {
    raw = RawRowsOp::create(b, op.getCache());
    int64_t sink = spec.segments.sink;
    Value keysCoded = emitCodedEnd(spec::Tensor::Key);
    Value valuesCoded =
        spec.value ? emitCodedEnd(spec::Tensor::Value) : keysCoded;
    Value first = sink ? b.maxInt(op.getKeyBegin(), sink) : op.getKeyBegin();
    Value bothCoded = b.minInt(keysCoded, valuesCoded);
    emitLoop(rows, emitCodedTiles(begin, first, b.minInt(keyEnd, bothCoded)),
             state);
    // A tensor whose blocks divide those of the other is never behind.
    int64_t keyTokens = spec.key.blockTokens(),
            valueTokens = spec.value ? spec.value->blockTokens() : keyTokens;
    if (valueTokens % keyTokens != 0)
      emitLoopBeside(rows,
                     emitRowTiles({true, false}, begin,
                                  b.maxInt(first, keysCoded),
                                  b.minInt(keyEnd, valuesCoded)),
                     state);
    for (auto [i, piece] : llvm::enumerate(pieces))
      state[2 + i] = emitGiven(piece, state[2 + i]);
    if (keyTokens % valueTokens != 0)
      emitLoop(rows,
               emitRowTiles({false, true}, begin, b.maxInt(first, valuesCoded),
                            b.minInt(keyEnd, keysCoded)),
               state);
    KeyTiles rest =
        emitRowTiles({true, true}, begin,
                     b.maxInt(first, b.maxInt(keysCoded, valuesCoded)), keyEnd);
    if (sink != 0)
      rest = emitBehind(op.getKeyBegin(), b.minInt(keyEnd, sink), rest);
    emitLoop(rows, rest, state);
  }

  /// As emitLoop, with a sum of its own: factors of values may give a sum of
  /// codes units of its own, which must be 0 where it begins.
  void emitLoopBeside(const Rows &rows, const KeyTiles &tiles, State &state) {
    State before = state;
    for (Value &o : MutableArrayRef(state).drop_front(2))
      o = b.constantLike(o, 0.0);
    emitLoop(rows, tiles, state);
    Value decay = math::Exp2Op::create(b, b.sub(before[0], emitBase(state[0])));
    for (size_t i = 2; i < state.size(); ++i)
      state[i] = b.add(b.mul(before[i], decay), state[i]);
  }

  Value emitCodedEnd(spec::Tensor tensor) {
    return CodedEndOp::create(b, op.getCache(), tensor);
  }

  Rows emitRows(Value begin) {
    Rows rows{begin, Value(), {}, Value(), Value(), Value(), score};
    rows.query = LoadQueryOp::create(
        b, b.f32Tile({row(), {"c", attention.headDim}}), op.getQuery(), begin,
        op.getRowEnd(), op.getKvHead(), attention.group());
    if (spec.io.query != spec::DType::F16)
      divideLarge(rows);
    for (const KeyRun &run : keyRuns) {
      int64_t begin = spec.key.parts[run.first].begin,
              end = spec.key.parts[run.end - 1].end;
      Value ofRun = b.slice(rows.query, begin, end - begin, "c");
      Value smooth = givenOf(spec::Tensor::Key, run.first).smooth;
      if (smooth && !run.isRoped)
        ofRun = b.mul(ofRun, smooth);
      if (rotatesQuery())
        ofRun = b.rotate(ofRun, spec.key.parts[run.first].rotate);
      rows.queries.push_back(ofRun);
    }
    Value number;
    if (needsPositions() || usesInScore(ScoreArgument::Head))
      number = b.addInt(IotaOp::create(b, b.tile({row()}, b.getI64Type())),
                        b.toI64(begin));
    if (needsPositions())
      rows.position =
          b.addInt(b.divInt(number, attention.group()), b.toI64(firstPosition));
    if (attention.alibi) {
      Value slope = LoadRowValuesOp::create(
          b, b.f32Tile({row()}), op.getSlopes(), begin, op.getRowEnd(),
          op.getKvHead(), attention.group());
      // Finite, for the distance may be 0.
      constexpr double largest = std::numeric_limits<float>::max();
      rows.slope = b.clamp(b.scale(slope, scoreFactor()), -largest, largest);
    }
    if (rows.score)
      rows.score->emitOfRows(b, rows.position, number, op.getKvHead(),
                             attention.group());
    return rows;
  }

  /// Queries of f16 are no larger than kLargeQuery.
  void divideLarge(Rows &rows) {
    Value magnitude = math::AbsFOp::create(b, rows.query);
    Value largest = ReduceOp::create(b, ReductionKind::MaxNumF, magnitude, "c");
    Value isLarge = b.compare(arith::CmpFPredicate::OGT, largest, kLargeQuery);
    auto choose = [&](double large, double other) {
      return b.select(isLarge, b.constantLike(largest, large),
                      b.constantLike(largest, other));
    };
    rows.query = b.mul(rows.query, choose(1 / kLargeQuery, 1));
    const double rest = hasOneFactor() ? scoreScale() : 1;
    rows.factor = choose(kLargeQuery * rest, rest);
  }

  /// Rather than keys: nothing but scores reads those.
  bool rotatesQuery() const { return !attention.valueIsKey; }

  bool usesInScore(ScoreArgument argument) const {
    return score && score->uses(argument);
  }
  bool needsPositions() const {
    return attention.causal || attention.alibi ||
           usesInScore(ScoreArgument::Query);
  }
  Value positionOf(Value row) {
    return b.addInt(b.divInt(row, attention.group()), firstPosition);
  }

  //===--------------------------------------------------------------------===//
  // Keys
  //===--------------------------------------------------------------------===//

  /// No row of the tile sees a key from here on.
  Value emitKeyEnd(Value begin) {
    if (!attention.causal)
      return op.getKeyEnd();
    Value last =
        b.subInt(b.minInt(b.addInt(begin, tileRows), op.getRowEnd()), 1);
    return b.minInt(op.getKeyEnd(), b.addInt(positionOf(last), 1));
  }

  /// The first key that the window of a row tile may hold.
  Value emitWindowBegin(Value begin, Value least) {
    return b.maxInt(least, b.subInt(positionOf(begin), *attention.window - 1));
  }

  /// Tiles of codes, whole ones from the end of the sink segment on, clipped to
  /// what some row sees. The window and the visible sinks beyond it are two
  /// ranges of one loop.
  KeyTiles emitCodedTiles(Value begin, Value keyBegin, Value keyEnd) {
    KeyTiles tiles;
    tiles.keyEnd = keyEnd;
    Value seen = keyBegin;
    if (attention.window) {
      Value first = emitWindowBegin(begin, keyBegin), token = first;
      if (int64_t sink = spec.segments.sink)
        token = b.subInt(first, sink);
      seen = b.subInt(first, b.remInt(token, tileTokens));
    }
    if (attention.windowSinks == 0) {
      tiles.begin = seen, tiles.end = keyEnd, tiles.step = b.index(tileTokens);
      return tiles;
    }
    Value sinkEnd = b.minInt(keyEnd, attention.windowSinks);
    tiles.firstTiles = emitTileCount(keyBegin, sinkEnd);
    tiles.firstBegin = keyBegin, tiles.firstEnd = keyEnd;
    tiles.secondBegin = b.maxInt(
        seen, b.addInt(keyBegin, b.mulInt(tiles.firstTiles, tileTokens)));
    tiles.begin = b.index(0), tiles.step = b.index(1);
    tiles.end =
        b.addInt(tiles.firstTiles, emitTileCount(tiles.secondBegin, keyEnd));
    return tiles;
  }

  /// Tiles of [keyBegin, keyEnd) that are read row by row, from the first row
  /// that a window holds on.
  KeyTiles emitRowTiles(Source source, Value begin, Value keyBegin,
                        Value keyEnd) {
    KeyTiles tiles;
    tiles.source = source;
    if (attention.window) {
      Value seen = emitWindowBegin(begin, keyBegin);
      if (attention.windowSinks > 0) // They may reach into the range.
        seen = b.select(b.compareInt(arith::CmpIPredicate::slt, keyBegin,
                                     b.index(attention.windowSinks)),
                        keyBegin, seen);
      keyBegin = seen;
    }
    tiles.begin = keyBegin, tiles.end = tiles.keyEnd = keyEnd;
    tiles.step = b.index(tileTokens);
    return tiles;
  }

  /// [firstBegin, firstEnd), then the tiles of `second`.
  KeyTiles emitBehind(Value firstBegin, Value firstEnd, KeyTiles second) {
    second.firstTiles = emitTileCount(firstBegin, firstEnd);
    second.firstBegin = firstBegin, second.firstEnd = firstEnd;
    second.secondBegin = second.begin;
    second.end =
        b.addInt(second.firstTiles, emitTileCount(second.begin, second.keyEnd));
    second.begin = b.index(0), second.step = b.index(1);
    return second;
  }

  /// Tiles that cover [begin, end), which may be empty.
  Value emitTileCount(Value begin, Value end) {
    Value size = b.maxInt(b.subInt(end, begin), 0);
    return b.divInt(b.addInt(size, tileTokens - 1), tileTokens);
  }

  KeyTile emitTileAt(const KeyTiles &tiles, Value iteration) {
    KeyTile tile;
    tile.source = tiles.source;
    Value end = tiles.keyEnd, isFirst;
    if (!tiles.firstTiles) {
      tile.start = iteration;
    } else {
      isFirst =
          b.compareInt(arith::CmpIPredicate::slt, iteration, tiles.firstTiles);
      Value inSecond = b.subInt(iteration, tiles.firstTiles);
      tile.start = b.addInt(
          b.select(isFirst, tiles.firstBegin, tiles.secondBegin),
          b.mulInt(b.select(isFirst, iteration, inSecond), tileTokens));
      if (tiles.firstEnd != end)
        end = b.select(isFirst, tiles.firstEnd, end);
    }
    tile.valid = b.minInt(b.subInt(end, tile.start), tileTokens);
    if (tile.source.isAligned())
      return tile;
    tile.rawRow =
        b.addInt(tile.start, spec::rawBody(spec) - spec.segments.sink);
    if (isFirst) // Only the sink is in front of other raw rows.
      tile.rawRow = b.select(isFirst, tile.start, tile.rawRow);
    return tile;
  }

  /// Which dims the scales and zeros of a tile have. Where the tile lies in one
  /// scale block of tokens they belong to channels alone.
  enum class Factors : uint8_t { Token, TokenBlock, Channel, TokenChannel };

  Factors factorsOf(const spec::PartScheme &scheme, const Source &source) {
    int64_t tokens = scheme.scale->tokens;
    if (scheme.blocks() == 1)
      return Factors::Token;
    if (tokens == 1)
      return Factors::TokenBlock;
    if (source.isAligned() && tokens % tileTokens == 0)
      return Factors::Channel;
    // Blocks that fill lanes have products of their own.
    return scheme.blockChannels() % channelsOfLanes(scheme.channels()) == 0
               ? Factors::TokenBlock
               : Factors::TokenChannel;
  }
  SmallVector<TileDim> factorDims(const spec::PartScheme &scheme,
                                  Factors factors, StringRef channels) {
    switch (factors) {
    case Factors::Token:
      return {token()};
    case Factors::TokenBlock:
      return {token(), {"b", scheme.blocks()}};
    case Factors::Channel:
      return {{channels, scheme.channels()}};
    case Factors::TokenChannel:
      return {token(), {channels, scheme.channels()}};
    }
    llvm_unreachable("unknown factors");
  }

  /// The index of a token in the cache of codes.
  Value inBody(Value token) {
    int64_t sink = spec.segments.sink;
    return sink == 0 ? token : b.subInt(token, sink);
  }

  /// The x' of a tile of a part of K or V before it is rotated back: <t, c>, or
  /// <t, b, e> with scales per block.
  Value emitDequantised(spec::Tensor tensor, unsigned part, StringRef channels,
                        const KeyTile &tile) {
    const spec::PartScheme &scheme = spec::schemeOf(spec, tensor)->parts[part];
    Value cache = op.getCache(), head = op.getKvHead();
    Value start = inBody(tile.start), valid = tile.valid;
    bool isUnaligned = !tile.source.isAligned();
    RankedTensorType type = b.tile({token(), {channels, scheme.channels()}},
                                   b.elementType(scheme.codec));
    Value codes = LoadCodesOp::create(b, type, cache, head, start, valid,
                                      tensor, part, isUnaligned);
    if (scheme.codec.isRaw())
      return DequantizeOp::create(b, codes, Value(), Value(), 0,
                                  spec::Zero::None);
    const SchemeTiles &tiles = givenOf(tensor, part);
    codes = b.decoded(scheme.codec, codes, tiles.table);
    if (tiles.scale)
      return DequantizeOp::create(b, codes, tiles.scale, Value(), 0,
                                  spec::Zero::None);
    Factors factors = factorsOf(scheme, tile.source);
    SmallVector<TileDim> dims = factorDims(scheme, factors, channels);
    if (factors == Factors::TokenBlock)
      codes = SplitOp::create(b, codes, scheme.blocks());
    Value scale = LoadScaleOp::create(b, b.f32Tile(dims), cache, head, start,
                                      valid, tensor, part, isUnaligned);
    scale = b.effectiveScale(*scheme.scale, scale);
    if (scheme.zero == spec::Zero::None)
      return DequantizeOp::create(b, codes, scale, Value(), 0, scheme.zero);
    Value zero = LoadZeroOp::create(b, b.f32Tile(dims), cache, head, start,
                                    valid, tensor, part, isUnaligned);
    return DequantizeOp::create(
        b, codes, scale, zero,
        scheme.codec.isInt() ? middleOfCodes(scheme.codec) : 0, scheme.zero);
  }

  /// A tile of raw rows of K or V, all channels.
  Value emitRawRows(spec::Tensor tensor, StringRef channels,
                    const KeyTile &tile) {
    RankedTensorType type =
        b.tile({token(), {channels, spec::channelsOf(spec, tensor)}},
               elementTypeOf(b.getContext(), spec.io.query));
    Value rows = LoadCodesOp::create(b, type, raw, op.getKvHead(), tile.rawRow,
                                     tile.valid, tensor, /*part=*/0,
                                     /*unaligned=*/true);
    return DequantizeOp::create(b, rows, Value(), Value(), 0, spec::Zero::None);
  }

  //===--------------------------------------------------------------------===//
  // Scores
  //===--------------------------------------------------------------------===//

  /// What scale and slope are multiplied by: the rest of the way to base 2, or
  /// to the argument of tanh.
  double scoreFactor() const {
    return attention.softcap ? 1.0 / *attention.softcap : cappedFactor();
  }
  /// The same behind the softcap: a score region is given scores in base e.
  double cappedFactor() const { return score ? 1.0 : std::numbers::log2e; }

  double scoreScale() const { return attention.scale * scoreFactor(); }

  /// Whether f32 holds the scale of scores, and that of large queries too.
  bool hasOneFactor() const {
    return scoreScale() >= std::numeric_limits<float>::min() &&
           scoreScale() * kLargeQuery <= std::numeric_limits<float>::max();
  }

  /// A tile of x' of a part with its outliers, if it has some, in place.
  Value emitPatched(spec::Tensor tensor, unsigned part, StringRef channels,
                    const KeyTile &tile) {
    const spec::PartScheme &scheme = spec::schemeOf(spec, tensor)->parts[part];
    Value x = emitDequantised(tensor, part, channels, tile);
    if (scheme.outliers == 0)
      return x;
    RankedTensorType type = b.f32Tile({token(), {"o", scheme.outliers}});
    Value cache = op.getCache(), head = op.getKvHead(),
          start = inBody(tile.start);
    bool isUnaligned = !tile.source.isAligned();
    Value index = LoadOutlierIndicesOp::create(
        b, type, cache, head, start, tile.valid, tensor, part, isUnaligned);
    Value value = LoadOutlierValuesOp::create(
        b, type, cache, head, start, tile.valid, tensor, part, isUnaligned);
    return PatchOp::create(b, x, index, value);
  }

  /// The x' of each part of K before smoothing is undone and in the basis of
  /// its query, <t, c> or <t, b, e>; raw rows are one <t, c>.
  SmallVector<Value> emitKeys(const KeyTile &tile) {
    SmallVector<Value> keys;
    if (tile.source.keyIsRaw) {
      keys.push_back(emitRawRows(spec::Tensor::Key, "c", tile));
      return keys;
    }
    for (auto [i, part] : llvm::enumerate(spec.key.parts)) {
      Value x = emitPatched(spec::Tensor::Key, unsigned(i), "c", tile);
      if (part.rotate != 0 && !rotatesQuery()) {
        x = joined(x);
        x = b.rotate(x, part.rotate);
      }
      keys.push_back(x);
    }
    return keys;
  }

  /// <t, b, e> as <t, c>.
  Value joined(Value x) {
    return tileDimsOf(x.getType()).size() > 2
               ? JoinOp::create(b, x, "c").getResult()
               : x;
  }

  /// Channel 0 of `x` is channel `begin` of the key.
  Value emitRope(Value x, Value start, int64_t begin) {
    const spec::Rope &rope = *spec.key.rope;
    return RopeOp::create(b, x.getType(), x, start, rope.pairs, rope.dims,
                          rope.offset - begin, llvm::APFloat(rope.theta));
  }
  /// Keys as the scores take them, one tile for each product.
  SmallVector<Value> emitRoped(ArrayRef<Value> keys, const KeyTile &tile) {
    if (tile.source.keyIsRaw)
      return {spec.key.rope ? emitRope(keys.front(), tile.start, 0)
                            : keys.front()};
    SmallVector<Value> result;
    for (const KeyRun &run : keyRuns) {
      if (!run.isRoped) {
        result.push_back(keys[run.first]);
        continue;
      }
      SmallVector<Value> together;
      for (unsigned part = run.first; part < run.end; ++part) {
        Value x = joined(keys[part]);
        if (Value smooth = givenOf(spec::Tensor::Key, part).smooth)
          x = b.mul(x, smooth);
        together.push_back(x);
      }
      Value x = together.size() == 1 ? together.front()
                                     : ConcatOp::create(b, together);
      result.push_back(
          emitRope(x, tile.start, spec.key.parts[run.first].begin));
    }
    return result;
  }

  Value emitScores(const Rows &rows, ArrayRef<Value> keys,
                   const KeyTile &tile) {
    Value scores, start = tile.start;
    ArrayRef<Value> queries =
        tile.source.keyIsRaw ? ArrayRef(rows.query) : ArrayRef(rows.queries);
    for (auto [given, x] : llvm::zip_equal(queries, emitRoped(keys, tile))) {
      Value query = given;
      if (hasDim(x.getType(), "b"))
        query = splitQuery(query, extentOf(x.getType(), "b"));
      Value ofPart =
          ContractOp::create(b, query, x, ArrayRef<StringRef>{"r", "t"});
      scores = scores ? b.add(scores, ofPart) : ofPart;
    }
    if (rows.factor)
      scores = b.mul(scores, rows.factor);
    if (!rows.factor || !hasOneFactor())
      scores = b.scale(scores, scoreScale());
    if (attention.alibi) {
      // Both terms and their sum are whole numbers: exact below 2^24.
      Value fromStart = b.toF32(b.subInt(b.toI64(start), rows.position));
      Value distance =
          b.add(b.broadcast(b.toF32(tokenIota), scores.getType()), fromStart);
      scores = b.add(scores, b.mul(distance, rows.slope));
    }
    if (attention.softcap)
      scores = b.scale(math::TanhOp::create(b, scores),
                       *attention.softcap * cappedFactor());
    if (score)
      scores = b.mul(rows.score->emitOfTile(b, scores, tokenIota, start),
                     std::numbers::log2e);
    Value minusInf =
        b.constantLike(scores, -std::numeric_limits<double>::infinity());
    return b.select(emitVisible(rows, start, tile.valid, scores.getType()),
                    scores, minusInf);
  }

  /// A query in blocks of channels: <r, b, e>. Made where the query is, once
  /// for all tiles.
  Value splitQuery(Value query, int64_t blocks) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(query);
    return SplitOp::create(b, query, blocks);
  }

  /// Which keys of the tile each row sees: <r, t> i1, or <t> where all rows see
  /// the same ones. Limits are brought into [0, valid] relative to the tile
  /// before they are narrowed to the iota's i32.
  Value emitVisible(const Rows &rows, Value start, Value valid, Type type) {
    using enum arith::CmpIPredicate;
    if (!attention.causal)
      return b.compareInt(slt, tokenIota, b.toI32(b.toI64(valid)));
    Value tokens = b.broadcast(tokenIota, type);
    Value first = b.subInt(rows.position, b.toI64(start));
    auto limit = [&](Value relative) {
      return b.toI32(b.maxInt(b.minInt(relative, b.toI64(valid)), 0));
    };
    Value visible = b.compareInt(slt, tokens, limit(b.addInt(first, 1)));
    if (!attention.window)
      return visible;
    Value inWindow = b.compareInt(
        sge, tokens, limit(b.subInt(first, *attention.window - 1)));
    if (attention.windowSinks > 0) {
      Value sinks = b.subInt(b.constant(b.getI64Type(), attention.windowSinks),
                             b.toI64(start));
      Value inSinks = b.compareInt(slt, tokenIota, limit(sinks));
      inWindow = arith::OrIOp::create(b, inWindow, b.broadcast(inSinks, type));
    }
    return arith::AndIOp::create(b, visible, inWindow);
  }

  //===--------------------------------------------------------------------===//
  // Softmax
  //===--------------------------------------------------------------------===//

  /// What is subtracted from scores: the maximum, or 0 where no key was seen.
  Value emitBase(Value m) {
    Value unseen = b.compare(arith::CmpFPredicate::OEQ, m,
                             -std::numeric_limits<double>::infinity());
    return b.select(unseen, b.constantLike(m, 0.0), m);
  }

  /// One step of the online softmax: the next m, l and o of each piece.
  SmallVector<Value> emitKeyTile(const Rows &rows, const KeyTile &tile, Value m,
                                 Value l, ValueRange sums) {
    SmallVector<Value> keys = emitKeys(tile);
    Value scores = emitScores(rows, keys, tile);

    Value nextM =
        b.max(m, ReduceOp::create(b, ReductionKind::MaxNumF, scores, "t"));
    Value base = emitBase(nextM);
    Value p = math::Exp2Op::create(b, b.sub(scores, base));
    Value decay = math::Exp2Op::create(b, b.sub(m, base));
    Value nextL =
        b.add(b.mul(l, decay), ReduceOp::create(b, ReductionKind::Add, p, "t"));

    SmallVector<Value> next{nextM, nextL};
    Value values;
    if (tile.source.valueIsRaw && spec.value)
      values = emitRawRows(spec::Tensor::Value, "d", tile);
    for (auto [piece, o] : llvm::zip_equal(pieces, sums)) {
      Value sum = emitSum(piece, p, keys, values, tile);
      next.push_back(b.add(b.mul(o, decay), sum));
    }
    return next;
  }

  /// p . v of one piece: <r, d>. `values` are raw rows of V, if it has some.
  Value emitSum(const Piece &piece, Value p, ArrayRef<Value> keys, Value values,
                const KeyTile &tile) {
    Value x;
    if (values) {
      x = b.slice(values, piece.output, piece.count, "d");
    } else if (piece.tensor == spec::Tensor::Value) {
      x = emitPatched(piece.tensor, piece.part, "d", tile);
    } else if (tile.source.keyIsRaw) {
      x = b.slice(keys.front(), (*attention.valueIsKey)[0] + piece.output,
                  piece.count, "d");
    } else {
      x = b.slice(joined(keys[piece.part]), piece.first, piece.count, "d");
    }
    if (tileDimsOf(x.getType()).size() == 2)
      return ContractOp::create(b, p, x, ArrayRef<StringRef>{"r", "d"});
    return JoinOp::create(
        b, b.f32Tile({row(), {"d", piece.count}}),
        ContractOp::create(b, p, x, ArrayRef<StringRef>{"r", "b", "e"}));
  }

  /// A sum of codes in the basis of the values as they were given. A rotation
  /// of K was undone in the loop.
  Value emitGiven(const Piece &piece, Value o) {
    if (piece.tensor == spec::Tensor::Value)
      o = b.rotate(o, partOf(piece).rotate);
    if (Value smooth = givenOf(piece.tensor, piece.part).smooth)
      o = b.mul(o, b.slice(smooth, piece.first, piece.count, "d"));
    return o;
  }

  /// Without any key l and o are 0 and m is -inf; with 1 in place of l the
  /// formulas give 0 and -inf.
  void emitStores(Value begin, Value m, Value l, ValueRange sums) {
    Value unseen = b.compare(arith::CmpFPredicate::OEQ, l, 0.0);
    Value sum = b.select(unseen, b.constantLike(l, 1.0), l);
    Value inverse = b.div(b.constantLike(sum, 1.0), sum);
    Value lse =
        b.mul(b.add(math::Log2Op::create(b, sum), m), std::numbers::ln2);
    Value row = b.subInt(begin, op.getRowBegin());
    for (auto [piece, o] : llvm::zip_equal(pieces, sums)) {
      Value out = b.mul(o, inverse);
      if (!spec::hasSegments(spec)) // Else between the loops.
        out = emitGiven(piece, out);
      StorePartialOp::create(b, out, op.getPartialOut(), row, rowCount,
                             piece.output);
    }
    StorePartialOp::create(b, lse, op.getPartialLse(), row, rowCount);
  }

  AttendOp op;
  const spec::Spec &spec;
  const spec::Attention &attention;
  TileBuilder b;
  int64_t tileRows, tileTokens;
  SmallVector<Piece, 2> pieces;         ///< Of V.
  SmallVector<KeyRun, 2> keyRuns;       ///< Of K.
  SmallVector<SchemeTiles, 2> given[2]; ///< By tensor and part.
  Value tokenIota;                      ///< <t> i32.
  Value rowCount;                       ///< Rows of the work item.
  Value firstPosition; ///< Of query 0; negative where queries outnumber keys.
  Value raw;           ///< Raw rows; null without segments.
  std::optional<ScoreFunction> score; ///< The score region, if there is one.
};

struct ExpandAttend : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttendOp op,
                                PatternRewriter &rewriter) const override {
    AttendExpansion(op, rewriter).emit();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void kvc::populateExpandAttendPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandAttend>(patterns.getContext());
}
