//===- Syntax.h - A module as it is written ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What the parser makes of a text: declarations with their sizes, and bodies
// as flat lists of statements. Names are not resolved and opcodes not looked
// up; that is the decoder's part. All views point into the text that the module
// keeps.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_SYNTAX_SYNTAX_H
#define KVC_SIM_SYNTAX_SYNTAX_H

#include "kvc/Sim/Syntax/Constant.h"

#include <memory>
#include <vector>

namespace kvc::sim {

struct Name {
  std::string_view text;
  Position at;
};

/// Versions and targets as numbers that compare: PTX 8.5 is 85.
struct Target {
  Name name;             ///< "sm_90a"
  unsigned version = 0;  ///< Of the ISA.
  unsigned sm = 0;       ///< 90
  bool specific = false; ///< With a suffix: parts of one architecture.
  std::vector<Name> options;

  /// "PTX 8.5 and sm_90a"
  std::string str() const;
};

enum class Space : uint8_t {
  None,
  Register,
  Const,
  Global,
  Local,
  Param,
  Shared
};
std::string_view nameOf(Space space);

enum class Linkage : uint8_t { None, Extern, Visible, Weak, Common };

/// One value of an initialiser. Elements that none names are zero.
struct InitialValue {
  uint64_t element = 0; ///< Flat, in elements of the variable's type.
  Constant value;       ///< Added to the symbol's address if there is one.
  Name symbol;          ///< Of a variable or function, or empty.
  bool isGeneric = false;
  uint64_t mask = 0; ///< 0xFF00(symbol): the byte that is stored; 0: all.
};

/// A variable, a parameter or registers.
struct Variable {
  Name name;
  Space space = Space::None;
  Linkage linkage = Linkage::None;
  Type type = Type::None;
  unsigned vector = 1;
  bool isRange = false;   ///< Registers %r<count>.
  uint64_t count = 0;     ///< Of a range.
  bool isUnsized = false; ///< `extern`, without a first extent.
  std::vector<uint64_t> extents;
  uint64_t elements = 1; ///< Of the type, parts of vectors counted.
  uint64_t align = 1, bytes = 0;
  std::vector<InitialValue> initial;
};

struct Operand {
  enum class Kind : uint8_t {
    Word,    ///< A register, variable, label or function: text + offset.
    Number,  ///< `constant`.
    Sink,    ///< `_`
    Vector,  ///< {a, b}: children.
    Pair,    ///< a|b: two children.
    Address, ///< [text + offset], or [constant]; children behind a comma.
    List     ///< (a, b) of a call: children.
  };

  Kind kind = Kind::Word;
  bool isNegated = false; ///< !p
  Position at;
  std::string_view text;
  Constant constant;
  int64_t offset = 0;
  bool isIndexed = false; ///< a[1]: the offset counts elements.
  uint32_t firstChild = 0, childCount = 0; ///< In Function::operands.
};

struct Instruction {
  std::string_view opcode; ///< With its modifiers.
  Position at;
  Name guard; ///< Empty: none.
  bool isGuardNegated = false;
  uint32_t firstOperand = 0, operandCount = 0;
  uint32_t location = 0; ///< 1 + index into Module::locations; 0: none.
};

struct Function;

/// `name: .branchtargets ..`, .calltargets and .callprototype.
struct TargetList {
  enum class Kind : uint8_t { Branches, Calls, Prototype };
  Kind kind;
  Name name;
  std::vector<Name> targets;
  std::vector<Variable> results, params; ///< Of a prototype.
};

struct Statement {
  enum class Kind : uint8_t {
    Open,  ///< {
    Close, ///< }
    Label,
    Declare,
    Targets,
    Instruction
  };
  Kind kind;
  uint32_t index = 0; ///< Into the function's list of its kind.
  Position at;
};

/// Limits and hints behind a function's parameters. 0: not given.
struct FunctionHints {
  unsigned maxThreads[3] = {0, 0, 0};
  unsigned requiredThreads[3] = {0, 0, 0};
  unsigned requiredCluster[3] = {0, 0, 0};
  Position requiredClusterAt;
  unsigned minBlocks = 0, maxRegisters = 0, maxClusterRank = 0;
  bool explicitCluster = false, blocksAreClusters = false, noReturn = false;
};

struct Function {
  Name name;
  Linkage linkage = Linkage::None;
  bool isEntry = false, hasBody = false;
  std::vector<Variable> results, params;
  FunctionHints hints;

  std::vector<Statement> statements;
  std::vector<Name> labels;
  std::vector<Variable> variables;
  std::vector<TargetList> targetLists;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  Position end; ///< Of the closing brace.
};

/// What .loc says of the instructions behind it.
struct SourceLocation {
  uint32_t file = 0, line = 0, column = 0;
};

struct SourceFile {
  uint32_t number;
  std::string_view path;
};

struct Alias {
  Name name, of;
};

struct Module {
  std::shared_ptr<const std::string> text;
  Target target;
  unsigned addressBits = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions; ///< Declarations without a body too.
  std::vector<Alias> aliases;
  std::vector<SourceFile> files;
  std::vector<SourceLocation> locations;
};

} // namespace kvc::sim

#endif // KVC_SIM_SYNTAX_SYNTAX_H
