//===- reference_test.cpp - The tool's attention against the tests' own ---===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Reference.h"

#include "kvc/Test/Attention.h"
#include "kvc/Test/Inputs.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace kvc;

namespace {

/// Both references over one random batch, in which a sequence has more queries
/// than keys and another none at all.
void compare(const std::string &attention) {
  const std::string text =
      R"({"kvc": 1, "name": "x", "attention": {"q_heads": 6, "kv_heads": 2, "head_dim": 24, "value_dim": 16)" +
      attention +
      R"(}, "io": {"query": "f32"}, "key": {"codec": "f32"}, "value": {"codec": "f32"}})";
  auto parsed = spec::parseSpec(text);
  ASSERT_TRUE(parsed) << parsed.error().str();
  const test::Lengths lengths[] = {{3, 40}, {1, 1}, {0, 7}, {5, 2}, {2, 0}};
  const test::Inputs random =
      test::randomInputs(*parsed, lengths, test::InputMode::Normal, 20241);
  const test::Reference expected =
      test::attend(parsed->attention, std::nullopt,
                   {random.q, random.k, random.v, random.cuQ, random.cuKv,
                    random.slopes, random.sinks});

  BatchInputs inputs;
  inputs.queryStarts.assign(random.cuQ.begin(), random.cuQ.end());
  inputs.keyStarts.assign(random.cuKv.begin(), random.cuKv.end());
  auto valuesOf = [](const std::vector<float> &values) {
    return convert("x", values.data(), KVC_F32,
                   static_cast<int64_t>(values.size()), KVC_F32);
  };
  inputs.q = valuesOf(random.q);
  inputs.k = valuesOf(random.k);
  inputs.v = valuesOf(random.v);
  inputs.alibiSlopes = random.slopes;
  inputs.sinkLogits = random.sinks;
  const SpecHandle spec = parseSpec(text, "x");
  const Threads threads(2);
  for (const kvc_parallel_for *loop : {threads.loop(), Threads(1).loop()}) {
    const ReferenceOutputs got =
        attendInF64(specInfoOf(spec.get()), inputs, loop);
    ASSERT_EQ(got.out.size(), expected.out.size());
    for (size_t i = 0; i < got.out.size(); ++i)
      EXPECT_NEAR(got.out[i], expected.out[i], 1e-12) << i;
    ASSERT_EQ(got.lse.size(), expected.lse.size());
    for (size_t i = 0; i < got.lse.size(); ++i)
      if (got.lse[i] != expected.lse[i])
        EXPECT_NEAR(got.lse[i], expected.lse[i], 1e-12) << i;
  }
}

TEST(ToolReference, Plain) { compare(""); }
TEST(ToolReference, NoMask) { compare(R"(, "mask": "none")"); }
TEST(ToolReference, Window) { compare(R"(, "window": 5)"); }
TEST(ToolReference, WindowWithSinks) {
  compare(R"(, "window": 5, "window_sinks": 3)");
}
TEST(ToolReference, ScaleAlibiAndSoftcap) {
  compare(R"(, "scale": 0.3, "alibi": true, "softcap": 2.5)");
}
TEST(ToolReference, SinkLogits) { compare(R"(, "sink_logits": true)"); }

TEST(ToolReference, VisibleTokens) {
  kvc_spec_info spec{};
  EXPECT_EQ(visibleTokens(spec, 100, 1), 100);
  spec.window = 16;
  EXPECT_EQ(visibleTokens(spec, 100, 1), 16);
  EXPECT_EQ(visibleTokens(spec, 100, 4), 19);
  EXPECT_EQ(visibleTokens(spec, 10, 1), 10);
  spec.window_sinks = 4;
  EXPECT_EQ(visibleTokens(spec, 100, 1), 20);
  EXPECT_EQ(visibleTokens(spec, 18, 1), 18);
}

} // namespace
