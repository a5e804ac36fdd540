//===- Matrix.h - The generated cases of the end-to-end test ----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Specs and inputs in which every two levels of every two properties that the
// compiler lowers meet at least once, and every three of those that matter
// most.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_E2E_MATRIX_H
#define KVC_TEST_E2E_MATRIX_H

#include "Rows.h"
#include "kvc/Test/Covering.h"
#include "kvc/Test/Inputs.h"

namespace kvc::test {

struct MatrixCase {
  std::string name;   ///< "matrix_017"; also the spec's.
  std::string levels; ///< "key.codec=int4 group=3 ..", for people.
  std::string spec;   ///< JSON.
  std::vector<Lengths> lengths;
  InputMode mode;
  uint64_t inputSeed;
  int64_t appendChunk; ///< 0: all at once.
  int64_t otherChunk;  ///< Another one, which must store the same.
  RowOrder rows;
  std::string kernels; ///< Of the compilation: those that run.
};

/// Where V is: on pages of its own, on K's pages, in K's channels.
enum class ValueIs : uint8_t { Apart, Interleaved, Key };
inline constexpr ValueIs kValueIs[] = {ValueIs::Apart, ValueIs::Interleaved,
                                       ValueIs::Key};

std::vector<Property> matrixProperties(ValueIs value);
/// Which levels may meet.
Allowed matrixAllowed(std::span<const Property> properties);

/// The cases of all pairs, a function of the seed alone.
std::vector<MatrixCase> matrixCases(uint64_t seed);

/// The cases of all triples that are lowered (kvc/Test/Combinations.h).
std::vector<MatrixCase> combinationCases(uint64_t seed);

/// Saves a case's files in `folder`; a line for the shell that runs it for
/// `target`.
std::string repeatCommand(const MatrixCase &test, const spec::Spec &spec,
                          const Inputs &inputs, const std::string &folder,
                          const std::string &target);

} // namespace kvc::test

#endif // KVC_TEST_E2E_MATRIX_H
