//===- Capacity.cpp - The blocks that a sequence needs --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Capacity.h"

using namespace kvc;
using namespace kvc::manage;

namespace {

/// E of a sequence of `length` tokens that was never longer.
Ends endsOf(const Group &group, int64_t length) {
  return group.endsAt(group.emptyEnds(), length, length);
}

/// Raw pages of the rows behind the sink.
Span rawPagesOf(const Group &group, int64_t length) {
  return group.rawPages(endsOf(group, length).least(), length);
}

/// Pages of either of two spans, the second of which neither begins nor ends
/// before the first.
int64_t sizeOfBoth(const Span &first, const Span &second) {
  const Span shared{std::max(first.begin, second.begin),
                    std::min(first.end, second.end)};
  return first.size() + second.size() - shared.size();
}

} // namespace

int64_t kvc::manage::mostBodyBlocks(const Group &group, int64_t tokens) {
  if (group.window == 0)
    return group.bodyBlocks(endsOf(group, tokens));
  int64_t most = 0;
  for (int64_t last = tokens;
       last >= std::max<int64_t>(tokens - group.page + 1, 0); --last) {
    // The longest append has freed the least before.
    const int64_t before = std::max<int64_t>(last - group.queries, 0);
    const int64_t held =
        group.bodyBlocks(endsOf(group, last)) -
        group.freedBlocks(endsOf(group, before), before).size();
    most = std::max(most, held);
  }
  return most;
}

int64_t kvc::manage::mostRawBlocks(const Group &group, int64_t tokens) {
  if (!group.hasRaw)
    return 0;
  int64_t most = 0;
  for (int64_t last = tokens;
       last >= std::max<int64_t>(tokens - group.rawPage + 1, 0); --last) {
    const Span next = rawPagesOf(group, last);
    const int64_t coded = endsOf(group, last).least();
    const int64_t first = std::max<int64_t>(last - group.queries, 0);
    // Rows from before that the append does not code lie beside the new ones:
    // the longest such append has the most of them.
    int64_t both = next.size();
    if (const int64_t before = std::max(first, coded); before <= last)
      both = std::max(both, sizeOfBoth(rawPagesOf(group, before), next));
    // It codes all from before. The pages of both may meet in one; those of a
    // page earlier do not.
    for (int64_t before = std::min(coded, last) - 1;
         before >= std::max(first, coded - 2 * group.rawPage); --before)
      both = std::max(both, sizeOfBoth(rawPagesOf(group, before), next));
    most = std::max(most, both + group.sinkPages(last));
  }
  return most;
}
