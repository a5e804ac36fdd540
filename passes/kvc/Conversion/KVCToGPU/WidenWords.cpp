//===- WidenWords.cpp - Codes in words to pairs of 16-bit floats ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVCToGPU/WidenWords.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace kvc {

Value WidenWords::constant(double value) {
  auto type = Emit::vectorOf(2, form.element);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             type, Attribute(FloatAttr::get(form.element, value))));
}

Value WidenWords::asFloats(Value word) {
  return LLVM::BitcastOp::create(b, Emit::vectorOf(2, form.element), word);
}

Value WidenWords::asWord(Value floats) {
  return LLVM::BitcastOp::create(b, b.getI32Type(), floats);
}

Value WidenWords::permute(Value x, int64_t selector) {
  return LLVM::CallIntrinsicOp::create(
             b, b.getI32Type(), b.getStringAttr("llvm.nvvm.prmt"),
             ValueRange{x, b.splat(int64_t(0), b.getI32Type()),
                        b.splat(selector, b.getI32Type())})
      .getResult(0);
}

Value WidenWords::derived(Value word, int64_t shift, bool flip) {
  Value &value = made[{word, shift + (flip ? 32 : 0)}];
  if (value)
    return value;
  Value from = word;
  if (flip) {
    constexpr int64_t kSigns = 0x80808080;
    if (shift != 0)
      from = derived(word, 0, flip);
    else
      from = arith::XOrIOp::create(b, word, b.splat(kSigns, b.getI32Type()));
  }
  Value shifted = b.shr(from, shift);
  return made[{word, shift + (flip ? 32 : 0)}] = shifted;
}

Value WidenWords::pair(Value word, int64_t position) {
  if (!format.empty())
    return floats(word, position);
  if (form.element.isBF16() && form.width == 8)
    return wideIntegers(word, position);
  return integers(word, position * form.width);
}

Value WidenWords::pairInPlace(Value word, int64_t position, int64_t stays) {
  Value from = derived(word, position * form.width - stays, /*flip=*/false);
  int64_t field = ((int64_t(1) << form.width) - 1) << stays;
  return b.mask(from, field | field << 16);
}

/// (word & field) + 2^m, minus that power and the bias, times what the field's
/// place is worth.
Value WidenWords::integers(Value word, int64_t offset) {
  bool isHalf = form.element.isF16();
  const int64_t mantissa = isHalf ? 10 : 7, magic = isHalf ? 0x6400 : 0x4300;
  int64_t bias = form.bias;
  bool isSigned = bias == 0; // Two's complement, of 8 bits.
  if (isSigned)
    bias = int64_t(1) << (form.width - 1);
  int64_t shift = 0;
  if (offset + form.width > mantissa)
    shift = isHalf ? 8 : offset;
  Value from = derived(word, shift, /*flip=*/false);
  int64_t place = offset - shift;
  int64_t field = ((int64_t(1) << form.width) - 1) << place;
  // One operation of three operands, (a & b) ^ c; the power of two lies above
  // the field, and its lowest bit with a sign turns that around.
  int64_t power =
      magic | (isSigned ? int64_t(1) << (place + form.width - 1) : 0);
  constexpr int64_t kAndXor = 0x6a;
  Value bits =
      LLVM::InlineAsmOp::create(
          b, TypeRange{b.getI32Type()},
          ValueRange{from, b.splat(field | field << 16, b.getI32Type()),
                     b.splat(power | power << 16, b.getI32Type()),
                     b.splat(kAndXor, b.getI32Type())},
          "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n",
          /*has_side_effects=*/false, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  double base = std::ldexp(1.0, int(mantissa)),
         unit = std::ldexp(1.0, -int(place));
  Value x = asFloats(bits);
  Value lowered = constant(-(base * unit + double(bias)));
  Value result =
      place == 0 && isHalf
          ? Value(LLVM::FAddOp::create(b, x, lowered))
          : Value(LLVM::FMAOp::create(b, x.getType(),
                                      ValueRange{x, constant(unit), lowered}));
  return asWord(result);
}

/// 8 bits are more than a bfloat's mantissa takes beside a power of two: by
/// f32.
Value WidenWords::wideIntegers(Value word, int64_t position) {
  int64_t bias = form.bias ? form.bias : 128;
  Value from = derived(word, 0, form.bias == 0);
  constexpr int64_t kMagic = 0x4b000000;
  constexpr double kBase = 8388608.0;
  SmallVector<Value> wide;
  for (int64_t i : {position, position + form.distance}) {
    // Byte i below the three others of the magic number.
    Value bits = LLVM::CallIntrinsicOp::create(
                     b, b.getI32Type(), b.getStringAttr("llvm.nvvm.prmt"),
                     ValueRange{from, b.splat(kMagic, b.getI32Type()),
                                b.splat(0x7650 + i, b.getI32Type())})
                     .getResult(0);
    Value value = b.bitcast(bits, b.getF32Type());
    wide.push_back(arith::SubFOp::create(
        b, value,
        arith::ConstantOp::create(
            b, b.getF32FloatAttr(float(kBase + double(bias))))));
  }
  Value both = vector::FromElementsOp::create(
      b, Emit::vectorOf(2, b.getF32Type()), wide);
  Value narrow =
      LLVM::FPTruncOp::create(b, Emit::vectorOf(2, form.element), both);
  return asWord(narrow);
}

/// Sign, exponent and mantissa of a byte to where 16 bits have them, then times
/// the power of two between the exponents' biases.
Value WidenWords::floats(Value word, int64_t position) {
  bool isE4M3 = format == "fp8_e4m3", isHalf = form.element.isF16();
  int64_t second = position + form.distance;
  if (form.hasFloat8 && isHalf) {
    // Neighbours are half of the word, which is a register of its own.
    bool isHalfWord = form.distance == 1 && position % 2 == 0;
    Value bytes =
        isHalfWord ? word : permute(word, 0x4400 | second << 4 | position);
    Value halves =
        LLVM::BitcastOp::create(b, Emit::vectorOf(2, b.getI16Type()), bytes);
    Value both =
        vector::ExtractOp::create(b, halves, isHalfWord ? position / 2 : 0);
    auto type = isE4M3 ? Float8E4M3FNType::get(b.getContext())
                       : Type(Float8E5M2Type::get(b.getContext()));
    Value floats = NVVM::ConvertF8x2ToF16x2Op::create(
        b, Emit::vectorOf(2, b.getF16Type()),
        Value(
            LLVM::BitcastOp::create(b, Emit::vectorOf(2, b.getI8Type()), both)),
        b.getBoolAttr(false), TypeAttr::get(type));
    return asWord(floats);
  }
  // Bytes to the upper halves; e5m2 is the upper byte of f16.
  Value up = permute(word, 0x0404 | second << 12 | position << 4);
  if (!isE4M3 && isHalf)
    return up;
  int64_t shift = isE4M3 ? (isHalf ? 1 : 4) : 3;
  Value sign = b.mask(up, 0x80008000);
  Value rest = b.shr(b.mask(up, 0x7f007f00), shift);
  Value floats = asFloats(b.bitOr(sign, rest));
  double factor = isE4M3 ? (isHalf ? 0x1p8 : 0x1p120) : 0x1p112;
  // bf16 has no multiplication of its own below sm_90.
  return asWord(LLVM::FMAOp::create(
      b, floats.getType(),
      ValueRange{floats, constant(factor), constant(-0.0)}));
}

} // namespace kvc
