//===- Items.cpp - How the work of one sequence is cut --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Run/Items.h"

#include "kvc/Base/Checked.h"
#include "kvc/runtime.h"

#include <algorithm>

using namespace kvc;

const kvc_kernel_info &kvc::attendKernel(const kvc_module &module,
                                         int64_t queries) {
  if (!module.prefill)
    return *module.decode;
  if (!module.decode)
    return *module.prefill;
  int64_t rows = queries * module.spec->spec.attention.group();
  bool isDecode = queries <= KVC_DECODE_MAX_QUERIES &&
                  rows <= KVC_DECODE_MAX_TILES * module.decode->tile_rows;
  return isDecode ? *module.decode : *module.prefill;
}

int64_t kvc::rowsOfItem(const kvc_module &module,
                        const kvc_kernel_info &kernel) {
  // The row tiles of a decode follow each other over the same keys, which the
  // first of them has brought into the core's own cache.
  return &kernel == module.decode ? KVC_DECODE_MAX_TILES * kernel.tile_rows
                                  : kernel.tile_rows;
}

void kvc::splitKeys(const Visibility &visibility, const kvc_kernel_info &kernel,
                    int64_t group, int64_t queries, int64_t length, Range rows,
                    std::vector<Range> &splits) {
  int64_t first = length - queries + rows.begin / group;
  int64_t last = length - queries + (rows.end - 1) / group;
  int64_t end =
      visibility.isCausal ? std::clamp<int64_t>(last + 1, 0, length) : length;
  int64_t begin = visibility.window > 0
                      ? std::max<int64_t>(first - visibility.window + 1, 0)
                      : 0;
  // Every row is before the first key.
  if (end == 0)
    return;
  int64_t sinks = std::min(visibility.sinks, end);
  // A window that reaches down to the sinks is one range with them.
  if (begin <= sinks)
    begin = sinks = 0;
  // The sink segment is a tile of its own and belongs to the first split.
  int64_t tile = kernel.tile_tokens, origin = visibility.origin;
  auto roundUp = [&](int64_t key) {
    if (key <= origin)
      return key > 0 ? std::min(origin, length) : 0;
    return std::min(origin + divideCeil(key - origin, tile) * tile, length);
  };
  auto splitOf = [&](int64_t key) {
    return std::max<int64_t>(key - origin, 0) / kernel.split_tokens;
  };
  auto add = [&](int64_t from, int64_t to) {
    for (int64_t key = from; key < to;) {
      int64_t next = origin + (splitOf(key) + 1) * kernel.split_tokens;
      splits.push_back({key, std::min(next, to)});
      key = next;
    }
  };
  int64_t low = begin < origin ? 0 : origin + roundDown(begin - origin, tile);
  int64_t high = roundUp(end), sinkEnd = roundUp(sinks);
  // Sinks and window may meet in one split or even in one tile; kernels skip
  // what lies between them.
  if (sinkEnd > 0 && splitOf(sinkEnd - 1) == splitOf(low)) {
    add(0, high);
    return;
  }
  add(0, sinkEnd);
  add(low, high);
}

int64_t kvc::maxSplits(const Visibility &visibility,
                       const kvc_kernel_info &kernel, int64_t group,
                       int64_t queries, int64_t length, int64_t rows) {
  int64_t split = kernel.split_tokens;
  int64_t all = std::max<int64_t>(
      divideCeil(std::max<int64_t>(length - visibility.origin, 0), split),
      length > 0);
  if (visibility.window == 0)
    return all;
  // Rows of one item belong to so many queries, each of which moves the window
  // by one key; a range of n keys touches at most (n - 1) / split + 2 splits.
  int64_t spread = std::min(queries, (rows - 1) / group + 2);
  int64_t keys = std::min(visibility.window + spread, length);
  int64_t sinks = divideCeil(std::min(visibility.sinks, length), split);
  return std::min(all, keys / split + 2 + sinks);
}
