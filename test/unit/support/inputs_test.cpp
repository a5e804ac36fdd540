//===- inputs_test.cpp - Random inputs and their files --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Inputs.h"

#include "Specs.h"
#include "kvc/Test/Conformance.h"
#include "kvc/Test/Floats.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace kvc;
using namespace kvc::test;

namespace {

const Lengths kLengths[] = {{3, 40}, {0, 7}, {1, 0}, {2, 9}};

/// A spec that takes every optional input.
spec::Spec everything(const std::string &query) {
  std::string stat = "'scale': {'tokens': 'all', 'channels': 8, 'dtype': "
                     "'f32', 'static': true}";
  return parsed("'q_heads': 4, 'kv_heads': 2, 'head_dim': 32, 'value_dim': 16, "
                "'alibi': true, 'sink_logits': true",
                "'parts': [{'channels': [0, 8], 'codec': 'lut', 'table': "
                "{'bits': 3}, 'smooth': true, " +
                    stat + "}, {'channels': [8, 32], 'codec': 'int4', " + stat +
                    "}]",
                "'codec': 'lut', 'table': {'bits': 2}, 'smooth': true, " + stat,
                "", query);
}

TEST(RandomInputs, AreAFunctionOfTheSeed) {
  spec::Spec spec = everything("bf16");
  for (InputMode mode : kInputModes) {
    Inputs a = randomInputs(spec, kLengths, mode, 1);
    Inputs b = randomInputs(spec, kLengths, mode, 1);
    EXPECT_EQ(a.q, b.q);
    EXPECT_EQ(a.key.smooth, b.key.smooth);
    if (mode != InputMode::LargestCodes)
      EXPECT_NE(a.k, randomInputs(spec, kLengths, mode, 2).k) << nameOf(mode);
  }
}

TEST(RandomInputs, TheGeneratorIsSplitMix64) {
  // The published first outputs for seed 1234567.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

std::string temporaryPath() {
  std::string name = "kvc-inputs-" + std::to_string(::getpid());
  return (std::filesystem::temp_directory_path() / name).string();
}

TEST(RandomInputs, FileRoundTrip) {
  std::string path = temporaryPath();
  for (const char *query : {"f16", "bf16", "f32"}) {
    spec::Spec spec = everything(query);
    Inputs a = randomInputs(spec, kLengths, InputMode::Normal, 3);
    ASSERT_FALSE(saveInputs(spec, a, path));
    safetensors::Expected<safetensors::File> file = safetensors::read(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(file);
    safetensors::Expected<Inputs> b = loadInputs(spec, *file);
    ASSERT_TRUE(b) << b.error().str();
    EXPECT_EQ(a.q, b->q);
    EXPECT_EQ(a.k, b->k);
    EXPECT_EQ(a.v, b->v);
    EXPECT_EQ(a.cuQ, b->cuQ);
    EXPECT_EQ(a.cuKv, b->cuKv);
    EXPECT_EQ(a.slopes, b->slopes);
    EXPECT_EQ(a.sinks, b->sinks);
    EXPECT_EQ(a.key.smooth, b->key.smooth);
    EXPECT_EQ(a.key.parts[0].table, b->key.parts[0].table);
    EXPECT_EQ(a.key.parts[1].scale, b->key.parts[1].scale);
    EXPECT_EQ(a.value.parts[0].table, b->value.parts[0].table);
    EXPECT_EQ(a.value.smooth.size(), 32u);
  }
}

TEST(RandomInputs, ModesAreWhatTheySay) {
  spec::Spec spec =
      parsed("'q_heads': 1, 'kv_heads': 1, 'head_dim': 64",
             "'codec': 'int8', 'scale': {'tokens': 1, 'channels': 'all', "
             "'dtype': 'f16'}",
             "'codec': 'int4', 'zero': 'min', 'scale': {'tokens': 1, "
             "'channels': 'all', 'dtype': 'f16'}");
  Lengths lengths[] = {{2, 50}};
  auto run = [&](InputMode mode) {
    Inputs inputs = randomInputs(spec, lengths, mode, 5);
    return std::pair(inputs, answer(spec, inputs));
  };

  auto [equal, equalAnswer] = run(InputMode::AllEqual);
  EXPECT_EQ(std::count(equal.k.begin(), equal.k.end(), equal.k[0]), 50 * 64);

  // One key takes all of the first query's weight: out is its value.
  auto [huge, hugeAnswer] = run(InputMode::HugeLogit);
  EXPECT_GT(hugeAnswer.reference.s[0], 100);

  auto [largest, largestAnswer] = run(InputMode::LargestCodes);
  const std::vector<uint8_t> &k = largestAnswer.k.parts[0].codes;
  EXPECT_EQ(std::count(k.begin(), k.end(), 127), 50 * 62);
  const std::vector<uint8_t> &v = largestAnswer.v.parts[0].codes;
  EXPECT_EQ(std::count(v.begin(), v.end(), 15), 50 * 62);

  auto [zeros, zerosAnswer] = run(InputMode::Zeros);
  EXPECT_GT(std::count_if(zeros.k.begin(), zeros.k.end(),
                          [](float x) { return x == 0 && std::signbit(x); }),
            400);
  EXPECT_GT(std::count_if(zeros.k.begin(), zeros.k.end(),
                          [](float x) { return x != 0; }),
            100);

  auto [small, smallAnswer] = run(InputMode::Subnormals);
  EXPECT_GT(
      std::count_if(small.k.begin(), small.k.end(),
                    [](float x) { return x != 0 && std::fabs(x) < 0x1p-14f; }),
      1000);

  auto [outlier, outlierAnswer] = run(InputMode::OutlierChannels);
  EXPECT_GT(*std::max_element(outlier.k.begin(), outlier.k.end()), 100);
}

/// The file without one of its tensors.
safetensors::File without(const safetensors::File &file, size_t index) {
  std::vector<safetensors::Tensor> tensors(file.tensors().begin(),
                                           file.tensors().end());
  tensors.erase(tensors.begin() + ptrdiff_t(index));
  std::vector<size_t> order;
  std::string bytes = *safetensors::header(tensors, {}, order);
  for (size_t i : order)
    bytes.append(reinterpret_cast<const char *>(tensors[i].data.data()),
                 tensors[i].data.size());
  return std::move(*safetensors::read(std::as_bytes(std::span(bytes))));
}

TEST(LoadInputs, NamesWhatIsMissing) {
  spec::Spec spec = everything("f16");
  std::string path = temporaryPath();
  ASSERT_FALSE(saveInputs(
      spec, randomInputs(spec, kLengths, InputMode::Normal, 3), path));
  safetensors::Expected<safetensors::File> file = safetensors::read(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(file);
  std::vector<std::string> names;
  for (size_t i = 0; i < file->tensors().size(); ++i) {
    safetensors::Expected<Inputs> loaded = loadInputs(spec, without(*file, i));
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().tensor, file->tensors()[i].name);
    names.push_back(loaded.error().tensor);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{
                       "alibi_slopes", "cu_seqlens_kv", "cu_seqlens_q", "k",
                       "key0_scale", "key0_table", "key1_scale", "key_smooth",
                       "q", "sink_logits", "v", "value_scale", "value_smooth",
                       "value_table"}));
}

TEST(ExpandPresets, LeavesTheRestAlone) {
  EXPECT_EQ(expandPresets("{\"kvc\": 1}"), "{\"kvc\": 1}");
  EXPECT_EQ(expandPresets("no json"), "no json");
  std::string unknown =
      "{\"attention\": {\"head_dim\": 64}, \"preset\": \"x\"}";
  EXPECT_EQ(expandPresets(unknown), unknown);
}

} // namespace
