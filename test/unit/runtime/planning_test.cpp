//===- planning_test.cpp - How much memory holds how many tokens ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What kvc/planning.h says is compared with tokens counted one by one, by the
// contract's words, for every append that there is; and pools of that size are
// given to managers.
//
//===----------------------------------------------------------------------===//

#include "FakeModule.h"
#include "ManagedRows.h"
#include "kvc/planning.h"

#include <random>
#include <set>

using namespace kvc::test;

namespace {

/// Groups with their specs and the options that hold them.
struct Layers {
  std::vector<SpecPtr> specs;
  std::vector<kvc_layer_group> list;
  kvc_manager_options options = {};

  Layers(const std::vector<GroupText> &groups, int64_t queries,
         uint32_t flags = KVC_MANAGER_FREE_WINDOW) {
    for (const GroupText &group : groups)
      add(group.json(), group.layers);
    options.max_queries = queries;
    options.flags = flags;
  }
  Layers() = default;

  void add(const std::string &json, int64_t layers) {
    specs.push_back(parse(json));
    list.push_back({sizeof(kvc_layer_group), specs.back().get(), layers, 0, 0});
    options.struct_size = sizeof(options);
    options.groups = list.data();
    options.num_groups = int64_t(list.size());
  }
  kvc_group_memory memory(int64_t group, int64_t tokens) const {
    kvc_group_memory result = {};
    result.struct_size = sizeof(result);
    Message message;
    EXPECT_EQ(kvc_memory_for(&options, group, tokens, message.get(), &result),
              KVC_OK)
        << message.text;
    return result;
  }
  int64_t bytes(int64_t tokens) const {
    int64_t result = -1;
    EXPECT_EQ(kvc_bytes_for(&options, tokens, nullptr, &result), KVC_OK);
    return result;
  }
  int64_t tokens(int64_t bytes) const {
    int64_t result = -1;
    EXPECT_EQ(kvc_tokens_for(&options, bytes, nullptr, &result), KVC_OK);
    return result;
  }
  kvc_status plan(int64_t bytes, int64_t tokens, int64_t sequences,
                  kvc_memory_plan &result, Message &message,
                  int64_t *blocks = nullptr, int64_t *raw = nullptr) const {
    const kvc_memory_request request = {sizeof(request), bytes, tokens,
                                        sequences};
    result = {};
    result.struct_size = sizeof(result);
    return kvc_plan_memory(&options, &request, message.get(), &result, blocks,
                           raw);
  }
};

/// CACHE.md, "State of a sequence", token by token.
struct Counted {
  const GroupText &group;
  int64_t queries;

  int64_t end(int64_t length, int64_t n) const {
    return group.sink +
           std::max<int64_t>(0, length - group.sink - group.recent) / n * n;
  }
  int64_t least(int64_t length) const {
    return std::min(end(length, group.keyTokens),
                    end(length, group.valueTokens));
  }
  int64_t most(int64_t length) const {
    return std::max(end(length, group.keyTokens),
                    end(length, group.valueTokens));
  }
  bool isFreed(int64_t block, int64_t length) const {
    if (group.window == 0)
      return false;
    for (int64_t t = group.sink + block * group.page;
         t < group.sink + (block + 1) * group.page; ++t)
      if (t >= length - group.window - queries + 1 || t >= least(length) ||
          t < group.windowSinks)
        return false;
    return true;
  }
  /// Body blocks held while an append takes the sequence from one length to
  /// another.
  int64_t body(int64_t from, int64_t to) const {
    std::set<int64_t> held;
    for (int64_t t = group.sink; t < most(to); ++t)
      if (const int64_t block = (t - group.sink) / group.page;
          !isFreed(block, from))
        held.insert(block);
    return int64_t(held.size());
  }
  int64_t raw(int64_t from, int64_t to) const {
    std::set<std::pair<bool, int64_t>> held;
    for (int64_t t = 0; t < std::min<int64_t>(group.sink, to); ++t)
      held.insert({true, t / group.page});
    for (int64_t length : {from, to})
      for (int64_t t = least(length); t < length; ++t)
        held.insert({false, (t - group.sink) / group.page});
    return int64_t(held.size());
  }
  /// Of 16 channels in int8 with f16 scales, or raw in f16, without padding.
  double rowBytes(int64_t length) const {
    double bytes = 0;
    for (int n : {group.keyTokens, group.valueTokens}) {
      for (int64_t t = group.sink; t < end(length, n); ++t)
        if (!isFreed((t - group.sink) / group.page, length))
          bytes += n > 1 ? 16 + 32.0 / n : 18;
      bytes += 32 * double(length - (end(length, n) - group.sink));
    }
    return double(group.layers) * bytes;
  }
};

std::vector<GroupText> groupsOfAllKinds() {
  std::vector<GroupText> groups;
  for (int page : {1, 4, 16})
    for (auto [sink, recent, key, value] :
         {std::array{0, 0, 1, 1}, std::array{3, 0, 1, 1},
          std::array{0, 17, 1, 1}, std::array{5, 17, 4, 1},
          std::array{3, 4, 2, 4}, std::array{20, 16, 16, 8}})
      for (auto [window, sinks] : {std::array{0, 0}, std::array{8, 0},
                                   std::array{8, 7}, std::array{21, 1}}) {
        if (std::max(key, value) > page)
          continue;
        GroupText group;
        group.page = page;
        group.sink = sink;
        group.recent = recent;
        group.keyTokens = key;
        group.valueTokens = value;
        group.window = window;
        group.windowSinks = sinks;
        group.layers = 3;
        groups.push_back(group);
      }
  return groups;
}

/// The public figures of Llama 3 8B, keys and values in f16.
constexpr const char *kLlama =
    R"({"kvc": 1, "name": "llama", "attention": {"q_heads": 32, "kv_heads": 8,
  "head_dim": 128}, "io": {"query": "f16"}, "key": {"codec": "f16"},
  "value": {"codec": "f16"}, "layout": {"kind": "paged", "page": 16}})";

} // namespace

TEST(Planning, CountsWhatEveryAppendHolds) {
  constexpr int64_t kLongest = 72;
  for (const GroupText &group : groupsOfAllKinds())
    for (int64_t queries : {1, 3, 40}) {
      const Layers layers({group}, queries);
      const Counted counted{group, queries};
      int64_t body = 0, raw = 0;
      for (int64_t to = 0; to <= kLongest; ++to) {
        for (int64_t from = std::max<int64_t>(to - queries, 0); from <= to;
             ++from) {
          body = std::max(body, counted.body(from, to));
          if (group.sink + group.recent > 0)
            raw = std::max(raw, counted.raw(from, to));
        }
        const kvc_group_memory memory = layers.memory(0, to);
        ASSERT_EQ(memory.blocks, body)
            << group.json() << queries << " up to " << to;
        ASSERT_EQ(memory.raw_blocks, raw)
            << group.json() << queries << " up to " << to;
        ASSERT_EQ(memory.bytes,
                  body * memory.block_bytes + raw * memory.raw_block_bytes);
        ASSERT_EQ(layers.bytes(to), memory.bytes);
        ASSERT_DOUBLE_EQ(memory.row_bytes, counted.rowBytes(to))
            << group.json() << to;
      }
    }
}

TEST(Planning, WindowsCountOnlyWhereTheyFree) {
  GroupText group;
  group.window = 8;
  EXPECT_EQ(Layers({group}, 1, 0).memory(0, 1000).blocks, 250);
  EXPECT_EQ(Layers({group}, 1).memory(0, 1000).blocks, 3);
}

TEST(Planning, PoolsOfThatSizeAreNeverShort) {
  std::mt19937 random(7);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const std::vector<GroupText> kinds = groupsOfAllKinds();
  for (int round = 0; round < 60; ++round) {
    std::vector<GroupText> groups;
    for (int64_t i = draw(1, 3); i > 0; --i)
      groups.push_back(kinds[size_t(draw(0, int64_t(kinds.size()) - 1))]);
    const int64_t queries = draw(1, 20), tokens = draw(1, 90),
                  sequences = draw(1, 3);
    Layers layers(groups, queries);
    std::vector<int64_t> blocks(groups.size()), raw(groups.size());
    kvc_memory_plan plan;
    Message message;
    ASSERT_EQ(layers.plan(0, tokens, sequences, plan, message, blocks.data(),
                          raw.data()),
              KVC_OK)
        << message.text;
    ManagedOptions options;
    options.groups = groups;
    for (size_t g = 0; g < groups.size(); ++g) {
      options.groups[g].blocks = blocks[g];
      options.groups[g].rawBlocks = raw[g];
    }
    options.maxQueries = queries;
    options.flags = KVC_MANAGER_FREE_WINDOW;
    ManagedRows rows(options);
    int64_t bytes = 0;
    for (int64_t i = 0; i < rows.stats().pools; ++i)
      bytes += rows.pool(i).total * rows.pool(i).block_bytes;
    EXPECT_EQ(plan.bytes, bytes);
    std::vector<kvc_sequence> all;
    std::vector<int64_t> lengths(size_t(sequences), 0);
    for (int64_t i = 0; i < sequences; ++i)
      all.push_back(rows.create());
    for (int64_t left = sequences * tokens; left > 0;) {
      const auto i = size_t(draw(0, sequences - 1));
      const int64_t count = std::min(draw(1, queries), tokens - lengths[i]);
      ASSERT_EQ(rows.grow(all[i], text(count, int32_t(lengths[i]))), KVC_OK)
          << rows.message.text;
      lengths[i] += count;
      left -= count;
    }
  }
}

TEST(Planning, TokensForIsTheInverse) {
  const std::vector<GroupText> kinds = groupsOfAllKinds();
  for (size_t i = 0; i + 1 < kinds.size(); i += 3) {
    const Layers layers({kinds[i], kinds[i + 1]}, 5);
    for (int64_t tokens = 0; tokens < 60; ++tokens) {
      const int64_t bytes = layers.bytes(tokens), more = layers.tokens(bytes);
      ASSERT_GE(more, tokens);
      ASSERT_LE(layers.bytes(more), bytes);
      if (more == INT32_MAX)
        continue;
      ASSERT_GT(layers.bytes(more + 1), bytes);
      // One byte less is never enough.
      if (bytes > 0) {
        ASSERT_LT(layers.bytes(layers.tokens(bytes - 1)), bytes);
      }
    }
  }
}

TEST(Planning, AModelByHand) {
  Layers layers;
  layers.add(kLlama, 32);
  // 2 tensors x 32 layers x 8 heads x 128 channels x 2 bytes.
  EXPECT_EQ(layers.memory(0, 1).token_bytes, 131072);
  EXPECT_EQ(layers.memory(0, 1).block_bytes, 16 * 131072);
  EXPECT_EQ(layers.bytes(8192), int64_t(8192) * 131072);
  EXPECT_EQ(layers.tokens((int64_t(1) << 30) - 1), 8192 - 16);

  constexpr int64_t kGiB = int64_t(1) << 30;
  kvc_memory_plan plan;
  Message message;
  int64_t blocks = 0, raw = -1;
  // 20480 blocks, one of which is the null block.
  ASSERT_EQ(layers.plan(40 * kGiB, 8192, 0, plan, message, &blocks, &raw),
            KVC_OK);
  EXPECT_EQ(plan.sequences, 39);
  EXPECT_EQ(plan.tokens, 8192);
  EXPECT_EQ(blocks, 39 * 512);
  EXPECT_EQ(raw, 0);
  EXPECT_EQ(plan.bytes, (39 * 512 + 1) * int64_t(2) * 1048576);
  EXPECT_EQ(plan.sequence_bytes, kGiB);
  // Half a page but half a token, on average.
  EXPECT_DOUBLE_EQ(plan.waste_bytes, 7.5 * 131072);

  ASSERT_EQ(layers.plan(40 * kGiB, 0, 10, plan, message), KVC_OK);
  EXPECT_EQ(plan.tokens, 20479 / 10 * 16);
  ASSERT_EQ(layers.plan(0, 8192, 39, plan, message), KVC_OK);
  EXPECT_EQ(plan.bytes, (39 * 512 + 1) * int64_t(2) * 1048576);
  ASSERT_EQ(layers.plan(plan.bytes, 8192, 39, plan, message), KVC_OK);
}

TEST(Planning, GroupsOfOneBlockSizeShareANullBlock) {
  GroupText full, window;
  window.window = 8;
  const Layers layers({full, window}, 1);
  kvc_memory_plan plan;
  Message message;
  ASSERT_EQ(layers.plan(0, 100, 2, plan, message), KVC_OK);
  EXPECT_EQ(plan.bytes, (2 * 25 + 2 * 3 + 1) * layers.memory(0, 1).block_bytes);
}

TEST(Planning, RefusesWhatCannotBe) {
  Layers layers;
  layers.add(kLlama, 32);
  Message message;
  kvc_memory_plan plan;
  auto says = [&](const std::string &text) {
    return std::string(message.text).find(text) != std::string::npos;
  };
  EXPECT_EQ(layers.plan(1 << 20, 0, 0, plan, message), KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(says("request: expected at least two of bytes, tokens and "
                   "sequences, got 1"))
      << message.text;
  EXPECT_EQ(layers.plan(1 << 20, 100, 0, plan, message), KVC_OUT_OF_BLOCKS);
  EXPECT_TRUE(says("request.bytes: expected 16777216 for 1 sequence of 100 "
                   "tokens, got 1048576"))
      << message.text;
  EXPECT_EQ(layers.plan(1 << 20, 0, 3, plan, message), KVC_OUT_OF_BLOCKS);
  EXPECT_TRUE(says("request.bytes: expected 8388608 for 3 sequences of 1 "
                   "token, got 1048576"))
      << message.text;
  EXPECT_EQ(layers.plan(0, INT32_MAX, INT32_MAX, plan, message),
            KVC_UNSUPPORTED);
  EXPECT_EQ(layers.plan(-1, 1, 1, plan, message), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(layers.plan(1, -1, 1, plan, message), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(layers.plan(1, 1, -1, plan, message), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(plan.bytes, 0);

  int64_t number = 0;
  EXPECT_EQ(kvc_bytes_for(&layers.options, -1, message.get(), &number),
            KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(says("tokens: expected 0 to 2147483647, got -1")) << message.text;
  EXPECT_EQ(kvc_bytes_for(&layers.options, 1, message.get(), nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_bytes_for(nullptr, 1, message.get(), &number),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_tokens_for(&layers.options, -1, message.get(), &number),
            KVC_INVALID_ARGUMENT);
  kvc_group_memory memory = {};
  memory.struct_size = sizeof(memory);
  EXPECT_EQ(kvc_memory_for(&layers.options, 1, 1, message.get(), &memory),
            KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(says("group: expected 0 to 0, got 1")) << message.text;

  layers.list[0].layers = INT64_MAX / 1000;
  EXPECT_EQ(kvc_bytes_for(&layers.options, 1, message.get(), &number),
            KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(says("options.groups[0].layers: expected blocks of fewer than "
                   "2^63 bytes"))
      << message.text;
  layers.list[0].layers = INT64_MAX / 1000000;
  EXPECT_EQ(kvc_bytes_for(&layers.options, INT32_MAX, message.get(), &number),
            KVC_UNSUPPORTED);
  layers.list[0].layers = 0;
  EXPECT_EQ(kvc_bytes_for(&layers.options, 1, message.get(), &number),
            KVC_INVALID_ARGUMENT);
  layers.list[0] = {sizeof(kvc_layer_group), nullptr, 1, 0, 0};
  EXPECT_EQ(kvc_bytes_for(&layers.options, 1, message.get(), &number),
            KVC_INVALID_ARGUMENT);
  layers.options.max_queries = -1;
  EXPECT_EQ(kvc_bytes_for(&layers.options, 1, message.get(), &number),
            KVC_INVALID_ARGUMENT);
  layers.options.flags = 64;
  EXPECT_EQ(kvc_bytes_for(&layers.options, 1, message.get(), &number),
            KVC_INVALID_ARGUMENT);

  Layers other;
  std::string contiguous = kLlama;
  contiguous.replace(contiguous.find(R"("paged", "page": 16)"), 19,
                     R"("contiguous")");
  other.add(contiguous, 1);
  EXPECT_EQ(kvc_bytes_for(&other.options, 1, message.get(), &number),
            KVC_UNSUPPORTED);
  EXPECT_TRUE(says("expected layout.kind \"paged\"")) << message.text;
}
