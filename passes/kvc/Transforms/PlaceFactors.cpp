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

/// `places`, or of them the registers alone.
SmallVector<PlaceCost> legalOf(SmallVector<PlaceCost> places,
                               bool inRegisters) {
  if (inRegisters)
    llvm::erase_if(places, [](const PlaceCost &each) {
      return each.place != Place::Register;
    });
  return places;
}

class PlaceFactors : public impl::PlaceFactorsBase<PlaceFactors> {
public:
  using Base::Base;

  void runOnOperation() override {
    const SmallVector<CodeContraction> contractions =
        codeContractionsIn(getOperation());
    for (const CodeContraction &contraction : contractions)
      if (failed(place(contraction)))
        return signalPassFailure();
    if (remarks && !contractions.empty())
      remarkRules(contractions);
  }

private:
  /// What no cost decides: factors of codes whose values something other than a
  /// product reads, and transforms, whose places kvc-expand's rules give.
  void remarkRules(ArrayRef<CodeContraction> contractions) {
    getOperation()->walk([&](Operation *op) {
      if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
        if (llvm::none_of(contractions, [&](const CodeContraction &each) {
              return each.dequantize == dequantize;
            }))
          remarkRegister(dequantize);
      } else if (auto rotate = dyn_cast<RotateOp>(op)) {
        remarkTransform(op, "rotation", rotate.getType());
      } else if (auto rope = dyn_cast<RopeOp>(op)) {
        remarkTransform(op, "rope", rope.getType());
      } else if (auto load = dyn_cast<LoadSchemeOp>(op);
                 load && load.getField() == spec::RowField::Smooth) {
        remarkTransform(op, "smoothing", scaledBy(load));
      }
    });
  }

  void remarkRegister(DequantizeOp op) {
    if (op->use_empty())
      return;
    Operation *reader = *op->getUsers().begin();
    auto patch = dyn_cast<PatchOp>(reader);
    if (patch && !patch->use_empty())
      reader = *patch->getUsers().begin();
    const auto remark = [&](StringRef factor, Value tile) {
      if (tile)
        emitChoice(op) << tensorOf(op.getType()) << " " << factor << " ["
                       << llvm::join(dimsOf(tile.getType()), " ")
                       << "]: register by rule, "
                       << reader->getName().getStringRef()
                       << " reads the values";
    };
    remark("outliers", patch ? patch.getIndex() : Value());
    remark("scale", op.getScale());
    remark("zero", op.getZero());
  }

  /// A transform of queries, of outputs, or of tiles of keys or values.
  void remarkTransform(Operation *op, StringRef name, Type tile) {
    const bool isOfRows = hasDim(tile, "r");
    const StringRef tensor = tensorOf(tile);
    const Place place = !isOfRows         ? Place::Register
                        : tensor == "key" ? Place::Query
                                          : Place::Output;
    emitChoice(op) << tensor << " " << name << " ["
                   << llvm::join(dimsOf(tile), " ")
                   << "]: " << stringifyPlace(place) << " by rule, once per "
                   << (isOfRows ? "tile of rows" : "tile of tokens");
  }

  /// Values have channels "d", keys "c".
  static StringRef tensorOf(Type tile) {
    return hasDim(tile, "d") ? "value" : "key";
  }

  /// The tile that a vector of factors is broadcast to.
  static Type scaledBy(Value factors) {
    while (!hasDim(factors.getType(), "r") && !hasDim(factors.getType(), "t") &&
           !factors.use_empty())
      factors = (*factors.user_begin())->getResult(0);
    return factors.getType();
  }

  LogicalResult place(CodeContraction contraction) {
    DequantizeOp op = contraction.dequantize;
    if (PatchOp patch = contraction.patch) {
      std::optional<Place> given = patch.getPlace();
      patch.removePlaceAttr();
      FailureOr<Place> sparse =
          choose(contraction, "outliers", patch.getIndex(), given,
                 legalOf(sparsePlaces(contraction), warps));
      if (failed(sparse))
        return failure();
      patch.setPlace(*sparse);
    }
    if (!op.getScale())
      return success();
    // A product on tensor cores has no blocks of channels.
    const bool isBlocked = warps && (hasDim(op.getCodes().getType(), "b") ||
                                     hasDim(op.getScale().getType(), "b"));
    FailureOr<Place> scale =
        choose(contraction, "scale", op.getScale(), op.getScalePlace(),
               legalOf(scalePlaces(contraction), isBlocked));
    if (failed(scale))
      return failure();
    op.setScalePlace(*scale);
    if (!op.getZero())
      return success();
    FailureOr<Place> zero =
        choose(contraction, "zero", op.getZero(), op.getZeroPlace(),
               legalOf(zeroPlaces(contraction, *scale), isBlocked));
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
