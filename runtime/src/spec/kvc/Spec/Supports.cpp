//===- Supports.cpp - What compiles and runs ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The one list of valid specs that the compiler refuses. Every answer is a
// literal, so engines may ask on a hot path.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Spec.h"

using namespace kvc::spec;

static const char *unsupportedCodec(const Codec &codec) {
  switch (codec.kind) {
  case CodecKind::Raw:
  case CodecKind::Int:
  case CodecKind::FP8E4M3:
  case CodecKind::FP8E5M2:
  case CodecKind::FP4E2M1:
    return nullptr;
  case CodecKind::Lut:
    return codec.table.empty() ? "not lowered yet: codec lut" : nullptr;
  }
  return "not lowered yet: codec";
}

static const char *unsupportedScale(const Scale &scale) {
  if (scale.isStatic)
    return "not lowered yet: scale.static";
  if (scale.tokens != 1)
    return "not lowered yet: scale.tokens above 1";
  return nullptr;
}

static const char *unsupportedPart(const PartScheme &part) {
  if (const char *reason = unsupportedCodec(part.codec))
    return reason;
  if (part.scale)
    if (const char *reason = unsupportedScale(*part.scale))
      return reason;
  if (part.smooth)
    return "not lowered yet: smooth";
  if (part.outliers != 0)
    return "not lowered yet: outliers";
  return nullptr;
}

static const char *unsupportedScheme(const Scheme &scheme) {
  if (scheme.rope)
    return "not lowered yet: rope";
  for (const PartScheme &part : scheme.parts)
    if (const char *reason = unsupportedPart(part))
      return reason;
  return nullptr;
}

const char *kvc::spec::unsupportedReason(const Spec &spec) {
  if (const char *reason = unsupportedScheme(spec.key))
    return reason;
  if (spec.value)
    if (const char *reason = unsupportedScheme(*spec.value))
      return reason;
  if (spec.segments != Segments())
    return "not lowered yet: segments";
  if (spec.layout.kind == LayoutKind::Ring)
    return "not lowered yet: layout ring";
  return nullptr;
}
