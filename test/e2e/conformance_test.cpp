//===- conformance_test.cpp - Foreign cases through kvc run ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each case of test/data/conformance runs through the program as a user runs
// it, or is refused with the property that is not lowered yet.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "kvc/Test/Conformance.h"
#include "kvc/Test/Dump.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>

using namespace kvc;
using namespace kvc::test;

namespace {

const std::string kFolder = std::string(KVC_TEST_DATA) + "/conformance";

/// Cases that the compiler refuses, and what it says.
const std::map<std::string, std::string> kRefused = {
    {"clip-fp4-50", "codec fp4_e2m1"},
    {"clip-int8-50", "clip"},
    {"code-constant-clip", "clip"},
    {"code-constant-int2", "codec int2"},
    {"codec-lut-duplicates", "codec lut"},
    {"codec-lut4-f32", "codec lut"},
    {"dv-slice-576-0-512", "value_is_key"},
    {"dv-slice-80-16-64", "value_is_key"},
    {"exact-fp4", "codec fp4_e2m1"},
    {"exact-int4min-bf16", "codes_from exact"},
    {"floor-int4-min-zeros", "scale.floor"},
    {"floor-lut3-rms-zeros", "codec lut"},
    {"ggml-q4_1-auto", "preset"},
    {"ggml-q8_0-f16", "preset"},
    {"ggml-q8_0-underflow", "preset"},
    {"ints-int2-min-nhd", "codec int2"},
    {"ints-int5-code-t8", "codec int5"},
    {"mid-lut3", "codec lut"},
    {"mid-lut4-bf16", "codec lut"},
    {"mixed-fp4_e2m1-int8", "codec fp4_e2m1"},
    {"outliers1-int8-g16", "outliers"},
    {"parts-blocks", "parts"},
    {"parts-k-raws", "parts"},
    {"prefill-softcap-window", "codec fp8_e4m3"},
    {"rope-half-segments", "rope"},
    {"rope-prefill", "rope"},
    {"round-up-int4-min", "round up"},
    {"seg-page16-block16-sink5", "scale.tokens above 1"},
    {"seg-rotated", "rotate"},
    {"shared-all-int8", "value_is_key"},
    {"soutliers-g8-int4", "scale.static"},
    {"soutliers-head-int4", "scale.static"},
    {"static-e4m3", "scale.static"},
    {"static-fp8_e5m2-head", "codec fp8_e5m2"},
    {"table-k-lut2", "codec lut"},
    {"table-kv-lut2", "codec lut"},
    {"top-int8-shared", "preset"},
    {"top-kvquant4", "preset"},
    {"wsinks-ring-equal", "segments"},
};

class Conformance : public testing::TestWithParam<std::string> {
protected:
  std::string file(const char *name) const {
    return kFolder + "/" + GetParam() + "/" + name;
  }

  Finished run(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {
        "run",          file("spec.json"),
        "--inputs",     file("inputs.safetensors"),
        "--output",     outPath,
        "--dump-cache", dumpPath,
        "--poison"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runKvc(arguments);
  }

  /// Compares what the program wrote with the reference, which
  /// unit/support compares with the case's expected file.
  void compare(const ConformanceCase &test) const {
    const auto spec = spec::parseSpec(test.specText);
    ASSERT_TRUE(spec) << spec.error().str();
    const auto inputs = loadInputs(*spec, test.inputs);
    ASSERT_TRUE(inputs) << inputs.error().str();
    const Answer expected = answer(*spec, *inputs);
    const auto dump = safetensors::read(dumpPath);
    ASSERT_TRUE(dump) << dump.error().str();
    for (const std::string &line : compareDump(*spec, *inputs, expected, *dump))
      ADD_FAILURE() << line;

    const auto result = safetensors::read(outPath);
    ASSERT_TRUE(result) << result.error().str();
    auto doubles = [&](const char *name) {
      const safetensors::Tensor *tensor = result->find(name);
      EXPECT_NE(tensor, nullptr) << name;
      std::vector<float> values =
          tensor ? floatsOf(*tensor) : std::vector<float>();
      return std::vector<double>(values.begin(), values.end());
    };
    const std::vector<double> out = doubles("out"), lse = doubles("lse");
    ASSERT_EQ(out.size(), expected.reference.out.size());
    ASSERT_EQ(lse.size(), expected.reference.lse.size());
    for (const BoundCheck &check :
         {checkOut(*spec, expected.reference, inputs->cuQ, out),
          checkLse(*spec, expected.reference, inputs->cuQ, lse)})
      EXPECT_TRUE(check.ok())
          << check.worst << " of the bound, " << check.where;
  }

  Folder folder;
  std::string outPath = folder.path("out.safetensors");
  std::string dumpPath = folder.path("cache.safetensors");
};

TEST_P(Conformance, PassesOrIsRefusedByName) {
  const auto test = loadConformanceCase(kFolder, GetParam());
  ASSERT_TRUE(test) << test.error().str();
  const auto refused = kRefused.find(GetParam());
  if (refused != kRefused.end()) {
    const Finished finished = run();
    EXPECT_EQ(finished.code, 1) << finished.output;
    EXPECT_NE(finished.output.find("not lowered yet: " + refused->second),
              std::string::npos)
        << finished.output;
    if (refused->second == "preset")
      EXPECT_NE(finished.output.find("[P1]"), std::string::npos)
          << finished.output;
    EXPECT_FALSE(std::filesystem::exists(outPath));
    EXPECT_FALSE(std::filesystem::exists(dumpPath));
    return;
  }
  for (std::vector<std::string> more : {std::vector<std::string>{},
                                        {"--append-chunk", "5"},
                                        {"--cpu", "portable"}}) {
    const Finished finished = run(more);
    ASSERT_EQ(finished.code, 0) << finished.output;
    compare(*test);
  }
}

TEST(ConformanceCases, RefusedOnesExist) {
  const std::vector<std::string> names = conformanceNames(kFolder);
  for (const auto &[name, reason] : kRefused)
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
}

INSTANTIATE_TEST_SUITE_P(All, Conformance,
                         testing::ValuesIn(conformanceNames(kFolder)),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
