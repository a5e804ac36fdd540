//===- Coalescing.cpp - What one access of a warp costs -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Count/Coalescing.h"

#include "kvc/Sim/Count/TouchedBytes.h"

#include <algorithm>
#include <array>
#include <bit>

using namespace kvc::sim;

static constexpr unsigned kBanks = 32;
static constexpr uint64_t kBankBytes = 4;

unsigned kvc::sim::sectorsOf(const uint64_t *addresses, LaneMask lanes,
                             uint32_t bytes) {
  std::array<uint64_t, size_t(kLanes) * 5> sectors; // 128 bytes lie in five.
  size_t count = 0;
  bool isSorted = true;
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint64_t first = addresses[std::countr_zero(lanes)];
    for (uint64_t sector = first / kSectorBytes;
         sector <= (first + bytes - 1) / kSectorBytes; ++sector) {
      if (count > 0 && sectors[count - 1] == sector)
        continue;
      isSorted &= count == 0 || sectors[count - 1] < sector;
      sectors[count++] = sector;
    }
  }
  if (isSorted)
    return unsigned(count);
  std::sort(sectors.begin(), sectors.begin() + ptrdiff_t(count));
  return unsigned(
      std::unique(sectors.begin(), sectors.begin() + ptrdiff_t(count)) -
      sectors.begin());
}

/// Of the lanes that go together: words that the fullest bank has to give.
static unsigned wavefrontsOfPhase(const uint64_t *offsets, LaneMask lanes,
                                  uint32_t bytes, bool isAtomic) {
  std::array<std::array<uint64_t, kLanes>, kBanks> words;
  std::array<uint8_t, kBanks> counts{};
  unsigned most = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint64_t first = offsets[std::countr_zero(lanes)];
    for (uint64_t word = first / kBankBytes;
         word <= (first + bytes - 1) / kBankBytes; ++word) {
      auto &bank = words[word % kBanks];
      uint8_t &count = counts[word % kBanks];
      if (!isAtomic && std::find(bank.begin(), bank.begin() + count, word) !=
                           bank.begin() + count)
        continue;
      bank[count++] = word;
      most = std::max<unsigned>(most, count);
    }
  }
  return most;
}

Wavefronts kvc::sim::wavefrontsOf(const uint64_t *offsets, LaneMask lanes,
                                  uint32_t bytes, bool isAtomic) {
  const unsigned together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  Wavefronts result;
  for (unsigned first = 0; first < kLanes; first += together) {
    const LaneMask phase =
        lanes &
        (together == 32 ? kAllLanes : ((LaneMask(1) << together) - 1) << first);
    if (phase == 0)
      continue;
    result.count += wavefrontsOfPhase(offsets, phase, bytes, isAtomic);
    ++result.ideal;
  }
  return result;
}
