//===- options_test.cpp - No option changes what is computed --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Sizes of tiles and splits and prefetch distances, at the ends of their ranges
// and in the middle: the same stored bytes, and outputs within the bounds. Here
// splits of prefill merge too, which by default begin at 16384 keys.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"

#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

struct Sizes {
  const char *name;
  int64_t decodeRows, prefillRows, tileTokens, splitTokens, prefillSplitTokens,
      prefetchBytes, prefetchPages;
};

constexpr Sizes kSizes[] = {
    {"one_row", 1, 1, 0, 0, 0, 0, 0},
    {"odd_rows", 3, 7, 0, 64, 128, 0, 0},
    {"most_rows", 128, 128, 0, 0, 0, 0, 0},
    {"smallest_tiles", 0, 0, 16, 16, 16, -1, -1},
    {"small_tiles", 8, 16, 32, 64, 96, 1, 1},
    {"large_tiles", 0, 0, 128, 128, 256, 1 << 20, 64},
    {"largest_tiles", 2, 5, 256, 256, 256, 0, 0},
};

constexpr const char *kSpecs[] = {
    R"("attention": {"q_heads": 6, "kv_heads": 2, "head_dim": 64, "sink_logits": true},
       "io": {"query": "f16"},
       "key": {"codec": "int4", "zero": "min", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}},
       "value": {"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}},
       "layout": {"kind": "paged", "page": 64})",
    R"("attention": {"q_heads": 5, "kv_heads": 1, "head_dim": 40, "value_dim": 24, "window": 70, "window_sinks": 9, "alibi": true},
       "io": {"query": "bf16"},
       "key": {"codec": "int8", "zero": "code", "scale": {"tokens": 1, "channels": 8, "dtype": "bf16"}},
       "value": {"codec": "int4", "zero": "min", "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}},
       "layout": {"kind": "paged", "page": 8, "order": "hnd"})",
    R"("attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 32, "softcap": 5, "mask": "none"},
       "io": {"query": "f32"},
       "key": {"codec": "bf16"}, "value": {"codec": "f32"},
       "layout": {"order": "auto"})",
};

class Options : public testing::TestWithParam<Sizes> {};

TEST_P(Options, ChangeNoResult) {
  const Sizes &sizes = GetParam();
  const CompilerHandle compiler = createCompiler();
  for (const char *sections : kSpecs) {
    const std::string text =
        std::string(R"({"kvc": 1, "name": "options", )") + sections + "}";
    SCOPED_TRACE(text);
    const auto spec = spec::parseSpec(text);
    ASSERT_TRUE(spec) << spec.error().str();
    const Lengths lengths[] = {{1, 300}, {40, 300}, {3, 17}, {0, 5}, {70, 70}};
    const Inputs inputs = randomInputs(*spec, lengths, InputMode::Normal, 3);
    const Answer expected = answer(*spec, inputs);
    const std::string target = "host";
    kvc_compile_options options = testOptionsFor(target);
    options.decode_rows = sizes.decodeRows;
    options.prefill_rows = sizes.prefillRows;
    options.tile_tokens = sizes.tileTokens;
    options.split_tokens = sizes.splitTokens;
    options.prefill_split_tokens = sizes.prefillSplitTokens;
    options.prefetch_bytes = sizes.prefetchBytes;
    options.prefetch_pages = sizes.prefetchPages;
    const Engine engine(compiler.get(), text, "options", options);
    const Session session(engine, *spec, inputs, RowOrder::Dense, 0);
    EXPECT_EQ(wrongStored(*spec, session, engine, expected),
              std::vector<std::string>());
    EXPECT_EQ(
        wrongAttended(*spec, inputs, session.attend(engine, nullptr), expected),
        std::vector<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Options, testing::ValuesIn(kSizes),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
