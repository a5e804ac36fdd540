//===- BindComparisons.cpp - Comparisons and choices ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Bind.h"
#include "kvc/Sim/Numerics/IntegerForms.h"

using namespace kvc::sim;

std::optional<Comparison> kvc::sim::comparisonOf(const Modifiers &modifiers) {
  static constexpr std::pair<Word, Comparison> names[] = {
      {Word::Eq, Comparison::Eq},   {Word::Ne, Comparison::Ne},
      {Word::Lt, Comparison::Lt},   {Word::Le, Comparison::Le},
      {Word::Gt, Comparison::Gt},   {Word::Ge, Comparison::Ge},
      {Word::Lo, Comparison::Lt},   {Word::Ls, Comparison::Le},
      {Word::Hi, Comparison::Gt},   {Word::Hs, Comparison::Ge},
      {Word::Equ, Comparison::Equ}, {Word::Neu, Comparison::Neu},
      {Word::Ltu, Comparison::Ltu}, {Word::Leu, Comparison::Leu},
      {Word::Gtu, Comparison::Gtu}, {Word::Geu, Comparison::Geu},
      {Word::Num, Comparison::Num}, {Word::Nan, Comparison::Nan}};
  for (auto [word, comparison] : names)
    if (modifiers.has(word))
      return comparison;
  return std::nullopt;
}

namespace {

/// A comparison of rows, and of the upper halves of pairs.
struct Comparer {
  IntegerCompareFn integer = nullptr;
  std::optional<CompareRow> lower, upper;

  LaneMask operator()(const void *a, const void *b) const {
    return integer ? integer(a, b) : (*lower)(a, b);
  }
};

/// setp and set: a comparison, and a predicate that it is combined with.
struct CompareStep {
  Comparer comparer;
  Word combine = Word::None;
  // set: what true is, in one result or in each half of it.
  uint32_t isTrue = 0;

  LaneMask combined(LaneMask result, const Warp &warp,
                    uint32_t predicate) const {
    if (predicate == kNoOperand)
      return result;
    const LaneMask other = warp.predicate(predicate);
    return combine == Word::And  ? result & other
           : combine == Word::Or ? result | other
                                 : result ^ other;
  }
};

/// p|q, a, b, c: q is the opposite of p's comparison, or that of upper halves.
void runSetp(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<CompareStep>(step);
  const uint32_t *o = step.operands;
  const void *a = warp.row(o[2]), *b = warp.row(o[3]);
  const LaneMask result = form.comparer(a, b);
  const LaneMask second =
      form.comparer.upper ? (*form.comparer.upper)(a, b) : ~result;
  const LaneMask first = form.combined(result, warp, o[4]);
  const LaneMask other = form.combined(second, warp, o[4]);
  if (o[0] != kNoOperand)
    warp.setPredicate(o[0], first, lanes);
  if (o[1] != kNoOperand)
    warp.setPredicate(o[1], other, lanes);
}

/// The forms that set one predicate.
void runSetpOne(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<CompareStep>(step);
  const uint32_t *o = step.operands;
  warp.setPredicate(
      o[0],
      form.combined(form.comparer(warp.row(o[1]), warp.row(o[2])), warp, o[3]),
      lanes);
}

void runSet(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<CompareStep>(step);
  const uint32_t *o = step.operands;
  const void *a = warp.row(o[1]), *b = warp.row(o[2]);
  const LaneMask lower = form.combined(form.comparer(a, b), warp, o[3]);
  uint32_t *to = warp.row(o[0]);
  if (!form.comparer.upper) {
    eachLane(lanes, [&](unsigned lane) {
      to[lane] = lower >> lane & 1 ? form.isTrue : 0;
    });
    return;
  }
  const LaneMask upper =
      form.combined((*form.comparer.upper)(a, b), warp, o[3]);
  eachLane(lanes, [&](unsigned lane) {
    to[lane] = (lower >> lane & 1 ? form.isTrue & 0xFFFF : 0) |
               (upper >> lane & 1 ? form.isTrue & 0xFFFF0000 : 0);
  });
}

bool makeComparer(const Binding &binding, Type type, Comparer &comparer) {
  const std::optional<Comparison> comparison = comparisonOf(binding.modifiers);
  if (!comparison)
    return false;
  const SimdLevel level = binding.kernel.level;
  if (kindOf(type) != TypeKind::Float && kindOf(type) != TypeKind::Alternate) {
    comparer.integer = integerCompare(*comparison, type, level);
    return comparer.integer != nullptr;
  }
  CompareForm form{*comparison, type, binding.has(Word::Ftz), false};
  comparer.lower = CompareRow::create(form, level);
  if (type == Type::F16x2 || type == Type::BF16x2) {
    form.upper = true;
    comparer.upper = CompareRow::create(form, level);
    return comparer.lower && comparer.upper;
  }
  return comparer.lower.has_value();
}

uint32_t trueOf(Type type) {
  switch (type) {
  case Type::F32:
    return 0x3F800000;
  case Type::F16:
    return 0x3C00;
  case Type::F16x2:
    return 0x3C003C00;
  case Type::BF16:
    return 0x3F80;
  case Type::BF16x2:
    return 0x3F803F80;
  default:
    return bitsOf(type) == 16 ? 0xFFFF : 0xFFFFFFFF;
  }
}

bool bindSet(Binding &binding) {
  CompareStep form;
  form.combine = binding.modifiers.firstOf({Word::And, Word::Or, Word::Xor});
  const bool isSetp = binding.family() == Family::Setp;
  if (!makeComparer(binding, binding.type(isSetp ? 0 : 1), form.comparer))
    return false;
  form.isTrue = trueOf(binding.type());
  return binding.to(!isSetp                     ? runSet
                    : binding.slots.size() == 4 ? runSetpOne
                                                : runSetp,
                    form);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

template <typename Word>
void choose(Warp &warp, const uint32_t *o, LaneMask first, LaneMask lanes) {
  auto *to = reinterpret_cast<Word *>(warp.row(o[0]));
  const auto *a = reinterpret_cast<const Word *>(warp.row(o[1]));
  const auto *b = reinterpret_cast<const Word *>(warp.row(o[2]));
  for (int lane = 0; lane < kLanes; ++lane) {
    const Word chosen = first >> lane & 1 ? a[lane] : b[lane];
    to[lane] = lanes >> lane & 1 ? chosen : to[lane];
  }
}

template <typename Word>
void runSelp(Warp &warp, const Step &step, LaneMask lanes) {
  choose<Word>(warp, step.operands, warp.predicate(step.operands[3]), lanes);
}

/// c >= 0, as an integer or a float; for NaN the second one.
struct SlctForm {
  bool isFloat, ftz;
};
template <typename Word>
void runSlct(Warp &warp, const Step &step, LaneMask lanes) {
  const SlctForm form = formOf<SlctForm>(step);
  const uint32_t *c = warp.row(step.operands[3]);
  LaneMask first = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint32_t value = c[lane], magnitude = value & 0x7FFFFFFF;
    const bool isZero =
        magnitude == 0 || (form.ftz && (magnitude & 0x7F800000) == 0);
    const bool isFirst =
        form.isFloat ? isZero || value <= 0x7F800000 : int32_t(value) >= 0;
    first |= LaneMask(isFirst) << lane;
  }
  choose<Word>(warp, step.operands, first, lanes);
}

struct TestForm {
  FloatTest test;
  Type type;
};
void runTestp(Warp &warp, const Step &step, LaneMask lanes) {
  const TestForm form = formOf<TestForm>(step);
  warp.setPredicate(step.operands[0],
                    testRow(form.test, form.type, warp.row(step.operands[1])),
                    lanes);
}

FloatTest testOf(const Modifiers &modifiers) {
  switch (modifiers.firstOf({Word::Finite, Word::Infinite, Word::Number,
                             Word::Notanumber, Word::Normal})) {
  case Word::Finite:
    return FloatTest::Finite;
  case Word::Infinite:
    return FloatTest::Infinite;
  case Word::Number:
    return FloatTest::Number;
  case Word::Notanumber:
    return FloatTest::NotANumber;
  case Word::Normal:
    return FloatTest::Normal;
  default:
    return FloatTest::Subnormal;
  }
}

} // namespace

bool kvc::sim::bindComparisons(Binding &binding) {
  const bool isLong = bitsOf(binding.type()) == 64;
  switch (binding.family()) {
  case Family::Setp:
  case Family::Set:
    return bindSet(binding);
  case Family::Selp:
    return binding.to(isLong ? runSelp<uint64_t> : runSelp<uint32_t>);
  case Family::Slct:
    return binding.to(
        isLong ? runSlct<uint64_t> : runSlct<uint32_t>,
        SlctForm{binding.type(1) == Type::F32, binding.has(Word::Ftz)});
  case Family::Testp:
    return binding.to(runTestp,
                      TestForm{testOf(binding.modifiers), binding.type()});
  default:
    return false;
  }
}
