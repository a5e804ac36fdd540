//===- Reference.h - Attention in f64 ---------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The right answer without quantisation, for the errors that commands print.
// Plain loops: exact, not fast.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_REFERENCE_H
#define KVC_TOOLS_REFERENCE_H

#include "kvc/Batch.h"

namespace kvc {

struct ReferenceOutputs {
  std::vector<double> out; ///< [total_q, q_heads, value_dim]
  std::vector<double> lse; ///< [total_q, q_heads]
};

/// Attends over the inputs as they are. Keys are rotated if the spec takes them
/// before RoPE; scores are scaled, ALiBi is added, the softcap applied, then
/// the mask; a query that sees nothing gives 0 and the sink logit, or -inf
/// without one.
ReferenceOutputs attendInF64(const kvc_spec_info &spec,
                             const BatchInputs &inputs,
                             const kvc_parallel_for *threads);

/// What other keys do to the scores and to the weights of the softmax, summed
/// over all queries and the keys that they see.
struct ScoreDifferences {
  std::vector<double> errors; ///< [q_heads]: sums of (s' - s)^2.
  std::vector<double> norms;  ///< [q_heads]: sums of s^2.
  /// [q_heads]: sums of the Kullback-Leibler divergence of the weights that the
  /// other keys give from the right ones, in nats.
  std::vector<double> divergences;
  int64_t queries = 0; ///< That see a key; of each head.
};

/// `keys` stand in place of inputs.k: [total_kv, kv_heads, head_dim].
ScoreDifferences compareScores(const kvc_spec_info &spec,
                               const BatchInputs &inputs,
                               const std::vector<float> &keys,
                               const kvc_parallel_for *threads);

/// How much the squared error of the output grows with that of a stored number,
/// to first order and by itself: sums over queries of the squared derivative,
/// which stand for the Fisher information of the numbers.
struct Sensitivities {
  std::vector<double> keys;   ///< [total_kv, kv_heads, head_dim]
  std::vector<double> values; ///< [total_kv, kv_heads], the same for all
                              ///< channels.
};

/// Keys are meant before RoPE. `basis`, shaped like inputs.q, is multiplied
/// with the keys in place of the queries where keys are stored in another
/// basis.
Sensitivities sensitivitiesOf(const kvc_spec_info &spec,
                              const BatchInputs &inputs,
                              const std::vector<float> &basis);

} // namespace kvc

#endif // KVC_TOOLS_REFERENCE_H
