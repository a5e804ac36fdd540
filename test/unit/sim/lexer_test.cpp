//===- lexer_test.cpp - A module's text as tokens -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/Lexer.h"

#include <gtest/gtest.h>
#include <vector>

using namespace kvc::sim;

namespace {

using Kind = Token::Kind;

std::vector<Token> tokensOf(std::string_view text, Diagnosis &diagnosis) {
  Lexer lexer(text);
  std::vector<Token> tokens;
  for (;;) {
    tokens.push_back(lexer.next(diagnosis));
    if (tokens.back().kind == Kind::End || tokens.back().kind == Kind::Invalid)
      return tokens;
  }
}

/// The tokens' texts with blanks between.
std::string split(std::string_view text) {
  Diagnosis diagnosis;
  std::string line;
  for (const Token &token : tokensOf(text, diagnosis))
    line += (line.empty() ? "" : " ") + std::string(token.text);
  EXPECT_FALSE(diagnosis.failed()) << diagnosis.error->str();
  return line.substr(0, line.size() - 1);
}

TEST(LexerTest, AWordTakesInItsModifiers) {
  EXPECT_EQ(split("ld.global.L2::128B.v4.f32 {%f1,%f2}"),
            "ld.global.L2::128B.v4.f32 { %f1 , %f2 }");
  EXPECT_EQ(split("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                  "bytes [%r1]"),
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[ %r1 ]");
  EXPECT_EQ(split("mov.u32 %r1, %tid.x;"), "mov.u32 %r1 , %tid.x ;");
  EXPECT_EQ(split("$L__BB0_2: ret;"), "$L__BB0_2 : ret ;");
}

TEST(LexerTest, ADirectiveIsOneName) {
  EXPECT_EQ(split(".reg.b32 %r<10>;"), ".reg .b32 %r < 10 > ;");
  EXPECT_EQ(split(".visible.entry k()"), ".visible .entry k ( )");
}

TEST(LexerTest, NumbersEndWhereTheyMust) {
  EXPECT_EQ(split("[%rd1+-4] 0x1e+4 1e+4 1.5E-3,0."),
            "[ %rd1 + - 4 ] 0x1e + 4 1e+4 1.5E-3 , 0.");
  EXPECT_EQ(split("0f3F800000,0d3FF0000000000000 5%3 5 %r3"),
            "0f3F800000 , 0d3FF0000000000000 5 %3 5 %r3");
  EXPECT_EQ(split("5 % 3"), "5 % 3");
}

TEST(LexerTest, TwoCharacterOperators) {
  EXPECT_EQ(split("1<<2>=3&&4!=5||!6"), "1 << 2 >= 3 && 4 != 5 || ! 6");
}

TEST(LexerTest, CommentsAndBlanksSeparate) {
  EXPECT_EQ(split("a//x\nb/*y\n*/c /* d */\te\r\n/**/f"), "a b c e f");
}

TEST(LexerTest, PlacesCountFromOne) {
  Diagnosis diagnosis;
  std::vector<Token> tokens =
      tokensOf("a b\n /*\n\n*/ c\n\td \"s\"", diagnosis);
  ASSERT_EQ(tokens.size(), 6u);
  EXPECT_EQ(tokens[0].at, (Position{1, 1}));
  EXPECT_EQ(tokens[1].at, (Position{1, 3}));
  EXPECT_EQ(tokens[2].at, (Position{4, 4}));
  EXPECT_EQ(tokens[3].at, (Position{5, 2}));
  EXPECT_EQ(tokens[4].at, (Position{5, 4}));
  EXPECT_EQ(tokens[4].text, "s");
  EXPECT_EQ(tokens[5].at, (Position{5, 7}));
}

TEST(LexerTest, WhatIsNoToken) {
  for (auto [text, error] :
       {std::pair<std::string_view, std::string_view>{
            "a\n  /* b", "2:3: comment: expected \"*/\" at its end, "
                         "got the end of the text"},
        {"\"abc\n\"", "1:1: string: expected a quotation "
                      "mark at its end, got the end of "
                      "the line"},
        {"\"abc", "1:1: string: expected a quotation mark "
                  "at its end, got the end of the line"},
        {"a #", "1:3: text: expected PTX, got \"#\""},
        {"\x80", "1:1: text: expected PTX, got \"\\x80\""},
        {". ", "1:1: text: expected PTX, got \".\""}}) {
    Diagnosis diagnosis;
    EXPECT_EQ(tokensOf(text, diagnosis).back().kind, Kind::Invalid) << text;
    ASSERT_TRUE(diagnosis.failed()) << text;
    EXPECT_EQ(diagnosis.error->str(), error);
  }
}

TEST(LexerTest, AZeroByteIsNoEnd) {
  Diagnosis diagnosis;
  std::vector<Token> tokens = tokensOf(std::string_view("a\0b", 3), diagnosis);
  EXPECT_EQ(tokens.back().kind, Kind::Invalid);
  EXPECT_EQ(diagnosis.error->str(), "1:2: text: expected PTX, got \"\\x00\"");
}

} // namespace
