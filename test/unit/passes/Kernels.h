//===- Kernels.h - Kernels of a spec, made and run --------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_PASSES_KERNELS_H
#define KVC_TEST_UNIT_PASSES_KERNELS_H

#include "kvc/Test/Inputs.h"
#include "kvc/Test/TileInterpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <memory>
#include <string>

namespace mlir {
class Pass;
} // namespace mlir

namespace kvc::test {

/// One point of the tests' tables: schemes of K and V and an attention.
struct Case {
  std::string name;
  spec::Spec spec;
  Lengths lengths;
};

/// Every scheme that is lowered, K and V alike.
std::vector<std::string> schemeNames();
/// Every variant of attention.
std::vector<std::string> variantNames();
/// `scheme` is used for K and V.
Case makeCase(const std::string &scheme, const std::string &variant);
Case makeCase(const std::string &keyScheme, const std::string &valueScheme,
              const std::string &variant);

/// Cases whose tensors are cut into parts, whose V is channels of K, with and
/// without parts, or that keep channels of each token apart.
std::vector<std::string> partitionNames();
Case makePartitioned(const std::string &partition, const std::string &variant);

/// A context with all dialects that kernels are made of.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Runs passes on one function; whether they all succeed.
using Passes = std::vector<std::function<std::unique_ptr<mlir::Pass>()>>;
bool runPasses(mlir::Operation *op, const Passes &passes);

/// What the passes report while it lives, instead of on stderr.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext &context);
  ~Diagnostics();
  const std::string &text() const { return collected; }

private:
  mlir::MLIRContext &context;
  uint64_t id;
  std::string collected;
};

/// The kernels of a spec at level 1: tiles of 32 tokens, 4 rows in decode, 16
/// in prefill; with a score region, "score(..) {..}", if that is not empty.
/// Null after a failure of the test.
mlir::OwningOpRef<mlir::ModuleOp> makeKernels(mlir::MLIRContext &context,
                                              const spec::Spec &spec,
                                              const std::string &score = "");
mlir::func::FuncOp kernelOf(mlir::ModuleOp module, const char *name);
/// A copy of a kernel as the middle passes leave it, factors in their places.
mlir::OwningOpRef<mlir::func::FuncOp>
withFactorsPlaced(mlir::func::FuncOp kernel);

/// [first, second), twice.
struct WorkItem {
  int64_t rowBegin, rowEnd, keyBegin, keyEnd;
};

/// One sequence: what is in memory before and after its kernels ran.
class Sequence {
public:
  Sequence(const spec::Spec &spec, const Lengths &lengths, uint64_t seed);

  const spec::Attention &attention() const { return spec.attention; }
  int64_t rows() const { return lengths.queries * attention().group(); }

  /// What one kv head's rows give: out [rows][value_dim], lse [rows].
  struct Result {
    HostArray out, lse;
  };

  /// Runs an attention kernel for one work item.
  Result attend(mlir::func::FuncOp kernel, int64_t kvHead,
                const WorkItem &item);
  /// All rows and keys of a kv head at once.
  Result attend(mlir::func::FuncOp kernel, int64_t kvHead);
  /// Merges partial results of rows [rowBegin, rowEnd) into out and lse, shaped
  /// like the reference's.
  void merge(mlir::func::FuncOp kernel, int64_t kvHead, int64_t rowBegin,
             int64_t rowEnd, const std::vector<Result> &partials,
             HostArray &out, HostArray &lse);

  /// The rows of `kvHead` of a reference.
  Result rowsOf(const Reference &reference, int64_t kvHead) const;

  const spec::Spec &spec;
  Lengths lengths;
  Inputs inputs;
  Answer answer;
  HostCache cache;
  HostArray query, slopes, sinks;
};

/// The attention of f64 whose constants are the kernels' own, without sink
/// logits, which join in the merge.
Reference referenceOf(const Sequence &sequence);
/// A reference's logarithms as kernels give them: log2 times ln 2 as f32.
HostArray lowered(HostArray lse);

/// Largest difference, as a fraction of the largest magnitude in `expected`;
/// equal infinities do not differ. Infinite if the sizes or any NaN disagree.
double difference(const HostArray &got, const HostArray &expected);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_PASSES_KERNELS_H
