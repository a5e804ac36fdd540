//===- BindFloats.cpp - Float arithmetic and conversions ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Bind.h"
#include "kvc/Sim/Numerics/Convert.h"
#include "kvc/Sim/Numerics/FloatOps.h"

#include <algorithm>

using namespace kvc::sim;

Rounding kvc::sim::roundingOf(const Modifiers &modifiers) {
  switch (modifiers.firstOf({Word::Rn, Word::Rz, Word::Rm, Word::Rp, Word::Rna,
                             Word::Rni, Word::Rzi, Word::Rmi, Word::Rpi})) {
  case Word::Rz:
  case Word::Rzi:
    return Rounding::TowardZero;
  case Word::Rm:
  case Word::Rmi:
    return Rounding::Down;
  case Word::Rp:
  case Word::Rpi:
    return Rounding::Up;
  case Word::Rna:
    return Rounding::NearestAway;
  default:
    return Rounding::NearestEven;
  }
}

namespace {

template <int sources>
void runFloat(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *o = step.operands;
  formOf<FloatRow>(step)(warp.row(o[0]), warp.row(o[1]),
                         sources > 1 ? warp.row(o[2]) : nullptr,
                         sources > 2 ? warp.row(o[3]) : nullptr, lanes);
}

/// Each bit twice: those of 16 lanes become those of their halves.
LaneMask doubled(LaneMask lanes) {
  lanes &= 0xFFFF;
  lanes = (lanes | lanes << 8) & 0x00FF00FF;
  lanes = (lanes | lanes << 4) & 0x0F0F0F0F;
  lanes = (lanes | lanes << 2) & 0x33333333;
  lanes = (lanes | lanes << 1) & 0x55555555;
  return lanes | lanes << 1;
}

/// f32x2: a row of 64 bits is two rows of f32.
template <int sources>
void runPairs(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *o = step.operands;
  for (unsigned half = 0; half < 2; ++half)
    formOf<FloatRow>(step)(warp.row(o[0] + half), warp.row(o[1] + half),
                           warp.row(o[2] + half),
                           sources > 2 ? warp.row(o[3] + half) : nullptr,
                           doubled(lanes >> 16 * half));
}

template <int sources>
void runApprox(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *o = step.operands;
  formOf<ApproxRow>(step)(warp.row(o[0]), warp.row(o[1]),
                          sources > 1 ? warp.row(o[2]) : nullptr, lanes);
}

template <int sources>
void runConvert(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *o = step.operands;
  formOf<ConvertRow>(step)(warp.row(o[0]), warp.row(o[1]),
                           sources > 1 ? warp.row(o[2]) : nullptr, lanes);
}

std::optional<FloatOp> floatOpOf(Family family) {
  switch (family) {
  case Family::Add:
    return FloatOp::Add;
  case Family::Sub:
    return FloatOp::Sub;
  case Family::Mul:
    return FloatOp::Mul;
  case Family::Fma:
    return FloatOp::Fma;
  case Family::Div:
    return FloatOp::Div;
  case Family::Rcp:
    return FloatOp::Rcp;
  case Family::Sqrt:
    return FloatOp::Sqrt;
  case Family::Min:
    return FloatOp::Min;
  case Family::Max:
    return FloatOp::Max;
  case Family::Abs:
    return FloatOp::Abs;
  case Family::Neg:
    return FloatOp::Neg;
  case Family::Copysign:
    return FloatOp::CopySign;
  default:
    return std::nullopt;
  }
}

std::optional<ApproxOp> approxOpOf(const Binding &binding) {
  const bool isApprox = binding.has(Word::Approx);
  switch (binding.family()) {
  case Family::Div:
    if (binding.has(Word::Full))
      return ApproxOp::DivFull;
    return isApprox ? std::optional(ApproxOp::Div) : std::nullopt;
  case Family::Rcp:
    return isApprox ? std::optional(ApproxOp::Rcp) : std::nullopt;
  case Family::Sqrt:
    return isApprox ? std::optional(ApproxOp::Sqrt) : std::nullopt;
  case Family::Rsqrt:
    return ApproxOp::Rsqrt;
  case Family::Sin:
    return ApproxOp::Sin;
  case Family::Cos:
    return ApproxOp::Cos;
  case Family::Lg2:
    return ApproxOp::Lg2;
  case Family::Ex2:
    return ApproxOp::Ex2;
  case Family::Tanh:
    return ApproxOp::Tanh;
  default:
    return std::nullopt;
  }
}

bool bindConvert(Binding &binding) {
  ConvertForm form;
  form.to = binding.type(0);
  form.from = binding.type(1);
  const Word word = binding.modifiers.firstOf(
      {Word::Rn, Word::Rz, Word::Rm, Word::Rp, Word::Rna});
  const Word integral =
      binding.modifiers.firstOf({Word::Rni, Word::Rzi, Word::Rmi, Word::Rpi});
  form.word = word != Word::None       ? RoundingWord::Number
              : integral != Word::None ? RoundingWord::Integer
                                       : RoundingWord::None;
  form.rounding = roundingOf(binding.modifiers);
  form.ftz = binding.has(Word::Ftz);
  form.sat = binding.has(Word::Sat);
  form.relu = binding.has(Word::Relu);
  form.satfinite = binding.has(Word::Satfinite);
  form.toRegister = int(binding.slots[0].bits());
  form.fromRegister = int(binding.slots[1].bits());
  return binding.toIf(binding.slots.size() > 2 ? runConvert<2> : runConvert<1>,
                      ConvertRow::create(form, binding.kernel.level));
}

/// cvt.pack: a and b saturated to 16 or 8 bits, above c's lower half if those
/// are 8.
struct PackForm {
  unsigned bits;
  bool isSigned;
};
void runPack(Warp &warp, const Step &step, LaneMask lanes) {
  const PackForm form = formOf<PackForm>(step);
  const uint32_t *o = step.operands;
  const int64_t low = form.isSigned ? -(int64_t(1) << (form.bits - 1)) : 0;
  const int64_t high = (int64_t(1) << (form.bits - form.isSigned)) - 1;
  const uint32_t mask = (uint32_t(1) << form.bits) - 1;
  auto clamped = [&](uint32_t value) {
    return uint32_t(std::clamp<int64_t>(int32_t(value), low, high)) & mask;
  };
  uint32_t *to = warp.row(o[0]);
  const uint32_t *a = warp.row(o[1]), *b = warp.row(o[2]);
  const uint32_t *c = form.bits == 8 ? warp.row(o[3]) : nullptr;
  eachLane(lanes, [&](unsigned lane) {
    const uint32_t pair = clamped(a[lane]) << form.bits | clamped(b[lane]);
    to[lane] = c ? c[lane] << 16 | pair : pair;
  });
}

} // namespace

bool kvc::sim::bindFloats(Binding &binding) {
  const SimdLevel level = binding.kernel.level;
  const Type type = binding.type();
  if (binding.family() == Family::Cvt)
    return bindConvert(binding);
  if (binding.family() == Family::CvtPack)
    return binding.to(runPack,
                      PackForm{bitsOf(type), kindOf(type) == TypeKind::Signed});
  if (kindOf(type) != TypeKind::Float && kindOf(type) != TypeKind::Alternate)
    return false;
  if (const std::optional<ApproxOp> op = approxOpOf(binding))
    return binding.toIf(binding.slots.size() > 2 ? runApprox<2> : runApprox<1>,
                        ApproxRow::create({*op, type, binding.has(Word::Ftz)},
                                          binding.kernel.approx, level));
  const std::optional<FloatOp> op = floatOpOf(binding.family());
  if (!op || binding.has(Word::Oob))
    return false;
  FloatForm form;
  form.op = *op;
  form.type = type == Type::F32x2 ? Type::F32 : type;
  form.rounding = roundingOf(binding.modifiers);
  form.ftz = binding.has(Word::Ftz);
  form.sat = binding.has(Word::Sat);
  form.relu = binding.has(Word::Relu);
  form.nan = binding.has(Word::NaN);
  form.xorsignAbs = binding.has(Word::Xorsign);
  static constexpr Handler handlers[] = {runFloat<1>, runFloat<2>, runFloat<3>};
  const size_t sources = binding.slots.size() - 1;
  if (type == Type::F32x2)
    return binding.toIf(sources == 3 ? runPairs<3> : runPairs<2>,
                        FloatRow::create(form, level));
  return sources >= 1 && sources <= 3 &&
         binding.toIf(handlers[sources - 1], FloatRow::create(form, level));
}
