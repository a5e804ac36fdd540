//===- Placement.cpp - Legal places and their costs -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Transforms/Placement.h"

#include "kvc/Analysis/StoredCodes.h"
#include "kvc/Dialect/KVC/KVCTiles.h"

using namespace mlir;

namespace kvc {

namespace {

/// A dot over a slice of channels works on whole chunks of lanes.
bool fillsLanes(int64_t blockChannels, int64_t channels) {
  return blockChannels % channelsOfLanes(channels) == 0;
}

// Costs, in operations per element. A product of codes with integer weights
// takes half an operation; codes that carry a factor in registers are floats
// and take a whole one, after widening and storing them.
constexpr double kIntegerProduct = 0.5, kFloatProduct = 1.0, kPanelRead = 3.0;
// Another set of weights is scaled, searched for its maximum, rounded and
// stored.
constexpr double kWeights = 4.0;
// Outliers go one by one where dense elements fill 16 lanes: a few loads and a
// product to be gathered, a store besides to be scattered or put in its place.
constexpr double kGathered = 16, kScattered = 48;

struct Extents {
  double rows, tokens, channels, blocks;
};

Extents extentsOf(CodeContraction contraction) {
  Type codes = contraction.dequantize.getCodes().getType();
  Extents extents;
  extents.rows = extentOf(contraction.contract.getLhs().getType(), "r");
  extents.tokens = extentOf(codes, "t");
  extents.blocks = extentOf(codes, "b");
  extents.channels =
      static_cast<double>(cast<RankedTensorType>(codes).getNumElements()) /
      extents.tokens;
  return extents;
}

bool disjoint(Type tile, ArrayRef<StringRef> dims) {
  return llvm::none_of(dims, [&](StringRef dim) { return hasDim(tile, dim); });
}

/// Cost of keeping a factor on the codes: the panel, and float products instead
/// of integer ones.
double registerCost(const Extents &e) {
  return e.tokens * e.channels * (kPanelRead + 1) +
         e.rows * e.tokens * e.channels * (kFloatProduct - kIntegerProduct);
}

/// A scale that was raised to its floor may be far above its block's spread.
/// The zero then cancels most of the centred product.
///
/// A constant block of a scheme with a zero "code" is stored as code 0 with a
/// scale of its magnitude. Centred, its product is `centre` times what is left
/// when the zero's term has been added, and so are the product's errors: 16-bit
/// weights or, with f32 queries, the roundings of f32. The factors allowed here
/// keep them under half of the bounds of SPEC.md section 3.
bool cancelsTooMuch(CodeContraction contraction) {
  DequantizeOp dequantize = contraction.dequantize;
  if (dequantize.getZeroKind() == spec::Zero::None)
    return false;
  Operation *codes = dequantize.getCodes().getDefiningOp();
  while (isa_and_nonnull<SplitOp>(codes))
    codes = codes->getOperand(0).getDefiningOp();
  auto load = dyn_cast_if_present<LoadCodesOp>(codes);
  if (!load)
    return false;
  const spec::Spec &spec = load.getCache().getType().getSpec();
  const spec::PartScheme &part =
      spec::schemeOf(spec, load.getTensor())->parts[load.getPart()];
  if (part.scale->floor)
    return true;
  if (dequantize.getZeroKind() != spec::Zero::Code)
    return false;
  switch (spec.io.query) {
  case spec::DType::F32:
    return dequantize.getCentre() > 16;
  case spec::DType::F16:
    return dequantize.getCentre() > 32;
  default:
    return false;
  }
}

/// Whether what stands on the codes passes `rope`, which mixes the channels of
/// a token: it is a scale of tokens.
bool passes(DequantizeOp dequantize, RopeOp rope) {
  if (!dequantize.getScale() || dequantize.getZero() ||
      !dequantize->hasOneUse() || !rope->hasOneUse())
    return false;
  SmallVector<StringRef> dims = dimsOf(dequantize.getScale().getType());
  return llvm::all_of(dims, [](StringRef dim) { return dim == "t"; });
}

/// Whether a query that the scale is multiplied into becomes weights anew for
/// each tile: the scale is known where the tile is, the query before it.
bool isPerTile(const CodeContraction &contraction) {
  Value scale = DequantizeOp(contraction.dequantize).getScale(),
        query = ContractOp(contraction.contract).getLhs();
  return query.getParentRegion()->isProperAncestor(scale.getParentRegion());
}

/// Inserts `place` behind those that cost as much or less.
void insertByCost(SmallVector<PlaceCost> &places, PlaceCost place) {
  auto behind = llvm::upper_bound(
      places, place,
      [](const PlaceCost &a, const PlaceCost &b) { return a.cost < b.cost; });
  places.insert(behind, place);
}

} // namespace

SmallVector<CodeContraction> codeContractionsIn(Operation *function) {
  SmallVector<CodeContraction> found;
  function->walk([&](ContractOp contract) {
    Value x = contract.getRhs();
    auto patch = x.getDefiningOp<PatchOp>();
    auto rope = x.getDefiningOp<RopeOp>();
    if (patch)
      x = patch.getDense();
    if (rope)
      x = rope.getSource();
    auto dequantize = x.getDefiningOp<DequantizeOp>();
    if (dequantize && (!rope || passes(dequantize, rope)))
      found.push_back({contract, dequantize, patch, rope});
  });
  return found;
}

bool CodeContraction::isShared() const {
  DequantizeOp op = dequantize;
  PatchOp outliers = patch;
  return !op->hasOneUse() ||
         (outliers &&
          (!outliers->hasOneUse() || outliers.getPlace() == Place::Register));
}

bool CodeContraction::givesScores() const {
  ContractOp op = contract;
  return hasDim(op.getType(), "t");
}

SmallVector<StringRef> CodeContraction::contracted() const {
  ContractOp op = contract;
  SmallVector<StringRef> dims;
  for (StringRef dim : dimsOf(op.getRhs().getType()))
    if (!hasDim(op.getType(), dim))
      dims.push_back(dim);
  return dims;
}

bool scalesHaveExponentsOfF32(const CodeContraction &contraction) {
  DequantizeOp dequantize = contraction.dequantize;
  auto load = dequantize.getScale().getDefiningOp<LoadScaleOp>();
  if (!load)
    return false;
  const spec::Scheme &scheme =
      *spec::schemeOf(load.getCache().getType().getSpec(), load.getTensor());
  return scheme.parts[load.getPart()].scale->dtype != spec::DType::F16;
}

SmallVector<PlaceCost> scalePlaces(const CodeContraction &contraction) {
  DequantizeOp dequantize = contraction.dequantize;
  Type factor = dequantize.getScale().getType(),
       codes = dequantize.getCodes().getType();
  Type lhs = ContractOp(contraction.contract).getLhs().getType();
  SmallVector<StringRef> contracted = contraction.contracted();
  Extents e = extentsOf(contraction);
  bool blocksFillLanes =
      !hasDim(codes, "b") ||
      fillsLanes(extentOf(codes, "e"), static_cast<int64_t>(e.channels));

  SmallVector<PlaceCost> places;
  // Values in registers that two products read cost once. Of a zero that stays
  // the scale does too.
  if (contraction.isShared() || cancelsTooMuch(contraction))
    return {{Place::Register, registerCost(e)}};
  if (disjoint(factor, contracted)) { // pull
    double results =
        contraction.givesScores() ? e.rows * e.tokens : e.rows * e.channels;
    places.push_back(
        {contraction.givesScores() ? Place::Score : Place::Output, results});
  } else {
    // push: what f has and A lacks must be a block of channels, a batch dim of
    // the product.
    bool meetsLhs = llvm::any_of(
        dimsOf(factor), [&](StringRef dim) { return hasDim(lhs, dim); });
    bool staysProduct = llvm::all_of(dimsOf(factor), [&](StringRef dim) {
      return hasDim(lhs, dim) ||
             (dim == "b" && !llvm::is_contained(contracted, dim));
    });
    if (meetsLhs && staysProduct && blocksFillLanes) {
      double copies = hasDim(factor, "b") && !hasDim(lhs, "b") ? e.blocks : 1;
      double weights =
          contraction.givesScores()
              ? e.rows * e.channels *
                    (isPerTile(contraction) ? kWeights + 1 : 1)
              : e.rows * e.tokens * (copies + kWeights * (copies - 1));
      places.push_back(
          {contraction.givesScores() ? Place::Query : Place::P, weights});
    }
    // split
    bool all = llvm::all_of(contracted,
                            [&](StringRef dim) { return hasDim(factor, dim); });
    if (!all && contraction.givesScores() && blocksFillLanes)
      insertByCost(places, {Place::Partial, e.rows * e.tokens * 2 * e.blocks});
  }
  // Codes that something turns are in registers anyway.
  insertByCost(places,
               {Place::Register,
                contraction.rope ? e.tokens * e.channels : registerCost(e)});
  return places;
}

/// Cheapest places of what stands on the codes.
static double factorCost(const CodeContraction &contraction) {
  DequantizeOp dequantize = contraction.dequantize;
  if (!dequantize.getScale())
    return 0;
  PlaceCost scale = scalePlaces(contraction).front();
  double cost = scale.cost;
  if (dequantize.getZero())
    cost += zeroPlaces(contraction, scale.place).front().cost;
  return cost;
}

SmallVector<PlaceCost> sparsePlaces(const CodeContraction &contraction) {
  Extents e = extentsOf(contraction);
  PatchOp patch = contraction.patch;
  double outliers = e.tokens * extentOf(patch.getIndex().getType(), "o");
  SmallVector<PlaceCost> places;
  bool givesScores = contraction.givesScores();
  // Codes that nothing but the product reads.
  if (!contraction.isShared()) {
    double each = givesScores ? kGathered : kScattered;
    places.push_back({givesScores ? Place::Score : Place::Output,
                      e.rows * outliers * each + factorCost(contraction)});
  }
  insertByCost(places,
               {Place::Register, outliers * kScattered + registerCost(e)});
  return places;
}

SmallVector<PlaceCost> zeroPlaces(const CodeContraction &contraction,
                                  Place scale) {
  DequantizeOp dequantize = contraction.dequantize;
  Extents e = extentsOf(contraction);
  Type zero = dequantize.getZero().getType();
  double terms = hasDim(zero, "b") ? e.blocks : 1;
  // Without tokens it meets each channel of A, or their sums once.
  double sums = hasDim(zero, "t") ? e.rows * e.tokens * terms
                                  : e.rows * (e.tokens + e.channels);
  SmallVector<PlaceCost> places;
  if (contraction.isShared())
    return {{Place::Register, e.tokens * e.channels}};
  // The term without codes: metadata times sums of A, added to the result.
  if (!cancelsTooMuch(contraction))
    insertByCost(
        places,
        {contraction.givesScores() ? Place::Score : Place::Output, sums});
  // s * (u - z) may keep z alone; s * u + m needs s there too.
  if (scale == Place::Register)
    insertByCost(places, {Place::Register, e.tokens * e.channels});
  else if (dequantize.getZeroKind() == spec::Zero::Code)
    insertByCost(places, {Place::Register, registerCost(e)});
  return places;
}

} // namespace kvc
