//===- spec_api_test.cpp - Specs through the C API ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "FakeModule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace kvc::test;

namespace {

const char *const kInt4 = R"({
  "kvc": 1, "name": "grouped",
  "attention": {"q_heads": 8, "kv_heads": 2, "head_dim": 64, "value_dim": 32,
                "window": 100, "window_sinks": 4, "softcap": 30.0,
                "sink_logits": true},
  "io": {"query": "bf16", "output": "f32"},
  "key": {"codec": "int4", "scale": {"tokens": 1, "channels": 16, "dtype": "f16"},
          "zero": "min"},
  "value": {"codec": "int8", "scale": {"tokens": 1, "channels": "all",
            "dtype": "f32"}},
  "layout": {"kind": "paged", "page": 16, "order": "nhd"}
})";

} // namespace

TEST(SpecApi, ParseSaysWhereAndWhatIsWrong) {
  Message message;
  kvc_spec *spec = nullptr;
  const char *text = R"({"kvc": 1, "nam": "x"})";
  EXPECT_EQ(kvc_spec_parse(text, std::strlen(text), message.get(), &spec),
            KVC_INVALID_DATA);
  EXPECT_EQ(std::string(message.text).substr(0, 1), "$") << message.text;
  EXPECT_EQ(spec, nullptr);
  EXPECT_EQ(kvc_spec_parse(nullptr, 0, message.get(), &spec),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_spec_parse(text, std::strlen(text), message.get(), nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_spec_free(nullptr), KVC_OK);
}

TEST(SpecApi, CanonicalJsonIsAFixedPoint) {
  SpecPtr spec = parse(kInt4);
  const char *json = nullptr, *again = nullptr;
  ASSERT_EQ(kvc_spec_json(spec.get(), &json), KVC_OK);
  SpecPtr second = parse(json);
  ASSERT_EQ(kvc_spec_json(second.get(), &again), KVC_OK);
  EXPECT_STREQ(json, again);
  EXPECT_EQ(kvc_spec_json(nullptr, &json), KVC_INVALID_ARGUMENT);
}

TEST(SpecApi, LayoutHashLooksAtBytesOnly) {
  SpecPtr spec = parse(kInt4);
  std::string text = kInt4;
  text.replace(text.find("\"softcap\": 30.0"), 15, "\"softcap\": 20.0");
  SpecPtr other = parse(text);
  const char *hash = nullptr, *otherHash = nullptr;
  ASSERT_EQ(kvc_layout_hash(spec.get(), &hash), KVC_OK);
  ASSERT_EQ(kvc_layout_hash(other.get(), &otherHash), KVC_OK);
  EXPECT_STREQ(hash, otherHash);
  EXPECT_EQ(std::strlen(hash), 64u);
  text.replace(text.find("\"channels\": 16"), 14, "\"channels\": 32");
  SpecPtr third = parse(text);
  kvc_layout_hash(third.get(), &otherHash);
  EXPECT_STRNE(hash, otherHash);
}

TEST(SpecApi, InfoHasEverythingThatACallerNeeds) {
  SpecPtr spec = parse(kInt4);
  kvc_spec_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(kvc_spec_get_info(spec.get(), nullptr, &info), KVC_OK);
  EXPECT_STREQ(info.name, "grouped");
  EXPECT_EQ(info.q_heads, 8);
  EXPECT_EQ(info.kv_heads, 2);
  EXPECT_EQ(info.head_dim, 64);
  EXPECT_EQ(info.value_dim, 32);
  EXPECT_DOUBLE_EQ(info.scale, 0.125);
  EXPECT_EQ(info.causal, 1);
  EXPECT_EQ(info.window, 100);
  EXPECT_EQ(info.window_sinks, 4);
  EXPECT_DOUBLE_EQ(info.softcap, 30);
  EXPECT_EQ(info.alibi, 0);
  EXPECT_EQ(info.sink_logits, 1);
  EXPECT_EQ(info.value_is_key, 0);
  EXPECT_EQ(info.query, KVC_BF16);
  EXPECT_EQ(info.output, KVC_F32);
  EXPECT_EQ(info.layout, KVC_PAGED);
  EXPECT_EQ(info.page, 16);
  EXPECT_EQ(info.struct_size, sizeof(info));
}

TEST(SpecApi, TensorsAndParts) {
  SpecPtr spec = parse(kInt4);
  kvc_tensor_info tensor = {};
  tensor.struct_size = sizeof(tensor);
  ASSERT_EQ(kvc_spec_get_tensor(spec.get(), KVC_KEY, nullptr, &tensor), KVC_OK);
  EXPECT_EQ(tensor.channels, 64);
  EXPECT_EQ(tensor.num_parts, 1);
  EXPECT_EQ(tensor.block_tokens, 1);
  EXPECT_EQ(tensor.blocks, 4);
  // 64 codes of 4 bits, 4 blocks of an f16 scale and an f16 zero.
  EXPECT_DOUBLE_EQ(tensor.bytes_per_token, 32 + 4 * 4);

  kvc_part_info part = {};
  part.struct_size = sizeof(part);
  ASSERT_EQ(kvc_spec_get_part(spec.get(), KVC_KEY, 0, nullptr, &part), KVC_OK);
  EXPECT_STREQ(part.codec, "int4");
  EXPECT_EQ(part.bits, 4);
  EXPECT_EQ(part.raw, 0);
  EXPECT_EQ(part.has_zero, 1);
  EXPECT_EQ(part.signed_codes, 0);
  EXPECT_EQ(part.scale_dtype, KVC_F16);
  EXPECT_EQ(part.end, 64);
  ASSERT_EQ(kvc_spec_get_part(spec.get(), KVC_VALUE, 0, nullptr, &part),
            KVC_OK);
  EXPECT_STREQ(part.codec, "int8");
  EXPECT_EQ(part.signed_codes, 1);
  EXPECT_EQ(part.has_zero, 0);

  Message message;
  EXPECT_EQ(kvc_spec_get_part(spec.get(), KVC_KEY, 1, message.get(), &part),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_spec_get_tensor(spec.get(), static_cast<kvc_tensor>(7),
                                message.get(), &tensor),
            KVC_INVALID_ARGUMENT);
}

TEST(SpecApi, PageBytesIsAFunctionOfSpecAndPage) {
  SpecPtr spec = parse(kInt4);
  for (int64_t page = 1; page <= 256; page *= 2) {
    int64_t bytes = 0, key = 0, value = 0;
    ASSERT_EQ(kvc_page_bytes(spec.get(), page, nullptr, &bytes), KVC_OK);
    ASSERT_EQ(kvc_page_slice_bytes(spec.get(), KVC_KEY, page, nullptr, &key),
              KVC_OK);
    ASSERT_EQ(
        kvc_page_slice_bytes(spec.get(), KVC_VALUE, page, nullptr, &value),
        KVC_OK);
    // SPEC.md section 5: each region begins at a multiple of 16 bytes.
    auto align = [](int64_t size) { return (size + 15) / 16 * 16; };
    EXPECT_EQ(key, align(page * 2 * 32) + 2 * align(page * 2 * 4 * 2));
    EXPECT_EQ(value, align(page * 2 * 32) + align(page * 2 * 4));
    EXPECT_EQ(bytes, key + value);
  }
  Message message;
  int64_t bytes = -1;
  for (int64_t page : {-1, 0, 3, 512})
    EXPECT_EQ(kvc_page_bytes(spec.get(), page, message.get(), &bytes),
              KVC_INVALID_ARGUMENT)
        << page;
  EXPECT_EQ(bytes, -1);
  // A contiguous spec has page bytes too.
  SpecPtr contiguous = parse(SpecText().json());
  EXPECT_EQ(kvc_page_bytes(contiguous.get(), 1, nullptr, &bytes), KVC_OK);
  EXPECT_EQ(bytes, 2 * 16 * 4 + 2 * 24 * 4);
}

TEST(SpecApi, SupportsEverySpecFast) {
  SpecPtr spec = parse(kInt4);
  // The best of many short batches: other programs' time does not count.
  using Seconds = std::chrono::duration<double>;
  double best = 1;
  for (int batch = 0; batch < 50; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
      const char *reason = "x";
      ASSERT_EQ(kvc_supports(spec.get(), &reason), KVC_OK);
      ASSERT_EQ(reason, nullptr);
    }
    best = std::min(best,
                    Seconds(std::chrono::steady_clock::now() - begin).count());
  }
  EXPECT_LT(best / 1000, 1e-6);
  const char *reason = nullptr;
  EXPECT_EQ(kvc_supports(nullptr, &reason), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_supports(spec.get(), nullptr), KVC_INVALID_ARGUMENT);
}

TEST(SpecApi, InfoSaysWhetherKeysComeBeforeRope) {
  SpecPtr plain = parse(kInt4);
  kvc_spec_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(kvc_spec_get_info(plain.get(), nullptr, &info), KVC_OK);
  EXPECT_EQ(info.rope_dims, 0);
  std::string text = kInt4;
  text.replace(text.find("\"key\": {"), 8,
               "\"key\": {\"rope\": {\"style\": \"pairs\", \"dims\": 32, "
               "\"offset\": 16, \"theta\": 500.0},");
  SpecPtr rope = parse(text);
  ASSERT_EQ(kvc_spec_get_info(rope.get(), nullptr, &info), KVC_OK);
  EXPECT_EQ(info.rope_dims, 32);
  EXPECT_EQ(info.rope_offset, 16);
  EXPECT_EQ(info.rope_pairs, 1);
  EXPECT_EQ(info.rope_theta, 500.0);
}

TEST(PresetsApi, ListsThemInOrder) {
  int64_t count = 0;
  ASSERT_EQ(kvc_preset_count(&count), KVC_OK);
  EXPECT_EQ(kvc_preset_count(nullptr), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(count, 28);
  std::string last;
  int wholeSpecs = 0;
  for (int64_t i = 0; i < count; ++i) {
    kvc_preset_info info = {};
    info.struct_size = sizeof(info);
    ASSERT_EQ(kvc_preset_get(i, nullptr, &info), KVC_OK);
    EXPECT_LT(last, info.name);
    last = info.name;
    wholeSpecs += info.whole_spec;
    for (const char *text : {info.title, info.source, info.good_for})
      EXPECT_GT(std::strlen(text), 3u) << last;
    EXPECT_NE(
        std::strstr(info.json, info.whole_spec ? "\"spec\"" : "\"scheme\""),
        nullptr);
    // Of the size that heads of a preset's own need.
    const std::string attention =
        last == "flashmla" ? "" : ", \"head_dim\": 128";
    SpecPtr spec = parse("{\"kvc\": 1, \"preset\": \"" + last +
                         "\", \"attention\": {\"q_heads\": 8, \"kv_heads\": 2" +
                         attention + "}, \"io\": {\"query\": \"f16\"}}");
    ASSERT_NE(spec, nullptr) << last;
  }
  EXPECT_EQ(wholeSpecs, 7);
}

TEST(PresetsApi, RefusesNumbersBeyondTheLast) {
  Message message;
  kvc_preset_info info = {};
  info.struct_size = sizeof(info);
  for (int64_t index : {int64_t(-1), int64_t(28), INT64_MAX}) {
    EXPECT_EQ(kvc_preset_get(index, message.get(), &info),
              KVC_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(message.text, "expected a number below 28"), nullptr)
        << message.text;
  }
  EXPECT_EQ(kvc_preset_get(0, nullptr, nullptr), KVC_INVALID_ARGUMENT);
  info.struct_size = 0;
  EXPECT_EQ(kvc_preset_get(0, nullptr, &info), KVC_INVALID_ARGUMENT);
}

TEST(SpecApi, InputsOfSchemesHaveNamesAndShapes) {
  SpecPtr spec = parse(R"({
    "kvc": 1, "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 64},
    "io": {"query": "f16"},
    "key": {"codec": "lut", "table": {"bits": 3}, "scale": {"tokens": "all",
            "channels": 16, "dtype": "f32", "static": true}},
    "value": {"codec": "f16", "smooth": true}})");
  int64_t count = -1;
  ASSERT_EQ(kvc_spec_input_count(spec.get(), &count), KVC_OK);
  ASSERT_EQ(count, 3);
  EXPECT_EQ(kvc_spec_input_count(nullptr, &count), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_spec_input_count(spec.get(), nullptr), KVC_INVALID_ARGUMENT);
  const struct {
    const char *name;
    kvc_input_kind kind;
    kvc_tensor tensor;
    int64_t columns;
  } expected[] = {{"key_scale", KVC_INPUT_SCALE, KVC_KEY, 4},
                  {"key_table", KVC_INPUT_TABLE, KVC_KEY, 8},
                  {"value_smooth", KVC_INPUT_SMOOTH, KVC_VALUE, 64}};
  Message message;
  kvc_input_info info = {};
  info.struct_size = sizeof(info);
  for (int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(kvc_spec_get_input(spec.get(), i, message.get(), &info), KVC_OK)
        << message.text;
    EXPECT_STREQ(info.name, expected[i].name);
    EXPECT_EQ(info.kind, expected[i].kind);
    EXPECT_EQ(info.tensor, expected[i].tensor);
    EXPECT_EQ(info.part, 0);
    EXPECT_EQ(info.kv_heads, 2);
    EXPECT_EQ(info.columns, expected[i].columns);
  }
  for (int64_t index : {int64_t(-1), count})
    EXPECT_EQ(kvc_spec_get_input(spec.get(), index, message.get(), &info),
              KVC_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(message.text),
            "index: expected a number below 3, got 3");
}
