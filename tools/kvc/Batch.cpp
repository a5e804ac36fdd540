//===- Batch.cpp - What commands compute over -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Batch.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kvc {

Threads::Threads(int64_t count) {
  if (count == 1)
    return;
  Diag diag;
  kvc_thread_pool *started = nullptr;
  diag.check(kvc_thread_pool_create(static_cast<int32_t>(count), nullptr, 0,
                                    diag, &started));
  pool.reset(started);
  diag.check(kvc_thread_pool_loop(pool.get(), diag, &parallel));
  diag.check(kvc_thread_pool_size(pool.get(), diag, &size));
}

int64_t bytesOf(kvc_dtype dtype) { return dtype == KVC_F32 ? 4 : 2; }

int64_t Values::count() const {
  return static_cast<int64_t>(bytes.size()) / bytesOf(dtype);
}

static float f16ToF32(uint16_t bits) {
  const uint32_t magnitude = (bits & 0x7fffU) << 13;
  // The biases of the exponents are 112 apart.
  const float value = (bits & 0x7c00U) == 0x7c00U
                          ? std::bit_cast<float>(magnitude | 0x7f800000U)
                          : std::bit_cast<float>(magnitude) * 0x1p112F;
  return (bits & 0x8000U) != 0 ? -value : value;
}

std::vector<float> Values::toF32() const {
  std::vector<float> result(count());
  if (dtype == KVC_F32) {
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  for (size_t i = 0; i < result.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, &bytes[2 * i], sizeof(bits));
    result[i] = dtype == KVC_BF16
                    ? std::bit_cast<float>(static_cast<uint32_t>(bits) << 16)
                    : f16ToF32(bits);
  }
  return result;
}

Values convert(const std::string &name, const void *data, kvc_dtype from,
               int64_t count, kvc_dtype to) {
  Diag diag;
  Values values{to, std::vector<std::byte>(count * bytesOf(to))};
  diag.check(kvc_convert(name.c_str(), data, from, count, to, diag,
                         values.bytes.data()));
  return values;
}

int64_t visibleTokens(const kvc_spec_info &spec, int64_t length,
                      int64_t queries) {
  if (spec.window == 0)
    return length;
  // Behind the visible sinks, all that the first of these queries sees.
  const int64_t begin =
      std::max<int64_t>(0, length - queries + 1 - spec.window);
  return length - begin + std::min(begin, spec.window_sinks);
}

} // namespace kvc
