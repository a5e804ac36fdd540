//===- SpecialRegisters.cpp - Registers that the machine sets -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Instructions/SpecialRegisters.h"

#include <charconv>

using namespace kvc::sim;

static const std::vector<SpecialInfo> &allSpecials() {
  static const std::vector<SpecialInfo> infos = {
#define KVC_SIM_SPECIAL(id, text, type, components, changes, since)            \
  {SpecialRegister::id, text,    Type::type,                                   \
   components,          changes, requirementOf(since)},
#include "kvc/Sim/Instructions/SpecialRegisters.def"
#undef KVC_SIM_SPECIAL
  };
  return infos;
}

/// The component that `text` names behind the register's own name.
static std::optional<unsigned> componentOf(const SpecialInfo &info,
                                           std::string_view text) {
  unsigned component = 0;
  if (info.components == 4) {
    component = static_cast<unsigned>(std::string_view("xyzw").find(text[1]));
    if (text.size() != 2 || text[0] != '.' || component > 3)
      return std::nullopt;
    return component;
  }
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, component);
  if (error != std::errc() || rest != end || component >= info.components ||
      (text.size() > 1 && text[0] == '0'))
    return std::nullopt;
  return component;
}

std::optional<SpecialUse> kvc::sim::specialNamed(std::string_view name) {
  for (const SpecialInfo &info : allSpecials()) {
    if (!name.starts_with(info.name))
      continue;
    const std::string_view rest = name.substr(info.name.size());
    if (rest.empty() && info.components == 1)
      return SpecialUse{&info, 0};
    if (rest.empty() && info.components == 4)
      return SpecialUse{&info, std::nullopt};
    if (rest.empty() || info.components == 1)
      continue;
    if (std::optional<unsigned> component = componentOf(info, rest))
      return SpecialUse{&info, component};
  }
  return std::nullopt;
}

const SpecialInfo &kvc::sim::infoOf(SpecialRegister id) {
  return allSpecials()[static_cast<size_t>(id)];
}
