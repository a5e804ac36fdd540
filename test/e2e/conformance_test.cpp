//===- conformance_test.cpp - Foreign cases through kvc run ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each case of test/data/conformance, and the vectors of test/data/presets, run
// through the program as a user runs it.
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

//===----------------------------------------------------------------------===//
// Presets whose bytes others define
//===----------------------------------------------------------------------===//

const std::string kVectors =
    std::string(KVC_TEST_DATA) + "/presets/vectors.safetensors";

class Vectors : public testing::TestWithParam<std::string> {};

TEST_P(Vectors, AreWhatKernelsStore) {
  const auto vectors = loadPresetVectors(kVectors, GetParam());
  ASSERT_TRUE(vectors) << vectors.error().str();
  const auto spec = spec::parseSpec(vectors->specText);
  ASSERT_TRUE(spec) << spec.error().str();
  const Lengths lengths[] = {{1, vectors->tokens}};
  Inputs inputs = randomInputs(*spec, lengths, InputMode::Normal, /*seed=*/1);
  inputs.k = vectors->x;
  if (!inputs.v.empty())
    inputs.v = vectors->x;
  const Folder folder;
  const std::string specPath = folder / "spec.json",
                    inputsPath = folder / "inputs.safetensors",
                    dumpPath = folder / "cache.safetensors";
  writeAll(specPath, vectors->specText);
  const auto error = saveInputs(*spec, inputs, inputsPath);
  ASSERT_FALSE(error) << error->str();
  for (const char *target : {"host", "portable"}) {
    if (KVC_TEST_ASAN && *target == 'p')
      continue;
    SCOPED_TRACE(target);
    const Finished finished =
        runKvc({"run", specPath, "--inputs", inputsPath, "--output",
                folder / "out.safetensors", "--dump-cache", dumpPath,
                "--append-chunk", "5", "--cpu", target});
    ASSERT_EQ(finished.code, 0) << finished.output;
    const auto dump = safetensors::read(dumpPath);
    ASSERT_TRUE(dump) << dump.error().str();
    for (const char *name : {"k_pages", "v_pages"}) {
      const safetensors::Tensor *pages = dump->find(name);
      ASSERT_EQ(pages != nullptr, *name == 'k' || !inputs.v.empty()) << name;
      if (!pages)
        continue;
      const auto *bytes = reinterpret_cast<const uint8_t *>(pages->data.data());
      EXPECT_EQ(std::vector(bytes, bytes + pages->data.size()),
                vectors->records)
          << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Vectors,
                         testing::ValuesIn(presetVectorNames(kVectors)),
                         [](const auto &info) { return info.param; });

} // namespace
