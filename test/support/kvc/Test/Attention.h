//===- Attention.h - Attention in f64 ---------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// SPEC.md section 3: what every kernel's output is compared with, and by how
// much it may differ.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_ATTENTION_H
#define KVC_TEST_ATTENTION_H

#include "kvc/Spec/Spec.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kvc::test {

/// A score region: the score of a query head and a key, from that before it and
/// both positions.
using ScoreRegion = std::function<double(double score, int64_t query,
                                         int64_t key, int64_t head)>;

/// The operands of one call. Sequence i is query rows cuQ[i] .. cuQ[i+1] and
/// key rows cuKv[i] .. cuKv[i+1].
struct AttentionArgs {
  std::span<const float> q; ///< [total_q][q_heads][head_dim]
  std::span<const float> k; ///< x' [total_kv][kv_heads][head_dim]
  std::span<const float> v; ///< x' [total_kv][kv_heads][value_dim]
  std::span<const int64_t> cuQ, cuKv;
  std::span<const float> slopes; ///< [q_heads]; with alibi.
  std::span<const float> sinks;  ///< [q_heads]; with sink_logits.
  /// Behind the softcap; none: as it is. A list that leaves it out would warn.
  // NOLINTNEXTLINE(readability-redundant-member-init)
  ScoreRegion score = {};
};

/// The exact answer and what the error bounds need.
struct Reference {
  std::vector<double> out;    ///< [total_q][q_heads][value_dim]
  std::vector<double> lse;    ///< [total_q][q_heads]
  std::vector<double> spread; ///< sqrt(sum p^2 v^2), shaped like out.
  /// Per sequence and head [batch][q_heads], over visible keys: the largest
  /// scale * ||q o k||_2, and the largest |scale * q.k|.
  std::vector<double> a, s;
};

/// Does query `i` of `queries` see key `t` of `keys`?
bool isVisible(const spec::Attention &attention, int64_t i, int64_t queries,
               int64_t t, int64_t keys);

/// `rope` rotates k by its position first. With value_is_key `args.v` is the
/// slice of the unrotated x'.
Reference attend(const spec::Attention &attention,
                 const std::optional<spec::Rope> &rope,
                 const AttentionArgs &args);

/// How near something came to its bound.
struct BoundCheck {
  double worst = 0;  ///< Largest error as a fraction of its bound.
  std::string where; ///< The place of the worst one, with its numbers.
  bool ok() const { return worst <= 1; }
};

/// Compares `out` and `lse`, shaped like the reference's, with the bounds.
BoundCheck checkOut(const spec::Spec &spec, const Reference &reference,
                    std::span<const int64_t> cuQ, std::span<const double> out);
BoundCheck checkLse(const spec::Spec &spec, const Reference &reference,
                    std::span<const int64_t> cuQ, std::span<const double> lse);

/// `base` of section 3 for an io.query.
double boundBase(spec::DType query);

} // namespace kvc::test

#endif // KVC_TEST_ATTENTION_H
