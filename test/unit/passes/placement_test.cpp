//===- placement_test.cpp - Every place of every factor -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// kvc-place-factors and kvc-apply-placement keep what a kernel computes: levels
// 1 and 2, both interpreted in f64, agree, whatever the places; and places that
// are not legal are refused.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "kvc/Test/Combinations.h"
#include "kvc/Transforms/Passes.h"
#include "kvc/Transforms/Placement.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace kvc;
using namespace kvc::test;

namespace {

constexpr Place kPlaces[] = {Place::Register, Place::Score, Place::Partial,
                             Place::Query,    Place::P,     Place::Output};
constexpr double kTolerance = 1e-10;
/// The reference takes scores to x' as f32 where a kernel has other factors.
constexpr double kRoundings = 1e-5;
/// Of the combinations of options.
constexpr size_t kEachNth = 8;

/// Places of one contraction's factors; none for a factor that is not there.
struct Places {
  std::optional<Place> scale, zero;
};

std::string nameOf(std::optional<Place> place) {
  return place ? stringifyPlace(*place).str() : "none";
}

/// Every legal pair of places.
std::vector<Places> legalPlaces(const CodeContraction &contraction) {
  DequantizeOp op = contraction.dequantize;
  std::vector<Places> result;
  if (!op.getScale())
    return {{}};
  for (PlaceCost scale : scalePlaces(contraction)) {
    if (!op.getZero())
      result.push_back({scale.place, std::nullopt});
    else
      for (PlaceCost zero : zeroPlaces(contraction, scale.place))
        result.push_back({scale.place, zero.place});
  }
  return result;
}

bool contains(ArrayRef<PlaceCost> places, Place place) {
  return llvm::any_of(places,
                      [&](PlaceCost cost) { return cost.place == place; });
}

/// Every pair of places with one that is not legal.
std::vector<Places> illegalPlaces(const CodeContraction &contraction) {
  DequantizeOp op = contraction.dequantize;
  std::vector<Places> result;
  if (!op.getScale())
    return result;
  SmallVector<PlaceCost> legal = scalePlaces(contraction);
  for (Place scale : kPlaces) {
    if (!contains(legal, scale)) {
      result.push_back({scale, std::nullopt});
      continue;
    }
    if (!op.getZero())
      continue;
    SmallVector<PlaceCost> zeros = zeroPlaces(contraction, scale);
    for (Place zero : kPlaces)
      if (!contains(zeros, zero))
        result.push_back({scale, zero});
  }
  return result;
}

void force(DequantizeOp op, const Places &places) {
  if (places.scale)
    op.setScalePlace(*places.scale);
  if (places.zero)
    op.setZeroPlace(*places.zero);
}

/// No test may pass because nothing was rewritten.
bool hasDequantize(func::FuncOp kernel) {
  return kernel.walk([](DequantizeOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

class Placement : public testing::TestWithParam<std::string> {
protected:
  std::unique_ptr<MLIRContext> context = makeContext();

  /// The key's contraction, then the value's.
  static SmallVector<CodeContraction> contractionsOf(func::FuncOp kernel) {
    SmallVector<CodeContraction> found = codeContractionsIn(kernel);
    EXPECT_EQ(found.size(), 2u);
    EXPECT_TRUE(found[0].givesScores());
    EXPECT_FALSE(found[1].givesScores());
    return found;
  }

  /// Runs both passes on a copy of `kernel` with these places given.
  OwningOpRef<func::FuncOp> placed(func::FuncOp kernel, const Places &key,
                                   const Places &value) {
    OwningOpRef<func::FuncOp> copy = kernel.clone();
    SmallVector<CodeContraction> contractions = contractionsOf(*copy);
    force(contractions[0].dequantize, key);
    force(contractions[1].dequantize, value);
    Diagnostics diagnostics(*context);
    bool ran = runPasses(
        *copy, {[] { return createPlaceFactors(); }, createApplyPlacement});
    EXPECT_TRUE(ran) << diagnostics.text();
    EXPECT_FALSE(hasDequantize(*copy));
    return copy;
  }

  void expectEqual(func::FuncOp kernel, Sequence &sequence, const Places &key,
                   const Places &value, Sequence::Result &expected) {
    SCOPED_TRACE("key " + nameOf(key.scale) + ", " + nameOf(key.zero) +
                 "; value " + nameOf(value.scale) + ", " + nameOf(value.zero));
    OwningOpRef<func::FuncOp> level2 = placed(kernel, key, value);
    Sequence::Result got = sequence.attend(*level2, 0);
    EXPECT_LE(difference(got.out, expected.out), kTolerance);
    EXPECT_LE(difference(got.lse, expected.lse), kTolerance);
  }
};

TEST_P(Placement, ByCostKeepsTheResult) {
  for (const std::string &variant : variantNames()) {
    Case c = makeCase(GetParam(), variant);
    SCOPED_TRACE(c.name);
    Sequence sequence(c.spec, c.lengths, 11);
    OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
    ASSERT_TRUE(module);
    for (const char *name : {"decode", "prefill"}) {
      func::FuncOp kernel = kernelOf(*module, name);
      Sequence::Result expected = sequence.attend(kernel, 0);
      expectEqual(kernel, sequence, {}, {}, expected);
    }
  }
}

TEST_P(Placement, EveryLegalPlaceKeepsTheResult) {
  for (const char *variant : {"causal", "many_sinks"}) {
    Case c = makeCase(GetParam(), variant);
    SCOPED_TRACE(c.name);
    Sequence sequence(c.spec, c.lengths, 12);
    OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
    ASSERT_TRUE(module);
    func::FuncOp kernel = kernelOf(*module, "decode");
    Sequence::Result expected = sequence.attend(kernel, 0);
    SmallVector<CodeContraction> contractions = contractionsOf(kernel);
    for (const Places &key : legalPlaces(contractions[0]))
      for (const Places &value : legalPlaces(contractions[1]))
        expectEqual(kernel, sequence, key, value, expected);
  }
}

TEST_P(Placement, EveryIllegalPlaceIsRefused) {
  Case c = makeCase(GetParam(), "causal");
  OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
  ASSERT_TRUE(module);
  func::FuncOp kernel = kernelOf(*module, "prefill");
  SmallVector<CodeContraction> contractions = contractionsOf(kernel);
  for (size_t i = 0; i < 2; ++i)
    for (const Places &places : illegalPlaces(contractions[i])) {
      SCOPED_TRACE(nameOf(places.scale) + ", " + nameOf(places.zero));
      OwningOpRef<func::FuncOp> copy = kernel.clone();
      force(contractionsOf(*copy)[i].dequantize, places);
      Diagnostics diagnostics(*context);
      EXPECT_FALSE(runPasses(*copy, {[] { return createPlaceFactors(); }}));
      std::string wrong = nameOf(places.zero ? places.zero : places.scale);
      EXPECT_NE(diagnostics.text().find("cannot go to place " + wrong),
                std::string::npos)
          << diagnostics.text();
    }
}

/// K and V with different schemes: each factor is placed by its own.
TEST(PlacementOfPairs, KeepsTheResult) {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::vector<std::string> schemes = schemeNames();
  for (size_t i = 0; i < schemes.size(); ++i) {
    Case c = makeCase(schemes[i], schemes[(i * 7 + 3) % schemes.size()],
                      "window_sinks");
    SCOPED_TRACE(c.name);
    Sequence sequence(c.spec, c.lengths, 13);
    OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
    ASSERT_TRUE(module);
    func::FuncOp kernel = kernelOf(*module, "decode");
    Sequence::Result expected = sequence.attend(kernel, 0);
    ASSERT_TRUE(runPasses(
        kernel, {[] { return createPlaceFactors(); }, createApplyPlacement}));
    Sequence::Result got = sequence.attend(kernel, 0);
    EXPECT_LE(difference(got.out, expected.out), kTolerance);
    EXPECT_LE(difference(got.lse, expected.lse), kTolerance);
  }
}

/// A tile that both products read is dequantised once and stays as it is; other
/// parts go their own ways.
TEST(PlacementOfPartitions, KeepsTheResult) {
  std::unique_ptr<MLIRContext> context = makeContext();
  for (const std::string &partition : partitionNames()) {
    Case c = makePartitioned(partition, "causal");
    SCOPED_TRACE(c.name);
    Sequence sequence(c.spec, c.lengths, 14);
    OwningOpRef<ModuleOp> module = makeKernels(*context, c.spec);
    ASSERT_TRUE(module);
    func::FuncOp kernel = kernelOf(*module, "decode");
    for (CodeContraction contraction : codeContractionsIn(kernel)) {
      if (!contraction.isShared() || !contraction.dequantize.getScale())
        continue;
      SmallVector<PlaceCost> places = scalePlaces(contraction);
      ASSERT_EQ(places.size(), 1u);
      EXPECT_EQ(places.front().place, Place::Register);
    }
    Sequence::Result expected = sequence.attend(kernel, 0);
    ASSERT_TRUE(runPasses(
        kernel, {[] { return createPlaceFactors(); }, createApplyPlacement}));
    EXPECT_FALSE(hasDequantize(kernel));
    Sequence::Result got = sequence.attend(kernel, 0);
    EXPECT_LE(difference(got.out, expected.out), kTolerance);
    EXPECT_LE(difference(got.lse, expected.lse), kTolerance);
  }
}

/// Gives each factor of a contraction a legal place, drawn at random; says
/// which.
std::string placeByChance(CodeContraction contraction, Random &random) {
  const auto oneOf = [&](const auto &choices) {
    return choices[size_t(random.below(int64_t(choices.size())))];
  };
  std::string text;
  // What is legal for the others depends on the sparse part's place.
  if (contraction.patch) {
    contraction.patch.setPlace(oneOf(sparsePlaces(contraction)).place);
    text = "outliers " + nameOf(contraction.patch.getPlace()) + ", ";
  }
  const Places chosen = oneOf(legalPlaces(contraction));
  force(contraction.dequantize, chosen);
  return text + nameOf(chosen.scale) + ", " + nameOf(chosen.zero) + "; ";
}

/// Schemes, transforms, segments and layouts as they come.
TEST(PlacementOfCombinations, KeepsTheResult) {
  std::unique_ptr<MLIRContext> context = makeContext();
  const std::vector<Combination> all = validCombinations();
  Random random(/*seed=*/5);
  for (size_t i = 0; i < all.size(); i += kEachNth) {
    SCOPED_TRACE(all[i].levels());
    const spec::Expected<spec::Spec> spec = spec::parseSpec(all[i].text("c"));
    ASSERT_TRUE(spec) << spec.error().str();
    Sequence sequence(*spec, {2, 75}, i);
    OwningOpRef<ModuleOp> module = makeKernels(*context, *spec);
    ASSERT_TRUE(module);
    func::FuncOp kernel = kernelOf(*module, "decode");
    Sequence::Result expected = sequence.attend(kernel, 0);
    const Sequence::Result exact = sequence.rowsOf(referenceOf(sequence), 0);
    EXPECT_LE(difference(expected.out, exact.out), kRoundings);
    EXPECT_LE(difference(expected.lse, lowered(exact.lse)), kRoundings);

    std::string places;
    for (const CodeContraction &contraction : codeContractionsIn(kernel))
      places += placeByChance(contraction, random);
    SCOPED_TRACE(places);
    Diagnostics diagnostics(*context);
    ASSERT_TRUE(runPasses(
        kernel, {[] { return createPlaceFactors(); }, createApplyPlacement}))
        << diagnostics.text();
    EXPECT_FALSE(hasDequantize(kernel));
    Sequence::Result got = sequence.attend(kernel, 0);
    EXPECT_LE(difference(got.out, expected.out), kTolerance);
    EXPECT_LE(difference(got.lse, expected.lse), kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(, Placement, testing::ValuesIn(schemeNames()),
                         [](const auto &info) { return info.param; });

} // namespace
