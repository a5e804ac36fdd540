//===- smollm2_test.cpp - The reference on a real model's tensors ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// test/data/smollm2/README.md tells what each scheme costs in accuracy there,
// measured by an independent implementation. The reference must find the same.
//
//===----------------------------------------------------------------------===//

#include "Specs.h"
#include "kvc/Test/Inputs.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

const std::string kAttention =
    "'q_heads': 9, 'kv_heads': 3, 'head_dim': 64, 'scale': 0.125";

safetensors::File load(const std::string &name) {
  safetensors::Expected<safetensors::File> file = safetensors::read(
      std::string(KVC_TEST_DATA) + "/smollm2/" + name + ".safetensors");
  if (!file) {
    ADD_FAILURE() << file.error().str();
    return {};
  }
  return std::move(*file);
}

Reference attendTo(const safetensors::File &file, const std::string &key,
                   const std::string &value, const std::string &more = "") {
  spec::Spec spec = parsed(kAttention, key, value, more, "f16");
  safetensors::Expected<Inputs> inputs = loadInputs(spec, file);
  EXPECT_TRUE(inputs) << inputs.error().str();
  return answer(spec, *inputs).reference;
}

double relativeError(const Reference &exact, const Reference &other) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < exact.out.size(); ++i) {
    error += std::pow(exact.out[i] - other.out[i], 2);
    norm += std::pow(exact.out[i], 2);
  }
  return std::sqrt(error / norm);
}

const std::string kRaw = "'codec': 'f16'";

std::string ints(int bits, const std::string &zero, const std::string &tokens,
                 const std::string &channels) {
  return "'codec': 'int" + std::to_string(bits) + "', 'zero': '" + zero +
         "', 'scale': {'tokens': " + tokens + ", 'channels': " + channels +
         ", 'dtype': 'f16'}";
}

TEST(SmolLM2, UnquantisedAttentionIsTheExpectedOne) {
  safetensors::File expected = load("smollm2_135m_layer14_expected");
  Reference reference = attendTo(load("smollm2_135m_layer14"), kRaw, kRaw);
  std::vector<float> out = floatsOf(*expected.find("out"));
  std::vector<float> lse = floatsOf(*expected.find("lse"));
  ASSERT_EQ(out.size(), reference.out.size());
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_NEAR(out[i], reference.out[i], 1e-6);
  for (size_t i = 0; i < lse.size(); ++i)
    ASSERT_NEAR(lse[i], reference.lse[i], 1e-6);
}

struct Row {
  const char *layer;
  /// int8 and int4 symmetric and "min", K alone, V alone (int4 "min").
  double int8, int8Min, int4, int4Min, keyOnly, valueOnly;
  /// KIVI with 32 recent tokens.
  double kivi4, kivi2;
};

class Table : public testing::TestWithParam<Row> {};

TEST_P(Table, ErrorsAreThoseOfTheReadme) {
  const Row &row = GetParam();
  safetensors::File file = load(std::string("smollm2_135m_layer") + row.layer);
  Reference exact = attendTo(file, kRaw, kRaw);
  auto expect = [&](double error, const std::string &key,
                    const std::string &value, const std::string &more = "") {
    // The table has three digits.
    EXPECT_NEAR(relativeError(exact, attendTo(file, key, value, more)), error,
                0.005 * error + 5e-5)
        << key;
  };
  auto perToken = [](int bits, const char *zero) {
    return ints(bits, zero, "1", "'all'");
  };
  for (auto [bits, zero, error] :
       {std::tuple(8, "none", row.int8), std::tuple(8, "min", row.int8Min),
        std::tuple(4, "none", row.int4), std::tuple(4, "min", row.int4Min)})
    expect(error, perToken(bits, zero), perToken(bits, zero));
  expect(row.keyOnly, perToken(4, "min"), kRaw);
  expect(row.valueOnly, kRaw, perToken(4, "min"));
  for (auto [bits, error] : {std::pair(4, row.kivi4), std::pair(2, row.kivi2)})
    expect(error, ints(bits, "min", "32", "1"), perToken(bits, "min"),
           "'segments': {'recent': 32}");
}

INSTANTIATE_TEST_SUITE_P(
    Layers, Table,
    testing::Values(Row{"14", .0180, .0135, .409, .252, .239, .077, .118, .651},
                    Row{"18", .0291, .0172, .465, .310, .296, .087, .118,
                        .811}),
    [](const auto &info) { return std::string(info.param.layer); });

} // namespace
