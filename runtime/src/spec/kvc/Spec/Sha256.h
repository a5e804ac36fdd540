//===- Sha256.h - SHA-256 of FIPS 180-4 -------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Debian has no hash library that is small enough to be a dependency of the
// runtime, and cache files and prefix keys need a hash that never changes.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_SHA256_H
#define KVC_SPEC_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvc::spec {

/// Takes the message in pieces of any size.
class Sha256 {
public:
  void update(const void *data, size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }

  /// The digest of everything so far; the object must not be used after it.
  std::array<uint8_t, 32> finish();

private:
  void compress(const uint8_t *block);

  std::array<uint32_t, 8> state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> buffer{};
  uint64_t length = 0; ///< Bytes so far.
};

/// Lower-case hexadecimal digest of `text`.
std::string sha256Hex(std::string_view text);

} // namespace kvc::spec

#endif // KVC_SPEC_SHA256_H
