//===- Plan.cpp - Memory and bounds of runs -------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Run/Plan.h"

#include "kvc/Base/Checked.h"
#include "kvc/Base/Struct.h"

#include <algorithm>

using namespace kvc;

namespace {

/// Items and merges of one wave, unless one unit alone has more: enough for any
/// number of threads to stay busy, few enough to stay out of the way of caches.
constexpr int64_t kWaveItems = 4096;
constexpr int64_t kLineFloats = 16;

constexpr int64_t toLines(int64_t floats) {
  return divideCeil(floats, kLineFloats) * kLineFloats;
}

} // namespace

UnitLayout::UnitLayout(int64_t rows, int64_t valueDim, int64_t splits)
    : outStride(toLines(rows * valueDim)), lseStride(toLines(rows)),
      lseBegin(splits * outStride), mergedLse(lseBegin + splits * lseStride),
      floats(mergedLse + lseStride) {}

namespace {

/// What the units of a batch need at most.
struct Needs {
  Checked floats = 0, items = 0, units = 0; ///< Of the whole batch.
  int64_t unitFloats = 0, unitItems = 0;    ///< Of the largest unit.

  void add(int64_t count, const UnitLayout &layout, int64_t splits) {
    floats = floats + Checked(count) * layout.floats;
    items = items + Checked(count) * splits;
    units = units + count;
    unitFloats = std::max(unitFloats, layout.floats);
    unitItems = std::max(unitItems, splits);
  }
};

/// Adds what a sequence of at most `queries` queries needs that run through
/// `kernel`.
kvc_status addSequence(const kvc_module &module, const kvc_kernel_info &kernel,
                       int64_t queries, int64_t length, kvc_diag *diag,
                       Needs &needs) {
  const spec::Attention &attention = module.spec->spec.attention;
  int64_t rows = queries * attention.group();
  int64_t unitRows = std::min(rows, rowsOfItem(module, kernel));
  int64_t splits = maxSplits(Visibility(module.spec->spec), kernel,
                             attention.group(), queries, length, unitRows);
  // Rows are below 2^23 and splits below 2^31, but together they may not fit.
  Checked bytes = Checked(unitRows + kLineFloats) *
                  (attention.valueDim + 2 * kLineFloats) * (splits + 1) *
                  int64_t(sizeof(float));
  if (!bytes.isValid())
    return fail(diag, KVC_FAILED,
                "plan: expected partial results within 2^63 bytes, got %lld "
                "rows in %lld splits",
                static_cast<long long>(unitRows),
                static_cast<long long>(splits));
  int64_t ranges = divideCeil(rows, rowsOfItem(module, kernel));
  needs.add(ranges * attention.kvHeads,
            UnitLayout(unitRows, attention.valueDim, splits), splits);
  return KVC_OK;
}

/// Adds the larger of what decode and prefill need: with fewer queries than its
/// bound a sequence may take the other kernel.
kvc_status addBound(const kvc_module &module, const SequenceBound &bound,
                    kvc_diag *diag, Needs &needs) {
  if (bound.queries == 0)
    return KVC_OK;
  const kvc_kernel_info *most = &attendKernel(module, bound.queries);
  KVC_TRY(addSequence(module, *most, bound.queries, bound.length, diag, needs));
  int64_t fewer = std::min<int64_t>(bound.queries, KVC_DECODE_MAX_QUERIES);
  while (fewer > 0 && &attendKernel(module, fewer) == most)
    --fewer;
  if (fewer == 0)
    return KVC_OK;
  return addSequence(module, attendKernel(module, fewer), fewer, bound.length,
                     diag, needs);
}

kvc_status readBounds(const kvc_plan_options &options, kvc_diag *diag,
                      std::vector<SequenceBound> &bounds) {
  if (options.num_sequences < 0 || options.num_sequences > kMaxInt32)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "plan.num_sequences: expected 0 to %lld, got %lld",
                static_cast<long long>(kMaxInt32),
                static_cast<long long>(options.num_sequences));
  if (options.num_sequences > 0 && (!options.queries || !options.lengths))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "plan.%s: expected %lld numbers, got null",
                options.queries ? "lengths" : "queries",
                static_cast<long long>(options.num_sequences));
  for (int64_t i = 0; i < options.num_sequences; ++i) {
    if (options.queries[i] < 0 || options.lengths[i] < 0)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "plan.%s[%lld]: expected at least 0, got %d",
                  options.queries[i] < 0 ? "queries" : "lengths",
                  static_cast<long long>(i),
                  std::min(options.queries[i], options.lengths[i]));
    bounds.push_back({options.queries[i], options.lengths[i]});
  }
  return KVC_OK;
}

} // namespace

kvc_status kvc_plan::create(kvc_diag *diag) {
  Needs needs;
  for (const SequenceBound &bound : bounds)
    KVC_TRY(addBound(*module, bound, diag, needs));
  int64_t limit =
      std::max(KVC_PLAN_WORKSPACE / int64_t(sizeof(float)), needs.unitFloats);
  int64_t floats = std::min(needs.floats.saturated(), limit);
  KVC_TRY(workspace.allocate(*device, floats * int64_t(sizeof(float)), diag));
  maxItems = size_t(
      std::min(needs.items.saturated(), std::max(kWaveItems, needs.unitItems)));
  maxMerges = size_t(std::min(needs.units.saturated(), kWaveItems));
  entries.reserve(bounds.size());
  splits.reserve(size_t(needs.unitItems));
  if (module->decode)
    decode.reserve(maxItems);
  if (module->prefill)
    prefill.reserve(maxItems);
  merge.reserve(maxMerges);
  return KVC_OK;
}

extern "C" kvc_status kvc_plan_create(const kvc_plan_options *options,
                                      kvc_diag *diag, kvc_plan **plan) {
  return guarded(diag, [&]() -> kvc_status {
    kvc_plan_options given;
    KVC_TRY(readStruct(options, "plan", diag, given));
    KVC_TRY(requirePointer(plan, "plan", diag));
    KVC_TRY(requirePointer(given.module, "plan.module", diag));
    const kvc_module &module = *given.module;
    KVC_TRY(requireKernel(module.decode ? module.decode : module.prefill,
                          "decode", diag));
    KVC_TRY(requireKernel(module.merge, "merge", diag));
    auto made = std::make_unique<kvc_plan>();
    made->module = &module;
    KVC_TRY(resolveDevice(given.device, diag, made->device));
    KVC_TRY(readBounds(given, diag, made->bounds));
    KVC_TRY(made->create(diag));
    *plan = made.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_plan_free(kvc_plan *plan) {
  delete plan;
  return KVC_OK;
}

extern "C" kvc_status kvc_plan_get_info(const kvc_plan *plan, kvc_diag *diag,
                                        kvc_plan_info *info) {
  if (!plan)
    return fail(diag, KVC_INVALID_ARGUMENT, "plan: expected a plan, got null");
  kvc_plan_info result = {};
  result.workspace_bytes = plan->workspace.bytes();
  return writeStruct(result, "info", diag, info);
}
