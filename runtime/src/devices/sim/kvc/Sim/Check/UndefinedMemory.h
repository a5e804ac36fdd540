//===- UndefinedMemory.h - Which bits of memory were never written -*- C++ -*-//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A bit of a shadow is 1 where the bit that it stands for was never written, or
// holds what was computed from such bits.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_UNDEFINEDMEMORY_H
#define KVC_SIM_CHECK_UNDEFINEDMEMORY_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace kvc::sim {

/// Whether any of some bytes is not 0.
inline bool isAnySet(const uint8_t *bytes, uint64_t count) {
  uint64_t any = 0, word = 0;
  for (; count >= sizeof(word); bytes += sizeof(word), count -= sizeof(word)) {
    std::memcpy(&word, bytes, sizeof(word));
    any |= word;
  }
  for (; count > 0; ++bytes, --count)
    any |= *bytes;
  return any != 0;
}

/// A run of bytes that one allocation, block or thread owns.
class ByteShadow {
public:
  explicit ByteShadow(uint64_t bytes = 0) : bits(bytes, 0xFF) {}

  uint64_t size() const { return bits.size(); }
  /// Whether everything is known to be defined.
  bool isDefined() const { return isWhole; }
  /// Whether anything of these bytes is not. Bytes outside count as defined:
  /// whoever touches them faults.
  bool isUndefined(uint64_t offset, uint64_t count) const {
    return !isWhole && offset < bits.size() &&
           isAnySet(bits.data() + offset, inside(offset, count));
  }
  void read(uint64_t offset, uint8_t *to, uint64_t count) const {
    std::memset(to, 0, count);
    if (!isWhole && offset < bits.size())
      std::memcpy(to, bits.data() + offset, inside(offset, count));
  }
  void write(uint64_t offset, const uint8_t *from, uint64_t count) {
    if (offset >= bits.size())
      return;
    isWhole = isWhole && !isAnySet(from, inside(offset, count));
    std::memcpy(bits.data() + offset, from, inside(offset, count));
  }
  void define(uint64_t offset, uint64_t count) {
    if (isWhole || offset >= bits.size())
      return;
    std::memset(bits.data() + offset, 0, inside(offset, count));
    isWhole = inside(offset, count) == bits.size();
  }

private:
  uint64_t inside(uint64_t offset, uint64_t count) const {
    return std::min<uint64_t>(count, bits.size() - offset);
  }
  std::vector<uint8_t> bits;
  bool isWhole = false;
};

/// The shadows of global memory.
class GlobalShadow {
public:
  struct Object {
    std::string name;
    ByteShadow shadow;
  };

  void allocate(uint64_t address, uint64_t bytes, std::string name);
  void free(uint64_t address);
  /// By the host: defined.
  void define(uint64_t address, uint64_t bytes);

  /// Null in memory that it was not told of, which counts as defined.
  Object *find(uint64_t address, uint64_t &offset);
  /// `"x" + 16`, or the address.
  std::string describe(uint64_t address);

private:
  std::map<uint64_t, Object> objects;
  uint64_t lastAddress = 0;
  Object *last = nullptr;
};

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_UNDEFINEDMEMORY_H
