//===- packed_bytes_test.cpp - Bytes of the documented orders -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/PackedBytes.h"

#include "Specs.h"
#include "kvc/Test/Floats.h"
#include "kvc/Test/Inputs.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

using Bytes = std::vector<uint8_t>;

const std::string kHeads = "'q_heads': 2, 'kv_heads': 2, 'head_dim': 32";
const std::string kInt8 =
    "'codec': 'int8', 'scale': {'tokens': 1, 'channels': 'all', 'dtype': "
    "'f16'}";

std::string ints(int bits, const std::string &more,
                 const std::string &channels = "'all'",
                 const std::string &tokens = "1") {
  return "'codec': 'int" + std::to_string(bits) +
         "', 'scale': {'tokens': " + tokens + ", 'channels': " + channels +
         ", 'dtype': 'f16'}" + more;
}

/// K of a spec whose sequence has so many tokens.
struct Packed {
  spec::Spec spec;
  Inputs inputs;
  TensorData data;
  BodyRows body;

  Packed(spec::Spec s, int64_t tokens) : spec(std::move(s)) {
    Lengths lengths[] = {{1, tokens}};
    inputs = randomInputs(spec, lengths, InputMode::Normal, 7);
    data = quantise(spec.key, spec.segments, spec.attention.kvHeads,
                    spec.attention.headDim, inputs.k, inputs.cuKv, inputs.key);
    body = bodyRows(spec, spec::Tensor::Key, inputs.cuKv, 0);
  }

  PackedBytes page(int64_t number) const {
    return packedPage(spec, spec::Tensor::Key, data, body, number);
  }
  int8_t code(int64_t token, int64_t head, int64_t c) const {
    return int8_t(data.parts[0].codes[size_t((token * 2 + head) * 32 + c)]);
  }
  uint32_t scale(int64_t token, int64_t head, int64_t block = 0) const {
    return encode(
        kF16,
        data.parts[0]
            .scale[size_t((token * 2 + head) * data.parts[0].blocks + block)]);
  }
};

uint32_t u16At(const Bytes &bytes, int64_t at) {
  return uint32_t(bytes[size_t(at)] | bytes[size_t(at) + 1] << 8);
}

std::string paged(const std::string &order, int page) {
  return "'layout': {'kind': 'paged', 'page': " + std::to_string(page) +
         ", 'order': '" + order + "'}";
}

TEST(Nhd, CodesThenScalesOfInt8) {
  Packed k(parsed(kHeads, kInt8, kInt8, paged("nhd", 8)), 11);
  PackedBytes page = k.page(1);
  // 8 x 2 x 32 codes, 8 x 2 scales of two bytes.
  ASSERT_EQ(page.bytes.size(), 512u + 32u);
  for (int64_t t = 0; t < 3; ++t)
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t c = 0; c < 32; ++c)
        ASSERT_EQ(int8_t(page.bytes[size_t((t * 2 + h) * 32 + c)]),
                  k.code(8 + t, h, c));
      ASSERT_EQ(u16At(page.bytes, 512 + (t * 2 + h) * 2), k.scale(8 + t, h));
    }
  // Slots 3 to 7 are unused.
  for (size_t i = 0; i < page.known.size(); ++i)
    ASSERT_EQ(page.known[i],
              (i < 3 * 64 || (i >= 512 && i < 512 + 3 * 4)) ? 0xff : 0)
        << i;
}

TEST(Hnd, PutsTheHeadFirst) {
  Packed k(parsed(kHeads, kInt8, kInt8, paged("hnd", 8)), 11);
  PackedBytes page = k.page(0);
  for (int64_t t = 0; t < 8; ++t)
    for (int64_t h = 0; h < 2; ++h) {
      ASSERT_EQ(int8_t(page.bytes[size_t((h * 8 + t) * 32 + 5)]),
                k.code(t, h, 5));
      ASSERT_EQ(u16At(page.bytes, 512 + (h * 8 + t) * 2), k.scale(t, h));
    }
}

TEST(Rows, CodesBelowEightBitsAreShiftedAndPackedLowBitsFirst) {
  for (int bits : {2, 3, 4, 5, 6, 7}) {
    Packed k(parsed(kHeads, ints(bits, ""), kInt8, paged("nhd", 1)), 1);
    PackedBytes page = k.page(0);
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t c = 0; c < 32; ++c) {
        unsigned code = 0;
        for (int bit = 0; bit < bits; ++bit) {
          int64_t at = (h * 32 + c) * bits + bit;
          code |= (page.bytes[size_t(at / 8)] >> at % 8 & 1u) << bit;
        }
        ASSERT_EQ(int(code) - (1 << (bits - 1)), k.code(0, h, c)) << bits;
      }
  }
}

TEST(Rows, RegionsStartAtMultiplesOf16) {
  // Three tokens' worth: codes 2 x 2 x 4 bytes, scales and zeros 2 x 2 x 2.
  spec::Spec spec =
      parsed("'q_heads': 2, 'kv_heads': 2, 'head_dim': 16",
             ints(2, ", 'zero': 'min', 'outliers': 1"), kInt8, paged("nhd", 2));
  Packed k(spec, 2);
  PackedBytes page = k.page(0);
  ASSERT_EQ(page.bytes.size(), 5u * 16);
  std::string known;
  for (uint8_t byte : page.known)
    known += byte ? '1' : '0';
  std::string region = "1111111100000000";
  EXPECT_EQ(known, "1111111111111111" + region + region + region + region);
  const PartData &part = k.data.parts[0];
  EXPECT_EQ(u16At(page.bytes, 16), encode(kF16, part.scale[0]));
  EXPECT_EQ(u16At(page.bytes, 32), encode(kF16, part.zero[0]));
  EXPECT_EQ(u16At(page.bytes, 48), part.outlierIndex[0]);
  EXPECT_EQ(u16At(page.bytes, 64), part.outlierValue[0]);
}

TEST(Rows, BlocksOfTokensStoreOneScale) {
  spec::Spec spec = parsed(kHeads, ints(4, ", 'zero': 'min'", "16", "4"), kInt8,
                           "'segments': {'recent': 4}, " + paged("nhd", 8));
  Packed k(spec, 16); // 12 are quantised.
  PackedBytes page = k.page(1);
  // Codes 8 x 2 x 16; scales and zeros 2 blocks of tokens x 2 heads x 2.
  ASSERT_EQ(page.bytes.size(), 256u + 16 + 16);
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t b = 0; b < 2; ++b)
      EXPECT_EQ(u16At(page.bytes, 256 + (h * 2 + b) * 2), k.scale(8, h, b));
  EXPECT_EQ(page.known[256 + 8], 0); // The second block is not there yet.
}

TEST(Interleaved, KThenV) {
  spec::Spec spec = parsed(
      kHeads, kInt8, kInt8,
      "'layout': {'kind': 'paged', 'page': 4, 'order': 'nhd', 'interleaved': "
      "true}");
  Packed k(spec, 6);
  Answer all = answer(spec, k.inputs);
  BodyRows body = bodyRows(spec, spec::Tensor::Value, k.inputs.cuKv, 0);
  PackedBytes both = packedInterleavedPage(spec, all.k, k.body, all.v, body, 1);
  PackedBytes v = packedPage(spec, spec::Tensor::Value, all.v, body, 1);
  Bytes expected = k.page(1).bytes;
  expected.insert(expected.end(), v.bytes.begin(), v.bytes.end());
  EXPECT_EQ(both.bytes, expected);
}

TEST(Contiguous, OnePageGrownByRunsOf64) {
  spec::Spec spec = parsed(kHeads, kInt8, kInt8, "'layout': {'order': 'hnd'}");
  Packed k(spec, 65);
  PackedBytes page = packedContiguous(spec, spec::Tensor::Key, k.data, k.body);
  ASSERT_EQ(page.bytes.size(), 2u * 128 * 32 + 2 * 128 * 2);
  EXPECT_EQ(int8_t(page.bytes[(128 + 64) * 32 + 3]), k.code(64, 1, 3));
  EXPECT_EQ(page.known[65 * 32], 0);
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

const std::string kGgml = "'layout': {'order': 'ggml'}";

TEST(Ggml, Nibbles) {
  Packed k(parsed(kHeads, ints(4, ", 'zero': 'min'", "32"), kInt8 + "",
                  "'layout': {'order': 'token'}"),
           1);
  k.spec.layout.order = spec::Order::Ggml;
  Bytes record = packedRecord(k.spec, spec::Tensor::Key, k.data, 0, 1);
  ASSERT_EQ(record.size(), 2u + 2 + 16);
  EXPECT_EQ(u16At(record, 0), k.scale(0, 1));
  EXPECT_EQ(u16At(record, 2), encode(kF16, k.data.parts[0].zero[1]));
  for (int64_t j = 0; j < 16; ++j)
    EXPECT_EQ(record[size_t(4 + j)], k.code(0, 1, j) | k.code(0, 1, j + 16)
                                                           << 4);
}

TEST(Ggml, FifthBits) {
  std::string key = ints(5, "", "32");
  Packed k(parsed(kHeads, key, key, kGgml), 1);
  Bytes record = packedRecord(k.spec, spec::Tensor::Key, k.data, 0, 0);
  ASSERT_EQ(record.size(), 2u + 4 + 16);
  for (int64_t j = 0; j < 32; ++j) {
    int high = record[size_t(2 + j / 8)] >> j % 8 & 1;
    int low = record[size_t(6 + j % 16)] >> (j < 16 ? 0 : 4) & 15;
    EXPECT_EQ((high << 4 | low) - 16, k.code(0, 0, j));
  }
}

TEST(Token, PartsInOrder) {
  std::string parts = "'parts': [{'channels': [0, 12], " +
                      ints(3, ", 'zero': 'min'") +
                      "}, {'channels': [12, 32], 'codec': 'bf16'}]";
  Packed k(parsed(kHeads, parts, kInt8, "'layout': {'order': 'token'}"), 2);
  Bytes record = packedRecord(k.spec, spec::Tensor::Key, k.data, 1, 1);
  // 36 bits padded to five bytes, scale, zero, 20 values.
  ASSERT_EQ(record.size(), 5u + 2 + 2 + 40);
  EXPECT_EQ(record[4] >> 4, 0);
  EXPECT_EQ(u16At(record, 5), encode(kF16, k.data.parts[0].scale[3]));
  EXPECT_EQ(u16At(record, 9), encode(kBF16, k.data.parts[1].values[3 * 20]));
}

TEST(Token, ScalesInTheirType) {
  for (auto [dtype, bytes] : {std::pair("e8m0", 1), std::pair("e4m3", 1),
                              std::pair("bf16", 2), std::pair("f32", 4)}) {
    std::string key = "'codec': 'fp4_e2m1', 'scale': {'tokens': 1, "
                      "'channels': 16, 'dtype': '" +
                      std::string(dtype) + "'}";
    Packed k(parsed(kHeads, key, kInt8, "'layout': {'order': 'token'}"), 1);
    Bytes record = packedRecord(k.spec, spec::Tensor::Key, k.data, 0, 0);
    ASSERT_EQ(record.size(), size_t(16 + 2 * bytes)) << dtype;
    if (std::string(dtype) == "e8m0")
      EXPECT_EQ(decodeE8M0(record[16]), k.data.parts[0].scale[0]);
    if (std::string(dtype) == "e4m3")
      EXPECT_EQ(decode(kE4M3, record[16]), k.data.parts[0].scale[0]);
  }
}

TEST(FirstDifference, LooksOnlyAtWhatIsKnown) {
  PackedBytes page;
  page.bytes = {1, 2, 0};
  page.known = {0xff, 0x0f, 0};
  EXPECT_EQ(page.firstDifference(Bytes{1, 0xf2, 99}), "");
  EXPECT_EQ(page.firstDifference(Bytes{1, 0xf3, 99}),
            "byte 1: expected 02, got 03");
  EXPECT_EQ(page.firstDifference(Bytes{1}), "expected 3 bytes, got 1");
}

} // namespace
