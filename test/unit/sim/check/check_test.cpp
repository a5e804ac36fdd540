//===- check_test.cpp - What the checker finds, and what it leaves --------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "CheckSupport.h"

using namespace kvc::sim;
using namespace kvc::test;

using Kind = Finding::Kind;

namespace {

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

TEST_F(CheckTest, HalvesOfF32x2AreUndefinedEachForItself) {
  const std::string sum =
      "mov.b64 %rd5, {%r2, %r20};\nadd.f32x2 %rd6, %rd5, %rd5;\nmov.b64 {%r5, "
      "%r6}, %rd6;\n";
  expectNone(sum + "st.global.b32 [%rd3], %r5;");
  expectOne(Kind::Init, {"line", "st.global.b32"},
            sum + "st.global.b32 [%rd3], %r6;");
}

TEST_F(CheckTest, BarriersOrderABlock) {
  expectNone(kWrite + "bar.sync 0;\n" + kReadOther);
  expectNone(kWrite + "bar.sync 0;\n" + kReadOther + "bar.sync 0;\n" + kWrite);
  expectNone(kWrite + "barrier.sync 1;\n" + kReadOther);
  expectNone(kWrite + "bar.sync 2, 64;\n" + kReadOther);
}

TEST_F(CheckTest, AMissingBarrierIsARace) {
  for (uint64_t seed : {0u, 1u, 2u, 3u}) {
    const auto &found = check(kWrite + kReadOther, {1}, {64}, seed);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].kind, Kind::Race);
    EXPECT_NE(found[0].message.find("ld.shared.b32"), std::string::npos);
    EXPECT_NE(found[0].message.find("st.shared.b32"), std::string::npos);
    EXPECT_NE(found[0].message.find("\"s\" + "), std::string::npos);
  }
}

TEST_F(CheckTest, AWriteAfterAReadIsARace) {
  const auto &found = check(kWrite + "bar.sync 0;\n" + kReadOther + kWrite);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, Kind::Race);
}

TEST_F(CheckTest, LanesOfAWarpNeedABarrierToo) {
  expectNone(kWrite + "bar.warp.sync -1;\n" + kReadNext);
  expectNone(kWrite + "bar.warp.sync -1;\n" + kReadNext +
             "bar.warp.sync -1;\n" + kWrite);
  const auto &found = check(kWrite + kReadNext);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, Kind::Race);
  EXPECT_FALSE(
      check(kWrite + "shfl.sync.bfly.b32 %r7, %r0, 1, 31, -1;\n" + kReadNext)
          .empty());
}

TEST_F(CheckTest, AWarpBarrierOrdersItsMembersOnly) {
  // Pairs that are members of one barrier each: lanes below and above 16.
  const std::string halves =
      "setp.lt.u32 %p0, %r0, 16;\n@%p0 bra L;\nbar.warp.sync 0xffff0000;\nbra "
      "M;\nL: bar.warp.sync 0xffff;\nM: ";
  expectNone(kWrite + halves + kReadNext, {1}, {32});
  const std::string readFar = "xor.b32 %r5, %r2, 64;\nadd.u32 %r5, %r5, "
                              "%r1;\nld.shared.b32 %r6, [%r5];\n";
  EXPECT_FALSE(check(kWrite + halves + readFar, {1}, {32}).empty());
  expectNone(kWrite + "bar.warp.sync -1;\n" + readFar, {1}, {32});
}

TEST_F(CheckTest, ABarrierOfOneWarpDoesNotOrderTheOther) {
  EXPECT_FALSE(check(kWrite + "bar.warp.sync -1;\n" + kReadOther).empty());
}

TEST_F(CheckTest, ArrivingOrdersWhatCameBefore) {
  // The first warp writes and arrives; the second waits and reads.
  const std::string pair =
      "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra L;\nbar.sync 1, 64;\n" + kReadOther +
      "bra M;\nL: " + kWrite + "bar.arrive 1, 64;\n";
  expectNone(pair + "M: ret;");
  EXPECT_FALSE(check(pair + kWrite + "M: ret;").empty());
}

TEST_F(CheckTest, BytesOfOneWordAreDifferentPlaces) {
  expectNone("add.u32 %r5, %r1, %r0;\nst.shared.b8 [%r5], %r0;\nbar.sync "
             "0;\nld.shared.b8 %r6, [%r5];");
  EXPECT_FALSE(check("add.u32 %r5, %r1, %r0;\nst.shared.b8 [%r5], "
                     "%r0;\nxor.b32 %r6, %r0, 1;\nadd.u32 %r6, %r6, "
                     "%r1;\nld.shared.b8 %r6, [%r6];")
                   .empty());
}

TEST_F(CheckTest, BlocksRaceInGlobalMemory) {
  const std::string store = "st.global.b32 [%rd3], %r0;\n";
  expectNone(store);
  const auto &found = check(store, {2});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Kind::Race);
  EXPECT_NE(found[0].message.find("\"a\" + "), std::string::npos)
      << found[0].message;
  // Neither do barriers order them, nor does it matter who reads.
  EXPECT_FALSE(check(store + "bar.sync 0;\n", {2}).empty());
  EXPECT_FALSE(
      check("setp.eq.u32 %p0, %r4, 0;\n@%p0 st.global.b32 [%rd3], %r0;\n@!%p0 "
            "ld.global.b32 %r5, [%rd3];\n",
            {2})
          .empty());
  expectNone("ld.global.b32 %r5, [%rd3];\n", {3});
}

TEST_F(CheckTest, AtomicsDoNotRaceWithEachOther) {
  expectNone("red.global.add.u32 [%rd0], 1;\n", {2});
  expectNone("atom.shared.add.u32 %r5, [%r1], 0;\n"
             "ld.relaxed.gpu.global.b32 %r6, [%rd0];\n"
             "red.global.add.u32 [%rd0], 1;\n",
             {2});
  EXPECT_FALSE(check("red.global.add.u32 [%rd0], 1;\nld.global.b32 %r6, "
                     "[%rd0];\n",
                     {2})
                   .empty());
  // Atomic for the block alone.
  EXPECT_FALSE(
      check("red.relaxed.cta.global.add.u32 [%rd0], 1;\n", {2}).empty());
}

/// The last block to come reads what all have written.
std::string lastBlock(const std::string &release, const std::string &acquire) {
  return "setp.ne.u32 %p0, %r0, 0;\nmul.wide.u32 %rd5, %r4, 4;\nmov.u64 %rd6, "
         "data;\nadd.s64 %rd6, %rd6, %rd5;\n@%p0 bra END;\n"
         "st.global.b32 [%rd6], %r4;\n" +
         release +
         "mov.u64 %rd7, flag;\natom.global.add.u32 %r5, [%rd7], 1;\n" +
         acquire +
         "setp.ne.u32 %p1, %r5, 3;\n@%p1 bra END;\nmov.u64 %rd6, data;\n"
         "ld.global.b32 %r6, [%rd6];\nld.global.b32 %r7, [%rd6+4];\n"
         "ld.global.b32 %r8, [%rd6+8];\nld.global.b32 %r9, [%rd6+12];\n"
         "END: ret;";
}

TEST_F(CheckTest, FencesAndAtomicsOrderBlocks) {
  expectNone(lastBlock("membar.gl;\n", "membar.gl;\n"), {4});
  expectNone(lastBlock("fence.acq_rel.gpu;\n", "fence.sc.gpu;\n"), {4});
  EXPECT_FALSE(check(lastBlock("", "membar.gl;\n"), {4}).empty());
  EXPECT_FALSE(check(lastBlock("membar.gl;\n", ""), {4}).empty());
  EXPECT_FALSE(check(lastBlock("membar.cta;\n", "membar.gl;\n"), {4}).empty());
  EXPECT_FALSE(check(lastBlock("membar.gl;\n", "membar.cta;\n"), {4}).empty());
}

TEST_F(CheckTest, ReleasingAndAcquiringAtomicsOrderBlocks) {
  std::string body = lastBlock("", "");
  const std::string plain = "atom.global.add.u32";
  body.replace(body.find(plain), plain.size(),
               "atom.acq_rel.gpu.global.add.u32");
  expectNone(body, {4});
}

TEST_F(CheckTest, ABarrierPassesOnWhatOneThreadHasHeard) {
  // All threads of a block write, thread 0 tells; the last block's read.
  const std::string body =
      "shl.b32 %r5, %r4, 5;\nadd.u32 %r5, %r5, %r0;\nmul.wide.u32 %rd5, %r5, "
      "4;\nadd.s64 %rd6, %rd0, %rd5;\nst.global.b32 [%rd6], %r0;\nbar.sync "
      "0;\nmov.b32 %r6, 0;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\nmembar.gl;\n"
      "mov.u64 %rd7, flag;\natom.global.add.u32 %r6, [%rd7], 1;\nmembar.gl;\n"
      "st.shared.b32 [%r1], %r6;\nL: bar.sync 0;\nld.shared.b32 %r6, [%r1];\n"
      "setp.ne.u32 %p1, %r6, 1;\n@%p1 bra END;\nld.global.b32 %r7, [%rd3];\n"
      "ld.global.b32 %r7, [%rd3+128];\nEND: ret;";
  expectNone(body, {2}, {32});
  std::string bad = body;
  bad.replace(bad.find("membar.gl;\n"), 11, "");
  EXPECT_FALSE(check(bad, {2}, {32}).empty());
}

TEST_F(CheckTest, MatricesAreReadByTheLanesThatGetThem) {
  // Each lane gives the address of the row that it has written itself.
  const std::string write = "shl.b32 %r5, %r0, 4;\nadd.u32 %r5, %r5, "
                            "%r1;\nst.shared.v4.b32 [%r5], {%r0, %r0, %r0, "
                            "%r0};\n";
  for (const std::string trans : {"", ".trans"}) {
    const std::string load = "ldmatrix.sync.aligned.m8n8.x4" + trans +
                             ".shared.b16 {%r6, %r7, %r8, %r9}, [%r5];\n";
    expectNone(write + "bar.warp.sync -1;\n" + load, {1}, {32});
    const auto &found = check(write + load, {1}, {32});
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].kind, Kind::Race);
  }
}

TEST_F(CheckTest, LanesThatWriteTheSameAgree) {
  expectNone("mov.b32 %r5, 7;\nst.shared.b32 [%r1], %r5;\n", {1}, {32});
  EXPECT_FALSE(check("st.shared.b32 [%r1], %r0;\n", {1}, {32}).empty());
}

TEST_F(CheckTest, MbarriersOrderThreads) {
  // The first thread makes it; all write, arrive and wait; all read.
  const std::string start =
      "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n"
      "mbarrier.init.shared.b64 [%r1+2048], 64;\nL: bar.sync 0;\n";
  const std::string wait =
      "mbarrier.arrive.shared.b64 %rd8, [%r1+2048];\nW: "
      "mbarrier.test_wait.shared.b64 %p1, [%r1+2048], %rd8;\n@!%p1 bra W;\n";
  expectNone(start + kWrite + wait + kReadOther);
  EXPECT_FALSE(check(start + wait + kWrite + kReadOther).empty());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

const std::string kCopy =
    "cp.async.ca.shared.global [%r3], [%rd3], 4;\ncp.async.commit_group;\n";
const std::string kReadOwn = "ld.shared.b32 %r6, [%r3];\n";

TEST_F(CheckTest, CopiesNeedAWait) {
  expectNone(kCopy + "cp.async.wait_group 0;\n" + kReadOwn);
  expectNone(kCopy + "cp.async.wait_all;\n" + kReadOwn);
  expectOne(Kind::Async, {"ld.shared.b32", "cp.async.ca"}, kCopy + kReadOwn);
  expectOne(Kind::Async, {"ld.shared.b32", "cp.async.ca"},
            kCopy + "cp.async.wait_group 1;\n" + kReadOwn);
  expectNone(kCopy +
             "cp.async.ca.shared.global [%r3+1024], [%rd3], "
             "4;\ncp.async.commit_group;\ncp.async.wait_group 1;\n" +
             kReadOwn);
}

TEST_F(CheckTest, GroupsOfBulkCopiesAreNotThoseOfOthers) {
  const std::string bulk = "cp.async.bulk.commit_group;\n";
  expectOne(Kind::Async, {"ld.shared.b32", "cp.async.ca"},
            kCopy + bulk + "cp.async.wait_group 1;\n" + kReadOwn);
  expectOne(Kind::Async, {"ld.shared.b32", "cp.async.ca"},
            kCopy + bulk + "cp.async.bulk.wait_group 0;\n" + kReadOwn);
  expectNone(kCopy + bulk + "cp.async.wait_group 0;\n" + kReadOwn);
}

TEST_F(CheckTest, OthersNeedABarrierBehindTheWait) {
  expectNone(kCopy + "cp.async.wait_group 0;\nbar.sync 0;\n" + kReadOther);
  const auto &found = check(kCopy + "cp.async.wait_group 0;\n" + kReadOther);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, Kind::Race);
}

TEST_F(CheckTest, ACopyOverWhatOthersReadIsARace) {
  const auto &found = check(kWrite + "bar.sync 0;\n" + kReadOther + kCopy +
                            "cp.async.wait_all;\n");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, Kind::Race);
  expectNone(kWrite + "bar.sync 0;\n" + kReadOther + "bar.sync 0;\n" + kCopy +
             "cp.async.wait_all;\n");
}

TEST_F(CheckTest, SourcesOfCopiesAreReadByTheLanesThatCopy) {
  // 16 lanes of a warp copy what 64 threads have written, by rows or not.
  const std::string write = "st.global.b32 [%rd3], %r0;\n";
  // What other lanes of the warp have written: a row, or parts of two.
  for (const std::string offset : {"+64", "+72"})
    for (const std::string size : {", 4", ", 8, 4"}) {
      const std::string bytes(1, size[2]);
      const std::string copy =
          "setp.lt.u32 %p2, %r0, 16;\nmul.wide.u32 %rd6, %r0, " + bytes +
          ";\nadd.s64 %rd6, %rd0, %rd6;\nmad.lo.u32 %r9, %r0, " + bytes +
          ", %r1;\n@%p2 cp.async.ca.shared.global [%r9], [%rd6" + offset + "]" +
          size + ";\ncp.async.wait_all;\n";
      expectNone(write + "bar.sync 0;\n" + copy);
      const auto &found = check(write + copy);
      ASSERT_FALSE(found.empty());
      EXPECT_EQ(found[0].kind, Kind::Race);
      EXPECT_NE(found[0].message.find("cp.async.ca"), std::string::npos);
      EXPECT_NE(found[0].message.find("st.global.b32"), std::string::npos);
    }
}

TEST_F(CheckTest, LongPipelinesForgetWhatHasArrived) {
  // Two buffers, one copy always on its way.
  const std::string loop =
      "mov.b32 %r9, 0;\n" + kCopy +
      "L: xor.b32 %r10, %r9, 1;\nand.b32 %r10, %r10, 1;\n"
      "mad.lo.u32 %r10, %r10, 1024, %r3;\n"
      "cp.async.ca.shared.global [%r10], [%rd3], 4;\n"
      "cp.async.commit_group;\ncp.async.wait_group 1;\n"
      "and.b32 %r11, %r9, 1;\nmad.lo.u32 %r11, %r11, 1024, %r3;\n"
      "ld.shared.b32 %r12, [%r11];\nadd.u32 %r9, %r9, 1;\n"
      "setp.lt.u32 %p2, %r9, 40;\n@%p2 bra L;\n";
  expectNone(loop);
  // The last copy went to the first buffer.
  expectOne(Kind::Async, {"ld.shared.b32", "cp.async.ca"},
            loop + "ld.shared.b32 %r13, [%r3];\n");
  expectNone(loop + "ld.shared.b32 %r13, [%r3+1024];\n");
  expectNone(loop + "cp.async.wait_all;\nld.shared.b32 %r13, [%r3];\n");
}

//===----------------------------------------------------------------------===//
// Undefined values
//===----------------------------------------------------------------------===//

const std::string kRead = "ld.shared.b32 %r6, [%r3];\n";
const std::string kDecide =
    "setp.eq.u32 %p1, %r7, 0;\n@%p1 bra E;\nadd.u32 %r8, %r0, 1;\nE: ret;";

TEST_F(CheckTest, UnwrittenMemoryMustNotDecideABranch) {
  expectOne(Kind::Init, {"bra", "ld.shared.b32", "\"s\" + "},
            kRead + "mov.b32 %r7, %r6;\n" + kDecide);
  expectOne(Kind::Init, {"bra"}, kRead + "add.u32 %r7, %r6, 3;\n" + kDecide);
  expectOne(Kind::Init, {"bra", "\"b\" + "},
            "ld.global.b32 %r7, [%rd4];\n" + kDecide);
  expectNone("ld.global.b32 %r7, [%rd3];\n" + kDecide);
  expectNone(kWrite + kRead + "mov.b32 %r7, %r6;\n" + kDecide);
  expectNone(kRead);
}

TEST_F(CheckTest, MasksAndChoicesWithConstantsClear) {
  expectNone(kRead + "and.b32 %r7, %r6, 0;\n" + kDecide);
  expectNone(kRead + "or.b32 %r7, %r6, -1;\n" + kDecide);
  expectNone(kRead + "shr.u32 %r7, %r6, 31;\nshr.u32 %r7, %r7, 1;\n" + kDecide);
  expectNone(kRead + "bfi.b32 %r7, %r0, %r6, 0, 32;\n" + kDecide);
  expectNone(kRead + "lop3.b32 %r7, %r6, 0, 0, 0xC0;\n" + kDecide);
  expectNone(kRead +
             "setp.lt.u32 %p2, %r0, 99;\nselp.b32 %r7, %r0, %r6, "
             "%p2;\n" +
             kDecide);
  expectOne(Kind::Init, {"bra"}, kRead + "and.b32 %r7, %r6, 1;\n" + kDecide);
  expectOne(Kind::Init, {"bra"}, kRead + "mul.lo.u32 %r7, %r6, 0;\n" + kDecide);
  expectOne(Kind::Init, {"bra"},
            kRead +
                "setp.lt.u32 %p2, %r0, 0;\nselp.b32 %r7, %r0, %r6, "
                "%p2;\n" +
                kDecide);
}

TEST_F(CheckTest, HalvesAreTrackedApart) {
  const std::string low = "st.shared.b16 [%r3], %h0;\n";
  expectNone("mov.b16 %h0, 1;\n" + low + kRead + "and.b32 %r7, %r6, 0xffff;\n" +
             kDecide);
  expectOne(Kind::Init, {"bra"},
            "mov.b16 %h0, 1;\n" + low + kRead + "shr.u32 %r7, %r6, 16;\n" +
                kDecide);
  expectNone("mov.b16 %h0, 1;\n" + low + kRead +
             "mov.b32 {%h1, %h2}, %r6;\ncvt.u32.u16 %r7, %h1;\n" + kDecide);
  expectNone("mov.b16 %h0, 1;\n" + low + kRead +
             "prmt.b32 %r7, %r6, 0, 0x4410;\n" + kDecide);
}

TEST_F(CheckTest, UnwrittenMemoryMustNotBecomeAnAddressOrAResult) {
  expectOne(Kind::Init, {"st.global.b32", "what it stores"},
            kRead + "st.global.b32 [%rd3], %r6;\n");
  // Lanes whose value is not stored do not count.
  expectNone(kRead + "setp.gt.u32 %p3, %r0, 99;\n@%p3 st.global.b32 [%rd3], "
                     "%r6;\n");
  const auto &found = check(kRead + "and.b32 %r7, %r6, 1020;\nadd.u32 %r7, "
                                    "%r7, %r1;\nld.shared.b32 %r8, [%r7];\n");
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].message.find("its address"), std::string::npos);
}

TEST_F(CheckTest, RegistersThatWereNeverSet) {
  expectOne(Kind::Init, {"never set"}, "st.global.b32 [%rd3], %r20;\n");
  // Set on one way only.
  expectOne(Kind::Init, {"st.global.b32"},
            "setp.lt.u32 %p2, %r0, 8;\n@%p2 bra L;\nmov.b32 %r20, 1;\nL: "
            "st.global.b32 [%rd3], %r20;\n");
  expectOne(Kind::Init, {"bra", "where it goes"},
            "@%p5 bra L;\nmov.b32 %r5, 1;\nL: ret;");
}

TEST_F(CheckTest, PredicatesThatDecideAloneClear) {
  expectNone(kRead + "setp.lt.u32 %p2, %r0, 0;\nsetp.eq.and.u32 %p1, %r6, 0, "
                     "%p2;\n@%p1 bra E;\nadd.u32 %r8, %r0, 1;\nE: ret;");
  expectNone(kRead + "setp.lt.u32 %p2, %r0, 0;\nsetp.eq.u32 %p3, %r6, "
                     "0;\nand.pred %p1, %p2, %p3;\n@%p1 bra E;\nadd.u32 %r8, "
                     "%r0, 1;\nE: ret;");
  expectOne(Kind::Init, {"bra"},
            kRead + "setp.lt.u32 %p2, %r0, 99;\nsetp.eq.u32 %p3, %r6, "
                    "0;\nand.pred %p1, %p2, %p3;\n@%p1 bra E;\nadd.u32 %r8, "
                    "%r0, 1;\nE: ret;");
}

TEST_F(CheckTest, ShufflesCarryWhatALaneHas) {
  // Lane 0 alone writes; all take its value.
  const std::string one = "setp.eq.u32 %p2, %r0, 0;\n@%p2 st.shared.b32 [%r3], "
                          "%r0;\n" +
                          kRead;
  expectNone(one + "shfl.sync.idx.b32 %r7, %r6, 0, 31, -1;\n" + kDecide, {1},
             {32});
  expectOne(Kind::Init, {"bra"},
            one + "shfl.sync.idx.b32 %r7, %r6, 1, 31, -1;\n" + kDecide, {1},
            {32});
}

TEST_F(CheckTest, ProductsOfMatricesKeepColumnsApart) {
  // b is undefined in column 7 alone: lanes 28 to 31.
  const std::string product =
      "setp.lt.u32 %p2, %r0, 28;\n@%p2 st.shared.b32 [%r3], 0;\n" + kRead +
      "mov.b32 %r9, 0;\nmov.b32 %f0, 0f00000000;\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, "
      "{%r9,%r9}, {%r6}, {%f0,%f0,%f0,%f0};\nand.b32 %r10, %r0, "
      "3;\nsetp.lt.u32 %p3, %r10, 3;\n";
  // Columns 0 to 5 in all lanes, 6 and 7 in every fourth.
  expectNone(product + "@%p3 st.global.f32 [%rd3], %f2;\n", {1}, {32});
  expectNone(product + "st.global.f32 [%rd3], %f1;\n", {1}, {32});
  expectOne(Kind::Init, {"st.global.f32"},
            product + "st.global.f32 [%rd3], %f4;\n", {1}, {32});
}

//===----------------------------------------------------------------------===//
// Guards and members
//===----------------------------------------------------------------------===//

TEST_F(CheckTest, WhatAnUndefinedGuardLoadsIsOpen) {
  // The guard happens to pass, or not.
  const std::string decide = "mov.b32 %r7, %r6;\n" + kDecide;
  for (const std::string guard : {"@%p5 ", "@!%p5 "}) {
    expectOne(Kind::Init, {"bra", "ld.global.b32"},
              "mov.b32 %r6, 0;\n" + guard + "ld.global.b32 %r6, [%rd3];\n" +
                  decide);
    expectOne(Kind::Init, {"bra", "ld.global.nc.b32"},
              "mov.b32 %r6, 0;\n" + guard + "ld.global.nc.b32 %r6, [%rd3];\n" +
                  decide);
    expectOne(Kind::Init, {"bra", "ld.global.v2.b32"},
              "mov.b32 %r6, 0;\n" + guard +
                  "ld.global.v2.b32 {%r9, %r6}, [%rd0];\n" + decide);
    expectOne(Kind::Init, {"bra", "add.u32"},
              "mov.b32 %r6, 0;\n" + guard + "add.u32 %r6, %r6, 1;\n" + decide);
    // Nobody looks.
    expectNone(guard + "ld.global.b32 %r6, [%rd3];\n");
  }
}

TEST_F(CheckTest, UndefinedGuardsOfWhatOthersSeeAreFound) {
  const std::string zeros = "mov.b32 %r9, 0;\nmov.b32 %f0, 0f00000000;\n" +
                            kWrite + "bar.warp.sync -1;\n";
  const std::string mma =
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, "
      "{%r9,%r9}, {%r9}, {%f0,%f0,%f0,%f0};";
  const std::vector<std::string> instructions = {
      "shfl.sync.bfly.b32 %r6, %r0, 1, 31, -1;",
      "vote.sync.any.pred %p6, %p1, -1;",
      "match.any.sync.b32 %r6, %r0, -1;",
      "redux.sync.add.s32 %r6, %r0, -1;",
      "elect.sync %r6|%p6, -1;",
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r1];",
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r0};",
      "movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r0;",
      mma,
      "cp.async.wait_all;",
      "cp.async.bulk.commit_group;",
      "cp.async.bulk.wait_group 0;",
      "fence.acq_rel.gpu;",
      "fence.proxy.async;",
      "barrier.cluster.arrive;",
      "discard.global.L2 [%rd0], 128;"};
  for (const std::string &each : instructions)
    // Registers begin as zeros here: all lanes pass this guard.
    expectOne(Kind::Init, {"whether it runs", "never set"},
              zeros + "setp.eq.u32 %p1, %r0, 0;\n@!%p5 " + each + "\n", {1},
              {32});
}

TEST_F(CheckTest, UndefinedMembersAndBarriersAreFound) {
  // A mask that is defined in all but some bits that happen to be right.
  const std::string mask = kRead + "or.b32 %r9, %r6, 0x7fffffff;\n";
  for (const std::string each :
       {"shfl.sync.bfly.b32 %r10, %r0, 1, 31, %r9;",
        "vote.sync.any.pred %p6, %p1, %r9;", "bar.warp.sync %r9;",
        "match.any.sync.b32 %r10, %r0, %r9;",
        "redux.sync.add.s32 %r10, %r0, %r9;", "elect.sync %r10|%p6, %r9;"})
    expectOne(Kind::Init, {"who takes part", "ld.shared.b32"},
              "setp.eq.u32 %p1, %r0, 0;\n" + mask + each + "\n", {1}, {31});
  expectOne(Kind::Init, {"which barrier it means"}, "bar.sync %r20;\n");
  expectOne(Kind::Init, {"how many threads"},
            "shl.b32 %r9, %r20, 6;\nor.b32 %r9, %r9, 64;\nbar.sync 0, %r9;\n");
  expectOne(Kind::Init, {"what it tells the others"},
            "bar.red.popc.u32 %r6, 0, %p5;\n");
}

TEST_F(CheckTest, UndefinedAddressesOfMbarriersAreFound) {
  const std::string init = "setp.eq.u32 %p0, %r0, 0;\n@%p0 "
                           "mbarrier.init.shared.b64 [%r1], 64;\nbar.sync 0;\n"
                           "add.u32 %r9, %r20, %r1;\n";
  const std::string wait = "mbarrier.arrive.shared.b64 %rd8, [%r1];\nW: "
                           "mbarrier.test_wait.shared.b64 %p1, [%r9], %rd8;\n"
                           "@!%p1 bra W;\n";
  expectOne(Kind::Init, {"its address", "mbarrier.init"},
            "add.u32 %r9, %r20, %r1;\nmbarrier.init.shared.b64 [%r9], 1;\n",
            {1}, {1});
  expectOne(Kind::Init, {"its count", "mbarrier.init"},
            "add.u32 %r9, %r20, 1;\nmbarrier.init.shared.b64 [%r1], %r9;\n",
            {1}, {1});
  expectOne(Kind::Init, {"its address", "mbarrier.arrive"},
            init + "mbarrier.arrive.shared.b64 %rd8, [%r9];\n");
  expectOne(Kind::Init, {"its address", "mbarrier.test_wait"}, init + wait);
  expectOne(Kind::Init, {"its address", "cp.async.mbarrier"},
            init + "cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];\n");
}

TEST_F(CheckTest, BulkCopiesOfUnwrittenMemoryAreFound) {
  const std::string copy =
      "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 16;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  const std::string write = "st.shared.v4.b32 [%r1], {%r0, %r0, %r0, %r0};\n"
                            "fence.proxy.async;\n";
  expectOne(Kind::Init, {"what it copies", "\"s\""}, copy, {1}, {1});
  expectNone(write + copy, {1}, {1});
  expectOne(
      Kind::Init, {"its size"},
      write + "add.u32 %r9, %r20, "
              "16;\ncp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], "
              "%r9;\n",
      {1}, {1});
}

TEST_F(CheckTest, ShufflesFromLanesThatAreNoMembersAreUndefined) {
  // Lanes below 16 alone; lane l gets the value of lane l + 8.
  const std::string half = "setp.lt.u32 %p2, %r0, 16;\n@!%p2 bra E;\n"
                           "shfl.sync.down.b32 %r7, %r0, 8, 31, 0xffff;\n";
  expectOne(Kind::Init, {"st.global.b32", "shfl.sync.down.b32"},
            half + "st.global.b32 [%rd3], %r7;\nE: ret;", {1}, {32});
  // Sums over halves of a warp do this, and nobody uses what comes of it.
  expectNone(half + "setp.lt.u32 %p3, %r0, 8;\n@%p3 st.global.b32 [%rd3], "
                    "%r7;\nE: ret;",
             {1}, {32});
  // Segments of 16 keep to their members.
  expectNone("setp.lt.u32 %p2, %r0, 16;\n@!%p2 bra E;\n"
             "shfl.sync.down.b32 %r7, %r0, 8, 0x100f, 0xffff;\n"
             "st.global.b32 [%rd3], %r7;\nE: ret;",
             {1}, {32});
}

TEST_F(CheckTest, ShufflesFromLanesThatHaveExitedAreUndefined) {
  const std::string last = "setp.eq.u32 %p2, %r0, 31;\n@%p2 exit;\n";
  for (const std::string from : {"31", "30"}) {
    const std::string body = last + "shfl.sync.idx.b32 %r7, %r0, " + from +
                             ", 31, -1;\nst.global.b32 [%rd3], %r7;\n";
    if (from == "31")
      expectOne(Kind::Init, {"st.global.b32", "shfl.sync.idx.b32"}, body, {1},
                {32});
    else
      expectNone(body, {1}, {32});
  }
  // Lanes that the block never had.
  expectOne(Kind::Init, {"shfl.sync.idx.b32"},
            "shfl.sync.idx.b32 %r7, %r0, 20, 31, -1;\n"
            "st.global.b32 [%rd3], %r7;\n",
            {1}, {20});
}

TEST_F(CheckTest, GroupsSeeTheirOwnMembersAlone) {
  // Lanes from 16 on have an undefined value; both halves run at once.
  const std::string values =
      "setp.lt.u32 %p2, %r0, 16;\n@%p2 mov.b32 %r20, 3;\n"
      "selp.b32 %r9, 0xffff, 0xffff0000, %p2;\n"
      "redux.sync.add.s32 %r7, %r20, %r9;\n";
  expectNone(values + "@%p2 st.global.b32 [%rd3], %r7;\n", {1}, {32});
  expectOne(Kind::Init, {"st.global.b32"},
            values + "@!%p2 st.global.b32 [%rd3], %r7;\n", {1}, {32});
}

TEST_F(CheckTest, ModuleVariablesBeginAsZeros) {
  expectNone("mov.u64 %rd6, data;\nld.global.b32 %r7, [%rd6];\n" + kDecide);
}

TEST_F(CheckTest, CallsPassWhatIsDefined) {
  Checker mine;
  const std::string text =
      header() +
      ".func (.param .b32 r) f (.param .b32 x, .reg .b32 y) {\n"
      ".reg .b32 %a, %b; ld.param.b32 %a, [x]; add.u32 %b, %a, y;\n"
      "st.param.b32 [r], %b; ret; }\n" +
      kernel(
          ".reg .b32 %r<8>; .reg .b64 %rd; .reg .pred %p; .param .b32 x, y;\n"
          "ld.param.u64 %rd, [a];\nmov.u32 %r0, %tid.x;\nst.param.b32 [x], "
          "%r0;\ncall (y), f, (x, %r0);\nld.param.b32 %r1, [y];\n"
          "setp.eq.u32 %p, %r1, 5;\n@%p bra E;\nst.global.b32 [%rd], 1;\n"
          "E: ret;",
          ".param .u64 a");
  Device device(text, &mine);
  const uint64_t a = device.buffer(std::vector<uint32_t>(64, 1), "a");
  device.mustRun("k", {1}, {1}, a);
  for (const Finding &finding : mine.findings())
    ADD_FAILURE() << finding.message;
}

TEST_F(CheckTest, PrintsAreNoAccesses) {
  Checker mine;
  Device device(header("8.0", "sm_90") + R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[] = {104, 105, 10, 0};
.visible .entry k()
{
  .reg .b64 %rd<2>;
  mov.u64 %rd1, text;
  .param .b64 f; .param .b64 a; .param .b32 r;
  st.param.b64 [f], %rd1;
  st.param.b64 [a], %rd1;
  call (r), vprintf, (f, a);
  ret;
})",
                &mine);
  EXPECT_EQ(device.mustRun("k", {1}, {1}).printed, "hi\n");
  EXPECT_TRUE(mine.findings().empty());
}

//===----------------------------------------------------------------------===//
// Faults and repetition
//===----------------------------------------------------------------------===//

TEST_F(CheckTest, FaultsAreFindings) {
  const auto &found = check("ld.global.b32 %r5, [%rd3+4096];\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Kind::Bounds);
  EXPECT_NE(found[0].message.find("\"a\""), std::string::npos)
      << found[0].message;
}

TEST_F(CheckTest, WhatHappensOftenIsToldOnce) {
  const auto &found = check("st.global.b32 [%rd3], %r0;\n", {5});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_GT(found[0].count, 100u);
}

} // namespace
