//===- Manager.h - What a kvc_manager holds ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Member functions that are not const change nothing when they fail: what may
// fail, memory included, comes before the first change.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_MANAGER_H
#define KVC_MANAGE_MANAGER_H

#include "kvc/Base/Checked.h"
#include "kvc/Base/Diag.h"
#include "kvc/Manage/Lock.h"
#include "kvc/Manage/Prefixes.h"
#include "kvc/Manage/Trace.h"

#include <vector>

namespace kvc::manage {

/// A sequence in one group. Tables hold numbers within pools, as kernels read
/// them.
struct Held {
  Ends ends, nextEnds;       ///< E; with the open reservation.
  std::vector<int32_t> body; ///< 0: freed behind a window.
  std::vector<int32_t> raw;  ///< 0: none.
  int64_t freed = 0;         ///< Body blocks a window has gone past.
  int64_t firstRaw = 0;      ///< No raw page from the sink's to here is held.
};

/// A slot and the sequence that lives in it now.
struct Sequence {
  uint32_t generation = 1; ///< Of the living or the next sequence; 0: retired.
  bool isLive = false, isOpen = false, hasFailed = false;
  int64_t committed = 0, pending = 0; ///< C, P.
  int64_t newTokens = 0;              ///< Of the open reservation, no drafts.
  int64_t lastStep = 0;               ///< That wrote what it holds, at most.
  bool isNamed = false;               ///< By the append in progress.
  std::vector<Held> groups;
};

/// Blocks wanted of each pool.
struct Wanted {
  std::array<int64_t, 2 * KVC_MAX_LAYER_GROUPS> byPool{};
  int64_t copies = 0;
};

/// A copy on write that no one has taken yet; holds `source`.
struct PendingCopy {
  kvc_block_copy what;
  BlockId source, target;
};

/// What a sequence is made of that comes from elsewhere, in one group.
struct Restored {
  Ends ends;
  int64_t freed = 0;
};

/// How a namespace is told apart.
std::string spaceOf(const kvc_namespace *name);

/// Null for one of the caller's.
const char *nameOfPolicy(const kvc_policy &policy);

/// kvc_manager::restore with its record; for calls that hold the lock.
kvc_status restoreTraced(kvc_manager &manager, int64_t length,
                         const std::vector<Restored> &states, kvc_diag *diag,
                         kvc_sequence &sequence);
/// kvc_manager::freeSequence of a living sequence, the same.
kvc_status freeTraced(kvc_manager &manager, kvc_sequence sequence,
                      kvc_diag *diag);

} // namespace kvc::manage

struct kvc_manager {
  using BlockId = kvc::manage::BlockId;
  using Group = kvc::manage::Group;
  using Held = kvc::manage::Held;
  using Sequence = kvc::manage::Sequence;
  using Ends = kvc::manage::Ends;
  using Span = kvc::manage::Span;

  bool isLocked = false;
  mutable kvc::manage::Lock mutex;

  std::vector<Group> groups;
  kvc::manage::Steps steps;
  kvc::manage::Blocks blocks;
  kvc::manage::Prefixes prefixes{blocks};
  std::vector<Sequence> slots;
  std::vector<uint32_t> freeSlots;
  std::vector<kvc::manage::PendingCopy> copies;
  int64_t maxSequences = 0, maxTokens = 0;
  kvc_policy policy = {};
  kvc::manage::Tracer tracer;
  int64_t now = 0, uses = 0, hits = 0, hitTokens = 0;

  //===--- Sequences ------------------------------------------------------===//
  /// A living sequence, failed or not.
  kvc_status find(kvc_sequence handle, kvc_diag *diag, size_t &slot) const;
  /// A sequence that has not failed.
  kvc_status findSound(kvc_sequence handle, kvc_diag *diag,
                       const Sequence *&sequence) const;
  kvc_status findSound(kvc_sequence handle, kvc_diag *diag,
                       Sequence *&sequence);
  /// The same, with or without an open reservation.
  kvc_status findOpen(kvc_sequence handle, bool isOpen, kvc_diag *diag,
                      Sequence *&sequence);
  kvc_status createSequence(kvc_diag *diag, size_t &slot);
  kvc_sequence handleOf(size_t slot) const {
    return uint64_t(slots[slot].generation) << 32 | slot;
  }
  void freeSequence(size_t slot);
  kvc_status fork(kvc_sequence parent, int64_t position, kvc_diag *diag,
                  kvc_sequence &child, int64_t &nearest);
  kvc_status truncate(kvc_sequence handle, int64_t length, kvc_diag *diag,
                      int64_t &nearest);

  //===--- Append ---------------------------------------------------------===//
  kvc_status planAppend(const kvc_append_rows *rows, int64_t count,
                        kvc_diag *diag, kvc::manage::Wanted &wanted) const;
  /// What planAppend leaves to append(), which can tell without memory.
  kvc_status checkTwice(const kvc_append_rows *rows, int64_t count,
                        kvc_diag *diag) const;
  kvc_status append(const kvc_append_rows *rows, int64_t count, kvc_diag *diag);
  kvc_status commit(kvc_sequence handle, int64_t accepted, kvc_diag *diag);
  kvc_status rollback(kvc_sequence handle, kvc_diag *diag);

  //===--- Prefixes -------------------------------------------------------===//
  kvc_status publish(kvc_sequence handle, const int32_t *tokens, int64_t count,
                     const std::string &space, kvc_diag *diag,
                     kvc_prefix &prefix);
  void match(const int32_t *tokens, int64_t count, const std::string &space,
             int64_t attendLength, kvc_prefix &prefix) const;
  kvc_status adopt(kvc_sequence handle, const kvc_prefix &prefix,
                   kvc_diag *diag);
  /// Checks a prefix and finds its last entries.
  kvc_status resolve(const kvc_prefix &prefix, kvc_diag *diag,
                     std::array<BlockId, KVC_MAX_LAYER_GROUPS> &entries) const;

  //===--- Files ----------------------------------------------------------===//
  /// A new sequence of so many tokens; `states` by group. What it holds is the
  /// caller's to write.
  kvc_status restore(int64_t length,
                     const std::vector<kvc::manage::Restored> &states,
                     kvc_diag *diag, size_t &slot);
  /// Whether all that a sequence holds has been written.
  kvc_status checkWritten(const Sequence &sequence, kvc_diag *diag) const;

  //===--- Retention ------------------------------------------------------===//
  kvc_status pin(const kvc_prefix &prefix, int32_t priority, int64_t ttl,
                 kvc_diag *diag);
  kvc_status unpin(const kvc_prefix &prefix, kvc_diag *diag);
  kvc_status setTime(int64_t time, kvc_diag *diag);
  /// Makes room by one cached block whose fence has passed, of any if
  /// `isAny`; there is one.
  void evictOne(int32_t pool, bool isAny);
  BlockId lastCached(BlockId block, bool isAny) const;

  //===--- Steps ----------------------------------------------------------===//
  kvc_status beginStep(kvc_diag *diag, int64_t &step);
  kvc_status endStep(int64_t step, kvc_diag *diag);
  kvc_status retire(int64_t step, bool hasFailed, kvc_diag *diag);

  kvc_status check(kvc_diag *diag) const;
  void digest(uint8_t *result) const;

  //===--- Tables and their blocks ----------------------------------------===//
  BlockId idOf(int32_t pool, int32_t number) const {
    return blocks.pools()[size_t(pool)].base + number;
  }
  int32_t numberOf(int32_t pool, BlockId block) const {
    return block - blocks.pools()[size_t(pool)].base;
  }
  /// Which raw pages a sequence of `length` tokens holds behind the sink's.
  static Span rawSpan(const Group &group, const Ends &ends, int64_t length) {
    return group.rawPages(ends.least(), length);
  }
  int32_t take(int32_t pool);
  void drop(int32_t pool, int32_t number);
  /// Gives back body blocks from `keep` on, the last first.
  void trimBody(const Group &group, Held &held, int64_t keep);
  /// Gives back raw pages but those of a sequence with `ends` and `length`.
  void trimRaw(const Group &group, Held &held, const Ends &ends,
               int64_t length);
  void freeBehindWindow(const Group &group, Held &held, int64_t length);
  void reserveTables(const Group &group, Held &held, const Ends &ends,
                     int64_t length);

private:
  /// What an append adds to a sequence.
  struct Rows {
    int64_t committed, length, pending; ///< length: C and rows, no drafts.
  };
  void planGroup(const Group &group, const Held &held, const Rows &rows,
                 kvc::manage::Wanted &wanted) const;
  kvc_status checkRoom(const char *call, const kvc::manage::Wanted &wanted,
                       kvc_diag *diag) const;
  void appendGroup(const Group &group, Held &held, const Rows &rows);
  void makeWritable(const Group &group, bool isRaw, int32_t &entry, Span key,
                    Span value);
  /// What an append writes of the raw rows from the sink's end on.
  static Span rawWrites(const Group &group, const Ends &next,
                        const Rows &rows) {
    return group.rawPages(std::max(rows.committed, next.least()), rows.pending);
  }
  static Span sinkWrites(const Group &group, const Rows &rows) {
    return rows.committed < group.sink && rows.committed < rows.pending
               ? Span{rows.committed / group.rawPage,
                      group.sinkPages(rows.pending)}
               : Span{};
  }
  kvc_status checkCut(const Sequence &sequence, int64_t position,
                      kvc_diag *diag, int64_t &nearest) const;
  /// No one wants the copy any more.
  void dropCopiesTo(BlockId target);
  int32_t groupNumber(const Group &group) const {
    return int32_t(&group - groups.data());
  }
};

#endif // KVC_MANAGE_MANAGER_H
