//===- Layout.cpp - What lies where in a saved sequence -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Saved/Layout.h"

#include "kvc/Layout/PageLayout.h"

using namespace kvc;
using namespace kvc::saved;

Slices::Slices(const spec::Spec &spec) {
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value})
    bytes[spec.layout.interleaved ? 0 : size_t(tensor)] +=
        layout::pageLayout(spec, tensor, layout::TargetFamily::Host).bytes;
}

std::vector<SavedBlock>
kvc::saved::blocksOf(const Group &group, const State &state, int64_t length) {
  std::vector<SavedBlock> blocks;
  const Span gone = group.goneBlocks(state.freed);
  for (int64_t i = 0; i < group.bodyBlocks(state.ends); ++i)
    if (!gone.contains(i))
      blocks.push_back({false, i});
  if (!group.hasRaw)
    return blocks;
  for (Span pages : {Span{0, group.sinkPages(length)},
                     group.rawPages(state.ends.least(), length)})
    for (int64_t i = pages.begin; i < pages.end; ++i)
      blocks.push_back({true, i});
  return blocks;
}

Rows kvc::saved::rowsOf(const Group &group, const State &state, int64_t length,
                        SavedBlock block) {
  const Span tokens = block.isRaw ? group.rawTokensOf(block.number)
                                  : group.tokensOf(block.number);
  const bool isSink = block.isRaw && tokens.begin < group.sink;
  auto rows = [&](int64_t codedEnd) {
    const int64_t begin = !block.isRaw ? group.sink : isSink ? 0 : codedEnd;
    const int64_t end = block.isRaw ? length : codedEnd;
    const Span held = {std::max(begin, tokens.begin) - tokens.begin,
                       std::min(end, tokens.end) - tokens.begin};
    return held.size() ? held : Span{};
  };
  return {rows(state.ends.key), rows(state.ends.value)};
}
