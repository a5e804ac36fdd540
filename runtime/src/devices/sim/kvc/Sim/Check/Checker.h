//===- Checker.h - Whether a kernel is safe ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Watches a machine and tells what a device would let pass: accesses that
// nothing orders, values that were never set, copies that were not waited for.
// Whatever order the machine runs threads in, what it tells of races follows
// from barriers, fences and atomics alone. README.md says what it knows.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_CHECKER_H
#define KVC_SIM_CHECK_CHECKER_H

#include "kvc/Sim/Check/Finding.h"
#include "kvc/Sim/Check/Races.h"
#include "kvc/Sim/Check/UndefinedMemory.h"
#include "kvc/Sim/Check/UndefinedRegisters.h"

#include <set>

namespace kvc::sim {

class Checker final : public Observer {
public:
  /// Different findings that are kept.
  static constexpr size_t kMaxFindings = 100;

  explicit Checker(FindingKinds kinds = FindingKinds::all()) : kinds(kinds) {}

  /// Of all launches so far, in the order in which they were noticed.
  const std::vector<Finding> &findings() const { return found; }
  /// Forgets them, but not what memory holds.
  void clear();

  void onLaunch(const LaunchInfo &info) override;
  void onLaunchEnd() override;
  void onBlock(uint64_t block) override;
  void onBlockEnd(uint64_t block) override;
  void onStep(const WarpInfo &warp, uint32_t at, LaneMask active,
              LaneMask lanes) override;
  void onAccess(const WarpInfo &warp, uint32_t at,
                const MemoryAccess &access) override;
  void onAsyncCopy(const WarpInfo &warp, uint32_t at,
                   const AsyncCopy &copy) override;
  void onWarpSync(const WarpInfo &warp, uint32_t at, LaneMask members) override;
  void onBarrierArrive(const WarpInfo &warp, uint32_t at, LaneMask lanes,
                       uint32_t id, bool waits) override;
  void onBarrierComplete(uint64_t block, uint32_t id) override;
  void onClusterArrive(const WarpInfo &warp, uint32_t at,
                       LaneMask lanes) override;
  void onClusterComplete(uint64_t firstBlock) override;
  void onMbarrier(const WarpInfo &warp, uint32_t at,
                  const MbarrierEvent &event) override;
  void onMbarrierPhase(uint64_t block, uint64_t offset) override;
  void onFault(const Fault &fault) override;
  void onAllocate(uint64_t address, uint64_t bytes,
                  std::string_view name) override;
  void onFree(uint64_t address) override;
  void onHostWrite(uint64_t address, uint64_t bytes) override;

private:
  /// A copy on its way to shared memory.
  struct Copy {
    uint32_t thread = 0, at = 0;
    uint64_t to = 0;
    uint32_t bytes = 0;
    uint32_t group = 0; ///< Of the thread.
    bool isBulk = false;
    bool isDone = false;
    std::optional<uint64_t> mbarrier; ///< That it completes on.
  };
  struct Barrier {
    /// Lanes of a warp that came to an instruction of which all must come.
    struct Visit {
      uint32_t warp, at;
      LaneMask lanes;
    };
    std::vector<Visit> visits;
    std::vector<uint32_t> waiting;
    Message told; ///< By those that do not wait.
  };
  struct Mbarrier {
    Message arrived, complete;
  };
  /// What was written to a place in memory to be heard by others.
  struct Told {
    static constexpr uint32_t kMany = ~uint32_t(0);
    Message message;
    uint64_t block = 0; ///< Whose threads alone hear what is not of the grid.
    uint32_t thread = kMany; ///< Of the block, where one alone told it.
  };
  using ToldByAddress = std::unordered_map<uint64_t, Told>;
  struct BlockState {
    BlockState(uint64_t number, const LaunchInfo &launch);

    BlockClocks clocks;
    ByteShadow shared;
    std::vector<ByteShadow> locals;            ///< Of each thread.
    std::vector<UndefinedRegisters> registers; ///< Of each warp.
    std::vector<LaneMask> live;                ///< Of each warp.
    /// Of each warp: lanes for whose last step nobody knows whether it ran.
    std::vector<LaneMask> unsure;
    RaceMemory races;
    Barrier barriers[16], cluster;
    std::map<uint64_t, Mbarrier> mbarriers;
    ToldByAddress told; ///< By offset in shared memory.
    std::vector<Copy> copies;
    /// Of each word of shared memory: 1 + the copy on its way there.
    std::vector<uint32_t> onTheWay;
    size_t copiesOnTheWay = 0;
    /// Closed by each thread, of cp.async and, [1], of bulk copies.
    std::vector<uint32_t> groups[2];
  };

  BlockState &stateOf(uint64_t block);
  void report(Finding::Kind kind, uint32_t at, uint32_t other,
              const std::string &message);

  // Undefined values.
  void checkDefined(BlockState &state, const WarpInfo &warp, uint32_t at,
                    const Slot &slot, LaneMask lanes, std::string_view what);
  void checkOperands(BlockState &state, const WarpInfo &warp, uint32_t at,
                     LaneMask lanes);
  void leaveOpen(BlockState &state, const WarpInfo &warp, uint32_t at,
                 LaneMask lanes);
  void passParams(BlockState &state, const WarpInfo &warp, uint32_t at,
                  LaneMask lanes);
  void passResults(BlockState &state, const WarpInfo &warp, uint32_t at,
                   LaneMask lanes);
  void copyPlace(BlockState &state, const WarpInfo &warp,
                 const ParamPlace &from, const ParamPlace &to, LaneMask lanes);
  void noteUndefined(const WarpInfo &warp, uint32_t at,
                     const MemoryAccess &access, unsigned lane,
                     std::string_view how);
  void load(BlockState &state, const WarpInfo &warp, uint32_t at,
            const MemoryAccess &access);
  void loadMatrix(BlockState &state, const WarpInfo &warp, uint32_t at,
                  const MemoryAccess &access);
  void store(BlockState &state, const WarpInfo &warp, uint32_t at,
             const MemoryAccess &access);
  void storeMatrix(BlockState &state, const WarpInfo &warp, uint32_t at,
                   const MemoryAccess &access);
  void update(BlockState &state, const WarpInfo &warp, uint32_t at,
              const MemoryAccess &access);
  ByteShadow *shadowOf(BlockState &state, MemorySpace space, uint32_t thread,
                       uint64_t &address);
  bool readsDefined(BlockState &state, const WarpInfo &warp,
                    const MemoryAccess &access, uint32_t bytes);
  void copyShadow(BlockState &state, const WarpInfo &warp, uint32_t at,
                  const AsyncCopy &copy, unsigned lane);
  void readShadow(BlockState &state, MemorySpace space, uint32_t thread,
                  uint64_t address, uint8_t *to, uint32_t bytes);
  void writeShadow(BlockState &state, MemorySpace space, uint32_t thread,
                   uint64_t address, const uint8_t *from, uint32_t bytes);
  std::string describe(MemorySpace space, uint64_t address);

  // Order.
  void order(BlockState &state, const WarpInfo &warp, uint32_t at,
             const MemoryAccess &access);
  void race(BlockState &state, const AccessRecord &record, MemorySpace space,
            bool reads, bool writes, uint64_t address, uint32_t bytes);
  void hear(BlockState &state, uint32_t thread, const MemoryAccess &access,
            const Told &told, uint64_t block);
  void tell(BlockState &state, uint32_t thread, const MemoryAccess &access,
            uint64_t block, uint64_t address);
  bool isRelaxedAt(uint32_t at) const;
  void meet(const BlockState &state, Barrier &barrier, const WarpInfo &warp,
            uint32_t at, LaneMask lanes);
  void checkMet(const BlockState &state, const Barrier &barrier,
                uint64_t block);
  void complete(BlockState &state, Barrier &barrier);

  // Copies.
  void checkOnTheWay(BlockState &state, const WarpInfo &warp, uint32_t at,
                     const MemoryAccess &access);
  LaneMask orderSources(BlockState &state, AccessRecord record,
                        const AsyncCopy &copy);
  void finish(BlockState &state, uint64_t block, Copy &copy, Time time,
              bool isCopy);
  void forgetCopies(BlockState &state);
  void waitForGroups(BlockState &state, const WarpInfo &warp, uint32_t at,
                     LaneMask lanes);

  const FindingKinds kinds; ///< Others are not told.
  LaunchInfo launch;
  std::map<uint64_t, std::unique_ptr<BlockState>> blocks;
  uint64_t lastBlock = ~uint64_t(0);
  BlockState *last = nullptr;
  GlobalShadow global;
  RaceMemory globalRaces;
  ToldByAddress globalTold;
  std::map<uint32_t, std::string> undefinedLoads; ///< What each first read.
  std::vector<Finding> found;
  std::map<std::tuple<Finding::Kind, uint32_t, uint32_t>, size_t> known;
};

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_CHECKER_H
