//===- count_test.cpp - Counts with known answers -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "../machine/MachineSupport.h"

#include "kvc/Sim/Count/Coalescing.h"
#include "kvc/Sim/Count/Report.h"

#include <nlohmann/json.hpp>
#include <numeric>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

const std::string kRegisters = ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 "
                               "%f<8>; .reg .b64 %rd<8>;\n";

/// Runs a kernel of that body once, with one buffer of 64 KiB, and counts.
class CountTest : public testing::Test {
protected:
  const Counts &count(const std::string &body, Extent3 grid = {1},
                      Extent3 block = {32}) {
    device = std::make_unique<Device>(
        header() + ".shared .align 16 .b8 s[16384];\n" +
            kernel(kRegisters +
                       "mov.u32 %r0, %tid.x;\n"
                       "ld.param.u64 %rd0, [a];\n" +
                       body,
                   ".param .u64 a"),
        &counter);
    const uint64_t buffer =
        device->buffer(std::vector<uint32_t>(16384, 1), "a");
    device->mustRun("k", grid, block, buffer);
    return counter.counts();
  }

  Counter counter;
  std::unique_ptr<Device> device;
};

/// Lane * stride + offset, in bytes.
std::string addressOf(unsigned stride, unsigned offset = 0) {
  return "mul.wide.u32 %rd1, %r0, " + std::to_string(stride) +
         ";\nadd.s64 %rd2, %rd0, %rd1;\nadd.s64 %rd2, %rd2, " +
         std::to_string(offset) + ";\n";
}

TEST_F(CountTest, StridesTouchSectors) {
  for (auto [stride, sectors] :
       {std::pair{0u, 1u}, std::pair{4u, 4u}, std::pair{8u, 8u},
        std::pair{16u, 16u}, std::pair{32u, 32u}, std::pair{128u, 32u}}) {
    const Counts &counts =
        count(addressOf(stride) + "ld.global.b32 %r1, [%rd2];");
    EXPECT_EQ(counts.globalReads.requests, 1u) << stride;
    EXPECT_EQ(counts.globalReads.bytes, 128u) << stride;
    EXPECT_EQ(counts.globalReads.sectors, sectors) << stride;
    EXPECT_EQ(counts.uniqueBytesRead, stride == 0 ? 4u : 128u) << stride;
    EXPECT_EQ(counts.uniqueSectors, sectors) << stride;
    EXPECT_EQ(counts.uniqueBytesWritten, 0u);
  }
}

TEST_F(CountTest, VectorsAndMisplacedRowsTouchMore) {
  EXPECT_EQ(count(addressOf(16) + "ld.global.v4.b32 {%r1,%r2,%r3,%r4}, [%rd2];")
                .globalReads.sectors,
            16u);
  EXPECT_EQ(
      count(addressOf(4, 4) + "ld.global.b32 %r1, [%rd2];").globalReads.sectors,
      5u);
  // Downwards, so that sectors come out of order.
  EXPECT_EQ(count("sub.u32 %r1, 31, %r0;\nmul.wide.u32 %rd1, %r1, 8;\n"
                  "add.s64 %rd2, %rd0, %rd1;\nld.global.b32 %r1, [%rd2];")
                .globalReads.sectors,
            8u);
}

TEST_F(CountTest, RepeatedReadsAreRequestsButNotUniqueBytes) {
  const Counts &counts = count(addressOf(4) + "ld.global.b32 %r1, [%rd2];\n"
                                              "ld.global.b32 %r2, [%rd2];\n"
                                              "st.global.b32 [%rd2+256], %r2;",
                               {2});
  EXPECT_EQ(counts.globalReads.requests, 4u);
  EXPECT_EQ(counts.globalReads.bytes, 512u);
  EXPECT_EQ(counts.uniqueBytesRead, 128u);
  EXPECT_EQ(counts.globalWrites.requests, 2u);
  EXPECT_EQ(counts.uniqueBytesWritten, 128u);
  EXPECT_EQ(counts.uniqueSectors, 8u);
}

TEST_F(CountTest, AtomicsReadAndWrite) {
  const Counts &counts =
      count("red.global.add.u32 [%rd0], 1;\natom.global.add.u32 %r1, [%rd0+4], "
            "1;");
  EXPECT_EQ(counts.globalAtomics.requests, 2u);
  EXPECT_EQ(counts.globalAtomics.sectors, 2u);
  EXPECT_EQ(counts.uniqueBytesRead, 8u);
  EXPECT_EQ(counts.uniqueBytesWritten, 8u);
  EXPECT_EQ(counts.uniqueSectors, 1u);
}

TEST(CoalescingTest, BankConflicts) {
  uint64_t offsets[32];
  auto strided = [&](uint64_t stride) -> const uint64_t * {
    for (unsigned lane = 0; lane < 32; ++lane)
      offsets[lane] = lane * stride;
    return offsets;
  };
  auto count = [&](uint64_t stride, uint32_t bytes, bool isAtomic = false) {
    return wavefrontsOf(strided(stride), kAllLanes, bytes, isAtomic).count;
  };
  EXPECT_EQ(count(4, 4), 1u);
  EXPECT_EQ(count(8, 4), 2u);
  EXPECT_EQ(count(16, 4), 4u);
  EXPECT_EQ(count(128, 4), 32u);
  EXPECT_EQ(count(132, 4), 1u); // A padded row.
  EXPECT_EQ(count(12, 4), 1u);
  EXPECT_EQ(count(0, 4), 1u); // Broadcast.
  EXPECT_EQ(count(1, 1), 1u);
  EXPECT_EQ(count(8, 8), 2u);
  EXPECT_EQ(count(16, 16), 4u);
  EXPECT_EQ(count(272, 16), 4u); // ldmatrix on padded rows.
  EXPECT_EQ(count(256, 16), 32u);
  EXPECT_EQ(count(0, 4, true), 32u);
  EXPECT_EQ(count(4, 4, true), 1u);
  EXPECT_EQ(wavefrontsOf(strided(16), 0xFF, 16, false).ideal, 1u);
  EXPECT_EQ(wavefrontsOf(strided(16), kAllLanes, 16, false).ideal, 4u);
  EXPECT_EQ(wavefrontsOf(strided(8), kAllLanes, 8, false).ideal, 2u);
}

TEST_F(CountTest, SharedMemory) {
  const Counts &counts =
      count("mov.u32 %r1, s;\nshl.b32 %r2, %r0, 7;\nadd.u32 %r2, %r2, %r1;\n"
            "st.shared.b32 [%r2], %r0;\nbar.sync 0;\n"
            "ld.shared.b32 %r3, [%r1];\n");
  EXPECT_EQ(counts.shared.requests, 2u);
  EXPECT_EQ(counts.shared.bytes, 256u);
  EXPECT_EQ(counts.shared.wavefronts, 33u);
  EXPECT_EQ(counts.shared.idealWavefronts, 2u);
  EXPECT_EQ(counts.barriers, 1u);
}

TEST_F(CountTest, AsyncCopiesReadGlobalAndWriteShared) {
  const Counts &counts =
      count(addressOf(16) + "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 4;\n"
                            "add.u32 %r2, %r2, %r1;\n"
                            "cp.async.cg.shared.global [%r2], [%rd2], 16;\n"
                            "cp.async.commit_group;\ncp.async.wait_group 0;");
  EXPECT_EQ(counts.asyncBytes, 512u);
  EXPECT_EQ(counts.globalReads.requests, 1u);
  EXPECT_EQ(counts.globalReads.sectors, 16u);
  EXPECT_EQ(counts.uniqueBytesRead, 512u);
  EXPECT_EQ(counts.shared.wavefronts, 4u);
}

TEST_F(CountTest, DivergenceAndLanes) {
  const Counts &counts =
      count("setp.lt.u32 %p0, %r0, 8;\n@%p0 bra L;\nadd.u32 %r1, %r0, 1;\n"
            "bra M;\nL: add.u32 %r1, %r0, 2;\nadd.u32 %r1, %r1, 2;\nM: "
            "setp.eq.u32 %p1, %r0, 99;\n@%p1 add.u32 %r1, %r1, 1;");
  EXPECT_EQ(counts.divergences, 1u);
  EXPECT_EQ(counts.skipped, 1u);
  const auto at = [&](size_t i) { return counts.instructions.at(i); };
  EXPECT_EQ(at(3).divergences, 1u);
  EXPECT_EQ(at(4).lanes, 24u);
  EXPECT_EQ(at(6).lanes, 8u);
  EXPECT_EQ(at(7).issued, 1u);
  EXPECT_EQ(at(8).lanes, 32u);
}

TEST_F(CountTest, AShuffleThatPartsComeToCountsOnce) {
  const Counts &counts =
      count("setp.lt.u32 %p0, %r0, 8;\n@%p0 bra L;\nadd.u32 %r1, %r0, 1;\nL: "
            "shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1;\nbar.warp.sync -1;");
  EXPECT_EQ(counts.instructions.at(5).issued, 1u);
  EXPECT_EQ(counts.instructions.at(5).lanes, 32u);
  EXPECT_EQ(counts.warpBarriers, 1u);
}

TEST_F(CountTest, Groups) {
  const Counts &counts =
      count("cvt.rn.f32.u32 %f0, %r0;\nfma.rn.f32 %f1, %f0, %f0, %f0;\n"
            "ex2.approx.f32 %f2, %f1;\nmov.b32 %r1, 0;\n"
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
            "{%f0,%f1,%f2,%f3}, {%r1,%r1}, {%r1}, {%f0,%f1,%f2,%f2};");
  auto of = [&](Group group) { return counts.byGroup[size_t(group)]; };
  EXPECT_EQ(of(Group::Move), 2u);
  EXPECT_EQ(of(Group::Alu), 1u);
  EXPECT_EQ(of(Group::Fma), 1u);
  EXPECT_EQ(of(Group::Sfu), 1u);
  EXPECT_EQ(of(Group::Mma), 1u);
  EXPECT_EQ(of(Group::Memory), 1u); // ld.param
  EXPECT_EQ(of(Group::Control), 1u);
  EXPECT_EQ(counts.issued, 8u);
  EXPECT_EQ(counts.issuedLessMoves(), 6u);
  EXPECT_EQ(std::accumulate(counts.byClass.begin(), counts.byClass.end(),
                            uint64_t(0)),
            counts.issued);
}

TEST_F(CountTest, LaunchesAreCountedAlone) {
  count("add.u32 %r1, %r0, 1;");
  const uint64_t before = counter.counts().issued;
  EXPECT_EQ(count("add.u32 %r1, %r0, 1;").issued, before);
}

TEST_F(CountTest, JsonHasTotalsAndLines) {
  const Counts &counts = count(addressOf(4) + "ld.global.b32 %r1, [%rd2];");
  const auto json = nlohmann::json::parse(countsAsJson(counts, std::nullopt));
  EXPECT_EQ(json.at("kernel"), "k");
  EXPECT_EQ(json.at("warp_instructions"), counts.issued);
  EXPECT_EQ(json.at("global_reads").at("sectors"), 4);
  EXPECT_TRUE(json.at("registers").is_null());
  EXPECT_EQ(json.at("devices").size(), allDevices().size());
  uint64_t sum = 0;
  for (const auto &line : json.at("lines"))
    sum += line.at("warp_instructions").get<uint64_t>();
  EXPECT_EQ(sum, counts.issued);
}

TEST_F(CountTest, TextSaysWhatIsUnknown) {
  const Counts &counts = count(addressOf(4) + "ld.global.b32 %r1, [%rd2];");
  const std::string text = countsAsText(counts, std::nullopt);
  EXPECT_NE(text.find("registers of a thread               unknown"),
            std::string::npos)
      << text;
  PtxasReport ptxas;
  ptxas.registers = 40;
  const std::string known = countsAsText(counts, ptxas);
  EXPECT_EQ(known.find("unknown"), std::string::npos) << known;
  EXPECT_NE(known.find("H200"), std::string::npos);
}

TEST_F(CountTest, ListingShowsCountsBeforeLines) {
  const std::string listing =
      annotatedListing(count(addressOf(4) + "ld.global.b32 %r1, [%rd2];"));
  EXPECT_NE(listing.find("           1  32.00             4.000"),
            std::string::npos)
      << listing;
  EXPECT_NE(listing.find("ld.global.b32 %r1, [%rd2];"), std::string::npos);
}

TEST(DevicesTest, OccupancyByEachLimit) {
  LaunchInfo launch;
  launch.block = {256, 1, 1};
  const DeviceModel &a100 = *deviceNamed("A100");
  Occupancy occupancy = occupancyOf(a100, launch, 32);
  EXPECT_EQ(occupancy.blocks, 8u);
  EXPECT_EQ(occupancy.warps, 64u);
  EXPECT_EQ(occupancy.limitedBy, "warps");
  occupancy = occupancyOf(a100, launch, 128);
  EXPECT_EQ(occupancy.blocks, 2u);
  EXPECT_EQ(occupancy.limitedBy, "registers");
  launch.sharedBytes = 64 * 1024;
  occupancy = occupancyOf(a100, launch, 32);
  EXPECT_EQ(occupancy.blocks, 2u);
  EXPECT_EQ(occupancy.limitedBy, "shared memory");
  launch.sharedBytes = 164 * 1024;
  EXPECT_EQ(occupancyOf(a100, launch, 32).blocks, 0u);
  launch.sharedBytes = 0;
  launch.block = {32, 1, 1};
  EXPECT_EQ(occupancyOf(a100, launch, 32).limitedBy, "blocks");
  EXPECT_EQ(occupancyOf(*deviceNamed("RTX 4090"), launch, 32).warps, 24u);
}

TEST(DevicesTest, IssueShareIsIssueOverMemory) {
  Counts counts;
  EXPECT_FALSE(issueShareOf(*deviceNamed("A100"), counts));
  counts.issued = 1000;
  counts.byGroup[size_t(Group::Move)] = 200;
  counts.uniqueSectors = 1000;
  const double expected = 800 / (4 * 108 * 1.41e9) / (32000 / 2039e9);
  EXPECT_NEAR(*issueShareOf(*deviceNamed("A100"), counts), expected, 1e-9);
}

TEST(DevicesTest, ReadsPtxas) {
  const std::string output =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'kk' for 'sm_80'\n"
      "ptxas info    : Function properties for kk\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 12 registers, used 1 barriers, 1024 bytes smem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
      "    8 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 368 bytes cmem[0]\n";
  const std::optional<PtxasReport> report = readPtxas(output, "k");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->registers, 255u);
  EXPECT_EQ(report->spillStoreBytes, 16u);
  EXPECT_EQ(report->spillLoadBytes, 20u);
  EXPECT_EQ(readPtxas(output, "kk")->registers, 12u);
  EXPECT_FALSE(readPtxas(output, "other"));
  EXPECT_FALSE(readPtxas("", "k"));
}

} // namespace
