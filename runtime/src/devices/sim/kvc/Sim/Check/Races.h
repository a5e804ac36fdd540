//===- Races.h - Accesses that nothing orders -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Of every 16, 4 or 1 bytes of memory, as accesses need it, the last write and
// the reads since. Reads of more warps than kReaders are not all kept: a race
// may then be missed, but none is made up.
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

/// One access of one thread, or of lanes of a warp at once.
struct AccessRecord {
  uint64_t block = 0;
  uint32_t warp = 0;
  LaneMask lanes = 0; ///< 0: no access.
  Time time = 0;
  uint32_t at = 0;
  Strength strength = Strength::Weak;
  uint32_t value = 0; ///< Of a write: what it writes here, if that is told.
};

/// An earlier access that races with the one that asks.
struct RaceFound {
  AccessRecord earlier;
  bool wasWrite = false;
};

/// The memory of one block, or the device's.
class RaceMemory {
public:
  /// Records an access and answers what it races with. `clocks` are
  /// those of its block.
  std::optional<RaceFound> access(const BlockClocks &clocks,
                                  const AccessRecord &record, bool reads,
                                  bool writes, uint64_t address,
                                  uint32_t bytes);

private:
  static constexpr uint64_t kPageBytes = 1024;
  static constexpr size_t kReaders = 12;

  struct Cell {
    AccessRecord write, read;
    uint32_t more = 0; ///< 1 + index of other readers.
  };
  struct Page {
    unsigned shift = 4; ///< Bytes of a cell, as a power: 4, 2 or 0.
    std::vector<Cell> cells;
  };

  Page &pageOf(uint64_t number);
  void refine(Page &page, unsigned shift);
  bool isOrdered(const BlockClocks &clocks, const AccessRecord &earlier,
                 const AccessRecord &now) const;
  void addReader(const BlockClocks &clocks, Cell &cell,
                 const AccessRecord &record);
  std::optional<RaceFound> accessCell(const BlockClocks &clocks, Cell &cell,
                                      const AccessRecord &record, bool reads,
                                      bool writes);

  std::unordered_map<uint64_t, Page> pages;
  std::vector<std::vector<AccessRecord>> readers;
  std::vector<uint32_t> freeReaders;
  uint64_t lastNumber = ~uint64_t(0);
  Page *last = nullptr;
};

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_RACES_H
