//===- RawRows.h - Rows of sequences outside of their codes -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Raw rows of all sequences are pages of one pool (spec::rawRows says what is
// in them). A sequence holds those of the sink and those from its codes' end
// on; a page goes back when all of its rows have become codes.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CACHE_RAWROWS_H
#define KVC_CACHE_RAWROWS_H

#include "kvc/Cache/BlockPool.h"
#include "kvc/Cache/Regions.h"

#include <vector>

namespace kvc {

/// The raw rows of one sequence.
struct RawTable {
  static constexpr int64_t kNone = INT64_MAX;
  std::vector<int32_t> pages; ///< By number; 0: none.
  /// At most the first page held behind the sink's; kNone: there was none yet.
  int64_t firstHeld = kNone;
};

class RawRows {
public:
  /// Of a spec with segments: `pages` pages, page 0 included, which no sequence
  /// gets.
  kvc_status allocate(const spec::Spec &spec, const kvc_device &device,
                      int64_t pages, bool isPoisoned, kvc_diag *diag);

  /// Pages that `sequences` sequences of at most `tokens` tokens together may
  /// need at once, page 0 included.
  static int64_t pagesFor(const spec::Spec &spec, int64_t sequences,
                          int64_t tokens);

  const BlockPool &blocks() const { return pool; }
  int64_t bytes() const { return memory.bytes(); }
  const std::vector<kvc_region> &allRegions() const { return regions; }
  kvc_cache_view viewOf(const RawTable &table) const {
    kvc_cache_view view = {};
    view.regions = regions.data();
    view.page_table = table.pages.data();
    return view;
  }

  /// Pages that the table lacks for the raw rows among the first `length`
  /// tokens, `begin` the first one behind the sink.
  int64_t missing(const RawTable &table, int64_t begin, int64_t length) const;
  /// Everything that hold() may allocate.
  void prepare(RawTable &table, int64_t length, int64_t newPages);
  /// Takes those pages, at most blocks().free().
  void hold(RawTable &table, int64_t begin, int64_t length);
  /// Gives back the pages between the sink's and that of row `begin`.
  void releaseBelow(RawTable &table, int64_t begin);
  /// Gives back what lies behind the first `length` tokens.
  void releaseBehind(RawTable &table, int64_t length);

private:
  /// The number of the page of a token behind the sink.
  int64_t pageOf(int64_t token) const { return (body + token - sink) / page; }
  /// Pages that the first `length` tokens reach to.
  int64_t pagesUpTo(int64_t length) const;
  int64_t sinkPages(int64_t length) const;
  void give(RawTable &table, int64_t number);

  int64_t page = 0, sink = 0, body = 0;
  BlockPool pool;
  Memory memory;
  std::vector<kvc_region> regions;
};

} // namespace kvc

#endif // KVC_CACHE_RAWROWS_H
