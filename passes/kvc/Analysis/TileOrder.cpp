//===- TileOrder.cpp - How a dot sees a storage order ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/TileOrder.h"

#include <algorithm>
#include <numeric>

namespace kvc {

bool crossesBytes(unsigned width) { return width < 8 && 8 % width != 0; }

using layout::Digit;
using layout::Digits;
using layout::Dim;
using layout::Storage;

namespace {

constexpr int64_t kWordBits = 32;

/// Extent of the digits of `dim` from `begin` on that count 1, 2, 4 .. without
/// a gap.
int64_t runFrom(const Digits &digits, size_t begin, Dim dim) {
  int64_t run = 1;
  for (size_t i = begin;
       i < digits.size() && digits[i].dim == dim && digits[i].place == run; ++i)
    run *= digits[i].count;
  return run;
}

/// Sets run, isWholeRun, crossesBytes and perByte; false if runs cut a byte or
/// the slice.
bool setRun(TileOrder &order, const Storage &storage, size_t begin, Dim dim,
            int64_t extent) {
  order.run = runFrom(storage.addr, begin, dim);
  order.isWholeRun = order.run == layout::extentOf(storage, dim);
  order.crossesBytes = crossesBytes(storage.width);
  if (order.crossesBytes)
    return order.run % 8 == 0 && extent % 8 == 0;
  order.perByte = storage.width < 8 ? 8 / storage.width : 1;
  return order.run % order.perByte == 0 && extent % order.perByte == 0;
}

/// Words of contracted codes below lanes of the free dim.
std::optional<TileOrder> words(const Storage &storage, Dim contracted, Dim free,
                               int64_t lanes) {
  TileOrder order;
  order.kind = TileOrder::Kind::Words;
  size_t digit = 0;
  while (digit < storage.addr.size() && storage.addr[digit].dim == contracted &&
         order.group * storage.width < kWordBits)
    order.group *= storage.addr[digit++].count;
  if (order.group == 1 || order.group * storage.width != kWordBits)
    return std::nullopt;
  for (int64_t element = 0; element < order.group; ++element) {
    int64_t position = 0, stride = 1, covered = 0;
    for (size_t i = 0; i < digit; ++i) {
      const Digit &d = storage.addr[i];
      position += element / d.place % d.count * stride;
      covered += (d.count - 1) * d.place;
      stride *= d.count;
    }
    if (covered !=
        order.group - 1) // The word's codes are no block of neighbours.
      return std::nullopt;
    order.bitOf.push_back(unsigned(position) * storage.width);
  }
  if (!setRun(order, storage, digit, free, lanes) || order.run < 4)
    return std::nullopt;
  order.perByte = 1;
  return order;
}

} // namespace

bool TileOrder::hasPairs() const {
  for (size_t i = 0; i + 1 < bitOf.size(); i += 2)
    if (bitOf[i + 1] != bitOf[i] + kWordBits / 2)
      return false;
  return bitOf.size() >= 2;
}

/// Words or Lanes.
static std::optional<TileOrder> freeOnLanes(const Storage &storage,
                                            Dim contracted, Dim free,
                                            bool needsPairs, int64_t depth,
                                            int64_t lanes) {
  if (std::optional<TileOrder> order = words(storage, contracted, free, lanes))
    if (depth % order->group == 0 && (!needsPairs || order->hasPairs()))
      return order;
  TileOrder order;
  order.kind = TileOrder::Kind::Lanes;
  if (setRun(order, storage, 0, free, lanes) && order.run >= 4)
    return order;
  return std::nullopt;
}

/// Rows. Tokens of a row end where the sequence does; channels are always all
/// there.
static std::optional<TileOrder>
contractedOnLanes(const Storage &storage, Dim contracted, int64_t depth) {
  TileOrder order;
  order.kind = TileOrder::Kind::Rows;
  if (contracted == 'c' && setRun(order, storage, 0, contracted, depth) &&
      order.run >= 8 && depth % 8 == 0)
    return order;
  return std::nullopt;
}

std::optional<TileOrder> tileOrder(const Storage &storage, Dim contracted,
                                   Dim free, bool needsPairs, int64_t depth,
                                   int64_t lanes) {
  if (auto order =
          freeOnLanes(storage, contracted, free, needsPairs, depth, lanes))
    return order;
  return contractedOnLanes(storage, contracted, depth);
}

//===----------------------------------------------------------------------===//
// Operands of dots
//===----------------------------------------------------------------------===//

int64_t wordChannels(const Storage &storage) {
  int64_t channels = layout::extentOf(storage, 'c'), word = 8;
  if (!crossesBytes(storage.width) &&
      channels % (kWordBits / storage.width) == 0)
    word = std::max<int64_t>(word, kWordBits / storage.width);
  return word;
}

int64_t coveringChannels(const Storage &storage, int64_t slice) {
  int64_t word = wordChannels(storage);
  // A slice begins at a multiple of its extent.
  int64_t furthest = word - std::gcd(slice, word);
  int64_t extent = (slice + furthest + word - 1) / word * word;
  return std::min(extent, layout::extentOf(storage, 'c'));
}

/// The order of the tile with `onLanes` on the lanes, or of the tile that
/// covers it.
static std::optional<TileReading> readWith(const Storage &storage,
                                           const DotShape &shape, Dim onLanes) {
  auto orderOf = [&](const DotShape &tile) {
    return onLanes == tile.free
               ? freeOnLanes(storage, tile.contracted, tile.free, tile.isPaired,
                             tile.depth, tile.lanes)
               : contractedOnLanes(storage, tile.contracted, tile.depth);
  };
  if (auto order = orderOf(shape))
    return TileReading{*order, shape.extent('c')};
  if (!shape.isInteger)
    return std::nullopt;
  DotShape cover = shape;
  cover.channels() = coveringChannels(storage, shape.extent('c'));
  // Runs begin at multiples of their extent; a cover does not.
  auto order = orderOf(cover);
  if (order && (order->kind == TileOrder::Kind::Words || order->isWholeRun))
    return TileReading{*order, cover.extent('c')};
  return std::nullopt;
}

/// Elements of `onLanes` that lie together in memory, inside the tile.
static int64_t elementsTogether(const TileOrder &order, const DotShape &shape,
                                Dim onLanes) {
  int64_t extent = shape.extent(onLanes);
  return order.isWholeRun ? extent : std::gcd(order.run, extent);
}

/// Pairs of neighbours of the contracted dim, if it has them.
static Digits packOf(const DotShape &shape) {
  if (!shape.isPaired || shape.depth % 2 != 0)
    return {};
  return {layout::bitOf(shape.contracted, 0)};
}

Dim lanesOf(const layout::RegisterLayout &layout, const DotShape &shape) {
  // A dim of one element has no digits, on the lanes as elsewhere: then the
  // other's are not there.
  if (layout.lane.empty()) {
    bool isSingle = shape.depth == layout::extentOf(layout.pack);
    return isSingle && shape.lanes > 1 ? shape.contracted : shape.free;
  }
  return layout.lane.front().dim == shape.contracted ? shape.contracted
                                                     : shape.free;
}

std::optional<TileReading> readTile(const Storage &storage,
                                    const DotShape &shape,
                                    const layout::RegisterLayout &layout) {
  Dim onLanes = lanesOf(layout, shape);
  if (layout.pack != packOf(shape) || !layout.warp.empty())
    return std::nullopt;
  // Neighbours on neighbouring lanes, from the lowest that is not packed on.
  int64_t together =
      onLanes == shape.contracted ? layout::extentOf(layout.pack) : 1;
  for (const Digit &digit : layout.lane) {
    if (digit.dim != onLanes || digit.place != together)
      return std::nullopt;
    together *= digit.count;
  }
  std::optional<TileReading> reading = readWith(storage, shape, onLanes);
  if (!reading)
    return std::nullopt;
  TileOrder &order = reading->order;
  int64_t most = elementsTogether(order, shape, onLanes);
  if (together == most)
    return reading;
  // Fewer lanes than the storage has. A cover is read whole.
  if (most % together != 0 || together % order.perByte != 0 ||
      reading->channels != shape.extent('c'))
    return std::nullopt;
  order.run = together;
  order.isWholeRun = false;
  return reading;
}

std::optional<layout::RegisterLayout>
operandLayout(const Storage &storage, const DotShape &shape, Dim onLanes) {
  std::optional<TileReading> reading = readWith(storage, shape, onLanes);
  if (!reading)
    return std::nullopt;
  layout::RegisterLayout result;
  result.pack = packOf(shape);
  for (Dim dim : {shape.contracted, shape.free}) {
    int64_t place = dim == shape.contracted ? layout::extentOf(result.pack) : 1,
            extent = shape.extent(dim);
    if (dim == onLanes) {
      int64_t together = elementsTogether(reading->order, shape, onLanes);
      result.lane = layout::digitsOf(dim, together / place, place);
      place = together;
    }
    Digits rest = layout::digitsOf(dim, extent / place, place);
    result.reg.insert(result.reg.end(), rest.begin(), rest.end());
  }
  return result;
}

} // namespace kvc
