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
    TileBuilder b(op.getLoc(), rewriter);
    auto loop =
        scf::ForOp::create(b, op.getTokenBegin(), op.getTokenEnd(), b.index(1));
    b.setInsertionPointToStart(loop.getBody());
    const spec::Scheme &scheme = *spec::schemeOf(spec, op.getTensor());
    for (unsigned part = 0; part < scheme.parts.size(); ++part)
      emitToken(b, op, spec, part, loop.getInductionVar());
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void emitToken(TileBuilder &b, AppendOp op, const spec::Spec &spec,
                        unsigned part, Value token) {
    Value cache = op.getCache(), head = op.getKvHead();
    spec::Tensor tensor = op.getTensor();
    const spec::PartScheme &scheme = spec::schemeOf(spec, tensor)->parts[part];
    int64_t blocks = std::max<int64_t>(scheme.blocks(), 1);
    SmallVector<TileDim> dims = {{"b", blocks},
                                 {"e", scheme.channels() / blocks}};
    Value row = b.subInt(token, op.getTokenBegin());
    auto load = [&](RankedTensorType type) -> Value {
      return LoadInputOp::create(b, type, op.getInput(), row, head,
                                 scheme.begin);
    };
    Value x;
    if (scheme.rotate == 0) {
      x = load(b.f32Tile(dims));
    } else {
      // Rotations do not end where scale blocks do.
      x = load(b.f32Tile({{"b", 1}, {"e", scheme.channels()}}));
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

    Quantised stored = quantise(b, scheme, x);
    // The row as one block: a byte may hold codes of two.
    Value codes =
        SplitOp::create(b, JoinOp::create(b, stored.codes, "c"), /*blocks=*/1);
    StoreCodesOp::create(b, codes, cache, head, token, tensor, part);
    StoreScaleOp::create(b, stored.scale, cache, head, token, tensor, part);
    if (stored.zero)
      StoreZeroOp::create(b, stored.zero, cache, head, token, tensor, part);
  }

  static Value emitRawRounding(TileBuilder &b, const spec::Spec &spec,
                               const spec::PartScheme &scheme, Value x) {
    bool isAsGiven = scheme.rotate == 0;
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
};

} // namespace

void kvc::populateExpandAppendPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandAppend>(patterns.getContext());
}
