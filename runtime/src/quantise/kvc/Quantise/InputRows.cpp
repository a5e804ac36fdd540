//===- InputRows.cpp - Inputs of schemes as kernels read them -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Quantise/InputRows.h"

#include "kvc/Quantise/PartQuantiser.h"
#include "kvc/Spec/Lookup.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace kvc::quantise;
using namespace kvc::spec;

namespace {

class RowMaker {
public:
  RowMaker(const Spec &spec, const SchemeInput &input,
           std::span<const float> given)
      : part(schemeOf(spec, input.tensor)->parts[input.part]), input(input),
        given(given) {}

  Expected<std::vector<float>> make() {
    for (size_t i = 0; i < given.size(); ++i)
      if (!isInRange(given[i]))
        return wrongAt(i, input.kind == InputKind::Table
                              ? "expected a finite number"
                              : "expected a finite number above 0");
    switch (input.kind) {
    case InputKind::Scale:
      return scales();
    case InputKind::Table:
      return tables();
    case InputKind::Smooth:
      break;
    }
    return std::vector<float>(given.begin(), given.end());
  }

private:
  bool isInRange(float x) const {
    return std::isfinite(x) && (input.kind == InputKind::Table || x > 0);
  }

  Error wrongAt(size_t index, const std::string &expected) const {
    char got[32];
    std::snprintf(got, sizeof(got), "%.9g", double(given[index]));
    return {input.name + "[" + std::to_string(index) + "]", "",
            expected + ", got " + got};
  }

  Expected<std::vector<float>> scales() const {
    std::vector<float> rows;
    for (size_t i = 0; i < given.size(); ++i) {
      float stored = storedStaticScale(*part.scale, given[i]);
      if (stored <= 0)
        return wrongAt(i, "expected a number above 0 after rounding to " +
                              std::string(nameOf(part.scale->dtype)));
      rows.push_back(stored);
    }
    return rows;
  }

  Expected<std::vector<float>> tables() const {
    const auto entries = size_t(input.columns);
    std::vector<float> rows;
    for (int64_t head = 0; head < input.heads; ++head) {
      std::span<const float> table =
          given.subspan(size_t(head) * entries, entries);
      float largest = 0;
      for (float entry : table)
        largest = std::max(largest, std::fabs(entry));
      if (largest == 0)
        return Error{input.name, "",
                     "head " + std::to_string(head) +
                         ": expected a number other than 0 in its table, got "
                         "none"};
      rows.insert(rows.end(), table.begin(), table.end());
      const LookupSteps steps = lookupSteps(table);
      rows.insert(rows.end(), steps.thresholds.begin(), steps.thresholds.end());
      rows.resize(rows.size() + entries - steps.thresholds.size(),
                  std::numeric_limits<float>::infinity());
      for (size_t i = 0; i < entries; ++i)
        rows.push_back(steps.codes[std::min(i, steps.codes.size() - 1)]);
      rows.push_back(largest);
    }
    return rows;
  }

  const PartScheme &part;
  const SchemeInput &input;
  std::span<const float> given;
};

} // namespace

Expected<std::vector<float>>
kvc::quantise::kernelRows(const Spec &spec, const SchemeInput &input,
                          std::span<const float> given) {
  return RowMaker(spec, input, given).make();
}
