//===- Races.cpp - Accesses that nothing orders ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Races.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

RaceMemory::Row &RaceMemory::rowOf(uint64_t address) {
  const uint64_t row = address / kRowBytes, number = row / kPageRows;
  if (number != lastNumber) {
    last = &pages[number];
    lastNumber = number;
  }
  return (*last)[row % kPageRows];
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

std::vector<AccessRecord> &RaceMemory::recordsOf(uint32_t &list) {
  if (list == 0) {
    if (freeRecords.empty()) {
      records.emplace_back();
      list = uint32_t(records.size());
    } else {
      list = freeRecords.back();
      freeRecords.pop_back();
    }
  }
  return records[list - 1];
}

void RaceMemory::clearRecords(uint32_t &list) {
  if (list == 0)
    return;
  records[list - 1].clear();
  freeRecords.push_back(list);
  list = 0;
}

void RaceMemory::clear(Cell &cell) {
  dropValues(cell.write);
  clearRecords(cell.more);
  clearRecords(cell.strongWrites);
  cell = {};
}

void RaceMemory::dropValues(const AccessRecord &write) {
  if (write.step != 0 && write.value != 0)
    freeValues.push_back(write.value);
}

/// What of an access is one to the smaller cell at an offset in its row.
AccessRecord RaceMemory::partOf(const AccessRecord &record,
                                uint64_t offset) const {
  AccessRecord part = record;
  if (record.step == 0 || record.lanes == 0)
    return part;
  const unsigned lane =
      unsigned(std::countr_zero(record.lanes)) + unsigned(offset / record.step);
  part.lanes = LaneMask(1) << lane;
  part.step = 0;
  if (record.value != 0)
    part.value = values[record.value - 1][lane];
  return part;
}

/// Cells become smaller ones.
void RaceMemory::refine(Row &row, unsigned shift) {
  auto fit = [&](const AccessRecord &record) {
    if (record.lanes != 0 && record.step != 0)
      shift = std::min(shift, unsigned(std::countr_zero(record.step)));
  };
  std::vector<Cell> before = std::move(row.cells);
  if (before.empty()) {
    before.push_back(row.whole);
    fit(row.whole.write);
    fit(row.whole.read);
    for (uint32_t list : {row.whole.more, row.whole.strongWrites})
      if (list != 0)
        std::for_each(records[list - 1].begin(), records[list - 1].end(), fit);
  }
  row.cells.resize(kRowBytes >> shift);
  const size_t ratio = size_t(1) << (row.shift - shift);
  auto split = [&](uint32_t from, uint32_t &to, uint64_t offset) {
    if (from == 0)
      return;
    std::vector<AccessRecord> parts = records[from - 1];
    for (AccessRecord &record : parts)
      record = partOf(record, offset);
    recordsOf(to) = std::move(parts);
  };
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const uint64_t offset = uint64_t(i) << shift;
    const Cell &from = before[i / ratio];
    Cell &cell = row.cells[i];
    cell.write = partOf(from.write, offset);
    cell.read = partOf(from.read, offset);
    split(from.more, cell.more, offset);
    split(from.strongWrites, cell.strongWrites, offset);
  }
  for (Cell &cell : before)
    clear(cell);
  row.whole = {};
  row.shift = shift;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

RaceMemory::Order RaceMemory::orderOf(const BlockClocks &clocks,
                                      const AccessRecord &earlier,
                                      const AccessRecord &now) const {
  const bool isHere = earlier.block == now.block;
  const bool needsProxy =
      now.proxy == Proxy::AsyncRead && earlier.proxy == Proxy::Generic;
  if (isHere && !earlier.isCopy && !needsProxy &&
      earlier.time <= clocks.floor())
    return Order::Yes;
  auto knows = [&](unsigned lane, unsigned other) {
    const uint32_t mine = now.warp * kLanes + lane;
    const uint32_t others =
        earlier.warp * kLanes + other + (earlier.isCopy ? clocks.threads() : 0);
    if (needsProxy && !clocks.isProxied(mine, others, earlier.time))
      return false;
    return isHere ? clocks.knows(mine, others, earlier.time)
                  : clocks.knows(mine, earlier.block, others, earlier.time);
  };
  if (now.step != earlier.step)
    return Order::Mixed;
  if (now.step == 0) {
    for (LaneMask lanes = now.lanes; lanes != 0; lanes &= lanes - 1)
      for (LaneMask rest = earlier.lanes; rest != 0; rest &= rest - 1)
        if (!knows(unsigned(std::countr_zero(lanes)),
                   unsigned(std::countr_zero(rest))))
          return Order::No;
    return Order::Yes;
  }
  if (now.lanes != earlier.lanes)
    return Order::Mixed;
  // Each lane and the one that had its place.
  if (isHere && now.warp == earlier.warp)
    return Order::Yes;
  if (!clocks.hasHeard())
    return Order::No;
  LaneMask known = 0;
  for (LaneMask lanes = now.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = unsigned(std::countr_zero(lanes));
    known |= LaneMask(knows(lane, lane)) << lane;
  }
  return known == now.lanes ? Order::Yes
         : known == 0       ? Order::No
                            : Order::Mixed;
}

/// Whether both are strong enough for each other.
static bool areStrong(const AccessRecord &a, const AccessRecord &b) {
  const Strength least = std::min(a.strength, b.strength);
  return least == Strength::Device ||
         (least == Strength::Block && a.block == b.block);
}

/// Whether all that race with `earlier` race with `now`, which follows it.
static bool standsFor(const AccessRecord &now, const AccessRecord &earlier) {
  return now.isConstant >= earlier.isConstant &&
         (now.strength == Strength::Weak ||
          (now.strength <= earlier.strength && now.block == earlier.block));
}

RaceMemory::Order RaceMemory::racesWith(const BlockClocks &clocks,
                                        const AccessRecord &earlier,
                                        const AccessRecord &now) const {
  if (earlier.lanes == 0)
    return Order::No;
  if (earlier.isConstant || now.isConstant)
    return Order::Yes;
  if (areStrong(earlier, now))
    return Order::No;
  switch (orderOf(clocks, earlier, now)) {
  case Order::Yes:
    return Order::No;
  case Order::No:
    return Order::Yes;
  case Order::Mixed:
    break;
  }
  return Order::Mixed;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// False, and nothing changed, if the cell is too large to say.
bool RaceMemory::addReader(const BlockClocks &clocks, Cell &cell,
                           const AccessRecord &record) {
  // One of those that were there takes the new one in, or makes room for it.
  auto join = [&](AccessRecord &other) {
    if (other.lanes != 0 && other.block == record.block &&
        other.warp == record.warp && other.time == record.time &&
        other.at == record.at && other.strength == record.strength &&
        other.isConstant == record.isConstant) {
      if (other.step != record.step ||
          (record.step != 0 && other.lanes != record.lanes))
        return Order::Mixed;
      other.lanes |= record.lanes;
      return Order::Yes;
    }
    Order order = Order::Yes;
    // What a later writer that knows of this read knows of as well.
    if (other.lanes != 0)
      order =
          standsFor(record, other) ? orderOf(clocks, other, record) : Order::No;
    if (order == Order::Yes)
      other = record;
    return order;
  };
  Order order = join(cell.read);
  if (order == Order::No && cell.more != 0)
    for (AccessRecord &other : records[cell.more - 1]) {
      order = join(other);
      if (order != Order::No)
        break;
    }
  if (order != Order::No)
    return order == Order::Yes;
  std::vector<AccessRecord> &more = recordsOf(cell.more);
  if (more.size() < kReaders) {
    more.push_back(record);
  } else if (record.strength == Strength::Weak) {
    // Strong ones race with less.
    const auto strong =
        std::find_if(more.begin(), more.end(), [](const AccessRecord &other) {
          return other.strength != Strength::Weak;
        });
    if (strong != more.end())
      *strong = record;
  }
  return true;
}

/// Takes the place of what the same lanes wrote before, and of what all know.
void RaceMemory::addStrongWrite(const BlockClocks &clocks, Cell &cell,
                                const AccessRecord &record) {
  std::vector<AccessRecord> &strong = recordsOf(cell.strongWrites);
  bool isIn = false;
  size_t kept = 0;
  for (AccessRecord &other : strong) {
    if (other.block == record.block && other.warp == record.warp &&
        other.step == record.step) {
      if (other.time == record.time && other.at == record.at &&
          other.strength == record.strength && record.step == 0) {
        other.lanes |= record.lanes;
        isIn = true;
      } else if (standsFor(record, other)) {
        other.lanes &= ~record.lanes;
      }
    } else if (standsFor(record, other) && other.time <= clocks.floor()) {
      other.lanes = 0;
    }
    if (other.lanes != 0)
      strong[kept++] = other;
  }
  strong.resize(kept);
  if (isIn)
    return;
  if (strong.size() >= kUpdaters)
    strong.erase(strong.begin());
  strong.push_back(record);
}

/// What an access to a cell races with. False if the cell is too large to say.
bool RaceMemory::findRace(const BlockClocks &clocks, const Cell &cell,
                          const AccessRecord &record, bool reads, bool writes,
                          std::optional<RaceFound> &found) const {
  bool isSaid = true;
  auto check = [&](const AccessRecord &earlier, bool wasWrite) {
    if (found || !isSaid)
      return;
    const Order races = racesWith(clocks, earlier, record);
    isSaid = races != Order::Mixed;
    if (races != Order::Yes)
      return;
    // Lanes that write the same in one instruction do so on purpose.
    const bool isAgreed =
        wasWrite && writes && !reads && record.step == 0 &&
        earlier.at == record.at && earlier.block == record.block &&
        earlier.warp == record.warp && earlier.time == record.time &&
        earlier.value == record.value;
    if (!isAgreed)
      found = RaceFound{earlier, wasWrite};
  };
  check(cell.write, true);
  if (cell.strongWrites != 0)
    for (const AccessRecord &other : records[cell.strongWrites - 1])
      check(other, true);
  if (writes) {
    check(cell.read, false);
    if (cell.more != 0)
      for (const AccessRecord &other : records[cell.more - 1])
        check(other, false);
  }
  return isSaid;
}

/// False, and nothing changed, if the cell is too large to say.
bool RaceMemory::accessCell(const BlockClocks &clocks, Cell &cell,
                            const AccessRecord &record, bool reads, bool writes,
                            std::optional<RaceFound> &found) {
  // Lanes of a row that races are told one by one.
  if (!findRace(clocks, cell, record, reads, writes, found) ||
      (record.step != 0 && found))
    return false;
  if (!writes)
    return addReader(clocks, cell, record);
  if (record.strength != Strength::Weak) {
    addStrongWrite(clocks, cell, record);
    return true;
  }
  clear(cell);
  cell.write = record;
  return true;
}

std::optional<RaceFound> RaceMemory::access(const BlockClocks &clocks,
                                            const AccessRecord &record,
                                            bool reads, bool writes,
                                            uint64_t address, uint32_t bytes) {
  std::optional<RaceFound> first;
  const uint64_t end = address + bytes;
  for (uint64_t at = address, stop = 0; at < end; at = stop) {
    Row &row = rowOf(at);
    stop = std::min(end, (at / kRowBytes + 1) * kRowBytes);
    const auto shift =
        std::min(kRowShift, unsigned(std::countr_zero(at | stop)));
    std::optional<RaceFound> found;
    if (shift == kRowShift && row.cells.empty()) {
      if (accessCell(clocks, row.whole, record, reads, writes, found)) {
        if (!first)
          first = found;
        continue;
      }
      found.reset();
    }
    constexpr unsigned kCellShift = 4;
    if (row.cells.empty() || shift < row.shift)
      refine(row, std::min(shift, kCellShift));
    for (; at < stop; at += uint64_t(1) << row.shift) {
      std::optional<RaceFound> here;
      accessCell(clocks, row.cells[at % kRowBytes >> row.shift], record, reads,
                 writes, here);
      if (here && !first)
        first = here;
    }
  }
  return first;
}

/// Forgets the cells of a row that is written if whoever writes knows of all
/// that was done to them.
bool RaceMemory::makeWhole(const BlockClocks &clocks, Row &row,
                           const AccessRecord &record, bool reads) {
  if (row.shift > unsigned(std::countr_zero(record.step)))
    refine(row, unsigned(std::countr_zero(record.step)));
  for (size_t i = 0; i < row.cells.size(); ++i) {
    std::optional<RaceFound> found;
    const AccessRecord part = partOf(record, uint64_t(i) << row.shift);
    if (!findRace(clocks, row.cells[i], part, reads, true, found) || found)
      return false;
  }
  for (Cell &cell : row.cells)
    clear(cell);
  row = {};
  return true;
}

bool RaceMemory::accessRow(const BlockClocks &clocks,
                           const AccessRecord &record, bool reads, bool writes,
                           uint64_t address, const uint32_t *written) {
  Row &row = rowOf(address);
  std::optional<RaceFound> found;
  if (!row.cells.empty() && !(writes && makeWhole(clocks, row, record, reads)))
    return false;
  if (!accessCell(clocks, row.whole, record, reads, writes, found))
    return false;
  if (!writes || !written)
    return true;
  if (freeValues.empty()) {
    values.emplace_back();
    freeValues.push_back(uint32_t(values.size()));
  }
  row.whole.write.value = freeValues.back();
  freeValues.pop_back();
  std::copy_n(written, kLanes, values[row.whole.write.value - 1].begin());
  return true;
}
