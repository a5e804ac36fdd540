//===- attend_test.cpp - Plans and runs -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "RunFixture.h"

#include <cstring>
#include <thread>

using namespace kvc::test;

namespace {

PoolPtr poolOf(int32_t threads) {
  kvc_thread_pool *made = nullptr;
  EXPECT_EQ(kvc_thread_pool_create(threads, nullptr, 0, nullptr, &made),
            KVC_OK);
  return PoolPtr(made);
}

/// Prefill, decode, nothing to ask, nothing to see, and queries before the
/// first key.
const std::vector<int64_t> kQueries = {1, 3, 9, 40, 0, 2, 12, 1};
const std::vector<int64_t> kLengths = {1, 100, 9, 130, 20, 0, 5, 333};

} // namespace

TEST(Attend, EqualsTheDefinition) {
  std::vector<std::string> attentions = {
      "",
      R"(, "mask": "none")",
      R"(, "window": 7)",
      R"(, "window": 50, "window_sinks": 3)",
      R"(, "window": 5, "window_sinks": 40, "sink_logits": true)",
      R"(, "alibi": true)",
      R"(, "sink_logits": true)"};
  for (const std::string &attention : attentions)
    for (bool isPaged : {false, true}) {
      SCOPED_TRACE(attention);
      SpecText text = isPaged ? pagedText(4) : SpecText();
      text.attention = attention;
      BatchRun run(text, kQueries, kLengths);
      run.appendAll(64);
      PlanPtr plan = run.plan();
      ASSERT_EQ(run.attend(plan, run.batch(run.queryStart)), KVC_OK)
          << run.message.text;
      run.check();
      EXPECT_GT(FakeModule::decodeCalls(), 0);
      EXPECT_GT(FakeModule::prefillCalls(), 0);
    }
}

TEST(Attend, AnyGroup) {
  for (int group : {1, 3, 8, 71})
    for (int kvHeads : {1, 2}) {
      SpecText text = pagedText(16);
      text.kvHeads = kvHeads;
      text.qHeads = group * kvHeads;
      BatchRun run(text, {1, 2, 5}, {40, 41, 3});
      run.appendAll(100);
      PlanPtr plan = run.plan();
      ASSERT_EQ(run.attend(plan, run.batch(run.queryStart)), KVC_OK);
      run.check();
    }
}

TEST(Attend, ResultsDoNotDependOnThreadsBoundsOrWaves) {
  SpecText text = pagedText(16);
  text.attention = R"(, "window": 100, "window_sinks": 2)";
  // Small splits and many rows make many items.
  std::vector<int64_t> queries = {300, 1, 64}, lengths = {300, 2000, 64};
  BatchRun run(text, queries, lengths, 0, {4, 8, 16, 16});
  run.appendAll(5000);
  PlanPtr plan = run.plan();
  ASSERT_EQ(run.attend(plan, run.batch(run.queryStart)), KVC_OK);
  run.check();
  std::vector<float> out = run.out.data, lse = run.lse.data;
  int64_t merges = FakeModule::mergeCalls();
  for (int32_t threads : {1, 2, 5}) {
    PoolPtr pool = poolOf(threads);
    kvc_parallel_for loop = {};
    kvc_thread_pool_loop(pool.get(), nullptr, &loop);
    PlanPtr larger = run.plan(/*moreQueries=*/threads, /*moreKeys=*/1000);
    for (const PlanPtr &chosen : {std::cref(plan), std::cref(larger)}) {
      std::fill(run.out.data.begin(), run.out.data.end(), -777.f);
      FakeModule::resetCounts();
      ASSERT_EQ(run.attend(chosen, run.batch(run.queryStart), &loop), KVC_OK);
      EXPECT_EQ(std::memcmp(out.data(), run.out.data.data(),
                            out.size() * sizeof(float)),
                0);
      EXPECT_EQ(std::memcmp(lse.data(), run.lse.data.data(),
                            lse.size() * sizeof(float)),
                0);
      EXPECT_EQ(FakeModule::mergeCalls(), merges);
    }
  }
}

/// Threads of the caller's: each takes every third index, from the last on.
void backwardsOnThreads(void *user, int64_t count,
                        void (*body)(void *ctx, int64_t index), void *ctx) {
  ++*static_cast<int64_t *>(user);
  std::vector<std::thread> threads;
  for (int64_t first = 0; first < 3; ++first)
    threads.emplace_back([=] {
      for (int64_t i = count - 1 - first; i >= 0; i -= 3)
        body(ctx, i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Attend, RunsOnTheCallersThreads) {
  std::vector<int64_t> queries = {300, 1, 64}, lengths = {300, 2000, 64};
  BatchRun run(pagedText(16), queries, lengths, 0, {4, 8, 16, 16});
  run.appendAll(5000);
  PlanPtr plan = run.plan();
  ASSERT_EQ(run.attend(plan, run.batch(run.queryStart)), KVC_OK);
  const std::vector<float> out = run.out.data, lse = run.lse.data;
  std::fill(run.out.data.begin(), run.out.data.end(), -777.f);
  std::fill(run.lse.data.begin(), run.lse.data.end(), -777.f);
  int64_t calls = 0;
  const kvc_parallel_for loop = {backwardsOnThreads, &calls};
  ASSERT_EQ(run.attend(plan, run.batch(run.queryStart), &loop), KVC_OK);
  run.check();
  EXPECT_GT(calls, 0);
  EXPECT_EQ(out, run.out.data);
  EXPECT_EQ(lse, run.lse.data);
}

TEST(Attend, AWorkspaceOfAnySizeIsEnough) {
  // 576 channels of output and splits of 16 tokens: the partial results of the
  // batch are more than KVC_PLAN_WORKSPACE.
  SpecText text;
  text.qHeads = text.kvHeads = 8;
  text.headDim = 16;
  text.valueDim = 576;
  BatchRun run(text, {256}, {256}, 0, {4, 8, 16, 16});
  run.appendAll(256);
  PlanPtr plan = run.plan();
  kvc_plan_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(kvc_plan_get_info(plan.get(), nullptr, &info), KVC_OK);
  EXPECT_GT(info.workspace_bytes, 0);
  EXPECT_LE(info.workspace_bytes, KVC_PLAN_WORKSPACE);
  EXPECT_GT(256 * 8 * 576 * 4 * 8, KVC_PLAN_WORKSPACE);
  ASSERT_EQ(run.attend(plan, run.batch(run.queryStart)), KVC_OK);
  run.check();
}

TEST(Attend, StridesAreTheCallers) {
  BatchRun run(pagedText(4), {1, 6}, {9, 6}, /*padding=*/3);
  run.appendAll(100);
  PlanPtr plan = run.plan();
  ASSERT_EQ(run.attend(plan, run.batch(run.queryStart)), KVC_OK)
      << run.message.text;
  run.check();
  int64_t padding =
      std::count(run.out.data.begin(), run.out.data.end(), -777.f);
  int64_t values = 7 * 4 * 24;
  EXPECT_EQ(padding, int64_t(run.out.data.size()) - values)
      << "nothing between the rows is written";
}

TEST(Attend, PaddingIsNeitherReadNorWritten) {
  BatchRun run(pagedText(4), {1, 2, 3}, {9, 6, 7});
  run.appendAll(100);
  run.q.at(5, 0, 0) = NAN;
  std::fill(run.out.data.begin(), run.out.data.end(), -777.f);
  PlanPtr plan = run.plan();
  kvc_batch batch = run.batch(run.queryStart);
  batch.num_sequences = 2;
  ASSERT_EQ(run.attend(plan, batch), KVC_OK) << run.message.text;
  EXPECT_NE(run.out.at(2, 3, 23), -777.f);
  EXPECT_EQ(run.out.at(3, 0, 0), -777.f);
}

TEST(Attend, LseIsOptional) {
  BatchRun run(pagedText(4), {1, 20}, {90, 26});
  run.appendAll(100);
  PlanPtr plan = run.plan();
  kvc_batch batch = run.batch(run.queryStart);
  ASSERT_EQ(run.attend(plan, batch), KVC_OK);
  std::vector<float> out = run.out.data;
  std::fill(run.out.data.begin(), run.out.data.end(), 0.f);
  kvc_out_rows rows = run.out.out();
  PoolPtr pool = poolOf(3);
  kvc_parallel_for loop = {};
  kvc_thread_pool_loop(pool.get(), nullptr, &loop);
  ASSERT_EQ(kvc_run_attend(plan.get(), &batch, &loop, nullptr, &rows, nullptr),
            KVC_OK);
  EXPECT_EQ(out, run.out.data);
  EXPECT_EQ(FakeModule::brokenPromises(), 0);
}

TEST(Attend, WavesHaveABoundOfCallsToo) {
  TestDevice device;
  std::vector<int64_t> queries(2500, 1), lengths(2500, 0);
  lengths[7] = 2000;
  BatchRun run(pagedText(4), queries, lengths, 0, {}, device.get());
  run.appendAll(5000);
  PlanPtr plan = run.plan();
  device.launched.clear();
  ASSERT_EQ(run.attend(plan, run.batch(run.queryStart)), KVC_OK);
  run.check();
  EXPECT_GT(device.launched.size(), 2u);
  for (int64_t calls : device.launched)
    EXPECT_LE(calls, 4096);
  EXPECT_EQ(FakeModule::mergeCalls(), 2 * 2500);
}

TEST(Attend, FewerQueriesThanTheBoundMayTakeTheOtherKernel) {
  // A bound of a prefill in one split; the run is a decode in 125 of them.
  TestDevice device;
  SpecText text = pagedText(4);
  text.qHeads = 2;
  BatchRun run(text, {1}, {2000}, 0, {4, 8, 16, 16, 4096}, device.get());
  run.appendAll(2000);
  PlanPtr plan = run.plan(/*moreQueries=*/8);
  ASSERT_EQ(run.attend(plan, run.batch(run.queryStart)), KVC_OK);
  EXPECT_EQ(FakeModule::decodeCalls(), 2 * 125);
  run.check();
  plan.reset();
  EXPECT_EQ(device.writesBehind, 0);
}

TEST(Attend, ReservedRowsAreSeenOnceWritten) {
  BatchRun run(pagedText(4), {2}, {6});
  ASSERT_EQ(run.cache.append(run.sequences, run.lengths), KVC_OK);
  PlanPtr plan = run.plan();
  kvc_batch batch = run.batch(run.queryStart), rows = run.batch(run.keyStart);
  EXPECT_EQ(run.attend(plan, batch), KVC_INVALID_ARGUMENT);
  ASSERT_EQ(kvc_run_append(run.module.get(), &rows, nullptr, nullptr), KVC_OK);
  ASSERT_EQ(run.attend(plan, batch), KVC_OK) << run.message.text;
  run.check();
  ASSERT_EQ(kvc_cache_rollback(run.cache.get(), run.sequences[0], nullptr),
            KVC_OK);
  EXPECT_EQ(run.attend(plan, batch), KVC_OK);
  EXPECT_EQ(run.out.at(0, 0, 0), 0.f) << "an empty sequence";
  ASSERT_EQ(run.cache.append(run.sequences, run.lengths), KVC_OK);
  EXPECT_EQ(run.attend(plan, batch), KVC_INVALID_ARGUMENT)
      << "rows that were rolled back count as unwritten";
}

TEST(Attend, NothingToDo) {
  BatchRun run(pagedText(4), {}, {});
  PlanPtr plan = run.plan();
  kvc_batch batch = run.batch(run.queryStart);
  EXPECT_EQ(
      kvc_run_attend(plan.get(), &batch, nullptr, nullptr, nullptr, nullptr),
      KVC_OK);
  batch.token_start = nullptr;
  batch.sequences = nullptr;
  EXPECT_EQ(kvc_run(plan.get(), &batch, nullptr, nullptr, nullptr, nullptr),
            KVC_OK);
  EXPECT_EQ(kvc_run_append(run.module.get(), &batch, nullptr, nullptr), KVC_OK);
  BatchRun idle(pagedText(4), {0, 0}, {0, 7});
  idle.appendAll(7);
  PlanPtr none = idle.plan();
  EXPECT_EQ(idle.attend(none, idle.batch(idle.queryStart)), KVC_OK);
  EXPECT_EQ(FakeModule::mergeCalls(), 0);
  EXPECT_EQ(kvc_plan_free(nullptr), KVC_OK);
}

TEST(Attend, TablesOfTheCaller) {
  BatchRun run(pagedText(4), {1, 3}, {9, 6});
  run.appendAll(100);
  // The cache's own tables, handed over as an engine would hand over its own.
  std::vector<int32_t> table(2 * 5), lengths(2);
  ASSERT_EQ(kvc_cache_block_table(run.cache.get(), run.sequences.data(), 2, 5,
                                  nullptr, table.data(), lengths.data()),
            KVC_OK);
  PlanPtr plan = run.plan();
  kvc_batch batch = run.batch(run.queryStart);
  batch.sequences = nullptr;
  batch.lengths = lengths.data();
  batch.block_table = table.data();
  batch.block_table_stride = 5;
  ASSERT_EQ(run.attend(plan, batch), KVC_OK) << run.message.text;
  run.check();

  auto refuses = [&](const kvc_batch &batch, const char *text) {
    EXPECT_EQ(run.attend(plan, batch), KVC_INVALID_ARGUMENT) << text;
    EXPECT_TRUE(std::strstr(run.message.text, text)) << run.message.text;
  };
  kvc_batch bad = batch;
  bad.block_table_stride = 2;
  refuses(bad, "block_table_stride: expected at least 3");
  // Row 1 of the table would begin beyond any address.
  bad.block_table_stride = int64_t(1) << 60;
  refuses(bad, "block_table_stride: expected at least 0 and all rows within");
  bad = batch;
  bad.lengths = nullptr;
  refuses(bad, "got no lengths");
  bad = batch;
  bad.block_table = nullptr;
  refuses(bad, "got no block_table");
  bad = batch;
  bad.sequences = run.sequences.data();
  refuses(bad, "got both");
  table[6] = 4097;
  refuses(batch, "block_table[1, 1]: expected a page below 4097, got 4097");
  table[6] = -1;
  refuses(batch, "block_table[1, 1]");
  table[6] = 0;
  lengths[1] = -1;
  refuses(batch, "lengths[1]");
}

TEST(Attend, FusedWithAppend) {
  // A step of an engine: a prefill, a decode and a sequence that rests.
  BatchRun run(pagedText(4), {10, 1, 0}, {10, 33, 8});
  std::vector<int64_t> before = {0, 32, 8}, now = {10, 1, 0};
  ASSERT_EQ(run.cache.append(run.sequences, before), KVC_OK);
  std::vector<int32_t> start = {0, 0, 32, 40};
  // Rows of k and v of the whole run: sequence 1 begins at 10, sequence 2
  // at 43.
  Tensor k(40, 2, 16, 0), v(40, 2, 24, 0);
  for (int64_t row = 0; row < 40; ++row)
    for (int64_t head = 0; head < 2; ++head) {
      int64_t from = row < 32 ? 10 + row : 43 + row - 32;
      for (int64_t c = 0; c < 16; ++c)
        k.at(row, head, c) = run.k.at(from, head, c);
      for (int64_t c = 0; c < 24; ++c)
        v.at(row, head, c) = run.v.at(from, head, c);
    }
  kvc_batch batch = run.batch(start);
  batch.key = k.rows();
  batch.value = v.rows();
  ASSERT_EQ(
      kvc_run_append(run.module.get(), &batch, nullptr, run.message.get()),
      KVC_OK)
      << run.message.text;
  for (size_t i = 0; i < 3; ++i)
    run.cache.commit(run.sequences[i], before[i]);

  ASSERT_EQ(run.cache.append(run.sequences, now), KVC_OK);
  Tensor newK(11, 2, 16, 0), newV(11, 2, 24, 0);
  for (int64_t row = 0; row < 11; ++row)
    for (int64_t head = 0; head < 2; ++head) {
      int64_t from = row < 10 ? row : 42;
      for (int64_t c = 0; c < 16; ++c)
        newK.at(row, head, c) = run.k.at(from, head, c);
      for (int64_t c = 0; c < 24; ++c)
        newV.at(row, head, c) = run.v.at(from, head, c);
    }
  PlanPtr plan = run.plan();
  batch = run.batch(run.queryStart);
  batch.key = newK.rows();
  batch.value = newV.rows();
  // Alone, attend refuses rows that nobody has written.
  EXPECT_EQ(run.attend(plan, batch), KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(std::strstr(run.message.text, "reserved tokens written"))
      << run.message.text;
  kvc_out_rows out = run.out.out(), lse = run.lse.out();
  FakeModule::resetCounts();
  run.q.at(10, 0, 0) = NAN;
  EXPECT_EQ(kvc_run(plan.get(), &batch, nullptr, run.message.get(), &out, &lse),
            KVC_INVALID_DATA);
  EXPECT_EQ(FakeModule::appendCalls(), 0) << "attend's input is checked first";
  run.q.at(10, 0, 0) = 0.5f;
  ASSERT_EQ(kvc_run(plan.get(), &batch, nullptr, run.message.get(), &out, &lse),
            KVC_OK)
      << run.message.text;
  run.check();
  for (size_t i = 0; i < 3; ++i)
    run.cache.commit(run.sequences[i], now[i]);
}

TEST(Attend, BadBatchesWriteNothing) {
  SpecText text = pagedText(4);
  text.attention = R"(, "alibi": true, "sink_logits": true)";
  BatchRun run(text, {1, 3}, {9, 6});
  run.appendAll(100);
  PlanPtr plan = run.plan();
  kvc_batch good = run.batch(run.queryStart);
  FakeModule::resetCounts();
  auto refuses = [&](const kvc_batch &batch, const char *text,
                     kvc_status expected = KVC_INVALID_ARGUMENT) {
    EXPECT_EQ(run.attend(plan, batch), expected) << text;
    EXPECT_TRUE(std::strstr(run.message.text, text)) << run.message.text;
    EXPECT_EQ(FakeModule::mergeCalls(), 0);
  };
  kvc_batch batch = good;
  batch.query.data = nullptr;
  refuses(batch, "q: expected 4 tokens, got null");
  batch = good;
  batch.alibi_slopes = nullptr;
  refuses(batch, "alibi_slopes: expected 4 numbers, got null");
  batch = good;
  batch.sink_logits = nullptr;
  refuses(batch, "sink_logits: expected 4 numbers, got null");
  run.slopes[2] = -INFINITY;
  refuses(good, "alibi_slopes[2]: expected a finite number, got -inf",
          KVC_INVALID_DATA);
  run.slopes[2] = 0;
  run.sinks[3] = INFINITY;
  refuses(good, "sink_logits[3]: expected a finite number or -inf, got inf",
          KVC_INVALID_DATA);
  run.sinks[3] = NAN;
  refuses(good, "sink_logits[3]", KVC_INVALID_DATA);
  run.sinks[3] = 0;
  run.q.at(2, 3, 15) = NAN;
  refuses(good, "q[2, 3, 15]: expected a finite number, got NaN",
          KVC_INVALID_DATA);
  run.q.at(2, 3, 15) = 0;
  std::vector<kvc_sequence> stale = {run.sequences[0], 99};
  batch = good;
  batch.sequences = stale.data();
  refuses(batch, "sequence: expected one that exists", KVC_STALE);
  kvc_out_rows none = {nullptr, 0, 0}, lse = run.lse.out();
  EXPECT_EQ(kvc_run_attend(plan.get(), &good, nullptr, run.message.get(), &none,
                           &lse),
            KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(std::strstr(run.message.text, "out: expected 4 tokens"));
  EXPECT_EQ(kvc_run_attend(plan.get(), &good, nullptr, nullptr, nullptr, &lse),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_run_attend(nullptr, &good, nullptr, nullptr, nullptr, &lse),
            KVC_INVALID_ARGUMENT);
  // The flag skips the look at the data only.
  run.q.at(2, 3, 15) = NAN;
  batch = good;
  batch.flags = KVC_SKIP_FINITE_CHECK;
  EXPECT_EQ(run.attend(plan, batch), KVC_OK) << run.message.text;
  batch.sink_logits = nullptr;
  EXPECT_EQ(run.attend(plan, batch), KVC_INVALID_ARGUMENT);
}

TEST(Attend, PlansRefuseWhatIsBeyondThem) {
  BatchRun run(pagedText(4), {2, 3}, {9, 6});
  run.appendAll(100);
  auto planOf = [&](std::vector<int32_t> queries,
                    std::vector<int32_t> lengths) {
    kvc_plan_options options = {sizeof(options),         run.module.get(),
                                int64_t(queries.size()), queries.data(),
                                lengths.data(),          nullptr};
    kvc_plan *plan = nullptr;
    EXPECT_EQ(kvc_plan_create(&options, nullptr, &plan), KVC_OK);
    return PlanPtr(plan);
  };
  kvc_batch batch = run.batch(run.queryStart);
  EXPECT_EQ(run.attend(planOf({2}, {9}), batch), KVC_UNSUPPORTED);
  EXPECT_TRUE(std::strstr(run.message.text, "at most the plan's 1, got 2"));
  EXPECT_EQ(run.attend(planOf({2, 2}, {9, 6}), batch), KVC_UNSUPPORTED);
  EXPECT_EQ(run.attend(planOf({2, 3}, {8, 6}), batch), KVC_UNSUPPORTED);
  EXPECT_TRUE(std::strstr(run.message.text, "8 keys for sequence 0"))
      << run.message.text;
  EXPECT_EQ(run.attend(planOf({2, 3, 1}, {9, 6, 0}), batch), KVC_OK);

  kvc_plan *plan = nullptr;
  int32_t one = 1, negative = -1;
  kvc_plan_options options = {sizeof(options), run.module.get(), 1, &one,
                              nullptr,         nullptr};
  EXPECT_EQ(kvc_plan_create(&options, nullptr, &plan), KVC_INVALID_ARGUMENT);
  options.lengths = &negative;
  EXPECT_EQ(kvc_plan_create(&options, nullptr, &plan), KVC_INVALID_ARGUMENT);
  options.num_sequences = -1;
  EXPECT_EQ(kvc_plan_create(&options, nullptr, &plan), KVC_INVALID_ARGUMENT);
  options.module = nullptr;
  EXPECT_EQ(kvc_plan_create(&options, nullptr, &plan), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_plan_create(nullptr, nullptr, &plan), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(plan, nullptr);
}

TEST(Attend, ALongBoundCostsNoMemoryBeforeItIsUsed) {
  BatchRun run(pagedText(4), {1}, {9});
  int32_t queries = 1, length = std::numeric_limits<int32_t>::max();
  kvc_plan_options options = {sizeof(options), run.module.get(), 1,
                              &queries,        &length,          nullptr};
  kvc_plan *made = nullptr;
  ASSERT_EQ(kvc_plan_create(&options, run.message.get(), &made), KVC_OK)
      << run.message.text;
  PlanPtr plan(made);
  run.appendAll(9);
  ASSERT_EQ(run.attend(plan, run.batch(run.queryStart)), KVC_OK);
  run.check();
}
