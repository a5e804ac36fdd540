//===- TileValues.cpp - Where a tile lives at level 3 ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "TileValues.h"

#include "Converter.h"

#include "kvc/Analysis/StoredCodes.h"
#include "kvc/Layout/PageLayout.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace kvc {

namespace {

bool isChannelDim(StringRef name) {
  return name == "c" || name == "d" || name == "e" || name == "n";
}

/// Tokens of the largest tile of attention. Scale blocks may have any number of
/// them.
constexpr int64_t kMostTileTokens = 256;

int64_t divisorUpTo(int64_t extent, int64_t most) {
  while (extent % most != 0)
    --most;
  return most;
}

} // namespace

int64_t chunkLanes(int64_t extent) {
  constexpr int64_t most = 128, least = 8;
  if (extent <= most)
    return extent;
  for (int64_t lanes = most; lanes >= least; lanes -= least)
    if (extent % lanes == 0)
      return lanes;
  return extent;
}

TileShape TileShape::of(Type tile) {
  auto tensor = cast<RankedTensorType>(tile);
  TileShape shape;
  shape.element = tensor.getElementType();
  SmallVector<TileDim> dims = tileDimsOf(tile);
  for (const TileDim &dim : dims)
    if (isChannelDim(dim.first))
      shape.vector = dim;
  for (const TileDim &dim : dims)
    if (!shape.vector && dim.first == "t")
      shape.vector = dim;
  for (StringRef name : {"r", "t", "b", "o"})
    for (const TileDim &dim : dims)
      if (dim.first == name && !(shape.vector && shape.vector->first == name))
        shape.loops.push_back({dim.first, dim.second});
  if (!shape.vector)
    return shape;
  auto [dim, extent] = *shape.vector;
  int64_t lanes = isChannelDim(dim)          ? chunkLanes(extent)
                  : extent > kMostTileTokens ? divisorUpTo(extent, 128)
                                             : extent;
  if (lanes < extent)
    shape.loops.push_back({dim, extent, lanes});
  return shape;
}

bool TileShape::isLoop(StringRef dim) const {
  return llvm::any_of(loops, [&](const TileLoop &loop) {
    return loop.dim == dim && !loop.isChunks();
  });
}

Type TileShape::iterationType() const {
  if (!vector)
    return element;
  bool isChunked = !loops.empty() && loops.back().isChunks();
  return VectorType::get({isChunked ? loops.back().step : vector->second},
                         element);
}

MemRefType TileShape::scratchType() const {
  SmallVector<int64_t> extents;
  for (const TileLoop &loop : loops)
    if (!loop.isChunks())
      extents.push_back(loop.extent);
  if (vector)
    extents.push_back(vector->second);
  return MemRefType::get(extents, element);
}

StoredCodes::StoredCodes(CacheType cache, spec::Tensor tensor, unsigned part) {
  MLIRContext *context = cache.getContext();
  const spec::PartScheme &scheme =
      spec::schemeOf(cache.getSpec(), tensor)->parts[part];
  if (scheme.codec.isRaw()) {
    element = elementTypeOf(context, scheme.codec.raw);
    return;
  }
  element = IntegerType::get(context, scheme.codec.bits);
  unsigned low = layout::lowBits(cache.getSpec().layout, scheme.codec);
  lowBits = low < scheme.codec.bits ? low : 0;
  centre = storedCentre(scheme);
}

} // namespace kvc
