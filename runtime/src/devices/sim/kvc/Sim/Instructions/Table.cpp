//===- Table.cpp - Reading the data of Instructions.def -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Instructions/Table.h"

#include <algorithm>
#include <charconv>
#include <iterator>

using namespace kvc::sim;

namespace {

struct Row {
  Family family;
  Class kind;
  std::string_view name, modifiers, operands, since;
};

constexpr Row kRows[] = {
#define KVC_SIM_FORM(family, kind, name, modifiers, operands, since)           \
  {Family::family, Class::kind, name, modifiers, operands, since},
#include "kvc/Sim/Instructions/Instructions.def"
#undef KVC_SIM_FORM
};

constexpr std::string_view kWords[] = {
    "",
#define KVC_SIM_WORD(id, text) text,
#include "kvc/Sim/Instructions/Words.def"
#undef KVC_SIM_WORD
};

/// Lists that many forms share.
constexpr std::pair<std::string_view, std::string_view> kSets[] = {
    {"$int", "u16,s16,u32,s32,u64,s64"},
    {"$mem", "b8,b16,b32,b64,b128@83/70,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64"},
    {"$mem84",
     "b8,b16,b32,b64,b128@84/70,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64"},
    {"$rnd", "rn,rz,rm,rp"},
    {"$irnd", "rni,rzi,rmi,rpi"},
    {"$cmp", "eq,ne,lt,le,gt,ge"},
    {"$fcmp", "equ,neu,ltu,leu,gtu,geu,num,nan"},
    {"$space", "const,global,local,param,param::entry@83/0,param::func@83/0,"
               "shared,shared::cta@78/30,shared::cluster@78/90"},
    {"$stspace", "global,local,param,param::func@83/0,shared,"
                 "shared::cta@78/30,shared::cluster@78/90"},
    {"$syncspace", "global,shared,shared::cta@78/30,shared::cluster@78/90"},
    {"$atomspace", "global,shared,shared::cta@78/30,shared::cluster@78/90"},
    {"$cvtaspace", "const@31/0,global,local,shared,shared::cta@78/30,"
                   "shared::cluster@78/90,param@77/70,param::entry@83/70"},
    {"$ldcop", "ca,cg,cs,lu,cv"},
    {"$stcop", "wb,cg,cs,wt"},
    {"$l1", "L1::evict_normal@74/70,L1::evict_unchanged@74/70,"
            "L1::evict_first@74/70,L1::evict_last@74/70,"
            "L1::no_allocate@74/70"},
    {"$prefetch", "L2::64B@74/75,L2::128B@74/75,L2::256B@74/80"},
    {"$scope", "cta,cluster@78/90,gpu,sys"},
    {"$sem", "relaxed@60/70,acquire@60/70,release@60/70,acq_rel@60/70"},
    {"$policy", "L2::evict_last,L2::evict_normal,L2::evict_first,"
                "L2::evict_unchanged"},
    {"$policy2", "L2::evict_first,L2::evict_unchanged"},
};

/// Calls `each` with the parts of `text` between signs `between`.
template <typename Each>
void split(std::string_view text, char between, Each each) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(between), text.size());
    if (end > 0)
      each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void addChoices(std::string_view list, std::vector<Choice> &choices) {
  split(list, ',', [&](std::string_view item) {
    if (item.starts_with('$')) {
      for (auto [name, words] : kSets)
        if (name == item)
          addChoices(words, choices);
      return;
    }
    Choice choice;
    const size_t end = std::min(item.find('@'), item.size());
    choice.text = item.substr(0, end);
    choice.since = requirementOf(item.substr(std::min(end + 1, item.size())));
    choice.type = typeNamed(choice.text).value_or(Type::None);
    if (choice.type == Type::None)
      choice.word = wordNamed(choice.text).value_or(Word::None);
    choices.push_back(choice);
  });
}

Role roleNamed(std::string_view name) {
  static constexpr std::pair<std::string_view, Role> roles[] = {
      {"d", Role::Destination},
      {"s", Role::Source},
      {"r", Role::RegisterSource},
      {"p", Role::PredicateDestination},
      {"n", Role::PredicateSource},
      {"m", Role::Address},
      {"i", Role::Integer},
      {"x", Role::Either},
      {"b", Role::BoolOperand},
      {"h", Role::CachePolicy},
      {"_", Role::Sink},
      {"Co", Role::CarryOut},
      {"Ci", Role::CarryIn},
      {"*", Role::Special}};
  for (auto [text, role] : roles)
    if (text == name)
      return role;
  return Role::Special;
}

/// "d{2}.b32", "s.w0~%", "m:shared"
OperandForm operandForm(std::string_view text) {
  OperandForm form;
  constexpr std::string_view marks = "?~_|+%&";
  size_t end = std::min(text.find_first_of("{.:=?~_|+%&", 1), text.size());
  form.role = roleNamed(text.substr(0, end));
  text.remove_prefix(end);
  auto take = [&](size_t count) {
    std::string_view part = text.substr(0, count);
    text.remove_prefix(count);
    return part;
  };
  if (text.starts_with('{')) {
    const std::string_view count = take(text.find('}') + 1);
    form.isVectorByWord = count == "{v}";
    form.isParts = count == "{*}";
    if (!form.isVectorByWord && !form.isParts)
      std::from_chars(count.data() + 1, count.data() + count.size(),
                      form.count);
  }
  if (text.starts_with(':')) {
    const std::string_view space = take(text.size());
    form.space = space == ":shared" ? Space::Shared : Space::Global;
  }
  if (text.starts_with('.')) {
    take(1);
    const std::string_view type =
        take(std::min(text.find_first_of(marks), text.size()));
    const std::string_view digit = type.substr(type.starts_with('w'));
    form.isWide = type.starts_with('w');
    if (digit[0] >= '0' && digit[0] <= '9')
      form.typeIndex = digit[0] - '0';
    else
      form.type = typeNamed(type).value_or(Type::None);
  }
  if (text.starts_with('=')) {
    std::string_view list = take(text.size()).substr(1);
    form.isRange = list.find("..") != std::string_view::npos;
    split(list, form.isRange ? '.' : ',', [&](std::string_view item) {
      std::from_chars(item.data(), item.data() + item.size(),
                      form.integers.emplace_back());
    });
  }
  for (char mark : text) {
    form.isOptional |= mark == '?';
    form.takesWider |= mark == '~';
    form.takesSink |= mark == '_';
    form.takesPair |= mark == '|' || mark == '+';
    form.needsPair |= mark == '+';
    form.takesSpecial |= mark == '%';
    form.takesSymbol |= mark == '&';
  }
  return form;
}

Form formOf(const Row &row) {
  Form form{row.family,
            row.kind,
            row.name,
            row.modifiers,
            {},
            {},
            requirementOf(row.since)};
  split(row.modifiers, ' ', [&](std::string_view text) {
    Element element;
    element.isOptional = text.ends_with('?');
    text.remove_suffix(element.isOptional);
    addChoices(text, element.choices);
    form.elements.push_back(std::move(element));
  });
  split(row.operands, ' ', [&](std::string_view text) {
    form.operands.push_back(operandForm(text));
  });
  return form;
}

} // namespace

std::string_view kvc::sim::nameOf(Family family) {
  static constexpr std::string_view names[] = {
#define KVC_SIM_FAMILY(id, traits) #id,
#include "kvc/Sim/Instructions/Families.def"
#undef KVC_SIM_FAMILY
  };
  return names[static_cast<size_t>(family)];
}

std::string_view kvc::sim::nameOf(Class kind) {
  static constexpr std::string_view names[] = {
      "move",   "alu",    "fma",      "half",    "f64",
      "sfu",    "cvt",    "exchange", "matrix",  "mma",
      "memory", "atomic", "async",    "barrier", "control"};
  static_assert(std::size(names) == kClasses);
  return names[static_cast<size_t>(kind)];
}

std::string_view kvc::sim::nameOf(Word word) {
  return kWords[static_cast<size_t>(word)];
}

std::optional<Word> kvc::sim::wordNamed(std::string_view name) {
  const auto *found = std::find(std::begin(kWords) + 1, std::end(kWords), name);
  if (found == std::end(kWords))
    return std::nullopt;
  return static_cast<Word>(found - std::begin(kWords));
}

std::span<const Form> kvc::sim::allForms() {
  static const std::vector<Form> forms = [] {
    std::vector<Form> all;
    for (const Row &row : kRows)
      all.push_back(formOf(row));
    return all;
  }();
  return forms;
}

//===----------------------------------------------------------------------===//
// Requirements and modifiers
//===----------------------------------------------------------------------===//

Requirement kvc::sim::requirementOf(std::string_view text) {
  Requirement result;
  if (text.empty())
    return result;
  const char *end = text.data() + text.size();
  auto version = std::from_chars(text.data(), end, result.version);
  auto sm = std::from_chars(version.ptr + 1, end, result.sm);
  result.specific = sm.ptr != end && *sm.ptr == 'a';
  return result;
}

bool Requirement::isMetBy(const Target &target) const {
  return target.version >= version && target.sm >= sm &&
         (target.specific || !specific);
}

void Requirement::raiseTo(const Requirement &other) {
  version = std::max(version, other.version);
  sm = std::max(sm, other.sm);
  specific |= other.specific;
}

std::string Requirement::str() const {
  std::string text;
  if (version > 0)
    text = "PTX " + std::to_string(version / 10) + "." +
           std::to_string(version % 10);
  if (sm > 0)
    text += (text.empty() ? "sm_" : " and sm_") + std::to_string(sm) +
            (specific ? "a" : "");
  return text;
}

bool Modifiers::has(Word word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Word Modifiers::firstOf(std::initializer_list<Word> choices) const {
  for (Word word : words)
    if (std::find(choices.begin(), choices.end(), word) != choices.end())
      return word;
  return Word::None;
}

unsigned Modifiers::vector() const {
  return has(Word::V2) ? 2 : has(Word::V4) ? 4 : has(Word::V8) ? 8 : 1;
}

bool OperandForm::isWritten(const Modifiers &modifiers) const {
  switch (role) {
  case Role::BoolOperand:
    return modifiers.has(Word::And) || modifiers.has(Word::Or) ||
           modifiers.has(Word::Xor);
  case Role::CachePolicy:
    return modifiers.has(Word::L2CacheHint);
  case Role::CarryIn:
  case Role::CarryOut:
    return false;
  default:
    return true;
  }
}
