//===- Crc32c.h - Sums of saved bytes ---------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// CRC-32C (Castagnoli; RFC 3720, B.4): reflected polynomial 0x82F63B78, begun
// and ended with all bits flipped. Every change of up to 32 neighbouring bits
// is seen. The sum of "123456789" is 0xE3069283.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_BASE_CRC32C_H
#define KVC_BASE_CRC32C_H

#include <cstddef>
#include <cstdint>

namespace kvc {

/// The sum of some bytes and `size` more; `sum` is 0 before the first.
uint32_t crc32c(uint32_t sum, const void *data, size_t size);
/// The same without the machine's own instruction, to compare with.
uint32_t crc32cPortable(uint32_t sum, const void *data, size_t size);

} // namespace kvc

#endif // KVC_BASE_CRC32C_H
