//===- speed_test.cpp - Warp instructions a second ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Prints how fast one core runs a decode of attention, per instruction set, in
// time of the process. Machines are shared, so only the work is checked.
//
//===----------------------------------------------------------------------===//

#include "MachineSupport.h"

#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

double processSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// Counts what it is told, as an observer that does nothing else.
class Counter : public Observer {
public:
  void onStep(const WarpInfo &, uint32_t, LaneMask, LaneMask) override {
    ++steps;
  }
  void onAccess(const WarpInfo &, uint32_t, const MemoryAccess &) override {
    ++accesses;
  }
  uint64_t steps = 0, accesses = 0;
};

TEST(SpeedTest, VectorDecode) {
  std::ifstream file(KVC_TEST_DATA "/ptx/decode_vector.ptx");
  std::stringstream text;
  text << file.rdbuf();
  Device device(text.str());
  const int tokens = 2048, heads = 4, group = 4, dim = 64;
  // 1.0 everywhere, so that the output is too.
  const uint64_t q =
      device.buffer(std::vector<uint16_t>(size_t(heads) * group * dim, 0x3C00));
  const uint64_t k = device.buffer(
      std::vector<uint16_t>(size_t(tokens) * heads * dim, 0x3C00));
  const uint64_t v = device.buffer(
      std::vector<uint16_t>(size_t(tokens) * heads * dim, 0x3C00));
  const uint64_t out =
      device.buffer(std::vector<float>(size_t(heads) * group * dim));
  for (SimdLevel level :
       {SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512}) {
    if (!isSupported(level))
      continue;
    Counter counter;
    for (Observer *observer : {static_cast<Observer *>(nullptr),
                               static_cast<Observer *>(&counter)}) {
      device.options.level = level;
      device.options.observer = observer;
      const double begin = processSeconds();
      const LaunchResult result =
          device.mustRun("decode", {heads}, {32, group}, q, k, v, out, tokens,
                         heads, group, 0.125f);
      const double seconds = processSeconds() - begin;
      std::printf("%-8s %-14s %9llu warp instructions %7.1f millions/s\n",
                  nameOf(level), observer ? "observed" : "",
                  static_cast<unsigned long long>(result.steps),
                  double(result.steps) / seconds * 1e-6);
      EXPECT_GT(result.steps, uint64_t(tokens) * heads * group * 20);
      if (observer) {
        EXPECT_EQ(counter.steps, result.steps);
      }
      for (float value : device.read<float>(out, size_t(heads) * group * dim))
        ASSERT_NEAR(value, 1.0f, 1e-6f);
    }
    EXPECT_GT(counter.accesses, uint64_t(tokens) * heads * group * 2);
  }
}

} // namespace
