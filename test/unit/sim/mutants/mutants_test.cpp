//===- mutants_test.cpp - Whether mistakes are found ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Correct kernels, each with one mistake at a time, run under the checker in
// seeded orders until a finding or a wrong result tells. What nothing tells of
// is listed here with the reason why it is no mistake.
//
//===----------------------------------------------------------------------===//

#include "Mutations.h"

#include "kvc/Sim/Check/Checker.h"
#include "kvc/Sim/Machine/Machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

/// Orders that every mutant gets before it counts as a survivor.
constexpr uint64_t kSeeds = 64;
/// Mutants that run where not all do, drawn from a seed.
#ifdef KVC_ALL_MUTANTS
constexpr size_t kSample = SIZE_MAX;
#else
constexpr size_t kSample = 60;
#endif
/// Of a launch; correct ones take less than 10,000.
constexpr uint64_t kMaxSteps = 100000;

struct Survivor {
  std::string_view kernel, what, reason;
};

constexpr Survivor kSurvivors[] = {
#include "Survivors.def"
};

/// All mutants in a drawn order, by kernel and number.
std::vector<std::pair<size_t, size_t>> drawn() {
  const char *seed = std::getenv("KVC_MUTANTS_SEED");
  std::mt19937 random(seed ? uint32_t(std::strtoul(seed, nullptr, 10)) : 1);
  std::vector<std::pair<size_t, size_t>> all;
  const std::vector<MutantKernel> kernels = mutantKernels();
  for (size_t kernel = 0; kernel < kernels.size(); ++kernel)
    for (size_t i = mutantsOf(kernels[kernel]).size(); i-- > 0;)
      all.emplace_back(kernel, i);
  // std::shuffle draws in another way with every library.
  for (size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[random() % i]);
  return all;
}

/// Those that run.
std::set<std::pair<size_t, size_t>> chosen() {
  const auto all = drawn();
  return {all.begin(), all.begin() + ptrdiff_t(std::min(kSample, all.size()))};
}

std::string reasonFor(const Mutant &mutant) {
  for (const Survivor &survivor : kSurvivors)
    if (survivor.kernel == mutant.kernel.name && survivor.what == mutant.what)
      return std::string(survivor.reason);
  return "";
}

/// By what a launch in one order is found out; empty: by nothing.
std::string findIn(const Mutant &mutant, uint64_t seed) {
  const MutantKernel &kernel = mutant.kernel;
  Checker checker;
  Memory memory;
  memory.setObserver(&checker);
  auto loaded = LoadedModule::load(kernel.text, memory);
  if (!loaded)
    return "not PTX: " + loaded.error().str();
  std::vector<uint32_t> input = kernel.input;
  input.resize(input.size() - mutant.inputCut);
  const uint64_t inputBytes = input.size() * sizeof(uint32_t);
  const uint64_t outputBytes =
      (kernel.outputs - mutant.outputCut) * sizeof(uint32_t);
  const uint64_t buffers[2] = {
      memory.allocate(inputBytes, "input"),
      memory.allocate(std::max<uint64_t>(outputBytes, 1), "output")};
  memory.write(buffers[0], input.data(), inputBytes);
  memory.fill(buffers[1], 0, outputBytes);
  LaunchOptions options;
  options.grid = kernel.grid;
  options.block = kernel.block;
  options.params.resize(sizeof(buffers));
  std::memcpy(options.params.data(), buffers, sizeof(buffers));
  options.seed = seed;
  options.maxSteps = kMaxSteps;
  options.observer = &checker;
  const LaunchResult result = launch(**loaded, "k", memory, options);
  if (!checker.findings().empty())
    return std::string(nameOf(checker.findings().front().kind));
  if (result.fault)
    return "fault";
  std::vector<uint32_t> output(kernel.outputs - mutant.outputCut);
  memory.read(buffers[1], output.data(), outputBytes);
  std::vector<uint32_t> expected = kernel.answer(kernel.input);
  expected.resize(output.size());
  return output == expected ? "" : "result";
}

std::string find(const Mutant &mutant) {
  std::string by;
  for (uint64_t seed = 0; seed < kSeeds && by.empty(); ++seed)
    by = findIn(mutant, seed);
  return by;
}

/// [what was done][by what it was found]
std::map<std::string, std::map<std::string, int>> foundBy;

/// Prints that as a table, and who survived.
class Summary final : public testing::Environment {
public:
  void TearDown() override {
    std::map<std::string, int> totals;
    for (const auto &[kind, found] : foundBy)
      for (const auto &[by, count] : found)
        totals[by] += count;
    size_t count = 0;
    for (const auto &[by, found] : totals)
      count += size_t(found);
    std::printf("%zu of %zu mutants, by what found them\n%-14s", count,
                drawn().size(), "mutants");
    for (const auto &[by, count] : totals)
      std::printf("%14s", by.c_str());
    for (const auto &[kind, found] : foundBy) {
      std::printf("\n%-14s", kind.c_str());
      for (const auto &[by, count] : totals)
        std::printf("%14d", found.contains(by) ? found.at(by) : 0);
    }
    std::printf("\n%-14s", "all");
    for (const auto &[by, count] : totals)
      std::printf("%14d", count);
    std::printf("\n");
    for (const Survivor &survivor : kSurvivors)
      std::printf("equivalent: %s, %s: %s\n",
                  std::string(survivor.kernel).c_str(),
                  std::string(survivor.what).c_str(),
                  std::string(survivor.reason).c_str());
  }
};
testing::Environment *const kSummary =
    testing::AddGlobalTestEnvironment(new Summary);

class MutantsTest : public testing::TestWithParam<size_t> {
protected:
  const MutantKernel kernel = mutantKernels().at(GetParam());
};

TEST_P(MutantsTest, TheCorrectKernelGivesNoReport) {
  const Mutant none{"", "", kernel, 0, 0};
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    EXPECT_EQ(findIn(none, seed), "") << kernel.name << ", seed " << seed;
}

TEST_P(MutantsTest, EveryMistakeIsFound) {
  const auto runs = chosen();
  const std::vector<Mutant> mutants = mutantsOf(kernel);
  for (size_t i = 0; i < mutants.size(); ++i) {
    if (!runs.contains({GetParam(), i}))
      continue;
    const Mutant &mutant = mutants[i];
    const std::string by = find(mutant);
    const std::string reason = reasonFor(mutant);
    EXPECT_NE(by.substr(0, 7), "not PTX") << mutant.what << ": " << by;
    EXPECT_EQ(by.empty(), !reason.empty())
        << kernel.name << ", " << mutant.kind << ", " << mutant.what
        << (by.empty() ? ": not found" : ": found by " + by);
    ++foundBy[mutant.kind][by.empty() ? "equivalent" : by];
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, MutantsTest,
                         testing::Range(size_t(0), mutantKernels().size()));

TEST(MutantCountTest, AreManyEnough) { EXPECT_GE(drawn().size(), 200u); }

} // namespace
