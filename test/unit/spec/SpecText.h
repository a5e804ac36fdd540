//===- SpecText.h - Specs for tests, by patching a base one -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SPEC_SPECTEXT_H
#define KVC_TEST_UNIT_SPEC_SPECTEXT_H

#include "kvc/Spec/Spec.h"

#include <nlohmann/json.hpp>

namespace kvc::test {

/// A valid spec: 32/8 heads of 128 channels, symmetric int4, one f16 scale per
/// token and head.
inline nlohmann::json baseSpec() {
  return nlohmann::json::parse(R"({
    "kvc": 1,
    "name": "base",
    "attention": {"q_heads": 32, "kv_heads": 8, "head_dim": 128},
    "io": {"query": "f16"},
    "key":   {"codec": "int4", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}},
    "value": {"codec": "int4", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}}
  })");
}

/// The base spec with a JSON merge patch (RFC 7396: null removes a key).
inline std::string patched(const char *patch) {
  nlohmann::json spec = baseSpec();
  spec.merge_patch(nlohmann::json::parse(patch));
  return spec.dump();
}

/// Parses a spec that must be valid; an invalid one is returned empty after the
/// caller's EXPECT on `error` fails.
inline spec::Spec parsePatched(const char *patch,
                               std::string *error = nullptr) {
  spec::Expected<spec::Spec> result = spec::parseSpec(patched(patch));
  if (result)
    return *result;
  if (error)
    *error = result.error().str();
  return {};
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SPEC_SPECTEXT_H
