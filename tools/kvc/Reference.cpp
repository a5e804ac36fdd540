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

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Where a query stands.
struct QueryRow {
  int64_t query;    ///< Of all of the batch.
  int64_t head;     ///< Query head.
  int64_t position; ///< In its sequence.
  int64_t firstKey, numKeys;
};

bool isVisible(const kvc_spec_info &spec, int64_t key, int64_t position) {
  if (!spec.causal)
    return true;
  if (key > position)
    return false;
  return spec.window == 0 || key > position - spec.window ||
         key < spec.window_sinks;
}

/// The channels of a RoPE pair, and what turns them at a position.
struct Turn {
  int64_t a, b;
  double cosine, sine;
};

Turn turnOf(const kvc_spec_info &spec, int64_t pair, int64_t position) {
  const int64_t half = spec.rope_dims / 2;
  // Frequency and angle are f32 by definition.
  const auto frequency = static_cast<float>(
      std::pow(spec.rope_theta, -2.0 * static_cast<double>(pair) /
                                    static_cast<double>(spec.rope_dims)));
  const float angle = static_cast<float>(position) * frequency;
  const int64_t a = spec.rope_offset + (spec.rope_pairs ? 2 * pair : pair);
  return {a, a + (spec.rope_pairs ? 1 : half), std::cos(double(angle)),
          std::sin(double(angle))};
}

/// Keys as the scores want them.
std::vector<double> rotatedKeys(const kvc_spec_info &spec,
                                const BatchInputs &inputs,
                                const std::vector<float> &keys) {
  std::vector<double> result(keys.begin(), keys.end());
  for (int64_t pair = 0; pair < spec.rope_dims / 2; ++pair)
    for (int64_t sequence = 0; sequence < inputs.batch(); ++sequence)
      for (int64_t key = inputs.keyStarts[sequence];
           key < inputs.keyStarts[sequence + 1]; ++key) {
        const auto [a, b, cosine, sine] =
            turnOf(spec, pair, key - inputs.keyStarts[sequence]);
        for (int64_t head = 0; head < spec.kv_heads; ++head) {
          double *row =
              result.data() + (key * spec.kv_heads + head) * spec.head_dim;
          const double x = row[a], y = row[b];
          row[a] = x * cosine - y * sine;
          row[b] = y * cosine + x * sine;
        }
      }
  return result;
}

/// The scores of one row; -inf where a key is not visible.
std::vector<double> scoresOf(const kvc_spec_info &spec,
                             const BatchInputs &inputs,
                             const std::vector<float> &queries,
                             const std::vector<double> &keys,
                             const QueryRow &row) {
  const float *q =
      queries.data() + (row.query * spec.q_heads + row.head) * spec.head_dim;
  const int64_t kvHead = row.head / (spec.q_heads / spec.kv_heads);
  std::vector<double> scores(row.numKeys, kMinusInfinity);
  for (int64_t key = 0; key < row.numKeys; ++key) {
    if (!isVisible(spec, key, row.position))
      continue;
    const double *k =
        keys.data() +
        ((row.firstKey + key) * spec.kv_heads + kvHead) * spec.head_dim;
    double dot = 0;
    for (int64_t c = 0; c < spec.head_dim; ++c)
      dot += double(q[c]) * k[c];
    double score = spec.scale * dot;
    if (spec.alibi)
      score += double(inputs.alibiSlopes[row.head]) *
               static_cast<double>(key - row.position);
    if (spec.softcap != 0)
      score = spec.softcap * std::tanh(score / spec.softcap);
    scores[key] = score;
  }
  return scores;
}

double sinkOf(const kvc_spec_info &spec, const BatchInputs &inputs,
              int64_t head) {
  return spec.sink_logits ? double(inputs.sinkLogits[head]) : kMinusInfinity;
}

/// The logarithm of the sum of exponentials of scores and sink logit.
double logSumOf(const std::vector<double> &scores, double sink) {
  double largest = sink;
  for (double score : scores)
    largest = std::fmax(largest, score);
  if (largest == kMinusInfinity)
    return largest;
  double sum = std::exp(sink - largest);
  for (double score : scores)
    sum += std::exp(score - largest);
  return largest + std::log(sum);
}

/// Calls body(row) for every query and query head of the batch.
template <typename Body>
void forEachRow(const kvc_spec_info &spec, const BatchInputs &inputs,
                const kvc_parallel_for *threads, const Body &body) {
  for (int64_t i = 0; i < inputs.batch(); ++i) {
    struct Sequence {
      const Body &body;
      int64_t heads, firstQuery, numQueries, firstKey, numKeys;
    } sequence{body,
               spec.q_heads,
               inputs.queryStarts[i],
               inputs.queryStarts[i + 1] - inputs.queryStarts[i],
               inputs.keyStarts[i],
               inputs.keyStarts[i + 1] - inputs.keyStarts[i]};
    auto each = [](void *context, int64_t index) {
      const auto &all = *static_cast<Sequence *>(context);
      const int64_t query = index / all.heads;
      all.body(QueryRow{all.firstQuery + query, index % all.heads,
                        all.numKeys - all.numQueries + query, all.firstKey,
                        all.numKeys});
    };
    const int64_t count = sequence.numQueries * spec.q_heads;
    if (threads)
      threads->run(threads->user, count, each, &sequence);
    else
      for (int64_t index = 0; index < count; ++index)
        each(&sequence, index);
  }
}

} // namespace

ReferenceOutputs kvc::attendInF64(const kvc_spec_info &spec,
                                  const BatchInputs &inputs,
                                  const kvc_parallel_for *threads) {
  ReferenceOutputs result;
  const int64_t rows = inputs.queries() * spec.q_heads;
  result.out.assign(rows * spec.value_dim, 0.0);
  result.lse.assign(rows, 0.0);
  const std::vector<float> q = inputs.q.toF32(), k = inputs.k.toF32();
  const std::vector<double> keys = rotatedKeys(spec, inputs, k);
  const std::vector<float> v =
      spec.value_is_key ? std::vector<float>() : inputs.v.toF32();
  // A value that is the key is so before RoPE.
  auto valueAt = [&](int64_t key, int64_t head) {
    return spec.value_is_key
               ? k.data() + (key * spec.kv_heads + head) * spec.head_dim +
                     spec.value_begin
               : v.data() + (key * spec.kv_heads + head) * spec.value_dim;
  };
  forEachRow(spec, inputs, threads, [&](const QueryRow &row) {
    const std::vector<double> scores = scoresOf(spec, inputs, q, keys, row);
    const double lse = logSumOf(scores, sinkOf(spec, inputs, row.head));
    const int64_t index = row.query * spec.q_heads + row.head;
    result.lse[index] = lse;
    double *out = result.out.data() + index * spec.value_dim;
    for (int64_t key = 0; key < row.numKeys; ++key) {
      if (scores[key] == kMinusInfinity)
        continue;
      const double p = std::exp(scores[key] - lse);
      const float *value = valueAt(row.firstKey + key,
                                   row.head / (spec.q_heads / spec.kv_heads));
      for (int64_t c = 0; c < spec.value_dim; ++c)
        out[c] += p * double(value[c]);
    }
  });
  return result;
}

ScoreDifferences kvc::compareScores(const kvc_spec_info &spec,
                                    const BatchInputs &inputs,
                                    const std::vector<float> &keys,
                                    const kvc_parallel_for *threads) {
  const std::vector<float> q = inputs.q.toF32();
  const std::vector<double> right = rotatedKeys(spec, inputs, inputs.k.toF32()),
                            other = rotatedKeys(spec, inputs, keys);
  struct Difference {
    double error = 0, norm = 0, divergence = 0;
    bool seesKeys = false;
  };
  std::vector<Difference> rows(inputs.queries() * spec.q_heads);
  forEachRow(spec, inputs, threads, [&](const QueryRow &row) {
    const std::vector<double> s = scoresOf(spec, inputs, q, right, row),
                              t = scoresOf(spec, inputs, q, other, row);
    const double sink = sinkOf(spec, inputs, row.head);
    const double sLse = logSumOf(s, sink), tLse = logSumOf(t, sink);
    Difference &difference = rows[row.query * spec.q_heads + row.head];
    for (int64_t key = 0; key < row.numKeys; ++key) {
      if (s[key] == kMinusInfinity)
        continue;
      difference.seesKeys = true;
      difference.error += (t[key] - s[key]) * (t[key] - s[key]);
      difference.norm += s[key] * s[key];
      difference.divergence +=
          std::exp(s[key] - sLse) * ((s[key] - sLse) - (t[key] - tLse));
    }
    // The sink takes part in the softmax like a key.
    if (difference.seesKeys && sink != kMinusInfinity)
      difference.divergence += std::exp(sink - sLse) * (tLse - sLse);
  });

  ScoreDifferences result;
  result.errors.resize(spec.q_heads);
  result.norms.resize(spec.q_heads);
  result.divergences.resize(spec.q_heads);
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t head = i % spec.q_heads;
    result.errors[head] += rows[i].error;
    result.norms[head] += rows[i].norm;
    result.divergences[head] += rows[i].divergence;
    result.queries += head == 0 && rows[i].seesKeys;
  }
  return result;
}

namespace {

/// Adds factor * (the query turned back by the key's position)^2 to `sums`.
void addTurnedBack(const kvc_spec_info &spec, const std::vector<Turn> &turns,
                   const float *query, double factor, double *sums) {
  for (int64_t c = 0; c < spec.head_dim; ++c)
    sums[c] += factor * double(query[c]) * double(query[c]);
  for (const auto &[a, b, cosine, sine] : turns) {
    const double x = query[a], y = query[b];
    const double turnedX = x * cosine + y * sine,
                 turnedY = y * cosine - x * sine;
    sums[a] += factor * (turnedX * turnedX - x * x);
    sums[b] += factor * (turnedY * turnedY - y * y);
  }
}

} // namespace

Sensitivities kvc::sensitivitiesOf(const kvc_spec_info &spec,
                                   const BatchInputs &inputs,
                                   const std::vector<float> &basis) {
  Sensitivities result;
  result.keys.resize(inputs.keys() * spec.kv_heads * spec.head_dim);
  result.values.resize(inputs.keys() * spec.kv_heads);
  const ReferenceOutputs outputs = attendInF64(spec, inputs, nullptr);
  const std::vector<float> q = inputs.q.toF32(), k = inputs.k.toF32();
  const std::vector<double> keys = rotatedKeys(spec, inputs, k);
  const std::vector<float> v =
      spec.value_is_key ? std::vector<float>() : inputs.v.toF32();
  std::vector<std::vector<Turn>> turns;
  for (int64_t i = 0; i < inputs.batch(); ++i)
    for (int64_t t = static_cast<int64_t>(turns.size());
         t < inputs.keyStarts[i + 1] - inputs.keyStarts[i]; ++t) {
      turns.emplace_back();
      for (int64_t pair = 0; pair < spec.rope_dims / 2; ++pair)
        turns.back().push_back(turnOf(spec, pair, t));
    }
  forEachRow(spec, inputs, nullptr, [&](const QueryRow &row) {
    const std::vector<double> scores = scoresOf(spec, inputs, q, keys, row);
    const int64_t index = row.query * spec.q_heads + row.head;
    const int64_t kvHead = row.head / (spec.q_heads / spec.kv_heads);
    const double *out = outputs.out.data() + index * spec.value_dim;
    for (int64_t key = 0; key < row.numKeys; ++key) {
      if (scores[key] == kMinusInfinity)
        continue;
      const double p = std::exp(scores[key] - outputs.lse[index]);
      const int64_t place = (row.firstKey + key) * spec.kv_heads + kvHead;
      result.values[place] += p * p;
      const float *value =
          spec.value_is_key
              ? k.data() + place * spec.head_dim + spec.value_begin
              : v.data() + place * spec.value_dim;
      double distance = 0;
      for (int64_t c = 0; c < spec.value_dim; ++c)
        distance += (value[c] - out[c]) * (value[c] - out[c]);
      // d out / d score = p (v - out); a softcap flattens the score.
      double slope = spec.scale * p;
      if (spec.softcap != 0) {
        const double capped = scores[key] / spec.softcap;
        slope *= 1 - capped * capped;
      }
      addTurnedBack(spec, turns[key], basis.data() + index * spec.head_dim,
                    slope * slope * distance,
                    result.keys.data() + place * spec.head_dim);
    }
  });
  if (spec.value_is_key)
    for (size_t place = 0; place < result.values.size(); ++place)
      for (int64_t c = 0; c < spec.value_dim; ++c)
        result.keys[place * spec.head_dim + spec.value_begin + c] +=
            result.values[place];
  return result;
}
