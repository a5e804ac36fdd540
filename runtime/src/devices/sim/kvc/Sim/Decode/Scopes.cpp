//===- Scopes.cpp - Names inside of a function ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/Scopes.h"

#include <charconv>

using namespace kvc::sim;

bool Scopes::add(std::string_view name, Position at, const Symbol &symbol,
                 uint32_t scope, Diagnosis &diagnosis) {
  if (scopes[scope].names.emplace(name, symbol).second)
    return true;
  return diagnosis.fail(at, "declaration", "each name once in a block",
                        quote(name) + " again");
}

bool Scopes::build(Diagnosis &diagnosis) {
  scopes.emplace_back();
  auto params = [&](const std::vector<Variable> &variables, Symbol::Kind kind) {
    for (uint32_t i = 0; i < variables.size(); ++i)
      if (!add(variables[i].name.text, variables[i].name.at, {kind, i, 0, 0}, 0,
               diagnosis))
        return false;
    return true;
  };
  if (!params(function.results, Symbol::Kind::Result) ||
      !params(function.params, Symbol::Kind::Param))
    return false;

  uint32_t scope = 0;
  for (const Statement &statement : function.statements) {
    switch (statement.kind) {
    case Statement::Kind::Open: {
      Scope inner;
      inner.parent = scope;
      scope = static_cast<uint32_t>(scopes.size());
      scopes.push_back(std::move(inner));
      opened.push_back(scope);
      break;
    }
    case Statement::Kind::Close:
      scope = scopes[scope].parent;
      break;
    case Statement::Kind::Label:
    case Statement::Kind::Targets: {
      const bool isLabel = statement.kind == Statement::Kind::Label;
      const Name &name = isLabel ? function.labels[statement.index]
                                 : function.targetLists[statement.index].name;
      if (!add(name.text, name.at,
               {isLabel ? Symbol::Kind::Label : Symbol::Kind::Targets,
                statement.index, 0, scope},
               scope, diagnosis))
        return false;
      break;
    }
    default:
      break;
    }
  }
  return true;
}

bool Scopes::declare(uint32_t variable, Diagnosis &diagnosis) {
  const Variable &declared = function.variables[variable];
  const std::string_view name = declared.name.text;
  const Position at = declared.name.at;
  Scope &scope = scopes[current];
  if (!declared.isRange) {
    const Symbol symbol{declared.space == Space::Register
                            ? Symbol::Kind::Register
                            : Symbol::Kind::Variable,
                        variable, 0, current};
    if (findRange(scope, name).kind != Symbol::Kind::None)
      return diagnosis.fail(at, "declaration", "each name once in a block",
                            quote(name) + " again");
    return add(name, at, symbol, current, diagnosis);
  }
  if (!scope.ranges.emplace(name, variable).second)
    return diagnosis.fail(at, "declaration", "each name once in a block",
                          quote(name) + " again");
  // Single names that are of the range already.
  for (auto entry = scope.names.lower_bound(name);
       entry != scope.names.end() && entry->first.starts_with(name); ++entry)
    if (findRange(scope, entry->first).kind != Symbol::Kind::None)
      return diagnosis.fail(at, "declaration", "each name once in a block",
                            quote(entry->first) + " again");
  return true;
}

/// %r12 in a block that declares %r<20>.
Symbol Scopes::findRange(const Scope &scope, std::string_view name) const {
  if (scope.ranges.empty())
    return {};
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  // The longest name first.
  for (size_t end = name.size(); end-- > std::max<size_t>(digits, 1);) {
    auto range = scope.ranges.find(name.substr(0, end));
    if (range == scope.ranges.end())
      continue;
    uint64_t number = 0;
    const char *last = name.data() + name.size();
    auto [rest, error] = std::from_chars(name.data() + end, last, number);
    const bool isPlain = name[end] != '0' || end + 1 == name.size();
    if (error == std::errc() && rest == last && isPlain &&
        number < function.variables[range->second].count)
      return {Symbol::Kind::Register, range->second, number,
              static_cast<uint32_t>(&scope - scopes.data())};
  }
  return {};
}

Symbol Scopes::find(std::string_view name) const {
  for (uint32_t scope = current;; scope = scopes[scope].parent) {
    auto found = scopes[scope].names.find(name);
    if (found != scopes[scope].names.end())
      return found->second;
    Symbol symbol = findRange(scopes[scope], name);
    if (symbol.kind != Symbol::Kind::None || scope == 0)
      return symbol;
  }
}
