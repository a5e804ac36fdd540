//===- TileSizes.h - Rows of a tile by cost --------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_TILESIZES_H
#define KVC_TRANSFORMS_TILESIZES_H

#include <cstdint>

namespace kvc {

/// Query rows of a tile where a step has one query, so `group` rows.
///
/// Every row of a tile is computed, wanted or not, and every tile reads and
/// unpacks all keys again. So a group up to 4 is one tile with at most one idle
/// row; larger groups take tiles of 4, because a dot of 4 rows with 64 lanes
/// fills 16 of the 32 vector registers of AVX-512 (with 32 lanes, 16 of AVX2's:
/// 8 sums, words, masks and weights) and unpacking is already shared by 4
/// products, while 8 rows halve the lanes that fit and with them the uses of
/// each weight.
inline int64_t decodeTileRows(int64_t group) { return group <= 2 ? group : 4; }

} // namespace kvc

#endif // KVC_TRANSFORMS_TILESIZES_H
