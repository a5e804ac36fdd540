//===- UndefinedBits.cpp - Which bits of a result are undefined -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/UndefinedBits.h"

#include "kvc/Sim/Numerics/IntegerOps.h"

#include <bit>

using namespace kvc::sim;

/// A sum or product depends on undefined bits from the lowest of them on.
static uint64_t smeared(uint64_t undefined) {
  return undefined | (~undefined + 1);
}

static bool isPackedPair(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2 || type == Type::S16x2 ||
         type == Type::U16x2;
}

static Type resultTypeOf(const Modifiers &modifiers) {
  return modifiers.typeCount > 0 ? modifiers.types[0] : Type::B32;
}

uint64_t kvc::sim::undefinedResult(const Inst &inst, const Modifiers &modifiers,
                                   std::span<const PartlyUndefined> s) {
  const Type type = resultTypeOf(modifiers);
  const bool isLong = bitsOf(type) == 64;
  uint64_t any = 0;
  for (const PartlyUndefined &source : s)
    any |= source.undefined;
  using namespace integer;
  const Sign sign =
      kindOf(type) == TypeKind::Signed ? Sign::Signed : Sign::Unsigned;
  switch (inst.family) {
  case Family::And:
    return (s[0].undefined & s[1].undefined) | (s[0].undefined & s[1].value) |
           (s[1].undefined & s[0].value);
  case Family::Or:
    return (s[0].undefined & s[1].undefined) | (s[0].undefined & ~s[1].value) |
           (s[1].undefined & ~s[0].value);
  case Family::Xor:
  case Family::Not:
    return any;
  case Family::Lop3: {
    if (modifiers.firstOf({Word::And, Word::Or}) != Word::None)
      break;
    // A bit is defined if it comes out the same whatever the undefined ones
    // are.
    const auto table = static_cast<uint8_t>(s[3].value);
    auto bits = [&](const PartlyUndefined &source, unsigned choice) {
      return static_cast<uint32_t>(choice & 1
                                       ? source.value | source.undefined
                                       : source.value & ~source.undefined);
    };
    uint32_t differs = 0;
    const uint32_t first =
        logic3(bits(s[0], 0), bits(s[1], 0), bits(s[2], 0), table);
    for (unsigned choice = 1; choice < 8; ++choice)
      differs |= first ^ logic3(bits(s[0], choice), bits(s[1], choice >> 1),
                                bits(s[2], choice >> 2), table);
    return differs;
  }
  case Family::Shl:
  case Family::Shr: {
    if (s[1].undefined != 0)
      break;
    const auto amount = static_cast<uint32_t>(s[1].value);
    uint64_t bits = s[0].undefined;
    const unsigned width = bitsOf(type);
    if (inst.family == Family::Shl)
      return shiftLeft(bits, amount);
    if (sign == Sign::Signed && width < 64)
      bits = uint64_t(int64_t(bits << (64 - width)) >> (64 - width));
    return shiftRight(bits, amount, sign);
  }
  case Family::Shf: {
    if (s[2].undefined != 0)
      break;
    const Amount mode =
        modifiers.has(Word::Wrap) ? Amount::Wrap : Amount::Clamp;
    const auto low = uint32_t(s[0].undefined), high = uint32_t(s[1].undefined);
    const auto amount = uint32_t(s[2].value);
    return modifiers.has(Word::L) ? funnelLeft(low, high, amount, mode)
                                  : funnelRight(low, high, amount, mode);
  }
  case Family::Bfe: {
    if ((s[1].undefined | s[2].undefined) != 0)
      break;
    const auto position = uint32_t(s[1].value), length = uint32_t(s[2].value);
    return isLong
               ? extractField(s[0].undefined, position, length, sign)
               : extractField(uint32_t(s[0].undefined), position, length, sign);
  }
  case Family::Bfi: {
    if ((s[2].undefined | s[3].undefined) != 0)
      break;
    const auto position = uint32_t(s[2].value), length = uint32_t(s[3].value);
    return isLong
               ? insertField(s[0].undefined, s[1].undefined, position, length)
               : insertField(uint32_t(s[0].undefined), uint32_t(s[1].undefined),
                             position, length);
  }
  case Family::Brev:
    return isLong ? reverseBits(s[0].undefined)
                  : reverseBits(uint32_t(s[0].undefined));
  case Family::Prmt: {
    if (s[2].undefined != 0 ||
        modifiers.firstOf({Word::F4e, Word::B4e, Word::Rc8, Word::Ecl,
                           Word::Ecr, Word::Rc16}) != Word::None)
      break;
    uint32_t result = 0;
    const uint64_t both =
        uint64_t(uint32_t(s[1].undefined)) << 32 | uint32_t(s[0].undefined);
    for (unsigned i = 0; i < 4; ++i) {
      const auto selector = uint32_t(s[2].value >> (4 * i)) & 15;
      uint32_t byte = uint32_t(both >> (8 * (selector & 7))) & 0xFF;
      if (selector & 8)
        byte = byte & 0x80 ? 0xFF : 0;
      result |= byte << (8 * i);
    }
    return result;
  }
  case Family::Selp: {
    if (s[2].undefined != 0)
      return any | (s[0].value ^ s[1].value);
    return s[2].value ? s[0].undefined : s[1].undefined;
  }
  case Family::Slct: {
    if (s[2].undefined != 0)
      return any | (s[0].value ^ s[1].value);
    const auto third = static_cast<uint32_t>(s[2].value);
    // Not a number chooses the second, as negative numbers do; -0 the first.
    const bool isFloat = modifiers.types[1] == Type::F32;
    const bool first =
        isFloat ? std::bit_cast<float>(third) >= 0 : int32_t(third) >= 0;
    return first ? s[0].undefined : s[1].undefined;
  }
  case Family::Add:
  case Family::Sub:
  case Family::Mul:
  case Family::Mad:
    if (isInteger(type) && !modifiers.has(Word::Hi) &&
        !modifiers.has(Word::Sat) && !isPackedPair(type)) {
      return smeared(any);
    }
    break;
  case Family::Cvt:
    if (modifiers.typeCount == 2 && isInteger(type) &&
        isInteger(modifiers.types[1]) && !modifiers.has(Word::Sat)) {
      const unsigned from = bitsOf(modifiers.types[1]);
      uint64_t bits = s[0].undefined & maskOf(from);
      if (kindOf(modifiers.types[1]) == TypeKind::Signed && from < 64)
        bits = uint64_t(int64_t(bits << (64 - from)) >> (64 - from));
      // A narrow result is extended in its register.
      const unsigned to = bitsOf(type);
      if (to < 64) {
        bits &= maskOf(to);
        if (sign == Sign::Signed)
          bits = uint64_t(int64_t(bits << (64 - to)) >> (64 - to));
      }
      return bits;
    }
    if (s.size() == 2 && isPackedPair(type)) // The first is the upper half.
      return (s[0].undefined ? 0xFFFF0000u : 0) |
             (s[1].undefined ? 0xFFFFu : 0);
    break;
  default:
    break;
  }
  if (isPackedPair(type) && inst.family != Family::Set)
    return wholeHalves(any);
  if (type == Type::F32x2)
    return (any & maskOf(32) ? maskOf(32) : 0) |
           (any & ~maskOf(32) ? ~maskOf(32) : 0);
  return any ? kAllBits : 0;
}
