//===- Append.cpp - Writing new rows --------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Checked.h"
#include "kvc/Run/DeviceStep.h"

#include <algorithm>
#include <numeric>

using namespace kvc;

namespace {

/// Rows of k and v that one call per kv head writes.
struct AppendRun {
  kvc_cache_view view;
  int64_t source;               ///< Row of k and v.
  int64_t tokenBegin, tokenEnd; ///< In the view.
  CodedEnds coded;              ///< Afterwards; with segments.
  ViewExtent extent;
};

/// The inputs of an append.
struct Inputs {
  Rows key, value;
  bool hasValue;
  int64_t cut; ///< As of appendCut.
};

kvc_status resolveInputs(const kvc_module &module, const kvc_batch &batch,
                         int64_t tokens, kvc_diag *diag, Inputs &inputs) {
  const spec::Spec &spec = module.spec->spec;
  inputs.key = {"k", nullptr, spec.io.query, spec.attention.kvHeads,
                spec.attention.headDim};
  KVC_TRY(resolveRows(batch.key.data, batch.key.token_stride,
                      batch.key.head_stride, tokens, diag, inputs.key));
  inputs.value = {"v", nullptr, spec.io.query, spec.attention.kvHeads,
                  spec.attention.valueDim};
  inputs.hasValue = spec.value.has_value();
  inputs.cut = appendCut(*batch.cache);
  if (inputs.hasValue)
    KVC_TRY(resolveRows(batch.value.data, batch.value.token_stride,
                        batch.value.head_stride, tokens, diag, inputs.value));
  if (!batch.cache->hasOwnMemory())
    return KVC_OK;
  KVC_TRY(requireWholeLoads(inputs.key, diag));
  return inputs.hasValue ? requireWholeLoads(inputs.value, diag) : KVC_OK;
}

kvc_status checkInputs(const kvc_batch &batch, const Inputs &inputs,
                       int64_t begin, int64_t end, kvc_diag *diag) {
  if (batch.flags & KVC_SKIP_FINITE_CHECK)
    return KVC_OK;
  KVC_TRY(checkRows(inputs.key, begin, end, diag));
  return inputs.hasValue ? checkRows(inputs.value, begin, end, diag) : KVC_OK;
}

void addRun(const Inputs &inputs, const AppendRun &run, AppendWork &work) {
  kvc_append_args args = {};
  args.cache = run.view;
  args.key_token_stride = inputs.key.tokenStride;
  args.key_head_stride = inputs.key.headStride;
  args.value_token_stride = inputs.value.tokenStride;
  args.value_head_stride = inputs.value.headStride;
  args.key_coded_end = run.coded.key;
  args.value_coded_end = run.coded.value;
  const size_t first = work.args.size();
  for (int64_t begin = run.tokenBegin; begin < run.tokenEnd;) {
    int64_t end = run.tokenEnd;
    if (inputs.cut)
      end = std::min(roundDown(begin, inputs.cut) + inputs.cut, end);
    const int64_t source = run.source + begin - run.tokenBegin;
    args.key = inputs.key.token(source);
    if (inputs.hasValue)
      args.value = inputs.value.token(source);
    args.token_begin = begin;
    args.token_end = end;
    for (int64_t head = 0; head < inputs.key.heads; ++head) {
      args.kv_head = head;
      work.args.push_back(args);
    }
    begin = end;
  }
  work.views.push_back({first, work.args.size(), run.extent});
}

//===----------------------------------------------------------------------===//
// By handles
//===----------------------------------------------------------------------===//

kvc_status prepareReserved(const kvc_module &module, const kvc_batch &batch,
                           kvc_diag *diag, AppendWork &work) {
  if (batch.num_sequences == 0)
    return KVC_OK;
  if (!batch.sequences)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch: expected sequences or slot_mapping, got neither");
  KVC_TRY(checkTokens(batch, diag));
  int64_t begin = batch.token_start[0];
  int64_t end = batch.token_start[batch.num_sequences];
  Inputs inputs;
  KVC_TRY(resolveInputs(module, batch, end, diag, inputs));
  for (int64_t i = 0; i < batch.num_sequences; ++i) {
    Sequence *sequence = nullptr;
    KVC_TRY(batch.cache->find(batch.sequences[i], diag, sequence));
    int64_t rows = batch.token_start[i + 1] - batch.token_start[i];
    if (rows != sequence->pending - sequence->committed)
      return fail(
          diag, KVC_INVALID_ARGUMENT,
          "batch.sequences[%lld]: expected as many rows as it has "
          "reserved (%lld), got %lld",
          static_cast<long long>(i),
          static_cast<long long>(sequence->pending - sequence->committed),
          static_cast<long long>(rows));
    if (rows == 0)
      continue;
    work.sequences.push_back(sequence);
    addRun(inputs,
           {batch.cache->viewOf(*sequence, sequence->coded),
            batch.token_start[i], sequence->committed, sequence->pending,
            sequence->nextCoded, batch.cache->extentOf(*sequence)},
           work);
  }
  // Two threads must not append to one sequence.
  std::vector<Sequence *> named = work.sequences;
  std::sort(named.begin(), named.end());
  if (std::adjacent_find(named.begin(), named.end()) != named.end())
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.sequences: expected each sequence once, got one twice");
  work.stages = {0, work.args.size()};
  return checkInputs(batch, inputs, begin, end, diag);
}

//===----------------------------------------------------------------------===//
// By slots
//===----------------------------------------------------------------------===//

/// Rows with consecutive slots of one page.
struct SlotRun {
  int64_t source, page, tokenBegin, tokens;
};

kvc_status gatherSlots(const kvc_batch &batch, kvc_diag *diag,
                       std::vector<SlotRun> &runs) {
  const kvc_cache &cache = *batch.cache;
  int64_t slots = cache.totalBlocks() * cache.blockTokens;
  for (int64_t i = 0; i < batch.num_slots; ++i) {
    int64_t slot = batch.slot_mapping[i];
    if (slot == -1)
      continue;
    if (slot < 0 || slot >= slots)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "batch.slot_mapping[%lld]: expected -1 or a slot below %lld, "
                  "got %lld",
                  static_cast<long long>(i), static_cast<long long>(slots),
                  static_cast<long long>(slot));
    int64_t page = slot / cache.blockTokens, token = slot % cache.blockTokens;
    if (!runs.empty()) {
      SlotRun &last = runs.back();
      if (last.page == page && last.tokenBegin + last.tokens == token &&
          last.source + last.tokens == i) {
        ++last.tokens;
        continue;
      }
    }
    runs.push_back({i, page, token, 1});
  }
  return KVC_OK;
}

/// The runs in the order in which they may be launched, and where stages begin.
/// Runs of one page may share bytes, so each is in a stage of its own, in
/// order; mostly a page has one.
std::vector<size_t> orderRuns(std::vector<SlotRun> &runs) {
  std::vector<size_t> byPage(runs.size());
  std::iota(byPage.begin(), byPage.end(), size_t(0));
  std::sort(byPage.begin(), byPage.end(), [&](size_t a, size_t b) {
    return std::pair(runs[a].page, a) < std::pair(runs[b].page, b);
  });
  std::vector<size_t> stage(runs.size(), 0);
  for (size_t i = 1; i < byPage.size(); ++i)
    if (runs[byPage[i]].page == runs[byPage[i - 1]].page)
      stage[byPage[i]] = stage[byPage[i - 1]] + 1;
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(stage[a], a) < std::pair(stage[b], b);
  });
  std::vector<SlotRun> ordered;
  std::vector<size_t> starts;
  for (size_t index : order) {
    if (starts.size() == stage[index])
      starts.push_back(ordered.size());
    ordered.push_back(runs[index]);
  }
  runs = std::move(ordered);
  return starts;
}

kvc_status prepareSlots(const kvc_module &module, const kvc_batch &batch,
                        kvc_diag *diag, AppendWork &work) {
  const kvc_cache &cache = *batch.cache;
  if (!cache.isPaged)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.slot_mapping: expected a paged cache, got one without "
                "pages");
  if (cache.raw)
    return fail(diag, KVC_UNSUPPORTED,
                "batch.slot_mapping: expected a spec without segments, got one "
                "with them");
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value}) {
    const spec::Scheme *scheme = spec::schemeOf(module.spec->spec, tensor);
    if (scheme && scheme->blockTokens() != 1)
      return fail(diag, KVC_UNSUPPORTED,
                  "batch.slot_mapping: expected scale.tokens 1, got %lld",
                  static_cast<long long>(scheme->blockTokens()));
  }
  std::vector<SlotRun> runs;
  KVC_TRY(gatherSlots(batch, diag, runs));
  Inputs inputs;
  KVC_TRY(resolveInputs(module, batch, batch.num_slots, diag, inputs));
  for (const SlotRun &run : runs)
    KVC_TRY(
        checkInputs(batch, inputs, run.source, run.source + run.tokens, diag));
  std::vector<size_t> starts = orderRuns(runs);
  work.pages.reserve(runs.size());
  for (const SlotRun &run : runs) {
    work.pages.push_back(static_cast<int32_t>(run.page));
    addRun(inputs,
           {cache.viewOf(&work.pages.back()),
            run.source,
            run.tokenBegin,
            run.tokenBegin + run.tokens,
            CodedEnds(),
            {1, 0, 0}},
           work);
  }
  for (size_t start : starts)
    work.stages.push_back(start * size_t(inputs.key.heads));
  work.stages.push_back(work.args.size());
  return KVC_OK;
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

/// Calls that run at the same time share this much, if it holds two of theirs.
constexpr int64_t kWorkspaceBytes = int64_t(64) << 20;

/// Gives every call a workspace of its own among those that may run at the same
/// time; there are fewer of these where each needs much.
kvc_status addWorkspaces(const kvc_module &module, const kvc_device &device,
                         kvc_diag *diag, AppendWork &work) {
  const int64_t bytes = module.append->workspace_bytes;
  if (bytes == 0 || work.args.empty())
    return KVC_OK;
  const auto atOnce = static_cast<size_t>(
      std::clamp<int64_t>(kWorkspaceBytes / bytes, 1, work.args.size()));
  std::vector<size_t> stages;
  for (size_t i = 0; i + 1 < work.stages.size(); ++i)
    for (size_t at = work.stages[i]; at < work.stages[i + 1]; at += atOnce)
      stages.push_back(at);
  stages.push_back(work.args.size());
  work.stages = std::move(stages);
  KVC_TRY(work.workspace.allocate(device, static_cast<int64_t>(atOnce) * bytes,
                                  diag));
  for (size_t i = 0; i + 1 < work.stages.size(); ++i)
    for (size_t at = work.stages[i]; at < work.stages[i + 1]; ++at)
      work.args[at].workspace =
          work.workspace.data() +
          static_cast<int64_t>(at - work.stages[i]) * bytes;
  return KVC_OK;
}

} // namespace

int64_t kvc::appendCut(const kvc_cache &cache) {
  // On hosts one thread at a time appends to a sequence and kv head.
  if (!cache.hasOwnMemory() || cache.raw || cache.ringTokens)
    return 0;
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value}) {
    const spec::Scheme *scheme = spec::schemeOf(cache.spec->spec, tensor);
    if (scheme && scheme->blockTokens() != 1)
      return 0;
  }
  return cache.blockTokens;
}

kvc_status kvc::prepareAppend(const kvc_module &module, const kvc_batch &batch,
                              kvc_diag *diag, AppendWork &work) {
  KVC_TRY(requireKernel(module.append, "append", diag));
  if (batch.num_slots < 0 || batch.num_slots > kMaxInt32)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.num_slots: expected 0 to %lld, got %lld",
                static_cast<long long>(kMaxInt32),
                static_cast<long long>(batch.num_slots));
  if (!batch.slot_mapping && batch.num_slots > 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch.slot_mapping: expected %lld slots, got null",
                static_cast<long long>(batch.num_slots));
  if (batch.slot_mapping && batch.sequences)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "batch: expected sequences or slot_mapping, got both");
  KVC_TRY(batch.slot_mapping ? prepareSlots(module, batch, diag, work)
                             : prepareReserved(module, batch, diag, work));
  return addWorkspaces(module, *batch.cache->device, diag, work);
}

kvc_status kvc::runAppend(const kvc_module &module, const kvc_batch &batch,
                          AppendWork &work, const kvc_parallel_for *threads,
                          kvc_diag *diag) {
  if (batch.cache->hasOwnMemory())
    return appendOnDevice(module, batch, work, diag);
  std::vector<kvc_launch> launches;
  for (size_t i = 0; i + 1 < work.stages.size(); ++i)
    launches.push_back({module.append->function,
                        work.args.data() + work.stages[i],
                        sizeof(kvc_append_args),
                        int64_t(work.stages[i + 1] - work.stages[i])});
  const kvc_device &device = *batch.cache->device;
  KVC_TRY(device.launch(device.self, launches.data(), int64_t(launches.size()),
                        threads, diag));
  for (Sequence *sequence : work.sequences)
    sequence->setWritten();
  return KVC_OK;
}

extern "C" kvc_status kvc_run_append(const kvc_module *module,
                                     const kvc_batch *batch,
                                     const kvc_parallel_for *threads,
                                     kvc_diag *diag) {
  return guarded(diag, [&]() -> kvc_status {
    if (!module)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "module: expected a module, got null");
    kvc_batch given;
    KVC_TRY(readBatch(*module, batch, diag, given));
    AppendWork work;
    KVC_TRY(prepareAppend(*module, given, diag, work));
    return runAppend(*module, given, work, threads, diag);
  });
}
