//===- Conformance.cpp - Cases made by another implementation -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Conformance.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

using namespace kvc;
using namespace kvc::test;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

/// 1 % of the channels, at least one.
static int64_t onePercent(int64_t channels) {
  return std::max<int64_t>(1, channels / 100);
}

/// A scheme preset; null if the cases do not use it.
static json schemePreset(const std::string &name) {
  json scale = {{"tokens", 1}, {"channels", "all"}, {"dtype", "f16"}};
  json scale32 = {{"tokens", 1}, {"channels", 32}, {"dtype", "f16"}};
  if (name == "int8")
    return {{"codec", "int8"}, {"scale", scale}};
  if (name == "ggml_q8_0")
    return {{"codec", "int8"},
            {"scale", scale32},
            {"codes_from", "exact"},
            {"round", "away"}};
  if (name == "ggml_q4_1")
    return {{"codec", "int4"},
            {"scale", scale32},
            {"zero", "min"},
            {"codes_from", "exact"},
            {"round", "up"}};
  return nullptr;
}

/// What a preset at the top level sets; null if the cases do not use it.
static json topPreset(const std::string &name, int64_t keyChannels,
                      int64_t valueChannels, bool hasValue) {
  if (name == "kvquant4") {
    json table = {{"bits", 4}};
    json key = {{"codec", "lut"},
                {"table", table},
                {"scale",
                 {{"tokens", "all"},
                  {"channels", 1},
                  {"dtype", "f32"},
                  {"static", true}}},
                {"rope", {{"style", "half"}, {"dims", keyChannels}}},
                {"outliers", onePercent(keyChannels)}};
    json value = {
        {"codec", "lut"},
        {"table", table},
        {"scale", {{"tokens", 1}, {"channels", "all"}, {"dtype", "f16"}}},
        {"zero", "mid"},
        {"outliers", onePercent(valueChannels)}};
    return {{"key", key}, {"value", value}, {"segments", {{"sink", 1}}}};
  }
  json scheme = schemePreset(name);
  if (scheme.is_null())
    return nullptr;
  json result = {{"key", scheme}};
  if (hasValue)
    result["value"] = scheme;
  return result;
}

/// Objects merge key by key, anything else replaces. A table given as a list
/// replaces a table given as an object and the other way round.
static void override(json &base, const json &over) {
  for (const auto &[key, value] : over.items())
    if (base.contains(key) && base[key].is_object() && value.is_object())
      override(base[key], value);
    else
      base[key] = value;
}

std::string kvc::test::expandPresets(const std::string &specText) {
  json spec = json::parse(specText, nullptr, false);
  if (!spec.is_object() || !spec.contains("attention"))
    return specText;
  bool expanded = false;

  for (const char *tensor : {"key", "value"}) {
    if (!spec.contains(tensor) || !spec[tensor].contains("preset"))
      continue;
    json scheme = schemePreset(spec[tensor]["preset"].get<std::string>());
    if (scheme.is_null())
      return specText;
    json over = spec[tensor];
    over.erase("preset");
    override(scheme, over);
    spec[tensor] = scheme;
    expanded = true;
  }
  if (spec.contains("preset")) {
    const json &attention = spec["attention"];
    int64_t keyChannels = attention["head_dim"].get<int64_t>();
    int64_t valueChannels = attention.value("value_dim", keyChannels);
    json base = topPreset(spec["preset"].get<std::string>(), keyChannels,
                          valueChannels, !attention.contains("value_is_key"));
    if (base.is_null())
      return specText;
    spec.erase("preset");
    override(base, spec);
    spec = base;
    expanded = true;
  }
  return expanded ? spec.dump() : specText;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

std::vector<std::string>
kvc::test::conformanceNames(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error))
    if (entry.is_directory())
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string kvc::test::testNameOf(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

safetensors::Expected<ConformanceCase>
kvc::test::loadConformanceCase(const std::string &folder,
                               const std::string &name) {
  std::string path = folder + "/" + name + "/";
  ConformanceCase result;
  result.name = name;
  std::ifstream in(path + "spec.json", std::ios::binary);
  if (!in)
    return safetensors::Error{path + "spec.json", "", std::nullopt,
                              "cannot open"};
  result.specText.assign(std::istreambuf_iterator<char>(in), {});
  result.expandedText = expandPresets(result.specText);
  for (auto [file, into] :
       {std::pair("inputs.safetensors", &result.inputs),
        std::pair("expected.safetensors", &result.expected)}) {
    safetensors::Expected<safetensors::File> read =
        safetensors::read(path + file);
    if (!read)
      return read.error();
    *into = std::move(*read);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Vectors of presets
//===----------------------------------------------------------------------===//

static constexpr std::string_view kRecords = ".records";

std::vector<std::string> kvc::test::presetVectorNames(const std::string &path) {
  std::vector<std::string> names;
  if (const auto file = safetensors::read(path))
    for (const safetensors::Tensor &tensor : file->tensors())
      if (tensor.name.ends_with(kRecords))
        names.push_back(
            tensor.name.substr(0, tensor.name.size() - kRecords.size()));
  std::sort(names.begin(), names.end());
  return names;
}

safetensors::Expected<PresetVectors>
kvc::test::loadPresetVectors(const std::string &path, const std::string &name) {
  const auto file = safetensors::read(path);
  if (!file)
    return file.error();
  const std::string recordsName = name + std::string(kRecords);
  const std::string xName = name == "flashmla" ? "x576" : "x64";
  for (const std::string &needed : {recordsName, xName})
    if (!file->find(needed))
      return safetensors::Error{path, needed, std::nullopt, "is missing"};
  const safetensors::Tensor &records = *file->find(recordsName),
                            &x = *file->find(xName);
  const auto *bytes = reinterpret_cast<const uint8_t *>(records.data.data());
  const std::string channels = std::to_string(x.shape[1]),
                    order = name.starts_with("ggml_") ? "ggml" : "token";
  return PresetVectors{
      R"({"kvc": 1, "name": "vectors", "preset": ")" + name +
          R"(", "attention": {"q_heads": 1, "kv_heads": 1, "head_dim": )" +
          channels + R"(}, "io": {"query": "f32"}, "layout": {"order": ")" +
          order + R"("}})",
      x.shape[0],
      x.shape[1],
      floatsOf(x),
      {bytes, bytes + records.data.size()}};
}
