//===- Presets.cpp - kvc presets ------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Json.h"
#include "kvc/PresetSpecs.h"
#include "kvc/Table.h"

using namespace kvc;

namespace {

/// Channels per head that bits are counted for, where a preset says none.
constexpr int64_t kHeadDim = 128;

struct Row {
  kvc_preset_info preset;
  int64_t headDim;
  double bitsPerValue;
};

Row rowOf(const kvc_preset_info &preset) {
  AttentionShape shape;
  shape.headDim = shape.valueDim = kHeadDim;
  const SpecHandle spec = parseSpec(specOfPreset(preset, shape), preset.name);
  return {preset, specInfoOf(spec.get()).head_dim, bitsPerValue(spec.get())};
}

std::string asText(const std::vector<Row> &rows) {
  Table table({{"preset", Align::Left},
               {"top", Align::Left},
               {"bits per\nvalue"},
               {"what", Align::Left},
               {"good for", Align::Left}});
  for (const Row &row : rows)
    table.add({row.preset.name, row.preset.whole_spec ? "top" : "",
               fixed(row.bitsPerValue, 2), row.preset.title,
               row.preset.good_for});
  return table.str(widthOfOutput());
}

std::string asJson(const std::vector<Row> &rows) {
  Json result = Json::array();
  for (const Row &row : rows) {
    Json item{{"name", row.preset.name},
              {"top", row.preset.whole_spec != 0},
              {"bits_per_value", row.bitsPerValue},
              {"head_dim", row.headDim},
              {"title", row.preset.title},
              {"good_for", row.preset.good_for},
              {"source", row.preset.source}};
    const auto file = parseJson(row.preset.json);
    for (const char *key : {"scheme", "spec"})
      if (file.contains(key))
        item[key] = file[key];
    result.push_back(std::move(item));
  }
  return documentOf(result);
}

void listPresets(bool json) {
  std::vector<Row> rows;
  for (const kvc_preset_info &preset : allPresets())
    rows.push_back(rowOf(preset));
  print(json ? asJson(rows) : asText(rows));
}

} // namespace

void kvc::addPresetsCommand(CLI::App &app) {
  auto json = std::make_shared<bool>(false);
  CLI::App &command = addCommand(
      app, "presets", "List the schemes that a spec may name by \"preset\".",
      [json] { listPresets(*json); },
      "Bits per value are those of K and V with all scales, zeros and outliers "
      "that lie in the cache, for heads of 128 channels. A preset marked top "
      "says more than one scheme "
      "and "
      "stands at the top level of a spec only; the others stand there, in key, "
      "in value and in parts. Lines are as long as the terminal's, or 100 "
      "characters; --json also has where each scheme comes from.");
  addFlag(command, "--json", *json, "Print JSON.");
}
