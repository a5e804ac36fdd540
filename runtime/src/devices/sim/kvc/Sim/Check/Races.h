//===- Races.h - Accesses that nothing orders -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Of every 64 bytes of memory, a row, the last weak write, the reads and strong
// writes since; of fewer bytes where accesses are smaller. A record goes only
// when whatever races with it races with a later one, too: strong writes
// tolerate each other, which orders nothing. Lanes that lie next to each other
// and fill a row are one access to it. Reads of more warps than kReaders and
// strong writes of more than kUpdaters are not all kept: a race may then be
// missed, but none is made up.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_RACES_H
#define KVC_SIM_CHECK_RACES_H

#include "kvc/Sim/Check/Clocks.h"

#include <optional>
#include <unordered_map>

namespace kvc::sim {

/// Whose accesses do not race with each other.
enum class Strength : uint8_t {
  Weak,
  Block, ///< Atomic, or ordered, for the threads of a block,
  Device ///< for those of all blocks.
};

enum class Proxy : uint8_t {
  Generic,
  Async,    ///< A bulk copy's.
  AsyncRead ///< Of shared memory: what threads wrote takes a fence.proxy.async.
};

/// One access of one thread, or of lanes of a warp at once.
struct AccessRecord {
  uint64_t block = 0;
  LaneMask lanes = 0; ///< 0: no access.
  Time time = 0;
  uint32_t at = 0;
  /// Of a write: what it writes here, if that is told.
  uint32_t value = 0;
  uint16_t warp = 0;
  Strength strength = Strength::Weak;
  /// Of lanes that share a row: the bytes of each, the lowest lane first. 0:
  /// all lanes access all bytes.
  uint8_t step = 0;
  /// What a copy brought: whoever knows of its thread need not know of it.
  bool isCopy = false;
  /// ld.global.nc: nobody may write, in whatever order.
  bool isConstant = false;
  Proxy proxy = Proxy::Generic;
};
static_assert(sizeof(AccessRecord) == 32);

/// An earlier access that races with the one that asks.
struct RaceFound {
  AccessRecord earlier;
  bool wasWrite = false;
};

/// The memory of one block, or the device's.
class RaceMemory {
public:
  static constexpr unsigned kRowShift = 6;
  static constexpr uint64_t kRowBytes = uint64_t(1) << kRowShift;

  /// Records an access and answers what it races with. `clocks` are
  /// those of its block.
  std::optional<RaceFound> access(const BlockClocks &clocks,
                                  const AccessRecord &record, bool reads,
                                  bool writes, uint64_t address,
                                  uint32_t bytes);
  /// The same of lanes that fill one row, with what each writes or null. False,
  /// and nothing recorded, where they have to be looked at one by one: those
  /// that race, too.
  bool accessRow(const BlockClocks &clocks, const AccessRecord &record,
                 bool reads, bool writes, uint64_t address,
                 const uint32_t *values);

private:
  static constexpr uint64_t kPageRows = 16;
  static constexpr size_t kReaders = 12, kUpdaters = 64;
  /// Whether all lanes that access now know of all of before that accessed the
  /// same bytes. Mixed: it takes smaller cells to say.
  enum class Order : uint8_t { No, Yes, Mixed };
  using RowValues = std::array<uint32_t, kLanes>;

  struct Cell {
    AccessRecord write, read;  ///< The last weak write, one reader.
    uint32_t more = 0;         ///< 1 + index of other readers,
    uint32_t strongWrites = 0; ///< and of those that are strong.
  };
  struct Row {
    Cell whole;
    std::vector<Cell> cells;    ///< Instead, if there are any.
    unsigned shift = kRowShift; ///< Bytes of a cell, as a power.
  };
  using Page = std::array<Row, kPageRows>;

  Row &rowOf(uint64_t address);
  std::vector<AccessRecord> &recordsOf(uint32_t &list);
  void clearRecords(uint32_t &list);
  void clear(Cell &cell);
  void dropValues(const AccessRecord &write);
  AccessRecord partOf(const AccessRecord &record, uint64_t offset) const;
  void refine(Row &row, unsigned shift);
  Order orderOf(const BlockClocks &clocks, const AccessRecord &earlier,
                const AccessRecord &now) const;
  Order racesWith(const BlockClocks &clocks, const AccessRecord &earlier,
                  const AccessRecord &now) const;
  bool addReader(const BlockClocks &clocks, Cell &cell,
                 const AccessRecord &record);
  void addStrongWrite(const BlockClocks &clocks, Cell &cell,
                      const AccessRecord &record);
  bool findRace(const BlockClocks &clocks, const Cell &cell,
                const AccessRecord &record, bool reads, bool writes,
                std::optional<RaceFound> &found) const;
  bool makeWhole(const BlockClocks &clocks, Row &row,
                 const AccessRecord &record, bool reads);
  bool accessCell(const BlockClocks &clocks, Cell &cell,
                  const AccessRecord &record, bool reads, bool writes,
                  std::optional<RaceFound> &found);

  std::unordered_map<uint64_t, Page> pages;
  std::vector<std::vector<AccessRecord>> records; ///< Lists of cells.
  std::vector<uint32_t> freeRecords;
  std::vector<RowValues> values; ///< Of writes to rows: value is 1 + index.
  std::vector<uint32_t> freeValues;
  uint64_t lastNumber = ~uint64_t(0);
  Page *last = nullptr;
};

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_RACES_H
