//===- Segments.h - Raw rows of a sequence ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// With segments a tensor's tokens [sink, coded end) are codes and all others
// raw rows: the sink, then the tokens that are recent or do not fill a scale
// block yet. Raw rows are a cache of their own, in pages, of a spec that
// follows from the first one.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_SEGMENTS_H
#define KVC_SPEC_SEGMENTS_H

#include "kvc/Spec/Spec.h"

namespace kvc::spec {

inline bool hasSegments(const Spec &spec) {
  return spec.segments.sink != 0 || spec.segments.recent != 0;
}

/// The spec of the raw rows: the same attention, K and V as given in io.query,
/// pages as the spec's or of 16 tokens, rows in order "nhd".
Spec rawRows(const Spec &spec);

/// Tokens of a page of raw rows.
int64_t rawPage(const Spec &spec);
/// Index of the first raw row behind the sink's: token t >= sink is row
/// rawBody + t - sink. Sink rows and others share no page.
int64_t rawBody(const Spec &spec);

/// Where the codes of a tensor end in a sequence of `length` tokens that never
/// was longer; at least `sink`, even where the sequence ends before it.
int64_t codedEnd(const Spec &spec, Tensor tensor, int64_t length);

} // namespace kvc::spec

#endif // KVC_SPEC_SEGMENTS_H
