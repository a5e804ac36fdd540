//===- AttendRun.h - One run of attention -----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_ATTENDRUN_H
#define KVC_RUN_ATTENDRUN_H

#include "kvc/Run/Plan.h"

namespace kvc {

/// Inputs and outputs of one run, checked.
struct AttendRun {
  kvc_plan &plan;
  const kvc_parallel_for *threads;
  const spec::Attention &attention;
  Rows query, out, lse;
  bool wantsLse = false;
  const float *slopes = nullptr, *sinks = nullptr;
  int64_t usedFloats = 0; ///< Of the workspace, by the units of this wave.

  AttendRun(kvc_plan &plan, const kvc_parallel_for *threads)
      : plan(plan), threads(threads),
        attention(plan.module->spec->spec.attention) {}

  kvc_status prepare(const kvc_batch &batch, bool isAppending,
                     const kvc_out_rows *outRows, const kvc_out_rows *lseRows,
                     kvc_diag *diag);
  /// On a device with the host's memory.
  kvc_status run(kvc_diag *diag);
  /// On another one: views and items into the plan's tables.
  kvc_status place(const kvc_cache &cache, ViewPlacer &views, kvc_diag *diag);

private:
  kvc_status checkBounds(kvc_diag *diag) const;
  kvc_status addItems(kvc_diag *diag);
  kvc_status attendRows(const BatchEntry &entry, const kvc_kernel_info &kernel,
                        Range rows, kvc_diag *diag);
  void addUnit(const BatchEntry &entry, const kvc_kernel_info &kernel,
               Range rows, int64_t head, const UnitLayout &layout);
  kvc_status flush(kvc_diag *diag);
};

/// Launches the kernels of the plan's tables: a block for each item, or, so
/// that the same launch fits every step, for each item that may be there.
kvc_status launchPlan(kvc_plan &plan, uint32_t what, bool isWhole, void *stream,
                      kvc_diag *diag);

/// A plan and a cache that a run is to use together, of a device with memory of
/// its own.
kvc_status requireOneDevice(const kvc_plan &plan, const kvc_batch &batch,
                            kvc_diag *diag);

/// kvc_run_attend and kvc_run on a device with memory of its own.
kvc_status attendOnDevice(AttendRun &attend, const kvc_batch &batch,
                          kvc_diag *diag);

} // namespace kvc

#endif // KVC_RUN_ATTENDRUN_H
