//===- PartQuantiser.cpp - One part of a tensor, to the bit ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every written operation on `float` is one rounding: kvc is compiled without
// contraction.
//
//===----------------------------------------------------------------------===//

#include "kvc/Quantise/PartQuantiser.h"

#include "kvc/Quantise/Floats.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

using namespace kvc;
using namespace kvc::quantise;
using spec::CodecKind;
using spec::DType;
using spec::Estimate;
using spec::Zero;

static_assert(FLT_EVAL_METHOD == 0, "f32 operations must round to f32");

//===----------------------------------------------------------------------===//
// What stays the same for all blocks
//===----------------------------------------------------------------------===//

float quantise::storedStaticScale(const spec::Scale &scale, float input) {
  if (scale.dtype == DType::E8M0)
    return e8m0(floorLog2(input));
  if (scale.dtype == DType::E4M3)
    input = input / static_cast<float>(scale.global);
  return scale.round == spec::ScaleRound::Up
             ? powerOfTwoAtLeast(scale.dtype, input)
             : roundTo(scale.dtype, input);
}

PartQuantiser::PartQuantiser(const spec::PartScheme &scheme, int64_t heads,
                             int64_t tensorChannels, const PartInputs &inputs)
    : part(scheme), blocks(scheme.blocks()) {
  const int64_t channels = part.channels();
  if (part.smooth)
    for (int64_t head = 0; head < heads; ++head) {
      const float *row = inputs.smooth + head * tensorChannels + part.begin;
      smooth.insert(smooth.end(), row, row + channels);
    }
  if (part.codec.isRaw())
    return;
  width = part.blockChannels();
  if (!part.scale->isStatic)
    tokens = part.scale->tokens;

  if (part.codec.kind == CodecKind::Lut) {
    entries = size_t(1) << part.codec.bits;
    if (part.codec.table.empty())
      tables.assign(inputs.table, inputs.table + heads * entries);
    else
      tables = part.codec.table;
    for (size_t begin = 0; begin < tables.size(); begin += entries) {
      const std::span table = std::span(tables).subspan(begin, entries);
      float largest = 0;
      for (float entry : table)
        largest = std::max(largest, std::fabs(entry));
      largestEntries.push_back(largest);
      steps.push_back(spec::lookupSteps(table));
    }
  } else {
    largestInt = static_cast<float>(part.codec.largest());
  }
  if (part.codec.isInt()) {
    const float half = std::ldexp(1.0f, static_cast<int>(part.codec.bits) - 1);
    const bool isSigned = part.zero == Zero::None;
    const bool isAsymmetric = part.estimate == Estimate::Signed;
    lowest = !isSigned ? 0 : isAsymmetric ? -half : -(half - 1);
    highest = isSigned ? half - 1 : 2 * half - 1;
  }
  if (part.scale->isStatic)
    for (int64_t i = 0; i < heads * blocks; ++i) {
      BlockScale scale;
      scale.stored = storedStaticScale(*part.scale, inputs.scale[i]);
      staticScales.push_back(finished(scale, 0, 0));
    }
}

//===----------------------------------------------------------------------===//
// Transforms and outliers
//===----------------------------------------------------------------------===//

void quantise::rotateBlocks(float *row, int64_t count, int64_t n) {
  const auto norm = static_cast<float>(1.0 / std::sqrt(double(n)));
  for (float *block = row; block < row + count; block += n) {
    for (int64_t h = 1; h < n; h *= 2)
      for (int64_t base = 0; base < n; base += 2 * h)
        for (int64_t i = base; i < base + h; ++i) {
          const float a = block[i], b = block[i + h];
          block[i] = a + b;
          block[i + h] = a - b;
        }
    for (int64_t i = 0; i < n; ++i)
      block[i] = block[i] * norm;
  }
}

void PartQuantiser::transform(int64_t head, float *row) const {
  const int64_t channels = part.channels();
  if (part.smooth)
    for (int64_t c = 0; c < channels; ++c)
      row[c] = row[c] / smooth[head * channels + c];
  if (part.rotate)
    rotateBlocks(row, channels, part.rotate);
}

void PartQuantiser::restore(int64_t head, float *row) const {
  const int64_t channels = part.channels();
  if (part.rotate)
    rotateBlocks(row, channels, part.rotate);
  if (part.smooth)
    for (int64_t c = 0; c < channels; ++c)
      row[c] = row[c] * smooth[head * channels + c];
}

PartQuantiser::Channels PartQuantiser::outliersOf(int64_t head,
                                                  const float *row) const {
  Channels result;
  if (part.outliers == 0)
    return result;
  const int64_t channels = part.channels();
  std::array<float, kMaxChannels> magnitudes;
  for (int64_t c = 0; c < channels; ++c) {
    magnitudes[c] = std::fabs(row[c]);
    if (part.scale->isStatic)
      magnitudes[c] /= staticScales[head * blocks + c / width].factor;
  }
  for (int64_t i = 0; i < part.outliers; ++i) {
    int64_t best = -1;
    for (int64_t c = 0; c < channels; ++c)
      if (!result[c] && (best < 0 || magnitudes[c] > magnitudes[best]))
        best = c;
    result.set(best);
  }
  return result;
}

/// Calls fn(x) for the values of a block, token by token, without outliers.
template <typename Fn>
void PartQuantiser::forEach(int64_t head, int64_t block, Rows rows,
                            Fn fn) const {
  const int64_t begin = block * width, end = begin + width;
  for (int64_t t = 0; t < tokens; ++t) {
    if (part.outliers == 0) {
      for (int64_t c = begin; c < end; ++c)
        fn(rows[t][c], false);
      continue;
    }
    const Channels outliers = outliersOf(head, rows[t]);
    for (int64_t c = begin; c < end; ++c)
      fn(rows[t][c], outliers[c]);
  }
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

struct PartQuantiser::Extremes {
  float amax = 0;
  float signedMax = 0;    ///< The first of the largest magnitude.
  float min = 0, max = 0; ///< -0 is below +0.
  bool isEmpty = true;

  void add(float x) {
    const float magnitude = std::fabs(x);
    if (magnitude > std::fabs(signedMax))
      signedMax = x;
    amax = std::max(amax, magnitude);
    if (isEmpty || x > max || (x == max && std::signbit(max)))
      max = x;
    if (isEmpty || x < min || (x == min && std::signbit(x)))
      min = x;
    isEmpty = false;
  }
};

/// sqrt(sum / count), squares added pairwise at strides 1, 2, 4, .. Level l
/// holds the sum of 2^l squares that waits for its right neighbour; the zeros
/// at the end change no sum.
float PartQuantiser::rmsOf(int64_t head, int64_t block, Rows rows) const {
  std::array<float, 64> sums{};
  uint64_t taken = 0;
  int64_t count = 0;
  forEach(head, block, rows, [&](float x, bool isOutlier) {
    float sum = isOutlier ? 0.0f : x * x;
    count += !isOutlier;
    int level = 0;
    for (; taken >> level & 1; ++level)
      sum = sums[level] + sum;
    sums[level] = sum;
    ++taken;
  });
  if (count == 0)
    return 0;
  float sum = 0;
  bool isFirst = true;
  for (int level = 0; taken >> level; ++level)
    if (taken >> level & 1) {
      sum = isFirst ? sums[level] : sums[level] + sum;
      isFirst = false;
    }
  return std::sqrt(sum / static_cast<float>(count));
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

static float withoutNegativeZero(float x) { return x == 0 ? 0.0f : x; }

/// A quotient as stored, in any type but e8m0.
float PartQuantiser::storeQuotient(float quotient) const {
  const spec::Scale &scale = *part.scale;
  if (scale.floor && quotient < static_cast<float>(*scale.floor))
    quotient = static_cast<float>(*scale.floor);
  if (scale.dtype == DType::E4M3)
    quotient = quotient / static_cast<float>(scale.global);
  return scale.round == spec::ScaleRound::Up
             ? powerOfTwoAtLeast(scale.dtype, quotient)
             : roundTo(scale.dtype, quotient);
}

/// Fills what follows from the stored scale, or from the exact one.
BlockScale PartQuantiser::finished(BlockScale scale, float exact,
                                   float base) const {
  scale.factor = part.scale->dtype == DType::E4M3
                     ? scale.stored * static_cast<float>(part.scale->global)
                     : scale.stored;
  scale.hasCodes = scale.factor != 0;
  if (part.codesFrom == spec::CodesFrom::Exact) {
    scale.base = base;
    scale.inverse = 1.0f / exact;
    scale.hasCodes = exact != 0 && std::isfinite(scale.inverse);
  }
  return scale;
}

BlockScale PartQuantiser::symmetricScale(int64_t head, int64_t block, Rows rows,
                                         const Extremes &extremes) const {
  const auto r = static_cast<float>(part.clip);
  const float largestCode =
      part.codec.kind == CodecKind::Lut
          ? largestEntries[largestEntries.size() > 1 ? head : 0]
          : largestInt;
  BlockScale scale;
  const bool isRms = part.estimate == Estimate::Rms;
  if (part.scale->dtype == DType::E8M0) {
    const float estimate =
        (isRms ? rmsOf(head, block, rows) : extremes.amax) * r;
    const bool roundsUp = part.scale->round == spec::ScaleRound::Up;
    const float quotient = isRms ? estimate : estimate / largestCode;
    if (estimate == 0 || (roundsUp && quotient == 0))
      scale.stored = e8m0(-127);
    else if (roundsUp)
      scale.stored = e8m0(ceilLog2(quotient));
    else
      scale.stored =
          e8m0(floorLog2(estimate) - (isRms ? 0 : floorLog2(largestCode)));
    scale = finished(scale, 0, 0);
    scale.hasCodes = estimate != 0;
    return scale;
  }
  float exact = 0;
  switch (part.estimate) {
  case Estimate::Amax:
    exact = extremes.amax * r / largestCode;
    break;
  case Estimate::Signed:
    exact = extremes.signedMax * r /
            -std::ldexp(1.0f, static_cast<int>(part.codec.bits) - 1);
    break;
  case Estimate::Rms:
    exact = rmsOf(head, block, rows) * r;
    break;
  }
  scale.stored = storeQuotient(exact);
  return finished(scale, exact, 0);
}

BlockScale PartQuantiser::minScale(const Extremes &extremes) const {
  const auto r = static_cast<float>(part.clip);
  const float min = extremes.min * r, max = extremes.max * r;
  BlockScale scale;
  scale.zero = withoutNegativeZero(roundTo(part.scale->dtype, min));
  const bool isExact = part.codesFrom == spec::CodesFrom::Exact;
  const float exact = (max - (isExact ? min : scale.zero)) / highest;
  scale.stored = storeQuotient(exact);
  return finished(scale, exact, min);
}

BlockScale PartQuantiser::codeScale(const Extremes &extremes) const {
  const auto r = static_cast<float>(part.clip);
  const float min = extremes.min * r, max = extremes.max * r;
  BlockScale scale;
  scale.stored = storeQuotient((max - min) / highest);
  if (scale.stored != 0) {
    scale.zero =
        withoutNegativeZero(roundTo(part.scale->dtype, -min / scale.stored));
    return finished(scale, 0, 0);
  }
  if (min != 0) {
    scale.stored = roundTo(part.scale->dtype, std::fabs(min));
    scale.zero = min > 0 ? -1.0f : 1.0f;
  }
  scale = finished(scale, 0, 0);
  scale.hasCodes = false;
  return scale;
}

BlockScale PartQuantiser::midScale(int64_t head, int64_t block, Rows rows,
                                   const Extremes &extremes) const {
  const auto r = static_cast<float>(part.clip);
  const float min = extremes.min * r, max = extremes.max * r;
  BlockScale scale;
  scale.zero =
      withoutNegativeZero(roundTo(part.scale->dtype, (max + min) / 2.0f));
  float amax = 0;
  forEach(head, block, rows, [&](float x, bool isOutlier) {
    if (!isOutlier)
      amax = std::max(amax, std::fabs(x - scale.zero));
  });
  const float exact =
      amax * r / largestEntries[largestEntries.size() > 1 ? head : 0];
  scale.stored = storeQuotient(exact);
  return finished(scale, exact, 0);
}

BlockScale PartQuantiser::scaleOf(int64_t head, int64_t block,
                                  Rows rows) const {
  if (part.scale->isStatic)
    return staticScales[head * blocks + block];
  Extremes extremes;
  forEach(head, block, rows, [&](float x, bool isOutlier) {
    if (!isOutlier)
      extremes.add(x);
  });
  switch (part.zero) {
  case Zero::Min:
    return minScale(extremes);
  case Zero::Code:
    return codeScale(extremes);
  case Zero::Mid:
    return midScale(head, block, rows, extremes);
  case Zero::None:
    return symmetricScale(head, block, rows, extremes);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

float PartQuantiser::scaled(const BlockScale &scale, float x) const {
  if (part.codesFrom == spec::CodesFrom::Exact)
    return part.zero == Zero::Min ? (x - scale.base) * scale.inverse
                                  : x * scale.inverse;
  switch (part.zero) {
  case Zero::Min:
  case Zero::Mid:
    return (x - scale.zero) / scale.factor;
  case Zero::Code:
    return x / scale.factor + scale.zero;
  case Zero::None:
    return x / scale.factor;
  }
  return 0;
}

/// An integer; exact for |x| < 2^22.
static float roundEven(float x) {
  constexpr float shift = 0x1.8p23f;
  return (x + shift) - shift;
}

uint8_t PartQuantiser::codeOf(int64_t head, float scaled) const {
  if (part.codec.isFloatCode())
    return static_cast<uint8_t>(
        encode(spec::formatOf(part.codec.kind), scaled));
  if (part.codec.kind == CodecKind::Lut) {
    const spec::LookupSteps &lookup = steps[steps.size() > 1 ? head : 0];
    scaled = std::clamp(scaled, -FLT_MAX, FLT_MAX);
    size_t step = 0;
    while (step < lookup.thresholds.size() && scaled > lookup.thresholds[step])
      ++step;
    return lookup.codes[step];
  }
  // Rounding keeps the ends of the range, so it may come after them. A NaN,
  // which only overflow can bring here, becomes the lowest code.
  float code = scaled > lowest ? std::min(scaled, highest) : lowest;
  switch (part.round) {
  case spec::Round::Even:
    code = roundEven(code);
    break;
  case spec::Round::Away:
    code = static_cast<float>(
        std::copysign(std::floor(std::fabs(double(code)) + 0.5), code));
    break;
  case spec::Round::Up: {
    // Symmetric codes: the floor is taken of a positive number.
    const float half =
        part.zero == Zero::None
            ? std::ldexp(1.0f, static_cast<int>(part.codec.bits) - 1)
            : 0.0f;
    code = std::floor(code + (half + 0.5f)) - half;
    break;
  }
  }
  return static_cast<uint8_t>(static_cast<int>(code));
}

float PartQuantiser::read(int64_t head, const BlockScale &scale,
                          uint8_t code) const {
  float u = code;
  if (part.codec.isFloatCode())
    u = decode(spec::formatOf(part.codec.kind), code);
  else if (part.codec.kind == CodecKind::Lut)
    u = tableOf(head)[code];
  else if (part.zero == Zero::None)
    u = static_cast<int8_t>(code);
  switch (part.zero) {
  case Zero::None:
    // A scale that is 0 gives 0, where the product may be -0; codes from exact
    // quotients are no zeros beside such a scale.
    return scale.factor == 0 && part.codesFrom == spec::CodesFrom::Stored
               ? 0
               : scale.factor * u;
  case Zero::Min:
  case Zero::Mid:
    return scale.factor * u + scale.zero;
  case Zero::Code:
    return scale.factor * (u - scale.zero);
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void PartQuantiser::quantiseRow(int64_t head, const BlockScale *scales,
                                float *row) const {
  const int64_t channels = part.channels();
  if (part.codec.isRaw()) {
    for (int64_t c = 0; c < channels; ++c)
      row[c] = roundTo(part.codec.raw, row[c]);
    return;
  }
  const Channels outliers = outliersOf(head, row);
  for (int64_t c = 0; c < channels; ++c) {
    const BlockScale &scale = scales[c / width];
    if (outliers[c])
      row[c] = roundTo(DType::F16, row[c]);
    else
      row[c] = read(head, scale,
                    scale.hasCodes ? codeOf(head, scaled(scale, row[c])) : 0);
  }
}

void PartQuantiser::roundTrip(int64_t head, Rows rows) const {
  for (int64_t t = 0; t < tokens; ++t)
    transform(head, rows[t]);
  std::array<BlockScale, kMaxChannels> scales;
  for (int64_t block = 0; block < blocks; ++block)
    scales[block] = scaleOf(head, block, rows);
  for (int64_t t = 0; t < tokens; ++t) {
    quantiseRow(head, scales.data(), rows[t]);
    restore(head, rows[t]);
  }
}
