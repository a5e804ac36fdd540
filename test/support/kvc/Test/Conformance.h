//===- Conformance.h - Cases made by another implementation -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The folders of test/data/conformance, and the vectors of test/data/presets.
// The README.md of each says what they hold.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_CONFORMANCE_H
#define KVC_TEST_CONFORMANCE_H

#include "kvc/Test/Inputs.h"

#include <string>
#include <vector>

namespace kvc::test {

struct ConformanceCase {
  std::string name;
  std::string specText;     ///< spec.json as it stands.
  std::string expandedText; ///< The same without presets; equal without any.
  safetensors::File inputs, expected;

  bool usesPreset() const { return specText != expandedText; }
};

/// Names of the cases in a folder, sorted.
std::vector<std::string> conformanceNames(const std::string &folder);

/// A case's name as part of a test's, which has no '-'.
std::string testNameOf(std::string name);

/// Reads one case; what is wrong with it otherwise.
safetensors::Expected<ConformanceCase>
loadConformanceCase(const std::string &folder, const std::string &name);

/// Replaces the presets of a spec by what SPEC.md section 1b says they are, as
/// far as the conformance cases use them: int8, kvquant4, ggml_q8_0, ggml_q4_1.
/// Written from that table alone, to check the parser's own expansion. Text
/// that it cannot expand comes back unchanged.
std::string expandPresets(const std::string &specText);

/// What another quantiser stores for a preset, one kv head.
struct PresetVectors {
  std::string specText; ///< The preset, f32 queries, in the order of `records`.
  int64_t tokens, channels;
  std::vector<float> x;         ///< [tokens][channels]
  std::vector<uint8_t> records; ///< [tokens][bytes of a record]
};

/// Presets that the file has vectors of, sorted.
std::vector<std::string> presetVectorNames(const std::string &path);

safetensors::Expected<PresetVectors> loadPresetVectors(const std::string &path,
                                                       const std::string &name);

} // namespace kvc::test

#endif // KVC_TEST_CONFORMANCE_H
