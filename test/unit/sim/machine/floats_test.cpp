//===- floats_test.cpp - Comparisons, floats, conversions, moves ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "InstructionCheck.h"

#include "kvc/Sim/Machine/Memory.h"
#include "kvc/Sim/Numerics/Approx.h"
#include "kvc/Sim/Numerics/Convert.h"
#include "kvc/Sim/Numerics/FloatOps.h"
#include "kvc/Sim/Numerics/HostFloat.h"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

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
