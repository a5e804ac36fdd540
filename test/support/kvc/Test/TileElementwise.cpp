//===- TileElementwise.cpp - arith and math on tiles ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Floats are f64 whatever their type says; integers are i64 that wrap where
// arithmetic leaves their type, while a conversion to a type that cannot hold
// the value is an error.
//
//===----------------------------------------------------------------------===//

#include "TileFrame.h"
#include "kvc/Test/Floats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace kvc;
using namespace kvc::test;

namespace {

using Float1 = double (*)(double);
using Float2 = double (*)(double, double);
using Int2 = int64_t (*)(int64_t, int64_t);

/// A NaN of either side wins.
double withNaN(double a, double b, double otherwise) {
  return std::isnan(a) ? a : std::isnan(b) ? b : otherwise;
}

const llvm::StringMap<Float1> kFloat1 = {
    {"arith.negf", [](double x) { return -x; }},
    {"math.absf", [](double x) { return std::fabs(x); }},
    {"math.ceil", [](double x) { return std::ceil(x); }},
    {"math.cos", [](double x) { return std::cos(x); }},
    {"math.exp", [](double x) { return std::exp(x); }},
    {"math.exp2", [](double x) { return std::exp2(x); }},
    {"math.floor", [](double x) { return std::floor(x); }},
    {"math.log", [](double x) { return std::log(x); }},
    {"math.log2", [](double x) { return std::log2(x); }},
    {"math.roundeven", [](double x) { return roundEven(x); }},
    {"math.sin", [](double x) { return std::sin(x); }},
    {"math.sqrt", [](double x) { return std::sqrt(x); }},
    {"math.tanh", [](double x) { return std::tanh(x); }},
};

const llvm::StringMap<Float2> kFloat2 = {
    {"arith.addf", [](double a, double b) { return a + b; }},
    {"arith.subf", [](double a, double b) { return a - b; }},
    {"arith.mulf", [](double a, double b) { return a * b; }},
    {"arith.divf", [](double a, double b) { return a / b; }},
    {"math.copysign", [](double a, double b) { return std::copysign(a, b); }},
    {"arith.maxnumf", [](double a, double b) { return std::fmax(a, b); }},
    {"arith.minnumf", [](double a, double b) { return std::fmin(a, b); }},
    {"arith.maximumf",
     [](double a, double b) { return withNaN(a, b, std::fmax(a, b)); }},
    {"arith.minimumf",
     [](double a, double b) { return withNaN(a, b, std::fmin(a, b)); }},
};

/// Division by zero is caught before the call.
const llvm::StringMap<Int2> kInt2 = {
    {"arith.addi", [](int64_t a, int64_t b) { return a + b; }},
    {"arith.subi", [](int64_t a, int64_t b) { return a - b; }},
    {"arith.muli", [](int64_t a, int64_t b) { return a * b; }},
    {"arith.divsi", [](int64_t a, int64_t b) { return a / b; }},
    {"arith.remsi", [](int64_t a, int64_t b) { return a % b; }},
    {"arith.floordivsi",
     [](int64_t a, int64_t b) {
       return a / b - int64_t(a % b != 0 && (a < 0) != (b < 0));
     }},
    {"arith.ceildivsi",
     [](int64_t a, int64_t b) {
       return a / b + int64_t(a % b != 0 && (a < 0) == (b < 0));
     }},
    {"arith.divui",
     [](int64_t a, int64_t b) { return int64_t(uint64_t(a) / uint64_t(b)); }},
    {"arith.remui",
     [](int64_t a, int64_t b) { return int64_t(uint64_t(a) % uint64_t(b)); }},
    {"arith.shli", [](int64_t a, int64_t b) { return a << b; }},
    {"arith.shrsi", [](int64_t a, int64_t b) { return a >> b; }},
    {"arith.minsi", [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"arith.maxsi", [](int64_t a, int64_t b) { return std::max(a, b); }},
    {"arith.andi", [](int64_t a, int64_t b) { return a & b; }},
    {"arith.ori", [](int64_t a, int64_t b) { return a | b; }},
    {"arith.xori", [](int64_t a, int64_t b) { return a ^ b; }},
};

/// Conversions that keep the value.
constexpr StringRef kWidenings[] = {"arith.extf",         "arith.extsi",
                                    "arith.extui",        "arith.index_cast",
                                    "arith.index_castui", "arith.bitcast"};

unsigned widthOf(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

/// The value of the low `width` bits: i1 is 0 or 1, others are signed.
int64_t wrap(int64_t value, unsigned width) {
  return width == 1 ? value & 1 : llvm::SignExtend64(uint64_t(value), width);
}

/// What the low `width` bits are without a sign.
uint64_t unsignedOf(int64_t value, unsigned width) {
  return uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(width);
}

bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return uint64_t(a) < uint64_t(b);
  case arith::CmpIPredicate::ule:
    return uint64_t(a) <= uint64_t(b);
  case arith::CmpIPredicate::ugt:
    return uint64_t(a) > uint64_t(b);
  case arith::CmpIPredicate::uge:
    return uint64_t(a) >= uint64_t(b);
  }
  return false;
}

bool compare(arith::CmpFPredicate predicate, double a, double b) {
  // The predicates are a set of the outcomes equal, greater, less, unordered,
  // as bits 1, 2, 4, 8.
  unsigned outcome = std::isnan(a) || std::isnan(b) ? 8
                     : a < b                        ? 4
                     : a > b                        ? 2
                                                    : 1;
  return unsigned(predicate) & outcome;
}

class Elementwise {
public:
  Elementwise(Operation *op, Frame &frame) : op(op), frame(frame) {}

  std::optional<LogicalResult> run() {
    StringRef name = op->getName().getStringRef();
    if (auto it = kFloat1.find(name); it != kFloat1.end())
      return float1(it->second);
    if (auto it = kFloat2.find(name); it != kFloat2.end())
      return float2(it->second);
    if (auto it = kInt2.find(name); it != kInt2.end())
      return int2(it->second, name);
    if (llvm::is_contained(kWidenings, name))
      return finish(operand(0));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return run(constant);
    if (auto cmp = dyn_cast<arith::CmpIOp>(op))
      return run(cmp);
    if (auto cmp = dyn_cast<arith::CmpFOp>(op))
      return run(cmp);
    if (isa<arith::SelectOp>(op))
      return select();
    if (isa<arith::SIToFPOp>(op))
      return toFloat();
    if (isa<arith::UIToFPOp>(op))
      return toFloatUnsigned();
    if (isa<arith::ShRUIOp>(op))
      return shiftUnsigned();
    if (isa<arith::FPToSIOp>(op))
      return toInt();
    if (isa<arith::TruncIOp>(op))
      return narrow(operand(0));
    if (isa<arith::TruncFOp>(op))
      return truncate();
    return std::nullopt;
  }

private:
  const TileValue &operand(unsigned i) { return frame.tile(op->getOperand(i)); }

  LogicalResult finish(TileValue result) {
    frame.set(op->getResult(0), std::move(result));
    return success();
  }

  LogicalResult float1(Float1 function) {
    TileValue result = operand(0);
    for (double &x : result.floats)
      x = function(x);
    return finish(std::move(result));
  }

  LogicalResult float2(Float2 function) {
    TileValue result = operand(0);
    const TileValue &rhs = operand(1);
    for (size_t i = 0; i < result.size(); ++i)
      result.floats[i] = function(result.floats[i], rhs.floats[i]);
    return finish(std::move(result));
  }

  LogicalResult int2(Int2 function, StringRef name) {
    TileValue result = operand(0);
    const TileValue &rhs = operand(1);
    bool divides = name.contains("div") || name.starts_with("arith.rem");
    unsigned width = widthOf(op->getResult(0));
    for (size_t i = 0; i < result.size(); ++i) {
      if (divides && rhs.ints[i] == 0)
        return op->emitOpError("divides by zero");
      result.ints[i] = wrap(function(result.ints[i], rhs.ints[i]), width);
    }
    return finish(std::move(result));
  }

  LogicalResult run(arith::ConstantOp constant) {
    TileDims dims = dimsOfType(constant.getType());
    Attribute attr = constant.getValue();
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(constant.getType()));
    TileValue result = TileValue::zeros(dims, isFloat);
    auto elements = dyn_cast<DenseElementsAttr>(attr);
    auto ofFloat = [](const APFloat &x) { return x.convertToDouble(); };
    unsigned width = widthOf(constant);
    auto ofInt = [&](const APInt &x) {
      return wrap(int64_t(x.getSExtValue()), width);
    };
    if (isFloat && elements)
      llvm::transform(elements.getValues<APFloat>(), result.floats.begin(),
                      ofFloat);
    else if (isFloat)
      result.floats[0] = ofFloat(cast<FloatAttr>(attr).getValue());
    else if (elements)
      llvm::transform(elements.getValues<APInt>(), result.ints.begin(), ofInt);
    else
      result.ints[0] = ofInt(cast<IntegerAttr>(attr).getValue());
    return finish(std::move(result));
  }

  template <typename Op>
  LogicalResult run(Op cmp)
    requires std::is_same_v<Op, arith::CmpIOp> ||
             std::is_same_v<Op, arith::CmpFOp>
  {
    const TileValue &lhs = operand(0), &rhs = operand(1);
    TileValue result = TileValue::zeros(lhs.dims, false);
    for (size_t i = 0; i < result.size(); ++i)
      if constexpr (std::is_same_v<Op, arith::CmpIOp>)
        result.ints[i] = compare(cmp.getPredicate(), lhs.ints[i], rhs.ints[i]);
      else
        result.ints[i] =
            compare(cmp.getPredicate(), lhs.floats[i], rhs.floats[i]);
    return finish(std::move(result));
  }

  /// The condition is a scalar, or a tile like the others.
  LogicalResult select() {
    const TileValue &condition = operand(0), &otherwise = operand(2);
    TileValue result = operand(1);
    for (size_t i = 0; i < result.size(); ++i) {
      if (condition.ints[condition.dims.empty() ? 0 : i])
        continue;
      if (result.isFloat())
        result.floats[i] = otherwise.floats[i];
      else
        result.ints[i] = otherwise.ints[i];
    }
    return finish(std::move(result));
  }

  LogicalResult toFloat() {
    const TileValue &source = operand(0);
    TileValue result = TileValue::zeros(source.dims, true);
    llvm::copy(source.ints, result.floats.begin());
    return finish(std::move(result));
  }

  LogicalResult toFloatUnsigned() {
    const TileValue &source = operand(0);
    TileValue result = TileValue::zeros(source.dims, true);
    for (size_t i = 0; i < result.size(); ++i)
      result.floats[i] =
          double(unsignedOf(source.ints[i], widthOf(op->getOperand(0))));
    return finish(std::move(result));
  }

  LogicalResult shiftUnsigned() {
    TileValue result = operand(0);
    const TileValue &amounts = operand(1);
    unsigned width = widthOf(op->getResult(0));
    for (size_t i = 0; i < result.size(); ++i)
      result.ints[i] = wrap(
          int64_t(unsignedOf(result.ints[i], width) >> amounts.ints[i]), width);
    return finish(std::move(result));
  }

  LogicalResult toInt() {
    const TileValue &source = operand(0);
    TileValue result = TileValue::zeros(source.dims, false);
    for (size_t i = 0; i < result.size(); ++i) {
      if (!(std::fabs(source.floats[i]) < 0x1p62))
        return op->emitOpError("narrows ") << source.floats[i];
      result.ints[i] = int64_t(source.floats[i]);
    }
    return narrow(std::move(result));
  }

  LogicalResult narrow(TileValue source) {
    unsigned width = widthOf(op->getResult(0));
    for (int64_t x : source.ints)
      if (wrap(x, width) != x)
        return op->emitOpError("narrows ") << x;
    return finish(std::move(source));
  }

  /// Roundings are kvc.round_to's; what is truncated is a value of the type.
  LogicalResult truncate() {
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    const FloatFormat &format = element.isF16()    ? kF16
                                : element.isBF16() ? kBF16
                                                   : kF32;
    TileValue source = operand(0);
    for (double x : source.floats)
      if (roundTo(format, x) != x)
        return op->emitOpError("rounds ") << x;
    return finish(std::move(source));
  }

  Operation *op;
  Frame &frame;
};

} // namespace

std::optional<LogicalResult> kvc::test::runElementwise(Operation *op,
                                                       Frame &frame) {
  return Elementwise(op, frame).run();
}
