//===- Restore.cpp - Sequences that come from elsewhere -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Manager.h"

#include <algorithm>

using namespace kvc;
using namespace kvc::manage;

kvc_status kvc_manager::restore(int64_t length,
                                const std::vector<Restored> &states,
                                kvc_diag *diag, size_t &slot) {
  if (length < 0 || length > (maxTokens ? maxTokens : kMaxTokens))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "load: expected at most max_tokens (%lld), got %lld",
                static_cast<long long>(maxTokens ? maxTokens : kMaxTokens),
                static_cast<long long>(length));
  if (states.size() != groups.size())
    return fail(diag, KVC_INVALID_ARGUMENT,
                "load: expected %zu layer groups, got %zu", groups.size(),
                states.size());
  // Tables that say only whether there is a block come first: numbers need
  // room that may not be there.
  constexpr int32_t kWanted = 1;
  Wanted wanted;
  std::vector<Held> made(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    const Group &group = groups[g];
    if (!group.isPossible(states[g].ends, states[g].freed, length))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "load: expected ends that a sequence of %lld tokens may have "
                  "in group %zu, got %lld and %lld",
                  static_cast<long long>(length), g,
                  static_cast<long long>(states[g].ends.key),
                  static_cast<long long>(states[g].ends.value));
    if (states[g].freed > 0 &&
        (group.window == 0 || !group.isVisible(states[g].freed, length)))
      return fail(diag, KVC_UNSUPPORTED,
                  "load: expected all keys that %lld queries see in group %zu, "
                  "got a sequence whose window has freed some of them",
                  static_cast<long long>(group.queries), g);
    Held &held = made[g];
    held.ends = held.nextEnds = states[g].ends;
    const Span behind = group.freedBlocks(held.ends, length);
    held.freed = std::max(states[g].freed, behind.size() ? behind.end : 0);
    const Span gone = group.goneBlocks(held.freed);
    held.body.assign(size_t(group.bodyBlocks(held.ends)), kWanted);
    for (int64_t i = gone.begin; i < gone.end; ++i)
      held.body[size_t(i)] = 0;
    wanted.byPool[size_t(group.pool)] +=
        int64_t(held.body.size()) - gone.size();
    if (!group.hasRaw)
      continue;
    const Span raw = rawSpan(group, held.ends, length);
    const int64_t sinkEnd = group.sinkPages(length);
    held.raw.resize(size_t(std::max(raw.end, sinkEnd)));
    held.firstRaw = std::max(raw.begin, sinkEnd);
    for (Span pages : {Span{0, sinkEnd}, raw})
      for (int64_t i = pages.begin; i < pages.end; ++i) {
        held.raw[size_t(i)] = kWanted;
        ++wanted.byPool[size_t(group.rawPool)];
      }
  }
  KVC_TRY(checkRoom("load", wanted, diag));
  KVC_TRY(createSequence(diag, slot));
  Sequence &sequence = slots[slot];
  for (size_t g = 0; g < groups.size(); ++g) {
    const Group &group = groups[g];
    auto fill = [&](int32_t pool, std::vector<int32_t> &table) {
      for (int32_t &entry : table)
        if (entry) {
          entry = take(pool);
          blocks.setWritten(idOf(pool, entry), 0);
        }
    };
    fill(group.pool, made[g].body);
    if (group.hasRaw)
      fill(group.rawPool, made[g].raw);
    Held &held = sequence.groups[g];
    // Where the longest sequence is known the new one's tables have its room.
    if (maxTokens) {
      held.body.assign(made[g].body.begin(), made[g].body.end());
      held.raw.assign(made[g].raw.begin(), made[g].raw.end());
    } else {
      held.body = std::move(made[g].body);
      held.raw = std::move(made[g].raw);
    }
    held.ends = held.nextEnds = made[g].ends;
    held.freed = made[g].freed;
    held.firstRaw = made[g].firstRaw;
  }
  sequence.committed = sequence.pending = length;
  return KVC_OK;
}

kvc_status kvc::manage::restoreTraced(kvc_manager &manager, int64_t length,
                                      const std::vector<Restored> &states,
                                      kvc_diag *diag, kvc_sequence &sequence) {
  Record record(manager.tracer, Call::Restore);
  record.add(length).add(int64_t(states.size()));
  for (const Restored &state : states)
    record.add(state.ends.key).add(state.ends.value).add(state.freed);
  record.expect(1);
  size_t slot = 0;
  const kvc_status status = manager.restore(length, states, diag, slot);
  record.add(status);
  if (status == KVC_OK)
    record.add(sequence = manager.handleOf(slot));
  return record.finish(status);
}

kvc_status kvc_manager::checkWritten(const Sequence &sequence,
                                     kvc_diag *diag) const {
  if (!steps.hasPassed(sequence.lastStep))
    return fail(diag, KVC_WAIT,
                "sequence: expected one whose steps have retired, got one that "
                "step %lld writes",
                static_cast<long long>(sequence.lastStep));
  for (const PendingCopy &copy : copies) {
    const Held &held = sequence.groups[size_t(copy.what.group)];
    if (std::ranges::count(copy.what.raw ? held.raw : held.body, copy.what.to))
      return fail(diag, KVC_WAIT,
                  "sequence: expected one whose copies are taken, got block %d "
                  "of pool %d, which is still to be copied",
                  copy.what.to, copy.what.pool);
  }
  return KVC_OK;
}
