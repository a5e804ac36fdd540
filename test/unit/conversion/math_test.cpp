//===- math_test.cpp - kvc-expand-math by execution -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Kernels that apply one operation to 16 values each: as a vector, and, for
/// the first, as a scalar into the 17th.
Kernel functionOf(const std::string &name, const std::string &op,
                  const std::string &in, const std::string &out) {
  auto use = [&](const std::string &x, const std::string &from,
                 const std::string &to) {
    std::string types = in == out ? from : from + " to " + to;
    return op + " " + x + " : " + types + "\n";
  };
  return {
      name,
      "func.func @KERNEL(%x: memref<16x" + in + ">, %y: memref<17x" + out +
          ">) KERNEL {\n  %c0 = arith.constant 0 : index\n  %c16 = "
          "arith.constant 16 : index\n  %v = vector.load %x[%c0] : memref<16x" +
          in + ">, vector<16x" + in +
          ">\n  %s = memref.load %x[%c0] : memref<16x" + in + ">\n  %a = " +
          use("%v", "vector<16x" + in + ">", "vector<16x" + out + ">") +
          "  %b = " + use("%s", in, out) +
          "  vector.store %a, %y[%c0] : memref<17x" + out + ">, vector<16x" +
          out + ">\n  memref.store %b, %y[%c16] : memref<17x" + out +
          ">\n  return\n}\n"};
}

template <typename In, typename Out>
std::vector<Out> apply(const Program &program, const std::string &name,
                       std::vector<In> x) {
  size_t count = x.size();
  while (x.size() % 16 != 0)
    x.push_back(x.front());
  std::vector<Out> result;
  for (size_t i = 0; i < x.size(); i += 16) {
    Out y[17];
    program.call(name, Args().add(&x[i]).add(y));
    result.insert(result.end(), y, y + 16);
    EXPECT_EQ(std::memcmp(&y[0], &y[16], sizeof(Out)), 0)
        << name << ": scalar and vector differ at " << i;
  }
  result.resize(count);
  return result;
}

/// Units in the last place of the f32 nearest to `want`, at least of `floor`.
double ulps(float got, double want, double floor = 0) {
  double magnitude = std::max({std::abs(want), floor, 0x1p-126});
  return std::abs(got - want) / std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

std::vector<float> sweep(double begin, double end, int count) {
  std::vector<float> x;
  for (int i = 0; i <= count; ++i)
    x.push_back(float(begin + (end - begin) * i / count));
  return x;
}

TEST(Math, Functions) {
  std::vector<Kernel> kernels;
  for (const char *op : {"exp2", "exp", "log2", "log", "tanh", "sin", "cos",
                         "roundeven", "floor", "ceil"})
    kernels.push_back(functionOf(op, std::string("math.") + op, "f32", "f32"));
  for (const std::string &target : runnableTargets()) {
    SCOPED_TRACE(target);
    Program program(kernels, target);
    auto run = [&](const std::string &name, const std::vector<float> &x) {
      return apply<float, float>(program, name, x);
    };
    auto one = [&](const std::string &name, float x) {
      return run(name, {x})[0];
    };

    std::vector<float> x = sweep(-125.9, 127.9, 40000), y = run("exp2", x);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulps(y[i], std::exp2(double(x[i]))), 1.5) << x[i];
    EXPECT_EQ(one("exp2", -kInfinity), 0.0f);
    EXPECT_EQ(one("exp2", -1000.0f), 0.0f);
    EXPECT_EQ(one("exp2", -3e38f), 0.0f);
    EXPECT_EQ(one("exp2", 0.0f), 1.0f);
    EXPECT_EQ(one("exp2", 128.0f), kInfinity);
    EXPECT_TRUE(std::isnan(one("exp2", kNaN)));

    x = sweep(-87, 88, 40000), y = run("exp", x);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulps(y[i], std::exp(double(x[i]))), 2.5) << x[i];
    EXPECT_EQ(one("exp", -kInfinity), 0.0f);

    x = sweep(1e-3, 4, 20000);
    for (float more : {1e-45f, 1e-40f, 1.17549435e-38f, 1e-20f, 1e20f, 3.4e38f,
                       1.0f, 0.70710677f, 0.7071068f, 1.4142135f})
      x.push_back(more);
    y = run("log2", x);
    std::vector<float> ln = run("log", x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulps(y[i], std::log2(double(x[i])), 0.5), 2.0) << x[i];
      ASSERT_LE(ulps(ln[i], std::log(double(x[i])), 0.5), 2.0) << x[i];
    }
    for (const char *name : {"log2", "log"}) {
      EXPECT_EQ(one(name, 0.0f), -kInfinity);
      EXPECT_EQ(one(name, kInfinity), kInfinity);
      EXPECT_EQ(one(name, 1.0f), 0.0f);
      EXPECT_TRUE(std::isnan(one(name, -1.0f)));
      EXPECT_TRUE(std::isnan(one(name, kNaN)));
    }

    x = sweep(-12, 12, 20000);
    for (float more : {1e-30f, 1e-4f, 0.6249f, 0.6251f, 1e4f, 3e38f, kInfinity})
      x.push_back(more);
    y = run("tanh", x);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulps(y[i], std::tanh(double(x[i]))), 2.5) << x[i];
    EXPECT_TRUE(std::isnan(one("tanh", kNaN)));
    EXPECT_TRUE(std::signbit(one("tanh", -0.0f)));

    x = sweep(-20, 20, 20000);
    for (double end : {1e3, 1e5, 1e7, 0x1p31, 0x1p48}) {
      std::vector<float> more = sweep(-end, end, 2001);
      x.insert(x.end(), more.begin(), more.end());
    }
    x.insert(x.end(), {0.0f, 1e-30f, 1e-45f, 1.5707964f, 3.1415927f, 16367173.f,
                       0x1.fffffep30f});
    std::vector<float> sine = run("sin", x), cosine = run("cos", x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(sine[i], std::sin(double(x[i])), 0x1p-22) << x[i];
      ASSERT_NEAR(cosine[i], std::cos(double(x[i])), 0x1p-22) << x[i];
    }
    EXPECT_EQ(one("cos", 0.0f), 1.0f);
    EXPECT_TRUE(std::isnan(one("sin", kNaN)));

    x = sweep(-4, 4, 64);
    for (float more : {0.5f, 1.5f, 2.5f, -0.5f, -0.4f, 0.49999997f, 8388607.5f,
                       8388608.0f, -8388609.0f, 1e30f, -kInfinity, 4194304.5f})
      x.push_back(more);
    y = run("roundeven", x);
    std::vector<float> down = run("floor", x), up = run("ceil", x);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(y[i], std::nearbyint(x[i])) << x[i];
      EXPECT_EQ(down[i], std::floor(x[i])) << x[i];
      EXPECT_EQ(up[i], std::ceil(x[i])) << x[i];
      EXPECT_EQ(std::signbit(y[i]), std::signbit(std::nearbyint(x[i]))) << x[i];
      EXPECT_EQ(std::signbit(up[i]), std::signbit(std::ceil(x[i]))) << x[i];
    }
  }
}

TEST(Math, ConversionsAreExactForEveryBitPattern) {
  std::vector<Kernel> kernels = {
      functionOf("extend_f16", "arith.extf", "f16", "f32"),
      functionOf("extend_bf16", "arith.extf", "bf16", "f32"),
      functionOf("truncate_f16", "arith.truncf", "f32", "f16"),
      functionOf("truncate_bf16", "arith.truncf", "f32", "bf16")};
  for (const std::string &target : runnableTargets()) {
    SCOPED_TRACE(target);
    Program program(kernels, target);
    std::vector<uint16_t> halves;
    for (uint32_t i = 0; i < 65536; ++i)
      halves.push_back(uint16_t(i));
    std::vector<float> f16 = apply<uint16_t, float>(program, "extend_f16",
                                                    halves),
                       bf16 = apply<uint16_t, float>(program, "extend_bf16",
                                                     halves);
    for (uint32_t i = 0; i < 65536; ++i) {
      for (auto [got, type] : {std::pair{f16[i], spec::DType::F16},
                               std::pair{bf16[i], spec::DType::BF16}}) {
        float want = fromBits(type, i);
        if (std::isnan(want))
          ASSERT_TRUE(std::isnan(got)) << i;
        else
          ASSERT_EQ(llvm::bit_cast<uint32_t>(got),
                    llvm::bit_cast<uint32_t>(want))
              << i;
      }
    }
    // Around every f16: itself, its neighbours in f32, and half way to the
    // next.
    std::vector<float> x = {
        kInfinity,      -kInfinity,     65519.996f,     65520.0f, 1e30f,
        5.9604645e-08f, 2.9802322e-08f, 2.9802326e-08f, 1e-45f,   0.0f,
        -0.0f,          3.3961776e38f,  3.4028235e38f};
    for (uint32_t i = 0; i < 0x7c00; ++i) {
      float here = fromBits(spec::DType::F16, i),
            next = fromBits(spec::DType::F16, i + 1);
      float middle = i == 0x7bff ? 65520.0f : (here + next) / 2;
      for (float each : {here, middle, std::nextafter(middle, 0.0f),
                         std::nextafter(middle, kInfinity)})
        x.push_back(i % 2 ? each : -each);
    }
    std::mt19937 random(3);
    for (int i = 0; i < 50000; ++i) {
      float each = llvm::bit_cast<float>(uint32_t(random()));
      if (!std::isnan(each))
        x.push_back(each);
    }
    std::vector<uint16_t> y = apply<float, uint16_t>(program, "truncate_f16",
                                                     x),
                          z = apply<float, uint16_t>(program, "truncate_bf16",
                                                     x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(y[i], toBits(spec::DType::F16, x[i])) << x[i];
      ASSERT_EQ(z[i], toBits(spec::DType::BF16, x[i])) << x[i];
    }
    uint16_t nan = apply<float, uint16_t>(
        program, "truncate_bf16", {llvm::bit_cast<float>(0x7f800001u)})[0];
    EXPECT_TRUE(std::isnan(fromBits(spec::DType::BF16, nan)));
    nan = apply<float, uint16_t>(program, "truncate_f16", {kNaN})[0];
    EXPECT_TRUE(std::isnan(fromBits(spec::DType::F16, nan)));
  }
}

TEST(KernelABI, SetsAndRestoresTheFloatingPointEnvironment) {
  const char *text =
      R"(func.func @KERNEL(%x: memref<2xf32>, %y: memref<?x1xf32, strided<[?, 1]>>, %i: index) KERNEL {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.load %x[%c0] : memref<2xf32>
    %b = memref.load %x[%c1] : memref<2xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %y[%i, %c0] : memref<?x1xf32, strided<[?, 1]>>
    return
  })";
  Program program({{"add", text}}, "x86-64");
  // Subnormal sums, rounded to nearest whatever the caller set: round up, flush
  // to zero, denormals are zero.
  float x[2] = {1e-40f, 2e-40f}, y[8] = {};
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(0x1f80 | 0x4000 | 0x8000 | 0x40);
  program.call("add", Args().add(x).add(y).add(int64_t(3)).add(int64_t(2)));
  x[0] = 1.0f, x[1] = 1e-10f;
  program.call("add", Args().add(x).add(y).add(int64_t(3)).add(int64_t(1)));
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(after & 0xffc0u, 0x1f80u | 0x4000u | 0x8000u | 0x40u);
  EXPECT_EQ(y[6], 3e-40f);
  EXPECT_EQ(y[3], 1.0f);
}

} // namespace
