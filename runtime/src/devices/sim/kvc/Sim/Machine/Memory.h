//===- Memory.h - The memory of a device ------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Global memory is a set of allocations in a 64-bit address space that has
// nothing to do with the host's: no address of a kernel ever reaches memory
// that it was not given. Addresses are not used twice, so that an access to
// what was freed is known as one; between allocations lie gaps that belong to
// nobody. Only memory that the host lends lies where the host has it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_MEMORY_H
#define KVC_SIM_MACHINE_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kvc::sim {

class Observer;

/// Generic addresses of the memory that is no device memory: offsets from
/// here, each window of the size below. None fits 32 bits.
inline constexpr uint64_t kSharedWindow = 0x7D0000000000;
inline constexpr uint64_t kLocalWindow = 0x7D0001000000;
inline constexpr uint64_t kConstWindow = 0x7D0002000000;
inline constexpr uint64_t kParamWindow = 0x7D0003000000;
inline constexpr uint64_t kWindowBytes = 0x1000000;
/// Of functions; they can be called but not read.
inline constexpr uint64_t kFunctionWindow = 0x7D0004000000;
inline constexpr uint64_t kFunctionBytes = 16;
/// The first allocation.
inline constexpr uint64_t kGlobalBase = 0x7E0000000000;

/// Bytes between two allocations, at least, and alignment of them.
inline constexpr uint64_t kAllocationGap = 4096;
inline constexpr uint64_t kAllocationAlign = 512;
/// Bytes of one allocation.
inline constexpr uint64_t kMaxAllocationBytes = uint64_t(1) << 40;

struct Allocation {
  uint64_t address = 0, bytes = 0;
  std::string name;
  std::unique_ptr<uint8_t, void (*)(void *)> storage{nullptr, nullptr};

  uint8_t *data() const { return storage.get(); }
  bool isFreed() const { return !storage; }
  bool holds(uint64_t from, uint64_t count) const {
    return from >= address && count <= bytes && from - address <= bytes - count;
  }
};

class Memory {
public:
  /// Filled with zeros. 0 bytes have an address of their own too. 0 if the
  /// host has no such memory, or for more than kMaxAllocationBytes.
  uint64_t allocate(uint64_t bytes, std::string name);
  /// Memory of the host as an allocation at the host's own address, until it
  /// is freed here. The host may write to it at any time, so all of it counts
  /// as written. False for 0 bytes, or if some of it is an allocation already.
  bool lend(void *data, uint64_t bytes, std::string name);
  /// False if no allocation begins there.
  bool free(uint64_t address);

  /// The allocation, freed or not, that the address lies in or whose end is
  /// the last one before it; null if there is none.
  const Allocation *nearest(uint64_t address) const;
  /// The living allocation that holds all of these bytes; null if none does.
  const Allocation *find(uint64_t address, uint64_t bytes) const;

  /// By the host. False, with nothing done, unless one allocation holds all.
  bool write(uint64_t address, const void *from, uint64_t bytes);
  bool fill(uint64_t address, uint8_t value, uint64_t bytes);
  bool read(uint64_t address, void *to, uint64_t bytes) const;

  /// Where bytes of the address space lie, for messages: `4 bytes at
  /// 0x7e0000000100, 0 bytes beyond the end of "x" (256 bytes)`.
  std::string describe(uint64_t address, uint64_t bytes) const;

  const std::vector<Allocation> &allocations() const { return all; }
  /// All addresses that allocate() has given are below.
  uint64_t end() const { return next; }
  /// Told of what the host does from now on; may be null.
  void setObserver(Observer *watching) { observer = watching; }

private:
  void insert(Allocation entry);

  std::vector<Allocation> all; ///< By address.
  uint64_t next = kGlobalBase;
  Observer *observer = nullptr;
};

/// "0x7e0000000100"
std::string hex(uint64_t value);

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_MEMORY_H
