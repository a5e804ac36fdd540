//===- coverage_test.cpp - Which forms of instructions run ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "../Samples.h"
#include "MachineSupport.h"

#include <set>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

/// A module with one sample that decodes.
std::string moduleOf(const Sample &sample) {
  const unsigned version = std::max(80u, sample.needs.version);
  const unsigned sm = std::max(80u, sample.needs.sm);
  return header(
             std::to_string(version / 10) + "." + std::to_string(version % 10),
             "sm_" + std::to_string(sm) + (sample.needs.specific ? "a" : "")) +
         sampleVariables() +
         kernel(sampleDeclarations(version) + sample.text + ";\nL: ret;",
                ".param .align 16 .b8 parameter[64]");
}

/// Everything that decodes runs, but for these.
TEST(CoverageTest, EveryFormHasAHandler) {
  std::set<std::string> missing;
  size_t count = 0;
  for (const Sample &sample : allSamples()) {
    Memory memory;
    auto module = LoadedModule::load(moduleOf(sample), memory);
    ASSERT_TRUE(module) << module.error().str() << "\n" << moduleOf(sample);
    if (std::optional<Error> error = whatIsMissing(**module, "k"))
      missing.insert(std::string(sample.form->name) + " " +
                     std::string(sample.form->modifiers));
    ++count;
  }
  EXPECT_GT(count, 1000u);
  const std::set<std::string> expected = {
      // The NaN that it gives is not public.
      "fma rn oob relu? f16,f16x2,bf16,bf16x2"};
  for (const std::string &form : missing)
    EXPECT_TRUE(expected.contains(form)) << form;
  for (const std::string &form : expected)
    EXPECT_TRUE(missing.contains(form)) << form << " runs now";
}

} // namespace
