//===- parser_test.cpp - Every form of a module's syntax ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"

using namespace kvc::sim;
using namespace kvc::test;

namespace {

TEST(ParserTest, Header) {
  Module module = parsed(".version 8.5\n.target sm_90a, debug\n");
  EXPECT_EQ(module.target.version, 85u);
  EXPECT_EQ(module.target.sm, 90u);
  EXPECT_TRUE(module.target.specific);
  EXPECT_EQ(module.target.name.text, "sm_90a");
  ASSERT_EQ(module.target.options.size(), 1u);
  EXPECT_EQ(module.target.options[0].text, "debug");
  EXPECT_FALSE(parsed(header()).target.specific);
}

TEST(ParserTest, Variables) {
  Module module = parsed(
      header() +
      ".global .u32 a;\n.visible .const .align 16 .b8 b[24];\n"
      ".extern .shared .align 16 .b8 s[];\n.weak .global .v4 .f32 v[2][3];\n"
      ".common .global .f64 c, d[2];\n"
      ".global .attribute(.managed) .s16 m;\n"
      ".global .attribute(.unified(19, 95)) .b64 u;");
  ASSERT_EQ(module.variables.size(), 8u);
  const Variable &b = module.variables[1], &s = module.variables[2],
                 &v = module.variables[3], &d = module.variables[5];
  EXPECT_EQ(module.variables[0].bytes, 4u);
  EXPECT_EQ(module.variables[0].align, 4u);
  EXPECT_EQ(b.space, Space::Const);
  EXPECT_EQ(b.linkage, Linkage::Visible);
  EXPECT_EQ(b.align, 16u);
  EXPECT_EQ(b.bytes, 24u);
  EXPECT_TRUE(s.isUnsized);
  EXPECT_EQ(s.bytes, 0u);
  EXPECT_EQ(v.bytes, 96u);
  EXPECT_EQ(v.align, 16u);
  EXPECT_EQ(v.elements, 24u);
  EXPECT_EQ(d.linkage, Linkage::Common);
  EXPECT_EQ(d.bytes, 16u);
  EXPECT_EQ(module.variables[6].name.text, "m");
}

TEST(ParserTest, InitialValues) {
  Module module = parsed(
      header() +
      ".global .u32 a[2][3] = {{1, 2}, {3}};\n"
      ".global .f32 f[] = {1.0, 0f3F800000};\n"
      ".global .u64 p = a, q[2] = {a + 4, generic(a) + 8};\n"
      ".global .u8 m[4] = {0xff(a), 0xFF00(a+4), 0xFF0000(generic(a)), 7};\n"
      ".global .v2 .u16 w[2] = {{1, 2}, {3, 4}};\n"
      ".global .b8 z[1000000000] = {};");
  auto initial = [&](size_t index) { return module.variables[index].initial; };
  ASSERT_EQ(module.variables.size(), 7u);
  ASSERT_EQ(initial(0).size(), 3u);
  EXPECT_EQ(initial(0)[1].element, 1u);
  EXPECT_EQ(initial(0)[2].element, 3u);
  EXPECT_EQ(initial(0)[2].value.bits, 3u);
  EXPECT_FALSE(module.variables[1].isUnsized);
  EXPECT_EQ(module.variables[1].bytes, 8u);
  EXPECT_EQ(initial(2)[0].symbol.text, "a");
  EXPECT_EQ(initial(3)[0].value.bits, 4u);
  EXPECT_FALSE(initial(3)[0].isGeneric);
  EXPECT_TRUE(initial(3)[1].isGeneric);
  EXPECT_EQ(initial(3)[1].value.bits, 8u);
  EXPECT_EQ(initial(4)[1].mask, 0xFF00u);
  EXPECT_EQ(initial(4)[1].value.bits, 4u);
  EXPECT_TRUE(initial(4)[2].isGeneric);
  EXPECT_EQ(initial(4)[3].mask, 0u);
  ASSERT_EQ(initial(5).size(), 4u);
  EXPECT_EQ(initial(5)[3].element, 3u);
  EXPECT_TRUE(initial(6).empty());
}

TEST(ParserTest, Functions) {
  Module module = parsed(
      header() +
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .u64 "
      ".ptr b,\n .param .align 8 .b8 c[24], .param .f32 d) .maxntid 128, 2 "
      ".reqntid 64 .minnctapersm 2 .maxnreg 64 .pragma \"x\"; "
      ".explicitcluster .reqnctapercluster 2 .maxclusterrank 8 { ret; }\n"
      ".func (.reg .f32 o) f(.reg .b32 i) .noreturn { ret; }\n"
      ".weak .func g { ret; }\n.visible .func h(); .alias h, g;");
  ASSERT_EQ(module.functions.size(), 5u);
  const Function &printf = module.functions[0], &k = module.functions[1],
                 &f = module.functions[2];
  EXPECT_FALSE(printf.hasBody);
  EXPECT_EQ(printf.linkage, Linkage::Extern);
  EXPECT_EQ(printf.results.size(), 1u);
  EXPECT_EQ(printf.params.size(), 2u);
  EXPECT_TRUE(k.isEntry);
  ASSERT_EQ(k.params.size(), 4u);
  EXPECT_EQ(k.params[2].bytes, 24u);
  EXPECT_EQ(k.params[2].align, 8u);
  EXPECT_EQ(k.hints.maxThreads[0], 128u);
  EXPECT_EQ(k.hints.maxThreads[1], 2u);
  EXPECT_EQ(k.hints.maxThreads[2], 1u);
  EXPECT_EQ(k.hints.requiredThreads[0], 64u);
  EXPECT_EQ(k.hints.minBlocks, 2u);
  EXPECT_EQ(k.hints.maxRegisters, 64u);
  EXPECT_TRUE(k.hints.explicitCluster);
  EXPECT_EQ(k.hints.requiredCluster[0], 2u);
  EXPECT_EQ(k.hints.maxClusterRank, 8u);
  EXPECT_EQ(f.results[0].space, Space::Register);
  EXPECT_TRUE(f.hints.noReturn);
  EXPECT_EQ(module.functions[3].linkage, Linkage::Weak);
  ASSERT_EQ(module.aliases.size(), 1u);
  EXPECT_EQ(module.aliases[0].of.text, "g");
}

TEST(ParserTest, DebugInformation) {
  Module module = parsed(
      header() +
      ".file 1 \"a.c\"\n.file 2 \"/tmp\" \"b.c\"\n"
      ".file 3 \"c.c\", 1400000000, 77\n.pragma \"nounroll\";\n" +
      kernel(".loc 1 2 3\nmov.u32 %r1, 0;\n.loc 2 4 5, function_name $L, "
             "inlined_at 1 6 7\nret;\n.loc 2 4 5, function_name $L + 8, "
             "inlined_at 1 6 7\n") +
      ".section .debug_str { $L: .b8 1,2\n.b32 $L+4\n.b64 k\n.b32 a-b }\n"
      ".section .debug_loc { }");
  ASSERT_EQ(module.files.size(), 3u);
  EXPECT_EQ(module.files[1].path, "b.c");
  EXPECT_EQ(module.files[2].number, 3u);
  const Function &k = module.functions.at(0);
  ASSERT_EQ(k.instructions.size(), 2u);
  ASSERT_EQ(k.instructions[0].location, 1u);
  EXPECT_EQ(module.locations[0].line, 2u);
  EXPECT_EQ(module.locations[k.instructions[1].location - 1].file, 2u);
  EXPECT_EQ(module.locations[k.instructions[1].location - 1].line, 4u);
}

TEST(ParserTest, StatementsInOrder) {
  Module module = parsed(header() + kernel(".reg .b32 %r<4>, a;\n"
                                           "L: { .reg.pred p;\n"
                                           "@!p bra L; } }\n"
                                           ".entry j() { ret;"));
  const Function &k = module.functions.at(0);
  using K = Statement::Kind;
  const K expected[] = {K::Declare, K::Declare,     K::Label, K::Open,
                        K::Declare, K::Instruction, K::Close};
  ASSERT_EQ(k.statements.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(k.statements[i].kind, expected[i]) << i;
  EXPECT_TRUE(k.variables[0].isRange);
  EXPECT_EQ(k.variables[0].count, 4u);
  EXPECT_FALSE(k.variables[1].isRange);
  EXPECT_EQ(k.instructions[0].guard.text, "p");
  EXPECT_TRUE(k.instructions[0].isGuardNegated);
  EXPECT_EQ(k.instructions[0].at, (Position{7, 5}));
  EXPECT_EQ(k.end, (Position{7, 14}));
}

/// The operands of one instruction.
std::vector<Operand> operandsOf(const Module &module, size_t index = 0) {
  const Function &function = module.functions.at(0);
  const Instruction &instruction = function.instructions.at(index);
  return {function.operands.begin() + instruction.firstOperand,
          function.operands.begin() + instruction.firstOperand +
              instruction.operandCount};
}

TEST(ParserTest, Operands) {
  using K = Operand::Kind;
  Module module = parsed(
      header() +
      kernel("foo %r1, !p, -5, (1 + 2), 0f3F800000, _, g + 8, g[2], p|q, p|_, "
             "%tid.x, WARP_SZ, {a, _, 1.0};\nfoo;"));
  std::vector<Operand> operands = operandsOf(module);
  ASSERT_EQ(operands.size(), 13u);
  EXPECT_EQ(operands[0].text, "%r1");
  EXPECT_TRUE(operands[1].isNegated);
  EXPECT_EQ(int64_t(operands[2].constant.bits), -5);
  EXPECT_EQ(operands[3].constant.bits, 3u);
  EXPECT_EQ(operands[4].constant.kind, Constant::Kind::F32);
  EXPECT_EQ(operands[5].kind, K::Sink);
  EXPECT_EQ(operands[6].offset, 8);
  EXPECT_FALSE(operands[6].isIndexed);
  EXPECT_EQ(operands[7].offset, 2);
  EXPECT_TRUE(operands[7].isIndexed);
  ASSERT_EQ(operands[8].kind, K::Pair);
  const auto &pool = module.functions[0].operands;
  EXPECT_EQ(pool[operands[8].firstChild + 1].text, "q");
  EXPECT_EQ(pool[operands[9].firstChild + 1].kind, K::Sink);
  EXPECT_EQ(operands[10].text, "%tid.x");
  EXPECT_EQ(operands[11].constant.bits, 32u);
  ASSERT_EQ(operands[12].kind, K::Vector);
  ASSERT_EQ(operands[12].childCount, 3u);
  EXPECT_EQ(pool[operands[12].firstChild + 1].kind, K::Sink);
  EXPECT_TRUE(operandsOf(module, 1).empty());
}

TEST(ParserTest, Addresses) {
  Module module = parsed(
      header() + kernel("foo [%r1], [a+4], [a+-4], [a+(1<<3)+1], [16], [-8], "
                        "[t, {%r1, %r2}], [t, {%r1}, p];"));
  std::vector<Operand> operands = operandsOf(module);
  ASSERT_EQ(operands.size(), 8u);
  for (const Operand &operand : operands)
    EXPECT_EQ(operand.kind, Operand::Kind::Address);
  EXPECT_EQ(operands[1].offset, 4);
  EXPECT_EQ(operands[2].offset, -4);
  EXPECT_EQ(operands[3].offset, 9);
  EXPECT_TRUE(operands[4].text.empty());
  EXPECT_EQ(operands[4].offset, 16);
  EXPECT_EQ(operands[5].offset, -8);
  ASSERT_EQ(operands[6].childCount, 1u);
  EXPECT_EQ(module.functions[0].operands[operands[6].firstChild].childCount,
            2u);
  EXPECT_EQ(operands[7].childCount, 2u);
}

TEST(ParserTest, CallsAndTargets) {
  Module module = parsed(
      header() +
      kernel("call f;\ncall.uni (r), f, (a, 5);\ncall f, (a);\n"
             "call (r), %rd1, (a), P;\nT: .branchtargets L, M;\n"
             "C: .calltargets f, g;\n"
             "P: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16], "
             ".reg .b32 _);\nN: .callprototype _ () .noreturn;\n"
             "brx.idx %r1, T;"));
  const Function &k = module.functions.at(0);
  std::vector<Operand> operands = operandsOf(module, 1);
  ASSERT_EQ(operands.size(), 3u);
  EXPECT_EQ(operands[0].kind, Operand::Kind::List);
  EXPECT_EQ(operands[1].text, "f");
  EXPECT_EQ(operands[2].childCount, 2u);
  ASSERT_EQ(k.targetLists.size(), 4u);
  EXPECT_EQ(k.targetLists[0].targets.size(), 2u);
  EXPECT_EQ(k.targetLists[1].kind, TargetList::Kind::Calls);
  EXPECT_EQ(k.targetLists[2].results.size(), 1u);
  EXPECT_EQ(k.targetLists[2].params[0].bytes, 16u);
  EXPECT_TRUE(k.targetLists[3].params.empty());
}

TEST(ParserTest, ManyLinesNeedNoStack) {
  std::string body;
  for (int i = 0; i < 100000; ++i)
    body += "foo " + std::string(i % 7, '-') + "1;\n";
  EXPECT_EQ(parsed(header() + kernel(body)).functions[0].instructions.size(),
            100000u);
}

TEST(ParserTest, AModuleKeepsItsText) {
  Module copy;
  {
    Module module = parsed(header() + kernel("ret;"));
    copy = module;
  }
  EXPECT_EQ(copy.functions[0].instructions[0].opcode, "ret");
}

} // namespace
