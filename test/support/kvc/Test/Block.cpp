//===- Block.cpp - Quantising one block -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every written operation on `float` is one rounding: this file is compiled
// without contraction, and f32 expressions are evaluated in f32.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Block.h"

#include "kvc/Test/Floats.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

using namespace kvc;
using namespace kvc::test;
using spec::CodecKind;
using spec::DType;
using spec::Estimate;
using spec::PartScheme;
using spec::Scale;
using spec::ScaleRound;
using spec::Zero;

static_assert(FLT_EVAL_METHOD == 0, "f32 operations must round to f32");

//===----------------------------------------------------------------------===//
// Codecs
//===----------------------------------------------------------------------===//

bool kvc::test::hasSignedCodes(const PartScheme &scheme) {
  return scheme.codec.isInt() && scheme.zero == Zero::None;
}

/// 2^b as f32.
static float twoTo(int exponent) { return std::ldexp(1.0f, exponent); }

static const FloatFormat *codeFormat(CodecKind kind) {
  switch (kind) {
  case CodecKind::FP8E4M3:
    return &kE4M3;
  case CodecKind::FP8E5M2:
    return &kE5M2;
  case CodecKind::FP4E2M1:
    return &kE2M1;
  default:
    return nullptr;
  }
}

static const FloatFormat &codeFormat(DType type) {
  switch (type) {
  case DType::F16:
    return kF16;
  case DType::BF16:
    return kBF16;
  case DType::E4M3:
    return kE4M3;
  default:
    return kF32;
  }
}

/// codec_max: what amax is divided by.
static float codecMax(const PartScheme &scheme, std::span<const float> table) {
  if (scheme.codec.isInt())
    return twoTo(int(scheme.codec.bits) - 1) - 1;
  if (const FloatFormat *format = codeFormat(scheme.codec.kind))
    return float(format->largest);
  float largest = 0;
  for (float entry : table)
    largest = std::max(largest, std::fabs(entry));
  return largest;
}

//===----------------------------------------------------------------------===//
// Estimates: amax, e, min and max, rms, over the block without outliers
//===----------------------------------------------------------------------===//

namespace {
struct Values {
  std::span<const float> all;
  std::span<const uint8_t> isOutlier;

  template <typename Fn>
  void forEach(Fn fn) const {
    for (size_t i = 0; i < all.size(); ++i)
      if (!isOutlier[i])
        fn(all[i]);
  }
};
} // namespace

static float amaxOf(const Values &values) {
  float amax = 0;
  values.forEach([&](float x) { amax = std::max(amax, std::fabs(x)); });
  return amax;
}

/// The value of largest magnitude, the first of several; +0 if all are zero.
static float signedMaxOf(const Values &values) {
  float e = 0;
  values.forEach([&](float x) {
    if (std::fabs(x) > std::fabs(e))
      e = x;
  });
  return e;
}

/// The largest value, +0 above -0; +0 if there is none.
static float maxOf(const Values &values) {
  float max = 0;
  bool first = true;
  values.forEach([&](float x) {
    if (first || x > max || (x == max && std::signbit(max)))
      max = x;
    first = false;
  });
  return max;
}

/// The smallest value, -0 below +0; +0 if there is none.
static float minOf(const Values &values) {
  float min = 0;
  bool first = true;
  values.forEach([&](float x) {
    if (first || x < min || (x == min && std::signbit(x)))
      min = x;
    first = false;
  });
  return min;
}

/// sqrt(sum / count), squares added pairwise at strides 1, 2, 4, ..
static float rmsOf(const Values &values) {
  size_t size = 1, count = 0;
  while (size < values.all.size())
    size *= 2;
  std::vector<float> sums(size, 0.0f);
  for (size_t i = 0; i < values.all.size(); ++i)
    if (!values.isOutlier[i]) {
      sums[i] = values.all[i] * values.all[i];
      ++count;
    }
  for (size_t stride = 1; stride < size; stride *= 2)
    for (size_t i = 0; i < size; i += 2 * stride)
      sums[i] = sums[i] + sums[i + stride];
  if (count == 0)
    return 0;
  return std::sqrt(sums[0] / float(count));
}

//===----------------------------------------------------------------------===//
// Scales: from a quotient to what is stored
//===----------------------------------------------------------------------===//

/// "never -0".
static float withoutNegativeZero(float x) { return x == 0 ? 0.0f : x; }

/// scale.round: nearest, or up to a power of two.
static float roundScale(const Scale &scale, float x) {
  const FloatFormat &format = codeFormat(scale.dtype);
  return scale.round == ScaleRound::Up ? powerOfTwoAtLeast(format, x)
                                       : roundTo(format, x);
}

/// A quotient in any type but e8m0: scale.floor, then for e4m3 the second
/// level, then rounding.
static float storeQuotient(const Scale &scale, float quotient) {
  if (scale.floor && quotient < float(*scale.floor))
    quotient = float(*scale.floor);
  if (scale.dtype == DType::E4M3)
    quotient = quotient / float(scale.global);
  return roundScale(scale, quotient);
}

static float e8m0(int exponent) { return decodeE8M0(encodeE8M0(exponent)); }

/// An e8m0 scale from a clipped amax, or from a clipped rms that stands for
/// amax / codec_max.
static float storeE8M0(const PartScheme &scheme, float estimate,
                       float largestCode) {
  if (estimate == 0)
    return decodeE8M0(0);
  bool isRms = scheme.estimate == Estimate::Rms;
  if (scheme.scale->round == ScaleRound::Up) {
    float quotient = isRms ? estimate : estimate / largestCode;
    return quotient == 0 ? decodeE8M0(0) : e8m0(ceilLog2(quotient));
  }
  return e8m0(floorLog2(estimate) - (isRms ? 0 : floorLog2(largestCode)));
}

float kvc::test::storeStaticScale(const Scale &scale, float input) {
  if (scale.dtype == DType::E8M0)
    return e8m0(floorLog2(input));
  if (scale.dtype == DType::E4M3)
    return roundScale(scale, input / float(scale.global));
  return roundScale(scale, input);
}

float kvc::test::effectiveScale(const Scale &scale, float stored) {
  return scale.dtype == DType::E4M3 ? stored * float(scale.global) : stored;
}

//===----------------------------------------------------------------------===//
// Codes: from x/s (or what stands for it) to u
//===----------------------------------------------------------------------===//

/// The `round` of ints. "up" of symmetric ints adds one constant so that the
/// floor is taken of a positive number.
static float roundCode(const PartScheme &scheme, float x) {
  switch (scheme.round) {
  case spec::Round::Even:
    return float(roundEven(x));
  case spec::Round::Away:
    return float(std::copysign(std::floor(std::fabs(double(x)) + 0.5), x));
  case spec::Round::Up:
    if (!hasSignedCodes(scheme))
      return std::floor(x + 0.5f);
    float half = twoTo(int(scheme.codec.bits) - 1);
    return std::floor(x + (half + 0.5f)) - half;
  }
  return 0;
}

/// The range of an int's codes.
static std::pair<float, float> codeRange(const PartScheme &scheme) {
  float half = twoTo(int(scheme.codec.bits) - 1);
  if (!hasSignedCodes(scheme))
    return {0, 2 * half - 1};
  if (scheme.estimate == Estimate::Signed)
    return {-half, half - 1};
  return {-(half - 1), half - 1};
}

/// |x - a| < |x - b| for unequal a and b, exactly: 2x lies on a's side of
/// a + b. The sum is a pair of f64 (its rounding error is one too), and 2x
/// cannot lie strictly between the rounded and the exact sum.
static bool isNearer(float x, float a, float b) {
  if (a == b)
    return false;
  double low = std::min(a, b), high = std::max(a, b);
  double sum = low + high;
  double rounded = sum - low;
  double error = (low - (sum - rounded)) + (high - rounded);
  double twice = 2.0 * x;
  bool below = twice < sum || (twice == sum && 0 < error);
  bool above = twice > sum || (twice == sum && 0 > error);
  return a < b ? below : above;
}

uint8_t kvc::test::nearestEntry(std::span<const float> table, float x) {
  constexpr float largest = std::numeric_limits<float>::max();
  x = std::clamp(x, -largest, largest);
  size_t best = 0;
  for (size_t i = 1; i < table.size(); ++i)
    if (isNearer(x, table[i], table[best]))
      best = i;
  return uint8_t(best);
}

/// The code of a scaled value.
static uint8_t codeOf(const PartScheme &scheme, std::span<const float> table,
                      float scaled) {
  if (const FloatFormat *format = codeFormat(scheme.codec.kind))
    return uint8_t(encode(*format, scaled));
  if (scheme.codec.kind == CodecKind::Lut)
    return nearestEntry(table, scaled);
  auto [lowest, highest] = codeRange(scheme);
  float code = roundCode(scheme, scaled);
  // A NaN, which only overflow can bring here, becomes the lowest code.
  code = code > lowest ? std::min(code, highest) : lowest;
  return uint8_t(int(code));
}

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

namespace {

/// The numbers of one block, of which each scheme uses some.
struct BlockState {
  float scale = 0, zero = 0; ///< As stored.
  float exact = 0;           ///< s', the f32 quotient.
  float base = 0;            ///< min*r, what "exact" subtracts for "min".
  bool isZero = false;       ///< Codes are 0 whatever the scale.
};

/// int "min".
BlockState scaleMin(const PartScheme &scheme, const Values &values) {
  BlockState state;
  float r = float(scheme.clip);
  float steps = twoTo(int(scheme.codec.bits)) - 1;
  float min = minOf(values) * r, max = maxOf(values) * r;
  state.base = min;
  state.zero =
      withoutNegativeZero(roundTo(codeFormat(scheme.scale->dtype), min));
  bool fromExact = scheme.codesFrom == spec::CodesFrom::Exact;
  state.exact = (max - (fromExact ? min : state.zero)) / steps;
  state.scale = storeQuotient(*scheme.scale, state.exact);
  return state;
}

/// int "code".
BlockState scaleCode(const PartScheme &scheme, const Values &values) {
  BlockState state;
  const FloatFormat &format = codeFormat(scheme.scale->dtype);
  float r = float(scheme.clip);
  float steps = twoTo(int(scheme.codec.bits)) - 1;
  float min = minOf(values) * r, max = maxOf(values) * r;
  state.scale = storeQuotient(*scheme.scale, (max - min) / steps);
  if (state.scale != 0) {
    state.zero = withoutNegativeZero(roundTo(format, -min / state.scale));
    return state;
  }
  state.isZero = true;
  if (min != 0) {
    state.scale = roundTo(format, std::fabs(min));
    state.zero = min > 0 ? -1.0f : 1.0f;
  }
  return state;
}

/// lut "mid".
BlockState scaleMid(const PartScheme &scheme, std::span<const float> table,
                    const Values &values) {
  BlockState state;
  float r = float(scheme.clip);
  float min = minOf(values) * r, max = maxOf(values) * r;
  state.zero = withoutNegativeZero(
      roundTo(codeFormat(scheme.scale->dtype), (max + min) / 2.0f));
  float amax = 0;
  values.forEach(
      [&](float x) { amax = std::max(amax, std::fabs(x - state.zero)); });
  state.exact = amax * r / codecMax(scheme, table);
  state.scale = storeQuotient(*scheme.scale, state.exact);
  return state;
}

/// Symmetric ints, fp8, fp4 and lut without a zero.
BlockState scaleSymmetric(const PartScheme &scheme,
                          std::span<const float> table, const Values &values) {
  BlockState state;
  float r = float(scheme.clip);
  float largestCode = codecMax(scheme, table);
  if (scheme.scale->dtype == DType::E8M0) {
    float estimate = scheme.estimate == Estimate::Rms ? rmsOf(values) * r
                                                      : amaxOf(values) * r;
    state.scale = storeE8M0(scheme, estimate, largestCode);
    state.isZero = estimate == 0;
    return state;
  }
  switch (scheme.estimate) {
  case Estimate::Amax:
    state.exact = amaxOf(values) * r / largestCode;
    break;
  case Estimate::Signed:
    state.exact = signedMaxOf(values) * r / -twoTo(int(scheme.codec.bits) - 1);
    break;
  case Estimate::Rms:
    state.exact = rmsOf(values) * r;
    break;
  }
  state.scale = storeQuotient(*scheme.scale, state.exact);
  return state;
}

BlockState scaleOf(const PartScheme &scheme, std::span<const float> table,
                   const Values &values, std::optional<float> staticScale) {
  if (staticScale) {
    BlockState state;
    state.scale = storeStaticScale(*scheme.scale, *staticScale);
    return state;
  }
  switch (scheme.zero) {
  case Zero::Min:
    return scaleMin(scheme, values);
  case Zero::Code:
    return scaleCode(scheme, values);
  case Zero::Mid:
    return scaleMid(scheme, table, values);
  case Zero::None:
    return scaleSymmetric(scheme, table, values);
  }
  return {};
}

/// x/s of the scheme, codes_from "stored".
float scaledByStored(const PartScheme &scheme, const BlockState &state,
                     float x) {
  float scale = effectiveScale(*scheme.scale, state.scale);
  switch (scheme.zero) {
  case Zero::Min:
  case Zero::Mid:
    return (x - state.zero) / scale;
  case Zero::Code:
    return x / scale + state.zero;
  case Zero::None:
    return x / scale;
  }
  return 0;
}

} // namespace

BlockCodes kvc::test::quantiseBlock(const PartScheme &scheme,
                                    std::span<const float> table,
                                    std::span<const float> values,
                                    std::span<const uint8_t> isOutlier,
                                    std::optional<float> staticScale) {
  Values inside{values, isOutlier};
  BlockState state = scaleOf(scheme, table, inside, staticScale);

  bool fromExact = scheme.codesFrom == spec::CodesFrom::Exact;
  float inverse = 1.0f / state.exact;
  bool isZero = state.isZero ||
                (fromExact ? state.exact == 0 || !std::isfinite(inverse)
                           : effectiveScale(*scheme.scale, state.scale) == 0);

  BlockCodes result;
  result.scale = state.scale;
  result.zero = state.zero;
  for (size_t i = 0; i < values.size(); ++i) {
    if (isZero || isOutlier[i]) {
      result.codes.push_back(0);
      continue;
    }
    float x = values[i];
    float scaled = !fromExact                 ? scaledByStored(scheme, state, x)
                   : scheme.zero == Zero::Min ? (x - state.base) * inverse
                                              : x * inverse;
    result.codes.push_back(codeOf(scheme, table, scaled));
  }
  return result;
}

float kvc::test::dequantise(const PartScheme &scheme,
                            std::span<const float> table, float scale,
                            float zero, uint8_t code) {
  float s = effectiveScale(*scheme.scale, scale);
  float u = code;
  if (const FloatFormat *format = codeFormat(scheme.codec.kind))
    u = decode(*format, code);
  else if (scheme.codec.kind == CodecKind::Lut)
    u = table[code];
  else if (hasSignedCodes(scheme))
    u = float(int8_t(code));
  switch (scheme.zero) {
  case Zero::None:
    // A scale that is 0 gives 0, not -0; "exact" says s * u of it too, and a
    // scale of e8m0 is none.
    return s == 0 && scheme.codesFrom == spec::CodesFrom::Stored ? 0 : s * u;
  case Zero::Min:
  case Zero::Mid:
    return s * u + zero;
  case Zero::Code:
    return s * (u - zero);
  }
  return 0;
}
