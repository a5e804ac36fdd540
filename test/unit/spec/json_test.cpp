//===- json_test.cpp - Strict JSON ----------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "SpecText.h"
#include "kvc/Spec/Json.h"

#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::spec;

namespace {

struct BadText {
  const char *name; ///< RULE_WhatIsWrong.
  std::string text;
  const char *path;
  const char *fragment;
};

std::ostream &operator<<(std::ostream &os, const BadText &bad) {
  return os << bad.name;
}

class BadTextTest : public testing::TestWithParam<BadText> {};

TEST_P(BadTextTest, IsRefused) {
  const BadText &bad = GetParam();
  test::expectRefused(bad.name, bad.text, bad.path, bad.fragment);
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

/// The base spec as text with `from` replaced once.
std::string replaced(std::string_view from, std::string_view to) {
  std::string text = test::baseSpec().dump();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Of the list that is one level too deep.
const std::string kDeepPath = [] {
  std::string path = "$.kvc";
  for (int i = 0; i < 63; ++i)
    path += "[0]";
  return path;
}();

const BadText kBadTexts[] = {
    {"J1_Utf8Mark", "\xEF\xBB\xBF" + test::baseSpec().dump(), "$",
     "byte-order mark"},
    {"J1_Utf16Mark", std::string("\xFE\xFF\0{", 4), "$", "byte-order mark"},
    {"J2_Empty", "", "$", "got the end of the text"},
    {"J2_Blank", " \n\t", "$", "got the end of the text"},
    {"J2_Truncated", R"({"kvc": 1, "attention": {"q_heads": 3)", "$.attention",
     "got the end of the text"},
    {"J2_TrailingComma", R"({"kvc": 1,})", "$", "line 1, column 11"},
    {"J2_TrailingCommaInList", R"({"kvc": [1,]})", "$.kvc[1]", "not JSON"},
    {"J2_Comment", "{\"kvc\": 1 // version\n}", "$", "not JSON"},
    {"J2_SingleQuotes", "{'kvc': 1}", "$", "not JSON"},
    {"J2_BareWord", R"({"kvc": yes})", "$.kvc", "got \"yes\""},
    {"J2_LeadingZero", R"({"kvc": 01})", "$", "not JSON"},
    {"J2_LeadingPlus", R"({"kvc": +1})", "$.kvc", "not JSON"},
    {"J2_LoneMinus", R"({"kvc": -})", "$.kvc", "expected digit after '-', got"},
    {"J2_HexNumber", R"({"kvc": 0x1})", "$", "not JSON"},
    {"J2_Control", "{\"kvc\": 1, \"name\": \"a\nb\"}", "$.name", "not JSON"},
    {"J2_LoneSurrogate", R"({"kvc": 1, "name": "\ud800"})", "$.name",
     "not JSON"},
    {"J2_InvalidUtf8", "{\"kvc\": 1, \"name\": \"\xC3\x28\"}", "$.name",
     "not JSON"},
    {"J2_ZeroByteAtEnd", test::baseSpec().dump() + std::string(1, '\0') + "{}",
     "$", "zero byte"},
    {"J3_NaN", replaced("128", "128, \"softcap\": NaN"), "$.attention.softcap",
     "got NaN"},
    {"J3_Infinity", replaced("128", "128, \"softcap\": -Infinity"),
     "$.attention.softcap", "got -Infinity"},
    {"J3_Overflow", replaced("128", "128, \"softcap\": 1e999"),
     "$.attention.softcap", "got 1e999"},
    {"J4_SixtyFiveLists", "{\"kvc\":" + nested(64) + "}", kDeepPath.c_str(),
     "at most 64"},
    {"J5_RepeatedKey", replaced("{\"attention\"", "{\"kvc\":1,\"attention\""),
     "$.kvc", "repeated key"},
    {"J5_RepeatedEscapedKey",
     replaced("\"query\":\"f16\"", "\"query\":\"f16\",\"qu\\u0065ry\":\"f16\""),
     "$.io.query", "repeated key"},
    {"J5_RepeatedUnknownKey", R"({"a b": 1, "a b": 2})", "$[\"a b\"]",
     "repeated key"},
    {"J6_SecondDocument", test::baseSpec().dump() + " {}", "$",
     "text after the document"},
    {"J6_TrailingText", test::baseSpec().dump() + "\n;", "$", "got \";\""},
    {"J7_Null", replaced("\"f16\"}", "null}"), "$.io.query", "got null"},
    {"J7_NullDocument", "null", "$", "got null"},
    {"J7_NullInList", R"({"kvc": [1, null]})", "$.kvc[1]", "got null"},
    {"J8_TopLevel", replaced("\"name\"", "\"naem\""), "$.naem",
     "did you mean \"name\"?"},
    {"J8_OddKey", replaced("\"name\"", "\"\\u0007\""), "$[\"\\x07\"]",
     "unknown key"},
    {"J10_ListDocument", "[]", "$", "expected an object, got a list of 0"},
    {"J10_NumberDocument", "17", "$", "expected an object, got 17"},
    {"J10_VersionTrue", replaced("\"kvc\":1", "\"kvc\":true"), "$.kvc",
     "wrong type, expected 1, got true"},
    {"J11_Version0", replaced("\"kvc\":1", "\"kvc\":0"), "$.kvc",
     "expected 1, got 0"},
    {"J11_Version2", replaced("\"kvc\":1", "\"kvc\":2"), "$.kvc",
     "expected 1, got 2"},
    {"J11_VersionBeyond64Bits",
     replaced("\"kvc\":1", "\"kvc\":99999999999999999999"), "$.kvc",
     "got 99999999999999999999"},
};

INSTANTIATE_TEST_SUITE_P(Rule, BadTextTest, testing::ValuesIn(kBadTexts),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST(JsonTest, SixtyFourLevelsAreRead) {
  EXPECT_TRUE(readJson(nested(64)));
  EXPECT_FALSE(readJson(nested(65)));
}

TEST(JsonTest, DeepNestingNeedsNoStack) {
  EXPECT_FALSE(parseSpec(std::string(10'000'000, '[')));
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i)
    objects += "{\"a\":";
  EXPECT_FALSE(parseSpec(objects));
}

TEST(JsonTest, ManyKeysTakeNoQuadraticTime) {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i)
    text += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
  Expected<Spec> spec = parseSpec(text + "}");
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().rule, "J8");
}

TEST(JsonTest, LongTextIsShortenedInMessages) {
  std::string text = "{\"" + std::string(1'000'000, 'x') + "\": 1}";
  Expected<Spec> spec = parseSpec(text);
  ASSERT_FALSE(spec);
  EXPECT_LT(spec.error().str().size(), 500u);
}

TEST(JsonTest, EveryPrefixIsAnErrorWithAPath) {
  std::string text = test::baseSpec().dump(1);
  ASSERT_TRUE(parseSpec(text));
  for (size_t size = 0; size < text.size(); ++size) {
    Expected<Spec> spec = parseSpec(std::string_view(text).substr(0, size));
    ASSERT_FALSE(spec) << size;
    EXPECT_EQ(spec.error().path.front(), '$');
    EXPECT_EQ(spec.error().rule, "J2") << spec.error().str();
  }
}

TEST(JsonTest, IntegersAndNumbersAreTold) {
  Expected<JsonValue> list =
      readJson("[4, 4.0, 4e0, -1, 9223372036854775807, 9223372036854775808, "
               "-9223372036854775809]");
  ASSERT_TRUE(list);
  using Kind = JsonValue::Kind;
  const Kind kinds[] = {Kind::Integer, Kind::Number,  Kind::Number,
                        Kind::Integer, Kind::Integer, Kind::Integer,
                        Kind::Integer};
  const bool fits[] = {true, true, true, true, true, false, false};
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(list->items[i].kind, kinds[i]) << i;
    EXPECT_EQ(list->items[i].fits, fits[i]) << i;
  }
}

} // namespace
