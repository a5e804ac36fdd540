//===- threads_test.cpp - Loops of a pool ---------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "FakeModule.h"

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <sched.h>
#include <set>
#include <thread>

using namespace kvc::test;

namespace {

PoolPtr makePool(int32_t threads) {
  kvc_thread_pool *pool = nullptr;
  Message message;
  EXPECT_EQ(kvc_thread_pool_create(threads, nullptr, 0, message.get(), &pool),
            KVC_OK)
      << message.text;
  return PoolPtr(pool);
}

kvc_parallel_for loopOf(const PoolPtr &pool) {
  kvc_parallel_for loop = {};
  EXPECT_EQ(kvc_thread_pool_loop(pool.get(), nullptr, &loop), KVC_OK);
  return loop;
}

/// Plain ints, so that the sanitizer sees a missing happens-before.
struct Counts {
  std::vector<int> times;
  explicit Counts(int64_t count) : times(size_t(count), 0) {}
  static void body(void *ctx, int64_t index) {
    ++static_cast<Counts *>(ctx)->times[size_t(index)];
  }
};

double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

} // namespace

TEST(Threads, EveryIndexRunsOnceAndIsSeenAfterwards) {
  for (int32_t threads : {1, 2, 3, 8}) {
    PoolPtr pool = makePool(threads);
    int32_t size = 0;
    ASSERT_EQ(kvc_thread_pool_size(pool.get(), nullptr, &size), KVC_OK);
    EXPECT_EQ(size, threads);
    kvc_parallel_for loop = loopOf(pool);
    for (int64_t count : {0, 1, 2, 7, 64, 1000})
      for (int repeat = 0; repeat < 20; ++repeat) {
        Counts counts(count);
        loop.run(loop.user, count, Counts::body, &counts);
        for (int times : counts.times)
          ASSERT_EQ(times, 1);
      }
  }
}

TEST(Threads, WorkIsHandedOutAsThreadsBecomeFree) {
  PoolPtr pool = makePool(2);
  kvc_parallel_for loop = loopOf(pool);
  // Index 0 waits until all others have run: only dynamic hand-out gets there.
  struct State {
    std::atomic<int> others{0};
  } state;
  loop.run(
      loop.user, 8,
      [](void *ctx, int64_t index) {
        auto &others = static_cast<State *>(ctx)->others;
        if (index != 0)
          ++others;
        else
          while (others < 7)
            std::this_thread::yield();
      },
      &state);
  EXPECT_EQ(state.others, 7);
}

TEST(Threads, LoopsOfSeveralThreadsAndInsideOfLoops) {
  PoolPtr pool = makePool(3);
  kvc_parallel_for loop = loopOf(pool);
  std::vector<std::thread> callers;
  std::atomic<int> bad{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        Counts counts(33);
        loop.run(loop.user, 33, Counts::body, &counts);
        for (int times : counts.times)
          bad += times != 1;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(bad, 0);

  struct Nested {
    kvc_parallel_for loop;
    std::atomic<int> runs{0};
  } nested = {loop, {}};
  loop.run(
      loop.user, 5,
      [](void *ctx, int64_t) {
        auto &nested = *static_cast<Nested *>(ctx);
        nested.loop.run(
            nested.loop.user, 6,
            [](void *ctx, int64_t) { ++static_cast<Nested *>(ctx)->runs; },
            ctx);
      },
      &nested);
  EXPECT_EQ(nested.runs, 30);
}

TEST(Threads, AnIdlePoolUsesNoProcessor) {
  PoolPtr pool = makePool(4);
  kvc_parallel_for loop = loopOf(pool);
  Counts counts(100);
  loop.run(loop.user, 100, Counts::body, &counts);
  double before = cpuSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(cpuSeconds() - before, 0.05);
}

TEST(Threads, ThreadsThatAreDoneSleepWhileOthersWork) {
  PoolPtr pool = makePool(4);
  kvc_parallel_for loop = loopOf(pool);
  double before = cpuSeconds();
  loop.run(
      loop.user, 4,
      [](void *, int64_t index) {
        if (index == 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
      },
      nullptr);
  EXPECT_LT(cpuSeconds() - before, 0.05);
}

TEST(Threads, ThreadsAreBoundToTheirCores) {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof(usable), &usable), 0);
  int32_t core = 0;
  while (!CPU_ISSET(size_t(core), &usable))
    ++core;
  kvc_thread_pool *made = nullptr;
  Message message;
  ASSERT_EQ(kvc_thread_pool_create(3, &core, 1, message.get(), &made), KVC_OK)
      << message.text;
  PoolPtr pool(made);
  struct State {
    std::thread::id caller = std::this_thread::get_id();
    int32_t core;
    std::atomic<int> elsewhere{0}, arrived{0};
  } state;
  state.core = core;
  kvc_parallel_for loop = loopOf(pool);
  // Every thread takes one index, since none leaves before all have come.
  loop.run(
      loop.user, 3,
      [](void *ctx, int64_t) {
        auto &state = *static_cast<State *>(ctx);
        ++state.arrived;
        while (state.arrived < 3)
          std::this_thread::yield();
        if (std::this_thread::get_id() != state.caller &&
            sched_getcpu() != state.core)
          ++state.elsewhere;
      },
      &state);
  EXPECT_EQ(state.elsewhere, 0);

  made = nullptr;
  ASSERT_EQ(kvc_thread_pool_create(0, &core, 1, message.get(), &made), KVC_OK);
  PoolPtr one(made);
  int32_t size = 0;
  kvc_thread_pool_size(made, nullptr, &size);
  EXPECT_EQ(size, 1) << "without a count: one thread per core";
}

TEST(Threads, BadArguments) {
  kvc_thread_pool *pool = nullptr;
  Message message;
  int32_t negative = -1, absent = CPU_SETSIZE - 1;
  EXPECT_EQ(kvc_thread_pool_create(-1, nullptr, 0, message.get(), &pool),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_thread_pool_create(1025, nullptr, 0, message.get(), &pool),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_thread_pool_create(2, nullptr, 1, message.get(), &pool),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_thread_pool_create(2, &negative, 1, message.get(), &pool),
            KVC_INVALID_ARGUMENT);
  EXPECT_NE(std::string(message.text).find("cores[0]"), std::string::npos);
  EXPECT_EQ(kvc_thread_pool_create(2, &absent, 1, message.get(), &pool),
            KVC_FAILED)
      << "a core that this machine has not";
  EXPECT_EQ(kvc_thread_pool_create(2, nullptr, 0, message.get(), nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(pool, nullptr);
  EXPECT_EQ(kvc_thread_pool_free(nullptr), KVC_OK);
  EXPECT_EQ(kvc_thread_pool_loop(nullptr, nullptr, nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_thread_pool_size(nullptr, nullptr, nullptr),
            KVC_INVALID_ARGUMENT);
}
