//===- KVCOps.cpp - Verifiers of level 0 ----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCOps.h"
#include "CachePart.h"
#include "MemRefShape.h"
#include "kvc/Spec/Segments.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

#define GET_OP_CLASSES
#include "kvc/Dialect/KVC/KVCOps.cpp.inc"

using namespace mlir;

namespace kvc {

using detail::Extent;
using detail::MemRefShape;
using detail::schemeOrError;

void KVCDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "kvc/Dialect/KVC/KVCOps.cpp.inc"
      >();
}

/// Absent until the op is scheduled.
static LogicalResult verifyTileRows(Operation *op,
                                    std::optional<int64_t> rows) {
  if (rows && *rows <= 0)
    return op->emitOpError("tile_rows: expected a positive number, got ")
           << *rows;
  return success();
}

LogicalResult AttendOp::verify() {
  const spec::Spec &spec = getCache().getType().getSpec();
  const spec::Attention &attention = spec.attention;
  Type f32 = Float32Type::get(getContext());
  MemRefShape query{{Extent::any("queries"),
                     Extent::of("q_heads", attention.qHeads),
                     Extent::fixed("head_dim", attention.headDim)},
                    {elementTypeOf(getContext(), spec.io.query)}};
  if (failed(query.verify(*this, "query", getQuery()))) // C1
    return failure();
  MemRefShape out{
      {Extent::any("rows"), Extent::fixed("value_dim", attention.valueDim)},
      {f32}};
  if (failed(out.verify(*this, "partial_out", getPartialOut()))) // C2
    return failure();
  MemRefShape lse{{Extent::any("rows")}, {f32}};
  if (failed(lse.verify(*this, "partial_lse", getPartialLse()))) // C3
    return failure();
  if (attention.alibi && !getSlopes()) // C4
    return emitOpError("expected slopes, the spec says alibi");
  MemRefShape slopes{{Extent::of("q_heads", attention.qHeads)}, {f32}};
  if (getSlopes() && failed(slopes.verify(*this, "slopes", getSlopes()))) // C4
    return failure();
  if (failed(verifyTileRows(*this, getTileRows()))) // C5
    return failure();
  if (int64_t tokens = getTileTokens().value_or(1);
      tokens <= 0 || !llvm::isPowerOf2_64(tokens)) // C6
    return emitOpError("tile_tokens: expected a power of two, got ") << tokens;
  return success();
}

LogicalResult AppendOp::verify() {
  const spec::Spec &spec = getCache().getType().getSpec();
  if (!schemeOrError(*this, spec, getTensor())) // C2
    return failure();
  MemRefShape input{
      {Extent::any("tokens"), Extent::of("kv_heads", spec.attention.kvHeads),
       Extent::fixed("channels", spec::channelsOf(spec, getTensor()))},
      {elementTypeOf(getContext(), spec.io.query)}};
  if (failed(input.verify(*this, "input", getInput()))) // C1
    return failure();
  if (spec::hasSegments(spec) && !getCodedEnd()) // C3
    return emitOpError("expected a coded end, the spec has segments");
  return success();
}

LogicalResult MergeOp::verify() {
  const spec::Spec &spec = getSpec().getSpec();
  const spec::Attention &attention = spec.attention;
  Type f32 = Float32Type::get(getContext());
  Extent channels = Extent::fixed("value_dim", attention.valueDim);
  Extent heads = Extent::of("q_heads", attention.qHeads);
  MemRefShape partialOut{{Extent::any("splits"), Extent::any("rows"), channels},
                         {f32}};
  if (failed(partialOut.verify(*this, "partial_out", getPartialOut()))) // C1
    return failure();
  MemRefShape partialLse{{Extent::any("splits"), Extent::any("rows")}, {f32}};
  if (failed(partialLse.verify(*this, "partial_lse", getPartialLse()))) // C2
    return failure();
  if (attention.sinkLogits && !getSinks()) // C3
    return emitOpError("expected sinks, the spec says sink_logits");
  MemRefShape sinks{{heads}, {f32}};
  if (getSinks() && failed(sinks.verify(*this, "sinks", getSinks()))) // C3
    return failure();
  MemRefShape out{{Extent::any("queries"), heads, channels},
                  {elementTypeOf(getContext(), spec.io.output)}};
  if (failed(out.verify(*this, "out", getOut()))) // C4
    return failure();
  MemRefShape lse{{Extent::any("queries"), heads}, {f32}};
  lse.denseInner = false;
  if (failed(lse.verify(*this, "lse", getLse()))) // C5
    return failure();
  return verifyTileRows(*this, getTileRows()); // C6
}

LogicalResult UnpackOp::verify() {
  const spec::PartScheme *found = detail::partOrError(*this);
  if (!found) // C1
    return failure();
  const spec::PartScheme &part = *found;
  Extent tokens = Extent::any("tokens");
  Extent channels = Extent::fixed("channels", part.channels());
  MemRefShape codes{{tokens, channels}, {IntegerType::get(getContext(), 8)}};
  if (failed(codes.verify(*this, "codes", getCodes()))) // C2
    return failure();
  Type f32 = Float32Type::get(getContext());
  MemRefShape factors{{tokens, part.blocks()
                                   ? Extent::fixed("blocks", part.blocks())
                                   : Extent::any("blocks")},
                      {f32}};
  if (failed(factors.verify(*this, "scales", getScales())) ||
      failed(factors.verify(*this, "zeros", getZeros()))) // C3
    return failure();
  MemRefShape x{{tokens, channels}, {f32}};
  if (failed(x.verify(*this, "x", getX()))) // C4
    return failure();
  if (part.outliers == 0)
    return success();
  if (!getOutlierIndices() || !getOutlierValues()) // C5
    return emitOpError("expected outliers, the part has ") << part.outliers;
  MemRefShape outliers{{tokens, Extent::fixed("outliers", part.outliers)},
                       {f32}};
  if (failed(outliers.verify(*this, "outlier_indices",
                             getOutlierIndices()))) // C5
    return failure();
  return outliers.verify(*this, "outlier_values", getOutlierValues()); // C5
}

} // namespace kvc
