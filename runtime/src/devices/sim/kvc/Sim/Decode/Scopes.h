//===- Scopes.h - Names inside of a function --------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_DECODE_SCOPES_H
#define KVC_SIM_DECODE_SCOPES_H

#include "kvc/Sim/Syntax/Syntax.h"

#include <map>

namespace kvc::sim {

/// What a name means where it stands.
struct Symbol {
  enum class Kind : uint8_t {
    None,
    Register, ///< index: of the declaration; element: of a range.
    Variable, ///< index: of the declaration.
    Result,   ///< index: into the function's results.
    Param,    ///< index: into the function's params.
    Label,    ///< index: into the function's labels.
    Targets   ///< index: into the function's target lists.
  };
  Kind kind = Kind::None;
  uint32_t index = 0;
  uint64_t element = 0;
  uint32_t scope = 0; ///< That declares it.
};

/// The blocks of one function, each a scope of names. Labels are known in all
/// of their block, everything else from its declaration on.
class Scopes {
public:
  explicit Scopes(const Function &function) : function(function) {}

  /// Collects labels and the function's parameters.
  bool build(Diagnosis &diagnosis);

  // While statements are read in order:
  void open() { current = opened[nextOpened++]; }
  void close() { current = scopes[current].parent; }
  bool declare(uint32_t variable, Diagnosis &diagnosis);
  Symbol find(std::string_view name) const;

private:
  struct Scope {
    uint32_t parent = 0;
    std::map<std::string_view, Symbol> names;
    std::map<std::string_view, uint32_t> ranges; ///< By what they begin with.
  };

  bool add(std::string_view name, Position at, const Symbol &symbol,
           uint32_t scope, Diagnosis &diagnosis);
  Symbol findRange(const Scope &scope, std::string_view name) const;

  const Function &function;
  std::vector<Scope> scopes;
  std::vector<uint32_t> opened; ///< Scopes in the order of their braces.
  uint32_t current = 0;
  size_t nextOpened = 0;
};

} // namespace kvc::sim

#endif // KVC_SIM_DECODE_SCOPES_H
