//===- programs_test.cpp - Programs that compilers wrote ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The kernels of cuda/programs.cu as nvcc compiles them, where a CUDA toolkit
// is installed, and as LLVM does, in builds with the compiler; each compared
// with a result of C++, one block after the other and in orders by chance, one
// of which the checker watches.
//
//===----------------------------------------------------------------------===//

#include "MachineSupport.h"

#include "kvc/Sim/Check/Checker.h"
#include "kvc/Sim/Numerics/Convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

std::string nvcc() {
  for (const char *path : {"/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc"})
    if (std::filesystem::exists(path))
      return path;
  return "";
}

struct Compiler {
  const char *name;
  std::string command;    ///< Empty: it is not there.
  const char *whyMissing; ///< Programs are not run then.
};

const std::vector<Compiler> &compilers() {
  static const std::vector<Compiler> list{
      {"nvcc",
       nvcc().empty()
           ? ""
           : nvcc() + " --ptx -arch=sm_80 -O3 -o - " KVC_TEST_CUDA_PROGRAMS,
       "no nvcc in /usr/local/cuda/bin or /usr/bin"},
#ifdef KVC_LLC
#define KVC_LLVM_COMMAND(level)                                                \
  KVC_LLC " -march=nvptx64 -mcpu=sm_80 -mattr=+ptx80 -O" level                 \
          " -o - " KVC_TEST_DATA "/ptx/programs.ll"
      {"llvm", KVC_LLVM_COMMAND("2"), ""},
      {"llvmO0", KVC_LLVM_COMMAND("0"), ""},
#else
      {"llvm", "", "a build without the compiler has no LLVM"},
#endif
  };
  return list;
}

/// The programs' PTX, compiled once; empty where that fails.
const std::string &programsOf(const Compiler &compiler) {
  static std::map<std::string, std::string> compiled;
  auto [entry, isNew] = compiled.emplace(compiler.name, "");
  if (!isNew)
    return entry->second;
  std::FILE *pipe = ::popen(compiler.command.c_str(), "r");
  if (!pipe)
    return entry->second;
  std::string output;
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    output.append(buffer, got);
  if (::pclose(pipe) == 0)
    entry->second = std::move(output);
  return entry->second;
}

/// By the compiler and the seed of the machine's order.
class ProgramsTest
    : public testing::TestWithParam<std::tuple<Compiler, uint64_t>> {
protected:
  void SetUp() override {
    const auto &[compiler, seed] = GetParam();
    if (compiler.command.empty())
      GTEST_SKIP() << compiler.whyMissing << ": its programs are not run";
    ASSERT_FALSE(programsOf(compiler).empty());
    // One of the orders under the checker, which must find nothing.
    device = std::make_unique<Device>(programsOf(compiler),
                                      seed == 3 ? &checker : nullptr);
    device->options.seed = seed;
    device->options.maxSteps = 100'000'000;
  }

  void TearDown() override {
    for (const Finding &finding : checker.findings())
      ADD_FAILURE() << finding.str();
  }

  std::vector<float> randomFloats(size_t count) {
    std::vector<float> values(count);
    for (float &value : values)
      value = float(int(random() % 2001) - 1000) / 128;
    return values;
  }
  /// The same as codes of f16.
  std::vector<uint16_t> halves(const std::vector<float> &values) {
    std::vector<uint16_t> codes;
    for (float value : values)
      codes.push_back(uint16_t(
          evaluate(ConvertForm{.to = Type::F16, .word = RoundingWord::Number},
                   std::bit_cast<uint32_t>(value), 0)));
    return codes;
  }

  Checker checker;
  std::unique_ptr<Device> device;
  std::mt19937 random{7};
};

TEST_P(ProgramsTest, Reduction) {
  const std::vector<float> in = randomFloats(5000);
  const uint64_t out = device->buffer(std::vector<float>(4));
  device->mustRun("reduce", {4}, {160}, device->buffer(in), out, 5000);
  const std::vector<float> sums = device->read<float>(out, 4);
  // Multiples of 1/128 of moderate size: exact.
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0.0f),
            std::accumulate(in.begin(), in.end(), 0.0f));
}

TEST_P(ProgramsTest, Scan) {
  std::vector<int> in(512);
  for (int &value : in)
    value = int(random() % 100) - 50;
  const uint64_t out = device->buffer(std::vector<int>(512));
  device->mustRun("scan", {2}, {256}, device->buffer(in), out);
  std::vector<int> expected(512);
  for (size_t begin : {0, 256})
    std::partial_sum(in.begin() + long(begin), in.begin() + long(begin) + 256,
                     expected.begin() + long(begin));
  EXPECT_EQ(device->read<int>(out, 512), expected);
}

TEST_P(ProgramsTest, Transpose) {
  const int rows = 70, columns = 45;
  const std::vector<float> in = randomFloats(size_t(rows) * columns);
  const uint64_t out = device->buffer(std::vector<float>(in.size()));
  device->mustRun("transpose", {2, 3}, {32, 8}, device->buffer(in), out, rows,
                  columns);
  const std::vector<float> result = device->read<float>(out, in.size());
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      ASSERT_EQ(result[size_t(x * rows + y)], in[size_t(y * columns + x)]);
}

TEST_P(ProgramsTest, Histogram) {
  std::vector<uint8_t> in(3000);
  std::vector<uint32_t> expected(256);
  for (uint8_t &value : in) {
    value = uint8_t(random() % 40 * 6);
    ++expected[value];
  }
  const uint64_t out = device->buffer(std::vector<uint32_t>(256));
  device->mustRun("histogram", {3}, {96}, device->buffer(in), out, 3000);
  EXPECT_EQ(device->read<uint32_t>(out, 256), expected);
}

TEST_P(ProgramsTest, ReductionByTheLastBlock) {
  const std::vector<float> in = randomFloats(4000);
  const uint64_t partial = device->buffer(std::vector<float>(9));
  const uint64_t out = device->buffer(std::vector<float>(1));
  for (int launch = 0; launch < 2; ++launch) {
    device->mustRun("reduceAll", {9}, {128}, device->buffer(in), partial, out,
                    4000);
    EXPECT_EQ(device->read<float>(out, 1).front(),
              std::accumulate(in.begin(), in.end(), 0.0f));
  }
}

TEST_P(ProgramsTest, Decode) {
  const int tokens = 50, heads = 2, group = 4, dim = 64;
  auto small = [&](int count) {
    std::vector<float> values = randomFloats(size_t(count));
    for (float &value : values)
      value = std::floor(value * 16) / 128;
    return values;
  };
  const std::vector<float> q = small(heads * group * dim),
                           k = small(tokens * heads * dim),
                           v = small(tokens * heads * dim);
  const uint64_t out = device->buffer(std::vector<float>(q.size()));
  const float scale = 0.18033688f;
  device->mustRun("decode", {2}, {32, 4}, device->buffer(halves(q)),
                  device->buffer(halves(k)), device->buffer(halves(v)), out,
                  tokens, heads, group, scale);
  const std::vector<float> result = device->read<float>(out, q.size());
  for (int query = 0; query < heads * group; ++query) {
    const int head = query / group;
    std::vector<double> acc(dim);
    double sum = 0;
    for (int t = 0; t < tokens; ++t) {
      double s = 0;
      for (int i = 0; i < dim; ++i)
        s += double(q[size_t(query * dim + i)]) *
             k[size_t((t * heads + head) * dim + i)];
      const double p = std::exp2(s * scale);
      sum += p;
      for (int i = 0; i < dim; ++i)
        acc[size_t(i)] += p * v[size_t((t * heads + head) * dim + i)];
    }
    for (int i = 0; i < dim; ++i)
      ASSERT_NEAR(result[size_t(query * dim + i)], acc[size_t(i)] / sum, 1e-5);
  }
}

TEST_P(ProgramsTest, MatrixProduct) {
  const int m = 128, n = 64, k = 96;
  // Small integers: exact.
  std::vector<float> a(size_t(m) * k), b(size_t(n) * k);
  for (auto *values : {&a, &b})
    for (float &value : *values)
      value = float(int(random() % 9) - 4);
  const uint64_t out = device->buffer(std::vector<float>(size_t(m) * n));
  device->mustRun("gemm", {1, 2}, {128}, device->buffer(halves(a)),
                  device->buffer(halves(b)), out, m, n, k);
  const std::vector<float> result = device->read<float>(out, size_t(m) * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[size_t(i * k + l)] * b[size_t(j * k + l)];
      ASSERT_EQ(result[size_t(i * n + j)], sum) << i << " " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Compilers, ProgramsTest,
                         testing::Combine(testing::ValuesIn(compilers()),
                                          testing::Values(0, 1, 2, 3)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) +
                                  "_seed" +
                                  std::to_string(std::get<1>(info.param));
                         });

} // namespace
