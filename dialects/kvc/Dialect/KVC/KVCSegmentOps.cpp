//===- KVCSegmentOps.cpp - Raw rows and codes -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "MemRefShape.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Spec/Segments.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kvc {

using detail::Extent;
using detail::MemRefShape;

static LogicalResult verifyHasSegments(Operation *op, CacheType cache) {
  if (spec::hasSegments(cache.getSpec()))
    return success();
  return op->emitOpError("the spec has no segments");
}

static CacheType rawRowsType(CacheType cache) {
  return CacheType::get(
      SpecAttr::get(cache.getContext(), spec::rawRows(cache.getSpec())));
}

void RawRowsOp::build(OpBuilder &builder, OperationState &state, Value cache) {
  build(builder, state, rawRowsType(cast<CacheType>(cache.getType())), cache);
}

LogicalResult RawRowsOp::verify() {
  if (failed(verifyHasSegments(*this, getCache().getType()))) // C1
    return failure();
  CacheType expected = rawRowsType(getCache().getType());
  if (getType() != expected) // C1
    return emitOpError("expected a result of type ")
           << expected << ", got " << getType();
  return success();
}

void CodedEndOp::build(OpBuilder &builder, OperationState &state, Value cache,
                       spec::Tensor tensor) {
  build(builder, state, builder.getIndexType(), cache, tensor);
}

LogicalResult CodedEndOp::verify() {
  CacheType cache = getCache().getType();
  if (failed(verifyHasSegments(*this, cache))) // C1
    return failure();
  if (!spec::schemeOf(cache.getSpec(), getTensor())) // C1
    return emitOpError("tensor: the spec has no ")
           << stringifyTensor(getTensor()) << ", its value is the key";
  return success();
}

LogicalResult LoadGivenOp::verify() {
  MLIRContext *context = getContext();
  MemRefType memref = getMemref().getType();
  MemRefShape shape{{Extent::any("tokens"), Extent::any("kv_heads"),
                     Extent::known("channels")},
                    {Float16Type::get(context), BFloat16Type::get(context),
                     Float32Type::get(context)}};
  if (failed(shape.verify(*this, "memref", memref))) // C1
    return failure();
  RankedTensorType tile = getType();
  int64_t available = memref.getShape().back(), first = getChannel();
  int64_t channels = tile.getNumElements() / extentOf(tile, "t");
  if (tile.getRank() != 2 && tile.getRank() != 3) // C2
    return emitOpError("expected a tile with 2 or 3 dims, got ") << tile;
  if (first < 0 || first > available || channels > available - first) // C2
    return emitOpError("expected channels inside [0, ")
           << available << "), got " << channels << " from " << first;
  const spec::Scheme *scheme =
      spec::schemeOf(getRaw().getType().getSpec(), getTensor());
  if (!scheme || !scheme->isRaw() || scheme->parts.size() != 1) // C3
    return emitOpError("raw: expected raw rows of the ")
           << stringifyTensor(getTensor());
  const spec::PartScheme &part = scheme->parts.front();
  if (part.channels() != available ||
      elementTypeOf(context, part.codec.raw) != memref.getElementType()) // C3
    return emitOpError("raw: expected rows of ")
           << available << " x " << memref.getElementType() << ", got "
           << part.channels() << " x "
           << elementTypeOf(context, part.codec.raw);
  return success();
}

} // namespace kvc
