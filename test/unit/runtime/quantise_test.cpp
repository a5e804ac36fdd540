//===- quantise_test.cpp - The C API of quantisers ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/quantise.h"

#include "kvc/Test/Inputs.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace kvc;

namespace {

struct FreeSpec {
  void operator()(kvc_spec *spec) const { kvc_spec_free(spec); }
};
struct FreeQuantiser {
  void operator()(kvc_quantiser *quantiser) const {
    kvc_quantiser_free(quantiser);
  }
};
using SpecPointer = std::unique_ptr<kvc_spec, FreeSpec>;
using QuantiserPointer = std::unique_ptr<kvc_quantiser, FreeQuantiser>;

constexpr int64_t kHeads = 3, kChannels = 32;

class Quantise : public testing::Test {
protected:
  /// A quantiser of keys coded by `scheme`.
  QuantiserPointer make(const std::string &scheme) {
    const std::string text =
        R"({"kvc": 1, "attention": {"q_heads": 3, "kv_heads": 3,
            "head_dim": 32}, "io": {"query": "f16"}, "key": )" +
        scheme + R"(, "value": {"codec": "f16"}, "segments": {"recent": 8}})";
    auto read = spec::parseSpec(text);
    EXPECT_TRUE(read) << read.error().str();
    parsed = *read;
    kvc_spec *made = nullptr;
    EXPECT_EQ(kvc_spec_parse(text.data(), text.size(), &diag, &made), KVC_OK);
    handle.reset(made);
    const test::Lengths lengths[] = {{0, 24}};
    given = test::randomInputs(parsed, lengths, test::InputMode::Normal, 5);
    kvc_quantiser_options options{};
    options.struct_size = sizeof(options);
    options.spec = handle.get();
    options.inputs = values.data();
    options.num_inputs = static_cast<int64_t>(values.size());
    kvc_quantiser *quantiser = nullptr;
    status = kvc_quantiser_create(&options, &diag, &quantiser);
    return QuantiserPointer(quantiser);
  }

  /// x' of all tokens by the reference.
  std::vector<float> expected() {
    return test::quantise(parsed.key, {}, kHeads, kChannels, given.k,
                          given.cuKv, given.key)
        .x;
  }

  static void expectSameBits(const std::vector<float> &a,
                             const std::vector<float> &b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i]))
          << i;
  }

  char text[512] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  kvc_status status = KVC_OK;
  spec::Spec parsed;
  SpecPointer handle;
  test::Inputs given;
  std::vector<kvc_scheme_values> values;
};

constexpr const char *kInt4 =
    R"({"codec": "int4", "scale": {"tokens": 4, "channels": 1,
        "dtype": "f16"}, "zero": "min"})";

TEST_F(Quantise, GivesTheBitsOfACache) {
  for (const char *scheme :
       {kInt4,
        R"({"codec": "fp8_e4m3", "scale": {"tokens": 1, "channels": 16,
            "dtype": "e8m0"}, "rotate": 32})",
        R"({"codec": "lut", "table": [-1, -0.3, 0.2, 1], "estimate": "rms",
            "scale": {"tokens": 1, "channels": "all", "dtype": "bf16"},
            "outliers": 2})",
        R"({"codec": "bf16"})"}) {
    const QuantiserPointer quantiser = make(scheme);
    ASSERT_EQ(status, KVC_OK) << text;
    std::vector<float> out(given.k.size());
    const kvc_f32_rows source{given.k.data(), 0, 0}, target{out.data(), 0, 0};
    ASSERT_EQ(
        kvc_quantise_dequantise(quantiser.get(), &source, 24, &diag, &target),
        KVC_OK)
        << text;
    expectSameBits(out, expected());
    // In place.
    std::vector<float> same = given.k;
    const kvc_f32_rows both{same.data(), 0, 0};
    ASSERT_EQ(kvc_quantise_dequantise(quantiser.get(), &both, 24, &diag, &both),
              KVC_OK);
    expectSameBits(same, out);
  }
}

TEST_F(Quantise, TakesStridesAndLeavesTheRestAlone) {
  const QuantiserPointer quantiser = make(kInt4);
  ASSERT_EQ(status, KVC_OK) << text;
  // [heads][tokens][channels + 3] to [tokens][heads][channels + 1].
  std::vector<float> source(kHeads * 24 * (kChannels + 3), NAN);
  std::vector<float> target(kHeads * 24 * (kChannels + 1), 77);
  for (int64_t t = 0; t < 24; ++t)
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t c = 0; c < kChannels; ++c)
        source[(h * 24 + t) * (kChannels + 3) + c] =
            given.k[(t * kHeads + h) * kChannels + c];
  const kvc_f32_rows from{source.data(), kChannels + 3, 24 * (kChannels + 3)};
  const kvc_f32_rows to{target.data(), kHeads * (kChannels + 1), kChannels + 1};
  ASSERT_EQ(kvc_quantise_dequantise(quantiser.get(), &from, 24, &diag, &to),
            KVC_OK)
      << text;
  std::vector<float> dense;
  for (size_t i = 0; i < target.size(); ++i)
    if (i % (kChannels + 1) == kChannels)
      EXPECT_EQ(target[i], 77);
    else
      dense.push_back(target[i]);
  expectSameBits(dense, expected());
}

TEST_F(Quantise, RoundsToTheQueryTypeFirst) {
  const QuantiserPointer quantiser = make(R"({"codec": "f32"})");
  std::vector<float> x(kHeads * kChannels, 1 + 0x1p-20F);
  x[1] = 1e9F;
  const kvc_f32_rows rows{x.data(), 0, 0};
  ASSERT_EQ(kvc_quantise_dequantise(quantiser.get(), &rows, 1, &diag, &rows),
            KVC_OK);
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 65504);
}

TEST_F(Quantise, KnowsNoFloatingPointEnvironment) {
  const QuantiserPointer quantiser = make(kInt4);
  std::vector<float> out(given.k.size());
  const kvc_f32_rows source{given.k.data(), 0, 0}, target{out.data(), 0, 0};
  std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040); // flush to zero, denormals are zero
#endif
  const kvc_status result =
      kvc_quantise_dequantise(quantiser.get(), &source, 24, &diag, &target);
  const int rounding = std::fegetround();
  std::fesetenv(FE_DFL_ENV);
  EXPECT_EQ(rounding, FE_UPWARD);
  ASSERT_EQ(result, KVC_OK);
  expectSameBits(out, expected());
}

TEST_F(Quantise, ServesThreadsAtOnce) {
  const QuantiserPointer quantiser = make(kInt4);
  std::vector<std::vector<float>> outs(4, std::vector<float>(given.k.size()));
  std::vector<std::thread> threads;
  for (std::vector<float> &out : outs)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const kvc_f32_rows source{given.k.data(), 0, 0},
            target{out.data(), 0, 0};
        EXPECT_EQ(kvc_quantise_dequantise(quantiser.get(), &source, 24, nullptr,
                                          &target),
                  KVC_OK);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<float> &out : outs)
    expectSameBits(out, expected());
}

TEST_F(Quantise, RefusesWithoutWriting) {
  const QuantiserPointer quantiser = make(kInt4);
  std::vector<float> out(given.k.size(), 3);
  const kvc_f32_rows source{given.k.data(), 0, 0}, target{out.data(), 0, 0},
      none{nullptr, 0, 0};
  auto call = [&](const kvc_f32_rows *from, int64_t tokens,
                  const kvc_f32_rows *to) {
    return kvc_quantise_dequantise(quantiser.get(), from, tokens, &diag, to);
  };
  EXPECT_EQ(call(&source, 23, &target), KVC_INVALID_ARGUMENT);
  EXPECT_STREQ(text, "tokens: expected a multiple of 4, got 23");
  EXPECT_EQ(call(&source, -4, &target), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(call(&none, 4, &target), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(call(&source, 4, &none), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(call(nullptr, 4, &target), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(call(&source, 4, nullptr), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_quantise_dequantise(nullptr, &source, 4, &diag, &target),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(call(&none, 0, &none), KVC_OK);
  given.k[(5 * kHeads + 2) * kChannels + 7] = NAN;
  EXPECT_EQ(call(&source, 24, &target), KVC_INVALID_DATA);
  EXPECT_STREQ(text, "source[5, 2, 7]: expected a finite number, got NaN");
  EXPECT_EQ(out, std::vector<float>(out.size(), 3));
}

TEST_F(Quantise, TakesTheInputsOfSchemes) {
  const std::string scheme =
      R"({"codec": "lut", "table": {"bits": 2}, "smooth": true, "scale":
          {"tokens": "all", "channels": 16, "dtype": "e4m3", "global": 0.5,
           "static": true}})";
  make(scheme);
  EXPECT_EQ(status, KVC_INVALID_ARGUMENT);
  const test::SchemeInputs &key = given.key;
  std::vector<float> scale = key.parts[0].scale, table = key.parts[0].table,
                     smooth = key.smooth;
  values = {{"key_smooth", smooth.data(), 96},
            {"key_table", table.data(), 12},
            {"key_scale", scale.data(), 6}};
  QuantiserPointer quantiser = make(scheme);
  ASSERT_EQ(status, KVC_OK) << text;
  std::vector<float> out(given.k.size());
  const kvc_f32_rows source{given.k.data(), 0, 0}, target{out.data(), 0, 0};
  ASSERT_EQ(
      kvc_quantise_dequantise(quantiser.get(), &source, 24, &diag, &target),
      KVC_OK);
  expectSameBits(out, expected());
  scale[4] = -1;
  quantiser = make(scheme);
  EXPECT_EQ(status, KVC_INVALID_DATA) << text;
}

} // namespace
