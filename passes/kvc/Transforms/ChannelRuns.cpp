//===- ChannelRuns.cpp - Channels of one product or sum -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Transforms/ChannelRuns.h"

#include "llvm/ADT/STLExtras.h"

namespace kvc {

llvm::SmallVector<Piece, 2> piecesOf(const spec::Spec &spec) {
  llvm::SmallVector<Piece, 2> pieces;
  std::optional<std::array<int64_t, 2>> range = spec.attention.valueIsKey;
  spec::Tensor tensor = range ? spec::Tensor::Key : spec::Tensor::Value;
  int64_t begin = range ? (*range)[0] : 0,
          end = range ? (*range)[1] : spec.attention.valueDim;
  for (auto [i, part] : llvm::enumerate(spec::schemeOf(spec, tensor)->parts)) {
    int64_t first = std::max(begin, part.begin), last = std::min(end, part.end);
    if (first < last)
      pieces.push_back({tensor, unsigned(i), first - part.begin, last - first,
                        first - begin});
  }
  return pieces;
}

llvm::SmallVector<KeyRun, 2> keyRunsOf(const spec::Spec &spec) {
  llvm::SmallVector<KeyRun, 2> runs;
  for (auto [i, part] : llvm::enumerate(spec.key.parts)) {
    bool isRoped = spec.key.rope && spec.key.rope->offset < part.end &&
                   part.begin < spec.key.rope->offset + spec.key.rope->dims;
    auto number = unsigned(i);
    if (isRoped && !runs.empty() && runs.back().isRoped)
      runs.back().end = number + 1;
    else
      runs.push_back({number, number + 1, isRoped});
  }
  return runs;
}

} // namespace kvc
