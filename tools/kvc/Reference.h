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

#include "kvc/Engine.h"

namespace kvc {

struct ReferenceOutputs {
  std::vector<double> out; ///< [total_q, q_heads, value_dim]
  std::vector<double> lse; ///< [total_q, q_heads]
};

/// Attends over the inputs as they are. Scores are scaled, ALiBi is added, the
/// softcap applied, then the mask; a query that sees nothing gives 0 and the
/// sink logit, or -inf without one.
ReferenceOutputs attendInF64(const kvc_spec_info &spec,
                             const BatchInputs &inputs,
                             const kvc_parallel_for *threads);

} // namespace kvc

#endif // KVC_TOOLS_REFERENCE_H
