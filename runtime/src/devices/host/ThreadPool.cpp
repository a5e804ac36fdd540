//===- ThreadPool.cpp - Threads that sleep between loops ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One loop runs at a time. Threads sleep on a condition variable until a loop
// is open, join it under the mutex, take indices from an atomic counter, and
// leave under the mutex. A thread that wakes too late finds the loop closed and
// sleeps again, so the loop's data may live on the stack of the thread that
// started it.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Diag.h"
#include "kvc/threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

using namespace kvc;

namespace {

constexpr int32_t kMaxThreads = 1024;

/// Indices are taken in runs, so that a loop of many short calls does not spend
/// its time on the counter; each thread still comes back at least this often.
constexpr int64_t kTakesPerThread = 16;

} // namespace

namespace kvc {

/// One call of kvc_parallel_for; the pool has no more than one at a time.
struct ParallelLoop {
  int64_t count, grain;
  void (*body)(void *ctx, int64_t index);
  void *ctx;
  std::atomic<int64_t> next{0};

  void work() {
    for (;;) {
      int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count)
        return;
      int64_t end = std::min(begin + grain, count);
      for (int64_t i = begin; i < end; ++i)
        body(ctx, i);
    }
  }
};

} // namespace kvc

namespace {

/// A loop that a body starts runs in place: its pool is busy with the outer
/// one.
thread_local bool insideLoop = false;

} // namespace

struct kvc_thread_pool {
  ~kvc_thread_pool() {
    {
      std::lock_guard lock(mutex);
      isStopping = true;
    }
    wake.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  kvc_status start(int32_t numThreads, const std::vector<int32_t> &cores,
                   kvc_diag *diag);
  void run(int64_t count, void (*body)(void *, int64_t), void *ctx);
  int32_t size() const { return static_cast<int32_t>(threads.size()) + 1; }

private:
  void serve();

  std::vector<std::thread> threads;
  std::mutex loops; ///< Held by the thread whose loop runs.
  std::mutex mutex; ///< Guards what follows.
  std::condition_variable wake, done;
  ParallelLoop *open = nullptr;
  uint64_t generation = 0; ///< Of the open loop: a thread joins it once.
  int32_t working = 0;
  bool isStopping = false;
};

kvc_status kvc_thread_pool::start(int32_t numThreads,
                                  const std::vector<int32_t> &cores,
                                  kvc_diag *diag) {
  threads.reserve(size_t(numThreads) - 1);
  for (int32_t i = 1; i < numThreads; ++i) {
    try {
      threads.emplace_back([this] { serve(); });
    } catch (const std::system_error &error) {
      return fail(diag, KVC_FAILED, "threads: thread %d did not start: %s", i,
                  error.what());
    }
    if (cores.empty())
      continue;
    int32_t core = cores[size_t(i) % cores.size()];
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(size_t(core), &set);
    if (int error = pthread_setaffinity_np(threads.back().native_handle(),
                                           sizeof(set), &set))
      return fail(diag, KVC_FAILED,
                  "cores: thread %d does not run on core %d: %s", i, core,
                  std::strerror(error));
  }
  return KVC_OK;
}

void kvc_thread_pool::serve() {
  insideLoop = true;
  uint64_t seen = 0;
  std::unique_lock lock(mutex);
  for (;;) {
    wake.wait(lock, [&] { return isStopping || (open && generation != seen); });
    if (isStopping)
      return;
    seen = generation;
    ParallelLoop *loop = open;
    ++working;
    lock.unlock();
    loop->work();
    lock.lock();
    if (--working == 0)
      done.notify_one();
  }
}

void kvc_thread_pool::run(int64_t count, void (*body)(void *, int64_t),
                          void *ctx) {
  if (insideLoop || threads.empty() || count <= 1) {
    for (int64_t i = 0; i < count; ++i)
      body(ctx, i);
    return;
  }
  std::lock_guard only(loops);
  ParallelLoop loop{count,
                    std::max<int64_t>(count / (size() * kTakesPerThread), 1),
                    body, ctx};
  {
    std::lock_guard lock(mutex);
    open = &loop;
    ++generation;
  }
  // No more threads than there are indices besides the caller's first.
  if (count - 1 >= int64_t(threads.size()))
    wake.notify_all();
  else
    for (int64_t i = 1; i < count; ++i)
      wake.notify_one();
  insideLoop = true;
  loop.work();
  insideLoop = false;
  std::unique_lock lock(mutex);
  open = nullptr;
  done.wait(lock, [&] { return working == 0; });
}

namespace {

/// The cores that this process may use, as the system counts them.
kvc_status usableCores(int32_t &count, kvc_diag *diag) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    // More cores than a cpu_set_t has bits.
    count = static_cast<int32_t>(std::thread::hardware_concurrency());
    if (count == 0)
      return fail(diag, KVC_FAILED,
                  "threads: the system does not tell its cores, expected a "
                  "number of threads, got 0");
  } else {
    count = CPU_COUNT(&set);
  }
  count = std::min(count, kMaxThreads);
  return KVC_OK;
}

void runOnPool(void *user, int64_t count, void (*body)(void *, int64_t),
               void *ctx) {
  static_cast<kvc_thread_pool *>(user)->run(count, body, ctx);
}

} // namespace

extern "C" kvc_status kvc_thread_pool_create(int32_t num_threads,
                                             const int32_t *cores,
                                             int64_t num_cores, kvc_diag *diag,
                                             kvc_thread_pool **pool) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(pool, "pool", diag));
    if (num_threads < 0 || num_threads > kMaxThreads)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "num_threads: expected 0 to %d, got %d", kMaxThreads,
                  num_threads);
    if (num_cores < 0 || num_cores > CPU_SETSIZE || (num_cores > 0 && !cores))
      return fail(
          diag, KVC_INVALID_ARGUMENT,
          "num_cores: expected the length of cores, at most %d, got %lld",
          CPU_SETSIZE, static_cast<long long>(num_cores));
    for (int64_t i = 0; i < num_cores; ++i)
      if (cores[i] < 0 || cores[i] >= CPU_SETSIZE)
        return fail(diag, KVC_INVALID_ARGUMENT,
                    "cores[%lld]: expected 0 to %d, got %d",
                    static_cast<long long>(i), CPU_SETSIZE - 1, cores[i]);
    if (num_threads == 0 && num_cores > 0)
      num_threads =
          static_cast<int32_t>(std::min<int64_t>(num_cores, kMaxThreads));
    if (num_threads == 0)
      KVC_TRY(usableCores(num_threads, diag));
    auto created = std::make_unique<kvc_thread_pool>();
    KVC_TRY(created->start(num_threads, {cores, cores + num_cores}, diag));
    *pool = created.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_thread_pool_free(kvc_thread_pool *pool) {
  delete pool;
  return KVC_OK;
}

extern "C" kvc_status kvc_thread_pool_loop(kvc_thread_pool *pool,
                                           kvc_diag *diag,
                                           kvc_parallel_for *loop) {
  KVC_TRY(requirePointer(pool, "pool", diag));
  KVC_TRY(requirePointer(loop, "loop", diag));
  *loop = {runOnPool, pool};
  return KVC_OK;
}

extern "C" kvc_status kvc_thread_pool_size(const kvc_thread_pool *pool,
                                           kvc_diag *diag,
                                           int32_t *num_threads) {
  KVC_TRY(requirePointer(pool, "pool", diag));
  KVC_TRY(requirePointer(num_threads, "num_threads", diag));
  *num_threads = pool->size();
  return KVC_OK;
}
