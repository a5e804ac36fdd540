//===- integers_test.cpp - Integers, logic, shifts ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "InstructionCheck.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <gtest/gtest.h>

using namespace kvc::test;

namespace {

/// The same expression in every integer type.
template <typename Op>
void addTypes(std::vector<InstructionCase> &list, const std::string &name,
              unsigned sources, Op op, bool hasUnsigned = true) {
  auto add = [&](const char *type, auto zero) {
    using T = decltype(zero);
    const unsigned bits = sizeof(T) * 8;
    list.push_back(
        {name + "." + type, bits, std::vector<unsigned>(sources, bits),
         [op](u64 a, u64 b, u64 c) { return u64(op(T(a), T(b), T(c))); }});
  };
  if (hasUnsigned) {
    add("u16", u16());
    add("u32", u32());
    add("u64", u64());
  }
  add("s16", s16());
  add("s32", s32());
  add("s64", s64());
}

TEST(ArithmeticTest, IntegersOfAllTypes) {
  std::vector<InstructionCase> list;
  addTypes(list, "add", 2,
           [](auto a, auto b, auto) { return u64(a) + u64(b); });
  addTypes(list, "sub", 2,
           [](auto a, auto b, auto) { return u64(a) - u64(b); });
  addTypes(list, "mul.lo", 2,
           [](auto a, auto b, auto) { return u64(a) * u64(b); });
  addTypes(list, "mad.lo", 3,
           [](auto a, auto b, auto c) { return u64(a) * u64(b) + u64(c); });
  addTypes(list, "mul.hi", 2, [](auto a, auto b, auto) {
    return u64((s128(a) * s128(b)) >> (sizeof(a) * 8));
  });
  addTypes(list, "mad.hi", 3, [](auto a, auto b, auto c) {
    return u64((s128(a) * s128(b)) >> (sizeof(a) * 8)) + u64(c);
  });
  // Products of u64 need all 128 bits without a sign.
  std::erase_if(list, [](const InstructionCase &entry) {
    return entry.text == "mul.hi.u64" || entry.text == "mad.hi.u64";
  });
  list.push_back({"mul.hi.u64", 64, {64, 64}, [](u64 a, u64 b, u64) {
                    return u64((u128(a) * b) >> 64);
                  }});
  addTypes(list, "min", 2, [](auto a, auto b, auto) { return a < b ? a : b; });
  addTypes(list, "max", 2, [](auto a, auto b, auto) { return a > b ? a : b; });
  addTypes(list, "sad", 3, [](auto a, auto b, auto c) {
    return u64(c) + (a < b ? u64(b) - u64(a) : u64(a) - u64(b));
  });
  addTypes(list, "div", 2, [](auto a, auto b, auto) {
    return b == 0                                        ? ~u64(0)
           : b == decltype(b)(-1) && decltype(b)(-1) < 0 ? 0 - u64(a)
                                                         : u64(a / b);
  });
  addTypes(list, "rem", 2, [](auto a, auto b, auto) {
    return b == 0                                        ? u64(a)
           : b == decltype(b)(-1) && decltype(b)(-1) < 0 ? 0
                                                         : u64(a % b);
  });
  addTypes(
      list, "abs", 1,
      [](auto a, auto, auto) { return a < 0 ? 0 - u64(a) : u64(a); }, false);
  addTypes(
      list, "neg", 1, [](auto a, auto, auto) { return 0 - u64(a); }, false);
  checkAll(list);
}

TEST(ArithmeticTest, IntegersOfOneType) {
  checkAll({
      {"mul.wide.u16", 32, {16, 16}, [](u64 a, u64 b, u64) { return a * b; }},
      {"mul.wide.s16",
       32,
       {16, 16},
       [](u64 a, u64 b, u64) { return u64(s64(s16(a)) * s16(b)); }},
      {"mul.wide.u32", 64, {32, 32}, [](u64 a, u64 b, u64) { return a * b; }},
      {"mul.wide.s32",
       64,
       {32, 32},
       [](u64 a, u64 b, u64) { return u64(s64(s32(a)) * s32(b)); }},
      {"mad.wide.u16",
       32,
       {16, 16, 32},
       [](u64 a, u64 b, u64 c) { return a * b + c; }},
      {"mad.wide.s32",
       64,
       {32, 32, 64},
       [](u64 a, u64 b, u64 c) { return u64(s64(s32(a)) * s32(b)) + c; }},
      {"mul24.lo.u32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }},
      {"mul24.hi.u32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return ((a & 0xFFFFFF) * (b & 0xFFFFFF)) >> 16;
       }},
      {"mad24.lo.s32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         return u64(s64(s32(u32(a) << 8) >> 8) * (s32(u32(b) << 8) >> 8)) + c;
       }},
      {"add.sat.s32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(
             std::clamp<s64>(s64(s32(a)) + s32(b), INT32_MIN, INT32_MAX));
       }},
      {"sub.sat.s32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(
             std::clamp<s64>(s64(s32(a)) - s32(b), INT32_MIN, INT32_MAX));
       }},
      {"mad.hi.sat.s32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         return u64(std::clamp<s64>(((s64(s32(a)) * s32(b)) >> 32) + s32(c),
                                    INT32_MIN, INT32_MAX));
       }},
      {"add.u16x2",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(u16(a + b)) | u64(u16((a >> 16) + (b >> 16))) << 16;
       }},
      {"min.s16x2",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(u16(std::min(s16(a), s16(b)))) |
                u64(u16(std::min(s16(a >> 16), s16(b >> 16)))) << 16;
       }},
      {"max.relu.s16x2",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(u16(std::max<s16>({s16(a), s16(b), 0}))) |
                u64(u16(std::max<s16>({s16(a >> 16), s16(b >> 16), 0}))) << 16;
       }},
      {"max.u16x2",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(std::max(u16(a), u16(b))) |
                u64(std::max(u16(a >> 16), u16(b >> 16))) << 16;
       }},
      {"min.relu.s32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(std::max(0, std::min(s32(a), s32(b))));
       }},
      {"popc.b32",
       32,
       {32},
       [](u64 a, u64, u64) { return u64(std::popcount(a)); }},
      {"popc.b64",
       32,
       {64},
       [](u64 a, u64, u64) { return u64(std::popcount(a)); }},
      {"clz.b32",
       32,
       {32},
       [](u64 a, u64, u64) { return u64(std::countl_zero(u32(a))); }},
      {"clz.b64",
       32,
       {64},
       [](u64 a, u64, u64) { return u64(std::countl_zero(a)); }},
      {"bfind.u32",
       32,
       {32},
       [](u64 a, u64, u64) {
         return a ? u64(63 - std::countl_zero(a)) : ~u64(0);
       }},
      {"bfind.shiftamt.u64",
       32,
       {64},
       [](u64 a, u64, u64) { return a ? u64(std::countl_zero(a)) : ~u64(0); }},
      {"bfind.s32",
       32,
       {32},
       [](u64 a, u64, u64) {
         const u32 x = s32(a) < 0 ? ~u32(a) : u32(a);
         return x ? u64(31 - std::countl_zero(x)) : ~u64(0);
       }},
      {"brev.b32",
       32,
       {32},
       [](u64 a, u64, u64) {
         u64 r = 0;
         for (int i = 0; i < 32; ++i)
           r |= (a >> i & 1) << (31 - i);
         return r;
       }},
      {"brev.b64",
       64,
       {64},
       [](u64 a, u64, u64) {
         u64 r = 0;
         for (int i = 0; i < 64; ++i)
           r |= (a >> i & 1) << (63 - i);
         return r;
       }},
      {"bfe.u32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         const u64 p = b & 255, n = c & 255;
         return p > 31 || n == 0
                    ? 0
                    : (a >> p) & (n > 31 ? ~u64(0) : (u64(1) << n) - 1);
       },
       Draw::Small},
      {"bfe.s32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         u64 r = 0;
         const u64 p = b & 255, n = c & 255;
         if (n == 0)
           return u64(0);
         const u64 sign = a >> std::min<u64>(p + n - 1, 31) & 1;
         for (u64 i = 0; i < 32; ++i)
           r |= (i < n && p + i < 32 ? a >> (p + i) & 1 : sign) << i;
         return r;
       },
       Draw::Small},
      {"bfe.u64",
       64,
       {64, 32, 32},
       [](u64 a, u64 b, u64 c) {
         const u64 p = b & 255, n = c & 255;
         return p > 63 || n == 0
                    ? 0
                    : (a >> p) & (n > 63 ? ~u64(0) : (u64(1) << n) - 1);
       },
       Draw::Small},
      {"bfi.b32 $d, $a, $b, 5, $c",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         const u64 n = c & 255, mask = (n > 31 ? 0xFFFFFFFF : (u64(1) << n) - 1)
                                       << 5;
         return (b & ~mask) | ((a << 5) & mask);
       },
       Draw::Small},
      {"fns.b32 $d, $a, 3, 2",
       32,
       {32},
       [](u64 a, u64, u64) {
         int n = 0;
         for (u64 i = 3; i < 32; ++i)
           if ((a >> i & 1) && ++n == 2)
             return i;
         return ~u64(0);
       }},
      {"szext.wrap.s32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         const int n = b & 31;
         return n == 0 ? 0 : u64(s64(a << (64 - n)) >> (64 - n));
       }},
      {"bmsk.clamp.b32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         const u64 m = b > 31 ? 0xFFFFFFFF : (u64(1) << b) - 1;
         return a > 31 ? 0 : m << a;
       },
       Draw::Small},
      {"dp4a.s32.u32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         u64 r = c;
         for (int i = 0; i < 32; i += 8)
           r += u64(s64(s8(a >> i)) * u8(b >> i));
         return r;
       }},
      {"dp2a.hi.u32.s32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         return c + u64(s64(u16(a)) * s8(b >> 16)) +
                u64(s64(u16(a >> 16)) * s8(b >> 24));
       }},
  });
}

TEST(ArithmeticTest, LogicAndShifts) {
  checkAll({
      {"and.b16", 16, {16, 16}, [](u64 a, u64 b, u64) { return a & b; }},
      {"or.b32", 32, {32, 32}, [](u64 a, u64 b, u64) { return a | b; }},
      {"xor.b64", 64, {64, 64}, [](u64 a, u64 b, u64) { return a ^ b; }},
      {"not.b16", 16, {16}, [](u64 a, u64, u64) { return ~a; }},
      {"not.b64", 64, {64}, [](u64 a, u64, u64) { return ~a; }},
      {"cnot.b32", 32, {32}, [](u64 a, u64, u64) { return u64(a == 0); }},
      {"and.pred $d, $a, !$b",
       1,
       {1, 1},
       [](u64 a, u64 b, u64) { return a & ~b; }},
      {"or.pred", 1, {1, 1}, [](u64 a, u64 b, u64) { return a | b; }},
      {"xor.pred", 1, {1, 1}, [](u64 a, u64 b, u64) { return a ^ b; }},
      {"not.pred", 1, {1}, [](u64 a, u64, u64) { return ~a; }},
      {"lop3.b32 $d, $a, $b, $c, 0xCA",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) { return (a & b) | (~a & c); }},
      {"lop3.or.b32 _|$d, $a, $b, $c, 0x80, 0",
       1,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) { return u64((a & b & c) != 0); }},
      {"shl.b16",
       16,
       {16, 32},
       [](u64 a, u64 b, u64) { return b > 15 ? 0 : a << b; },
       Draw::Small},
      {"shl.b64",
       64,
       {64, 32},
       [](u64 a, u64 b, u64) { return b > 63 ? 0 : a << b; },
       Draw::Small},
      {"shl.b32 $d, $a, 7", 32, {32}, [](u64 a, u64, u64) { return a << 7; }},
      {"shr.s16",
       16,
       {16, 32},
       [](u64 a, u64 b, u64) {
         return u64(s64(s16(a)) >> std::min<u64>(b, 15));
       }},
      {"shr.u32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) { return b > 31 ? 0 : a >> b; },
       Draw::Small},
      {"shr.s32 $d, $a, 3",
       32,
       {32},
       [](u64 a, u64, u64) { return u64(s32(a) >> 3); }},
      {"shr.s64",
       64,
       {64, 32},
       [](u64 a, u64 b, u64) { return u64(s64(a) >> std::min<u64>(b, 63)); }},
      {"shf.l.wrap.b32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) { return ((b << 32 | a) << (c & 31)) >> 32; }},
      {"shf.r.clamp.b32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         return (b << 32 | a) >> std::min<u64>(c, 32);
       },
       Draw::Small},
      {"prmt.b32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         u64 r = 0;
         const u64 both = b << 32 | a;
         for (int i = 0; i < 4; ++i) {
           const u64 n = c >> (4 * i) & 15;
           const u8 x = u8(both >> (8 * (n & 7)));
           r |= u64(n & 8 ? (x & 0x80 ? 0xFF : 0) : x) << (8 * i);
         }
         return r;
       }},
      {"prmt.b32.ecl $d, $a, $b, $c",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         u64 r = 0;
         const u64 both = b << 32 | a;
         for (u64 i = 0; i < 4; ++i)
           r |= (both >> (8 * std::max(i, c & 3)) & 255) << (8 * i);
         return r;
       }},
      {"{ .reg .b32 %lo, %hi, %lb, %hb; mov.b64 {%lo, %hi}, $a; mov.b64 {%lb, "
       "%hb}, $b; @%pg add.cc.u32 %lo, %lo, %lb; @%pg addc.u32 %hi, %hi, %hb; "
       "@%pg mov.b64 $d, {%lo, %hi}; }",
       64,
       {64, 64},
       [](u64 a, u64 b, u64) { return a + b; }},
      {"{ .reg .b32 %lo, %hi, %lb, %hb; mov.b64 {%lo, %hi}, $a; mov.b64 {%lb, "
       "%hb}, $b; @%pg sub.cc.u32 %lo, %lo, %lb; @%pg subc.u32 %hi, %hi, %hb; "
       "@%pg mov.b64 $d, {%lo, %hi}; }",
       64,
       {64, 64},
       [](u64 a, u64 b, u64) { return a - b; }},
  });
}

} // namespace
