//===- TensorCore.cpp - How generations of tensor cores add ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/TensorCore.h"

using namespace kvc::sim;

static constexpr SumRule kNone{};
static constexpr SumRule kEight{8, 24, 23, -132, -20};
static constexpr SumRule kFour{4, 24, 23, -132, -20};
static constexpr SumRule kSixteen{16, 25, 23, -133, -21};
static constexpr SumRule kEightOfHopper{8, 25, 23, -133, -21};

static constexpr TensorCore kTensorCores[] = {
    {{"a100"}, 80, kEight, kFour, kNone, false},
    {{"l40s"}, 89, kEight, kFour, {16, 13, 13, -132, -132}, false},
    {{"h100", "h200"}, 90, kSixteen, kEightOfHopper, kNone, true},
    {{"b200"}, 100, kSixteen, kEightOfHopper, kNone, true},
    {{"rtx-pro-6000"},
     120,
     kSixteen,
     kEightOfHopper,
     {32, 25, 23, -133, -133},
     false},
};

std::span<const TensorCore> kvc::sim::tensorCores() { return kTensorCores; }

const TensorCore *kvc::sim::tensorCoreNamed(std::string_view name) {
  for (const TensorCore &core : kTensorCores)
    for (std::string_view own : core.names)
      if (!name.empty() && own == name)
        return &core;
  return nullptr;
}

const TensorCore *kvc::sim::tensorCoreFor(int target) {
  const TensorCore *last = nullptr;
  for (const TensorCore &core : kTensorCores)
    if (target >= core.firstTarget)
      last = &core;
  return last;
}
