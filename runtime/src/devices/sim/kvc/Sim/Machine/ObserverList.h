//===- ObserverList.h - Several observers of one machine --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_OBSERVERLIST_H
#define KVC_SIM_MACHINE_OBSERVERLIST_H

#include "kvc/Sim/Machine/Observer.h"

namespace kvc::sim {

/// Tells each of its observers, which it does not own, in order.
class ObserverList final : public Observer {
public:
  void add(Observer &observer) { all.push_back(&observer); }
  bool isEmpty() const { return all.empty(); }

  void onLaunch(const LaunchInfo &info) override {
    for (Observer *each : all)
      each->onLaunch(info);
  }
  void onLaunchEnd() override {
    for (Observer *each : all)
      each->onLaunchEnd();
  }
  void onBlock(uint64_t block) override {
    for (Observer *each : all)
      each->onBlock(block);
  }
  void onBlockEnd(uint64_t block) override {
    for (Observer *each : all)
      each->onBlockEnd(block);
  }
  void onStep(const WarpInfo &warp, uint32_t at, LaneMask active,
              LaneMask lanes) override {
    for (Observer *each : all)
      each->onStep(warp, at, active, lanes);
  }
  void onAccess(const WarpInfo &warp, uint32_t at,
                const MemoryAccess &access) override {
    for (Observer *each : all)
      each->onAccess(warp, at, access);
  }
  void onAsyncCopy(const WarpInfo &warp, uint32_t at,
                   const AsyncCopy &copy) override {
    for (Observer *each : all)
      each->onAsyncCopy(warp, at, copy);
  }
  void onDivergence(const WarpInfo &warp, uint32_t at) override {
    for (Observer *each : all)
      each->onDivergence(warp, at);
  }
  void onWarpSync(const WarpInfo &warp, uint32_t at,
                  LaneMask members) override {
    for (Observer *each : all)
      each->onWarpSync(warp, at, members);
  }
  void onBarrierArrive(const WarpInfo &warp, uint32_t at, LaneMask lanes,
                       uint32_t id, bool waits) override {
    for (Observer *each : all)
      each->onBarrierArrive(warp, at, lanes, id, waits);
  }
  void onBarrierComplete(uint64_t block, uint32_t id) override {
    for (Observer *each : all)
      each->onBarrierComplete(block, id);
  }
  void onClusterArrive(const WarpInfo &warp, uint32_t at,
                       LaneMask lanes) override {
    for (Observer *each : all)
      each->onClusterArrive(warp, at, lanes);
  }
  void onClusterComplete(uint64_t firstBlock) override {
    for (Observer *each : all)
      each->onClusterComplete(firstBlock);
  }
  void onClusterWait(const WarpInfo &warp, uint32_t at,
                     LaneMask lanes) override {
    for (Observer *each : all)
      each->onClusterWait(warp, at, lanes);
  }
  void onMbarrier(const WarpInfo &warp, uint32_t at,
                  const MbarrierEvent &event) override {
    for (Observer *each : all)
      each->onMbarrier(warp, at, event);
  }
  void onMbarrierPhase(uint64_t block, uint64_t offset) override {
    for (Observer *each : all)
      each->onMbarrierPhase(block, offset);
  }
  void onFault(const Fault &fault) override {
    for (Observer *each : all)
      each->onFault(fault);
  }
  void onAllocate(uint64_t address, uint64_t bytes,
                  std::string_view name) override {
    for (Observer *each : all)
      each->onAllocate(address, bytes, name);
  }
  void onFree(uint64_t address) override {
    for (Observer *each : all)
      each->onFree(address);
  }
  void onHostWrite(uint64_t address, uint64_t bytes) override {
    for (Observer *each : all)
      each->onHostWrite(address, bytes);
  }

private:
  std::vector<Observer *> all;
};

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_OBSERVERLIST_H
