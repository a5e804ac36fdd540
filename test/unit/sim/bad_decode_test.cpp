//===- bad_decode_test.cpp - What no kernel may say, and the messages -----===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

using namespace kvc::sim;
using namespace kvc::test;

namespace {

struct Bad {
  const char *name, *body;
  const char *error; ///< The body begins on line 13.
};

std::ostream &operator<<(std::ostream &os, const Bad &bad) {
  return os << bad.name;
}

const std::string kAround =
    R"(.global .align 8 .b32 g[4]; .const .b32 c; .shared .b32 s; .extern .global .b32 e[];
.func (.param .b32 o) f(.param .b32 i) { ret; }
.func r() { call r2; } .func r2() { call r; }
.extern .func extern_function();
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .func (.param .b64 r) malloc(.param .b32 a);
)";
const std::string kDeclarations =
    R"(.reg .b16 %h<4>; .reg .b32 %r<8>; .reg .s32 %s<4>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %fd<4>; .reg .pred %p<4>; .reg .v4 .b32 v; .reg .f16 %hf;
.local .b32 l; .param .b32 q;
)";

class BadDecodeTest : public testing::TestWithParam<Bad> {};

TEST_P(BadDecodeTest, IsRefused) {
  EXPECT_EQ(
      decodeErrorOf(header() + kAround +
                    kernel(kDeclarations + GetParam().body, ".param .b32 a")),
      GetParam().error);
}

const Bad kOpcodes[] = {
    {"UnknownInstruction", "foo.s32 %r0, %r1;",
     "13:1: instruction: expected PTX, got \"foo\""},
    {"UnknownModifier", "add.fast.s32 %r0, %r1, %r2;",
     "13:5: add: expected one of .u16, .s16, .u32, .s32, .u64, .s64, .u16x2, "
     ".s16x2, .sat, .cc, .rn, .rz, .rm, .rp, .ftz, .f32, .f32x2, .f64, .f16, "
     ".f16x2, .bf16, .bf16x2, got \".fast\""},
    {"MissingModifier", "mul.s32 %r0, %r1, %r2;",
     "13:8: mul.s32: expected one of .lo, .hi, .wide, got no modifier"},
    {"ModifierTwice", "add.sat.sat.s32 %r0, %r1, %r2;",
     "13:9: add.sat: expected one of .s32, .rn, .rz, .rm, .rp, .ftz, .f32, "
     ".f16, .f16x2, got \".sat\""},
    {"TypeUnknown", "add.s33 %r0, %r1, %r2;",
     "13:5: add: expected one of .u16, .s16, .u32, .s32, .u64, .s64, .u16x2, "
     ".s16x2, .sat, .cc, .rn, .rz, .rm, .rp, .ftz, .f32, .f32x2, .f64, .f16, "
     ".f16x2, .bf16, .bf16x2, got \".s33\""},
    {"TypeWithoutOperation", "and.f32 %f0, %f1, %f2;",
     "13:5: and: expected one of .pred, .b16, .b32, .b64, got \".f32\""},
    {"LeftOut", "wgmma.fence.sync.aligned;",
     "13:1: wgmma: expected an instruction that this machine has, got one for "
     "matrices of warp groups"},
    {"Texture", "tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [t, {%f0,%f1}];",
     "13:1: tex: expected an instruction that this machine has, got one for "
     "textures"},
    {"NewerTarget", "cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;",
     "13:1: cvt.rn.satfinite.e4m3x2.f32: expected PTX 8.1 and sm_89, got PTX "
     "8.0 and sm_80"},
    {"NewerWord", "ld.shared::cluster.b32 %r0, [%r1];",
     "13:4: ld.shared::cluster.b32: expected PTX 7.8 and sm_90, got PTX 8.0 "
     "and sm_80"},
    {"OneArchitecture", "setmaxnreg.inc.sync.aligned.u32 240;",
     "13:1: setmaxnreg.inc.sync.aligned.u32: expected PTX 8.0 and sm_90a, got "
     "PTX 8.0 and sm_80"},
    {"OldShuffle", "shfl.bfly.b32 %r0, %r1, 1, 31;",
     "13:14: shfl.bfly.b32: expected .sync, got no modifier"},
    {"TensorCopy",
     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_"
     "tx::bytes [%r0], [%rd0, {%r1, %r2}], [%r3];",
     "13:15: cp.async.bulk: expected one of .shared::cluster, .global, "
     ".mbarrier::complete_tx::bytes, .L2::cache_hint, .multicast::cluster, "
     ".shared::cta, .bulk_group, .prefetch, .L2, .commit_group, .wait_group, "
     ".read, got \".tensor\""},
};

const Bad kOperands[] = {
    {"TooFew", "add.s32 %r0, %r1;",
     "13:1: add.s32: expected 3 operands, got 2"},
    {"TooMany", "add.s32 %r0, %r1, %r2, %r3;",
     "13:1: add.s32: expected 3 operands, got 4"},
    {"None", "popc.b32;", "13:1: popc.b32: expected 2 operands, got 0"},
    {"SomeForNone", "exit %r0;", "13:1: exit: expected 0 operands, got 1"},
    {"OneOrTwo", "bar.sync 0, 32, 1;",
     "13:1: bar.sync: expected 1 to 2 operands, got 3"},
    {"Undeclared", "add.s32 %r0, %r1, %x;",
     "13:19: add.s32: expected a register or constant of type .s32, got "
     "\"%x\", which is not declared"},
    {"OutOfRange", "add.s32 %r0, %r1, %r8;",
     "13:19: add.s32: expected a register or constant of type .s32, got "
     "\"%r8\", which is not declared"},
    {"RangeWithZero", "add.s32 %r0, %r1, %r01;",
     "13:19: add.s32: expected a register or constant of type .s32, got "
     "\"%r01\", which is not declared"},
    {"WrongSize", "add.s32 %r0, %r1, %rd0;",
     "13:19: add.s32: expected a register or constant of type .s32, got "
     "\"%rd0\" of type .b64"},
    {"WrongKind", "add.f32 %f0, %f1, %s0;",
     "13:19: add.f32: expected a register or constant of type .f32, got "
     "\"%s0\" of type .s32"},
    {"WrongDestination", "add.s32 %rd0, %r1, %r2;",
     "13:9: add.s32: expected a register of type .s32, got \"%rd0\" of type "
     ".b64"},
    {"ConstantAsDestination", "add.s32 5, %r1, %r2;",
     "13:9: add.s32: expected a register of type .s32, got an integer"},
    {"FractionForInteger", "add.s32 %r0, %r1, 1.5;",
     "13:19: add.s32: expected a register or constant of type .s32, got a "
     "fraction"},
    {"IntegerForFraction", "add.f32 %f0, %f1, 1;",
     "13:19: add.f32: expected a register or constant of type .f32, got an "
     "integer"},
    {"IntegerTooLarge", "add.s32 %r0, %r1, 0x1ffffffff;",
     "13:19: add.s32: expected an integer of 32 bits, got 8589934591"},
    {"IntegerTooSmall", "mov.u16 %h0, -32769;",
     "13:14: mov.u16: expected an integer of 16 bits, got -32769"},
    {"IntegerOfAllOnes", "mov.u32 %r0, 0xFFFFFFFFFFFFFFFF;",
     "13:14: mov.u32: expected an integer of 32 bits, got "
     "18446744073709551615"},
    {"ConstantForHalf", "add.f16 %h0, %h1, 1.0;",
     "13:19: add.f16: expected a register of type .f16, got a fraction"},
    {"PredicateAsValue", "add.s32 %r0, %r1, %p0;",
     "13:19: add.s32: expected a register or constant of type .s32, got "
     "\"%p0\" of type .pred"},
    {"ValueAsPredicate", "selp.b32 %r0, %r1, %r2, %r3;",
     "13:25: selp.b32: expected a register of type .pred, got \"%r3\" of type "
     ".b32"},
    {"NegatedValue", "add.s32 %r0, %r1, !%r2;",
     "13:19: add.s32: expected a register or constant of type .s32, got the "
     "negation of \"%r2\" of type .b32"},
    {"NegatedDestination", "setp.eq.s32 !%p0, %r1, %r2;",
     "13:13: setp.eq.s32: expected a register of type .pred, got the negation "
     "of \"%p0\" of type .pred"},
    {"PairOfValues", "add.s32 %r0|%r1, %r1, %r2;",
     "13:9: add.s32: expected a register of type .s32, got a pair"},
    {"PairOfHalves", "setp.eq.f16 %p0|%p1, %h0, %h1;",
     "13:13: setp.eq.f16: expected a register of type .pred, got a pair"},
    {"PairMissing", "lop3.or.b32 %r0, %r1, %r2, %r3, 5, %p0;",
     "13:1: lop3.or.b32: expected PTX 8.2 and sm_70, got PTX 8.0 and sm_80"},
    {"SinkAsSource", "add.s32 %r0, _, %r2;",
     "13:14: add.s32: expected a register or constant of type .s32, got \"_\""},
    {"SinkAsDestination", "add.s32 _, %r1, %r2;",
     "13:9: add.s32: expected a register of type .s32, got \"_\""},
    {"SinkOfScalarLoad", "ld.global.b32 _, [%rd0];",
     "13:15: ld.global.b32: expected a register of type .b32, got \"_\""},
    {"SpecialAsOperand", "add.u32 %r0, %tid.x, 1;",
     "13:14: add.u32: expected a register or constant of type .u32, got the "
     "special register \"%tid.x\""},
    {"SpecialWithoutComponent", "mov.u32 %r0, %tid;",
     "13:14: mov.u32: expected a register, a constant, or a variable's "
     "address, got the special register \"%tid\""},
    {"SpecialWrongComponent", "mov.u32 %r0, %tid.q;",
     "13:14: mov.u32: expected a register, a constant, or a variable's "
     "address, got \"%tid.q\", which is not declared"},
    {"SpecialTooNarrow", "mov.u64 %rd0, %tid.x;",
     "13:15: mov.u64: expected a source of type .u64, got a special register "
     "of type .u32"},
    {"SpecialTooNew", "mov.u32 %r0, %cluster_ctarank;",
     "13:14: %cluster_ctarank: expected PTX 7.8 and sm_90, got PTX 8.0 and "
     "sm_80"},
    {"SpecialAsDestination", "mov.u32 %tid.x, %r0;",
     "13:9: mov.u32: expected a register of type .u32, got the special "
     "register \"%tid.x\""},
    {"VectorForValue", "add.s32 {%r0, %r1}, %r1, %r2;",
     "13:1: add.s32: expected 3 operands, got a vector in a place for one "
     "value"},
    {"ValueForVector", "ld.global.v2.b32 %r0, [%rd0];",
     "13:18: ld.global.v2.b32: expected a vector of 2, got \"%r0\" of type "
     ".b32"},
    {"VectorTooShort", "ld.global.v4.b32 {%r0, %r1}, [%rd0];",
     "13:18: ld.global.v4.b32: expected a vector of 4, got a vector of 2"},
    {"VectorElementSize", "ld.global.v2.b32 {%r0, %h1}, [%rd0];",
     "13:24: ld.global.v2.b32: expected a register of type .b32, got \"%h1\" "
     "of type .b16"},
    {"VectorElementPredicate", "ld.global.v2.b32 {%r0, %p1}, [%rd0];",
     "13:24: ld.global.v2.b32: expected a register of type .b32, got \"%p1\" "
     "of type .pred"},
    {"VectorRegisterAsValue", "add.s32 v, v, v;",
     "13:9: add.s32: expected a register of type .s32, got \"v\" of type .b32, "
     "a vector"},
    {"VectorComponentMissing", "add.s32 %r0, v.q, 1;",
     "13:14: add.s32: expected a register or constant of type .s32, got "
     "\"v.q\", which is not declared"},
    {"ComponentOfScalar", "add.s32 %r0, %r1.x, 1;",
     "13:14: add.s32: expected a register or constant of type .s32, got "
     "\"%r1.x\", which is not declared"},
    {"PackOfThree", "mov.b32 %r0, {%h0, %h1, %h2};",
     "13:14: mov.b32: expected a vector whose parts have the type's bits, got "
     "a vector of 3"},
    {"PackOfWrongSize", "mov.b64 %rd0, {%h0, %h1};",
     "13:16: mov.b64: expected a register or constant of type .b32, got "
     "\"%h0\" of type .b16"},
    {"UnpackTyped", "mov.u32 {%h0, %h1}, %r0;",
     "13:1: mov.u32: expected 2 operands, got a vector in a place for one "
     "value"},
    {"ListAsOperand", "call (%r0), %rd0, (%r1);",
     "13:13: call: expected a .callprototype or .calltargets for an indirect "
     "call, got none"},
    {"TableOfLop", "lop3.b32 %r0, %r1, %r2, %r3, 256;",
     "13:30: lop3.b32: expected the integer 0 to 255, got 256"},
    {"TableInRegister", "lop3.b32 %r0, %r1, %r2, %r3, %r4;",
     "13:30: lop3.b32: expected the integer 0 to 255, got \"%r4\" of type "
     ".b32"},
    {"CopySize", "cp.async.ca.shared.global [%r0], [%rd0], 5;",
     "13:42: cp.async.ca.shared.global: expected the integer 4, 8 or 16, got "
     "5"},
    {"CopySizeOfCg", "cp.async.cg.shared.global [%r0], [%rd0], 8;",
     "13:42: cp.async.cg.shared.global: expected the integer 16, got 8"},
    {"GroupNegative", "cp.async.wait_group -1;",
     "13:21: cp.async.wait_group: expected the integer 0 to 2147483647, got "
     "-1"},
    {"GuardUndeclared", "@%q ret;",
     "13:2: guard: expected a register of type .pred, got \"%q\", which is not "
     "declared"},
    {"GuardValue", "@%r0 ret;",
     "13:2: guard: expected a register of type .pred, got \"%r0\" of type "
     ".b32"},
    {"GuardVector", "@v ret;",
     "13:2: guard: expected a register of type .pred, got \"v\" of type .b32, "
     "a vector"},
    {"OffsetOfRegister", "add.s32 %r0, %r1+4, 1;",
     "13:14: add.s32: expected a register or constant of type .s32, got a "
     "register and an offset"},
    {"PolicyMissing", "ld.global.L2::cache_hint.b32 %r0, [%rd0];",
     "13:1: ld.global.L2::cache_hint.b32: expected 3 operands, got 2"},
};

const Bad kAddresses[] = {
    {"ValueForAddress", "ld.global.b32 %r0, %rd0;",
     "13:20: ld.global.b32: expected an address, got \"%rd0\" of type .b64"},
    {"AddressForValue", "add.s32 %r0, [%rd0], 1;",
     "13:14: add.s32: expected a register or constant of type .s32, got an "
     "address"},
    {"NarrowForGlobal", "ld.global.b32 %r0, [%r1];",
     "13:20: ld.global.b32: expected an address in a register of 64 bits, got "
     "\"%r1\" of type .b32"},
    {"NarrowForGeneric", "ld.b32 %r0, [%r1];",
     "13:13: ld.b32: expected an address in a register of 64 bits, got \"%r1\" "
     "of type .b32"},
    {"FloatAsAddress", "ld.global.b32 %r0, [%fd0];",
     "13:20: ld.global.b32: expected an address in a register of 64 bits, got "
     "\"%fd0\" of type .f64"},
    {"PredicateAsAddress", "ld.shared.b32 %r0, [%p0];",
     "13:20: ld.shared.b32: expected an address in a register of 32 or 64 "
     "bits, got \"%p0\" of type .pred"},
    {"UndeclaredVariable", "ld.global.b32 %r0, [nothing];",
     "13:20: ld.global.b32: expected a register or variable in an address, got "
     "\"nothing\", which is not declared"},
    {"VariableElsewhere", "ld.shared.b32 %r0, [g];",
     "13:20: ld.shared.b32: expected a variable in .shared, got \"g\" in "
     ".global"},
    {"LocalAsParam", "ld.param.b32 %r0, [l];",
     "13:19: ld.param.b32: expected a variable in .param, got \"l\" in .local"},
    {"ParamAsLocal", "ld.local.b32 %r0, [q];",
     "13:19: ld.local.b32: expected a variable in .local, got \"q\" in .param"},
    {"FunctionAsVariable", "ld.global.b32 %r0, [f];",
     "13:20: ld.global.b32: expected a register or variable in an address, got "
     "the function \"f\""},
    {"StoreToParam", "st.param.b32 [a], %r0;",
     "13:14: st.param.b32: expected an address that can be written, got one in "
     ".param"},
    {"StoreToConst", "st.b32 [c], %r0;",
     "13:8: st.b32: expected an address that can be written, got one in "
     ".const"},
    {"Coordinates", "ld.global.b32 %r0, [%rd0, {%r1}];",
     "13:20: ld.global.b32: expected an address without coordinates, got one "
     "with them"},
    {"OnlyDeclared", "ld.global.b32 %r0, [e];",
     "13:20: variable: expected a definition in this module, got only a "
     "declaration of \"e\""},
    {"OnlyDeclaredAddress", "mov.u64 %rd0, e;",
     "13:15: variable: expected a definition in this module, got only a "
     "declaration of \"e\""},
    {"IndexTooLarge", "mov.u64 %rd0, g[0x7FFFFFFFFFFFFFFF];",
     "13:15: index: expected an offset of 64 bits, got a larger one"},
    {"AddressInFloat", "mov.f64 %fd0, g;",
     "13:15: mov.f64: expected a type of 64 bits for an address, got .f64"},
    {"GlobalIn32Bits", "mov.u32 %r0, g;",
     "13:14: mov.u32: expected a type of 64 bits for an address, got .u32"},
    {"SharedIn16Bits", "mov.u16 %h0, s;",
     "13:14: mov.u16: expected a type of 32 or 64 bits for an address, got "
     ".u16"},
    {"KernelAddress", "mov.u64 %rd0, k;",
     "13:15: mov.u64: expected a register, a constant, or a variable's "
     "address, got the function \"k\""},
    {"DeclarationAddress", "mov.u64 %rd0, vprintf;",
     "13:15: mov.u64: expected a register, a constant, or a variable's "
     "address, got the function \"vprintf\""},
    {"LabelAddress", "L: mov.u64 %rd0, L;",
     "13:18: mov.u64: expected a register, a constant, or a variable's "
     "address, got the label \"L\""},
    {"SymbolInArithmetic", "add.s64 %rd0, %rd1, g;",
     "13:21: add.s64: expected a register or constant of type .s64, got the "
     "variable \"g\""},
};

const Bad kControl[] = {
    {"LabelMissing", "bra L;",
     "13:5: branch: expected a label of this block or one around it, got "
     "\"L\""},
    {"LabelInside", "bra L; { L: ret; }",
     "13:5: branch: expected a label of this block or one around it, got "
     "\"L\""},
    {"LabelTwice", "L: ret; L: ret;",
     "13:9: declaration: expected each name once in a block, got \"L\" again"},
    {"BranchToVariable", "bra g;",
     "13:5: branch: expected a label of this block or one around it, got "
     "\"g\""},
    {"BranchToRegister", "bra %r0;",
     "13:5: branch: expected a label of this block or one around it, got "
     "\"%r0\""},
    {"BranchToTwo", "L: bra L, L;",
     "13:4: bra: expected one label, got 2 operands"},
    {"SwitchWithoutList", "L: brx.idx %r0, L;",
     "13:17: brx.idx: expected the name of a .branchtargets, got the label "
     "\"L\""},
    {"SwitchWithoutIndex", "T: .branchtargets L; L: brx.idx T;",
     "13:25: brx.idx: expected 2 operands, got 1"},
    {"SwitchWideIndex", "T: .branchtargets L; L: brx.idx %rd0, T;",
     "13:33: brx.idx: expected a register of type .u32, got \"%rd0\" of type "
     ".b64"},
    {"SwitchToNowhere", "T: .branchtargets M; L: brx.idx %r0, T;",
     "13:19: branch: expected a label of this block or one around it, got "
     "\"M\""},
    {"RegisterTwice", ".reg .b32 x; .reg .b64 x;",
     "13:24: declaration: expected each name once in a block, got \"x\" again"},
    {"RangeTwice", ".reg .b32 %x<3>; .reg .b32 %x<4>;",
     "13:28: declaration: expected each name once in a block, got \"%x\" "
     "again"},
    {"RangeOverName", ".reg .b32 %x2; .reg .b32 %x<3>;",
     "13:26: declaration: expected each name once in a block, got \"%x2\" "
     "again"},
    {"NameOverRange", ".reg .b32 %x<3>; .reg .b32 %x2;",
     "13:28: declaration: expected each name once in a block, got \"%x2\" "
     "again"},
    {"HiddenParam", ".reg .b32 a;",
     "13:11: declaration: expected each name once in a block, got \"a\" again"},
    {"LabelNamedAsRegister", ".reg .b32 x; x: ret;",
     "13:11: declaration: expected each name once in a block, got \"x\" again"},
    {"UseBeforeDeclaration", "mov.b32 x, 1; .reg .b32 x;",
     "13:9: mov.b32: expected a register of type .b32, got \"x\", which is not "
     "declared"},
    {"UseBehindBlock", "{ .reg .b32 x; } mov.b32 x, 1;",
     "13:26: mov.b32: expected a register of type .b32, got \"x\", which is "
     "not declared"},
    {"LocalTooLarge", ".local .b8 x[524289];",
     "13:12: local memory: expected at most 524288 bytes, got 524297"},
    {"CallOfNothing", "call;", "13:1: call: expected a function, got none"},
    {"CallUnknown", "call nothing;",
     "13:6: call: expected a function, got \"nothing\", which is not declared"},
    {"CallVariable", "call g;",
     "13:6: call: expected a function, got the variable \"g\""},
    {"CallKernel", "call k;",
     "13:6: call: expected a function, got the kernel \"k\""},
    {"CallDeclaration", "call extern_function;",
     "13:6: call: expected a function with a body, or vprintf, __assertfail, "
     "malloc or free, got a declaration of \"extern_function\""},
    {"CallTooFewArguments", "call (%r0), f, ();",
     "13:16: call: expected 1 argument, got 0"},
    {"CallTooManyResults", "call (%r0, %r1), f, (%r2);",
     "13:6: call: expected 1 result, got 2"},
    {"CallWrongArgument", "call (%r0), f, (%rd2);",
     "13:17: call: expected a register or constant of type .b32, got \"%rd2\" "
     "of type .b64"},
    {"CallWrongResult", "call (%rd0), f, (%r2);",
     "13:7: call: expected a register of type .b32, got \"%rd0\" of type .b64"},
    {"CallConstantResult", "call (5), f, (%r2);",
     "13:7: call: expected a register of type .b32, got an integer"},
    {"CallParamSize", "{ .param .b64 x; call (%r0), f, (x); }",
     "13:34: call: expected a parameter of 4 bytes, got 8 bytes"},
    {"CallLocalAsParam", "call (%r0), f, (l);",
     "13:17: call: expected a register or constant of type .b32, got the "
     "variable \"l\""},
    {"CallOffset", "call f+4;",
     "13:6: call: expected a function, got a name and an offset"},
    {"CallExtraOperand", "call (%r0), f, (%r1), %r2;",
     "13:23: call: expected no more operands, got \"%r2\" of type .b32"},
    {"CallPointerWithoutPrototype", "call %rd0;",
     "13:6: call: expected a .callprototype or .calltargets for an indirect "
     "call, got none"},
    {"CallPointerNarrow", "P: .callprototype _ (); call %r0, P;",
     "13:30: call: expected a function's address in 64 bits, got \"%r0\" of "
     "type .b32"},
    {"CallPointerByTargets", "T: .branchtargets L; L: call %rd0, T;",
     "13:36: call: expected a .callprototype or .calltargets for an indirect "
     "call, got the label \"T\""},
    {"CallPointerUnlike", "T: .calltargets f, r; call (%r0), %rd0, (%r1), T;",
     "13:20: call: expected functions with the same parameters, got \"r\""},
    {"CallPointerToDeclaration", "T: .calltargets vprintf; call %rd0, T;",
     "13:17: call: expected functions with a body, got \"vprintf\""},
    {"CallBuiltinOtherwise", "call malloc, (%r0);",
     "13:6: call: expected the parameters of CUDA's malloc, got others"},
    {"Recursion", "call r;",
     "6:7: r: expected a function that never calls itself, got one that does, "
     "by itself or by others"},
};

INSTANTIATE_TEST_SUITE_P(Opcodes, BadDecodeTest, testing::ValuesIn(kOpcodes),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Operands, BadDecodeTest, testing::ValuesIn(kOperands),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Addresses, BadDecodeTest,
                         testing::ValuesIn(kAddresses),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Control, BadDecodeTest, testing::ValuesIn(kControl),
                         [](const auto &info) { return info.param.name; });

TEST(BadDecodeTest, KernelsByName) {
  const std::string text =
      header() + ".func f() { ret; } .extern .entry e();\n" + kernel("ret;");
  for (const char *name : {"f", "e", "nothing", ""})
    EXPECT_EQ(
        decodeErrorOf(text, name),
        "1:1: kernel: expected the name of an .entry with a body, got \"" +
            std::string(name) + "\"");
}

TEST(BadDecodeTest, WhatAPairMustHave) {
  EXPECT_EQ(
      decodeErrorOf(header("8.2") + kernel(".reg .b32 r; .reg .pred p;\n"
                                           "lop3.or.b32 r, r, r, r, 5, p;")),
      "6:13: lop3.or.b32: expected two destinations, d|p, got \"r\" of "
      "type .b32");
  EXPECT_EQ(
      decodeErrorOf(header("8.2") + kernel(".reg .b32 r; .reg .pred p;\n"
                                           "lop3.or.b32 r|_, r, r, r, 5, p;")),
      "6:15: lop3.or.b32: expected a register of type .pred, got \"_\"");
}

TEST(BadDecodeTest, SymbolsOfAModule) {
  EXPECT_EQ(decodeErrorOf(header() + ".global .u64 x = y;\n"),
            "4:18: initial value: expected a variable in .global or .const, or "
            "a function with a body, got \"y\"");
  EXPECT_EQ(decodeErrorOf(header() + ".shared .u64 y; .global .u64 x = y;\n"),
            "4:34: initial value: expected a variable in .global or .const, or "
            "a function with a body, got \"y\"");
  EXPECT_EQ(decodeErrorOf(header() + ".func f(); .func g();\n.alias f, g;"),
            "5:11: .alias: expected a function with a body, got \"g\"");
  EXPECT_EQ(decodeErrorOf(header() + ".const .b8 x[65536];\n.const .b8 y;"),
            "5:12: .const: expected at most 65536 bytes in a module, got "
            "65537");
}

TEST(BadDecodeTest, ParametersOfAKernel) {
  decoded(header() + kernel("ret;", ".param .b8 a[32764]"));
  EXPECT_EQ(decodeErrorOf(header() + kernel("ret;", ".param .b8 a[32760], "
                                                    ".param .b64 b")),
            "4:52: parameters: expected at most 32764 bytes, got 32768");
}

TEST(BadDecodeTest, LocalMemoryOfACallChain) {
  EXPECT_EQ(decodeErrorOf(header() +
                          ".func f() { .local .b8 x[300000]; ret; }\n" +
                          kernel(".local .b8 y[300000]; call f;")),
            "4:7: f: expected at most 524288 bytes of local memory with its "
            "callers, got 600000");
}

TEST(BadDecodeTest, LoopsInsideOfLoops) {
  auto nested = [](int depth) {
    std::string body = ".reg .pred p;\n";
    for (int i = 0; i < depth; ++i)
      body += "L" + std::to_string(i) + ": @p bra END;\n";
    for (int i = depth; i-- > 0;)
      body += "@p bra L" + std::to_string(i) + ";\n";
    return header() + kernel(body + "END: ret;");
  };
  decoded(nested(200));
  EXPECT_EQ(decodeErrorOf(nested(300)),
            "4:17: k: expected at most 256 loops inside of each other, got "
            "more");
}

TEST(BadDecodeTest, CallsOfTooManyRegisters) {
  std::string params, arguments;
  for (int i = 0; i < 256; ++i) {
    params += (i ? ", .reg .b32 p" : ".reg .b32 p") + std::to_string(i);
    arguments += i ? ", 1" : "1";
  }
  EXPECT_EQ(decodeErrorOf(header() + ".func f(" + params + ") { ret; }\n" +
                          kernel("call f, (" + arguments + ");")),
            "6:1: call: expected at most 255 registers and constants, got "
            "256");
}

} // namespace
