//===- ParserState.h - The parser's inside ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A recursive descent over one token at a time. Every function that reads
// something returns false once there is an error; then nothing is read any
// more.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_SYNTAX_PARSERSTATE_H
#define KVC_SIM_SYNTAX_PARSERSTATE_H

#include "kvc/Sim/Syntax/Lexer.h"
#include "kvc/Sim/Syntax/Parser.h"

#include <unordered_map>

namespace kvc::sim {

class Parser {
public:
  Parser(std::string_view text, Module &module) : lexer(text), module(module) {}

  /// Reads the whole text.
  bool run();

  Diagnosis diagnosis;

private:
  // Tokens.
  bool advance();
  Token peek() const;
  bool take(std::string_view punctuation, std::string_view what);
  bool fail(std::string_view what, std::string_view expected) {
    return diagnosis.fail(token.at, what, expected, token.str());
  }
  bool readName(std::string_view what, Name &name);
  /// A literal, or an expression in parentheses.
  bool readInteger(std::string_view what, uint64_t low, uint64_t high,
                   uint64_t &value);
  /// Any expression.
  bool readExtent(std::string_view what, uint64_t &value);
  bool checkInteger(Position at, std::string_view what, uint64_t low,
                    uint64_t high, const Constant &constant, uint64_t &value);

  // Parser.cpp: the module.
  bool readHeader();
  bool readVersion();
  bool readTarget();
  bool readModuleItem();
  bool readFile();
  bool readSection();
  bool readAlias();
  bool readPragma();
  bool readFunction(Linkage linkage);
  bool readHints(Function &function);
  bool readThreads(std::string_view what, unsigned (&threads)[3]);
  bool declare(const Name &name, bool isDefinition);

  // ParseVariables.cpp.
  bool readVariables(Space space, Linkage linkage,
                     std::vector<Variable> &variables);
  bool readVariableType(Variable &variable);
  bool readAttribute();
  bool readVariableName(Variable &variable);
  bool readExtents(Variable &variable);
  bool readInitialiser(Variable &variable);
  bool readInitialList(Variable &variable, size_t level, uint64_t first,
                       uint64_t &count);
  bool readInitialValue(Variable &variable, uint64_t element);
  bool readSymbolValue(InitialValue &value);
  bool finishVariable(Variable &variable);
  bool readParams(std::string_view what, bool isEntry,
                  std::vector<Variable> &params);
  bool readParam(bool isEntry, Variable &param);

  // ParseStatements.cpp.
  bool readBody(Function &function);
  bool readStatement(Function &function);
  bool readLabel(Function &function);
  bool readTargetList(Function &function, const Name &label);
  bool readLocation();
  bool readInstruction(Function &function);
  bool readOperand(Function &function, bool isCall, Operand &operand);
  bool readWordOperand(Function &function, Operand &operand);
  bool readAddress(Function &function, Operand &operand);
  bool readChildren(Function &function, std::string_view what,
                    std::string_view end, Operand &operand);
  void addChildren(Function &function, const std::vector<Operand> &children,
                   Operand &operand);

  // ParseExpressions.cpp.
  bool readConstant(Constant &value);
  bool readOffset(std::string_view what, int64_t &offset);
  bool readBinary(int level, Constant &value);
  bool readUnary(Constant &value);
  bool readPrimary(Constant &value);
  bool applyUnary(const Token &op, Constant &value);
  bool applyBinary(const Token &op, const Constant &right, Constant &value);

  Lexer lexer;
  Token token; ///< The one that is not read yet.
  Module &module;
  std::unordered_map<std::string_view, bool> names; ///< Defined, or declared.
  unsigned depth = 0;                               ///< Of open blocks.
  unsigned nesting = 0;                             ///< Of an expression.
  uint32_t location = 0; ///< 1 + index of the last .loc of this function.
};

} // namespace kvc::sim

#endif // KVC_SIM_SYNTAX_PARSERSTATE_H
