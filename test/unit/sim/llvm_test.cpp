//===- llvm_test.cpp - What LLVM writes, read ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Where LLVM's tools are at hand: the kernels of test/data/ptx/llvm.ll for
// several targets, without and with optimisation.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include <cstdio>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

std::string outputOf(const std::string &command) {
  std::FILE *pipe = ::popen(command.c_str(), "r");
  if (!pipe)
    return "";
  std::string text;
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    text.append(buffer, got);
  return ::pclose(pipe) == 0 ? text : "";
}

class LlvmTest : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(LlvmTest, EveryKernelDecodes) {
  const auto [sm, level] = GetParam();
  const std::string text = outputOf(
      std::string(KVC_LLC) + " -march=nvptx64 -mcpu=sm_" + std::to_string(sm) +
      " -O" + std::to_string(level) + " " KVC_TEST_DATA "/ptx/llvm.ll -o -");
  ASSERT_FALSE(text.empty());
  Expected<Module> module = parseModule(text);
  ASSERT_TRUE(bool(module)) << module.error().str();
  Expected<Symbols> symbols = Symbols::of(*module);
  ASSERT_TRUE(bool(symbols)) << symbols.error().str();
  int kernels = 0;
  for (const Function &function : module->functions)
    if (function.isEntry) {
      Expected<Program> program = decodeKernel(*symbols, function.name.text);
      EXPECT_TRUE(bool(program))
          << function.name.text << ": " << program.error().str();
      ++kernels;
    }
  EXPECT_EQ(kernels, 11);
}

INSTANTIATE_TEST_SUITE_P(Targets, LlvmTest,
                         testing::Combine(testing::Values(80, 90),
                                          testing::Values(0, 3)));

} // namespace
