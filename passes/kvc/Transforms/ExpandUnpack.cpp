//===- ExpandUnpack.cpp - kvc.unpack to tiles -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One token per iteration, so that any token may be the first. What comes out
// is compared to the bit, so x' is written with the spec's own operations on
// the spec's own codes, each rounding once, instead of a kvc.dequantize: that
// one is free to move zeros and centres about.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/StoredCodes.h"
#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Spec/Segments.h"
#include "kvc/Transforms/ExpandPatterns.h"
#include "kvc/Transforms/TileBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kvc;

namespace {

class UnpackExpansion {
public:
  UnpackExpansion(UnpackOp op, OpBuilder &builder)
      : op(op), spec(op.getCache().getType().getSpec()),
        scheme(spec::schemeOf(spec, op.getTensor())->parts[op.getPart()]),
        b(op.getLoc(), builder) {}

  void emit() {
    given = b.schemeTiles(op.getCache(), op.getKvHead(), op.getTensor(),
                          op.getPart(), "c");
    if (scheme.hasStaticScale())
      staticScales = b.loadScheme(b.f32Tile({{"c", scheme.blocks()}}),
                                  op.getCache(), op.getKvHead(), op.getTensor(),
                                  op.getPart(), spec::RowField::Scale);
    one = b.index(1);
    Value begin = op.getTokenBegin(), end = op.getTokenEnd();
    if (!spec::hasSegments(spec)) {
      forTokens(begin, end, 0, [&] { emitCoded(); });
      return;
    }
    raw = RawRowsOp::create(b, op.getCache());
    int64_t sink = spec.segments.sink;
    Value codedEnd = CodedEndOp::create(b, op.getCache(), op.getTensor());
    if (sink != 0)
      forTokens(begin, b.minInt(end, sink), 0, [&] { emitRawRow(); });
    forTokens(b.maxInt(begin, sink), b.minInt(end, codedEnd), sink,
              [&] { emitCoded(); });
    forTokens(b.maxInt(begin, codedEnd), end, sink - spec::rawBody(spec),
              [&] { emitRawRow(); });
  }

private:
  /// Calls `body` for each token, whose index in its cache is `origin` less.
  void forTokens(Value begin, Value end, int64_t origin,
                 llvm::function_ref<void()> body) {
    auto loop = scf::ForOp::create(b, begin, end, one);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    token = loop.getInductionVar();
    row = b.subInt(token, op.getTokenBegin());
    if (origin != 0)
      token = b.subInt(token, origin);
    body();
  }

  void emitCoded() {
    if (scheme.codec.isRaw())
      emitRaw();
    else
      emitCodes();
  }

  /// A row as it was given; there are no codes.
  void emitRawRow() {
    TileDim one = {"t", 1},
            channels = {"c", spec::channelsOf(spec, op.getTensor())};
    Value x = LoadCodesOp::create(
        b,
        b.tile({one, channels}, elementTypeOf(b.getContext(), spec.io.query)),
        raw, op.getKvHead(), token, this->one, op.getTensor());
    if (spec.io.query != spec::DType::F32)
      x = arith::ExtFOp::create(b, b.f32Tile({one, channels}), x);
    x = b.slice(x, scheme.begin, scheme.channels(), "c");
    store(x, op.getX());
    if (scheme.codec.isRaw())
      return;
    store(b.constant(rows(b.getI8Type()), int64_t(0)), op.getCodes());
    RankedTensorType factor = b.f32Tile({{"t", 1}, {"b", scheme.blocks()}});
    store(b.constant(factor, 0.0), op.getScales());
    if (scheme.zero != spec::Zero::None)
      store(b.constant(factor, 0.0), op.getZeros());
    if (scheme.outliers == 0)
      return;
    Value none = b.constant(outliers(), 0.0);
    store(none, op.getOutlierIndices());
    store(none, op.getOutlierValues());
  }

  RankedTensorType outliers() {
    return b.f32Tile({{"t", 1}, {"o", scheme.outliers}});
  }

  RankedTensorType rows(Type element) {
    return b.tile({{"t", 1}, {"c", scheme.channels()}}, element);
  }

  template <typename LoadOp>
  Value load(RankedTensorType type) {
    return LoadOp::create(b, type, op.getCache(), op.getKvHead(), token, one,
                          op.getTensor(), op.getPart());
  }

  void store(Value tile, Value memory) {
    StoreRowsOp::create(b, tile, memory, row, one);
  }

  void emitRaw() {
    Value x = load<LoadCodesOp>(rows(b.elementType(scheme.codec)));
    if (scheme.codec.raw != spec::DType::F32)
      x = arith::ExtFOp::create(b, rows(b.getF32Type()), x);
    storeValues(x);
  }

  /// What is written before outliers are put in, rotation and smoothing undone.
  void storeValues(Value x) {
    if (scheme.outliers > 0) {
      Value index = load<LoadOutlierIndicesOp>(outliers());
      Value value = load<LoadOutlierValuesOp>(outliers());
      store(index, op.getOutlierIndices());
      store(value, op.getOutlierValues());
      x = PatchOp::create(b, x, index, value);
    }
    x = b.rotate(x, scheme.rotate);
    store(given.smooth ? b.mul(x, given.smooth) : x, op.getX());
  }

  /// A scale that is 0 gives x' = 0, but its product with code 0 is -0 where
  /// the table begins with a negative entry or the scale is -0 itself.
  bool hasNegativeZeros() const {
    return scheme.codesFrom == spec::CodesFrom::Stored &&
           scheme.scale->dtype != spec::DType::E8M0 &&
           (scheme.codec.kind == spec::CodecKind::Lut ||
            scheme.estimate == spec::Estimate::Signed);
  }

  void emitCodes() {
    int64_t blocks = scheme.blocks();
    bool isUnsigned = scheme.codec.isInt() && scheme.zero != spec::Zero::None;
    int64_t centre = isUnsigned ? middleOfCodes(scheme.codec) : 0;
    RankedTensorType factor = b.f32Tile({{"t", 1}, {"b", blocks}});
    Value centred = load<LoadCodesOp>(rows(b.getI8Type()));
    Value scale =
        staticScales
            ? b.broadcast(staticScales, b.f32Tile({{"t", 1}, {"c", blocks}}))
            : load<LoadScaleOp>(factor);
    Value zero =
        scheme.zero == spec::Zero::None ? Value() : load<LoadZeroOp>(factor);

    // Unsigned codes of 8 bits wrap into i8, which is their bit pattern.
    store(centre == 0 ? centred
                      : b.addInt(centred, static_cast<int8_t>(centre)),
          op.getCodes());
    store(scale, op.getScales());
    scale = b.effectiveScale(*scheme.scale, scale);
    if (zero)
      store(zero, op.getZeros());

    Value u = b.decoded(scheme.codec, centred, given.table);
    if (scheme.codec.isInt())
      u = arith::SIToFPOp::create(b, rows(b.getF32Type()), centred);
    if (centre != 0)
      u = b.add(u, double(centre)); // Exact.
    if (given.scale)
      return storeValues(b.mul(u, given.scale));
    u = SplitOp::create(b, u, blocks);
    Value x;
    switch (scheme.zero) {
    case spec::Zero::Min:
    case spec::Zero::Mid:
      x = b.add(b.mul(u, scale), zero);
      break;
    case spec::Zero::Code:
      x = b.mul(b.sub(u, zero), scale);
      break;
    default:
      x = b.mul(u, scale);
      if (hasNegativeZeros())
        x = b.select(b.compare(arith::CmpFPredicate::OEQ,
                               b.broadcast(scale, u.getType()), 0.0),
                     b.constant(cast<RankedTensorType>(x.getType()), 0.0), x);
    }
    x = JoinOp::create(b, rows(b.getF32Type()), x);
    storeValues(x);
  }

  UnpackOp op;
  const spec::Spec &spec;
  const spec::PartScheme &scheme;
  TileBuilder b;
  SchemeTiles given;
  Value staticScales; ///< <c>, a scale per block.
  Value raw;          ///< Raw rows; null without segments.
  Value token, row, one;
};

struct ExpandUnpack : OpRewritePattern<UnpackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(UnpackOp op,
                                PatternRewriter &rewriter) const override {
    UnpackExpansion(op, rewriter).emit();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void kvc::populateExpandUnpackPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandUnpack>(patterns.getContext());
}
