//===- Finding.h - What is wrong with a kernel ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_FINDING_H
#define KVC_SIM_CHECK_FINDING_H

#include "kvc/Sim/Machine/Observer.h"

namespace kvc::sim {

/// A line of PTX, and of the source that .loc names for it.
struct FindingPlace {
  uint32_t line = 0;
  std::string file; ///< Empty without .loc.
  uint32_t fileLine = 0;
};

/// One mistake, told once however often it happens.
struct Finding {
  enum class Kind : uint8_t {
    Race,   ///< Two accesses that nothing orders, one of them a write.
    Init,   ///< A value that was never set decides something.
    Async,  ///< An access to what a copy has yet to bring.
    Fma,    ///< A result that changes when products and sums become fma.
    Bounds, ///< From here on the machine stops.
    Align,
    Free,
    Sync, ///< Lanes or threads that do not come to a barrier together.
    Deadlock,
    Assert, ///< trap, too.
    Fault   ///< Any other: the machine could not go on.
  };
  Kind kind = Kind::Race;
  uint32_t at = kNowhere;    ///< In Program::code: where it was noticed,
  uint32_t other = kNowhere; ///< and the access that it is about, if any.
  uint64_t count = 1;        ///< How often.
  std::string message;       ///< One line, places included.
  std::vector<FindingPlace> places; ///< `at`, then `other`.

  /// "race: .. (3 times)"
  std::string str() const;
};
std::string_view nameOf(Finding::Kind kind);
inline constexpr size_t kFindingKinds = 11;

/// A set of kinds.
class FindingKinds {
public:
  constexpr FindingKinds() = default;
  constexpr FindingKinds(std::initializer_list<Finding::Kind> kinds) {
    for (Finding::Kind kind : kinds)
      add(kind);
  }
  static constexpr FindingKinds all() {
    FindingKinds kinds;
    kinds.bits = (1u << kFindingKinds) - 1;
    return kinds;
  }
  constexpr void add(Finding::Kind kind) { bits |= 1u << unsigned(kind); }
  constexpr void add(FindingKinds kinds) { bits |= kinds.bits; }
  constexpr bool has(Finding::Kind kind) const {
    return bits >> unsigned(kind) & 1;
  }

private:
  uint32_t bits = 0;
};

/// Faults: the machine told of them and stopped.
inline constexpr FindingKinds kStops = {
    Finding::Kind::Bounds, Finding::Kind::Align,  Finding::Kind::Free,
    Finding::Kind::Sync,   Finding::Kind::Assert, Finding::Kind::Deadlock,
    Finding::Kind::Fault};

/// What a kernel that stopped is told of as.
Finding findingOf(const LaunchInfo &launch, const Fault &fault);

FindingPlace placeOf(const LaunchInfo &launch, uint32_t at);

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
