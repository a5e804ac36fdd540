//===- Queue.h - Operations of a device, and when they run ------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Operations run one by one on a thread of their own, each after those that it
// has to follow. They are held back until somebody waits for them, asks for
// them, or has waited long enough: a program that does not wait sees memory as
// it was. Streams, events and graphs are nothing but what follows what.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DRIVER_QUEUE_H
#define KVC_DRIVER_QUEUE_H

#include "kvc/Driver/Types.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

namespace kvc::driver {

/// In the order of submission, from 1. 0 is an operation that is done.
using OpId = uint64_t;

/// The first error of a context: from then on its operations do nothing.
struct Failure {
  std::atomic<CUresult> result = CUDA_SUCCESS;
};

/// What an operation does, as often as one likes.
struct Work {
  std::function<CUresult()> run; ///< May be empty.
  /// Runs as soon as it can, whether or not somebody waits.
  bool isEager = false;
  /// Also after a failure; told of it by this.
  std::function<void(CUresult)> onFailure;
};

class Queue {
public:
  /// Operations that may be held back; with more, the oldest run.
  static constexpr size_t kMostPending = 1024;

  struct Options {
    std::optional<std::chrono::milliseconds> hold;
    uint64_t seed = 0;
  };

  explicit Queue(Options options) : options(options), random(options.seed) {}
  ~Queue() { stop(); }

  OpId submit(std::shared_ptr<Failure> failure, Work work,
              const std::vector<OpId> &after);
  bool isDone(OpId id);
  /// Lets it run, and what it follows.
  void release(OpId id);
  /// Returns when it is done. Not to be called by an operation.
  void wait(OpId id);
  /// All operations of one context.
  void waitAll(const Failure &failure);
  /// Until no more than kMostPending are left.
  void throttle();
  /// Whether this is the thread that operations run on.
  bool isWorker() const;
  /// Ends the thread after the operation that runs. How many were left.
  size_t stop();

private:
  struct Operation {
    std::shared_ptr<Failure> failure;
    Work work;
    std::vector<OpId> after;
    std::chrono::steady_clock::time_point since;
  };
  using Lock = std::unique_lock<std::mutex>;

  void loop();
  void releaseLocked(OpId id);
  void waitLocked(Lock &lock, OpId id);
  std::optional<OpId> pick();
  void runOne(Lock &lock, OpId id);

  const Options options;
  std::mutex mutex;
  std::condition_variable changed; ///< For the thread.
  std::condition_variable done;    ///< For those who wait.
  std::unordered_map<OpId, Operation> pending;
  std::set<OpId> held, released; ///< Pending and not running.
  OpId next = 1;
  bool stopping = false;
  std::mt19937_64 random;
  std::thread thread;
  std::atomic<std::thread::id> worker;
};

} // namespace kvc::driver

#endif // KVC_DRIVER_QUEUE_H
