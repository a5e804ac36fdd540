//===- LaneLayouts.h - Where a kernel's tiles lie in a warp -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The register layouts that the tiles of one GPU kernel have, by their dims:
// fragments of the instruction for the tiles of a product, slices of those for
// values per row, token or channel, and rows of channels for everything else.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_ANALYSIS_LANELAYOUTS_H
#define KVC_ANALYSIS_LANELAYOUTS_H

#include "kvc/Layout/Layout.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kvc {

/// Dims of a tile, one letter each, outermost first, with their extents.
using LaneDims = std::vector<std::pair<layout::Dim, int64_t>>;

/// The three fragments of one product: `rows` x `depth` times `depth` x
/// `columns`.
struct ProductLayouts {
  layout::RegisterLayout lhs, rhs, result;
};

/// How a warp holds the product, nothing where an extent is no multiple of the
/// fragment. `loads` is the order in memory of the left operand (its channels
/// called as in the product): dims that may be numbered freely (the channels)
/// are numbered so that a lane's elements are neighbours there.
std::optional<ProductLayouts>
productLayouts(std::pair<layout::Dim, int64_t> rows,
               std::pair<layout::Dim, int64_t> depth,
               std::pair<layout::Dim, int64_t> columns, layout::Dim channels,
               const layout::Storage &loads, unsigned packPosition);

/// Rows of channels over the lanes: digits of `inLane`, then the lowest ones
/// that are left are registers, the last five lanes. Dims before the last are
/// registers; `b` before `e` counts blocks of channels.
layout::RegisterLayout rowLayout(const LaneDims &dims,
                                 const layout::Digits &inLane);

} // namespace kvc

#endif // KVC_ANALYSIS_LANELAYOUTS_H
