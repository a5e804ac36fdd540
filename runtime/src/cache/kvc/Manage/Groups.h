//===- Groups.h - What follows from the spec of a layer group ---*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Arithmetic alone: which tokens are codes, which blocks they lie in, where a
// sequence can be cut. Token counts are below 2^31, so that no sum here wraps.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_GROUPS_H
#define KVC_MANAGE_GROUPS_H

#include "kvc/Base/SpecHandle.h"
#include "kvc/manager.h"

#include <algorithm>
#include <memory>

namespace kvc::manage {

/// Where the codes of K and of V end.
struct Ends {
  int64_t key = 0, value = 0;

  int64_t least() const { return std::min(key, value); }
  int64_t most() const { return std::max(key, value); }
  bool operator==(const Ends &) const = default;
};

/// Numbers [begin, end).
struct Span {
  int64_t begin = 0, end = 0;

  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
  bool contains(int64_t number) const {
    return begin <= number && number < end;
  }
};

struct Group {
  Group(const kvc_layer_group &given, const kvc_manager_options &options);

  std::unique_ptr<kvc_spec> spec;
  int64_t layers;
  int32_t pool = 0, rawPool = -1;
  int64_t page, rawPage; ///< Tokens of a block.
  int64_t sink, recent;
  int64_t keyTokens, valueTokens;      ///< n.
  int64_t window = 0, windowSinks = 0; ///< 0 where the window frees nothing.
  int64_t queries;
  bool hasRaw; ///< Has segments.

  /// E with `ends` before, of a sequence of `length` tokens that are no drafts
  /// and `pending` tokens.
  Ends endsAt(const Ends &ends, int64_t length, int64_t pending) const;
  /// E of the first `position` tokens.
  Ends endsBelow(const Ends &ends, int64_t position) const;
  Ends emptyEnds() const { return {sink, sink}; }

  /// Body blocks of a sequence whose codes end at `ends`.
  int64_t bodyBlocks(const Ends &ends) const { return blocksUpTo(ends.most()); }
  /// Body blocks that tokens below `token` >= sink reach.
  int64_t blocksUpTo(int64_t token) const {
    return (token - sink + page - 1) / page;
  }
  /// Tokens of a body block.
  Span tokensOf(int64_t block) const {
    return {sink + block * page, sink + (block + 1) * page};
  }

  /// Raw pages of the sink in a sequence of `length` tokens.
  int64_t sinkPages(int64_t length) const {
    return (std::min(length, sink) + rawPage - 1) / rawPage;
  }
  /// Raw pages of the rows from `begin` >= sink on.
  Span rawPages(int64_t begin, int64_t length) const {
    if (begin >= length)
      return {};
    return {rawPageOf(begin), rawPageOf(length - 1) + 1};
  }
  int64_t rawPageOf(int64_t token) const {
    return sinkPages(sink) + (token - sink) / rawPage;
  }
  /// Tokens of a raw page; those of the sink end with it.
  Span rawTokensOf(int64_t number) const;

  /// Entries of a prefix: the raw pages of the sink, then body blocks.
  int64_t sinkNodes() const { return hasRaw ? sinkPages(sink) : 0; }
  /// Entries whose tokens all are below `length`.
  int64_t wholeNodes(int64_t length) const {
    return length < sink ? 0 : sinkNodes() + (length - sink) / page;
  }
  /// Entries that `length` >= sink tokens reach.
  int64_t nodesUpTo(int64_t length) const {
    return sinkNodes() + blocksUpTo(length);
  }
  Span nodeTokens(int64_t node) const {
    return node < sinkNodes() ? rawTokensOf(node)
                              : tokensOf(node - sinkNodes());
  }
  int32_t nodePool(int64_t node) const {
    return node < sinkNodes() ? rawPool : pool;
  }
  /// Whether a prefix may end there.
  bool mayEndPrefix(int64_t length) const {
    return length >= sink && (length - sink) % keyTokens == 0 &&
           (length - sink) % valueTokens == 0;
  }

  /// Body blocks that are gone of a sequence, the first `freed` of which a
  /// window has gone past: not those of visible sinks.
  Span goneBlocks(int64_t freed) const {
    return {windowSinks > sink ? blocksUpTo(windowSinks) : 0, freed};
  }
  /// Body blocks that a window has freed of a sequence of `length` tokens.
  Span freedBlocks(const Ends &ends, int64_t length) const;

  /// Rows of its body blocks that hold no token.
  int64_t unusedRows(const Ends &ends) const {
    return bodyBlocks(ends) * page - (ends.most() - sink);
  }
  /// Raw blocks that `sequences` sequences of at most `tokens` tokens together
  /// may need at once.
  int64_t rawBlocksFor(int64_t sequences, int64_t tokens) const;

  /// Whether a sequence of `length` tokens can have come to such ends, a window
  /// having gone past so many body blocks.
  bool isPossible(const Ends &ends, int64_t freed, int64_t length) const;
  /// Whether a sequence with `ends`, `freed` of whose body blocks are gone, can
  /// be cut at `position`.
  bool isExact(const Ends &ends, int64_t position) const;
  bool isVisible(int64_t freed, int64_t position) const;
};

/// Tokens of all sequences are below this.
inline constexpr int64_t kMaxTokens = INT32_MAX;

} // namespace kvc::manage

#endif // KVC_MANAGE_GROUPS_H
