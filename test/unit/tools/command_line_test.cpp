//===- command_line_test.cpp - Values of options --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"

#include <gtest/gtest.h>

using namespace kvc;

namespace {

/// The message of a wrong use; its exit code is 2.
template <typename Function>
std::string messageOfWrongUse(Function function) {
  try {
    function();
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.code, 2);
    return failure.what();
  }
  return "";
}

TEST(CommandLine, IntegersAreDecimalAndInRange) {
  EXPECT_EQ(parseInteger("--n", "0", 0, 9), 0);
  EXPECT_EQ(parseInteger("--n", "-3", -5, 9), -3);
  EXPECT_EQ(parseInteger("--n", "9223372036854775807", 0, INT64_MAX),
            INT64_MAX);
  for (const char *text : {"", " 1", "1 ", "+1", "0x1", "1.0", "1k", "10", "-1",
                           "9223372036854775808", "99999999999999999999"})
    EXPECT_EQ(messageOfWrongUse([&] { parseInteger("--n", text, 0, 9); }),
              "--n: expected an integer from 0 to 9, got \"" +
                  std::string(text) + "\"");
}

TEST(CommandLine, ListsHaveNoHolesAndNoRepeats) {
  EXPECT_EQ(parseList("--l", "a"), std::vector<std::string>{"a"});
  EXPECT_EQ(parseIntegers("--l", "1,20,3", 1, 20),
            (std::vector<int64_t>{1, 20, 3}));
  for (const char *text : {"", ",", "a,", ",a", "a,,b"})
    EXPECT_EQ(messageOfWrongUse([&] { parseList("--l", text); }),
              "--l: expected a list with commas and no empty item, got \"" +
                  std::string(text) + "\"");
  EXPECT_EQ(messageOfWrongUse([&] { parseList("--l", "a,b,a"); }),
            "--l: expected each item once, got \"a\" twice");
}

TEST(CommandLine, NamesAreListed) {
  EXPECT_EQ(parseName("--to", "json", {"json", "mlir"}), "json");
  EXPECT_EQ(
      messageOfWrongUse([&] { parseName("--to", "yaml", {"json", "mlir"}); }),
      "--to: expected one of json, mlir; got \"yaml\"");
}

TEST(CommandLine, Devices) {
  for (const char *text : {"host", "sim", "cuda", "cuda:0", "cuda:15"})
    EXPECT_EQ(parseDevice(text), text);
  for (const char *text :
       {"", "Host", "cuda:", "cuda:x", "cuda:-1", "cuda:12345", "host:0"})
    EXPECT_NE(messageOfWrongUse([&] { parseDevice(text); }), "");
}

TEST(CommandLine, TextFromOutsideStaysOnOneLine) {
  EXPECT_EQ(inQuotes("a\nb\x7f"), "\"a\\x0ab\\x7f\"");
  EXPECT_EQ(inQuotes("\xc3\xa9"), "\"\xc3\xa9\"");
  EXPECT_EQ(inQuotes(std::string(500, 'x')),
            "\"" + std::string(160, 'x') + "..\"");
}

} // namespace
