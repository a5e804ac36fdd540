//===- Sequences.cpp - Slots, tables, forks -------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Manager.h"

#include <algorithm>
#include <utility>

using namespace kvc;
using namespace kvc::manage;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

kvc_status kvc_manager::find(kvc_sequence handle, kvc_diag *diag,
                             size_t &slot) const {
  const size_t number = handle & 0xFFFFFFFFu;
  const auto generation = static_cast<uint32_t>(handle >> 32);
  if (number >= slots.size() || !slots[number].isLive ||
      slots[number].generation != generation)
    return fail(diag, KVC_STALE,
                "sequence: expected one that exists, got slot %zu of "
                "generation %u",
                number, generation);
  slot = number;
  return KVC_OK;
}

kvc_status kvc_manager::findSound(kvc_sequence handle, kvc_diag *diag,
                                  const Sequence *&sequence) const {
  size_t slot = 0;
  KVC_TRY(find(handle, diag, slot));
  if (slots[slot].hasFailed)
    return fail(diag, KVC_FAILED,
                "sequence: expected one whose steps have not failed, got slot "
                "%zu",
                slot);
  sequence = &slots[slot];
  return KVC_OK;
}

kvc_status kvc_manager::findSound(kvc_sequence handle, kvc_diag *diag,
                                  Sequence *&sequence) {
  const Sequence *found = nullptr;
  KVC_TRY(std::as_const(*this).findSound(handle, diag, found));
  sequence = &slots[size_t(found - slots.data())];
  return KVC_OK;
}

kvc_status kvc_manager::findOpen(kvc_sequence handle, bool isOpen,
                                 kvc_diag *diag, Sequence *&sequence) {
  Sequence *found = nullptr;
  KVC_TRY(findSound(handle, diag, found));
  if (found->isOpen != isOpen)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "sequence: expected one %s an open reservation, got one of "
                "%lld tokens",
                isOpen ? "with" : "without",
                static_cast<long long>(found->pending - found->committed));
  sequence = found;
  return KVC_OK;
}

kvc_status kvc_manager::createSequence(kvc_diag *diag, size_t &slot) {
  if (freeSlots.empty() && int64_t(slots.size()) >= maxSequences)
    return fail(diag, KVC_OUT_OF_BLOCKS,
                "sequence: expected at most max_sequences (%lld), got one more",
                static_cast<long long>(maxSequences));
  std::vector<Held> held(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    held[g].ends = held[g].nextEnds = groups[g].emptyEnds();
    if (maxTokens)
      reserveTables(groups[g], held[g], {maxTokens, maxTokens}, maxTokens);
  }
  size_t number = slots.size();
  if (freeSlots.empty()) {
    // So that freeing a sequence never allocates.
    if (freeSlots.capacity() <= number)
      freeSlots.reserve(2 * number + 1);
    slots.emplace_back();
  } else {
    number = freeSlots.back();
    freeSlots.pop_back();
  }
  slots[number].isLive = true;
  slots[number].groups = std::move(held);
  slot = number;
  return KVC_OK;
}

void kvc_manager::freeSequence(size_t slot) {
  Sequence &sequence = slots[slot];
  for (size_t g = 0; g < groups.size(); ++g) {
    trimBody(groups[g], sequence.groups[g], 0);
    trimRaw(groups[g], sequence.groups[g], groups[g].emptyEnds(), 0);
  }
  const uint32_t next = sequence.generation + 1;
  sequence = Sequence();
  sequence.generation = next;
  // A slot whose generations are used up never comes back.
  if (next != 0)
    freeSlots.push_back(static_cast<uint32_t>(slot));
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

int32_t kvc_manager::take(int32_t pool) {
  while (blocks.pools()[size_t(pool)].freeCount() == 0)
    evictOne(pool, /*isAny=*/false);
  const BlockId block = blocks.take(pool);
  blocks.setWritten(block, steps.open());
  return numberOf(pool, block);
}

void kvc_manager::drop(int32_t pool, int32_t number) {
  const BlockId block = idOf(pool, number);
  if (blocks.references[block] == 1)
    dropCopiesTo(block);
  blocks.dropReference(block, steps.lastBegun());
}

void kvc_manager::dropCopiesTo(BlockId target) {
  // A source that goes with its copy may be a copy that no one has taken too.
  for (bool isLast = true; isLast;) {
    const auto found = std::ranges::find(copies, target, &PendingCopy::target);
    if (found == copies.end())
      return;
    const BlockId source = found->source;
    copies.erase(found);
    isLast = blocks.references[source] == 1;
    blocks.dropReference(source, steps.lastBegun());
    target = source;
  }
}

void kvc_manager::trimBody(const Group &group, Held &held, int64_t keep) {
  while (int64_t(held.body.size()) > keep) {
    if (held.body.back())
      drop(group.pool, held.body.back());
    held.body.pop_back();
  }
  held.freed = std::min(held.freed, keep);
}

void kvc_manager::trimRaw(const Group &group, Held &held, const Ends &ends,
                          int64_t length) {
  if (!group.hasRaw)
    return;
  const Span wanted = rawSpan(group, ends, length);
  const int64_t sinkEnd = group.sinkPages(length);
  const int64_t size = int64_t(held.raw.size());
  auto give = [&](int64_t number) {
    if (int32_t &entry = held.raw[size_t(number)]; entry) {
      drop(group.rawPool, entry);
      entry = 0;
    }
  };
  const int64_t first = std::max(held.firstRaw, group.sinkPages(group.sink));
  for (int64_t number = size; number-- > first;)
    if (!wanted.contains(number))
      give(number);
  for (int64_t number = std::min(size, group.sinkPages(group.sink));
       number-- > sinkEnd;)
    give(number);
  held.raw.resize(
      std::min(held.raw.size(), size_t(std::max(wanted.end, sinkEnd))));
  held.firstRaw = std::max(wanted.begin, sinkEnd);
}

void kvc_manager::freeBehindWindow(const Group &group, Held &held,
                                   int64_t length) {
  const Span freed = group.freedBlocks(held.ends, length);
  for (int64_t i = std::max(held.freed, freed.begin); i < freed.end; ++i)
    if (int32_t &entry = held.body[size_t(i)]; entry) {
      drop(group.pool, entry);
      entry = 0;
    }
  if (freed.size())
    held.freed = std::max(held.freed, freed.end);
}

void kvc_manager::reserveTables(const Group &group, Held &held,
                                const Ends &ends, int64_t length) {
  auto reserve = [](std::vector<int32_t> &table, int64_t size) {
    if (int64_t(table.capacity()) < size)
      table.reserve(std::max(size_t(size), 2 * table.capacity()));
  };
  reserve(held.body, group.bodyBlocks(ends));
  if (group.hasRaw)
    reserve(held.raw, std::max(group.sinkPages(length),
                               group.rawPages(group.sink, length).end));
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

kvc_status kvc_manager::checkCut(const Sequence &sequence, int64_t position,
                                 kvc_diag *diag, int64_t &nearest) const {
  if (position < 0 || position > sequence.committed)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "position: expected 0 to %lld, got %lld",
                static_cast<long long>(sequence.committed),
                static_cast<long long>(position));
  auto isExact = [&](int64_t at) {
    for (size_t g = 0; g < groups.size(); ++g)
      if (!groups[g].isExact(sequence.groups[g].ends, at))
        return false;
    return true;
  };
  auto isVisible = [&](int64_t at) {
    for (size_t g = 0; g < groups.size(); ++g)
      if (!groups[g].isVisible(sequence.groups[g].freed, at))
        return false;
    return true;
  };
  if (isExact(position) && isVisible(position))
    return KVC_OK;
  int64_t below = position;
  while (!isExact(below))
    --below;
  if (!isVisible(below))
    below = 0;
  nearest = below;
  return fail(diag, KVC_INEXACT_POSITION,
              "position: expected one that cuts no coded block and that no "
              "window has passed, %lld is the nearest below, got %lld",
              static_cast<long long>(below), static_cast<long long>(position));
}

kvc_status kvc_manager::fork(kvc_sequence parent, int64_t position,
                             kvc_diag *diag, kvc_sequence &child,
                             int64_t &nearest) {
  Sequence *from = nullptr;
  KVC_TRY(findOpen(parent, false, diag, from));
  KVC_TRY(checkCut(*from, position, diag, nearest));
  const auto fromSlot = size_t(from - slots.data());
  // Room for both tables comes first.
  std::vector<Held> held(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    const Held &whole = from->groups[g];
    held[g].ends = held[g].nextEnds = groups[g].endsBelow(whole.ends, position);
    reserveTables(groups[g], held[g], held[g].ends, position);
  }
  size_t slot = 0;
  KVC_TRY(createSequence(diag, slot));
  const Sequence &source = slots[fromSlot];
  Sequence &made = slots[slot];
  for (size_t g = 0; g < groups.size(); ++g) {
    const Group &group = groups[g];
    const Held &whole = source.groups[g];
    Held &part = made.groups[g];
    if (!maxTokens) {
      part.body = std::move(held[g].body);
      part.raw = std::move(held[g].raw);
    }
    part.ends = part.nextEnds = held[g].ends;
    const int64_t body = group.bodyBlocks(part.ends);
    part.body.assign(whole.body.begin(), whole.body.begin() + body);
    part.freed = std::min(whole.freed, body);
    for (int32_t number : part.body)
      if (number)
        blocks.addReference(idOf(group.pool, number));
    if (!group.hasRaw)
      continue;
    const Span raw = rawSpan(group, part.ends, position);
    const int64_t sinkEnd = group.sinkPages(position);
    part.raw.resize(size_t(std::max(raw.end, sinkEnd)));
    part.firstRaw = std::max(raw.begin, sinkEnd);
    for (Span pages : {Span{0, sinkEnd}, raw})
      for (int64_t i = pages.begin; i < pages.end; ++i) {
        part.raw[size_t(i)] = whole.raw[size_t(i)];
        blocks.addReference(idOf(group.rawPool, part.raw[size_t(i)]));
      }
  }
  made.committed = made.pending = position;
  made.lastStep = source.lastStep;
  child = handleOf(slot);
  return KVC_OK;
}

kvc_status kvc_manager::truncate(kvc_sequence handle, int64_t length,
                                 kvc_diag *diag, int64_t &nearest) {
  Sequence *sequence = nullptr;
  KVC_TRY(findOpen(handle, false, diag, sequence));
  KVC_TRY(checkCut(*sequence, length, diag, nearest));
  for (size_t g = 0; g < groups.size(); ++g) {
    Held &held = sequence->groups[g];
    held.ends = held.nextEnds = groups[g].endsBelow(held.ends, length);
    trimBody(groups[g], held, groups[g].bodyBlocks(held.ends));
    trimRaw(groups[g], held, held.ends, length);
  }
  sequence->committed = sequence->pending = length;
  return KVC_OK;
}
