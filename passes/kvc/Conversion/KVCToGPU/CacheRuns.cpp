//===- CacheRuns.cpp - A lane's elements in the order of memory -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVCToGPU/CacheRuns.h"

#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Dialect/KVK/KVKTypes.h"

#include "llvm/ADT/STLExtras.h"

namespace kvc {

WarpTile inPage(const WarpTile &tile, Type type) {
  int64_t inner = isTile(type) ? extentOf(type, "e") : 1;
  layout::RegisterLayout layout = tile.layout();
  for (layout::Digits *space : {&layout.pack, &layout.reg, &layout.lane})
    for (layout::Digit &digit : *space) {
      if (digit.dim == 'b')
        digit.place *= inner;
      if (digit.dim == 'b' || digit.dim == 'e' || digit.dim == 'd')
        digit.dim = 'c';
    }
  return WarpTile(layout);
}

CacheRuns::CacheRuns(const WarpTile &tile, const layout::Storage &storage,
                     int64_t mostBits)
    : tile(tile) {
  auto isElement = [&](const layout::Digit &digit) {
    return llvm::is_contained(tile.elements(), digit);
  };
  bool isRun = true;
  for (const layout::Digit &digit : storage.addr) {
    isRun &=
        isElement(digit) && runLength * digit.count * storage.width <= mostBits;
    if (isRun)
      runLength *= digit.count;
    if (isElement(digit))
      digits.push_back(digit);
  }
  // Digits that are steps in memory come last.
  for (const layout::Digit &digit : tile.elements())
    if (!llvm::is_contained(digits, digit))
      digits.push_back(digit);
}

int64_t CacheRuns::element(int64_t run, int64_t i) const {
  Coordinates indices;
  int64_t number = run * runLength + i;
  for (const layout::Digit &digit : digits) {
    indices[digit.dim] += number % digit.count * digit.place;
    number /= digit.count;
  }
  return tile.number(indices);
}

} // namespace kvc
