//===- TouchedBytes.cpp - Which bytes of an address space -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Count/TouchedBytes.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

TouchedBytes::Page &TouchedBytes::pageOf(uint64_t number) {
  if (number == lastNumber)
    return *last;
  std::unique_ptr<Page> &page = pages[number];
  if (!page)
    page = std::make_unique<Page>(Page{});
  lastNumber = number;
  last = page.get();
  return *last;
}

void TouchedBytes::add(uint64_t address, uint64_t bytes) {
  while (bytes > 0) {
    Page &page = pageOf(address / kPageBytes);
    const uint64_t at = address % kPageBytes;
    const uint64_t count = std::min(bytes, 64 - at % 64);
    const uint64_t ones =
        count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1;
    page[at / 64] |= ones << at % 64;
    address += count;
    bytes -= count;
  }
}

uint64_t TouchedBytes::bytes() const {
  uint64_t sum = 0;
  for (const auto &[number, page] : pages)
    for (uint64_t word : *page)
      sum += uint64_t(std::popcount(word));
  return sum;
}

static uint64_t sectorsOfWord(uint64_t word) {
  return uint64_t((word & 0xFFFFFFFF) != 0) + uint64_t(word >> 32 != 0);
}

uint64_t TouchedBytes::sectors() const {
  uint64_t sum = 0;
  for (const auto &[number, page] : pages)
    for (uint64_t word : *page)
      sum += sectorsOfWord(word);
  return sum;
}

uint64_t TouchedBytes::sectorsWith(const TouchedBytes &other) const {
  uint64_t sum = other.sectors();
  for (const auto &[number, page] : pages) {
    const auto there = other.pages.find(number);
    for (size_t i = 0; i < page->size(); ++i) {
      const uint64_t theirs =
          there == other.pages.end() ? 0 : (*there->second)[i];
      sum += sectorsOfWord((*page)[i] | theirs) - sectorsOfWord(theirs);
    }
  }
  return sum;
}
