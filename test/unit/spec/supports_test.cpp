//===- supports_test.cpp - What is refused by name ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "SpecText.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::spec;

namespace {

TEST(SupportsTest, Runs) {
  for (
      const char *patch : {
          "{}",
          R"({"key": {"codec": "f16", "scale": null}, "value": {"codec": "bf16", "scale": null}})",
          R"({"key": {"codec": "f32", "scale": null}, "io": {"query": "f32"}})",
          R"({"key": {"codec": "int8", "zero": "min", "scale": {"dtype": "bf16", "channels": 32}}})",
          R"({"key": {"codec": "int4", "zero": "code", "scale": {"dtype": "f32", "channels": 1}}})",
          // Values decide, not keys.
          R"({"key": {"round": "even", "estimate": "amax", "codes_from": "stored", "clip": 1, "smooth": false, "scale": {"static": false}}})",
          R"({"key": {"rotate": 8}, "value": {"codec": "f16", "scale": null, "rotate": 128}})",
          R"({"key": {"codec": null, "scale": null, "parts": [{"channels": [0, 128], "codec": "f16"}]}})",
          R"({"key": {"codec": null, "scale": null, "parts": [{"channels": [0, 64], "codec": "f16"}, {"channels": [64, 128], "codec": "f16", "smooth": true}]}})",
          R"({"attention": {"value_is_key": "all"}, "value": null})",
          R"({"key": {"scale": {"channels": 32}}, "value": {"scale": {"channels": 32}}, "layout": {"order": "ggml"}})",
          R"({"layout": {"order": "token"}})",
          R"({"key": {"codec": "lut", "table": {"bits": 4}}, "value": {"smooth": true}})",
          R"({"key": {"scale": {"static": true, "tokens": "all"}}})",
          R"({"key": {"rope": {"style": "half", "dims": 64}}})",
          R"({"key": {"codec": null, "scale": null, "parts": [{"channels": [0, 64], "codec": "f16"}, {"channels": [64, 128], "codec": "f16"}], "rope": {"style": "half", "dims": 32, "offset": 96}}})",
          R"({"key": {"codec": null, "scale": null, "parts": [{"channels": [0, 64], "codec": "f16"}, {"channels": [64, 128], "codec": "f16"}], "rope": {"style": "half", "dims": 34, "offset": 32}}})",
          R"({"value": {"outliers": 1}})",
          R"({"segments": {"sink": 0, "recent": 0}, "layout": {"kind": "contiguous", "order": "hnd"}})",
          R"({"layout": {"kind": "paged", "page": 1, "order": "nhd", "interleaved": true}})",
          R"({"attention": {"window": 8, "window_sinks": 2, "softcap": 20, "alibi": true, "sink_logits": true}})",
          R"({"attention": {"mask": "none", "head_dim": 576, "value_dim": 16}})",
          R"({"key": {"scale": {"tokens": 8}}, "segments": {"recent": 8}})",
          R"({"segments": {"sink": 1}})",
          R"({"attention": {"window": 8}, "layout": {"kind": "ring"}})",
      }) {
    Spec spec = test::parsePatched(patch);
    EXPECT_EQ(unsupportedReason(spec), nullptr)
        << patch << ": " << unsupportedReason(spec);
  }
}

TEST(SupportsTest, AnswersFast) {
  Spec spec = test::parsePatched("{}");
  using Seconds = std::chrono::duration<double>;
  // The best of many short batches: other programs' time does not count.
  double best = 1;
  uintptr_t sum = 0;
  for (int batch = 0; batch < 50; ++batch) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
      spec.attention.qHeads = 32 + (i & 1);
      sum += uintptr_t(unsupportedReason(spec));
    }
    best = std::min(best,
                    Seconds(std::chrono::steady_clock::now() - begin).count());
  }
  EXPECT_EQ(sum, 0u);
  EXPECT_LT(best / 1000, 1e-6);
}

} // namespace
