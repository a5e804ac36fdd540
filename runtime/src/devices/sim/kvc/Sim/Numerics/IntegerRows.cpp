//===- IntegerRows.cpp - Integers, compiled for each level ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Compiled once per SimdLevel. Each operation is written out for one lane on
// words of the row, so that it vectorises and the linker finds nothing of it
// outside the level's namespace.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/IntegerForms.h"
#include "kvc/Sim/Numerics/Lanes.h"
#include "kvc/Sim/Numerics/Levels.h"

namespace kvc::sim::KVC_SIM_LEVEL {

namespace {

/// A value of type T (int16_t .. uint64_t), its row's words, and its bits
/// without a sign.
template <typename T>
struct Lane;
#define KVC_SIM_LANE(T, RowWord, Bits)                                         \
  template <>                                                                  \
  struct Lane<T> {                                                             \
    using Word = RowWord;                                                      \
    using Unsigned = Bits;                                                     \
    static constexpr uint32_t bits = sizeof(T) * 8;                            \
  };
KVC_SIM_LANE(uint16_t, uint32_t, uint16_t)
KVC_SIM_LANE(int16_t, uint32_t, uint16_t)
KVC_SIM_LANE(uint32_t, uint32_t, uint32_t)
KVC_SIM_LANE(int32_t, uint32_t, uint32_t)
KVC_SIM_LANE(uint64_t, uint64_t, uint64_t)
KVC_SIM_LANE(int64_t, uint64_t, uint64_t)
#undef KVC_SIM_LANE

/// Arithmetic wraps, so it is done without signs.
template <typename T>
using U = typename Lane<T>::Unsigned;

template <typename T>
struct Add {
  static T run(T a, T b, T) { return T(U<T>(U<T>(a) + U<T>(b))); }
};
template <typename T>
struct Sub {
  static T run(T a, T b, T) { return T(U<T>(U<T>(a) - U<T>(b))); }
};
template <typename T>
struct MulLow {
  static T run(T a, T b, T) {
    return T(U<T>(uint64_t(U<T>(a)) * uint64_t(U<T>(b))));
  }
};
template <typename T>
struct MadLow {
  static T run(T a, T b, T c) {
    return T(U<T>(uint64_t(U<T>(a)) * uint64_t(U<T>(b)) + uint64_t(U<T>(c))));
  }
};
template <typename T>
struct Min {
  static T run(T a, T b, T) { return a < b ? a : b; }
};
template <typename T>
struct Max {
  static T run(T a, T b, T) { return a < b ? b : a; }
};
template <typename T>
struct And {
  static T run(T a, T b, T) { return T(a & b); }
};
template <typename T>
struct Or {
  static T run(T a, T b, T) { return T(a | b); }
};
template <typename T>
struct Xor {
  static T run(T a, T b, T) { return T(a ^ b); }
};
template <typename T>
struct Not {
  static T run(T a, T, T) { return T(~a); }
};
template <typename T>
struct Cnot {
  static T run(T a, T, T) { return a == 0; }
};
template <typename T>
struct Abs {
  static T run(T a, T, T) { return a < 0 ? T(U<T>(0 - U<T>(a))) : a; }
};
template <typename T>
struct Neg {
  static T run(T a, T, T) { return T(U<T>(0 - U<T>(a))); }
};

template <typename T, template <typename> typename Op>
void row(uint32_t, void *d, const void *a, const void *b, const void *c,
         const void *) {
  using Word = typename Lane<T>::Word;
  auto *to = static_cast<Word *>(d);
  const auto *x = static_cast<const Word *>(a);
  const auto *y = static_cast<const Word *>(b ? b : a);
  const auto *z = static_cast<const Word *>(c ? c : a);
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = Word(U<T>(Op<T>::run(T(x[lane]), T(y[lane]), T(z[lane]))));
}

/// Amounts are rows of u32; those beyond the bits shift everything out.
template <typename T>
void shiftLeft(uint32_t, void *d, const void *a, const void *b, const void *,
               const void *) {
  using Word = typename Lane<T>::Word;
  auto *to = static_cast<Word *>(d);
  const auto *x = static_cast<const Word *>(a);
  const auto *amount = static_cast<const uint32_t *>(b);
  constexpr uint32_t bits = Lane<T>::bits;
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    Word by = amount[lane] < bits ? amount[lane] : 0;
    to[lane] = amount[lane] < bits ? Word(U<T>(x[lane] << by)) : Word(0);
  }
}
template <typename T>
void shiftRight(uint32_t, void *d, const void *a, const void *b, const void *,
                const void *) {
  using Word = typename Lane<T>::Word;
  auto *to = static_cast<Word *>(d);
  const auto *x = static_cast<const Word *>(a);
  const auto *amount = static_cast<const uint32_t *>(b);
  constexpr uint32_t bits = Lane<T>::bits;
  constexpr bool isSigned = T(-1) < T(0);
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t by = amount[lane] < bits ? amount[lane] : bits - 1;
    Word shifted = Word(U<T>(T(x[lane]) >> by));
    to[lane] = isSigned || amount[lane] < bits ? shifted : Word(0);
  }
}

template <typename Wide, typename T>
void multiplyWide(uint32_t, void *d, const void *a, const void *b, const void *,
                  const void *) {
  auto *to = static_cast<Wide *>(d);
  const auto *x = static_cast<const uint32_t *>(a);
  const auto *y = static_cast<const uint32_t *>(b);
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = Wide(Wide(T(x[lane])) * Wide(T(y[lane])));
}
template <typename Wide, typename T>
void multiplyAddWide(uint32_t, void *d, const void *a, const void *b,
                     const void *c, const void *) {
  auto *to = static_cast<Wide *>(d);
  const auto *x = static_cast<const uint32_t *>(a);
  const auto *y = static_cast<const uint32_t *>(b);
  const auto *z = static_cast<const Wide *>(c);
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = Wide(Wide(T(x[lane])) * Wide(T(y[lane])) + z[lane]);
}

/// A row of words of three rows.
template <typename Op>
void eachWord(void *d, const void *a, const void *b, const void *c, Op op) {
  auto *to = static_cast<uint32_t *>(d);
  const auto *x = static_cast<const uint32_t *>(a);
  const auto *y = static_cast<const uint32_t *>(b);
  const auto *z = static_cast<const uint32_t *>(c);
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = op(x[lane], y[lane], z[lane]);
}

void logic3(uint32_t table, void *d, const void *a, const void *b,
            const void *c, const void *) {
  uint32_t wanted[8];
  for (uint32_t i = 0; i < 8; ++i)
    wanted[i] = table >> i & 1 ? ~uint32_t(0) : 0;
  eachWord(d, a, b, c, [&](uint32_t p, uint32_t q, uint32_t r) {
    return (wanted[0] & ~p & ~q & ~r) | (wanted[1] & ~p & ~q & r) |
           (wanted[2] & ~p & q & ~r) | (wanted[3] & ~p & q & r) |
           (wanted[4] & p & ~q & ~r) | (wanted[5] & p & ~q & r) |
           (wanted[6] & p & q & ~r) | (wanted[7] & p & q & r);
  });
}

/// prmt without a mode: bytes by nibbles.
void permute(uint32_t, void *d, const void *a, const void *b, const void *c,
             const void *) {
  eachWord(d, a, b, c, [](uint32_t low, uint32_t high, uint32_t nibbles) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t nibble = nibbles >> (4 * i);
      uint32_t from = nibble & 4 ? high : low;
      uint32_t byte = from >> (8 * (nibble & 3)) & 0xFF;
      uint32_t sign = byte & 0x80 ? uint32_t(0xFF) : uint32_t(0);
      result |= (nibble & 8 ? sign : byte) << (8 * i);
    }
    return result;
  });
}

/// bfe.u32
void extractField(uint32_t, void *d, const void *a, const void *b,
                  const void *c, const void *) {
  eachWord(d, a, b, c, [](uint32_t from, uint32_t at, uint32_t count) {
    uint32_t position = at & 0xFF, length = count & 0xFF;
    uint32_t shifted = position < 32 ? from >> (position & 31) : 0;
    uint32_t mask = length < 32 ? (uint32_t(1) << (length & 31)) - 1 : ~0u;
    return shifted & mask;
  });
}

/// What `each` gives for the C++ type of a type of integers; null for others.
template <typename Result, typename Each>
Result ofType(Type type, Each each) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return each.template operator()<uint16_t>();
  case Type::S16:
    return each.template operator()<int16_t>();
  case Type::U32:
  case Type::B32:
    return each.template operator()<uint32_t>();
  case Type::S32:
    return each.template operator()<int32_t>();
  case Type::U64:
  case Type::B64:
    return each.template operator()<uint64_t>();
  case Type::S64:
    return each.template operator()<int64_t>();
  default:
    return nullptr;
  }
}

template <template <typename> typename Op>
IntegerRowFn pick(Type type) {
  return ofType<IntegerRowFn>(
      type, []<typename T>() -> IntegerRowFn { return row<T, Op>; });
}

template <template <typename> typename Op>
IntegerRowFn pickSigned(Type type) {
  return type == Type::S16   ? row<int16_t, Op>
         : type == Type::S32 ? row<int32_t, Op>
         : type == Type::S64 ? row<int64_t, Op>
                             : nullptr;
}

#define KVC_SIM_PICK_WIDE(function)                                            \
  (type == Type::U16   ? function<uint32_t, uint16_t>                          \
   : type == Type::S16 ? function<uint32_t, int16_t>                           \
   : type == Type::U32 ? function<uint64_t, uint32_t>                          \
   : type == Type::S32 ? function<uint64_t, int32_t>                           \
                       : nullptr)

/// A bit for each lane where the comparison holds.
template <typename T, unsigned wanted>
LaneMask compare(const void *a, const void *b) {
  using Word = typename Lane<T>::Word;
  const auto *x = static_cast<const Word *>(a);
  const auto *y = static_cast<const Word *>(b);
  LaneMask mask = 0;
  KVC_SIM_LANES
  for (int lane = 0; lane < kLanes; ++lane) {
    T p = T(x[lane]), q = T(y[lane]);
    bool holds = wanted == kLess                ? p < q
                 : wanted == kEqual             ? p == q
                 : wanted == kGreater           ? p > q
                 : wanted == (kLess | kEqual)   ? p <= q
                 : wanted == (kLess | kGreater) ? p != q
                                                : p >= q;
    mask |= holds ? uint32_t(1) << lane : 0;
  }
  return mask;
}

template <typename T>
IntegerCompareFn pickCompare(Comparison comparison) {
  switch (comparison) {
  case Comparison::Eq:
    return compare<T, kEqual>;
  case Comparison::Ne:
    return compare<T, kLess | kGreater>;
  case Comparison::Lt:
    return compare<T, kLess>;
  case Comparison::Le:
    return compare<T, kLess | kEqual>;
  case Comparison::Gt:
    return compare<T, kGreater>;
  case Comparison::Ge:
    return compare<T, kGreater | kEqual>;
  default:
    return nullptr;
  }
}

} // namespace

IntegerRowFn findIntegerRow(const IntegerForm &form) {
  const Type type = form.type;
  if (form.sat || form.relu)
    return nullptr;
  switch (form.op) {
  case IntegerOp::Add:
    return pick<Add>(type);
  case IntegerOp::Sub:
    return pick<Sub>(type);
  case IntegerOp::MulLow:
    return pick<MulLow>(type);
  case IntegerOp::MadLow:
    return pick<MadLow>(type);
  case IntegerOp::MulWide:
    return KVC_SIM_PICK_WIDE(multiplyWide);
  case IntegerOp::MadWide:
    return KVC_SIM_PICK_WIDE(multiplyAddWide);
  case IntegerOp::Min:
    return pick<Min>(type);
  case IntegerOp::Max:
    return pick<Max>(type);
  case IntegerOp::Abs:
    return pickSigned<Abs>(type);
  case IntegerOp::Neg:
    return pickSigned<Neg>(type);
  case IntegerOp::And:
    return pick<And>(type);
  case IntegerOp::Or:
    return pick<Or>(type);
  case IntegerOp::Xor:
    return pick<Xor>(type);
  case IntegerOp::Not:
    return pick<Not>(type);
  case IntegerOp::Cnot:
    return pick<Cnot>(type);
  case IntegerOp::Shl:
    return ofType<IntegerRowFn>(
        type, []<typename T>() -> IntegerRowFn { return shiftLeft<T>; });
  case IntegerOp::Shr:
    return ofType<IntegerRowFn>(
        type, []<typename T>() -> IntegerRowFn { return shiftRight<T>; });
  case IntegerOp::Lop3:
    return logic3;
  case IntegerOp::Prmt:
    return form.parameter == 0 ? permute : nullptr;
  case IntegerOp::Bfe:
    return type == Type::U32 ? extractField : nullptr;
  default:
    return nullptr;
  }
}

IntegerCompareFn findIntegerCompare(Comparison comparison, Type type) {
  return ofType<IntegerCompareFn>(
      type, [&]<typename T>() { return pickCompare<T>(comparison); });
}

} // namespace kvc::sim::KVC_SIM_LEVEL
