//===- presets_test.cpp - Presets whose bytes others define ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The reference's quantiser and its records against test/data/presets, which
// other quantisers made.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/PackedBytes.h"

#include "kvc/Test/Inputs.h"

#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

class PresetVectors : public testing::TestWithParam<const char *> {};

TEST_P(PresetVectors, AreTheRecords) {
  const std::string name = GetParam();
  const auto file =
      safetensors::read(KVC_TEST_DATA "/presets/vectors.safetensors");
  ASSERT_TRUE(file) << file.error().str();
  const safetensors::Tensor *records = file->find(name + ".records");
  ASSERT_NE(records, nullptr);
  const bool latents = name == "flashmla";
  const safetensors::Tensor *x = file->find(latents ? "x576" : "x64");
  ASSERT_NE(x, nullptr);
  const int64_t tokens = x->shape[0], channels = x->shape[1];

  const std::string order = name.starts_with("ggml_") ? "ggml" : "token";
  const std::string text =
      R"({"kvc": 1, "preset": ")" + name +
      R"(", "attention": {"q_heads": 1, "kv_heads": 1, "head_dim": )" +
      std::to_string(channels) +
      R"(}, "io": {"query": "f32"}, "layout": {"order": ")" + order + R"("}})";
  const auto spec = spec::parseSpec(text);
  ASSERT_TRUE(spec) << spec.error().str();

  const int64_t cu[] = {0, tokens};
  SchemeInputs none;
  none.parts.resize(spec->key.parts.size());
  const TensorData data =
      quantise(spec->key, spec->segments, 1, channels, floatsOf(*x), cu, none);
  ASSERT_EQ(records->shape[0], tokens);
  const int64_t size = records->shape[1];
  for (int64_t t = 0; t < tokens; ++t) {
    const std::vector<uint8_t> record =
        packedRecord(*spec, spec::Tensor::Key, data, t, 0);
    ASSERT_EQ(int64_t(record.size()), size);
    const auto *expected =
        reinterpret_cast<const uint8_t *>(records->data.data()) + t * size;
    for (int64_t i = 0; i < size; ++i)
      ASSERT_EQ(record[size_t(i)], expected[i])
          << "token " << t << ", byte " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PresetVectors,
                         testing::Values("ggml_q8_0", "ggml_q4_0", "ggml_q4_1",
                                         "ggml_q5_0", "ggml_q5_1", "fp8",
                                         "mxfp8", "mxfp4", "nvfp4", "flashmla"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
