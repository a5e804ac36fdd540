//===- Mma.cpp - mma.sync -------------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/Mma.h"

#include "kvc/Layout/Fragments.h"
#include "kvc/Layout/Tile.h"
#include "kvc/Sim/Numerics/Exact.h"
#include "kvc/Sim/Numerics/HostFloat.h"

#include <algorithm>
#include <array>
#include <cassert>

using namespace kvc;
using namespace kvc::sim;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {

/// An element of A or B.
struct Element {
  int bits = 0;
  const FloatFormat *format = nullptr; ///< Null: an integer.
  bool isSigned = false;
};

Element elementOf(Type type) {
  switch (type) {
  case Type::F16:
    return {16, &kF16};
  case Type::BF16:
    return {16, &kBF16};
  case Type::TF32:
    return {32, &kTF32};
  case Type::E4M3:
    return {8, &kE4M3};
  case Type::E5M2:
    return {8, &kE5M2};
  case Type::S8:
    return {8, nullptr, true};
  case Type::U8:
    return {8, nullptr, false};
  case Type::S4:
    return {4, nullptr, true};
  case Type::U4:
    return {4, nullptr, false};
  default:
    return {};
  }
}

bool isFp8(Type type) { return type == Type::E4M3 || type == Type::E5M2; }

} // namespace

bool kvc::sim::exists(const MmaForm &form) {
  Element a = elementOf(form.a), b = elementOf(form.b);
  // Registers hold 256 bits of k, or half of that.
  if (a.bits == 0 || a.bits != b.bits ||
      (form.k * a.bits != 256 && form.k * a.bits != 128))
    return false;
  if (!a.format || !b.format)
    return !a.format && !b.format && form.d == Type::S32;
  bool mayMix = isFp8(form.a) && isFp8(form.b);
  bool mayBeF16 = form.a == Type::F16 || isFp8(form.a);
  return (form.a == form.b || mayMix) && !form.satfinite &&
         (form.d == Type::F32 || (form.d == Type::F16 && mayBeF16));
}

static layout::RegisterLayout layoutOf(layout::MmaOperand operand,
                                       const MmaForm &form) {
  int bits = elementOf(form.a).bits;
  layout::RegisterLayout whole = layout::mmaFragment(operand, unsigned(bits));
  if (form.k * bits == 256)
    return whole;
  // Half of k: the fragment without its highest digit.
  unsigned highest = 0;
  while ((2 << highest) * bits < 256)
    ++highest;
  return layout::withoutDigit(whole, layout::bitOf('k', highest));
}

layout::RegisterLayout kvc::sim::layoutOfA(const MmaForm &form) {
  return layoutOf(layout::MmaOperand::A, form);
}
layout::RegisterLayout kvc::sim::layoutOfB(const MmaForm &form) {
  return layoutOf(layout::MmaOperand::B, form);
}
layout::RegisterLayout kvc::sim::layoutOfC(const MmaForm &form) {
  layout::RegisterLayout words = layout::mmaFragment(layout::MmaOperand::C);
  return form.d == Type::F16 ? layout::narrow(words, {layout::bitOf('n', 0)})
                             : words;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

std::optional<Mma> Mma::create(const MmaForm &form, const TensorCore *core,
                               SimdLevel level) {
  if (!exists(form) || (core && isFp8(form.a) && !core->hasFp8()))
    return std::nullopt;
  Mma mma(form, level);
  const int bits = elementOf(form.a).bits, k = form.k;
  mma.maps = std::make_shared<const Maps>(
      Maps{FragmentMap(layoutOfA(form), bits, {'m', 1}, {'k', kMmaRows}),
           FragmentMap(layoutOfB(form), bits, {'n', k}, {'k', 1}),
           FragmentMap(layoutOfC(form), form.d == Type::F16 ? 16 : 32, {'m', 1},
                       {'n', kMmaRows})});
  if (!core || !elementOf(form.a).format)
    return mma;
  if (isFp8(form.a) && core->fp8ThroughF16) {
    mma.rule = core->f16;
    mma.lateAdd = FloatRow::create(
        {.op = FloatOp::Add,
         .type = form.d == Type::F16 ? Type::F16x2 : Type::F32},
        level);
  } else {
    mma.rule = isFp8(form.a)          ? core->fp8
               : form.a == Type::TF32 ? core->tf32
                                      : core->f16;
  }
  return mma;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

bool fusedSumsAt(SimdLevel level, const SumRule &rule,
                 const FloatMatrices &matrices) {
  switch (level) {
#if defined(__x86_64__)
  case SimdLevel::Avx512:
    return avx512::fusedSums(rule, matrices);
  case SimdLevel::Avx2:
    return avx2::fusedSums(rule, matrices);
#endif
  default:
    return baseline::fusedSums(rule, matrices);
  }
}

/// By the kernel of a level, or result by result if there are infinities or
/// NaN.
void fusedMatrices(SimdLevel level, const SumRule &rule,
                   const FloatMatrices &matrices) {
  if (fusedSumsAt(level, rule, matrices))
    return;
  for (int n = 0; n < kMmaColumns; ++n)
    for (int m = 0; m < kMmaRows; ++m)
      matrices.d[n * kMmaRows + m] = fusedSum(
          rule, matrices.formats, matrices.products, matrices.a + m, kMmaRows,
          matrices.b + n * matrices.products, 1, matrices.c[n * kMmaRows + m]);
}

/// The f16 of every code of fp8.
const std::array<uint16_t, 256> &f16Of(Type type) {
  auto make = [](const FloatFormat &format) {
    std::array<uint16_t, 256> table{};
    for (uint32_t code = 0; code < 256; ++code)
      table[code] = uint16_t(exact::encode(kF16, exact::decode(format, code)));
    return table;
  };
  static const std::array<uint16_t, 256> e4m3 = make(kE4M3), e5m2 = make(kE5M2);
  return type == Type::E4M3 ? e4m3 : e5m2;
}

} // namespace

void Mma::runFloats(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                    uint32_t *d) const {
  FloatMatrices matrices{{*elementOf(form.a).format, *elementOf(form.b).format,
                          form.d == Type::F16},
                         form.k,
                         a,
                         b,
                         c,
                         d};
  if (rule.terms != 0)
    return fusedMatrices(level, rule, matrices);
  switch (level) {
#if defined(__x86_64__)
  case SimdLevel::Avx512:
    return avx512::chainedSums(matrices);
  case SimdLevel::Avx2:
    return avx2::chainedSums(matrices);
#endif
  default:
    return baseline::chainedSums(matrices);
  }
}

void Mma::runThroughF16(uint32_t *a, uint32_t *b, uint32_t *d) const {
  const std::array<uint16_t, 256> &tableA = f16Of(form.a),
                                  &tableB = f16Of(form.b);
  // Elements 0 and 1 of each four, then 2 and 3.
  const int half = form.k / 2;
  alignas(64) uint32_t partA[kMostFloatProducts * kMmaRows];
  alignas(64) uint32_t partB[kMmaColumns * kMostFloatProducts];
  alignas(64) uint32_t sum[kMmaColumns * kMmaRows] = {};
  for (int part = 0; part < 2; ++part) {
    for (int i = 0; i < half; ++i) {
      int k = i / 2 * 4 + part * 2 + i % 2;
      for (int m = 0; m < kMmaRows; ++m)
        partA[i * kMmaRows + m] = tableA[a[k * kMmaRows + m]];
      for (int n = 0; n < kMmaColumns; ++n)
        partB[n * half + i] = tableB[b[n * form.k + k]];
    }
    fusedMatrices(
        level, rule,
        {{kF16, kF16, form.d == Type::F16}, half, partA, partB, sum, d});
    std::copy(d, d + kMmaColumns * kMmaRows, sum);
  }
}

void Mma::runIntegers(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                      uint32_t *d) const {
  Element elementA = elementOf(form.a), elementB = elementOf(form.b);
  IntegerMatrices matrices{elementA.bits,
                           elementB.bits,
                           elementA.isSigned,
                           elementB.isSigned,
                           form.satfinite,
                           form.k,
                           a,
                           b,
                           c,
                           d};
  switch (level) {
#if defined(__x86_64__)
  case SimdLevel::Avx512:
    return avx512::integerSums(matrices);
  case SimdLevel::Avx2:
    return avx2::integerSums(matrices);
#endif
  default:
    return baseline::integerSums(matrices);
  }
}

void Mma::operator()(uint32_t *const *d, const uint32_t *const *a,
                     const uint32_t *const *b, const uint32_t *const *c) const {
  assert(isHostFloatReady() && "mma runs inside a HostFloatScope");
  alignas(64) uint32_t arrayA[kMostProducts * kMmaRows];
  alignas(64) uint32_t arrayB[kMmaColumns * kMostProducts];
  alignas(64) uint32_t arrayC[kMmaColumns * kMmaRows];
  alignas(64) uint32_t arrayD[kMmaColumns * kMmaRows];
  maps->a.gather(a, arrayA);
  maps->b.gather(b, arrayB);
  if (lateAdd) {
    runThroughF16(arrayA, arrayB, arrayD);
    alignas(64) uint32_t sums[4][kLanes];
    uint32_t *const rows[] = {sums[0], sums[1], sums[2], sums[3]};
    maps->c.scatter(arrayD, rows);
    for (int reg = 0; reg < maps->c.registers(); ++reg)
      (*lateAdd)(rows[reg], c[reg], rows[reg], nullptr);
    for (int reg = 0; reg < maps->c.registers(); ++reg)
      std::copy(rows[reg], rows[reg] + kLanes, d[reg]);
    return;
  }
  maps->c.gather(c, arrayC);
  if (form.a == Type::TF32) {
    for (int i = 0; i < form.k * kMmaRows; ++i)
      arrayA[i] >>= kTF32Padding;
    for (int i = 0; i < form.k * kMmaColumns; ++i)
      arrayB[i] >>= kTF32Padding;
  }
  if (elementOf(form.a).format)
    runFloats(arrayA, arrayB, arrayC, arrayD);
  else
    runIntegers(arrayA, arrayB, arrayC, arrayD);
  maps->c.scatter(arrayD, d);
}
