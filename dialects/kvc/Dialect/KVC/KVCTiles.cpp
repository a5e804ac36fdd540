//===- KVCTiles.cpp - Tiles by the names of their dims --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Dialect/KVC/KVCAttrs.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace kvc {

static DimsAttr dimsAttrOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_if_present<DimsAttr>(tensor.getEncoding())
                : DimsAttr();
}

bool isTile(Type type) { return static_cast<bool>(dimsAttrOf(type)); }

SmallVector<StringRef> dimsOf(Type type) {
  SmallVector<StringRef> names;
  if (DimsAttr dims = dimsAttrOf(type))
    for (StringAttr name : dims.getNames())
      names.push_back(name.getValue());
  return names;
}

SmallVector<TileDim> tileDimsOf(Type type) {
  SmallVector<TileDim> dims;
  if (DimsAttr names = dimsAttrOf(type))
    for (auto [name, extent] : llvm::zip_equal(
             names.getNames(), cast<RankedTensorType>(type).getShape()))
      dims.emplace_back(name.getValue(), extent);
  return dims;
}

std::optional<unsigned> findDim(Type type, StringRef dim) {
  if (DimsAttr dims = dimsAttrOf(type))
    for (auto [i, name] : llvm::enumerate(dims.getNames()))
      if (name.getValue() == dim)
        return i;
  return std::nullopt;
}

bool hasDim(Type type, StringRef dim) { return findDim(type, dim).has_value(); }

int64_t extentOf(Type type, StringRef dim) {
  std::optional<unsigned> position = findDim(type, dim);
  return position ? cast<RankedTensorType>(type).getDimSize(*position) : 1;
}

StringRef vectorDimOf(Type tile) { return dimsOf(tile).back(); }

RankedTensorType makeTile(MLIRContext *context, ArrayRef<TileDim> dims,
                          Type element) {
  SmallVector<int64_t> shape;
  SmallVector<StringRef> names;
  for (auto [name, extent] : dims) {
    names.push_back(name);
    shape.push_back(extent);
  }
  return RankedTensorType::get(shape, element, DimsAttr::get(context, names));
}

static RankedTensorType makeLike(Type tile, ArrayRef<TileDim> dims) {
  return makeTile(tile.getContext(), dims,
                  cast<RankedTensorType>(tile).getElementType());
}

RankedTensorType tileWithoutDims(Type tile, ArrayRef<StringRef> dims) {
  SmallVector<TileDim> kept = tileDimsOf(tile);
  llvm::erase_if(kept, [&](const TileDim &dim) {
    return llvm::is_contained(dims, dim.first);
  });
  return makeLike(tile, kept);
}

RankedTensorType tileWithDims(Type tile, ArrayRef<StringRef> dims) {
  SmallVector<TileDim> picked;
  for (StringRef dim : dims)
    picked.emplace_back(dim, extentOf(tile, dim));
  return makeLike(tile, picked);
}

RankedTensorType cloneWithElement(Type tile, Type element) {
  return cast<RankedTensorType>(tile).clone(element);
}

RankedTensorType tileWithSplitLastDim(Type tile, int64_t blocks,
                                      StringRef outer, StringRef inner) {
  SmallVector<TileDim> dims = tileDimsOf(tile);
  int64_t extent = dims.pop_back_val().second;
  dims.emplace_back(outer, blocks);
  dims.emplace_back(inner, extent / blocks);
  return makeLike(tile, dims);
}

RankedTensorType tileWithJoinedLastDims(Type tile, StringRef dim) {
  SmallVector<TileDim> dims = tileDimsOf(tile);
  int64_t inner = dims.pop_back_val().second;
  int64_t outer = dims.pop_back_val().second;
  dims.emplace_back(dim, outer * inner);
  return makeLike(tile, dims);
}

} // namespace kvc
