//===- raw_rows_test.cpp - Rows beside the blocks of a cache --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "CacheFixture.h"

#include "kvc/Cache/Cache.h"

using namespace kvc::test;

namespace {

/// Keys in blocks of 8 tokens, values token by token.
SpecPtr segmentedSpec(const std::string &layout) {
  return parse(R"({"kvc": 1, "name": "segments",
    "attention": {"q_heads": 2, "kv_heads": 1, "head_dim": 16, "window": 50},
    "io": {"query": "f32"},
    "key": {"codec": "int8", "scale": {"tokens": 8, "channels": 1, "dtype": "f16"}},
    "value": {"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}},
    "segments": {"sink": 3, "recent": 10}, "layout": )" +
               layout + "}");
}

int64_t codedEnd(Cache &cache, kvc_sequence sequence, kvc_tensor tensor) {
  int64_t end = -1;
  EXPECT_EQ(kvc_cache_coded_end(cache.get(), sequence, tensor,
                                cache.message.get(), &end),
            KVC_OK);
  return end;
}

/// As kernels that write the reserved rows leave the sequence.
void setWritten(Cache &cache, kvc_sequence sequence) {
  kvc::Sequence *found = nullptr;
  ASSERT_EQ(cache.get()->find(sequence, cache.message.get(), found), KVC_OK);
  found->setWritten();
}

TEST(RawRows, FollowTheFlushRule) {
  SpecPtr spec = segmentedSpec(R"({"kind": "paged", "page": 8})");
  kvc_cache_options options = cacheOptions(spec.get());
  options.num_pages = 20;
  options.max_sequences = 2;
  Cache cache(options);
  kvc_sequence sequence = cache.create();
  const int64_t whole = cache.stats().raw_total;
  EXPECT_EQ(codedEnd(cache, sequence, KVC_KEY), 3);
  for (int64_t length = 1; length < 70; ++length) {
    cache.grow(sequence, 1);
    const int64_t left = std::max<int64_t>(length - 13, 0);
    EXPECT_EQ(codedEnd(cache, sequence, KVC_KEY), 3 + left / 8 * 8);
    EXPECT_EQ(codedEnd(cache, sequence, KVC_VALUE), 3 + left);
    const kvc_cache_stats stats = cache.stats();
    EXPECT_EQ(stats.used, (left + 7) / 8);
    // A page of the sink, and those that the rows behind the keys' codes touch,
    // which are at most 10 + 7.
    EXPECT_LE(stats.raw_used, 1 + 4);
    EXPECT_EQ(1 + stats.raw_used + stats.raw_free, stats.raw_total);
    const kvc_cache_view view = cache.view(sequence);
    ASSERT_NE(view.raw, nullptr);
    EXPECT_NE(view.raw->page_table[0], 0);
    EXPECT_NE(view.raw->page_table[length > 3 ? 1 + (length - 4) / 8 : 0], 0);
    if (left >= 24)
      EXPECT_EQ(view.raw->page_table[1], 0);
  }
  EXPECT_EQ(cache.free(sequence), KVC_OK);
  EXPECT_EQ(cache.stats().raw_free, whole - 1);
  EXPECT_EQ(cache.stats().used, 0);
}

/// The rows that an append codes and those that it stores may both begin and
/// end inside of pages.
TEST(RawRows, SufficeForAppendsOfAnySize) {
  SpecPtr spec = parse(R"({"kvc": 1, "name": "segments",
    "attention": {"q_heads": 1, "kv_heads": 1, "head_dim": 16},
    "io": {"query": "f16"},
    "key": {"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}},
    "value": {"codec": "f16"},
    "segments": {"sink": 3, "recent": 40}, "layout": {"kind": "paged", "page": 8}})");
  kvc_cache_options options = cacheOptions(spec.get());
  options.num_pages = 30;
  options.max_sequences = 1;
  for (int64_t first = 30; first < 70; ++first)
    for (int64_t second : {1, 7, 17, 25, 64}) {
      SCOPED_TRACE(std::to_string(first) + " + " + std::to_string(second));
      Cache cache(options);
      const kvc_sequence sequence = cache.create();
      cache.grow(sequence, first);
      cache.grow(sequence, second);
    }
}

TEST(RawRows, ARollbackRestoresTheEnds) {
  SpecPtr spec = segmentedSpec(R"({"kind": "contiguous"})");
  kvc_cache_options options = cacheOptions(spec.get());
  options.capacity_tokens = 128;
  options.max_sequences = 1;
  Cache cache(options);
  kvc_sequence sequence = cache.create();
  cache.grow(sequence, 20);
  const kvc_cache_stats before = cache.stats();
  const int64_t key = codedEnd(cache, sequence, KVC_KEY),
                value = codedEnd(cache, sequence, KVC_VALUE);
  ASSERT_EQ(cache.append({sequence}, {40}), KVC_OK) << cache.message.text;
  // The rows are not written yet.
  EXPECT_EQ(codedEnd(cache, sequence, KVC_KEY), key);
  EXPECT_EQ(kvc_cache_rollback(cache.get(), sequence, cache.message.get()),
            KVC_OK);
  EXPECT_EQ(codedEnd(cache, sequence, KVC_KEY), key);
  EXPECT_EQ(codedEnd(cache, sequence, KVC_VALUE), value);
  EXPECT_EQ(cache.stats().raw_used, before.raw_used);
  EXPECT_EQ(cache.stats().used, before.used);
  cache.grow(sequence, 40);
  EXPECT_EQ(codedEnd(cache, sequence, KVC_VALUE), 50);
}

TEST(RawRows, ARolledBackFirstAppendLeavesNothingBehind) {
  SpecPtr spec = segmentedSpec(R"({"kind": "contiguous"})");
  kvc_cache_options options = cacheOptions(spec.get());
  options.capacity_tokens = 512;
  options.max_sequences = 1;
  Cache cache(options);
  kvc_sequence sequence = cache.create();
  // The rows that stay raw are far behind those of the appends that follow.
  ASSERT_EQ(cache.append({sequence}, {400}), KVC_OK) << cache.message.text;
  EXPECT_EQ(kvc_cache_rollback(cache.get(), sequence, cache.message.get()),
            KVC_OK);
  EXPECT_EQ(cache.stats().raw_used, 0);
  for (int length = 4; length <= 400; length += 4) {
    cache.grow(sequence, 4);
    ASSERT_LE(cache.stats().raw_used, 1 + 4) << length;
  }
}

TEST(RawRows, GiveBackTheFirstPage) {
  // Without a sink the rows begin in page 0.
  for (int recent : {1, 5, 8, 20})
    for (int chunk : {1, 3, 7, 16}) {
      SpecPtr spec = parse(
          R"({"kvc": 1, "name": "segments",
          "attention": {"q_heads": 1, "kv_heads": 1, "head_dim": 16}, "io": {"query": "f32"},
          "key": {"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}},
          "value": {"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}},
          "segments": {"sink": 0, "recent": )" +
          std::to_string(recent) + R"(}, "layout": {"kind": "contiguous"}})");
      kvc_cache_options options = cacheOptions(spec.get());
      options.capacity_tokens = 256;
      options.max_sequences = 1;
      Cache cache(options);
      kvc_sequence sequence = cache.create();
      for (int length = chunk; length <= 256; length += chunk) {
        cache.grow(sequence, chunk);
        const kvc_cache_view view = cache.view(sequence);
        const int64_t raw = std::max(length - recent, 0);
        if (raw >= 64)
          ASSERT_EQ(view.raw->page_table[0], 0)
              << "recent " << recent << " chunk " << chunk;
      }
    }
}

TEST(RawRows, RunOut) {
  SpecPtr spec = segmentedSpec(R"({"kind": "contiguous"})");
  kvc_cache_options options = cacheOptions(spec.get());
  options.capacity_tokens = 1000;
  options.raw_pages = 3;
  Cache cache(options);
  kvc_sequence one = cache.create(), two = cache.create();
  cache.grow(one, 10); // A page of the sink, one of the others.
  EXPECT_EQ(cache.append({two}, {1}), KVC_OUT_OF_BLOCKS);
  EXPECT_TRUE(cache.says("append: expected 1 free pages of raw rows, got 0"))
      << cache.message.text;
  EXPECT_EQ(cache.free(one), KVC_OK);
  cache.grow(two, 1);
}

TEST(RawRows, ARingKeepsItsWindow) {
  SpecPtr spec = segmentedSpec(R"({"kind": "ring"})");
  kvc_cache_options options = cacheOptions(spec.get());
  options.capacity_tokens = 64;
  options.max_sequences = 1;
  options.max_queries = 15;
  Cache cache(options);
  kvc_sequence sequence = cache.create();
  EXPECT_EQ(cache.view(sequence).ring_tokens, 64); // Of 50 + 15 - 1.
  for (int i = 0; i < 50; ++i)
    cache.grow(sequence, 13);
  EXPECT_EQ(cache.stats().used, 1);

  // An append of max_queries written rows leaves what the window needs.
  ASSERT_EQ(cache.append({sequence}, {15}), KVC_OK) << cache.message.text;
  setWritten(cache, sequence);
  EXPECT_EQ(kvc_cache_rollback(cache.get(), sequence, cache.message.get()),
            KVC_OK);
  ASSERT_EQ(cache.append({sequence}, {60}), KVC_OK) << cache.message.text;
  EXPECT_EQ(kvc_cache_rollback(cache.get(), sequence, cache.message.get()),
            KVC_OK)
      << "nothing was written";
  ASSERT_EQ(cache.append({sequence}, {60}), KVC_OK) << cache.message.text;
  setWritten(cache, sequence);
  EXPECT_EQ(kvc_cache_rollback(cache.get(), sequence, cache.message.get()),
            KVC_UNSUPPORTED);
  EXPECT_TRUE(cache.says("sequence: expected an append that is not written"))
      << cache.message.text;
  EXPECT_EQ(kvc_cache_commit(cache.get(), sequence, 60, cache.message.get()),
            KVC_OK);

  options.max_queries = 16;
  Cache larger(options);
  EXPECT_EQ(larger.view(larger.create()).ring_tokens, 128);
}

} // namespace
