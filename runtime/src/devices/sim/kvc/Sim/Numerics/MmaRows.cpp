//===- MmaRows.cpp - Products of matrices, per level ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A lane is a row of the result. Fused sums are integers of 32 bits throughout:
// no rounding mode of the machine changes them.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/MmaRows.h"
#include "kvc/Sim/Numerics/Lanes.h"

namespace kvc::sim::KVC_SIM_LEVEL {

namespace {

typedef uint32_t Words __attribute__((vector_size(kMmaRows * 4)));
typedef int32_t Ints __attribute__((vector_size(kMmaRows * 4)));
typedef float Floats __attribute__((vector_size(kMmaRows * 4)));

inline Words load(const uint32_t *from) {
  Words words;
  __builtin_memcpy(&words, from, sizeof(words));
  return words;
}
inline void store(uint32_t *to, Words words) {
  __builtin_memcpy(to, &words, sizeof(words));
}

/// An exponent that is never the largest, and two of which can be added.
constexpr int32_t kNoExponent = -(1 << 20);

/// Codes taken apart: significand * 2^(exponent - fractionBits).
struct Parts {
  Words significand;
  Ints exponent;
  Words sign; ///< All ones or zeros.
};

/// True if a code is infinite or NaN.
inline bool takeApart(const FloatFormat &format, Words codes, Parts &parts) {
  const auto bits = uint32_t(format.bits());
  const auto fractionBits = uint32_t(format.fractionBits);
  const auto mask = uint32_t(format.signBit() - 1);
  const auto hidden = uint32_t(1) << fractionBits;
  const int32_t bias = format.bias();
  Words magnitude = codes & mask;
  Words fraction = magnitude & (hidden - 1);
  Ints exponent = Ints(magnitude >> fractionBits);
  parts.sign = Words(Ints(codes << (32 - bits)) >> 31);
  parts.significand = exponent != 0 ? fraction | hidden : fraction;
  exponent = (exponent != 0 ? exponent : exponent + 1) - bias;
  parts.exponent = magnitude != 0 ? exponent : exponent * 0 + kNoExponent;
  const auto firstSpecial =
      uint32_t(format.extremes == Extremes::NanOnly ? format.largest() + 1
                                                    : format.infinity());
  Ints special = magnitude >= firstSpecial;
  int32_t any = 0;
  for (int lane = 0; lane < kMmaRows; ++lane)
    any |= special[lane];
  return any != 0;
}

/// The number of the highest bit, of 0 that of the lowest.
inline Ints highestBit(Words magnitude) {
  // Without the bit below the highest one, half the number lies too far from
  // the next power of two for any rounding to reach it.
  Words sparse = magnitude & ~(magnitude >> 1);
  Floats half = __builtin_convertvector(Ints(sparse >> 1), Floats) + 0.5f;
  return (Ints(half) >> 23) - 126;
}

/// magnitude * 2^(top - fractionBits), toward zero.
inline Words roundToF32(const SumRule &rule, Words magnitude, Words sign,
                        Ints top) {
  Ints highest = highestBit(magnitude);
  Words significand = (magnitude << Words(31 - highest)) >> 8;
  Ints exponent = top + (highest - rule.fractionBits);
  Ints lowest = exponent > -126 ? exponent : exponent * 0 - 126;
  Ints shift = lowest - exponent;
  shift = shift < 31 ? shift : shift * 0 + 31;
  significand >>= Words(shift);
  significand &= ~uint32_t(0) << (kF32.fractionBits - rule.resultBits);
  Words code = (Words(lowest + 126) << 23) + significand;
  code = exponent > 127 ? code * 0 + 0x7F800000 : code;
  code |= sign & 0x80000000;
  return magnitude != 0 ? code : magnitude;
}

/// The same to the nearest f16, ties to even.
inline Words roundToF16(const SumRule &rule, Words magnitude, Words sign,
                        Ints top) {
  Ints highest = highestBit(magnitude);
  Words significand = magnitude << Words(31 - highest);
  // One bit less, its rest kept, so that a carry has room.
  significand = significand >> 1 | (significand & 1);
  Ints exponent = top + (highest - rule.fractionBits);
  Ints lowest = exponent > -14 ? exponent : exponent * 0 - 14;
  Ints shift = lowest - exponent + 20;
  Ints isTiny = shift > 31;
  shift = isTiny ? shift * 0 + 31 : shift;
  Words kept = significand >> Words(shift);
  Words one = kept * 0 + 1;
  Words rest = significand & ((one << Words(shift)) - 1);
  Words half = one << Words(shift - 1);
  Words up =
      Words(rest > half) | (Words(rest == half) & Words((kept & 1) != 0));
  Words code = (Words(lowest + 14) << 10) + kept + (up & 1);
  code = isTiny ? code * 0 : code;
  code = exponent > 15 || code >= 0x7C00 ? code * 0 + 0x7C00 : code;
  code |= sign & 0x8000;
  return magnitude != 0 ? code : magnitude;
}

} // namespace

bool fusedSums(const SumRule &rule, const FloatMatrices &matrices) {
  const SumFormats &formats = matrices.formats;
  const FloatFormat &addendFormat = formats.isF16 ? kF16 : kF32;
  const int products = matrices.products;
  // Products begin at the lowest bit but for this shift, and addends likewise.
  const int productShift =
      rule.fractionBits - formats.a.fractionBits - formats.b.fractionBits;
  const int addendShift = rule.fractionBits - addendFormat.fractionBits;

  Parts a[kMostFloatProducts];
  for (int k = 0; k < products; ++k) {
    if (takeApart(formats.a, load(matrices.a + k * kMmaRows), a[k]))
      return false;
    a[k].significand <<= uint32_t(productShift);
  }
  // Columns of b, sixteen products at a time.
  alignas(64) uint32_t significandB[kMmaColumns][kMostFloatProducts];
  alignas(64) uint32_t exponentB[kMmaColumns][kMostFloatProducts];
  alignas(64) uint32_t signB[kMmaColumns][kMostFloatProducts];
  for (int n = 0; n < kMmaColumns; ++n)
    for (int k = 0; k < products; k += kMmaRows) {
      alignas(64) uint32_t codes[kMmaRows] = {};
      const int count = products - k < kMmaRows ? products - k : kMmaRows;
      for (int i = 0; i < count; ++i)
        codes[i] = matrices.b[n * products + k + i];
      Parts parts;
      if (takeApart(formats.b, load(codes), parts))
        return false;
      store(&significandB[n][k], parts.significand);
      store(&exponentB[n][k], Words(parts.exponent));
      store(&signB[n][k], parts.sign);
    }

  const int32_t floor = formats.isF16 ? rule.lowestForF16 : rule.lowestForF32;
  for (int n = 0; n < kMmaColumns; ++n) {
    Words result = load(matrices.c + n * kMmaRows);
    for (int first = 0; first < products; first += rule.terms) {
      const int last =
          first + rule.terms < products ? first + rule.terms : products;
      Parts addend;
      if (takeApart(addendFormat, result, addend))
        return false;
      Ints top = addend.exponent > floor ? addend.exponent
                                         : addend.exponent * 0 + floor;
      for (int k = first; k < last; ++k) {
        Ints exponent = a[k].exponent + int32_t(exponentB[n][k]);
        top = exponent > top ? exponent : top;
      }
      Words magnitude = addendShift >= 0
                            ? addend.significand << uint32_t(addendShift)
                            : addend.significand >> uint32_t(-addendShift);
      Ints distance = top - addend.exponent;
      distance = distance < 31 ? distance : distance * 0 + 31;
      Words total = magnitude >> Words(distance);
      Words negative = total & addend.sign;
      for (int k = first; k < last; ++k) {
        distance = top - (a[k].exponent + int32_t(exponentB[n][k]));
        distance = distance < 31 ? distance : distance * 0 + 31;
        Words product = a[k].significand * significandB[n][k];
        product >>= Words(distance);
        total += product;
        negative += product & (a[k].sign ^ signB[n][k]);
      }
      // Sums of one sign have at most 32 bits.
      Words positive = total - negative;
      Words sign = Words(positive < negative);
      magnitude =
          positive < negative ? negative - positive : positive - negative;
      result = formats.isF16 ? roundToF16(rule, magnitude, sign, top)
                             : roundToF32(rule, magnitude, sign, top);
    }
    // What overflowed in the last sum is a result like others.
    store(matrices.d + n * kMmaRows, result);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Chains of fma
//===----------------------------------------------------------------------===//

namespace {

/// The f32 of a code of any format with at most 16 significant bits.
inline float widen(const FloatFormat &format, uint32_t code) {
  const auto sign = uint32_t(code << (32 - format.bits())) & 0x80000000;
  const auto magnitude = uint32_t(code & (format.signBit() - 1));
  const int dropped = kF32.fractionBits - format.fractionBits;
  const uint32_t rebias = uint32_t(kF32.bias() - format.bias())
                          << kF32.fractionBits;
  const auto firstSpecial =
      uint32_t(format.extremes == Extremes::NanOnly ? format.largest() + 1
                                                    : format.infinity());
  uint32_t normal = (magnitude << dropped) + rebias;
  normal = magnitude > firstSpecial || (magnitude == firstSpecial &&
                                        format.extremes == Extremes::NanOnly)
               ? uint32_t(kF32.nan)
               : normal;
  normal = magnitude == firstSpecial && format.extremes == Extremes::Ieee
               ? uint32_t(kF32.infinity())
               : normal;
  // Subnormal codes count units of the smallest number, unless they are those
  // of f32 too.
  const float unit =
      toFloat(rebias == 0 ? 0
                          : uint32_t(kF32.bias() + format.smallestExponent() -
                                     format.fractionBits)
                                << kF32.fractionBits);
  uint32_t small = rebias == 0 ? magnitude << dropped
                               : toCode(float(int32_t(magnitude)) * unit);
  bool isSmall = magnitude <= format.fractionMask();
  return toFloat((isSmall ? small : normal) | sign);
}

} // namespace

void chainedSums(const FloatMatrices &matrices) {
  const int products = matrices.products;
  const bool isF16 = matrices.formats.isF16;
  alignas(64) float a[kMostFloatProducts][kMmaRows];
  for (int k = 0; k < products; ++k)
    for (int m = 0; m < kMmaRows; ++m)
      a[k][m] = widen(matrices.formats.a, matrices.a[k * kMmaRows + m]);
  for (int n = 0; n < kMmaColumns; ++n) {
    alignas(64) float sum[kMmaRows];
    for (int m = 0; m < kMmaRows; ++m) {
      uint32_t code = matrices.c[n * kMmaRows + m];
      sum[m] = isF16 ? widenF16(code) : toFloat(code);
    }
    for (int k = 0; k < products; ++k) {
      const float b = widen(matrices.formats.b, matrices.b[n * products + k]);
      for (int m = 0; m < kMmaRows; ++m)
        sum[m] = __builtin_fmaf(a[k][m], b, sum[m]);
    }
    for (int m = 0; m < kMmaRows; ++m)
      matrices.d[n * kMmaRows + m] =
          isF16 ? narrowToF16(sum[m]) : finishF32<false, false>(sum[m]);
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

void integerSums(const IntegerMatrices &matrices) {
  const int products = matrices.products;
  auto extend = [](Words codes, int bits, bool isSigned) {
    const auto unused = uint32_t(32 - bits);
    codes <<= unused;
    return isSigned ? Words(Ints(codes) >> unused) : codes >> unused;
  };
  Words a[kMostProducts];
  for (int k = 0; k < products; ++k)
    a[k] = extend(load(matrices.a + k * kMmaRows), matrices.bitsA,
                  matrices.signedA);
  for (int n = 0; n < kMmaColumns; ++n) {
    // 64 products of 16 bits.
    Words sum = {};
    for (int k = 0; k < products; ++k) {
      const auto unused = uint32_t(32 - matrices.bitsB);
      uint32_t b = matrices.b[n * products + k] << unused;
      b = matrices.signedB ? uint32_t(int32_t(b) >> unused) : b >> unused;
      sum += a[k] * b;
    }
    Words addend = load(matrices.c + n * kMmaRows);
    Words total = addend + sum;
    if (matrices.satfinite) {
      // Terms of one sign whose sum has the other.
      Ints overflow = Ints((total ^ addend) & (total ^ sum)) >> 31;
      Words limit = Words(Ints(addend) >> 31) ^ 0x7FFFFFFF;
      total = overflow != 0 ? limit : total;
    }
    store(matrices.d + n * kMmaRows, total);
  }
}

} // namespace kvc::sim::KVC_SIM_LEVEL
