//===- preset_specs_test.cpp - Specs made of presets ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/PresetSpecs.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace kvc;

namespace {

kvc_preset_info presetOf(const std::string &name) {
  const auto all = allPresets();
  const auto found = std::ranges::find_if(
      all, [&](const kvc_preset_info &each) { return each.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

TEST(PresetSpecs, EveryPresetIsASpecOverSomeAttention) {
  for (const kvc_preset_info &preset : allPresets()) {
    const SpecHandle spec =
        parseSpec(specOfPreset(preset, {8, 2, 128, 64, KVC_BF16}), preset.name);
    const kvc_spec_info info = specInfoOf(spec.get());
    EXPECT_STREQ(info.name, preset.name);
    EXPECT_EQ(info.q_heads, 8);
    EXPECT_EQ(info.kv_heads, 2);
    EXPECT_EQ(info.query, KVC_BF16);
    const bool own = std::string(preset.name) == "flashmla";
    EXPECT_EQ(info.head_dim, own ? 576 : 128);
    EXPECT_EQ(info.value_dim, own ? 512 : 64);
    EXPECT_EQ(info.value_is_key, own);
  }
}

TEST(PresetSpecs, BitsCountAllMetadata) {
  auto bits = [](const char *name, AttentionShape shape) {
    return bitsPerValue(
        parseSpec(specOfPreset(presetOf(name), shape), name).get());
  };
  EXPECT_DOUBLE_EQ(bits("int4", {1, 1, 128, 128}), 4.25);
  EXPECT_DOUBLE_EQ(bits("int4", {1, 1, 128, 64}), (4.25 * 2 + 4.5) / 3);
  EXPECT_DOUBLE_EQ(bits("kivi2", {1, 1, 128, 128}), 3);
  EXPECT_DOUBLE_EQ(bits("flashmla", {1, 1, 128, 128}), 656 * 8 / 576.0);
}

TEST(PresetSpecs, FilesOfPresetsAreToldFromSpecs) {
  EXPECT_TRUE(isPresetFile(R"({"title": "x", "scheme": {}})"));
  EXPECT_TRUE(isPresetFile(R"({"spec": {}})"));
  EXPECT_FALSE(isPresetFile(R"({"kvc": 1, "spec": {}})"));
  EXPECT_FALSE(isPresetFile(R"({"title": "x"})"));
  EXPECT_FALSE(isPresetFile("[1]"));
  EXPECT_FALSE(isPresetFile("kvc.spec @x"));
}

TEST(PresetSpecs, AFileIsExpandedUnderItsName) {
  const std::string text =
      R"({"title": "x", "spec": {"key": {"preset": "int8"}, "value": {"codec": "f16"}}})";
  const SpecHandle spec = parseSpec(
      specOfPresetFile("some/where/mine.json", text, {8, 2, 64, 32}), "x");
  EXPECT_STREQ(specInfoOf(spec.get()).name, "mine");
  EXPECT_STREQ(partInfoOf(spec.get(), KVC_KEY, 0).codec, "int8");
  EXPECT_EQ(tensorInfoOf(spec.get(), KVC_VALUE).channels, 32);
  try {
    specOfPresetFile("mine.json", R"({"scheme": {"codec": "int9"}})",
                     {8, 2, 64, 32});
    FAIL() << "expected a failure";
  } catch (const Failure &failure) {
    const std::string message = failure.what();
    EXPECT_EQ(message.find("mine.json: $.key.codec: "), 0u) << message;
    EXPECT_NE(message.find("(with preset \"mine\")"), std::string::npos);
  }
}

} // namespace
