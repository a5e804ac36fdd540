//===- level1_test.cpp - Expanded kernels against the reference -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// kvc-expand's kernels, interpreted in f64, are attention.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "kvc/Test/Block.h"
#include "kvc/Test/Floats.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace kvc;
using namespace kvc::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Slopes are multiplied by f32 constants too, which no other slope makes up
/// for.
double tolerance(const spec::Attention &attention) {
  return attention.alibi ? 2e-6 : 1e-12;
}

/// x' is a product of short numbers and so exact in f32; if it were not, the
/// reference would start from other values than f64 arithmetic does.
void expectExact(const spec::PartScheme &scheme, const TensorData &data) {
  const PartData &part = data.parts.front();
  if (scheme.codec.isRaw())
    return;
  for (size_t i = 0; i < part.codes.size(); ++i) {
    size_t block = i / size_t(scheme.blockChannels());
    double u = hasSignedCodes(scheme) ? int8_t(part.codes[i]) : part.codes[i];
    double s = part.scale[block], z = part.zero.empty() ? 0 : part.zero[block];
    double x = scheme.zero == spec::Zero::Code ? s * (u - z) : s * u + z;
    ASSERT_EQ(x, double(data.x[i])) << "at " << i;
  }
}

class Level1 : public testing::TestWithParam<std::string> {
protected:
  std::unique_ptr<MLIRContext> context = makeContext();
};

TEST_P(Level1, IsAttention) {
  for (const std::string &scheme : schemeNames()) {
    Case c = makeCase(scheme, GetParam());
    SCOPED_TRACE(c.name);
    Sequence sequence(c.spec, c.lengths, 1);
    expectExact(c.spec.key.parts.front(), sequence.answer.k);
    expectExact(c.spec.value->parts.front(), sequence.answer.v);
    OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
    ASSERT_TRUE(module);
    Reference reference = referenceOf(sequence);
    for (const char *name : {"decode", "prefill"})
      for (int64_t h = 0; h < c.spec.attention.kvHeads; ++h) {
        SCOPED_TRACE(std::string(name) + ", head " + std::to_string(h));
        Sequence::Result expected = sequence.rowsOf(reference, h);
        Sequence::Result got = sequence.attend(kernelOf(*module, name), h);
        EXPECT_LE(difference(got.out, expected.out),
                  tolerance(c.spec.attention));
        EXPECT_LE(difference(got.lse, lowered(expected.lse)),
                  tolerance(c.spec.attention));
      }
  }
}

/// The reference rotates x' back in f32, hence the roundings of f32.
TEST_P(Level1, IsAttentionOverRotatedChannels) {
  for (auto [key, value] :
       {std::pair(64, 32), std::pair(8, 2), std::pair(32, 0), std::pair(0, 1)})
    for (const char *scheme : {"int4_min_16", "int8", "f16"}) {
      Case c = makeCase(scheme, GetParam());
      c.spec.key.parts.front().rotate = key;
      c.spec.value->parts.front().rotate = value;
      SCOPED_TRACE(c.name + ", blocks of " + std::to_string(key) + " and " +
                   std::to_string(value));
      Sequence sequence(c.spec, c.lengths, 1);
      OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
      ASSERT_TRUE(module);
      Sequence::Result expected = sequence.rowsOf(referenceOf(sequence), 0);
      Sequence::Result got = sequence.attend(kernelOf(*module, "decode"), 0);
      EXPECT_LE(difference(got.out, expected.out), 1e-5);
      EXPECT_LE(difference(got.lse, lowered(expected.lse)), 1e-5);
    }
}

TEST_P(Level1, IsAttentionOverPartsAndSharedChannels) {
  for (const std::string &partition : partitionNames()) {
    Case c = makePartitioned(partition, GetParam());
    SCOPED_TRACE(c.name);
    Sequence sequence(c.spec, c.lengths, 1);
    OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
    ASSERT_TRUE(module);
    Reference reference = referenceOf(sequence);
    for (const char *name : {"decode", "prefill"})
      for (int64_t h = 0; h < c.spec.attention.kvHeads; ++h) {
        SCOPED_TRACE(std::string(name) + ", head " + std::to_string(h));
        Sequence::Result expected = sequence.rowsOf(reference, h);
        Sequence::Result got = sequence.attend(kernelOf(*module, name), h);
        EXPECT_LE(difference(got.out, expected.out),
                  tolerance(c.spec.attention));
        EXPECT_LE(difference(got.lse, lowered(expected.lse)),
                  tolerance(c.spec.attention));
      }
  }
}

/// What is given per channel or per position; the reference reads x' in f32.
TEST_P(Level1, IsAttentionOverSmoothedChannelsAndRotatedPositions) {
  const spec::Rope half{false, 64, 0, 10000}, pairs{true, 24, 8, 300};
  for (const std::optional<spec::Rope> &rope :
       {std::optional<spec::Rope>(), std::optional(half), std::optional(pairs)})
    for (const char *scheme : {"int4_min_16", "int8_static", "f16"}) {
      Case c = makeCase(scheme, GetParam());
      c.spec.key.rope = rope;
      c.spec.key.parts.front().smooth = true;
      c.spec.value->parts.front().smooth = true;
      SCOPED_TRACE(c.name + (rope ? rope->pairs ? ", pairs" : ", half" : ""));
      Sequence sequence(c.spec, c.lengths, 1);
      OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
      ASSERT_TRUE(module);
      Reference reference = referenceOf(sequence);
      for (int64_t h = 0; h < c.spec.attention.kvHeads; ++h) {
        Sequence::Result expected = sequence.rowsOf(reference, h);
        Sequence::Result got = sequence.attend(kernelOf(*module, "decode"), h);
        EXPECT_LE(difference(got.out, expected.out), 1e-5);
        EXPECT_LE(difference(got.lse, lowered(expected.lse)), 1e-5);
      }
    }
}

TEST_P(Level1, IsAttentionOverSmoothedParts) {
  // In one part, and across them.
  const spec::Rope inside{false, 8, 16, 10000}, across{true, 34, 12, 10000};
  for (const std::string &partition : partitionNames())
    for (const std::optional<spec::Rope> &rope :
         {std::optional<spec::Rope>(), std::optional(inside),
          std::optional(across)}) {
      Case c = makePartitioned(partition, GetParam());
      c.spec.key.rope = rope;
      for (spec::PartScheme &part : c.spec.key.parts)
        part.smooth = true;
      if (c.spec.value)
        c.spec.value->parts.back().smooth = true;
      SCOPED_TRACE(
          c.name +
          (rope ? ", roped from " + std::to_string(rope->offset) : ""));
      Sequence sequence(c.spec, c.lengths, 1);
      OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
      ASSERT_TRUE(module);
      Sequence::Result expected = sequence.rowsOf(referenceOf(sequence), 0);
      Sequence::Result got = sequence.attend(kernelOf(*module, "decode"), 0);
      EXPECT_LE(difference(got.out, expected.out), 1e-5);
      EXPECT_LE(difference(got.lse, lowered(expected.lse)), 1e-5);
    }
}

TEST_P(Level1, IsAttentionOverTablesOfHeads) {
  for (unsigned bits : {2, 3, 4})
    for (bool isStatic : {false, true}) {
      Case c = makeCase(isStatic ? "int4_static_16" : "int4_16", GetParam());
      for (spec::Scheme *scheme : {&c.spec.key, &*c.spec.value}) {
        scheme->parts.front().codec = {};
        scheme->parts.front().codec.kind = spec::CodecKind::Lut;
        scheme->parts.front().codec.bits = bits;
      }
      SCOPED_TRACE(c.name + ", " + std::to_string(bits) + " bits");
      Sequence sequence(c.spec, c.lengths, 1);
      OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
      ASSERT_TRUE(module);
      Reference reference = referenceOf(sequence);
      for (int64_t h = 0; h < c.spec.attention.kvHeads; ++h) {
        Sequence::Result expected = sequence.rowsOf(reference, h);
        Sequence::Result got = sequence.attend(kernelOf(*module, "decode"), h);
        EXPECT_LE(difference(got.out, expected.out), 1e-5);
        EXPECT_LE(difference(got.lse, lowered(expected.lse)), 1e-5);
      }
    }
}

TEST_P(Level1, DoesNotDependOnHowRowsAreCut) {
  Case c = makeCase("int4_min", "int8_32", GetParam());
  Sequence sequence(c.spec, c.lengths, 2);
  OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
  ASSERT_TRUE(module);
  func::FuncOp kernel = kernelOf(*module, "decode");
  Sequence::Result whole = sequence.attend(kernel, 0);
  // Cuts that are multiples neither of a tile nor of a group.
  int64_t cuts[] = {0, 1, 3, 5, sequence.rows()};
  for (size_t i = 0; i + 1 < std::size(cuts); ++i) {
    Sequence::Result part =
        sequence.attend(kernel, 0, {cuts[i], cuts[i + 1], 0, c.lengths.keys});
    for (int64_t row = cuts[i]; row < cuts[i + 1]; ++row) {
      EXPECT_EQ(*part.lse.at({row - cuts[i]}), *whole.lse.at({row}));
      for (int64_t d = 0; d < c.spec.attention.valueDim; ++d)
        ASSERT_EQ(*part.out.at({row - cuts[i], d}), *whole.out.at({row, d}))
            << "row " << row;
    }
  }
}

/// Splits of one and of several tiles, then the merge kernel.
TEST_P(Level1, SplitsMergeToTheWhole) {
  Case c = makeCase("int4_code", "int4_min_16", GetParam());
  Sequence sequence(c.spec, c.lengths, 3);
  OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
  ASSERT_TRUE(module);
  Reference reference = sequence.answer.reference;
  const spec::Attention &a = c.spec.attention;
  func::FuncOp level1 = kernelOf(*module, "merge");
  OwningOpRef<func::FuncOp> level2 = withFactorsPlaced(level1);
  for (auto [split, merge] : {std::pair<int64_t, func::FuncOp>(32, level1),
                              std::pair<int64_t, func::FuncOp>(64, *level2)}) {
    HostArray out({c.lengths.queries, a.qHeads, a.valueDim}, kInfinity),
        lse({c.lengths.queries, a.qHeads}, kInfinity);
    for (int64_t h = 0; h < a.kvHeads; ++h) {
      int64_t middle = sequence.rows() / 2 + 1;
      for (auto [begin, end] : {std::pair<int64_t, int64_t>(0, middle),
                                std::pair(middle, sequence.rows())}) {
        std::vector<Sequence::Result> partials;
        for (int64_t key = 0; key < c.lengths.keys; key += split)
          partials.push_back(sequence.attend(
              kernelOf(*module, "decode"), h,
              {begin, end, key, std::min(key + split, c.lengths.keys)}));
        sequence.merge(merge, h, begin, end, partials, out, lse);
      }
    }
    // Here every constant is an f32.
    HostArray expectedOut(out.shape, 0.0), expectedLse(lse.shape, 0.0);
    expectedOut.values = reference.out;
    expectedLse.values = reference.lse;
    EXPECT_LE(difference(out, expectedOut), 2e-6) << "splits of " << split;
    EXPECT_LE(difference(lse, expectedLse), 2e-6) << "splits of " << split;
  }
}

INSTANTIATE_TEST_SUITE_P(, Level1, testing::ValuesIn(variantNames()),
                         [](const auto &info) { return info.param; });

class Merge : public testing::Test {
protected:
  std::unique_ptr<MLIRContext> context = makeContext();

  /// Merges no split at all.
  Sequence::Result withoutSplits(const Case &c, Sequence &sequence) {
    const spec::Attention &a = c.spec.attention;
    OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
    Sequence::Result result{
        HostArray({c.lengths.queries, a.qHeads, a.valueDim}, 1.0),
        HostArray({c.lengths.queries, a.qHeads}, 1.0)};
    for (int64_t h = 0; h < a.kvHeads; ++h)
      sequence.merge(kernelOf(*module, "merge"), h, 0, sequence.rows(), {},
                     result.out, result.lse);
    return result;
  }
};

TEST_F(Merge, OfNothingIsZero) {
  Case c = makeCase("int8", "causal");
  Sequence sequence(c.spec, c.lengths, 4);
  Sequence::Result result = withoutSplits(c, sequence);
  for (double x : result.out.values)
    ASSERT_EQ(x, 0);
  for (double x : result.lse.values)
    ASSERT_EQ(x, -kInfinity);
}

TEST_F(Merge, OfNothingLeavesTheSinkLogit) {
  Case c = makeCase("int8", "sink_logits");
  Sequence sequence(c.spec, c.lengths, 5);
  Sequence::Result result = withoutSplits(c, sequence);
  for (double x : result.out.values)
    ASSERT_EQ(x, 0);
  for (size_t i = 0; i < result.lse.values.size(); ++i)
    ASSERT_NEAR(result.lse.values[i],
                sequence.inputs.sinks[i % sequence.inputs.sinks.size()], 1e-12);
}

/// One split: nothing but the rounding to io.output happens.
TEST_F(Merge, OfOneSplitIsThatSplitRounded) {
  Case c = makeCase("int8", "causal");
  c.spec.io.output = spec::DType::BF16;
  Sequence sequence(c.spec, c.lengths, 6);
  OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
  ASSERT_TRUE(module);
  const spec::Attention &a = c.spec.attention;
  Sequence::Result merged{
      HostArray({c.lengths.queries, a.qHeads, a.valueDim}, kInfinity),
      HostArray({c.lengths.queries, a.qHeads}, kInfinity)};
  Sequence::Result split = sequence.attend(kernelOf(*module, "prefill"), 1);
  sequence.merge(kernelOf(*module, "merge"), 1, 0, sequence.rows(), {split},
                 merged.out, merged.lse);
  for (int64_t row = 0; row < sequence.rows(); ++row) {
    int64_t query = row / a.group(), head = a.group() + row % a.group();
    ASSERT_EQ(*merged.lse.at({query, head}), *split.lse.at({row}));
    for (int64_t d = 0; d < a.valueDim; ++d)
      ASSERT_EQ(*merged.out.at({query, head, d}),
                double(roundTo(kBF16, *split.out.at({row, d}))));
  }
}

/// Quantising follows f32 arithmetic to the bit, which f64 does not have; but
/// on these inputs no quotient lies so near to a tie that it matters.
TEST(Append, StoresWhatTheReferenceStores) {
  std::unique_ptr<MLIRContext> context = makeContext();
  for (const std::string &scheme : schemeNames()) {
    Case c = makeCase(scheme, "causal");
    SCOPED_TRACE(c.name);
    Sequence sequence(c.spec, c.lengths, 8);
    OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
    ASSERT_TRUE(module);
    const spec::Attention &a = c.spec.attention;
    int64_t tokens = c.lengths.keys, chunk = 20;
    func::FuncOp level1 = kernelOf(*module, "append");
    OwningOpRef<func::FuncOp> level2 = withFactorsPlaced(level1);
    for (func::FuncOp kernel : {level1, *level2}) {
      SCOPED_TRACE(kernel == level1 ? "level 1" : "level 2");
      HostCache expected = sequence.cache, got = expected;
      for (auto *tensor : {&got.key, &got.value})
        for (HostArray *array : {&tensor->front().codes, &tensor->front().scale,
                                 &tensor->front().zero})
          llvm::fill(array->values, kInfinity);

      Diagnostics diagnostics(*context);
      for (int64_t begin = 0; begin < tokens; begin += chunk) {
        int64_t end = std::min(begin + chunk, tokens);
        // Token 0 of the inputs is the first one that is appended.
        auto rows = [&](const std::vector<float> &x, int64_t channels) {
          return HostArray(
              {end - begin, a.kvHeads, channels},
              std::span(x).subspan(size_t(begin * a.kvHeads * channels)));
        };
        HostArray k = rows(sequence.inputs.k, a.headDim),
                  v = rows(sequence.inputs.v, a.valueDim), workspace({0}, 0.0);
        for (int64_t h = 0; h < a.kvHeads; ++h)
          ASSERT_TRUE(succeeded(
              interpret(kernel, {&got, &k, &v, h, begin, end, int64_t(0),
                                 int64_t(0), &workspace})))
              << diagnostics.text();
      }
      for (auto [left, right] : {std::pair(&got.key, &expected.key),
                                 std::pair(&got.value, &expected.value)}) {
        EXPECT_EQ(left->front().codes.values, right->front().codes.values);
        EXPECT_EQ(left->front().scale.values, right->front().scale.values);
        EXPECT_EQ(left->front().zero.values, right->front().zero.values);
      }
    }
  }
}

TEST(Unpack, ReadsTheCanonicalForm) {
  std::unique_ptr<MLIRContext> context = makeContext();
  for (const std::string &scheme : schemeNames()) {
    Case c = makeCase(scheme, "causal");
    SCOPED_TRACE(c.name);
    Sequence sequence(c.spec, c.lengths, 7);
    OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
    ASSERT_TRUE(module);
    const PartData &key = sequence.answer.k.parts.front(),
                   &value = sequence.answer.v.parts.front();
    int64_t begin = 3, end = 40, head = 1, heads = c.spec.attention.kvHeads;
    struct Canonical {
      HostArray codes, scales, zeros, x, indices, values;
    };
    auto make = [&](const PartData &part) {
      int64_t rows = end - begin, blocks = std::max<int64_t>(part.blocks, 1);
      return Canonical{HostArray({rows, part.channels}, kInfinity),
                       HostArray({rows, blocks}, kInfinity),
                       HostArray({rows, blocks}, kInfinity),
                       HostArray({rows, part.channels}, kInfinity),
                       HostArray({rows, 1}, kInfinity),
                       HostArray({rows, 1}, kInfinity)};
    };
    func::FuncOp level1 = kernelOf(*module, "unpack");
    OwningOpRef<func::FuncOp> level2 = withFactorsPlaced(level1);
    for (func::FuncOp kernel : {level1, *level2}) {
      SCOPED_TRACE(kernel == level1 ? "level 1" : "level 2");
      Canonical k = make(key), v = make(value);
      Diagnostics diagnostics(*context);
      ASSERT_TRUE(succeeded(interpret(
          kernel, {&sequence.cache, head, begin, end, &k.codes, &k.scales,
                   &k.zeros, &k.x, &k.indices, &k.values, &v.codes, &v.scales,
                   &v.zeros, &v.x, &v.indices, &v.values})))
          << diagnostics.text();

      auto check = [&](Canonical &got, const TensorData &expected) {
        const PartData &part = expected.parts.front();
        for (int64_t t = begin; t < end; ++t) {
          size_t row = size_t(t * heads + head);
          for (int64_t i = 0; i < part.channels; ++i) {
            size_t from = row * size_t(part.channels) + size_t(i);
            ASSERT_EQ(*got.x.at({t - begin, i}), double(expected.x[from]));
            if (!part.codes.empty())
              ASSERT_EQ(*got.codes.at({t - begin, i}),
                        int8_t(part.codes[from]));
          }
          for (int64_t i = 0; i < part.blocks; ++i) {
            size_t from = row * size_t(part.blocks) + size_t(i);
            ASSERT_EQ(*got.scales.at({t - begin, i}), double(part.scale[from]));
            if (!part.zero.empty())
              ASSERT_EQ(*got.zeros.at({t - begin, i}), double(part.zero[from]));
          }
        }
      };
      check(k, sequence.answer.k);
      check(v, sequence.answer.v);
    }
  }
}

} // namespace
