//===- Regions.h - Where the regions of a cache lie -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// From the strides of layout::tensorStrides and an address to the views that
// kernels read, and copying between two of them.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CACHE_REGIONS_H
#define KVC_CACHE_REGIONS_H

#include "kvc/Devices/Memory.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/kernel_abi.h"

#include <vector>

namespace kvc {

/// Adds the regions of a tensor whose memory begins at `base`.
void placeTensor(const layout::TensorStrides &strides, uint8_t *base,
                 std::vector<kvc_region> &regions);

/// The whole of one sequence's memory in a contiguous cache: K's bytes, then
/// V's.
struct ContiguousRun {
  int64_t capacity = 0; ///< Tokens, a multiple of 64.
  Memory memory;
  std::vector<kvc_region> regions; ///< K's, then V's.

  /// Makes an empty object a run of `tokens` tokens, filled with 0xFF if
  /// `isPoisoned`.
  kvc_status allocate(const spec::Spec &spec, const kvc_device &device,
                      int64_t tokens, bool isPoisoned, kvc_diag *diag);
};

/// Copies the first `tokens` tokens. Strides of the two runs may differ, so
/// each region is copied by itself and, where heads lie outside of tokens, each
/// head.
kvc_status copyRun(const spec::Spec &spec, const kvc_device &device,
                   const ContiguousRun &from, int64_t tokens, ContiguousRun &to,
                   kvc_diag *diag);

} // namespace kvc

#endif // KVC_CACHE_REGIONS_H
