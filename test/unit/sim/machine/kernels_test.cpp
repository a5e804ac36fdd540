//===- kernels_test.cpp - Whole kernels on the machine --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "MachineSupport.h"

#include <cmath>
#include <numeric>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

TEST(KernelsTest, AddsScaledVectors) {
  Device device(header() + R"(
.visible .entry k(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<5>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra END;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.u32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6];
  ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd7], %f4;
END:
  ret;
})");
  const size_t n = 1000;
  std::vector<float> x(n), y(n);
  for (size_t i = 0; i < n; ++i) {
    x[i] = float(i) * 0.25f;
    y[i] = float(i % 7) - 3.0f;
  }
  for (unsigned threads : {1u, 3u}) {
    device.options.threads = threads;
    const uint64_t dx = device.buffer(x), dy = device.buffer(y);
    device.mustRun("k", {8}, {128}, dx, dy, 3.0f, uint32_t(n));
    const std::vector<float> result = device.read<float>(dy, n);
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(result[i], std::fma(3.0f, x[i], y[i])) << i;
  }
}

TEST(KernelsTest, ReducesThroughSharedMemory) {
  Device device(header() + R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[1024];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r2, 8;
  add.u32 %r3, %r3, %r1;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  shl.b32 %r4, %r1, 2;
  mov.u32 %r5, tile;
  add.u32 %r5, %r5, %r4;
  st.shared.f32 [%r5], %f1;
  mov.u32 %r6, 128;
LOOP:
  bar.sync 0;
  setp.ge.u32 %p1, %r1, %r6;
  @%p1 bra NEXT;
  shl.b32 %r7, %r6, 2;
  add.u32 %r7, %r7, %r5;
  ld.shared.f32 %f2, [%r7];
  ld.shared.f32 %f3, [%r5];
  add.f32 %f3, %f3, %f2;
  st.shared.f32 [%r5], %f3;
NEXT:
  shr.u32 %r6, %r6, 1;
  setp.ne.u32 %p2, %r6, 0;
  @%p2 bra LOOP;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 ret;
  ld.shared.f32 %f3, [tile];
  mul.wide.u32 %rd5, %r2, 4;
  add.s64 %rd6, %rd2, %rd5;
  st.global.f32 [%rd6], %f3;
  ret;
})");
  const size_t blocks = 5;
  std::vector<float> in(blocks * 256);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = float(i % 17) - 8.0f;
  const uint64_t dx = device.buffer(in);
  for (uint64_t seed : {0, 1, 2, 3}) {
    device.options.seed = seed;
    const uint64_t dy = device.buffer(std::vector<float>(blocks));
    device.mustRun("k", {blocks}, {256}, dx, dy);
    const std::vector<float> result = device.read<float>(dy, blocks);
    for (size_t i = 0; i < blocks; ++i)
      EXPECT_EQ(result[i],
                std::accumulate(in.begin() + long(i) * 256,
                                in.begin() + long(i + 1) * 256, 0.0f));
  }
}

} // namespace
