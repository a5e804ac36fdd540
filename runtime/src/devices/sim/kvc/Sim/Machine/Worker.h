//===- Worker.h - What one thread of the host does --------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_MACHINE_WORKER_H
#define KVC_SIM_MACHINE_WORKER_H

#include "kvc/Sim/Machine/State.h"

namespace kvc::sim {

/// Begins, runs and ends blocks, one or many at a time.
class Worker {
public:
  Worker(const ExecutableKernel &kernel, const LaunchOptions &options,
         Memory &memory, const std::vector<uint8_t> &constants);

  void start(BlockState &block, uint64_t number);
  /// Gives the block's warps turns until it ends or `turns` are used. True if
  /// any warp ran.
  bool advance(BlockState &block, uint64_t turns);
  static bool isDone(const BlockState &block) { return block.liveThreads == 0; }
  void end(BlockState &block);
  void setDeadlock(const std::vector<BlockState *> &blocks);
  void setVainWaits(const BlockState &block);

  uint64_t bytesOfBlock() const {
    return rowBytes() * warpsOfBlock() + state.sharedBytes + localBytes();
  }

  LaunchState state;

private:
  uint64_t warpsOfBlock() const {
    return (options.block.count() + kLanes - 1) / kLanes;
  }
  uint64_t rowBytes() const;
  uint64_t localBytes() const {
    return warpsOfBlock() * kLanes * kernel.program.localBytes;
  }
  void setSpecials(BlockState &block, Warp &warp) const;
  uint32_t specialOf(const BlockState &block, const Warp &warp,
                     SpecialRegister id, unsigned component,
                     uint32_t lane) const;
  std::string describeWait(const Warp &warp, const Part &part) const;

  const ExecutableKernel &kernel;
  const LaunchOptions &options;
};

} // namespace kvc::sim

#endif // KVC_SIM_MACHINE_WORKER_H
