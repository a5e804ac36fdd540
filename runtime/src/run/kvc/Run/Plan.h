//===- Plan.h - Memory and bounds of runs -----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Partial results are large (a row of f32 per row and split), so a run works in
// *waves*: as many row ranges as the workspace holds attend, are merged, and
// make room for the next ones. How row ranges are put into waves changes no
// result.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_PLAN_H
#define KVC_RUN_PLAN_H

#include "kvc/Devices/Memory.h"
#include "kvc/Run/DevicePlan.h"

#include <vector>

namespace kvc {

/// The partial results of one unit (one sequence, kv head and row range) in the
/// workspace, counted in floats. Everything begins at whole cache lines.
struct UnitLayout {
  int64_t outStride; ///< Of one split: [rows, value_dim].
  int64_t lseStride; ///< Of one split: [rows].
  int64_t lseBegin;  ///< Behind the outputs.
  int64_t mergedLse; ///< [rows], for callers that want none.
  int64_t floats;    ///< All together.

  UnitLayout(int64_t rows, int64_t valueDim, int64_t splits);
};

} // namespace kvc

struct kvc_plan {
  const kvc_module *module = nullptr;
  const kvc_device *device = nullptr;
  std::vector<kvc::SequenceBound> bounds;
  kvc::Memory workspace;
  /// Keys of an item, of which tile_tokens of the kernel are a divisor.
  int64_t decodeSplit = 0, prefillSplit = 0;
  /// On a device with memory of its own; there a run is one wave.
  std::unique_ptr<kvc::DevicePlan> own;

  // Reused by every run; reserved for the bounds, so that runs allocate
  // nothing.
  std::vector<kvc::BatchEntry> entries;
  std::vector<kvc::Range> splits;
  std::vector<kvc_attend_args> decode, prefill;
  std::vector<kvc_merge_args> merge;
  size_t maxItems = 0, maxMerges = 0; ///< Of one wave.

  kvc_status create(kvc_diag *diag);
  /// The kernel as its keys are cut here.
  kvc_kernel_info planned(const kvc_kernel_info &kernel) const {
    kvc_kernel_info result = kernel;
    result.split_tokens =
        &kernel == module->decode ? decodeSplit : prefillSplit;
    return result;
  }

private:
  kvc_status planSplits(kvc_diag *diag);
};

#endif // KVC_RUN_PLAN_H
