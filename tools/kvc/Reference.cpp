//===- Reference.cpp - Attention in f64 -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Reference.h"

#include <cmath>
#include <limits>

using namespace kvc;

namespace {

struct Problem {
  const kvc_spec_info &spec;
  const BatchInputs &inputs;
  std::vector<float> q, k, v;
  ReferenceOutputs &result;
};

bool isVisible(const kvc_spec_info &spec, int64_t key, int64_t position) {
  if (!spec.causal)
    return true;
  if (key > position)
    return false;
  return spec.window == 0 || key > position - spec.window ||
         key < spec.window_sinks;
}

/// One query head of one query row over the keys of its sequence.
void attendRow(const Problem &problem, int64_t row, int64_t head,
               int64_t position, int64_t firstKey, int64_t numKeys) {
  const kvc_spec_info &spec = problem.spec;
  const int64_t kvHead = head / (spec.q_heads / spec.kv_heads);
  const float *q =
      problem.q.data() + (row * spec.q_heads + head) * spec.head_dim;
  auto keyAt = [&](int64_t key) {
    return problem.k.data() +
           ((firstKey + key) * spec.kv_heads + kvHead) * spec.head_dim;
  };
  auto valueAt = [&](int64_t key) {
    if (spec.value_is_key)
      return keyAt(key) + spec.value_begin;
    return static_cast<const float *>(problem.v.data()) +
           ((firstKey + key) * spec.kv_heads + kvHead) * spec.value_dim;
  };

  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  const double sink = spec.sink_logits ? double(problem.inputs.sinkLogits[head])
                                       : kMinusInfinity;
  double largest = sink;
  std::vector<double> scores(numKeys, kMinusInfinity);
  for (int64_t key = 0; key < numKeys; ++key) {
    if (!isVisible(spec, key, position))
      continue;
    double dot = 0;
    for (int64_t c = 0; c < spec.head_dim; ++c)
      dot += double(q[c]) * double(keyAt(key)[c]);
    double score = spec.scale * dot;
    if (spec.alibi)
      score += double(problem.inputs.alibiSlopes[head]) *
               static_cast<double>(key - position);
    if (spec.softcap != 0)
      score = spec.softcap * std::tanh(score / spec.softcap);
    scores[key] = score;
    largest = std::fmax(largest, score);
  }

  const int64_t index = row * spec.q_heads + head;
  double *out = problem.result.out.data() + index * spec.value_dim;
  problem.result.lse[index] = largest;
  if (largest == kMinusInfinity)
    return;
  double sum = std::exp(sink - largest);
  for (int64_t key = 0; key < numKeys; ++key) {
    const double p = std::exp(scores[key] - largest);
    if (p == 0)
      continue;
    sum += p;
    for (int64_t c = 0; c < spec.value_dim; ++c)
      out[c] += p * double(valueAt(key)[c]);
  }
  for (int64_t c = 0; c < spec.value_dim; ++c)
    out[c] /= sum;
  problem.result.lse[index] = largest + std::log(sum);
}

} // namespace

ReferenceOutputs kvc::attendInF64(const kvc_spec_info &spec,
                                  const BatchInputs &inputs,
                                  const kvc_parallel_for *threads) {
  ReferenceOutputs result;
  const int64_t rows = inputs.queries() * spec.q_heads;
  result.out.assign(rows * spec.value_dim, 0.0);
  result.lse.assign(rows, 0.0);
  Problem problem{spec,
                  inputs,
                  inputs.q.toF32(),
                  inputs.k.toF32(),
                  spec.value_is_key ? std::vector<float>() : inputs.v.toF32(),
                  result};
  for (int64_t i = 0; i < inputs.batch(); ++i) {
    struct Sequence {
      const Problem &problem;
      int64_t firstQuery, numQueries, firstKey, numKeys;
    } sequence{problem, inputs.queryStarts[i],
               inputs.queryStarts[i + 1] - inputs.queryStarts[i],
               inputs.keyStarts[i],
               inputs.keyStarts[i + 1] - inputs.keyStarts[i]};
    auto body = [](void *context, int64_t index) {
      const auto &all = *static_cast<Sequence *>(context);
      const int64_t heads = all.problem.spec.q_heads, query = index / heads;
      attendRow(all.problem, all.firstQuery + query, index % heads,
                all.numKeys - all.numQueries + query, all.firstKey,
                all.numKeys);
    };
    const int64_t count = sequence.numQueries * spec.q_heads;
    if (threads)
      threads->run(threads->user, count, body, &sequence);
    else
      for (int64_t index = 0; index < count; ++index)
        body(&sequence, index);
  }
  return result;
}
