//===- Tile.h - From fragments to tiles, slices and reductions --*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_LAYOUT_TILE_H
#define KVC_LAYOUT_TILE_H

#include "kvc/Layout/Layout.h"

namespace kvc::layout {

/// The extent of a dim of a tile.
struct DimExtent {
  Dim dim;
  int64_t extent;
};

/// Fills a tile with copies of a fragment: every dim, in the given order, gets
/// register digits up to its extent. Dims listed first have the lower registers
/// (list contracted dims first: their copies are loaded together). Nothing if
/// an extent is no multiple of the fragment's: a tail is a tile of its own.
std::optional<RegisterLayout> tile(RegisterLayout fragment,
                                   std::initializer_list<DimExtent> extents);

/// extent = odd * 2^bits + tail, where 2^bits is a multiple of `unit`, a power
/// of two: the digits that take part in everything, the loop around them, the
/// rest.
struct SplitExtent {
  unsigned bits;
  int64_t odd;
  int64_t tail;
  bool operator==(const SplitExtent &) const = default;
};
SplitExtent splitExtent(int64_t extent, int64_t unit);

/// An extent covered by instruction tiles.
struct Cover {
  struct Part {
    int64_t count, size;
    bool operator==(const Part &) const = default;
  };
  std::vector<Part> parts;
  int64_t padded = 0; ///< Elements of the last tile beyond the extent.
};
/// As many tiles of `unit` as fit, then of each smaller size, then a padded one
/// of the smallest size. `smaller` descends.
Cover coverExtent(int64_t extent, int64_t unit,
                  std::initializer_list<int64_t> smaller = {});

/// The layout after a conversion to narrower elements that packs the elements
/// of the given register digits into one register.
RegisterLayout narrow(RegisterLayout layout, const Digits &digits);

/// The layout of a value that has only the dims `keep`, such that an
/// elementwise operation with `layout` needs no exchange: lanes and warps of
/// the other dims hold copies.
RegisterLayout sliceLayout(const RegisterLayout &layout, Dims keep);

/// The work of a reduction over some dims.
struct Reduction {
  int64_t inLane = 0;             ///< Operations inside a lane, per result.
  std::vector<int64_t> distances; ///< Lane distances of the butterfly shuffles.
  bool acrossWarps = false;       ///< Ends in shared memory.
};
Reduction reductionOf(const RegisterLayout &layout, Dims over);

} // namespace kvc::layout

#endif // KVC_LAYOUT_TILE_H
