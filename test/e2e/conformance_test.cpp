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

#include "Files.h"
#include "Guard.h"
#include "Program.h"
#include "kvc/Test/Conformance.h"
#include "kvc/Test/Folder.h"

#include <algorithm>
#include <filesystem>
#include <functional>
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

  std::vector<std::string>
  runArguments(const std::vector<std::string> &more) const {
    std::vector<std::string> arguments = {
        "run",          file("spec.json"),
        "--inputs",     file("inputs.safetensors"),
        "--output",     outPath,
        "--dump-cache", dumpPath,
        "--poison"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// Compares what the program wrote with the reference, which
  /// unit/support compares with the case's expected file.
  void compare(const ConformanceCase &test) const {
    const auto spec = spec::parseSpec(test.specText);
    ASSERT_TRUE(spec) << spec.error().str();
    const auto inputs = loadInputs(*spec, test.inputs);
    ASSERT_TRUE(inputs) << inputs.error().str();
    for (const std::string &line :
         wrongFiles(*spec, *inputs, answer(*spec, *inputs), outPath, dumpPath))
      ADD_FAILURE() << line;
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
    const Finished finished = runKvc(runArguments(more));
    ASSERT_EQ(finished.code, 0) << finished.output;
    compare(*test);
  }
}

/// Code of two targets, by turns.
TEST_P(Conformance, PassesOnASimulatedGpu) {
  if (!canRunOnDevices())
    GTEST_SKIP() << "no kernels for GPUs, or none but instrumented ones";
  const auto test = loadConformanceCase(kFolder, GetParam());
  ASSERT_TRUE(test) << test.error().str();
  const bool isNew = std::hash<std::string>()(GetParam()) % 2 != 0;
  std::vector<std::string> arguments =
      runArguments({"--append-chunk", "5", "--device", "cuda"});
  const Finished finished = runKvcOnDevice(isNew ? "H100" : "A100", arguments);
  ASSERT_EQ(finished.code, 0) << finished.output;
  compare(*test);
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
