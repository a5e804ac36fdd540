//===- SchemeValues.cpp - What schemes take beside k and v ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/SchemeValues.h"

#include "kvc/SpecFile.h"

namespace kvc {

std::vector<kvc_scheme_values>
schemeValuesFor(const kvc_spec *spec, std::span<const SchemeValues> given) {
  std::vector<kvc_scheme_values> result;
  for (const kvc_input_info &input : schemeInputsOf(spec))
    for (const SchemeValues &each : given)
      if (each.name == input.name)
        result.push_back({each.name.c_str(), each.values.data(),
                          static_cast<int64_t>(each.values.size())});
  return result;
}

std::vector<SchemeValues> anySchemeValues(const kvc_spec *spec) {
  std::vector<SchemeValues> result;
  for (const kvc_input_info &input : schemeInputsOf(spec)) {
    const int64_t count = input.kv_heads * input.columns;
    SchemeValues any{input.name, std::vector<float>(count, 0.0625F)};
    // Entries of tables differ.
    if (input.kind == KVC_INPUT_TABLE)
      for (int64_t i = 0; i < count; ++i)
        any.values[i] *= static_cast<float>(i % input.columns + 1);
    result.push_back(std::move(any));
  }
  return result;
}

} // namespace kvc
