//===- TileOrder.h - How a dot sees a storage order -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Which loop nest reads a tile is decided by the digits of its storage order:
// which dim lies on consecutive addresses, and what lies below it inside a
// word. Nothing here knows an order's or a scheme's name.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVKTOVECTOR_TILEORDER_H
#define KVC_CONVERSION_KVKTOVECTOR_TILEORDER_H

#include "kvc/Layout/Layout.h"

#include <optional>
#include <vector>

namespace kvc {

struct TileOrder {
  enum class Kind : uint8_t {
    Words, ///< Free dim on lanes of 32 bits, each of contracted codes alone.
    Lanes, ///< Free dim on consecutive elements; the contracted dim is above.
    Rows,  ///< Contracted dim on consecutive elements.
  };
  Kind kind = Kind::Lanes;
  /// Words: contracted codes of a word, and the bit where each begins.
  int64_t group = 1;
  std::vector<unsigned> bitOf;
  /// Consecutive indices of the lanes' dim (Rows: of the contracted dim) at
  /// consecutive addresses, from every multiple of `run` on.
  int64_t run = 1;
  /// The run is the dim's whole extent, so it may start anywhere in it.
  bool isWholeRun = false;
  /// Elements of the run that share a byte.
  int64_t perByte = 1;

  /// Words: whether neighbours 2i and 2i + 1 lie 16 bits apart, so that a shift
  /// and a mask give pairs of i16.
  bool hasPairs() const;
};

/// What a dot over `contracted` with `free` on the result's lanes makes of
/// `storage`; nothing if it cannot read the order directly (dequantise into a
/// panel then). `needsPairs`: the weights are i16. `depth` and `lanes` are the
/// extents of the dot; a slice of channels begins at a multiple of its extent.
std::optional<TileOrder> tileOrder(const layout::Storage &storage,
                                   layout::Dim contracted, layout::Dim free,
                                   bool needsPairs, int64_t depth,
                                   int64_t lanes);

} // namespace kvc

#endif // KVC_CONVERSION_KVKTOVECTOR_TILEORDER_H
