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

#include "kvc/Sim/Check/Checker.h"
#include "kvc/Sim/Check/Contraction.h"
#include "kvc/Sim/Count/Counter.h"
#include "kvc/Sim/Machine/ObserverList.h"

#include <cmath>
#include <ctime>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

double processSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// Sees everything and does nothing but count it.
class Watcher final : public Observer {
public:
  void onStep(const WarpInfo &, uint32_t, LaneMask, LaneMask) override {
    ++steps;
  }
  void onAccess(const WarpInfo &, uint32_t, const MemoryAccess &) override {
    ++accesses;
  }
  uint64_t steps = 0, accesses = 0;
};

std::vector<SimdLevel> levels() {
  std::vector<SimdLevel> list;
  for (SimdLevel level :
       {SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512})
    if (isSupported(level))
      list.push_back(level);
  return list;
}

void report(SimdLevel level, const char *mode, uint64_t steps, double seconds) {
  std::printf("%-8s %-16s %9llu warp instructions %7.3f s %7.1f millions/s\n",
              nameOf(level), mode, static_cast<unsigned long long>(steps),
              seconds, double(steps) / seconds * 1e-6);
}

/// 1.0 in f16.
std::vector<uint16_t> ones(int64_t count) {
  return std::vector<uint16_t>(size_t(count), 0x3C00);
}

/// The vector kernel over values that are all equal, so that the output is.
class VectorDecode {
public:
  VectorDecode(const std::string &text, Observer *observer)
      : device(text, observer), q(device.buffer(ones(heads * group * dim))),
        k(device.buffer(ones(tokens * heads * dim))),
        v(device.buffer(ones(tokens * heads * dim))),
        out(device.buffer(std::vector<float>(count))) {}

  /// The seconds that it takes.
  double run(SimdLevel level) {
    device.options.level = level;
    const double begin = processSeconds();
    steps = device
                .mustRun("decode", {heads}, {32, group}, q, k, v, out, tokens,
                         heads, group, 0.125f)
                .steps;
    const double seconds = processSeconds() - begin;
    EXPECT_GT(steps, uint64_t(tokens) * heads * group * 20);
    for (float value : device.read<float>(out, count))
      EXPECT_NEAR(value, 1.0f, 1e-6f);
    return seconds;
  }

  static constexpr int tokens = 2048, heads = 4, group = 4, dim = 64;
  static constexpr size_t count = size_t(heads) * group * dim;
  Device device;
  uint64_t q, k, v, out;
  uint64_t steps = 0;
};

TEST(SpeedTest, VectorDecode) {
  const std::string text = ptxFile("decode_vector.ptx");
  Watcher watcher;
  Counter counter;
  Checker checker;
  ObserverList both;
  both.add(counter);
  both.add(checker);
  VectorDecode plain(text, nullptr), watched(text, &watcher),
      counted(text, &counter), checked(text, &checker),
      countedAndChecked(text, &both);
  // The last of the checks: results when products and sums become one.
  const Contraction contraction =
      contractionOf(checked.device.module->module());
  VectorDecode contracted(contraction.text, nullptr);
  for (SimdLevel level : levels()) {
    auto print = [&](const char *mode, VectorDecode &decode) {
      const double seconds = decode.run(level);
      report(level, mode, decode.steps, seconds);
      EXPECT_EQ(decode.steps, plain.steps);
      return seconds;
    };
    print("", plain);
    watcher.steps = watcher.accesses = 0;
    print("watched", watched);
    EXPECT_EQ(watcher.steps, plain.steps);
    EXPECT_GT(watcher.accesses, plain.steps / 50 * 2);
    print("with counters", counted);
    EXPECT_EQ(counter.counts().issued, plain.steps);
    report(level, "with all checks", plain.steps,
           print("with the checker", checked) + contracted.run(level));
    print("with both", countedAndChecked);
    EXPECT_EQ(checker.findings().size(), 0u);
  }
}

TEST(SpeedTest, TensorCoreDecode) {
  Checker checker;
  Counter counter;
  Device device(ptxFile("decode_mma.ptx"), &checker);
  const int tokens = 4096, heads = 8, group = 4, dim = 128;
  const uint32_t parts = 8;
  const uint64_t q = device.buffer(ones(heads * group * dim));
  const uint64_t k = device.buffer(ones(int64_t(tokens) * heads * dim));
  const uint64_t v = device.buffer(ones(int64_t(tokens) * heads * dim));
  const size_t rows = size_t(parts) * 4 * heads * group;
  const uint64_t out = device.buffer(std::vector<float>(rows * dim));
  const uint64_t stats = device.buffer(std::vector<float>(rows * 2));
  auto run = [&](SimdLevel level, const char *mode, Observer *observer) {
    device.options.level = level;
    device.options.observer = observer;
    const double begin = processSeconds();
    const LaunchResult result =
        device.mustRun("decodeMma", {heads, parts}, {128}, q, k, v, out, stats,
                       tokens, heads, group, 0.01f);
    report(level, mode, result.steps, processSeconds() - begin);
    // Each warp takes as many tokens, all of one weight.
    for (float value : device.read<float>(out, rows * dim))
      ASSERT_EQ(value, float(tokens) / (parts * 4));
  };
  for (SimdLevel level : levels()) {
    device.options.mma.isChain = true;
    run(level, "mma as a chain", nullptr);
    device.options.mma.isChain = false;
    run(level, "mma of A100", nullptr);
    run(level, "with counters", &counter);
    run(level, "with the checker", &checker);
    EXPECT_EQ(checker.findings().size(), 0u);
  }
}

} // namespace
