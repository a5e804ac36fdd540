//===- State.h - Blocks and launches while they run -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_STATE_H
#define KVC_SIM_MACHINE_STATE_H

#include "kvc/Sim/Machine/Warp.h"

#include <deque>

namespace kvc::sim {

/// What memory holds that nobody has written, or that a copy has yet to reach:
/// NaN in every float format.
inline constexpr uint8_t kPoison = 0xFF;

/// One of a block's 16 barriers.
struct BarrierState {
  uint32_t arrived = 0;
  uint32_t expected = 0; ///< Threads; 0: all that live.
  bool isOpen = false;   ///< Somebody has arrived.
  uint32_t threads = 0;  ///< bar.red: lanes that have arrived, and of those
  uint32_t count = 0;    ///< whose predicate is true.
};
inline constexpr uint32_t kBarriers = 16;
/// What lanes at barrier.cluster.wait wait for.
inline constexpr uint32_t kClusterBarrier = kBarriers;

/// A bulk copy that completes on an mbarrier, or a cp.async.mbarrier.arrive:
/// happens when somebody looks at that mbarrier.
struct PendingArrival {
  uint64_t mbarrier = 0; ///< Its offset in shared memory.
  PendingCopy copy;      ///< Of a bulk copy.
  uint32_t warp = 0, lane = 0;
  uint64_t number = 0; ///< Copies of the lane below this must have arrived.
  bool isBulk = false;
};

struct BlockState {
  uint64_t number = 0; ///< In the grid, x fastest.
  Extent3 at;
  std::vector<uint8_t> shared, local;
  std::unique_ptr<uint32_t, void (*)(void *)> rows{nullptr, nullptr};
  std::vector<uint32_t> predicates;
  std::vector<Warp> warps;
  BarrierState barriers[kBarriers];
  uint32_t clusterArrived = 0, clusterPhase = 0;
  uint32_t liveThreads = 0;
  std::vector<PendingArrival> arrivals;
  std::string printed;
  size_t nextWarp = 0;

  /// Completes barriers that have all that they expect.
  void checkBarriers(LaunchState &launch);
};

/// A kernel with its instructions bound to handlers, for one way to compute.
struct ExecutableKernel {
  const Module *module = nullptr;
  Program program;

  // Bound for the options of the last launch.
  std::vector<Step> steps;
  std::vector<uint32_t> operands;
  std::vector<std::shared_ptr<const void>> forms;
  std::vector<uint32_t> constantRows;
  MmaMode mma;
  ApproxMode approx;
  SimdLevel level = SimdLevel::Baseline;
  bool isBound = false;
  bool isShared = false; ///< Blocks talk to each other in global memory.

  /// Binds every instruction; an error if the machine lacks one.
  std::optional<Error> bind(const std::vector<uint64_t> &addresses,
                            const LaunchOptions &options);
};

/// The allocation that an instruction last touched.
struct Touched {
  uint64_t address = 0, bytes = 0;
  uint8_t *data = nullptr;
};

/// What the blocks of one thread of the host share.
struct LaunchState {
  const ExecutableKernel *kernel = nullptr;
  const LaunchOptions *options = nullptr;
  Memory *memory = nullptr;
  const std::vector<uint8_t> *constants = nullptr;
  Observer *observer = nullptr;
  LaunchInfo info;
  uint64_t sharedBytes = 0, steps = 0, maxSteps = 0;
  std::optional<Fault> fault;
  std::vector<Touched> lastTouched; ///< By each instruction.
  uint64_t random = 0;              ///< State of the order; 0: in order.
  /// Waits for mbarriers that found their phase open, since the last phase
  /// that was completed or turn that was used up.
  uint64_t vainWaits = 0;

  uint64_t nextRandom() {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
  }
};

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_STATE_H
