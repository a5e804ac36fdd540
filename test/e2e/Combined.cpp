//===- Combined.cpp - Cases of every three options ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Matrix.h"

#include "kvc/Test/Combinations.h"

#include <algorithm>
#include <cstdio>

using namespace kvc;
using namespace kvc::test;

/// What the f64 reference may multiply for one sequence.
static constexpr int64_t kMaxProducts = 6'000'000;

/// One kernel each: single queries and a few, or rows that fill tiles. Where
/// codes are of blocks of tokens some of the keys are in codes, some raw.
static std::vector<Lengths> lengthsFor(const spec::Spec &spec, bool isDecode,
                                       Random &random) {
  auto keys = [&] { return 90 + random.below(60); };
  const int64_t all = keys();
  if (isDecode)
    return {{1, all}, {1, 1 + random.below(20)}, {2, 64 + random.below(16)}};
  const int64_t cost = spec.attention.qHeads *
                       (spec.attention.headDim + spec.attention.valueDim);
  const int64_t many = std::clamp<int64_t>(kMaxProducts / (cost * all), 2, 30);
  return {{many, all}, {many + 3, many + random.below(6)}};
}

std::vector<MatrixCase> kvc::test::combinationCases(uint64_t seed) {
  std::vector<MatrixCase> cases;
  Random random(seed);
  for (const Combination &combination : validCombinations()) {
    MatrixCase test;
    char name[32];
    std::snprintf(name, sizeof(name), "combination_%04zu", cases.size());
    test.name = name;
    test.levels = combination.levels();
    test.spec = combination.text(test.name);
    const auto spec = spec::parseSpec(test.spec);
    // That it is valid is checked where the rules are.
    if (!spec)
      continue;
    const bool isDecode = combination.of("batch") == "decode";
    test.kernels =
        isDecode ? "append,decode,merge,unpack" : "append,merge,prefill,unpack";
    test.lengths = lengthsFor(*spec, isDecode, random);
    test.mode = random.below(2)
                    ? InputMode::Normal
                    : kInputModes[random.below(std::size(kInputModes))];
    test.inputSeed = random.next();
    const int64_t chunks[] = {0, 1, 5, 16, 64};
    const int64_t chunk = random.below(5);
    test.appendChunk = chunks[chunk];
    test.otherChunk = chunks[(chunk + 1 + random.below(4)) % 5];
    test.rows = RowOrder(random.below(3));
    cases.push_back(std::move(test));
  }
  return cases;
}
