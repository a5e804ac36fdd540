//===- together_test.cpp - What lanes do together, on random values -------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Exchanges among random groups of lanes and atomics of all of them at one
// place, against what the ISA says, written down once more for one lane.
//
//===----------------------------------------------------------------------===//

#include "MachineSupport.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <random>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

using Words = std::array<uint32_t, 32>;

struct Inputs {
  Words a, b, c, members;
};

struct Result {
  uint32_t value = 0;
  bool isTrue = false;
  bool isDefined = true;
};

/// Few values, so that many are equal, or any; groups of random lanes.
Inputs draw(std::mt19937 &random) {
  Inputs inputs;
  const uint32_t mask = random() % 2 ? 3 : ~0u;
  const uint32_t groups = 1 + random() % 4;
  std::array<uint32_t, 32> groupOf{};
  for (size_t lane = 0; lane < 32; ++lane) {
    inputs.a[lane] = random() & mask;
    inputs.b[lane] = random();
    inputs.c[lane] = random();
    groupOf[lane] = random() % groups;
  }
  for (size_t lane = 0; lane < 32; ++lane) {
    inputs.members[lane] = 0;
    for (uint32_t other = 0; other < 32; ++other)
      inputs.members[lane] |= uint32_t(groupOf[other] == groupOf[lane])
                              << other;
  }
  return inputs;
}

std::vector<uint32_t> membersOf(uint32_t mask) {
  std::vector<uint32_t> members;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1)
      members.push_back(lane);
  return members;
}

using Evaluate = std::function<Result(const Inputs &, uint32_t lane)>;

/// An instruction that gives %r6 and %p2 of %r2, its predicate %p1 (odd or
/// not), %r3, %r4 and the members %r5.
void check(const std::string &instruction, const Evaluate &evaluate) {
  Device device(
      header("8.0", "sm_90") +
      kernel(".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"
             "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [in];\n"
             "ld.param.u64 %rd1, [out];\nmul.wide.u32 %rd2, %r0, 4;\n"
             "add.s64 %rd3, %rd0, %rd2;\nadd.s64 %rd4, %rd1, %rd2;\n"
             "ld.global.b32 %r2, [%rd3];\nld.global.b32 %r3, [%rd3+128];\n"
             "ld.global.b32 %r4, [%rd3+256];\nld.global.b32 %r5, [%rd3+384];\n"
             "and.b32 %r7, %r2, 1;\nsetp.ne.u32 %p1, %r7, 0;\n"
             "mov.b64 %rd5, {%r2, %r2};\nmov.b32 %r6, 0;\n"
             "setp.ne.u32 %p2, 0, 0;\n" +
                 instruction +
                 "\nselp.u32 %r8, 1, 0, %p2;\nst.global.b32 [%rd4], %r6;\n"
                 "st.global.b32 [%rd4+128], %r8;\nret;",
             ".param .u64 in, .param .u64 out"));
  std::mt19937 random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const Inputs inputs = draw(random);
    std::vector<uint32_t> words;
    for (const Words *each : {&inputs.a, &inputs.b, &inputs.c, &inputs.members})
      words.insert(words.end(), each->begin(), each->end());
    const uint64_t in = device.buffer(words);
    const uint64_t out = device.buffer(std::vector<uint32_t>(64));
    device.mustRun("k", {1}, {32}, in, out);
    const auto found = device.read<uint32_t>(out, 64);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const Result expected = evaluate(inputs, lane);
      if (!expected.isDefined)
        continue;
      ASSERT_EQ(found[lane], expected.value)
          << instruction << " in lane " << lane << ", trial " << trial;
      ASSERT_EQ(found[32 + lane], uint32_t(expected.isTrue))
          << instruction << " in lane " << lane << ", trial " << trial;
    }
  }
}

/// As the ISA defines shfl.
Result shuffled(const std::string &mode, const Inputs &in, uint32_t lane) {
  const auto b = int(in.b[lane] & 31), c = int(in.c[lane] & 31);
  const auto segment = int(in.c[lane] >> 8 & 31), self = int(lane);
  const int most = (self & segment) | (c & ~segment);
  const int least = self & segment;
  const int from = mode == "up"     ? self - b
                   : mode == "down" ? self + b
                   : mode == "bfly" ? self ^ b
                                    : least | (b & ~segment);
  const bool isInside = mode == "up" ? from >= most : from <= most;
  const uint32_t source = isInside ? uint32_t(from) : lane;
  return {in.a[source & 31], isInside,
          (in.members[lane] >> (source & 31) & 1) != 0};
}

TEST(TogetherTest, ShufflesOfGroups) {
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    check("shfl.sync." + mode + ".b32 %r6|%p2, %r2, %r3, %r4, %r5;",
          [&](const Inputs &in, uint32_t lane) {
            return shuffled(mode, in, lane);
          });
}

TEST(TogetherTest, VotesOfGroups) {
  auto count = [](const Inputs &in, uint32_t lane) {
    size_t ayes = 0;
    for (uint32_t other : membersOf(in.members[lane]))
      ayes += in.a[other] & 1;
    return ayes;
  };
  auto size = [](const Inputs &in, uint32_t lane) {
    return membersOf(in.members[lane]).size();
  };
  check("vote.sync.all.pred %p2, %p1, %r5;",
        [&](const Inputs &in, uint32_t lane) {
          return Result{0, count(in, lane) == size(in, lane)};
        });
  check("vote.sync.any.pred %p2, !%p1, %r5;",
        [&](const Inputs &in, uint32_t lane) {
          return Result{0, count(in, lane) < size(in, lane)};
        });
  check("vote.sync.uni.pred %p2, %p1, %r5;",
        [&](const Inputs &in, uint32_t lane) {
          const size_t ayes = count(in, lane);
          return Result{0, ayes == 0 || ayes == size(in, lane)};
        });
  check("vote.sync.ballot.b32 %r6, %p1, %r5;",
        [&](const Inputs &in, uint32_t lane) {
          uint32_t ballot = 0;
          for (uint32_t other : membersOf(in.members[lane]))
            ballot |= (in.a[other] & 1) << other;
          return Result{ballot};
        });
}

TEST(TogetherTest, MatchesOfGroups) {
  auto equal = [](const Inputs &in, uint32_t lane) {
    uint32_t same = 0;
    for (uint32_t other : membersOf(in.members[lane]))
      same |= uint32_t(in.a[other] == in.a[lane]) << other;
    return same;
  };
  auto all = [&](const Inputs &in, uint32_t lane) {
    const bool agree = equal(in, lane) == in.members[lane];
    return Result{agree ? in.members[lane] : 0, agree};
  };
  auto any = [&](const Inputs &in, uint32_t lane) {
    return Result{equal(in, lane)};
  };
  check("match.any.sync.b32 %r6, %r2, %r5;", any);
  check("match.any.sync.b64 %r6, %rd5, %r5;", any);
  check("match.all.sync.b32 %r6|%p2, %r2, %r5;", all);
  check("match.all.sync.b64 %r6|%p2, %rd5, %r5;", all);
}

TEST(TogetherTest, ReductionsOfGroups) {
  auto reduce = [](const std::string &op, auto &&step) {
    check("redux.sync." + op + " %r6, %r2, %r5;",
          [&](const Inputs &in, uint32_t lane) {
            const auto members = membersOf(in.members[lane]);
            uint32_t value = in.a[members.front()];
            for (size_t i = 1; i < members.size(); ++i)
              value = step(value, in.a[members[i]]);
            return Result{value};
          });
  };
  reduce("add.u32", [](uint32_t x, uint32_t y) { return x + y; });
  reduce("add.s32", [](uint32_t x, uint32_t y) { return x + y; });
  reduce("min.u32", [](uint32_t x, uint32_t y) { return std::min(x, y); });
  reduce("max.u32", [](uint32_t x, uint32_t y) { return std::max(x, y); });
  reduce("min.s32", [](uint32_t x, uint32_t y) {
    return uint32_t(std::min(int32_t(x), int32_t(y)));
  });
  reduce("max.s32", [](uint32_t x, uint32_t y) {
    return uint32_t(std::max(int32_t(x), int32_t(y)));
  });
  reduce("and.b32", [](uint32_t x, uint32_t y) { return x & y; });
  reduce("or.b32", [](uint32_t x, uint32_t y) { return x | y; });
  reduce("xor.b32", [](uint32_t x, uint32_t y) { return x ^ y; });
}

TEST(TogetherTest, OneOfEachGroupIsElected) {
  check("elect.sync %r6|%p2, %r5;", [](const Inputs &in, uint32_t lane) {
    const uint32_t leader = membersOf(in.members[lane]).front();
    return Result{leader, leader == lane};
  });
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// All lanes at one place, the lowest first; `step` gives what is left there.
template <typename T>
void checkAtomic(const std::string &op,
                 const std::function<T(T before, T b, T c)> &step) {
  const std::string bits = std::to_string(sizeof(T) * 8);
  const std::string reg = sizeof(T) == 8 ? "%rd2" : "%r1";
  const bool isCas = op.starts_with("cas");
  for (const std::string space : {"global", "shared"}) {
    const std::string at = space == "global" ? "[%rd10]" : "[s]";
    Device device(
        header("8.0", "sm_90") + ".shared .align 8 .b64 s;\n" +
        kernel(".reg .b32 %r<16>; .reg .b64 %rd<32>;\n"
               "mov.u32 %r0, %tid.x;\nld.param.u64 %rd10, [place];\n"
               "ld.param.u64 %rd11, [in];\nld.param.u64 %rd12, [out];\n"
               "mul.wide.u32 %rd13, %r0, " +
                   std::to_string(sizeof(T)) +
                   ";\nadd.s64 %rd11, %rd11, %rd13;\nadd.s64 %rd12, %rd12, "
                   "%rd13;\nld.global.b" +
                   bits + " " + reg + "1, [%rd11];\nld.global.b" + bits + " " +
                   reg + "2, [%rd11+" + std::to_string(32 * sizeof(T)) +
                   "];\nld.global.b" + bits + " " + reg +
                   "3, [%rd10];\nst.shared.b" + bits + " [s], " + reg +
                   "3;\nbar.warp.sync -1;\natom." + space + "." + op + " " +
                   reg + "4, " + at + ", " + reg + "1" +
                   (isCas ? ", " + reg + "2" : "") +
                   ";\nbar.warp.sync -1;\nst.global.b" + bits + " [%rd12], " +
                   reg + "4;\nld." + space + ".b" + bits + " " + reg + "5, " +
                   at + ";\nst.global.b" + bits + " [%rd12+" +
                   std::to_string(32 * sizeof(T)) + "], " + reg + "5;\nret;",
               ".param .u64 place, .param .u64 in, .param .u64 out"));
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 20; ++trial) {
      const uint64_t mask = random() % 2 ? 3 : ~uint64_t(0);
      std::vector<T> in(64), start{T(random() & mask)};
      for (T &each : in)
        each = T(random() & mask);
      const uint64_t out = device.buffer(std::vector<T>(64));
      device.mustRun("k", {1}, {32}, device.buffer(start), device.buffer(in),
                     out);
      const auto found = device.read<T>(out, 64);
      T value = start[0];
      for (size_t lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(found[lane], value) << op << " " << space << " " << lane;
        value = step(value, in[lane], in[32 + lane]);
      }
      for (size_t lane = 0; lane < 32; ++lane)
        ASSERT_EQ(found[32 + lane], value) << op << " " << space;
    }
  }
}

template <typename T, typename Signed>
void checkAtomicsOf(const std::string &bits) {
  const std::string b = ".b" + bits, u = ".u" + bits, s = ".s" + bits;
  checkAtomic<T>("add" + u, [](T a, T x, T) { return T(a + x); });
  checkAtomic<T>("and" + b, [](T a, T x, T) { return T(a & x); });
  checkAtomic<T>("or" + b, [](T a, T x, T) { return T(a | x); });
  checkAtomic<T>("xor" + b, [](T a, T x, T) { return T(a ^ x); });
  checkAtomic<T>("exch" + b, [](T, T x, T) { return x; });
  checkAtomic<T>("cas" + b, [](T a, T x, T y) { return a == x ? y : a; });
  checkAtomic<T>("min" + u, [](T a, T x, T) { return std::min(a, x); });
  checkAtomic<T>("max" + u, [](T a, T x, T) { return std::max(a, x); });
  checkAtomic<T>("min" + s,
                 [](T a, T x, T) { return T(std::min(Signed(a), Signed(x))); });
  checkAtomic<T>("max" + s,
                 [](T a, T x, T) { return T(std::max(Signed(a), Signed(x))); });
}

TEST(TogetherTest, AtomicsOfWords) {
  using T = uint32_t;
  checkAtomicsOf<T, int32_t>("32");
  checkAtomic<T>("inc.u32", [](T a, T x, T) { return a >= x ? 0 : a + 1; });
  checkAtomic<T>("dec.u32",
                 [](T a, T x, T) { return a == 0 || a > x ? x : a - 1; });
}

TEST(TogetherTest, AtomicsOfDoubleWords) {
  checkAtomicsOf<uint64_t, int64_t>("64");
}

} // namespace
