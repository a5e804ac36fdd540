//===- Segments.cpp - Raw rows of a sequence ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Segments.h"

#include <algorithm>

using namespace kvc::spec;

static Scheme rawScheme(const Spec &spec, const Scheme &scheme,
                        int64_t channels) {
  PartScheme part;
  part.end = channels;
  part.codec.kind = CodecKind::Raw;
  part.codec.bits = bitsOf(spec.io.query);
  part.codec.raw = spec.io.query;
  Scheme result;
  result.parts = {part};
  result.rope = scheme.rope;
  return result;
}

Spec kvc::spec::rawRows(const Spec &spec) {
  Spec result = spec;
  result.key = rawScheme(spec, spec.key, spec.attention.headDim);
  if (spec.value)
    result.value = rawScheme(spec, *spec.value, spec.attention.valueDim);
  result.segments = Segments();
  result.layout = Layout();
  result.layout.kind = LayoutKind::Paged;
  result.layout.page = rawPage(spec);
  result.layout.order = Order::Nhd;
  return result;
}

int64_t kvc::spec::rawPage(const Spec &spec) {
  constexpr int64_t kDefault = 16;
  return spec.layout.kind == LayoutKind::Paged ? spec.layout.page : kDefault;
}

int64_t kvc::spec::rawBody(const Spec &spec) {
  int64_t page = rawPage(spec);
  return (spec.segments.sink + page - 1) / page * page;
}

int64_t kvc::spec::codedEnd(const Spec &spec, Tensor tensor, int64_t length) {
  const Scheme *scheme = schemeOf(spec, tensor);
  int64_t n = (scheme ? *scheme : spec.key).blockTokens();
  const Segments &segments = spec.segments;
  int64_t left = std::max<int64_t>(length - segments.sink - segments.recent, 0);
  return segments.sink + left / n * n;
}
