//===- BindMemory.cpp - Loads and stores ----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Access.h"

using namespace kvc::sim;

namespace {

/// A load or store: elements of `vector`, at bytes of their size.
struct MoveForm {
  AccessForm access;
  uint32_t vector = 1;
  bool asks = false; ///< A load of what others write meanwhile.
};

/// What a value is in memory, and in its register: narrow registers have zeros
/// above it.
template <typename Stored, typename Register>
struct Extended {
  using Word = std::conditional_t<(sizeof(Register) < 4), uint32_t, Register>;
  static Word of(Stored value) { return Word(Register(value)); }
};

template <typename Stored, typename Register>
void loadElement(Warp &warp, uint32_t operand, LaneMask lanes,
                 const Resolved &resolved, size_t offset) {
  using Word = typename Extended<Stored, Register>::Word;
  auto *to = reinterpret_cast<Word *>(warp.row(operand));
  auto load = [&](unsigned lane) {
    Stored value;
    std::memcpy(&value, resolved.host[lane] + offset, sizeof(value));
    to[lane] = Extended<Stored, Register>::of(value);
  };
  if (lanes == kAllLanes)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      load(lane);
  else
    eachLane(lanes, load);
}

/// {d, ..}, base, offset, ..
template <typename Stored, typename Register>
void runLoad(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<MoveForm>(step);
  Resolved resolved;
  if (!resolve(warp, form.access, step.operands[form.vector], lanes, resolved))
    return;
  for (uint32_t i = 0; i < form.vector; ++i)
    if (step.operands[i] != kNoOperand)
      loadElement<Stored, Register>(warp, step.operands[i], lanes, resolved,
                                    i * sizeof(Stored));
  if (form.asks) [[unlikely]]
    warp.ask();
}

/// base, offset, {s, ..}, ..
template <typename Stored, typename Register>
void runStore(Warp &warp, const Step &step, LaneMask lanes) {
  using Word = typename Extended<Stored, Register>::Word;
  const auto &form = formOf<MoveForm>(step);
  Resolved resolved;
  if (!resolve(warp, form.access, step.operands[0], lanes, resolved))
    return;
  for (uint32_t i = 0; i < form.vector; ++i) {
    const auto *from =
        reinterpret_cast<const Word *>(warp.row(step.operands[2 + i]));
    // Of lanes at one address the last one stays.
    eachLane(lanes, [&](unsigned lane) {
      const auto value = static_cast<Stored>(from[lane]);
      std::memcpy(resolved.host[lane] + i * sizeof(Stored), &value,
                  sizeof(value));
    });
  }
}

template <typename Stored>
Handler loadInto(unsigned bits) {
  // Sign extension goes to the register's bits and no further.
  switch (bits) {
  case 8:
    return runLoad<Stored, uint8_t>;
  case 16:
    return runLoad<Stored, uint16_t>;
  case 64:
    return runLoad<Stored, uint64_t>;
  default:
    return runLoad<Stored, uint32_t>;
  }
}

template <typename Stored>
Handler storeFrom(unsigned bits) {
  return bits == 64 ? runStore<Stored, uint64_t> : runStore<Stored, uint32_t>;
}

Handler loadOf(Type type, unsigned registerBits) {
  const bool isSigned = kindOf(type) == TypeKind::Signed;
  switch (bitsOf(type)) {
  case 8:
    return isSigned ? loadInto<int8_t>(registerBits)
                    : loadInto<uint8_t>(registerBits);
  case 16:
    return isSigned ? loadInto<int16_t>(registerBits)
                    : loadInto<uint16_t>(registerBits);
  case 32:
    return isSigned ? loadInto<int32_t>(registerBits)
                    : loadInto<uint32_t>(registerBits);
  case 64:
    return runLoad<uint64_t, uint64_t>;
  default:
    return runLoad<Long, Long>;
  }
}

Handler storeOf(Type type, unsigned registerBits) {
  switch (bitsOf(type)) {
  case 8:
    return storeFrom<uint8_t>(registerBits);
  case 16:
    return storeFrom<uint16_t>(registerBits);
  case 32:
    return storeFrom<uint32_t>(registerBits);
  case 64:
    return runStore<uint64_t, uint64_t>;
  default:
    return runStore<Long, Long>;
  }
}

/// Elements of one vector may have registers of different widths.
struct MixedForm {
  MoveForm move;
  std::vector<Handler> handlers; ///< One for each element.
  std::vector<MoveForm> forms;
};

/// Runs a vector element by element after one access to all of it.
template <bool isLoad>
void runMixed(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<MixedForm>(step);
  const uint32_t vector = form.move.vector;
  const uint32_t base = step.operands[isLoad ? vector : 0];
  Resolved resolved;
  if (!resolve(warp, form.move.access, base, lanes, resolved))
    return;
  // The whole was told; its elements are not.
  Observer *observer = warp.launch->observer;
  warp.launch->observer = nullptr;
  alignas(64) uint64_t bases[kLanes];
  std::memcpy(bases, warp.row(base),
              form.move.access.isWide ? sizeof(bases) : sizeof(bases) / 2);
  // The address may be a destination too, so that one comes last.
  for (int pass = 0; pass < 2; ++pass)
    for (uint32_t i = 0; i < vector; ++i) {
      const uint32_t value = step.operands[isLoad ? i : 2 + i];
      if (value == kNoOperand || (isLoad && value == base) != (pass == 1))
        continue;
      const uint32_t operands[] = {isLoad ? value : base,
                                   isLoad ? base : kNoOperand, value};
      Step element = step;
      element.operands = operands;
      element.form = &form.forms[i];
      form.handlers[i](warp, element, lanes);
    }
  warp.launch->observer = observer;
}

bool bindMove(Binding &binding, bool isLoad) {
  const Type type = binding.type();
  const uint32_t bytes = bitsOf(type) / 8;
  MoveForm form;
  form.vector = binding.modifiers.vector();
  const size_t address = isLoad ? form.vector : 0;
  const size_t first = isLoad ? 0 : 2;
  form.access = accessFormOf(binding, address,
                             isLoad ? MemoryAccess::Kind::Read
                                    : MemoryAccess::Kind::Write,
                             bytes * form.vector);
  form.asks = isLoad && form.access.order != MemoryOrder::Weak;
  auto handlerFor = [&](size_t element) {
    const Slot slot = binding.slots[first + element];
    const unsigned bits = slot.isNothing() ? bitsOf(type) : slot.bits();
    return isLoad ? loadOf(type, bits) : storeOf(type, bits);
  };
  bool isMixed = false;
  Handler handler = nullptr;
  for (uint32_t i = 0; i < form.vector; ++i)
    if (!binding.slots[first + i].isNothing()) {
      isMixed |= handler && handlerFor(i) != handler;
      handler = handlerFor(i);
    }
  if (!handler)
    handler = handlerFor(0);
  if (!isMixed)
    return binding.to(handler, form);
  MixedForm mixed{form, {}, {}};
  for (uint32_t i = 0; i < form.vector; ++i) {
    MoveForm element = form;
    element.vector = 1;
    element.access.bytes = element.access.align = bytes;
    element.access.offset += int64_t(i) * bytes;
    mixed.forms.push_back(element);
    mixed.handlers.push_back(handlerFor(i));
  }
  return binding.to(isLoad ? runMixed<true> : runMixed<false>,
                    std::move(mixed));
}

/// prefetch and discard: the address is checked, but nothing is read.
void runPrefetch(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<AccessForm>(step);
  Resolved resolved;
  resolve(warp, form, step.operands[0], lanes, resolved);
}

/// A hint may name memory that is not there.
void runHint(Warp &, const Step &, LaneMask) {}

} // namespace

bool kvc::sim::bindMemory(Binding &binding) {
  switch (binding.family()) {
  case Family::Ld:
  case Family::LdNc:
  case Family::Ldu:
    return bindMove(binding, true);
  case Family::St:
    return bindMove(binding, false);
  case Family::Prefetch:
    return binding.to(runHint);
  case Family::Discard: {
    AccessForm form =
        accessFormOf(binding, 0, MemoryAccess::Kind::Prefetch, 128);
    return binding.to(runPrefetch, form);
  }
  default:
    return false;
  }
}
