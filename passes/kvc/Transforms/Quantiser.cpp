//===- Quantiser.cpp - The arithmetic of scales and codes -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Three things are not written in the spec:
//
// - A block whose scale is 0 has codes 0. Dividing by +inf instead of 0 gives
//   exactly that (finite / inf = 0) and never a NaN, so nothing else depends on
//   the case.
// - "Never -0" is one addition of +0.
// - Smallest and largest order -0 below +0, so that the stored bytes do not
//   depend on the order of a reduction.
//
//===----------------------------------------------------------------------===//

#include "kvc/Transforms/Quantiser.h"

#include "kvc/Analysis/StoredCodes.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Spec/Lookup.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace kvc {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Whole numbers from 0 on that f32 holds.
constexpr int64_t kCountable = int64_t(1) << 24;
constexpr double kLargestF32 = std::numeric_limits<float>::max();

/// Exponents of the powers of two that a scale's dtype has.
struct Exponents {
  int64_t smallest, largest;
};

Exponents exponentsOf(spec::DType dtype) {
  switch (dtype) {
  case spec::DType::F16:
    return {-24, 15};
  case spec::DType::BF16:
    return {-133, 127};
  case spec::DType::F32:
    return {-149, 127};
  case spec::DType::E8M0:
    return {-127, 127};
  case spec::DType::E4M3:
    return {-9, 8};
  }
  llvm_unreachable("unknown dtype");
}

class Quantiser {
public:
  Quantiser(TileBuilder &b, const spec::PartScheme &scheme, Elements elements,
            RankedTensorType blocks, const QuantiserTables &tables)
      : b(b), scheme(scheme), elements(elements), tables(tables),
        blocks(blocks) {}

  Quantised emit(Value staticScale) {
    Quantised result = staticScale ? emitWith(staticScale) : emitBlocks();
    if (elements.isOutlier) {
      bool isUnsigned = scheme.codec.isInt() && scheme.zero != spec::Zero::None;
      Value none = b.constantLike(result.codes, isUnsigned ? -centre() : 0);
      result.codes =
          arith::SelectOp::create(b, elements.isOutlier(), none, result.codes);
    }
    return result;
  }

private:
  /// With a scale that is given.
  Quantised emitWith(Value scale) {
    return {encode(dividedBy(x(), scale, isZero(scale))), Value(), Value()};
  }

  Quantised emitBlocks() {
    switch (scheme.zero) {
    case spec::Zero::None:
      return emitSymmetric();
    case spec::Zero::Min:
      return emitMin();
    case spec::Zero::Code:
      return emitCode();
    case spec::Zero::Mid:
      return emitMid();
    }
    llvm_unreachable("unknown zero");
  }

  int64_t steps() const { return (int64_t(1) << scheme.codec.bits) - 1; }
  int64_t centre() const { return middleOfCodes(scheme.codec); }
  bool isExact() const { return scheme.codesFrom == spec::CodesFrom::Exact; }
  bool isRms() const { return scheme.estimate == spec::Estimate::Rms; }
  bool isSigned() const { return scheme.estimate == spec::Estimate::Signed; }
  spec::DType dtype() const { return scheme.scale->dtype; }

  Quantised emitSymmetric() {
    Value estimate = clipped(isRms()      ? rootMeanSquare()
                             : isSigned() ? largestMagnitude()
                                          : amax(x()));
    Value quotient = isRms()      ? estimate
                     : isSigned() ? b.div(estimate, -double(centre()))
                                  : perLargestCode(estimate);
    Value scale = dtype() == spec::DType::E8M0 ? exponentOf(estimate, quotient)
                                               : storedScale(quotient);
    return {encode(steppedBy(x(), estimate, quotient, scale)), scale, Value()};
  }

  Quantised emitMid() {
    auto [low, high] = bounds();
    Value zero = positive(round(b.div(b.add(high, low), 2.0)));
    auto rest = [&] { return b.sub(x(), zero); };
    Value estimate = clipped(amax(without(rest(), 0.0)));
    Value quotient = perLargestCode(estimate);
    Value scale = storedScale(quotient);
    return {encode(steppedBy(rest(), estimate, quotient, scale)), scale, zero};
  }

  Quantised emitMin() {
    auto [low, high] = bounds();
    Value zero = positive(round(low));
    // Codes of "exact" follow the minimum as it is before it is stored.
    Value base = isExact() ? low : zero;
    Value quotient = b.div(b.sub(high, base), double(steps()));
    Value scale = storedScale(quotient);
    Value codes =
        roundUnsigned(steppedBy(b.sub(x(), base), high, quotient, scale));
    return {stored(b.sub(b.clamp(codes, 0, double(steps())), double(centre()))),
            scale, zero};
  }

  Quantised emitCode() {
    auto [low, high] = bounds();
    Value scale = storedScale(b.div(b.sub(high, low), double(steps())));
    Value by = divisor(scale);
    Value zero = positive(round(b.div(arith::NegFOp::create(b, low), by)));
    Value codes = roundUnsigned(b.add(b.div(x(), by), zero));
    // A block without spread keeps its value as the scale, with code 0 and zero
    // -1 or 1. Where the value is 0 both come out as 0.
    Value flat = b.compare(arith::CmpFPredicate::OEQ, scale, 0.0);
    Value one = b.constantLike(low, 1.0), none = b.constantLike(low, 0.0),
          minusOne = b.constantLike(low, -1.0);
    Value sign = b.select(
        b.compare(arith::CmpFPredicate::OGT, low, 0.0), minusOne,
        b.select(b.compare(arith::CmpFPredicate::OLT, low, 0.0), one, none));
    Value magnitude = round(math::AbsFOp::create(b, low));
    return {stored(b.sub(b.clamp(codes, 0, double(steps())), double(centre()))),
            b.select(flat, magnitude, scale), b.select(flat, sign, zero)};
  }

  //===--------------------------------------------------------------------===//
  // Statistics
  //===--------------------------------------------------------------------===//

  Value reduce(ReductionKind kind, Value tile) {
    return ReduceOp::create(b, blocks, kind, tile);
  }
  /// `tile` with `value` in the place of outliers.
  Value without(Value tile, double value) {
    return elements.isOutlier ? b.select(elements.isOutlier(),
                                         b.constantLike(tile, value), tile)
                              : tile;
  }
  /// The elements, 0 in the place of outliers.
  Value x() { return without(elements.x(), 0.0); }

  /// Smallest and largest, clipped. A block with nothing left is one of zeros.
  std::pair<Value, Value> bounds() {
    Value tile = elements.x();
    auto bound = [&](ReductionKind kind, double none) {
      Value found = reduce(kind, without(tile, none));
      if (elements.isOutlier)
        found = b.select(b.compare(arith::CmpFPredicate::OEQ, found, none),
                         b.constantLike(found, 0.0), found);
      return clipped(found);
    };
    return {bound(ReductionKind::MinimumF, kInfinity),
            bound(ReductionKind::MaximumF, -kInfinity)};
  }
  Value amax(Value tile) {
    return reduce(ReductionKind::MaximumF, math::AbsFOp::create(b, tile));
  }
  Value rootMeanSquare() {
    Value tile = x();
    Value sum = reduce(ReductionKind::PairwiseAdd, b.mul(tile, tile));
    if (!elements.isOutlier)
      return math::SqrtOp::create(
          b, b.div(sum, static_cast<double>(blockElements())));
    Value left = countLeft(tile);
    return math::SqrtOp::create(
        b, b.div(sum, b.select(b.compare(arith::CmpFPredicate::OEQ, left, 0.0),
                               b.constantLike(left, 1.0), left)));
  }
  /// How many elements of a block are no outliers. A sum of whole numbers is
  /// exact in any order, as far as they are countable.
  Value countLeft(Value tile) {
    if (blockElements() <= kCountable)
      return reduce(ReductionKind::Add,
                    without(b.constantLike(tile, 1.0), 0.0));
    auto type = cast<RankedTensorType>(tile.getType()).clone(b.getF64Type());
    Value left =
        ReduceOp::create(b, blocks.clone(b.getF64Type()), ReductionKind::Add,
                         b.select(elements.isOutlier(), b.constant(type, 0.0),
                                  b.constant(type, 1.0)));
    return arith::TruncFOp::create(b, blocks, left);
  }
  int64_t blockElements() const {
    return scheme.scale->tokens * scheme.blockChannels();
  }
  Value clipped(Value statistic) {
    return scheme.clip == 1.0 ? statistic : b.mul(statistic, scheme.clip);
  }

  /// Per block the first element of largest magnitude, +0 for a block of
  /// zeros.
  Value largestMagnitude() {
    Value amax = this->amax(x());
    // Numbers of the element by each numbering; one after the other they say
    // which one comes first.
    SmallVector<Value, 3> first;
    auto isFirstSoFar = [&](Value tile, Value is) {
      for (auto [i, number] : llvm::enumerate(first))
        is = both(is, equals(numbers(tile, i), number));
      return is;
    };
    while (first.size() < numberings()) {
      Value tile = x();
      Value is =
          isFirstSoFar(tile, equals(math::AbsFOp::create(b, tile), amax));
      first.push_back(reduce(ReductionKind::MinimumF,
                             b.select(is, numbers(tile, first.size()),
                                      b.constantLike(tile, kInfinity))));
    }
    Value tile = x();
    // One term is no zero, so the sum is that term. A sum of zeros is +0, but
    // for -0 alone in its block.
    return positive(
        reduce(ReductionKind::Add, b.select(isFirstSoFar(tile, Value()), tile,
                                            b.constantLike(tile, 0.0))));
  }

  Value equals(Value tile, Value other) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, tile,
                                 b.broadcast(other, tile.getType()));
  }
  /// Null stands for true.
  Value both(Value one, Value other) {
    return one ? arith::AndIOp::create(b, one, other).getResult() : other;
  }

  /// f32 tells 2^24 numbers apart: larger blocks count tokens, then channels,
  /// and still larger ones 2^24 tokens, then the tokens of these.
  size_t numberings() const {
    return blockElements() <= kCountable ? 1 : hasManyTokens() ? 3 : 2;
  }
  bool hasManyTokens() const { return scheme.scale->tokens > kCountable; }

  /// The number of each element in its block, token-major; where there are more
  /// numberings that of its token, in one or two digits, or of its channel.
  Value numbers(Value tile, size_t numbering) {
    auto type = cast<RankedTensorType>(tile.getType());
    auto iota = [&](StringRef dim) -> Value {
      return IotaOp::create(
          b, b.tile({{dim, extentOf(type, dim)}}, b.getI32Type()));
    };
    auto count = [&](StringRef dim) {
      return b.broadcast(b.toF32(iota(dim)), type);
    };
    if (numberings() > 1 && numbering + 1 == numberings())
      return hasDim(type, "e") ? count("e") : b.constantLike(tile, 0.0);
    if (hasManyTokens())
      return b.broadcast(b.toF32(numbering == 0
                                     ? b.divInt(iota("t"), kCountable)
                                     : b.remInt(iota("t"), kCountable)),
                         type);
    if (numberings() > 1)
      return count("t");
    if (!hasDim(type, "t"))
      return count("e");
    if (!hasDim(type, "e")) // One channel.
      return count("t");
    return b.add(b.mul(count("t"), double(extentOf(type, "e"))), count("e"));
  }

  //===--------------------------------------------------------------------===//
  // Scales
  //===--------------------------------------------------------------------===//

  /// round_T of the scale's type. f32 holds every quotient but those that
  /// overflowed, which saturate like in any other type.
  Value round(Value value) {
    if (scheme.scale->dtype == spec::DType::F32)
      return b.clamp(value, -kLargestF32, kLargestF32);
    return RoundToOp::create(b, value.getType(), value, scheme.scale->dtype);
  }

  /// Of any dtype but e8m0.
  Value storedScale(Value quotient) {
    const spec::Scale &scale = *scheme.scale;
    if (scale.floor)
      quotient =
          b.select(b.compare(arith::CmpFPredicate::OLT, quotient, *scale.floor),
                   b.constantLike(quotient, *scale.floor), quotient);
    if (scale.dtype == spec::DType::E4M3 && scale.global != 1)
      quotient = b.div(quotient, scale.global);
    if (scale.round != spec::ScaleRound::Up)
      return round(quotient);
    Exponents exponents = exponentsOf(scale.dtype);
    return PowerOfTwoOp::create(b, quotient.getType(), quotient,
                                exponents.smallest, exponents.largest,
                                /*offset=*/0, /*down=*/false);
  }

  Value perLargestCode(Value estimate) {
    return tables.largest ? b.div(estimate, tables.largest)
                          : b.div(estimate, scheme.codec.largest());
  }

  /// An e8m0 scale. "down" takes the exponent of the estimate less that of the
  /// largest code; a root mean square stands for the quotient in both.
  Value exponentOf(Value estimate, Value quotient) {
    bool isUp = scheme.scale->round == spec::ScaleRound::Up;
    if (tables.largest && !isUp && !isRms())
      return exponentByTable(estimate);
    int64_t offset =
        isUp || isRms() ? 0 : -int64_t(std::ilogb(scheme.codec.largest()));
    Exponents exponents = exponentsOf(spec::DType::E8M0);
    Value power = PowerOfTwoOp::create(
        b, quotient.getType(), isUp ? quotient : estimate, exponents.smallest,
        exponents.largest, offset, /*down=*/!isUp);
    return b.select(isZero(power),
                    b.constantLike(power, std::ldexp(1.0, exponents.smallest)),
                    power);
  }

  /// The same for "down" with a table whose largest entry is not known here: a
  /// quotient of two powers is exact, but where it leaves the exponents' range.
  Value exponentByTable(Value estimate) {
    auto power = [&](Value value) -> Value {
      return PowerOfTwoOp::create(b, value.getType(), value, -149, 127,
                                  /*offset=*/0, /*down=*/true);
    };
    Exponents exponents = exponentsOf(spec::DType::E8M0);
    Value largest = b.broadcast(tables.largest, estimate.getType());
    return b.clamp(b.div(power(estimate), power(largest)),
                   std::ldexp(1.0, exponents.smallest),
                   std::ldexp(1.0, exponents.largest));
  }

  /// What codes are multiplied by.
  Value effective(Value scale) {
    bool hasGlobal = dtype() == spec::DType::E4M3 && scheme.scale->global != 1;
    return hasGlobal ? b.mul(scale, scheme.scale->global) : scale;
  }

  Value positive(Value value) { return b.add(value, 0.0); }

  /// What x is divided by: the scale, or inf where that is 0.
  Value divisor(Value scale) {
    return b.select(isZero(scale), b.constantLike(scale, kInfinity), scale);
  }

  //===--------------------------------------------------------------------===//
  // Codes
  //===--------------------------------------------------------------------===//

  /// `value` in steps of the stored scale or, as "exact" wants it, times the
  /// inverse of the quotient; +0 where codes are 0 whatever the value.
  Value steppedBy(Value value, Value estimate, Value quotient, Value scale) {
    Value steps, isDead;
    if (isExact()) {
      Value inverse = b.div(b.constantLike(quotient, 1.0), quotient);
      isDead = b.compare(arith::CmpFPredicate::UGT,
                         math::AbsFOp::create(b, inverse), kLargestF32);
      steps =
          b.mul(value, b.select(isDead, b.constantLike(inverse, 0.0), inverse));
    } else {
      scale = effective(scale);
      // An e8m0 scale is never 0.
      isDead = isZero(dtype() == spec::DType::E8M0 ? estimate : scale);
      return dividedBy(value, scale, isDead);
    }
    return withDead(steps, isDead);
  }

  Value isZero(Value value) {
    return b.compare(arith::CmpFPredicate::OEQ, value, 0.0);
  }

  Value dividedBy(Value value, Value scale, Value isDead) {
    return withDead(b.div(value, divisor(scale)), isDead);
  }

  /// `steps` but +0 where `isDead`.
  Value withDead(Value steps, Value isDead) {
    // Integers do not see the sign of a zero.
    if (scheme.codec.isInt())
      return steps;
    deadBlocks = isDead;
    return b.select(b.broadcast(isDead, steps.getType()),
                    b.constantLike(steps, 0.0), steps);
  }

  /// Symmetric codes of what steppedBy gave last.
  Value encode(Value steps) {
    if (scheme.codec.isFloatCode())
      return EncodeFloatOp::create(
          b, cloneWithElement(steps.getType(), b.getI8Type()), steps,
          scheme.codec.kind);
    if (scheme.codec.kind == spec::CodecKind::Lut)
      return tables.codes ? nearestLoaded(steps) : nearestEntry(steps);
    auto largest = static_cast<double>(centre() - 1);
    double smallest = isSigned() ? -largest - 1 : -largest;
    return stored(b.clamp(roundSymmetric(steps), smallest, largest));
  }

  /// A step up for each threshold below; code 0 where the scale is 0.
  Value nearestEntry(Value steps) {
    spec::LookupSteps lookup = spec::lookupSteps(scheme.codec.table);
    Value code = b.constantLike(steps, double(lookup.codes.front()));
    for (auto [threshold, next] :
         llvm::zip_equal(lookup.thresholds, llvm::drop_begin(lookup.codes)))
      code = b.select(b.compare(arith::CmpFPredicate::OGT, steps, threshold),
                      b.constantLike(steps, double(next)), code);
    return stored(b.select(b.broadcast(deadBlocks, steps.getType()),
                           b.constantLike(steps, 0.0), code));
  }

  /// The same with a table that is loaded.
  Value nearestLoaded(Value steps) {
    RankedTensorType type = cloneWithElement(steps.getType(), b.getI8Type());
    Value codes =
        NearestOp::create(b, type, steps, tables.thresholds, tables.codes);
    return b.select(b.broadcast(deadBlocks, steps.getType()),
                    b.constant(type, int64_t(0)), codes);
  }

  Value roundEven(Value value) { return math::RoundEvenOp::create(b, value); }

  Value roundUnsigned(Value value) {
    switch (scheme.round) {
    case spec::Round::Even:
      return roundEven(value);
    case spec::Round::Away:
      return roundAway(value);
    case spec::Round::Up:
      return floor(b.add(value, 0.5));
    }
    llvm_unreachable("unknown rounding");
  }

  Value roundSymmetric(Value value) {
    if (scheme.round != spec::Round::Up)
      return roundUnsigned(value);
    auto shift = static_cast<double>(centre());
    return b.sub(floor(b.add(value, shift + 0.5)), shift);
  }

  /// From the nearest even number: its distance is exact, and at a half it may
  /// be on the wrong side.
  Value roundAway(Value value) {
    Value even = roundEven(value), rest = b.sub(value, even);
    auto is = [&](Value tile, double number, double sign) {
      Value half = b.compare(arith::CmpFPredicate::OEQ, tile, number);
      Value outward = b.compare(sign > 0 ? arith::CmpFPredicate::OGT
                                         : arith::CmpFPredicate::OLT,
                                value, 0.0);
      return arith::AndIOp::create(b, half, outward).getResult();
    };
    Value up = b.select(is(rest, 0.5, 1), b.add(even, 1.0), even);
    return b.select(is(rest, -0.5, -1), b.sub(even, 1.0), up);
  }

  Value floor(Value value) { return math::FloorOp::create(b, value); }

  /// As integers.
  Value stored(Value codes) {
    return arith::FPToSIOp::create(
        b, cloneWithElement(codes.getType(), b.getI8Type()), codes);
  }

  TileBuilder &b;
  const spec::PartScheme &scheme;
  Elements elements;
  const QuantiserTables &tables;
  RankedTensorType blocks; ///< What a block has one of.
  Value deadBlocks;        ///< i1 per scale: whose codes are all 0.
};

} // namespace

Quantised quantise(TileBuilder &b, const spec::PartScheme &scheme,
                   Elements elements, RankedTensorType blocks,
                   Value staticScale, const QuantiserTables &tables) {
  return Quantiser(b, scheme, elements, blocks, tables).emit(staticScale);
}

} // namespace kvc
