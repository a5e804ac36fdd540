//===- conformance_test.cpp - A file for each form of instruction ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Files of test/data/ptx/conformance name an instruction in their first line,
// the threads of a block, and the words that their kernel must leave.
//
//===----------------------------------------------------------------------===//

#include "MachineSupport.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

struct ConformanceCase {
  std::string name, text;
  std::string opcode; ///< That it is about.
  uint32_t block = 0;
  std::vector<uint32_t> expected;
};

ConformanceCase readCase(const std::string &name) {
  ConformanceCase result;
  result.name = name;
  result.text = ptxFile("conformance/" + name);
  std::istringstream lines(result.text);
  std::string line, slashes, word;
  std::getline(lines, line);
  result.opcode = line.substr(3);
  while (std::getline(lines, line) && line.starts_with("//")) {
    std::istringstream words(line);
    words >> slashes >> word;
    if (word == "block")
      words >> result.block;
    else
      while (words >> word)
        result.expected.push_back(
            uint32_t(std::stoul(word, nullptr, /*base=*/16)));
  }
  return result;
}

std::vector<std::string> caseNames() {
  std::vector<std::string> names;
  for (const auto &entry :
       std::filesystem::directory_iterator(KVC_TEST_DATA "/ptx/conformance"))
    if (entry.path().extension() == ".ptx")
      names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Where a place of a text begins.
size_t offsetOf(const std::string &text, Position at) {
  size_t offset = 0;
  for (uint32_t line = 1; line < at.line; ++line)
    offset = text.find('\n', offset) + 1;
  return offset + at.column - 1;
}

/// The forms of the instructions with the opcode that a case is about.
std::set<const Form *> formsOf(const ConformanceCase &test,
                               const Program &program) {
  std::set<const Form *> forms;
  for (size_t i = 0; i < program.code.size(); ++i) {
    const size_t at = offsetOf(*program.text, program.places[i].at);
    const size_t end = program.text->find_first_of(" ;\n", at);
    if (program.text->substr(at, end - at) == test.opcode)
      forms.insert(program.modifiersOf(program.code[i]).form);
  }
  return forms;
}

TEST(ConformanceTest, EveryFormLeavesItsBits) {
  std::set<const Form *> covered;
  for (const std::string &name : caseNames()) {
    SCOPED_TRACE(name);
    const ConformanceCase test = readCase(name);
    Device device(test.text);
    if (!device.module)
      continue;
    for (SimdLevel level :
         {SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512}) {
      if (!isSupported(level))
        continue;
      device.options.level = level;
      const uint64_t out = device.buffer(
          std::vector<uint32_t>(test.expected.size(), 0xA5A5A5A5));
      device.mustRun("k", {1}, {test.block}, out);
      const auto found = device.read<uint32_t>(out, test.expected.size());
      const auto [wrong, wanted] =
          std::mismatch(found.begin(), found.end(), test.expected.begin());
      if (wrong != found.end())
        ADD_FAILURE() << "word " << wrong - found.begin() << ": expected "
                      << std::hex << *wanted << ", got " << *wrong << ", "
                      << nameOf(level);
    }
    const auto program = device.module->program("k");
    ASSERT_TRUE(program) << program.error().str();
    const std::set<const Form *> forms = formsOf(test, **program);
    EXPECT_FALSE(forms.empty()) << test.opcode;
    covered.insert(forms.begin(), forms.end());
  }
  // What nothing can be expected of: the NaN of .oob is not public, and these
  // two end a kernel.
  const std::set<std::string> without = {
      "fma rn oob relu? f16,f16x2,bf16,bf16x2", "trap ", "brkpt "};
  for (const Form &form : allForms()) {
    const std::string name =
        std::string(form.name) + " " + std::string(form.modifiers);
    EXPECT_NE(covered.contains(&form), without.contains(name)) << name;
  }
  std::printf("%zu of %zu forms of instructions have their bits in a file\n",
              covered.size(), allForms().size());
}

} // namespace
