//===- threads_test.cpp - Several threads of the host ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include "kvc/Driver/Queue.h"

#include <set>
#include <thread>

using namespace kvc::driver;
using namespace kvc::test;

namespace {

class Threads : public DriverTest {};

TEST_F(Threads, UseOneContext) {
  const CUmodule module = load(kStep);
  const CUfunction function = kernel(module, "step");
  constexpr unsigned threads = 4, rounds = 8;
  std::vector<uint32_t> results(threads, 0);
  std::vector<std::thread> all;
  for (unsigned number = 0; number < threads; ++number)
    all.emplace_back([&, number] {
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      const CUdeviceptr x = allocate(4);
      const CUstream s = stream();
      const CUevent e = event();
      EXPECT_EQ(cuMemsetD32Async(x, 0, 1, s), CUDA_SUCCESS);
      for (unsigned i = 0; i < rounds; ++i) {
        EXPECT_EQ(step(function, x, number, s), CUDA_SUCCESS);
        EXPECT_EQ(cuEventRecord(e, s), CUDA_SUCCESS);
        if (i % 3 == 0)
          EXPECT_EQ(cuEventSynchronize(e), CUDA_SUCCESS);
        // Its own stream 0, too.
        EXPECT_EQ(cuStreamWaitEvent(CU_STREAM_PER_THREAD, e, 0), CUDA_SUCCESS);
      }
      EXPECT_EQ(cuMemcpyDtoHAsync_v2(&results[number], x, 4, s), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamDestroy_v2(s), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree_v2(x), CUDA_SUCCESS);
    });
  for (std::thread &each : all)
    each.join();
  for (unsigned number = 0; number < threads; ++number)
    EXPECT_EQ(results[number], number * 3280u); // (3^8 - 1) / 2
}

TEST_F(Threads, LoadAndUnload) {
  std::vector<std::thread> all;
  for (unsigned number = 0; number < 3; ++number)
    all.emplace_back([&] {
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      for (int i = 0; i < 5; ++i) {
        const CUmodule module = load(kStep);
        const CUdeviceptr x = allocate(4);
        EXPECT_EQ(step(kernel(module, "step"), x, 1, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFree_v2(x), CUDA_SUCCESS);
      }
    });
  for (std::thread &each : all)
    each.join();
}

//===----------------------------------------------------------------------===//
// The queue alone
//===----------------------------------------------------------------------===//

Work note(std::vector<int> &order, int number) {
  Work work;
  work.run = [&order, number] {
    order.push_back(number);
    return CUDA_SUCCESS;
  };
  return work;
}

TEST(Queue, RunsWhatIsWaitedForAndWhatThatFollows) {
  Queue queue({std::nullopt, 0});
  auto failure = std::make_shared<Failure>();
  std::vector<int> order;
  const OpId a = queue.submit(failure, note(order, 1), {});
  const OpId b = queue.submit(failure, note(order, 2), {});
  const OpId c = queue.submit(failure, note(order, 3), {a});
  queue.wait(c);
  EXPECT_EQ(order, (std::vector<int>{1, 3}));
  EXPECT_FALSE(queue.isDone(b));
  EXPECT_TRUE(queue.isDone(a));
  EXPECT_EQ(queue.stop(), 1u);
  EXPECT_EQ(order.size(), 2u);
}

TEST(Queue, WhatIsHeldBackRunsInTheEnd) {
  Queue queue({std::chrono::milliseconds(20), 0});
  auto failure = std::make_shared<Failure>();
  std::vector<int> order;
  const auto begin = std::chrono::steady_clock::now();
  const OpId first = queue.submit(failure, note(order, 1), {});
  const OpId last = queue.submit(failure, note(order, 2), {first});
  while (!queue.isDone(last))
    std::this_thread::yield();
  EXPECT_GE(std::chrono::steady_clock::now() - begin,
            std::chrono::milliseconds(20));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Queue, SeedsGiveOtherOrdersThatRespectWhatFollows) {
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Queue queue({std::nullopt, seed});
    auto failure = std::make_shared<Failure>();
    std::vector<int> order;
    OpId last[2] = {0, 0};
    for (int i = 0; i < 6; ++i)
      last[i % 2] = queue.submit(failure, note(order, i), {last[i % 2]});
    queue.wait(queue.submit(failure, {}, {last[0], last[1]}));
    ASSERT_EQ(order.size(), 6u);
    std::vector<int> of[2];
    for (int each : order)
      of[each % 2].push_back(each);
    EXPECT_EQ(of[0], (std::vector<int>{0, 2, 4}));
    EXPECT_EQ(of[1], (std::vector<int>{1, 3, 5}));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 4u);
}

TEST(Queue, AFailureEndsTheWorkOfItsContext) {
  Queue queue({std::nullopt, 0});
  auto bad = std::make_shared<Failure>(), good = std::make_shared<Failure>();
  std::vector<int> order;
  Work fails;
  fails.run = [] { return CUDA_ERROR_ASSERT; };
  const OpId first = queue.submit(bad, fails, {});
  Work told = note(order, 1);
  CUresult result = CUDA_SUCCESS;
  told.onFailure = [&](CUresult of) { result = of; };
  queue.submit(bad, told, {first});
  queue.submit(good, note(order, 2), {first});
  queue.waitAll(*bad);
  queue.waitAll(*good);
  EXPECT_EQ(order, (std::vector<int>{2}));
  EXPECT_EQ(result, CUDA_ERROR_ASSERT);
  EXPECT_EQ(bad->result.load(), CUDA_ERROR_ASSERT);
  EXPECT_EQ(good->result.load(), CUDA_SUCCESS);
}

} // namespace
