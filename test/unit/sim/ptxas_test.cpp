//===- ptxas_test.cpp - The table beside NVIDIA's assembler ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Where a CUDA toolkit is installed, its assembler is asked about every form
// and every word of the table.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <unistd.h>

using namespace kvc::sim;
using namespace kvc::test;

namespace fs = std::filesystem;

namespace {

/// The least that the assembler at hand still takes.
constexpr Requirement kOldest{63, 75, false};

std::string assembler() {
  for (const char *path : {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"})
    if (fs::exists(path))
      return path;
  return "";
}

std::string moduleOf(const Requirement &needs,
                     const std::vector<const Sample *> &samples) {
  std::string text = ".version " + std::to_string(needs.version / 10) + "." +
                     std::to_string(needs.version % 10) + "\n.target sm_" +
                     std::to_string(needs.sm) + (needs.specific ? "a" : "") +
                     "\n.address_size 64\n" + sampleVariables() +
                     ".entry k(.param .align 16 .b8 parameter[64]) {\n" +
                     sampleDeclarations(needs.version);
  for (const Sample *sample : samples)
    text += sample->text + ";\n";
  return text + "ret;\n}\n";
}

/// Lines that the assembler complains about.
std::map<int, std::string> complaints(const std::string &text) {
  const fs::path folder =
      fs::temp_directory_path() / ("kvc-ptxas-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "a.ptx") << text;
  const std::string command =
      assembler() + " -arch=" +
      text.substr(text.find("sm_"),
                  text.find("\n.address_size") - text.find("sm_")) +
      " " + (folder / "a.ptx").string() + " -o /dev/null 2>&1";
  std::map<int, std::string> lines;
  std::FILE *pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof(buffer), pipe)) {
    const std::string line = buffer;
    const size_t at = line.find(", line ");
    if (line.find("warning") != std::string::npos)
      continue;
    lines[at == std::string::npos ? 0 : std::stoi(line.substr(at + 7))] = line;
  }
  if (!pipe || ::pclose(pipe) == 0)
    lines.clear();
  fs::remove_all(folder);
  return lines;
}

/// Samples by the version and target that they are shown with.
using Groups =
    std::map<std::tuple<unsigned, unsigned, bool>, std::vector<const Sample *>>;

void add(Groups &groups, const Requirement &needs, const Sample &sample) {
  groups[{needs.version, needs.sm, needs.specific}].push_back(&sample);
}

/// What the assembler says of each sample of a group, and of the rest.
struct Verdict {
  std::map<const Sample *, std::string> refused;
  std::vector<std::string> others;
};

Verdict ask(const Requirement &needs,
            const std::vector<const Sample *> &group) {
  const std::string text = moduleOf(needs, group);
  const size_t at = text.find("\n" + group[0]->text + ";\n");
  const int first = int(std::count(text.begin(), text.begin() + at, '\n')) + 2;
  Verdict verdict;
  for (const auto &[line, message] : complaints(text)) {
    const size_t index = size_t(line - first);
    if (line >= first && index < group.size())
      verdict.refused[group[index]] = message;
    else if (message.find("aborted") == std::string::npos)
      verdict.others.push_back(message);
  }
  return verdict;
}

TEST(PtxasTest, TakesEverySampleAtItsRequirement) {
  if (assembler().empty())
    GTEST_SKIP() << "no ptxas on this machine";
  const std::vector<Sample> samples = allSamples();
  Groups groups;
  for (const Sample &sample : samples) {
    Requirement needs = kOldest;
    needs.raiseTo(sample.needs);
    add(groups, needs, sample);
  }
  for (const auto &[key, group] : groups) {
    const auto [version, sm, isSpecific] = key;
    const Requirement needs{version, sm, isSpecific};
    const Verdict verdict = ask(needs, group);
    for (const auto &[sample, message] : verdict.refused)
      ADD_FAILURE() << needs.str() << ": " << sample->text << "\n  " << message;
    for (const std::string &message : verdict.others)
      ADD_FAILURE() << needs.str() << ": " << message;
  }
}

/// What comes before each version and architecture.
unsigned before(unsigned value, std::initializer_list<unsigned> all) {
  unsigned result = 0;
  for (unsigned other : all)
    if (other < value)
      result = other;
  return result;
}

/// Whether some form takes the opcode on such a machine.
bool isTaken(const Sample &sample, const Requirement &machine) {
  Target target;
  target.version = machine.version;
  target.sm = machine.sm;
  target.specific = machine.specific;
  Expected<std::vector<Match>> matches = matchOpcode(sample.opcode, {1, 1});
  return matches &&
         std::any_of(matches->begin(), matches->end(), [&](const Match &match) {
           return match.needs.isMetBy(target);
         });
}

TEST(PtxasTest, RefusesEverySampleBelowItsRequirement) {
  if (assembler().empty())
    GTEST_SKIP() << "no ptxas on this machine";
  const std::vector<Sample> samples = allSamples();
  Groups groups;
  for (const Sample &sample : samples) {
    Requirement needs = kOldest;
    needs.raiseTo(sample.needs);
    if (sample.needs.version > kOldest.version) {
      Requirement less = needs;
      less.version =
          before(needs.version, {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77,
                                 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90});
      if (!isTaken(sample, less))
        add(groups, less, sample);
    }
    if (sample.needs.sm > kOldest.sm) {
      Requirement less = needs;
      less.sm = before(needs.sm, {75, 80, 86, 89, 90, 100});
      less.specific = false;
      less.version = 90;
      if (!isTaken(sample, less))
        add(groups, less, sample);
    }
  }
  for (const auto &[key, group] : groups) {
    const auto [version, sm, isSpecific] = key;
    const Requirement less{version, sm, isSpecific};
    const Verdict verdict = ask(less, group);
    for (const Sample *sample : group)
      EXPECT_TRUE(verdict.refused.count(sample))
          << less.str() << ": " << sample->text << " is taken, needs "
          << sample->needs.str();
  }
}

} // namespace
