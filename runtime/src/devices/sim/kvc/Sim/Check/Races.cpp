//===- Races.cpp - Accesses that nothing orders ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Races.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

RaceMemory::Page &RaceMemory::pageOf(uint64_t number) {
  if (number == lastNumber)
    return *last;
  Page &page = pages[number];
  if (page.cells.empty())
    page.cells.resize(kPageBytes >> page.shift);
  lastNumber = number;
  last = &page;
  return page;
}

/// Cells become smaller ones.
void RaceMemory::refine(Page &page, unsigned shift) {
  std::vector<Cell> cells(kPageBytes >> shift);
  const unsigned ratio = 1u << (page.shift - shift);
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = page.cells[i / ratio];
    if (cells[i].more == 0 || i % ratio == 0)
      continue;
    std::vector<AccessRecord> copy = readers[cells[i].more - 1];
    readers.push_back(std::move(copy));
    cells[i].more = uint32_t(readers.size());
  }
  page.cells = std::move(cells);
  page.shift = shift;
}

/// Whether all lanes that access now know of all lanes of before.
bool RaceMemory::isOrdered(const BlockClocks &clocks,
                           const AccessRecord &earlier,
                           const AccessRecord &now) const {
  const bool isHere = earlier.block == now.block;
  if (isHere && earlier.time <= clocks.floor())
    return true;
  for (LaneMask lanes = now.lanes; lanes != 0; lanes &= lanes - 1)
    for (LaneMask rest = earlier.lanes; rest != 0; rest &= rest - 1) {
      const uint32_t thread =
          now.warp * kLanes + uint32_t(std::countr_zero(lanes));
      const uint32_t other =
          earlier.warp * kLanes + uint32_t(std::countr_zero(rest));
      if (isHere ? !clocks.knows(thread, other, earlier.time)
                 : !clocks.knows(thread, earlier.block, other, earlier.time))
        return false;
    }
  return true;
}

/// Whether both are strong enough for each other.
static bool areStrong(const AccessRecord &a, const AccessRecord &b) {
  const Strength least = std::min(a.strength, b.strength);
  return least == Strength::Device ||
         (least == Strength::Block && a.block == b.block);
}

void RaceMemory::addReader(const BlockClocks &clocks, Cell &cell,
                           const AccessRecord &record) {
  auto isSame = [&](const AccessRecord &other) {
    return other.lanes != 0 && other.block == record.block &&
           other.warp == record.warp && other.time == record.time &&
           other.at == record.at && other.strength == record.strength;
  };
  // What a later writer that knows of this read knows of as well.
  auto isCovered = [&](const AccessRecord &other) {
    return other.lanes == 0 || (other.strength == record.strength &&
                                isOrdered(clocks, other, record));
  };
  if (isSame(cell.read)) {
    cell.read.lanes |= record.lanes;
    return;
  }
  if (isCovered(cell.read)) {
    cell.read = record;
    return;
  }
  if (cell.more == 0) {
    if (freeReaders.empty()) {
      readers.emplace_back();
      cell.more = uint32_t(readers.size());
    } else {
      cell.more = freeReaders.back();
      freeReaders.pop_back();
    }
  }
  std::vector<AccessRecord> &more = readers[cell.more - 1];
  for (AccessRecord &other : more) {
    if (isSame(other)) {
      other.lanes |= record.lanes;
      return;
    }
    if (isCovered(other)) {
      other = record;
      return;
    }
  }
  if (more.size() < kReaders)
    more.push_back(record);
}

std::optional<RaceFound> RaceMemory::accessCell(const BlockClocks &clocks,
                                                Cell &cell,
                                                const AccessRecord &record,
                                                bool reads, bool writes) {
  auto races = [&](const AccessRecord &earlier) {
    return earlier.lanes != 0 && !areStrong(earlier, record) &&
           !isOrdered(clocks, earlier, record);
  };
  std::optional<RaceFound> found;
  if (races(cell.write)) {
    // Lanes that write the same in one instruction do so on purpose.
    const bool isAgreed =
        writes && !reads && cell.write.at == record.at &&
        cell.write.block == record.block && cell.write.warp == record.warp &&
        cell.write.time == record.time && cell.write.value == record.value;
    if (!isAgreed)
      found = RaceFound{cell.write, true};
  }
  if (writes) {
    if (!found && races(cell.read))
      found = RaceFound{cell.read, false};
    if (cell.more != 0) {
      for (const AccessRecord &other : readers[cell.more - 1])
        if (!found && races(other))
          found = RaceFound{other, false};
      readers[cell.more - 1].clear();
      freeReaders.push_back(cell.more);
      cell.more = 0;
    }
    cell.write = record;
    cell.read = {};
  } else {
    addReader(clocks, cell, record);
  }
  return found;
}

std::optional<RaceFound> RaceMemory::access(const BlockClocks &clocks,
                                            const AccessRecord &record,
                                            bool reads, bool writes,
                                            uint64_t address, uint32_t bytes) {
  std::optional<RaceFound> found;
  uint64_t at = address;
  const uint64_t end = address + bytes;
  while (at < end) {
    Page &page = pageOf(at / kPageBytes);
    const uint64_t stop = std::min(end, (at / kPageBytes + 1) * kPageBytes);
    const unsigned shift = (at | stop) % 16 == 0  ? 4
                           : (at | stop) % 4 == 0 ? 2
                                                  : 0;
    if (shift < page.shift)
      refine(page, shift);
    const uint64_t step = uint64_t(1) << page.shift;
    for (; at < stop; at += step) {
      Cell &cell = page.cells[at % kPageBytes >> page.shift];
      std::optional<RaceFound> here =
          accessCell(clocks, cell, record, reads, writes);
      if (here && !found)
        found = here;
    }
  }
  return found;
}
