//===- TileValue.cpp - Tiles as plain arrays ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/TileValue.h"

using namespace kvc::test;

size_t kvc::test::pointsIn(const TileDims &dims) {
  size_t points = 1;
  for (const auto &dim : dims)
    points *= size_t(dim.second);
  return points;
}

TileValue TileValue::zeros(const TileDims &dims, bool isFloat) {
  TileValue result{dims, {}, {}};
  if (isFloat)
    result.floats.resize(pointsIn(dims));
  else
    result.ints.resize(pointsIn(dims));
  return result;
}

TileValue TileValue::ofInt(int64_t value) { return {{}, {}, {value}}; }

TileValue TileValue::ofFloat(double value) { return {{}, {value}, {}}; }

TileValue kvc::test::broadcast(const TileValue &source, const TileDims &dims) {
  TileValue result = TileValue::zeros(dims, source.isFloat());
  forEachPoint<2>(dims, {&source.dims, &dims}, [&](const auto &offsets) {
    auto [from, to] = offsets;
    if (source.isFloat())
      result.floats[to] = source.floats[from];
    else
      result.ints[to] = source.ints[from];
  });
  return result;
}

TileValue kvc::test::contract(const TileValue &lhs, const TileValue &rhs,
                              const TileDims &dims) {
  TileDims space = lhs.dims;
  for (const auto &dim : rhs.dims)
    if (!llvm::is_contained(space, dim))
      space.push_back(dim);
  TileValue result = TileValue::zeros(dims, true);
  forEachPoint<3>(space, {&lhs.dims, &rhs.dims, &dims},
                  [&](const auto &offsets) {
                    auto [left, right, to] = offsets;
                    result.floats[to] += lhs.floats[left] * rhs.floats[right];
                  });
  return result;
}
