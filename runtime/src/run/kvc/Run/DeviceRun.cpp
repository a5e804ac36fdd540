//===- DeviceRun.cpp - Runs on a device with memory of its own ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Run/AttendRun.h"

#include <algorithm>

using namespace kvc;

namespace {

/// Blocks begin in the order of their items: the longest first, so that none of
/// them begins when the others are done.
void sortItems(std::vector<kvc_attend_args> &items) {
  auto orderOf = [](const kvc_attend_args &item) {
    return std::pair(item.key_begin - item.key_end, item.partial_out);
  };
  std::sort(items.begin(), items.end(), [&](const auto &a, const auto &b) {
    return orderOf(a) < orderOf(b);
  });
}

template <typename T>
kvc_status addSection(StepTables &tables, TableSection section,
                      std::vector<T> &items, kvc_diag *diag) {
  const void *address = nullptr;
  KVC_TRY(tables.add(section, items.data(), int64_t(items.size() * sizeof(T)),
                     "items", diag, &address));
  items.clear();
  return KVC_OK;
}

/// A kernel's items in the tables of a plan.
struct Grid {
  TableSection section;
  const kvc_kernel_info *info;
  void *function;
  size_t itemBytes;
};

} // namespace

kvc_status AttendRun::place(const kvc_cache &cache, ViewPlacer &views,
                            kvc_diag *diag) {
  for (BatchEntry &entry : plan.entries)
    KVC_TRY(views.place(cache, entry.extent, diag, entry.view));
  plan.decode.clear();
  plan.prefill.clear();
  plan.merge.clear();
  usedFloats = 0;
  KVC_TRY(addItems(diag));
  sortItems(plan.decode);
  sortItems(plan.prefill);
  StepTables &tables = plan.own->tables;
  KVC_TRY(addSection(tables, DecodeItems, plan.decode, diag));
  KVC_TRY(addSection(tables, PrefillItems, plan.prefill, diag));
  return addSection(tables, MergeItems, plan.merge, diag);
}

kvc_status kvc::launchPlan(kvc_plan &plan, uint32_t what, bool isWhole,
                           void *stream, kvc_diag *diag) {
  const kvc_module &module = *plan.module;
  const DeviceCode &code = *plan.own->code;
  const StepTables &tables = plan.own->tables;
  std::vector<Grid> grids;
  if (what & KVC_RUN_APPEND)
    grids.push_back(
        {AppendItems, module.append, code.append, sizeof(kvc_append_args)});
  if (what & KVC_RUN_ATTEND) {
    grids.push_back(
        {DecodeItems, module.decode, code.decode, sizeof(kvc_attend_args)});
    grids.push_back(
        {PrefillItems, module.prefill, code.prefill, sizeof(kvc_attend_args)});
    grids.push_back(
        {MergeItems, module.merge, code.merge, sizeof(kvc_merge_args)});
  }
  for (const Grid &grid : grids) {
    if (!grid.info)
      continue;
    const int64_t bytes =
        isWhole ? tables.capacity(grid.section) : tables.used(grid.section);
    KVC_TRY(launchItems(*plan.device, stream, grid.function, *grid.info,
                        tables.address(grid.section),
                        bytes / int64_t(grid.itemBytes), diag));
  }
  return KVC_OK;
}

kvc_status kvc::requireOneDevice(const kvc_plan &plan, const kvc_batch &batch,
                                 kvc_diag *diag) {
  return plan.device == batch.cache->device
             ? KVC_OK
             : fail(diag, KVC_INVALID_ARGUMENT,
                    "batch.cache: expected one on the plan's device, got one "
                    "on another");
}

kvc_status kvc::attendOnDevice(AttendRun &attend, const kvc_batch &batch,
                               kvc_diag *diag) {
  kvc_plan &plan = attend.plan;
  StepTables &tables = plan.own->tables;
  plan.own->updated = 0;
  KVC_TRY(tables.begin(diag));
  ViewPlacer views(tables);
  KVC_TRY(attend.place(*batch.cache, views, diag));
  KVC_TRY(tables.upload(batch.stream, diag));
  return launchPlan(plan, KVC_RUN_ATTEND, /*isWhole=*/false, batch.stream,
                    diag);
}

static kvc_status requireOwn(const kvc_plan *plan, uint32_t what,
                             kvc_diag *diag) {
  if (!plan)
    return fail(diag, KVC_INVALID_ARGUMENT, "plan: expected a plan, got null");
  if (!plan->own)
    return fail(diag, KVC_UNSUPPORTED,
                "plan: expected one on a device with memory of its own, got "
                "one on \"%s\"",
                plan->device->name);
  if (what == 0 || what & ~uint32_t(KVC_RUN_APPEND | KVC_RUN_ATTEND))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "what: expected KVC_RUN_APPEND, KVC_RUN_ATTEND or both, got "
                "0x%x",
                what);
  return what & KVC_RUN_APPEND
             ? requireKernel(plan->module->append, "append", diag)
             : KVC_OK;
}

extern "C" kvc_status kvc_run_update(kvc_plan *plan, const kvc_batch *batch,
                                     uint32_t what, kvc_diag *diag,
                                     const kvc_out_rows *out,
                                     const kvc_out_rows *lse) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requireOwn(plan, what, diag));
    kvc_batch given;
    KVC_TRY(readBatch(*plan->module, batch, diag, given));
    KVC_TRY(requireOneDevice(*plan, given, diag));
    const bool isAppending = (what & KVC_RUN_APPEND) != 0;
    AppendWork work;
    if (isAppending && given.slot_mapping)
      return fail(diag, KVC_UNSUPPORTED,
                  "batch.slot_mapping: expected sequences in an update, got "
                  "slots");
    // It is gone when the launch comes.
    if (isAppending && plan->module->append->workspace_bytes > 0)
      return fail(
          diag, KVC_UNSUPPORTED,
          "module.append: expected a kernel without a workspace in an "
          "update, got one of %lld bytes",
          static_cast<long long>(plan->module->append->workspace_bytes));
    if (isAppending)
      KVC_TRY(prepareAppend(*plan->module, given, diag, work));
    AttendRun attend(*plan, nullptr);
    if (what & KVC_RUN_ATTEND)
      KVC_TRY(attend.prepare(given, isAppending, out, lse, diag));
    StepTables &tables = plan->own->tables;
    plan->own->updated = 0;
    KVC_TRY(tables.begin(diag));
    ViewPlacer views(tables);
    if (isAppending)
      KVC_TRY(placeAppend(*given.cache, work, views, tables, diag));
    if (what & KVC_RUN_ATTEND)
      KVC_TRY(attend.place(*given.cache, views, diag));
    KVC_TRY(tables.upload(given.stream, diag));
    for (Sequence *sequence : work.sequences)
      sequence->setWritten();
    plan->own->updated = what;
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_run_launch(kvc_plan *plan, uint32_t what,
                                     void *stream, kvc_diag *diag) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requireOwn(plan, what, diag));
    if (what & ~plan->own->updated)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "what: expected no more than the last update (0x%x), got "
                  "0x%x",
                  plan->own->updated, what);
    return launchPlan(*plan, what, /*isWhole=*/true, stream, diag);
  });
}
