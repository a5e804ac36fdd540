//===- SpecText.h - Specs for tests, by patching a base one -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SPEC_SPECTEXT_H
#define KVC_TEST_UNIT_SPEC_SPECTEXT_H

#include "kvc/Spec/Spec.h"

#include <gtest/gtest.h>
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

/// The base spec with a patch that leaves it valid; a failure and the base spec
/// if it does not.
inline spec::Spec parsePatched(const char *patch) {
  spec::Expected<spec::Spec> result = spec::parseSpec(patched(patch));
  if (result)
    return *result;
  ADD_FAILURE() << patch << ": " << result.error().str();
  return *spec::parseSpec(baseSpec().dump());
}

/// Expects an error that says what was expected and got. `test` begins with
/// the rule's number and '_'; `fragment` is part of the message.
inline void expectRefused(const std::string &test, const std::string &json,
                          const char *path, const char *fragment) {
  spec::Expected<spec::Spec> spec = spec::parseSpec(json);
  ASSERT_FALSE(spec);
  const spec::Error &error = spec.error();
  EXPECT_EQ(error.rule, test.substr(0, test.find('_'))) << error.str();
  EXPECT_EQ(error.path, path) << error.str();
  for (const char *part : {fragment, "expected ", "got "})
    EXPECT_NE(error.message.find(part), std::string::npos) << error.str();
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SPEC_SPECTEXT_H
