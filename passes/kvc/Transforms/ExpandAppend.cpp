//===- ExpandAppend.cpp - kvc.append to tiles -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One token per iteration, its channels split into scale blocks: tile <b, e>.
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
    const spec::PartScheme &scheme =
        spec::schemeOf(spec, op.getTensor())->parts.front();
    TileBuilder b(op.getLoc(), rewriter);
    auto loop =
        scf::ForOp::create(b, op.getTokenBegin(), op.getTokenEnd(), b.index(1));
    b.setInsertionPointToStart(loop.getBody());
    emitToken(b, op, spec, scheme, loop.getInductionVar());
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void emitToken(TileBuilder &b, AppendOp op, const spec::Spec &spec,
                        const spec::PartScheme &scheme, Value token) {
    Value cache = op.getCache(), head = op.getKvHead();
    TensorAttr tensor = op.getTensorAttr();
    int64_t blocks = std::max<int64_t>(scheme.blocks(), 1);
    SmallVector<Dim> dims = {{"b", blocks}, {"e", scheme.channels() / blocks}};
    Value row = b.subInt(token, op.getTokenBegin());
    Value x = LoadInputOp::create(b, b.f32Tile(dims), op.getInput(), row, head);
    Type element = b.elementType(scheme.codec);

    if (scheme.codec.isRaw()) {
      // Values that io.query holds exactly need no rounding to it or to f32.
      if (scheme.codec.raw != spec.io.query &&
          scheme.codec.raw != spec::DType::F32)
        x = RoundToOp::create(b, x.getType(), x, scheme.codec.raw);
      if (!element.isF32())
        x = arith::TruncFOp::create(b, b.tile(dims, element), x);
      StoreCodesOp::create(b, x, cache, head, token, tensor);
      return;
    }

    Quantised stored = quantise(b, scheme, x);
    // The row as one block: a byte may hold codes of two.
    Value codes =
        SplitOp::create(b, JoinOp::create(b, stored.codes, "c"), /*blocks=*/1);
    StoreCodesOp::create(b, codes, cache, head, token, tensor);
    StoreScaleOp::create(b, stored.scale, cache, head, token, tensor);
    if (stored.zero)
      StoreZeroOp::create(b, stored.zero, cache, head, token, tensor);
  }
};

} // namespace

void kvc::populateExpandAppendPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandAppend>(patterns.getContext());
}
