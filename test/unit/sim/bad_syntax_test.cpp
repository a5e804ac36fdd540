//===- bad_syntax_test.cpp - Malformed modules and their messages ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"

using namespace kvc::sim;
using namespace kvc::test;

namespace {

struct Bad {
  const char *name;
  std::string text;
  const char *error;
};

std::ostream &operator<<(std::ostream &os, const Bad &bad) {
  return os << bad.name;
}

class BadSyntaxTest : public testing::TestWithParam<Bad> {};

TEST_P(BadSyntaxTest, IsRefused) {
  EXPECT_EQ(errorOf(GetParam().text), GetParam().error);
}

std::string repeated(std::string_view part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += part;
  return text;
}

const Bad kHeaders[] = {
    {"Empty", "",
     "1:1: module: expected .version in front, got the end of the text"},
    {"NoVersion", ".target sm_80\n",
     "1:1: module: expected .version in front, got \".target\""},
    {"VersionWithoutMinor", ".version 8\n.target sm_80\n",
     "1:10: .version: expected a version like 8.0, got \"8\""},
    {"VersionWord", ".version new\n",
     "1:10: .version: expected a version like 8.0, got \"new\""},
    {"VersionZero", ".version 0.9\n",
     "1:10: .version: expected a version from 1.0 to 99.9, got \"0.9\""},
    {"VersionTooLong", ".version 8.12\n",
     "1:10: .version: expected a version from 1.0 to 99.9, got \"8.12\""},
    {"VersionHuge", ".version 99999999999999999999.0\n",
     "1:10: .version: expected a version like 8.0, got "
     "\"99999999999999999999.0\""},
    {"NoTarget", ".version 8.0\n.address_size 64\n",
     "2:1: module: expected .target behind .version, got \".address_size\""},
    {"TargetOfAnotherKind", ".version 8.0\n.target compute_80\n",
     "2:9: .target: expected one architecture like sm_80, debug, "
     "texmode_unified or texmode_independent, got \"compute_80\""},
    {"TargetWithoutNumber", ".version 8.0\n.target sm_\n",
     "2:9: .target: expected an architecture like sm_80 or sm_90a, got "
     "\"sm_\""},
    {"TargetTooSmall", ".version 8.0\n.target sm_13\n",
     "2:9: .target: expected an architecture like sm_80 or sm_90a, got "
     "\"sm_13\""},
    {"TargetSuffix", ".version 8.0\n.target sm_90z\n",
     "2:9: .target: expected an architecture like sm_80 or sm_90a, got "
     "\"sm_90z\""},
    {"TargetSuffixLong", ".version 8.0\n.target sm_90aa\n",
     "2:9: .target: expected an architecture like sm_80 or sm_90a, got "
     "\"sm_90aa\""},
    {"TargetOverflow", ".version 8.0\n.target sm_99999999999\n",
     "2:9: .target: expected an architecture like sm_80 or sm_90a, got "
     "\"sm_99999999999\""},
    {"TargetTwice", ".version 8.0\n.target sm_80, sm_90\n",
     "2:16: .target: expected one architecture like sm_80, debug, "
     "texmode_unified or texmode_independent, got \"sm_90\""},
    {"TargetOptionAlone", ".version 8.0\n.target debug\n",
     "3:1: .target: expected an architecture like sm_80, got the end of the "
     "text"},
    {"TargetOptionUnknown", ".version 8.0\n.target sm_80, map_f64_to_f32\n",
     "2:16: .target: expected one architecture like sm_80, debug, "
     "texmode_unified or texmode_independent, got \"map_f64_to_f32\""},
    {"TargetComma", ".version 8.0\n.target sm_80,\n",
     "3:1: .target: expected a name, got the end of the text"},
    {"AddressSize32", ".version 8.0\n.target sm_80\n.address_size 32\n",
     "3:15: .address_size: expected 64, got \"32\""},
    {"VersionTwice", header() + ".version 8.0\n",
     "4:1: module: expected a function, a variable in .global, .const or "
     ".shared, .file, .section, .alias or .pragma, got \".version\""},
};

const Bad kModules[] = {
    {"Word", header() + "foo",
     "4:1: module: expected a directive, got \"foo\""},
    {"Brace", header() + "}", "4:1: module: expected a directive, got \"}\""},
    {"UnknownDirective", header() + ".foo",
     "4:1: module: expected a function, a variable in .global, .const or "
     ".shared, .file, .section, .alias or .pragma, got \".foo\""},
    {"LinkageAlone", header() + ".visible",
     "4:9: module: expected a function, a variable in .global, .const or "
     ".shared, .file, .section, .alias or .pragma, got the end of the text"},
    {"LinkageTwice", header() + ".visible .weak .entry k() {}",
     "4:10: module: expected a function, a variable in .global, .const or "
     ".shared, .file, .section, .alias or .pragma, got \".weak\""},
    {"LocalOutside", header() + ".local .b32 x;",
     "4:1: module: expected a function, a variable in .global, .const or "
     ".shared, .file, .section, .alias or .pragma, got \".local\""},
    {"RegisterOutside", header() + ".reg .b32 x;",
     "4:1: module: expected a function, a variable in .global, .const or "
     ".shared, .file, .section, .alias or .pragma, got \".reg\""},
    {"TextureReference", header() + ".global .texref t;",
     "4:9: .global: expected a type of registers and variables, got "
     "\".texref\""},
    {"NameTwice", header() + ".global .u32 a;\n.global .u32 a;",
     "5:14: module: expected each name once, got \"a\" again"},
    {"FunctionTwice", header() + ".func f() {}\n.func f() {}",
     "5:7: module: expected each name once, got \"f\" again"},
    {"KernelNamedAsVariable", header() + ".global .u32 a;\n.entry a() {}",
     "5:8: module: expected each name once, got \"a\" again"},
    {"FileWithoutPath", header() + ".file 1 a",
     "4:9: .file: expected a path in quotes, got \"a\""},
    {"FileNumber", header() + ".file -1 \"a\"",
     "4:7: .file: expected an integer from 0 to 4294967295, got \"-\""},
    {"SectionOpen", header() + ".section .debug_str { .b8 1",
     "4:28: .section: expected data and \"}\", got the end of the text"},
    {"SectionNested", header() + ".section .debug_str { { } }",
     "4:23: .section: expected data and \"}\", got \"{\""},
    {"SectionWithoutName", header() + ".section { }",
     "4:10: .section: expected a name, got \"{\""},
    {"AliasOfNothing", header() + ".alias a;",
     "4:9: .alias: expected \",\", got \";\""},
    {"PragmaWord", header() + ".pragma nounroll;",
     "4:9: .pragma: expected a string, got \"nounroll\""},
    {"PragmaOpen", header() + ".pragma \"a\"",
     "4:12: .pragma: expected \";\", got the end of the text"},
    {"CommentOpen", header() + "/*",
     "4:1: comment: expected \"*/\" at its end, got the end of the text"},
    {"StringOpen", header() + ".pragma \"a",
     "4:9: string: expected a quotation mark at its end, got the end of the "
     "line"},
    {"StrangeCharacter", header() + "`", "4:1: text: expected PTX, got \"`\""},
};

const Bad kVariables[] = {
    {"NoType", header() + ".global x;",
     "4:9: .global: expected a type, got \"x\""},
    {"UnknownType", header() + ".global .u33 x;",
     "4:9: .global: expected a type of registers and variables, got \".u33\""},
    {"TypeWithoutRegisters", header() + ".global .bf16 x;",
     "4:9: .global: expected a type of registers and variables, got \".bf16\""},
    {"PredicateInMemory", header() + ".global .pred x;",
     "4:9: .global: expected a type that memory can hold, got \".pred\""},
    {"NoName", header() + ".global .u32;",
     "4:13: .global: expected a name, got \";\""},
    {"NameWithDot", header() + ".global .u32 a.b;",
     "4:14: .global: expected a name without dots and colons, got \"a.b\""},
    {"NoSemicolon", header() + ".global .u32 x\n.global .u32 y;",
     "5:1: .global: expected \";\", got \".global\""},
    {"CommaAtEnd", header() + ".global .u32 x, ;",
     "4:17: .global: expected a name, got \";\""},
    {"AlignOfThree", header() + ".global .align 3 .u32 x;",
     "4:9: .align: expected a power of two, got 3"},
    {"AlignOfZero", header() + ".global .align 0 .u32 x;",
     "4:16: .align: expected an integer from 1 to 1048576, got 0"},
    {"AlignHuge", header() + ".global .align 2097152 .u32 x;",
     "4:16: .align: expected an integer from 1 to 1048576, got 2097152"},
    {"AlignBehindType", header() + ".global .u32 .align 8 x;",
     "4:14: .global: expected a name, got \".align\""},
    {"AlignWithoutNumber", header() + ".global .align .u32 x;",
     "4:16: .align: expected an integer from 1 to 1048576, got \".u32\""},
    {"VectorOfThree", header() + ".global .v3 .u32 x;",
     "4:9: .global: expected a type of registers and variables, got \".v3\""},
    {"VectorTooLong", header() + ".global .v4 .f64 x;",
     "4:13: .global: expected a vector of at most 128 bits, got \".f64\""},
    {"AttributeUnknown", header() + ".global .attribute(.fast) .u32 x;",
     "4:20: .attribute: expected .managed or .unified, got \".fast\""},
    {"AttributeOpen", header() + ".global .attribute(.managed .u32 x;",
     "4:29: .attribute: expected \")\", got \".u32\""},
    {"ExtentOfZero", header() + ".global .u32 x[0];",
     "4:16: .global: expected an integer from 1 to 1099511627776, got 0"},
    {"ExtentNegative", header() + ".global .u32 x[-1];",
     "4:16: .global: expected an integer from 1 to 1099511627776, got -1"},
    {"ExtentFraction", header() + ".global .u32 x[1.5];",
     "4:16: .global: expected an integer from 1 to 1099511627776, got a "
     "fraction"},
    {"ExtentWord", header() + ".global .u32 x[n];",
     "4:16: expression: expected a number, got \"n\""},
    {"ExtentOpen", header() + ".global .u32 x[4;",
     "4:17: .global: expected \"]\", got \";\""},
    {"ExtentMissing", header() + ".global .u32 x[];",
     "4:14: .global: expected an extent, got []"},
    {"SecondExtentMissing", header() + ".extern .global .u32 x[4][];",
     "4:27: .global: expected a number of elements, got \"]\""},
    {"ExtentTooLarge", header() + ".global .u32 x[1099511627777];",
     "4:16: .global: expected an integer from 1 to 1099511627776, got "
     "1099511627777"},
    {"TooManyBytes", header() + ".global .u32 x[1099511627776];",
     "4:14: .global: expected at most 2^40 bytes, got more"},
    {"ProductWraps", header() + ".global .u32 x[1099511627776][1099511627776];",
     "4:14: .global: expected at most 2^40 bytes, got more"},
    {"TooManyExtents", header() + ".global .u32 x[1][1][1][1][1][1][1][1][1];",
     "4:39: .global: expected at most 8 extents, got \"[\""},
    {"InitialInShared", header() + ".shared .u32 x = 1;",
     "4:16: .shared: expected no initial value in this state space, got \"=\""},
    {"InitialMissing", header() + ".global .u32 x = ;",
     "4:18: expression: expected a number, got \";\""},
    {"InitialFractionInInteger", header() + ".global .u32 x = 1.5;",
     "4:18: .global: expected a value of type .u32, got a fraction"},
    {"InitialIntegerInFraction", header() + ".global .f32 x[2] = {1.0, 2};",
     "4:27: .global: expected a value of type .f32, got an integer"},
    {"InitialInHalf", header() + ".global .f16 x = 1.0;",
     "4:18: .global: expected a value of type .f16, got a fraction"},
    {"InitialTooMany", header() + ".global .u32 x[2] = {1, 2, 3};",
     "4:28: .global: expected at most 2 values in braces, got \"3\""},
    {"InitialTooManyInVector", header() + ".global .v2 .u32 x = {1, 2, 3};",
     "4:29: .global: expected at most 2 values in braces, got \"3\""},
    {"InitialTooDeep", header() + ".global .u32 x[2] = {{1}, {2}};",
     "4:22: expression: expected a number, got \"{\""},
    {"InitialTooFlat", header() + ".global .u32 x[2][2] = {1, 2, 3, 4};",
     "4:25: .global: expected \"{\", got \"1\""},
    {"InitialWithoutBraces", header() + ".global .u32 x[2] = 1;",
     "4:21: .global: expected \"{\", got \"1\""},
    {"InitialBracesOfScalar", header() + ".global .u32 x = {1};",
     "4:18: expression: expected a number, got \"{\""},
    {"InitialCommaAtEnd", header() + ".global .u32 x[2] = {1,};",
     "4:24: expression: expected a number, got \"}\""},
    {"InitialOpen", header() + ".global .u32 x[2] = {1",
     "4:23: .global: expected \",\", got the end of the text"},
    {"InitialUnsizedEmpty", header() + ".global .u32 x[] = {};",
     "4:14: .global: expected an extent or initial values, got neither"},
    {"InitialTooLarge", header() + ".global .u8 x[2] = {255, 256};",
     "4:26: .global: expected an integer of 8 bits, got 256"},
    {"InitialOfAllOnes", header() + ".global .u32 x = 0xFFFFFFFFFFFFFFFF;",
     "4:18: .global: expected an integer of 32 bits, got "
     "18446744073709551615"},
    {"AddressInByte", header() + ".global .u8 x = y;",
     "4:17: .global: expected a type that holds addresses, got .u8"},
    {"AddressInFloat", header() + ".global .f64 x = y;",
     "4:18: .global: expected a type that holds addresses, got .f64"},
    {"AddressLess", header() + ".global .u64 x = y-4;",
     "4:19: .global: expected \";\", got \"-\""},
    {"AddressPlusFraction", header() + ".global .u64 x = y+1.5;",
     "4:20: address: expected an offset of 64 bits, got a fraction"},
    {"AddressPlusTooMuch", header() + ".global .u64 x = y+0xFFFFFFFFFFFFFFFF;",
     "4:20: address: expected an offset of 64 bits, got a larger one"},
    {"MaskOfTwoBytes", header() + ".global .u8 x = 0xFFFF(y);",
     "4:17: .global: expected a mask of one byte for an 8-bit type, got "
     "another one"},
    {"MaskAcrossBytes", header() + ".global .u8 x = 0x1FE(y);",
     "4:17: .global: expected a mask of one byte for an 8-bit type, got "
     "another one"},
    {"MaskOfZero", header() + ".global .u8 x = 0(y);",
     "4:17: .global: expected a mask of one byte for an 8-bit type, got "
     "another one"},
    {"MaskInWord", header() + ".global .u32 x = 0xFF(y);",
     "4:18: .global: expected a mask of one byte for an 8-bit type, got "
     "another one"},
    {"MaskOpen", header() + ".global .u8 x = 0xFF(y;",
     "4:23: .global: expected \")\", got \";\""},
    {"GenericOpen", header() + ".global .u64 x = generic(y;",
     "4:27: generic: expected \")\", got \";\""},
    {"GenericOfNumber", header() + ".global .u64 x = generic(5);",
     "4:26: generic: expected a name, got \"5\""},
};

const Bad kExpressions[] = {
    {"Nothing", header() + ".global .u64 x = ();",
     "4:19: expression: expected a number, got \")\""},
    {"ParenthesisOpen", header() + ".global .u64 x = (1;",
     "4:20: expression: expected \")\", got \";\""},
    {"OperatorAtEnd", header() + ".global .u64 x = 1 +;",
     "4:21: expression: expected a number, got \";\""},
    {"OperatorAtFront", header() + ".global .u64 x = * 1;",
     "4:18: expression: expected a number, got \"*\""},
    {"DivideByZero", header() + ".global .u64 x = 1 / 0;",
     "4:20: \"/\": expected a divisor other than 0, got 0"},
    {"RemainderByZero", header() + ".global .u64 x = 1 % (1 - 1);",
     "4:20: \"%\": expected a divisor other than 0, got 0"},
    {"MixedKinds", header() + ".global .f64 x = 1.0 + 1;",
     "4:22: \"+\": expected two integers or two fractions, got one of each"},
    {"ShiftOfFraction", header() + ".global .f64 x = 1.0 << 2.0;",
     "4:22: \"<<\": expected integers, got fractions"},
    {"ComplementOfFraction", header() + ".global .f64 x = ~1.0;",
     "4:18: \"~\": expected an integer, got a fraction"},
    {"CastOfFraction", header() + ".global .u64 x = (.u64)1.5;",
     "4:18: cast: expected an integer, got a fraction"},
    {"ConditionWithoutColon", header() + ".global .u64 x = 1 ? 2;",
     "4:23: expression: expected \":\", got \";\""},
    {"NestedTooDeeply",
     header() + ".global .u64 x = " + repeated("(", 65) + "1" +
         repeated(")", 65) + ";",
     "4:82: expression: expected at most 64 levels, got \"(\""},
    {"CastsTooDeep",
     header() + ".global .u64 x = " + repeated("(.u64)", 65) + "1;",
     "4:396: expression: expected at most 64 levels, got \"(\""},
    {"ConditionsTooDeep",
     header() + ".global .u64 x = " + repeated("1 ? 1 : ", 65) + "1;",
     "4:526: expression: expected at most 64 levels, got \"1\""},
    {"IntegerTooLarge", header() + ".global .u64 x = 18446744073709551616;",
     "4:18: number: expected an integer of at most 64 bits, got "
     "\"18446744073709551616\""},
    {"HexadecimalTooLarge", header() + ".global .u64 x = 0x10000000000000000;",
     "4:18: number: expected an integer of at most 64 bits, got "
     "\"0x10000000000000000\""},
    {"OctalDigit", header() + ".global .u64 x = 019;",
     "4:18: number: expected decimal, 0x, 0b or octal digits, got \"019\""},
    {"BinaryDigit", header() + ".global .u64 x = 0b12;",
     "4:18: number: expected decimal, 0x, 0b or octal digits, got \"0b12\""},
    {"HexadecimalDigit", header() + ".global .u64 x = 0xg;",
     "4:18: number: expected decimal, 0x, 0b or octal digits, got \"0xg\""},
    {"HexadecimalEmpty", header() + ".global .u64 x = 0x;",
     "4:18: number: expected decimal, 0x, 0b or octal digits, got \"0x\""},
    {"SuffixTwice", header() + ".global .u64 x = 5UU;",
     "4:18: number: expected decimal, 0x, 0b or octal digits, got \"5UU\""},
    {"WordBehindNumber", header() + ".global .u64 x = 12ab;",
     "4:18: number: expected decimal, 0x, 0b or octal digits, got \"12ab\""},
    {"ExactTooShort", header() + ".global .f32 x = 0f3F8000;",
     "4:18: number: expected 0f and 8 hexadecimal digits, got \"0f3F8000\""},
    {"ExactTooLong", header() + ".global .f64 x = 0d3FF00000000000000;",
     "4:18: number: expected 0d and 16 hexadecimal digits, got "
     "\"0d3FF00000000000000\""},
    {"ExactDigit", header() + ".global .f32 x = 0f3F80000G;",
     "4:18: number: expected 0f and 8 hexadecimal digits, got \"0f3F80000G\""},
    {"TwoPoints", header() + ".global .f64 x = 1.2.3;",
     "4:18: number: expected a decimal number, got \"1.2.3\""},
    {"ExponentEmpty", header() + ".global .f64 x = 1e;",
     "4:18: number: expected a decimal number, got \"1e\""},
    {"FractionTooLarge", header() + ".global .f64 x = 1e999;",
     "4:18: number: expected a number in the range of f64, got \"1e999\""},
};

const Bad kFunctions[] = {
    {"NoName", header() + ".entry () {}",
     "4:8: .entry: expected a name, got \"(\""},
    {"ResultsOfKernel", header() + ".entry (.param .b32 r) k() {}",
     "4:8: .entry: expected a name, got \"(\""},
    {"ParamWithoutSpace", header() + ".entry k(.u32 a) {}",
     "4:10: parameter: expected .param, got \".u32\""},
    {"ParamInRegister", header() + ".entry k(.reg .u32 a) {}",
     "4:10: parameter: expected .param, got \".reg\""},
    {"ParamSeparator", header() + ".entry k(.param .u32 a .param .u32 b) {}",
     "4:24: .entry: expected \",\", got \".param\""},
    {"ParamComma", header() + ".entry k(.param .u32 a,) {}",
     "4:24: parameter: expected .param, got \")\""},
    {"ParamOpen", header() + ".entry k(.param .u32 a",
     "4:23: .entry: expected \",\", got the end of the text"},
    {"ParamVector", header() + ".entry k(.param .v4 .f32 a) {}",
     "4:10: parameter: expected a type without .v2 and .v4, got a vector"},
    {"ParamTwoExtents", header() + ".entry k(.param .u32 a[2][2]) {}",
     "4:26: .entry: expected \",\", got \"[\""},
    {"ParamUnsized", header() + ".entry k(.param .b8 a[]) {}",
     "4:21: parameter: expected an extent, got []"},
    {"ParamPredicate", header() + ".entry k(.param .pred a) {}",
     "4:17: .param: expected a type that memory can hold, got \".pred\""},
    {"ParamPointerInFunction", header() + ".func f(.param .u64 .ptr a) {}",
     "4:21: parameter: expected a name, got \".ptr\""},
    {"BodyMissing", header() + ".entry k()",
     "4:11: .entry: expected \";\", got the end of the text"},
    {"BodyOpen", header() + kernel("{ ret;"),
     "7:1: body: expected \"}\", got the end of the text"},
    {"DirectiveUnknown", header() + ".entry k() .fast { }",
     "4:12: .entry: expected a directive of a kernel, a body or \";\", got "
     "\".fast\""},
    {"DirectiveOfKernel", header() + ".func f() .maxnreg 32 { }",
     "4:11: .func: expected a body or \";\", got \".maxnreg\""},
    {"DirectiveOfFunction", header() + ".entry k() .noreturn { }",
     "4:12: .entry: expected a directive of a kernel, a body or \";\", got "
     "\".noreturn\""},
    {"ThreadsZero", header() + ".entry k() .maxntid 0 { }",
     "4:21: .maxntid: expected an integer from 1 to 2147483647, got 0"},
    {"ThreadsFour", header() + ".entry k() .maxntid 1, 1, 1, 1 { }",
     "4:28: .entry: expected \";\", got \",\""},
    {"ThreadsMissing", header() + ".entry k() .reqntid { }",
     "4:21: .reqntid: expected an integer from 1 to 2147483647, got \"{\""},
    {"RegistersHuge", header() + ".entry k() .maxnreg 4294967296 { }",
     "4:21: .maxnreg: expected an integer from 1 to 2147483647, got "
     "4294967296"},
};

const Bad kBodies[] = {
    {"Semicolon", header() + kernel("ret;;"),
     "5:5: body: expected an instruction, a label, a declaration or \"}\", got "
     "\";\""},
    {"DirectiveUnknown", header() + kernel(".foo;"),
     "5:1: body: expected a declaration, .loc or .pragma, got \".foo\""},
    {"DirectiveOfModule", header() + kernel(".entry j() {}"),
     "5:1: body: expected a declaration, .loc or .pragma, got \".entry\""},
    {"BlocksTooDeep", header() + kernel(repeated("{", 65)),
     "5:65: body: expected at most 64 blocks inside of each other, got \"{\""},
    {"LabelAtTargets", header() + kernel(".branchtargets A;"),
     "5:1: body: expected a declaration, .loc or .pragma, got "
     "\".branchtargets\""},
    {"LabelWithDot", header() + kernel("L.x: ret;"),
     "5:1: label: expected a name without dots and colons, got \"L.x\""},
    {"GuardTwice", header() + kernel("@p @q ret;"),
     "5:4: body: expected an instruction, got \"@\""},
    {"GuardNumber", header() + kernel("@5 ret;"),
     "5:2: guard: expected a predicate, got \"5\""},
    {"GuardBlock", header() + kernel("@p { ret; }"),
     "5:4: body: expected an instruction, got \"{\""},
    {"NoSemicolon", header() + kernel("ret"),
     "6:1: operand: expected a name, number, vector or address, got \"}\""},
    {"OperandComma", header() + kernel("add.s32 a, b c;"),
     "5:14: operands: expected \",\" or \";\", got \"c\""},
    {"OperandMissing", header() + kernel("add.s32 a,;"),
     "5:11: operand: expected a name, number, vector or address, got \";\""},
    {"OperandDirective", header() + kernel("mov.u32 a, .reg;"),
     "5:12: operand: expected a name, number, vector or address, got \".reg\""},
    {"VectorOpen", header() + kernel("mov.b64 {a, b;"),
     "5:14: vector: expected \",\", got \";\""},
    {"VectorTooDeep", header() + kernel("mov.b64 {{{a}}}, b;"),
     "5:11: vector: expected no list inside of a list, got \"{\""},
    {"PairOfThree", header() + kernel("foo p|q|r;"),
     "5:8: operands: expected \",\" or \";\", got \"|\""},
    {"PairOfNumber", header() + kernel("foo p|5;"),
     "5:7: operand: expected a name, got \"5\""},
    {"AddressOpen", header() + kernel("ld.u32 a, [b;"),
     "5:13: address: expected \"]\", got \";\""},
    {"AddressEmpty", header() + kernel("ld.u32 a, [];"),
     "5:12: expression: expected a number, got \"]\""},
    {"AddressLess", header() + kernel("ld.u32 a, [b-4];"),
     "5:13: address: expected \"]\", got \"-\""},
    {"AddressPlusRegister", header() + kernel("ld.u32 a, [b+c];"),
     "5:14: expression: expected a number, got \"c\""},
    {"AddressPlusFraction", header() + kernel("ld.u32 a, [b+1.5];"),
     "5:14: address: expected an offset of 64 bits, got a fraction"},
    {"IndexOpen", header() + kernel("mov.u64 a, b[1;"),
     "5:15: operand: expected \"]\", got \";\""},
    {"OffsetOfRegister", header() + kernel("mov.u64 a, b-1;"),
     "5:13: operands: expected \",\" or \";\", got \"-\""},
    {"ListOutsideOfCall", header() + kernel("mov.u32 (a), b;"),
     "5:10: expression: expected a number, got \"a\""},
    {"RegistersTooMany", header() + kernel(".reg .b32 %r<4294967296>;"),
     "5:14: .reg: expected an integer from 0 to 2147483648, got 4294967296"},
    {"RegistersNegative", header() + kernel(".reg .b32 %r<-1>;"),
     "5:14: .reg: expected an integer from 0 to 2147483648, got \"-\""},
    {"RegistersOpen", header() + kernel(".reg .b32 %r<4;"),
     "5:15: .reg: expected \">\", got \";\""},
    {"RegisterArray", header() + kernel(".reg .b32 r[4];"),
     "5:12: .reg: expected \";\", got \"[\""},
    {"RegisterInitial", header() + kernel(".reg .b32 r = 1;"),
     "5:13: .reg: expected \";\", got \"=\""},
    {"LocationShort", header() + kernel(".loc 1 2;"),
     "5:9: .loc: expected an integer from 0 to 4294967295, got \";\""},
    {"LocationWord", header() + kernel(".loc 1 2 3, inlined_at 1 2 3"),
     "5:13: .loc: expected \"function_name\", got \"inlined_at\""},
    {"LocationHalf", header() + kernel(".loc 1 2 3, function_name a, 1 2 3"),
     "5:30: .loc: expected \"inlined_at\", got \"1\""},
    {"TargetsEmpty", header() + kernel("T: .branchtargets ;"),
     "5:19: .branchtargets: expected a name, got \";\""},
    {"TargetsNumber", header() + kernel("T: .branchtargets A, 5;"),
     "5:22: .branchtargets: expected a name, got \"5\""},
    {"PrototypeWithoutName",
     header() + kernel("P: .callprototype (.param .b32 a);"),
     "5:34: .callprototype: expected a name, got \";\""},
    {"PrototypeDirective", header() + kernel("P: .callprototype _ () .fast;"),
     "5:24: .callprototype: expected \";\", got \".fast\""},
    {"OperandsTooMany",
     header() + kernel("foo 0" + repeated(", 0", 4096) + ";"),
     "5:12293: operands: expected at most 4096, got \"0\""},
    {"VectorTooLong",
     header() + kernel("foo {0" + repeated(", 0", 4096) + "};"),
     "5:12294: vector: expected at most 4096 operands, got \"0\""},
};

INSTANTIATE_TEST_SUITE_P(Headers, BadSyntaxTest, testing::ValuesIn(kHeaders),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Modules, BadSyntaxTest, testing::ValuesIn(kModules),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Variables, BadSyntaxTest,
                         testing::ValuesIn(kVariables),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Expressions, BadSyntaxTest,
                         testing::ValuesIn(kExpressions),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Functions, BadSyntaxTest,
                         testing::ValuesIn(kFunctions),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Bodies, BadSyntaxTest, testing::ValuesIn(kBodies),
                         [](const auto &info) { return info.param.name; });

TEST(BadSyntaxTest, AnItemCutAnywhereIsRefused) {
  for (const std::string &item :
       {std::string(".global .align 8 .f32 x[2] = {1.0, 0f3F800000};"),
        kernel("{ .reg .b32 %r<3>; L: @!%p ld.global.v2.u32 {%r1, _}, "
               "[x+(4*1)]; } .loc 1 2 3\n ret;",
               ".param .u64 .ptr .global a, .param .align 4 .b8 b[3]")}) {
    parsed(header() + item);
    const size_t end = item.find_last_of(";}");
    for (size_t size = 1; size <= end; ++size)
      EXPECT_FALSE(parseModule(header() + item.substr(0, size)))
          << item.substr(0, size);
  }
}

} // namespace
