//===- repeat_test.cpp - The command that repeats a case ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A case of the matrix that fails prints a command. It is no help unless it
// runs, and runs that case.
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "Matrix.h"
#include "Program.h"
#include "kvc/Test/Folder.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

void repeat(const MatrixCase &test, const std::string &target) {
  SCOPED_TRACE(test.spec);
  const auto spec = spec::parseSpec(test.spec);
  ASSERT_TRUE(spec) << spec.error().str();
  const Inputs inputs =
      randomInputs(*spec, test.lengths, test.mode, test.inputSeed);
  const Folder folder;
  const std::string line =
      repeatCommand(test, *spec, inputs, folder / "", target);
  ASSERT_TRUE(line.starts_with("kvc run ")) << line;
  EXPECT_TRUE(line.ends_with(" --cpu " + target)) << line;
  const Finished finished = runShell(line);
  ASSERT_EQ(finished.code, 0) << line << "\n" << finished.output;
  EXPECT_EQ(wrongFiles(*spec, inputs, answer(*spec, inputs),
                       folder / (test.name + ".out.safetensors"),
                       folder / (test.name + ".cache.safetensors")),
            std::vector<std::string>());
}

/// Of one append and of several; one whose scales are inputs of their own.
TEST(RepeatCommand, RunsItsCase) {
  const std::vector<MatrixCase> cases = matrixCases(1);
  const auto first = [&](auto &&holds) {
    return *std::find_if(cases.begin(), cases.end(), holds);
  };
  repeat(first([](const MatrixCase &test) { return test.appendChunk == 0; }),
         "host");
  repeat(first([](const MatrixCase &test) {
           return test.appendChunk != 0 &&
                  test.spec.find("\"static\": true") != std::string::npos;
         }),
         "portable");
}

} // namespace
