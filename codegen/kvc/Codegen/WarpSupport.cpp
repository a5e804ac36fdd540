//===- WarpSupport.cpp - What compiles for GPUs ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/WarpSupport.h"

namespace kvc {

using namespace spec;

/// Of one part of a tensor.
static const char *unsupportedPart(const PartScheme &part, DType query) {
  if (part.channels() % 16 != 0)
    return "channels that are no multiple of 16";
  if (part.codec.isRaw() && part.codec.raw != query)
    return "raw codecs of another type than io.query";
  if (part.codec.kind == CodecKind::Lut ||
      part.codec.kind == CodecKind::FP4E2M1)
    return "codecs lut and fp4_e2m1";
  if (part.codec.bits != 16 && part.codec.bits != 8 && part.codec.bits != 4 &&
      part.codec.bits != 2)
    return "integers of 3, 5, 6 and 7 bits";
  if (part.hasStaticScale())
    return "static scales";
  if (part.scale && part.scale->tokens != 1)
    return "scales of several tokens";
  if (part.scale && part.blocks() != 1)
    return "scales of fewer than all channels";
  if (part.scale && part.scale->dtype != DType::F16 &&
      part.scale->dtype != DType::BF16 && part.scale->dtype != DType::F32)
    return "scales in e8m0 and e4m3";
  if (part.zero == Zero::Code)
    return "zero \"code\"";
  if (part.rotate != 0)
    return "rotate";
  if (part.smooth)
    return "smooth";
  if (part.outliers != 0)
    return "outliers";
  return nullptr;
}

const char *unsupportedOnWarps(const Spec &spec) {
  if (spec.io.query == DType::F32)
    return "io.query f32";
  if (spec.attention.valueIsKey)
    return "value_is_key";
  if (spec.segments != Segments())
    return "segments";
  if (spec.layout.kind == LayoutKind::Ring)
    return "layout.kind ring";
  if (spec.layout.order == Order::Ggml || spec.layout.order == Order::Token)
    return "layout.order ggml and token";
  for (Tensor tensor : {Tensor::Key, Tensor::Value}) {
    const Scheme *scheme = schemeOf(spec, tensor);
    if (scheme->rope)
      return "rope";
    if (scheme->parts.size() != 1)
      return "parts";
    if (const char *reason =
            unsupportedPart(scheme->parts.front(), spec.io.query))
      return reason;
  }
  return nullptr;
}

} // namespace kvc
