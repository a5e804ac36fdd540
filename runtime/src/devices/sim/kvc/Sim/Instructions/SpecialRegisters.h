//===- SpecialRegisters.h - Registers that the machine sets -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_INSTRUCTIONS_SPECIALREGISTERS_H
#define KVC_SIM_INSTRUCTIONS_SPECIALREGISTERS_H

#include "kvc/Sim/Instructions/Table.h"

namespace kvc::sim {

enum class SpecialRegister : uint8_t {
#define KVC_SIM_SPECIAL(id, text, type, components, changes, since) id,
#include "kvc/Sim/Instructions/SpecialRegisters.def"
#undef KVC_SIM_SPECIAL
};

struct SpecialInfo {
  SpecialRegister id;
  std::string_view name;
  Type type;
  unsigned components; ///< 4: .x to .w; 32: a number behind the name.
  bool changes;        ///< While a thread runs.
  Requirement since;
};

/// A special register, or all components of one.
struct SpecialUse {
  const SpecialInfo *info;
  std::optional<unsigned> component; ///< None: all of them.
};
/// "%tid.x", "%tid", "%laneid", "%envreg2"
std::optional<SpecialUse> specialNamed(std::string_view name);
const SpecialInfo &infoOf(SpecialRegister id);

} // namespace kvc::sim

#endif // KVC_SIM_INSTRUCTIONS_SPECIALREGISTERS_H
