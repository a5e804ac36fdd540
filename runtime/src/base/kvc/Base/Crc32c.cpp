//===- Crc32c.cpp - Sums of saved bytes -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

using namespace kvc;

//===----------------------------------------------------------------------===//
// Tables: eight bytes at a time
//===----------------------------------------------------------------------===//

namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

/// tables[k][b]: what byte b adds when k bytes follow it.
constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum >> 1) ^ (sum & 1 ? 0x82F63B78u : 0);
    tables[0][byte] = sum;
  }
  for (size_t k = 1; k < tables.size(); ++k)
    for (size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] =
          (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xFF];
  return tables;
}
constexpr Tables kTables = makeTables();

} // namespace

uint32_t kvc::crc32cPortable(uint32_t sum, const void *data, size_t size) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  sum = ~sum;
  for (; size >= 8; size -= 8, bytes += 8) {
    uint32_t next = 0;
    for (size_t i = 0; i < 4; ++i) {
      next ^= kTables[7 - i][bytes[i] ^ ((sum >> (8 * i)) & 0xFF)];
      next ^= kTables[3 - i][bytes[4 + i]];
    }
    sum = next;
  }
  for (; size; --size, ++bytes)
    sum = (sum >> 8) ^ kTables[0][(sum ^ *bytes) & 0xFF];
  return ~sum;
}

//===----------------------------------------------------------------------===//
// SSE 4.2
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

[[gnu::target("sse4.2")]] static uint32_t
crc32cSse42(uint32_t sum, const void *data, size_t size) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  uint64_t wide = ~sum;
  for (; size >= 8; size -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    wide = _mm_crc32_u64(wide, word);
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (; size; --size, ++bytes)
    narrow = _mm_crc32_u8(narrow, *bytes);
  return ~narrow;
}

uint32_t kvc::crc32c(uint32_t sum, const void *data, size_t size) {
  static const bool hasInstruction = __builtin_cpu_supports("sse4.2") != 0;
  return hasInstruction ? crc32cSse42(sum, data, size)
                        : crc32cPortable(sum, data, size);
}

#else

uint32_t kvc::crc32c(uint32_t sum, const void *data, size_t size) {
  return crc32cPortable(sum, data, size);
}

#endif
