//===- ExpandAttend.cpp - kvc.attend to tiles -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A loop over row tiles around a loop over key tiles with an online softmax:
//
//   for row tiles:  q, positions, range of keys that the tile sees at all
//     for key tiles:  S = q.k;  S = mask(softcap(scale S + ALiBi))
//       m' = max(m, max S);  p = 2^(S - m');  a = 2^(m - m')
//       l = a l + sum p;  o = a o + p.v;  m = m'
//     out = o / l;  lse = ln l + m ln 2
//
// Scores are in base 2: log2(e) is part of the factor that comes last before
// the mask, the scale or the softcap. A masked score is -inf, so its p is
// exactly 0. A row that has seen no key yet has m = -inf; 0 stands in for it
// where m is subtracted, which keeps p and a at 2^-inf = 0 instead of NaN.
//
// Parts are ranges of channels: a score is the sum of the parts' products with
// their range of q, and each part of V has its own sum o. A V that is channels
// of K reads the very tile of x' that the scores read.
//
// A rotation H of V's channels is linear and keeps norms: o sums rotated values
// and is rotated back once, at the end. K's is undone tile by tile. Rotating q
// instead would give the same sums, but not their bound: it grows with q o k in
// the channels as they are given, and where q and k are large in different ones
// the products of rotated channels are far larger and cancel. Smoothing factors
// are diagonal: each product stays what it was, so K's go to q and V's to o.
// RoPE differs from token to token: keys are rotated for the scores, and
// smoothed before that.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Transforms/ExpandPatterns.h"
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
  SmallVector<Value, 2> queries; ///< Of each part of K: <r, c> or <r, b, e>.
  Value position;                ///< <r> i64; null where nothing depends on it.
  Value slope; ///< <r>, in the units of `scoreFactor`; null without ALiBi.
};

/// Channels of V that one sum o covers.
struct Piece {
  spec::Tensor tensor; ///< Whose part they are of: K's where K is V.
  unsigned part;
  int64_t first, count; ///< In the part.
  int64_t output;       ///< Where the first one is in the output.
};

/// The key tiles that a row tile visits: a loop, and the token at which the
/// tile of an iteration starts.
struct KeyTiles {
  Value begin, end, step;       ///< Bounds of the loop.
  Value keyEnd;                 ///< No row sees a key from here on.
  Value sinkTiles, windowBegin; ///< Two ranges: iterations that belong to the
                                ///< first, start of the second.
};

class AttendExpansion {
public:
  AttendExpansion(AttendOp op, OpBuilder &builder)
      : op(op), spec(op.getCache().getType().getSpec()),
        attention(spec.attention),
        b(op.getLoc(), builder, arith::FastMathFlags::contract),
        tileRows(*op.getTileRows()), tileTokens(*op.getTileTokens()),
        pieces(piecesOf(spec)) {}

  void emit() {
    tokenIota = IotaOp::create(b, b.tile({token()}, b.getI32Type()));
    loadGiven(spec::Tensor::Key, "c");
    if (spec.value)
      loadGiven(spec::Tensor::Value, "d");
    rowCount = b.subInt(op.getRowEnd(), op.getRowBegin());
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

  static SmallVector<Piece, 2> piecesOf(const spec::Spec &spec) {
    SmallVector<Piece, 2> pieces;
    std::optional<std::array<int64_t, 2>> range = spec.attention.valueIsKey;
    spec::Tensor tensor = range ? spec::Tensor::Key : spec::Tensor::Value;
    int64_t begin = range ? (*range)[0] : 0,
            end = range ? (*range)[1] : spec.attention.valueDim;
    for (auto [i, part] :
         llvm::enumerate(spec::schemeOf(spec, tensor)->parts)) {
      int64_t first = std::max(begin, part.begin),
              last = std::min(end, part.end);
      if (first < last)
        pieces.push_back({tensor, unsigned(i), first - part.begin, last - first,
                          first - begin});
    }
    return pieces;
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

  /// Whether K's RoPE rotates channels of a part: all of them are in it.
  bool isRoped(unsigned part) const {
    return spec.key.rope &&
           spec.key.rope->offset >= spec.key.parts[part].begin &&
           spec.key.rope->offset < spec.key.parts[part].end;
  }

  void emitRowTile(Value begin) {
    Rows rows = emitRows(begin);
    KeyTiles tiles = emitKeyTiles(begin);

    RankedTensorType perRow = b.f32Tile({row()});
    Value minusInf =
        b.constant(perRow, -std::numeric_limits<double>::infinity());
    SmallVector<Value> init{minusInf, b.constant(perRow, 0.0)};
    for (const Piece &piece : pieces)
      init.push_back(b.constant(b.f32Tile({row(), {"d", piece.count}}), 0.0));
    auto loop = scf::ForOp::create(b, tiles.begin, tiles.end, tiles.step, init);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value start = emitTileStart(tiles, loop.getInductionVar());
      ValueRange state = loop.getRegionIterArgs();
      SmallVector<Value> next = emitKeyTile(rows, start, tiles.keyEnd, state[0],
                                            state[1], state.drop_front(2));
      scf::YieldOp::create(b, next);
    }
    emitStores(begin, loop.getResult(0), loop.getResult(1),
               loop.getResults().drop_front(2));
  }

  Rows emitRows(Value begin) {
    Rows rows{begin, {}, Value(), Value()};
    Value query = LoadQueryOp::create(
        b, b.f32Tile({row(), {"c", attention.headDim}}), op.getQuery(), begin,
        op.getRowEnd(), op.getKvHead(), attention.group());
    for (auto [i, key] : llvm::enumerate(spec.key.parts)) {
      Value ofPart = b.slice(query, key.begin, key.channels(), "c");
      auto part = unsigned(i);
      Value smooth = givenOf(spec::Tensor::Key, part).smooth;
      if (smooth && !isRoped(part))
        ofPart = b.mul(ofPart, smooth);
      if (int64_t blocks = key.dynamicBlocks();
          blocks > 1 && key.rotate == 0 && !isRoped(part))
        ofPart = SplitOp::create(b, ofPart, blocks);
      rows.queries.push_back(ofPart);
    }
    if (needsPositions()) {
      Value number = b.addInt(
          IotaOp::create(b, b.tile({row()}, b.getI64Type())), b.toI64(begin));
      rows.position =
          b.addInt(b.divInt(number, attention.group()), b.toI64(firstPosition));
    }
    if (attention.alibi) {
      Value slope = LoadRowValuesOp::create(
          b, b.f32Tile({row()}), op.getSlopes(), begin, op.getRowEnd(),
          op.getKvHead(), attention.group());
      // Finite, for the distance may be 0.
      constexpr double largest = std::numeric_limits<float>::max();
      rows.slope = b.clamp(b.scale(slope, scoreFactor()), -largest, largest);
    }
    return rows;
  }

  bool needsPositions() const { return attention.causal || attention.alibi; }
  Value positionOf(Value row) {
    return b.addInt(b.divInt(row, attention.group()), firstPosition);
  }

  //===--------------------------------------------------------------------===//
  // Keys
  //===--------------------------------------------------------------------===//

  /// Clips [key_begin, key_end) to what some row of the tile sees. The window
  /// and the sinks beyond it are two ranges of one loop.
  KeyTiles emitKeyTiles(Value begin) {
    KeyTiles tiles;
    tiles.keyEnd = op.getKeyEnd();
    if (attention.causal) {
      Value last =
          b.subInt(b.minInt(b.addInt(begin, tileRows), op.getRowEnd()), 1);
      tiles.keyEnd = b.minInt(tiles.keyEnd, b.addInt(positionOf(last), 1));
    }
    Value keyBegin = op.getKeyBegin();
    if (attention.window) {
      Value first = b.maxInt(
          keyBegin, b.subInt(positionOf(begin), *attention.window - 1));
      keyBegin = b.subInt(first, b.remInt(first, tileTokens));
    }
    if (attention.windowSinks == 0) {
      tiles.begin = keyBegin, tiles.end = tiles.keyEnd,
      tiles.step = b.index(tileTokens);
      return tiles;
    }
    Value sinkEnd = b.minInt(tiles.keyEnd, attention.windowSinks);
    tiles.sinkTiles = emitTileCount(op.getKeyBegin(), sinkEnd);
    tiles.windowBegin =
        b.maxInt(keyBegin, b.addInt(op.getKeyBegin(),
                                    b.mulInt(tiles.sinkTiles, tileTokens)));
    tiles.begin = b.index(0), tiles.step = b.index(1);
    tiles.end = b.addInt(tiles.sinkTiles,
                         emitTileCount(tiles.windowBegin, tiles.keyEnd));
    return tiles;
  }

  /// Tiles that cover [begin, end), which may be empty.
  Value emitTileCount(Value begin, Value end) {
    Value size = b.maxInt(b.subInt(end, begin), 0);
    return b.divInt(b.addInt(size, tileTokens - 1), tileTokens);
  }

  Value emitTileStart(const KeyTiles &tiles, Value iteration) {
    if (!tiles.sinkTiles)
      return iteration;
    Value inSinks =
        b.compareInt(arith::CmpIPredicate::slt, iteration, tiles.sinkTiles);
    Value inWindow = b.subInt(iteration, tiles.sinkTiles);
    return b.addInt(
        b.select(inSinks, op.getKeyBegin(), tiles.windowBegin),
        b.mulInt(b.select(inSinks, iteration, inWindow), tileTokens));
  }

  /// The x' of a tile of a part of K or V before it is rotated back: <t, c>, or
  /// <t, b, e> with scales per block.
  Value emitDequantised(spec::Tensor tensor, unsigned part, StringRef channels,
                        Value start, Value valid) {
    const spec::PartScheme &scheme = spec::schemeOf(spec, tensor)->parts[part];
    Value cache = op.getCache(), head = op.getKvHead();
    RankedTensorType type = b.tile({token(), {channels, scheme.channels()}},
                                   b.elementType(scheme.codec));
    Value codes =
        LoadCodesOp::create(b, type, cache, head, start, valid, tensor, part);
    if (scheme.codec.isRaw())
      return DequantizeOp::create(b, codes, Value(), Value(), 0,
                                  spec::Zero::None);
    const SchemeTiles &tiles = givenOf(tensor, part);
    codes = b.decoded(scheme.codec, codes, tiles.table);
    if (tiles.scale)
      return DequantizeOp::create(b, codes, tiles.scale, Value(), 0,
                                  spec::Zero::None);
    SmallVector<TileDim> dims = {token()};
    if (scheme.blocks() > 1) {
      codes = SplitOp::create(b, codes, scheme.blocks());
      dims.push_back({"b", scheme.blocks()});
    }
    Value scale = LoadScaleOp::create(b, b.f32Tile(dims), cache, head, start,
                                      valid, tensor, part);
    scale = b.effectiveScale(*scheme.scale, scale);
    if (scheme.zero == spec::Zero::None)
      return DequantizeOp::create(b, codes, scale, Value(), 0, scheme.zero);
    Value zero = LoadZeroOp::create(b, b.f32Tile(dims), cache, head, start,
                                    valid, tensor, part);
    return DequantizeOp::create(
        b, codes, scale, zero,
        scheme.codec.isInt() ? int64_t(1) << (scheme.codec.bits - 1) : 0,
        scheme.zero);
  }

  //===--------------------------------------------------------------------===//
  // Scores
  //===--------------------------------------------------------------------===//

  /// What scale and slope are multiplied by: the rest of the way to base 2, or
  /// to the argument of tanh.
  double scoreFactor() const {
    return attention.softcap ? 1.0 / *attention.softcap : std::numbers::log2e;
  }

  /// The x' of each part of K before smoothing is undone: <t, c> or <t, b, e>.
  SmallVector<Value> emitKeys(Value start, Value valid) {
    SmallVector<Value> keys;
    for (auto [i, part] : llvm::enumerate(spec.key.parts)) {
      Value x =
          emitDequantised(spec::Tensor::Key, unsigned(i), "c", start, valid);
      if (part.rotate != 0) {
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

  /// A part of K as the scores take it: in full where RoPE rotates it.
  Value emitRoped(unsigned part, Value x, Value start) {
    if (!isRoped(part))
      return x;
    x = joined(x);
    if (Value smooth = givenOf(spec::Tensor::Key, part).smooth)
      x = b.mul(x, smooth);
    const spec::Rope &rope = *spec.key.rope;
    return RopeOp::create(b, x.getType(), x, start, rope.pairs, rope.dims,
                          rope.offset - spec.key.parts[part].begin,
                          llvm::APFloat(rope.theta));
  }

  Value emitScores(const Rows &rows, ArrayRef<Value> keys, Value start,
                   Value valid) {
    Value scores;
    for (auto [i, query, x] : llvm::enumerate(rows.queries, keys)) {
      Value ofPart =
          ContractOp::create(b, query, emitRoped(unsigned(i), x, start),
                             ArrayRef<StringRef>{"r", "t"});
      scores = scores ? b.add(scores, ofPart) : ofPart;
    }
    scores = b.scale(scores, attention.scale * scoreFactor());
    if (attention.alibi) {
      // Both terms and their sum are whole numbers: exact below 2^24.
      Value fromStart = b.toF32(b.subInt(b.toI64(start), rows.position));
      Value distance =
          b.add(b.broadcast(b.toF32(tokenIota), scores.getType()), fromStart);
      scores = b.add(scores, b.mul(distance, rows.slope));
    }
    if (attention.softcap)
      scores = b.scale(math::TanhOp::create(b, scores),
                       *attention.softcap * std::numbers::log2e);
    Value minusInf =
        b.constantLike(scores, -std::numeric_limits<double>::infinity());
    return b.select(emitVisible(rows, start, valid, scores.getType()), scores,
                    minusInf);
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

  /// One step of the online softmax: the next m, l and o of each piece.
  SmallVector<Value> emitKeyTile(const Rows &rows, Value start, Value keyEnd,
                                 Value m, Value l, ValueRange sums) {
    Value valid = b.minInt(b.subInt(keyEnd, start), tileTokens);
    SmallVector<Value> keys = emitKeys(start, valid);
    Value scores = emitScores(rows, keys, start, valid);

    Value nextM =
        b.max(m, ReduceOp::create(b, ReductionKind::MaxNumF, scores, "t"));
    Value unseen = b.compare(arith::CmpFPredicate::OEQ, nextM,
                             -std::numeric_limits<double>::infinity());
    Value base = b.select(unseen, b.constantLike(m, 0.0), nextM);
    Value p = math::Exp2Op::create(b, b.sub(scores, base));
    Value decay = math::Exp2Op::create(b, b.sub(m, base));
    Value nextL =
        b.add(b.mul(l, decay), ReduceOp::create(b, ReductionKind::Add, p, "t"));

    SmallVector<Value> next{nextM, nextL};
    for (auto [piece, o] : llvm::zip_equal(pieces, sums)) {
      Value sum = emitSum(piece, p, keys, start, valid);
      next.push_back(b.add(b.mul(o, decay), sum));
    }
    return next;
  }

  /// p . v of one piece: <r, d>.
  Value emitSum(const Piece &piece, Value p, ArrayRef<Value> keys, Value start,
                Value valid) {
    Value x;
    if (piece.tensor == spec::Tensor::Value) {
      x = emitDequantised(piece.tensor, piece.part, "d", start, valid);
    } else {
      x = b.slice(joined(keys[piece.part]), piece.first, piece.count, "d");
    }
    if (tileDimsOf(x.getType()).size() == 2)
      return ContractOp::create(b, p, x, ArrayRef<StringRef>{"r", "d"});
    return JoinOp::create(
        b, b.f32Tile({row(), {"d", piece.count}}),
        ContractOp::create(b, p, x, ArrayRef<StringRef>{"r", "b", "e"}));
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
      if (piece.tensor == spec::Tensor::Value) // K's was undone in the loop.
        out = b.rotate(out, partOf(piece).rotate);
      if (Value smooth = givenOf(piece.tensor, piece.part).smooth)
        out = b.mul(out, b.slice(smooth, piece.first, piece.count, "d"));
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
  SmallVector<Piece, 2> pieces; ///< Of V, in the order of their channels.
  SmallVector<SchemeTiles, 2> given[2]; ///< By tensor and part.
  Value tokenIota;                      ///< <t> i32.
  Value rowCount;                       ///< Rows of the work item.
  Value firstPosition; ///< Of query 0; negative where queries outnumber keys.
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
