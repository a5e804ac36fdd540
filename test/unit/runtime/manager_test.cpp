//===- manager_test.cpp - The scenarios of the cache's contract -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Those of S1 to S26 that are bookkeeping; ManagedRows moves the rows and
// verifies the invariants after every call.
//
//===----------------------------------------------------------------------===//

#include "ManagedRows.h"

#include <algorithm>
#include <cstring>

using namespace kvc::test;

//===----------------------------------------------------------------------===//
// Lifetime
//===----------------------------------------------------------------------===//

TEST(Manager, S1FreeTheSameHandleTwiceInOneList) {
  ManagedRows rows(plain(8));
  const kvc_sequence one = rows.create(), two = rows.create();
  ASSERT_EQ(rows.grow(one, text(9)), KVC_OK);
  ASSERT_EQ(rows.grow(two, text(5, 100)), KVC_OK);
  for (kvc_sequence sequence : {one, two, one})
    EXPECT_EQ(rows.free(sequence), sequence == one &&
                                           rows.stats().sequences < 2 &&
                                           rows.pool().used == 0
                                       ? KVC_STALE
                                       : KVC_OK);
  rows.expectAllFree();
}

TEST(Manager, S2FreeTwiceThenTakeTwoThatDiffer) {
  ManagedRows rows(plain(8));
  const kvc_sequence old = rows.create();
  ASSERT_EQ(rows.grow(old, text(4)), KVC_OK);
  EXPECT_EQ(rows.free(old), KVC_OK);
  EXPECT_EQ(rows.free(old), KVC_STALE);
  const kvc_sequence one = rows.create(), two = rows.create();
  EXPECT_NE(one, two);
  ASSERT_EQ(rows.grow(one, text(4)), KVC_OK);
  ASSERT_EQ(rows.grow(two, text(4)), KVC_OK);
  EXPECT_NE(rows.body(one)[0], rows.body(two)[0]);
}

TEST(Manager, S3AppendThatNeedsFiveWithThreeFree) {
  ManagedRows rows(plain(8));
  const kvc_sequence one = rows.create(), two = rows.create();
  ASSERT_EQ(rows.grow(one, text(20)), KVC_OK);
  EXPECT_EQ(rows.pool().free, 3);
  // ManagedRows compares the digest.
  EXPECT_EQ(rows.append(two, text(17)), KVC_OUT_OF_BLOCKS);
  EXPECT_TRUE(rows.says("append: expected 5 free blocks of pool 0, got 3"))
      << rows.message.text;
  EXPECT_EQ(rows.append({{one, text(9, 21), {}}, {two, text(4), {}}}),
            KVC_OUT_OF_BLOCKS)
      << "together too many";
  EXPECT_EQ(rows.append({{one, text(8, 21), {}}, {two, text(4), {}}}), KVC_OK);
}

TEST(Manager, S3FailsInEveryGroupAtOnce) {
  ManagedOptions options = plain(100);
  GroupText small;
  small.sink = 2;
  small.recent = 4;
  small.blocks = 2;
  small.layers = 2; // A pool of its own.
  options.groups.push_back(small);
  ManagedRows rows(options);
  const kvc_sequence one = rows.create();
  EXPECT_EQ(rows.append(one, text(60)), KVC_OUT_OF_BLOCKS);
  EXPECT_EQ(rows.append(one, text(14)), KVC_OK) << rows.message.text;
}

TEST(Manager, S4TwoSequencesComputeOnePrefix) {
  ManagedRows rows(plain(8));
  const kvc_sequence one = rows.create(), two = rows.create();
  ASSERT_EQ(rows.grow(one, text(9)), KVC_OK);
  ASSERT_EQ(rows.grow(two, text(9)), KVC_OK);
  const std::vector<int32_t> before = rows.body(two);
  const kvc_prefix first = rows.publish(one), second = rows.publish(two);
  EXPECT_EQ(first.length, 8);
  EXPECT_EQ(std::memcmp(&first, &second, sizeof(first)), 0)
      << "a second publish gives the first's handle";
  EXPECT_EQ(rows.stats().entries, 2);
  EXPECT_EQ(rows.pin(second), KVC_OK);
  EXPECT_EQ(rows.unpin(first), KVC_OK);
  EXPECT_EQ(rows.unpin(first), KVC_STALE);
  const kvc_sequence three = rows.create();
  ASSERT_EQ(rows.grow(three, text(8, 100)), KVC_OK);
  std::vector<int32_t> all = rows.body(one);
  for (kvc_sequence sequence : {two, three})
    for (int32_t block : rows.body(sequence))
      all.push_back(block);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_EQ(rows.body(two), before);
  rows.verify(one);
  rows.verify(two);
}

TEST(Manager, S5AForkTreeGoesInEveryOrder) {
  std::array<int, 5> order = {0, 1, 2, 3, 4};
  do {
    for (const ManagedOptions &options : {layouts()[0], layouts()[4]}) {
      ManagedRows rows(options);
      std::array<kvc_sequence, 5> tree{};
      tree[0] = rows.create();
      ASSERT_EQ(rows.grow(tree[0], text(22)), KVC_OK);
      ASSERT_EQ(rows.fork(tree[0], 19, tree[1]), KVC_OK) << rows.message.text;
      ASSERT_EQ(rows.fork(tree[0], 22, tree[2]), KVC_OK);
      ASSERT_EQ(rows.grow(tree[1], text(5, 50)), KVC_OK);
      ASSERT_EQ(rows.fork(tree[1], 24, tree[3]), KVC_OK);
      ASSERT_EQ(rows.fork(tree[3], 3, tree[4]), KVC_OK);
      ASSERT_EQ(rows.grow(tree[3], text(3, 70)), KVC_OK);
      for (int next : order) {
        for (kvc_sequence sequence : tree)
          if (sequence)
            rows.verify(sequence);
        ASSERT_EQ(rows.free(tree[size_t(next)]), KVC_OK);
        tree[size_t(next)] = 0;
      }
      rows.expectAllFree();
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Manager, S6ForkInsideAPageAndAppendToBoth) {
  for (const ManagedOptions &options : layouts()) {
    ManagedRows rows(options);
    const kvc_sequence parent = rows.create();
    kvc_sequence child = 0;
    ASSERT_EQ(rows.grow(parent, text(6)), KVC_OK);
    ASSERT_EQ(rows.fork(parent, 6, child), KVC_OK) << rows.message.text;
    const int64_t shared = rows.pool().used;
    ASSERT_EQ(rows.grow(parent, text(3, 50)), KVC_OK);
    ASSERT_EQ(rows.grow(child, text(2, 90)), KVC_OK);
    EXPECT_GE(rows.pool().used, shared);
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(rows.grow(parent, text(1, 200 + i)), KVC_OK);
      ASSERT_EQ(rows.grow(child, text(1, 300 + i)), KVC_OK);
      rows.verify(parent);
      rows.verify(child);
    }
  }
}

TEST(Manager, S7ForkOnPageBordersAndAppendToBoth) {
  ManagedRows rows(plain(16));
  const kvc_sequence parent = rows.create();
  kvc_sequence four = 0, eight = 0;
  ASSERT_EQ(rows.grow(parent, text(8)), KVC_OK);
  ASSERT_EQ(rows.fork(parent, 4, four), KVC_OK);
  ASSERT_EQ(rows.fork(parent, 8, eight), KVC_OK);
  EXPECT_EQ(rows.pool().used, 2);
  // Whole pages are not copied.
  ASSERT_EQ(rows.append({{four, text(2, 50), {}}, {eight, text(2, 60), {}}}),
            KVC_OK);
  EXPECT_EQ(rows.pool().used, 4);
  ASSERT_EQ(rows.commit(four, 2), KVC_OK);
  ASSERT_EQ(rows.commit(eight, 2), KVC_OK);
  ASSERT_EQ(rows.grow(parent, text(2, 70)), KVC_OK);
  for (kvc_sequence sequence : {parent, four, eight})
    rows.verify(sequence);
}

TEST(Manager, S8TruncateKeepsPublishedBlocks) {
  ManagedRows rows(plain(8));
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(9)), KVC_OK);
  const std::vector<int32_t> before = rows.body(one);
  EXPECT_EQ(rows.publish(one).length, 8);
  ASSERT_EQ(rows.truncate(one, 8), KVC_OK);
  EXPECT_EQ(rows.pool().used, 2);
  ASSERT_EQ(rows.truncate(one, 4), KVC_OK);
  EXPECT_EQ(rows.pool().cached, 1);
  ASSERT_EQ(rows.truncate(one, 0), KVC_OK);
  EXPECT_EQ(rows.pool().cached, 2);
  EXPECT_EQ(rows.match(text(9), 9).length, 8);
  ASSERT_EQ(rows.grow(one, text(4)), KVC_OK);
  EXPECT_EQ(std::count(before.begin(), before.begin() + 2, rows.body(one)[0]),
            0);
  EXPECT_EQ(rows.match(text(9), 9).length, 8);
  // Inside of a published block: the next append copies it.
  const kvc_sequence two = rows.create();
  ASSERT_EQ(rows.adopt(two, rows.match(text(9), 9), text(9)), KVC_OK);
  ASSERT_EQ(rows.truncate(two, 6), KVC_OK);
  ASSERT_EQ(rows.grow(two, text(1, 70)), KVC_OK);
  EXPECT_NE(rows.body(two)[1], before[1]);
  rows.verify(two);
  EXPECT_EQ(rows.match(text(9), 9).length, 8);
}

//===----------------------------------------------------------------------===//
// Prefixes
//===----------------------------------------------------------------------===//

TEST(Manager, S9PromptsOfWholePagesRepeated) {
  for (int recent : {0, 3})
    for (int64_t length : {4, 8, 9, 20}) {
      ManagedOptions options = plain(20);
      options.groups[0].recent = recent;
      ManagedRows rows(options);
      const Tokens prompt = text(length);
      const kvc_sequence cold = rows.create();
      ASSERT_EQ(rows.grow(cold, prompt), KVC_OK);
      rows.publish(cold);
      const kvc_prefix hit = rows.match(prompt, length);
      EXPECT_LT(hit.length, length) << "a query is left to compute";
      EXPECT_LE(hit.length + std::max(recent, 1), length);
      const kvc_sequence warm = rows.create();
      if (hit.length)
        ASSERT_EQ(rows.adopt(warm, hit, prompt), KVC_OK);
      ASSERT_EQ(
          rows.grow(warm, Tokens(prompt.begin() + hit.length, prompt.end())),
          KVC_OK);
      rows.verify(warm);
      EXPECT_EQ(rows.stored(warm), rows.stored(cold)) << "I9";
      EXPECT_EQ(rows.state(warm).key_coded_end, rows.state(cold).key_coded_end);
    }
}

TEST(Manager, S9InEveryLayout) {
  for (const ManagedOptions &options : layouts())
    for (int64_t length = 1; length <= 60; length += length < 20 ? 1 : 5) {
      ManagedRows rows(options);
      const Tokens prompt = text(length);
      const kvc_sequence cold = rows.create(), warm = rows.create();
      ASSERT_EQ(rows.grow(cold, prompt), KVC_OK);
      rows.publish(cold);
      const kvc_prefix hit = rows.match(prompt, length);
      if (hit.length)
        ASSERT_EQ(rows.adopt(warm, hit, prompt), KVC_OK) << rows.message.text;
      rows.verify(warm);
      ASSERT_EQ(
          rows.grow(warm, Tokens(prompt.begin() + hit.length, prompt.end())),
          KVC_OK);
      rows.verify(warm);
      for (size_t g = 0; g < options.groups.size(); ++g)
        ASSERT_EQ(rows.stored(warm, int64_t(g)), rows.stored(cold, int64_t(g)))
            << "I9, " << length << " tokens";
    }
}

TEST(Manager, S10TheSamePromptTwiceInOneBatch) {
  ManagedRows rows(plain(16));
  const kvc_sequence one = rows.create(), two = rows.create();
  const int64_t step = rows.beginStep();
  ASSERT_EQ(rows.append({{one, text(9), {}}, {two, text(9), {}}}), KVC_OK);
  ASSERT_EQ(rows.commit(one, 9), KVC_OK);
  const kvc_prefix own = rows.publish(one);
  EXPECT_EQ(own.length, 8);
  EXPECT_EQ(rows.match(text(9), 9).length, 0) << "not computed yet";
  const kvc_sequence three = rows.create();
  EXPECT_EQ(rows.adopt(three, own, text(9)), KVC_WAIT);
  ASSERT_EQ(rows.commit(two, 9), KVC_OK);
  ASSERT_EQ(rows.endStep(step), KVC_OK);
  EXPECT_EQ(rows.match(text(9), 9).length, 8);
  EXPECT_EQ(rows.adopt(three, own, text(9)), KVC_OK);
  EXPECT_EQ(rows.retire(step), KVC_OK);
}

TEST(Manager, S11AHashThatAlwaysCollides) {
  for (ManagedOptions options : layouts()) {
    options.hash = [](void *, const void *, size_t, uint8_t *digest) {
      std::memset(digest, 7, 32);
    };
    ManagedRows rows(options);
    const Tokens prompts[] = {text(40), text(40, 500),
                              joined(text(20), text(20, 900)),
                              joined(text(20, 500), text(20, 21))};
    std::vector<kvc_sequence> sequences;
    for (const Tokens &prompt : prompts) {
      sequences.push_back(rows.create());
      ASSERT_EQ(rows.grow(sequences.back(), prompt), KVC_OK)
          << rows.message.text;
      rows.publish(sequences.back());
    }
    for (const Tokens &prompt : prompts) {
      const kvc_prefix hit = rows.match(prompt, 40);
      EXPECT_GT(hit.length, 15);
      const kvc_sequence warm = rows.create();
      ASSERT_EQ(rows.adopt(warm, hit, prompt), KVC_OK);
      rows.verify(warm);
      ASSERT_EQ(rows.free(warm), KVC_OK);
    }
    EXPECT_EQ(rows.match(text(40, 2), 40).length, 0);
  }
}

static void checkNamespaces(const ManagedOptions &options) {
  ManagedRows rows(options);
  auto name = [](const char *salt, const char *adapter) {
    kvc_namespace result = {};
    result.struct_size = sizeof(result);
    result.salt = salt;
    result.salt_size = salt ? std::strlen(salt) : 0;
    result.adapter = adapter;
    result.adapter_size = adapter ? std::strlen(adapter) : 0;
    return result;
  };
  const kvc_namespace adapterX = name(nullptr, "X"), saltX = name("X", nullptr),
                      saltA = name("A", nullptr), saltB = name("B", nullptr);
  const kvc_sequence one = rows.create(), two = rows.create();
  ASSERT_EQ(rows.grow(one, text(9)), KVC_OK);
  ASSERT_EQ(rows.grow(two, text(9)), KVC_OK);
  rows.publish(one, &adapterX);
  rows.publish(two, &saltA);
  EXPECT_EQ(rows.match(text(9), 9, &saltX).length, 0);
  EXPECT_EQ(rows.match(text(9), 9, &adapterX).length, 8);
  EXPECT_EQ(rows.match(text(9), 9, &saltB).length, 0);
  EXPECT_EQ(rows.match(text(9), 9, &saltA).length, 8);
  EXPECT_EQ(rows.match(text(9), 9).length, 0);
  kvc_prefix prefix = {};
  EXPECT_EQ(kvc_manager_publish(rows.get(), one, text(9).data(), 9, &saltA,
                                rows.message.get(), &prefix),
            KVC_INVALID_ARGUMENT)
      << "the block is another namespace's entry";
  // Neither is one byte string another's beginning.
  const kvc_namespace split = name("A", "B");
  kvc_namespace whole = name("A1:B", nullptr);
  EXPECT_EQ(rows.match(text(9), 9, &split).length, 0);
  EXPECT_EQ(rows.match(text(9), 9, &whole).length, 0);
}

TEST(Manager, S12NamespacesAreTyped) {
  ManagedOptions options = plain(16);
  checkNamespaces(options);
  options.hash = [](void *, const void *, size_t, uint8_t *digest) {
    std::memset(digest, 7, 32);
  };
  checkNamespaces(options);
}

TEST(Manager, S13EvictedPrefixesAreNotFound) {
  ManagedRows rows(plain(4));
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(13)), KVC_OK);
  const kvc_prefix old = rows.publish(one);
  EXPECT_EQ(old.length, 12);
  ASSERT_EQ(rows.free(one), KVC_OK);
  EXPECT_EQ(rows.pool().cached, 3);
  EXPECT_EQ(rows.evict(0, 1), 1);
  EXPECT_EQ(rows.match(text(13), 13).length, 8) << "the end of the chain goes";
  const kvc_sequence two = rows.create();
  ASSERT_EQ(rows.grow(two, text(13, 100)), KVC_OK);
  EXPECT_EQ(rows.match(text(13), 13).length, 0);
  EXPECT_EQ(rows.adopt(rows.create(), old, text(13)), KVC_STALE);
  EXPECT_EQ(rows.pin(old), KVC_STALE);
  rows.publish(two);
  EXPECT_EQ(rows.match(text(13), 13).length, 0);
  EXPECT_EQ(rows.match(text(13, 100), 13).length, 12);
}

TEST(Manager, S24HandlesOfOlderEntriesAreStale) {
  ManagedRows rows(plain(2));
  kvc_prefix handles[3];
  for (int i = 0; i < 3; ++i) {
    const kvc_sequence one = rows.create();
    ASSERT_EQ(rows.grow(one, text(5, 100 * i)), KVC_OK);
    handles[i] = rows.publish(one);
    ASSERT_EQ(rows.free(one), KVC_OK);
    EXPECT_EQ(rows.evict(0, i < 2), i < 2);
  }
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(rows.adopt(rows.create(), handles[i], text(5, 100 * i)),
              KVC_STALE);
  const kvc_sequence last = rows.create();
  EXPECT_EQ(rows.adopt(last, handles[2], text(5, 200)), KVC_OK);
  // Made up ones are refused, whatever they say.
  kvc_prefix made = handles[2];
  made.length = 3;
  for (int64_t length : {int64_t(0), int64_t(-4), int64_t(5), INT64_MAX}) {
    made.length = length;
    EXPECT_EQ(rows.adopt(rows.create(), made, text(5)), KVC_INVALID_ARGUMENT);
  }
  made.length = 4;
  made.entries[0] |= 0xFFFFFFFFu;
  EXPECT_EQ(rows.adopt(rows.create(), made, text(5)), KVC_STALE);
}

//===----------------------------------------------------------------------===//
// Windows, drafts, cuts
//===----------------------------------------------------------------------===//

TEST(Manager, S14AWindowFreesWhatNoQuerySees) {
  for (int chunk : {1, 3, 5, 16})
    for (int sink : {0, 4}) {
      ManagedOptions options = plain(40);
      options.groups[0].window = 8;
      options.groups[0].windowSinks = 4;
      options.groups[0].sink = sink;
      options.flags = KVC_MANAGER_FREE_WINDOW;
      options.maxQueries = chunk;
      ManagedRows rows(options);
      const kvc_sequence one = rows.create();
      std::vector<int64_t> steps;
      for (int length = 0; length < 48; length += chunk) {
        steps.push_back(rows.beginStep());
        ASSERT_EQ(rows.append(one, text(chunk, length + 1)), KVC_OK);
        rows.attend(one);
        ASSERT_EQ(rows.commit(one, chunk), KVC_OK);
        ASSERT_EQ(rows.endStep(steps.back()), KVC_OK);
        rows.verify(one);
        // Two steps in flight; what the older one reads stays.
        if (steps.size() > 2)
          ASSERT_EQ(rows.retire(steps[steps.size() - 3]), KVC_OK);
      }
      for (size_t i = steps.size() - 2; i < steps.size(); ++i)
        ASSERT_EQ(rows.retire(steps[i]), KVC_OK);
      // The window, one chunk, and what does not fill a page; visible sinks.
      EXPECT_LE(rows.pool().used, (8 + chunk) / 4 + 2 + (sink == 0));
      int64_t nearest = -1;
      EXPECT_EQ(rows.truncate(one, 12, &nearest), KVC_INEXACT_POSITION);
      EXPECT_EQ(nearest, 0);
      ASSERT_EQ(rows.truncate(one, 0), KVC_OK);
      ASSERT_EQ(rows.free(one), KVC_OK);
      rows.expectAllFree();
    }
}

TEST(Manager, BehindAWindowTheLastBlockIsEvictedFirst) {
  ManagedOptions options = plain(40);
  options.groups[0].window = 8;
  options.flags = KVC_MANAGER_FREE_WINDOW;
  ManagedRows rows(options);
  const kvc_sequence one = rows.create();
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(rows.grow(one, text(4, 4 * i)), KVC_OK);
    rows.publish(one);
  }
  const int64_t cached = rows.pool().cached;
  ASSERT_GT(cached, 4);
  EXPECT_EQ(rows.evict(0, 1), 1);
  EXPECT_EQ(rows.pool().cached, cached - 1);
  EXPECT_EQ(rows.match(text(41, 0), 41).length, 4 * (cached - 1));
}

TEST(Manager, S14WarmInAWindowHoldsItsBlocksOnly) {
  ManagedOptions options = plain(40);
  options.groups[0].window = 8;
  options.flags = KVC_MANAGER_FREE_WINDOW;
  options.groups.push_back(GroupText());
  options.groups[1].blocks = 40;
  options.groups[1].layers = 2;
  ManagedRows rows(options);
  const kvc_sequence one = rows.create();
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(rows.grow(one, text(4, 4 * i)), KVC_OK);
    rows.publish(one);
  }
  ASSERT_EQ(rows.free(one), KVC_OK);
  EXPECT_EQ(rows.pool(0).cached, 10);
  const Tokens prompt = text(41, 0);
  const kvc_prefix hit = rows.match(prompt, 41);
  EXPECT_EQ(hit.length, 40);
  const kvc_sequence two = rows.create();
  ASSERT_EQ(rows.adopt(two, hit, prompt), KVC_OK);
  EXPECT_EQ(rows.pool(0).used, 2);
  EXPECT_EQ(rows.pool(1).used, 10);
  rows.verify(two);
  // Blocks that no one holds can be evicted although some follow that are held.
  EXPECT_EQ(rows.evict(0, 100), 8);
  rows.verify(two);
  ASSERT_EQ(rows.grow(two, text(6, 900)), KVC_OK);
  rows.verify(two);
}

TEST(Manager, S15DraftsAcrossAFlush) {
  for (ManagedOptions options : layouts()) {
    GroupText flush;
    flush.recent = 4;
    flush.keyTokens = 4;
    flush.blocks = 40;
    options.groups.push_back(flush);
    for (int64_t length = 1; length < 30; length += 3) {
      ManagedRows drafted(options), straight(options);
      const kvc_sequence one = drafted.create(), same = straight.create();
      ASSERT_EQ(drafted.grow(one, text(length)), KVC_OK);
      ASSERT_EQ(straight.grow(same, text(length)), KVC_OK);
      ASSERT_EQ(drafted.append(one, {}, text(9, 700)), KVC_OK);
      ASSERT_EQ(drafted.rollback(one), KVC_OK);
      drafted.verify(one);
      ASSERT_EQ(drafted.append(one, text(2, 40), text(6, 700)), KVC_OK);
      ASSERT_EQ(drafted.commit(one, 2), KVC_OK);
      drafted.verify(one);
      ASSERT_EQ(straight.grow(same, text(2, 40)), KVC_OK);
      for (size_t g = 0; g < options.groups.size(); ++g) {
        EXPECT_EQ(drafted.stored(one, int64_t(g)),
                  straight.stored(same, int64_t(g)));
        EXPECT_EQ(drafted.pool(int64_t(g)).used,
                  straight.pool(int64_t(g)).used);
      }
      // Accepted drafts are coded by the next append.
      ASSERT_EQ(drafted.append(one, text(1, 42), text(6, 43)), KVC_OK);
      ASSERT_EQ(drafted.commit(one, 4), KVC_OK);
      drafted.verify(one);
      ASSERT_EQ(drafted.grow(one, text(10, 46)), KVC_OK);
      ASSERT_EQ(straight.grow(same, text(14, 42)), KVC_OK);
      for (size_t g = 0; g < options.groups.size(); ++g)
        EXPECT_EQ(drafted.stored(one, int64_t(g)),
                  straight.stored(same, int64_t(g)));
    }
  }
}

TEST(Manager, S16CutsAtEveryPosition) {
  ManagedOptions options = plain(40);
  options.groups[0].sink = 3;
  options.groups[0].recent = 5;
  options.groups[0].keyTokens = 4;
  for (int64_t length : {0, 2, 3, 9, 12, 23, 30})
    for (int64_t position = 0; position <= length; ++position) {
      ManagedRows rows(options);
      const kvc_sequence one = rows.create();
      ASSERT_EQ(rows.grow(one, text(length)), KVC_OK);
      const int64_t end = rows.state(one).key_coded_end;
      kvc_sequence child = 0;
      int64_t nearest = -1;
      const bool isExact =
          position <= 3 || position >= end || (position - 3) % 4 == 0;
      const kvc_status status = rows.fork(one, position, child, &nearest);
      EXPECT_EQ(rows.truncate(one, position), status);
      if (!isExact) {
        EXPECT_EQ(status, KVC_INEXACT_POSITION) << position;
        EXPECT_EQ(nearest, position - (position - 3) % 4);
        continue;
      }
      ASSERT_EQ(status, KVC_OK) << rows.message.text;
      rows.verify(child);
      rows.verify(one);
      ASSERT_EQ(rows.grow(child, text(20, 60)), KVC_OK);
      ASSERT_EQ(rows.grow(one, text(20, 90)), KVC_OK);
      rows.verify(child);
      rows.verify(one);
    }
}

//===----------------------------------------------------------------------===//
// Retention and steps
//===----------------------------------------------------------------------===//

TEST(Manager, S18APinEndsByItself) {
  ManagedRows rows(plain(4));
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(9)), KVC_OK);
  const kvc_prefix prefix = rows.publish(one);
  EXPECT_EQ(rows.pin(prefix, 50, 10), KVC_OK);
  ASSERT_EQ(rows.free(one), KVC_OK);
  EXPECT_EQ(rows.pool().pinned, 2);
  EXPECT_EQ(rows.setTime(9), KVC_OK);
  EXPECT_EQ(rows.pool().pinned, 2);
  EXPECT_EQ(rows.setTime(8), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.setTime(10), KVC_OK);
  EXPECT_EQ(rows.pool().cached, 2);
  EXPECT_EQ(rows.unpin(prefix), KVC_STALE);
  ASSERT_EQ(rows.grow(rows.create(), text(16, 100)), KVC_OK);
}

TEST(Manager, S19EverythingPinned) {
  ManagedRows rows(plain(4));
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(16)), KVC_OK);
  const kvc_prefix prefix = rows.publish(one);
  EXPECT_EQ(rows.pin(prefix), KVC_OK);
  EXPECT_EQ(rows.pin(prefix), KVC_OK);
  ASSERT_EQ(rows.free(one), KVC_OK);
  const kvc_sequence two = rows.create();
  EXPECT_EQ(rows.append(two, text(1)), KVC_OUT_OF_BLOCKS);
  EXPECT_EQ(rows.evict(0, 4), 0);
  EXPECT_EQ(rows.unpin(prefix), KVC_OK);
  EXPECT_EQ(rows.append(two, text(1)), KVC_OUT_OF_BLOCKS) << "pinned twice";
  EXPECT_EQ(rows.unpin(prefix), KVC_OK);
  EXPECT_EQ(rows.append(two, text(16, 100)), KVC_OK);
}

TEST(Manager, WhatAStepReadsStaysWhileItIsInFlight) {
  // What a step in flight reads is neither given away nor written, whatever
  // happens to its sequences.
  ManagedRows rows(plain(6));
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(16)), KVC_OK);
  const int64_t step = rows.beginStep();
  ASSERT_EQ(rows.append(one, text(1, 50)), KVC_OK);
  rows.attend(one);
  ASSERT_EQ(rows.commit(one, 1), KVC_OK);
  ASSERT_EQ(rows.endStep(step), KVC_OK);
  ASSERT_EQ(rows.free(one), KVC_OK);
  EXPECT_EQ(rows.pool().quarantined, 5);
  const kvc_sequence two = rows.create();
  EXPECT_EQ(rows.append(two, text(8, 100)), KVC_WAIT);
  EXPECT_EQ(rows.append(two, text(25, 100)), KVC_OUT_OF_BLOCKS);
  EXPECT_EQ(rows.append(two, text(4, 100)), KVC_OK);
  ASSERT_EQ(rows.commit(two, 4), KVC_OK);
  EXPECT_EQ(rows.retire(step), KVC_OK);
  EXPECT_EQ(rows.pool().quarantined, 0);
  EXPECT_EQ(rows.grow(two, text(20, 200)), KVC_OK);
}

TEST(Manager, CachedBlocksWaitForTheirReaders) {
  ManagedRows rows(plain(4));
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(16)), KVC_OK);
  rows.publish(one);
  const int64_t first = rows.beginStep();
  rows.attend(one);
  ASSERT_EQ(rows.endStep(first), KVC_OK);
  ASSERT_EQ(rows.free(one), KVC_OK);
  EXPECT_EQ(rows.pool().cached, 4);
  const kvc_sequence two = rows.create();
  EXPECT_EQ(rows.append(two, text(4, 100)), KVC_WAIT);
  EXPECT_EQ(rows.match(text(16), 17).length, 16) << "nothing was evicted";
  // Evicted on purpose, they are quarantined.
  EXPECT_EQ(rows.evict(0, 1), 1);
  EXPECT_EQ(rows.pool().quarantined, 1);
  EXPECT_EQ(rows.retire(first), KVC_OK);
  EXPECT_EQ(rows.append(two, text(8, 100)), KVC_OK);
  EXPECT_EQ(rows.pool().cached, 2);
}

TEST(Manager, EvictionLeavesWhatIsStillRead) {
  ManagedOptions options = plain(3);
  options.policy = policy("cost");
  ManagedRows rows(options);
  const kvc_sequence one = rows.create(), two = rows.create();
  ASSERT_EQ(rows.grow(one, text(4)), KVC_OK);
  rows.publish(one);
  const int64_t step = rows.beginStep();
  rows.attend(one);
  ASSERT_EQ(rows.endStep(step), KVC_OK);
  ASSERT_EQ(rows.free(one), KVC_OK);
  // The second ends later, so it is dearer, but no step reads it.
  kvc_sequence child = 0;
  ASSERT_EQ(rows.grow(two, text(8, 100)), KVC_OK);
  rows.publish(two);
  ASSERT_EQ(rows.fork(two, 0, child), KVC_OK);
  ASSERT_EQ(rows.free(two), KVC_OK);
  EXPECT_EQ(rows.append(child, text(4, 200)), KVC_WAIT)
      << "freed after the step began, so it waits too";
  EXPECT_EQ(rows.retire(step), KVC_OK);
  const int64_t later = rows.beginStep();
  const kvc_sequence warm = rows.create();
  ASSERT_EQ(rows.adopt(warm, rows.match(text(4), 5), text(4)), KVC_OK);
  ASSERT_EQ(rows.endStep(later), KVC_OK);
  ASSERT_EQ(rows.free(warm), KVC_OK);
  ASSERT_EQ(rows.append(child, text(4, 200)), KVC_OK);
  EXPECT_EQ(rows.match(text(4), 5).length, 4)
      << "step " << later << " reads it";
  EXPECT_EQ(rows.match(text(8, 100), 9).length, 4);
}

TEST(Manager, StepsRetireInAnyOrder) {
  ManagedRows rows(plain(8));
  std::vector<int64_t> steps;
  for (int i = 0; i < 4; ++i) {
    const kvc_sequence one = rows.create();
    steps.push_back(rows.beginStep());
    ASSERT_EQ(rows.append(one, text(4, 100 * i)), KVC_OK);
    rows.attend(one);
    ASSERT_EQ(rows.commit(one, 4), KVC_OK);
    ASSERT_EQ(rows.endStep(steps.back()), KVC_OK);
    ASSERT_EQ(rows.free(one), KVC_OK);
  }
  EXPECT_EQ(rows.pool().quarantined, 4);
  EXPECT_EQ(rows.retire(steps[1]), KVC_OK);
  EXPECT_EQ(rows.retire(steps[1]), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.retire(steps[3]), KVC_OK);
  EXPECT_EQ(rows.pool().quarantined, 4) << "the first may still run";
  EXPECT_EQ(rows.retire(steps[0]), KVC_OK);
  EXPECT_EQ(rows.pool().quarantined, 2);
  EXPECT_EQ(rows.retire(steps[2]), KVC_OK);
  rows.expectAllFree();
  int64_t step = 0;
  for (int i = 0; i < KVC_MAX_STEPS; ++i)
    ASSERT_EQ(rows.endStep(rows.beginStep()), KVC_OK);
  EXPECT_EQ(kvc_manager_begin_step(rows.get(), nullptr, &step), KVC_WAIT);
}

TEST(Manager, AFailedStepTakesItsRowsAlong) {
  ManagedRows rows(plain(32));
  const kvc_sequence before = rows.create(), during = rows.create(),
                     later = rows.create(), aside = rows.create();
  ASSERT_EQ(rows.grow(before, text(9)), KVC_OK);
  ASSERT_EQ(rows.grow(aside, text(9, 300)), KVC_OK);
  rows.publish(before);
  const int64_t failing = rows.beginStep();
  ASSERT_EQ(rows.grow(during, text(9, 100)), KVC_OK);
  rows.publish(during);
  ASSERT_EQ(rows.endStep(failing), KVC_OK);
  const int64_t after = rows.beginStep();
  ASSERT_EQ(rows.grow(later, text(9, 200)), KVC_OK);
  const kvc_sequence heir = rows.create();
  ASSERT_EQ(rows.adopt(heir, rows.match(text(9, 100), 9), text(9, 100)),
            KVC_OK);
  kvc_sequence child = 0;
  ASSERT_EQ(rows.fork(during, 5, child), KVC_OK);
  ASSERT_EQ(rows.endStep(after), KVC_OK);
  EXPECT_EQ(rows.retire(failing, true), KVC_OK);
  EXPECT_EQ(rows.match(text(9, 100), 9).length, 0);
  EXPECT_EQ(rows.match(text(9), 9).length, 8);
  for (kvc_sequence sequence : {during, later, heir, child}) {
    EXPECT_EQ(rows.append(sequence, text(1)), KVC_FAILED);
    EXPECT_EQ(rows.truncate(sequence, 0), KVC_FAILED);
    kvc_sequence other = 0;
    EXPECT_EQ(rows.fork(sequence, 0, other), KVC_FAILED);
  }
  for (kvc_sequence sequence : {before, aside}) {
    EXPECT_EQ(rows.grow(sequence, text(1, 7)), KVC_OK);
    rows.verify(sequence);
  }
  for (kvc_sequence sequence : {before, during, later, aside, heir, child})
    EXPECT_EQ(rows.free(sequence), KVC_OK);
  EXPECT_EQ(rows.retire(after), KVC_OK);
  EXPECT_EQ(rows.reset(), KVC_OK);
  rows.expectAllFree();
}

TEST(Manager, AFailedStepTakesBlocksThatLaterRowsFill) {
  ManagedRows rows(plain(32));
  const kvc_sequence one = rows.create();
  const int64_t failing = rows.beginStep();
  ASSERT_EQ(rows.grow(one, text(2)), KVC_OK);
  kvc_sequence copied = 0;
  ASSERT_EQ(rows.fork(one, 2, copied), KVC_OK);
  ASSERT_EQ(rows.endStep(failing), KVC_OK);
  // Half of the block is the step's, also where the block is a copy.
  for (kvc_sequence sequence : {one, copied}) {
    ASSERT_EQ(rows.grow(sequence, text(2, 50 + int64_t(sequence))), KVC_OK);
    EXPECT_EQ(rows.publish(sequence).length, 4);
  }
  EXPECT_EQ(rows.retire(failing, true), KVC_OK);
  for (kvc_sequence sequence : {one, copied})
    EXPECT_EQ(rows.match(rows.tokensOf(sequence), 4).length, 0);
}

TEST(Manager, S25NumbersOfAHugePool) {
  ManagedOptions options = plain(70000, 1);
  ManagedRows rows(options);
  const kvc_sequence one = rows.create();
  kvc_append_rows all = {one, 70000, 0};
  ASSERT_EQ(kvc_manager_append(rows.get(), &all, 1, nullptr), KVC_OK);
  const std::vector<int32_t> body = rows.body(one);
  for (int32_t block : {65535, 65536, 69999})
    EXPECT_EQ(body[size_t(block - 1)], block);
  EXPECT_EQ(kvc_manager_commit(rows.get(), one, 70000, nullptr), KVC_OK);
}

TEST(Manager, S26LengthsAroundAPage) {
  for (const ManagedOptions &options : layouts()) {
    ManagedRows rows(options);
    EXPECT_EQ(rows.append(std::vector<ManagedRows::Rows>()), KVC_OK);
    const int64_t page = options.groups[0].page;
    for (int64_t length : {int64_t(0), int64_t(1), page - 1, page, page + 1}) {
      const kvc_sequence one = rows.create();
      ASSERT_EQ(rows.grow(one, text(length)), KVC_OK);
      rows.verify(one);
      ASSERT_EQ(rows.free(one), KVC_OK);
    }
    rows.expectAllFree();
  }
}
