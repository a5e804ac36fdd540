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
    ".reg .pred %p<4>; .reg .f32 %f<16>; .reg .f64 %d<8>; .reg .b64 %rd<4>;\n";

Contraction contractionOfBody(const std::string &body) {
  const Module module = parsed(header() + kernel(kRegisters + body));
  Contraction result = contractionOf(module);
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

TEST(ContractionTest, ResultsAreThoseOfFma) {
  for (const std::string sum : {"add.f32 %f4, %f1, %f3;",
                                "sub.f32 %f4, %f1, "
                                "%f3;",
                                "sub.f32 %f4, %f3, %f1;"}) {
    const Module module = parsed(
        header() + kernel(kRegisters +
                              "ld.param.u64 %rd1, [a];\nld.global.v2.f32 {%f2, "
                              "%f3}, [%rd1];\nmul.f32 %f1, %f2, %f2;\n" +
                              sum + "\nst.global.f32 [%rd1+8], %f4;",
                          ".param .u64 a"));
    Device device(contractionOf(module).text);
    const float x = 1.0f + 0x1p-12f, y = x * x;
    const uint64_t a = device.buffer(std::vector<float>{x, y, 0});
    device.mustRun("k", {1}, {1}, a);
    const float expected = sum.find("add") == 0 ? std::fma(x, x, y)
                           : sum.find("%f1, %f3") != std::string::npos
                               ? std::fma(x, x, -y)
                               : std::fma(-x, x, y);
    EXPECT_EQ(device.read<float>(a, 3)[2], expected) << sum;
  }
}

} // namespace
