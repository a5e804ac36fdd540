//===- IntegerForms.cpp - Integer instructions on rows --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/IntegerForms.h"

#include "kvc/Sim/Numerics/IntegerOps.h"
#include "kvc/Sim/Numerics/Levels.h"

using namespace kvc::sim;
using integer::Amount;
using integer::Sign;

namespace {

bool isSigned(Type type) { return kindOf(type) == TypeKind::Signed; }
Sign signOf(Type type) {
  return isSigned(type) || type == Type::S16x2 ? Sign::Signed : Sign::Unsigned;
}

/// Calls op(a, b, c, e) in each lane, with operands of these words; those of
/// 16-bit types extended by their sign.
template <typename D, typename A, typename B, typename C, typename E,
          typename Op>
void lanes(void *d, const void *a, const void *b, const void *c, const void *e,
           Op op) {
  auto *to = static_cast<D *>(d);
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = static_cast<D>(op(static_cast<const A *>(a)[lane],
                                 b ? static_cast<const B *>(b)[lane] : B(),
                                 c ? static_cast<const C *>(c)[lane] : C(),
                                 e ? static_cast<const E *>(e)[lane] : E()));
}

/// How a type's values become words of IntegerOps.h, and results rows again.
template <Type type>
struct Values {
  static constexpr bool isNarrow = type == Type::U16 || type == Type::S16;
  static constexpr Sign sign =
      type == Type::S16 || type == Type::S32 || type == Type::S64
          ? Sign::Signed
          : Sign::Unsigned;
  using Word = std::conditional_t<type == Type::U64 || type == Type::S64 ||
                                      type == Type::B64,
                                  uint64_t, uint32_t>;
  static constexpr Word read(Word value) {
    if constexpr (type == Type::U16)
      return value & 0xFFFF;
    else if constexpr (type == Type::S16)
      return Word(int32_t(int16_t(value)));
    else
      return value;
  }
  static constexpr Word write(Word value) {
    return isNarrow ? value & 0xFFFF : value;
  }
};

/// Instructions whose operands all have the type.
template <Type type, IntegerOp op>
void plain(uint32_t, void *d, const void *a, const void *b, const void *c,
           const void *e) {
  using V = Values<type>;
  using W = typename V::Word;
  lanes<W, W, W, W, W>(d, a, b, c, e, [](W p, W q, W r, W) {
    const W x = V::read(p), y = V::read(q), z = V::read(r);
    constexpr Sign sign = V::sign;
    W result = 0;
    if constexpr (op == IntegerOp::MulHigh || op == IntegerOp::MadHigh) {
      // Of 16 bits: the upper half of the extended product.
      result = V::isNarrow ? W(x * y) >> 16 : integer::multiplyHigh(x, y, sign);
      if constexpr (op == IntegerOp::MadHigh)
        result += z;
    } else if constexpr (op == IntegerOp::Sad) {
      result = integer::sumOfDifference(x, y, z, sign);
    } else if constexpr (op == IntegerOp::Div) {
      result = integer::divide(x, y, sign);
    } else if constexpr (op == IntegerOp::Rem) {
      result = integer::remainder(x, y, sign);
    }
    return V::write(result);
  });
}

template <IntegerOp op>
IntegerRowFn pickPlain(Type type) {
  switch (type) {
  case Type::U16:
    return plain<Type::U16, op>;
  case Type::S16:
    return plain<Type::S16, op>;
  case Type::U32:
    return plain<Type::U32, op>;
  case Type::S32:
    return plain<Type::S32, op>;
  case Type::U64:
    return plain<Type::U64, op>;
  case Type::S64:
    return plain<Type::S64, op>;
  default:
    return nullptr;
  }
}

/// Instructions on 32 bits alone.
template <IntegerOp op, Sign sign, bool sat>
void words(uint32_t parameter, void *d, const void *a, const void *b,
           const void *c, const void *e) {
  using W = uint32_t;
  lanes<W, W, W, W, W>(
      d, a, b, c, e, [parameter](W x, W y, W z, W) -> uint32_t {
        using namespace integer;
        switch (op) {
        case IntegerOp::Add:
          return addSaturated(x, y);
        case IntegerOp::Sub:
          return subtractSaturated(x, y);
        case IntegerOp::MadHigh:
          return multiplyAddHighSaturated(x, y, z);
        case IntegerOp::Mul24Low:
          return multiply24Low(x, y, sign);
        case IntegerOp::Mul24High:
          return multiply24High(x, y, sign);
        case IntegerOp::Mad24Low:
          return multiply24Low(x, y, sign) + z;
        case IntegerOp::Mad24High:
          return sat ? multiplyAdd24HighSaturated(x, y, z)
                     : multiply24High(x, y, sign) + z;
        case IntegerOp::Fns:
          return findNthSet(x, y, int32_t(z));
        case IntegerOp::SzextClamp:
          return extendLow(x, y, Amount::Clamp, sign);
        case IntegerOp::SzextWrap:
          return extendLow(x, y, Amount::Wrap, sign);
        case IntegerOp::BmskClamp:
          return bitMask(x, y, Amount::Clamp);
        case IntegerOp::BmskWrap:
          return bitMask(x, y, Amount::Wrap);
        case IntegerOp::FunnelLeftWrap:
          return funnelLeft(x, y, z, Amount::Wrap);
        case IntegerOp::FunnelLeftClamp:
          return funnelLeft(x, y, z, Amount::Clamp);
        case IntegerOp::FunnelRightWrap:
          return funnelRight(x, y, z, Amount::Wrap);
        case IntegerOp::FunnelRightClamp:
          return funnelRight(x, y, z, Amount::Clamp);
        case IntegerOp::Prmt:
          return permuteBytes(x, y, z, static_cast<Permute>(parameter));
        default:
          return 0;
        }
      });
}

template <IntegerOp op, bool sat = false>
IntegerRowFn pickWords(Type type) {
  return isSigned(type) ? words<op, Sign::Signed, sat>
                        : words<op, Sign::Unsigned, sat>;
}

/// Dot products: bit 0 of the parameter is a's sign, bit 1 b's, bit 2 .hi.
void dot4Row(uint32_t signs, void *d, const void *a, const void *b,
             const void *c, const void *e) {
  using W = uint32_t;
  lanes<W, W, W, W, W>(d, a, b, c, e, [signs](W x, W y, W z, W) {
    return integer::dot4(x, static_cast<Sign>(signs & 1), y,
                         static_cast<Sign>(signs >> 1 & 1), z);
  });
}
void dot2Row(uint32_t signs, void *d, const void *a, const void *b,
             const void *c, const void *e) {
  using W = uint32_t;
  lanes<W, W, W, W, W>(d, a, b, c, e, [signs](W x, W y, W z, W) {
    return integer::dot2(x, static_cast<Sign>(signs & 1), y,
                         static_cast<Sign>(signs >> 1 & 1), z,
                         (signs & 4) != 0);
  });
}

/// Counts and positions of bits: 32-bit results.
template <typename W, IntegerOp op, Sign sign>
void counts(uint32_t, void *d, const void *a, const void *b, const void *c,
            const void *e) {
  lanes<uint32_t, W, W, W, W>(d, a, b, c, e, [](W x, W, W, W) -> uint32_t {
    if constexpr (op == IntegerOp::Popc)
      return integer::populationCount(x);
    else if constexpr (op == IntegerOp::Clz)
      return integer::leadingZeros(x);
    else
      return integer::findHighest(x, sign, op == IntegerOp::BfindShift);
  });
}

template <IntegerOp op>
IntegerRowFn pickCounts(Type type) {
  if (bitsOf(type) == 64)
    return isSigned(type) ? counts<uint64_t, op, Sign::Signed>
                          : counts<uint64_t, op, Sign::Unsigned>;
  return isSigned(type) ? counts<uint32_t, op, Sign::Signed>
                        : counts<uint32_t, op, Sign::Unsigned>;
}

template <typename W>
void reverse(uint32_t, void *d, const void *a, const void *b, const void *c,
             const void *e) {
  lanes<W, W, W, W, W>(d, a, b, c, e,
                       [](W x, W, W, W) { return integer::reverseBits(x); });
}

template <typename W, Sign sign>
void extract(uint32_t, void *d, const void *a, const void *b, const void *c,
             const void *e) {
  lanes<W, W, uint32_t, uint32_t, W>(
      d, a, b, c, e, [](W x, uint32_t position, uint32_t length, W) {
        return integer::extractField(x, position, length, sign);
      });
}

template <typename W>
void insert(uint32_t, void *d, const void *a, const void *b, const void *c,
            const void *e) {
  lanes<W, W, W, uint32_t, uint32_t>(
      d, a, b, c, e, [](W field, W base, uint32_t position, uint32_t length) {
        return integer::insertField(field, base, position, length);
      });
}

/// Pairs of 16 bits: bit 0 of the parameter is signed, bit 1 min, bit 2 .relu.
void addPairsRow(uint32_t, void *d, const void *a, const void *b, const void *c,
                 const void *e) {
  using W = uint32_t;
  lanes<W, W, W, W, W>(d, a, b, c, e,
                       [](W x, W y, W, W) { return integer::addPairs(x, y); });
}
void minMaxPairsRow(uint32_t flags, void *d, const void *a, const void *b,
                    const void *c, const void *e) {
  using W = uint32_t;
  lanes<W, W, W, W, W>(d, a, b, c, e, [flags](W x, W y, W, W) {
    return integer::minMaxPairs(x, y, static_cast<Sign>(flags & 1),
                                (flags & 2) != 0, (flags & 4) != 0);
  });
}

/// min.relu.s32, max.relu.s32
template <bool isMin>
void minMaxRelu(uint32_t, void *d, const void *a, const void *b, const void *c,
                const void *e) {
  using W = uint32_t;
  lanes<W, W, W, W, W>(d, a, b, c, e, [](W x, W y, W, W) {
    const bool first = (int32_t(x) < int32_t(y)) == isMin;
    const W chosen = first ? x : y;
    return int32_t(chosen) < 0 ? W(0) : chosen;
  });
}

IntegerRowFn findPairs(const IntegerForm &form, uint32_t &parameter) {
  const bool isMin = form.op == IntegerOp::Min;
  parameter = uint32_t(form.type == Type::S16x2) | uint32_t(isMin) << 1 |
              uint32_t(form.relu) << 2;
  if (form.op == IntegerOp::Add)
    return addPairsRow;
  return isMin || form.op == IntegerOp::Max ? minMaxPairsRow : nullptr;
}

/// Lane by lane.
IntegerRowFn findLanes(const IntegerForm &form, uint32_t &parameter) {
  const Type type = form.type;
  const bool isLong = bitsOf(type) == 64;
  if (type == Type::U16x2 || type == Type::S16x2)
    return findPairs(form, parameter);
  switch (form.op) {
  case IntegerOp::Add:
    return type == Type::S32 ? pickWords<IntegerOp::Add>(type) : nullptr;
  case IntegerOp::Sub:
    return type == Type::S32 ? pickWords<IntegerOp::Sub>(type) : nullptr;
  case IntegerOp::Min:
    return type == Type::S32 ? minMaxRelu<true> : nullptr;
  case IntegerOp::Max:
    return type == Type::S32 ? minMaxRelu<false> : nullptr;
  case IntegerOp::MulHigh:
    return pickPlain<IntegerOp::MulHigh>(type);
  case IntegerOp::MadHigh:
    return form.sat ? pickWords<IntegerOp::MadHigh>(type)
                    : pickPlain<IntegerOp::MadHigh>(type);
  case IntegerOp::Sad:
    return pickPlain<IntegerOp::Sad>(type);
  case IntegerOp::Div:
    return pickPlain<IntegerOp::Div>(type);
  case IntegerOp::Rem:
    return pickPlain<IntegerOp::Rem>(type);
  case IntegerOp::Mul24Low:
    return pickWords<IntegerOp::Mul24Low>(type);
  case IntegerOp::Mul24High:
    return pickWords<IntegerOp::Mul24High>(type);
  case IntegerOp::Mad24Low:
    return pickWords<IntegerOp::Mad24Low>(type);
  case IntegerOp::Mad24High:
    return form.sat ? pickWords<IntegerOp::Mad24High, true>(type)
                    : pickWords<IntegerOp::Mad24High>(type);
  case IntegerOp::Popc:
    return pickCounts<IntegerOp::Popc>(type);
  case IntegerOp::Clz:
    return pickCounts<IntegerOp::Clz>(type);
  case IntegerOp::Bfind:
    return pickCounts<IntegerOp::Bfind>(type);
  case IntegerOp::BfindShift:
    return pickCounts<IntegerOp::BfindShift>(type);
  case IntegerOp::Brev:
    return isLong ? reverse<uint64_t> : reverse<uint32_t>;
  case IntegerOp::Bfe:
    if (isSigned(type))
      return isLong ? extract<uint64_t, Sign::Signed>
                    : extract<uint32_t, Sign::Signed>;
    return isLong ? extract<uint64_t, Sign::Unsigned>
                  : extract<uint32_t, Sign::Unsigned>;
  case IntegerOp::Bfi:
    return isLong ? insert<uint64_t> : insert<uint32_t>;
  case IntegerOp::Fns:
    return pickWords<IntegerOp::Fns>(type);
  case IntegerOp::SzextClamp:
    return pickWords<IntegerOp::SzextClamp>(type);
  case IntegerOp::SzextWrap:
    return pickWords<IntegerOp::SzextWrap>(type);
  case IntegerOp::BmskClamp:
    return pickWords<IntegerOp::BmskClamp>(type);
  case IntegerOp::BmskWrap:
    return pickWords<IntegerOp::BmskWrap>(type);
  case IntegerOp::FunnelLeftWrap:
    return pickWords<IntegerOp::FunnelLeftWrap>(type);
  case IntegerOp::FunnelLeftClamp:
    return pickWords<IntegerOp::FunnelLeftClamp>(type);
  case IntegerOp::FunnelRightWrap:
    return pickWords<IntegerOp::FunnelRightWrap>(type);
  case IntegerOp::FunnelRightClamp:
    return pickWords<IntegerOp::FunnelRightClamp>(type);
  case IntegerOp::Prmt:
    return pickWords<IntegerOp::Prmt>(type);
  case IntegerOp::Dp4a:
  case IntegerOp::Dp2aLow:
  case IntegerOp::Dp2aHigh:
    parameter = uint32_t(signOf(type)) | uint32_t(signOf(form.typeB)) << 1 |
                uint32_t(form.op == IntegerOp::Dp2aHigh) << 2;
    return form.op == IntegerOp::Dp4a ? dot4Row : dot2Row;
  default:
    return nullptr;
  }
}

IntegerRowFn findIntegerRow(const IntegerForm &form, SimdLevel level) {
  switch (level) {
#define KVC_SIM_CASE(Name, name)                                               \
  case SimdLevel::Name:                                                        \
    return name::findIntegerRow(form);
    KVC_SIM_FOR_EACH_LEVEL(KVC_SIM_CASE)
#undef KVC_SIM_CASE
  default:
    return nullptr;
  }
}

/// Whether results take 64 bits.
bool hasWideResult(const IntegerForm &form) {
  switch (form.op) {
  case IntegerOp::MulWide:
  case IntegerOp::MadWide:
    return bitsOf(form.type) == 32;
  case IntegerOp::Popc:
  case IntegerOp::Clz:
  case IntegerOp::Bfind:
  case IntegerOp::BfindShift:
    return false;
  default:
    return bitsOf(form.type) == 64;
  }
}

} // namespace

std::optional<IntegerRow> IntegerRow::create(const IntegerForm &form,
                                             SimdLevel level) {
  uint32_t parameter = form.parameter;
  IntegerRowFn fn = findIntegerRow(form, level);
  if (!fn)
    fn = findLanes(form, parameter);
  if (!fn)
    return std::nullopt;
  return IntegerRow(fn, parameter, hasWideResult(form));
}

void IntegerRow::operator()(void *d, const void *a, const void *b,
                            const void *c, const void *e,
                            LaneMask active) const {
  if (active == kAllLanes)
    return fn(parameter, d, a, b, c, e);
  if (isWide) {
    alignas(64) uint64_t results[kLanes];
    fn(parameter, results, a, b, c, e);
    copyLanes(static_cast<uint64_t *>(d), results, active);
  } else {
    alignas(64) uint32_t results[kLanes];
    fn(parameter, results, a, b, c, e);
    copyLanes(static_cast<uint32_t *>(d), results, active);
  }
}

IntegerCompareFn kvc::sim::integerCompare(Comparison comparison, Type type,
                                          SimdLevel level) {
  switch (level) {
#define KVC_SIM_CASE(Name, name)                                               \
  case SimdLevel::Name:                                                        \
    return name::findIntegerCompare(comparison, type);
    KVC_SIM_FOR_EACH_LEVEL(KVC_SIM_CASE)
#undef KVC_SIM_CASE
  default:
    return nullptr;
  }
}
