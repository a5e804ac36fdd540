//===- control_test.cpp - Blocks, calls and rows --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

using namespace kvc::sim;
using namespace kvc::test;

namespace {

const std::string kControlRegisters =
    ".reg .b32 %r<32>; .reg .b64 %rd<8>; .reg .pred %p<8>;\n";

Program programOf(const std::string &body) {
  return decoded(header() + kernel(kControlRegisters + body));
}

const Block &blockAt(const Program &program, size_t instruction) {
  return program.blocks.at(program.blockOf.at(instruction));
}

TEST(ControlTest, ABodyMayEndWithoutReturn) {
  EXPECT_EQ(programOf("").code.size(), 1u);
  EXPECT_EQ(programOf("ret;").code.size(), 1u);
  EXPECT_EQ(programOf("exit;").code.size(), 1u);
  EXPECT_EQ(programOf("trap;").code.size(), 1u);
  EXPECT_EQ(programOf("@%p0 ret;").code.size(), 2u);
  EXPECT_EQ(programOf("bra L; L:").code.size(), 2u);
  EXPECT_EQ(programOf("ret; L:").code.size(), 2u);
  EXPECT_EQ(programOf("L: bra L;").code.size(), 1u);
  const Program program = programOf("mov.b32 %r0, 1;");
  EXPECT_EQ(program.code[1].family, Family::Ret);
  EXPECT_EQ(program.places[1].at, (Position{7, 1}));
}

TEST(ControlTest, BranchesFindTheirLabels) {
  const Program program = programOf("bra.uni END;\n"
                                    "{ L: mov.b32 %r0, 1; @!%p0 bra L; }\n"
                                    "{ L: mov.b32 %r0, 2; @%p0 bra L; }\n"
                                    "END: ret;");
  EXPECT_EQ(program.code[0].target, 5u);
  EXPECT_EQ(program.code[2].target, 1u);
  EXPECT_EQ(program.code[4].target, 3u);
  EXPECT_TRUE(program.code[2].guard.isNegated());
  EXPECT_TRUE(program.modifiersOf(program.code[0]).has(Word::Uni));
}

TEST(ControlTest, SwitchesListTheirTargets) {
  const Program program =
      programOf("T: .branchtargets A, B, A;\nbrx.idx %r0, T;\nA: exit;\n"
                "B: trap;");
  ASSERT_EQ(program.switches.size(), 1u);
  EXPECT_EQ(program.switches[0].targets, (std::vector<uint32_t>{1, 2, 1}));
  EXPECT_EQ(program.code[0].target, 0u);
  EXPECT_EQ(program.blocks[0].successors, (std::vector<uint32_t>{1, 2}));
}

TEST(ControlTest, BlocksOfABranch) {
  // 0 -> 1 -> 3, 0 -> 2 -> 3
  const Program program = programOf("@%p0 bra B;\nmov.b32 %r0, 1;\nbra C;\n"
                                    "B: mov.b32 %r0, 2;\nC: ret;");
  ASSERT_EQ(program.blocks.size(), 4u);
  EXPECT_EQ(program.blockOf, (std::vector<uint32_t>{0, 1, 1, 2, 3}));
  EXPECT_EQ(program.blocks[0].successors, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(program.blocks[0].meets, 3u);
  EXPECT_EQ(program.blocks[1].meets, 3u);
  EXPECT_EQ(program.blocks[3].meets, kNowhere);
  EXPECT_LT(program.blocks[1].rank, program.blocks[3].rank);
  EXPECT_LT(program.blocks[2].rank, program.blocks[3].rank);
}

TEST(ControlTest, AJoinThatStandsBeforeItsArmsRanksBehindThem) {
  // LLVM places blocks like this: the join is first in the text.
  const Program program = programOf("bra A;\nJOIN: bar.sync 0;\nret;\n"
                                    "A: @%p0 bra B;\nmov.b32 %r0, 1;\n"
                                    "bra JOIN;\nB: mov.b32 %r0, 2;\n"
                                    "bra JOIN;");
  const Block &join = blockAt(program, 1);
  EXPECT_LT(blockAt(program, 4).rank, join.rank);
  EXPECT_LT(blockAt(program, 6).rank, join.rank);
  EXPECT_EQ(blockAt(program, 3).meets, program.blockOf[1]);
}

TEST(ControlTest, ALoopIsContiguousAndItsExitBehindIt) {
  // An exit from the middle, to a block that stands before the loop's end.
  const Program program =
      programOf("L: @%p0 bra OUT;\n@%p1 bra NEXT;\nmov.b32 %r0, 1;\nbra NEXT;\n"
                "OUT: mov.b32 %r1, 1;\nret;\nNEXT: @%p2 bra L;\nbra OUT;");
  const Block &head = blockAt(program, 0), &out = blockAt(program, 4);
  EXPECT_EQ(head.rank, 0u);
  EXPECT_EQ(head.loopDepth, 1u);
  EXPECT_EQ(out.loopDepth, 0u);
  for (size_t instruction : {1, 2, 3, 6})
    EXPECT_LT(blockAt(program, instruction).rank, out.rank) << instruction;
  EXPECT_EQ(head.meets, program.blockOf[4]);
}

TEST(ControlTest, WhatNothingReachesRanksLast) {
  const Program program = programOf("bra L;\nmov.b32 %r0, 1;\nL: ret;");
  EXPECT_EQ(program.blocks[1].rank, 3u);
  EXPECT_EQ(program.blocks[1].meets, kNowhere);
}

TEST(ControlTest, RegistersShareRowsWhereTheirLivesDoNotMeet) {
  std::string body = "mov.b32 %r0, 0;\n";
  for (int i = 1; i < 30; ++i)
    body += "add.s32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) +
            ", 1;\n";
  const Program program = programOf(body + "st.global.b32 [0], %r29;");
  EXPECT_EQ(program.registerRows, 4u);
  // A destination has no row of a source of the same instruction.
  for (size_t i = 1; i < 30; ++i)
    EXPECT_NE(program.slotsOf(program.code[i])[0].index(),
              program.slotsOf(program.code[i])[1].index());
}

TEST(ControlTest, ARegisterThatMayBeReadUnsetKeepsItsRow) {
  // %r1 is set under a guard only; nothing else may have its row before.
  const Program program = programOf("mov.b32 %r0, 1;\n"
                                    "st.global.b32 [0], %r0;\n"
                                    "@%p0 mov.b32 %r1, 2;\n"
                                    "st.global.b32 [0], %r1;");
  EXPECT_NE(program.slotsOf(program.code[0])[0].index(),
            program.slotsOf(program.code[2])[0].index());
}

TEST(ControlTest, WideRegistersAreAligned) {
  const Program program =
      programOf("mov.b32 %r0, 1; mov.b64 %rd0, 2; mov.b32 %r1, 3;\n"
                "st.global.b32 [%rd0], %r0; st.global.b32 [%rd0], %r1;");
  EXPECT_EQ(program.slotsOf(program.code[1])[0].index() % 2, 0u);
  EXPECT_GE(program.registerRows, 4u);
}

const std::string kSquare =
    ".func (.param .b32 out) square(.param .b32 in) { .reg .b32 %r<2>;\n"
    "ld.param.b32 %r0, [in]; mul.lo.s32 %r1, %r0, %r0;\n"
    "st.param.b32 [out], %r1; ret; }\n";

TEST(ControlTest, CallsHandOverParameters) {
  const Program program =
      decoded(header() + kSquare +
              kernel(kControlRegisters +
                     "{ .param .b32 x; .param .b32 y; st.param.b32 [x], "
                     "%r0;\ncall.uni (y), square, (x);\n"
                     "ld.param.b32 %r1, [y]; }"));
  ASSERT_EQ(program.functions.size(), 2u);
  ASSERT_EQ(program.calls.size(), 1u);
  const ProgramFunction &square = program.functions[1];
  const CallSite &site = program.calls[0];
  EXPECT_EQ(square.name, "square");
  EXPECT_EQ(program.code[1].target, 0u);
  EXPECT_EQ(site.function, 1u);
  ASSERT_EQ(site.arguments.size(), 1u);
  ASSERT_EQ(site.results.size(), 1u);
  EXPECT_EQ(site.arguments[0].offset, 0u);
  EXPECT_EQ(site.results[0].offset, 4u);
  EXPECT_EQ(site.results[0].bytes, 4u);
  // The function's frame lies above the kernel's.
  EXPECT_EQ(square.results[0].offset, 16u);
  EXPECT_EQ(square.params[0].offset, 20u);
  EXPECT_EQ(program.localBytes, 32u);
  EXPECT_EQ(square.returnAddress.file(), Slot::File::Register);
  EXPECT_TRUE(program.functions[0].returnAddress.isNothing());
  EXPECT_EQ(program.code[square.first].space, MemorySpace::Local);
  EXPECT_EQ(slotsText(program, square.first), "*%r0 #14 =0 _");
}

TEST(ControlTest, CodeThatNoWayLeadsToHasRows) {
  const Program program = programOf("exit;\nadd.s32 %r0, %r1, %r2;\n"
                                    "mul.wide.s32 %rd0, %r0, %r1;");
  for (const Slot &slot : program.slots)
    EXPECT_LE(slot.index() + slot.rows(), program.registerRows);
}

TEST(ControlTest, FunctionsHaveRowsOfTheirOwn) {
  const Program program = decoded(
      header() +
      ".func (.reg .b32 o) inner(.reg .b32 i) { add.s32 o, i, 1; ret; }\n"
      ".func (.reg .b32 o) outer(.reg .b32 i) { call (o), inner, (i); ret; "
      "}\n" +
      kernel(kControlRegisters +
             "mov.b32 %r0, 1; call (%r1), outer, (%r0);\n"
             "call (%r2), inner, (5);\n"
             "st.global.b32 [0], %r0; st.global.b32 [0], %r2;"));
  ASSERT_EQ(program.functions.size(), 3u);
  // Callers' rows end where those of the functions that they call begin.
  uint32_t end[3] = {0, 0, 0}, begin[3] = {~0u, ~0u, ~0u};
  for (uint32_t f = 0; f < 3; ++f)
    for (uint32_t i = program.functions[f].first; i < program.functions[f].end;
         ++i)
      for (Slot slot : program.slotsOf(program.code[i]))
        if (slot.file() == Slot::File::Register) {
          begin[f] = std::min(begin[f], slot.index());
          end[f] = std::max(end[f], slot.index() + slot.rows());
        }
  const auto named = [&](std::string_view name) {
    return program.functions[1].name == name ? 1 : 2;
  };
  EXPECT_LE(end[0], begin[named("outer")]);
  EXPECT_LE(end[named("outer")], begin[named("inner")]);
  EXPECT_LE(end[named("inner")], program.registerRows);
  const CallSite &direct = program.calls[1];
  EXPECT_EQ(direct.arguments[0].slot.file(), Slot::File::Constant);
}

TEST(ControlTest, TheMachinesOwnFunctions) {
  const Program program = decoded(
      header() +
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, "
      ".param .b64 d, .param .b64 e);\n" +
      kernel(kControlRegisters +
             "{ .param .b64 a; .param .b64 b; .param .b32 r;\n"
             "call.uni (r), vprintf, (a, b); }\n"
             "call __assertfail, (%rd0, %rd1, %r0, %rd2, 1);"));
  ASSERT_EQ(program.calls.size(), 2u);
  EXPECT_EQ(program.calls[0].builtin, Builtin::Vprintf);
  EXPECT_EQ(program.calls[0].function, kNowhere);
  EXPECT_EQ(program.calls[1].builtin, Builtin::AssertFail);
  EXPECT_EQ(program.calls[1].arguments.size(), 5u);
}

TEST(ControlTest, CallsThroughPointers) {
  const std::string two =
      ".func f(.param .b32 a) { ret; }\n.func g(.param .b32 a) { trap; }\n"
      ".func h(.param .b64 a) { ret; }\n.func other(.param .b32 a) { exit; }\n"
      ".global .u64 table[2] = {f, h};\n";
  const Program program = decoded(
      header() + two +
      kernel(kControlRegisters + "mov.u64 %rd0, g;\n"
                                 "P: .callprototype _ (.param .b32 _);\n"
                                 "T: .calltargets other, g;\n"
                                 "{ .param .b32 x; call %rd0, (x), P; }\n"
                                 "{ .param .b32 x; call %rd0, (x), T; }"));
  ASSERT_EQ(program.calls.size(), 2u);
  std::vector<std::string_view> names;
  for (const CallSite &site : program.calls) {
    EXPECT_EQ(site.pointer.bits(), 64u);
    for (uint32_t candidate : site.candidates)
      names.push_back(program.functions[candidate].name);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"f", "g", "other", "g"}));
}

TEST(ControlTest, AliasesCallWhatTheyStandFor) {
  const Program program =
      decoded(header() + ".func f() { ret; }\n.func g();\n.alias g, f;\n" +
              kernel("call g;"));
  EXPECT_EQ(program.functions.at(program.calls.at(0).function).name, "f");
}

TEST(ControlTest, KernelsOfAModuleAreProgramsOfTheirOwn) {
  const std::string text = header() + ".shared .b64 s[4];\n" +
                           kernel(".reg .b32 r; mov.u32 r, s;") +
                           ".entry j() { ret; }\n";
  EXPECT_EQ(decoded(text, "k").sharedBytes, 32u);
  EXPECT_EQ(decoded(text, "j").sharedBytes, 0u);
  EXPECT_EQ(decoded(text, "j").name, "j");
}

} // namespace
