//===- Symbols.h - The names of a module ------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_DECODE_SYMBOLS_H
#define KVC_SIM_DECODE_SYMBOLS_H

#include "kvc/Sim/Syntax/Syntax.h"

#include <unordered_map>

namespace kvc::sim {

/// Bytes of a module's constant variables.
inline constexpr uint64_t kMaxConstBytes = 64 * 1024;

/// A variable that lives as long as its module: in .global, .const or .shared.
struct ModuleVariable {
  const Variable *variable;
  uint64_t constOffset = 0; ///< Of one in .const.
};

/// Looks up what functions and initial values refer to. Refers to the module.
class Symbols {
public:
  /// Checks that initial values and aliases name something.
  static Expected<Symbols> of(const Module &module);

  const Module &module() const { return *of_; }
  std::optional<uint32_t> variableNamed(std::string_view name) const;
  /// The definition of that name if there is one, else its declaration.
  std::optional<uint32_t> functionNamed(std::string_view name) const;
  /// Of a variable that a function declares for itself.
  uint32_t indexOf(const Variable &variable) const;

  std::vector<ModuleVariable> variables;
  uint64_t constBytes = 0;

private:
  bool build(Diagnosis &diagnosis);
  bool add(const Variable &variable, Diagnosis &diagnosis);
  bool checkInitial(Diagnosis &diagnosis) const;

  const Module *of_ = nullptr;
  std::unordered_map<std::string_view, uint32_t> variablesByName;
  std::unordered_map<std::string_view, uint32_t> functionsByName;
  std::unordered_map<const Variable *, uint32_t> indices;
};

} // namespace kvc::sim

#endif // KVC_SIM_DECODE_SYMBOLS_H
