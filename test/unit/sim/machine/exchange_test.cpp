//===- exchange_test.cpp - Lanes and matrices -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "MachineSupport.h"

#include <bit>
#include <cmath>
#include <random>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

const std::string kRegisters =
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<16>; "
    ".reg .f64 %fd<16>;\n"
    "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [out];\n"
    "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd1, %rd0;\n";

/// %r1 of each lane.
std::vector<uint32_t> results(const std::string &body, uint32_t threads = 32) {
  Device device(header("8.6", "sm_90") +
                kernel(kRegisters + body + "\nst.global.u32 [%rd1], %r1;\nret;",
                       ".param .u64 out"));
  const uint64_t out = device.buffer(std::vector<uint32_t>(threads));
  device.mustRun("k", {1}, {threads}, out);
  return device.read<uint32_t>(out, threads);
}

/// The definition of shfl in the ISA, for one lane.
std::pair<uint32_t, bool> shuffled(const std::string &mode, uint32_t lane,
                                   uint32_t b, uint32_t c) {
  const int bval = int(b & 31), cval = int(c & 31), segment = int(c >> 8 & 31);
  const int maxLane = (int(lane) & segment) | (cval & ~segment);
  const int minLane = int(lane) & segment;
  int j = 0;
  bool p = false;
  if (mode == "up") {
    j = int(lane) - bval;
    p = j >= maxLane;
  } else if (mode == "down") {
    j = int(lane) + bval;
    p = j <= maxLane;
  } else if (mode == "bfly") {
    j = int(lane) ^ bval;
    p = j <= maxLane;
  } else {
    j = minLane | (bval & ~segment);
    p = j <= maxLane;
  }
  return {p ? uint32_t(j) : lane, p};
}

TEST(ExchangeTest, Shuffles) {
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (uint32_t b : {0u, 1u, 5u, 16u, 31u})
      for (uint32_t c : {31u, 0u, 0x181Fu, 0x1807u, 0x1000u, 0x10u}) {
        const auto values = results(
            "mul.lo.u32 %r2, %r0, 3;\nshfl.sync." + mode +
            ".b32 %r3|%p1, %r2, " + std::to_string(b) + ", " +
            std::to_string(c) +
            ", -1;\nselp.u32 %r4, 1000, 0, %p1;\nadd.u32 %r1, %r3, %r4;");
        for (uint32_t lane = 0; lane < 32; ++lane) {
          const auto [from, inside] = shuffled(mode, lane, b, c);
          ASSERT_EQ(values[lane], from * 3 + (inside ? 1000 : 0))
              << mode << " " << b << " " << c << " " << lane;
        }
      }
}

TEST(ExchangeTest, TilesHaveMasksOfTheirOwn) {
  // Lanes 0 to 15 and 16 to 31 name their halves in one instruction.
  const auto values = results(R"(
    setp.lt.u32 %p1, %r0, 16;
    selp.b32 %r2, 0xFFFF, 0xFFFF0000, %p1;
    redux.sync.add.u32 %r1, %r0, %r2;
    and.b32 %r3, %r0, 1;
    setp.eq.u32 %p2, %r3, 1;
    vote.sync.ballot.b32 %r4, %p2, %r2;
    popc.b32 %r4, %r4;
    mad.lo.u32 %r1, %r4, 1000, %r1;)");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(values[lane], (lane < 16 ? 120u : 376u) + 8000);
}

TEST(ExchangeTest, VotesMatchesReductions) {
  auto all = [&](const std::string &body, auto expected) {
    const auto values = results(body);
    for (uint32_t lane = 0; lane < 32; ++lane)
      ASSERT_EQ(values[lane], uint32_t(expected(lane))) << body << lane;
  };
  const std::string lessThan = "setp.lt.u32 %p1, %r0, 5;\n";
  const std::string take = "selp.u32 %r1, 1, 0, %p2;";
  all(lessThan + "vote.sync.all.pred %p2, %p1, -1;" + take,
      [](uint32_t) { return 0; });
  all(lessThan + "vote.sync.any.pred %p2, %p1, -1;" + take,
      [](uint32_t) { return 1; });
  all(lessThan + "vote.sync.uni.pred %p2, !%p1, -1;" + take,
      [](uint32_t) { return 0; });
  all(lessThan + "vote.sync.ballot.b32 %r1, !%p1, -1;",
      [](uint32_t) { return 0xFFFFFFE0; });
  all("shr.u32 %r2, %r0, 3;\nmatch.any.sync.b32 %r1, %r2, -1;",
      [](uint32_t lane) { return 0xFFu << (lane / 8 * 8); });
  all("mov.u64 %rd2, 9;\nmatch.all.sync.b64 %r1|%p2, %rd2, -1;",
      [](uint32_t) { return 0xFFFFFFFF; });
  all("match.all.sync.b32 %r1|%p2, %r0, -1;", [](uint32_t) { return 0; });
  all("sub.u32 %r2, %r0, 7;\nredux.sync.min.s32 %r1, %r2, -1;",
      [](uint32_t) { return -7; });
  all("sub.u32 %r2, %r0, 7;\nredux.sync.max.u32 %r1, %r2, -1;",
      [](uint32_t) { return -1; });
  all("or.b32 %r2, %r0, 64;\nredux.sync.and.b32 %r1, %r2, -1;",
      [](uint32_t) { return 64; });
  all("elect.sync %r2|%p1, -1;\nselp.u32 %r3, 100, 0, %p1;\nadd.u32 %r1, %r2, "
      "%r3;",
      [](uint32_t lane) { return lane ? 0 : 100; });
}

TEST(ExchangeTest, MatricesGoThroughSharedMemory) {
  // Row r of the 8x8 matrix holds r * 8 + column; each lane then has elements
  // 2 * (lane % 4) and one more of row lane / 4, or with .trans of that column.
  const std::string store = R"(
    .shared .align 16 .b8 s[512];
    shl.b32 %r2, %r0, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    mul.lo.u32 %r5, %r0, 0x20002;
    add.u32 %r5, %r5, 0x10000;
    st.shared.u32 [%r4], %r5;
    bar.warp.sync -1;
    and.b32 %r6, %r0, 7;
    shl.b32 %r6, %r6, 4;
    add.u32 %r6, %r6, %r3;
)";
  auto pair = [](uint32_t low, uint32_t high) { return high << 16 | low; };
  auto values =
      results(store + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r6];");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(values[lane], pair(lane * 2, lane * 2 + 1));
  values =
      results(store + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, "
                      "[%r6];");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(values[lane], pair(lane % 4 * 16 + lane / 4,
                                 (lane % 4 * 2 + 1) * 8 + lane / 4));
  values = results(store + "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r5;");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(values[lane], pair(lane % 4 * 16 + lane / 4,
                                 (lane % 4 * 2 + 1) * 8 + lane / 4));
  // Stored transposed and read as it lies.
  values = results(store + "bar.warp.sync -1;\n"
                           "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 "
                           "[%r6], {%r5};\nbar.warp.sync -1;\n"
                           "ld.shared.u32 %r1, [%r4];");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(values[lane], pair(lane % 4 * 16 + lane / 4,
                                 (lane % 4 * 2 + 1) * 8 + lane / 4));
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

/// A kernel that reads 32 bits of each register of A, B and C from `in`, a row
/// of lanes each, and writes those of D to `out`.
std::string mmaModule(const std::string &opcode, int a, int b, int c,
                      int words = 1) {
  std::string body = kRegisters +
                     ".reg .b32 %x<64>; .reg .b64 %y<32>;\n"
                     "ld.param.u64 %rd2, [in];\n"
                     "mul.wide.u32 %rd3, %r0, " +
                     std::to_string(4 * words) +
                     ";\nadd.s64 %rd2, %rd2, %rd3;\n"
                     "add.s64 %rd0, %rd0, %rd3;\n";
  const std::string reg = words == 2 ? "%y" : "%x";
  const std::string type = words == 2 ? "b64" : "b32";
  auto list = [&](int first, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
      text += (i ? ", " : "") + reg + std::to_string(first + i);
    return text + "}";
  };
  for (int i = 0; i < a + b + c; ++i)
    body += "ld.global." + type + " " + reg + std::to_string(c + i) +
            ", [%rd2+" + std::to_string(i * 128 * words) + "];\n";
  body += opcode + " " + list(0, c) + ", " + list(c, a) + ", " +
          list(c + a, b) + ", " + list(c + a + b, c) + ";\n";
  for (int i = 0; i < c; ++i)
    body += "st.global." + type + " [%rd0+" + std::to_string(i * 128 * words) +
            "], " + reg + std::to_string(i) + ";\n";
  return header("8.6", "sm_90") +
         kernel(body + "ret;", ".param .u64 out, .param .u64 in");
}

/// Runs it on words drawn from `draw`, which gets the register and the lane.
template <typename Word, typename Draw>
std::pair<std::vector<Word>, std::vector<Word>>
runMma(const std::string &opcode, int a, int b, int c, Draw draw) {
  Device device(mmaModule(opcode, a, b, c, sizeof(Word) / 4));
  std::vector<Word> in;
  for (int i = 0; i < (a + b + c) * 32; ++i)
    in.push_back(draw(i / 32));
  const uint64_t din = device.buffer(in);
  const uint64_t out = device.buffer(std::vector<Word>(size_t(c) * 32));
  device.mustRun("k", {1}, {32}, out, din);
  return {in, device.read<Word>(out, size_t(c) * 32)};
}

TEST(ExchangeTest, ProductsOfIntegers) {
  struct Case {
    const char *opcode;
    int rows, k, bits;
    bool isSigned;
  };
  std::mt19937 random(1);
  for (const Case &entry : std::vector<Case>{
           {"m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 8, true},
           {"m8n8k32.row.col.s32.u4.u4.s32", 8, 32, 4, false},
           {"m16n8k16.row.col.s32.s8.s8.s32", 16, 16, 8, true},
           {"m16n8k32.row.col.s32.u8.u8.s32", 16, 32, 8, false},
           {"m16n8k64.row.col.s32.s4.s4.s32", 16, 64, 4, true},
           {"m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 8, 128, 1, false},
           {"m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 128, 1, false},
           {"m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 256, 1, false}}) {
    SCOPED_TRACE(entry.opcode);
    const int blocks = entry.rows / 8, per = 32 / entry.bits;
    const int b = entry.k / per / 4, a = b * blocks, c = 2 * blocks;
    const auto [in, out] =
        runMma<uint32_t>(std::string("mma.sync.aligned.") + entry.opcode, a, b,
                         c, [&](int) { return uint32_t(random()); });
    // Elements as the ISA's figures place them.
    auto element = [&](int reg, int lane, int i) {
      const uint32_t field = in[size_t(reg * 32 + lane)] >> (i * entry.bits);
      const int value = int(field & ((1u << entry.bits) - 1));
      const int sign = 1 << (entry.bits - 1);
      return entry.isSigned && (value & sign) ? value - 2 * sign : value;
    };
    const bool isXor =
        std::string(entry.opcode).find("xor") != std::string::npos;
    for (int row = 0; row < entry.rows; ++row)
      for (int column = 0; column < 8; ++column) {
        const int lane = row % 8 * 4 + column / 2;
        const int reg = row / 8 * 2 + column % 2;
        uint32_t sum = in[size_t((a + b + reg) * 32 + lane)];
        for (int k = 0; k < entry.k; ++k) {
          const int chunk = k / per;
          const int x = element(row / 8 + chunk / 4 * blocks,
                                row % 8 * 4 + chunk % 4, k % per);
          const int y = element(a + chunk / 4, column * 4 + chunk % 4, k % per);
          sum += uint32_t(isXor ? x ^ y : x * y);
        }
        ASSERT_EQ(out[size_t(reg * 32 + lane)], sum) << row << " " << column;
      }
  }
}

TEST(ExchangeTest, ProductsOfDoubles) {
  std::mt19937 random(2);
  for (auto [opcode, rows, depth] :
       std::vector<std::tuple<std::string, int, int>>{{"m8n8k4", 8, 4},
                                                      {"m16n8k4", 16, 4},
                                                      {"m16n8k8", 16, 8},
                                                      {"m16n8k16", 16, 16}}) {
    const int blocks = rows / 8, b = depth / 4, a = b * blocks, c = 2 * blocks;
    const auto [in, out] = runMma<uint64_t>(
        "mma.sync.aligned." + opcode + ".row.col.f64.f64.f64.f64", a, b, c,
        [&](int) {
          return std::bit_cast<uint64_t>(double(int(random() % 2001) - 1000) /
                                         7);
        });
    auto value = [&](int reg, int lane) {
      return std::bit_cast<double>(in[size_t(reg * 32 + lane)]);
    };
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < 8; ++column) {
        const int lane = row % 8 * 4 + column / 2;
        const int reg = row / 8 * 2 + column % 2;
        double sum = value(a + b + reg, lane);
        for (int k = 0; k < depth; ++k)
          sum = std::fma(value(row / 8 + k / 4 * blocks, row % 8 * 4 + k % 4),
                         value(a + k / 4, column * 4 + k % 4), sum);
        ASSERT_EQ(out[size_t(reg * 32 + lane)], std::bit_cast<uint64_t>(sum))
            << opcode << " " << row << " " << column;
      }
  }
}

TEST(ExchangeTest, ProductsOfHalves) {
  // Small integers, exact in every model.
  std::mt19937 random(3);
  auto half = [&] {
    static constexpr uint32_t codes[] = {0,      0x3C00, 0x4000, 0x4200,
                                         0xBC00, 0xC000, 0x4400, 0xC400};
    return codes[random() % 8];
  };
  auto valueOf = [](uint32_t code) {
    const int magnitude = (code & 0x7FFF) == 0        ? 0
                          : (code & 0x7FFF) == 0x3C00 ? 1
                          : (code & 0x7FFF) == 0x4000 ? 2
                          : (code & 0x7FFF) == 0x4200 ? 3
                                                      : 4;
    return code & 0x8000 ? -magnitude : magnitude;
  };
  const auto [in, out] = runMma<uint32_t>(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4,
      [&](int reg) {
        return reg < 6 ? half() | half() << 16
                       : std::bit_cast<uint32_t>(float(int(random() % 50)));
      });
  auto element = [&](int reg, int lane, int i) {
    return valueOf(in[size_t(reg * 32 + lane)] >> (16 * i) & 0xFFFF);
  };
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      const int lane = row % 8 * 4 + column / 2, reg = row / 8 * 2 + column % 2;
      float sum = std::bit_cast<float>(in[size_t((6 + reg) * 32 + lane)]);
      for (int k = 0; k < 16; ++k)
        sum +=
            float(element(row / 8 + k / 8 * 2, row % 8 * 4 + k % 8 / 2, k % 2) *
                  element(4 + k / 8, column * 4 + k % 8 / 2, k % 2));
      ASSERT_EQ(std::bit_cast<float>(out[size_t(reg * 32 + lane)]), sum);
    }
}

TEST(ExchangeTest, MatricesNeedAllLanes) {
  Device device(header() +
                kernel(kRegisters + ".shared .align 16 .b8 s[128];\n"
                                    "mov.u32 %r1, s;\n"
                                    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
                                    "{%r1}, [%r1];\nret;",
                       ".param .u64 out"));
  const LaunchResult result = device.run("k", {1}, {16}, uint64_t(0));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->message,
            "warp: expected all 32 lanes at an instruction on matrices, got "
            "lanes 0xffff");
}

} // namespace
