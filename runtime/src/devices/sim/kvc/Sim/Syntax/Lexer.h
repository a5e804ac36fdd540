//===- Lexer.h - A module's text as tokens ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A word takes in what belongs to it behind dots and double colons, so that an
// opcode with its modifiers (ld.global.L2::128B.v4.f32) and a component of a
// register (%tid.x) are one token each. A directive is one dot and one name.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_SYNTAX_LEXER_H
#define KVC_SIM_SYNTAX_LEXER_H

#include "kvc/Sim/Syntax/Diagnostics.h"

namespace kvc::sim {

struct Token {
  enum class Kind : uint8_t {
    End,
    Word,      ///< foo, %r1, $L__BB0_2, add.s32
    Directive, ///< .reg; the text includes the dot
    Number,    ///< not yet looked into
    String,    ///< the text is what stands between the quotes
    Punctuation,
    Invalid ///< the lexer's error says why
  };

  Kind kind = Kind::End;
  std::string_view text;
  Position at;

  bool is(std::string_view punctuation) const {
    return kind == Kind::Punctuation && text == punctuation;
  }
  bool isDirective(std::string_view name) const {
    return kind == Kind::Directive && text == name;
  }
  /// For messages.
  std::string str() const;
};

/// Cheap to copy: a copy is a bookmark.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  /// The next token. After an Invalid one `error` says what is wrong.
  Token next(Diagnosis &diagnosis);

private:
  Position here() const {
    return {line, static_cast<uint32_t>(offset - lineStart + 1)};
  }
  char at(size_t index) const { return index < text.size() ? text[index] : 0; }
  bool skipBlanks(Diagnosis &diagnosis);
  size_t endOfWord(size_t from) const;
  size_t endOfNumber() const;
  size_t endOfPunctuation() const;

  std::string_view text;
  size_t offset = 0, lineStart = 0;
  uint32_t line = 1;
};

} // namespace kvc::sim

#endif // KVC_SIM_SYNTAX_LEXER_H
