//===- TileOrder.h - How a dot sees a storage order -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Which loop nest reads a tile is decided by the digits of its storage order
// (what lies on consecutive addresses, what lies below it inside a word) and by
// the register layout of the operand (which dim is on the lanes).
// kvk-assign-layouts chooses the layout among those that the storage gives; the
// lowering reads it. Nothing here knows an order's or a scheme's name.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_ANALYSIS_TILEORDER_H
#define KVC_ANALYSIS_TILEORDER_H

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
  /// Elements of the run lie across bytes: eight in as many as they have bits.
  bool crossesBytes = false;

  /// Words: whether neighbours 2i and 2i + 1 lie 16 bits apart, so that a shift
  /// and a mask give pairs of i16.
  bool hasPairs() const;
};

/// Codes of 3, 5, 6 and 7 bits.
bool crossesBytes(unsigned width);

/// What a dot over `contracted` with `free` on the result's lanes makes of
/// `storage`; nothing if it cannot read the order directly (dequantise into a
/// panel then). `needsPairs`: the weights are i16. `depth` and `lanes` are the
/// extents of the dot; a slice of channels begins at a multiple of its extent.
std::optional<TileOrder> tileOrder(const layout::Storage &storage,
                                   layout::Dim contracted, layout::Dim free,
                                   bool needsPairs, int64_t depth,
                                   int64_t lanes);

//===----------------------------------------------------------------------===//
// Operands of dots
//===----------------------------------------------------------------------===//

/// A tile as the operand of a dot. One of the dims is t, the other c.
struct DotShape {
  layout::Dim contracted, free;
  int64_t depth, lanes; ///< Extents of the two.
  bool isPaired;        ///< Elements are i16, multiplied in pairs.
  bool isInteger; ///< What is stored are codes: finite, whatever they are.

  int64_t extent(layout::Dim dim) const {
    return dim == contracted ? depth : lanes;
  }
  int64_t &channels() { return contracted == 'c' ? depth : lanes; }
};

/// How a loop nest reads a tile.
struct TileReading {
  TileOrder order;
  /// Channels to read: those of the tile, or more where a slice cuts words or
  /// bytes of codes.
  int64_t channels;
};

/// The dim on the lanes of a layout.
layout::Dim lanesOf(const layout::RegisterLayout &layout,
                    const DotShape &shape);

/// How `storage` gives an operand in that layout; nothing if no loop nest does.
std::optional<TileReading> readTile(const layout::Storage &storage,
                                    const DotShape &shape,
                                    const layout::RegisterLayout &layout);

/// The layout with `onLanes` on the lanes: as many of its elements as lie
/// together in memory. Nothing if no loop nest reads it.
std::optional<layout::RegisterLayout>
operandLayout(const layout::Storage &storage, const DotShape &shape,
              layout::Dim onLanes);

/// Channels that cover every slice of `slice` channels and begin and end where
/// words of codes do.
int64_t coveringChannels(const layout::Storage &storage, int64_t slice);
/// The boundaries of words of codes: multiples of this.
int64_t wordChannels(const layout::Storage &storage);

} // namespace kvc

#endif // KVC_ANALYSIS_TILEORDER_H
