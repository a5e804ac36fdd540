//===- arithmetic_test.cpp - One instruction, every lane ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each instruction runs in a kernel of its own on random operands and corners,
// with all lanes and with some, and is compared with an expression of C++.
//
//===----------------------------------------------------------------------===//

#include "MachineSupport.h"

#include "kvc/Sim/Numerics/Convert.h"
#include "kvc/Sim/Numerics/FloatOps.h"
#include "kvc/Sim/Numerics/HostFloat.h"

#include <bit>
#include <functional>
#include <random>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

/// What operands are drawn from.
enum class Draw : uint8_t { Any, Small, Float, Half };

struct Instruction {
  std::string text; ///< Up to its operands; with $d, $a, $b, $c in it: all.
  unsigned d;       ///< Bits of the registers.
  std::vector<unsigned> sources;
  std::function<u64(u64, u64, u64)> expected;
  Draw draw = Draw::Any;
  std::string version = "8.6", target = "sm_100a";
};

std::string registerOf(unsigned bits, char name) {
  return (bits == 1    ? "%p"
          : bits == 16 ? "%h"
          : bits == 32 ? "%r"
                       : "%rd") +
         std::string(1, name);
}

std::string replaced(std::string text, const std::string &what,
                     const std::string &by) {
  for (size_t at; (at = text.find(what)) != text.npos;)
    text.replace(at, what.size(), by);
  return text;
}

/// The kernel k(out, a, b, c, guard): arrays of u64.
std::string moduleOf(const Instruction &instruction) {
  std::string body = R"(
    .reg .pred %pg, %pa, %pb, %pc, %pd;
    .reg .b16 %ha, %hb, %hc, %hd;
    .reg .b32 %ra, %rb, %rc, %rd, %rt;
    .reg .b64 %rda, %rdb, %rdc, %rdd, %rdo, %rdp, %rdt, %rdg;
    mov.u32 %rt, %tid.x;
    mul.wide.u32 %rdt, %rt, 8;
)";
  auto load = [&](const std::string &to, const char *param) {
    body += std::string("    ld.param.u64 %rdp, [") + param +
            "];\n    add.s64 %rdp, %rdp, %rdt;\n    ld.global.b64 " + to +
            ", [%rdp];\n";
  };
  auto narrow = [&](unsigned bits, char name) {
    const std::string to = registerOf(bits, name);
    if (bits == 1)
      body += "    setp.ne.u64 " + to + ", %rdo, 0;\n";
    else if (bits == 64)
      body += "    mov.b64 " + to + ", %rdo;\n";
    else
      body += "    cvt.u" + std::to_string(bits) + ".u64 " + to + ", %rdo;\n";
  };
  std::string text = instruction.text;
  if (text.find('$') == text.npos) {
    text += " $d";
    for (size_t i = 0; i < instruction.sources.size(); ++i)
      text += std::string(", $") + char('a' + i);
  }
  for (size_t i = 0; i < instruction.sources.size(); ++i) {
    const char name = char('a' + i);
    load("%rdo", std::string(1, name).c_str());
    narrow(instruction.sources[i], name);
    text = replaced(text, std::string("$") + name,
                    registerOf(instruction.sources[i], name));
  }
  text = replaced(text, "$d", registerOf(instruction.d, 'd'));
  // What the destination holds where the guard is false.
  body += "    mov.b64 %rdo, 0x5A;\n";
  narrow(instruction.d, 'd');
  load("%rdg", "guard");
  body += "    setp.ne.u64 %pg, %rdg, 0;\n";
  // Several instructions have their guards themselves.
  body += text.starts_with("{") ? text + "\n" : "    @%pg " + text + ";\n";
  const std::string d = registerOf(instruction.d, 'd');
  if (instruction.d == 1)
    body += "    selp.u64 %rdo, 1, 0, " + d + ";\n";
  else if (instruction.d == 64)
    body += "    mov.b64 %rdo, " + d + ";\n";
  else
    body +=
        "    cvt.u64.u" + std::to_string(instruction.d) + " %rdo, " + d + ";\n";
  body += "    ld.param.u64 %rdp, [out];\n    add.s64 %rdp, %rdp, %rdt;\n"
          "    st.global.b64 [%rdp], %rdo;\n    ret;";
  return header(instruction.version, instruction.target) +
         kernel(body, ".param .u64 out, .param .u64 a, .param .u64 b, "
                      ".param .u64 c, .param .u64 guard");
}

u64 draw(Draw kind, unsigned bits, std::mt19937_64 &random) {
  static constexpr u64 corners[] = {0,          1,          2,
                                    31,         32,         0x7F,
                                    0x80,       0xFF,       0x7FFF,
                                    0x8000,     0xFFFF,     0x3F800000,
                                    0x80000000, 0x7FFFFFFF, 0xFFFFFFFF,
                                    0x7F800000, 0xFF800000, 0x7FC00000,
                                    0x00400000, 0x80000001, u64(1) << 63,
                                    ~u64(0),    0x3C007C00, 0xFC000001};
  const u64 any = random() % 4 ? random() : corners[random() % 24];
  switch (kind) {
  case Draw::Small:
    return random() % 80;
  case Draw::Float: {
    // Of moderate size, so that sums and products are finite.
    if (random() % 8 == 0)
      return any;
    if (bits == 64)
      return (random() & ~(u64(0x7FF) << 52)) |
             (u64(1020 + random() % 8) << 52);
    const u32 code = u32(random());
    return (code & 0x807FFFFF) | u32(120 + random() % 14) << 23;
  }
  case Draw::Half:
    return random() % 8 == 0
               ? any
               : (random() & 0x83FF83FF) | (u32(10 + random() % 8) << 26) |
                     (u32(10 + random() % 8) << 10);
  default:
    return any;
  }
}

void check(const Instruction &instruction) {
  SCOPED_TRACE(instruction.text);
  constexpr uint32_t threads = 96;
  Device device(moduleOf(instruction));
  std::mt19937_64 random(instruction.text.size());
  std::vector<u64> operands[3], guard(threads);
  for (std::vector<u64> &values : operands)
    values.resize(threads);
  for (uint32_t i = 0; i < threads; ++i) {
    for (size_t s = 0; s < instruction.sources.size(); ++s) {
      const unsigned bits = instruction.sources[s];
      u64 value = draw(instruction.draw, bits, random);
      if (bits == 1)
        value = random() % 2;
      else if (bits < 64)
        value &= (u64(1) << bits) - 1;
      operands[s][i] = value;
    }
    // A warp of all lanes, one of some, one of none but one.
    guard[i] = i < 32 || (i < 64 ? random() % 2 : i == 70);
  }
  const u64 a = device.buffer(operands[0]), b = device.buffer(operands[1]),
            c = device.buffer(operands[2]), g = device.buffer(guard);
  for (SimdLevel level :
       {SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512}) {
    if (!isSupported(level))
      continue;
    device.options.level = level;
    const u64 out = device.buffer(std::vector<u64>(threads));
    device.mustRun("k", {1}, {threads}, out, a, b, c, g);
    const std::vector<u64> results = device.read<u64>(out, threads);
    const u64 mask =
        instruction.d == 64 ? ~u64(0) : (u64(1) << instruction.d) - 1;
    for (uint32_t i = 0; i < threads; ++i) {
      const u64 kept = instruction.d == 1 ? 1 : 0x5A;
      const u64 expected =
          guard[i] ? instruction.expected(operands[0][i], operands[1][i],
                                          operands[2][i]) &
                         mask
                   : kept;
      ASSERT_EQ(results[i], expected)
          << std::hex << "a " << operands[0][i] << " b " << operands[1][i]
          << " c " << operands[2][i] << " lane " << std::dec << i << " "
          << nameOf(level);
    }
  }
}

void checkAll(const std::vector<Instruction> &instructions) {
  for (const Instruction &instruction : instructions)
    check(instruction);
}

/// The same expression in every integer type.
template <typename Op>
void addTypes(std::vector<Instruction> &list, const std::string &name,
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
  std::vector<Instruction> list;
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
  std::erase_if(list, [](const Instruction &entry) {
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

TEST(ArithmeticTest, ComparisonsAndChoices) {
  auto compare = [](float a, float b) { return a < b; };
  checkAll({
      {"setp.lt.s32",
       1,
       {32, 32},
       [](u64 a, u64 b, u64) { return u64(s32(a) < s32(b)); }},
      {"setp.hs.u16",
       1,
       {16, 16},
       [](u64 a, u64 b, u64) { return u64(a >= b); }},
      {"setp.ne.and.b64 $d, $a, $b, !$c",
       1,
       {64, 64, 1},
       [](u64 a, u64 b, u64 c) { return u64(a != b) & ~c; }},
      {"setp.le.xor.s64 $d|%pa, $a, $b, $c",
       1,
       {64, 64, 1},
       [](u64 a, u64 b, u64 c) { return u64(s64(a) <= s64(b)) ^ c; }},
      {"setp.gt.or.s16 %pa|$d, $a, $b, $c",
       1,
       {16, 16, 1},
       [](u64 a, u64 b, u64 c) { return u64(!(s16(a) > s16(b))) | c; }},
      {"setp.lt.f32",
       1,
       {32, 32},
       [compare](u64 a, u64 b, u64) {
         return u64(compare(std::bit_cast<float>(u32(a)),
                            std::bit_cast<float>(u32(b))));
       },
       Draw::Float},
      {"setp.ltu.f32",
       1,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(
             !(std::bit_cast<float>(u32(a)) >= std::bit_cast<float>(u32(b))));
       },
       Draw::Float},
      {"setp.nan.f64",
       1,
       {64, 64},
       [](u64 a, u64 b, u64) {
         const auto x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
         return u64(x != x || y != y);
       },
       Draw::Float},
      {"setp.gt.f16x2 %pa|$d, $a, $b",
       1,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(evaluate(
             CompareForm{Comparison::Gt, Type::F16x2, false, true}, a, b));
       },
       Draw::Half},
      {"set.eq.u32.s32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) { return a == b ? ~u64(0) : 0; },
       Draw::Small},
      {"set.ge.f32.u32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) { return a >= b ? u64(0x3F800000) : 0; }},
      {"set.lt.f16x2.f16x2",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(evaluate(
                    CompareForm{Comparison::Lt, Type::F16x2, false, false}, a,
                    b)) *
                    0x3C00 |
                u64(evaluate(
                    CompareForm{Comparison::Lt, Type::F16x2, false, true}, a,
                    b)) *
                    0x3C000000;
       },
       Draw::Half},
      {"selp.b32",
       32,
       {32, 32, 1},
       [](u64 a, u64 b, u64 c) { return c ? a : b; }},
      {"selp.f64 $d, $a, $b, !$c",
       64,
       {64, 64, 1},
       [](u64 a, u64 b, u64 c) { return c ? b : a; }},
      {"selp.b16",
       16,
       {16, 16, 1},
       [](u64 a, u64 b, u64 c) { return c ? a : b; }},
      {"slct.u64.s32",
       64,
       {64, 64, 32},
       [](u64 a, u64 b, u64 c) { return s32(c) >= 0 ? a : b; }},
      {"slct.f32.f32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         return std::bit_cast<float>(u32(c)) >= 0 ? a : b;
       }},
      {"testp.infinite.f32",
       1,
       {32},
       [](u64 a, u64, u64) { return u64((a & 0x7FFFFFFF) == 0x7F800000); }},
      {"isspacep.shared",
       1,
       {64},
       [](u64 a, u64, u64) { return u64(a - kSharedWindow < kWindowBytes); }},
  });
}

TEST(ArithmeticTest, FloatsAsNumericsSays) {
  auto form = [](FloatForm form) {
    return [form](u64 a, u64 b, u64 c) { return evaluate(form, a, b, c); };
  };
  using F = FloatOp;
  checkAll({
      {"add.f32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         const float r =
             std::bit_cast<float>(u32(a)) + std::bit_cast<float>(u32(b));
         return r != r ? 0x7FFFFFFF : std::bit_cast<u32>(r);
       },
       Draw::Float},
      {"sub.rz.f32",
       32,
       {32, 32},
       form({.op = F::Sub, .rounding = Rounding::TowardZero}),
       Draw::Float},
      {"mul.ftz.sat.f32",
       32,
       {32, 32},
       form({.op = F::Mul, .ftz = true, .sat = true}),
       Draw::Float},
      {"fma.rn.f32", 32, {32, 32, 32}, form({.op = F::Fma}), Draw::Float},
      {"mad.rn.f32", 32, {32, 32, 32}, form({.op = F::Fma}), Draw::Float},
      {"fma.rp.ftz.f32",
       32,
       {32, 32, 32},
       form({.op = F::Fma, .rounding = Rounding::Up, .ftz = true}),
       Draw::Float},
      {"fma.rn.f64",
       64,
       {64, 64, 64},
       form({.op = F::Fma, .type = Type::F64}),
       Draw::Float},
      {"add.rm.f64",
       64,
       {64, 64},
       form({.op = F::Add, .type = Type::F64, .rounding = Rounding::Down}),
       Draw::Float},
      {"add.f16x2",
       32,
       {32, 32},
       form({.op = F::Add, .type = Type::F16x2}),
       Draw::Half},
      {"mul.ftz.f16",
       16,
       {16, 16},
       form({.op = F::Mul, .type = Type::F16, .ftz = true}),
       Draw::Half},
      {"fma.rn.relu.bf16x2",
       32,
       {32, 32, 32},
       form({.op = F::Fma, .type = Type::BF16x2, .relu = true}),
       Draw::Float},
      {"sub.bf16",
       16,
       {16, 16},
       form({.op = F::Sub, .type = Type::BF16}),
       Draw::Half},
      {"min.NaN.f32",
       32,
       {32, 32},
       form({.op = F::Min, .nan = true}),
       Draw::Float},
      {"max.ftz.f32",
       32,
       {32, 32},
       form({.op = F::Max, .ftz = true}),
       Draw::Float},
      {"max.xorsign.abs.f16x2",
       32,
       {32, 32},
       form({.op = F::Max, .type = Type::F16x2, .xorsignAbs = true}),
       Draw::Half},
      {"abs.f64",
       64,
       {64},
       form({.op = F::Abs, .type = Type::F64}),
       Draw::Float},
      {"neg.ftz.f32", 32, {32}, form({.op = F::Neg, .ftz = true}), Draw::Float},
      {"copysign.f32", 32, {32, 32}, form({.op = F::CopySign}), Draw::Float},
      {"div.rn.f32", 32, {32, 32}, form({.op = F::Div}), Draw::Float},
      {"rcp.rz.f32",
       32,
       {32},
       form({.op = F::Rcp, .rounding = Rounding::TowardZero}),
       Draw::Float},
      {"sqrt.rn.f64",
       64,
       {64},
       form({.op = F::Sqrt, .type = Type::F64}),
       Draw::Float},
  });
}

TEST(ArithmeticTest, ApproximationsAndConversions) {
  auto approx = [](ApproxForm form) {
    return [form](u64 a, u64 b, u64) { return evaluate(form, {}, a, b); };
  };
  auto convert = [](ConvertForm form) {
    return [form](u64 a, u64 b, u64) { return evaluate(form, a, b); };
  };
  using R = RoundingWord;
  const HostFloatScope floats;
  checkAll({
      {"ex2.approx.ftz.f32",
       32,
       {32},
       approx({ApproxOp::Ex2, Type::F32, true}),
       Draw::Float},
      {"lg2.approx.f32",
       32,
       {32},
       approx({ApproxOp::Lg2, Type::F32}),
       Draw::Float},
      {"rcp.approx.f32",
       32,
       {32},
       approx({ApproxOp::Rcp, Type::F32}),
       Draw::Float},
      {"rsqrt.approx.f32",
       32,
       {32},
       approx({ApproxOp::Rsqrt, Type::F32}),
       Draw::Float},
      {"sqrt.approx.f32",
       32,
       {32},
       approx({ApproxOp::Sqrt, Type::F32}),
       Draw::Float},
      {"sin.approx.f32",
       32,
       {32},
       approx({ApproxOp::Sin, Type::F32}),
       Draw::Float},
      {"tanh.approx.f16x2",
       32,
       {32},
       approx({ApproxOp::Tanh, Type::F16x2}),
       Draw::Half},
      {"div.approx.f32",
       32,
       {32, 32},
       approx({ApproxOp::Div, Type::F32}),
       Draw::Float},
      {"div.full.ftz.f32",
       32,
       {32, 32},
       approx({ApproxOp::DivFull, Type::F32, true}),
       Draw::Float},
      {"cvt.rn.f16.f32",
       16,
       {32},
       convert({.to = Type::F16, .word = R::Number}),
       Draw::Float},
      {"cvt.f32.f16", 32, {16}, convert({.from = Type::F16}), Draw::Half},
      {"cvt.rn.f16x2.f32",
       32,
       {32, 32},
       convert({.to = Type::F16x2, .word = R::Number}),
       Draw::Float},
      {"cvt.rn.relu.bf16x2.f32",
       32,
       {32, 32},
       convert({.to = Type::BF16x2, .word = R::Number, .relu = true}),
       Draw::Float},
      {"cvt.rn.satfinite.e4m3x2.f32",
       16,
       {32, 32},
       convert({.to = Type::E4M3x2, .word = R::Number, .satfinite = true}),
       Draw::Float},
      {"cvt.rn.f16x2.e5m2x2",
       32,
       {16},
       convert({.to = Type::F16x2, .from = Type::E5M2x2, .word = R::Number})},
      {"cvt.rzi.s32.f32",
       32,
       {32},
       convert({.to = Type::S32,
                .word = R::Integer,
                .rounding = Rounding::TowardZero}),
       Draw::Float},
      {"cvt.rni.u8.f32 $d, $a",
       32,
       {32},
       convert({.to = Type::U8, .word = R::Integer}),
       Draw::Float},
      {"cvt.rn.f32.s64",
       32,
       {64},
       [](u64 a, u64, u64) { return u64(std::bit_cast<u32>(float(s64(a)))); }},
      {"cvt.rn.f64.u32",
       64,
       {32},
       [](u64 a, u64, u64) { return std::bit_cast<u64>(double(a)); }},
      {"cvt.f64.f32",
       64,
       {32},
       convert({.to = Type::F64, .toRegister = 64}),
       Draw::Float},
      {"cvt.s64.s32",
       64,
       {32},
       [](u64 a, u64, u64) { return u64(s64(s32(a))); }},
      {"cvt.u16.u32", 16, {32}, [](u64 a, u64, u64) { return a; }},
      {"cvt.s32.s8", 32, {32}, [](u64 a, u64, u64) { return u64(s8(a)); }},
      {"cvt.s8.s32 $d, $a",
       64,
       {64},
       [](u64 a, u64, u64) { return u64(s64(s8(a))); }},
      {"cvt.sat.u8.s32",
       32,
       {32},
       [](u64 a, u64, u64) { return u64(std::clamp(s32(a), 0, 255)); }},
      {"cvt.pack.sat.u8.s32.b32",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) {
         return (c << 16) | u64(std::clamp(s32(a), 0, 255)) << 8 |
                u64(std::clamp(s32(b), 0, 255));
       }},
      {"cvt.pack.sat.s16.s32",
       32,
       {32, 32},
       [](u64 a, u64 b, u64) {
         return u64(u16(std::clamp(s32(a), -32768, 32767))) << 16 |
                u16(std::clamp(s32(b), -32768, 32767));
       }},
  });
}

TEST(ArithmeticTest, Moves) {
  checkAll({
      {"mov.b16", 16, {16}, [](u64 a, u64, u64) { return a; }},
      {"mov.f32", 32, {32}, [](u64 a, u64, u64) { return a; }},
      {"mov.u64", 64, {64}, [](u64 a, u64, u64) { return a; }},
      {"mov.pred", 1, {1}, [](u64 a, u64, u64) { return a; }},
      {"mov.b64 $d, {$a, $b}",
       64,
       {32, 32},
       [](u64 a, u64 b, u64) { return b << 32 | a; }},
      {"mov.b32 $d, {$a, $b}",
       32,
       {16, 16},
       [](u64 a, u64 b, u64) { return b << 16 | a; }},
      {"mov.b64 {_, $d}, $a",
       32,
       {64},
       [](u64 a, u64, u64) { return a >> 32; }},
      {"mov.b32 {_, $d}, $a",
       16,
       {32},
       [](u64 a, u64, u64) { return a >> 16; }},
      {"mov.b64 {_, _, $d, _}, $a",
       16,
       {64},
       [](u64 a, u64, u64) { return a >> 32; }},
      {"cvta.shared.u64",
       64,
       {64},
       [](u64 a, u64, u64) { return a + kSharedWindow; }},
      {"cvta.to.local.u64",
       64,
       {64},
       [](u64 a, u64, u64) { return a - kLocalWindow; }},
      {"cvta.to.global.u64", 64, {64}, [](u64 a, u64, u64) { return a; }},
  });
}

} // namespace
