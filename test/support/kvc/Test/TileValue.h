//===- TileValue.h - Tiles as plain arrays ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A tile of the dialect kvc as an array of f64 or i64 with named dims, and what
// is done to tiles by the names of their dims.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_TILEVALUE_H
#define KVC_TEST_TILEVALUE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace kvc::test {

/// Name and extent of each dim, outermost first.
using TileDims = llvm::SmallVector<std::pair<llvm::StringRef, int64_t>, 3>;

size_t pointsIn(const TileDims &dims);

/// A tile, or a scalar: a tile without dims. Elements are row-major and of one
/// kind; the other vector is empty. Names live as long as their MLIRContext.
struct TileValue {
  TileDims dims;
  std::vector<double> floats;
  std::vector<int64_t> ints;

  bool isFloat() const { return !floats.empty(); }
  size_t size() const { return isFloat() ? floats.size() : ints.size(); }

  static TileValue zeros(const TileDims &dims, bool isFloat);
  static TileValue ofInt(int64_t value);
  static TileValue ofFloat(double value);
};

/// Calls visit(offsets) at every point of `space`, row-major, with the offset
/// of that point in each of `tiles`, which may lack dims of the space.
template <size_t N, typename Visit>
void forEachPoint(const TileDims &space,
                  const std::array<const TileDims *, N> &tiles, Visit visit) {
  llvm::SmallVector<std::array<size_t, N>, 4> steps(space.size());
  for (size_t i = 0; i < N; ++i) {
    size_t stride = 1;
    for (const auto &[name, extent] : llvm::reverse(*tiles[i])) {
      for (size_t d = 0; d < space.size(); ++d)
        if (space[d].first == name)
          steps[d][i] = stride;
      stride *= size_t(extent);
    }
    for (size_t d = 0; d < space.size(); ++d)
      if (llvm::none_of(*tiles[i], [&](const auto &dim) {
            return dim.first == space[d].first;
          }))
        steps[d][i] = 0;
  }

  llvm::SmallVector<int64_t, 4> at(space.size(), 0);
  std::array<size_t, N> offsets{};
  for (size_t left = pointsIn(space); left > 0; --left) {
    visit(offsets);
    for (size_t d = space.size(); d-- > 0;) {
      for (size_t i = 0; i < N; ++i)
        offsets[i] += steps[d][i];
      if (++at[d] < space[d].second)
        break;
      for (size_t i = 0; i < N; ++i)
        offsets[i] -= steps[d][i] * size_t(at[d]);
      at[d] = 0;
    }
  }
}

/// `source` repeated to `dims`.
TileValue broadcast(const TileValue &source, const TileDims &dims);

/// Sum of lhs * rhs over all dims that `dims` lacks, of floats.
TileValue contract(const TileValue &lhs, const TileValue &rhs,
                   const TileDims &dims);

} // namespace kvc::test

#endif // KVC_TEST_TILEVALUE_H
