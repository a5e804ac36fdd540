//===- tensor_core_test.cpp - Sums against what devices gave --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// test/data/tensorcore says where the vectors come from. All of them agree, to
// the bit, in the sums themselves and through whole instructions at every
// level:
//
//   a100   fp16 (f32 and f16 results), bf16, tf32
//   l40s   Ada fp16, tf32; Ada E4M3, E5M2 (f32 and f16 results); L40S E4M3
//   h100   tf32; H200 fp16 (f32 and f16 results), bf16; H200 E4M3, E5M2 with
//          f16 results
//   b200   fp16, E4M3, E5M2 (f32 and f16 results)
//   wgmma  H200 E4M3, E5M2 with f32 results, which the device made with
//          addend 0; no mma
//
// No vectors: f32 results of fp8 mma on sm_90 (ptxas makes of it the same
// instructions as for sm_100, which has them), two sums of f16 with f16 results
// on sm_80, and everything of rtx-pro-6000.
//
//===----------------------------------------------------------------------===//

#include "MmaSupport.h"

#include "kvc/Sim/Numerics/Exact.h"
#include "kvc/Sim/Numerics/FusedSum.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace kvc;
using namespace kvc::sim;
using namespace kvc::test;

namespace {

std::vector<uint32_t> readWords(const std::string &name) {
  std::ifstream file(KVC_TEST_DATA "/tensorcore/" + name + ".hex");
  EXPECT_TRUE(file.good()) << name;
  std::vector<uint32_t> words;
  std::string text;
  while (file >> text)
    words.push_back(uint32_t(std::stoul(text, nullptr, 16)));
  return words;
}

/// f32 words as codes of a format that holds their values.
std::vector<uint32_t> encoded(const std::vector<uint32_t> &words,
                              const FloatFormat &format) {
  std::vector<uint32_t> codes;
  for (uint32_t word : words)
    codes.push_back(uint32_t(exact::encode(format, exact::decode(kF32, word))));
  return codes;
}

/// A file of vectors, in codes.
struct Set {
  int k;
  size_t size;
  std::vector<uint32_t> a, b, c, d;
};

Set readSet(const std::string &name, Type type, Type result) {
  const FloatFormat &format = mmaFormat(type);
  const FloatFormat &sum = result == Type::F16 ? kF16 : kF32;
  Set set;
  set.a = encoded(readWords(name + "_a"), format);
  set.b = encoded(readWords(name + "_b"), format);
  // Where results are f16 the addend was rounded to it first.
  set.c = encoded(readWords(name + "_c_fp32"), sum);
  set.d = encoded(
      readWords(name + (result == Type::F16 ? "_d_fp16" : "_d_fp32")), sum);
  set.size = set.d.size();
  set.k = int(set.a.size() / set.size);
  EXPECT_EQ(set.a.size(), set.size * size_t(set.k));
  EXPECT_EQ(set.b.size(), set.a.size());
  EXPECT_EQ(set.c.size(), set.size);
  EXPECT_GE(set.size, 500u) << name;
  return set;
}

struct Case {
  const char *device, *set;
  Type type, result;
};

const Case kCases[] = {
    {"a100", "A100_fp16", Type::F16, Type::F32},
    {"a100", "A100_fp16", Type::F16, Type::F16},
    {"a100", "A100_bf16", Type::BF16, Type::F32},
    {"a100", "A100_tf32", Type::TF32, Type::F32},
    {"l40s", "Ada_fp16", Type::F16, Type::F32},
    {"l40s", "Ada_fp16", Type::F16, Type::F16},
    {"l40s", "Ada_tf32", Type::TF32, Type::F32},
    {"l40s", "Ada_E4M3", Type::E4M3, Type::F32},
    {"l40s", "Ada_E4M3", Type::E4M3, Type::F16},
    {"l40s", "Ada_E5M2", Type::E5M2, Type::F32},
    {"l40s", "Ada_E5M2", Type::E5M2, Type::F16},
    {"l40s", "L40S_E4M3", Type::E4M3, Type::F32},
    {"h100", "H100_tf32", Type::TF32, Type::F32},
    {"h200", "H200_fp16", Type::F16, Type::F32},
    {"h200", "H200_fp16", Type::F16, Type::F16},
    {"h200", "H200_bf16", Type::BF16, Type::F32},
    {"h200", "H200_E4M3", Type::E4M3, Type::F16},
    {"h200", "H200_E5M2", Type::E5M2, Type::F16},
    {"b200", "B200_fp16", Type::F16, Type::F32},
    {"b200", "B200_fp16", Type::F16, Type::F16},
    {"b200", "B200_E4M3", Type::E4M3, Type::F32},
    {"b200", "B200_E4M3", Type::E4M3, Type::F16},
    {"b200", "B200_E5M2", Type::E5M2, Type::F32},
    {"b200", "B200_E5M2", Type::E5M2, Type::F16},
};

std::string describe(const Case &test) {
  return std::string(test.device) + " " + test.set +
         (test.result == Type::F16 ? " f16" : " f32");
}

// Whole instructions. Eight vectors make one: vector i is row i of A, column i
// of B and element (i, i) of C; whatever else is in the matrices meets no
// result that is looked at.
TEST(TensorCore, InstructionsGiveWhatDevicesGave) {
  for (const Case &test : kCases) {
    Set set = readSet(test.set, test.type, test.result);
    const TensorCore *core = tensorCoreNamed(test.device);
    ASSERT_TRUE(core);
    // The smallest instruction that takes the products: a sum of its own.
    MmaForm form{.k = set.k, .a = test.type, .b = test.type, .d = test.result};
    ASSERT_TRUE(exists(form)) << describe(test);
    for (SimdLevel level : levels()) {
      auto mma = Mma::create(form, core, level);
      ASSERT_TRUE(mma);
      int wrong = 0;
      for (size_t first = 0; first + 8 <= set.size; first += 8) {
        Matrices matrices;
        for (size_t i = 0; i < 8; ++i) {
          for (size_t k = 0; k < size_t(set.k); ++k) {
            uint32_t a = set.a[(first + i) * size_t(set.k) + k],
                     b = set.b[(first + i) * size_t(set.k) + k];
            int padding = test.type == Type::TF32 ? kTF32Padding : 0;
            matrices.a[i][k] = a << padding;
            matrices.b[k][i] = b << padding;
          }
          matrices.c[i][i] = set.c[first + i];
        }
        runMma(*mma, form, matrices);
        for (size_t i = 0; i < 8; ++i)
          wrong += matrices.d[i][i] != set.d[first + i];
      }
      EXPECT_EQ(wrong, 0) << describe(test) << " " << nameOf(level);
    }
  }
}

// The sums of wgmma, with f32 results only and addend 0.
TEST(TensorCore, WgmmaFp8GivesWhatDevicesGaveWithAddend0) {
  for (Type type : {Type::E4M3, Type::E5M2}) {
    Set set = readSet(type == Type::E4M3 ? "H200_E4M3" : "H200_E5M2", type,
                      Type::F32);
    SumFormats formats{mmaFormat(type), mmaFormat(type), false};
    int wrong = 0;
    for (size_t i = 0; i < set.size; ++i)
      wrong += fusedSum(kWgmmaFp8, formats, set.k, &set.a[i * size_t(set.k)], 1,
                        &set.b[i * size_t(set.k)], 1, 0) != set.d[i];
    EXPECT_EQ(wrong, 0);
  }
}

// A plain chain of fma is another function on this data.
TEST(TensorCore, ChainsDiffer) {
  Set set = readSet("H200_fp16", Type::F16, Type::F32);
  MmaForm form{.k = set.k};
  auto chain = Mma::create(form, nullptr);
  ASSERT_TRUE(chain);
  int differ = 0;
  for (size_t first = 0; first + 8 <= set.size; first += 8) {
    Matrices matrices;
    for (size_t i = 0; i < 8; ++i) {
      for (size_t k = 0; k < size_t(set.k); ++k) {
        matrices.a[i][k] = set.a[(first + i) * size_t(set.k) + k];
        matrices.b[k][i] = set.b[(first + i) * size_t(set.k) + k];
      }
      matrices.c[i][i] = set.c[first + i];
    }
    runMma(*chain, form, matrices);
    for (size_t i = 0; i < 8; ++i)
      differ += matrices.d[i][i] != set.d[first + i];
  }
  EXPECT_GT(differ, int(set.size) * 2 / 5);
}

TEST(TensorCore, NamesAndTargets) {
  for (const TensorCore &core : tensorCores())
    EXPECT_EQ(tensorCoreNamed(core.names[0]), &core);
  EXPECT_EQ(tensorCoreNamed("h200"), tensorCoreNamed("h100"));
  EXPECT_EQ(tensorCoreNamed(""), nullptr);
  EXPECT_EQ(tensorCoreNamed("v100"), nullptr);
  EXPECT_EQ(tensorCoreFor(75), nullptr);
  EXPECT_EQ(tensorCoreFor(80), tensorCoreNamed("a100"));
  EXPECT_EQ(tensorCoreFor(86), tensorCoreNamed("a100"));
  EXPECT_EQ(tensorCoreFor(89), tensorCoreNamed("l40s"));
  EXPECT_EQ(tensorCoreFor(90), tensorCoreNamed("h100"));
  EXPECT_EQ(tensorCoreFor(100), tensorCoreNamed("b200"));
  EXPECT_EQ(tensorCoreFor(121), tensorCoreNamed("rtx-pro-6000"));
  // What a device lacks is refused.
  MmaForm fp8{.k = 32, .a = Type::E4M3, .b = Type::E5M2};
  EXPECT_TRUE(exists(fp8));
  EXPECT_FALSE(Mma::create(fp8, tensorCoreNamed("a100")));
  EXPECT_TRUE(Mma::create(fp8, tensorCoreNamed("l40s")));
  EXPECT_TRUE(Mma::create(fp8, nullptr));
}

// The rules one by one, on sums small enough to work out by hand.
TEST(TensorCore, CutsAndRoundsTowardZero) {
  const SumRule ampere = tensorCoreNamed("a100")->f16;
  SumFormats f16{kF16, kF16, false};
  auto code = [](double x) {
    return uint32_t(exact::encode(kF16, exact::decode(kF64, codeOf(x))));
  };
  auto sum = [&](const SumRule &rule, std::vector<std::array<double, 2>> pairs,
                 float c) {
    uint32_t a[32] = {}, b[32] = {};
    for (size_t i = 0; i < pairs.size(); ++i) {
      a[i] = code(pairs[i][0]);
      b[i] = code(pairs[i][1]);
    }
    return asFloat(fusedSum(rule, f16, rule.terms, a, 1, b, 1, codeOf(c)));
  };
  // Each summand loses what lies more than 24 bits below the largest exponent,
  // though together they would count.
  EXPECT_EQ(sum(ampere, {{0x1p-12, 0x1p-13}, {0x1p-12, 0x1p-13}}, 1.0f), 1.0f);
  EXPECT_EQ(sum(ampere, {{0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12}}, 1.0f),
            1.0f + 0x1p-23f);
  // The result is cut, not rounded.
  EXPECT_EQ(sum(ampere, {{0x1p-12, 0x1p-12}}, 1.0f), 1.0f);
  EXPECT_EQ(sum(ampere, {{-0x1p-12, 0x1p-12}}, 1.0f), 1.0f - 0x1p-24f);
  // Products are not normalised: 1.5 * 1.5 has exponent 0, so that 2^-24
  // survives.
  EXPECT_EQ(sum(ampere,
                {{1.5, 1.5}, {-1.125, 1}, {-1.125, 1}, {0x1p-12, 0x1p-12}},
                0.0f),
            0x1p-24f);
  EXPECT_EQ(sum(ampere, {{1.5, 1.5}, {-2.25, 1}, {0x1p-12, 0x1p-12}}, 0.0f),
            0.0f);
  // Zeros have no exponent.
  EXPECT_EQ(sum(ampere, {{0, 60000}}, 0x1p-140f), 0x1p-140f);
  // Sums that are 0 are +0.
  EXPECT_EQ(codeOf(sum(ampere, {{-0.0, 1}}, -0.0f)), 0u);
  EXPECT_EQ(codeOf(sum(ampere, {{-1, 1}}, 1.0f)), 0u);
  // Hopper has one bit more and sixteen products at once.
  const SumRule hopper = tensorCoreNamed("h100")->f16;
  EXPECT_EQ(sum(hopper,
                {{0x1p-12, 0x1p-13},
                 {0x1p-12, 0x1p-13},
                 {0x1p-12, 0x1p-13},
                 {0x1p-12, 0x1p-13}},
                1.0f),
            1.0f + 0x1p-23f);
}

} // namespace
