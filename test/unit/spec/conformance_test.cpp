//===- conformance_test.cpp - The conformance specs parse -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Spec.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace kvc::spec;

namespace {

TEST(ConformanceSpecTest, AllParse) {
  int cases = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(KVC_TEST_DATA "/conformance")) {
    std::ifstream file(entry.path() / "spec.json");
    if (!file)
      continue;
    ++cases;
    std::stringstream text;
    text << file.rdbuf();
    Expected<Spec> spec = parseSpec(text.str());
    ASSERT_TRUE(spec) << entry.path() << ": " << spec.error().str();
    Expected<Spec> again = parseSpec(printSpec(*spec));
    ASSERT_TRUE(again) << entry.path() << ": " << again.error().str();
    EXPECT_EQ(*again, *spec) << entry.path();
    EXPECT_EQ(printSpec(*again), printSpec(*spec));
  }
  EXPECT_EQ(cases, 57);
}

} // namespace
