//===- manager_calls_test.cpp - Policies, events, tables, threads ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "ManagedRows.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace kvc::test;

TEST(Manager, PoliciesSayWhatGoesFirst) {
  struct Case {
    const char *name;
    int kept[2]; ///< The prompts that are left of three.
  };
  for (const Case &wanted : {Case{"lru", {0, 2}}, Case{"lfu", {0, 1}},
                             Case{"priority", {1, 2}}, Case{"cost", {1, 2}}}) {
    ManagedOptions options = plain(16);
    options.policy = policy(wanted.name);
    ManagedRows rows(options);
    // Of 4, 8 and 8 tokens; the second is used often, the third with priority.
    const Tokens prompts[] = {text(4), text(8, 100), text(8, 200)};
    for (const Tokens &prompt : prompts) {
      const kvc_sequence one = rows.create();
      ASSERT_EQ(rows.grow(one, prompt), KVC_OK);
      const kvc_prefix prefix = rows.publish(one);
      ASSERT_EQ(rows.pin(prefix, prompt[0] == 1 ? 10 : 20), KVC_OK);
      ASSERT_EQ(rows.unpin(prefix), KVC_OK);
      ASSERT_EQ(rows.free(one), KVC_OK);
    }
    for (int prompt : {1, 1, 0, 2, 0}) {
      const kvc_sequence one = rows.create();
      ASSERT_EQ(
          rows.adopt(one, rows.match(prompts[prompt], 9), prompts[prompt]),
          KVC_OK);
      ASSERT_EQ(rows.free(one), KVC_OK);
    }
    const int64_t gone = wanted.kept[0] == 1 ? 1 : 2;
    EXPECT_EQ(rows.evict(0, gone), gone);
    for (int prompt : {0, 1, 2})
      EXPECT_EQ(rows.match(prompts[prompt], 9).length > 0,
                prompt == wanted.kept[0] || prompt == wanted.kept[1])
          << wanted.name << " " << prompt;
  }
  kvc_policy none = {sizeof(none), nullptr, nullptr};
  EXPECT_EQ(kvc_policy_get("newest", nullptr, &none), KVC_INVALID_ARGUMENT);
}

TEST(Manager, EventsTellTheIndex) {
  // An index that is kept by events alone agrees with the manager's.
  struct Index {
    std::map<int32_t, Tokens> entries;
    int cleared = 0;
  } index;
  SpecPtr spec = parse(GroupText().json());
  const kvc_layer_group group = {sizeof(group), spec.get(), 1, 6, 0};
  kvc_manager_options options = {};
  options.struct_size = sizeof(options);
  options.groups = &group;
  options.num_groups = 1;
  options.listener_user = &index;
  options.listener = [](void *user, const kvc_event *event) {
    Index &index = *static_cast<Index *>(user);
    if (event->kind == KVC_EVENT_CLEARED) {
      index.entries.clear();
      ++index.cleared;
    } else if (event->kind == KVC_EVENT_STORED) {
      EXPECT_EQ(index.entries.count(event->block), 0u);
      index.entries[event->block] =
          Tokens(event->tokens, event->tokens + event->num_tokens);
      EXPECT_EQ(event->parent == 0, event->tokens[0] % 100 == 1);
    } else {
      EXPECT_EQ(index.entries.erase(event->block), 1u);
    }
  };
  kvc_manager *manager = nullptr;
  ASSERT_EQ(kvc_manager_create(&options, nullptr, &manager), KVC_OK);
  auto run = [&](int32_t first) {
    kvc_sequence sequence = 0;
    const Tokens tokens = text(9, first);
    ASSERT_EQ(kvc_manager_create_sequence(manager, nullptr, &sequence), KVC_OK);
    const kvc_append_rows rows = {sequence, 9, 0};
    ASSERT_EQ(kvc_manager_append(manager, &rows, 1, nullptr), KVC_OK);
    ASSERT_EQ(kvc_manager_commit(manager, sequence, 9, nullptr), KVC_OK);
    kvc_prefix prefix = {};
    ASSERT_EQ(kvc_manager_publish(manager, sequence, tokens.data(), 9, nullptr,
                                  nullptr, &prefix),
              KVC_OK);
    ASSERT_EQ(kvc_manager_free_sequence(manager, sequence, nullptr), KVC_OK);
  };
  for (int i = 0; i < 4; ++i)
    run(100 * i + 1);
  EXPECT_EQ(index.entries.size(), 6u - 1u);
  kvc_manager_stats stats = {};
  stats.struct_size = sizeof(stats);
  ASSERT_EQ(kvc_manager_get_stats(manager, nullptr, &stats), KVC_OK);
  EXPECT_EQ(stats.entries, int64_t(index.entries.size()));
  ASSERT_EQ(kvc_manager_reset(manager, nullptr), KVC_OK);
  EXPECT_EQ(index.cleared, 1);
  EXPECT_TRUE(index.entries.empty());
  kvc_manager_free(manager);
}

TEST(Manager, TablesInEveryForm) {
  ManagedRows rows(plain(16));
  const kvc_sequence one = rows.create(), two = rows.create();
  ASSERT_EQ(rows.grow(one, text(6)), KVC_OK);
  ASSERT_EQ(rows.append({{one, text(3, 50), {}}, {two, text(4), text(1)}}),
            KVC_OK);
  const kvc_sequence both[] = {one, two};
  int32_t table[2][4], lengths[2];
  ASSERT_EQ(kvc_manager_block_table(rows.get(), 0, both, 2, 4, nullptr,
                                    table[0], lengths),
            KVC_OK);
  EXPECT_EQ(lengths[0], 9);
  EXPECT_EQ(lengths[1], 5);
  const std::vector<int32_t> first = rows.body(one), second = rows.body(two);
  EXPECT_EQ(std::vector<int32_t>(table[0], table[0] + 3), first);
  EXPECT_EQ(table[0][3], 0);
  EXPECT_EQ(kvc_manager_block_table(rows.get(), 0, both, 2, 2, nullptr,
                                    table[0], lengths),
            KVC_INVALID_ARGUMENT);
  int64_t indptr[3];
  int32_t indices[5], last[2];
  ASSERT_EQ(kvc_manager_block_rows(rows.get(), 0, both, 2, 5, nullptr, indptr,
                                   indices, last),
            KVC_OK);
  EXPECT_EQ(indptr[1], 3);
  EXPECT_EQ(indptr[2], 5);
  EXPECT_EQ(indices[3], second[0]);
  EXPECT_EQ(last[0], 1);
  EXPECT_EQ(last[1], 1);
  EXPECT_EQ(kvc_manager_block_rows(rows.get(), 0, both, 2, 4, nullptr, indptr,
                                   indices, last),
            KVC_INVALID_ARGUMENT);
  int64_t slots[8];
  ASSERT_EQ(kvc_manager_slot_mapping(rows.get(), 0, both, 2, 8, nullptr, slots),
            KVC_OK);
  EXPECT_EQ(slots[0], first[1] * 4 + 2);
  EXPECT_EQ(slots[2], first[2] * 4);
  EXPECT_EQ(slots[7], second[1] * 4);
  EXPECT_EQ(kvc_manager_slot_mapping(rows.get(), 0, both, 2, 7, nullptr, slots),
            KVC_INVALID_ARGUMENT);
}

TEST(Manager, BadCallsChangeNothing) {
  ManagedRows rows(plain(8));
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(5)), KVC_OK);
  EXPECT_EQ(rows.append({{one, text(1), {}}, {one, text(1), {}}}),
            KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(rows.says("expected each sequence once")) << rows.message.text;
  EXPECT_EQ(rows.commit(one, 0), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.rollback(one), KVC_INVALID_ARGUMENT);
  kvc_sequence child = 0;
  EXPECT_EQ(rows.fork(one, 6, child), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.truncate(one, -1), KVC_INVALID_ARGUMENT);
  ASSERT_EQ(rows.append(one, text(2, 50), text(2)), KVC_OK);
  EXPECT_EQ(rows.append(one, text(1)), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.fork(one, 5, child), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.truncate(one, 5), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.commit(one, 1), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.commit(one, 5), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.commit(one, 3), KVC_OK);
  kvc_append_rows much = {one, INT64_MAX, INT64_MAX};
  EXPECT_EQ(kvc_manager_append(rows.get(), &much, 1, nullptr),
            KVC_INVALID_ARGUMENT);
  much.lookahead = -1;
  EXPECT_EQ(kvc_manager_append(rows.get(), &much, 1, nullptr),
            KVC_INVALID_ARGUMENT);
}

TEST(Manager, TracesTellWhereAReplayDiffers) {
  ManagedOptions options = plain(8);
  options.isTraced = true;
  ManagedRows rows(options);
  const kvc_sequence one = rows.create();
  kvc_sequence child = 0;
  ASSERT_EQ(rows.grow(one, text(9)), KVC_OK);
  rows.publish(one);
  ASSERT_EQ(rows.fork(one, 6, child), KVC_OK);
  ASSERT_EQ(rows.grow(child, text(3)), KVC_OK);
  EXPECT_EQ(rows.append(one, text(60)), KVC_OUT_OF_BLOCKS);
  // Rows that a wrong count speaks of are not there to be recorded.
  const kvc_append_rows row = {one, 1, 0};
  EXPECT_EQ(kvc_manager_append(rows.get(), &row, int64_t(1) << 40, nullptr),
            KVC_INVALID_ARGUMENT);
  // Refused calls are recorded too.
  for (auto refused : {+[](kvc_manager *manager) {
                         return kvc_manager_set_time(manager, -1, nullptr);
                       },
                       +[](kvc_manager *manager) {
                         return kvc_manager_end_step(manager, 7, nullptr);
                       }}) {
    const size_t before = rows.trace.size();
    EXPECT_EQ(refused(rows.get()), KVC_INVALID_ARGUMENT);
    EXPECT_GT(rows.trace.size(), before);
  }
  ASSERT_NE(rows.beginStep(), 0);
  int64_t step = 0;
  EXPECT_EQ(kvc_manager_begin_step(rows.get(), nullptr, &step),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(rows.append(one, text(60)), KVC_OUT_OF_BLOCKS);
  const std::vector<uint8_t> trace = rows.trace;
  Message message;
  int64_t records = 0;
  auto replay = [&](const std::vector<uint8_t> &bytes) {
    return kvc_manager_replay(bytes.data(), bytes.size(), message.get(),
                              &records);
  };
  ASSERT_EQ(replay(trace), KVC_OK) << message.text;
  EXPECT_GE(records, 9);
  // The last answer, the end of the trace, says otherwise.
  std::vector<uint8_t> wrong = trace;
  wrong[wrong.size() - 8] = KVC_OK;
  EXPECT_EQ(replay(wrong), KVC_INVALID_DATA);
  EXPECT_NE(std::string(message.text).find("append, expected the answer"),
            std::string::npos)
      << message.text;
  // Any byte behind the first record, any end: refused, or the same answers.
  const size_t first = trace[0] + 256u * trace[1];
  for (size_t i = first; i < trace.size(); ++i) {
    wrong = trace;
    wrong[i] ^= 1;
    const kvc_status status = replay(wrong);
    EXPECT_TRUE(status == KVC_OK || status == KVC_INVALID_DATA)
        << "byte " << i << ": " << message.text;
  }
  // A bit of the first record: no manager can be made of it, or the calls
  // answer otherwise, or it is a trace of another manager that answers alike.
  // Millions of blocks would be made, where the system has the memory.
  const size_t blocksAt = 32 + (trace[24] + 256u * trace[25] + 7) / 8 * 8 + 8;
  ASSERT_EQ(trace[blocksAt], 8);
  int64_t alike = 0;
  for (size_t i = 0; i < 8 * first; ++i) {
    if (i >= 8 * blocksAt + 16 && i < 8 * blocksAt + 32)
      continue;
    wrong = trace;
    wrong[i / 8] ^= uint8_t(1 << i % 8);
    message.text[0] = 0;
    const kvc_status status = replay(wrong);
    alike += status == KVC_OK;
    EXPECT_TRUE(status == KVC_OK ||
                ((status == KVC_INVALID_DATA || status == KVC_FAILED) &&
                 message.text[0]))
        << "bit " << i << ": " << kvc_status_name(status) << " "
        << message.text;
  }
  EXPECT_LT(alike, int64_t(first)) << "of " << 8 * first << " bits";
  struct Change {
    const char *from, *to, *says;
  };
  for (const Change &change :
       {Change{"\"page\": 4", "\"page\": 3", "page"},
        Change{"\"page\": 4", "\"page\": 2", "expected the answer"},
        Change{"int8", "int9", "codec"}, Change{"lru", "mru", "mru"},
        Change{"paged", "ringo", "kind"}}) {
    std::string text(trace.begin(), trace.end());
    const size_t at = text.find(change.from);
    ASSERT_LT(at, first) << change.from;
    text.replace(at, std::string(change.to).size(), change.to);
    EXPECT_EQ(replay({text.begin(), text.end()}), KVC_INVALID_DATA);
    EXPECT_NE(std::string(message.text).find(change.says), std::string::npos)
        << message.text;
  }
  for (size_t i = 1; i < trace.size(); ++i)
    if (replay({trace.begin(), trace.begin() + ptrdiff_t(i)}) == KVC_OK)
      EXPECT_GE(i, first) << "a trace of fewer calls";
  options.hash = [](void *, const void *, size_t, uint8_t *) {};
  SpecPtr spec = parse(GroupText().json());
  const kvc_layer_group group = {sizeof(group), spec.get(), 1, 6, 0};
  kvc_manager_options made = {};
  made.struct_size = sizeof(made);
  made.groups = &group;
  made.num_groups = 1;
  made.hash = options.hash;
  made.trace = [](void *, const void *, size_t) {};
  kvc_manager *manager = nullptr;
  EXPECT_EQ(kvc_manager_create(&made, message.get(), &manager),
            KVC_UNSUPPORTED);
  // Structs of an odd size would put the next one where none can be read.
  kvc_layer_group odd = group;
  odd.struct_size = sizeof(odd) + 1;
  made.groups = &odd;
  made.trace = nullptr;
  EXPECT_EQ(kvc_manager_create(&made, message.get(), &manager),
            KVC_INVALID_ARGUMENT);
  EXPECT_NE(std::string(message.text).find("expected a multiple of 8, got"),
            std::string::npos)
      << message.text;
}

TEST(Manager, S30ProbesBesideMutators) {
  ManagedOptions options = layouts()[4];
  options.flags = KVC_MANAGER_LOCK;
  ManagedRows rows(options);
  kvc_manager *manager = rows.get();
  const Tokens prompt = text(41);
  std::atomic<bool> isDone = false;
  std::atomic<int64_t> longest = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] {
      while (!isDone) {
        kvc_prefix hit = {};
        EXPECT_EQ(kvc_manager_match(manager, prompt.data(), 41, nullptr, 41,
                                    nullptr, &hit),
                  KVC_OK);
        longest = std::max<int64_t>(longest, hit.length);
        kvc_manager_stats stats = {};
        stats.struct_size = sizeof(stats);
        EXPECT_EQ(kvc_manager_get_stats(manager, nullptr, &stats), KVC_OK);
        EXPECT_EQ(kvc_manager_check(manager, nullptr), KVC_OK);
      }
    });
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        kvc_sequence sequence = 0;
        EXPECT_EQ(kvc_manager_create_sequence(manager, nullptr, &sequence),
                  KVC_OK);
        kvc_prefix hit = {};
        kvc_manager_match(manager, prompt.data(), 41, nullptr, 41, nullptr,
                          &hit);
        // The prefix may have gone in between.
        const int64_t have =
            hit.length && kvc_manager_adopt(manager, sequence, &hit, nullptr) ==
                              KVC_OK
                ? hit.length
                : 0;
        const kvc_append_rows more = {sequence, 41 - have, 0};
        const kvc_status status =
            kvc_manager_append(manager, &more, 1, nullptr);
        EXPECT_EQ(status, KVC_OK);
        EXPECT_EQ(kvc_manager_commit(manager, sequence, 41 - have, nullptr),
                  KVC_OK);
        EXPECT_EQ(kvc_manager_publish(manager, sequence, prompt.data(), 41,
                                      nullptr, nullptr, &hit),
                  KVC_OK);
        EXPECT_EQ(kvc_manager_free_sequence(manager, sequence, nullptr),
                  KVC_OK);
        int64_t evicted = 0;
        if (i % 3 == thread % 3)
          EXPECT_EQ(kvc_manager_evict(manager, 0, 2, nullptr, &evicted),
                    KVC_OK);
      }
    });
  for (size_t i = 3; i < threads.size(); ++i)
    threads[i].join();
  isDone = true;
  for (size_t i = 0; i < 3; ++i)
    threads[i].join();
  kvc_block_copy copies[16];
  int64_t count = 0;
  do
    ASSERT_EQ(kvc_manager_take_copies(manager, 16, nullptr, copies, &count),
              KVC_OK);
  while (count);
  EXPECT_EQ(rows.reset(), KVC_OK);
  rows.expectAllFree();
}
