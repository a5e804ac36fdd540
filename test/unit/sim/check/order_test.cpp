//===- order_test.cpp - What orders threads, and what does not ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Mistakes that one order of threads would hide must be found in all.
//
//===----------------------------------------------------------------------===//

#include "CheckSupport.h"

using namespace kvc::sim;
using namespace kvc::test;

namespace {

class OrderTest : public CheckTest {};

TEST_F(OrderTest, AtomicsDoNotHideWhatCameBeforeThem) {
  const std::string first = "setp.eq.u32 %p0, %r0, 0;\n@%p0 ";
  const std::string add = "atom.global.add.u32 %r5, [%rd0], 1;\n";
  expectAlways(Kind::Race, first + "st.global.b32 [%rd0], 0;\n" + add);
  expectAlways(Kind::Race, first + "ld.global.b32 %r6, [%rd0];\n" + add);
  expectAlways(Kind::Race, first + "st.shared.b32 [%r1], 0;\n"
                                   "atom.shared.add.u32 %r5, [%r1], 1;\n");
  expectNone(first + "st.global.b32 [%rd0], 0;\nbar.sync 0;\n" + add);
  expectNone(add + "bar.sync 0;\n" + first + "st.global.b32 [%rd0], 0;\n");
  expectAlways(Kind::Race,
               first + "mbarrier.init.shared.b64 [%r1+2048], 64;\n"
                       "bar.warp.sync -1;\n" // The other warp's arrivals race.
                       "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra L;\n"
                       "W: ld.relaxed.gpu.global.b32 %r5, [%rd0];\n"
                       "setp.eq.u32 %p2, %r5, 1;\n@%p2 bra W;\n"
                       "L: mbarrier.arrive.shared.b64 %rd8, [%r1+2048];\n"
                       "st.relaxed.gpu.global.b32 [%rd0], 2;\n");
}

TEST_F(OrderTest, WhoKnowsOfOneAtomicNeedNotKnowOfTheOther) {
  // Threads 0 and 32 add; 32 tells 64, which reads.
  const std::string body =
      "setp.eq.u32 %p0, %r0, 0;\n@%p0 st.shared.v2.b32 [%r1], {%r0, %r0};\n"
      "bar.sync 0;\nsetp.eq.u32 %p1, %r0, 32;\nsetp.eq.u32 %p2, %r0, 64;\n"
      "@%p1 bra B;\n@%p2 bra C;\n@!%p0 bra E;\n"
      "red.shared.add.u32 [%r1], 1;\nbra E;\n"
      "B: red.shared.add.u32 [%r1], 1;\n"
      "st.release.cta.shared.b32 [%r1+4], 1;\nbra E;\n"
      "C: ld.acquire.cta.shared.b32 %r5, [%r1+4];\n"
      "setp.eq.u32 %p3, %r5, 0;\n@%p3 bra C;\nld.shared.b32 %r6, [%r1];\n"
      "E: ret;";
  expectAlways(Kind::Race, body, {1}, {96});
  std::string one = body;
  one.replace(one.find("red.shared.add.u32 [%r1], 1;\nbra E;\n"), 28, "");
  expectNone(one, {1}, {96});
}

TEST_F(OrderTest, ABarrierHandsOnHalvesOfFences) {
  // Thread 0 hears, every thread fences for itself.
  const std::string last =
      "setp.ne.u32 %p0, %r0, 0;\nmov.u64 %rd6, data;\n@%p0 bra J;\n"
      "mul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd5, %rd6, %rd5;\n"
      "st.global.b32 [%rd5], %r4;\nmembar.gl;\nmov.u64 %rd7, flag;\n"
      "atom.global.add.u32 %r5, [%rd7], 1;\nst.shared.b32 [%r1], %r5;\n"
      "J: bar.sync 0;\nld.shared.b32 %r6, [%r1];\nsetp.ne.u32 %p1, %r6, 3;\n"
      "@%p1 bra END;\nmembar.gl;\nld.global.b32 %r7, [%rd6];\n"
      "ld.global.b32 %r8, [%rd6+12];\nEND: ret;";
  expectNone(last, {4});
  std::string bad = last;
  bad.replace(bad.rfind("membar.gl;\n"), 11, "membar.cta;\n");
  expectAlways(Kind::Race, bad, {4});
}

/// Block 0 writes and tells the other one, which reads.
std::string oneTellsTheOther(const std::string &before,
                             const std::string &after,
                             const std::string &heard = "membar.gl;\n") {
  return "setp.ne.u32 %p0, %r4, 0;\nsetp.ne.u32 %p1, %r0, 0;\n"
         "mov.u64 %rd7, flag;\n@%p0 bra W;\nst.global.b32 [%rd3], %r0;\n" +
         before + "bar.sync 0;\n@%p1 bra END;\n" + after +
         "st.volatile.global.b32 [%rd7], 1;\nbra END;\nW: @%p1 bra J;\n"
         "L: ld.volatile.global.b32 %r5, [%rd7];\nsetp.eq.u32 %p2, %r5, 0;\n"
         "@%p2 bra L;\n" +
         heard + "J: bar.sync 0;\nld.global.b32 %r6, [%rd3];\nEND: ret;";
}

TEST_F(OrderTest, AFenceTellsWhatWasKnownThen) {
  expectNone(oneTellsTheOther("", "membar.gl;\n"), {2});
  expectNone(oneTellsTheOther("membar.gl;\n", ""), {2});
  expectAlways(Kind::Race,
               oneTellsTheOther("@%p1 bra K;\nmembar.gl;\nK:\n", ""), {2});
}

TEST_F(OrderTest, OnlyFencesInOneOrderReachOverBarriers) {
  const std::string gl = "membar.gl;\n", sc = "fence.sc.gpu;\n";
  const std::string acqRel = "fence.acq_rel.gpu;\n";
  expectNone(oneTellsTheOther("", acqRel, acqRel), {2});
  expectNone(oneTellsTheOther("", acqRel, sc), {2});
  expectNone(oneTellsTheOther(sc, "", gl), {2});
  expectAlways(Kind::Race, oneTellsTheOther(acqRel, "", sc), {2});
  expectAlways(Kind::Race, oneTellsTheOther(sc, "", acqRel), {2});
  // One of the two directions is not enough.
  expectNone(
      oneTellsTheOther("", "fence.release.gpu;\n", "fence.acquire.gpu;\n"),
      {2});
  expectAlways(Kind::Race, oneTellsTheOther("", "fence.acquire.gpu;\n", gl),
               {2});
  expectAlways(Kind::Race, oneTellsTheOther("", gl, "fence.release.gpu;\n"),
               {2});
}

TEST_F(OrderTest, WhatManyFencesToldIsShared) {
  // Thousands of things to know of each word: no copy for each word and reader.
  const std::string body = "membar.gl;\nbar.sync 0;\n"
                           "atom.global.add.u32 %r5, [%rd3], 1;\n";
  EXPECT_TRUE(check(body, {8}, {512}).empty());
}

TEST_F(OrderTest, FencesOfMbarriersAreNoFencesOfTheDevice) {
  const std::string fence = "fence.mbarrier_init.release.cluster;\n";
  expectAlways(Kind::Race, oneTellsTheOther("", fence), {2});
  expectAlways(Kind::Race, oneTellsTheOther("", "membar.gl;\n", fence), {2});
}

TEST_F(OrderTest, RelaxedArrivalsAndWaitsNeedFences) {
  const auto body = [](const std::string &arrive, const std::string &wait) {
    return "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n"
           "mbarrier.init.shared.b64 [%r1+2048], 64;\nL: bar.sync 0;\n" +
           kWrite + arrive + ".cta.shared.b64 %rd8, [%r1+2048];\nW: " + wait +
           ".cta.shared.b64 %p1, [%r1+2048], %rd8;\n@!%p1 bra W;\n";
  };
  const std::string release = "mbarrier.arrive.release";
  const std::string acquire = "mbarrier.test_wait.acquire";
  const std::string arrive = "mbarrier.arrive.relaxed";
  const std::string wait = "mbarrier.test_wait.relaxed";
  const std::string fence = "fence.acq_rel.cta;\n";
  expectNone(body(release, acquire) + kReadOther);
  expectAlways(Kind::Race, body(arrive, acquire) + kReadOther);
  expectAlways(Kind::Race, body(release, wait) + kReadOther);
  expectNone(body(fence + arrive, wait) + fence + kReadOther);
}

TEST_F(OrderTest, RelaxedArrivalsOfClustersNeedFences) {
  const std::string rest = ";\nbarrier.cluster.wait;\n" + kReadOther;
  expectNone(kWrite + "barrier.cluster.arrive" + rest);
  expectAlways(Kind::Race, kWrite + "barrier.cluster.arrive.relaxed" + rest);
  expectNone(kWrite + "fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed" +
             rest);
  expectAlways(Kind::Race, "barrier.cluster.arrive;\n" + kWrite +
                               "barrier.cluster.wait;\n" + kReadOther);
}

TEST_F(OrderTest, CopiesTellNothingOfWhatTheirThreadDoesMeanwhile) {
  const auto body = [](const std::string &count, const std::string &copy,
                       const std::string &before, const std::string &after) {
    return "mov.b32 %r9, 7;\nsetp.ne.u32 %p0, %r0, 0;\n"
           "setp.eq.u32 %p2, %r0, 0;\n@%p0 bra L;\n"
           "mbarrier.init.shared.b64 [%r1+2048], " +
           count + ";\nL: bar.sync 0;\n" + before + copy + after +
           "W: mbarrier.test_wait.parity.shared.b64 %p1, [%r1+2048], 0;\n"
           "@!%p1 bra W;\nld.shared.b32 %r6, [%r3];\n"
           "ld.shared.b32 %r7, [%r1+1024];\n";
  };
  const std::string store = "@%p2 st.shared.b32 [%r1+1024], %r9;\n";
  const std::string bulk =
      "@%p0 bra W;\nmbarrier.arrive.expect_tx.shared.b64 %rd8, [%r1+2048], "
      "256;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r1], [%rd0], 256, [%r1+2048];\n";
  expectNone(body("1", bulk, store, ""));
  expectAlways(Kind::Race, body("1", bulk, "", store));
  const std::string each =
      "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1+2048];\n";
  expectNone(body("64", each, store, ""));
  expectAlways(Kind::Race, body("64", each, "", store));
}

TEST_F(OrderTest, BarriersDoNotWaitForCopies) {
  const auto body = [](const std::string &waiters) {
    return "setp.ne.u32 %p0, %r0, 0;\nsetp.ge.u32 %p2, %r0, " + waiters +
           ";\n@%p0 bra L;\nmbarrier.init.shared.b64 [%r1+2048], 1;\n"
           "L: bar.sync 0;\n@%p0 bra W;\n"
           "mbarrier.arrive.expect_tx.shared.b64 %rd8, [%r1+2048], 256;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
           "[%r1], [%rd0], 256, [%r1+2048];\n"
           "W: @%p2 bra J;\n"
           "V: mbarrier.test_wait.parity.shared.b64 %p1, [%r1+2048], 0;\n"
           "@!%p1 bra V;\nJ: bar.sync 0;\nld.shared.b32 %r6, [%r3];\n";
  };
  // Whoever waits tells the others at the barrier.
  expectNone(body("64"));
  expectNone(body("1"));
  const auto arrivals = [](const std::string &wait) {
    return "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n"
           "mbarrier.init.shared.b64 [%r1+2048], 64;\nL: bar.sync 0;\n"
           "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
           "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1+2048];\n" +
           wait + "bar.sync 0;\n" + kReadOther;
  };
  const std::string wait =
      "W: mbarrier.test_wait.parity.shared.b64 %p1, [%r1+2048], 0;\n"
      "@!%p1 bra W;\n";
  expectNone(arrivals(wait));
  expectAlways(Kind::Async, arrivals("and.b32 %r5, %r5, 0;\n"));
}

TEST_F(OrderTest, CopiesHaveTimesOfTheirOwn) {
  BlockClocks clocks(0, 64);
  Message arrived;
  const Time time = clocks.arrive(3, arrived);
  EXPECT_FALSE(clocks.knows(40, 64 + 3, time));
  clocks.syncBlock();
  EXPECT_FALSE(clocks.knows(40, 64 + 3, time)) << "a barrier waits for no copy";
  clocks.acquire(5, arrived);
  EXPECT_TRUE(clocks.knows(5, 64 + 3, time));
  EXPECT_FALSE(clocks.knows(40, 64 + 3, time));
  Message told = clocks.release(5);
  clocks.acquire(6, told);
  EXPECT_TRUE(clocks.knows(6, 64 + 3, time));
  clocks.syncBlock();
  EXPECT_TRUE(clocks.knows(40, 64 + 3, time));
  EXPECT_FALSE(clocks.knows(40, 64 + 4, time));
}

TEST_F(OrderTest, BulkCopiesReadWhatAProxyFenceLiesBehind) {
  const auto body = [](const std::string &before, const std::string &after) {
    return kWrite + before +
           "bar.sync 0;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra "
           "E;\n" +
           after +
           "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
           "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE: ret;";
  };
  const std::string fence = "fence.proxy.async.shared::cta;\n";
  // Of the threads that wrote or of the one that copies.
  expectNone(body(fence, ""));
  expectNone(body("", fence));
  expectNone(body("", "fence.proxy.async;\n"));
  expectAlways(Kind::Race, body("", ""));
  expectOne(Kind::Race, {"no fence.proxy.async lies in between"}, body("", ""));
  expectAlways(Kind::Race, body("", "fence.proxy.async.global;\n"));
  expectAlways(Kind::Race, body("", "fence.sc.gpu;\n"));
  expectAlways(
      Kind::Race,
      body("setp.ge.u32 %p1, %r0, 32;\n@%p1 bra K;\n" + fence + "K:\n", ""));
  // What a copy brought needs none.
  expectNone(
      "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra E;\n"
      "mbarrier.init.shared.b64 [%r1+2048], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %rd8, [%r1+2048], 256;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r1], [%rd0], 256, [%r1+2048];\n"
      "W: mbarrier.test_wait.parity.shared.b64 %p1, [%r1+2048], 0;\n"
      "@!%p1 bra W;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
      "E: ret;");
}

// The first thread hands its words on, by what lies between its store and the
// read of the first lane of the second warp.
TEST_F(OrderTest, ReleasesTellOfProxyFencesAndHoldBehindTheirOwnWrites) {
  const auto body = [](const std::string &before, const std::string &flag,
                       const std::string &after) {
    return "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n"
           "st.shared.b32 [%r1+2048], 0;\nL: bar.sync 0;\n"
           "setp.eq.u32 %p1, %r0, 32;\n@%p1 bra C;\n@%p0 bra E;\n"
           "st.shared.v4.b32 [%r1], {%r0, %r0, %r0, %r0};\n" +
           before +
           "st.release.cta.shared.b32 [%r1+2048], 1;\n"
           "st.relaxed.cta.shared.b32 [%r1+2048], 2;\nbra E;\n"
           "C: ld.acquire.cta.shared.b32 %r5, [%r1+2048];\n"
           "setp.ne.u32 %p2, %r5, " +
           flag + ";\n@%p2 bra C;\n" + after + "E: ret;";
  };
  const std::string fence = "fence.proxy.async;\n";
  const std::string read = "ld.shared.b32 %r6, [%r1];\n";
  const std::string copy =
      "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 16;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  expectNone(body("", "2", read));
  expectNone(body(fence, "2", copy));
  expectNone(body("", "2", fence + copy));
  expectAlways(Kind::Race, body("", "2", copy));
}

TEST_F(OrderTest, ProxyFencesReachWhatCopiesOfOthersBrought) {
  const auto body = [](const std::string &fence) {
    return "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n"
           "mbarrier.init.shared.b64 [%r1+2048], 64;\nL: bar.sync 0;\n"
           "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
           "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1+2048];\n"
           "@%p0 bra E;\n"
           "W: mbarrier.test_wait.parity.shared.b64 %p1, [%r1+2048], 0;\n"
           "@!%p1 bra W;\n" +
           fence +
           "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
           "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE: ret;";
  };
  expectNone(body("fence.proxy.async;\n"));
  expectAlways(Kind::Race, body(""));
}

TEST_F(OrderTest, WhatIsReadAsConstantMustNotBeWritten) {
  const std::string load = "ld.global.nc.b32 %r6, [%rd3];\n";
  const std::string store = "st.global.b32 [%rd3], %r0;\n";
  expectNone(load + load);
  expectOne(Kind::Race, {"reads \"a\"", "what .nc reads must not be written"},
            store + load);
  expectAlways(Kind::Race, load + store);
  expectAlways(Kind::Race, store + "bar.sync 0;\n" + load);
  expectAlways(Kind::Race,
               load + "ld.global.b32 %r7, [%rd3];\nbar.sync 0;\n" + store);
  expectAlways(Kind::Race, load + "red.global.add.u32 [%rd3], 1;\n");
}

TEST_F(OrderTest, AlignedBarriersAreOfWholeWarps) {
  const auto body = [](const std::string &barrier) {
    return "and.b32 %r5, %r0, 31;\nsetp.ge.u32 %p0, %r5, 16;\n@%p0 bra H;\n" +
           barrier + " 0;\nbra J;\nH: " + barrier + " 0;\nJ: ret;";
  };
  expectAlways(Kind::Sync, body("bar.sync"));
  expectAlways(Kind::Sync, body("barrier.sync.aligned"));
  expectNone(body("barrier.sync"));
  // A warp may arrive before it waits.

  expectNone("setp.ge.u32 %p0, %r0, 32;\n@%p0 bra E;\n"
             "bar.arrive 1, 64;\nbar.sync 1, 64;\nE: ret;");
  // Lanes that have exited are not waited for.
  expectNone("setp.eq.u32 %p0, %r0, 7;\n@%p0 exit;\nbar.sync 0;\n");
  // One warp goes one way, the other one the other.
  expectNone("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra H;\nbar.sync 0;\nbra J;\n"
             "H: bar.sync 0;\nJ: ret;");
}

TEST_F(OrderTest, AddressesOfOtherMatricesDoNotMatter) {
  const auto body = [](const std::string &lanes, const std::string &load) {
    return "shl.b32 %r5, %r0, 4;\nadd.u32 %r5, %r5, %r1;\n"
           "st.shared.v4.b32 [%r5], {%r0, %r0, %r0, %r0};\n"
           "setp.lt.u32 %p2, %r0, " +
           lanes + ";\n@%p2 mov.b32 %r20, %r5;\nbar.warp.sync -1;\n" +
           "ldmatrix.sync.aligned.m8n8." + load + ", [%r20];\n";
  };
  expectNone(body("8", "x1.shared.b16 {%r6}"), {1}, {32});
  expectNone(body("16", "x2.shared.b16 {%r6, %r7}"), {1}, {32});
  expectOne(Kind::Init, {"its address"}, body("7", "x1.shared.b16 {%r6}"), {1},
            {32});
}

} // namespace
