//===- Kernels.h - Correct kernels to be broken -----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_MUTANTS_KERNELS_H
#define KVC_TEST_UNIT_SIM_MUTANTS_KERNELS_H

#include "kvc/Sim/Machine/Observer.h"

#include <functional>

namespace kvc::test {

/// A kernel `k` of two pointers, what it reads and what it must write.
struct MutantKernel {
  std::string name; ///< Of its file in test/data/ptx/mutants.
  std::string text; ///< One instruction a line.
  sim::Extent3 grid, block;
  std::vector<uint32_t> input;
  size_t outputs = 0; ///< Words.
  std::function<std::vector<uint32_t>(const std::vector<uint32_t> &)> answer;
};

std::vector<MutantKernel> mutantKernels();

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_MUTANTS_KERNELS_H
