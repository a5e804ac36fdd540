//===- Scheduler.cpp - The order in which blocks and warps run ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Blocks that cannot talk to each other run to their end one by one, on as many
// threads as wanted; whichever thread takes a block, its result is the same.
// Blocks that can talk take turns on one thread, many at a time, so that one
// may wait for another.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Scheduler.h"

#include "kvc/Sim/Machine/Worker.h"
#include "kvc/Sim/Numerics/HostFloat.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

using namespace kvc::sim;

namespace {

/// Blocks that may be at work at a time where they may talk, and bytes that
/// they may have together.
constexpr uint64_t kMostBlocks = 1024;
constexpr uint64_t kMostBytes = uint64_t(1) << 30;
constexpr std::chrono::milliseconds kProgressEvery{100};

/// Calls the launch's progress now and then.
class Ticker {
public:
  explicit Ticker(const LaunchOptions &options) : options(options) {}
  void tick(uint64_t done) {
    if (!options.progress)
      return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last < kProgressEvery)
      return;
    last = now;
    options.progress(done, options.grid.count());
  }

private:
  const LaunchOptions &options;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

Fault outOfMemory(uint64_t bytes) {
  Fault fault;
  fault.kind = Fault::Kind::Limit;
  fault.message = "launch: expected memory for blocks of " +
                  std::to_string(bytes) + " bytes, got none";
  return fault;
}

/// Nothing if the machine has no thread left.
template <typename Work>
std::optional<std::jthread> startThread(Work work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error &) {
    return std::nullopt;
  }
}

/// Blocks one by one, by several threads.
void runApart(const ExecutableKernel &kernel, const LaunchOptions &options,
              Memory &memory, const std::vector<uint8_t> &constants,
              LaunchResult &result) {
  const uint64_t count = options.grid.count();
  std::atomic<uint64_t> next{0}, done{0};
  std::mutex mutex;
  std::map<uint64_t, std::string> printed;
  // The first block that fails stops those behind it, not those before.
  std::atomic<uint64_t> firstFault{count};
  auto runAll = [&](Worker &worker, bool isCaller) {
    BlockState block;
    Ticker ticker(options);
    for (;;) {
      const uint64_t number = next.fetch_add(1);
      if (number >= count || number > firstFault.load())
        break;
      worker.state.random =
          options.seed ? options.seed * 0x9E3779B97F4A7C15 + number + 1 : 0;
      worker.start(block, number);
      while (!Worker::isDone(block) && !worker.state.fault) {
        if (!worker.advance(block, 64) && !worker.state.fault &&
            !Worker::isDone(block))
          worker.setDeadlock({&block});
        if (isCaller)
          ticker.tick(done.load());
      }
      worker.end(block);
      done.fetch_add(1);
      if (worker.state.fault || !block.printed.empty()) {
        const std::lock_guard lock(mutex);
        if (!block.printed.empty())
          printed[number] = std::move(block.printed);
        if (worker.state.fault && number < firstFault.load()) {
          firstFault.store(number);
          result.fault = worker.state.fault;
        }
        if (worker.state.fault)
          break;
      }
    }
  };
  auto work = [&](bool isCaller) {
    const HostFloatScope floats;
    Worker worker(kernel, options, memory, constants);
    bool hasMemory = true;
    try {
      runAll(worker, isCaller);
    } catch (const std::bad_alloc &) {
      hasMemory = false;
    }
    const std::lock_guard lock(mutex);
    result.steps += worker.state.steps;
    if (!hasMemory) {
      firstFault.store(0);
      result.fault = outOfMemory(worker.bytesOfBlock());
    }
  };
  // One thread counts steps up to a limit.
  const bool isAlone = options.observer || options.maxSteps != 0;
  const uint64_t threads =
      isAlone ? 1 : std::clamp<uint64_t>(options.threads, 1, count);
  {
    // Where the machine gives no more threads, those that there are do all.
    std::vector<std::jthread> others;
    others.reserve(threads - 1);
    for (uint64_t i = 1; i < threads; ++i)
      if (auto other = startThread([&work] { work(false); }))
        others.push_back(std::move(*other));
    work(true);
  }
  for (auto &[number, text] : printed)
    if (number <= firstFault.load())
      result.printed += text;
}

/// Blocks that take turns, as many at a time as there is room for.
class Turns {
public:
  Turns(Worker &worker, const LaunchOptions &options)
      : worker(worker), count(options.grid.count()), ticker(options) {}

  void run() {
    const uint64_t room = std::clamp<uint64_t>(
        kMostBytes / std::max<uint64_t>(worker.bytesOfBlock(), 1), 1,
        kMostBlocks);
    while (next < std::min(count, room)) {
      blocks.push_back(std::make_unique<BlockState>());
      worker.start(*blocks.back(), next++);
    }
    while (!blocks.empty() && !worker.state.fault)
      runRound();
  }

  /// What all blocks so far have printed, in their order.
  std::string text() {
    for (const auto &block : blocks)
      if (!block->printed.empty())
        printed[block->number] = std::move(block->printed);
    std::string result;
    for (auto &[number, text] : printed)
      result += text;
    return result;
  }

private:
  void runRound() {
    bool ran = false;
    for (size_t turn = 0; turn < blocks.size() && !worker.state.fault;) {
      const size_t i = worker.state.random
                           ? worker.state.nextRandom() % blocks.size()
                           : turn;
      BlockState &block = *blocks[i];
      ran |= worker.advance(block, block.warps.size());
      if (worker.state.fault || !Worker::isDone(block)) {
        ++turn;
        continue;
      }
      ran = true;
      finish(i);
    }
    ticker.tick(next - blocks.size());
    // An order by chance may have passed over whoever can go on.
    if (ran || worker.state.fault || blocks.empty() || canGo())
      return;
    std::vector<BlockState *> waiting;
    for (const auto &block : blocks)
      waiting.push_back(block.get());
    worker.setDeadlock(waiting);
  }

  /// The block's place is the next one's.
  void finish(size_t i) {
    BlockState &block = *blocks[i];
    worker.end(block);
    if (!block.printed.empty())
      printed[block.number] = std::move(block.printed);
    ticker.tick(next - blocks.size());
    if (next < count)
      worker.start(block, next++);
    else
      blocks.erase(blocks.begin() + std::ptrdiff_t(i));
  }

  bool canGo() const {
    return std::any_of(blocks.begin(), blocks.end(), [](const auto &block) {
      return std::any_of(block->warps.begin(), block->warps.end(),
                         [](const Warp &warp) { return warp.isReady(); });
    });
  }

  Worker &worker;
  const uint64_t count;
  uint64_t next = 0;
  Ticker ticker;
  std::vector<std::unique_ptr<BlockState>> blocks;
  std::map<uint64_t, std::string> printed;
};

void runTogether(const ExecutableKernel &kernel, const LaunchOptions &options,
                 Memory &memory, const std::vector<uint8_t> &constants,
                 LaunchResult &result) {
  const HostFloatScope floats;
  Worker worker(kernel, options, memory, constants);
  worker.state.random = options.seed * 0x9E3779B97F4A7C15;
  Turns turns(worker, options);
  try {
    turns.run();
    result.printed = turns.text();
    result.fault = worker.state.fault;
  } catch (const std::bad_alloc &) {
    result.fault = outOfMemory(worker.bytesOfBlock());
  }
  result.steps = worker.state.steps;
}

} // namespace

void kvc::sim::runBlocks(const ExecutableKernel &kernel,
                         const LaunchOptions &options, Memory &memory,
                         const std::vector<uint8_t> &constants,
                         LaunchResult &result) {
  if (options.observer) {
    const LaunchInfo info{kernel.module,
                          &kernel.program,
                          options.grid,
                          options.block,
                          {},
                          kernel.program.dynamicSharedOffset +
                              options.dynamicShared};
    options.observer->onLaunch(info);
  }
  if (kernel.isShared)
    runTogether(kernel, options, memory, constants, result);
  else
    runApart(kernel, options, memory, constants, result);
  if (options.observer) {
    if (result.fault)
      options.observer->onFault(*result.fault);
    options.observer->onLaunchEnd();
  }
}
