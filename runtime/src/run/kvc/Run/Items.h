//===- Items.h - How the work of one sequence is cut ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A work item is a range of rows and a range of keys of one sequence and kv
// head. Every cut is a function of the spec, the kernel and the lengths: never
// of the threads, the batch or a plan's bounds, so that results don't depend on
// those.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_ITEMS_H
#define KVC_RUN_ITEMS_H

#include "kvc/Run/Module.h"

#include <vector>

namespace kvc {

struct Range {
  int64_t begin, end;
  bool operator==(const Range &) const = default;
};

/// Which keys a query sees, as far as positions say.
struct Visibility {
  bool isCausal;
  int64_t window; ///< 0: none.
  int64_t sinks;  ///< Keys that stay visible beyond the window.
  int64_t origin; ///< Tiles begin here: the end of the sink segment.

  explicit Visibility(const spec::Attention &attention, int64_t origin = 0)
      : isCausal(attention.causal), window(attention.window.value_or(0)),
        sinks(attention.windowSinks), origin(origin) {}
  explicit Visibility(const spec::Spec &spec)
      : Visibility(spec.attention, spec.segments.sink) {}
};

/// The kernel for `queries` queries of one sequence; see
/// KVC_DECODE_MAX_QUERIES. The module has at least one of the two.
const kvc_kernel_info &attendKernel(const kvc_module &module, int64_t queries);

/// Rows of one item: all that a decode may have, or one row tile, so that a
/// prefill has many items.
int64_t rowsOfItem(const kvc_module &module, const kvc_kernel_info &kernel);

/// Appends to `splits` the key ranges for rows [rows.begin, rows.end) of
/// `queries` queries on `length` keys: the multiples of split_tokens behind the
/// sink segment, and 0, between which some row sees a key, clipped to the tiles
/// that hold such keys.
void splitKeys(const Visibility &visibility, const kvc_kernel_info &kernel,
               int64_t group, int64_t queries, int64_t length, Range rows,
               std::vector<Range> &splits);

/// At least the number of ranges that splitKeys gives for `rows` rows of at
/// most `queries` queries on at most `length` keys.
int64_t maxSplits(const Visibility &visibility, const kvc_kernel_info &kernel,
                  int64_t group, int64_t queries, int64_t length, int64_t rows);

} // namespace kvc

#endif // KVC_RUN_ITEMS_H
