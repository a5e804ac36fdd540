//===- smollm2_test.cpp - A real model's tensors through kvc run ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// test/data/smollm2/README.md tells what each scheme costs in accuracy there,
// measured by an independent implementation. The kernels must find the same.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "kvc/Test/Dump.h"
#include "kvc/Test/Folder.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

std::string dataPath(const std::string &name) {
  return std::string(KVC_TEST_DATA) + "/smollm2/smollm2_135m_" + name +
         ".safetensors";
}

safetensors::File load(const std::string &path) {
  auto file = safetensors::read(path);
  if (!file) {
    ADD_FAILURE() << file.error().str();
    return {};
  }
  return std::move(*file);
}

std::string specText(const std::string &scheme) {
  return R"({"kvc": 1, "name": "smollm2",
  "attention": {"q_heads": 9, "kv_heads": 3, "head_dim": 64},
  "io": {"query": "f16", "output": "f32"},
  "key": )" +
         scheme + ", \"value\": " + scheme +
         R"(, "layout": {"kind": "paged", "page": 64}})";
}

std::string integers(const char *codec, const char *zero) {
  return std::string(R"({"codec": ")") + codec + R"(", "zero": ")" + zero +
         R"(", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}})";
}

double relativeError(const std::vector<double> &exact,
                     const std::vector<double> &other) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(exact[i] - other[i], 2);
    norm += std::pow(exact[i], 2);
  }
  return std::sqrt(error / norm);
}

std::vector<double> doubles(const safetensors::File &file, const char *name) {
  const safetensors::Tensor *tensor = file.find(name);
  EXPECT_NE(tensor, nullptr) << name;
  std::vector<float> values = tensor ? floatsOf(*tensor) : std::vector<float>();
  return {values.begin(), values.end()};
}

struct Case {
  const char *name, *layer;
  std::string scheme;
  double error; ///< The README's; 0: as good as unquantised.
};

class SmolLM2 : public testing::TestWithParam<Case> {};

TEST_P(SmolLM2, AttentionIsRightAndCostsWhatTheReadmeSays) {
  const Case &test = GetParam();
  const Folder folder;
  const std::string specPath = folder / "spec.json",
                    outPath = folder / "out.safetensors",
                    dumpPath = folder / "cache.safetensors";
  std::ofstream(specPath) << specText(test.scheme);
  const Finished finished = runKvc(
      {"run", specPath, "--inputs", dataPath(std::string("layer") + test.layer),
       "--output", outPath, "--dump-cache", dumpPath, "--poison"});
  ASSERT_EQ(finished.code, 0) << finished.output;

  const safetensors::File input =
      load(dataPath(std::string("layer") + test.layer));
  auto answerTo = [&](const std::string &text) {
    const auto spec = spec::parseSpec(text);
    EXPECT_TRUE(spec) << spec.error().str();
    const auto inputs = loadInputs(*spec, input);
    EXPECT_TRUE(inputs) << inputs.error().str();
    return std::tuple(*spec, *inputs, answer(*spec, *inputs));
  };
  const auto [spec, inputs, expected] = answerTo(specText(test.scheme));
  for (const std::string &line :
       compareDump(spec, inputs, expected, load(dumpPath)))
    ADD_FAILURE() << line;
  const safetensors::File result = load(outPath);
  const std::vector<double> out = doubles(result, "out"),
                            lse = doubles(result, "lse");
  ASSERT_EQ(out.size(), expected.reference.out.size());
  ASSERT_EQ(lse.size(), expected.reference.lse.size());
  for (const BoundCheck &check :
       {checkOut(spec, expected.reference, inputs.cuQ, out),
        checkLse(spec, expected.reference, inputs.cuQ, lse)})
    EXPECT_TRUE(check.ok()) << check.worst << " of the bound, " << check.where;

  const Reference exact =
      std::get<2>(answerTo(specText(R"({"codec": "f16"})"))).reference;
  // The table has three digits.
  EXPECT_NEAR(relativeError(exact.out, out), test.error,
              0.01 * test.error + 5e-4);
  if (std::string(test.layer) == "14")
    EXPECT_NEAR(
        relativeError(doubles(load(dataPath("layer14_expected")), "out"), out),
        test.error, 0.01 * test.error + 5e-4);
}

INSTANTIATE_TEST_SUITE_P(
    Layers, SmolLM2,
    testing::Values(
        Case{"layer14_f16", "14", R"({"codec": "f16"})", 0},
        Case{"layer14_int8", "14", integers("int8", "none"), .0180},
        Case{"layer14_int8_min", "14", integers("int8", "min"), .0135},
        Case{"layer14_int4", "14", integers("int4", "none"), .409},
        Case{"layer14_int4_min", "14", integers("int4", "min"), .252},
        Case{"layer18_f16", "18", R"({"codec": "f16"})", 0},
        Case{"layer18_int8", "18", integers("int8", "none"), .0291},
        Case{"layer18_int8_min", "18", integers("int8", "min"), .0172},
        Case{"layer18_int4", "18", integers("int4", "none"), .465},
        Case{"layer18_int4_min", "18", integers("int4", "min"), .310}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
