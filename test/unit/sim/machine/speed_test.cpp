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

std::string textOf(const std::string &name) {
  std::ifstream file(KVC_TEST_DATA "/ptx/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<SimdLevel> levels() {
  std::vector<SimdLevel> list;
  for (SimdLevel level :
       {SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512})
    if (isSupported(level))
      list.push_back(level);
  return list;
}

void report(SimdLevel level, const char *mode, uint64_t steps, double seconds) {
  std::printf("%-8s %-14s %9llu warp instructions %7.3f s %7.1f millions/s\n",
              nameOf(level), mode, static_cast<unsigned long long>(steps),
              seconds, double(steps) / seconds * 1e-6);
}

/// 1.0 in f16.
std::vector<uint16_t> ones(int64_t count) {
  return std::vector<uint16_t>(size_t(count), 0x3C00);
}

TEST(SpeedTest, VectorDecode) {
  Device device(textOf("decode_vector.ptx"));
  const int tokens = 2048, heads = 4, group = 4, dim = 64;
  // All values are equal, so the output is.
  const uint64_t q = device.buffer(ones(heads * group * dim));
  const uint64_t k = device.buffer(ones(tokens * heads * dim));
  const uint64_t v = device.buffer(ones(tokens * heads * dim));
  const size_t count = size_t(heads) * group * dim;
  const uint64_t out = device.buffer(std::vector<float>(count));
  for (SimdLevel level : levels()) {
    Counter counter;
    for (Observer *observer : {static_cast<Observer *>(nullptr),
                               static_cast<Observer *>(&counter)}) {
      device.options.level = level;
      device.options.observer = observer;
      const double begin = processSeconds();
      const LaunchResult result =
          device.mustRun("decode", {heads}, {32, group}, q, k, v, out, tokens,
                         heads, group, 0.125f);
      report(level, observer ? "observed" : "", result.steps,
             processSeconds() - begin);
      EXPECT_GT(result.steps, uint64_t(tokens) * heads * group * 20);
      if (observer) {
        EXPECT_EQ(counter.steps, result.steps);
      }
      for (float value : device.read<float>(out, count))
        ASSERT_NEAR(value, 1.0f, 1e-6f);
    }
    EXPECT_GT(counter.accesses, uint64_t(tokens) * heads * group * 2);
  }
}

TEST(SpeedTest, TensorCoreDecode) {
  Device device(textOf("decode_mma.ptx"));
  const int tokens = 4096, heads = 8, group = 4, dim = 128;
  const uint32_t parts = 8;
  const uint64_t q = device.buffer(ones(heads * group * dim));
  const uint64_t k = device.buffer(ones(int64_t(tokens) * heads * dim));
  const uint64_t v = device.buffer(ones(int64_t(tokens) * heads * dim));
  const size_t rows = size_t(parts) * 4 * heads * group;
  const uint64_t out = device.buffer(std::vector<float>(rows * dim));
  const uint64_t stats = device.buffer(std::vector<float>(rows * 2));
  for (SimdLevel level : levels())
    for (bool isChain : {false, true}) {
      device.options.level = level;
      device.options.mma.isChain = isChain;
      const double begin = processSeconds();
      const LaunchResult result =
          device.mustRun("decodeMma", {heads, parts}, {128}, q, k, v, out,
                         stats, tokens, heads, group, 0.01f);
      report(level, isChain ? "mma as a chain" : "mma of A100", result.steps,
             processSeconds() - begin);
      // Each warp takes as many tokens, all of one weight.
      for (float value : device.read<float>(out, rows * dim))
        ASSERT_EQ(value, float(tokens) / (parts * 4));
    }
}

} // namespace
