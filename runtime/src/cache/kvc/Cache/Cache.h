//===- Cache.h - What a kvc_cache holds -------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CACHE_CACHE_H
#define KVC_CACHE_CACHE_H

#include "kvc/Base/SpecHandle.h"
#include "kvc/Cache/DeviceTables.h"
#include "kvc/Cache/RawRows.h"
#include "kvc/Cache/SchemeRows.h"
#include "kvc/Devices/StepTables.h"
#include "kvc/cache.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace kvc {

/// Where the codes of K and of V end; without segments at the length.
struct CodedEnds {
  int64_t key = 0, value = 0;

  int64_t least() const { return std::min(key, value); }
  int64_t most() const { return std::max(key, value); }
};

/// A slot of the sequence table and the sequence that lives in it now.
struct Sequence {
  uint32_t generation = 1; ///< Of the living or the next sequence; 0: retired.
  bool isLive = false;
  bool isOpen = false;        ///< Has a reservation.
  int64_t committed = 0;      ///< C.
  int64_t pending = 0;        ///< P.
  int64_t written = 0;        ///< Rows that a kernel has written: C or P.
  CodedEnds coded;            ///< E of the committed tokens.
  CodedEnds nextCoded;        ///< E with the reservation's tokens.
  int64_t reached = 0;        ///< The furthest E of rows ever written.
  std::vector<int32_t> pages; ///< Paged.
  ContiguousRun run;          ///< Contiguous.
  RawTable raw;               ///< With segments.
  kvc_cache_view rawView = {};

  bool isWritten() const { return written == pending; }
  void setWritten() {
    written = pending;
    reached = std::max(reached, nextCoded.most());
  }
};

/// How long the lists are that a sequence's view points to.
struct ViewExtent {
  int64_t pages = 0, rawPages = 0;
  int64_t regions = 0; ///< Of its own memory; 0 where paged.
};

/// What an append does to one sequence.
struct AppendStep {
  uint32_t slot;
  int64_t newTokens;
  int64_t newBlocks;
  int64_t newRawPages;
  CodedEnds coded; ///< With the new tokens.
};

} // namespace kvc

/// Bookkeeping and memory of one cache. Member functions that are not const
/// change nothing when they fail.
struct kvc_cache {
  std::unique_ptr<kvc_spec> spec;
  const kvc_device *device = nullptr;
  bool isPaged = false, isPoisoned = false;
  int64_t blockTokens = 0; ///< Tokens of a page; 64 where contiguous.
  int64_t ringTokens = 0;  ///< Ring: that a sequence keeps; else 0.
  int64_t maxQueries = 0;  ///< Ring: that attend in one call.
  int64_t maxSequences = 0;

  kvc::SchemeRows inputs;
  kvc::BlockPool pool;                 ///< Paged.
  kvc::Memory memory;                  ///< Paged, unless borrowed.
  std::vector<kvc_region> regions;     ///< Paged: K's, then V's.
  int64_t totalRuns = 0, usedRuns = 0; ///< Contiguous: blocks of 64 tokens.
  std::optional<kvc::RawRows> raw;     ///< With segments.
  // Of a device with memory of its own.
  kvc::DeviceTables onDevice;
  kvc::StepTables appendTables; ///< Of appends without a plan.

  std::vector<kvc::Sequence> slots;
  std::vector<uint32_t> freeSlots;

  bool hasOwnMemory() const { return kvc::hasOwnMemory(*device); }
  kvc::layout::TargetFamily family() const { return kvc::familyOf(*device); }
  int64_t totalBlocks() const { return isPaged ? pool.total() : totalRuns; }
  int64_t freeBlocks() const {
    return isPaged ? pool.free() : totalRuns - usedRuns;
  }
  /// Blocks that hold `tokens` tokens.
  int64_t blocksFor(int64_t tokens) const;

  kvc_status find(kvc_sequence handle, kvc_diag *diag,
                  const kvc::Sequence *&sequence) const;
  kvc_status find(kvc_sequence handle, kvc_diag *diag,
                  kvc::Sequence *&sequence);
  /// Tokens of a sequence that lie in its blocks.
  int64_t bodyTokens(const kvc::CodedEnds &coded) const {
    int64_t tokens = coded.most() - spec->spec.segments.sink;
    return ringTokens ? std::min(tokens, ringTokens) : tokens;
  }
  /// What kernels read of the pages in `table`; paged.
  kvc_cache_view viewOf(const int32_t *table) const {
    kvc_cache_view view = {};
    view.regions = regions.data();
    view.page_table = table;
    view.inputs = inputs.pointers();
    return view;
  }
  /// What kernels read of a sequence whose codes end at `coded`.
  kvc_cache_view viewOf(const kvc::Sequence &sequence,
                        const kvc::CodedEnds &coded) const;
  kvc::ViewExtent extentOf(const kvc::Sequence &sequence) const {
    return {int64_t(sequence.pages.size()), int64_t(sequence.raw.pages.size()),
            int64_t(sequence.run.regions.size())};
  }
  /// The same of the tokens that are written.
  kvc_cache_view viewOf(const kvc::Sequence &sequence) const {
    return viewOf(sequence,
                  sequence.isWritten() ? sequence.nextCoded : sequence.coded);
  }

  kvc_status createSequence(kvc_diag *diag, kvc_sequence &handle);
  void freeSequence(kvc::Sequence &sequence);
  /// Until no work reads or writes runs of sequences: memory of their own,
  /// which a device may give to somebody else. Pages stay the cache's.
  kvc_status waitForRuns(kvc_diag *diag) const;
  kvc_status planAppend(const kvc_append_request &request, kvc_diag *diag,
                        std::vector<kvc::AppendStep> &steps) const;
  kvc_status append(const std::vector<kvc::AppendStep> &steps, kvc_diag *diag);
  void commit(kvc::Sequence &sequence);
  /// Whether the sequence can be as it was before its reservation.
  kvc_status checkRollback(const kvc::Sequence &sequence, kvc_diag *diag) const;
  void rollback(kvc::Sequence &sequence);

private:
  kvc::CodedEnds codedEnds(const kvc::Sequence &sequence, int64_t length) const;
  void prepareRawRows(const std::vector<kvc::AppendStep> &steps);
  kvc_status reservePages(const std::vector<kvc::AppendStep> &steps);
  kvc_status growRuns(const std::vector<kvc::AppendStep> &steps,
                      kvc_diag *diag);
  /// Gives back what lies behind the first `tokens` tokens and codes of `body`
  /// tokens.
  void releaseBehind(kvc::Sequence &sequence, int64_t tokens, int64_t body);
};

#endif // KVC_CACHE_CACHE_H
