//===- Symbols.cpp - The names of a module --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/Symbols.h"

using namespace kvc::sim;

Expected<Symbols> Symbols::of(const Module &module) {
  Symbols symbols;
  symbols.of_ = &module;
  Diagnosis diagnosis;
  if (!symbols.build(diagnosis))
    return *diagnosis.error;
  return symbols;
}

std::optional<uint32_t> Symbols::variableNamed(std::string_view name) const {
  auto found = variablesByName.find(name);
  if (found == variablesByName.end())
    return std::nullopt;
  return found->second;
}

std::optional<uint32_t> Symbols::functionNamed(std::string_view name) const {
  auto found = functionsByName.find(name);
  if (found == functionsByName.end())
    return std::nullopt;
  return found->second;
}

uint32_t Symbols::indexOf(const Variable &variable) const {
  return indices.at(&variable);
}

bool Symbols::add(const Variable &variable, Diagnosis &diagnosis) {
  const auto index = static_cast<uint32_t>(variables.size());
  indices.emplace(&variable, index);
  variables.push_back({&variable});
  if (variable.space != Space::Const)
    return true;
  const uint64_t offset =
      (constBytes + variable.align - 1) / variable.align * variable.align;
  variables.back().constOffset = offset;
  constBytes = offset + variable.bytes;
  if (constBytes > kMaxConstBytes)
    return diagnosis.fail(variable.name.at, ".const",
                          "at most " + std::to_string(kMaxConstBytes) +
                              " bytes in a module",
                          std::to_string(constBytes));
  return true;
}

bool Symbols::build(Diagnosis &diagnosis) {
  for (const Variable &variable : of_->variables) {
    if (!add(variable, diagnosis))
      return false;
    const auto index = static_cast<uint32_t>(variables.size() - 1);
    auto [entry, isNew] = variablesByName.emplace(variable.name.text, index);
    // A definition counts more than a declaration.
    if (!isNew && variable.linkage != Linkage::Extern)
      entry->second = index;
  }
  for (uint32_t i = 0; i < of_->functions.size(); ++i) {
    const Function &function = of_->functions[i];
    auto [entry, isNew] = functionsByName.emplace(function.name.text, i);
    if (!isNew && function.hasBody)
      entry->second = i;
    for (const Variable &variable : function.variables)
      if ((variable.space == Space::Global || variable.space == Space::Const) &&
          !add(variable, diagnosis))
        return false;
  }
  for (const Alias &alias : of_->aliases) {
    std::optional<uint32_t> function = functionNamed(alias.of.text);
    if (!function || !of_->functions[*function].hasBody)
      return diagnosis.fail(alias.of.at, ".alias", "a function with a body",
                            quote(alias.of.text));
    functionsByName[alias.name.text] = *function;
  }
  return checkInitial(diagnosis);
}

bool Symbols::checkInitial(Diagnosis &diagnosis) const {
  for (const ModuleVariable &entry : variables)
    for (const InitialValue &value : entry.variable->initial) {
      if (value.symbol.text.empty())
        continue;
      std::optional<uint32_t> variable = variableNamed(value.symbol.text);
      const bool isAddress =
          variable && (variables[*variable].variable->space == Space::Global ||
                       variables[*variable].variable->space == Space::Const);
      std::optional<uint32_t> function = functionNamed(value.symbol.text);
      if (!isAddress && !(function && of_->functions[*function].hasBody))
        return diagnosis.fail(value.symbol.at, "initial value",
                              "a variable in .global or .const, or a function "
                              "with a body",
                              quote(value.symbol.text));
    }
  return true;
}
