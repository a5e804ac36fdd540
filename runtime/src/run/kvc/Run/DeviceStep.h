//===- DeviceStep.h - Steps on a device with memory of its own --*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A block of a kernel does one item: the kernel's only parameter is the address
// of an array of the argument structs of kernel_abi.h, of which block i takes
// number i. An item of zeros does nothing, so that a grid may have more blocks
// than there are items.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_DEVICESTEP_H
#define KVC_RUN_DEVICESTEP_H

#include "kvc/Run/Batch.h"

#include <unordered_map>

namespace kvc {

/// The sections of a step's tables.
enum TableSection : size_t {
  AppendItems,
  DecodeItems,
  PrefillItems,
  MergeItems,
  Views, ///< Regions and raw rows of sequences.
  Pages, ///< Page tables.
  NumSections
};

/// Bytes of the sections Views and Pages that one sequence takes at most.
int64_t viewBytes(int64_t regions, bool hasRawRows);
int64_t pageBytes(int64_t entries);

/// Puts the lists that views point to where the device finds them.
class ViewPlacer {
public:
  explicit ViewPlacer(StepTables &tables) : tables(tables) {}

  /// Makes a view of the host's one of the device's.
  kvc_status place(const kvc_cache &cache, const ViewExtent &extent,
                   kvc_diag *diag, kvc_cache_view &view);

private:
  kvc_status placeList(size_t section, const void *list, int64_t bytes,
                       const char *what, kvc_diag *diag, const void **address);

  StepTables &tables;
  /// Lists that are there already, by their address on the host.
  std::unordered_map<const void *, const void *> placed;
};

/// KVC_INVALID_ARGUMENT unless loads of 16 bytes fit the rows: kernels on a
/// device with memory of its own use no others.
kvc_status requireWholeLoads(const Rows &rows, kvc_diag *diag);

/// Views and items of an append into the tables.
kvc_status placeAppend(const kvc_cache &cache, AppendWork &work,
                       ViewPlacer &views, StepTables &tables, kvc_diag *diag);

/// Launches one block for each of `count` items at `items`.
kvc_status launchItems(const kvc_device &device, void *stream, void *function,
                       const kvc_kernel_info &info, const void *items,
                       int64_t count, kvc_diag *diag);

/// Runs an append without a plan, on the batch's stream.
kvc_status appendOnDevice(const kvc_module &module, const kvc_batch &batch,
                          AppendWork &work, kvc_diag *diag);

} // namespace kvc

#endif // KVC_RUN_DEVICESTEP_H
