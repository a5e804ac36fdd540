//===- BindIntegers.cpp - Instructions on integers ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Bind.h"
#include "kvc/Sim/Numerics/IntegerForms.h"
#include "kvc/Sim/Numerics/IntegerOps.h"

using namespace kvc::sim;

namespace {

template <int sources>
void runInteger(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *o = step.operands;
  auto source = [&](int number) -> const void * {
    return number <= sources ? warp.row(o[number]) : nullptr;
  };
  formOf<IntegerRow>(step)(warp.row(o[0]), source(1), source(2), source(3),
                           source(4), lanes);
}

/// lop3 with a predicate: d|p, a, b, c, table, q.
struct LogicWithPredicate {
  IntegerRow row;
  bool isOr;
};
void runLogicWithPredicate(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<LogicWithPredicate>(step);
  const uint32_t *o = step.operands;
  alignas(64) uint32_t result[kLanes];
  form.row(result, warp.row(o[2]), warp.row(o[3]), warp.row(o[4]), nullptr);
  LaneMask isSet = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    isSet |= LaneMask(result[lane] != 0) << lane;
  const LaneMask other = warp.predicate(o[6]);
  if (o[0] != kNoOperand)
    copyLanes(warp.row(o[0]), result, lanes);
  warp.setPredicate(o[1], form.isOr ? isSet | other : isSet & other, lanes);
}

/// add.cc to madc.hi: the carries are predicates.
struct CarryForm {
  Family family;
  bool isHigh, hasIn, hasOut;
  integer::Sign sign;
};

template <typename W>
integer::WithCarry<W> withCarry(const CarryForm &form, W a, W b, W c,
                                bool carry) {
  switch (form.family) {
  case Family::AddCarry:
    return integer::addCarry(a, b, carry);
  case Family::SubCarry:
    return integer::subtractBorrow(a, b, carry);
  default:
    return form.isHigh
               ? integer::multiplyAddHighCarry(a, b, c, carry, form.sign)
               : integer::multiplyAddLowCarry(a, b, c, carry);
  }
}

template <typename W>
void runCarry(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<CarryForm>(step);
  const uint32_t *o = step.operands;
  const bool isMad = form.family == Family::MadCarry;
  const uint32_t sources = isMad ? 3 : 2;
  auto rowOf = [&](uint32_t number) {
    return reinterpret_cast<W *>(warp.row(o[number]));
  };
  W *to = rowOf(0);
  const W *a = rowOf(1), *b = rowOf(2), *c = isMad ? rowOf(3) : nullptr;
  uint32_t next = sources + 1;
  const uint32_t out = form.hasOut ? o[next++] : kNoOperand;
  const LaneMask in = form.hasIn ? warp.predicate(o[next]) : 0;
  LaneMask carries = 0;
  eachLane(lanes, [&](unsigned lane) {
    const auto result = withCarry<W>(form, a[lane], b[lane], c ? c[lane] : W(0),
                                     in >> lane & 1);
    to[lane] = result.value;
    carries |= LaneMask(result.carry) << lane;
  });
  if (form.hasOut)
    warp.setPredicate(out, carries, lanes);
}

bool bindCarry(Binding &binding) {
  CarryForm form{
      binding.family(), binding.has(Word::Hi), false, binding.has(Word::Cc),
      kindOf(binding.type()) == TypeKind::Signed ? integer::Sign::Signed
                                                 : integer::Sign::Unsigned};
  const std::string_view name = binding.modifiers.form->name;
  form.hasIn = name == "addc" || name == "subc" || name == "madc";
  return binding.to(bitsOf(binding.type()) == 64 ? runCarry<uint64_t>
                                                 : runCarry<uint32_t>,
                    form);
}

/// and, or, xor, not of predicates.
template <Family family>
void runPredicates(Warp &warp, const Step &step, LaneMask lanes) {
  const uint32_t *o = step.operands;
  const LaneMask a = warp.predicate(o[1]);
  LaneMask result = ~a;
  if constexpr (family != Family::Not) {
    const LaneMask b = warp.predicate(o[2]);
    result = family == Family::And  ? a & b
             : family == Family::Or ? a | b
                                    : a ^ b;
  }
  warp.setPredicate(o[0], result, lanes);
}

bool bindPredicates(Binding &binding) {
  switch (binding.family()) {
  case Family::And:
    return binding.to(runPredicates<Family::And>);
  case Family::Or:
    return binding.to(runPredicates<Family::Or>);
  case Family::Xor:
    return binding.to(runPredicates<Family::Xor>);
  case Family::Not:
    return binding.to(runPredicates<Family::Not>);
  default:
    return false;
  }
}

integer::Permute permuteOf(const Modifiers &modifiers) {
  switch (modifiers.firstOf(
      {Word::F4e, Word::B4e, Word::Rc8, Word::Ecl, Word::Ecr, Word::Rc16})) {
  case Word::F4e:
    return integer::Permute::F4e;
  case Word::B4e:
    return integer::Permute::B4e;
  case Word::Rc8:
    return integer::Permute::Rc8;
  case Word::Ecl:
    return integer::Permute::Ecl;
  case Word::Ecr:
    return integer::Permute::Ecr;
  case Word::Rc16:
    return integer::Permute::Rc16;
  default:
    return integer::Permute::Default;
  }
}

/// Which operation a family is with these modifiers.
std::optional<IntegerOp> operationOf(const Binding &binding) {
  const bool isHigh = binding.has(Word::Hi), isWide = binding.has(Word::Wide);
  const bool clamps = binding.has(Word::Clamp);
  switch (binding.family()) {
  case Family::Add:
    return IntegerOp::Add;
  case Family::Sub:
    return IntegerOp::Sub;
  case Family::Mul:
    return isWide   ? IntegerOp::MulWide
           : isHigh ? IntegerOp::MulHigh
                    : IntegerOp::MulLow;
  case Family::Mad:
    return isWide   ? IntegerOp::MadWide
           : isHigh ? IntegerOp::MadHigh
                    : IntegerOp::MadLow;
  case Family::Mul24:
    return isHigh ? IntegerOp::Mul24High : IntegerOp::Mul24Low;
  case Family::Mad24:
    return isHigh ? IntegerOp::Mad24High : IntegerOp::Mad24Low;
  case Family::Sad:
    return IntegerOp::Sad;
  case Family::Div:
    return IntegerOp::Div;
  case Family::Rem:
    return IntegerOp::Rem;
  case Family::Abs:
    return IntegerOp::Abs;
  case Family::Neg:
    return IntegerOp::Neg;
  case Family::Min:
    return IntegerOp::Min;
  case Family::Max:
    return IntegerOp::Max;
  case Family::Popc:
    return IntegerOp::Popc;
  case Family::Clz:
    return IntegerOp::Clz;
  case Family::Bfind:
    return binding.has(Word::Shiftamt) ? IntegerOp::BfindShift
                                       : IntegerOp::Bfind;
  case Family::Fns:
    return IntegerOp::Fns;
  case Family::Brev:
    return IntegerOp::Brev;
  case Family::Bfe:
    return IntegerOp::Bfe;
  case Family::Bfi:
    return IntegerOp::Bfi;
  case Family::Szext:
    return clamps ? IntegerOp::SzextClamp : IntegerOp::SzextWrap;
  case Family::Bmsk:
    return clamps ? IntegerOp::BmskClamp : IntegerOp::BmskWrap;
  case Family::Dp4a:
    return IntegerOp::Dp4a;
  case Family::Dp2a:
    return isHigh ? IntegerOp::Dp2aHigh : IntegerOp::Dp2aLow;
  case Family::And:
    return IntegerOp::And;
  case Family::Or:
    return IntegerOp::Or;
  case Family::Xor:
    return IntegerOp::Xor;
  case Family::Not:
    return IntegerOp::Not;
  case Family::Cnot:
    return IntegerOp::Cnot;
  case Family::Lop3:
    return IntegerOp::Lop3;
  case Family::Shf:
    if (binding.has(Word::L))
      return clamps ? IntegerOp::FunnelLeftClamp : IntegerOp::FunnelLeftWrap;
    return clamps ? IntegerOp::FunnelRightClamp : IntegerOp::FunnelRightWrap;
  case Family::Shl:
    return IntegerOp::Shl;
  case Family::Shr:
    return IntegerOp::Shr;
  case Family::Prmt:
    return IntegerOp::Prmt;
  default:
    return std::nullopt;
  }
}

} // namespace

bool kvc::sim::bindIntegers(Binding &binding) {
  const Type type = binding.type();
  switch (binding.family()) {
  case Family::AddCarry:
  case Family::SubCarry:
  case Family::MadCarry:
    return bindCarry(binding);
  default:
    break;
  }
  if (type == Type::Pred)
    return bindPredicates(binding);
  const bool isInteger =
      kindOf(type) == TypeKind::Bits || kindOf(type) == TypeKind::Unsigned ||
      kindOf(type) == TypeKind::Signed || kindOf(type) == TypeKind::Packed;
  const std::optional<IntegerOp> op = operationOf(binding);
  if (!isInteger || !op)
    return false;
  IntegerForm form{*op, type, binding.type(1), binding.has(Word::Sat),
                   binding.has(Word::Relu)};
  if (binding.family() == Family::Prmt)
    form.parameter = uint32_t(permuteOf(binding.modifiers));
  if (binding.family() == Family::Lop3) {
    const bool hasPredicate = binding.has(Word::And) || binding.has(Word::Or);
    form.parameter = uint32_t(binding.immediate(hasPredicate ? 5 : 4));
    std::optional<IntegerRow> row =
        IntegerRow::create(form, binding.kernel.level);
    if (!hasPredicate || !row)
      return binding.toIf(runInteger<3>, row);
    return binding.to(runLogicWithPredicate,
                      LogicWithPredicate{*row, binding.has(Word::Or)});
  }
  static constexpr Handler handlers[] = {runInteger<1>, runInteger<2>,
                                         runInteger<3>, runInteger<4>};
  const size_t sources = binding.slots.size() - 1;
  return sources >= 1 && sources <= 4 &&
         binding.toIf(handlers[sources - 1],
                      IntegerRow::create(form, binding.kernel.level));
}
