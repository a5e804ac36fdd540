//===- TileOrder.cpp - How a dot sees a storage order ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/TileOrder.h"

#include <algorithm>
#include <numeric>

namespace kvc {

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

/// Sets run, isWholeRun and perByte; false if runs cut a byte or the slice.
bool setRun(TileOrder &order, const Storage &storage, size_t begin, Dim dim,
            int64_t extent) {
  order.run = runFrom(storage.addr, begin, dim);
  order.isWholeRun = order.run == layout::extentOf(storage.addr, dim);
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

std::optional<TileOrder> tileOrder(const Storage &storage, Dim contracted,
                                   Dim free, bool needsPairs, int64_t depth,
                                   int64_t lanes) {
  if (storage.width < 32 && kWordBits % storage.width != 0)
    return std::nullopt; // Codes that cross bytes.
  if (std::optional<TileOrder> order = words(storage, contracted, free, lanes))
    if (depth % order->group == 0 && (!needsPairs || order->hasPairs()))
      return order;
  TileOrder order;
  order.kind = TileOrder::Kind::Lanes;
  if (setRun(order, storage, 0, free, lanes) && order.run >= 4)
    return order;
  order.kind = TileOrder::Kind::Rows;
  // Tokens of a row end where the sequence does; channels are always all there.
  if (contracted == 'c' && setRun(order, storage, 0, contracted, depth) &&
      order.run >= 8 && depth % 8 == 0)
    return order;
  return std::nullopt;
}

} // namespace kvc
