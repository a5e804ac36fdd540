//===- IntegerOps.h - Integer instructions that need care -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One lane of the integer instructions of PTX whose results do not follow from
// an operator of C++. Words are unsigned (uint32_t, uint64_t; 16-bit types are
// passed extended); Signed says how they are read. Nothing here is undefined
// for any operand.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_INTEGEROPS_H
#define KVC_SIM_NUMERICS_INTEGEROPS_H

#include <bit>
#include <climits>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace kvc::sim::integer {

template <typename T>
concept Word = std::same_as<T, uint32_t> || std::same_as<T, uint64_t>;

template <Word W>
inline constexpr int kBitsOf = int(sizeof(W)) * CHAR_BIT;

/// How an instruction reads its words.
enum class Sign : bool { Unsigned, Signed };

template <Word W>
using SignedWord = std::make_signed_t<W>;
__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

/// A word as a number of twice its bits.
template <Word W>
constexpr Wide widened(W value, Sign sign) {
  return sign == Sign::Signed ? Wide(SignedWide(SignedWord<W>(value)))
                              : Wide(value);
}

template <Word W>
constexpr bool isLess(W a, W b, Sign sign) {
  return sign == Sign::Signed ? SignedWord<W>(a) < SignedWord<W>(b) : a < b;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// mul.hi.
template <Word W>
constexpr W multiplyHigh(W a, W b, Sign sign) {
  return W((widened(a, sign) * widened(b, sign)) >> kBitsOf<W>);
}

/// mul.wide of 32 bits; of 16 bits with extended operands it is the low word.
constexpr uint64_t multiplyWide(uint32_t a, uint32_t b, Sign sign) {
  return uint64_t(widened(a, sign) * widened(b, sign));
}

/// Clamped to s32.
constexpr uint32_t saturated(int64_t value) {
  return value > INT32_MAX   ? uint32_t(INT32_MAX)
         : value < INT32_MIN ? uint32_t(INT32_MIN)
                             : uint32_t(value);
}

/// add.sat.s32, sub.sat.s32, mad.hi.sat.s32.
constexpr uint32_t addSaturated(uint32_t a, uint32_t b) {
  return saturated(int64_t(int32_t(a)) + int32_t(b));
}
constexpr uint32_t subtractSaturated(uint32_t a, uint32_t b) {
  return saturated(int64_t(int32_t(a)) - int32_t(b));
}
constexpr uint32_t multiplyAddHighSaturated(uint32_t a, uint32_t b,
                                            uint32_t c) {
  return addSaturated(multiplyHigh(a, b, Sign::Signed), c);
}

/// The 48 bits of a product of 24-bit numbers, extended.
constexpr uint64_t multiply24(uint32_t a, uint32_t b, Sign sign) {
  if (sign == Sign::Unsigned)
    return uint64_t(a & 0xFFFFFF) * (b & 0xFFFFFF);
  return uint64_t(int64_t(int32_t(a << 8) >> 8) * (int32_t(b << 8) >> 8));
}
/// mul24.lo and mul24.hi.
constexpr uint32_t multiply24Low(uint32_t a, uint32_t b, Sign sign) {
  return uint32_t(multiply24(a, b, sign));
}
constexpr uint32_t multiply24High(uint32_t a, uint32_t b, Sign sign) {
  return uint32_t(multiply24(a, b, sign) >> 16);
}
/// mad24.hi.sat.s32.
constexpr uint32_t multiplyAdd24HighSaturated(uint32_t a, uint32_t b,
                                              uint32_t c) {
  return addSaturated(multiply24High(a, b, Sign::Signed), c);
}

/// Byte `number` of a word, extended.
constexpr int32_t byteOf(uint32_t word, int number, Sign sign) {
  uint32_t byte = word >> (8 * number) & 0xFF;
  return sign == Sign::Signed ? int8_t(byte) : int32_t(byte);
}
constexpr int32_t halfOf(uint32_t word, int number, Sign sign) {
  uint32_t half = word >> (16 * number) & 0xFFFF;
  return sign == Sign::Signed ? int16_t(half) : int32_t(half);
}

/// dp4a: c plus the products of four bytes.
constexpr uint32_t dot4(uint32_t a, Sign signA, uint32_t b, Sign signB,
                        uint32_t c) {
  for (int i = 0; i < 4; ++i)
    c += uint32_t(byteOf(a, i, signA) * byteOf(b, i, signB));
  return c;
}
/// dp2a: c plus the products of two halves of a with two bytes of b, the upper
/// ones for .hi.
constexpr uint32_t dot2(uint32_t a, Sign signA, uint32_t b, Sign signB,
                        uint32_t c, bool upper) {
  for (int i = 0; i < 2; ++i)
    c += uint32_t(halfOf(a, i, signA) * byteOf(b, i + 2 * upper, signB));
  return c;
}

/// sad: c + |a - b|.
template <Word W>
constexpr W sumOfDifference(W a, W b, W c, Sign sign) {
  return c + (isLess(a, b, sign) ? b - a : a - b);
}

//===----------------------------------------------------------------------===//
// Carries
//===----------------------------------------------------------------------===//

template <Word W>
struct WithCarry {
  W value;
  bool carry; ///< CC.CF: of subtractions the borrow.
  constexpr bool operator==(const WithCarry &) const = default;
};

/// add.cc (carry false), addc and addc.cc.
template <Word W>
constexpr WithCarry<W> addCarry(W a, W b, bool carry) {
  W sum = a + b, all = sum + W(carry);
  return {all, sum < a || all < sum};
}
/// sub.cc (borrow false), subc and subc.cc.
template <Word W>
constexpr WithCarry<W> subtractBorrow(W a, W b, bool borrow) {
  W difference = a - b;
  return {W(difference - W(borrow)), a < b || difference < W(borrow)};
}
/// mad.lo.cc and madc.lo.cc; mad.hi.cc and madc.hi.cc.
template <Word W>
constexpr WithCarry<W> multiplyAddLowCarry(W a, W b, W c, bool carry) {
  return addCarry(W(a * b), c, carry);
}
template <Word W>
constexpr WithCarry<W> multiplyAddHighCarry(W a, W b, W c, bool carry,
                                            Sign sign) {
  return addCarry(multiplyHigh(a, b, sign), c, carry);
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

/// div and rem. The ISA leaves division by zero open: here all ones, with the
/// dividend as the rest. The lowest number by -1 is itself.
template <Word W>
constexpr W divide(W a, W b, Sign sign) {
  if (b == 0)
    return ~W(0);
  if (sign == Sign::Unsigned)
    return a / b;
  return b == ~W(0) ? W(0) - a : W(SignedWord<W>(a) / SignedWord<W>(b));
}
template <Word W>
constexpr W remainder(W a, W b, Sign sign) {
  if (b == 0)
    return a;
  if (sign == Sign::Unsigned)
    return a % b;
  return b == ~W(0) ? W(0) : W(SignedWord<W>(a) % SignedWord<W>(b));
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// shl and shr: amounts beyond the word shift everything out. 16-bit words
/// shift as 32-bit ones that are extended.
template <Word W>
constexpr W shiftLeft(W a, uint32_t amount) {
  return amount < uint32_t(kBitsOf<W>) ? W(a << amount) : W(0);
}
template <Word W>
constexpr W shiftRight(W a, uint32_t amount, Sign sign) {
  const auto bits = uint32_t(kBitsOf<W>);
  if (sign == Sign::Signed)
    return W(SignedWord<W>(a) >> (amount < bits ? amount : bits - 1));
  return amount < bits ? W(a >> amount) : W(0);
}

/// shf: `high`:`low` shifted, the upper word of a left shift, the lower one of
/// a right shift. Amounts are taken modulo 32, or at most 32 with .clamp.
enum class Amount : bool { Wrap, Clamp };
constexpr uint32_t funnelAmount(uint32_t amount, Amount mode) {
  return mode == Amount::Wrap ? amount & 31 : amount < 32 ? amount : 32;
}
constexpr uint32_t funnelLeft(uint32_t low, uint32_t high, uint32_t amount,
                              Amount mode) {
  uint64_t both = uint64_t(high) << 32 | low;
  return uint32_t((both << funnelAmount(amount, mode)) >> 32);
}
constexpr uint32_t funnelRight(uint32_t low, uint32_t high, uint32_t amount,
                               Amount mode) {
  uint64_t both = uint64_t(high) << 32 | low;
  return uint32_t(both >> funnelAmount(amount, mode));
}

//===----------------------------------------------------------------------===//
// Fields and single bits
//===----------------------------------------------------------------------===//

/// `count` low bits, at most a word of them.
template <Word W>
constexpr W lowMask(uint32_t count) {
  return count >= uint32_t(kBitsOf<W>) ? ~W(0) : (W(1) << count) - 1;
}

/// bfe: the field of `length` bits at `position`, extended by zeros or by its
/// highest bit (of a field that ends beyond the word, by the word's).
template <Word W>
constexpr W extractField(W a, uint32_t position, uint32_t length, Sign sign) {
  const auto bits = uint32_t(kBitsOf<W>);
  position &= 0xFF;
  length &= 0xFF;
  if (length == 0)
    return 0;
  uint32_t highest = position + length - 1;
  bool isNegative = sign == Sign::Signed &&
                    ((a >> (highest < bits ? highest : bits - 1)) & 1) != 0;
  W field = shiftRight(a, position, Sign::Unsigned) & lowMask<W>(length);
  uint32_t present = position < bits ? bits - position : 0;
  if (present > length)
    present = length;
  return isNegative ? field | ~lowMask<W>(present) : field;
}

/// bfi: the low bits of `field` put into `base`.
template <Word W>
constexpr W insertField(W field, W base, uint32_t position, uint32_t length) {
  position &= 0xFF;
  length &= 0xFF;
  W mask = shiftLeft(lowMask<W>(length), position);
  return (base & ~mask) | (shiftLeft(field, position) & mask);
}

/// bfind: the number of the highest bit that is not a sign, or with .shiftamt
/// how far a left shift takes it to the top; all ones if there is none.
template <Word W>
constexpr uint32_t findHighest(W a, Sign sign, bool shiftAmount) {
  if (sign == Sign::Signed && SignedWord<W>(a) < 0)
    a = ~a;
  if (a == 0)
    return ~uint32_t(0);
  auto zeros = uint32_t(std::countl_zero(a));
  return shiftAmount ? zeros : uint32_t(kBitsOf<W>) - 1 - zeros;
}

/// brev.
template <Word W>
constexpr W reverseBits(W a) {
  W result = 0;
  for (int i = 0; i < kBitsOf<W>; ++i)
    result |= (a >> i & 1) << (kBitsOf<W> - 1 - i);
  return result;
}

/// clz and popc.
template <Word W>
constexpr uint32_t leadingZeros(W a) {
  return uint32_t(std::countl_zero(a));
}
template <Word W>
constexpr uint32_t populationCount(W a) {
  return uint32_t(std::popcount(a));
}

/// fns: the position of the |offset|-th set bit of `mask` from `base` on,
/// upward for positive offsets, downward for negative ones; for offset 0 `base`
/// if that bit is set. All ones if there is none.
constexpr uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  constexpr uint32_t none = ~uint32_t(0);
  if (base > 31)
    return none;
  if (offset == 0)
    return mask >> base & 1 ? base : none;
  auto position = int32_t(base);
  const int32_t step = offset > 0 ? 1 : -1;
  for (int64_t left = offset > 0 ? offset : -int64_t(offset);
       position >= 0 && position < 32; position += step)
    if ((mask >> position & 1) != 0 && --left == 0)
      return uint32_t(position);
  return none;
}

/// bmsk: `width` ones from `position` on.
constexpr uint32_t bitMask(uint32_t position, uint32_t width, Amount mode) {
  if (mode == Amount::Wrap) {
    position &= 31;
    width &= 31;
  }
  return shiftLeft(lowMask<uint32_t>(width), position);
}

/// szext: `width` low bits, extended.
constexpr uint32_t extendLow(uint32_t a, uint32_t width, Amount mode,
                             Sign sign) {
  if (mode == Amount::Wrap)
    width &= 31;
  if (width >= 32)
    return a;
  bool isNegative =
      sign == Sign::Signed && width > 0 && (a >> (width - 1) & 1) != 0;
  uint32_t mask = lowMask<uint32_t>(width);
  return isNegative ? a | ~mask : a & mask;
}

//===----------------------------------------------------------------------===//
// Bytes and truth tables
//===----------------------------------------------------------------------===//

enum class Permute : uint8_t { Default, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

/// prmt: bytes of b:a chosen by a nibble each (its highest bit: the byte's sign
/// instead), or by a mode and two bits of the selector.
constexpr uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector,
                                Permute mode) {
  const uint64_t both = uint64_t(b) << 32 | a;
  const uint32_t s = selector & 3;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t number = 0;
    bool isSign = false;
    switch (mode) {
    case Permute::Default: {
      uint32_t nibble = selector >> (4 * i);
      number = nibble & 7;
      isSign = (nibble & 8) != 0;
      break;
    }
    case Permute::F4e:
      number = s + i;
      break;
    case Permute::B4e:
      number = (s - i) & 7;
      break;
    case Permute::Rc8:
      number = s;
      break;
    case Permute::Ecl:
      number = s > i ? s : i;
      break;
    case Permute::Ecr:
      number = s < i ? s : i;
      break;
    case Permute::Rc16:
      number = (s & 1) * 2 + (i & 1);
      break;
    }
    auto byte = uint32_t(both >> (8 * number)) & 0xFF;
    if (isSign)
      byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// lop3: bit a*4 + b*2 + c of the table, for every bit.
constexpr uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint8_t table) {
  uint32_t result = 0;
  for (uint32_t row = 0; row < 8; ++row)
    if (table >> row & 1)
      result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  return result;
}

//===----------------------------------------------------------------------===//
// Pairs of 16 bits
//===----------------------------------------------------------------------===//

/// add.u16x2, add.s16x2.
constexpr uint32_t addPairs(uint32_t a, uint32_t b) {
  return ((a + b) & 0xFFFF) | ((a & 0xFFFF0000) + (b & 0xFFFF0000));
}

/// min and max of u16x2 and s16x2; .relu raises what is negative to 0.
constexpr uint32_t minMaxPairs(uint32_t a, uint32_t b, Sign sign, bool isMin,
                               bool relu) {
  uint32_t result = 0;
  for (int half = 0; half < 2; ++half) {
    int32_t x = halfOf(a, half, sign), y = halfOf(b, half, sign);
    int32_t chosen = (x < y) == isMin ? x : y;
    if (relu && chosen < 0)
      chosen = 0;
    result |= uint32_t(chosen & 0xFFFF) << (16 * half);
  }
  return result;
}

} // namespace kvc::sim::integer

#endif // KVC_SIM_NUMERICS_INTEGEROPS_H
