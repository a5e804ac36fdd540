//===- append_test.cpp - Writing rows and reading them back ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "RunFixture.h"

#include <cstring>

using namespace kvc::test;

namespace {

/// Reads every sequence back and compares with the given rows.
void expectStored(BatchRun &run, const kvc_parallel_for *threads = nullptr) {
  for (size_t i = 0; i < run.lengths.size(); ++i) {
    int64_t length = run.lengths[i];
    std::vector<float> k(
        size_t(length * run.info.kv_heads * run.info.head_dim));
    std::vector<float> v(
        size_t(length * run.info.kv_heads * run.info.value_dim));
    kvc_unpacked parts[] = {{sizeof(kvc_unpacked), nullptr, nullptr, nullptr,
                             k.data(), nullptr, nullptr},
                            {sizeof(kvc_unpacked), nullptr, nullptr, nullptr,
                             v.data(), nullptr, nullptr}};
    ASSERT_EQ(kvc_cache_unpack(run.cache.get(), run.module.get(),
                               run.sequences[i], 0, length, threads,
                               run.message.get(), parts, 2),
              KVC_OK)
        << run.message.text;
    size_t kIndex = 0, vIndex = 0;
    for (int64_t t = 0; t < length; ++t)
      for (int64_t head = 0; head < run.info.kv_heads; ++head) {
        for (int64_t c = 0; c < run.info.head_dim; ++c)
          ASSERT_EQ(k[kIndex++], run.k.at(run.keyStart[i] + t, head, c))
              << "sequence " << i << " token " << t;
        for (int64_t c = 0; c < run.info.value_dim; ++c)
          ASSERT_EQ(v[vIndex++], run.v.at(run.keyStart[i] + t, head, c));
      }
  }
  EXPECT_EQ(FakeModule::brokenPromises(), 0);
}

const std::vector<int64_t> kLengths = {0, 1, 63, 64, 65, 200, 700};

std::vector<std::string> layouts() {
  std::vector<std::string> result;
  for (std::string order : {"nhd", "hnd", "auto"}) {
    result.push_back(R"({"kind": "contiguous", "order": ")" + order + "\"}");
    for (int page : {1, 4, 16, 64, 256})
      result.push_back(R"({"kind": "paged", "page": )" + std::to_string(page) +
                       R"(, "order": ")" + order + "\"}");
  }
  return result;
}

} // namespace

TEST(Append, RowsAreReadBackIntoStructsOfANewerHeader) {
  struct Newer {
    kvc_unpacked known;
    int64_t unknown;
  };
  BatchRun run(SpecText(), {0}, {5});
  run.appendAll(5);
  std::vector<float> k(size_t(5 * run.info.kv_heads * run.info.head_dim)),
      v(size_t(5 * run.info.kv_heads * run.info.value_dim));
  Newer parts[2] = {};
  parts[0].known.values = k.data();
  parts[1].known.values = v.data();
  for (Newer &part : parts)
    part.known.struct_size = sizeof(Newer);
  auto unpack = [&] {
    return kvc_cache_unpack(run.cache.get(), run.module.get(), run.sequences[0],
                            0, 5, nullptr, run.message.get(), &parts[0].known,
                            2);
  };
  ASSERT_EQ(unpack(), KVC_OK) << run.message.text;
  EXPECT_EQ(k.front(), run.k.at(0, 0, 0));
  EXPECT_EQ(v.front(), run.v.at(0, 0, 0));
  EXPECT_EQ(v.back(),
            run.v.at(4, run.info.kv_heads - 1, run.info.value_dim - 1));

  parts[1].known.struct_size = sizeof(kvc_unpacked);
  EXPECT_EQ(unpack(), KVC_INVALID_ARGUMENT);
  EXPECT_NE(std::string(run.message.text).find("expected one struct_size"),
            std::string::npos)
      << run.message.text;
}

TEST(Append, StoredRowsDoNotDependOnHowTheyCame) {
  for (const std::string &layout : layouts())
    for (int64_t chunk : {1, 7, 64, 1000}) {
      SCOPED_TRACE(layout + " chunk " + std::to_string(chunk));
      SpecText text;
      text.layout = layout;
      std::vector<int64_t> none(kLengths.size(), 0);
      BatchRun run(text, none, kLengths);
      run.appendAll(chunk);
      expectStored(run);
    }
}

TEST(Append, ThreadsWriteTheSame) {
  kvc_thread_pool *made = nullptr;
  ASSERT_EQ(kvc_thread_pool_create(4, nullptr, 0, nullptr, &made), KVC_OK);
  PoolPtr pool(made);
  kvc_parallel_for loop = {};
  kvc_thread_pool_loop(made, nullptr, &loop);
  BatchRun run(pagedText(16), std::vector<int64_t>(kLengths.size(), 0),
               kLengths);
  run.appendAll(50, &loop);
  expectStored(run, &loop);
}

TEST(Append, CallsAtTheSameTimeHaveWorkspacesOfTheirOwn) {
  kvc_thread_pool *made = nullptr;
  ASSERT_EQ(kvc_thread_pool_create(4, nullptr, 0, nullptr, &made), KVC_OK);
  PoolPtr pool(made);
  kvc_parallel_for loop = {};
  kvc_thread_pool_loop(made, nullptr, &loop);
  // Two heads of three sequences: all at once, two at once, one by one.
  const std::pair<int64_t, std::vector<int64_t>> cases[] = {
      {4096, {6}},
      {int64_t(24) << 20, {2, 2, 2}},
      {int64_t(65) << 20, {1, 1, 1, 1, 1, 1}}};
  for (const auto &[bytes, launched] : cases) {
    Tiles tiles;
    tiles.appendWorkspace = bytes;
    TestDevice device;
    {
      BatchRun run(SpecText(), {0, 0, 0}, {3, 5, 7}, 0, tiles, device.get());
      run.appendAll(1000);
      EXPECT_EQ(device.launched, launched);
      expectStored(run);
    }
    EXPECT_EQ(device.writesBehind, 0);
    BatchRun run(SpecText(), {0, 0, 0}, {3, 5, 7}, 0, tiles);
    run.appendAll(1000, &loop);
    expectStored(run, &loop);
  }
}

TEST(Append, StridesAreTheCallers) {
  std::vector<int64_t> lengths = {3, 5};
  BatchRun run(pagedText(4), {0, 0}, lengths, /*padding=*/5);
  ASSERT_EQ(run.cache.append(run.sequences, lengths), KVC_OK);
  kvc_batch batch = run.batch(run.keyStart);
  ASSERT_EQ(
      kvc_run_append(run.module.get(), &batch, nullptr, run.message.get()),
      KVC_OK)
      << run.message.text;
  run.cache.commit(run.sequences[0], 3);
  run.cache.commit(run.sequences[1], 5);
  expectStored(run);
}

TEST(Append, RollbackLeavesTheCommittedRows) {
  BatchRun run(SpecText(), {0}, {100});
  run.appendAll(100);
  ASSERT_EQ(run.cache.append(run.sequences, {500}), KVC_OK);
  ASSERT_EQ(kvc_cache_rollback(run.cache.get(), run.sequences[0], nullptr),
            KVC_OK);
  EXPECT_EQ(run.cache.length(run.sequences[0]), 100);
  expectStored(run);
}

TEST(Append, SlotMapping) {
  // Runs of one page must not meet in one launch: the device reverses those.
  TestDevice device;
  BatchRun run(pagedText(4), {}, {}, 0, {}, device.get());
  // Rows 0-2 fill slots 5-7, row 3 is skipped, row 4 begins another page, rows
  // 5 and 6 go back to the first page around a gap, row 7 overwrites row 0.
  std::vector<int64_t> slots = {5, 6, 7, -1, 12, 8, 10, 5};
  Tensor k(8, 2, 16, 1, 3), v(8, 2, 24, 2, 3);
  k.at(3, 0, 0) = NAN; // Nobody reads a row that is skipped.
  kvc_batch batch = run.batch(run.keyStart);
  batch.sequences = nullptr;
  batch.token_start = nullptr;
  batch.key = k.rows();
  batch.value = v.rows();
  batch.num_slots = int64_t(slots.size());
  batch.slot_mapping = slots.data();
  ASSERT_EQ(
      kvc_run_append(run.module.get(), &batch, nullptr, run.message.get()),
      KVC_OK)
      << run.message.text;
  // Five runs of slots, two kv heads.
  EXPECT_EQ(FakeModule::appendCalls(), 10);
  kvc_cache_view view = run.cache.view(run.cache.create());
  auto keyAt = [&](int64_t slot, int64_t head, int64_t c) {
    uint8_t *page =
        view.regions[0].base + slot / 4 * view.regions[0].page_stride;
    return reinterpret_cast<float *>(page)[(slot % 4 * 2 + head) * 16 + c];
  };
  for (size_t row = 1; row < slots.size(); ++row)
    if (slots[row] >= 0) // Slot 5 holds row 7, the last one.
      for (int64_t head = 0; head < 2; ++head)
        ASSERT_EQ(keyAt(slots[row], head, 3), k.at(int64_t(row), head, 3))
            << row;
  EXPECT_TRUE(std::isnan(keyAt(9, 0, 0))) << "the gap is as it was";
}

TEST(Append, SlotErrors) {
  BatchRun run(pagedText(4), {}, {});
  Tensor k(2, 2, 16, 1), v(2, 2, 24, 2);
  std::vector<int64_t> slots = {4, 5};
  kvc_batch good = run.batch(run.keyStart);
  good.sequences = nullptr;
  good.key = k.rows();
  good.value = v.rows();
  good.num_slots = 2;
  good.slot_mapping = slots.data();
  auto refuses = [&](const kvc_batch &batch, const char *text) {
    kvc_status status =
        kvc_run_append(run.module.get(), &batch, nullptr, run.message.get());
    EXPECT_NE(status, KVC_OK) << text;
    EXPECT_NE(std::string(run.message.text).find(text), std::string::npos)
        << run.message.text;
    EXPECT_EQ(FakeModule::appendCalls(), 0);
  };
  for (int64_t bad :
       {int64_t(-2), int64_t(4097 * 4), std::numeric_limits<int64_t>::max()}) {
    slots[1] = bad;
    refuses(good, "slot_mapping[1]: expected -1 or a slot below 16388");
  }
  slots[1] = 5;
  kvc_batch batch = good;
  batch.num_slots = -1;
  refuses(batch, "num_slots");
  batch = good;
  batch.slot_mapping = nullptr;
  refuses(batch, "slot_mapping: expected 2 slots, got null");
  batch = good;
  batch.sequences = run.sequences.data();
  kvc_sequence sequence = run.cache.create();
  batch.sequences = &sequence;
  refuses(batch, "got both");
  v.at(1, 1, 2) = INFINITY;
  refuses(good, "v[1, 1, 2]: expected a finite number, got inf");
  batch = good;
  batch.flags = KVC_SKIP_FINITE_CHECK;
  EXPECT_EQ(kvc_run_append(run.module.get(), &batch, nullptr, nullptr), KVC_OK);
  BatchRun contiguous(SpecText(), {}, {});
  kvc_batch other = good;
  other.cache = contiguous.cache.get();
  EXPECT_EQ(kvc_run_append(contiguous.module.get(), &other, nullptr,
                           contiguous.message.get()),
            KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(std::strstr(contiguous.message.text, "paged"))
      << contiguous.message.text;
}

TEST(Append, BadBatchesWriteNothing) {
  std::vector<int64_t> lengths = {3, 5};
  BatchRun run(pagedText(4), {0, 0}, lengths);
  kvc_batch good = run.batch(run.keyStart);
  auto refuses = [&](const kvc_batch &batch, const char *text,
                     kvc_status expected = KVC_INVALID_ARGUMENT) {
    EXPECT_EQ(
        kvc_run_append(run.module.get(), &batch, nullptr, run.message.get()),
        expected)
        << text;
    EXPECT_NE(std::string(run.message.text).find(text), std::string::npos)
        << run.message.text;
    EXPECT_EQ(FakeModule::appendCalls(), 0);
  };
  refuses(good, "as many rows as it has reserved (0), got 3");
  ASSERT_EQ(run.cache.append(run.sequences, lengths), KVC_OK);

  kvc_batch batch = good;
  batch.cache = nullptr;
  refuses(batch, "batch.cache");
  batch = good;
  batch.num_sequences = -1;
  refuses(batch, "num_sequences");
  batch = good;
  batch.flags = 8;
  refuses(batch, "flags");
  batch = good;
  batch.token_start = nullptr;
  refuses(batch, "token_start: expected 3 offsets");
  std::vector<int32_t> decreasing = {0, 3, 2}, negative = {-1, 3, 8};
  batch.token_start = decreasing.data();
  refuses(batch, "token_start[2]: expected at least 3, got 2");
  batch.token_start = negative.data();
  refuses(batch, "token_start[0]");
  batch = good;
  batch.sequences = nullptr;
  refuses(batch, "expected sequences or slot_mapping, got neither");
  std::vector<kvc_sequence> twice = {run.sequences[0], run.sequences[0]};
  std::vector<int32_t> rows = {0, 3, 6};
  batch.sequences = twice.data();
  batch.token_start = rows.data();
  refuses(batch, "each sequence once");
  std::vector<kvc_sequence> stale = {run.sequences[0], 12345};
  batch.sequences = stale.data();
  refuses(batch, "sequence: expected one that exists", KVC_STALE);
  batch = good;
  batch.key.data = nullptr;
  refuses(batch, "k: expected 8 tokens, got null");
  batch = good;
  batch.value.data = reinterpret_cast<const char *>(run.v.data.data()) + 2;
  refuses(batch, "v: expected an address that is a multiple of 4");
  batch = good;
  batch.key.head_stride = -16;
  refuses(batch, "k: expected strides of at least 0");
  batch.key.head_stride = std::numeric_limits<int64_t>::max() / 2;
  refuses(batch, "k: expected strides within 2^63 bytes");
  run.k.at(4, 1, 7) = -INFINITY;
  refuses(good, "k[4, 1, 7]: expected a finite number, got -inf",
          KVC_INVALID_DATA);
  EXPECT_EQ(kvc_run_append(nullptr, &good, nullptr, nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_run_append(run.module.get(), nullptr, nullptr, nullptr),
            KVC_INVALID_ARGUMENT);
  BatchRun other(pagedText(8), {}, {});
  batch = good;
  batch.cache = other.cache.get();
  refuses(batch, "layout hash");
}

TEST(Append, UnpackArguments) {
  BatchRun run(pagedText(4), {0}, {10});
  run.appendAll(10);
  std::vector<float> values(10 * 2 * 16, 0.f);
  kvc_unpacked parts[] = {{sizeof(kvc_unpacked), nullptr, nullptr, nullptr,
                           values.data(), nullptr, nullptr},
                          {sizeof(kvc_unpacked), nullptr, nullptr, nullptr,
                           nullptr, nullptr, nullptr}};
  auto unpack = [&](int64_t begin, int64_t end, int64_t count = 2) {
    return kvc_cache_unpack(run.cache.get(), run.module.get(), run.sequences[0],
                            begin, end, nullptr, run.message.get(), parts,
                            count);
  };
  EXPECT_EQ(unpack(2, 5), KVC_OK);
  EXPECT_EQ(values[16], run.k.at(2, 1, 0));
  EXPECT_EQ(values[2 * 32], run.k.at(4, 0, 0));
  EXPECT_EQ(values[3 * 32], 0.f) << "beyond the range";
  EXPECT_EQ(unpack(3, 3), KVC_OK);
  EXPECT_EQ(unpack(0, 11), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(unpack(-1, 3), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(unpack(5, 4), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(unpack(0, 10, 1), KVC_INVALID_ARGUMENT) << "parts of the spec";
  parts[0].values = nullptr;
  EXPECT_EQ(unpack(0, 10), KVC_OK) << "nothing is wanted";
  ASSERT_EQ(run.cache.append(run.sequences, {5}), KVC_OK);
  EXPECT_EQ(unpack(0, 12), KVC_INVALID_ARGUMENT)
      << "rows that nobody has written";
}
