//===- PresetSpecs.cpp - Specs made from presets --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/PresetSpecs.h"

#include <nlohmann/json.hpp>

using namespace kvc;
using Json = nlohmann::ordered_json;

std::vector<kvc_preset_info> kvc::allPresets() {
  Diag diag;
  int64_t count = 0;
  diag.check(kvc_preset_count(&count));
  std::vector<kvc_preset_info> presets(count);
  for (int64_t i = 0; i < count; ++i) {
    presets[i].struct_size = sizeof(kvc_preset_info);
    diag.check(kvc_preset_get(i, diag, &presets[i]));
  }
  return presets;
}

std::string kvc::specOfPreset(const kvc_preset_info &preset,
                              const AttentionShape &shape) {
  const Json own = Json::parse(preset.json)
                       .value(preset.whole_spec ? "spec" : "scheme", Json())
                       .value("attention", Json::object());
  Json attention{{"q_heads", shape.qHeads}, {"kv_heads", shape.kvHeads}};
  if (!own.contains("head_dim"))
    attention["head_dim"] = shape.headDim;
  if (!own.contains("value_is_key") && shape.valueDim != shape.headDim)
    attention["value_dim"] = shape.valueDim;
  Json spec;
  spec["kvc"] = 1;
  spec["name"] = preset.name;
  spec["preset"] = preset.name;
  spec["attention"] = attention;
  spec["io"] = {{"query", nameOf(shape.query)}};
  return spec.dump();
}

double kvc::bitsPerValue(const kvc_spec *spec) {
  double bytes = 0;
  int64_t values = 0;
  for (kvc_tensor tensor : {KVC_KEY, KVC_VALUE}) {
    const kvc_tensor_info info = tensorInfoOf(spec, tensor);
    bytes += info.bytes_per_token;
    values += info.num_parts == 0 ? 0 : info.channels;
  }
  return 8 * bytes / static_cast<double>(values);
}
