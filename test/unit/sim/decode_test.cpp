//===- decode_test.cpp - Instructions and their operands ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Samples.h"

#include <set>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

/// Registers that most tests need.
const std::string kDecodeRegisters =
    ".reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;\n"
    ".reg .f64 %fd<4>; .reg .pred %p<4>; .reg .v4 .b32 v; .reg .v2 .f32 w;\n";

/// The slots of the only instruction of a body.
std::string slotsOf(const std::string &instruction,
                    std::string_view version = "8.0",
                    std::string_view target = "sm_90") {
  const Program program = decoded(
      header(version, target) +
      ".global .align 8 .b32 g[4];\n.shared .b32 s[4];\n" +
      kernel(kDecodeRegisters + instruction, ".param .b32 a, .param .b64 b"));
  return program.code.empty() ? "" : slotsText(program, 0);
}

TEST(DecodeTest, RegistersAndConstants) {
  EXPECT_EQ(slotsOf("add.s32 %r0, %r1, -1;"), "*%r0 %r1 #ffffffff");
  EXPECT_EQ(slotsOf("add.f32 %f0, %f1, 0.5;"), "*%f0 %f1 #3f000000");
  EXPECT_EQ(slotsOf("add.f64 %fd0, %fd1, 0f3F800000;"),
            "*%fd0 %fd1 #3ff0000000000000");
  EXPECT_EQ(slotsOf("add.u16 %h0, %h1, -2;"), "*%h0 %h1 #fffe");
  EXPECT_EQ(slotsOf("mul.wide.s32 %rd0, %r0, -4;"), "*%rd0 %r0 #fffffffc");
  EXPECT_EQ(slotsOf("mad.wide.u16 %r0, %h0, 2, %r1;"), "*%r0 %h0 #2 %r1");
  EXPECT_EQ(slotsOf("shl.b64 %rd0, %rd1, %r1;"), "*%rd0 %rd1 %r1");
  EXPECT_EQ(slotsOf("add.u32 v.x, v.y, v.a;"), "*v v v");
  EXPECT_EQ(slotsOf("mov.u32 %r0, WARP_SZ;"), "*%r0 #20");
}

TEST(DecodeTest, Predicates) {
  EXPECT_EQ(slotsOf("setp.lt.s32 %p0, %r0, 3;"), "*%p0 _ %r0 #3 _");
  EXPECT_EQ(slotsOf("setp.lt.s32 %p0|%p1, %r0, %r1;"), "*%p0 *%p1 %r0 %r1 _");
  EXPECT_EQ(slotsOf("setp.lt.s32 _|%p1, %r0, %r1;"), "_ *%p1 %r0 %r1 _");
  EXPECT_EQ(slotsOf("setp.lt.and.s32 %p0, %r0, %r1, !%p1;"),
            "*%p0 _ %r0 %r1 !%p1");
  EXPECT_EQ(slotsOf("selp.b32 %r0, 1, %r1, !%p0;"), "*%r0 #1 %r1 !%p0");
  EXPECT_EQ(slotsOf("and.pred %p0, !%p1, %p2;"), "*%p0 !%p1 %p2");
  EXPECT_EQ(slotsOf("mov.pred %p0, -1;"), "*%p0 true");
  EXPECT_EQ(slotsOf("mov.pred %p0, 0;"), "*%p0 false");
  EXPECT_EQ(slotsOf("vote.sync.ballot.b32 %r0, 1, -1;"), "*%r0 true #ffffffff");
}

TEST(DecodeTest, Vectors) {
  EXPECT_EQ(slotsOf("ld.global.v4.u32 {%r0, _, %r2, %f1}, [%rd0+16];"),
            "*%r0 _ *%r2 *%f1 %rd0 =16 _");
  EXPECT_EQ(slotsOf("st.global.v2.f32 [%rd0], {%f0, 1.0};"),
            "%rd0 =0 %f0 #3f800000 _");
  EXPECT_EQ(slotsOf("ld.global.v4.b32 v, [%rd0];"), "*v *v *v *v %rd0 =0 _");
  EXPECT_EQ(slotsOf("ld.global.v2.f32 w, [%rd0];"), "*w *w %rd0 =0 _");
  EXPECT_EQ(slotsOf("mov.b32 %r0, {%h0, 1};"), "*%r0 %h0 #1");
  EXPECT_EQ(slotsOf("mov.b64 {%r0, _}, %rd0;"), "*%r0 _ %rd0");
  EXPECT_EQ(slotsOf("mov.b64 %rd0, {%h0, %h1, %h2, %h3};"),
            "*%rd0 %h0 %h1 %h2 %h3");
  EXPECT_EQ(slotsOf("mov.v4.b32 v, {%r0, %r1, %r2, %r3};"),
            "*v *v *v *v %r0 %r1 %r2 %r3");
  EXPECT_EQ(slotsOf("mov.v4.u32 v, %tid;"), "*v *v *v *v %tid %tid %tid %tid");
  EXPECT_EQ(slotsOf("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, "
                    "[%r2];"),
            "*%r0 *%r1 %r2 =0");
  EXPECT_EQ(
      slotsOf("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, _, %f2, "
              "_}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0, 0., %f2, 0.};"),
      "*%f0 _ *%f2 _ %r0 %r1 %r2 %r3 %r4 %r5 %f0 #0 %f2 #0");
}

TEST(DecodeTest, WhatIsLeftOutHasItsPlace) {
  EXPECT_EQ(slotsOf("shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;"),
            "*%r0 _ %r1 #1 #1f #ffffffff");
  EXPECT_EQ(slotsOf("shfl.sync.bfly.b32 %r0|%p0, %r1, 1, 31, -1;"),
            "*%r0 *%p0 %r1 #1 #1f #ffffffff");
  EXPECT_EQ(slotsOf("bar.sync 0;"), "#0 _");
  EXPECT_EQ(slotsOf("bar.sync 1, 64;"), "#1 #40");
  EXPECT_EQ(slotsOf("bar.red.popc.u32 %r0, 1, !%p0;"), "*%r0 #1 _ !%p0");
  EXPECT_EQ(slotsOf("bar.red.popc.u32 %r0, 1, 64, %p0;"), "*%r0 #1 #40 %p0");
  EXPECT_EQ(slotsOf("cp.async.ca.shared.global [s+4], [%rd0], 8;"),
            "#0 =4 %rd0 =0 =8 _ _");
  EXPECT_EQ(slotsOf("cp.async.ca.shared.global [%r0], [%rd0], 8, %r1;"),
            "%r0 =0 %rd0 =0 =8 %r1 _");
  EXPECT_EQ(slotsOf("cp.async.ca.shared.global [%r0], [%rd0], 8, %p0;"),
            "%r0 =0 %rd0 =0 =8 %p0 _");
  EXPECT_EQ(slotsOf("cp.async.cg.shared.global.L2::cache_hint [%r0], [%rd0], "
                    "16, %rd1;"),
            "%r0 =0 %rd0 =0 =16 _ %rd1");
  EXPECT_EQ(slotsOf("atom.global.add.u32 _, [%rd0], 1;"), "_ %rd0 =0 #1 _");
  EXPECT_EQ(slotsOf("mbarrier.arrive.shared.b64 %rd0, [%r0];"), "*%rd0 %r0 =0");
  EXPECT_EQ(slotsOf("mbarrier.arrive.shared.b64 %rd0, [%r0], 3;"),
            "*%rd0 %r0 =0 #3");
  EXPECT_EQ(slotsOf("mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%r0], "
                    "%r1;"),
            "_ %r0 =0 %r1");
  EXPECT_EQ(slotsOf("elect.sync _|%p0, -1;"), "_ *%p0 #ffffffff");
}

TEST(DecodeTest, TheCarryFlagIsAPredicate) {
  const Program program = decoded(
      header() + kernel(kDecodeRegisters + "add.cc.u32 %r0, %r1, %r2;\n"
                                           "addc.cc.u32 %r3, %r4, %r5;\n"
                                           "madc.hi.u32 %r6, %r0, %r1, 0;"));
  EXPECT_EQ(slotsText(program, 0), "*%r0 %r1 %r2 *the carry flag");
  EXPECT_EQ(slotsText(program, 1),
            "*%r3 %r4 %r5 *the carry flag the carry flag");
  EXPECT_EQ(slotsText(program, 2), "*%r6 %r0 %r1 #0 the carry flag");
  const auto flag = program.slotsOf(program.code[0])[3];
  EXPECT_EQ(flag.file(), Slot::File::Predicate);
  EXPECT_EQ(flag.index(), program.slotsOf(program.code[2])[4].index());
}

TEST(DecodeTest, NarrowAndWideRegisters) {
  EXPECT_EQ(slotsOf("ld.global.u8 %h0, [%rd0];"), "*%h0 %rd0 =0 _");
  EXPECT_EQ(slotsOf("ld.global.s8 %rd1, [%rd0];"), "*%rd1 %rd0 =0 _");
  EXPECT_EQ(slotsOf("cvt.u8.u32 %r0, %rd0;"), "*%r0 %rd0");
  const Program program = decoded(
      header() +
      kernel(".reg .b8 b; .reg .b16 h; .reg .b32 r; .reg .b64 d; .reg .b128 q;"
             "ld.global.b8 b, [0]; ld.global.b8 h, [0]; ld.global.b8 r, [0];"
             "ld.global.b8 d, [0]; mov.b64 {r, _}, d;"));
  unsigned bits = 8;
  for (int i = 0; i < 4; ++i, bits *= 2) {
    const Slot slot = program.slotsOf(program.code[i])[0];
    EXPECT_EQ(slot.bits(), bits);
    EXPECT_EQ(slot.rows(), bits == 64 ? 2u : 1u);
  }
}

TEST(DecodeTest, SpecialRegistersAreRows) {
  const Program program = decoded(
      header() + kernel(kDecodeRegisters + "mov.u32 %r0, %tid.x;\n"
                                           "mov.u64 %rd0, %clock64;\n"
                                           "mov.b32 %r1, %tid.x;\n"
                                           "cvt.u64.u32 %rd1, %ctaid.y;\n"
                                           "mov.u16 %h0, %ntid.z;\n"
                                           "add.u32 %r0, %r0, %r1;"));
  ASSERT_EQ(program.specials.size(), 4u);
  EXPECT_EQ(program.specials[0].id, SpecialRegister::Tid);
  EXPECT_EQ(program.specials[0].component, 0u);
  EXPECT_EQ(program.specials[2].component, 1u);
  std::set<uint32_t> rows;
  for (const SpecialRow &row : program.specials)
    for (unsigned i = 0; i < row.slot.rows(); ++i)
      EXPECT_TRUE(rows.insert(row.slot.index() + i).second);
  EXPECT_EQ(program.specials[1].slot.index() % 2, 0u);
  EXPECT_EQ(program.slotsOf(program.code[0])[1].index(),
            program.slotsOf(program.code[2])[1].index());
  EXPECT_TRUE(program.code[1].readsChanging);
  EXPECT_FALSE(program.code[0].readsChanging);
  // No register of the kernel shares a row with one.
  EXPECT_FALSE(rows.count(program.slotsOf(program.code[5])[0].index()));
}

TEST(DecodeTest, AddressesOfVariables) {
  EXPECT_EQ(slotsOf("mov.u64 %rd0, g+8;"), "*%rd0 #8");
  EXPECT_EQ(slotsOf("mov.u64 %rd0, g[3];"), "*%rd0 #c");
  EXPECT_EQ(slotsOf("ld.global.b32 %r0, g[1];"), "*%r0 #0 =4 _");
  EXPECT_EQ(slotsOf("ld.global.b32 %r0, [g+8];"), "*%r0 #0 =8 _");
  EXPECT_EQ(slotsOf("mov.u32 %r0, s;"), "*%r0 #0");
  EXPECT_EQ(slotsOf("cvta.shared.u64 %rd0, s;"), "*%rd0 #0");
  EXPECT_EQ(slotsOf("ld.param.b64 %rd0, [b];"), "*%rd0 #8 =0 _");
  EXPECT_EQ(slotsOf("ld.param.b32 %r0, [b+4];"), "*%r0 #8 =4 _");
  EXPECT_EQ(slotsOf("mov.b64 %rd0, b;"), "*%rd0 #8");
  EXPECT_EQ(slotsOf("ld.local.b32 %r0, [16];"), "*%r0 #0 =16 _");
}

TEST(DecodeTest, SpacesOfAddresses) {
  const Program program = decoded(
      header() +
      ".global .b32 g; .const .b32 c[2]; .shared .b32 s; .extern .shared .b8 "
      "d[];\n" +
      kernel(kDecodeRegisters + ".local .b32 l; .param .b32 q;\n"
                                "ld.global.b32 %r0, [%rd0];\n"
                                "ld.b32 %r0, [%rd0];\n"
                                "ld.b32 %r0, [s];\n"
                                "ld.const.b32 %r0, [c+4];\n"
                                "ld.local.b32 %r0, [l];\n"
                                "ld.param.b32 %r0, [a];\n"
                                "ld.param.b32 %r0, [%rd0];\n"
                                "st.param.b32 [q], %r0;\n"
                                "ld.shared.b32 %r0, [d];\n"
                                "st.param.b32 [%rd0], %r0;\n"
                                "add.s32 %r0, %r0, 1;",
             ".param .b32 a"));
  const MemorySpace spaces[] = {
      MemorySpace::Global, MemorySpace::Generic, MemorySpace::Shared,
      MemorySpace::Const,  MemorySpace::Local,   MemorySpace::Params,
      MemorySpace::Params, MemorySpace::Local,   MemorySpace::Shared,
      MemorySpace::Local,  MemorySpace::None};
  for (size_t i = 0; i < std::size(spaces); ++i)
    EXPECT_EQ(program.code[i].space, spaces[i]) << i;
}

TEST(DecodeTest, GlobalAddressesWaitForTheLoader) {
  const Program program = decoded(
      header() + ".global .b32 g[4]; .func f() { ret; }\n" +
      kernel(kDecodeRegisters + "mov.u64 %rd0, g+4;\nmov.u64 %rd1, f;"));
  ASSERT_EQ(program.constants.size(), 2u);
  EXPECT_EQ(program.constants[0].kind, ConstantRow::Kind::Global);
  EXPECT_EQ(program.constants[0].index, 0u);
  EXPECT_EQ(program.constants[0].bits, 4u);
  EXPECT_EQ(program.constants[0].width, 64);
  EXPECT_EQ(program.constants[1].kind, ConstantRow::Kind::Function);
  EXPECT_EQ(program.functions.size(), 2u);
  EXPECT_EQ(program.constantRows, 4u);
}

TEST(DecodeTest, ConstantsArePooled) {
  const Program program =
      decoded(header() + kernel(kDecodeRegisters + "add.s32 %r0, %r0, 1;\n"
                                                   "add.u32 %r1, %r1, 1;\n"
                                                   "add.s64 %rd0, %rd0, 1;\n"
                                                   "add.s64 %rd0, %rd0, -1;"));
  EXPECT_EQ(program.constants.size(), 3u);
  EXPECT_EQ(program.constantRows, 5u);
  EXPECT_EQ(program.slotsOf(program.code[0])[2],
            program.slotsOf(program.code[1])[2]);
}

TEST(DecodeTest, SharedMemoryIsLaidOut) {
  const Program program = decoded(
      header() +
      ".shared .align 16 .b8 a[5]; .shared .b64 b; .shared .b8 unused[99];\n"
      ".extern .shared .align 32 .b8 d[]; .extern .shared .b32 e[];\n" +
      kernel(kDecodeRegisters +
             ".shared .b16 c;\nmov.u32 %r0, a;\nmov.u32 %r1, b;\n"
             "mov.u32 %r2, c+2;\nmov.u32 %r3, d;\n"
             "mov.u32 %r4, e+8;\nmov.u32 %r5, a+1;"));
  EXPECT_EQ(program.sharedBytes, 18u);
  EXPECT_EQ(program.dynamicSharedOffset, 32u);
  const char *slots[] = {"*%r0 #0",  "*%r1 #8",  "*%r2 #12",
                         "*%r3 #20", "*%r4 #28", "*%r5 #1"};
  for (size_t i = 0; i < std::size(slots); ++i)
    EXPECT_EQ(slotsText(program, i), slots[i]);
  ASSERT_EQ(program.objects.size(), 5u);
  EXPECT_EQ(program.objects[1].name, "b");
  EXPECT_EQ(program.objects[1].offset, 8u);
  EXPECT_TRUE(program.objects[3].isDynamic);
  EXPECT_EQ(program.objects[4].offset, 32u);
}

TEST(DecodeTest, ParametersAndLocalMemoryAreLaidOut) {
  const Program program =
      decoded(header() +
              kernel(kDecodeRegisters + ".local .align 8 .b8 l[12];\n"
                                        "{ .local .b64 m; mov.u64 %rd0, m; }\n"
                                        "mov.u64 %rd1, l;",
                     ".param .b8 a, .param .align 8 .b8 b[5], .param .b16 "
                     "c"));
  EXPECT_EQ(program.paramBytes, 16u);
  EXPECT_EQ(program.localBytes, 32u);
  EXPECT_EQ(slotsText(program, 0), "*%rd0 #10");
  EXPECT_EQ(slotsText(program, 1), "*%rd1 #0");
  EXPECT_EQ(program.objects[2].name, "c");
  EXPECT_EQ(program.objects[2].offset, 14u);
  EXPECT_EQ(program.objects[2].space, MemorySpace::Params);
}

TEST(DecodeTest, InnerNamesHideOuterOnes) {
  const Program program = decoded(
      header() + kernel(".reg .b32 a; .reg .b32 %r<2>; mov.b32 a, 1;\n"
                        "{ .reg .b64 a; .reg .b64 %r<3>; mov.b64 a, 2; "
                        "mov.b64 %r2, 3; }\nmov.b32 a, 4; mov.b32 %r1, 5;"));
  const unsigned bits[] = {32, 64, 64, 32, 32};
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(program.slotsOf(program.code[i])[0].bits(), bits[i]) << i;
}

TEST(DecodeTest, TheTableNeedsNoMoreThanItSays) {
  std::set<std::string> opcodes;
  for (const Sample &sample : allSamples()) {
    Requirement needs = sample.needs;
    needs.raiseTo({63, 70, false});
    const std::string text =
        header(std::to_string(needs.version / 10) + "." +
                   std::to_string(needs.version % 10),
               "sm_" + std::to_string(needs.sm) + (needs.specific ? "a" : "")) +
        sampleVariables() +
        kernel(sampleDeclarations(needs.version) + sample.text + ";",
               ".param .align 16 .b8 parameter[64]");
    Expected<Program> program = decode(text);
    if (!program) {
      ADD_FAILURE() << sample.text << "\n" << program.error().str();
      continue;
    }
    const Inst &inst = program->code.at(0);
    EXPECT_EQ(inst.family, sample.form->family) << sample.text;
    opcodes.insert(sample.opcode);
  }
  EXPECT_GT(opcodes.size(), 1500u);
}

TEST(DecodeTest, PlacesInTheText) {
  const Program program =
      decoded(header() + kernel(".loc 1 2 3\nret;\n  exit;"));
  ASSERT_EQ(program.places.size(), 2u);
  EXPECT_EQ(program.places[0].at, (Position{6, 1}));
  EXPECT_EQ(program.places[1].at, (Position{7, 3}));
  EXPECT_EQ(program.places[1].location, 1u);
}

} // namespace
