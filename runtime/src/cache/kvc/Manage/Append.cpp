//===- Append.cpp - Reservations ------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Manager.h"

#include <algorithm>

using namespace kvc;
using namespace kvc::manage;

//===----------------------------------------------------------------------===//
// What an append takes
//===----------------------------------------------------------------------===//

namespace {

/// The body blocks that hold tokens from `ends` on, among those of the table.
Span writtenBody(const Group &group, const Held &held, const Ends &next) {
  int64_t begin = INT64_MAX;
  if (next.key > held.ends.key)
    begin = held.ends.key;
  if (next.value > held.ends.value)
    begin = std::min(begin, held.ends.value);
  if (begin == INT64_MAX)
    return {};
  return {(begin - group.sink) / group.page, int64_t(held.body.size())};
}

/// Whether codes of either tensor go into the block.
bool isWritten(const Group &group, const Held &held, const Ends &next,
               int64_t block) {
  const Span tokens = group.tokensOf(block);
  auto overlaps = [&](int64_t begin, int64_t end) {
    return std::max(begin, tokens.begin) < std::min(end, tokens.end);
  };
  return overlaps(held.ends.key, next.key) ||
         overlaps(held.ends.value, next.value);
}

bool isHeld(const std::vector<int32_t> &table, int64_t number) {
  return number < int64_t(table.size()) && table[size_t(number)] != 0;
}

} // namespace

void kvc_manager::planGroup(const Group &group, const Held &held,
                            const Rows &rows, Wanted &wanted) const {
  const Ends next = group.endsAt(held.ends, rows.length, rows.pending);
  int64_t &body = wanted.byPool[size_t(group.pool)];
  body += group.bodyBlocks(next) - int64_t(held.body.size());
  auto addCopy = [&](int32_t pool, int32_t number) {
    if (blocks.isWritable(idOf(pool, number)))
      return;
    ++wanted.byPool[size_t(pool)];
    ++wanted.copies;
  };
  const Span written = writtenBody(group, held, next);
  for (int64_t i = written.begin; i < written.end; ++i)
    if (isWritten(group, held, next, i))
      addCopy(group.pool, held.body[size_t(i)]);
  if (!group.hasRaw)
    return;
  for (Span pages : {Span{0, group.sinkPages(rows.pending)},
                     rawSpan(group, next, rows.pending)})
    for (int64_t i = pages.begin; i < pages.end; ++i)
      wanted.byPool[size_t(group.rawPool)] += !isHeld(held.raw, i);
  for (Span pages : {sinkWrites(group, rows), rawWrites(group, next, rows)})
    for (int64_t i = pages.begin; i < pages.end; ++i)
      if (isHeld(held.raw, i))
        addCopy(group.rawPool, held.raw[size_t(i)]);
}

kvc_status kvc_manager::checkRoom(const char *call, const Wanted &wanted,
                                  kvc_diag *diag) const {
  kvc_status status = KVC_OK;
  size_t short_ = 0;
  for (size_t i = 0; i < blocks.pools().size(); ++i) {
    const Pool &pool = blocks.pools()[i];
    if (wanted.byPool[i] <= blocks.available(int32_t(i)) ||
        status == KVC_OUT_OF_BLOCKS)
      continue;
    const int64_t later =
        pool.freeCount() + pool.cached.count + pool.quarantined;
    status = wanted.byPool[i] <= later ? KVC_WAIT : KVC_OUT_OF_BLOCKS;
    short_ = i;
  }
  if (status == KVC_OK)
    return KVC_OK;
  return fail(
      diag, status, "%s: expected %lld free blocks of pool %zu%s, got %lld",
      call, static_cast<long long>(wanted.byPool[short_]), short_,
      status == KVC_WAIT ? ", which are there when steps have retired" : "",
      static_cast<long long>(blocks.available(int32_t(short_))));
}

kvc_status kvc_manager::planAppend(const kvc_append_rows *rows, int64_t count,
                                   kvc_diag *diag, Wanted &wanted) const {
  if (count < 0 || count > maxSequences || (count > 0 && !rows))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "append: expected 0 to max_sequences (%lld) rows, got %lld%s",
                static_cast<long long>(maxSequences),
                static_cast<long long>(count), rows ? "" : " at null");
  const int64_t longest = maxTokens ? maxTokens : kMaxTokens;
  for (int64_t i = 0; i < count; ++i) {
    const kvc_append_rows &row = rows[i];
    const Sequence *sequence = nullptr;
    KVC_TRY(findSound(row.sequence, diag, sequence));
    if (sequence->isOpen)
      return fail(
          diag, KVC_INVALID_ARGUMENT,
          "append.rows[%lld]: expected a sequence without an open "
          "reservation, got one of %lld tokens",
          static_cast<long long>(i),
          static_cast<long long>(sequence->pending - sequence->committed));
    const int64_t room = longest - sequence->committed;
    if (row.new_tokens < 0 || row.lookahead < 0 || row.new_tokens > room ||
        row.lookahead > room - row.new_tokens)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "append.rows[%lld]: expected 0 to %lld tokens, got %lld new "
                  "ones and %lld drafts",
                  static_cast<long long>(i), static_cast<long long>(room),
                  static_cast<long long>(row.new_tokens),
                  static_cast<long long>(row.lookahead));
    const int64_t length = sequence->committed + row.new_tokens;
    for (size_t g = 0; g < groups.size(); ++g)
      planGroup(groups[g], sequence->groups[g],
                {sequence->committed, length, length + row.lookahead}, wanted);
  }
  return checkRoom("append", wanted, diag);
}

static kvc_status failTwice(kvc_diag *diag, size_t slot) {
  return fail(diag, KVC_INVALID_ARGUMENT,
              "append.rows: expected each sequence once, got slot %zu twice",
              slot);
}

kvc_status kvc_manager::checkTwice(const kvc_append_rows *rows, int64_t count,
                                   kvc_diag *diag) const {
  std::vector<kvc_sequence> named;
  for (int64_t i = 0; i < count; ++i)
    named.push_back(rows[i].sequence);
  std::sort(named.begin(), named.end());
  const auto twice = std::adjacent_find(named.begin(), named.end());
  return twice == named.end() ? KVC_OK : failTwice(diag, *twice & 0xFFFFFFFFu);
}

//===----------------------------------------------------------------------===//
// Taking it
//===----------------------------------------------------------------------===//

void kvc_manager::makeWritable(const Group &group, bool isRaw, int32_t &entry,
                               Span key, Span value) {
  const int32_t pool = isRaw ? group.rawPool : group.pool;
  const BlockId source = idOf(pool, entry);
  // Rows that an earlier step wrote stay in the block: if that step fails, they
  // are lost, whoever writes beside them.
  const int64_t step = std::max(blocks.written[source], steps.open());
  if (blocks.isWritable(source)) {
    blocks.setWritten(source, step);
    return;
  }
  // The table's reference to the source becomes the copy's.
  const int32_t made = take(pool);
  blocks.setWritten(idOf(pool, made), step);
  const kvc_block_copy copy = {
      groupNumber(group), isRaw,   pool,        entry,    made,
      key.begin,          key.end, value.begin, value.end};
  copies.push_back({copy, source, idOf(pool, made)});
  entry = made;
}

void kvc_manager::appendGroup(const Group &group, Held &held,
                              const Rows &rows) {
  const Ends next = group.endsAt(held.ends, rows.length, rows.pending);
  // Rows of a block that hold something of the committed sequence.
  auto rowsIn = [](Span tokens, int64_t begin, int64_t end) {
    begin = std::max(begin, tokens.begin) - tokens.begin;
    end = std::min(end, tokens.end) - tokens.begin;
    return begin < end ? Span{begin, end} : Span{};
  };
  const Span written = writtenBody(group, held, next);
  for (int64_t i = written.begin; i < written.end; ++i)
    if (isWritten(group, held, next, i)) {
      const Span tokens = group.tokensOf(i);
      makeWritable(group, false, held.body[size_t(i)],
                   rowsIn(tokens, group.sink, held.ends.key),
                   rowsIn(tokens, group.sink, held.ends.value));
    }
  while (int64_t(held.body.size()) < group.bodyBlocks(next))
    held.body.push_back(take(group.pool));
  held.nextEnds = next;
  if (!group.hasRaw)
    return;
  for (Span pages : {sinkWrites(group, rows), rawWrites(group, next, rows)})
    for (int64_t i = pages.begin; i < pages.end; ++i)
      if (isHeld(held.raw, i)) {
        const Span tokens = group.rawTokensOf(i);
        const bool isSink = tokens.begin < group.sink;
        makeWritable(
            group, true, held.raw[size_t(i)],
            rowsIn(tokens, isSink ? 0 : held.ends.key, rows.committed),
            rowsIn(tokens, isSink ? 0 : held.ends.value, rows.committed));
      }
  const Span wanted = rawSpan(group, next, rows.pending);
  const int64_t sinkEnd = group.sinkPages(rows.pending);
  held.raw.resize(
      std::max({held.raw.size(), size_t(wanted.end), size_t(sinkEnd)}));
  for (Span pages : {Span{0, sinkEnd}, wanted})
    for (int64_t i = pages.begin; i < pages.end; ++i)
      if (int32_t &entry = held.raw[size_t(i)]; entry == 0)
        entry = take(group.rawPool);
  if (wanted.size())
    held.firstRaw = std::min(held.firstRaw, wanted.begin);
}

kvc_status kvc_manager::append(const kvc_append_rows *rows, int64_t count,
                               kvc_diag *diag) {
  Wanted wanted;
  KVC_TRY(planAppend(rows, count, diag, wanted));
  auto slotOf = [&](int64_t i) {
    return size_t(rows[i].sequence & 0xFFFFFFFFu);
  };
  int64_t marked = 0;
  while (marked < count && !slots[slotOf(marked)].isNamed)
    slots[slotOf(marked++)].isNamed = true;
  for (int64_t i = 0; i < marked; ++i)
    slots[slotOf(i)].isNamed = false;
  if (marked < count)
    return failTwice(diag, slotOf(marked));
  // What may throw.
  if (copies.capacity() < copies.size() + size_t(wanted.copies))
    copies.reserve(
        std::max(copies.size() + size_t(wanted.copies), 2 * copies.capacity()));
  for (int64_t i = 0; i < count; ++i) {
    Sequence &sequence = slots[slotOf(i)];
    const int64_t length = sequence.committed + rows[i].new_tokens;
    const int64_t pending = length + rows[i].lookahead;
    for (size_t g = 0; g < groups.size(); ++g)
      reserveTables(groups[g], sequence.groups[g],
                    groups[g].endsAt(sequence.groups[g].ends, length, pending),
                    pending);
  }
  for (int64_t i = 0; i < count; ++i) {
    Sequence &sequence = slots[slotOf(i)];
    const int64_t length = sequence.committed + rows[i].new_tokens;
    sequence.pending = length + rows[i].lookahead;
    sequence.newTokens = rows[i].new_tokens;
    sequence.isOpen = true;
    sequence.lastStep = std::max(sequence.lastStep, steps.open());
    for (size_t g = 0; g < groups.size(); ++g)
      appendGroup(groups[g], sequence.groups[g],
                  {sequence.committed, length, sequence.pending});
  }
  return KVC_OK;
}

//===----------------------------------------------------------------------===//
// Closing it
//===----------------------------------------------------------------------===//

kvc_status kvc_manager::commit(kvc_sequence handle, int64_t accepted,
                               kvc_diag *diag) {
  Sequence *sequence = nullptr;
  KVC_TRY(findOpen(handle, true, diag, sequence));
  const int64_t reserved = sequence->pending - sequence->committed;
  if (accepted < sequence->newTokens || accepted > reserved)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "accepted: expected %lld to %lld tokens, got %lld",
                static_cast<long long>(sequence->newTokens),
                static_cast<long long>(reserved),
                static_cast<long long>(accepted));
  sequence->isOpen = false;
  sequence->committed += accepted;
  sequence->pending = sequence->committed;
  for (size_t g = 0; g < groups.size(); ++g) {
    Held &held = sequence->groups[g];
    // Without raw rows drafts are codes; those not accepted go.
    held.ends = groups[g].hasRaw
                    ? held.nextEnds
                    : Ends{sequence->committed, sequence->committed};
    held.nextEnds = held.ends;
    trimBody(groups[g], held, groups[g].bodyBlocks(held.ends));
    trimRaw(groups[g], held, held.ends, sequence->committed);
    freeBehindWindow(groups[g], held, sequence->committed);
  }
  return KVC_OK;
}

kvc_status kvc_manager::rollback(kvc_sequence handle, kvc_diag *diag) {
  Sequence *sequence = nullptr;
  KVC_TRY(findOpen(handle, true, diag, sequence));
  sequence->isOpen = false;
  sequence->pending = sequence->committed;
  for (size_t g = 0; g < groups.size(); ++g) {
    Held &held = sequence->groups[g];
    held.nextEnds = held.ends;
    trimBody(groups[g], held, groups[g].bodyBlocks(held.ends));
    trimRaw(groups[g], held, held.ends, sequence->committed);
  }
  return KVC_OK;
}
