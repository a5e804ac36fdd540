//===- CacheRuns.h - A lane's elements in the order of memory ---*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A lane's elements of a tile of a cache, put in the order in which they lie in
// a page: runs of neighbours, each of which is one access.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVCTOGPU_CACHERUNS_H
#define KVC_CONVERSION_KVCTOGPU_CACHERUNS_H

#include "kvc/Conversion/KVCToGPU/WarpTile.h"

namespace kvc {

/// `tile`, whose type has the names of `type`'s dims, with those of a page: t,
/// and c for channels, however they are cut and called.
WarpTile inPage(const WarpTile &tile, Type type);

/// Of one access of a lane.
inline constexpr int64_t kMostAccessBits = 128;

class CacheRuns {
public:
  /// `tile` has the names of `storage`; an access has at most `mostBits`.
  CacheRuns(const WarpTile &tile, const layout::Storage &storage,
            int64_t mostBits);

  /// Elements of a run, and runs.
  int64_t length() const { return runLength; }
  int64_t size() const { return tile.size() / runLength; }
  /// Element `i` of run `run`: its number in the tile.
  int64_t element(int64_t run, int64_t i) const;
  /// What decides the order: digits of a run, then those between runs.
  const layout::Digits &order() const { return digits; }

private:
  WarpTile tile;
  layout::Digits digits;
  int64_t runLength = 1;
};

} // namespace kvc

#endif // KVC_CONVERSION_KVCTOGPU_CACHERUNS_H
