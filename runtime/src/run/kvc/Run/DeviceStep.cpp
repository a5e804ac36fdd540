//===- DeviceStep.cpp - Steps on a device with memory of its own ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Run/DeviceStep.h"

#include "kvc/Base/Checked.h"

#include <algorithm>

using namespace kvc;

namespace {

/// What each thing in a table begins at a multiple of.
constexpr int64_t kAlignment = 16;

constexpr int64_t aligned(int64_t bytes) {
  return divideCeil(bytes, kAlignment) * kAlignment;
}

} // namespace

int64_t kvc::viewBytes(int64_t regions, bool hasRawRows) {
  // An append and an attend of one step have views of their own.
  return aligned(regions * int64_t(sizeof(kvc_region))) +
         (hasRawRows ? 2 * aligned(sizeof(kvc_cache_view)) : 0);
}

int64_t kvc::pageBytes(int64_t entries) {
  return aligned(entries * int64_t(sizeof(int32_t)));
}

kvc_status ViewPlacer::placeList(size_t section, const void *list,
                                 int64_t bytes, const char *what,
                                 kvc_diag *diag, const void **address) {
  *address = nullptr;
  if (!list || bytes == 0)
    return KVC_OK;
  if (auto found = placed.find(list); found != placed.end()) {
    *address = found->second;
    return KVC_OK;
  }
  KVC_TRY(tables.add(section, list, bytes, what, diag, address));
  placed.emplace(list, *address);
  return KVC_OK;
}

kvc_status ViewPlacer::place(const kvc_cache &cache, const ViewExtent &extent,
                             kvc_diag *diag, kvc_cache_view &view) {
  const void *regions = cache.onDevice.regions, *pages = nullptr;
  if (!cache.isPaged)
    KVC_TRY(placeList(Views, view.regions,
                      extent.regions * int64_t(sizeof(kvc_region)),
                      "regions of sequences", diag, &regions));
  KVC_TRY(placeList(Pages, view.page_table,
                    extent.pages * int64_t(sizeof(int32_t)), "page tables",
                    diag, &pages));
  view.regions = static_cast<const kvc_region *>(regions);
  view.page_table = static_cast<const int32_t *>(pages);
  view.inputs = cache.onDevice.inputs;
  if (!view.raw)
    return KVC_OK;
  kvc_cache_view raw = *view.raw;
  KVC_TRY(placeList(Pages, raw.page_table,
                    extent.rawPages * int64_t(sizeof(int32_t)),
                    "page tables of raw rows", diag, &pages));
  raw.regions = cache.onDevice.rawRegions;
  raw.page_table = static_cast<const int32_t *>(pages);
  const void *address = nullptr;
  KVC_TRY(tables.add(Views, &raw, sizeof(raw), "raw rows", diag, &address));
  view.raw = static_cast<const kvc_cache_view *>(address);
  return KVC_OK;
}

kvc_status kvc::requireWholeLoads(const Rows &rows, kvc_diag *diag) {
  const int64_t bytes = bytesOf(rows.dtype);
  if (reinterpret_cast<uintptr_t>(rows.data) % kAlignment == 0 &&
      rows.tokenStride * bytes % kAlignment == 0 &&
      rows.headStride * bytes % kAlignment == 0)
    return KVC_OK;
  return fail(diag, KVC_INVALID_ARGUMENT,
              "%s: expected an address and strides that are multiples of %lld "
              "bytes on a device, got %p and %lld and %lld elements",
              rows.name, static_cast<long long>(kAlignment),
              static_cast<const void *>(rows.data),
              static_cast<long long>(rows.tokenStride),
              static_cast<long long>(rows.headStride));
}

kvc_status kvc::placeAppend(const kvc_cache &cache, AppendWork &work,
                            ViewPlacer &views, StepTables &tables,
                            kvc_diag *diag) {
  for (const AppendWork::View &each : work.views) {
    if (each.begin == each.end)
      continue;
    kvc_cache_view view = work.args[each.begin].cache;
    KVC_TRY(views.place(cache, each.extent, diag, view));
    for (size_t i = each.begin; i < each.end; ++i)
      work.args[i].cache = view;
  }
  const void *address = nullptr;
  return tables.add(AppendItems, work.args.data(),
                    int64_t(work.args.size() * sizeof(kvc_append_args)),
                    "rows to append", diag, &address);
}

kvc_status kvc::launchItems(const kvc_device &device, void *stream,
                            void *function, const kvc_kernel_info &info,
                            const void *items, int64_t count, kvc_diag *diag) {
  if (count == 0)
    return KVC_OK;
  if (count > kMaxInt32)
    return fail(diag, KVC_UNSUPPORTED,
                "batch: expected at most %lld items of \"%s\", got %lld",
                static_cast<long long>(kMaxInt32), info.name,
                static_cast<long long>(count));
  const kvc_grid grid = {function,
                         uint32_t(count),
                         uint32_t(info.threads),
                         uint32_t(info.shared_bytes),
                         &items,
                         sizeof(items)};
  return device.launch_grid(device.self, stream, &grid, diag);
}

namespace {

/// Makes the cache's tables for appends large enough for `work`.
kvc_status growTables(kvc_cache &cache, const AppendWork &work,
                      kvc_diag *diag) {
  std::vector<int64_t> bytes(NumSections, 0);
  bytes[AppendItems] = int64_t(work.args.size() * sizeof(kvc_append_args));
  for (const AppendWork::View &each : work.views) {
    bytes[Views] += viewBytes(each.extent.regions, cache.raw.has_value());
    bytes[Pages] +=
        pageBytes(each.extent.pages) + pageBytes(each.extent.rawPages);
  }
  StepTables &tables = cache.appendTables;
  bool fits = !tables.isEmpty();
  for (size_t i = 0; i < bytes.size() && fits; ++i)
    fits = bytes[i] <= tables.capacity(i);
  if (fits)
    return KVC_OK;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int64_t had = tables.isEmpty() ? 0 : tables.capacity(i);
    bytes[i] = bytes[i] > had ? std::max(bytes[i], 2 * had) : had;
  }
  // Kernels may still read the old ones.
  KVC_TRY(cache.device->synchronize(cache.device->self, diag));
  tables.destroy();
  return tables.create(*cache.device, bytes, diag);
}

} // namespace

kvc_status kvc::appendOnDevice(const kvc_module &module, const kvc_batch &batch,
                               AppendWork &work, kvc_diag *diag) {
  kvc_cache &cache = *batch.cache;
  const DeviceCode *code = nullptr;
  KVC_TRY(module.codeOn(*cache.device, diag, code));
  if (!work.args.empty()) {
    KVC_TRY(growTables(cache, work, diag));
    StepTables &tables = cache.appendTables;
    KVC_TRY(tables.begin(diag));
    ViewPlacer views(tables);
    KVC_TRY(placeAppend(cache, work, views, tables, diag));
    KVC_TRY(tables.upload(batch.stream, diag));
  }
  for (size_t i = 0; i + 1 < work.stages.size(); ++i)
    KVC_TRY(launchItems(*cache.device, batch.stream, code->append,
                        *module.append,
                        cache.appendTables.address(AppendItems) +
                            work.stages[i] * sizeof(kvc_append_args),
                        int64_t(work.stages[i + 1] - work.stages[i]), diag));
  for (Sequence *sequence : work.sequences)
    sequence->setWritten();
  // The workspace goes with `work`: the kernels must be through with it.
  if (work.workspace.bytes() > 0)
    return cache.device->stream_synchronize(cache.device->self, batch.stream,
                                            diag);
  return KVC_OK;
}
