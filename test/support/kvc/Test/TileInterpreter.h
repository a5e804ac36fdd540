//===- TileInterpreter.h - Kernels on tiles, run in f64 ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Interprets a kernel function of level 1 or 2 (scf, arith, math and the tile
// ops of kvc) with f64 for every float, so that a rewrite that is right up to
// reassociation gives the same result to nearly 1e-15, and one that is wrong
// does not. Roundings to storage types that the IR asks for are done exactly.
//
// Memory is made of plain arrays and of a cache in canonical form. Every access
// is checked: outside of an array is an error, and so is a narrowing that does
// not fit.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_TILEINTERPRETER_H
#define KVC_TEST_TILEINTERPRETER_H

#include "kvc/Test/Inputs.h"
#include "kvc/Test/Quantise.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace kvc::test {

/// What a memref argument stands for, whatever its element type and strides.
struct HostArray {
  std::vector<int64_t> shape;
  std::vector<double> values; ///< Row-major.

  HostArray(std::vector<int64_t> shape, double fill);
  HostArray(std::vector<int64_t> shape, std::span<const float> values);
  /// The element at `indices`, null outside of the array.
  double *at(llvm::ArrayRef<int64_t> indices);
};

/// One part of a tensor of a cache.
struct HostPart {
  HostArray codes; ///< [tokens][heads][channels]: centred codes, or raw values.
  HostArray scale; ///< [tokens][heads][blocks]; no block without a scale.
  HostArray zero;  ///< [tokens][heads][blocks]; no block without a zero.
  HostArray outlierIndex, outlierValue; ///< [tokens][heads][outliers]
};

/// The cache of one sequence. With segments the parts begin behind the sink.
struct HostCache {
  std::vector<HostPart> key, value;
  std::vector<HostArray> inputs;  ///< Of spec::schemeInputs: [heads][stride].
  std::shared_ptr<HostCache> raw; ///< Raw rows; null without segments.
  int64_t keyCodedEnd = 0, valueCodedEnd = 0;
};

/// A cache that holds what the reference quantiser made of one sequence.
HostCache hostCache(const spec::Spec &spec, const Inputs &inputs,
                    const TensorData &key, const TensorData &value);

/// An index, a memref or a cache.
using Argument = std::variant<int64_t, HostArray *, HostCache *>;

/// Runs `function`. An op that is not known, an argument of the wrong kind and
/// an access outside of memory are errors, reported at the op.
llvm::LogicalResult interpret(mlir::func::FuncOp function,
                              llvm::ArrayRef<Argument> arguments);

} // namespace kvc::test

#endif // KVC_TEST_TILEINTERPRETER_H
