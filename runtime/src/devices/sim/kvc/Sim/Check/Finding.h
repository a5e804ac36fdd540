//===- Finding.h - What is wrong with a kernel ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_FINDING_H
#define KVC_SIM_CHECK_FINDING_H

#include "kvc/Sim/Observer.h"

namespace kvc::sim {

/// One mistake, told once however often it happens.
struct Finding {
  enum class Kind : uint8_t {
    Fault,      ///< Of the machine: the kernel stopped.
    Undefined,  ///< A value that was never set decides something.
    Race,       ///< Two accesses that nothing orders, one of them a write.
    MissingWait ///< An access to what a copy has yet to bring.
  };
  Kind kind = Kind::Race;
  uint32_t at = kNowhere;    ///< In Program::code: where it was noticed,
  uint32_t other = kNowhere; ///< and the access that it is about, if any.
  uint64_t count = 1;        ///< How often.
  std::string message;       ///< One line, places included.

  /// "race: .. (3 times)"
  std::string str() const;
};
std::string_view nameOf(Finding::Kind kind);

/// "line 12 (ld.shared.b32)", with "at a.cu:3" where .loc says so.
std::string describePlace(const LaunchInfo &launch, uint32_t at);
/// "thread (1, 0, 0) of block (0, 0, 0)"
std::string describeThread(const LaunchInfo &launch, uint64_t block,
                           uint32_t thread);
std::string_view nameOf(MemorySpace space);

/// The named object of a space that an offset lies in: `"tile" + 16`; else the
/// offset.
std::string describeOffset(const Program &program, MemorySpace space,
                           uint64_t offset);

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_FINDING_H
