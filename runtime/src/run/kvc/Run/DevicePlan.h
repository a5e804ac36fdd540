//===- DevicePlan.h - Plans on a device with memory of its own --*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_DEVICEPLAN_H
#define KVC_RUN_DEVICEPLAN_H

#include "kvc/Run/DeviceStep.h"
#include "kvc/Run/Items.h"

namespace kvc {

/// What a plan has beside workspace on a device with memory of its own: tables
/// of a fixed size, and so grids.
struct DevicePlan {
  const DeviceCode *code = nullptr;
  StepTables tables;
  /// Whether tables hold a step, of which what.
  uint32_t updated = 0;
};

/// Upper bounds of one sequence.
struct SequenceBound {
  int64_t queries, length;
};

/// A kernel and the most queries with which a sequence runs through it.
struct KernelBound {
  const kvc_kernel_info *kernel;
  int64_t queries;
};
/// The kernels that a sequence of at most `queries` queries may take: with
/// fewer queries than its bound it may be another one.
std::vector<KernelBound> kernelsFor(const kvc_module &module, int64_t queries);

/// Keys of an item of `kernel`, decode or prefill, on this device.
kvc_status planSplit(const kvc_module &module, const kvc_device &device,
                     const DeviceCode &code, const kvc_kernel_info &kernel,
                     const std::vector<SequenceBound> &bounds, kvc_diag *diag,
                     int64_t &split);

/// The tables of such a plan; items of "decode", "prefill" and "merge" as
/// given.
kvc_status createTables(const kvc_module &module, const kvc_device &device,
                        const std::vector<SequenceBound> &bounds,
                        int64_t decodeItems, int64_t prefillItems,
                        int64_t merges, kvc_diag *diag, DevicePlan &plan);

} // namespace kvc

#endif // KVC_RUN_DEVICEPLAN_H
