//===- memory_test.cpp - Loads, stores, atomics, copies, faults -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "MachineSupport.h"

#include <bit>
#include <numeric>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

const std::string kRegisters =
    ".reg .pred %p<8>; .reg .b8 %q<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; "
    ".reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .f64 %fd<4>;\n"
    "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [in];\n"
    "ld.param.u64 %rd1, [out];\nmul.wide.u32 %rd2, %r0, 8;\n"
    "add.s64 %rd2, %rd2, %rd1;\n";

/// Computes %rd3 of each thread and stores it to out.
std::string moduleOf(const std::string &body, const std::string &before = "",
                     std::string_view version = "8.0",
                     std::string_view target = "sm_90") {
  return header(version, target) + before +
         kernel(kRegisters + body + "\nst.global.u64 [%rd2], %rd3;\nret;",
                ".param .u64 in, .param .u64 out");
}

/// %rd3 of each thread of one block.
template <typename T>
std::vector<uint64_t> results(const std::string &text, const std::vector<T> &in,
                              uint32_t threads = 32,
                              uint64_t dynamicShared = 0) {
  Device device(text);
  device.options.dynamicShared = dynamicShared;
  const uint64_t out = device.buffer(std::vector<uint64_t>(threads), "out");
  device.mustRun("k", {1}, {threads}, device.buffer(in, "in"), out);
  return device.read<uint64_t>(out, threads);
}

/// Its first thread's.
template <typename T>
uint64_t resultOf(const std::string &text, const std::vector<T> &in) {
  return results(text, in).front();
}

std::string faultOf(const std::string &text, Fault::Kind kind,
                    uint32_t threads = 32) {
  Device device(text);
  const uint64_t out = device.buffer(std::vector<uint64_t>(threads), "out");
  const LaunchResult result = device.run(
      "k", {1}, {threads}, device.buffer(std::vector<uint32_t>(8), "in"), out);
  if (!result.fault) {
    ADD_FAILURE() << "no fault in\n" << text;
    return "";
  }
  EXPECT_EQ(result.fault->kind, kind);
  return result.fault->message;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

TEST(MachineMemoryTest, NarrowValuesAreExtended) {
  const std::vector<uint32_t> in{0x89ABCDEF, 0x81234567};
  auto load = [&](const std::string &body) {
    return resultOf(moduleOf(body), in);
  };
  EXPECT_EQ(load("ld.global.u8 %r1, [%rd0]; cvt.u64.u32 %rd3, %r1;"), 0xEFu);
  EXPECT_EQ(load("ld.global.s8 %r1, [%rd0]; cvt.u64.u32 %rd3, %r1;"),
            0xFFFFFFEFu);
  EXPECT_EQ(load("ld.global.s8 %h1, [%rd0]; cvt.u64.u16 %rd3, %h1;"), 0xFFEFu);
  EXPECT_EQ(load("ld.global.s16 %rd3, [%rd0+2];"), 0xFFFFFFFFFFFF89ABu);
  EXPECT_EQ(load("ld.global.u16 %rd3, [%rd0+2];"), 0x89ABu);
  EXPECT_EQ(load("ld.global.s32 %rd3, [%rd0];"), 0xFFFFFFFF89ABCDEFu);
  EXPECT_EQ(load("ld.global.b64 %rd3, [%rd0];"), 0x8123456789ABCDEFu);
  EXPECT_EQ(load("ld.global.b8 %q1, [%rd0]; cvt.u64.u8 %rd3, %q1;"), 0xEFu);
  // What lies above a narrow store's value stays.
  EXPECT_EQ(load("mov.b32 %r1, 0x11223344; st.global.b8 [%rd0+1], %r1; "
                 "ld.global.b64 %rd3, [%rd0];"),
            0x8123456789AB44EFu);
}

TEST(MachineMemoryTest, Vectors) {
  std::vector<uint32_t> in(16);
  std::iota(in.begin(), in.end(), 1);
  auto load = [&](const std::string &body) {
    return resultOf(moduleOf(body), in);
  };
  EXPECT_EQ(load("ld.global.v4.u32 {%r1, _, %r2, %r3}, [%rd0+16]; "
                 "mad.lo.u32 %r1, %r1, 100, %r2; mad.lo.u32 %r1, %r1, 100, "
                 "%r3; cvt.u64.u32 %rd3, %r1;"),
            50708u);
  EXPECT_EQ(load("ld.global.v2.b64 {%rd4, %rd5}, [%rd0]; add.u64 %rd3, %rd4, "
                 "%rd5;"),
            0x600000004u);
  EXPECT_EQ(load("ld.global.v2.u16 {%h1, %r1}, [%rd0+4]; cvt.u32.u16 %r2, %h1; "
                 "shl.b32 %r1, %r1, 8; add.u32 %r1, %r1, %r2; "
                 "cvt.u64.u32 %rd3, %r1;"),
            2u);
  EXPECT_EQ(load("st.global.v4.b32 [%rd0], {%r0, 7, 8, 9}; "
                 "ld.global.b32 %r1, [%rd0+12]; cvt.u64.u32 %rd3, %r1;"),
            9u);
  EXPECT_EQ(load("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, "
                 "%f4}, [%rd0]; mov.b64 %rd3, {%f1, %f4};"),
            0x400000001u);
}

TEST(MachineMemoryTest, SpacesAndGenericAddresses) {
  const std::string variables =
      ".const .align 8 .b32 c[2] = {5, 6};\n"
      ".global .align 8 .b64 g[2] = {generic(c), 9};\n"
      ".extern .shared .align 16 .b8 dynamic[];\n";
  const std::string body = R"(
    .shared .align 8 .b8 s[64];
    .local .align 8 .b8 l[16];
    shl.b32 %r1, %r0, 1;
    mov.u64 %rd4, s;
    cvta.shared.u64 %rd4, %rd4;
    mov.u64 %rd5, l;
    cvta.local.u64 %rd5, %rd5;
    st.local.u32 [l+4], %r0;
    st.shared.u32 [s+4], 100;
    // Even lanes take shared memory, odd ones their own.
    and.b32 %r2, %r0, 1;
    setp.eq.u32 %p1, %r2, 0;
    selp.b64 %rd6, %rd4, %rd5, %p1;
    ld.u32 %r3, [%rd6+4];
    // Constants by a generic pointer that a variable holds.
    ld.global.u64 %rd7, [g];
    ld.u32 %r4, [%rd7+4];
    ld.const.u32 %r5, [c];
    add.u32 %r3, %r3, %r4;
    mad.lo.u32 %r3, %r5, 1000, %r3;
    mov.u32 %r6, dynamic;
    shl.b32 %r7, %r0, 2;
    add.u32 %r6, %r6, %r7;
    st.shared.u32 [%r6], %r3;
    bar.sync 0;
    xor.b32 %r7, %r7, 4;
    mov.u32 %r6, dynamic;
    add.u32 %r6, %r6, %r7;
    ld.shared.u32 %rd3, [%r6];)";
  const auto values =
      results(moduleOf(body, variables), std::vector<uint32_t>(1), 64, 256);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t other = i ^ 1;
    ASSERT_EQ(values[i], (other % 2 ? other : 100) + 6 + 5000) << i;
  }
}

TEST(MachineMemoryTest, ParametersAreReadByAddress) {
  EXPECT_EQ(resultOf(moduleOf("mov.b64 %rd4, out; cvta.param.u64 %rd4, %rd4; "
                              "ld.u64 %rd5, [%rd4]; sub.u64 %rd3, %rd5, %rd1; "
                              "add.u64 %rd3, %rd3, 3;"),
                     std::vector<uint32_t>(1)),
            3u);
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

TEST(MachineMemoryTest, FaultsNameWhatIsNear) {
  using Kind = Fault::Kind;
  EXPECT_NE(
      faultOf(moduleOf("ld.global.u32 %r1, [%rd0+32];"), Kind::OutOfBounds)
          .find(", 0 bytes beyond the end of \"in\" (32 bytes), in "
                "thread (0, 0, 0) of block (0, 0, 0)"),
      std::string::npos);
  EXPECT_NE(faultOf(moduleOf("ld.global.v2.u32 {%r1, %r2}, [%rd0+-8];"),
                    Kind::OutOfBounds)
                .find("8 bytes before \"in\""),
            std::string::npos);
  EXPECT_EQ(faultOf(moduleOf("ld.global.u32 %r1, [%rd0+2];"), Kind::Misaligned)
                .substr(0, 46),
            "ld: expected an address that is a multiple of ");
  EXPECT_EQ(faultOf(moduleOf("mov.u64 %rd4, 16; ld.global.u32 %r1, [%rd4];"),
                    Kind::OutOfBounds),
            "ld: expected memory that is allocated, got 4 bytes at 0x10, " +
                std::to_string(kGlobalBase - 16) +
                " bytes before \"out\" (256 bytes), in thread (0, 0, 0) of "
                "block (0, 0, 0)");
  EXPECT_EQ(
      faultOf(
          moduleOf(".shared .b32 s[4]; mul.lo.u32 %r1, %r0, 4; mov.u32 "
                   "%r2, s; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], 0;"),
          Kind::OutOfBounds),
      "st: expected an address inside, got 4 bytes at offset 16 of 16 bytes of "
      "shared memory, behind the beginning of \"s\", in thread (4, 0, 0) of "
      "block (0, 0, 0)");
}

TEST(MachineMemoryTest, FreedMemoryIsKnown) {
  Device device(moduleOf("ld.global.u64 %rd3, [%rd0];"));
  const uint64_t in = device.buffer(std::vector<uint32_t>(8), "gone");
  const uint64_t out = device.buffer(std::vector<uint64_t>(32));
  ASSERT_TRUE(device.memory.free(in));
  EXPECT_FALSE(device.memory.free(in));
  const LaunchResult result = device.run("k", {1}, {32}, in, out);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, Fault::Kind::UseAfterFree);
  EXPECT_NE(
      result.fault->message.find("in \"gone\" (32 bytes), which was freed"),
      std::string::npos);
}

TEST(MachineMemoryTest, TheHostLendsMemoryWhereItIs) {
  Memory memory;
  std::vector<uint32_t> words(4, 7);
  const auto address = reinterpret_cast<uintptr_t>(words.data());
  const uint64_t own = memory.allocate(16, "own");
  EXPECT_FALSE(memory.lend(words.data(), 0, "words"));
  ASSERT_TRUE(memory.lend(words.data(), 16, "words"));
  EXPECT_FALSE(memory.lend(words.data() + 3, 4, "again"));
  // Allocations stay in order, whatever is behind them.
  const uint64_t next = memory.allocate(16, "next");
  EXPECT_NE(memory.find(own, 16), nullptr);
  EXPECT_NE(memory.find(next, 16), nullptr);
  const uint32_t nine = 9;
  EXPECT_TRUE(memory.write(address + 4, &nine, 4));
  EXPECT_EQ(words[1], 9u);
  EXPECT_FALSE(memory.write(address + 16, &nine, 4));
  EXPECT_TRUE(memory.free(address));
  EXPECT_EQ(memory.find(address, 4), nullptr);
  EXPECT_EQ(words[1], 9u);
  // The host uses addresses again.
  EXPECT_TRUE(memory.lend(words.data() + 1, 8, "others"));
  EXPECT_NE(memory.find(address + 4, 8), nullptr);
}

TEST(MachineMemoryTest, ConstantsCannotBeWritten) {
  EXPECT_EQ(
      faultOf(moduleOf("mov.u64 %rd4, c; cvta.const.u64 %rd4, %rd4; "
                       "st.u32 [%rd4], 1;",
                       ".const .b32 c[2];\n"),
              Fault::Kind::ReadOnly)
          .substr(0, 68),
      "st: expected an address that can be written, got one in const memory");
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

TEST(MachineMemoryTest, Atomics) {
  struct Case {
    const char *op, *type;
    uint64_t initial, operand, expected;
  };
  // 32 lanes, one after the other.
  const std::vector<Case> cases{
      {"add", "u32", 5, 3, 5 + 96},
      {"add", "u64", 5, ~uint64_t(0), uint64_t(5 - 32)},
      {"and", "b32", 0xFF, 0x3C, 0x3C},
      {"or", "b64", 0xF0, 0x0F, 0xFF},
      {"xor", "b32", 0xF0, 0xFF, 0xF0},
      {"exch", "b32", 1, 2, 2},
      {"min", "s32", 5, 0xFFFFFFFE, 0xFFFFFFFE},
      {"max", "s32", 5, 0xFFFFFFFE, 5},
      {"max", "u32", 5, 0xFFFFFFFE, 0xFFFFFFFE},
      {"inc", "u32", 0, 9, 2},
      {"dec", "u32", 3, 9, 1},
      {"min", "s64", 5, ~uint64_t(6), ~uint64_t(6)},
      {"add", "f32", std::bit_cast<uint32_t>(1.5f),
       std::bit_cast<uint32_t>(0.25f), std::bit_cast<uint32_t>(9.5f)},
      {"add", "f64", std::bit_cast<uint64_t>(1.5),
       std::bit_cast<uint64_t>(0.25), std::bit_cast<uint64_t>(9.5)},
      {"add.noftz", "f16x2", 0x3C003C00, 0x38003C00, 0x4C405020},
  };
  for (const Case &entry : cases)
    for (const char *space : {"global", "shared", ""}) {
      SCOPED_TRACE(std::string(entry.op) + " " + entry.type + " " + space);
      const std::string dot = *space ? std::string(".") + space : "";
      const std::string bits = entry.type[1] == '6' ? "64" : "32";
      const std::string reg = bits == "64" ? "%rd4" : "%r4";
      const bool isShared = std::string(space) == "shared";
      const std::string to = isShared ? "[s]" : "[%rd0]";
      // There is no red.exch.
      const std::string instruction =
          std::string(entry.op) == "exch"
              ? "atom" + dot + ".exch.b32 %r5, "
              : "red" + dot + "." + entry.op + "." + entry.type + " ";
      const std::string body =
          ".shared .align 8 .b64 s;\nld.global.u64 %rd5, [%rd0];\n"
          "st.shared.u64 [s], %rd5;\nld.global.u64 %rd6, [%rd0+8];\n"
          "mov.b64 %rd4, %rd6;\ncvt.u32.u64 %r4, %rd6;\nbar.sync 0;\n" +
          instruction + to + ", " + reg + ";\nbar.sync 0;\n" +
          (isShared ? "ld.shared.u" : "ld.global.u") + bits + " %rd3, " + to +
          ";";
      EXPECT_EQ(resultOf(moduleOf(body),
                         std::vector<uint64_t>{entry.initial, entry.operand}),
                entry.expected);
    }
}

TEST(MachineMemoryTest, AtomicsGiveWhatWasThere) {
  const auto values = results(moduleOf("atom.global.add.u32 %r1, [%rd0], 10; "
                                       "cvt.u64.u32 %rd3, %r1;"),
                              std::vector<uint32_t>{7});
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], 7 + 10 * i);
  EXPECT_EQ(resultOf(moduleOf("atom.global.cas.b64 %rd3, [%rd0], 7, 9; "
                              "atom.global.cas.b64 %rd4, [%rd0], 9, 11; "
                              "shl.b64 %rd4, %rd4, 8; or.b64 %rd3, %rd3, "
                              "%rd4;"),
                     std::vector<uint64_t>{7}),
            0x907u);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

std::vector<uint32_t> counted(size_t count) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(MachineMemoryTest, CopiesArriveWhenTheyAreWaitedFor) {
  const std::string body = R"(
    .shared .align 16 .b8 s[1024];
    shl.b32 %r1, %r0, 4;
    mov.u32 %r2, s;
    add.u32 %r2, %r2, %r1;
    cvt.u64.u32 %rd4, %r1;
    add.s64 %rd4, %rd4, %rd0;
    cp.async.cg.shared.global [%r2], [%rd4], 16;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r2+512], [%rd4], 8, 4;
    cp.async.commit_group;
    ld.shared.u32 %r3, [%r2];      // Poison.
    cp.async.wait_group 1;
    ld.shared.u32 %r4, [%r2+4];    // There.
    ld.shared.u32 %r5, [%r2+512];  // Poison.
    cp.async.wait_all;
    ld.shared.u32 %r6, [%r2+512];
    ld.shared.u32 %r7, [%r2+516];  // Zeros.
    and.b32 %r3, %r3, %r5;
    setp.eq.u32 %p1, %r3, -1;
    setp.eq.and.u32 %p1, %r7, 0, %p1;
    add.u32 %r4, %r4, %r6;
    selp.u32 %r4, %r4, 0, %p1;
    cvt.u64.u32 %rd3, %r4;)";
  const auto values = results(moduleOf(body), counted(128));
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], (4 * i + 2) + (4 * i + 1));
}

TEST(MachineMemoryTest, CopiesMayBeLeftOut) {
  const std::string body = R"(
    .shared .align 16 .b8 s[512];
    shl.b32 %r1, %r0, 4;
    mov.u32 %r2, s;
    add.u32 %r2, %r2, %r1;
    and.b32 %r3, %r0, 1;
    setp.eq.u32 %p1, %r3, 1;
    // Nothing is there to be read.
    mov.u64 %rd4, 0;
    selp.b64 %rd4, %rd4, %rd0, %p1;
    cp.async.cg.shared.global [%r2], [%rd4], 16, %p1;
    cp.async.wait_all;
    ld.shared.u32 %rd3, [%r2];)";
  const auto values = results(moduleOf(body), counted(4));
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], i % 2 ? 0u : 1u);
}

TEST(MachineMemoryTest, BulkCopiesCompleteOnAnMbarrier) {
  const std::string body = R"(
    .shared .align 16 .b8 s[512];
    .shared .align 8 .b64 bar;
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
    mov.u32 %r1, 512;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], %r1, [bar];
  READY:
    bar.sync 0;
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra WAIT;
    shl.b32 %r2, %r0, 3;
    mov.u32 %r3, s;
    add.u32 %r3, %r3, %r2;
    ld.shared.u32 %r4, [%r3];
    add.u32 %r4, %r4, 1000;
    st.shared.u32 [%r3], %r4;
    fence.proxy.async;
    bar.sync 0;
    @%p1 bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 512;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  DONE:
    bar.sync 0;
    mul.wide.u32 %rd5, %r0, 8;
    add.s64 %rd5, %rd5, %rd0;
    ld.global.u32 %rd3, [%rd5];)";
  const auto values = results(moduleOf(body), counted(128), 64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], 2 * i + 1 + 1000) << i;
}

TEST(MachineMemoryTest, MbarriersCountArrivals) {
  // The state of an arrival tells its phase; the last arrival ends it.
  const std::string body = R"(
    .shared .align 8 .b64 bar;
    .shared .align 16 .b8 s[1024];
    setp.ne.u32 %p1, %r0, 0;
    @!%p1 mbarrier.init.shared.b64 [bar], 64;
    bar.sync 0;
    shl.b32 %r1, %r0, 4;
    mov.u32 %r2, s;
    add.u32 %r2, %r2, %r1;
    cvt.u64.u32 %rd4, %r1;
    add.s64 %rd4, %rd4, %rd0;
    cp.async.cg.shared.global [%r2], [%rd4], 16;
    cp.async.mbarrier.arrive.shared.b64 [bar];
    mbarrier.arrive.shared.b64 %rd6, [bar];
    mbarrier.pending_count.b64 %r5, %rd6;
  WAIT:
    mbarrier.test_wait.shared.b64 %p2, [bar], %rd6;
    @!%p2 bra WAIT;
    xor.b32 %r1, %r1, 16;
    mov.u32 %r2, s;
    add.u32 %r2, %r2, %r1;
    ld.shared.u32 %r3, [%r2];
    mad.lo.u32 %r3, %r5, 10000, %r3;
    cvt.u64.u32 %rd3, %r3;)";
  const auto values = results(moduleOf(body), counted(256), 64);
  for (uint32_t i = 0; i < 64; ++i)
    // Each copy's arrival adds one, so that 64 stay to be counted down from 96
    // and 96 of the two warps.
    EXPECT_EQ(values[i] % 10000, 4 * (i ^ 1) + 1) << i;
}

TEST(MachineMemoryTest, CopiesReadNoMoreThanTheyWrite) {
  EXPECT_EQ(faultOf(moduleOf(".shared .align 16 .b8 s[16]; mov.u32 %r1, s; "
                             "mov.u32 %r2, 20; cp.async.ca.shared.global "
                             "[%r1], [%rd0], 16, %r2;"),
                    Fault::Kind::Unsupported, 1),
            "cp.async: expected at most the 16 bytes that it copies, got a "
            "source of 20, in thread (0, 0, 0) of block (0, 0, 0)");
}

TEST(MachineMemoryTest, MbarriersMustBeThere) {
  EXPECT_EQ(faultOf(moduleOf(".shared .align 8 .b64 b; mbarrier.arrive.shared."
                             "b64 %rd3, [b];"),
                    Fault::Kind::Unsupported, 1),
            "mbarrier: expected an object that was initialised, got one that "
            "was not, in thread (0, 0, 0) of block (0, 0, 0)");
  EXPECT_EQ(faultOf(moduleOf(".shared .align 8 .b64 b; "
                             "cp.async.mbarrier.arrive.shared.b64 [b];"),
                    Fault::Kind::Unsupported, 1),
            "mbarrier: expected an object that was initialised, got one that "
            "was not, in thread (0, 0, 0) of block (0, 0, 0)");
}

} // namespace
