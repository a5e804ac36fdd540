//===- PlaceFactors.cpp - Decide where factors of codes go ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Transforms/Passes.h"
#include "kvc/Transforms/Placement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_PLACEFACTORS
#include "kvc/Transforms/Passes.h.inc"

namespace {

/// "score (256), then register (40960)".
std::string listOf(ArrayRef<PlaceCost> places) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      places, stream,
      [&](const PlaceCost &place) {
        stream << stringifyPlace(place.place) << " ("
               << llvm::format("%.0f", place.cost) << ")";
      },
      ", then ");
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
    if (!op.getScale())
      return success();
    FailureOr<Place> scale = choose(contraction, "scale", op.getScalePlace(),
                                    scalePlaces(contraction));
    if (failed(scale))
      return failure();
    op.setScalePlace(*scale);
    if (!op.getZero())
      return success();
    FailureOr<Place> zero = choose(contraction, "zero", op.getZeroPlace(),
                                   zeroPlaces(contraction, *scale));
    if (failed(zero))
      return failure();
    op.setZeroPlace(*zero);
    return success();
  }

  /// A place that is already there is kept, if it is legal.
  FailureOr<Place> choose(CodeContraction &contraction, StringRef factor,
                          std::optional<Place> given,
                          ArrayRef<PlaceCost> places) {
    StringRef tensor = contraction.givesScores() ? "key" : "value";
    Place chosen = given.value_or(places.front().place);
    if (llvm::none_of(places, [&](const PlaceCost &place) {
          return place.place == chosen;
        }))
      return contraction.dequantize.emitOpError()
             << factor << " of the " << tensor << " cannot go to place "
             << stringifyPlace(chosen) << ", legal: " << listOf(places);
    if (remarks)
      emitRemark(contraction.dequantize.getLoc())
          << tensor << " " << factor << ": " << stringifyPlace(chosen)
          << (given ? " as asked" : "") << "; by cost: " << listOf(places);
    return chosen;
  }
};

} // namespace

} // namespace kvc
