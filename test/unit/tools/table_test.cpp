//===- table_test.cpp - Aligned columns -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Table.h"

#include <gtest/gtest.h>

using namespace kvc;

namespace {

TEST(Table, AlignsColumns) {
  Table table({{"name", Align::Left}, {"us per\nstep"}, {"x"}});
  table.add({"a", "1.5", "10"});
  table.add({"longer", "123.0", "2"});
  EXPECT_EQ(table.str(), "        us per\n"
                         "name      step   x\n"
                         "a          1.5  10\n"
                         "longer   123.0   2\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"n", Align::Left}, {"x"}});
  table.add({"\xc3\xa9", "1"});
  EXPECT_EQ(table.str(), "n  x\n\xc3\xa9  1\n");
}

TEST(Table, LinesEndInNoBlank) {
  Table table({{"a", Align::Left}, {"b", Align::Left}});
  table.add({"x", ""});
  EXPECT_EQ(table.str(), "a  b\nx\n");
}

TEST(Numbers, ThreeSignificantDigits) {
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(0.08838), "0.0884");
  EXPECT_EQ(significant(-1.2345), "-1.23");
  EXPECT_EQ(significant(136), "136");
  EXPECT_EQ(significant(12345), "12345");
  EXPECT_EQ(significant(2.13e-4), "2.13e-04");
  EXPECT_EQ(significant(3e9), "3.00e+09");
  EXPECT_EQ(times(1.9393), "1.94x");
  EXPECT_EQ(fixed(2.5, 0), "2");
}

} // namespace
