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

#include "kvc/Test/Conformance.h"
#include "kvc/Test/PackedBytes.h"

#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

const std::string kVectors = KVC_TEST_DATA "/presets/vectors.safetensors";

class Vectors : public testing::TestWithParam<std::string> {};

TEST_P(Vectors, AreTheRecords) {
  const auto vectors = loadPresetVectors(kVectors, GetParam());
  ASSERT_TRUE(vectors) << vectors.error().str();
  const auto spec = spec::parseSpec(vectors->specText);
  ASSERT_TRUE(spec) << spec.error().str();
  const int64_t cu[] = {0, vectors->tokens};
  SchemeInputs none;
  none.parts.resize(spec->key.parts.size());
  const TensorData data = quantise(spec->key, spec->segments, 1,
                                   vectors->channels, vectors->x, cu, none);
  std::vector<uint8_t> stored;
  for (int64_t t = 0; t < vectors->tokens; ++t) {
    const std::vector<uint8_t> record =
        packedRecord(*spec, spec::Tensor::Key, data, t, 0);
    stored.insert(stored.end(), record.begin(), record.end());
  }
  EXPECT_EQ(stored, vectors->records);
}

TEST(VectorsOfPresets, NoneIsMissing) {
  EXPECT_EQ(presetVectorNames(kVectors).size(), 10U);
}

INSTANTIATE_TEST_SUITE_P(All, Vectors,
                         testing::ValuesIn(presetVectorNames(kVectors)),
                         [](const auto &info) { return info.param; });

} // namespace
