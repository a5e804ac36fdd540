//===- ExpandAppend.cpp - kvc.append to tiles -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One token per iteration, its channels split into scale blocks: tile <b, e>.
// Of scale blocks of several tokens one per iteration: <t, b, e>, or <t, c>
// where a block has one channel, which vectors then run over.
//
// With segments three loops: tokens that become codes, of which some are raw
// rows already; new rows of the sink; new rows behind the codes.
//
// How it is quantised: Quantiser.cpp.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Spec/Segments.h"
#include "kvc/Transforms/ExpandPatterns.h"
#include "kvc/Transforms/Quantiser.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kvc;

namespace {

class AppendExpansion {
public:
  AppendExpansion(AppendOp op, OpBuilder &builder)
      : op(op), spec(op.getCache().getType().getSpec()),
        parts(spec::schemeOf(spec, op.getTensor())->parts),
        b(op.getLoc(), builder) {}

  void emit() {
    for (unsigned part = 0; part < parts.size(); ++part)
      given.push_back(loadScheme(part));
    if (!spec::hasSegments(spec)) {
      forTokens(op.getTokenBegin(), op.getTokenEnd(), [&](Value token) {
        for (unsigned part = 0; part < parts.size(); ++part)
          emitToken(part, token);
      });
      return;
    }
    raw = RawRowsOp::create(b, op.getCache());
    sink = spec.segments.sink;
    // Codes first: they are made of raw rows that are still there.
    Value codedEnd = CodedEndOp::create(b, op.getCache(), op.getTensor());
    for (unsigned part = 0; part < parts.size(); ++part) {
      int64_t tokens = tokensOf(part);
      forTokens(
          codedEnd, op.getCodedEnd(),
          [&](Value token) {
            if (tokens > 1)
              emitBlock(part, token, tokens);
            else
              emitToken(part, token);
          },
          tokens);
    }
    if (sink != 0)
      forTokens(op.getTokenBegin(), b.minInt(op.getTokenEnd(), sink),
                [&](Value token) { emitRawRow(token, token); });
    forTokens(b.maxInt(op.getTokenBegin(), op.getCodedEnd()), op.getTokenEnd(),
              [&](Value token) {
                emitRawRow(token, b.addInt(token, spec::rawBody(spec) - sink));
              });
  }

private:
  /// What a part takes beside k and v.
  struct Given {
    SchemeTiles tiles;
    QuantiserTables tables;
  };

  int64_t tokensOf(unsigned part) const {
    return parts[part].scale && !parts[part].hasStaticScale()
               ? parts[part].scale->tokens
               : 1;
  }

  Given loadScheme(unsigned part) {
    auto load = [&](Type type, spec::RowField field) {
      return b.loadScheme(type, op.getCache(), op.getKvHead(), op.getTensor(),
                          part, field);
    };
    Given result{b.schemeTiles(op.getCache(), op.getKvHead(), op.getTensor(),
                               part, tokensOf(part) > 1 ? "c" : "e"),
                 {}};
    if (!result.tiles.table)
      return result;
    Type row = result.tiles.table.getType();
    result.tables = {load(row, spec::RowField::Thresholds),
                     load(row, spec::RowField::Codes),
                     load(b.getF32Type(), spec::RowField::Largest)};
    return result;
  }

  void forTokens(Value begin, Value end,
                 llvm::function_ref<void(Value token)> body, int64_t step = 1) {
    auto loop = scf::ForOp::create(b, begin, end, b.index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  /// Stores a new token as it was given, in row `row` of the raw rows.
  void emitRawRow(Value token, Value row) {
    int64_t channels = spec::channelsOf(spec, op.getTensor());
    SmallVector<TileDim> dims = {{"b", 1}, {"e", channels}};
    Value x = LoadInputOp::create(b, b.f32Tile(dims), op.getInput(),
                                  b.subInt(token, op.getTokenBegin()),
                                  op.getKvHead());
    Type element = elementTypeOf(b.getContext(), spec.io.query);
    if (!element.isF32())
      x = arith::TruncFOp::create(b, b.tile(dims, element), x);
    StoreCodesOp::create(b, x, raw, op.getKvHead(), row, op.getTensor(),
                         /*part=*/0);
  }

  /// A token as it was given, <b, e>, or the tokens of a tile with a dim t.
  Value loadRows(RankedTensorType type, Value token, int64_t channel) {
    Value row = b.subInt(token, op.getTokenBegin());
    if (!raw)
      return LoadInputOp::create(b, type, op.getInput(), row, op.getKvHead(),
                                 channel);
    Value old = b.minInt(b.maxInt(b.subInt(op.getTokenBegin(), token), 0),
                         extentOf(type, "t"));
    return LoadGivenOp::create(b, type, raw, op.getKvHead(),
                               b.addInt(token, spec::rawBody(spec) - sink), old,
                               op.getInput(), row, op.getTensor(), channel);
  }

  /// The index of a token in the cache of codes.
  Value inBody(Value token) {
    return sink == 0 ? token : b.subInt(token, sink);
  }

  /// A scale block of several tokens. Its rows are loaded anew for each use:
  /// they may be many.
  void emitBlock(unsigned part, Value token, int64_t tokens) {
    const spec::PartScheme &scheme = parts[part];
    Value cache = op.getCache(), head = op.getKvHead();
    spec::Tensor tensor = op.getTensor();
    int64_t blocks = scheme.blocks(), width = scheme.blockChannels();
    TileDim t = {"t", tokens};
    RankedTensorType rows = b.f32Tile({t, {"c", scheme.channels()}});
    bool isSplit = width != 1;
    RankedTensorType split =
        isSplit ? b.f32Tile({t, {"b", blocks}, {"e", width}}) : rows;
    auto transformed = [&](Value x) {
      if (scheme.smooth)
        x = b.div(x, given[part].tiles.smooth);
      return b.rotate(x, scheme.rotate);
    };
    auto load = [&]() -> Value {
      bool isAsGiven = scheme.rotate == 0 && !scheme.smooth;
      if (isSplit && isAsGiven)
        return loadRows(split, token, scheme.begin);
      Value x = transformed(loadRows(rows, token, scheme.begin));
      return isSplit ? Value(SplitOp::create(b, x, blocks)) : x;
    };
    Value index, end = b.addInt(token, tokens);
    if (scheme.outliers > 0) {
      // Row by row; then all of the block at once, as they were stored.
      RankedTensorType row = b.f32Tile({{"t", 1}, {"c", scheme.channels()}});
      forTokens(token, end, [&](Value each) {
        emitOutliers(part, transformed(loadRows(row, each, scheme.begin)),
                     /*staticScale=*/Value(), inBody(each));
      });
      index = LoadOutlierIndicesOp::create(
          b, b.f32Tile({t, {"o", scheme.outliers}}), cache, head, inBody(token),
          b.index(tokens), tensor, part);
    }
    auto isOutlier = [&] { return emitIsOutlier(split, index); };
    Quantised stored =
        quantise(b, scheme, {load, index ? MakeTile(isOutlier) : MakeTile()},
                 b.f32Tile({{isSplit ? "b" : "c", blocks}}), Value(),
                 given[part].tables);
    token = inBody(token);
    Value codes = stored.codes;
    if (isSplit) // A byte may hold codes of two blocks.
      codes = JoinOp::create(b, codes, "c");
    StoreCodesOp::create(b, codes, cache, head, token, tensor, part);
    StoreScaleOp::create(b, stored.scale, cache, head, token, tensor, part);
    if (stored.zero)
      StoreZeroOp::create(b, stored.zero, cache, head, token, tensor, part);
  }

  void emitToken(unsigned part, Value token) {
    const spec::PartScheme &scheme = parts[part];
    Value cache = op.getCache(), head = op.getKvHead();
    spec::Tensor tensor = op.getTensor();
    // A static scale is one of channels.
    int64_t blocks = std::max<int64_t>(scheme.dynamicBlocks(), 1);
    SmallVector<TileDim> dims = {{"b", blocks},
                                 {"e", scheme.channels() / blocks}};
    Value x, index;
    if (scheme.rotate == 0 && !scheme.smooth && scheme.outliers == 0) {
      x = loadRows(b.f32Tile(dims), token, scheme.begin);
    } else {
      // Neither smoothing factors, rotations nor outliers end where scale
      // blocks do.
      x = loadRows(b.f32Tile({{"b", 1}, {"e", scheme.channels()}}), token,
                   scheme.begin);
      if (scheme.smooth)
        x = b.div(x, given[part].tiles.smooth);
      x = b.rotate(x, scheme.rotate);
      if (scheme.outliers > 0)
        index = emitOutliers(part, x, given[part].tiles.scale, inBody(token));
      if (blocks > 1)
        x = SplitOp::create(b, JoinOp::create(b, x, "c"), blocks);
    }
    Type element = b.elementType(scheme.codec);
    token = inBody(token);

    if (scheme.codec.isRaw()) {
      x = emitRawRounding(b, spec, scheme, x);
      if (!element.isF32())
        x = arith::TruncFOp::create(b, b.tile(dims, element), x);
      StoreCodesOp::create(b, x, cache, head, token, tensor, part);
      return;
    }

    auto isOutlier = [&] { return emitIsOutlier(b.f32Tile(dims), index); };
    Quantised stored =
        quantise(b, scheme,
                 {[&] { return x; }, index ? MakeTile(isOutlier) : MakeTile()},
                 b.f32Tile({{"b", blocks}}), given[part].tiles.scale,
                 given[part].tables);
    // The row as one block: a byte may hold codes of two.
    Value codes =
        SplitOp::create(b, JoinOp::create(b, stored.codes, "c"), /*blocks=*/1);
    StoreCodesOp::create(b, codes, cache, head, token, tensor, part);
    if (stored.scale)
      StoreScaleOp::create(b, stored.scale, cache, head, token, tensor, part);
    if (stored.zero)
      StoreZeroOp::create(b, stored.zero, cache, head, token, tensor, part);
  }

  /// Stores the outliers of a row of channels, token `token` of the codes, and
  /// says which they are. Magnitudes count in steps of a scale that is given.
  Value emitOutliers(unsigned part, Value x, Value staticScale, Value token) {
    const spec::PartScheme &scheme = parts[part];
    Value cache = op.getCache(), head = op.getKvHead();
    spec::Tensor tensor = op.getTensor();
    RankedTensorType outliers = b.f32Tile({{"o", scheme.outliers}});
    Value magnitude = math::AbsFOp::create(b, x);
    if (staticScale)
      magnitude = b.div(magnitude, staticScale);
    Value index = FindOutliersOp::create(b, outliers, magnitude);
    Value value = PickOp::create(b, x, index);
    value = RoundToOp::create(b, outliers, value, spec::DType::F16);
    StoreOutlierIndicesOp::create(b, index, cache, head, token, tensor, part);
    StoreOutlierValuesOp::create(b, value, cache, head, token, tensor, part);
    return index;
  }
  Value emitIsOutlier(RankedTensorType tile, Value index) {
    Value marks = PatchOp::create(b, b.constant(tile, 0.0), index,
                                  b.constant(index.getType(), 1.0));
    return b.compare(arith::CmpFPredicate::OEQ, marks, 1.0);
  }

  static Value emitRawRounding(TileBuilder &b, const spec::Spec &spec,
                               const spec::PartScheme &scheme, Value x) {
    bool isAsGiven = scheme.rotate == 0 && !scheme.smooth;
    if (scheme.codec.raw != spec::DType::F32) {
      // Values that io.query holds exactly need no rounding to it.
      return isAsGiven && scheme.codec.raw == spec.io.query
                 ? x
                 : RoundToOp::create(b, x.getType(), x, scheme.codec.raw)
                       .getResult();
    }
    if (isAsGiven)
      return x;
    // f32 holds a rotated value unless it overflowed; NaN stays.
    constexpr double largest = std::numeric_limits<float>::max();
    x = arith::MinimumFOp::create(b, x, b.constantLike(x, largest));
    return arith::MaximumFOp::create(b, x, b.constantLike(x, -largest));
  }

  AppendOp op;
  const spec::Spec &spec;
  const std::vector<spec::PartScheme> &parts;
  TileBuilder b;
  SmallVector<Given, 2> given; ///< By part.
  Value raw;                   ///< Raw rows; null without segments.
  int64_t sink = 0;
};

struct ExpandAppend : OpRewritePattern<AppendOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AppendOp op,
                                PatternRewriter &rewriter) const override {
    AppendExpansion(op, rewriter).emit();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void kvc::populateExpandAppendPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandAppend>(patterns.getContext());
}
