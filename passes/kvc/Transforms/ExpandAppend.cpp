//===- ExpandAppend.cpp - kvc.append to tiles -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One token per iteration, part by part, its channels split into scale blocks:
// tile <b, e>.
//
// How it is quantised: Quantiser.cpp.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Transforms/ExpandPatterns.h"
#include "kvc/Transforms/Quantiser.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kvc;

namespace {

struct ExpandAppend : OpRewritePattern<AppendOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AppendOp op,
                                PatternRewriter &rewriter) const override {
    const spec::Spec &spec = op.getCache().getType().getSpec();
    const spec::Scheme &scheme = *spec::schemeOf(spec, op.getTensor());
    TileBuilder b(op.getLoc(), rewriter);
    SmallVector<Given, 2> given;
    for (unsigned part = 0; part < scheme.parts.size(); ++part)
      given.push_back(loadGiven(b, op, part));
    auto loop =
        scf::ForOp::create(b, op.getTokenBegin(), op.getTokenEnd(), b.index(1));
    b.setInsertionPointToStart(loop.getBody());
    for (unsigned part = 0; part < scheme.parts.size(); ++part)
      emitToken(b, op, spec, part, given[part], loop.getInductionVar());
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// What a part takes beside k and v.
  struct Given {
    SchemeTiles tiles;
    QuantiserTables tables;
  };

  static Given loadGiven(TileBuilder &b, AppendOp op, unsigned part) {
    auto load = [&](Type type, spec::RowField field) {
      return b.loadScheme(type, op.getCache(), op.getKvHead(), op.getTensor(),
                          part, field);
    };
    Given given{
        b.schemeTiles(op.getCache(), op.getKvHead(), op.getTensor(), part, "e"),
        {}};
    if (!given.tiles.table)
      return given;
    Type row = given.tiles.table.getType();
    given.tables = {load(row, spec::RowField::Thresholds),
                    load(row, spec::RowField::Codes),
                    load(b.getF32Type(), spec::RowField::Largest)};
    return given;
  }

  static void emitToken(TileBuilder &b, AppendOp op, const spec::Spec &spec,
                        unsigned part, const Given &given, Value token) {
    Value cache = op.getCache(), head = op.getKvHead();
    spec::Tensor tensor = op.getTensor();
    const spec::PartScheme &scheme = spec::schemeOf(spec, tensor)->parts[part];
    // A static scale is one of channels.
    int64_t blocks = std::max<int64_t>(scheme.dynamicBlocks(), 1);
    SmallVector<TileDim> dims = {{"b", blocks},
                                 {"e", scheme.channels() / blocks}};
    Value row = b.subInt(token, op.getTokenBegin());
    auto load = [&](RankedTensorType type) -> Value {
      return LoadInputOp::create(b, type, op.getInput(), row, head,
                                 scheme.begin);
    };
    Value x;
    if (scheme.rotate == 0 && !scheme.smooth) {
      x = load(b.f32Tile(dims));
    } else {
      // Neither smoothing factors nor rotations end where scale blocks do.
      x = load(b.f32Tile({{"b", 1}, {"e", scheme.channels()}}));
      if (scheme.smooth)
        x = b.div(x, given.tiles.smooth);
      x = b.rotate(x, scheme.rotate);
      if (blocks > 1)
        x = SplitOp::create(b, JoinOp::create(b, x, "c"), blocks);
    }
    Type element = b.elementType(scheme.codec);

    if (scheme.codec.isRaw()) {
      x = emitRawRounding(b, spec, scheme, x);
      if (!element.isF32())
        x = arith::TruncFOp::create(b, b.tile(dims, element), x);
      StoreCodesOp::create(b, x, cache, head, token, tensor, part);
      return;
    }

    Quantised stored = quantise(b, scheme, x, given.tiles.scale, given.tables);
    // The row as one block: a byte may hold codes of two.
    Value codes =
        SplitOp::create(b, JoinOp::create(b, stored.codes, "c"), /*blocks=*/1);
    StoreCodesOp::create(b, codes, cache, head, token, tensor, part);
    if (stored.scale)
      StoreScaleOp::create(b, stored.scale, cache, head, token, tensor, part);
    if (stored.zero)
      StoreZeroOp::create(b, stored.zero, cache, head, token, tensor, part);
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
    // f32 holds a transformed value unless it overflowed; NaN stays.
    constexpr double largest = std::numeric_limits<float>::max();
    x = arith::MinimumFOp::create(b, x, b.constantLike(x, largest));
    return arith::MaximumFOp::create(b, x, b.constantLike(x, -largest));
  }
};

} // namespace

void kvc::populateExpandAppendPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandAppend>(patterns.getContext());
}
