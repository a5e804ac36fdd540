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

TEST(Table, WrapsTextsThatAreTooWide) {
  Table table({{"name", Align::Left}, {"x"}, {"what", Align::Left}});
  table.add({"a", "1", "one two three four five"});
  table.add({"b", "23", "short"});
  EXPECT_EQ(table.str(33), table.str());
  EXPECT_EQ(table.str(32), "name   x  what\n"
                           "a      1  one two three four\n"
                           "          five\n"
                           "b     23  short\n");
  EXPECT_EQ(table.str(1), table.str(26)) << "16 characters are the least";
}

TEST(Table, TakesFromTheWidestTextFirst) {
  const std::string words = "aaaa bbbb cccc dddd eeee ffff";
  Table table({{"p", Align::Left}, {"q", Align::Left}});
  table.add({words + " gggg", words});
  EXPECT_EQ(table.str(54),
            "p                         q\n"
            "aaaa bbbb cccc dddd eeee  aaaa bbbb cccc dddd eeee\n"
            "ffff gggg                 ffff\n");
  EXPECT_EQ(table.str(67).find("gggg\n"), std::string::npos);
  EXPECT_EQ(table.str(), table.str(65 + 2)) << "nothing to wrap";
}

TEST(Table, WordsStayWhole) {
  Table table({{"a", Align::Left}});
  table.add({"https://a.address.of/many/characters and more"});
  EXPECT_EQ(table.str(20),
            "a\nhttps://a.address.of/many/characters\nand more\n");
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
