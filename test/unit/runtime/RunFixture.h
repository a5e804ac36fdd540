//===- RunFixture.h - Data, runs and what they should give ------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIME_RUNFIXTURE_H
#define KVC_TEST_UNIT_RUNTIME_RUNFIXTURE_H

#include "CacheFixture.h"
#include "TestDevice.h"

#include <cmath>
#include <random>

namespace kvc::test {

/// Random rows [tokens, heads, channels] with room between heads and tokens.
struct Tensor {
  int64_t heads, channels, tokenStride, headStride;
  std::vector<float> data;

  Tensor(int64_t tokens, int64_t heads, int64_t channels, uint32_t seed,
         int64_t padding = 0)
      : heads(heads), channels(channels),
        tokenStride(heads * (channels + padding) + padding),
        headStride(channels + padding),
        data(size_t(tokens * tokenStride + padding), -777.f) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int64_t token = 0; token < tokens; ++token)
      for (int64_t head = 0; head < heads; ++head)
        for (int64_t c = 0; c < channels; ++c)
          at(token, head, c) = normal(random);
  }
  float &at(int64_t token, int64_t head, int64_t channel) {
    return data[size_t(token * tokenStride + head * headStride + channel)];
  }
  kvc_rows rows() const { return {data.data(), tokenStride, headStride}; }
  kvc_out_rows out() { return {data.data(), tokenStride, headStride}; }
};

/// Where one sequence stands in the rows of q and k, in tokens.
struct SequenceRows {
  int64_t queryBegin, queries, keyBegin, length;
};

/// f64 attention of one query and head, written from the definition.
struct Expected {
  std::vector<double> out;
  double lse;
};
inline Expected expectedOf(const kvc_spec_info &info, Tensor &q, Tensor &k,
                           Tensor &v, const SequenceRows &sequence,
                           int64_t query, int64_t head, const float *slopes,
                           const float *sinks) {
  int64_t kvHead = head / (info.q_heads / info.kv_heads);
  int64_t position = sequence.length - sequence.queries + query;
  std::vector<double> out(size_t(info.value_dim), 0);
  double sum = info.sink_logits ? std::exp(double(sinks[head])) : 0;
  for (int64_t key = 0; key < sequence.length; ++key) {
    bool isVisible =
        !info.causal ||
        (key <= position && (info.window == 0 || key > position - info.window ||
                             key < info.window_sinks));
    if (!isVisible)
      continue;
    double score = 0;
    for (int64_t c = 0; c < info.head_dim; ++c)
      score += double(q.at(sequence.queryBegin + query, head, c)) *
               k.at(sequence.keyBegin + key, kvHead, c);
    score *= info.scale;
    if (info.alibi)
      score += double(slopes[head]) * double(key - position);
    double p = std::exp(score);
    sum += p;
    for (int64_t c = 0; c < info.value_dim; ++c)
      out[size_t(c)] += p * v.at(sequence.keyBegin + key, kvHead, c);
  }
  for (double &value : out)
    value = sum > 0 ? value / sum : 0;
  return {out, sum > 0 ? std::log(sum) : -INFINITY};
}

/// A module, a cache and the inputs of one batch in it.
struct BatchRun {
  FakeModule module;
  const kvc_device *device; ///< Null: the host.
  Cache cache;
  kvc_spec_info info = {};
  std::vector<int64_t> queries, lengths; ///< By sequence.
  std::vector<kvc_sequence> sequences;
  std::vector<int32_t> queryStart, keyStart;
  Tensor q, k, v, out, lse;
  std::vector<float> slopes, sinks;
  Message message;

  static int64_t sum(const std::vector<int64_t> &numbers) {
    int64_t result = 0;
    for (int64_t number : numbers)
      result += number;
    return result;
  }

  BatchRun(const SpecText &text, std::vector<int64_t> queriesGiven,
           std::vector<int64_t> lengthsGiven, int64_t padding = 0,
           Tiles tiles = {}, const kvc_device *device = nullptr)
      : module(text, tiles), device(device), queries(std::move(queriesGiven)),
        lengths(std::move(lengthsGiven)),
        q(sum(queries), text.qHeads, text.headDim, 1, padding),
        k(sum(lengths), text.kvHeads, text.headDim, 2, padding),
        v(sum(lengths), text.kvHeads, text.valueDim, 3, padding),
        out(sum(queries), text.qHeads, text.valueDim, 4, padding),
        lse(sum(queries), text.qHeads, 1, 5, padding) {
    kvc_cache_options options = cacheOptions(module.spec());
    options.capacity_tokens = 1 << 14;
    options.flags = KVC_CACHE_POISON;
    options.device = device;
    cache = Cache(options);
    info.struct_size = sizeof(info);
    kvc_spec_get_info(module.spec(), nullptr, &info);
    queryStart = {0};
    keyStart = {0};
    for (size_t i = 0; i < queries.size(); ++i) {
      sequences.push_back(cache.create());
      queryStart.push_back(queryStart.back() + int32_t(queries[i]));
      keyStart.push_back(keyStart.back() + int32_t(lengths[i]));
    }
    for (int64_t head = 0; head < info.q_heads; ++head) {
      slopes.push_back(0.1f * float(head + 1));
      sinks.push_back(head == 0 ? -INFINITY : 0.5f * float(head));
    }
  }

  kvc_batch batch(const std::vector<int32_t> &start) {
    kvc_batch batch = {};
    batch.struct_size = sizeof(batch);
    batch.cache = cache.get();
    batch.num_sequences = int64_t(sequences.size());
    batch.token_start = start.data();
    batch.sequences = sequences.data();
    batch.query = q.rows();
    batch.key = k.rows();
    batch.value = v.rows();
    batch.alibi_slopes = slopes.data();
    batch.sink_logits = sinks.data();
    return batch;
  }

  /// Appends everything, at most `chunk` tokens of each sequence per call.
  void appendAll(int64_t chunk, const kvc_parallel_for *threads = nullptr) {
    std::vector<int64_t> done(lengths.size(), 0);
    for (;;) {
      std::vector<int64_t> tokens;
      std::vector<int32_t> start = {0};
      // Rows of one call are packed, as an engine's are.
      Tensor newK(0, info.kv_heads, info.head_dim, 0);
      Tensor newV(0, info.kv_heads, info.value_dim, 0);
      for (size_t i = 0; i < lengths.size(); ++i) {
        tokens.push_back(std::min(chunk, lengths[i] - done[i]));
        start.push_back(start.back() + int32_t(tokens[i]));
        for (int64_t t = 0; t < tokens[i]; ++t)
          for (int64_t head = 0; head < info.kv_heads; ++head) {
            int64_t row = keyStart[i] + done[i] + t;
            for (int64_t c = 0; c < info.head_dim; ++c)
              newK.data.push_back(k.at(row, head, c));
            for (int64_t c = 0; c < info.value_dim; ++c)
              newV.data.push_back(v.at(row, head, c));
          }
        done[i] += tokens[i];
      }
      if (start.back() == 0)
        return;
      ASSERT_EQ(cache.append(sequences, tokens), KVC_OK) << cache.message.text;
      kvc_batch given = batch(start);
      given.key = {newK.data.data(), 0, 0};
      given.value = {newV.data.data(), 0, 0};
      ASSERT_EQ(kvc_run_append(module.get(), &given, threads, message.get()),
                KVC_OK)
          << message.text;
      for (size_t i = 0; i < lengths.size(); ++i)
        cache.commit(sequences[i], tokens[i]);
    }
  }

  PlanPtr plan(int64_t moreQueries = 0, int64_t moreKeys = 0) {
    std::vector<int32_t> q, l;
    for (size_t i = 0; i < queries.size(); ++i) {
      q.push_back(int32_t(queries[i] + moreQueries));
      l.push_back(int32_t(lengths[i] + moreKeys));
    }
    kvc_plan_options options = {sizeof(options),   module.get(),
                                int64_t(q.size()), q.data(),
                                l.data(),          device};
    kvc_plan *made = nullptr;
    EXPECT_EQ(kvc_plan_create(&options, message.get(), &made), KVC_OK)
        << message.text;
    return PlanPtr(made);
  }

  kvc_status attend(const PlanPtr &plan, const kvc_batch &batch,
                    const kvc_parallel_for *threads = nullptr) {
    kvc_out_rows outRows = out.out(), lseRows = lse.out();
    return kvc_run_attend(plan.get(), &batch, threads, message.get(), &outRows,
                          &lseRows);
  }

  /// Compares out and lse with the definition.
  void check() {
    for (size_t i = 0; i < queries.size(); ++i) {
      SequenceRows sequence = {queryStart[i], queries[i], keyStart[i],
                               lengths[i]};
      for (int64_t query = 0; query < queries[i]; ++query)
        for (int64_t head = 0; head < info.q_heads; ++head) {
          Expected expected = expectedOf(info, q, k, v, sequence, query, head,
                                         slopes.data(), sinks.data());
          int64_t row = queryStart[i] + query;
          for (int64_t c = 0; c < info.value_dim; ++c)
            ASSERT_NEAR(out.at(row, head, c), expected.out[size_t(c)], 1e-5)
                << "sequence " << i << " query " << query << " head " << head;
          if (std::isinf(expected.lse))
            ASSERT_EQ(lse.at(row, head, 0), float(expected.lse));
          else
            ASSERT_NEAR(lse.at(row, head, 0), expected.lse, 1e-5);
        }
    }
    EXPECT_EQ(FakeModule::brokenPromises(), 0);
  }
};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIME_RUNFIXTURE_H
