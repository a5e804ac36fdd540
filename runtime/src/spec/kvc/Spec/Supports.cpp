//===- Supports.cpp - What compiles and runs ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The one list of valid specs that the compiler refuses. Every answer is a
// literal, so engines may ask on a hot path.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Spec.h"

#include <algorithm>

using namespace kvc::spec;

/// Whether one part has all channels that RoPE rotates.
static bool isInOnePart(const Scheme &scheme) {
  const int64_t begin = scheme.rope->offset, end = begin + scheme.rope->dims;
  return std::any_of(scheme.parts.begin(), scheme.parts.end(),
                     [&](const PartScheme &part) {
                       return part.begin <= begin && end <= part.end;
                     });
}

static const char *unsupportedScheme(const Scheme &scheme) {
  // Pairs of channels in parts of their own.
  if (scheme.rope && !isInOnePart(scheme))
    return "not lowered yet: rope across parts";
  return nullptr;
}

const char *kvc::spec::unsupportedReason(const Spec &spec) {
  if (const char *reason = unsupportedScheme(spec.key))
    return reason;
  if (spec.value)
    if (const char *reason = unsupportedScheme(*spec.value))
      return reason;
  return nullptr;
}
