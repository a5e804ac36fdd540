//===- Match.cpp - The form of an opcode ----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Instructions/Table.h"

#include <algorithm>
#include <map>

using namespace kvc::sim;

namespace {

/// PTX that the machine leaves out, by the first name of the opcode.
constexpr std::pair<std::string_view, std::string_view> kLeftOut[] = {
    {"tex", "textures"},
    {"tld4", "textures"},
    {"txq", "textures"},
    {"istypep", "textures"},
    {"suld", "surfaces"},
    {"sust", "surfaces"},
    {"sured", "surfaces"},
    {"suq", "surfaces"},
    {"wgmma", "matrices of warp groups"},
    {"tcgen05", "matrices of tensor memory"},
    {"wmma", "matrices by fragments (wmma)"},
    {"tensormap", "tensor maps"},
    {"multimem", "memory of several devices"},
    {"clusterlaunchcontrol", "control of cluster launches"},
    {"alloca", "stacks"},
    {"stacksave", "stacks"},
    {"stackrestore", "stacks"},
    {"vadd", "video"},
    {"vsub", "video"},
    {"vabsdiff", "video"},
    {"vmin", "video"},
    {"vmax", "video"},
    {"vshl", "video"},
    {"vshr", "video"},
    {"vmad", "video"},
    {"vset", "video"},
    {"vadd2", "video"},
    {"vsub2", "video"},
    {"vavrg2", "video"},
    {"vabsdiff2", "video"},
    {"vmin2", "video"},
    {"vmax2", "video"},
    {"vset2", "video"},
    {"vadd4", "video"},
    {"vsub4", "video"},
    {"vavrg4", "video"},
    {"vabsdiff4", "video"},
    {"vmin4", "video"},
    {"vmax4", "video"},
    {"vset4", "video"},
};

/// Words of an expectation that a message lists.
constexpr size_t kListed = 24;

using FormsByName = std::multimap<std::string_view, const Form *>;

const FormsByName &formsByName() {
  static const FormsByName forms = [] {
    FormsByName map;
    for (const Form &form : allForms())
      map.emplace(form.name, &form);
    return map;
  }();
  return forms;
}

/// Words whose order among each other means something.
enum class Ordered : uint8_t { Not, Type, Space, Layout };

Ordered orderedAs(const Choice &choice) {
  if (choice.type != Type::None)
    return Ordered::Type;
  switch (choice.word) {
  case Word::Global:
  case Word::Shared:
  case Word::SharedCta:
  case Word::SharedCluster:
    return Ordered::Space;
  case Word::Row:
  case Word::Col:
    return Ordered::Layout;
  default:
    return Ordered::Not;
  }
}

/// One opcode against the forms of its name. Assemblers take modifiers in any
/// order, as long as types, spaces and layouts keep theirs: a word stands for
/// the first element of the form that has it among its choices and is free.
class Matcher {
public:
  explicit Matcher(std::span<const std::string_view> words) : words(words) {}

  bool matches(const Form &form) {
    chosen.assign(form.elements.size(), {nullptr, 0});
    for (size_t word = 0; word < words.size(); ++word)
      if (!place(form, word)) {
        for (size_t i = 0; i < chosen.size(); ++i)
          if (!chosen[i].first)
            expect(word, form.elements[i]);
        return false;
      }
    for (size_t i = 0; i < chosen.size(); ++i)
      if (!chosen[i].first && !form.elements[i].isOptional) {
        expect(words.size(), form.elements[i]);
        return false;
      }
    return true;
  }

  /// What was chosen for each element of the last match, by which word.
  std::vector<std::pair<const Choice *, size_t>> chosen;
  /// The first word that no form takes, and what could stand there.
  size_t furthest = 0;
  std::vector<std::string_view> expected;

private:
  bool place(const Form &form, size_t word) {
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i].first)
        continue;
      for (const Choice &choice : form.elements[i].choices)
        if (choice.text == words[word] && !isOvertaken(choice, i)) {
          chosen[i] = {&choice, word};
          return true;
        }
    }
    reach(word);
    return false;
  }

  /// Whether an earlier word of the same kind stands for a later element.
  bool isOvertaken(const Choice &choice, size_t element) const {
    const Ordered kind = orderedAs(choice);
    if (kind == Ordered::Not)
      return false;
    for (size_t i = element + 1; i < chosen.size(); ++i)
      if (chosen[i].first && orderedAs(*chosen[i].first) == kind)
        return true;
    return false;
  }

  void reach(size_t word) {
    if (word > furthest)
      expected.clear();
    furthest = std::max(furthest, word);
  }

  void expect(size_t word, const Element &element) {
    reach(word);
    if (word < furthest)
      return;
    for (const Choice &choice : element.choices)
      if (std::find(expected.begin(), expected.end(), choice.text) ==
          expected.end())
        expected.push_back(choice.text);
  }

  std::span<const std::string_view> words;
};

Error failure(Position at, std::string_view what, std::string_view expected,
              std::string_view got) {
  Diagnosis diagnosis;
  diagnosis.fail(at, what, expected, got);
  return *diagnosis.error;
}

/// Where part `part` of an opcode begins; parts share its text.
Position placeOf(std::string_view opcode, std::string_view part, Position at) {
  at.column += static_cast<uint32_t>(part.data() - opcode.data());
  return at;
}

Error unknownName(std::string_view name, Position at) {
  for (auto [leftOut, what] : kLeftOut)
    if (leftOut == name)
      return failure(at, name, "an instruction that this machine has",
                     "one for " + std::string(what));
  return failure(at, "instruction", "PTX", quote(name));
}

/// "one of .a, .b"
std::string listOf(const std::vector<std::string_view> &words) {
  if (words.empty())
    return "no more modifiers";
  std::string list;
  for (size_t i = 0; i < std::min(words.size(), kListed); ++i)
    list += (list.empty() ? "." : ", .") + std::string(words[i]);
  if (words.size() > kListed)
    list += ", ..";
  return words.size() > 1 ? "one of " + list : list;
}

} // namespace

/// The match of `form`, whose words are at `words` of `opcode`.
static Match matchOf(const Form &form, const Matcher &matcher,
                     std::string_view opcode,
                     std::span<const std::string_view> words) {
  Match match;
  match.modifiers.form = &form;
  match.needs = form.since;
  for (auto [choice, word] : matcher.chosen) {
    if (!choice)
      continue;
    if (choice->type == Type::None)
      match.modifiers.words.push_back(choice->word);
    else
      match.modifiers.types[match.modifiers.typeCount++] = choice->type;
    const Requirement before = match.needs;
    match.needs.raiseTo(choice->since);
    if (before != match.needs)
      match.needsAt = static_cast<uint32_t>(words[word].data() - opcode.data());
  }
  return match;
}

Expected<std::vector<Match>> kvc::sim::matchOpcode(std::string_view opcode,
                                                   Position at) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin <= opcode.size();) {
    const size_t end = std::min(opcode.find('.', begin), opcode.size());
    words.push_back(opcode.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string_view name = words.front();
  auto [first, last] = formsByName().equal_range(name);
  if (first == last)
    return unknownName(name, at);

  const auto modifiers = std::span(words).subspan(1);
  Matcher matcher(modifiers);
  std::vector<Match> found;
  for (auto entry = first; entry != last; ++entry)
    if (matcher.matches(*entry->second))
      found.push_back(matchOf(*entry->second, matcher, opcode, modifiers));
  if (!found.empty())
    return found;

  const std::string what(opcode.substr(0, words[matcher.furthest].data() +
                                              words[matcher.furthest].size() -
                                              opcode.data()));
  if (matcher.furthest + 1 == words.size())
    return failure({at.line, at.column + uint32_t(opcode.size())}, what,
                   listOf(matcher.expected), "no modifier");
  const std::string_view wrong = words[matcher.furthest + 1];
  return failure(placeOf(opcode, wrong, at), what, listOf(matcher.expected),
                 quote("." + std::string(wrong)));
}

std::optional<Error> kvc::sim::checkTarget(const Match &match,
                                           std::string_view opcode, Position at,
                                           const Target &target) {
  if (match.needs.isMetBy(target))
    return std::nullopt;
  at.column += match.needsAt;
  return failure(at, opcode, match.needs.str(), target.str());
}
