//===- conformance_test.cpp - The reference against foreign cases ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The reference of test/support must agree with another implementation of
// SPEC.md sections 2 and 3 on every case of test/data/conformance.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Conformance.h"

#include "kvc/Test/Dump.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

const std::string kFolder = std::string(KVC_TEST_DATA) + "/conformance";

TEST(ConformanceCases, AreAllThere) {
  EXPECT_EQ(conformanceNames(kFolder).size(), 57u);
}

class Conformance : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    safetensors::Expected<ConformanceCase> loaded =
        loadConformanceCase(kFolder, GetParam());
    ASSERT_TRUE(loaded) << loaded.error().str();
    test = std::move(*loaded);
    spec::Expected<spec::Spec> parsed = spec::parseSpec(test.expandedText);
    ASSERT_TRUE(parsed) << parsed.error().str();
    spec = *parsed;
    safetensors::Expected<Inputs> read = loadInputs(spec, test.inputs);
    ASSERT_TRUE(read) << read.error().str();
    inputs = std::move(*read);
    result = answer(spec, inputs);
  }

  ConformanceCase test;
  spec::Spec spec;
  Inputs inputs;
  Answer result;
};

TEST_P(Conformance, StoredValuesAgreeToTheBit) {
  for (const std::string &difference :
       compareDump(spec, inputs, result, test.expected))
    ADD_FAILURE() << difference;
}

std::vector<double> doubles(const safetensors::Tensor *tensor) {
  std::vector<float> values = floatsOf(*tensor);
  return {values.begin(), values.end()};
}

/// Both references work in f64; only the rounding to f32 of the file and the
/// order of f64 sums are between them, far below the bounds for kernels.
TEST_P(Conformance, AttentionAgreesToF32) {
  std::vector<double> out = doubles(test.expected.find("out"));
  std::vector<double> lse = doubles(test.expected.find("lse"));
  ASSERT_EQ(out.size(), result.reference.out.size());
  ASSERT_EQ(lse.size(), result.reference.lse.size());
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_NEAR(out[i], result.reference.out[i],
                1e-7 * std::fabs(out[i]) + 1e-9)
        << "out " << i;
  for (size_t i = 0; i < lse.size(); ++i)
    if (lse[i] != result.reference.lse[i])
      ASSERT_NEAR(lse[i], result.reference.lse[i],
                  1e-7 * std::fabs(lse[i]) + 1e-9)
          << "lse " << i;
}

TEST_P(Conformance, AttentionIsWithinTheBounds) {
  BoundCheck out = checkOut(spec, result.reference, inputs.cuQ,
                            doubles(test.expected.find("out")));
  EXPECT_TRUE(out.ok()) << out.worst << " of the bound, " << out.where;
  BoundCheck lse = checkLse(spec, result.reference, inputs.cuQ,
                            doubles(test.expected.find("lse")));
  EXPECT_TRUE(lse.ok()) << lse.worst << " of the bound, " << lse.where;
}

/// The parser expands presets as SPEC.md section 1b says.
TEST_P(Conformance, PresetsAreExpanded) {
  spec::Expected<spec::Spec> parsed = spec::parseSpec(test.specText);
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_EQ(spec::printSpec(*parsed), spec::printSpec(spec));
}

TEST(ConformanceCases, SomeUsePresets) {
  int presets = 0;
  for (const std::string &name : conformanceNames(kFolder)) {
    safetensors::Expected<ConformanceCase> loaded =
        loadConformanceCase(kFolder, name);
    ASSERT_TRUE(loaded) << loaded.error().str();
    presets += loaded->usesPreset();
  }
  EXPECT_EQ(presets, 5);
}

INSTANTIATE_TEST_SUITE_P(All, Conformance,
                         testing::ValuesIn(conformanceNames(kFolder)),
                         [](const auto &info) {
                           return testNameOf(info.param);
                         });

} // namespace
