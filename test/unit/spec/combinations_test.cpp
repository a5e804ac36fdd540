//===- combinations_test.cpp - Every three options together ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What SPEC.md forbids is refused with one of the rules that it breaks, and
// nothing else is refused. Those that fit run in test/e2e/matrix_test.cpp.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Spec.h"
#include "kvc/Test/Combinations.h"

#include <gtest/gtest.h>
#include <iostream>
#include <map>

using namespace kvc;
using namespace kvc::spec;
using namespace kvc::test;

namespace {

TEST(Combinations, OfAnyThreeAreRefusedByARuleThatTheyBreak) {
  const std::vector<Combination> all = anyCombinations();
  size_t refused = 0;
  std::map<std::string, int> counts;
  for (const Combination &combination : all) {
    const std::string text = combination.text("any");
    const spec::Expected<Spec> spec = parseSpec(text);
    const std::set<std::string> broken = combination.broken();
    if (broken.empty()) {
      EXPECT_TRUE(spec) << spec.error().str() << "\n" << text;
      continue;
    }
    ASSERT_FALSE(spec) << "breaks " << *broken.begin() << "\n" << text;
    EXPECT_TRUE(broken.contains(spec.error().rule))
        << spec.error().str() << ", expected " << *broken.begin() << "\n"
        << text;
    ++counts[spec.error().rule];
    ++refused;
  }
  EXPECT_GE(all.size(), 1500U);
  // Every rule that these options can break is among the answers.
  for (const char *rule :
       {"K10", "K12", "K14", "K16", "K19", "K20", "K22", "K23", "K24", "K25",
        "K26", "K27", "K28", "G2",  "L4",  "L5",  "L7",  "L10", "L12", "L13"})
    EXPECT_GT(counts[rule], 0) << rule;
  std::cout << all.size() << " combinations, " << refused << " refused by "
            << counts.size() << " rules\n";
}

TEST(Combinations, OfAnyThreeThatFitAreAccepted) {
  const std::vector<Combination> all = validCombinations();
  for (const Combination &combination : all) {
    const std::string text = combination.text("valid");
    const spec::Expected<Spec> spec = parseSpec(text);
    ASSERT_TRUE(spec) << spec.error().str() << "\n" << text;
  }
  EXPECT_GE(all.size(), 1500U);
  std::cout << all.size() << " valid combinations\n";
}

} // namespace
