//===- Counter.h - What a kernel asks of a device ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Counts of PTX, exact for the machine's schedule: how often instructions run,
// what they touch, where warps split. No times and no caches; README.md says
// what may be concluded.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_COUNT_COUNTER_H
#define KVC_SIM_COUNT_COUNTER_H

#include "kvc/Sim/Count/TouchedBytes.h"
#include "kvc/Sim/Machine/Observer.h"

#include <array>

namespace kvc::sim {

/// Accesses of warps to one space.
struct AccessCounts {
  uint64_t requests = 0; ///< Warp instructions.
  uint64_t bytes = 0;    ///< That lanes ask for.
  uint64_t sectors = 0;  ///< Global: sectors of 32 bytes, each request's own.
  uint64_t wavefronts = 0, idealWavefronts = 0; ///< Shared.

  AccessCounts &operator+=(const AccessCounts &other);
};

/// Of one instruction, or of all on one line.
struct InstructionCounts {
  uint64_t issued = 0;      ///< By a warp, or a part of one.
  uint64_t lanes = 0;       ///< That ran it.
  uint64_t skipped = 0;     ///< Issued with no lane whose guard is true.
  uint64_t divergences = 0; ///< It split a warp.
  AccessCounts global, shared;

  InstructionCounts &operator+=(const InstructionCounts &other);
};

/// What instructions count as in a summary.
enum class Group : uint8_t { Move, Alu, Fma, Mma, Sfu, Memory, Control };
inline constexpr size_t kGroups = 7;
std::string_view nameOf(Group group);
Group groupOf(Class kind);

struct Counts {
  LaunchInfo launch; ///< The program must outlive this.
  std::vector<InstructionCounts> instructions; ///< As Program::code.

  // Totals.
  uint64_t issued = 0, lanes = 0, skipped = 0, divergences = 0;
  std::array<uint64_t, kGroups> byGroup{};
  std::array<uint64_t, kClasses> byClass{};
  AccessCounts globalReads, globalWrites, globalAtomics;
  AccessCounts shared, local;
  uint64_t barriers = 0;     ///< Of blocks, completed.
  uint64_t warpBarriers = 0; ///< bar.warp.sync, issued.
  /// Issued: of blocks, warps and clusters.
  uint64_t barrierInstructions = 0;
  uint64_t atomics = 0;    ///< atom and red, issued.
  uint64_t asyncBytes = 0; ///< Written by cp.async and cp.async.bulk.
  uint64_t uniqueBytesRead = 0, uniqueBytesWritten = 0;
  uint64_t uniqueSectors = 0; ///< Read or written.

  /// What a device has to issue if moves cost nothing.
  uint64_t issuedLessMoves() const {
    return issued - byGroup[size_t(Group::Move)];
  }
};

class Counter final : public Observer {
public:
  /// Valid after the launch; of the last one.
  const Counts &counts() const { return result; }

  void onLaunch(const LaunchInfo &info) override;
  void onLaunchEnd() override;
  void onStep(const WarpInfo &warp, uint32_t at, LaneMask active,
              LaneMask lanes) override;
  void onAccess(const WarpInfo &warp, uint32_t at,
                const MemoryAccess &access) override;
  void onAsyncCopy(const WarpInfo &warp, uint32_t at,
                   const AsyncCopy &copy) override;
  void onDivergence(const WarpInfo &warp, uint32_t at) override;
  void onWarpSync(const WarpInfo &warp, uint32_t at, LaneMask members) override;
  void onBarrierComplete(uint64_t block, uint32_t id) override;

private:
  void addGlobal(AccessCounts &total, InstructionCounts &here,
                 const uint64_t *addresses, LaneMask lanes, uint32_t bytes);
  void addShared(InstructionCounts &here, const uint64_t *offsets,
                 LaneMask lanes, uint32_t bytes, bool isAtomic);

  Counts result;
  /// Instructions that wait for lanes: they count when these have come.
  std::vector<bool> gathers;
  TouchedBytes read, written;
};

} // namespace kvc::sim

#endif // KVC_SIM_COUNT_COUNTER_H
