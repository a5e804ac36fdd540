//===- Attend.cpp - Queries attend ----------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Checked.h"
#include "kvc/Run/AttendRun.h"

#include <algorithm>

using namespace kvc;

kvc_status AttendRun::checkBounds(kvc_diag *diag) const {
  if (plan.entries.size() > plan.bounds.size())
    return fail(diag, KVC_UNSUPPORTED,
                "batch.num_sequences: expected at most the plan's %zu, got %zu",
                plan.bounds.size(), plan.entries.size());
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    const BatchEntry &entry = plan.entries[i];
    const SequenceBound &bound = plan.bounds[i];
    if (entry.tokens > bound.queries || entry.length > bound.length)
      return fail(diag, KVC_UNSUPPORTED,
                  "batch: expected at most the plan's %lld queries and %lld "
                  "keys for sequence %zu, got %lld and %lld",
                  static_cast<long long>(bound.queries),
                  static_cast<long long>(bound.length), i,
                  static_cast<long long>(entry.tokens),
                  static_cast<long long>(entry.length));
  }
  return KVC_OK;
}

kvc_status AttendRun::prepare(const kvc_batch &batch, bool isAppending,
                              const kvc_out_rows *outRows,
                              const kvc_out_rows *lseRows, kvc_diag *diag) {
  const spec::Spec &spec = plan.module->spec->spec;
  if (plan.own)
    KVC_TRY(requireOneDevice(plan, batch, diag));
  KVC_TRY(checkTokens(batch, diag));
  KVC_TRY(resolveAttend(batch, isAppending, diag, plan.entries));
  KVC_TRY(checkBounds(diag));
  int64_t begin = batch.num_sequences ? batch.token_start[0] : 0;
  int64_t end =
      batch.num_sequences ? batch.token_start[batch.num_sequences] : 0;

  query = {"q", nullptr, spec.io.query, attention.qHeads, attention.headDim};
  KVC_TRY(resolveRows(batch.query.data, batch.query.token_stride,
                      batch.query.head_stride, end, diag, query));
  if (plan.own)
    KVC_TRY(requireWholeLoads(query, diag));
  out = {"out", nullptr, spec.io.output, attention.qHeads, attention.valueDim};
  kvc_out_rows none = {nullptr, 0, 0};
  const kvc_out_rows &given = outRows ? *outRows : none;
  KVC_TRY(resolveRows(given.data, given.token_stride, given.head_stride, end,
                      diag, out));
  wantsLse = lseRows && lseRows->data;
  if (wantsLse) {
    lse = {"lse", nullptr, spec::DType::F32, attention.qHeads, 1};
    KVC_TRY(resolveRows(lseRows->data, lseRows->token_stride,
                        lseRows->head_stride, end, diag, lse));
  }
  bool isChecked = !(batch.flags & KVC_SKIP_FINITE_CHECK);
  if (attention.alibi) {
    slopes = batch.alibi_slopes;
    KVC_TRY(checkPerHead("alibi_slopes", slopes,
                         isChecked ? attention.qHeads : 0, false, diag));
  }
  if (attention.sinkLogits) {
    sinks = batch.sink_logits;
    KVC_TRY(checkPerHead("sink_logits", sinks, isChecked ? attention.qHeads : 0,
                         true, diag));
  }
  return isChecked ? checkRows(query, begin, end, diag) : KVC_OK;
}

kvc_status AttendRun::flush(kvc_diag *diag) {
  auto countOf = [](const auto &list) { return int64_t(list.size()); };
  kvc_launch launches[3];
  int64_t count = 0;
  if (!plan.decode.empty())
    launches[count++] = {plan.module->decode->function, plan.decode.data(),
                         sizeof(kvc_attend_args), countOf(plan.decode)};
  if (!plan.prefill.empty())
    launches[count++] = {plan.module->prefill->function, plan.prefill.data(),
                         sizeof(kvc_attend_args), countOf(plan.prefill)};
  if (!plan.merge.empty())
    launches[count++] = {plan.module->merge->function, plan.merge.data(),
                         sizeof(kvc_merge_args), countOf(plan.merge)};
  kvc_status status =
      plan.device->launch(plan.device->self, launches, count, threads, diag);
  plan.decode.clear();
  plan.prefill.clear();
  plan.merge.clear();
  usedFloats = 0;
  return status;
}

namespace {

/// `pointer` moved by `floats`, which may lead out of its array for a moment: a
/// kernel adds back what is taken off here.
float *offset(float *pointer, int64_t floats) {
  return reinterpret_cast<float *>(reinterpret_cast<intptr_t>(pointer) +
                                   floats * int64_t(sizeof(float)));
}

} // namespace

void AttendRun::addUnit(const BatchEntry &entry, const kvc_kernel_info &kernel,
                        Range rows, int64_t head, const UnitLayout &layout) {
  float *unit = reinterpret_cast<float *>(plan.workspace.data()) + usedFloats;
  usedFloats += layout.floats;

  kvc_attend_args attend = {};
  attend.cache = entry.view;
  attend.query = query.token(entry.tokenBegin);
  attend.query_token_stride = query.tokenStride;
  attend.query_head_stride = query.headStride;
  attend.alibi_slopes = slopes;
  attend.kv_head = head;
  attend.num_queries = entry.tokens;
  attend.length = entry.length;
  attend.row_begin = rows.begin;
  attend.row_end = rows.end;
  std::vector<kvc_attend_args> &items =
      &kernel == plan.module->decode ? plan.decode : plan.prefill;
  for (size_t i = 0; i < plan.splits.size(); ++i) {
    attend.partial_out = unit + int64_t(i) * layout.outStride;
    attend.partial_lse = unit + layout.lseBegin + int64_t(i) * layout.lseStride;
    attend.key_begin = plan.splits[i].begin;
    attend.key_end = plan.splits[i].end;
    items.push_back(attend);
  }

  kvc_merge_args merge = {};
  merge.partial_out = unit;
  merge.partial_out_split_stride = layout.outStride;
  merge.partial_lse = unit + layout.lseBegin;
  merge.partial_lse_split_stride = layout.lseStride;
  merge.sink_logits = sinks;
  merge.out = out.token(entry.tokenBegin);
  merge.out_token_stride = out.tokenStride;
  merge.out_head_stride = out.headStride;
  if (wantsLse) {
    merge.lse = reinterpret_cast<float *>(lse.token(entry.tokenBegin));
    merge.lse_token_stride = lse.tokenStride;
    merge.lse_head_stride = lse.headStride;
  } else {
    // With these strides (query, head) is row plus the first head of the group.
    merge.lse =
        offset(unit, layout.mergedLse - rows.begin - head * attention.group());
    merge.lse_token_stride = attention.group();
    merge.lse_head_stride = 1;
  }
  merge.kv_head = head;
  merge.row_begin = rows.begin;
  merge.row_end = rows.end;
  merge.num_splits = int64_t(plan.splits.size());
  plan.merge.push_back(merge);
}

kvc_status AttendRun::attendRows(const BatchEntry &entry,
                                 const kvc_kernel_info &kernel, Range rows,
                                 kvc_diag *diag) {
  plan.splits.clear();
  splitKeys(Visibility(plan.module->spec->spec), plan.planned(kernel),
            attention.group(), entry.tokens, entry.length, rows, plan.splits);
  UnitLayout layout(rows.end - rows.begin, attention.valueDim,
                    int64_t(plan.splits.size()));
  int64_t allFloats = plan.workspace.bytes() / int64_t(sizeof(float));
  for (int64_t head = 0; head < attention.kvHeads; ++head) {
    bool isFull =
        usedFloats + layout.floats > allFloats ||
        plan.decode.size() + plan.prefill.size() + plan.splits.size() >
            plan.maxItems ||
        plan.merge.size() == plan.maxMerges;
    // Elsewhere the plan has room for all of the batch.
    if (isFull && plan.own)
      return fail(diag, KVC_FAILED,
                  "plan: expected room for every item of the batch, got none");
    if (isFull)
      KVC_TRY(flush(diag));
    addUnit(entry, kernel, rows, head, layout);
  }
  return KVC_OK;
}

kvc_status AttendRun::addItems(kvc_diag *diag) {
  for (const BatchEntry &entry : plan.entries) {
    if (entry.tokens == 0)
      continue;
    const kvc_kernel_info &kernel = attendKernel(*plan.module, entry.tokens);
    int64_t rows = entry.tokens * attention.group();
    int64_t step = rowsOfItem(*plan.module, kernel);
    for (int64_t begin = 0; begin < rows; begin += step)
      KVC_TRY(attendRows(entry, kernel, {begin, std::min(begin + step, rows)},
                         diag));
  }
  return KVC_OK;
}

kvc_status AttendRun::run(kvc_diag *diag) {
  KVC_TRY(addItems(diag));
  return flush(diag);
}

extern "C" kvc_status kvc_run_attend(kvc_plan *plan, const kvc_batch *batch,
                                     const kvc_parallel_for *threads,
                                     kvc_diag *diag, const kvc_out_rows *out,
                                     const kvc_out_rows *lse) {
  return guarded(diag, [&]() -> kvc_status {
    if (!plan)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "plan: expected a plan, got null");
    kvc_batch given;
    KVC_TRY(readBatch(*plan->module, batch, diag, given));
    AttendRun attend(*plan, threads);
    KVC_TRY(attend.prepare(given, /*isAppending=*/false, out, lse, diag));
    return plan->own ? attendOnDevice(attend, given, diag) : attend.run(diag);
  });
}

extern "C" kvc_status kvc_run(kvc_plan *plan, const kvc_batch *batch,
                              const kvc_parallel_for *threads, kvc_diag *diag,
                              const kvc_out_rows *out,
                              const kvc_out_rows *lse) {
  return guarded(diag, [&]() -> kvc_status {
    if (!plan)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "plan: expected a plan, got null");
    kvc_batch given;
    KVC_TRY(readBatch(*plan->module, batch, diag, given));
    AppendWork work;
    KVC_TRY(prepareAppend(*plan->module, given, diag, work));
    AttendRun attend(*plan, threads);
    // By handles the append writes every reserved row of the batch; rows that
    // the caller's tables name are the caller's business.
    KVC_TRY(attend.prepare(given, /*isAppending=*/true, out, lse, diag));
    KVC_TRY(runAppend(*plan->module, given, work, threads, diag));
    return plan->own ? attendOnDevice(attend, given, diag) : attend.run(diag);
  });
}
