//===- input_rows_test.cpp - Inputs of schemes as kernels read them -------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Quantise/InputRows.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kvc::quantise;
using namespace kvc::spec;

namespace {

/// The spec of one key scheme on two heads of 16 channels.
Spec specOf(const std::string &key) {
  Expected<Spec> spec = parseSpec(
      R"({"kvc": 1, "attention": {"q_heads": 2, "kv_heads": 2, "head_dim": 16},
          "io": {"query": "f16"}, "value": {"codec": "f16"}, "key": )" +
      key + "}");
  EXPECT_TRUE(bool(spec)) << spec.error().str();
  return spec ? *spec : Spec();
}

Spec staticSpec(const std::string &dtype, const std::string &more = "") {
  return specOf(R"({"codec": "int8", "scale": {"tokens": "all", "channels": 8,
                    "static": true, "dtype": ")" +
                dtype + "\"" + more + "}}");
}

/// The first stored scale; NaN after a failure.
float stored(const Spec &spec, float given) {
  const std::vector<float> values(4, given);
  auto rows = kernelRows(spec, schemeInputs(spec).front(), values);
  EXPECT_TRUE(bool(rows)) << rows.error().message;
  return rows ? rows->front() : std::nanf("");
}

std::string refusal(const Spec &spec, const std::vector<float> &values) {
  auto rows = kernelRows(spec, schemeInputs(spec).front(), values);
  EXPECT_FALSE(bool(rows));
  return rows ? "" : rows.error().path + ": " + rows.error().message;
}

TEST(KernelRows, ScalesAreRoundedToTheirType) {
  EXPECT_EQ(stored(staticSpec("f32"), 0.1f), 0.1f);
  EXPECT_EQ(stored(staticSpec("f32"), 1e-45f), 1e-45f);
  EXPECT_EQ(stored(staticSpec("f16"), 0.1f), 0x1.998p-4f);
  // A tie goes to the even one, above the largest finite value to that.
  EXPECT_EQ(stored(staticSpec("f16"), 0x1.002p0f), 1.0f);
  EXPECT_EQ(stored(staticSpec("f16"), 0x1.006p0f), 0x1.008p0f);
  EXPECT_EQ(stored(staticSpec("f16"), 1e6f), 65504.0f);
  EXPECT_EQ(stored(staticSpec("f16"), 0x1.8p-25f), 0x1p-24f);
  EXPECT_EQ(stored(staticSpec("bf16"), 0.1f), 0x1.9ap-4f);
  EXPECT_EQ(stored(staticSpec("bf16"), 3.4e38f), 0x1.fep127f);
  EXPECT_EQ(stored(staticSpec("e8m0"), 0.9f), 0.5f);
  EXPECT_EQ(stored(staticSpec("e8m0"), 1e-45f), 0x1p-127f);
  EXPECT_EQ(stored(staticSpec("e8m0", R"(, "round": "up")"), 0.9f), 0.5f);
  EXPECT_EQ(stored(staticSpec("e4m3"), 0.1f), 0x1.ap-4f);
  EXPECT_EQ(stored(staticSpec("e4m3"), 1e3f), 448.0f);
  EXPECT_EQ(stored(staticSpec("e4m3", R"(, "global": 0.01)"), 0.1f), 10.0f);
  EXPECT_EQ(stored(staticSpec("e4m3", R"(, "global": 1e-30)"), 1e30f), 448.0f);
}

TEST(KernelRows, ScalesGoUpToAPowerOfTwo) {
  const std::string up = R"(, "round": "up")";
  EXPECT_EQ(stored(staticSpec("f16", up), 0.3f), 0.5f);
  EXPECT_EQ(stored(staticSpec("f16", up), 0.5f), 0.5f);
  EXPECT_EQ(stored(staticSpec("f16", up), 1e6f), 32768.0f);
  EXPECT_EQ(stored(staticSpec("f16", up), 1e-30f), 0x1p-24f);
  EXPECT_EQ(stored(staticSpec("e4m3", up + R"(, "global": 0.25)"), 0.3f), 2.0f);
  EXPECT_EQ(stored(staticSpec("e4m3", up), 1e30f), 256.0f);
}

TEST(KernelRows, ScalesOutOfRangeAreRefusedByPlace) {
  const Spec f16 = staticSpec("f16");
  EXPECT_EQ(refusal(f16, {1, 1, 0, 1}),
            "key_scale[2]: expected a finite number above 0, got 0");
  EXPECT_EQ(refusal(f16, {1, -0.5f, 0, 1}),
            "key_scale[1]: expected a finite number above 0, got -0.5");
  EXPECT_EQ(refusal(f16, {1, 1, 1, std::nanf("")}),
            "key_scale[3]: expected a finite number above 0, got nan");
  EXPECT_EQ(refusal(f16, {1, 1e-9f, 1, 1}),
            "key_scale[1]: expected a number above 0 after rounding to f16, "
            "got 9.99999972e-10");
}

TEST(KernelRows, TablesBringTheirStepsAndTheirLargestEntry) {
  const Spec spec = specOf(
      R"({"codec": "lut", "table": {"bits": 2}, "scale": {"tokens": 1,
          "channels": "all", "dtype": "f16"}})");
  const SchemeInput input = schemeInputs(spec).front();
  auto rows = kernelRows(spec, input,
                         std::vector<float>{3, -1, 3, 0, //
                                            0, 0, -4, 0});
  ASSERT_TRUE(bool(rows)) << rows.error().message;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> expected = {
      // Entries, thresholds (a tie is the lower index's), codes, the largest.
      3,
      -1,
      3,
      0,
      -0.5f,
      std::nextafter(1.5f, 0.0f),
      infinity,
      infinity, //
      1,
      3,
      0,
      0,
      3, //
      0,
      0,
      -4,
      0,
      std::nextafter(-2.0f, -3.0f),
      infinity,
      infinity,
      infinity,
      2,
      0,
      0,
      0,
      4};
  EXPECT_EQ(*rows, expected);
  EXPECT_EQ(refusal(spec, {3, -1, 3, 0, 0, 0, -0.0f, 0}),
            "key_table: head 1: expected a number other than 0 in its table, "
            "got none");
  EXPECT_EQ(refusal(spec, {3, infinity, 3, 0, 0, 0, 1, 0}),
            "key_table[1]: expected a finite number, got inf");

  const RowRange codes = rowRange(spec, Tensor::Key, 0, RowField::Codes);
  EXPECT_EQ(codes.begin, 8);
  EXPECT_EQ(codes.count, 4);
  EXPECT_EQ(codes.stride, 13);
}

TEST(KernelRows, SmoothingFactorsStayAndBelongToTheirParts) {
  const Spec spec = specOf(
      R"({"parts": [{"channels": [0, 8], "codec": "f16", "smooth": true},
                    {"channels": [8, 16], "codec": "bf16", "smooth": true}]})");
  const SchemeInput input = schemeInputs(spec).front();
  std::vector<float> factors(32, 1e-30f);
  auto rows = kernelRows(spec, input, factors);
  ASSERT_TRUE(bool(rows)) << rows.error().message;
  EXPECT_EQ(*rows, factors);
  factors[9] = 0;
  EXPECT_EQ(refusal(spec, factors),
            "key_smooth[9]: expected a finite number above 0, got 0");

  const RowRange second = rowRange(spec, Tensor::Key, 1, RowField::Smooth);
  EXPECT_EQ(second.begin, 8);
  EXPECT_EQ(second.count, 8);
  EXPECT_EQ(second.stride, 16);
  EXPECT_EQ(inputNumber(spec, Tensor::Key, InputKind::Smooth, 1), 0u);
}

} // namespace
