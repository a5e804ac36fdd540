//===- FloatOps.cpp - Float arithmetic as PTX has it ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/FloatOps.h"

#include "kvc/Sim/Numerics/Exact.h"
#include "kvc/Sim/Numerics/HostFloat.h"
#include "kvc/Sim/Numerics/Levels.h"

#include <cassert>

using namespace kvc::sim;

//===----------------------------------------------------------------------===//
// What exists
//===----------------------------------------------------------------------===//

namespace {

/// A type of float arithmetic.
struct Arithmetic {
  const FloatFormat *format; ///< Null: none.
  bool packed;               ///< Two values in 32 bits.
};

Arithmetic arithmeticOf(Type type) {
  switch (type) {
  case Type::F64:
    return {&kF64, false};
  case Type::F32:
    return {&kF32, false};
  case Type::F16:
    return {&kF16, false};
  case Type::F16x2:
    return {&kF16, true};
  case Type::BF16:
    return {&kBF16, false};
  case Type::BF16x2:
    return {&kBF16, true};
  default:
    return {nullptr, false};
  }
}

} // namespace

bool kvc::sim::exists(const FloatForm &form) {
  const FloatFormat *format = arithmeticOf(form.type).format;
  if (!format || form.rounding == Rounding::NearestAway)
    return false;
  bool isF64 = format == &kF64, isF32 = format == &kF32,
       isF16 = format == &kF16;
  bool isHalf = !isF64 && !isF32;
  bool rounds = form.rounding != Rounding::NearestEven;
  // What only f32 and f16 have, and then in every operation that rounds.
  bool flushes = isF32 || isF16;
  if (form.ftz && !flushes)
    return false;
  switch (form.op) {
  case FloatOp::Add:
  case FloatOp::Sub:
  case FloatOp::Mul:
    return !(rounds && isHalf) && !(form.sat && !flushes) && !form.relu &&
           !form.nan && !form.xorsignAbs;
  case FloatOp::Fma:
    return !(rounds && isHalf) && !(form.sat && !flushes) &&
           !(form.relu && (!isHalf || form.sat)) && !form.nan &&
           !form.xorsignAbs;
  case FloatOp::Div:
  case FloatOp::Rcp:
  case FloatOp::Sqrt:
    return !isHalf && !form.sat && !form.relu && !form.nan && !form.xorsignAbs;
  case FloatOp::Min:
  case FloatOp::Max:
    return !rounds && !form.sat && !form.relu &&
           !((form.nan || form.xorsignAbs) && isF64);
  case FloatOp::Abs:
  case FloatOp::Neg:
    return !rounds && !form.sat && !form.relu && !form.nan && !form.xorsignAbs;
  case FloatOp::CopySign:
    return !isHalf && !rounds && !form.ftz && !form.sat && !form.relu &&
           !form.nan && !form.xorsignAbs;
  }
  return false;
}

bool kvc::sim::exists(const CompareForm &form) {
  Arithmetic type = arithmeticOf(form.type);
  return type.format && !(form.upper && !type.packed) &&
         !(form.ftz && type.format != &kF32 && type.format != &kF16);
}

//===----------------------------------------------------------------------===//
// One lane
//===----------------------------------------------------------------------===//

namespace {

uint64_t flushed(const FloatFormat &format, uint64_t code) {
  bool isSubnormal = (code & format.infinity()) == 0;
  return isSubnormal ? code & format.signBit() : code;
}

/// Orders codes as their values are ordered, -0 below +0.
int64_t orderOf(const FloatFormat &format, uint64_t code) {
  return code & format.signBit() ? -1 - int64_t(code ^ format.signBit())
                                 : int64_t(code);
}

uint64_t minOrMax(const FloatFormat &format, const FloatForm &form, uint64_t a,
                  uint64_t b) {
  uint64_t sign = (a ^ b) & format.signBit();
  if (form.xorsignAbs) {
    a &= ~format.signBit();
    b &= ~format.signBit();
  }
  bool nanA = format.isNan(a), nanB = format.isNan(b);
  if ((nanA && nanB) || (form.nan && (nanA || nanB)))
    return format.nan;
  bool less = orderOf(format, a) < orderOf(format, b);
  bool takeA = nanB || (!nanA && less == (form.op == FloatOp::Min));
  uint64_t chosen = takeA ? a : b;
  return form.xorsignAbs ? chosen | sign : chosen;
}

uint64_t evaluateOne(const FloatFormat &format, const FloatForm &form,
                     uint64_t a, uint64_t b, uint64_t c) {
  if (form.ftz) {
    a = flushed(format, a);
    b = flushed(format, b);
    c = flushed(format, c);
  }
  exact::Number x = exact::decode(format, a), y = exact::decode(format, b);
  exact::Number result;
  switch (form.op) {
  case FloatOp::Add:
    result = exact::add(x, y, form.rounding);
    break;
  case FloatOp::Sub:
    result = exact::add(x, exact::negate(y), form.rounding);
    break;
  case FloatOp::Mul:
    result = exact::multiply(x, y);
    break;
  case FloatOp::Fma:
    result = exact::add(exact::multiply(x, y), exact::decode(format, c),
                        form.rounding);
    break;
  case FloatOp::Div:
    result = exact::divide(x, y);
    break;
  case FloatOp::Rcp:
    result = exact::divide(exact::fromInteger(false, 1), x);
    break;
  case FloatOp::Sqrt:
    result = exact::squareRoot(x);
    break;
  case FloatOp::Min:
  case FloatOp::Max:
    return minOrMax(format, form, a, b);
  case FloatOp::Abs:
    return a & ~format.signBit();
  case FloatOp::Neg:
    return a ^ format.signBit();
  case FloatOp::CopySign:
    return (b & ~format.signBit()) | (a & format.signBit());
  }
  return exact::encode(format, result,
                       {.rounding = form.rounding,
                        .flush = form.ftz,
                        .saturate = form.sat,
                        .relu = form.relu});
}

} // namespace

uint64_t kvc::sim::evaluate(const FloatForm &form, uint64_t a, uint64_t b,
                            uint64_t c) {
  auto [format, packed] = arithmeticOf(form.type);
  uint64_t mask = ~uint64_t(0) >> (64 - format->bits());
  uint64_t low = evaluateOne(*format, form, a & mask, b & mask, c & mask);
  if (!packed)
    return low;
  return low | evaluateOne(*format, form, (a >> 16) & mask, (b >> 16) & mask,
                           (c >> 16) & mask)
                   << 16;
}

bool kvc::sim::evaluate(const CompareForm &form, uint64_t a, uint64_t b) {
  const FloatFormat &format = *arithmeticOf(form.type).format;
  int shift = form.upper ? 16 : 0;
  uint64_t mask = ~uint64_t(0) >> (64 - format.bits());
  a = (a >> shift) & mask;
  b = (b >> shift) & mask;
  if (form.ftz) {
    a = flushed(format, a);
    b = flushed(format, b);
  }
  bool unordered = format.isNan(a) || format.isNan(b);
  bool equal = !unordered && (a == b || ((a | b) & ~format.signBit()) == 0);
  bool less = !unordered && !equal && orderOf(format, a) < orderOf(format, b);
  unsigned outcome = unordered ? kUnordered
                     : equal   ? kEqual
                     : less    ? kLess
                               : kGreater;
  return (outcomesOf(form.comparison) & outcome) != 0;
}

bool kvc::sim::evaluate(FloatTest test, Type type, uint64_t a) {
  const FloatFormat &format = *arithmeticOf(type).format;
  uint64_t magnitude = a & (format.signBit() - 1);
  bool isNan = format.isNan(magnitude);
  bool isInfinite = magnitude == format.infinity();
  bool isSubnormal = magnitude != 0 && magnitude <= format.fractionMask();
  switch (test) {
  case FloatTest::Finite:
    return !isNan && !isInfinite;
  case FloatTest::Infinite:
    return isInfinite;
  case FloatTest::Number:
    return !isNan;
  case FloatTest::NotANumber:
    return isNan;
  case FloatTest::Normal:
    return !isNan && !isInfinite && !isSubnormal && magnitude != 0;
  case FloatTest::Subnormal:
    return isSubnormal;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

template <typename Word>
void exactRow(const FloatForm &form, void *d, const void *a, const void *b,
              const void *c) {
  auto at = [](const void *row, int lane) {
    return row ? uint64_t(static_cast<const Word *>(row)[lane]) : 0;
  };
  for (int lane = 0; lane < kLanes; ++lane)
    static_cast<Word *>(d)[lane] =
        Word(evaluate(form, at(a, lane), at(b, lane), at(c, lane)));
}

template <typename Word>
LaneMask exactCompare(const CompareForm &form, const void *a, const void *b) {
  LaneMask mask = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    mask |= LaneMask(evaluate(form, static_cast<const Word *>(a)[lane],
                              static_cast<const Word *>(b)[lane]))
            << lane;
  return mask;
}

FloatRowFn findFloatRow(const FloatForm &form, SimdLevel level) {
  switch (level) {
#define KVC_SIM_CASE(Name, name)                                               \
  case SimdLevel::Name:                                                        \
    return name::findFloatRow(form);
    KVC_SIM_FOR_EACH_LEVEL(KVC_SIM_CASE)
#undef KVC_SIM_CASE
  default:
    return nullptr;
  }
}

CompareRowFn findCompareRow(const CompareForm &form, SimdLevel level) {
  switch (level) {
#define KVC_SIM_CASE(Name, name)                                               \
  case SimdLevel::Name:                                                        \
    return name::findCompareRow(form);
    KVC_SIM_FOR_EACH_LEVEL(KVC_SIM_CASE)
#undef KVC_SIM_CASE
  default:
    return nullptr;
  }
}

} // namespace

std::optional<FloatRow> FloatRow::create(const FloatForm &form,
                                         SimdLevel level) {
  if (!exists(form))
    return std::nullopt;
  FloatRowFn fn = findFloatRow(form, level);
  if (!fn)
    fn = form.type == Type::F64 ? exactRow<uint64_t> : exactRow<uint32_t>;
  return FloatRow(form, fn);
}

void FloatRow::operator()(void *d, const void *a, const void *b, const void *c,
                          LaneMask active) const {
  assert(isHostFloatReady() && "rows run inside a HostFloatScope");
  if (active == kAllLanes)
    return fn(ownForm, d, a, b, c);
  if (ownForm.type == Type::F64) {
    alignas(64) uint64_t results[kLanes];
    fn(ownForm, results, a, b, c);
    copyLanes(static_cast<uint64_t *>(d), results, active);
  } else {
    alignas(64) uint32_t results[kLanes];
    fn(ownForm, results, a, b, c);
    copyLanes(static_cast<uint32_t *>(d), results, active);
  }
}

std::optional<CompareRow> CompareRow::create(const CompareForm &form,
                                             SimdLevel level) {
  if (!exists(form))
    return std::nullopt;
  CompareRowFn fn = findCompareRow(form, level);
  if (!fn)
    fn = form.type == Type::F64 ? exactCompare<uint64_t>
                                : exactCompare<uint32_t>;
  return CompareRow(form, fn);
}

LaneMask CompareRow::operator()(const void *a, const void *b) const {
  assert(isHostFloatReady() && "rows run inside a HostFloatScope");
  return fn(form, a, b);
}

LaneMask kvc::sim::testRow(FloatTest test, Type type, const void *a) {
  LaneMask mask = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    uint64_t code = type == Type::F64 ? static_cast<const uint64_t *>(a)[lane]
                                      : static_cast<const uint32_t *>(a)[lane];
    mask |= LaneMask(evaluate(test, type, code)) << lane;
  }
  return mask;
}
