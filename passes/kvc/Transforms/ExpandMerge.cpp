//===- ExpandMerge.cpp - kvc.merge to tiles -------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Per row tile: the largest of all log-sums (and of the sink logit), then each
// split weighted by e^(lse - largest). Two loops over the splits instead of one
// that rescales: the log-sums are few, and each output is multiplied once.
//
// Rows without any key have only -inf log-sums; 0 then stands in for the
// largest, so that every weight is e^-inf = 0.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Transforms/ExpandPatterns.h"
#include "kvc/Transforms/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include <numbers>

using namespace mlir;
using namespace kvc;

namespace {

class MergeExpansion {
public:
  MergeExpansion(MergeOp op, OpBuilder &builder)
      : op(op), attention(op.getSpec().getSpec().attention),
        b(op.getLoc(), builder, arith::FastMathFlags::contract) {
    int64_t tileRows = *op.getTileRows();
    perRow = b.f32Tile({{"r", tileRows}});
    output = b.f32Tile({{"r", tileRows}, {"d", attention.valueDim}});
  }

  void emit() {
    rowCount = b.subInt(op.getRowEnd(), op.getRowBegin());
    auto loop = scf::ForOp::create(b, op.getRowBegin(), op.getRowEnd(),
                                   b.index(perRow.getDimSize(0)));
    b.setInsertionPointToStart(loop.getBody());
    emitRowTile(loop.getInductionVar());
  }

private:
  void emitRowTile(Value begin) {
    Value row = b.subInt(begin, op.getRowBegin());
    auto loadLse = [&](Value split) {
      return LoadPartialOp::create(b, perRow, op.getPartialLse(), split, row,
                                   rowCount);
    };

    Value sink;
    if (attention.sinkLogits)
      sink = LoadRowValuesOp::create(b, perRow, op.getSinks(), begin,
                                     op.getRowEnd(), op.getKvHead(),
                                     attention.group());
    Value first =
        sink ? sink
             : b.constant(perRow, -std::numeric_limits<double>::infinity());
    Value largest =
        emitSplits({first},
                   [&](Value split, ValueRange state) -> SmallVector<Value> {
                     return {b.max(state[0], loadLse(split))};
                   })
            .front();

    Value unseen = b.compare(arith::CmpFPredicate::OEQ, largest,
                             -std::numeric_limits<double>::infinity());
    Value base = b.select(unseen, b.constant(perRow, 0.0), largest);
    // 2^(x/2), to be multiplied twice: 2^x is 0 long before the output is,
    // where a sink logit or another split takes nearly everything.
    auto rootOfWeight = [&](Value logSum) {
      return math::Exp2Op::create(
          b, b.mul(b.sub(logSum, base), std::numbers::log2e / 2));
    };
    Value initSum = b.constant(perRow, 0.0);
    if (sink) {
      Value root = rootOfWeight(sink);
      initSum = b.mul(root, root);
    }
    ValueRange sums =
        emitSplits({initSum, b.constant(output, 0.0)},
                   [&](Value split, ValueRange state) -> SmallVector<Value> {
                     Value root = rootOfWeight(loadLse(split));
                     Value part = LoadPartialOp::create(
                         b, output, op.getPartialOut(), split, row, rowCount);
                     return {b.add(state[0], b.mul(root, root)),
                             b.add(state[1], b.mul(b.mul(part, root), root))};
                   });
    emitStores(begin, largest, sums[0], sums[1]);
  }

  /// A loop over the splits that carries `init`.
  ValueRange emitSplits(
      ArrayRef<Value> init,
      llvm::function_ref<SmallVector<Value>(Value split, ValueRange state)>
          body) {
    auto loop =
        scf::ForOp::create(b, b.index(0), op.getNumSplits(), b.index(1), init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(
        b, body(loop.getInductionVar(), loop.getRegionIterArgs()));
    return loop.getResults();
  }

  /// Without key and sink logit the sum and the output are 0; 1 in place of the
  /// sum gives 0 and lse -inf.
  void emitStores(Value begin, Value largest, Value sum, Value out) {
    Value unseen = b.compare(arith::CmpFPredicate::OEQ, sum, 0.0);
    Value safe = b.select(unseen, b.constant(perRow, 1.0), sum);
    Value inverse = b.div(b.constant(perRow, 1.0), safe);
    Value lse =
        b.add(b.mul(math::Log2Op::create(b, safe), std::numbers::ln2), largest);
    StoreOutputOp::create(b, b.mul(out, inverse), op.getOut(), begin,
                          op.getRowEnd(), op.getKvHead(), attention.group());
    StoreOutputOp::create(b, lse, op.getLse(), begin, op.getRowEnd(),
                          op.getKvHead(), attention.group());
  }

  MergeOp op;
  const spec::Attention &attention;
  TileBuilder b;
  RankedTensorType perRow, output; ///< <r> and <r, d>.
  Value rowCount;
};

struct ExpandMerge : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MergeOp op,
                                PatternRewriter &rewriter) const override {
    MergeExpansion(op, rewriter).emit();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void kvc::populateExpandMergePatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandMerge>(patterns.getContext());
}
