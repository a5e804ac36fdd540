//===- gpu_matrix_test.cpp - The matrix on a simulated GPU ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Cases of the matrix through `kvc run` on a device of the simulator, whose
// checker must find nothing: each with the code of one target, by turns. What
// is stored is compared to the bit, outputs by their bounds.
//
// KVC_MATRIX_SEED and KVC_MATRIX_STRIDE are those of matrix_test.cpp.
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "Matrix.h"
#include "Program.h"
#include "kvc/Test/Folder.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

const std::vector<MatrixCase> &cases() {
  static const std::vector<MatrixCase> chosen = [] {
    const uint64_t seed = numberFrom("KVC_MATRIX_SEED", 1);
    std::vector<MatrixCase> all = matrixCases(seed), result;
    for (MatrixCase &test : combinationCases(seed))
      all.push_back(std::move(test));
    const size_t stride =
        std::max<size_t>(numberFrom("KVC_MATRIX_STRIDE", 1), 1);
    for (size_t i = 0; i < all.size(); i += stride)
      result.push_back(std::move(all[i]));
    return result;
  }();
  return chosen;
}

class GpuMatrix : public testing::TestWithParam<size_t> {};

TEST_P(GpuMatrix, RunsAsSpecified) {
  if (!canRunOnDevices())
    GTEST_SKIP() << "no kernels for GPUs, or none but instrumented ones";
  // Devices whose targets are sm_80 and sm_90.
  static const char *const devices[] = {"A100", "H100"};
  const MatrixCase &test = cases()[GetParam()];
  const std::string device = devices[GetParam() % 2];
  const auto spec = spec::parseSpec(test.spec);
  ASSERT_TRUE(spec) << spec.error().str();
  const Inputs inputs =
      randomInputs(*spec, test.lengths, test.mode, test.inputSeed);
  const Folder folder;
  const std::string specPath = folder / "spec.json",
                    inputPath = folder / "inputs.safetensors",
                    output = folder / "out.safetensors",
                    dump = folder / "cache.safetensors";
  std::ofstream(specPath) << test.spec;
  ASSERT_FALSE(saveInputs(*spec, inputs, inputPath));
  std::vector<std::string> arguments = {
      "run",          specPath, "--inputs", inputPath, "--output", output,
      "--dump-cache", dump,     "--device", "cuda",    "--poison"};
  if (test.appendChunk != 0) {
    arguments.emplace_back("--append-chunk");
    arguments.push_back(std::to_string(test.appendChunk));
  }
  const Finished finished = runKvcOnDevice(device, arguments);
  ASSERT_EQ(finished.code, 0) << device << ", " << test.levels << "\n"
                              << test.spec << finished.output;
  for (const std::string &line :
       wrongFiles(*spec, inputs, answer(*spec, inputs), output, dump))
    ADD_FAILURE() << device << ", " << test.levels << "\n" << test.spec << line;
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuMatrix,
                         testing::Range<size_t>(0, cases().size()),
                         [](const auto &info) {
                           return cases()[info.param].name;
                         });

} // namespace
