//===- own_memory_test.cpp - Runs where memory is the device's ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Kernels are test/data/ptx/runtime/raw_f32.ptx.
//
//===----------------------------------------------------------------------===//

#include "Devices.h"
#include "RunFixture.h"

#include "kvc/Run/DeviceStep.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

using namespace kvc;
using namespace kvc::test;
using ::testing::TestWithParam;
using ::testing::Values;

namespace {

std::string readKernels() {
  std::ifstream file(KVC_TEST_DATA "/ptx/runtime/raw_f32.ptx");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty());
  return text.str();
}

/// A module of those kernels for a layout.
struct GpuModule {
  SpecText text;
  std::string json, code;
  SpecPtr spec;
  std::vector<kvc_kernel_info> kernels;
  kvc_module_table table;
  ModulePtr module;

  explicit GpuModule(const SpecText &given)
      : text(given), json(given.json()), code(readKernels()),
        spec(parse(json)) {
    const char *hash = nullptr;
    kvc_layout_hash(spec.get(), &hash);
    kernels = {
        {"decode", nullptr, 4, 16, 16, "f32", "decode_raw", 32, 0, 0, 0},
        {"prefill", nullptr, 8, 16, 16, "f32", "prefill_raw", 32, 0, 0, 0},
        {"append", nullptr, 0, 0, 0, "", "append_raw", 32, 0, 0, 0},
        {"merge", nullptr, 0, 0, 0, "", "merge_raw", 32, 0, 0, 0},
        {"unpack", nullptr, 0, 0, 0, "", "unpack_raw", 32, 0, 0, 0}};
    table = {KVC_KERNEL_ABI_VERSION,
             int32_t(kernels.size()),
             json.c_str(),
             hash,
             "sm_80",
             kernels.data(),
             "",
             code.c_str(),
             int64_t(code.size() + 1)};
    Message message;
    kvc_module *made = nullptr;
    EXPECT_EQ(kvc_module_create(&table, message.get(), &made), KVC_OK)
        << message.text;
    module.reset(made);
  }
  kvc_module *get() const { return module.get(); }
};

/// Sequences of a cache on a device, whose keys and values are known.
struct Engine {
  OwnDevice &device;
  GpuModule module;
  Cache cache;
  kvc_spec_info info = {};
  Message message;
  std::vector<kvc_sequence> sequences;
  std::vector<Tensor> keys, values; ///< Of each sequence, all that it may get.
  std::vector<int64_t> lengths;

  Engine(OwnDevice &device, const SpecText &text, size_t count,
         int64_t most = 100)
      : device(device), module(text) {
    kvc_cache_options options = cacheOptions(module.spec.get());
    options.capacity_tokens = 1 << 13;
    options.flags = KVC_CACHE_POISON;
    options.device = device.get();
    cache = Cache(options);
    info.struct_size = sizeof(info);
    kvc_spec_get_info(module.spec.get(), nullptr, &info);
    for (size_t i = 0; i < count; ++i) {
      sequences.push_back(cache.create());
      keys.emplace_back(most, info.kv_heads, info.head_dim, uint32_t(10 + i));
      values.emplace_back(most, info.kv_heads, info.value_dim,
                          uint32_t(50 + i));
      lengths.push_back(0);
    }
  }

  /// Rows of one step: `tokens[i]` new ones of sequence i, on the device.
  struct Step {
    std::vector<int32_t> start = {0};
    std::vector<float> query, key, value;
    void *deviceQuery = nullptr, *deviceKey = nullptr, *deviceValue = nullptr;
    void *out = nullptr, *lse = nullptr;
    kvc_batch batch = {};
    kvc_out_rows outRows = {}, lseRows = {};
  };
  /// Memory for steps of at most so many tokens; rows of each step go there.
  void reserve(int64_t tokens) {
    step.deviceQuery =
        device.allocate(tokens * info.q_heads * info.head_dim * 4);
    step.deviceKey =
        device.allocate(tokens * info.kv_heads * info.head_dim * 4);
    step.deviceValue =
        device.allocate(tokens * info.kv_heads * info.value_dim * 4);
    step.out = device.allocate(tokens * info.q_heads * info.value_dim * 4);
    step.lse = device.allocate(tokens * info.q_heads * 4);
  }
  /// Reserves rows and puts the step's inputs on the device.
  void prepare(const std::vector<int64_t> &tokens, void *stream = nullptr) {
    ASSERT_EQ(cache.append(sequences, tokens), KVC_OK) << cache.message.text;
    step.start = {0};
    step.query.clear();
    step.key.clear();
    step.value.clear();
    for (size_t i = 0; i < sequences.size(); ++i) {
      step.start.push_back(step.start.back() + int32_t(tokens[i]));
      auto from = [&](Tensor &tensor) {
        return tensor.data.begin() + lengths[i] * tensor.tokenStride;
      };
      step.key.insert(step.key.end(), from(keys[i]),
                      from(keys[i]) + tokens[i] * keys[i].tokenStride);
      step.value.insert(step.value.end(), from(values[i]),
                        from(values[i]) + tokens[i] * values[i].tokenStride);
      lengths[i] += tokens[i];
    }
    Tensor query(step.start.back(), info.q_heads, info.head_dim,
                 uint32_t(1000 + step.start.back() + lengths[0]));
    step.query = query.data;
    // The step before may still read them.
    device.synchronize();
    device.write(step.deviceQuery, step.query);
    device.write(step.deviceKey, step.key);
    device.write(step.deviceValue, step.value);
    step.batch = {};
    step.batch.struct_size = sizeof(kvc_batch);
    step.batch.cache = cache.get();
    step.batch.num_sequences = int64_t(sequences.size());
    step.batch.token_start = step.start.data();
    step.batch.sequences = sequences.data();
    step.batch.query.data = step.deviceQuery;
    step.batch.key.data = step.deviceKey;
    step.batch.value.data = step.deviceValue;
    step.batch.stream = stream;
    step.outRows = {step.out, 0, 0};
    step.lseRows = {step.lse, 0, 0};
  }
  void commit(const std::vector<int64_t> &tokens) {
    for (size_t i = 0; i < sequences.size(); ++i)
      cache.commit(sequences[i], tokens[i]);
  }
  PlanPtr plan(int32_t queries, int32_t length) {
    std::vector<int32_t> q(sequences.size(), queries),
        l(sequences.size(), length);
    kvc_plan_options options = {sizeof(options),   module.get(),
                                int64_t(q.size()), q.data(),
                                l.data(),          device.get()};
    kvc_plan *made = nullptr;
    EXPECT_EQ(kvc_plan_create(&options, message.get(), &made), KVC_OK)
        << message.text;
    return PlanPtr(made);
  }
  /// Compares the step's outputs with the definition.
  void check(bool hasLse = true) {
    const auto tokens = size_t(step.start.back());
    const auto qHeads = size_t(info.q_heads), dim = size_t(info.value_dim);
    const auto out = device.read<float>(step.out, tokens * qHeads * dim);
    const auto lse = device.read<float>(step.lse, tokens * qHeads);
    Tensor query(0, info.q_heads, info.head_dim, 0);
    query.data = step.query;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const int64_t begin = step.start[i], count = step.start[i + 1] - begin;
      for (int64_t row = 0; row < count; ++row)
        for (int64_t head = 0; head < info.q_heads; ++head) {
          const Expected expected = expectedOf(info, query, keys[i], values[i],
                                               {begin, count, 0, lengths[i]},
                                               row, head, nullptr, nullptr);
          const auto at = size_t(begin + row) * qHeads + size_t(head);
          for (size_t c = 0; c < dim; ++c)
            ASSERT_NEAR(out[at * dim + c], expected.out[c], 1e-4)
                << "sequence " << i << " row " << row << " head " << head;
          if (hasLse)
            ASSERT_NEAR(lse[at], expected.lse, 1e-4);
        }
    }
    EXPECT_EQ(device.findings, std::vector<std::string>());
  }

  Step step;
};

const SpecText kContiguous;

class OwnMemory : public TestWithParam<const char *> {
protected:
  OwnDevice device{GetParam()};
};

TEST_P(OwnMemory, AppendsAndAttends) {
  for (const SpecText &text : {pagedText(16), kContiguous}) {
    Engine engine(device, text, 3);
    engine.reserve(200);
    const PlanPtr plan = engine.plan(30, 90);
    // Prefill and decode in one batch, an empty sequence, long and short ones.
    for (const std::vector<int64_t> &tokens :
         {std::vector<int64_t>{30, 0, 3}, {1, 1, 1}, {0, 17, 5}, {9, 2, 20}}) {
      engine.prepare(tokens);
      ASSERT_EQ(kvc_run(plan.get(), &engine.step.batch, nullptr,
                        engine.message.get(), &engine.step.outRows,
                        &engine.step.lseRows),
                KVC_OK)
          << engine.message.text;
      engine.check();
      engine.commit(tokens);
    }
  }
}

/// A device that writes down when it is waited for and when memory goes.
struct Watched {
  kvc_device table;
  static const kvc_device *watched;
  static std::string calls;

  explicit Watched(const OwnDevice &device) : table(*device.get()) {
    watched = device.get();
    calls.clear();
    table.synchronize = [](void *self, kvc_diag *diag) {
      calls += "wait ";
      return watched->synchronize(self, diag);
    };
    table.release = [](void *self, void *memory, int64_t bytes) {
      calls += "release ";
      return watched->release(self, memory, bytes);
    };
  }
  /// What was called since the last time.
  static std::string take() { return std::exchange(calls, ""); }
};
const kvc_device *Watched::watched;
std::string Watched::calls;

// Work that is under way may use a run: it is waited for before the run goes,
// and else nothing waits.
TEST_P(OwnMemory, WaitsForRunsOfSequencesBeforeTheyGo) {
  const Watched watched(device);
  const GpuModule module(kContiguous);
  kvc_cache_options options = cacheOptions(module.spec.get());
  options.capacity_tokens = 1 << 13;
  options.device = &watched.table;
  Cache cache(options);
  const std::vector<kvc_sequence> sequences = {cache.create()};
  auto append = [&](int64_t tokens) {
    ASSERT_EQ(cache.append(sequences, {tokens}), KVC_OK) << cache.message.text;
    cache.commit(sequences[0], tokens);
  };
  append(100);
  EXPECT_EQ(Watched::take(), "wait ");
  append(1000);
  EXPECT_TRUE(Watched::take().starts_with("wait release "));
  for (int i = 0; i < 10; ++i)
    append(1);
  EXPECT_EQ(Watched::take(), "");
  EXPECT_EQ(kvc_cache_free_sequence(cache.get(), sequences[0], nullptr),
            KVC_OK);
  EXPECT_TRUE(Watched::take().starts_with("wait release "));
}

TEST_P(OwnMemory, ReadsItselfBack) {
  for (const SpecText &text : {pagedText(16), kContiguous}) {
    Engine engine(device, text, 2, 600);
    engine.reserve(600);
    engine.prepare({520, 37});
    ASSERT_EQ(kvc_run_append(engine.module.get(), &engine.step.batch, nullptr,
                             engine.message.get()),
              KVC_OK)
        << engine.message.text;
    std::vector<float> k(520 * 2 * 16), v(520 * 2 * 24);
    kvc_unpacked parts[2] = {};
    for (kvc_unpacked &part : parts)
      part.struct_size = sizeof(part);
    parts[0].values = k.data();
    parts[1].values = v.data();
    ASSERT_EQ(kvc_cache_unpack(engine.cache.get(), engine.module.get(),
                               engine.sequences[0], 0, 520, nullptr,
                               engine.message.get(), parts, 2),
              KVC_OK)
        << engine.message.text;
    engine.keys[0].data.resize(k.size());
    engine.values[0].data.resize(v.size());
    EXPECT_EQ(k, engine.keys[0].data);
    EXPECT_EQ(v, engine.values[0].data);
    EXPECT_EQ(device.findings, std::vector<std::string>());
  }
}

TEST_P(OwnMemory, ReplaysACapturedStepWhileLengthsGrow) {
  for (const SpecText &text : {pagedText(16), kContiguous}) {
    Engine engine(device, text, 3);
    engine.reserve(120);
    void *stream, *graph = nullptr;
    ASSERT_EQ(device->stream_create(device.self(), nullptr, &stream), KVC_OK);
    const PlanPtr first = engine.plan(40, 60);
    engine.prepare({40, 1, 15}, stream);
    ASSERT_EQ(kvc_run(first.get(), &engine.step.batch, nullptr,
                      engine.message.get(), &engine.step.outRows, nullptr),
              KVC_OK)
        << engine.message.text;
    engine.check(/*hasLse=*/false);
    engine.commit({40, 1, 15});

    const PlanPtr plan = engine.plan(2, 70);
    const uint32_t both = KVC_RUN_APPEND | KVC_RUN_ATTEND;
    const std::vector<std::vector<int64_t>> steps = {
        {1, 1, 1}, {2, 0, 1}, {1, 2, 2}, {2, 2, 2}};
    for (const std::vector<int64_t> &tokens : steps) {
      engine.prepare(tokens, stream);
      ASSERT_EQ(kvc_run_update(plan.get(), &engine.step.batch, both,
                               engine.message.get(), &engine.step.outRows,
                               &engine.step.lseRows),
                KVC_OK)
          << engine.message.text;
      if (!graph) {
        ASSERT_EQ(device->capture_begin(device.self(), stream, nullptr),
                  KVC_OK);
        ASSERT_EQ(
            kvc_run_launch(plan.get(), both, stream, engine.message.get()),
            KVC_OK)
            << engine.message.text;
        ASSERT_EQ(device->capture_end(device.self(), stream, nullptr, &graph),
                  KVC_OK);
      }
      ASSERT_EQ(device->graph_launch(device.self(), graph, stream,
                                     engine.message.get()),
                KVC_OK)
          << engine.message.text;
      ASSERT_EQ(device->stream_synchronize(device.self(), stream,
                                           engine.message.get()),
                KVC_OK)
          << engine.message.text;
      engine.check();
      engine.commit(tokens);
    }
    // Beyond the bound.
    engine.prepare({2, 0, 0}, stream);
    engine.commit({2, 0, 0});
    for (int i = 0; i < 12; ++i) {
      engine.prepare({2, 0, 0}, stream);
      engine.commit({2, 0, 0});
    }
    engine.prepare({1, 1, 1}, stream);
    EXPECT_EQ(kvc_run_update(plan.get(), &engine.step.batch, both,
                             engine.message.get(), &engine.step.outRows,
                             nullptr),
              KVC_UNSUPPORTED);
    EXPECT_EQ(device->graph_destroy(device.self(), graph), KVC_OK);
    EXPECT_EQ(device->stream_destroy(device.self(), stream), KVC_OK);
  }
}

TEST_P(OwnMemory, TakesTablesAndSlotsOfTheCaller) {
  Engine engine(device, pagedText(16), 1);
  engine.reserve(60);
  engine.prepare({40});
  engine.commit({40});
  // Pages of the caller's choice; rows 0 to 39 go to them, slot by slot.
  const std::vector<int32_t> pages = {9, 4, 30};
  std::vector<int64_t> slots;
  for (int64_t i = 0; i < 40; ++i)
    slots.push_back(pages[size_t(i / 16)] * 16 + i % 16);
  kvc_batch batch = engine.step.batch;
  batch.sequences = nullptr;
  batch.num_slots = 40;
  batch.slot_mapping = slots.data();
  ASSERT_EQ(kvc_run_append(engine.module.get(), &batch, nullptr,
                           engine.message.get()),
            KVC_OK)
      << engine.message.text;
  const PlanPtr plan = engine.plan(40, 40);
  const int32_t length = 40;
  batch.num_slots = 0;
  batch.slot_mapping = nullptr;
  batch.lengths = &length;
  batch.block_table = pages.data();
  batch.block_table_stride = 3;
  ASSERT_EQ(kvc_run_attend(plan.get(), &batch, nullptr, engine.message.get(),
                           &engine.step.outRows, &engine.step.lseRows),
            KVC_OK)
      << engine.message.text;
  engine.check();
}

TEST_P(OwnMemory, RefusesWhatDoesNotBelongTogether) {
  Engine engine(device, pagedText(16), 1);
  engine.reserve(10);
  engine.prepare({10});
  FakeModule onHost(pagedText(16));
  kvc_batch batch = engine.step.batch;
  EXPECT_EQ(kvc_run_append(onHost.get(), &batch, nullptr, engine.message.get()),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(engine.message.text),
            "module.target: expected one for device \"" +
                std::string(device->name) + "\", got \"fake\"");
  const int32_t one = 1;
  kvc_plan_options options = {
      sizeof(options), engine.module.get(), 1, &one, &one, nullptr};
  kvc_plan *plan = nullptr;
  EXPECT_EQ(kvc_plan_create(&options, engine.message.get(), &plan),
            KVC_INVALID_ARGUMENT);
  const PlanPtr made = engine.plan(10, 10);
  EXPECT_EQ(
      kvc_run_launch(made.get(), KVC_RUN_ATTEND, nullptr, engine.message.get()),
      KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_run_update(made.get(), &batch, 4, engine.message.get(),
                           &engine.step.outRows, nullptr),
            KVC_INVALID_ARGUMENT);
  kvc_plan_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(kvc_plan_get_info(made.get(), nullptr, &info), KVC_OK);
  EXPECT_EQ(info.decode_split, 16);
  EXPECT_GT(info.workspace_bytes, 0);
}

TEST_P(OwnMemory, WantsRowsThatWholeLoadsFit) {
  Engine engine(device, pagedText(16), 1);
  engine.reserve(10);
  engine.prepare({2});
  const PlanPtr plan = engine.plan(10, 10);
  auto statusOf = [&](const kvc_batch &batch) {
    return kvc_run(plan.get(), &batch, nullptr, engine.message.get(),
                   &engine.step.outRows, nullptr);
  };
  kvc_batch batch = engine.step.batch;
  batch.key.data = static_cast<const char *>(batch.key.data) + 4;
  EXPECT_EQ(statusOf(batch), KVC_INVALID_ARGUMENT);
  batch = engine.step.batch;
  batch.value.head_stride = 26;
  EXPECT_EQ(statusOf(batch), KVC_INVALID_ARGUMENT);
  batch = engine.step.batch;
  batch.query.token_stride = 65;
  EXPECT_EQ(statusOf(batch), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(engine.message.text).rfind("q: expected an address", 0),
            0u)
      << engine.message.text;
  EXPECT_EQ(statusOf(engine.step.batch), KVC_OK) << engine.message.text;
}

/// Segments and inputs of schemes: the lists that a view points to are on the
/// device, and are those of the host.
TEST(DeviceViews, HoldRawRowsAndInputs) {
  OwnDevice device("sim");
  const SpecPtr spec = parse(R"({"kvc": 1, "name": "views", "attention":
      {"q_heads": 2, "kv_heads": 2, "head_dim": 16}, "io": {"query": "f16"},
      "key": {"codec": "int8", "scale": {"tokens": "all", "channels": 1,
              "dtype": "f16", "static": true}},
      "value": {"codec": "int8", "scale": {"tokens": 1, "channels": "all",
                "dtype": "f16"}},
      "segments": {"sink": 3, "recent": 17},
      "layout": {"kind": "paged", "page": 16, "order": "nhd"}})");
  ASSERT_TRUE(spec);
  std::vector<float> scales(2 * 16);
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = 0.5f + float(i);
  const kvc_scheme_values input = {"key_scale", scales.data(), 32};
  kvc_cache_options options = cacheOptions(spec.get());
  options.capacity_tokens = 1000;
  options.device = device.get();
  options.inputs = &input;
  options.num_inputs = 1;
  Cache cache(options);
  ASSERT_TRUE(cache.get()) << cache.message.text;
  const kvc_sequence sequence = cache.create();
  cache.grow(sequence, 100);
  Sequence *found = nullptr;
  ASSERT_EQ(cache.get()->find(sequence, nullptr, found), KVC_OK);

  const kvc_cache_view host = cache.get()->viewOf(*found);
  const ViewExtent extent = cache.get()->extentOf(*found);
  ASSERT_GT(extent.pages, 0);
  ASSERT_GT(extent.rawPages, 0);
  StepTables tables;
  std::vector<int64_t> bytes(NumSections, 0);
  bytes[Views] = viewBytes(0, true);
  bytes[Pages] = pageBytes(extent.pages) + pageBytes(extent.rawPages);
  ASSERT_EQ(tables.create(*device.get(), bytes, nullptr), KVC_OK);
  ASSERT_EQ(tables.begin(nullptr), KVC_OK);
  ViewPlacer placer(tables);
  kvc_cache_view view = host, twice = host;
  Message message;
  ASSERT_EQ(placer.place(*cache.get(), extent, message.get(), view), KVC_OK)
      << message.text;
  ASSERT_EQ(placer.place(*cache.get(), extent, message.get(), twice), KVC_OK);
  kvc_cache_view third = host;
  EXPECT_EQ(placer.place(*cache.get(), extent, message.get(), third),
            KVC_UNSUPPORTED);
  ASSERT_EQ(tables.upload(nullptr, nullptr), KVC_OK);

  auto isSame = [&](const auto *there, const auto *here, int64_t count) {
    using T = std::remove_cvref_t<decltype(*here)>;
    const auto read = device.read<T>(there, size_t(count));
    return std::memcmp(read.data(), here, size_t(count) * sizeof(T)) == 0;
  };
  EXPECT_EQ(twice.page_table, view.page_table);
  EXPECT_TRUE(isSame(view.page_table, host.page_table, extent.pages));
  EXPECT_TRUE(isSame(view.regions, host.regions, 3));
  EXPECT_EQ(view.key_coded_end, host.key_coded_end);
  const auto raw = device.read<kvc_cache_view>(view.raw, 1).front();
  EXPECT_TRUE(isSame(raw.page_table, host.raw->page_table, extent.rawPages));
  EXPECT_TRUE(isSame(raw.regions, host.raw->regions, 2));
  const float *rows = device.read<const float *>(view.inputs, 1).front();
  EXPECT_TRUE(isSame(rows, host.inputs[0], 32));
}

/// A manifest beside the kernels, in a folder of its own.
struct ManifestFile {
  std::string folder = ::testing::TempDir() + "kvc_manifest_XXXXXX";
  std::string path;

  explicit ManifestFile(const GpuModule &module) {
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    path = folder + "/raw.json";
    std::ofstream(folder + "/raw.ptx") << module.code;
    std::string kernels;
    for (const kvc_kernel_info &each : module.kernels)
      kernels += std::string(kernels.empty() ? "" : ", ") + R"({"name": ")" +
                 each.name + R"(", "tile_rows": )" +
                 std::to_string(each.tile_rows) + R"(, "tile_tokens": )" +
                 std::to_string(each.tile_tokens) + R"(, "split_tokens": )" +
                 std::to_string(each.split_tokens) +
                 R"(, "operands": "", "symbol": ")" + each.symbol +
                 R"(", "threads": 32, "shared_bytes": 0, "registers": 40})";
    write(
        R"({"abi_version": 2, "target": {"name": "sm_80"}, "layout_hash": ")" +
        std::string(module.table.layout_hash) + R"(", "code": "raw.ptx", )" +
        R"("spec": )" + module.json + R"(, "kernels": [)" + kernels + "]}");
  }
  ~ManifestFile() { std::filesystem::remove_all(folder); }
  void write(const std::string &content) {
    text = content;
    std::ofstream(path) << content;
  }
  kvc_status open(Message &message, ModulePtr &module) const {
    kvc_module *made = nullptr;
    const kvc_status status =
        kvc_module_open_code(path.c_str(), message.get(), &made);
    module.reset(made);
    return status;
  }
  std::string text;
};

TEST(ModuleCode, OpensAManifestAndItsCode) {
  OwnDevice device("sim");
  Engine engine(device, pagedText(16), 1);
  ManifestFile file(engine.module);
  ModulePtr opened;
  ASSERT_EQ(file.open(engine.message, opened), KVC_OK) << engine.message.text;
  const kvc_module_table *table = nullptr;
  ASSERT_EQ(kvc_module_get_table(opened.get(), nullptr, &table), KVC_OK);
  EXPECT_STREQ(table->target, "sm_80");
  ASSERT_EQ(table->num_kernels, 5);
  EXPECT_STREQ(table->kernels[0].symbol, "decode_raw");
  EXPECT_EQ(table->kernels[0].registers, 40);
  engine.module.module = std::move(opened);
  engine.reserve(10);
  engine.prepare({10});
  const PlanPtr plan = engine.plan(10, 10);
  ASSERT_EQ(kvc_run(plan.get(), &engine.step.batch, nullptr,
                    engine.message.get(), &engine.step.outRows,
                    &engine.step.lseRows),
            KVC_OK)
      << engine.message.text;
  engine.check();
}

TEST(ModuleCode, SaysWhatIsWrongWithAManifest) {
  OwnDevice device("sim");
  const GpuModule module(pagedText(16));
  Message message;
  ModulePtr opened;
  const struct {
    const char *from, *to, *says;
  } cases[] = {
      {"\"abi_version\": 2", "\"abi_version\": 1",
       "module.abi_version: expected 2, got 1"},
      {"\"abi_version\": 2, ", "", "\"abi_version\": expected a whole number"},
      {"\"threads\": 32", "\"threads\": 9999999999999999999",
       "\"threads\": expected a number below 2^63"},
      {"\"threads\": 32", "\"threads\": 0", "expected 1 to 1024 threads"},
      {"raw.ptx", "../raw.ptx", "expected the name of a file beside it"},
      {"raw.ptx", "none.ptx", "/none.ptx: expected a file"},
      {"\"kernels\": [", "\"kernels\": [3, ", "\"name\": expected a text"},
      {"{\"abi", "[\"abi", "expected an object of JSON"},
      {"\"kvc\": 1", "\"kvc\": 7", "module.spec_json: "},
  };
  for (const auto &each : cases) {
    ManifestFile file(module);
    std::string text = file.text;
    const size_t at = text.find(each.from);
    ASSERT_NE(at, std::string::npos) << each.from;
    file.write(text.replace(at, std::string(each.from).size(), each.to));
    EXPECT_NE(file.open(message, opened), KVC_OK) << each.to;
    EXPECT_NE(std::string(message.text).find(each.says), std::string::npos)
        << message.text;
  }
  kvc_module *made = nullptr;
  EXPECT_EQ(kvc_module_open_code("/no/such/file", message.get(), &made),
            KVC_FAILED);
  EXPECT_EQ(kvc_module_open_code("", message.get(), &made),
            KVC_INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Device, OwnMemory, Values("sim", "checked", "cuda"));

} // namespace
