//===- Observer.h - What a running machine tells others ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Counters and checkers watch a machine through this. A machine without an
// observer pays one test of a pointer per instruction; one with an observer
// runs on one thread.
//
// Of one warp instruction the machine tells, in this order: step, before
// anything is read or written; then what memory it touches, which barriers it
// meets. Rows still hold the sources until the instruction's last event.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_OBSERVER_H
#define KVC_SIM_MACHINE_OBSERVER_H

#include "kvc/Sim/Decode/Program.h"
#include "kvc/Sim/Numerics/Row.h"

namespace kvc::sim {

struct Extent3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
  bool operator==(const Extent3 &) const = default;
};

/// The launch of one kernel.
struct LaunchInfo {
  const Module *module = nullptr;
  const Program *program = nullptr;
  Extent3 grid, block, cluster;
  uint64_t sharedBytes = 0; ///< Static and dynamic, of one block.
};

/// A warp, where it is and what its registers hold.
struct WarpInfo {
  uint64_t block = 0; ///< In the grid, x fastest.
  uint32_t warp = 0;  ///< In its block.
  LaneMask live = 0;  ///< Lanes that have not exited.
  /// The files of rows, predicates and constants: Program.h.
  const uint32_t *registers = nullptr;
  const uint32_t *predicates = nullptr;
  const uint32_t *constants = nullptr;
};

/// How an access is ordered with others.
enum class MemoryOrder : uint8_t {
  Weak,
  Volatile,
  Relaxed,
  Acquire,
  Release,
  AcqRel
};
enum class MemoryScope : uint8_t { None, Cta, Cluster, Gpu, System };

/// One access of some lanes to one space.
struct MemoryAccess {
  enum class Kind : uint8_t {
    Read,
    Write,
    Atomic,   ///< Reads and writes as one.
    Mbarrier, ///< An operation on an mbarrier object.
    Prefetch  ///< Neither reads nor writes.
  };
  Kind kind = Kind::Read;
  /// Never Generic: an access whose lanes name several spaces is told once for
  /// each.
  MemorySpace space = MemorySpace::Global;
  MemoryOrder order = MemoryOrder::Weak;
  MemoryScope scope = MemoryScope::None;
  LaneMask lanes = 0;
  uint32_t bytes = 0; ///< Of each lane.
  /// Of each lane. Global and Const: the address in the 64-bit space; else the
  /// offset in that space. Those of ldmatrix and stmatrix are 16-byte rows of
  /// the lanes that give them.
  const uint64_t *addresses = nullptr;
  /// Of accesses to the shared memory of another block of the cluster, that
  /// block's number in the grid, of each lane; else null.
  const uint64_t *blocks = nullptr;
};

/// cp.async and cp.async.bulk, when they are issued. The data arrives later:
/// step tells of the waits for groups, onMbarrierPhase of completed phases.
struct AsyncCopy {
  bool isBulk = false;
  LaneMask lanes = 0;
  MemorySpace from = MemorySpace::Global, to = MemorySpace::Shared;
  const uint64_t *sources = nullptr, *destinations = nullptr; ///< Of each lane.
  const uint32_t *bytes = nullptr;       ///< Written, of each lane.
  const uint32_t *sourceBytes = nullptr; ///< Read; what is left is zeros.
  /// Of a bulk copy that completes on an mbarrier: its offset in shared memory.
  std::optional<uint64_t> mbarrier;
};

/// What happens to an mbarrier, beside the access itself.
struct MbarrierEvent {
  enum class Kind : uint8_t {
    Init,
    Invalidate,
    Arrive, ///< Releases; arrive_drop and cp.async.mbarrier.arrive too.
    ExpectTx,
    Observe ///< A test or wait that found the phase complete: acquires.
  };
  Kind kind = Kind::Arrive;
  LaneMask lanes = 0;
  const uint64_t *offsets = nullptr; ///< In shared memory, of each lane.
  /// cp.async.mbarrier.arrive: the arrival counts once the copies that the lane
  /// issued before have arrived.
  bool isAsync = false;
};

/// Why a kernel stopped.
struct Fault {
  enum class Kind : uint8_t {
    OutOfBounds,
    UseAfterFree,
    Misaligned,
    ReadOnly,      ///< A write to constants or parameters.
    DivergentSync, ///< Lanes of a .sync or .aligned that never come together.
    DivergentBarrier, ///< Some lanes of a barrier have exited or wait
                      ///< elsewhere.
    Deadlock,
    Trap,
    Assertion,
    BadCall, ///< Of an address that is no function's.
    Unsupported,
    Limit ///< Of instructions that a launch may run.
  };
  Kind kind = Kind::Trap;
  uint64_t block = 0;
  uint32_t warp = 0;
  LaneMask lanes = 0;     ///< At fault.
  uint32_t at = kNowhere; ///< In Program::code.
  MemorySpace space = MemorySpace::None;
  uint64_t address = 0; ///< Of the first lane at fault.
  uint32_t bytes = 0;
  std::string message; ///< One line, complete without the rest.
};

class Observer {
public:
  Observer() = default;
  Observer(const Observer &) = delete;
  Observer &operator=(const Observer &) = delete;
  virtual ~Observer() = default;

  virtual void onLaunch(const LaunchInfo &) {}
  virtual void onLaunchEnd() {}
  virtual void onBlock(uint64_t /*block*/) {}
  virtual void onBlockEnd(uint64_t /*block*/) {}

  /// `active` lanes are at instruction `at`, of which `lanes` pass its guard.
  virtual void onStep(const WarpInfo &, uint32_t /*at*/, LaneMask /*active*/,
                      LaneMask /*lanes*/) {}
  virtual void onAccess(const WarpInfo &, uint32_t /*at*/,
                        const MemoryAccess &) {}
  virtual void onAsyncCopy(const WarpInfo &, uint32_t /*at*/,
                           const AsyncCopy &) {}

  /// A warp's lanes split at a branch.
  virtual void onDivergence(const WarpInfo &, uint32_t /*at*/) {}
  /// The lanes of `members` have all come to a .sync instruction.
  virtual void onWarpSync(const WarpInfo &, uint32_t /*at*/,
                          LaneMask /*members*/) {}
  /// Lanes arrive at barrier `id` of their block, and wait there or go on.
  virtual void onBarrierArrive(const WarpInfo &, uint32_t /*at*/,
                               LaneMask /*lanes*/, uint32_t /*id*/,
                               bool /*waits*/) {}
  /// All that barrier `id` expects have arrived; those that wait go on.
  virtual void onBarrierComplete(uint64_t /*block*/, uint32_t /*id*/) {}
  /// The same of the barrier of a cluster, by the number of its first block.
  virtual void onClusterArrive(const WarpInfo &, uint32_t /*at*/,
                               LaneMask /*lanes*/) {}
  virtual void onClusterComplete(uint64_t /*firstBlock*/) {}
  virtual void onClusterWait(const WarpInfo &, uint32_t /*at*/,
                             LaneMask /*lanes*/) {}
  virtual void onMbarrier(const WarpInfo &, uint32_t /*at*/,
                          const MbarrierEvent &) {}
  /// An mbarrier of that block's shared memory completes its phase.
  virtual void onMbarrierPhase(uint64_t /*block*/, uint64_t /*offset*/) {}

  virtual void onFault(const Fault &) {}

  /// Memory that the host gives and takes. What it has written is defined.
  virtual void onAllocate(uint64_t /*address*/, uint64_t /*bytes*/,
                          std::string_view /*name*/) {}
  virtual void onFree(uint64_t /*address*/) {}
  virtual void onHostWrite(uint64_t /*address*/, uint64_t /*bytes*/) {}
};

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_OBSERVER_H
