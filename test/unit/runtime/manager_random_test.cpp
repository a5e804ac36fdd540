//===- manager_random_test.cpp - Any calls in any order -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// KVC_MANAGER_SEEDS says how many random sequences of 200 calls run.
//
//===----------------------------------------------------------------------===//

#include "ManagedRows.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace kvc::test;

namespace {

/// Random calls on a small pool. ManagedRows checks the invariants, that failed
/// calls change nothing, and every row of every sequence.
class RandomCalls {
public:
  RandomCalls(const ManagedOptions &options, uint32_t seed)
      : rows(options), random(seed) {}

  void run(int calls) {
    for (int i = 0; i < calls && !testing::Test::HasFailure(); ++i)
      step();
    finish();
  }

private:
  struct Living {
    kvc_sequence handle;
    int64_t fresh = 0, reserved = 0; ///< Of the open reservation.
    bool isOpen = false;
    bool hasFailed = false;
    int64_t lastStep = 0;
  };

  int64_t upTo(int64_t most) { return int64_t(random() % uint64_t(most + 1)); }
  /// Few different tokens, so that prefixes meet.
  Tokens some(int64_t count) {
    Tokens result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(int32_t(upTo(9) == 0));
    return result;
  }
  Living *any() {
    return living.empty() ? nullptr
                          : &living[size_t(upTo(int64_t(living.size()) - 1))];
  }
  bool isTolerated(kvc_status status) {
    return status == KVC_OK || status == KVC_OUT_OF_BLOCKS ||
           status == KVC_WAIT;
  }

  void step() {
    switch (upTo(15)) {
    case 0:
      if (living.size() < 6)
        living.push_back({rows.create()});
      return;
    case 1:
    case 2:
    case 3:
    case 4:
      return append();
    case 5:
    case 6:
    case 7:
      return close();
    case 8:
      return fork();
    case 9:
      return truncate();
    case 10:
      return publish();
    case 11:
      return adopt();
    case 12:
      return retain();
    case 13:
    case 14:
      return steps();
    default:
      return free();
    }
  }

  void append() {
    Living *one = any();
    if (!one)
      return;
    if (one->isOpen || one->hasFailed) {
      EXPECT_EQ(rows.append(one->handle, some(1)),
                one->hasFailed ? KVC_FAILED : KVC_INVALID_ARGUMENT);
      return;
    }
    std::vector<ManagedRows::Rows> batch;
    std::vector<Living *> named;
    for (Living &other : living)
      if (&other == one ||
          (upTo(2) == 0 && !other.isOpen && !other.hasFailed)) {
        batch.push_back({other.handle, some(upTo(9)), some(upTo(2) ? 0 : 4)});
        named.push_back(&other);
      }
    const kvc_status status = rows.append(batch);
    EXPECT_TRUE(isTolerated(status)) << rows.message.text;
    for (size_t i = 0; i < named.size() && status == KVC_OK; ++i) {
      named[i]->isOpen = true;
      named[i]->fresh = int64_t(batch[i].tokens.size());
      named[i]->reserved = named[i]->fresh + int64_t(batch[i].drafts.size());
      named[i]->lastStep = std::max(named[i]->lastStep, open);
      if (open)
        rows.attend(named[i]->handle);
    }
  }
  void close() {
    Living *one = any();
    if (!one || !one->isOpen || one->hasFailed)
      return;
    one->isOpen = false;
    EXPECT_EQ(upTo(4)
                  ? rows.commit(one->handle,
                                one->fresh + upTo(one->reserved - one->fresh))
                  : rows.rollback(one->handle),
              KVC_OK)
        << rows.message.text;
    rows.verify(one->handle);
  }
  void fork() {
    Living *one = any();
    if (!one || one->isOpen || one->hasFailed || living.size() >= 6)
      return;
    Living child = *one;
    int64_t position = upTo(int64_t(rows.tokensOf(one->handle).size()));
    int64_t nearest = -1;
    kvc_status status =
        rows.fork(one->handle, position, child.handle, &nearest);
    if (status == KVC_INEXACT_POSITION) {
      EXPECT_LT(nearest, position);
      status = rows.fork(one->handle, nearest, child.handle);
    }
    ASSERT_EQ(status, KVC_OK) << rows.message.text;
    living.push_back(child);
    rows.verify(child.handle);
  }
  void truncate() {
    Living *one = any();
    if (!one || one->isOpen || one->hasFailed)
      return;
    int64_t nearest = -1;
    const auto position = upTo(int64_t(rows.tokensOf(one->handle).size()));
    if (rows.truncate(one->handle, position, &nearest) != KVC_OK)
      EXPECT_EQ(rows.truncate(one->handle, nearest), KVC_OK);
    rows.verify(one->handle);
  }
  void publish() {
    Living *one = any();
    if (!one || one->hasFailed)
      return;
    const kvc_prefix prefix = rows.publish(one->handle);
    if (prefix.length)
      handles.push_back(prefix);
  }
  void adopt() {
    Living *one = any();
    if (!one || one->isOpen || one->hasFailed ||
        !rows.tokensOf(one->handle).empty())
      return;
    const Tokens prompt = some(30);
    const kvc_prefix hit = rows.match(prompt, upTo(40));
    if (hit.length == 0)
      return;
    handles.push_back(hit);
    ASSERT_EQ(rows.adopt(one->handle, hit, prompt), KVC_OK)
        << rows.message.text;
    // A step that failed may have written it: its end says so.
    one->lastStep = INT64_MAX;
    rows.verify(one->handle);
  }
  void retain() {
    if (upTo(20) == 0) {
      EXPECT_EQ(rows.reset(), KVC_OK);
      return;
    }
    if (upTo(3) == 0)
      rows.evict(upTo(rows.stats().pools - 1), upTo(2));
    if (upTo(3) == 0)
      EXPECT_EQ(rows.setTime(time += upTo(3)), KVC_OK);
    if (handles.empty())
      return;
    const kvc_prefix &prefix =
        handles[size_t(upTo(int64_t(handles.size()) - 1))];
    const kvc_status status =
        upTo(2) ? rows.unpin(prefix)
                : rows.pin(prefix, int32_t(upTo(100)), 1 + upTo(3));
    EXPECT_TRUE(status == KVC_OK || status == KVC_STALE) << rows.message.text;
  }
  void steps() {
    if (open == 0) {
      if (ended.size() < 4)
        open = rows.beginStep();
    } else {
      EXPECT_EQ(rows.endStep(open), KVC_OK);
      ended.push_back(open);
      open = 0;
    }
    if (ended.empty() || upTo(1))
      return;
    const size_t at = size_t(upTo(int64_t(ended.size()) - 1));
    const int64_t step = ended[at];
    ended.erase(ended.begin() + ptrdiff_t(at));
    const bool failed = upTo(9) == 0;
    EXPECT_EQ(rows.retire(step, failed), KVC_OK);
    for (Living &one : living)
      if (failed && one.lastStep >= step) {
        kvc_sequence_state state = {};
        state.struct_size = sizeof(state);
        const kvc_status status = kvc_manager_get_sequence(
            rows.get(), one.handle, 0, nullptr, &state);
        if (one.lastStep != INT64_MAX)
          EXPECT_EQ(status, KVC_FAILED);
        one.hasFailed = status == KVC_FAILED;
      }
  }
  void free() {
    if (living.empty())
      return;
    const size_t at = size_t(upTo(int64_t(living.size()) - 1));
    EXPECT_EQ(rows.free(living[at].handle), KVC_OK);
    living.erase(living.begin() + ptrdiff_t(at));
  }
  void finish() {
    for (const Living &one : living)
      EXPECT_EQ(rows.free(one.handle), KVC_OK);
    EXPECT_EQ(rows.reset(), KVC_OK);
    if (open) {
      EXPECT_EQ(rows.endStep(open), KVC_OK);
      ended.push_back(open);
    }
    for (int64_t step : ended)
      EXPECT_EQ(rows.retire(step), KVC_OK);
    rows.expectAllFree();
    int64_t records = 0;
    if (!rows.trace.empty()) {
      EXPECT_EQ(kvc_manager_replay(rows.trace.data(), rows.trace.size(),
                                   rows.message.get(), &records),
                KVC_OK)
          << rows.message.text;
      EXPECT_GT(records, 20);
    }
  }

  ManagedRows rows;
  std::mt19937_64 random;
  std::vector<Living> living;
  std::vector<kvc_prefix> handles;
  std::vector<int64_t> ended;
  int64_t open = 0, time = 0;
};

GroupText randomGroup(std::mt19937 &random) {
  auto pick = [&](std::initializer_list<int> values) {
    return *(values.begin() + random() % values.size());
  };
  GroupText group;
  group.page = pick({1, 2, 4, 8, 16});
  group.sink = pick({0, 0, 3, 5});
  group.recent = pick({0, 3, 17});
  for (int *tokens : {&group.keyTokens, &group.valueTokens})
    *tokens = std::min({pick({1, 1, 2, 4}), group.page, group.recent + 1});
  if (group.keyTokens == 3 || group.keyTokens > group.recent)
    group.keyTokens = 1;
  if (group.valueTokens > group.recent)
    group.valueTokens = 1;
  if (random() % 3 == 0) {
    group.window = pick({1, 4, 9});
    group.windowSinks = pick({0, 0, 2, 6});
  }
  group.layers = pick({1, 1, 2});
  group.blocks = 60 / group.page + 4 + int(random() % 8);
  group.rawBlocks = 100 / group.page + 4 + int(random() % 8);
  return group;
}

} // namespace

TEST(Manager, AnyCallsKeepTheInvariants) {
  const char *given = std::getenv("KVC_MANAGER_SEEDS");
  const auto seeds = uint32_t(given ? std::atoi(given) : 100);
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937 random(seed);
    ManagedOptions options;
    options.groups.clear();
    for (uint32_t g = 0; g <= random() % 3; ++g)
      options.groups.push_back(randomGroup(random));
    options.maxSequences = 6;
    options.maxQueries = 1 + int(random() % 13);
    options.flags = random() % 2 ? KVC_MANAGER_FREE_WINDOW : 0;
    if (random() % 8 == 0)
      options.hash = [](void *, const void *, size_t, uint8_t *digest) {
        std::memset(digest, 7, 32);
      };
    if (random() % 4 == 0)
      options.policy = policy(random() % 2 ? "cost" : "lfu");
    options.isTraced = !options.hash && (!options.policy.score || random() % 2);
    RandomCalls(options, seed).run(200);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}
