//===- FloatRows.cpp - Rows of float arithmetic, per level ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The forms that round to nearest even, which is what kernels are made of.
// Others are left to integers.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/Lanes.h"
#include "kvc/Sim/Numerics/Levels.h"

namespace kvc::sim::KVC_SIM_LEVEL {

namespace {

//===----------------------------------------------------------------------===//
// From a lane to a row
//===----------------------------------------------------------------------===//

/// Op has a type Word, the number of operands, and a function of one lane.
template <typename Op>
void row(const FloatForm &, void *d, const void *a, const void *b,
         const void *c) {
  using Word = typename Op::Word;
  auto *result = static_cast<Word *>(d);
  const auto *x = static_cast<const Word *>(a);
  const auto *y = static_cast<const Word *>(b);
  const auto *z = static_cast<const Word *>(c);
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    if constexpr (Op::operands == 1)
      result[lane] = Op::lane(x[lane]);
    else if constexpr (Op::operands == 2)
      result[lane] = Op::lane(x[lane], y[lane]);
    else
      result[lane] = Op::lane(x[lane], y[lane], z[lane]);
  }
}

/// An operation on one 16-bit value made one on the lower half of a word, or on
/// both.
template <typename Half, bool packed>
struct Halves {
  using Word = uint32_t;
  static constexpr int operands = Half::operands;
  template <typename... Words>
  static uint32_t lane(Words... words) {
    uint32_t low = Half::lane((words & 0xFFFF)...);
    if constexpr (packed)
      return low | Half::lane((words >> 16)...) << 16;
    return low;
  }
};

template <template <bool> class Op>
FloatRowFn pick(bool first) {
  return first ? row<Op<true>> : row<Op<false>>;
}
template <template <bool, bool> class Op>
FloatRowFn pick(bool first, bool second) {
  if (first)
    return second ? row<Op<true, true>> : row<Op<true, false>>;
  return second ? row<Op<false, true>> : row<Op<false, false>>;
}
template <typename Half>
FloatRowFn pickHalves(bool packed) {
  return packed ? row<Halves<Half, true>> : row<Halves<Half, false>>;
}

//===----------------------------------------------------------------------===//
// Minima and maxima, on codes that end at bit 31
//===----------------------------------------------------------------------===//

template <bool isMin>
uint32_t minOrMax(const FloatForm &form, uint32_t a, uint32_t b,
                  uint32_t infinity, uint32_t nan) {
  uint32_t magnitudes = form.xorsignAbs ? 0x7FFFFFFF : ~uint32_t(0);
  uint32_t sign = form.xorsignAbs ? (a ^ b) & 0x80000000 : 0;
  a &= magnitudes;
  b &= magnitudes;
  bool nanA = (a & 0x7FFFFFFF) > infinity, nanB = (b & 0x7FFFFFFF) > infinity;
  // Codes ordered as their values are, -0 below +0.
  auto orderA = int32_t(a ^ (uint32_t(int32_t(a) >> 31) & 0x7FFFFFFF));
  auto orderB = int32_t(b ^ (uint32_t(int32_t(b) >> 31) & 0x7FFFFFFF));
  bool less = isMin ? orderA < orderB : orderA >= orderB;
  uint32_t chosen = nanB || (!nanA && less) ? a : b;
  bool isNan = form.nan ? nanA || nanB : nanA && nanB;
  return isNan ? nan : chosen | sign;
}

template <bool isMin>
void minOrMaxF32(const FloatForm &form, void *d, const void *a, const void *b,
                 const void *) {
  auto *result = static_cast<uint32_t *>(d);
  const auto *x = static_cast<const uint32_t *>(a);
  const auto *y = static_cast<const uint32_t *>(b);
  const bool ftz = form.ftz;
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t p = ftz ? flushF32<true>(x[lane]) : x[lane];
    uint32_t q = ftz ? flushF32<true>(y[lane]) : y[lane];
    result[lane] = minOrMax<isMin>(form, p, q, 0x7F800000, uint32_t(kF32.nan));
  }
}

template <bool isMin, bool packed>
void minOrMaxHalves(const FloatForm &form, void *d, const void *a,
                    const void *b, const void *) {
  auto *result = static_cast<uint32_t *>(d);
  const auto *x = static_cast<const uint32_t *>(a);
  const auto *y = static_cast<const uint32_t *>(b);
  const bool isF16 = form.type == Type::F16 || form.type == Type::F16x2;
  const uint32_t infinity = isF16 ? 0x7C000000 : 0x7F800000;
  const bool ftz = form.ftz;
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t low = minOrMax<isMin>(
        form, (ftz ? flushF16<true>(x[lane] & 0xFFFF) : x[lane]) << 16,
        (ftz ? flushF16<true>(y[lane] & 0xFFFF) : y[lane]) << 16, infinity,
        0x7FFF0000);
    uint32_t high = 0;
    if constexpr (packed)
      high = minOrMax<isMin>(
          form, (ftz ? flushF16<true>(x[lane] >> 16) : x[lane] >> 16) << 16,
          (ftz ? flushF16<true>(y[lane] >> 16) : y[lane] >> 16) << 16, infinity,
          0x7FFF0000);
    result[lane] = low >> 16 | high;
  }
}

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

struct WordF32 {
  using Word = uint32_t;
};

template <bool ftz, bool sat>
struct AddF32 : WordF32 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    return finishF32<ftz, sat>(toFloat(flushF32<ftz>(a)) +
                               toFloat(flushF32<ftz>(b)));
  }
};

template <bool ftz, bool sat>
struct SubF32 : WordF32 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    return finishF32<ftz, sat>(toFloat(flushF32<ftz>(a)) -
                               toFloat(flushF32<ftz>(b)));
  }
};

template <bool ftz, bool sat>
struct MulF32 : WordF32 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    return finishF32<ftz, sat>(toFloat(flushF32<ftz>(a)) *
                               toFloat(flushF32<ftz>(b)));
  }
};

template <bool ftz, bool sat>
struct FmaF32 : WordF32 {
  static constexpr int operands = 3;
  static uint32_t lane(uint32_t a, uint32_t b, uint32_t c) {
    return finishF32<ftz, sat>(__builtin_fmaf(toFloat(flushF32<ftz>(a)),
                                              toFloat(flushF32<ftz>(b)),
                                              toFloat(flushF32<ftz>(c))));
  }
};

template <bool ftz>
struct DivF32 : WordF32 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    return finishF32<ftz, false>(toFloat(flushF32<ftz>(a)) /
                                 toFloat(flushF32<ftz>(b)));
  }
};

template <bool ftz>
struct RcpF32 : WordF32 {
  static constexpr int operands = 1;
  static uint32_t lane(uint32_t a) {
    return finishF32<ftz, false>(1.0f / toFloat(flushF32<ftz>(a)));
  }
};

template <bool ftz>
struct SqrtF32 : WordF32 {
  static constexpr int operands = 1;
  static uint32_t lane(uint32_t a) {
    return finishF32<ftz, false>(__builtin_sqrtf(toFloat(flushF32<ftz>(a))));
  }
};

template <bool ftz>
struct AbsF32 : WordF32 {
  static constexpr int operands = 1;
  static uint32_t lane(uint32_t a) { return flushF32<ftz>(a) & 0x7FFFFFFF; }
};

template <bool ftz>
struct NegF32 : WordF32 {
  static constexpr int operands = 1;
  static uint32_t lane(uint32_t a) { return flushF32<ftz>(a) ^ 0x80000000; }
};

struct CopySignF32 : WordF32 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    return (b & 0x7FFFFFFF) | (a & 0x80000000);
  }
};

FloatRowFn findF32(const FloatForm &form) {
  switch (form.op) {
  case FloatOp::Add:
    return pick<AddF32>(form.ftz, form.sat);
  case FloatOp::Sub:
    return pick<SubF32>(form.ftz, form.sat);
  case FloatOp::Mul:
    return pick<MulF32>(form.ftz, form.sat);
  case FloatOp::Fma:
    return pick<FmaF32>(form.ftz, form.sat);
  case FloatOp::Div:
    return pick<DivF32>(form.ftz);
  case FloatOp::Rcp:
    return pick<RcpF32>(form.ftz);
  case FloatOp::Sqrt:
    return pick<SqrtF32>(form.ftz);
  case FloatOp::Min:
    return minOrMaxF32<true>;
  case FloatOp::Max:
    return minOrMaxF32<false>;
  case FloatOp::Abs:
    return pick<AbsF32>(form.ftz);
  case FloatOp::Neg:
    return pick<NegF32>(form.ftz);
  case FloatOp::CopySign:
    return row<CopySignF32>;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

struct WordF64 {
  using Word = uint64_t;
};

struct AddF64 : WordF64 {
  static constexpr int operands = 2;
  static uint64_t lane(uint64_t a, uint64_t b) {
    return finishF64(toFloat(a) + toFloat(b));
  }
};

struct SubF64 : WordF64 {
  static constexpr int operands = 2;
  static uint64_t lane(uint64_t a, uint64_t b) {
    return finishF64(toFloat(a) - toFloat(b));
  }
};

struct MulF64 : WordF64 {
  static constexpr int operands = 2;
  static uint64_t lane(uint64_t a, uint64_t b) {
    return finishF64(toFloat(a) * toFloat(b));
  }
};

struct FmaF64 : WordF64 {
  static constexpr int operands = 3;
  static uint64_t lane(uint64_t a, uint64_t b, uint64_t c) {
    return finishF64(__builtin_fma(toFloat(a), toFloat(b), toFloat(c)));
  }
};

struct DivF64 : WordF64 {
  static constexpr int operands = 2;
  static uint64_t lane(uint64_t a, uint64_t b) {
    return finishF64(toFloat(a) / toFloat(b));
  }
};

struct RcpF64 : WordF64 {
  static constexpr int operands = 1;
  static uint64_t lane(uint64_t a) { return finishF64(1.0 / toFloat(a)); }
};

struct SqrtF64 : WordF64 {
  static constexpr int operands = 1;
  static uint64_t lane(uint64_t a) {
    return finishF64(__builtin_sqrt(toFloat(a)));
  }
};

FloatRowFn findF64(FloatOp op) {
  switch (op) {
  case FloatOp::Add:
    return row<AddF64>;
  case FloatOp::Sub:
    return row<SubF64>;
  case FloatOp::Mul:
    return row<MulF64>;
  case FloatOp::Fma:
    return row<FmaF64>;
  case FloatOp::Div:
    return row<DivF64>;
  case FloatOp::Rcp:
    return row<RcpF64>;
  case FloatOp::Sqrt:
    return row<SqrtF64>;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// f16 and bf16
//===----------------------------------------------------------------------===//

/// Sums and products of two values with at most 11 bits, rounded to f32 and
/// then to 11 bits or less, are what one rounding gives: f32 has 2 * 11 + 2.
/// Sums of three go by way of addToOdd.
template <bool ftz, bool sat>
struct F16 {
  static float widen(uint32_t code) { return widenF16(flushF16<ftz>(code)); }
  static uint32_t finish(float result) {
    uint32_t code = flushF16<ftz>(narrowToF16(result));
    if constexpr (sat) {
      code = code >= 0x7FFF ? 0 : code; // Negative or NaN.
      return code > 0x3C00 ? 0x3C00 : code;
    }
    return code;
  }
};

template <bool ftz, bool sat>
struct AddF16 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    using T = F16<ftz, sat>;
    return T::finish(T::widen(a) + T::widen(b));
  }
};

template <bool ftz, bool sat>
struct SubF16 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    using T = F16<ftz, sat>;
    return T::finish(T::widen(a) - T::widen(b));
  }
};

template <bool ftz, bool sat>
struct MulF16 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    using T = F16<ftz, sat>;
    return T::finish(T::widen(a) * T::widen(b));
  }
};

template <bool ftz, bool sat, bool relu>
struct FmaF16 {
  static constexpr int operands = 3;
  static uint32_t lane(uint32_t a, uint32_t b, uint32_t c) {
    using T = F16<ftz, sat>;
    uint32_t code = T::finish(addToOdd(T::widen(a) * T::widen(b), T::widen(c)));
    return relu && (code & 0x8000) != 0 ? 0 : code;
  }
};

struct AddBF16 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    return narrowToBF16(widenBF16(a) + widenBF16(b));
  }
};

struct SubBF16 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    return narrowToBF16(widenBF16(a) - widenBF16(b));
  }
};

struct MulBF16 {
  static constexpr int operands = 2;
  static uint32_t lane(uint32_t a, uint32_t b) {
    return narrowToBF16(widenBF16(a) * widenBF16(b));
  }
};

/// In f64: products have the exponents of two f32.
template <bool relu>
struct FmaBF16 {
  static constexpr int operands = 3;
  static uint32_t lane(uint32_t a, uint32_t b, uint32_t c) {
    double product = double(widenBF16(a)) * double(widenBF16(b));
    double sum = addToOdd(product, double(widenBF16(c)));
    uint32_t code = narrowToBF16(narrowToOddF32(sum));
    return relu && (code & 0x8000) != 0 ? 0 : code;
  }
};

template <bool isAbs, bool ftz>
struct SignF16 {
  static constexpr int operands = 1;
  static uint32_t lane(uint32_t a) {
    uint32_t code = flushF16<ftz>(a);
    return isAbs ? code & 0x7FFF : code ^ 0x8000;
  }
};

template <template <bool, bool> class Op>
FloatRowFn pickF16(const FloatForm &form, bool packed) {
  if (form.ftz)
    return form.sat ? pickHalves<Op<true, true>>(packed)
                    : pickHalves<Op<true, false>>(packed);
  return form.sat ? pickHalves<Op<false, true>>(packed)
                  : pickHalves<Op<false, false>>(packed);
}
template <bool ftz, bool sat>
using FmaF16Plain = FmaF16<ftz, sat, false>;
template <bool ftz, bool>
using FmaF16Relu = FmaF16<ftz, false, true>;

template <bool isMin>
FloatRowFn pickMinOrMax(bool packed) {
  return packed ? minOrMaxHalves<isMin, true> : minOrMaxHalves<isMin, false>;
}

FloatRowFn findF16(const FloatForm &form, bool packed) {
  switch (form.op) {
  case FloatOp::Add:
    return pickF16<AddF16>(form, packed);
  case FloatOp::Sub:
    return pickF16<SubF16>(form, packed);
  case FloatOp::Mul:
    return pickF16<MulF16>(form, packed);
  case FloatOp::Fma:
    return form.relu ? pickF16<FmaF16Relu>(form, packed)
                     : pickF16<FmaF16Plain>(form, packed);
  case FloatOp::Min:
    return pickMinOrMax<true>(packed);
  case FloatOp::Max:
    return pickMinOrMax<false>(packed);
  case FloatOp::Abs:
    return form.ftz ? pickHalves<SignF16<true, true>>(packed)
                    : pickHalves<SignF16<true, false>>(packed);
  case FloatOp::Neg:
    return form.ftz ? pickHalves<SignF16<false, true>>(packed)
                    : pickHalves<SignF16<false, false>>(packed);
  default:
    return nullptr;
  }
}

FloatRowFn findBF16(const FloatForm &form, bool packed) {
  switch (form.op) {
  case FloatOp::Add:
    return pickHalves<AddBF16>(packed);
  case FloatOp::Sub:
    return pickHalves<SubBF16>(packed);
  case FloatOp::Mul:
    return pickHalves<MulBF16>(packed);
  case FloatOp::Fma:
    return form.relu ? pickHalves<FmaBF16<true>>(packed)
                     : pickHalves<FmaBF16<false>>(packed);
  case FloatOp::Min:
    return pickMinOrMax<true>(packed);
  case FloatOp::Max:
    return pickMinOrMax<false>(packed);
  case FloatOp::Abs:
    return pickHalves<SignF16<true, false>>(packed);
  case FloatOp::Neg:
    return pickHalves<SignF16<false, false>>(packed);
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

LaneMask compareF32(const CompareForm &form, const void *a, const void *b) {
  const auto *x = static_cast<const uint32_t *>(a);
  const auto *y = static_cast<const uint32_t *>(b);
  const unsigned wanted = outcomesOf(form.comparison);
  const uint32_t ftz = form.ftz;
  LaneMask mask = 0;
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    float p = toFloat(ftz ? flushF32<true>(x[lane]) : x[lane]);
    float q = toFloat(ftz ? flushF32<true>(y[lane]) : y[lane]);
    uint32_t outcome = p < q ? uint32_t(kLess) : uint32_t(kUnordered);
    outcome = p > q ? uint32_t(kGreater) : outcome;
    outcome = p == q ? uint32_t(kEqual) : outcome;
    mask |= (outcome & wanted) != 0 ? uint32_t(1) << lane : 0;
  }
  return mask;
}

} // namespace

FloatRowFn findFloatRow(const FloatForm &form) {
  if (form.rounding != Rounding::NearestEven)
    return nullptr;
  switch (form.type) {
  case Type::F32:
    return findF32(form);
  case Type::F64:
    return findF64(form.op);
  case Type::F16:
  case Type::F16x2:
    return findF16(form, form.type == Type::F16x2);
  case Type::BF16:
  case Type::BF16x2:
    return findBF16(form, form.type == Type::BF16x2);
  default:
    return nullptr;
  }
}

CompareRowFn findCompareRow(const CompareForm &form) {
  return form.type == Type::F32 ? compareF32 : nullptr;
}

} // namespace kvc::sim::KVC_SIM_LEVEL
