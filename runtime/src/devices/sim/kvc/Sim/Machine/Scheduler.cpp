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

#include "kvc/Sim/Numerics/HostFloat.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

using namespace kvc::sim;

namespace {

/// Steps of a warp before another one gets a turn.
constexpr uint64_t kTurn = 1 << 14;
/// The same, at most, in an order of its own.
constexpr uint64_t kRandomTurn = 256;
/// Blocks that may be at work at a time where they may talk, and bytes that
/// they may have together.
constexpr uint64_t kMostBlocks = 1024;
constexpr uint64_t kMostBytes = uint64_t(1) << 30;
constexpr std::chrono::milliseconds kProgressEvery{100};
/// Waits for mbarriers with nothing else between, after which nothing is
/// expected any more.
constexpr uint64_t kVainWaits = uint64_t(1) << 19;

uint64_t alignedTo(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

/// What one thread of the host does.
class Worker {
public:
  Worker(const ExecutableKernel &kernel, const LaunchOptions &options,
         Memory &memory, const std::vector<uint8_t> &constants)
      : kernel(kernel), options(options) {
    state.kernel = &kernel;
    state.options = &options;
    state.memory = &memory;
    state.constants = &constants;
    state.observer = options.observer;
    state.info = {kernel.module,
                  &kernel.program,
                  options.grid,
                  options.block,
                  {},
                  kernel.program.dynamicSharedOffset + options.dynamicShared};
    state.sharedBytes = state.info.sharedBytes;
    state.maxSteps = options.maxSteps;
    state.lastTouched.resize(kernel.steps.size());
  }

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
  uint64_t rowBytes() const {
    return alignedTo(uint64_t(kernel.program.registerRows) * kLanes * 4 + 64,
                     64);
  }
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

uint32_t componentOf(const Extent3 &extent, unsigned component) {
  return component == 0   ? extent.x
         : component == 1 ? extent.y
         : component == 2 ? extent.z
                          : 0;
}

uint32_t Worker::specialOf(const BlockState &block, const Warp &warp,
                           SpecialRegister id, unsigned component,
                           uint32_t lane) const {
  using Id = SpecialRegister;
  const Extent3 &size = options.block;
  const uint32_t thread = warp.number * kLanes + lane;
  switch (id) {
  case Id::Tid:
    return componentOf(
        {thread % size.x, thread / size.x % size.y, thread / size.x / size.y},
        component);
  case Id::Ntid:
    return componentOf(size, component);
  case Id::Ctaid:
  case Id::Clusterid:
    return componentOf(block.at, component);
  case Id::Nctaid:
  case Id::Nclusterid:
    return componentOf(options.grid, component);
  case Id::Laneid:
    return lane;
  case Id::Warpid:
    return warp.number;
  case Id::Nwarpid:
    return uint32_t(warpsOfBlock());
  case Id::Nsmid:
  case Id::ClusterNctarank:
    return 1;
  case Id::ClusterNctaid:
    return component < 3 ? 1 : 0;
  case Id::LanemaskEq:
    return uint32_t(1) << lane;
  case Id::LanemaskLt:
    return (uint32_t(1) << lane) - 1;
  case Id::LanemaskLe:
    return uint32_t((uint64_t(2) << lane) - 1);
  case Id::LanemaskGe:
    return ~((uint32_t(1) << lane) - 1);
  case Id::LanemaskGt:
    return ~uint32_t((uint64_t(2) << lane) - 1);
  case Id::TotalSmemSize:
  case Id::AggrSmemSize:
    return uint32_t(state.sharedBytes);
  case Id::DynamicSmemSize:
    return uint32_t(options.dynamicShared);
  default:
    // No reserved shared memory, one multiprocessor, one grid, no environment.
    return 0;
  }
}

void Worker::setSpecials(BlockState &block, Warp &warp) const {
  for (const SpecialRow &special : kernel.program.specials) {
    if (special.slot.file() == Slot::File::Predicate)
      continue; // %is_explicit_cluster: false, as it is set already.
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t value =
          specialOf(block, warp, special.id, special.component, lane);
      if (special.slot.bits() == 64)
        warp.wide(special.slot.index())[lane] = value;
      else
        warp.row(special.slot.index())[lane] = value;
    }
  }
}

void Worker::start(BlockState &block, uint64_t number) {
  const Extent3 &grid = options.grid;
  block.number = number;
  block.at = {uint32_t(number % grid.x), uint32_t(number / grid.x % grid.y),
              uint32_t(number / grid.x / grid.y)};
  block.shared.assign(state.sharedBytes, kPoison);
  block.local.assign(localBytes(), kPoison);
  const uint64_t count = warpsOfBlock();
  if (!block.rows)
    block.rows = {
        static_cast<uint32_t *>(std::aligned_alloc(64, rowBytes() * count)),
        std::free};
  if (!block.rows)
    throw std::bad_alloc();
  std::memset(block.rows.get(), 0, rowBytes() * count);
  const size_t predicates = kernel.program.predicates;
  block.predicates.assign(predicates * count, 0);
  block.warps.clear();
  block.warps.resize(count);
  std::fill(std::begin(block.barriers), std::end(block.barriers),
            BarrierState());
  block.clusterArrived = block.clusterPhase = 0;
  block.arrivals.clear();
  block.printed.clear();
  block.nextWarp = 0;
  block.liveThreads = uint32_t(options.block.count());
  for (uint32_t i = 0; i < count; ++i) {
    Warp &warp = block.warps[i];
    warp.files[0] = block.rows.get() + rowBytes() / 4 * i;
    // Nobody writes constants.
    warp.files[1] = const_cast<uint32_t *>(kernel.constantRows.data());
    warp.predicates = block.predicates.data() + predicates * i;
    warp.predicates[kTrue] = kAllLanes;
    warp.block = &block;
    warp.launch = &state;
    warp.steps = kernel.steps.data();
    warp.current = warp.steps;
    warp.pc = kernel.program.functions.front().first;
    warp.number = i;
    const uint64_t threads = options.block.count() - uint64_t(i) * kLanes;
    warp.live = threads >= kLanes ? kAllLanes : (LaneMask(1) << threads) - 1;
    warp.active = warp.live;
    warp.info = {number,          i,
                 warp.live,       warp.files[0],
                 warp.predicates, kernel.constantRows.data()};
    setSpecials(block, warp);
  }
  if (state.observer)
    state.observer->onBlock(number);
}

bool Worker::advance(BlockState &block, uint64_t turns) {
  bool ran = false;
  const size_t count = block.warps.size();
  for (; turns > 0 && !isDone(block) && !state.fault; --turns) {
    uint64_t budget = kTurn;
    if (state.random != 0) {
      budget = 1 + state.nextRandom() % kRandomTurn;
      block.nextWarp = state.nextRandom() % count;
    }
    if (state.maxSteps != 0) {
      if (state.steps >= state.maxSteps) {
        Fault fault;
        fault.kind = Fault::Kind::Limit;
        fault.block = block.number;
        fault.message = "launch: expected an end within " +
                        std::to_string(state.maxSteps) +
                        " warp instructions, got more";
        state.fault = fault;
        return true;
      }
      budget = std::min(budget, state.maxSteps - state.steps);
    }
    // The next warp that has something to run.
    bool found = false;
    for (size_t i = 0; i < count && !found; ++i) {
      Warp &warp = block.warps[(block.nextWarp + i) % count];
      if (!warp.isReady())
        continue;
      found = true;
      block.nextWarp = (block.nextWarp + i + 1) % count;
      const uint64_t before = warp.stepsRun;
      warp.run(budget);
      if (warp.stepsRun - before >= kTurn)
        state.vainWaits = 0;
    }
    if (!found)
      return ran;
    ran = true;
    if (state.vainWaits > kVainWaits)
      setVainWaits(block);
  }
  return ran;
}

void Worker::end(BlockState &block) {
  finishArrivals(block);
  if (state.observer)
    state.observer->onBlockEnd(block.number);
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

std::string Worker::describeWait(const Warp &warp, const Part &part) const {
  const uint32_t at = part.wait == Wait::Barrier ? part.pc - 1 : part.pc;
  const Position place = kernel.program.places[at].at;
  const auto lane = static_cast<unsigned>(std::countr_zero(part.lanes));
  std::string text = warp.nameOfLane(lane) + " at " +
                     std::to_string(place.line) + ":" +
                     std::to_string(place.column) + " for ";
  if (part.wait == Wait::Barrier)
    return text + (part.members == kClusterBarrier
                       ? std::string("its cluster")
                       : "barrier " + std::to_string(part.members));
  return text + "lanes " + hex(part.members & warp.live & ~part.lanes);
}

/// Nothing runs any more: says who waits where.
void Worker::setDeadlock(const std::vector<BlockState *> &blocks) {
  constexpr size_t mostNamed = 4;
  Fault fault;
  fault.kind = Fault::Kind::Deadlock;
  std::string text;
  size_t named = 0, all = 0;
  for (const BlockState *block : blocks)
    for (const Warp &warp : block->warps)
      for (const Part &part : warp.parts) {
        if (all++ == 0) {
          fault.block = block->number;
          fault.warp = warp.number;
          fault.lanes = part.lanes;
          fault.at = part.wait == Wait::Barrier ? part.pc - 1 : part.pc;
        }
        if (part.wait != Wait::Barrier && fault.kind == Fault::Kind::Deadlock)
          fault.kind = Fault::Kind::DivergentSync;
        if (named < mostNamed) {
          text += (named ? "; " : "") + describeWait(warp, part);
          ++named;
        }
      }
  if (all > named)
    text += "; and " + std::to_string(all - named) + " more";
  fault.message =
      "launch: expected threads that go on, got all waiting: " + text;
  state.fault = fault;
}

/// All that run poll mbarriers whose phases nobody completes.
void Worker::setVainWaits(const BlockState &block) {
  Fault fault;
  fault.kind = Fault::Kind::Deadlock;
  fault.block = block.number;
  std::string where = "nowhere";
  for (const Warp &warp : block.warps)
    if (warp.active != 0 && where == "nowhere") {
      fault.warp = warp.number;
      fault.lanes = warp.active;
      fault.at = warp.at();
      where = warp.nameOfLane(unsigned(std::countr_zero(warp.active)));
    }
  fault.message = "launch: expected an mbarrier whose phase ends, got " +
                  std::to_string(kVainWaits) +
                  " waits for none that does, one by " + where;
  state.fault = fault;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

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
