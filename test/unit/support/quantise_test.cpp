//===- quantise_test.cpp - Segments, parts, transforms --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Quantise.h"

#include "Specs.h"
#include "kvc/Test/Block.h"
#include "kvc/Test/Dump.h"
#include "kvc/Test/Floats.h"
#include "kvc/Test/Transforms.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

const std::string kHeads = "'q_heads': 2, 'kv_heads': 2, 'head_dim': 32";
const std::string kInt8 =
    "'codec': 'int8', 'scale': {'tokens': 1, 'channels': 'all', 'dtype': "
    "'f16'}";
const std::string kBlocks =
    "'codec': 'int4', 'zero': 'min', 'scale': {'tokens': 8, 'channels': 1, "
    "'dtype': 'f16'}";

/// K of one spec, from random inputs.
struct Key {
  Inputs inputs;
  TensorData data;

  Key(const spec::Spec &spec, std::vector<int64_t> lengths, uint64_t seed = 1,
      InputMode mode = InputMode::Normal) {
    std::vector<Lengths> pairs;
    for (int64_t length : lengths)
      pairs.push_back({1, length});
    inputs = randomInputs(spec, pairs, mode, seed);
    data = quantise(spec.key, spec.segments, spec.attention.kvHeads,
                    spec.attention.headDim, inputs.k, inputs.cuKv, inputs.key);
  }
};

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

TEST(Segments, BodyOfASequence) {
  spec::Scheme n1 = parsed(kHeads, kInt8, kInt8).key;
  spec::Scheme n8 =
      parsed(kHeads, kBlocks, kInt8, "'segments': {'recent': 8}").key;
  auto range = [](const spec::Scheme &scheme, int64_t sink, int64_t recent,
                  int64_t length) {
    Body body = bodyOf(scheme, {sink, recent}, length);
    return std::pair(body.begin, body.end);
  };
  using P = std::pair<int64_t, int64_t>;
  EXPECT_EQ(range(n1, 0, 0, 5), P(0, 5));
  EXPECT_EQ(range(n1, 4, 9, 20), P(4, 11));
  EXPECT_EQ(range(n1, 4, 9, 13), P(4, 4));
  EXPECT_EQ(range(n1, 4, 9, 3), P(3, 3));
  EXPECT_EQ(range(n8, 5, 8, 20), P(5, 5));
  EXPECT_EQ(range(n8, 5, 8, 21), P(5, 13));
  EXPECT_EQ(range(n8, 5, 8, 28), P(5, 13));
  EXPECT_EQ(range(n8, 5, 8, 29), P(5, 21));
}

TEST(Segments, RawRowsReadAsGiven) {
  spec::Spec spec = parsed(kHeads, kInt8 + ", 'rotate': 32, 'smooth': true",
                           kInt8, "'segments': {'sink': 2, 'recent': 3}");
  Key key(spec, {10, 4});
  std::vector<uint8_t> raw = {1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(key.data.isRaw, raw);
  for (size_t i = 0; i < key.data.x.size(); ++i)
    if (raw[i / 64])
      ASSERT_EQ(key.data.x[i], key.inputs.k[i]);
  for (size_t i = 0; i < key.data.parts[0].codes.size(); ++i)
    if (raw[i / 64])
      ASSERT_EQ(key.data.parts[0].codes[i], 0);
}

TEST(Segments, StoredValuesDoNotDependOnHowTokensArrived) {
  // What a longer sequence has quantised begins with what a shorter one had.
  spec::Spec spec =
      parsed(kHeads, kBlocks, kInt8, "'segments': {'sink': 3, 'recent': 8}");
  Key full(spec, {60});
  for (int64_t length = 1; length < 60; ++length) {
    std::vector<int64_t> cu = {0, length};
    TensorData data =
        quantise(spec.key, spec.segments, 2, 32,
                 std::span(full.inputs.k).first(size_t(length * 64)), cu, {});
    for (int64_t t = 0; t < length; ++t)
      if (!data.isRaw[size_t(t)])
        for (size_t i = size_t(t * 64); i < size_t((t + 1) * 64); ++i) {
          ASSERT_EQ(data.parts[0].codes[i], full.data.parts[0].codes[i]);
          ASSERT_EQ(data.parts[0].scale[i], full.data.parts[0].scale[i]);
        }
  }
}

//===----------------------------------------------------------------------===//
// Blocks and parts
//===----------------------------------------------------------------------===//

TEST(Blocks, TokensShareAScalePerChannel) {
  spec::Spec spec = parsed(kHeads, kBlocks, kInt8, "'segments': {'recent': 8}");
  Key key(spec, {24});
  const PartData &part = key.data.parts[0];
  EXPECT_EQ(part.blocks, 32);
  for (size_t t = 0; t < 16; ++t)
    for (size_t i = 0; i < 64; ++i)
      ASSERT_EQ(part.scale[t * 64 + i], part.scale[t / 8 * 8 * 64 + i]);
  EXPECT_NE(part.scale[0], part.scale[8 * 64]);
}

TEST(Parts, AreIndependent) {
  std::string parts =
      "'parts': [{'channels': [0, 8], 'codec': 'f16'}, {'channels': [8, 32], "
      "'codec': 'int4', 'outliers': 2, 'rotate': 8, 'scale': {'tokens': 1, "
      "'channels': 12, 'dtype': 'f32'}}]";
  Key key(parsed(kHeads, parts, kInt8), {5});
  EXPECT_EQ(key.data.parts[0].blocks, 0);
  EXPECT_EQ(key.data.parts[1].blocks, 2);
  EXPECT_EQ(key.data.parts[1].channels, 24);
  // Outliers count inside their part.
  for (uint16_t index : key.data.parts[1].outlierIndex)
    EXPECT_LT(index, 24);
  // The raw part passes f16 values unchanged.
  for (size_t i = 0; i < key.data.x.size(); ++i)
    if (i % 32 < 8)
      ASSERT_EQ(key.data.x[i], key.inputs.k[i]);
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

TEST(Hadamard, IsSylvestersOrder) {
  std::vector<float> row = {1, 0, 0, 0, 0, 1, 0, 0};
  hadamard(row, 4);
  EXPECT_EQ(row, (std::vector<float>{.5, .5, .5, .5, .5, -.5, .5, -.5}));
}

TEST(Hadamard, UndoesItself) {
  Random random(1);
  std::vector<float> row(64);
  for (float &x : row)
    x = float(random.normal());
  std::vector<float> twice = row;
  hadamard(twice, 64);
  hadamard(twice, 64);
  for (size_t i = 0; i < row.size(); ++i)
    EXPECT_NEAR(twice[i], row[i], 1e-5);
}

TEST(Smooth, StoresTheQuotientAndReadsTheProduct) {
  spec::Spec spec = parsed(kHeads, "'codec': 'f32', 'smooth': true", kInt8);
  Key key(spec, {3});
  for (size_t i = 0; i < key.data.x.size(); ++i) {
    float smooth = key.inputs.key.smooth[i % 64];
    ASSERT_EQ(key.data.parts[0].values[i], key.inputs.k[i] / smooth);
    ASSERT_EQ(key.data.x[i], key.inputs.k[i] / smooth * smooth);
  }
}

TEST(RawCodec, RoundsAndSaturates) {
  spec::Spec spec =
      parsed(kHeads, "'codec': 'f16'", "'codec': 'f16'", "", "f32");
  std::vector<float> x(64, 1e6f);
  x[1] = 1 + 0x1p-12f;
  x[2] = -1e-30f;
  std::vector<int64_t> cu = {0, 1};
  TensorData data = quantise(spec.key, {}, 2, 32, x, cu, {});
  EXPECT_EQ(data.x[0], 65504);
  EXPECT_EQ(data.x[1], 1);
  EXPECT_EQ(bitsOfFloat(data.x[2]), 0x80000000u);
}

//===----------------------------------------------------------------------===//
// Outliers
//===----------------------------------------------------------------------===//

TEST(Outliers, AreTheLargestAndTiesGoToTheLowerChannel) {
  spec::Spec spec = parsed(kHeads, kInt8 + ", 'outliers': 3", kInt8);
  std::vector<float> x(64, 1.0f);
  x[30] = -50;
  x[3] = 2; // Three twos: the lowest two channels win.
  x[7] = -2;
  x[9] = 2;
  std::vector<int64_t> cu = {0, 1};
  TensorData data = quantise(spec.key, {}, 2, 32, x, cu, {});
  const PartData &part = data.parts[0];
  std::vector<uint16_t> index = {3, 7, 30, 0, 1, 2};
  EXPECT_EQ(part.outlierIndex, index);
  EXPECT_EQ(data.x[30], -50);
  EXPECT_EQ(decode(kF16, part.outlierValue[1]), -2);
  EXPECT_EQ(part.codes[30], 0);
  EXPECT_EQ(part.scale[0], roundTo(kF16, 2.0f / 127.0f)); // Channel 9.
}

TEST(Outliers, StaticScalesMeasureByTheScale) {
  spec::Spec spec = parsed(
      kHeads,
      "'codec': 'int8', 'outliers': 1, 'scale': {'tokens': 'all', 'channels': "
      "16, 'dtype': 'f32', 'static': true}",
      kInt8);
  std::vector<float> x(64, 0.0f);
  x[0] = 10;
  x[20] = 5;
  std::vector<int64_t> cu = {0, 1};
  SchemeInputs inputs;
  inputs.parts = {{{1.0f, 0.1f, 1.0f, 1.0f}, {}}};
  TensorData data = quantise(spec.key, {}, 2, 32, x, cu, inputs);
  EXPECT_EQ(data.parts[0].outlierIndex[0], 20); // 50 steps against 10.
  EXPECT_EQ(data.parts[0].codes[0], 10);
}

//===----------------------------------------------------------------------===//
// All schemes
//===----------------------------------------------------------------------===//

/// x' lies within half a step of x wherever nothing clamps.
TEST(Quantise, ErrorsAreHalfAStep) {
  std::string scale =
      ", 'scale': {'tokens': 1, 'channels': 16, 'dtype': 'f32'}";
  for (int bits = 2; bits <= 8; ++bits)
    for (const char *zero : {"none", "min", "code"}) {
      spec::Spec spec = parsed(kHeads,
                               "'codec': 'int" + std::to_string(bits) +
                                   "', 'zero': '" + zero + "'" + scale,
                               kInt8);
      Key key(spec, {20});
      const PartData &part = key.data.parts[0];
      for (size_t i = 0; i < key.data.x.size(); ++i) {
        float step = part.scale[i / 32 * 2 + i % 32 / 16];
        ASSERT_LE(std::fabs(key.data.x[i] - key.inputs.k[i]), 0.5001f * step)
            << zero << bits << " " << i;
      }
    }
}

TEST(Dump, RingShowsRawRowsAndTheWindow) {
  spec::Spec spec = parsed(
      "'q_heads': 2, 'kv_heads': 2, 'head_dim': 32, 'window': 10", kBlocks,
      kInt8,
      "'segments': {'sink': 2, 'recent': 8}, 'layout': {'kind': 'ring'}");
  Lengths lengths[] = {{3, 60}};
  Inputs inputs = randomInputs(spec, lengths, InputMode::Normal, 1);
  std::vector<DumpTensor> dump =
      dumpTensors(spec, inputs, answer(spec, inputs));
  auto shown = [&](const std::string &name) {
    std::string result;
    for (const DumpTensor &tensor : dump)
      if (tensor.name == name) {
        std::vector<float> values = floatsOf(tensor.view());
        for (size_t row = 0; row < 60; ++row)
          result += values[row * 64] != 0 ? '1' : '0';
      }
    return result;
  };
  // 60 - (10 + 3 - 1) = 48, in K's block 2 + 5 * 8 = 42 .. 49. Quantised up to
  // 50.
  EXPECT_EQ(shown("k"), "11" + std::string(40, '0') + std::string(18, '1'));
  EXPECT_EQ(shown("v"), "11" + std::string(46, '0') + std::string(12, '1'));
}

TEST(Dump, DifferencesAreFound) {
  spec::Spec spec =
      parsed(kHeads, kInt8, kBlocks, "'segments': {'sink': 1, 'recent': 8}");
  Lengths lengths[] = {{1, 20}};
  Inputs inputs = randomInputs(spec, lengths, InputMode::Normal, 1);
  Answer expected = answer(spec, inputs);
  std::vector<DumpTensor> dump = dumpTensors(spec, inputs, expected);
  auto differences = [&](std::vector<DumpTensor> changed) {
    std::vector<safetensors::Tensor> tensors;
    for (const DumpTensor &tensor : changed)
      tensors.push_back(tensor.view());
    std::vector<size_t> order;
    std::string bytes = *safetensors::header(tensors, {}, order);
    for (size_t i : order)
      bytes.append(reinterpret_cast<const char *>(tensors[i].data.data()),
                   tensors[i].data.size());
    return compareDump(spec, inputs, expected,
                       *safetensors::read(std::as_bytes(std::span(bytes))));
  };
  EXPECT_TRUE(differences(dump).empty());
  for (size_t i = 0; i < dump.size(); ++i) {
    std::vector<DumpTensor> changed = dump;
    changed[i].bytes[changed[i].bytes.size() / 2 + 1] ^= std::byte{0x10};
    EXPECT_EQ(differences(changed).size(), 1u) << dump[i].name;
    changed = dump;
    changed[i].name += "_other";
    EXPECT_EQ(differences(changed).size(), 2u) << dump[i].name;
    changed = dump;
    changed[i].shape.insert(changed[i].shape.begin(), 1);
    EXPECT_EQ(differences(changed).size(), 1u) << dump[i].name;
  }
}

} // namespace
