//===- contraction_test.cpp - Products and sums that become one -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "../machine/MachineSupport.h"

#include "kvc/Sim/Check/Contraction.h"

#include <cmath>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

const std::string kRegisters =
    ".reg .pred %p<4>; .reg .f32 %f<16>; .reg .f64 %d<8>; .reg .b64 %rd<8>; "
    ".reg .b16 %h<8>; .reg .b32 %r<8>;\n";

Contraction contractionOfBody(const std::string &body,
                              bool takesSecond = false) {
  const Module module =
      parsed(header("8.6", "sm_100") + kernel(kRegisters + body));
  Contraction result = contractionOf(module, takesSecond);
  EXPECT_EQ(std::count(result.text.begin(), result.text.end(), '\n'),
            std::count(module.text->begin(), module.text->end(), '\n'));
  parsed(result.text);
  return result;
}

/// How many sums of a body become fma.
size_t sumsOf(const std::string &body) {
  return contractionOfBody(body).sums.size();
}

TEST(ContractionTest, PairsBecomeFma) {
  const Contraction result =
      contractionOfBody("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;\nret;");
  ASSERT_EQ(result.sums.size(), 1u);
  EXPECT_EQ(result.sums[0], (Position{7, 1}));
  EXPECT_NE(result.text.find("\nfma.rn.f32 %f4, %f2, %f3, %f5;\n"),
            std::string::npos)
      << result.text;
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f5, %f1;"), 1u);
  EXPECT_EQ(sumsOf("mul.ftz.f32 %f1, %f2, %f3;\nadd.ftz.sat.f32 %f4, %f5, "
                   "%f1;"),
            1u);
  EXPECT_EQ(sumsOf("mul.f64 %d1, %d2, %d3;\nsub.f64 %d4, %d1, %d1;"), 1u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, 0f3F800000;"),
            1u);
  EXPECT_EQ(sumsOf("@%p1 mul.f32 %f1, %f2, %f3;\n@%p1 add.f32 %f4, %f1, %f5;"),
            1u);
}

TEST(ContractionTest, HalvesDoToo) {
  for (const std::string type : {"f16", "bf16", "f16x2", "bf16x2", "f32x2"}) {
    const std::string name = type == "f32x2"        ? "%rd"
                             : type.ends_with("x2") ? "%r"
                                                    : "%h";
    auto registers = [&](std::string text) {
      for (size_t at; (at = text.find('$')) != text.npos;)
        text.replace(at, 1, name);
      return text;
    };
    const Contraction add = contractionOfBody(registers(
        "mul." + type + " $1, $2, $3;\nadd." + type + " $4, $1, $5;"));
    EXPECT_NE(
        add.text.find(registers("\nfma.rn." + type + " $4, $2, $3, $5;\n")),
        std::string::npos)
        << add.text;
    EXPECT_EQ(sumsOf(registers("mul." + type + " $1, $2, $3;\nsub." + type +
                               " $4, $5, $1;")),
              1u);
    EXPECT_EQ(sumsOf(registers("mul.rn." + type + " $1, $2, $3;\nadd." + type +
                               " $4, $1, $5;")),
              0u);
  }
}

TEST(ContractionTest, EitherOfTwoProductsGoesIn) {
  const std::string body = "mul.f32 %f1, %f2, %f3;\nmul.f32 %f4, %f5, %f6;\n"
                           "add.f32 %f7, %f1, %f4;";
  EXPECT_NE(contractionOfBody(body).text.find("fma.rn.f32 %f7, %f2, %f3, %f4;"),
            std::string::npos);
  EXPECT_NE(contractionOfBody(body, /*takesSecond=*/true)
                .text.find("fma.rn.f32 %f7, %f5, %f6, %f1;"),
            std::string::npos);
}

TEST(ContractionTest, MovesAndNegationsPassProductsOn) {
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nmov.f32 %f6, %f1;\nadd.f32 %f4, "
                   "%f6, %f5;"),
            1u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nneg.f32 %f6, %f1;\nadd.f32 %f4, "
                   "%f6, %f5;"),
            1u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nneg.ftz.f32 %f6, %f1;\nadd.f32 "
                   "%f4, %f6, %f5;"),
            0u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nmov.f32 %f6, %f1;\nmov.f32 %f2, "
                   "%f7;\nadd.f32 %f4, %f6, %f5;"),
            0u);
}

TEST(ContractionTest, ProductsPassBranchesAndScopesButNoLabels) {
  const std::string mul = "mul.f32 %f1, %f2, %f3;\n",
                    add = "add.f32 %f4, %f1, %f5;\n";
  EXPECT_EQ(sumsOf(mul + "@%p1 bra END;\n" + add + "END: ret;"), 1u);
  EXPECT_EQ(sumsOf(mul + "@%p1 bra NEXT;\nNEXT:\n" + add + "ret;"), 0u);
  EXPECT_EQ(sumsOf(mul + "{ .reg .f32 x; mov.f32 x, %f6; }\n" + add), 1u);
  EXPECT_EQ(sumsOf(mul + "{ .reg .f32 x; " + add + "}\n"), 1u);
  EXPECT_EQ(sumsOf(mul + "{ mov.f32 %f2, %f6; }\n" + add), 0u);
  EXPECT_EQ(sumsOf(mul + "{ { mov.f32 %f1, %f6; } }\n" + add), 0u);
  EXPECT_EQ(sumsOf(mul + "{ L: ret; }\n" + add), 0u);
  // Another %f1, and a product that ends with its scope.
  EXPECT_EQ(sumsOf(mul + "{ .reg .f32 %f1; mov.f32 %f1, %f6; " + add + "}\n"),
            0u);
  EXPECT_EQ(sumsOf(mul + "{ .reg .f32 %f<4>; " + add + "}\n"), 0u);
  EXPECT_EQ(sumsOf("{ .reg .f32 %f1; " + mul + "}\n" + add), 0u);
  EXPECT_EQ(sumsOf("@%p1 " + mul + "setp.lt.f32 %p1, %f6, %f7;\n@%p1 " + add),
            0u);
}

TEST(ContractionTest, WhatNamesARoundingOrChangesInBetweenStays) {
  EXPECT_EQ(sumsOf("mul.rn.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;"), 0u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nadd.rn.f32 %f4, %f1, %f5;"), 0u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nmov.f32 %f2, %f6;\nadd.f32 %f4, "
                   "%f1, %f5;"),
            0u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nmov.f32 %f1, %f6;\nadd.f32 %f4, "
                   "%f1, %f5;"),
            0u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nL: add.f32 %f4, %f1, %f5;"), 0u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f1, %f3;\nadd.f32 %f4, %f1, %f5;"), 0u);
  EXPECT_EQ(sumsOf("mul.ftz.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;"), 0u);
  EXPECT_EQ(sumsOf("mul.sat.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;"), 0u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\n@%p1 add.f32 %f4, %f1, %f5;"), 0u);
  EXPECT_EQ(sumsOf("mul.f32 %f1, %f2, %f3;\nld.global.v2.f32 {%f2, %f6}, "
                   "[%rd1];\nadd.f32 %f4, %f1, %f5;"),
            0u);
}

/// x * x, then `sum` of it in %f1, of y in %f3 to %f4.
float resultOf(const std::string &sum, float x, float y) {
  const Module module = parsed(
      header() + kernel(kRegisters +
                            "ld.param.u64 %rd1, [a];\nld.global.v2.f32 {%f2, "
                            "%f3}, [%rd1];\nmul.f32 %f1, %f2, %f2;\n" +
                            sum + "\nst.global.f32 [%rd1+8], %f4;",
                        ".param .u64 a"));
  Device device(contractionOf(module).text);
  const uint64_t a = device.buffer(std::vector<float>{x, y, 0});
  device.mustRun("k", {1}, {1}, a);
  return device.read<float>(a, 3)[2];
}

TEST(ContractionTest, ResultsAreThoseOfFma) {
  const float x = 1.0f + 0x1p-12f, y = x * x;
  EXPECT_EQ(resultOf("add.f32 %f4, %f1, %f3;", x, -y), std::fma(x, x, -y));
  EXPECT_EQ(resultOf("sub.f32 %f4, %f1, %f3;", x, y), std::fma(x, x, -y));
  EXPECT_EQ(resultOf("sub.f32 %f4, %f3, %f1;", x, y), std::fma(-x, x, y));
  EXPECT_EQ(resultOf("neg.f32 %f5, %f1; add.f32 %f4, %f5, %f3;", x, y),
            std::fma(-x, x, y));
  EXPECT_EQ(resultOf("neg.f32 %f5, %f1; sub.f32 %f4, %f5, %f3;", x, -y),
            std::fma(-x, x, y));
  EXPECT_EQ(resultOf("neg.f32 %f5, %f1; sub.f32 %f4, %f3, %f5;", x, -y),
            std::fma(x, x, -y));
  EXPECT_NE(std::fma(x, x, -y), 0.0f);
}

TEST(ContractionTest, ResultsOfHalvesAreThoseOfFma) {
  // (1 + 2^-6)^2 - (1 + 2^-5) is 2^-12, lost where the square is rounded.
  const std::string body =
      kRegisters + "ld.param.u64 %rd1, [a];\nmov.b32 %r1, 0x3C103C10;\n"
                   "mov.b32 %r2, 0x3C203C20;\nmul.f16x2 %r3, %r1, %r1;\n"
                   "sub.f16x2 %r4, %r3, %r2;\nst.global.b32 [%rd1], %r4;";
  const Module module = parsed(header() + kernel(body, ".param .u64 a"));
  for (const std::string &text : {*module.text, contractionOf(module).text}) {
    Device device(text);
    const uint64_t a = device.buffer(std::vector<uint32_t>{1});
    device.mustRun("k", {1}, {1}, a);
    EXPECT_EQ(device.read<uint32_t>(a, 1)[0],
              text == *module.text ? 0u : 0x0C000C00u);
  }
}

} // namespace
