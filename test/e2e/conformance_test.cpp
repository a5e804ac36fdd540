//===- conformance_test.cpp - Foreign cases through kvc run ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each case of test/data/conformance runs through the program as a user runs
// it.
//
//===----------------------------------------------------------------------===//

#include "Guard.h"
#include "Program.h"
#include "kvc/Test/Conformance.h"
#include "kvc/Test/Dump.h"
#include "kvc/Test/Folder.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

const std::string kFolder = std::string(KVC_TEST_DATA) + "/conformance";

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
  std::string outPath = folder / "out.safetensors";
  std::string dumpPath = folder / "cache.safetensors";
};

TEST_P(Conformance, Passes) {
  const auto test = loadConformanceCase(kFolder, GetParam());
  ASSERT_TRUE(test) << test.error().str();
  // Starting and compiling is nearly all of a run: one in chunks, one at once.
  std::vector<std::vector<std::string>> runs = {{"--append-chunk", "5"}};
  // AddressSanitizer sees the program, which is the same; not these kernels.
  if (!KVC_TEST_ASAN)
    runs.push_back({"--cpu", "portable"});
  for (const std::vector<std::string> &more : runs) {
    const Finished finished = run(more);
    ASSERT_EQ(finished.code, 0) << finished.output;
    compare(*test);
  }
}

TEST(ConformanceCases, NoneIsMissing) {
  EXPECT_EQ(conformanceNames(kFolder).size(), 57U);
}

INSTANTIATE_TEST_SUITE_P(All, Conformance,
                         testing::ValuesIn(conformanceNames(kFolder)),
                         [](const auto &info) {
                           return testNameOf(info.param);
                         });

} // namespace
