//===- PlainMma.cpp - Products of matrices without a model ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// mma of f64, of single bits and of the shapes m8n8: results do not depend on
// a generation of tensor cores. f64 is a chain of fma in order of k.
//
// All fragments follow one rule: with g = lane / 4 and t = lane % 4, register r
// of A holds row g + 8 * (r % (rows / 8)) of the elements that chunk
// t + 4 * (r / (rows / 8)) of k has, register r of B column g of chunk
// t + 4 * r, register r of C row g + 8 * (r / 2) and column 2 * t + r % 2.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/PlainMma.h"

#include "kvc/Sim/Numerics/FloatOps.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

namespace {

/// Where things stand in an instruction of these matrices.
struct Shape {
  uint32_t rowBlocks, registersA, registersB, registersC;

  explicit Shape(const PlainMma &form)
      : rowBlocks(form.rows / 8),
        registersA(form.k / form.perRegister / 4 * rowBlocks),
        registersB(form.k / form.perRegister / 4), registersC(2 * rowBlocks) {}
};

int64_t elementOf(uint32_t word, uint32_t bits, bool isSigned, uint32_t i) {
  const uint32_t value = word >> (i * bits);
  return isSigned ? int64_t(int32_t(value << (32 - bits)) >> (32 - bits))
                  : int64_t(value & ((1u << bits) - 1));
}

/// The sum of the products of two registers.
int64_t productOf(const PlainMma &form, uint32_t a, uint32_t b) {
  if (form.perRegister == 32)
    return std::popcount(form.isAnd ? a & b : a ^ b);
  const uint32_t bits = 32 / form.perRegister;
  int64_t sum = 0;
  for (uint32_t i = 0; i < form.perRegister; ++i)
    sum += elementOf(a, bits, form.signedA, i) *
           elementOf(b, bits, form.signedB, i);
  return sum;
}

/// Calls `each(lane of C, register of C, row, column)`.
template <typename Each>
void eachResult(const Shape &shape, Each each) {
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t r = 0; r < shape.registersC; ++r)
      each(lane, r, lane / 4 + 8 * (r / 2), lane % 4 * 2 + r % 2);
}

} // namespace

void PlainMma::runIntegers(Warp &warp, const uint32_t *o) const {
  const Shape shape(*this);
  const uint32_t *a = o + shape.registersC, *b = a + shape.registersA,
                 *c = b + shape.registersB;
  uint32_t results[4][kLanes];
  eachResult(shape, [&](uint32_t lane, uint32_t r, uint32_t row,
                        uint32_t column) {
    int64_t sum = int32_t(warp.row(c[r])[lane]);
    for (uint32_t chunk = 0; chunk < k / perRegister; ++chunk) {
      const uint32_t registerA = row / 8 + chunk / 4 * shape.rowBlocks;
      sum += productOf(*this, warp.row(a[registerA])[row % 8 * 4 + chunk % 4],
                       warp.row(b[chunk / 4])[column * 4 + chunk % 4]);
    }
    results[r][lane] = uint32_t(
        satfinite ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
  });
  for (uint32_t r = 0; r < shape.registersC; ++r)
    std::copy_n(results[r], kLanes, warp.row(o[r]));
}

void PlainMma::runDoubles(Warp &warp, const uint32_t *o) const {
  const Shape shape(*this);
  const uint32_t *a = o + shape.registersC, *b = a + shape.registersA,
                 *c = b + shape.registersB;
  static constexpr FloatForm fma{.op = FloatOp::Fma, .type = Type::F64};
  uint64_t results[4][kLanes];
  eachResult(shape, [&](uint32_t lane, uint32_t r, uint32_t row,
                        uint32_t column) {
    uint64_t sum = warp.wide(c[r])[lane];
    for (uint32_t i = 0; i < k; ++i)
      sum = evaluate(
          fma,
          warp.wide(a[row / 8 + i / 4 * shape.rowBlocks])[row % 8 * 4 + i % 4],
          warp.wide(b[i / 4])[column * 4 + i % 4], sum);
    results[r][lane] = sum;
  });
  for (uint32_t r = 0; r < shape.registersC; ++r)
    std::copy_n(results[r], kLanes, warp.wide(o[r]));
}

void PlainMma::operator()(Warp &warp, const uint32_t *operands) const {
  if (isDouble)
    runDoubles(warp, operands);
  else
    runIntegers(warp, operands);
}

std::optional<PlainMma> PlainMma::create(const Modifiers &modifiers) {
  static constexpr std::pair<Word, std::pair<uint32_t, uint32_t>> shapes[] = {
      {Word::M8n8k4, {8, 4}},      {Word::M8n8k16, {8, 16}},
      {Word::M8n8k32, {8, 32}},    {Word::M8n8k128, {8, 128}},
      {Word::M16n8k4, {16, 4}},    {Word::M16n8k8, {16, 8}},
      {Word::M16n8k16, {16, 16}},  {Word::M16n8k128, {16, 128}},
      {Word::M16n8k256, {16, 256}}};
  PlainMma form;
  for (auto [word, shape] : shapes)
    if (modifiers.has(word)) {
      form.rows = shape.first;
      form.k = shape.second;
    }
  const Type a = modifiers.types[1], b = modifiers.types[2];
  form.signedA = a == Type::S8 || a == Type::S4;
  form.signedB = b == Type::S8 || b == Type::S4;
  form.isAnd = modifiers.has(Word::And);
  form.satfinite = modifiers.has(Word::Satfinite);
  switch (a) {
  case Type::F64:
    form.isDouble = true;
    form.perRegister = 1;
    break;
  case Type::B1:
  case Type::S8:
  case Type::U8:
  case Type::S4:
  case Type::U4:
    form.perRegister = 32 / bitsOf(a);
    break;
  default:
    return std::nullopt;
  }
  return form.rows != 0 ? std::optional(form) : std::nullopt;
}
