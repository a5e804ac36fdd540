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
    return nullptr;
  case CodecKind::Int:
    switch (codec.bits) {
    case 8:
    case 4:
      return nullptr;
    case 7:
      return "not lowered yet: codec int7";
    case 6:
      return "not lowered yet: codec int6";
    case 5:
      return "not lowered yet: codec int5";
    case 3:
      return "not lowered yet: codec int3";
    default:
      return "not lowered yet: codec int2";
    }
  case CodecKind::FP8E4M3:
    return "not lowered yet: codec fp8_e4m3";
  case CodecKind::FP8E5M2:
    return "not lowered yet: codec fp8_e5m2";
  case CodecKind::FP4E2M1:
    return "not lowered yet: codec fp4_e2m1";
  case CodecKind::Lut:
    return "not lowered yet: codec lut";
  }
  return "not lowered yet: codec";
}

static const char *unsupportedScale(const Scale &scale) {
  if (scale.isStatic)
    return "not lowered yet: scale.static";
  if (scale.tokens != 1)
    return "not lowered yet: scale.tokens above 1";
  if (scale.dtype == DType::E8M0)
    return "not lowered yet: scale.dtype e8m0";
  if (scale.dtype == DType::E4M3)
    return "not lowered yet: scale.dtype e4m3";
  if (scale.round != ScaleRound::Nearest)
    return "not lowered yet: scale.round";
  if (scale.floor)
    return "not lowered yet: scale.floor";
  return nullptr;
}

static const char *unsupportedPart(const PartScheme &part) {
  if (const char *reason = unsupportedCodec(part.codec))
    return reason;
  if (part.scale)
    if (const char *reason = unsupportedScale(*part.scale))
      return reason;
  if (part.clip != 1)
    return "not lowered yet: clip";
  switch (part.estimate) {
  case Estimate::Amax:
    break;
  case Estimate::Signed:
    return "not lowered yet: estimate signed";
  case Estimate::Rms:
    return "not lowered yet: estimate rms";
  }
  if (part.codesFrom != CodesFrom::Stored)
    return "not lowered yet: codes_from exact";
  switch (part.round) {
  case Round::Even:
    break;
  case Round::Away:
    return "not lowered yet: round away";
  case Round::Up:
    return "not lowered yet: round up";
  }
  if (part.rotate != 0)
    return "not lowered yet: rotate";
  if (part.smooth)
    return "not lowered yet: smooth";
  if (part.outliers != 0)
    return "not lowered yet: outliers";
  return nullptr;
}

static const char *unsupportedScheme(const Scheme &scheme) {
  if (scheme.parts.size() > 1)
    return "not lowered yet: parts";
  if (scheme.rope)
    return "not lowered yet: rope";
  return unsupportedPart(scheme.parts.front());
}

const char *kvc::spec::unsupportedReason(const Spec &spec) {
  if (const char *reason = unsupportedScheme(spec.key))
    return reason;
  if (spec.attention.valueIsKey)
    return "not lowered yet: value_is_key";
  if (spec.value)
    if (const char *reason = unsupportedScheme(*spec.value))
      return reason;
  if (spec.segments != Segments())
    return "not lowered yet: segments";
  if (spec.layout.kind == LayoutKind::Ring)
    return "not lowered yet: layout ring";
  if (spec.layout.order == Order::Ggml)
    return "not lowered yet: order ggml";
  if (spec.layout.order == Order::Token)
    return "not lowered yet: order token";
  return nullptr;
}
