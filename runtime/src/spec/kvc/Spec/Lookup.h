//===- Lookup.h - The entry of a table nearest to a number -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_LOOKUP_H
#define KVC_SPEC_LOOKUP_H

#include <cstdint>
#include <span>
#include <vector>

namespace kvc::spec {

/// A table in the order of its values. The code of x is that of the first step
/// where x is above no threshold from there on: codes[n] for the n thresholds
/// below x.
struct LookupSteps {
  std::vector<float> thresholds; ///< Ascending.
  std::vector<uint8_t> codes;    ///< thresholds.size() + 1 indices.
};

/// The steps of "the nearest entry, compared exactly, ties to the lower index"
/// (SPEC.md section 2). `table` holds 1 to 256 finite numbers.
LookupSteps lookupSteps(std::span<const float> table);

} // namespace kvc::spec

#endif // KVC_SPEC_LOOKUP_H
