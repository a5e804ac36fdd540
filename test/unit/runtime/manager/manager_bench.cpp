//===- manager_bench.cpp - What calls of a manager cost -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// int8 in pages of 16 tokens unless a name says otherwise. The bars: a block
// allocated or freed in 100 ns, a token matched in 200 ns, a step of 256
// sequences of 8192 tokens planned in 50 us, a fork without a page copied.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "kvc/manager.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <numeric>

using namespace kvc::test;

namespace {

void require(kvc_status status) {
  if (status != KVC_OK)
    std::abort();
}

class Managed {
public:
  Managed(int64_t blocks, int64_t maxTokens, int page = 16) {
    GroupShape shape;
    shape.page = page;
    const std::string json = shape.json();
    require(kvc_spec_parse(json.data(), json.size(), nullptr, &spec));
    const kvc_layer_group group = {sizeof(group), spec, 32, blocks, 0};
    kvc_manager_options options = {};
    options.struct_size = sizeof(options);
    options.groups = &group;
    options.num_groups = 1;
    options.max_tokens = maxTokens;
    require(kvc_manager_create(&options, nullptr, &manager));
  }
  ~Managed() {
    kvc_manager_free(manager);
    kvc_spec_free(spec);
  }
  kvc_sequence create() {
    kvc_sequence sequence = 0;
    require(kvc_manager_create_sequence(manager, nullptr, &sequence));
    return sequence;
  }
  void free(kvc_sequence sequence) {
    require(kvc_manager_free_sequence(manager, sequence, nullptr));
  }
  void grow(kvc_sequence sequence, int64_t tokens) {
    const kvc_append_rows rows = {sequence, tokens, 0};
    require(kvc_manager_append(manager, &rows, 1, nullptr));
    require(kvc_manager_commit(manager, sequence, tokens, nullptr));
  }

  kvc_spec *spec = nullptr;
  kvc_manager *manager = nullptr;
};

void perItem(benchmark::State &state, const char *name, int64_t items) {
  state.counters[name] = benchmark::Counter(double(state.iterations() * items),
                                            benchmark::Counter::kIsRate |
                                                benchmark::Counter::kInvert);
}

/// 1024 blocks taken by one append and given back by a truncate.
void blocks(benchmark::State &state) {
  Managed managed(2048, 16 * 2048);
  const kvc_sequence sequence = managed.create();
  for (auto _ : state) {
    managed.grow(sequence, 16 * 1024);
    require(
        kvc_manager_truncate(managed.manager, sequence, 0, nullptr, nullptr));
  }
  perItem(state, "per_block", 1024);
}
BENCHMARK(blocks);

void match(benchmark::State &state) {
  const int64_t tokens = state.range(0);
  Managed managed(tokens, 0);
  const kvc_sequence sequence = managed.create();
  managed.grow(sequence, tokens);
  std::vector<int32_t> ids(static_cast<size_t>(tokens));
  std::iota(ids.begin(), ids.end(), 1);
  kvc_prefix prefix = {};
  require(kvc_manager_publish(managed.manager, sequence, ids.data(), tokens,
                              nullptr, nullptr, &prefix));
  for (auto _ : state) {
    require(kvc_manager_match(managed.manager, ids.data(), tokens, nullptr,
                              tokens + 1, nullptr, &prefix));
    if (prefix.length != tokens)
      std::abort();
  }
  perItem(state, "per_token", tokens);
}
BENCHMARK(match)->Arg(1024)->Arg(8192);

/// One token to each of 256 sequences of 8192, and the tables read.
void plan(benchmark::State &state) {
  constexpr int64_t kSequences = 256, kTokens = 8192;
  Managed managed(kSequences * (kTokens / 16 + 2), 0);
  std::vector<kvc_append_rows> rows;
  for (int64_t i = 0; i < kSequences; ++i) {
    rows.push_back({managed.create(), 1, 0});
    managed.grow(rows.back().sequence, kTokens - 8);
  }
  int64_t sum = 0;
  for (auto _ : state) {
    require(
        kvc_manager_append(managed.manager, rows.data(), kSequences, nullptr));
    for (const kvc_append_rows &row : rows) {
      kvc_sequence_state now = {};
      now.struct_size = sizeof(now);
      require(kvc_manager_get_sequence(managed.manager, row.sequence, 0,
                                       nullptr, &now));
      sum += now.blocks[now.num_blocks - 1];
    }
    // The same step again.
    state.PauseTiming();
    for (const kvc_append_rows &row : rows)
      require(kvc_manager_rollback(managed.manager, row.sequence, nullptr));
    state.ResumeTiming();
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(plan)->Unit(benchmark::kMicrosecond);

void fork(benchmark::State &state) {
  const int64_t tokens = state.range(0);
  Managed managed(tokens / 16 + 8, 0);
  const kvc_sequence parent = managed.create();
  managed.grow(parent, tokens);
  for (auto _ : state) {
    kvc_sequence child = 0;
    require(kvc_manager_fork(managed.manager, parent, tokens, nullptr, &child,
                             nullptr));
    managed.free(child);
  }
}
BENCHMARK(fork)->Arg(1024)->Arg(131072);

} // namespace

BENCHMARK_MAIN();
