//===- TouchedBytes.h - Which bytes of an address space -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_COUNT_TOUCHEDBYTES_H
#define KVC_SIM_COUNT_TOUCHEDBYTES_H

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace kvc::sim {

/// Bytes of what memory moves at once.
inline constexpr uint64_t kSectorBytes = 32;

/// A set of bytes.
class TouchedBytes {
public:
  void add(uint64_t address, uint64_t bytes);

  uint64_t bytes() const;
  uint64_t sectors() const;
  /// Sectors of this set or the other.
  uint64_t sectorsWith(const TouchedBytes &other) const;

private:
  static constexpr uint64_t kPageBytes = 4096;
  /// One bit a byte.
  using Page = std::array<uint64_t, kPageBytes / 64>;

  Page &pageOf(uint64_t number);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  uint64_t lastNumber = ~uint64_t(0);
  Page *last = nullptr;
};

} // namespace kvc::sim

#endif // KVC_SIM_COUNT_TOUCHEDBYTES_H
