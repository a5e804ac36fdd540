//===- ExpandAppend.cpp - kvc.append to tiles -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One token per iteration, its channels split into scale blocks: tile <b, e>.
//
// The arithmetic is that of "Quantisation, to the bit" in the spec: f32, every
// operation written there is one operation here, in the same order, without
// fast-math flags; divisions stay divisions. Three things are not written
// there:
//
// - A block whose scale is 0 has codes 0. Dividing by +inf instead of 0 gives
//   exactly that (finite / inf = 0) and never a NaN, so nothing else depends on
//   the case.
// - "Never -0" is one addition of +0.
// - Smallest and largest order -0 below +0, so that the stored bytes do not
//   depend on the order of a reduction.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Transforms/ExpandPatterns.h"
#include "kvc/Transforms/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace kvc;

namespace {

/// What a block of channels is stored as.
struct Quantised {
  Value codes;       ///< Centred, still f32.
  Value scale, zero; ///< zero: null for symmetric codes.
};

/// Emits the arithmetic of one token. `x` is its <b, e> tile.
class Quantiser {
public:
  Quantiser(TileBuilder &b, const spec::PartScheme &scheme, Value x)
      : b(b), scheme(scheme), x(x) {
    blocks = b.f32Tile({{"b", scheme.blocks()}});
  }

  Quantised emit() {
    switch (scheme.zero) {
    case spec::Zero::Min:
      return emitMin();
    case spec::Zero::Code:
      return emitCode();
    default:
      return emitSymmetric();
    }
  }

private:
  int64_t steps() const { return (int64_t(1) << scheme.codec.bits) - 1; }
  int64_t centre() const { return int64_t(1) << (scheme.codec.bits - 1); }

  Quantised emitSymmetric() {
    double largest = centre() - 1;
    Value amax =
        clipped(reduce(ReductionKind::MaximumF, math::AbsFOp::create(b, x)));
    Value scale = round(b.div(amax, largest));
    Value codes = code(b.div(x, divisor(scale)), -largest, largest);
    return {codes, scale, Value()};
  }

  Quantised emitMin() {
    Value low = clipped(reduce(ReductionKind::MinimumF, x));
    Value high = clipped(reduce(ReductionKind::MaximumF, x));
    Value zero = positive(round(low));
    Value scale = round(b.div(b.sub(high, zero), double(steps())));
    Value codes = code(b.div(b.sub(x, zero), divisor(scale)), 0, steps());
    return {b.sub(codes, double(centre())), scale, zero};
  }

  Quantised emitCode() {
    Value low = clipped(reduce(ReductionKind::MinimumF, x));
    Value high = clipped(reduce(ReductionKind::MaximumF, x));
    Value scale = round(b.div(b.sub(high, low), double(steps())));
    Value by = divisor(scale);
    Value zero = positive(round(b.div(arith::NegFOp::create(b, low), by)));
    Value codes = code(b.add(b.div(x, by), zero), 0, steps());
    // A block without spread keeps its value as the scale, with code 0 and zero
    // -1 or 1. Where the value is 0 both come out as 0.
    Value flat = b.compare(arith::CmpFPredicate::OEQ, scale, 0.0);
    Value one = b.constantLike(low, 1.0), none = b.constantLike(low, 0.0),
          minusOne = b.constantLike(low, -1.0);
    Value sign = b.select(
        b.compare(arith::CmpFPredicate::OGT, low, 0.0), minusOne,
        b.select(b.compare(arith::CmpFPredicate::OLT, low, 0.0), one, none));
    Value magnitude = round(math::AbsFOp::create(b, low));
    return {b.sub(codes, double(centre())), b.select(flat, magnitude, scale),
            b.select(flat, sign, zero)};
  }

  Value reduce(ReductionKind kind, Value tile) {
    return ReduceOp::create(b, blocks, kind, tile);
  }
  Value clipped(Value statistic) {
    return scheme.clip == 1.0 ? statistic : b.mul(statistic, scheme.clip);
  }
  /// round_T of the scale's type. f32 holds every quotient but those that
  /// overflowed, which saturate like in any other type.
  Value round(Value value) {
    constexpr double largest = std::numeric_limits<float>::max();
    if (scheme.scale->dtype == spec::DType::F32)
      return b.clamp(value, -largest, largest);
    return RoundToOp::create(b, value.getType(), value, scheme.scale->dtype);
  }
  Value positive(Value value) { return b.add(value, 0.0); }

  /// What x is divided by: the scale, or inf where that is 0.
  Value divisor(Value scale) {
    Value zero = b.compare(arith::CmpFPredicate::OEQ, scale, 0.0);
    return b.select(
        zero,
        b.constantLike(scale, double(std::numeric_limits<float>::infinity())),
        scale);
  }

  Value code(Value value, double low, double high) {
    return b.clamp(math::RoundEvenOp::create(b, value), low, high);
  }

  TileBuilder &b;
  const spec::PartScheme &scheme;
  Value x;
  RankedTensorType blocks;
};

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

    Quantised stored = Quantiser(b, scheme, x).emit();
    Value codes =
        arith::FPToSIOp::create(b, b.tile(dims, element), stored.codes);
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
