//===- PlaceFactors.cpp - Decide where factors of codes go ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Remark.h"
#include "kvc/Transforms/Passes.h"
#include "kvc/Transforms/Placement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_PLACEFACTORS
#include "kvc/Transforms/Passes.h.inc"

namespace {

/// "score (256), register (40960)".
std::string listOf(ArrayRef<PlaceCost> places) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(places, stream, [&](const PlaceCost &place) {
    stream << stringifyPlace(place.place) << " ("
           << llvm::format("%.0f", place.cost) << ")";
  });
  return text;
}

class PlaceFactors : public impl::PlaceFactorsBase<PlaceFactors> {
public:
  using Base::Base;

  void runOnOperation() override {
    for (CodeContraction contraction : codeContractionsIn(getOperation()))
      if (failed(place(contraction)))
        return signalPassFailure();
  }

private:
  LogicalResult place(CodeContraction contraction) {
    DequantizeOp op = contraction.dequantize;
    if (PatchOp patch = contraction.patch) {
      std::optional<Place> given = patch.getPlace();
      patch.removePlaceAttr();
      FailureOr<Place> sparse =
          choose(contraction, "outliers", patch.getIndex(), given,
                 sparsePlaces(contraction));
      if (failed(sparse))
        return failure();
      patch.setPlace(*sparse);
    }
    if (!op.getScale())
      return success();
    FailureOr<Place> scale =
        choose(contraction, "scale", op.getScale(), op.getScalePlace(),
               scalePlaces(contraction));
    if (failed(scale))
      return failure();
    op.setScalePlace(*scale);
    if (!op.getZero())
      return success();
    FailureOr<Place> zero =
        choose(contraction, "zero", op.getZero(), op.getZeroPlace(),
               zeroPlaces(contraction, *scale));
    if (failed(zero))
      return failure();
    op.setZeroPlace(*zero);
    return success();
  }

  /// A place that is already there is kept, if it is legal.
  FailureOr<Place> choose(CodeContraction &contraction, StringRef factor,
                          Value tile, std::optional<Place> given,
                          ArrayRef<PlaceCost> places) {
    StringRef tensor = contraction.givesScores() ? "key" : "value";
    const PlaceCost *chosen = places.begin();
    if (given)
      chosen = llvm::find_if(places, [&](const PlaceCost &place) {
        return place.place == *given;
      });
    if (chosen == places.end())
      return contraction.dequantize.emitOpError()
             << factor << " of the " << tensor << " cannot go to place "
             << stringifyPlace(*given) << ", legal: " << listOf(places);
    if (!remarks)
      return chosen->place;
    auto others = llvm::to_vector(
        llvm::make_filter_range(places, [&](const PlaceCost &place) {
          return place.place != chosen->place;
        }));
    std::string cost;
    llvm::raw_string_ostream(cost) << llvm::format("%.0f", chosen->cost);
    emitChoice(contraction.dequantize)
        << tensor << " " << factor << " ["
        << llvm::join(dimsOf(tile.getType()), " ")
        << "]: " << stringifyPlace(chosen->place) << (given ? " as asked," : "")
        << " at " << cost << " operations per tile; "
        << (others.empty() ? "no other place is legal"
                           : "others: " + listOf(others));
    return chosen->place;
  }
};

} // namespace

} // namespace kvc
