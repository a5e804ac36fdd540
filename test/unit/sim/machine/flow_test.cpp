//===- flow_test.cpp - Divergence, barriers, calls, deadlocks -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "MachineSupport.h"

#include <map>
#include <new>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

const std::string kRegisters =
    ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; "
    ".reg .f32 %f<8>; .reg .f64 %fd<4>;\n"
    "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [out];\n"
    "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd1, %rd0;\n";

/// A kernel that computes %r1 of each thread, the other ones' parts before it.
std::string moduleOf(const std::string &body, const std::string &before = "",
                     std::string_view target = "sm_80") {
  return header("8.0", target) + before +
         kernel(kRegisters + body + "\nst.global.u32 [%rd1], %r1;\nret;",
                ".param .u64 out");
}

/// %r1 of each thread of one block.
std::vector<uint32_t> results(const std::string &text, uint32_t threads,
                              uint64_t seed = 0,
                              uint64_t maxSteps = 10'000'000) {
  Device device(text);
  device.options.seed = seed;
  device.options.maxSteps = maxSteps;
  const uint64_t out = device.buffer(std::vector<uint32_t>(threads));
  device.mustRun("k", {1}, {threads}, out);
  return device.read<uint32_t>(out, threads);
}

/// The fault of one block.
Fault faultOf(const std::string &text, uint32_t threads, uint32_t blocks = 1) {
  Device device(text);
  device.options.maxSteps = 20'000'000;
  const uint64_t out =
      device.buffer(std::vector<uint32_t>(size_t(threads) * blocks), "out");
  const LaunchResult result = device.run("k", {blocks}, {threads}, out);
  if (!result.fault) {
    ADD_FAILURE() << "no fault in\n" << text;
    return {};
  }
  return *result.fault;
}

TEST(MachineFlowTest, ArmsOfBranchesMeetAgain) {
  // The vote after the branch sees all lanes.
  const auto values = results(moduleOf(R"(
    and.b32 %r2, %r0, 3;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra A;
    setp.eq.u32 %p2, %r2, 1;
    @%p2 bra B;
    mov.u32 %r1, 30;
    bra JOIN;
  A: mov.u32 %r1, 10; bra JOIN;
  B: mov.u32 %r1, 20;
  JOIN:
    activemask.b32 %r3;
    popc.b32 %r3, %r3;
    add.u32 %r1, %r1, %r3;)"),
                              64);
  for (uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(values[i], (i % 4 == 0 ? 10u : i % 4 == 1 ? 20u : 30u) + 32);
}

TEST(MachineFlowTest, AJoinThatIsWrittenBeforeItsArms) {
  // Text order would let the lanes that skip the arm run ahead.
  const auto values = results(moduleOf(R"(
    mov.u32 %r1, 0;
    mov.u32 %r4, 0;
    bra HEAD;
  JOIN:
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    add.u32 %r1, %r1, %r2;
    add.u32 %r4, %r4, 1;
    setp.eq.u32 %p2, %r4, 3;
    @%p2 bra END;
  HEAD:
    and.b32 %r3, %r0, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra JOIN;
    add.u32 %r1, %r1, 5;
    bra JOIN;
  END:)"),
                              32);
  for (uint32_t i = 0; i < 32; ++i)
    ASSERT_EQ(values[i], 5u * 7) << i; // 5, 5+10, 15+20.. of both lanes
}

TEST(MachineFlowTest, LoopsOfDifferentLengths) {
  for (uint64_t seed : {0, 5}) {
    const auto values = results(moduleOf(R"(
      mov.u32 %r1, 0;
      mov.u32 %r2, 0;
    LOOP:
      setp.gt.u32 %p1, %r2, %r0;
      @%p1 bra END;
      add.u32 %r1, %r1, %r2;
      add.u32 %r2, %r2, 1;
      bra LOOP;
    END:
      vote.sync.ballot.b32 %r3, 1, -1;
      popc.b32 %r3, %r3;
      add.u32 %r1, %r1, %r3;)"),
                                96, seed);
    for (uint32_t i = 0; i < 96; ++i)
      ASSERT_EQ(values[i], i * (i + 1) / 2 + 32);
  }
}

/// Counts what each instruction is said to run for.
class StepCounter : public Observer {
public:
  void onStep(const WarpInfo &, uint32_t at, LaneMask,
              LaneMask lanes) override {
    ++steps;
    lanesOf[at] += unsigned(__builtin_popcount(lanes));
  }
  void onWarpSync(const WarpInfo &, uint32_t at, LaneMask members) override {
    syncs.emplace_back(at, members);
  }
  uint64_t steps = 0;
  std::map<uint32_t, uint32_t> lanesOf;
  std::vector<std::pair<uint32_t, LaneMask>> syncs;
};

TEST(MachineFlowTest, WhoWaitsIsToldOnce) {
  // Lanes come to the shuffle in two parts.
  Device device(moduleOf(R"(
    setp.lt.u32 %p1, %r0, 8;
    @%p1 bra LOW;
    bra.uni JOIN;
  LOW:
    mov.u32 %r2, 1;
  JOIN:
    shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;)"));
  StepCounter counter;
  device.options.observer = &counter;
  const uint64_t out = device.buffer(std::vector<uint32_t>(32));
  const LaunchResult result = device.mustRun("k", {1}, {32}, out);
  EXPECT_EQ(counter.steps, result.steps);
  // mov %tid, ld, mul, add, setp, bra, bra, mov, shfl, st, ret.
  EXPECT_EQ(counter.lanesOf[6], 24u);
  EXPECT_EQ(counter.lanesOf[7], 8u);
  EXPECT_EQ(counter.lanesOf[8], 32u);
  ASSERT_EQ(counter.syncs.size(), 1u);
  EXPECT_EQ(counter.syncs[0], std::pair(8u, kAllLanes));
  EXPECT_EQ(counter.steps, 11u);
}

TEST(MachineFlowTest, SwitchesGoByLane) {
  const auto values = results(moduleOf(R"(
    T: .branchtargets A, B, C;
    rem.u32 %r2, %r0, 3;
    brx.idx %r2, T;
    A: mov.u32 %r1, 7; bra END;
    B: mov.u32 %r1, 8; bra END;
    C: mov.u32 %r1, 9;
    END:)"),
                              40);
  for (uint32_t i = 0; i < 40; ++i)
    ASSERT_EQ(values[i], 7 + i % 3);
}

TEST(MachineFlowTest, LanesThatExitAreNotWaitedFor) {
  const auto values = results(moduleOf(R"(
    and.b32 %r2, %r0, 1;
    setp.eq.u32 %p1, %r2, 1;
    @%p1 exit;
    bar.sync 0;
    shfl.sync.idx.b32 %r1, %r0, 30, 31, -1;
    bar.warp.sync -1;)"),
                              64);
  for (uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(values[i], i % 2 ? 0 : i / 32 * 32 + 30);
}

TEST(MachineFlowTest, WarpBarriersMayStandAtDifferentPlaces) {
  const auto values = results(moduleOf(R"(
    .shared .b32 s[32];
    shl.b32 %r3, %r0, 2;
    setp.lt.u32 %p1, %r0, 16;
    @%p1 bra LOW;
    bar.warp.sync -1;
    ld.shared.u32 %r1, [s];
    bra END;
  LOW:
    st.shared.u32 [s], 77;
    bar.warp.sync -1;
    mov.u32 %r1, 1;
  END:)"),
                              32);
  for (uint32_t i = 0; i < 32; ++i)
    ASSERT_EQ(values[i], i < 16 ? 1u : 77u);
}

TEST(MachineFlowTest, ALaneMayWaitForAnotherOneOfItsWarp) {
  // A lock that lanes of one warp take in turns.
  const auto values = results(moduleOf(R"(
    .shared .b32 lock;
    .shared .b32 sum;
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra READY;
    st.shared.u32 [lock], 0;
    st.shared.u32 [sum], 0;
  READY:
    bar.sync 0;
  SPIN:
    atom.shared.cas.b32 %r2, [lock], 0, 1;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra SPIN;
    ld.volatile.shared.u32 %r3, [sum];
    add.u32 %r3, %r3, 1;
    st.volatile.shared.u32 [sum], %r3;
    atom.shared.exch.b32 %r2, [lock], 0;
    bar.sync 0;
    ld.shared.u32 %r1, [sum];)"),
                              40, 0, 80'000);
  for (uint32_t value : values)
    EXPECT_EQ(value, 40u);
}

TEST(MachineFlowTest, BlocksMayWaitForEachOther) {
  Device device(header() + R"(
.global .u32 arrived;
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  atom.global.add.u32 %r1, [arrived], 1;
SPIN:
  ld.acquire.gpu.global.u32 %r2, [arrived];
  mov.u32 %r3, %nctaid.x;
  setp.lt.u32 %p1, %r2, %r3;
  @%p1 bra SPIN;
  ld.param.u64 %rd1, [out];
  mov.u32 %r4, %ctaid.x;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r2;
  ret;
})");
  for (uint64_t seed : {0, 1, 2}) {
    device.options.seed = seed;
    const uint32_t zero = 0;
    device.memory.write(device.module->addressOf("arrived"), &zero, 4);
    const uint64_t out = device.buffer(std::vector<uint32_t>(50));
    device.mustRun("k", {50}, {1}, out);
    for (uint32_t value : device.read<uint32_t>(out, 50))
      EXPECT_EQ(value, 50u);
  }
}

TEST(MachineFlowTest, NamedBarriersAndReductions) {
  // Warp 0 produces, warps 1 and 2 consume; all count who is odd.
  const auto values = results(moduleOf(R"(
    .shared .b32 s;
    shr.u32 %r2, %r0, 5;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra CONSUME;
    st.shared.u32 [s], 41;
    bar.arrive 3, 96;
    mov.u32 %r1, 0;
    bra MEET;
  CONSUME:
    bar.sync 3, 96;
    ld.shared.u32 %r1, [s];
  MEET:
    and.b32 %r3, %r0, 1;
    setp.eq.u32 %p2, %r3, 1;
    bar.red.popc.u32 %r4, 1, %p2;
    add.u32 %r1, %r1, %r4;
    bar.red.and.pred %p3, 1, %p2;
    bar.red.or.pred %p4, 1, %p2;
    selp.u32 %r5, 1000, 0, %p3;
    selp.u32 %r6, 100, 0, %p4;
    add.u32 %r1, %r1, %r5;
    add.u32 %r1, %r1, %r6;)"),
                              96);
  for (uint32_t i = 0; i < 96; ++i)
    ASSERT_EQ(values[i], (i < 32 ? 0u : 41u) + 48 + 100);
}

TEST(MachineFlowTest, FunctionsTakeAndGive) {
  const std::string functions = R"(
.func (.param .b32 result) twice(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
.func (.reg .b32 %result) odd(.reg .b32 %x)
{
  .reg .pred %p<2>; .reg .b32 %r<2>;
  and.b32 %r1, %x, 1;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra EVEN;
  .param .b32 a; .param .b32 b;
  st.param.b32 [a], %x;
  call (b), twice, (a);
  ld.param.b32 %result, [b];
  ret;
EVEN:
  mov.u32 %result, 5;
  ret;
}
)";
  const auto values = results(moduleOf(R"(
    mov.u32 %r1, 3;
    setp.lt.u32 %p1, %r0, 20;
    @%p1 call (%r1), odd, (%r0);
    activemask.b32 %r2;
    popc.b32 %r2, %r2;
    add.u32 %r1, %r1, %r2;)",
                                       functions),
                              32);
  for (uint32_t i = 0; i < 32; ++i)
    ASSERT_EQ(values[i], (i >= 20 ? 3 : i % 2 ? 2 * i : 5) + 32) << i;
}

TEST(MachineFlowTest, PointersToFunctions) {
  const std::string functions = R"(
.func (.reg .b32 %result) one(.reg .b32 %x) { add.u32 %result, %x, 1; ret; }
.func (.reg .b32 %result) ten(.reg .b32 %x) { add.u32 %result, %x, 10; ret; }
.global .u64 table[2] = {one, ten};
)";
  const auto values = results(moduleOf(R"(
    P: .callprototype (.reg .b32 _) _ (.reg .b32 _);
    and.b32 %r2, %r0, 1;
    mul.wide.u32 %rd2, %r2, 8;
    mov.u64 %rd3, table;
    add.s64 %rd3, %rd3, %rd2;
    ld.global.u64 %rd4, [%rd3];
    call (%r1), %rd4, (%r0), P;)",
                                       functions),
                              32);
  for (uint32_t i = 0; i < 32; ++i)
    ASSERT_EQ(values[i], i + (i % 2 ? 10 : 1));
}

TEST(MachineFlowTest, PrintsInOrderOfBlocks) {
  Device device(header() + R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[] = {37, 100, 32, 37, 46, 50, 102, 32, 37, 115, 10, 0};
.global .align 1 .b8 word[] = {104, 105, 0};
.visible .entry k()
{
  .reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .f64 %fd<2>;
  .local .align 8 .b8 frame[24];
  mov.u32 %r1, %ctaid.x;
  st.local.u32 [frame], %r1;
  cvt.rn.f64.u32 %fd1, %r1;
  st.local.f64 [frame+8], %fd1;
  mov.u64 %rd1, word;
  st.local.u64 [frame+16], %rd1;
  mov.u64 %rd2, frame;
  cvta.local.u64 %rd2, %rd2;
  mov.u64 %rd3, text;
  .param .b64 f; .param .b64 a; .param .b32 r;
  st.param.b64 [f], %rd3;
  st.param.b64 [a], %rd2;
  call (r), vprintf, (f, a);
  ret;
})");
  device.options.threads = 2;
  EXPECT_EQ(device.mustRun("k", {3}, {1}).printed,
            "0 0.00 hi\n1 1.00 hi\n2 2.00 hi\n");
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

TEST(MachineFlowTest, DeadlocksNameWhoWaits) {
  const Fault fault = faultOf(moduleOf(R"(
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra OTHER;
    bar.sync 1;
    OTHER:
    bar.sync 2;)"),
                              64);
  EXPECT_EQ(fault.kind, Fault::Kind::Deadlock);
  EXPECT_EQ(fault.message,
            "launch: expected threads that go on, got all waiting: thread "
            "(0, 0, 0) of block (0, 0, 0) at 15:5 for barrier 2; thread "
            "(32, 0, 0) of block (0, 0, 0) at 13:5 for barrier 1");
}

TEST(MachineFlowTest, PhasesThatNeverEnd) {
  for (const char *wait : {"try_wait", "test_wait"}) {
    const Fault fault = faultOf(moduleOf(std::string(R"(
      .shared .align 8 .b64 bar;
      setp.eq.u32 %p1, %r0, 0;
      @%p1 mbarrier.init.shared.b64 [bar], 2;
      bar.sync 0;
      @%p1 mbarrier.arrive.shared.b64 %rd3, [bar];
    WAIT:
      mbarrier.)") + wait + R"(.parity.shared.b64 %p2, [bar], 0;
      @!%p2 bra WAIT;)",
                                         "", "sm_90"),
                                64);
    EXPECT_EQ(fault.kind, Fault::Kind::Deadlock);
    EXPECT_NE(fault.message.find("expected an mbarrier whose phase ends"),
              std::string::npos)
        << fault.message;
  }
}

TEST(MachineFlowTest, MembersThatNeverCome) {
  const Fault fault = faultOf(moduleOf(R"(
    setp.lt.u32 %p1, %r0, 16;
    @%p1 bra OTHER;
    shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;
    OTHER:
    bar.sync 0;)"),
                              32);
  EXPECT_EQ(fault.kind, Fault::Kind::DivergentSync);
  EXPECT_NE(fault.message.find("for lanes 0xffff"), std::string::npos)
      << fault.message;
}

TEST(MachineFlowTest, ALaneOutsideOfItsMask) {
  const Fault fault =
      faultOf(moduleOf("shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;"), 32);
  EXPECT_EQ(fault.kind, Fault::Kind::DivergentSync);
  EXPECT_EQ(fault.message,
            "shfl: expected a member mask that has the lane, got 0xffff in "
            "lane 16, thread (16, 0, 0) of block (0, 0, 0)");
}

TEST(MachineFlowTest, LaunchesEndAtTheirLimit) {
  EXPECT_EQ(faultOf(moduleOf("L: bra L;"), 32).kind, Fault::Kind::Limit);
}

TEST(MachineFlowTest, TrapsAndWrongPointers) {
  EXPECT_EQ(faultOf(moduleOf("trap;"), 1).kind, Fault::Kind::Trap);
  const Fault call = faultOf(
      moduleOf("P: .callprototype _ ();\nmov.u64 %rd2, 5;\ncall %rd2, P;"), 1);
  EXPECT_EQ(call.kind, Fault::Kind::BadCall);
  const Fault jump = faultOf(
      moduleOf("T: .branchtargets A;\nmov.u32 %r2, 4;\nbrx.idx %r2, T;\nA:"),
      1);
  EXPECT_EQ(jump.kind, Fault::Kind::BadCall);
  EXPECT_EQ(jump.message, "brx.idx: expected an index below 1, got 4, in "
                          "thread (0, 0, 0) of block (0, 0, 0)");
}

TEST(MachineFlowTest, TheFirstBlockThatFailsIsTold) {
  // A row of the output for each block: blocks run at the same time.
  Device device(moduleOf("mov.u32 %r2, %ctaid.x;\nsetp.ge.u32 %p1, %r2, 7;\n"
                         "@%p1 trap;\nmul.wide.u32 %rd2, %r2, 128;\n"
                         "add.s64 %rd1, %rd1, %rd2;"));
  device.options.threads = 3;
  const uint64_t out = device.buffer(std::vector<uint32_t>(7 * 32));
  for (int i = 0; i < 20; ++i) {
    const LaunchResult result = device.run("k", {40}, {32}, out);
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->block, 7u);
    EXPECT_EQ(result.at, (Position{12, 6}));
  }
}

/// Counts blocks that are at work at once.
class AtOnceObserver : public Observer {
public:
  void onBlock(uint64_t) override { most = std::max(most, ++now); }
  void onBlockEnd(uint64_t) override { --now; }
  uint64_t now = 0, most = 0;
};

TEST(MachineFlowTest, OnlyBlocksThatMayTalkTakeTurns) {
  auto atOnce = [](const std::string &access) {
    AtOnceObserver observer;
    Device device(moduleOf(".shared .b32 s;\nmov.u32 %r1, 0;\n" + access),
                  &observer);
    const uint64_t out = device.buffer(std::vector<uint32_t>(32));
    device.mustRun("k", {5}, {1}, out);
    return observer.most;
  };
  for (const std::string access :
       {"atom.global.add.u32 %r1, [%rd1], 1;", "atom.add.u32 %r1, [%rd1], 1;",
        "red.global.add.u32 [%rd1], 1;", "ld.volatile.global.u32 %r1, [%rd1];",
        "ld.relaxed.gpu.global.u32 %r1, [%rd1];",
        "ld.acquire.gpu.u32 %r1, [%rd1];",
        "st.volatile.global.u32 [%rd1], %r1;",
        "st.relaxed.sys.u32 [%rd1], %r1;",
        "st.release.gpu.global.u32 [%rd1], %r1;"})
    EXPECT_EQ(atOnce(access), 5u) << access;
  for (const std::string access :
       {"", "ld.global.u32 %r1, [%rd1];", "ld.global.nc.u32 %r1, [%rd1];",
        "membar.gl;", "atom.shared.exch.b32 %r1, [s], 1;",
        "st.volatile.shared.u32 [s], %r1;"})
    EXPECT_EQ(atOnce(access), 1u) << access;
}

/// Has no memory left for a block.
class FullObserver : public Observer {
public:
  explicit FullObserver(uint64_t most) : most(most) {}
  void onBlock(uint64_t block) override {
    if (block >= most)
      throw std::bad_alloc();
  }

private:
  const uint64_t most;
};

TEST(MachineFlowTest, MemoryThatRunsOutIsAFault) {
  // Blocks one by one, and blocks that take turns, of which as many as there
  // is room for begin at once.
  for (const std::string update : {"", "red.global.add.u32 [%rd1], 1;\n"})
    for (uint64_t most : {0u, 3u, 1024u, 1030u}) {
      FullObserver observer(most);
      Device device(moduleOf(update), &observer);
      const uint64_t out = device.buffer(std::vector<uint32_t>(32));
      const LaunchResult result = device.run("k", {1100}, {32}, out);
      ASSERT_TRUE(result.fault) << update << most;
      EXPECT_EQ(result.fault->kind, Fault::Kind::Limit);
      EXPECT_NE(result.fault->message.find("expected memory for blocks"),
                std::string::npos)
          << result.fault->message;
    }
}

TEST(MachineFlowTest, ClustersOfSeveralBlocksAreRefused) {
  for (const std::string size : {"2", "1, 1, 2"}) {
    Device device(header("7.8", "sm_90") +
                  ".visible .entry k()\n  .reqnctapercluster " + size +
                  "\n{ ret; }\n");
    const LaunchResult result = device.run("k", {4}, {32});
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->message,
              ".reqnctapercluster: expected clusters of one block, got more, "
              "which this machine does not have");
    EXPECT_EQ(result.at, (Position{5, 3}));
    const std::optional<Error> missing = whatIsMissing(*device.module, "k");
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->at, (Position{5, 3}));
  }
  Device device(header("7.8", "sm_90") +
                ".visible .entry k() .reqnctapercluster 1 { ret; }\n");
  device.mustRun("k", {4}, {32});
}

} // namespace
