//===- Table.h - What PTX the machine knows ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Instructions.def read once into forms, and opcodes matched against them. A
// word that no form has in its place is an error.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_INSTRUCTIONS_TABLE_H
#define KVC_SIM_INSTRUCTIONS_TABLE_H

#include "kvc/Sim/Syntax/Syntax.h"

#include <array>
#include <span>
#include <string>

namespace kvc::sim {

/// An operation, as a handler executes it.
enum class Family : uint8_t {
#define KVC_SIM_FAMILY(id, traits) id,
#include "kvc/Sim/Instructions/Families.def"
#undef KVC_SIM_FAMILY
};
std::string_view nameOf(Family family);
inline constexpr size_t kFamilies = 0
#define KVC_SIM_FAMILY(id, traits) +1
#include "kvc/Sim/Instructions/Families.def"
#undef KVC_SIM_FAMILY
    ;

/// What observers want to know of a family.
enum FamilyTraits : uint8_t {
  kNoTraits = 0,
  kTogether = 1,  ///< Runs when its lanes have all come: Observer::onWarpSync.
  kEffect = 2,    ///< Does more than to set registers of its own lane.
  kElsewhere = 4, ///< Its operands lead to memory or to other instructions.
  kDecides = 8    ///< Some say where it goes, what it touches, who takes part.
};
inline constexpr uint8_t kFamilyTraits[] = {
#define KVC_SIM_FAMILY(id, traits) traits,
#include "kvc/Sim/Instructions/Families.def"
#undef KVC_SIM_FAMILY
};
constexpr bool hasTrait(Family family, FamilyTraits trait) {
  return (kFamilyTraits[size_t(family)] & trait) != 0;
}

/// What an instruction counts as.
enum class Class : uint8_t {
  Move,
  Alu,
  Fma,
  Half,
  Fp64,
  Sfu,
  Convert,
  Exchange,
  Matrix,
  Mma,
  Memory,
  Atomic,
  Async,
  Barrier,
  Control
};
std::string_view nameOf(Class kind);
inline constexpr size_t kClasses = 15;

/// A modifier that is no type.
enum class Word : uint8_t {
  None,
#define KVC_SIM_WORD(id, text) id,
#include "kvc/Sim/Instructions/Words.def"
#undef KVC_SIM_WORD
};
std::string_view nameOf(Word word);
std::optional<Word> wordNamed(std::string_view name);

/// The least version and architecture for something.
struct Requirement {
  unsigned version = 0; ///< 78 is PTX 7.8.
  unsigned sm = 0;
  bool specific = false; ///< Of one architecture: sm_90a.

  bool isMetBy(const Target &target) const;
  void raiseTo(const Requirement &other);
  /// "PTX 7.8 and sm_90"; empty where nothing is required.
  std::string str() const;
  bool operator==(const Requirement &) const = default;
};

/// Reads "78/90a", as the .def files write it; "" is nothing.
Requirement requirementOf(std::string_view text);

/// One word that may stand in some place of an opcode.
struct Choice {
  std::string_view text;
  Word word = Word::None; ///< Or a type:
  Type type = Type::None;
  Requirement since;
};

struct Element {
  std::vector<Choice> choices;
  bool isOptional = false;
};

enum class Role : uint8_t {
  Destination,
  Source,
  RegisterSource,
  PredicateDestination,
  PredicateSource,
  Address,
  Integer,
  Either,      ///< Register, constant or predicate.
  BoolOperand, ///< There if a word is and, or, xor.
  CachePolicy, ///< There if a word is L2::cache_hint.
  Sink,        ///< Written as `_`.
  CarryOut,    ///< Not written.
  CarryIn,     ///< Not written.
  Special      ///< The decoder's own.
};

struct Modifiers;

struct OperandForm {
  Role role = Role::Source;
  unsigned count = 0;          ///< Of a vector; 0: no vector.
  bool isVectorByWord = false; ///< A vector of as many as v2, v4, v8 say.
  bool isParts = false;        ///< A vector that holds the type's bits.
  int typeIndex = -1;          ///< Of the opcode's types; -1: `type`.
  bool isWide = false;         ///< Twice the bits of that type.
  Type type = Type::None;
  Space space = Space::None; ///< Of an address, if not by a word.
  bool isOptional = false, takesWider = false, takesSink = false;
  bool takesPair = false, needsPair = false;
  bool takesSpecial = false, takesSymbol = false;
  std::vector<int64_t> integers; ///< That an Integer may be,
  bool isRange = false;          ///< or the first and last of them.

  /// Whether it stands in the text, where not optional.
  bool isWritten(const Modifiers &modifiers) const;
};

struct Form {
  Family family;
  Class kind;
  std::string_view name;
  std::string_view modifiers; ///< As Instructions.def has them.
  std::vector<Element> elements;
  std::vector<OperandForm> operands;
  Requirement since;
};

/// All forms, in the order of Instructions.def.
std::span<const Form> allForms();

/// The modifiers of one instruction.
struct Modifiers {
  const Form *form = nullptr;
  std::vector<Word> words; ///< In order, without types.
  std::array<Type, 4> types{};
  unsigned typeCount = 0;

  bool has(Word word) const;
  /// The first of the words that is one of `choices`, or None.
  Word firstOf(std::initializer_list<Word> choices) const;
  /// Elements of a vector: 1, 2, 4 or 8.
  unsigned vector() const;
};

struct Match {
  Modifiers modifiers;
  Requirement needs;
  uint32_t needsAt = 0; ///< Column of the word that needs most, from 0.
};

/// Finds the forms of an opcode with its modifiers: one or more, which differ
/// in their operands.
Expected<std::vector<Match>> matchOpcode(std::string_view opcode, Position at);

/// Fails where `target` is too old for the match of `opcode`, which stands at
/// `at`.
std::optional<Error> checkTarget(const Match &match, std::string_view opcode,
                                 Position at, const Target &target);

} // namespace kvc::sim

#endif // KVC_SIM_INSTRUCTIONS_TABLE_H
