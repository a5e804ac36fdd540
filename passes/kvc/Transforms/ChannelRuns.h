//===- ChannelRuns.h - Channels of one product or sum ----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// How parts cut the work of an attention: into products of K and sums of V.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_CHANNELRUNS_H
#define KVC_TRANSFORMS_CHANNELRUNS_H

#include "kvc/Spec/Spec.h"

#include "llvm/ADT/SmallVector.h"

namespace kvc {

/// Channels of V that one sum o covers.
struct Piece {
  spec::Tensor tensor; ///< Whose part they are of: K's where K is V.
  unsigned part;
  int64_t first, count; ///< In the part.
  int64_t output;       ///< Where the first one is in the output.
};

/// In the order of the output's channels.
llvm::SmallVector<Piece, 2> piecesOf(const spec::Spec &spec);

/// Parts of K that one product reads: one, or all those that RoPE rotates
/// channels of.
struct KeyRun {
  unsigned first, end; ///< Parts.
  bool isRoped;
};

/// In the order of the key's channels.
llvm::SmallVector<KeyRun, 2> keyRunsOf(const spec::Spec &spec);

} // namespace kvc

#endif // KVC_TRANSFORMS_CHANNELRUNS_H
