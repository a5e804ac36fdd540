//===- Lexer.cpp - A module's text as tokens ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/Lexer.h"

using namespace kvc::sim;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// What may follow the first character of a name.
static bool isNamePart(char c) {
  return isLetter(c) || isDigit(c) || c == '_' || c == '$';
}

std::string Token::str() const {
  switch (kind) {
  case Kind::End:
    return "the end of the text";
  case Kind::String:
    return "the string " + quote(text);
  default:
    return quote(text);
  }
}

bool Lexer::skipBlanks(Diagnosis &diagnosis) {
  for (;;) {
    const char c = at(offset);
    if (offset >= text.size())
      return true;
    if (c == '\n') {
      lineStart = ++offset;
      ++line;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++offset;
    } else if (c == '/' && at(offset + 1) == '/') {
      while (offset < text.size() && text[offset] != '\n')
        ++offset;
    } else if (c == '/' && at(offset + 1) == '*') {
      const Position begin = here();
      const size_t end = text.find("*/", offset + 2);
      if (end == std::string_view::npos)
        return diagnosis.fail(begin, "comment", "\"*/\" at its end",
                              "the end of the text");
      for (; offset < end + 2; ++offset)
        if (text[offset] == '\n') {
          lineStart = offset + 1;
          ++line;
        }
    } else {
      return true;
    }
  }
}

/// Of a name, with all that follows behind dots and double colons.
size_t Lexer::endOfWord(size_t from) const {
  size_t end = from;
  for (;;) {
    while (isNamePart(at(end)))
      ++end;
    if (at(end) == '.' && isNamePart(at(end + 1)))
      end += 1;
    else if (at(end) == ':' && at(end + 1) == ':' && isNamePart(at(end + 2)))
      end += 2;
    else
      return end;
  }
}

/// Takes in more than a number may have, so that "12ab" is one bad token.
size_t Lexer::endOfNumber() const {
  size_t end = offset;
  const bool isPlain =
      at(end) != '0' || !isLetter(at(end + 1)) || (at(end + 1) | 0x20) == 'e';
  while (isNamePart(at(end)) || (isPlain && at(end) == '.')) {
    const bool isExponent = isPlain && (at(end) | 0x20) == 'e';
    ++end;
    if (isExponent && (at(end) == '+' || at(end) == '-') &&
        isDigit(at(end + 1)))
      ++end;
  }
  return end;
}

size_t Lexer::endOfPunctuation() const {
  static constexpr std::string_view doubles[] = {
      "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  for (std::string_view two : doubles)
    if (text.substr(offset, 2) == two)
      return offset + 2;
  static constexpr std::string_view singles = "{}()[]<>,;:=+-*/%!~&|^?@";
  return singles.find(text[offset]) == std::string_view::npos ? offset
                                                              : offset + 1;
}

Token Lexer::next(Diagnosis &diagnosis) {
  Token token;
  if (!skipBlanks(diagnosis)) {
    token.kind = Token::Kind::Invalid;
    return token;
  }
  token.at = here();
  if (offset >= text.size())
    return token;

  const char c = at(offset);
  size_t end = offset;
  if (isDigit(c) || (c == '.' && isDigit(at(offset + 1)))) {
    token.kind = Token::Kind::Number;
    end = endOfNumber();
  } else if (isLetter(c) || c == '_' || c == '$' ||
             (c == '%' && isNamePart(at(offset + 1)))) {
    token.kind = Token::Kind::Word;
    end = endOfWord(offset + 1);
  } else if (c == '.' && isNamePart(at(offset + 1))) {
    token.kind = Token::Kind::Directive;
    for (end = offset + 1; isNamePart(at(end));)
      ++end;
  } else if (c == '"') {
    token.kind = Token::Kind::String;
    end = text.find_first_of("\"\n", offset + 1);
    if (end == std::string_view::npos || text[end] == '\n') {
      diagnosis.fail(token.at, "string", "a quotation mark at its end",
                     "the end of the line");
      token.kind = Token::Kind::Invalid;
      return token;
    }
    token.text = text.substr(offset + 1, end - offset - 1);
    offset = end + 1;
    return token;
  } else {
    token.kind = Token::Kind::Punctuation;
    end = endOfPunctuation();
    if (end == offset) {
      diagnosis.fail(token.at, "text", "PTX", quote(text.substr(offset, 1)));
      token.kind = Token::Kind::Invalid;
      return token;
    }
  }
  token.text = text.substr(offset, end - offset);
  offset = end;
  return token;
}
