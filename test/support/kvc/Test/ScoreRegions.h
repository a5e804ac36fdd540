//===- ScoreRegions.h - Score regions and what they compute -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Functions of a score that no spec file in JSON can say, as MLIR and as C++.
// None changes faster than its score, so that the bounds of SPEC.md hold.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_SCOREREGIONS_H
#define KVC_TEST_SCOREREGIONS_H

#include "kvc/Test/Attention.h"

#include <span>

namespace kvc::test {

struct ScoreCase {
  const char *name;
  /// What the region holds, over %score, %query, %key, %head and %kv_head.
  const char *operations;
  /// The same; `group` is the query heads of a kv head.
  double (*function)(double score, int64_t query, int64_t key, int64_t head,
                     int64_t group);

  /// "score(..) {..}", as it stands behind a declaration.
  std::string text() const;
  ScoreRegion region(const spec::Attention &attention) const;
};

/// A bias by head, masks by position, rows without a key, functions of the
/// score, of positions alone and of nothing.
std::span<const ScoreCase> scoreCases();

} // namespace kvc::test

#endif // KVC_TEST_SCOREREGIONS_H
