//===- HostTarget.h - What passes know of a host ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_ANALYSIS_HOSTTARGET_H
#define KVC_ANALYSIS_HOSTTARGET_H

#include <algorithm>
#include <cstdint>

namespace kvc {

struct HostTarget {
  /// How pairs of i16 are multiplied and summed: in upstream dialects alone, by
  /// (v)pmaddwd, by vpdpwssd.
  enum class Dot : uint8_t { Portable, MAddWD, DPWSSD };

  Dot dot = Dot::Portable;
  unsigned vectorBits = 128;
  int64_t prefetchBytes = 0, prefetchPages = 0;

  /// 32-bit lanes of one machine vector.
  int64_t lanes() const { return vectorBits / 32; }
  /// Accumulators that leave enough registers for operands: half of them.
  int64_t accumulators() const { return vectorBits == 512 ? 16 : 8; }
};

/// Register blocking of a dot: rows of weights that meet a loaded vector, and
/// vectors that meet a loaded weight.
struct Blocking {
  int64_t rows, vectors;
};

/// `perVector` accumulators for each row and vector; between `fewest` and 4
/// vectors; rows in groups of nearly equal size.
inline Blocking blockingFor(const HostTarget &target, int64_t rows,
                            int64_t perVector, int64_t fewest) {
  int64_t budget = std::max<int64_t>(1, target.accumulators() / perVector),
          vectors = 4;
  while (vectors > fewest && vectors * rows > budget)
    vectors /= 2;
  int64_t most = std::max<int64_t>(1, budget / vectors),
          groups = (rows + most - 1) / most;
  return {(rows + groups - 1) / groups, vectors};
}

} // namespace kvc

#endif // KVC_ANALYSIS_HOSTTARGET_H
