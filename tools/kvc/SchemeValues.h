//===- SchemeValues.h - What schemes take beside k and v --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_SCHEMEVALUES_H
#define KVC_TOOLS_SCHEMEVALUES_H

#include "kvc/cache.h"

#include <span>
#include <string>
#include <vector>

namespace kvc {

/// Values of one input of a scheme: f32 [kv_heads, columns].
struct SchemeValues {
  std::string name;
  std::vector<float> values;
};

/// Those of `given` that the spec's schemes take, for kvc_cache_options; views
/// into them. What is missing is left to kvc_cache_create to tell.
std::vector<kvc_scheme_values>
schemeValuesFor(const kvc_spec *spec, std::span<const SchemeValues> given);
/// Values in range, where any will do.
std::vector<SchemeValues> anySchemeValues(const kvc_spec *spec);

} // namespace kvc

#endif // KVC_TOOLS_SCHEMEVALUES_H
