//===- BindAtomics.cpp - Atomic operations --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Lanes take their turns by number. What may be seen by other blocks runs on
// one thread of the host, so that nothing here needs to be atomic there.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Access.h"
#include "kvc/Sim/Numerics/FloatOps.h"

#include <algorithm>

using namespace kvc::sim;

namespace {

/// atom and red: the operation on one element.
struct AtomicForm {
  AccessForm access;
  Word op = Word::Add;
  Type type = Type::U32;
  uint32_t vector = 1;
  bool returns = true;             ///< atom.
  std::optional<FloatForm> float_; ///< add, min, max of floats.
};

/// Integers: the new value of `old` with operand `b`.
uint64_t updated(const AtomicForm &form, uint64_t old, uint64_t b) {
  const bool isSigned = kindOf(form.type) == TypeKind::Signed;
  const bool isLong = bitsOf(form.type) == 64;
  auto isLess = [&](uint64_t p, uint64_t q) {
    if (!isSigned)
      return p < q;
    return isLong ? int64_t(p) < int64_t(q)
                  : int32_t(uint32_t(p)) < int32_t(uint32_t(q));
  };
  switch (form.op) {
  case Word::And:
    return old & b;
  case Word::Or:
    return old | b;
  case Word::Xor:
    return old ^ b;
  case Word::Exch:
    return b;
  case Word::Min:
    return isLess(b, old) ? b : old;
  case Word::Max:
    return isLess(old, b) ? b : old;
  case Word::Inc:
    return old >= b ? 0 : old + 1;
  case Word::Dec:
    return old == 0 || old > b ? b : old - 1;
  default:
    return old + b;
  }
}

template <typename Stored, typename RowWord>
void runAtomic(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<AtomicForm>(step);
  const uint32_t *o = step.operands;
  const uint32_t *address = o + (form.returns ? form.vector : 0);
  Resolved resolved;
  if (!resolve(warp, form.access, address[0], lanes, resolved))
    return;
  eachLane(lanes, [&](unsigned lane) {
    for (uint32_t i = 0; i < form.vector; ++i) {
      uint8_t *at = resolved.host[lane] + i * sizeof(Stored);
      auto value = [&](uint32_t operand) {
        return static_cast<Stored>(
            reinterpret_cast<const RowWord *>(warp.row(operand))[lane]);
      };
      Stored old;
      std::memcpy(&old, at, sizeof(old));
      const Stored b = value(address[2 + i]);
      Stored next = old;
      if (form.op == Word::Cas)
        next = old == b ? value(address[3]) : old;
      else if (form.float_)
        next = static_cast<Stored>(evaluate(*form.float_, old, b, 0));
      else
        next = static_cast<Stored>(updated(form, old, b));
      std::memcpy(at, &next, sizeof(next));
      if (form.returns && o[i] != kNoOperand)
        reinterpret_cast<RowWord *>(warp.row(o[i]))[lane] = old;
    }
  });
  if (form.returns)
    warp.ask();
}

/// exch and cas of 128 bits.
void runAtomicLong(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<AtomicForm>(step);
  const uint32_t *o = step.operands;
  Resolved resolved;
  if (!resolve(warp, form.access, o[1], lanes, resolved))
    return;
  eachLane(lanes, [&](unsigned lane) {
    auto value = [&](uint32_t operand) {
      return reinterpret_cast<const Long *>(warp.row(operand))[lane];
    };
    Long old;
    std::memcpy(&old, resolved.host[lane], sizeof(old));
    Long next = value(o[3]);
    if (form.op == Word::Cas)
      next = old == value(o[3]) ? value(o[4]) : old;
    std::memcpy(resolved.host[lane], &next, sizeof(next));
    if (o[0] != kNoOperand)
      reinterpret_cast<Long *>(warp.row(o[0]))[lane] = old;
  });
  warp.ask();
}

} // namespace

bool kvc::sim::bindAtomics(Binding &binding) {
  if (binding.family() != Family::Atom && binding.family() != Family::Red)
    return false;
  AtomicForm form;
  form.returns = binding.family() == Family::Atom;
  form.vector = binding.modifiers.vector();
  form.type = binding.type();
  form.op = binding.modifiers.firstOf(
      {Word::And, Word::Or, Word::Xor, Word::Exch, Word::Cas, Word::Add,
       Word::Inc, Word::Dec, Word::Min, Word::Max});
  const unsigned bits = bitsOf(form.type);
  form.access =
      accessFormOf(binding, form.returns ? form.vector : 0,
                   MemoryAccess::Kind::Atomic, bits / 8 * form.vector);
  // Without an order an atomic operation is relaxed.
  if (form.access.order == MemoryOrder::Weak)
    form.access.order = MemoryOrder::Relaxed;
  if (form.access.scope == MemoryScope::None)
    form.access.scope = MemoryScope::Gpu;
  const TypeKind kind = kindOf(form.type);
  if (kind == TypeKind::Float || kind == TypeKind::Alternate) {
    form.float_ = FloatForm{};
    form.float_->op = form.op == Word::Add   ? FloatOp::Add
                      : form.op == Word::Min ? FloatOp::Min
                                             : FloatOp::Max;
    form.float_->type = form.type;
    // The units beside memory flush subnormal f32 in global memory.
    form.float_->ftz =
        form.type == Type::F32 && form.access.space != MemorySpace::Shared;
  }
  switch (bits) {
  case 16:
    return binding.to(runAtomic<uint16_t, uint32_t>, form);
  case 32:
    return binding.to(runAtomic<uint32_t, uint32_t>, form);
  case 64:
    return binding.to(runAtomic<uint64_t, uint64_t>, form);
  case 128:
    return binding.to(runAtomicLong, form);
  default:
    return false;
  }
}
