//===- Spec.cpp - Small questions about a spec ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Spec.h"

#include "kvc/Spec/Names.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace kvc::spec;

const FloatFormat &kvc::spec::formatOf(CodecKind kind) {
  switch (kind) {
  case CodecKind::FP8E5M2:
    return kFP8E5M2;
  case CodecKind::FP4E2M1:
    return kFP4E2M1;
  default:
    assert(kind == CodecKind::FP8E4M3 && "no float codec");
    return kFP8E4M3;
  }
}

double Codec::largest() const {
  if (isInt())
    return double((int64_t(1) << (bits - 1)) - 1);
  if (isFloatCode())
    return formatOf(kind).largest;
  double largest = 0;
  for (float entry : table)
    largest = std::max(largest, std::fabs(double(entry)));
  return largest;
}

int64_t PartScheme::blockChannels() const {
  return scale && scale->channels != kAll ? scale->channels : channels();
}

int64_t PartScheme::blocks() const {
  return scale && channels() != 0 ? channels() / blockChannels() : 0;
}

int64_t Scheme::blockTokens() const {
  int64_t n = 1;
  for (const PartScheme &part : parts)
    if (part.scale && !part.scale->isStatic)
      n = std::max(n, part.scale->tokens);
  return n;
}

bool Scheme::isRaw() const {
  return std::all_of(parts.begin(), parts.end(),
                     [](const PartScheme &part) { return part.codec.isRaw(); });
}

double Attention::defaultScale() const {
  // In f64 alone the root and the division would each round.
  return static_cast<double>(1.0L /
                             std::sqrt(static_cast<long double>(headDim)));
}

std::string Error::str() const {
  return path + ": " + message + " [" + rule + "]";
}

const Scheme *kvc::spec::schemeOf(const Spec &spec, Tensor tensor) {
  if (tensor == Tensor::Key)
    return &spec.key;
  return spec.value ? &*spec.value : nullptr;
}

int64_t kvc::spec::channelsOf(const Spec &spec, Tensor tensor) {
  return tensor == Tensor::Key ? spec.attention.headDim
                               : spec.attention.valueDim;
}

unsigned kvc::spec::bitsOf(DType type) {
  switch (type) {
  case DType::F32:
    return 32;
  case DType::F16:
  case DType::BF16:
    return 16;
  case DType::E8M0:
  case DType::E4M3:
    return 8;
  }
  return 0;
}

std::string_view kvc::spec::nameOf(DType type) {
  return nameIn(kScaleTypeNames, type);
}

std::string kvc::spec::codecName(const Codec &codec) {
  for (const Named<CodecEntry> &entry : kCodecNames) {
    const CodecEntry &value = entry.value;
    bool same = value.kind == codec.kind;
    if (codec.isRaw())
      same &= value.raw == codec.raw;
    if (codec.isInt())
      same &= value.bits == codec.bits;
    if (same)
      return std::string(entry.name);
  }
  return "unknown";
}
