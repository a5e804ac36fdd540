//===- Kernels.cpp - Correct kernels to be broken -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <bit>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

using Words = std::vector<uint32_t>;

/// Small numbers without a pattern.
Words randomWords(size_t count) {
  Words words;
  uint32_t state = 12345;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    words.push_back(state >> 20);
  }
  return words;
}

std::string kernelOf(const std::string &shared, const std::string &body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + shared +
         ".visible .entry k(.param .u64 input, .param .u64 output)\n{\n"
         ".reg .pred %p<8>;\n.reg .b32 %r<48>;\n.reg .f32 %f<16>;\n"
         ".reg .b64 %rd<16>;\n" +
         body + "ret;\n}\n";
}

/// Sums of one block each, through a tree in shared memory; the tail is cut.
MutantKernel sums() {
  MutantKernel kernel;
  kernel.name = "sums";
  kernel.grid = {2};
  kernel.block = {128};
  kernel.input = randomWords(250);
  kernel.outputs = 2;
  kernel.text = kernelOf(".shared .align 4 .b8 tile[512];\n", R"(
ld.param.u64 %rd0, [input];
ld.param.u64 %rd1, [output];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
shl.b32 %r2, %r1, 7;
add.u32 %r3, %r2, %r0;
mov.b32 %r4, 0;
setp.ge.u32 %p0, %r3, 250;
@%p0 bra SKIP;
mul.wide.u32 %rd2, %r3, 4;
add.s64 %rd3, %rd0, %rd2;
ld.global.u32 %r4, [%rd3];
SKIP:
shl.b32 %r5, %r0, 2;
mov.u32 %r6, tile;
add.u32 %r7, %r6, %r5;
st.shared.u32 [%r7], %r4;
bar.sync 0;
mov.b32 %r8, 64;
LOOP:
setp.ge.u32 %p1, %r0, %r8;
@%p1 bra NEXT;
shl.b32 %r9, %r8, 2;
add.u32 %r10, %r7, %r9;
ld.shared.u32 %r11, [%r10];
ld.shared.u32 %r12, [%r7];
add.u32 %r13, %r11, %r12;
st.shared.u32 [%r7], %r13;
NEXT:
bar.sync 0;
shr.u32 %r8, %r8, 1;
setp.ne.u32 %p2, %r8, 0;
@%p2 bra LOOP;
setp.ne.u32 %p3, %r0, 0;
@%p3 bra END;
ld.shared.u32 %r14, [%r6];
mul.wide.u32 %rd4, %r1, 4;
add.s64 %rd5, %rd1, %rd4;
st.global.u32 [%rd5], %r14;
END:
)");
  kernel.answer = [](const Words &input) {
    Words sums(2, 0);
    for (size_t i = 0; i < input.size(); ++i)
      sums[i / 128] += input[i];
    return sums;
  };
  return kernel;
}

/// Two tiles of 8 x 8, one after the other, transposed by the same threads.
MutantKernel transpose() {
  MutantKernel kernel;
  kernel.name = "transpose";
  kernel.block = {64};
  kernel.input = randomWords(128);
  kernel.outputs = 128;
  kernel.text = kernelOf(".shared .align 4 .b8 tile[288];\n", R"(
ld.param.u64 %rd0, [input];
ld.param.u64 %rd1, [output];
mov.u32 %r0, %tid.x;
shr.u32 %r1, %r0, 3;
and.b32 %r2, %r0, 7;
mov.u32 %r3, tile;
mad.lo.u32 %r4, %r1, 36, %r3;
shl.b32 %r5, %r2, 2;
add.u32 %r6, %r4, %r5;
mad.lo.u32 %r7, %r2, 36, %r3;
shl.b32 %r8, %r1, 2;
add.u32 %r9, %r7, %r8;
mul.wide.u32 %rd2, %r0, 4;
add.s64 %rd3, %rd0, %rd2;
add.s64 %rd4, %rd1, %rd2;
mov.b32 %r10, 0;
LOOP:
ld.global.u32 %r11, [%rd3];
st.shared.u32 [%r6], %r11;
bar.sync 0;
ld.shared.u32 %r12, [%r9];
st.global.u32 [%rd4], %r12;
bar.sync 0;
add.s64 %rd3, %rd3, 256;
add.s64 %rd4, %rd4, 256;
add.u32 %r10, %r10, 1;
setp.lt.u32 %p0, %r10, 2;
@%p0 bra LOOP;
)");
  kernel.answer = [](const Words &input) {
    Words output(128);
    for (size_t i = 0; i < 128; ++i)
      output[i] = input[i / 64 * 64 + i % 8 * 8 + i / 8 % 8];
    return output;
  };
  return kernel;
}

/// Tiles come by cp.async into one of two buffers while the other is summed.
MutantKernel pipeline() {
  MutantKernel kernel;
  kernel.name = "pipeline";
  kernel.block = {64};
  kernel.input = randomWords(64 * 5);
  kernel.outputs = 64;
  kernel.text = kernelOf(".shared .align 16 .b8 tiles[512];\n", R"(
ld.param.u64 %rd0, [input];
ld.param.u64 %rd1, [output];
mov.u32 %r0, %tid.x;
mov.u32 %r1, tiles;
shl.b32 %r2, %r0, 2;
add.u32 %r3, %r1, %r2;
xor.b32 %r4, %r2, 132;
add.u32 %r5, %r1, %r4;
mul.wide.u32 %rd2, %r0, 4;
add.s64 %rd3, %rd0, %rd2;
cp.async.ca.shared.global [%r3], [%rd3], 4;
cp.async.commit_group;
mov.b32 %r6, 0;
mov.b32 %r7, 0;
LOOP:
add.u32 %r8, %r6, 1;
setp.ge.u32 %p0, %r8, 5;
@%p0 bra WAIT;
and.b32 %r9, %r8, 1;
shl.b32 %r10, %r9, 8;
add.u32 %r11, %r3, %r10;
mul.wide.u32 %rd4, %r8, 256;
add.s64 %rd5, %rd3, %rd4;
cp.async.ca.shared.global [%r11], [%rd5], 4;
WAIT:
cp.async.commit_group;
cp.async.wait_group 1;
bar.sync 0;
and.b32 %r12, %r6, 1;
shl.b32 %r13, %r12, 8;
add.u32 %r14, %r5, %r13;
ld.shared.u32 %r15, [%r14];
add.u32 %r7, %r7, %r15;
bar.sync 0;
mov.b32 %r6, %r8;
setp.lt.u32 %p1, %r6, 5;
@%p1 bra LOOP;
add.s64 %rd6, %rd1, %rd2;
st.global.u32 [%rd6], %r7;
)");
  kernel.answer = [](const Words &input) {
    Words output(64, 0);
    for (size_t i = 0; i < input.size(); ++i)
      output[i % 64 ^ 33] += input[i];
    return output;
  };
  return kernel;
}

/// Each block leaves a sum; the last one to come adds them all.
MutantKernel lastBlock() {
  MutantKernel kernel;
  kernel.name = "last block";
  kernel.grid = {4};
  kernel.block = {32};
  kernel.input = randomWords(128);
  kernel.outputs = 1;
  kernel.text = kernelOf(".global .align 4 .b8 partial[16];\n"
                         ".global .align 4 .u32 count;\n",
                         R"(
ld.param.u64 %rd0, [input];
ld.param.u64 %rd1, [output];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mad.lo.u32 %r2, %r1, 32, %r0;
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd3, %rd0, %rd2;
ld.global.u32 %r3, [%rd3];
redux.sync.add.u32 %r4, %r3, 0xffffffff;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra END;
mov.u64 %rd4, partial;
mul.wide.u32 %rd5, %r1, 4;
add.s64 %rd6, %rd4, %rd5;
st.global.u32 [%rd6], %r4;
membar.gl;
mov.u64 %rd7, count;
atom.global.add.u32 %r5, [%rd7], 1;
membar.gl;
setp.ne.u32 %p1, %r5, 3;
@%p1 bra END;
ld.global.u32 %r6, [%rd4];
ld.global.u32 %r7, [%rd4+4];
ld.global.u32 %r8, [%rd4+8];
ld.global.u32 %r9, [%rd4+12];
add.u32 %r10, %r6, %r7;
add.u32 %r11, %r8, %r9;
add.u32 %r12, %r10, %r11;
st.global.u32 [%rd1], %r12;
END:
)");
  kernel.answer = [](const Words &input) {
    Words output(1, 0);
    for (uint32_t word : input)
      output[0] += word;
    return output;
  };
  return kernel;
}

/// Lanes hand values on through shared memory and by shuffles; the tail of the
/// second warp is masked.
MutantKernel warps() {
  MutantKernel kernel;
  kernel.name = "warps";
  kernel.block = {64};
  kernel.input = randomWords(50);
  kernel.outputs = 64;
  kernel.text = kernelOf(".shared .align 4 .b8 tile[256];\n", R"(
ld.param.u64 %rd0, [input];
ld.param.u64 %rd1, [output];
mov.u32 %r0, %tid.x;
setp.lt.u32 %p0, %r0, 50;
mul.wide.u32 %rd2, %r0, 4;
add.s64 %rd3, %rd0, %rd2;
mov.b32 %r1, 0;
@%p0 ld.global.u32 %r1, [%rd3];
shl.b32 %r2, %r0, 2;
mov.u32 %r3, tile;
add.u32 %r4, %r3, %r2;
@%p0 st.shared.u32 [%r4], %r1;
bar.warp.sync 0xffffffff;
xor.b32 %r5, %r0, 1;
shl.b32 %r6, %r5, 2;
add.u32 %r7, %r3, %r6;
ld.shared.u32 %r8, [%r7];
selp.b32 %r9, %r8, 0, %p0;
shfl.sync.bfly.b32 %r10, %r9, 16, 31, 0xffffffff;
add.u32 %r11, %r9, %r10;
bar.warp.sync 0xffffffff;
st.shared.u32 [%r4], %r11;
bar.warp.sync 0xffffffff;
xor.b32 %r12, %r2, 32;
add.u32 %r13, %r3, %r12;
ld.shared.u32 %r14, [%r13];
add.u32 %r15, %r14, %r1;
add.s64 %rd4, %rd1, %rd2;
st.global.u32 [%rd4], %r15;
)");
  kernel.answer = [](const Words &input) {
    auto at = [&](size_t i) { return i < input.size() ? input[i] : 0; };
    auto swapped = [&](size_t i) { return i < 50 ? at(i ^ 1) : 0; };
    Words output(64);
    for (size_t i = 0; i < 64; ++i)
      output[i] = swapped(i ^ 8) + swapped(i ^ 24) + at(i);
    return output;
  };
  return kernel;
}

/// A histogram in shared memory, then added to the device's.
MutantKernel histogram() {
  MutantKernel kernel;
  kernel.name = "histogram";
  kernel.grid = {2};
  kernel.block = {64};
  kernel.input = randomWords(128);
  kernel.outputs = 64;
  kernel.text = kernelOf(".shared .align 4 .b8 bins[256];\n", R"(
ld.param.u64 %rd0, [input];
ld.param.u64 %rd1, [output];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, bins;
shl.b32 %r3, %r0, 2;
add.u32 %r4, %r2, %r3;
mov.b32 %r5, 0;
st.shared.u32 [%r4], %r5;
bar.sync 0;
mad.lo.u32 %r6, %r1, 64, %r0;
mul.wide.u32 %rd2, %r6, 4;
add.s64 %rd3, %rd0, %rd2;
ld.global.u32 %r7, [%rd3];
and.b32 %r8, %r7, 63;
shl.b32 %r9, %r8, 2;
add.u32 %r10, %r2, %r9;
red.shared.add.u32 [%r10], 1;
bar.sync 0;
ld.shared.u32 %r11, [%r4];
mul.wide.u32 %rd4, %r0, 4;
add.s64 %rd5, %rd1, %rd4;
red.global.add.u32 [%rd5], %r11;
)");
  kernel.answer = [](const Words &input) {
    Words output(64, 0);
    for (uint32_t word : input)
      ++output[word % 64];
    return output;
  };
  return kernel;
}

uint32_t halfOf(int value) {
  // Whole numbers below 2048.
  if (value == 0)
    return 0;
  const auto width = unsigned(std::bit_width(unsigned(value)));
  return (width + 14) << 10 | ((unsigned(value) << (11 - width)) & 0x3FF);
}

/// C = A B of 16 x 16 and 16 x 8 halves by one warp: copies, ldmatrix, mma.
MutantKernel product() {
  MutantKernel kernel;
  kernel.name = "product";
  kernel.block = {32};
  // A by rows, then B by columns, two halves a word; odd so that none is zero.
  auto element = [](size_t i) { return int(i * 7 % 13) + 1; };
  for (size_t i = 0; i < 128 + 64; ++i)
    kernel.input.push_back(halfOf(element(2 * i)) | halfOf(element(2 * i + 1))
                                                        << 16);
  kernel.outputs = 128;
  kernel.text = kernelOf(".shared .align 16 .b8 a[512];\n"
                         ".shared .align 16 .b8 b[256];\n",
                         R"(
ld.param.u64 %rd0, [input];
ld.param.u64 %rd1, [output];
mov.u32 %r0, %tid.x;
mov.u32 %r1, a;
mov.u32 %r2, b;
shl.b32 %r3, %r0, 4;
add.u32 %r4, %r1, %r3;
mul.wide.u32 %rd2, %r0, 16;
add.s64 %rd3, %rd0, %rd2;
cp.async.cg.shared.global [%r4], [%rd3], 16;
setp.ge.u32 %p0, %r0, 16;
@%p0 bra COPIED;
add.u32 %r5, %r2, %r3;
add.s64 %rd4, %rd3, 512;
cp.async.cg.shared.global [%r5], [%rd4], 16;
COPIED:
cp.async.commit_group;
cp.async.wait_group 0;
bar.warp.sync 0xffffffff;
and.b32 %r6, %r0, 15;
shl.b32 %r7, %r6, 5;
shr.u32 %r8, %r0, 4;
shl.b32 %r9, %r8, 4;
add.u32 %r10, %r7, %r9;
add.u32 %r11, %r1, %r10;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12, %r13, %r14, %r15}, [%r11];
and.b32 %r16, %r0, 7;
shl.b32 %r17, %r16, 5;
shr.u32 %r18, %r6, 3;
shl.b32 %r19, %r18, 4;
add.u32 %r20, %r17, %r19;
add.u32 %r21, %r2, %r20;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r22, %r23}, [%r21];
mov.f32 %f0, 0f00000000;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r12, %r13, %r14, %r15}, {%r22, %r23}, {%f0, %f0, %f0, %f0};
shr.u32 %r24, %r0, 2;
and.b32 %r25, %r0, 3;
shl.b32 %r26, %r24, 3;
shl.b32 %r27, %r25, 1;
add.u32 %r28, %r26, %r27;
mul.wide.u32 %rd5, %r28, 4;
add.s64 %rd6, %rd1, %rd5;
st.global.v2.f32 [%rd6], {%f1, %f2};
st.global.v2.f32 [%rd6+256], {%f3, %f4};
)");
  kernel.answer = [element](const Words &) {
    Words output;
    for (size_t row = 0; row < 16; ++row)
      for (size_t column = 0; column < 8; ++column) {
        int sum = 0;
        for (size_t k = 0; k < 16; ++k)
          sum += element(row * 16 + k) * element(256 + column * 16 + k);
        output.push_back(std::bit_cast<uint32_t>(float(sum)));
      }
    return output;
  };
  return kernel;
}

/// One warp fills a buffer, the other one empties it, by mbarriers: full and
/// empty.
MutantKernel handOver() {
  MutantKernel kernel;
  kernel.name = "hand over";
  kernel.block = {64};
  kernel.input = randomWords(96);
  kernel.outputs = 32;
  kernel.text = kernelOf(".shared .align 8 .b8 full[8];\n"
                         ".shared .align 8 .b8 empty[8];\n"
                         ".shared .align 4 .b8 tile[128];\n",
                         R"(
ld.param.u64 %rd0, [input];
ld.param.u64 %rd1, [output];
mov.u32 %r0, %tid.x;
mov.u32 %r1, full;
mov.u32 %r2, empty;
mov.u32 %r3, tile;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra READY;
mbarrier.init.shared.b64 [%r1], 32;
mbarrier.init.shared.b64 [%r2], 32;
READY:
bar.sync 0;
and.b32 %r4, %r0, 31;
shl.b32 %r5, %r4, 2;
add.u32 %r6, %r3, %r5;
xor.b32 %r7, %r5, 20;
add.u32 %r8, %r3, %r7;
mul.wide.u32 %rd2, %r4, 4;
add.s64 %rd3, %rd0, %rd2;
mov.b32 %r9, 0;
mov.b32 %r10, 0;
setp.ge.u32 %p1, %r0, 32;
@%p1 bra EMPTY;
FILL:
ld.global.u32 %r11, [%rd3];
st.shared.u32 [%r6], %r11;
mbarrier.arrive.shared.b64 %rd5, [%r1];
and.b32 %r12, %r9, 1;
FILLED:
mbarrier.test_wait.parity.shared.b64 %p2, [%r2], %r12;
@!%p2 bra FILLED;
add.s64 %rd3, %rd3, 128;
add.u32 %r9, %r9, 1;
setp.lt.u32 %p3, %r9, 3;
@%p3 bra FILL;
bra END;
EMPTY:
and.b32 %r13, %r9, 1;
EMPTYING:
mbarrier.test_wait.parity.shared.b64 %p4, [%r1], %r13;
@!%p4 bra EMPTYING;
ld.shared.u32 %r14, [%r8];
add.u32 %r10, %r10, %r14;
mbarrier.arrive.shared.b64 %rd6, [%r2];
add.u32 %r9, %r9, 1;
setp.lt.u32 %p5, %r9, 3;
@%p5 bra EMPTY;
add.s64 %rd7, %rd1, %rd2;
st.global.u32 [%rd7], %r10;
END:
)");
  kernel.answer = [](const Words &input) {
    Words output(32, 0);
    for (size_t i = 0; i < input.size(); ++i)
      output[i % 32 ^ 5] += input[i];
    return output;
  };
  return kernel;
}

} // namespace

std::vector<MutantKernel> kvc::test::mutantKernels() {
  return {sums(),  transpose(), pipeline(), lastBlock(),
          warps(), histogram(), product(),  handOver()};
}
