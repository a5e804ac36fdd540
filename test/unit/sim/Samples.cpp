//===- Samples.cpp - Instructions made from the table ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include <algorithm>

using namespace kvc;
using namespace kvc::sim;
using namespace kvc::test;

namespace {

/// Registers of each type that a form names: %f32_0, %f32_1, ..
std::string registerOf(Type type, unsigned index) {
  return "%" + std::string(nameOf(type)) + "_" + std::to_string(index);
}

constexpr unsigned kRegisters = 16;

/// The type that registers of an operand are declared with.
Type heldType(Type used) {
  if (isFundamental(used) && used != Type::F16x2)
    return used;
  return bitsType(std::max(8u, bitsOf(used)));
}

/// One way through a form's elements.
class SampleMaker {
public:
  SampleMaker(const Form &form, std::vector<const Choice *> chosen)
      : form(form), chosen(std::move(chosen)) {}

  Sample make() {
    Sample sample;
    sample.form = &form;
    sample.needs = form.since;
    sample.opcode = form.name;
    for (const Choice *choice : chosen) {
      sample.opcode += "." + std::string(choice->text);
      sample.needs.raiseTo(choice->since);
      if (choice->type != Type::None)
        types.push_back(choice->type);
    }
    std::string operands;
    for (const OperandForm &operand : form.operands) {
      const std::string text = operandText(operand);
      if (!text.empty())
        operands += (operands.empty() ? "" : ", ") + text;
    }
    sample.text = sample.opcode + (operands.empty() ? "" : " " + operands);
    return sample;
  }

private:
  bool has(std::string_view word) const {
    return std::any_of(chosen.begin(), chosen.end(), [&](const Choice *choice) {
      return choice->text == word;
    });
  }

  Type typeOf(const OperandForm &operand) const {
    Type type =
        operand.typeIndex < 0 ? operand.type : types.at(operand.typeIndex);
    return operand.isWide ? twiceAsWide(type) : type;
  }

  unsigned countOf(const OperandForm &operand) const {
    if (!operand.isVectorByWord)
      return operand.count;
    return has("v2") ? 2 : has("v4") ? 4 : has("v8") ? 8 : 0;
  }

  std::string registers(const OperandForm &operand) {
    const Type type = heldType(typeOf(operand));
    const unsigned count = countOf(operand);
    if (operand.isParts) {
      const Type part = heldType(bitsType(bitsOf(type) / 2));
      return "{" + registerOf(part, 0) + ", " + registerOf(part, 1) + "}";
    }
    if (count == 0)
      return registerOf(type, next++ % kRegisters);
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i)
      text += (i ? ", " : "") + registerOf(type, next++ % kRegisters);
    return text + "}";
  }

  std::string addressIn(const OperandForm &operand) const {
    Space space = operand.space;
    for (auto [word, named] : {std::pair{"const", Space::Const},
                               {"global", Space::Global},
                               {"local", Space::Local},
                               {"param", Space::Param},
                               {"param::entry", Space::Param},
                               {"param::func", Space::Param},
                               {"shared", Space::Shared},
                               {"shared::cta", Space::Shared},
                               {"shared::cluster", Space::Shared}})
      if (space == Space::None && has(word))
        space = named;
    switch (space) {
    case Space::Const:
      return "[constant]";
    case Space::Local:
      return "[local]";
    case Space::Shared:
      return "[shared]";
    case Space::Param:
      return has("st") || form.name == "st" ? "[argument]" : "[parameter]";
    default:
      return "[%address]";
    }
  }

  std::string integerText() const {
    if (form.name == "cp" && has("cg"))
      return "16";
    if (form.name == "cp" && has("ca"))
      return "4";
    if (form.name == "applypriority" || form.name == "discard")
      return "128";
    if (form.name == "setmaxnreg")
      return "24";
    return "1";
  }

  std::string operandText(const OperandForm &operand) {
    switch (operand.role) {
    case Role::Destination:
      return registers(operand) + (operand.takesPair ? "|%pred_0" : "");
    case Role::Source:
    case Role::RegisterSource:
      return registers(operand);
    case Role::PredicateDestination:
      return operand.takesPair ? "%pred_1|%pred_2" : "%pred_1";
    case Role::PredicateSource:
      return "!%pred_3";
    case Role::Address:
      return addressIn(operand);
    case Role::Integer:
      return integerText();
    case Role::Either:
      return operand.isOptional ? "" : "%b32_0";
    case Role::BoolOperand:
      return has("and") || has("or") || has("xor") ? "!%pred_4" : "";
    case Role::Sink:
      return "_";
    case Role::CachePolicy:
      return has("L2::cache_hint") ? "%policy" : "";
    default:
      return "";
    }
  }

  const Form &form;
  std::vector<const Choice *> chosen;
  std::vector<Type> types;
  unsigned next = 0;
};

} // namespace

std::vector<Sample> kvc::test::allSamples() {
  std::vector<Sample> samples;
  for (const Form &form : allForms()) {
    if (!form.operands.empty() && form.operands[0].role == Role::Special)
      continue;
    std::vector<const Choice *> least;
    for (const Element &element : form.elements)
      if (!element.isOptional)
        least.push_back(&element.choices[0]);
    samples.push_back(SampleMaker(form, least).make());
    for (const Element &varied : form.elements)
      for (const Choice &choice : varied.choices) {
        std::vector<const Choice *> chosen;
        for (const Element &element : form.elements)
          if (&element == &varied)
            chosen.push_back(&choice);
          else if (!element.isOptional)
            chosen.push_back(&element.choices[0]);
        if (chosen != least)
          samples.push_back(SampleMaker(form, chosen).make());
      }
  }
  return samples;
}

std::string kvc::test::sampleVariables() {
  return ".global .align 16 .b8 global[64];\n"
         ".const .align 16 .b8 constant[64];\n"
         ".shared .align 16 .b8 shared[64];\n";
}

std::string kvc::test::sampleDeclarations(unsigned version) {
  std::string text = ".local .align 16 .b8 local[64];\n"
                     ".param .align 16 .b8 argument[64];\n"
                     ".reg .b64 %address, %policy;\n";
  for (Type type :
       {Type::Pred, Type::B8, Type::B16, Type::B32, Type::B64, Type::B128,
        Type::U8, Type::U16, Type::U32, Type::U64, Type::S8, Type::S16,
        Type::S32, Type::S64, Type::F16, Type::F32, Type::F64})
    if (type != Type::B128 || version >= 83)
      text += ".reg ." + std::string(nameOf(type)) + " %" +
              std::string(nameOf(type)) + "_<" + std::to_string(kRegisters) +
              ">;\n";
  return text;
}
