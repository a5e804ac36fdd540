//===- SchemeRows.h - Inputs of a cache's schemes ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CACHE_SCHEMEROWS_H
#define KVC_CACHE_SCHEMEROWS_H

#include "kvc/Base/SpecHandle.h"
#include "kvc/cache.h"

#include <vector>

namespace kvc {

/// Static scales, tables and smoothing factors as kernels read them.
class SchemeRows {
public:
  /// Takes each input of the spec from `given` [count].
  kvc_status read(const kvc_spec &spec, const kvc_scheme_values *given,
                  int64_t count, kvc_diag *diag);
  /// In the order of the spec's inputs; null where it has none.
  const float *const *pointers() const {
    return starts.empty() ? nullptr : starts.data();
  }

  const std::vector<std::vector<float>> &all() const { return rows; }

private:
  std::vector<std::vector<float>> rows;
  std::vector<const float *> starts; ///< One per input, into `rows`.
};

} // namespace kvc

#endif // KVC_CACHE_SCHEMEROWS_H
