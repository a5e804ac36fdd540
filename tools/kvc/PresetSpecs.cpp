//===- PresetSpecs.cpp - Specs made from presets --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/PresetSpecs.h"

#include "kvc/Json.h"
#include "kvc/Spec/Presets.h"

#include <algorithm>
#include <filesystem>

using namespace kvc;

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

/// `file` is the preset's file, whether it is embedded or not.
static std::string specOf(const std::string &name, const Json &file,
                          const AttentionShape &shape) {
  Json own = Json::object();
  if (const auto spec = file.find("spec");
      spec != file.end() && spec->is_object())
    own = spec->value("attention", Json::object());
  Json attention{{"q_heads", shape.qHeads}, {"kv_heads", shape.kvHeads}};
  if (!own.contains("head_dim"))
    attention["head_dim"] = shape.headDim;
  if (!own.contains("value_is_key") && shape.valueDim &&
      shape.valueDim != shape.headDim)
    attention["value_dim"] = shape.valueDim;
  Json spec;
  spec["kvc"] = 1;
  spec["name"] = name;
  spec["preset"] = name;
  spec["attention"] = attention;
  spec["io"] = {{"query", nameOf(shape.query)}};
  return lineOf(spec);
}

std::string kvc::specOfPreset(const kvc_preset_info &preset,
                              const AttentionShape &shape) {
  return specOf(preset.name, parseJson(preset.json), shape);
}

std::string kvc::rawSpecOf(const AttentionShape &shape) {
  const Json scheme{{"codec", nameOf(shape.query)}};
  Json spec{{"kvc", 1},
            {"name", "raw"},
            {"attention",
             {{"q_heads", shape.qHeads},
              {"kv_heads", shape.kvHeads},
              {"head_dim", shape.headDim}}},
            {"io", {{"query", nameOf(shape.query)}}},
            {"key", scheme}};
  if (shape.valueDim) {
    spec["attention"]["value_dim"] = shape.valueDim;
    spec["value"] = scheme;
  } else {
    spec["attention"]["value_is_key"] = "all";
  }
  return lineOf(spec);
}

bool kvc::isPresetFile(const std::string &text) {
  const Json file = parseJson(text);
  return file.is_object() && !file.contains("kvc") &&
         (file.contains("scheme") || file.contains("spec"));
}

std::string kvc::specOfPresetFile(const std::string &path,
                                  const std::string &text,
                                  const AttentionShape &shape) {
  const std::string name = std::filesystem::path(path).stem().string();
  const auto spec = spec::parseSpec(specOf(name, parseJson(text), shape),
                                    spec::PresetFile{name, text});
  if (!spec)
    throw Failure(path + ": " + spec.error().str());
  return spec::printSpec(*spec);
}

void kvc::failAll(const std::vector<Refusal> &refused) {
  auto countOf = [&](const Refusal &one) {
    return std::ranges::count(refused, one.reason, &Refusal::reason);
  };
  const auto most = std::ranges::max_element(refused, {}, countOf);
  throw Failure(most->name + ": " + most->reason);
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
