//===- score_test.cpp - Expanded score regions against functions ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Kernels with a score region, interpreted in f64, are attention with that
// function, at level 1 and with factors placed.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "kvc/Test/ScoreRegions.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Pass/Pass.h"

#include <gtest/gtest.h>
#include <numbers>

using namespace mlir;
using namespace kvc;
using namespace kvc::test;

namespace {

/// The reference whose constants are those of a kernel: f32, log2(e) too.
Reference referenceOf(const Sequence &sequence, const ScoreCase &score) {
  spec::Attention attention = sequence.attention();
  attention.sinkLogits = false; // They join in the merge.
  if (attention.softcap) {
    double inner = float(attention.scale * (1.0 / *attention.softcap));
    attention.scale = inner * *attention.softcap;
  }
  const Inputs &inputs = sequence.inputs;
  AttentionArgs args{inputs.q,    sequence.answer.k.x, sequence.answer.v.x,
                     inputs.cuQ,  inputs.cuKv,         inputs.slopes,
                     inputs.sinks};
  args.score = [region = score.region(attention)](double x, int64_t query,
                                                  int64_t key, int64_t head) {
    return region(x, query, key, head) *
           (double(float(std::numbers::log2e)) / std::numbers::log2e);
  };
  return attend(attention, sequence.spec.key.rope, args);
}

class Level1Score : public testing::TestWithParam<std::string> {};

TEST_P(Level1Score, IsItsFunction) {
  std::unique_ptr<MLIRContext> context = makeContext();
  for (const ScoreCase &score : scoreCases())
    for (const char *scheme : {"f16", "int4_min_16"}) {
      Case c = makeCase(scheme, GetParam());
      SCOPED_TRACE(c.name + ", " + score.name);
      Sequence sequence(c.spec, c.lengths, 1);
      Reference reference = referenceOf(sequence, score);
      OwningOpRef<ModuleOp> module =
          makeKernels(*context, c.spec, score.text());
      ASSERT_TRUE(module);
      for (bool placed : {false, true}) {
        SCOPED_TRACE(placed ? "placed" : "level 1");
        for (const char *name : {"decode", "prefill"}) {
          func::FuncOp kernel = kernelOf(*module, name);
          if (placed)
            ASSERT_TRUE(
                runPasses(kernel, {[] { return createPlaceFactors(); },
                                   [] { return createApplyPlacement(); }}));
          for (int64_t h = 0; h < c.spec.attention.kvHeads; ++h) {
            Sequence::Result expected = sequence.rowsOf(reference, h);
            for (double &x : expected.lse.values)
              x *= double(float(std::numbers::ln2)) / std::numbers::ln2;
            Sequence::Result got = sequence.attend(kernel, h);
            EXPECT_LE(difference(got.out, expected.out), 1e-10);
            // A constant score is folded with its factor, in f32.
            EXPECT_LE(difference(got.lse, expected.lse),
                      std::string(score.name) == "Constant" ? 1e-7 : 1e-10);
          }
        }
      }
    }
}

INSTANTIATE_TEST_SUITE_P(, Level1Score,
                         testing::Values("causal", "full", "few_keys",
                                         "odd_group", "window_sinks", "softcap",
                                         "alibi", "sink_logits"),
                         [](const auto &info) { return info.param; });

} // namespace
