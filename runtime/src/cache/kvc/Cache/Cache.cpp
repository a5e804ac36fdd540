//===- Cache.cpp - Sequences and their blocks -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Cache/Cache.h"

#include "kvc/Base/Checked.h"
#include "kvc/Spec/Segments.h"

#include <algorithm>

using namespace kvc;

int64_t kvc_cache::blocksFor(int64_t tokens) const {
  return divideCeil(tokens, blockTokens);
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

static kvc_sequence handleOf(size_t slot, uint32_t generation) {
  return uint64_t(generation) << 32 | uint64_t(slot);
}

kvc_status kvc_cache::find(kvc_sequence handle, kvc_diag *diag,
                           const Sequence *&sequence) const {
  size_t slot = handle & 0xFFFFFFFFu;
  auto generation = static_cast<uint32_t>(handle >> 32);
  if (slot >= slots.size() || !slots[slot].isLive ||
      slots[slot].generation != generation)
    return fail(diag, KVC_STALE,
                "sequence: expected one that exists, got slot %zu of "
                "generation %u",
                slot, generation);
  sequence = &slots[slot];
  return KVC_OK;
}

kvc_status kvc_cache::find(kvc_sequence handle, kvc_diag *diag,
                           Sequence *&sequence) {
  const Sequence *found = nullptr;
  KVC_TRY(std::as_const(*this).find(handle, diag, found));
  sequence = &slots[size_t(found - slots.data())];
  return KVC_OK;
}

kvc_cache_view kvc_cache::viewOf(const Sequence &sequence,
                                 const CodedEnds &coded) const {
  kvc_cache_view view = {};
  if (isPaged)
    view = viewOf(sequence.pages.data());
  else
    view.regions = sequence.run.regions.data();
  view.inputs = inputs.pointers();
  if (raw)
    view.raw = &sequence.rawView;
  view.key_coded_end = coded.key;
  view.value_coded_end = coded.value;
  view.ring_tokens = ringTokens;
  return view;
}

kvc_status kvc_cache::createSequence(kvc_diag *diag, kvc_sequence &handle) {
  size_t slot;
  if (!freeSlots.empty()) {
    slot = freeSlots.back();
    freeSlots.pop_back();
  } else {
    if (static_cast<int64_t>(slots.size()) >= maxSequences)
      return fail(
          diag, KVC_OUT_OF_BLOCKS,
          "sequence: expected at most max_sequences (%lld), got one more",
          static_cast<long long>(maxSequences));
    slot = slots.size();
    // So that freeing a sequence never allocates.
    if (freeSlots.capacity() <= slot)
      freeSlots.reserve(2 * slot + 1);
    slots.emplace_back();
  }
  slots[slot].isLive = true;
  slots[slot].coded = slots[slot].nextCoded = codedEnds(slots[slot], 0);
  handle = handleOf(slot, slots[slot].generation);
  return KVC_OK;
}

void kvc_cache::freeSequence(Sequence &sequence) {
  releaseBehind(sequence, 0, 0);
  uint32_t next = sequence.generation + 1;
  sequence = Sequence();
  sequence.generation = next;
  // A slot whose generations are used up never comes back.
  if (next != 0)
    freeSlots.push_back(static_cast<uint32_t>(&sequence - slots.data()));
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

CodedEnds kvc_cache::codedEnds(const Sequence &sequence, int64_t length) const {
  if (!raw)
    return {length, length};
  return {std::max(sequence.coded.key,
                   spec::codedEnd(spec->spec, spec::Tensor::Key, length)),
          std::max(sequence.coded.value,
                   spec::codedEnd(spec->spec, spec::Tensor::Value, length))};
}

kvc_status kvc_cache::planAppend(const kvc_append_request &request,
                                 kvc_diag *diag,
                                 std::vector<AppendStep> &steps) const {
  if (request.count < 0 || request.count > maxSequences)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "append.count: expected 0 to max_sequences (%lld), got %lld",
                static_cast<long long>(maxSequences),
                static_cast<long long>(request.count));
  if (request.count > 0 && (!request.sequences || !request.new_tokens))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "append.%s: expected a list, got null",
                request.sequences ? "new_tokens" : "sequences");
  Checked needed = 0, neededRaw = 0;
  steps.clear();
  for (int64_t i = 0; i < request.count; ++i) {
    const Sequence *sequence = nullptr;
    KVC_TRY(find(request.sequences[i], diag, sequence));
    if (sequence->isOpen)
      return fail(
          diag, KVC_INVALID_ARGUMENT,
          "append.sequences[%lld]: expected a committed sequence, got "
          "one with %lld reserved tokens",
          static_cast<long long>(i),
          static_cast<long long>(sequence->pending - sequence->committed));
    int64_t tokens = request.new_tokens[i];
    if (tokens < 0 || tokens > kMaxInt32 - sequence->committed)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "append.new_tokens[%lld]: expected 0 to %lld, got %lld",
                  static_cast<long long>(i),
                  static_cast<long long>(kMaxInt32 - sequence->committed),
                  static_cast<long long>(tokens));
    int64_t length = sequence->committed + tokens;
    CodedEnds coded = codedEnds(*sequence, length);
    int64_t blocks =
        blocksFor(bodyTokens(coded)) - blocksFor(bodyTokens(sequence->coded));
    int64_t rawPages =
        raw ? raw->missing(sequence->raw, coded.least(), length) : 0;
    steps.push_back({static_cast<uint32_t>(sequence - slots.data()), tokens,
                     blocks, rawPages, coded});
    needed = needed + blocks;
    neededRaw = neededRaw + rawPages;
  }
  std::vector<uint32_t> named;
  named.reserve(steps.size());
  for (const AppendStep &step : steps)
    named.push_back(step.slot);
  std::sort(named.begin(), named.end());
  if (auto twice = std::adjacent_find(named.begin(), named.end());
      twice != named.end())
    return fail(diag, KVC_INVALID_ARGUMENT,
                "append.sequences: expected each sequence once, got slot %u "
                "twice",
                *twice);
  if (!needed.isValid() || needed.get() > freeBlocks())
    return fail(diag, KVC_OUT_OF_BLOCKS,
                "append: expected %lld free blocks, got %lld",
                static_cast<long long>(needed.saturated()),
                static_cast<long long>(freeBlocks()));
  if (raw && (!neededRaw.isValid() || neededRaw.get() > raw->blocks().free()))
    return fail(diag, KVC_OUT_OF_BLOCKS,
                "append: expected %lld free pages of raw rows, got %lld",
                static_cast<long long>(neededRaw.saturated()),
                static_cast<long long>(raw->blocks().free()));
  return KVC_OK;
}

void kvc_cache::prepareRawRows(const std::vector<AppendStep> &steps) {
  int64_t pages = 0;
  for (const AppendStep &step : steps) {
    Sequence &sequence = slots[step.slot];
    pages += step.newRawPages;
    raw->prepare(sequence.raw, sequence.committed + step.newTokens, pages);
  }
}

kvc_status kvc_cache::reservePages(const std::vector<AppendStep> &steps) {
  // Everything that may throw comes before the first change.
  int64_t blocks = 0;
  for (const AppendStep &step : steps) {
    std::vector<int32_t> &table = slots[step.slot].pages;
    size_t size = table.size() + size_t(step.newBlocks);
    if (table.capacity() < size)
      table.reserve(std::max(size, 2 * table.capacity()));
    blocks += step.newBlocks;
  }
  pool.prepare(blocks);
  for (const AppendStep &step : steps)
    pool.take(step.newBlocks, slots[step.slot].pages);
  return KVC_OK;
}

kvc_status kvc_cache::waitForRuns(kvc_diag *diag) const {
  if (isPaged || !hasOwnMemory())
    return KVC_OK;
  return device->synchronize(device->self, diag);
}

kvc_status kvc_cache::growRuns(const std::vector<AppendStep> &steps,
                               kvc_diag *diag) {
  auto isLarge = [&](const AppendStep &step) {
    const ContiguousRun &run = slots[step.slot].run;
    // Kernels read where regions are even if nothing is in them.
    return bodyTokens(step.coded) <= run.capacity && !run.regions.empty();
  };
  // Work that is under way may write to what is copied.
  if (!std::all_of(steps.begin(), steps.end(), isLarge))
    KVC_TRY(waitForRuns(diag));
  std::vector<ContiguousRun> grown(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const Sequence &sequence = slots[steps[i].slot];
    int64_t length = bodyTokens(steps[i].coded);
    if (isLarge(steps[i]))
      continue;
    // By half at least, so that appending token after token copies each of them
    // a few times only; but never beyond what the cache may hold.
    int64_t limit = std::min(totalRuns, blocksFor(kMaxInt32));
    int64_t half = sequence.run.capacity / 2;
    int64_t blocks =
        std::max(blocksFor(length),
                 std::min(blocksFor(sequence.run.capacity + half), limit));
    KVC_TRY(grown[i].allocate(spec->spec, *device, blocks * blockTokens,
                              isPoisoned, diag));
    KVC_TRY(copyRun(spec->spec, *device, sequence.run,
                    bodyTokens(sequence.coded), grown[i], diag));
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!grown[i].regions.empty())
      slots[steps[i].slot].run = std::move(grown[i]);
    usedRuns += steps[i].newBlocks;
  }
  return KVC_OK;
}

kvc_status kvc_cache::append(const std::vector<AppendStep> &steps,
                             kvc_diag *diag) {
  if (raw)
    prepareRawRows(steps);
  KVC_TRY(isPaged ? reservePages(steps) : growRuns(steps, diag));
  for (const AppendStep &step : steps) {
    Sequence &sequence = slots[step.slot];
    sequence.pending = sequence.committed + step.newTokens;
    sequence.nextCoded = step.coded;
    sequence.isOpen = true;
    if (!raw)
      continue;
    raw->hold(sequence.raw, step.coded.least(), sequence.pending);
    sequence.rawView = raw->viewOf(sequence.raw);
  }
  return KVC_OK;
}

void kvc_cache::releaseBehind(Sequence &sequence, int64_t tokens,
                              int64_t body) {
  if (isPaged)
    pool.give(sequence.pages, blocksFor(body));
  else
    usedRuns -= blocksFor(bodyTokens(sequence.nextCoded)) - blocksFor(body);
  if (raw)
    raw->releaseBehind(sequence.raw, tokens);
}

void kvc_cache::commit(Sequence &sequence) {
  // Whoever writes rows with kernels of its own says so by committing them.
  sequence.setWritten();
  sequence.committed = sequence.pending;
  sequence.coded = sequence.nextCoded;
  sequence.isOpen = false;
  if (raw)
    raw->releaseBelow(sequence.raw, sequence.coded.least());
}

kvc_status kvc_cache::checkRollback(const Sequence &sequence,
                                    kvc_diag *diag) const {
  // A ring's rows take the place of older ones. Those that the next query sees
  // must be left.
  const bool isOverwritten =
      ringTokens && sequence.isWritten() &&
      sequence.nextCoded.most() - ringTokens >
          sequence.committed + 1 - *spec->spec.attention.window;
  if (!isOverwritten)
    return KVC_OK;
  return fail(diag, KVC_UNSUPPORTED,
              "sequence: expected an append that is not written, or of at most "
              "max_queries (%lld) tokens, whose rows in the ring replace none "
              "that the window needs; got %lld tokens",
              static_cast<long long>(maxQueries),
              static_cast<long long>(sequence.pending - sequence.committed));
}

void kvc_cache::rollback(Sequence &sequence) {
  releaseBehind(sequence, sequence.committed, bodyTokens(sequence.coded));
  sequence.nextCoded = sequence.coded;
  sequence.pending = sequence.written = sequence.committed;
  sequence.isOpen = false;
}
