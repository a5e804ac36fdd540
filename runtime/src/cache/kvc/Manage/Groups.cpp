//===- Groups.cpp - What follows from the spec of a layer group -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Groups.h"

#include "kvc/Base/Checked.h"
#include "kvc/Spec/Segments.h"

using namespace kvc;
using namespace kvc::manage;
using spec::Tensor;

Group::Group(const kvc_layer_group &given, const kvc_manager_options &options)
    : spec(std::make_unique<kvc_spec>(given.spec->spec)), layers(given.layers),
      page(spec->spec.layout.page), rawPage(spec::rawPage(spec->spec)),
      sink(spec->spec.segments.sink), recent(spec->spec.segments.recent),
      keyTokens(spec->spec.key.blockTokens()),
      valueTokens(spec->spec.value ? spec->spec.value->blockTokens()
                                   : keyTokens),
      queries(std::max<int64_t>(options.max_queries, 1)),
      hasRaw(spec::hasSegments(spec->spec)) {
  const spec::Attention &attention = spec->spec.attention;
  if ((options.flags & KVC_MANAGER_FREE_WINDOW) && attention.window) {
    window = *attention.window;
    windowSinks = attention.windowSinks;
  }
}

Ends Group::endsAt(const Ends &ends, int64_t length, int64_t pending) const {
  if (!hasRaw)
    return {pending, pending};
  return {
      std::max(ends.key, spec::codedEnd(spec->spec, Tensor::Key, length)),
      std::max(ends.value, spec::codedEnd(spec->spec, Tensor::Value, length))};
}

Ends Group::endsBelow(const Ends &ends, int64_t position) const {
  const int64_t least = std::max(position, sink);
  return {std::min(ends.key, least), std::min(ends.value, least)};
}

Span Group::rawTokensOf(int64_t number) const {
  const int64_t sinkEnd = sinkPages(sink);
  if (number < sinkEnd)
    return {number * rawPage, std::min((number + 1) * rawPage, sink)};
  return {sink + (number - sinkEnd) * rawPage,
          sink + (number - sinkEnd + 1) * rawPage};
}

Span Group::freedBlocks(const Ends &ends, int64_t length) const {
  if (window == 0)
    return {};
  // Rows that are not coded yet will still be written.
  const int64_t bound = std::min(length - window - queries + 1, ends.least());
  const Span gone = goneBlocks((bound - sink) / page);
  return {gone.begin, std::max(gone.begin, gone.end)};
}

int64_t Group::rawBlocksFor(int64_t sequences, int64_t tokens) const {
  // An append holds the rows that it codes beside those that it stores.
  const Checked rows =
      Checked(2) * (recent + std::max(keyTokens, valueTokens) - 1);
  const int64_t ends = sinkNodes() + 2;
  const Checked each = Checked(divideCeil(rows.saturated(), rawPage)) + ends;
  // Neither are there more raw rows than tokens.
  const Checked all =
      Checked(2) * divideCeil(tokens, rawPage) +
      Checked(ends) * std::min(sequences, std::max<int64_t>(tokens, 1));
  return std::min(
      {(each * sequences).saturated(), all.saturated(), kMaxTokens - 1});
}

bool Group::isPossible(const Ends &ends, int64_t freed, int64_t length) const {
  auto isEnd = [&](int64_t end, int64_t tokens) {
    return end >= sink && end <= std::max(sink, length) &&
           (end - sink) % tokens == 0 && (hasRaw || end == length);
  };
  return isEnd(ends.key, keyTokens) && isEnd(ends.value, valueTokens) &&
         freed >= 0 && freed <= bodyBlocks(ends);
}

bool Group::isExact(const Ends &ends, int64_t position) const {
  auto cuts = [&](int64_t end, int64_t tokens) {
    return position > sink && position < end && (position - sink) % tokens != 0;
  };
  return !cuts(ends.key, keyTokens) && !cuts(ends.value, valueTokens);
}

bool Group::isVisible(int64_t freed, int64_t position) const {
  return freed == 0 || position == 0 ||
         sink + freed * page <= position - window - queries + 1;
}
