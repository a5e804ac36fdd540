//===- Decode.h - Steps of one query per sequence ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_DECODE_H
#define KVC_TOOLS_DECODE_H

#include "kvc/Engine.h"

namespace kvc {

/// A decode step of a batch, planned once and run often: every sequence has one
/// query, the last of its tokens.
class DecodeStep {
public:
  /// `query` is [batch, q_heads, head_dim] of io.query, `lengths` the keys of
  /// every sequence. Slopes and sinks as in BatchInputs.
  DecodeStep(const Engine &engine, std::vector<int32_t> lengths, Values query,
             std::vector<float> alibiSlopes, std::vector<float> sinkLogits);

  /// Each returns the microseconds of one step.
  double run(kvc_cache *cache, std::span<const kvc_sequence> sequences,
             const kvc_parallel_for *threads);
  /// `table` is [batch, pages of one sequence].
  double run(kvc_cache *cache, std::span<const int32_t> table,
             const kvc_parallel_for *threads);

private:
  kvc_batch batchOver(kvc_cache *cache) const;
  double run(const kvc_batch &batch, const kvc_parallel_for *threads);

  std::vector<int32_t> lengths, starts;
  Values query, out;
  std::vector<float> alibiSlopes, sinkLogits, lse;
  PlanHandle plan;
};

} // namespace kvc

#endif // KVC_TOOLS_DECODE_H
