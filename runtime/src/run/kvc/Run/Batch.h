//===- Batch.h - A checked batch --------------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_BATCH_H
#define KVC_RUN_BATCH_H

#include "kvc/Cache/Cache.h"
#include "kvc/Devices/Memory.h"
#include "kvc/Run/Rows.h"

#include <vector>

namespace kvc {

/// One sequence of a batch.
struct BatchEntry {
  kvc_cache_view view;
  int64_t length;     ///< Keys.
  int64_t tokenBegin; ///< First row of the batch's tensors.
  int64_t tokens;
  ViewExtent extent;
};

/// Reads a batch and checks what append and attend have in common: the cache,
/// the module and the flags.
kvc_status readBatch(const kvc_module &module, const kvc_batch *given,
                     kvc_diag *diag, kvc_batch &batch);

/// Checks the token ranges.
kvc_status checkTokens(const kvc_batch &batch, kvc_diag *diag);

/// The sequences that queries attend to. `isAppending`: the same call writes
/// the reserved rows first.
kvc_status resolveAttend(const kvc_batch &batch, bool isAppending,
                         kvc_diag *diag, std::vector<BatchEntry> &entries);

/// Calls of the append kernel, ready to launch.
struct AppendWork {
  std::vector<kvc_append_args> args;
  /// args[stages[i] .. stages[i + 1]) may run at the same time.
  std::vector<size_t> stages;
  std::vector<int32_t> pages; ///< Tables of one page each, which args point to.
  std::vector<Sequence *> sequences; ///< Those whose rows are written by it.
  /// args[begin .. end) have one view.
  struct View {
    size_t begin, end;
    ViewExtent extent;
  };
  std::vector<View> views;
  Memory workspace; ///< That args point into.
};

/// Tokens at whose multiples an append may be cut into calls that run at the
/// same time; 0: it may not.
int64_t appendCut(const kvc_cache &cache);

/// Checks an append and gathers its kernel calls; writes nothing.
kvc_status prepareAppend(const kvc_module &module, const kvc_batch &batch,
                         kvc_diag *diag, AppendWork &work);

/// Runs them.
kvc_status runAppend(const kvc_module &module, const kvc_batch &batch,
                     AppendWork &work, const kvc_parallel_for *threads,
                     kvc_diag *diag);

} // namespace kvc

#endif // KVC_RUN_BATCH_H
