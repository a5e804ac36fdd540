//===- end_to_end_test.cpp - A spec becomes kernels that are right --------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Append, attend in two splits and merge through the kernels' own ABI, against
// a scalar loop over what `unpack` reads back.
//
//===----------------------------------------------------------------------===//

#include "kvc/Layout/PageLayout.h"
#include "kvc/Test/Sanitizers.h"
#include "kvc/jit.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace kvc;

namespace {

constexpr int64_t kQHeads = 6, kKVHeads = 2, kGroup = 3, kDim = 32;
constexpr int64_t kTokens = 100, kQueries = 2, kRows = kQueries * kGroup;
constexpr int64_t kSplit = 64; // tokens of the first split

std::string specText(const std::string &key, const std::string &value) {
  return R"({"kvc": 1, "name": "tiny",
             "attention": {"q_heads": 6, "kv_heads": 2, "head_dim": 32},
             "io": {"query": "f16", "output": "f32"}, "key": )" +
         key + R"(, "value": )" + value + "}";
}

constexpr const char *kScale =
    R"("scale": {"tokens": 1, "channels": "all", "dtype": "f16"})";

std::string integer(const char *codec, const char *zero) {
  return std::string(R"({"codec": ")") + codec + "\", " + kScale +
         ", \"zero\": \"" + zero + "\"}";
}

/// Memory of one tensor of a contiguous cache, filled with what must not be
/// read.
struct TensorMemory {
  TensorMemory(const spec::Spec &spec, spec::Tensor tensor) {
    constexpr int64_t capacity = 128;
    auto family = layout::TargetFamily::Host;
    layout::TensorStrides strides =
        layout::tensorStrides(spec, tensor, family, capacity);
    bytes.assign(strides.bytes + 64, 0xFF);
    auto address = reinterpret_cast<uintptr_t>(bytes.data());
    uint8_t *base = bytes.data() + (64 - address % 64) % 64;
    for (const layout::RegionStrides &region : strides.regions)
      regions.push_back(
          {base + region.offset, region.pageStride, region.headStride});
  }
  std::vector<uint8_t> bytes;
  std::vector<kvc_region> regions;
};

class EndToEnd : public testing::TestWithParam<const char *> {
protected:
  EndToEnd() { EXPECT_EQ(kvc_compiler_create(&diag, &compiler), KVC_OK); }
  ~EndToEnd() override {
    kvc_jit_module_free(module);
    kvc_compiler_free(compiler);
  }

  void compile(const std::string &text) {
    kvc_compile_options options = {};
    options.struct_size = sizeof(options);
    options.target = GetParam();
    options.verify = 1;
#if KVC_TEST_ASAN
    options.asan = 1;
#endif
    ASSERT_EQ(kvc_compile_jit(compiler, text.data(), text.size(), &options,
                              &diag, &module),
              KVC_OK)
        << message;
    ASSERT_EQ(kvc_jit_module_table(module, &table), KVC_OK);
  }

  void run(const char *name, const void *args) {
    for (int32_t i = 0; i < table->num_kernels; ++i)
      if (!std::strcmp(table->kernels[i].name, name))
        return table->kernels[i].function(args);
    FAIL() << "no kernel " << name;
  }

  void check(const std::string &key, const std::string &value,
             float storageError);

  kvc_compiler *compiler = nullptr;
  kvc_jit_module *module = nullptr;
  const kvc_module_table *table = nullptr;
  char message[512] = "";
  kvc_diag diag = KVC_DIAG_INIT(message);
};

void EndToEnd::check(const std::string &key, const std::string &value,
                     float storageError) {
  std::string text = specText(key, value);
  compile(text);
  if (!table)
    return;
  spec::Spec spec = *spec::parseSpec(text);
  TensorMemory keyMemory(spec, spec::Tensor::Key);
  TensorMemory valueMemory(spec, spec::Tensor::Value);
  std::vector<kvc_region> regions = keyMemory.regions;
  regions.insert(regions.end(), valueMemory.regions.begin(),
                 valueMemory.regions.end());
  kvc_cache_view cache = {};
  cache.regions = regions.data();

  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  auto halves = [&](int64_t count) {
    std::vector<_Float16> x(count);
    for (_Float16 &each : x)
      each = static_cast<_Float16>(normal(random));
    return x;
  };
  std::vector<_Float16> q = halves(kQueries * kQHeads * kDim);
  std::vector<_Float16> k = halves(kTokens * kKVHeads * kDim);
  std::vector<_Float16> v = halves(kTokens * kKVHeads * kDim);
  std::vector<float> out(kQueries * kQHeads * kDim, NAN);
  std::vector<float> lse(kQueries * kQHeads, NAN);

  for (int64_t head = 0; head < kKVHeads; ++head) {
    kvc_append_args append = {
        cache, k.data(), kKVHeads * kDim, kDim, v.data(), kKVHeads * kDim, kDim,
        head,  0,        kTokens,         0,    0,        nullptr};
    run("append", &append);

    std::vector<int8_t> codes(kTokens * kDim);
    std::vector<float> scales(kTokens), zeros(kTokens);
    std::vector<float> keys(kTokens * kDim), values(kTokens * kDim);
    struct {
      kvc_unpack_args args;
      kvc_unpack_part key, value;
    } unpack = {{cache, head, 0, kTokens},
                {codes.data(), scales.data(), zeros.data(), keys.data(),
                 nullptr, nullptr},
                {codes.data(), scales.data(), zeros.data(), values.data(),
                 nullptr, nullptr}};
    run("unpack", &unpack);
    for (int64_t t = 0; t < kTokens; ++t)
      for (int64_t c = 0; c < kDim; ++c) {
        int64_t at = (t * kKVHeads + head) * kDim + c;
        ASSERT_NEAR(keys[t * kDim + c], float(k[at]), storageError);
        ASSERT_NEAR(values[t * kDim + c], float(v[at]), storageError);
      }

    std::vector<float> partialOut(2 * kRows * kDim, NAN);
    std::vector<float> partialLse(2 * kRows, NAN);
    for (int64_t split = 0; split < 2; ++split) {
      kvc_attend_args attend = {cache,
                                q.data(),
                                kQHeads * kDim,
                                kDim,
                                partialOut.data() + split * kRows * kDim,
                                partialLse.data() + split * kRows,
                                nullptr,
                                head,
                                kQueries,
                                kTokens,
                                0,
                                kRows,
                                split ? kSplit : 0,
                                split ? kTokens : kSplit};
      run(split ? "prefill" : "decode", &attend);
    }
    kvc_merge_args merge = {partialOut.data(),
                            kRows * kDim,
                            partialLse.data(),
                            kRows,
                            nullptr,
                            out.data(),
                            kQHeads * kDim,
                            kDim,
                            lse.data(),
                            kQHeads,
                            1,
                            head,
                            0,
                            kRows,
                            2};
    run("merge", &merge);

    for (int64_t row = 0; row < kRows; ++row) {
      int64_t query = row / kGroup, qHead = head * kGroup + row % kGroup;
      double sum = 0, expected[kDim] = {};
      for (int64_t t = 0; t <= kTokens - kQueries + query; ++t) {
        double score = 0;
        for (int64_t c = 0; c < kDim; ++c)
          score += double(q[(query * kQHeads + qHead) * kDim + c]) *
                   keys[t * kDim + c];
        double p = std::exp(score / std::sqrt(double(kDim)));
        sum += p;
        for (int64_t c = 0; c < kDim; ++c)
          expected[c] += p * values[t * kDim + c];
      }
      EXPECT_NEAR(lse[query * kQHeads + qHead], std::log(sum), 2e-3);
      for (int64_t c = 0; c < kDim; ++c)
        EXPECT_NEAR(out[(query * kQHeads + qHead) * kDim + c],
                    expected[c] / sum, 1e-3)
            << "row " << row << " channel " << c;
    }
  }
}

TEST_P(EndToEnd, Raw) {
  check(R"({"codec": "f16"})", R"({"codec": "bf16"})", 0.02f);
}
TEST_P(EndToEnd, Symmetric) {
  check(integer("int8", "none"), integer("int8", "none"), 0.02f);
}
TEST_P(EndToEnd, FourBitsWithMinimum) {
  check(integer("int4", "min"), integer("int4", "min"), 0.3f);
}
TEST_P(EndToEnd, FourBitsWithZeroCode) {
  check(integer("int4", "code"), integer("int8", "min"), 0.3f);
}

INSTANTIATE_TEST_SUITE_P(Targets, EndToEnd,
                         testing::Values("host", "portable", "x86-64"),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             c = std::isalnum(c) ? c : '_';
                           return name;
                         });

} // namespace
