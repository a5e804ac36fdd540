//===- Attention.cpp - Attention in f64 -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Attention.h"

#include "kvc/Test/Floats.h"
#include "kvc/Test/Transforms.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace kvc;
using namespace kvc::test;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool kvc::test::isVisible(const spec::Attention &attention, int64_t i,
                          int64_t queries, int64_t t, int64_t keys) {
  if (!attention.causal)
    return true;
  int64_t position = keys - queries + i;
  if (t > position)
    return false;
  return !attention.window || t > position - *attention.window ||
         t < attention.windowSinks;
}

namespace {

/// One (query, head) of one sequence.
class QueryRow {
public:
  QueryRow(const spec::Attention &attention, const AttentionArgs &args,
           std::span<const double> k, Reference &reference)
      : attention(attention), args(args), k(k), reference(reference) {}

  void attend(size_t sequence, int64_t query, int64_t head) {
    int64_t queries = args.cuQ[sequence + 1] - args.cuQ[sequence];
    int64_t keys = args.cuKv[sequence + 1] - args.cuKv[sequence];
    int64_t row = args.cuQ[sequence] + query;
    int64_t position = keys - queries + query;
    size_t statistic = sequence * size_t(attention.qHeads) + size_t(head);

    std::vector<double> scores;
    std::vector<int64_t> tokens;
    for (int64_t t = 0; t < keys; ++t) {
      if (!isVisible(attention, query, queries, t, keys))
        continue;
      int64_t token = args.cuKv[sequence] + t;
      auto [dot, norm] = product(row, token, head);
      double score = attention.scale * dot;
      reference.a[statistic] =
          std::max(reference.a[statistic], attention.scale * norm);
      reference.s[statistic] =
          std::max(reference.s[statistic], std::fabs(score));
      if (attention.alibi)
        score += double(args.slopes[size_t(head)]) * double(t - position);
      if (attention.softcap)
        score = *attention.softcap * std::tanh(score / *attention.softcap);
      if (args.score)
        score = args.score(score, position, t, head);
      scores.push_back(score);
      tokens.push_back(token);
    }
    softmax(row, head, scores, tokens);
  }

private:
  int64_t kvHead(int64_t head) const { return head / attention.group(); }

  /// q.k and ||q o k||_2.
  std::pair<double, double> product(int64_t row, int64_t token,
                                    int64_t head) const {
    const float *q =
        &args.q[size_t((row * attention.qHeads + head) * attention.headDim)];
    const double *key = &k[size_t((token * attention.kvHeads + kvHead(head)) *
                                  attention.headDim)];
    double dot = 0, squares = 0;
    for (int64_t c = 0; c < attention.headDim; ++c) {
      double term = double(q[c]) * key[c];
      dot += term;
      squares += term * term;
    }
    return {dot, std::sqrt(squares)};
  }

  void softmax(int64_t row, int64_t head, std::span<const double> scores,
               std::span<const int64_t> tokens) {
    double sink =
        attention.sinkLogits ? double(args.sinks[size_t(head)]) : -kInfinity;
    size_t index = size_t(row * attention.qHeads + head);
    double largest = sink;
    for (double score : scores)
      largest = std::max(largest, score);
    reference.lse[index] = largest;
    if (largest == -kInfinity)
      return;
    double sum = std::exp(sink - largest);
    for (double score : scores)
      sum += std::exp(score - largest);
    reference.lse[index] = largest + std::log(sum);

    size_t out = index * size_t(attention.valueDim);
    for (size_t i = 0; i < scores.size(); ++i) {
      double p = std::exp(scores[i] - largest) / sum;
      const float *v = &args.v[size_t(
          (tokens[i] * attention.kvHeads + kvHead(head)) * attention.valueDim)];
      for (int64_t d = 0; d < attention.valueDim; ++d) {
        double term = p * double(v[d]);
        reference.out[out + size_t(d)] += term;
        reference.spread[out + size_t(d)] += term * term;
      }
    }
    for (int64_t d = 0; d < attention.valueDim; ++d) {
      double &spread = reference.spread[out + size_t(d)];
      spread = std::sqrt(spread);
    }
  }

  const spec::Attention &attention;
  const AttentionArgs &args;
  std::span<const double> k;
  Reference &reference;
};

} // namespace

Reference kvc::test::attend(const spec::Attention &attention,
                            const std::optional<spec::Rope> &rope,
                            const AttentionArgs &args) {
  size_t batch = args.cuQ.size() - 1;
  size_t rows = size_t(args.cuQ.back() * attention.qHeads);
  Reference result;
  result.out.resize(rows * size_t(attention.valueDim));
  result.spread.resize(result.out.size());
  result.lse.resize(rows);
  result.a.resize(batch * size_t(attention.qHeads));
  result.s.resize(result.a.size());

  std::vector<double> k(args.k.begin(), args.k.end());
  if (rope)
    for (size_t i = 0; i < batch; ++i)
      for (int64_t t = args.cuKv[i]; t < args.cuKv[i + 1]; ++t)
        for (int64_t h = 0; h < attention.kvHeads; ++h)
          applyRope(*rope, t - args.cuKv[i],
                    std::span(k).subspan(
                        size_t((t * attention.kvHeads + h) * attention.headDim),
                        size_t(attention.headDim)));

  QueryRow row(attention, args, k, result);
  for (size_t i = 0; i < batch; ++i)
    for (int64_t query = 0; query < args.cuQ[i + 1] - args.cuQ[i]; ++query)
      for (int64_t head = 0; head < attention.qHeads; ++head)
        row.attend(i, query, head);
  return result;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

double kvc::test::boundBase(spec::DType query) {
  switch (query) {
  case spec::DType::F16:
    return 1e-3;
  case spec::DType::BF16:
    return 6e-3;
  default:
    return 2e-5;
  }
}

static const FloatFormat &outputFormat(spec::DType type) {
  switch (type) {
  case spec::DType::F16:
    return kF16;
  case spec::DType::BF16:
    return kBF16;
  default:
    return kF32;
  }
}

/// How far rounding to the output type may move `x`, saturation included.
static double outputRounding(const FloatFormat &format, double x) {
  return halfUlp(format, x) + std::max(0.0, std::fabs(x) - format.largest);
}

/// error / bound; a bound of 0 allows no error at all.
static double fraction(double error, double bound) {
  if (error == 0)
    return 0;
  // Also catches a NaN error.
  return error <= kInfinity && bound > 0 ? error / bound : kInfinity;
}

static void keepWorst(BoundCheck &check, double error, double bound,
                      const std::string &where) {
  double part = fraction(error, bound);
  if (part <= check.worst && !check.where.empty())
    return;
  check.worst = part;
  char numbers[64];
  std::snprintf(numbers, sizeof(numbers), ": error %.3g, bound %.3g", error,
                bound);
  check.where = where + numbers;
}

BoundCheck kvc::test::checkOut(const spec::Spec &spec,
                               const Reference &reference,
                               std::span<const int64_t> cuQ,
                               std::span<const double> out) {
  const spec::Attention &attention = spec.attention;
  const FloatFormat &format = outputFormat(spec.io.output);
  BoundCheck check;
  for (size_t i = 0; i + 1 < cuQ.size(); ++i)
    for (int64_t head = 0; head < attention.qHeads; ++head) {
      double error = 0, norm = 0, spread = 0, rounding = 0;
      for (int64_t row = cuQ[i]; row < cuQ[i + 1]; ++row)
        for (int64_t d = 0; d < attention.valueDim; ++d) {
          size_t at =
              size_t((row * attention.qHeads + head) * attention.valueDim + d);
          double exact = reference.out[at];
          auto square = [](double x) { return x * x; };
          error += square(out[at] - exact);
          norm += square(exact);
          spread += square(reference.spread[at]);
          rounding += square(outputRounding(format, exact));
        }
      size_t statistic = i * size_t(attention.qHeads) + size_t(head);
      double size = std::sqrt(std::max(norm, spread));
      double relative =
          boundBase(spec.io.query) * std::max(1.0, reference.a[statistic]) +
          0x1p-22 * reference.s[statistic];
      double bound = size == 0 ? 0 : relative * size + std::sqrt(rounding);
      keepWorst(check, std::sqrt(error), bound,
                "out of sequence " + std::to_string(i) + ", head " +
                    std::to_string(head));
    }
  return check;
}

BoundCheck kvc::test::checkLse(const spec::Spec &spec,
                               const Reference &reference,
                               std::span<const int64_t> cuQ,
                               std::span<const double> lse) {
  const spec::Attention &attention = spec.attention;
  BoundCheck check;
  for (size_t i = 0; i + 1 < cuQ.size(); ++i)
    for (int64_t row = cuQ[i]; row < cuQ[i + 1]; ++row)
      for (int64_t head = 0; head < attention.qHeads; ++head) {
        size_t at = size_t(row * attention.qHeads + head);
        double exact = reference.lse[at];
        double bound =
            3 * boundBase(spec.io.query) *
                std::max(
                    1.0,
                    reference.a[i * size_t(attention.qHeads) + size_t(head)]) +
            4e-6 * std::fabs(exact);
        // Equal infinities have no difference.
        double error = lse[at] == exact ? 0 : std::fabs(lse[at] - exact);
        if (std::isinf(exact))
          bound = 0;
        keepWorst(check, error, bound,
                  "lse of sequence " + std::to_string(i) + ", query " +
                      std::to_string(row - cuQ[i]) + ", head " +
                      std::to_string(head));
      }
  return check;
}
