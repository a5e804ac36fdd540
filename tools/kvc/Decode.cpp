//===- Decode.cpp - Steps of one query per sequence -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Decode.h"

#include "kvc/Timing.h"

#include <numeric>

using namespace kvc;

DecodeStep::DecodeStep(const Engine &engine, std::vector<int32_t> lengths,
                       Values query, std::vector<float> alibiSlopes,
                       std::vector<float> sinkLogits)
    : lengths(std::move(lengths)), starts(this->lengths.size() + 1),
      query(std::move(query)), alibiSlopes(std::move(alibiSlopes)),
      sinkLogits(std::move(sinkLogits)) {
  std::iota(starts.begin(), starts.end(), 0);
  const auto batch = static_cast<int64_t>(this->lengths.size());
  const int64_t rows = batch * engine.info().q_heads;
  out.dtype = engine.info().output;
  out.bytes.resize(rows * engine.info().value_dim * bytesOf(out.dtype));
  lse.resize(rows);

  const std::vector<int32_t> one(batch, 1);
  kvc_plan_options options{};
  options.struct_size = sizeof(options);
  options.module = engine.module();
  options.num_sequences = batch;
  options.queries = one.data();
  options.lengths = this->lengths.data();
  Diag diag;
  kvc_plan *planned = nullptr;
  diag.check(kvc_plan_create(&options, diag, &planned));
  plan.reset(planned);
}

kvc_batch DecodeStep::batchOver(kvc_cache *cache) const {
  kvc_batch batch{};
  batch.struct_size = sizeof(batch);
  batch.cache = cache;
  // Checking is the caller's work and was done when the query was read.
  batch.flags = KVC_SKIP_FINITE_CHECK;
  batch.num_sequences = static_cast<int64_t>(lengths.size());
  batch.token_start = starts.data();
  batch.query.data = query.bytes.data();
  batch.alibi_slopes = alibiSlopes.empty() ? nullptr : alibiSlopes.data();
  batch.sink_logits = sinkLogits.empty() ? nullptr : sinkLogits.data();
  return batch;
}

double DecodeStep::run(kvc_cache *cache,
                       std::span<const kvc_sequence> sequences,
                       const kvc_parallel_for *threads) {
  kvc_batch batch = batchOver(cache);
  batch.sequences = sequences.data();
  return run(batch, threads);
}

double DecodeStep::run(kvc_cache *cache, std::span<const int32_t> table,
                       const kvc_parallel_for *threads) {
  kvc_batch batch = batchOver(cache);
  batch.lengths = lengths.data();
  batch.block_table = table.data();
  batch.block_table_stride =
      static_cast<int64_t>(table.size() / lengths.size());
  return run(batch, threads);
}

double DecodeStep::run(const kvc_batch &batch,
                       const kvc_parallel_for *threads) {
  Diag diag;
  const kvc_out_rows outRows{out.bytes.data(), 0, 0}, lseRows{lse.data(), 0, 0};
  const Stopwatch watch;
  const kvc_status status =
      kvc_run_attend(plan.get(), &batch, threads, diag, &outRows, &lseRows);
  const double microseconds = watch.microseconds();
  diag.check(status);
  return microseconds;
}
