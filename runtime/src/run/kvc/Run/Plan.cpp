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
  Checked floats = 0, decodes = 0, prefills = 0, units = 0; ///< Of all.
  int64_t unitFloats = 0, unitItems = 0; ///< Of the largest unit.

  Checked items() const { return decodes + prefills; }
};

/// Adds what a sequence of at most `length` keys needs that runs through a
/// kernel.
kvc_status addSequence(const kvc_plan &plan, const KernelBound &bound,
                       int64_t length, kvc_diag *diag, Needs &needs) {
  const kvc_module &module = *plan.module;
  const kvc_kernel_info kernel = plan.planned(*bound.kernel);
  const spec::Attention &attention = module.spec->spec.attention;
  int64_t rows = bound.queries * attention.group();
  int64_t rowsOfUnit = rowsOfItem(module, *bound.kernel);
  int64_t unitRows = std::min(rows, rowsOfUnit);
  int64_t splits =
      maxSplits(Visibility(module.spec->spec), kernel, attention.group(),
                bound.queries, length, unitRows);
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
  const Checked units =
      Checked(divideCeil(rows, rowsOfUnit)) * attention.kvHeads;
  const UnitLayout layout(unitRows, attention.valueDim, splits);
  needs.floats = needs.floats + units * layout.floats;
  Checked &items =
      bound.kernel == module.decode ? needs.decodes : needs.prefills;
  items = items + units * splits;
  needs.units = needs.units + units;
  needs.unitFloats = std::max(needs.unitFloats, layout.floats);
  needs.unitItems = std::max(needs.unitItems, splits);
  return KVC_OK;
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

kvc_status kvc_plan::planSplits(kvc_diag *diag) {
  const std::pair<const kvc_kernel_info *, int64_t *> splitOf[] = {
      {module->decode, &decodeSplit}, {module->prefill, &prefillSplit}};
  for (const auto &[kernel, split] : splitOf) {
    if (!kernel)
      continue;
    *split = kernel->split_tokens;
    if (own)
      KVC_TRY(planSplit(*module, *device, *own->code, *kernel, bounds, diag,
                        *split));
  }
  return KVC_OK;
}

kvc_status kvc_plan::create(kvc_diag *diag) {
  if (hasOwnMemory(*device)) {
    own = std::make_unique<DevicePlan>();
    KVC_TRY(module->codeOn(*device, diag, own->code));
  }
  KVC_TRY(planSplits(diag));
  Needs needs;
  for (const SequenceBound &bound : bounds)
    for (const KernelBound &each : kernelsFor(*module, bound.queries))
      KVC_TRY(addSequence(*this, each, bound.length, diag, needs));
  int64_t limit =
      std::max(KVC_PLAN_WORKSPACE / int64_t(sizeof(float)), needs.unitFloats);
  int64_t floats = needs.floats.saturated();
  if (!own)
    floats = std::min(floats, limit);
  Checked bytes = Checked(floats) * int64_t(sizeof(float));
  KVC_TRY(workspace.allocate(*device, bytes.saturated(), diag));
  int64_t items = needs.items().saturated(), units = needs.units.saturated();
  if (own)
    KVC_TRY(createTables(*module, *device, bounds, needs.decodes.saturated(),
                         needs.prefills.saturated(), units, diag, *own));
  else
    items = std::min(items, std::max(kWaveItems, needs.unitItems));
  maxItems = size_t(items);
  maxMerges = size_t(own ? units : std::min(units, kWaveItems));
  entries.reserve(bounds.size());
  splits.reserve(size_t(needs.unitItems));
  if (module->decode)
    decode.reserve(own ? size_t(needs.decodes.saturated()) : maxItems);
  if (module->prefill)
    prefill.reserve(own ? size_t(needs.prefills.saturated()) : maxItems);
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
    KVC_TRY(requireDevice(module, *made->device, diag));
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
  result.decode_split = plan->decodeSplit;
  result.prefill_split = plan->prefillSplit;
  return writeStruct(result, "info", diag, info);
}
