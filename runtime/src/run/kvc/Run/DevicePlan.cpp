//===- DevicePlan.cpp - Plans on a device with memory of its own ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Run/DevicePlan.h"

#include "kvc/Base/Checked.h"
#include "kvc/Run/SplitPlanner.h"
#include "kvc/Spec/Segments.h"
#include "kvc/runtime.h"

#include <algorithm>

using namespace kvc;
using layout::TargetFamily;
using spec::Tensor;

std::vector<KernelBound> kvc::kernelsFor(const kvc_module &module,
                                         int64_t queries) {
  if (queries == 0)
    return {};
  const kvc_kernel_info *most = &attendKernel(module, queries);
  int64_t fewer = std::min<int64_t>(queries, KVC_DECODE_MAX_QUERIES);
  while (fewer > 0 && &attendKernel(module, fewer) == most)
    --fewer;
  if (fewer == 0)
    return {{most, queries}};
  return {{most, queries}, {&attendKernel(module, fewer), fewer}};
}

namespace {

/// Bytes of the keys and values of one kv head in `tokens` tokens.
int64_t bytesOfTokens(const spec::Spec &spec, int64_t tokens) {
  const int64_t page = spec.layout.kind == spec::LayoutKind::Paged
                           ? spec.layout.page
                           : layout::kContiguousPageTokens;
  return divideCeil(layout::pageBytes(spec, TargetFamily::Nvptx) * tokens,
                    page * spec.attention.kvHeads);
}

/// Keys that rows of one sequence see at most.
int64_t visibleKeys(const spec::Attention &attention, int64_t queries,
                    int64_t length) {
  if (!attention.window)
    return length;
  return std::min(length, *attention.window + queries + attention.windowSinks);
}

} // namespace

kvc_status kvc::planSplit(const kvc_module &module, const kvc_device &device,
                          const DeviceCode &code, const kvc_kernel_info &kernel,
                          const std::vector<SequenceBound> &bounds,
                          kvc_diag *diag, int64_t &split) {
  const spec::Spec &spec = module.spec->spec;
  const spec::Attention &attention = spec.attention;
  kvc_device_info info = {};
  info.struct_size = sizeof(info);
  KVC_TRY(device.get_info(device.self, diag, &info));
  int32_t blocks = 0;
  KVC_TRY(device.occupancy(
      device.self, &kernel == module.decode ? code.decode : code.prefill,
      uint32_t(kernel.threads), uint32_t(kernel.shared_bytes), diag, &blocks));
  if (blocks < 1)
    return fail(diag, KVC_UNSUPPORTED,
                "module.%s: expected a block that fits on a multiprocessor of "
                "%s, got %lld threads and %lld bytes of shared memory",
                kernel.name, info.name, static_cast<long long>(kernel.threads),
                static_cast<long long>(kernel.shared_bytes));
  SplitShape shape;
  int64_t mostRows = 1;
  for (const SequenceBound &bound : bounds)
    for (const KernelBound &each : kernelsFor(module, bound.queries)) {
      if (each.kernel != &kernel)
        continue;
      const int64_t rows = each.queries * attention.group();
      const int64_t step = rowsOfItem(module, kernel);
      mostRows = std::max(mostRows, std::min(rows, step));
      shape.sequences.push_back(
          {visibleKeys(attention, each.queries, bound.length),
           attention.kvHeads * divideCeil(rows, step)});
    }
  shape.tileTokens = kernel.tile_tokens;
  shape.slots = int64_t(std::max(info.multiprocessors, 1)) * blocks;
  shape.tileBytes = bytesOfTokens(spec, kernel.tile_tokens);
  // Written by one kernel, read by the other.
  shape.partialBytes =
      2 * mostRows * (attention.valueDim + 1) * int64_t(sizeof(float));
  split = chooseSplit(shape);
  return KVC_OK;
}

kvc_status kvc::createTables(const kvc_module &module, const kvc_device &device,
                             const std::vector<SequenceBound> &bounds,
                             int64_t decodeItems, int64_t prefillItems,
                             int64_t merges, kvc_diag *diag, DevicePlan &plan) {
  const spec::Spec &spec = module.spec->spec;
  const bool isPaged = spec.layout.kind == spec::LayoutKind::Paged;
  const bool hasRaw = spec::hasSegments(spec);
  const int64_t page =
      isPaged ? spec.layout.page : layout::kContiguousPageTokens;
  int64_t regions = 0;
  if (!isPaged)
    for (Tensor tensor : {Tensor::Key, Tensor::Value})
      regions += int64_t(
          layout::pageLayout(spec, tensor, TargetFamily::Nvptx).regions.size());
  Checked appends = 0, pages = 0;
  for (const SequenceBound &bound : bounds) {
    // Cut at pages where it may be cut.
    appends = appends + Checked(divideCeil(bound.queries, page) + 1) *
                            spec.attention.kvHeads;
    if (isPaged)
      pages = pages + pageBytes(divideCeil(bound.length, page));
    if (hasRaw)
      pages =
          pages +
          pageBytes(divideCeil(bound.length, spec::rawPage(spec)) +
                    divideCeil(spec.segments.sink, spec::rawPage(spec)) + 2);
  }
  const Checked bytes[NumSections] = {
      appends * int64_t(sizeof(kvc_append_args)),
      Checked(decodeItems) * int64_t(sizeof(kvc_attend_args)),
      Checked(prefillItems) * int64_t(sizeof(kvc_attend_args)),
      Checked(merges) * int64_t(sizeof(kvc_merge_args)),
      Checked(int64_t(bounds.size())) * viewBytes(regions, hasRaw),
      pages};
  std::vector<int64_t> sizes;
  Checked all = 0;
  for (const Checked &each : bytes) {
    all = all + each;
    sizes.push_back(each.saturated());
  }
  if (!all.isValid())
    return fail(diag, KVC_FAILED,
                "plan: expected tables of fewer than 2^63 bytes, got more");
  return plan.tables.create(device, sizes, diag);
}
