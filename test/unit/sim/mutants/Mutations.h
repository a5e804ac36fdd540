//===- Mutations.h - One mistake in a kernel --------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_MUTANTS_MUTATIONS_H
#define KVC_TEST_UNIT_SIM_MUTANTS_MUTATIONS_H

#include "Kernels.h"

namespace kvc::test {

struct Mutant {
  std::string kind; ///< "barrier", "wait", ..
  std::string what; ///< "line 12: bar.sync 0; removed"
  MutantKernel kernel;
  /// Words that the buffers are short of.
  size_t inputCut = 0, outputCut = 0;
};

/// Every mutant of a kernel that the mutations make.
std::vector<Mutant> mutantsOf(const MutantKernel &kernel);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_MUTANTS_MUTATIONS_H
