//===- Clusters.h - Weighted k-means in one dimension -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_CLUSTERS_H
#define KVC_TOOLS_CLUSTERS_H

#include <cstddef>
#include <vector>

namespace kvc {

struct WeightedValue {
  double value = 0, weight = 1;
};

/// What the largest magnitude among the centres may be: a scale that is divided
/// by it ties it down.
struct LargestCentre {
  double low = 0, high = 1e30;
};

struct Clusters {
  std::vector<float> centres; ///< Ascending.
  double loss = 0;            ///< Sum of weight * squared distance.
};

/// `count` centres near the least loss: Lloyd's iterations from several starts,
/// the same on every machine. Needs values with weights above 0.
Clusters clusterValues(std::vector<WeightedValue> values, size_t count,
                       const LargestCentre &largest = {});

} // namespace kvc

#endif // KVC_TOOLS_CLUSTERS_H
