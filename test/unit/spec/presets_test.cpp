//===- presets_test.cpp - What presets mean -------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "SpecText.h"
#include "kvc/Spec/Bytes.h"
#include "kvc/Spec/Presets.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace kvc;
using namespace kvc::spec;
using nlohmann::json;

namespace {

/// The base spec without schemes, with what `patch` says.
std::string bare(const json &patch) {
  json spec = test::baseSpec();
  spec.erase("key");
  spec.erase("value");
  spec.merge_patch(patch);
  return spec.dump();
}

std::string bare(const char *patch) { return bare(json::parse(patch)); }

/// Both texts must be valid and mean the same.
void expectSame(const std::string &text, const std::string &written) {
  Expected<Spec> spec = parseSpec(text), expected = parseSpec(written);
  ASSERT_TRUE(spec) << spec.error().str() << "\n" << text;
  ASSERT_TRUE(expected) << expected.error().str() << "\n" << written;
  EXPECT_EQ(printSpec(*spec), printSpec(*expected));
  EXPECT_EQ(*spec, *expected);
  EXPECT_EQ(layoutHash(*spec), layoutHash(*expected));
}

/// SPEC.md section 1b, written out for 128 channels: schemes of one tensor.
const std::map<std::string, const char *> kSchemes = {
    {"fp8",
     R"({"codec": "fp8_e4m3", "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}})"},
    {"fp8_static",
     R"({"codec": "fp8_e4m3", "scale": {"tokens": "all", "channels": "all", "dtype": "f32", "static": true}})"},
    {"int8",
     R"({"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}})"},
    {"int4",
     R"({"codec": "int4", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "zero": "min"})"},
    {"int3",
     R"({"codec": "int3", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "zero": "min"})"},
    {"int2",
     R"({"codec": "int2", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "zero": "min"})"},
    {"int4g32",
     R"({"codec": "int4", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}, "zero": "min"})"},
    {"int2g32",
     R"({"codec": "int2", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}, "zero": "min"})"},
    {"nf4",
     R"({"codec": "lut", "scale": {"tokens": 1, "channels": 64, "dtype": "f16"},
         "table": [-1, -0.696192801, -0.525073051, -0.394917488, -0.284441382, -0.18477343, -0.0910500363, 0,
                   0.0795802996, 0.160930201, 0.246112302, 0.337915242, 0.440709829, 0.562617004, 0.722956836, 1]})"},
    {"mxfp8",
     R"({"codec": "fp8_e4m3", "scale": {"tokens": 1, "channels": 32, "dtype": "e8m0"}})"},
    {"mxfp4",
     R"({"codec": "fp4_e2m1", "scale": {"tokens": 1, "channels": 32, "dtype": "e8m0"}})"},
    {"nvfp4",
     R"({"codec": "fp4_e2m1", "scale": {"tokens": 1, "channels": 16, "dtype": "e4m3"}})"},
    {"quarot4",
     R"({"codec": "int4", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "zero": "code", "clip": 0.95, "rotate": 128})"},
    {"turbo4",
     R"({"codec": "lut", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "estimate": "rms", "rotate": 128,
         "table": [-2.732589571, -2.069017227, -1.618046386, -1.256231197, -0.942340456, -0.656759119, -0.388048299, -0.128395030,
                   0.128395030, 0.388048299, 0.656759119, 0.942340456, 1.256231197, 1.618046386, 2.069017227, 2.732589571]})"},
    {"turbo3",
     R"({"codec": "lut", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "estimate": "rms", "rotate": 128,
         "table": [-2.151945705, -1.343909279, -0.756005281, -0.245094179, 0.245094179, 0.756005281, 1.343909279, 2.151945705]})"},
    {"llm_int8",
     R"({"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "outliers": 1})"},
    {"ggml_q8_0",
     R"({"codec": "int8", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}, "codes_from": "exact", "round": "away"})"},
    {"ggml_q4_0",
     R"({"codec": "int4", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}, "estimate": "signed", "codes_from": "exact", "round": "up"})"},
    {"ggml_q4_1",
     R"({"codec": "int4", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}, "zero": "min", "codes_from": "exact", "round": "up"})"},
    {"ggml_q5_0",
     R"({"codec": "int5", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}, "estimate": "signed", "codes_from": "exact", "round": "up"})"},
    {"ggml_q5_1",
     R"({"codec": "int5", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}, "zero": "min", "codes_from": "exact", "round": "up"})"},
};

json kivi(int bits) {
  json key = json::parse(
      R"({"scale": {"tokens": 32, "channels": 1, "dtype": "f16"}, "zero": "min"})");
  json value = json::parse(
      R"({"scale": {"tokens": 1, "channels": 32, "dtype": "f16"}, "zero": "min"})");
  key["codec"] = value["codec"] = "int" + std::to_string(bits);
  return {{"key", key}, {"value", value}, {"segments", {{"recent", 128}}}};
}

json kvquant(int bits) {
  json key = json::parse(
      R"({"codec": "lut", "scale": {"tokens": "all", "channels": 1, "dtype": "f32", "static": true},
          "rope": {"style": "half", "dims": 128}, "outliers": 1})");
  json value = json::parse(
      R"({"codec": "lut", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "zero": "mid", "outliers": 1})");
  key["table"]["bits"] = value["table"]["bits"] = bits;
  return {{"key", key}, {"value", value}, {"segments", {{"sink", 1}}}};
}

/// The same for presets of a whole spec.
std::map<std::string, json> topPresets() {
  return {
      {"k8v4",
       {{"key", json::parse(kSchemes.at("int8"))},
        {"value", json::parse(kSchemes.at("int4"))}}},
      {"kivi4", kivi(4)},
      {"kivi2", kivi(2)},
      {"kvquant4", kvquant(4)},
      {"kvquant3", kvquant(3)},
      {"kvquant2", kvquant(2)},
      {"flashmla", json::parse(R"({
         "attention": {"head_dim": 576, "value_is_key": [0, 512]},
         "key": {"parts": [{"channels": [0, 512], "codec": "fp8_e4m3",
                            "scale": {"tokens": 1, "channels": 128, "dtype": "f32", "round": "up", "floor": 1e-4}},
                           {"channels": [512, 576], "codec": "bf16"}]},
         "layout": {"order": "token"}})")},
  };
}

TEST(Presets, AreThoseOfTheContractInOrder) {
  std::vector<std::string> names;
  std::set<std::string> expected;
  for (const Preset &preset : presets())
    names.push_back(preset.name);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const auto &[name, scheme] : kSchemes)
    expected.insert(name);
  for (const auto &[name, spec] : topPresets())
    expected.insert(name);
  EXPECT_EQ(std::set(names.begin(), names.end()), expected);
  EXPECT_EQ(names.size(), 28u);
}

/// Every file is embedded, and holds what it must and nothing else.
TEST(Presets, FilesAreWhole) {
  size_t files = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(KVC_PRESETS_FOLDER))
    files += entry.path().extension() == ".json";
  EXPECT_EQ(files, presets().size());
  for (const Preset &preset : presets()) {
    ASSERT_TRUE(readJson(preset.json)) << preset.name;
    const json file = json::parse(preset.json);
    EXPECT_EQ(file.size(), 4u) << preset.name;
    EXPECT_EQ(file.at("title"), preset.title);
    EXPECT_EQ(file.at("source"), preset.source);
    EXPECT_EQ(file.at("good_for"), preset.goodFor);
    EXPECT_TRUE(file.contains(preset.top ? "spec" : "scheme")) << preset.name;
    EXPECT_EQ(findPreset(preset.name), &preset);
  }
  EXPECT_EQ(findPreset("int9"), nullptr);
}

/// Bits of a value with all metadata, 128 channels a head where the preset says
/// none.
std::string bitsPerValue(const Preset &preset) {
  json own = {{"preset", preset.name}};
  if (json::parse(preset.json).value("spec", json()).contains("attention"))
    own["attention"]["head_dim"] = nullptr;
  Expected<Spec> spec = parseSpec(bare(own));
  if (!spec)
    return spec.error().str();
  double bytes = bytesPerToken(spec->key);
  auto values = double(spec->attention.headDim);
  if (spec->value) {
    bytes += bytesPerToken(*spec->value);
    values += double(spec->attention.valueDim);
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", 8 * bytes / values);
  return text;
}

TEST(Presets, AreTabulatedInTheReadme) {
  std::string expected;
  for (const Preset &preset : presets())
    expected += std::string("| [") + preset.name + "](" + preset.name +
                ".json) | " + (preset.top ? "top" : "") + " | " +
                bitsPerValue(preset) + " | " + preset.title + " | " +
                preset.goodFor + " | " + preset.source + " |\n";
  std::ifstream file(KVC_PRESETS_FOLDER "/README.md");
  ASSERT_TRUE(file);
  std::string table;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| ["))
      table += line + "\n";
  EXPECT_EQ(table, expected);
}

TEST(Presets, MeanWhatTheContractSays) {
  for (const auto &[name, scheme] : kSchemes) {
    SCOPED_TRACE(name);
    const json written = json::parse(scheme);
    expectSame(bare({{"preset", name}}),
               bare({{"key", written}, {"value", written}}));
    const json raw = {{"codec", "f16"}};
    expectSame(bare({{"key", {{"preset", name}}}, {"value", raw}}),
               bare({{"key", written}, {"value", raw}}));
    expectSame(bare({{"value", {{"preset", name}}}, {"key", raw}}),
               bare({{"value", written}, {"key", raw}}));
  }
  for (const auto &[name, spec] : topPresets()) {
    SCOPED_TRACE(name);
    // The base spec's head_dim would replace the preset's.
    json own = {{"preset", name}};
    if (spec.contains("attention"))
      own["attention"]["head_dim"] = nullptr;
    expectSame(bare(own), bare(spec));
  }
}

TEST(Presets, FitTheChannels) {
  struct Case {
    int channels, rotate, outliers;
  };
  for (auto [channels, rotate, outliers] :
       {Case{64, 64, 1}, Case{80, 16, 1}, Case{96, 32, 1}, Case{192, 64, 1},
        Case{200, 8, 2}, Case{576, 64, 5}}) {
    Expected<Spec> spec = parseSpec(
        bare({{"attention", {{"head_dim", channels}, {"value_dim", 256}}},
              {"preset", "quarot4"}}));
    ASSERT_TRUE(spec) << spec.error().str();
    EXPECT_EQ(spec->key.parts[0].rotate, rotate);
    EXPECT_EQ(spec->value->parts[0].rotate, 256);
    spec = parseSpec(
        bare({{"attention", {{"head_dim", 256}, {"value_dim", channels}}},
              {"preset", "kvquant2"}}));
    ASSERT_TRUE(spec) << spec.error().str();
    EXPECT_EQ(spec->key.parts[0].outliers, 2);
    EXPECT_EQ(spec->key.rope->dims, 256);
    EXPECT_EQ(spec->value->parts[0].outliers, outliers);
  }
}

TEST(Presets, FitTheChannelsOfTheirPart) {
  expectSame(
      bare(R"({"key": {"parts": [{"channels": [0, 80], "preset": "turbo3"},
                                 {"channels": [80, 128], "preset": "quarot4"}]},
               "value": {"codec": "f16"}})"),
      bare(R"({"key": {"parts": [
                 {"channels": [0, 80], "codec": "lut", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "estimate": "rms", "rotate": 16,
                  "table": [-2.151945705, -1.343909279, -0.756005281, -0.245094179, 0.245094179, 0.756005281, 1.343909279, 2.151945705]},
                 {"channels": [80, 128], "codec": "int4", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "zero": "code", "clip": 0.95, "rotate": 16}]},
               "value": {"codec": "f16"}})"));
}

TEST(Presets, ObjectsMergeAndTheRestReplaces) {
  // One key of the scale; the others stay.
  expectSame(
      bare(
          R"({"key": {"preset": "nf4", "scale": {"channels": 32}, "table": [-1, 0, 0.5, 1]}, "value": {"codec": "f16"}})"),
      bare(
          R"({"key": {"codec": "lut", "table": [-1, 0, 0.5, 1], "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}}, "value": {"codec": "f16"}})"));
  // At the top level: sections merge with the preset's.
  expectSame(
      bare(
          R"({"preset": "kivi4", "segments": {"sink": 4}, "key": {"codec": "int3", "scale": {"dtype": "bf16"}}})"),
      bare(R"({"segments": {"sink": 4, "recent": 128},
               "key": {"codec": "int3", "scale": {"tokens": 32, "channels": 1, "dtype": "bf16"}, "zero": "min"},
               "value": {"codec": "int4", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}, "zero": "min"}})"));
  // A plain preset at the top: one tensor may differ.
  expectSame(bare(R"({"preset": "int4", "value": {"zero": "none"}})"),
             bare(R"({"key": {"preset": "int4"},
                      "value": {"preset": "int4", "zero": "none"}})"));
  // A list for a table's object, and a rope, replace.
  expectSame(
      bare(
          R"({"preset": "kvquant2", "key": {"rope": {"style": "pairs", "dims": 64}, "table": [-1, 0, 0.5, 1]}})"),
      bare(R"({"segments": {"sink": 1},
               "key": {"codec": "lut", "table": [-1, 0, 0.5, 1], "scale": {"tokens": "all", "channels": 1, "dtype": "f32", "static": true}, "outliers": 1, "rope": {"style": "pairs", "dims": 64}},
               "value": {"codec": "lut", "table": {"bits": 2}, "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "zero": "mid", "outliers": 1}})"));
  // So a rope without its style is not completed from the preset's.
  Expected<Spec> spec = parseSpec(
      bare(R"({"preset": "kvquant2", "key": {"rope": {"dims": 64}}})"));
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().path, "$.key.rope.style");
}

TEST(Presets, OwnPresetOrPartsReplaceWholly) {
  // Neither the rope nor the outliers of kvquant's key are left.
  expectSame(bare(R"({"preset": "kvquant3", "key": {"preset": "int8"}})"),
             bare([] {
               json spec = kvquant(3);
               spec["key"] = json::parse(kSchemes.at("int8"));
               return spec;
             }()));
  expectSame(
      bare(
          R"({"preset": "kvquant3", "key": {"parts": [{"channels": [0, 128], "preset": "int8"}]}})"),
      bare([] {
        json spec = kvquant(3);
        json part = json::parse(kSchemes.at("int8"));
        part["channels"] = {0, 128};
        spec["key"] = {{"parts", json::array({part})}};
        return spec;
      }()));
  // A rope may stand beside the parts of a preset.
  expectSame(
      bare(
          R"({"preset": "flashmla", "attention": {"head_dim": null}, "key": {"rope": {"style": "pairs", "dims": 64, "offset": 512}}})"),
      bare([] {
        json spec = topPresets().at("flashmla");
        spec["key"]["rope"] = {
            {"style", "pairs"}, {"dims", 64}, {"offset", 512}};
        return spec;
      }()));
}

TEST(Presets, SetTheKeyAloneWhereValueIsKey) {
  expectSame(
      bare(R"({"preset": "int8", "attention": {"value_is_key": [0, 64]}})"),
      bare(
          R"({"key": {"preset": "int8"}, "attention": {"value_is_key": [0, 64]}})"));
  // What the document says of a preset's slice replaces it.
  expectSame(
      bare(
          R"({"preset": "flashmla", "attention": {"head_dim": null, "value_is_key": "all"}})"),
      bare([] {
        json spec = topPresets().at("flashmla");
        spec["attention"]["value_is_key"] = "all";
        return spec;
      }()));
}

TEST(Presets, OneSchemeOfUnknownChannels) {
  for (const Preset &preset : presets()) {
    const json scheme = {{"preset", preset.name}};
    std::optional<Error> error = checkSection("scheme", scheme.dump());
    EXPECT_EQ(error.has_value(), preset.top) << preset.name;
    if (error)
      EXPECT_EQ(error->rule, "P3");
  }
}

//===----------------------------------------------------------------------===//
// Files of other presets
//===----------------------------------------------------------------------===//

const std::string kOwn = R"({"preset": "own"})";

TEST(PresetFiles, MayBeNamedLikeEmbeddedOnes) {
  const PresetFile file{
      "own",
      R"({"title": "x", "scheme": {"preset": "turbo3", "rotate": "channels.power_of_two", "scale": {"dtype": "bf16"}}})"};
  for (
      const char *text :
      {R"({"preset": "own"})",
       R"({"key": {"preset": "own"}, "value": {"preset": "own"}})",
       R"({"key": {"parts": [{"channels": [0, 128], "preset": "own"}]}, "value": {"preset": "own"}})"}) {
    Expected<Spec> spec = parseSpec(bare(text), file);
    ASSERT_TRUE(spec) << spec.error().str();
    Expected<Spec> written = parseSpec(bare(
        R"({"preset": "turbo3", "key": {"scale": {"dtype": "bf16"}}, "value": {"scale": {"dtype": "bf16"}}})"));
    ASSERT_TRUE(written) << written.error().str();
    EXPECT_EQ(spec->key.parts, written->key.parts);
    EXPECT_EQ(spec->value, written->value);
    EXPECT_FALSE(parseSpec(bare(text))) << "known without its file";
  }
}

TEST(PresetFiles, OfAWholeSpecMayNamePresets) {
  const PresetFile file{
      "own",
      R"({"spec": {"key": {"preset": "int8"}, "value": {"preset": "int4"}, "segments": {"recent": 7}}})"};
  Expected<Spec> spec = parseSpec(bare(kOwn.c_str()), file);
  ASSERT_TRUE(spec) << spec.error().str();
  Expected<Spec> written =
      parseSpec(bare(R"({"preset": "k8v4", "segments": {"recent": 7}})"));
  ASSERT_TRUE(written) << written.error().str();
  EXPECT_EQ(*spec, *written);
}

TEST(PresetFiles, AreRefusedByRule) {
  struct Case {
    const char *json, *path, *rule;
  } cases[] = {
      {R"({"title": "x"})", "$", "P5"},
      {R"({"scheme": {}, "spec": {}})", "$", "P5"},
      {R"({"scheme": {"preset": "own"}})", "$.key.preset", "P6"},
      {R"({"scheme": []})", "$.scheme", "J10"},
      {R"({"spec": 1})", "$.spec", "J10"},
      {R"({"spec": {"io": {"query": "f16"}}})", "$.spec.io", "J8"},
      {R"({"schemes": {}})", "$.schemes", "J8"},
      {R"({"title": 1, "scheme": {}})", "$.title", "J10"},
      {R"({"scheme": {"preset": "k8v4"}})", "$.key.preset", "P3"},
      {R"({"scheme": {}} x)", "$", "J6"},
      {"", "$", "J2"},
  };
  for (const Case &bad : cases) {
    Expected<Spec> spec =
        parseSpec(bare(kOwn.c_str()), PresetFile{"own", bad.json});
    ASSERT_FALSE(spec) << bad.json;
    EXPECT_EQ(spec.error().rule, bad.rule) << spec.error().str();
    EXPECT_EQ(spec.error().path, bad.path) << spec.error().str();
  }
}

} // namespace
