//===- Shuffle.h - Whose value a lane gets ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_SHUFFLE_H
#define KVC_SIM_NUMERICS_SHUFFLE_H

#include <cstdint>

namespace kvc::sim {

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

struct ShuffleSource {
  uint32_t lane = 0;     ///< The lane itself where the other is outside.
  bool isInside = false; ///< Of the segment: the predicate of shfl.
};

/// What shfl makes of a lane's b and c.
inline ShuffleSource shuffleSource(Shuffle mode, uint32_t lane, uint32_t b,
                                   uint32_t c) {
  const uint32_t by = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const uint32_t last = (lane & segment) | (clamp & ~segment);
  const uint32_t from = mode == Shuffle::Up     ? lane - by
                        : mode == Shuffle::Down ? lane + by
                        : mode == Shuffle::Butterfly
                            ? lane ^ by
                            : (lane & segment) | (by & ~segment);
  const bool isInside =
      mode == Shuffle::Up ? int32_t(from) >= int32_t(last) : from <= last;
  return {isInside ? from & 31 : lane, isInside};
}

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_SHUFFLE_H
