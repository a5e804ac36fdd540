//===- Approx.cpp - The approximations of PTX -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/Approx.h"

#include "kvc/Sim/Numerics/Exact.h"
#include "kvc/Sim/Numerics/HostFloat.h"
#include "kvc/Sim/Numerics/Levels.h"
#include "kvc/Sim/Numerics/SinCos.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

using namespace kvc::sim;

//===----------------------------------------------------------------------===//
// What exists, and its bounds
//===----------------------------------------------------------------------===//

bool kvc::sim::exists(const ApproxForm &form) {
  switch (form.type) {
  case Type::F32:
    return !(form.op == ApproxOp::Tanh && form.ftz);
  case Type::F64:
    return (form.op == ApproxOp::Rcp && form.ftz) || form.op == ApproxOp::Rsqrt;
  case Type::F16:
  case Type::F16x2:
    return (form.op == ApproxOp::Ex2 || form.op == ApproxOp::Tanh) && !form.ftz;
  case Type::BF16:
  case Type::BF16x2:
    return (form.op == ApproxOp::Ex2 && form.ftz) ||
           (form.op == ApproxOp::Tanh && !form.ftz);
  default:
    return false;
  }
}

namespace {

constexpr double kInfinite = HUGE_VAL;
constexpr double kTwoPi = 0x1.921fb54442d18p2;

// Errors of powers that are no integers, rounded down.
const ApproxBound kBounds[] = {
    {ApproxOp::Ex2, Type::F32, 0, kInfinite, ErrorKind::Ulp, 2, "2"},
    {ApproxOp::Ex2, Type::F16, 0, kInfinite, ErrorKind::Relative,
     0x1.125fbep-10, "2^-9.9"},
    {ApproxOp::Ex2, Type::BF16, 0, kInfinite, ErrorKind::Relative, 0x1p-7,
     "2^-7"},
    {ApproxOp::Lg2, Type::F32, 0.5, 2, ErrorKind::Absolute, 0x1p-22, "2^-22"},
    {ApproxOp::Lg2, Type::F32, 0, kInfinite, ErrorKind::Relative, 0x1p-22,
     "2^-22"},
    {ApproxOp::Rcp, Type::F32, 0, kInfinite, ErrorKind::Ulp, 1, "1"},
    {ApproxOp::Rsqrt, Type::F32, 0, kInfinite, ErrorKind::Relative,
     0x1.125fbep-23, "2^-22.9"},
    {ApproxOp::Sqrt, Type::F32, 0, kInfinite, ErrorKind::Relative, 0x1p-23,
     "2^-23"},
    {ApproxOp::Sin, Type::F32, 0, kTwoPi, ErrorKind::Absolute, 0x1.6a09e6p-21,
     "2^-20.5"},
    {ApproxOp::Sin, Type::F32, 0, 50 * kTwoPi, ErrorKind::Absolute,
     0x1.3b2c47p-15, "2^-14.7"},
    {ApproxOp::Cos, Type::F32, 0, kTwoPi, ErrorKind::Absolute, 0x1.6a09e6p-21,
     "2^-20.5"},
    {ApproxOp::Cos, Type::F32, 0, 50 * kTwoPi, ErrorKind::Absolute,
     0x1.3b2c47p-15, "2^-14.7"},
    {ApproxOp::Tanh, Type::F32, 0, kInfinite, ErrorKind::Relative, 0x1p-11,
     "2^-11"},
    {ApproxOp::Tanh, Type::F16, 0, kInfinite, ErrorKind::Absolute,
     0x1.02513p-11, "2^-10.987"},
    {ApproxOp::Tanh, Type::BF16, 0, kInfinite, ErrorKind::Absolute, 0x1p-8,
     "2^-8"},
    {ApproxOp::Div, Type::F32, 0x1p-126, 0x1p126, ErrorKind::Ulp, 2, "2"},
    {ApproxOp::DivFull, Type::F32, 0, kInfinite, ErrorKind::Ulp, 2, "2"},
};

/// The type of one value.
Type valueType(Type type) {
  return type == Type::F16x2    ? Type::F16
         : type == Type::BF16x2 ? Type::BF16
                                : type;
}

const FloatFormat &formatOf(Type type) {
  switch (valueType(type)) {
  case Type::F16:
    return kF16;
  case Type::BF16:
    return kBF16;
  case Type::F64:
    return kF64;
  default:
    return kF32;
  }
}

double valueOf(const FloatFormat &format, uint64_t code, bool flush) {
  return std::bit_cast<double>(
      exact::encode(kF64, exact::decode(format, code, flush)));
}

double functionOf(ApproxOp op, double x, double y) {
  if (op == ApproxOp::Sin || op == ApproxOp::Cos)
    return sinAfterQuarters(x, op == ApproxOp::Cos);
  return baseline::approxValue(op, x, y);
}

uint64_t encode(const FloatFormat &format, double value, bool flush) {
  return exact::encode(format,
                       exact::decode(kF64, std::bit_cast<uint64_t>(value)),
                       {.flush = flush});
}

} // namespace

std::span<const ApproxBound> kvc::sim::approxBounds() { return kBounds; }

const ApproxBound *kvc::sim::boundFor(const ApproxForm &form, double x) {
  double magnitude = std::fabs(x);
  // Of operands that are subnormal in f32 the ISA names the results of these.
  bool isNamed = magnitude < 0x1p-126 &&
                 (form.op == ApproxOp::Ex2 || form.op == ApproxOp::Cos);
  if (magnitude == 0 || isNamed)
    return nullptr;
  for (const ApproxBound &bound : kBounds)
    if (bound.op == form.op && bound.type == valueType(form.type) &&
        magnitude >= bound.low && magnitude < bound.high)
      return &bound;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Perturbation
//===----------------------------------------------------------------------===//

namespace {

uint64_t mix(uint64_t state, uint64_t value) {
  // splitmix64
  uint64_t z = (state ^ value) + 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// A draw between -1 and 1, in one of four cases one of the ends.
double drawOf(uint64_t random) {
  if ((random & 3) == 0)
    return random & 4 ? 1 : -1;
  return double(int64_t(random)) * 0x1p-63;
}

/// The distance from `value` that a bound allows.
double allowance(const ApproxBound &bound, const FloatFormat &format,
                 double value) {
  switch (bound.kind) {
  case ErrorKind::Relative:
    return bound.error * std::fabs(value);
  case ErrorKind::Absolute:
    return bound.error;
  case ErrorKind::Ulp:
    break;
  }
  // Below a power of two units are half as large, and the value may lie there.
  int exponent =
      std::max(std::ilogb(value * (1 - 0x1p-45)), format.smallestExponent());
  return bound.error * std::ldexp(1.0, exponent - format.fractionBits);
}

/// The code one step nearer to `value`, which it does not equal.
uint64_t stepTowards(const FloatFormat &format, uint64_t code, double value) {
  double at = valueOf(format, code, false);
  if (at == 0)
    return value < 0 ? format.signBit() | 1 : 1;
  // Codes grow with the magnitude.
  return (at > value) == (at > 0) ? code - 1 : code + 1;
}

uint64_t perturbed(const ApproxForm &form, uint64_t seed,
                   const ApproxBound &bound, double value, uint64_t a,
                   uint64_t b) {
  const FloatFormat &format = formatOf(form.type);
  uint64_t random = mix(
      mix(mix(seed, uint64_t(form.op) << 8 | uint64_t(valueType(form.type))),
          a),
      b);
  // A little less than what is allowed: the value itself is rounded.
  double allowed = allowance(bound, format, value) * (1 - 0x1p-20);
  uint64_t code = encode(format, value + drawOf(random) * allowed, false);
  while (!(std::fabs(valueOf(format, code, false) - value) <= allowed)) {
    uint64_t nearer = stepTowards(format, code, value);
    // Where even the neighbours are too far off, the nearest has to do.
    if ((valueOf(format, nearer, false) > value) !=
        (valueOf(format, code, false) > value))
      return encode(format, value, form.ftz);
    code = nearer;
  }
  return encode(format, valueOf(format, code, false), form.ftz);
}

/// rcp and rsqrt of f64 look at the upper half of the operand and give an upper
/// half.
uint64_t evaluateF64(const ApproxForm &form, uint64_t a) {
  const uint64_t upper = ~uint64_t(0) << 32;
  double x = valueOf(kF64, kF64.isNan(a) ? kF64.nan : a & upper, form.ftz);
  exact::Number value =
      exact::decode(kF64, std::bit_cast<uint64_t>(functionOf(form.op, x, 0)));
  // To twenty bits: an f64 without its lower half.
  constexpr FloatFormat half{11, 20, Extremes::Ieee, 0x7FFFFFFF};
  return value.isNan() ? kF64.nan
                       : exact::encode(half, value, {.flush = form.ftz}) << 32;
}

uint64_t evaluateOne(const ApproxForm &form, const ApproxMode &mode, uint64_t a,
                     uint64_t b) {
  const FloatFormat &format = formatOf(form.type);
  double x = valueOf(format, a, form.ftz), y = valueOf(format, b, form.ftz);
  double value = functionOf(form.op, x, y);
  bool isDiv = form.op == ApproxOp::Div || form.op == ApproxOp::DivFull;
  bool isNumber = std::isfinite(value) && std::isfinite(x) &&
                  (!isDiv || (std::isfinite(y) && x != 0));
  const ApproxBound *bound =
      mode.perturb && isNumber ? boundFor(form, isDiv ? y : x) : nullptr;
  return bound ? perturbed(form, mode.seed, *bound, value, a, b)
               : encode(format, value, form.ftz);
}

} // namespace

uint64_t kvc::sim::evaluate(const ApproxForm &form, const ApproxMode &mode,
                            uint64_t a, uint64_t b) {
  assert(isHostFloatReady() && "approximations run inside a HostFloatScope");
  if (form.type == Type::F64)
    return evaluateF64(form, a);
  int bits = formatOf(form.type).bits();
  uint64_t mask = ~uint64_t(0) >> (64 - bits);
  uint64_t low = evaluateOne(form, mode, a & mask, b & mask);
  if (form.type != Type::F16x2 && form.type != Type::BF16x2)
    return low;
  return low | evaluateOne(form, mode, (a >> bits) & mask, (b >> bits) & mask)
                   << bits;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

template <typename Word>
void laneByLane(const ApproxForm &form, const ApproxMode &mode, void *d,
                const void *a, const void *b) {
  for (int lane = 0; lane < kLanes; ++lane)
    static_cast<Word *>(d)[lane] =
        Word(evaluate(form, mode, static_cast<const Word *>(a)[lane],
                      b ? static_cast<const Word *>(b)[lane] : Word(0)));
}

ApproxRowFn findRow(const ApproxForm &form, SimdLevel level) {
  switch (level) {
#define KVC_SIM_CASE(Name, name)                                               \
  case SimdLevel::Name:                                                        \
    return name::findApproxRow(form);
    KVC_SIM_FOR_EACH_LEVEL(KVC_SIM_CASE)
#undef KVC_SIM_CASE
  default:
    return nullptr;
  }
}

} // namespace

std::optional<ApproxRow> ApproxRow::create(const ApproxForm &form,
                                           const ApproxMode &mode,
                                           SimdLevel level) {
  if (!exists(form))
    return std::nullopt;
  return ApproxRow(form, mode, mode.perturb ? nullptr : findRow(form, level));
}

void ApproxRow::run(void *d, const void *a, const void *b) const {
  if (fn)
    fn(d, a, b);
  else if (form.type == Type::F64)
    laneByLane<uint64_t>(form, mode, d, a, b);
  else
    laneByLane<uint32_t>(form, mode, d, a, b);
}

void ApproxRow::operator()(void *d, const void *a, const void *b,
                           LaneMask active) const {
  assert(isHostFloatReady() && "rows run inside a HostFloatScope");
  if (active == kAllLanes)
    return run(d, a, b);
  if (form.type == Type::F64) {
    alignas(64) uint64_t results[kLanes];
    run(results, a, b);
    copyLanes(static_cast<uint64_t *>(d), results, active);
  } else {
    alignas(64) uint32_t results[kLanes];
    run(results, a, b);
    copyLanes(static_cast<uint32_t *>(d), results, active);
  }
}
