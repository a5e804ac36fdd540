//===- CreateKernels.cpp - The kernels of a spec --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The pass kvc-create-kernels. Parameters are added one by one in the order of
// the fields of kvc/kernel_abi.h, each with the field's name as its location,
// so that printing with -mlir-use-nameloc-as-prefix reads like the header.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Spec/Segments.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvc {

#define GEN_PASS_DEF_CREATEKERNELS
#include "kvc/Transforms/Passes.h.inc"

} // namespace kvc

using namespace mlir;
using namespace kvc;

namespace {

/// Builds one kernel function: its parameters in order, then its body.
class KernelBuilder : public ImplicitLocOpBuilder {
public:
  KernelBuilder(AttentionSpecOp declaration, OpBuilder &builder, StringRef kind)
      : ImplicitLocOpBuilder(declaration.getLoc(), builder),
        declaration(declaration), attr(declaration.getSpec()),
        spec(attr.getSpec()) {
    func = func::FuncOp::create(*this, kind, getFunctionType({}, {}));
    func->setAttr(KVCDialect::getKernelAttrName(), getStringAttr(kind));
    setInsertionPointToStart(func.addEntryBlock());
  }

  Value param(StringRef name, Type type) {
    return func.front().addArgument(
        type, NameLoc::get(getStringAttr(name), getLoc()));
  }
  Value cache() { return param("cache", CacheType::get(attr)); }
  Value index(StringRef name) { return param(name, getIndexType()); }
  /// A memref without gaps; -1 is a dynamic extent.
  Value dense(StringRef name, ArrayRef<int64_t> shape, Type element) {
    return param(name, MemRefType::get(dynamic(shape), element));
  }
  /// A memref with these strides; -1 is a dynamic extent or stride.
  Value strided(StringRef name, ArrayRef<int64_t> shape, Type element,
                ArrayRef<int64_t> strides) {
    auto layout = StridedLayoutAttr::get(getContext(), 0, dynamic(strides));
    return param(name, MemRefType::get(dynamic(shape), element, layout));
  }
  /// A [tokens, heads, channels] tensor of the caller's.
  Value rows(StringRef name, int64_t channels, spec::DType type) {
    return strided(name, {-1, -1, channels}, elementTypeOf(getContext(), type),
                   {-1, -1, 1});
  }

  void finish() {
    func::ReturnOp::create(*this);
    func.setFunctionType(getFunctionType(func.front().getArgumentTypes(), {}));
  }

  void attend();
  void append();
  void merge();
  void unpack();

private:
  static SmallVector<int64_t> dynamic(ArrayRef<int64_t> values) {
    SmallVector<int64_t> result(values);
    std::replace(result.begin(), result.end(), int64_t(-1),
                 ShapedType::kDynamic);
    return result;
  }

  AttentionSpecOp declaration;
  SpecAttr attr;
  const spec::Spec &spec;
  func::FuncOp func;
};

void KernelBuilder::attend() {
  Value view = cache();
  Value query = rows("query", spec.attention.headDim, spec.io.query);
  Value partialOut =
      dense("partial_out", {-1, spec.attention.valueDim}, getF32Type());
  Value partialLse = dense("partial_lse", {-1}, getF32Type());
  Value slopes = dense("alibi_slopes", {-1}, getF32Type());
  Value head = index("kv_head"), numQueries = index("num_queries"),
        length = index("length");
  Value rowBegin = index("row_begin"), rowEnd = index("row_end");
  Value keyBegin = index("key_begin"), keyEnd = index("key_end");
  auto attend = AttendOp::create(
      *this, query, view, head, rowBegin, rowEnd, numQueries, keyBegin, keyEnd,
      length, spec.attention.alibi ? slopes : Value(), partialOut, partialLse,
      /*tile_rows=*/IntegerAttr(), /*tile_tokens=*/IntegerAttr());
  IRMapping mapping;
  declaration.getScore().cloneInto(&attend.getScore(), mapping);
}

void KernelBuilder::append() {
  Value view = cache();
  Value key = rows("key", spec.attention.headDim, spec.io.query);
  Value value = rows("value", spec.attention.valueDim, spec.io.query);
  Value head = index("kv_head"), begin = index("token_begin"),
        end = index("token_end");
  Value keyEnd = index("key_coded_end"), valueEnd = index("value_coded_end");
  dense("workspace", {-1}, getI8Type()); // Of scratch, once its size is known.
  if (!spec::hasSegments(spec))
    keyEnd = valueEnd = Value();
  AppendOp::create(*this, key, view, head, begin, end, keyEnd,
                   spec::Tensor::Key);
  if (spec.value)
    AppendOp::create(*this, value, view, head, begin, end, valueEnd,
                     spec::Tensor::Value);
}

void KernelBuilder::merge() {
  int64_t channels = spec.attention.valueDim;
  Value partialOut = strided("partial_out", {-1, -1, channels}, getF32Type(),
                             {-1, channels, 1});
  Value partialLse = strided("partial_lse", {-1, -1}, getF32Type(), {-1, 1});
  Value sinks = dense("sink_logits", {-1}, getF32Type());
  Value out = rows("out", channels, spec.io.output);
  Value lse = strided("lse", {-1, -1}, getF32Type(), {-1, -1});
  Value head = index("kv_head"), rowBegin = index("row_begin"),
        rowEnd = index("row_end");
  Value numSplits = index("num_splits");
  MergeOp::create(*this, partialOut, partialLse, rowBegin, rowEnd, numSplits,
                  spec.attention.sinkLogits ? sinks : Value(), out, lse, head,
                  attr, /*tile_rows=*/IntegerAttr());
}

void KernelBuilder::unpack() {
  Value view = cache();
  Value head = index("kv_head"), begin = index("token_begin"),
        end = index("token_end");
  auto unpackPart = [&](spec::Tensor tensor, unsigned number,
                        const std::string &prefix) {
    const spec::PartScheme &part = spec::schemeOf(spec, tensor)->parts[number];
    // Raw parts have no blocks, but the parameters are there all the same.
    int64_t channels = part.channels(),
            blocks = std::max<int64_t>(part.blocks(), 1);
    Value codes = dense(prefix + "_codes", {-1, channels}, getI8Type());
    Value scales = dense(prefix + "_scales", {-1, blocks}, getF32Type());
    Value zeros = dense(prefix + "_zeros", {-1, blocks}, getF32Type());
    Value values = dense(prefix, {-1, channels}, getF32Type());
    int64_t outliers = std::max<int64_t>(part.outliers, 1);
    Value indices =
        dense(prefix + "_outlier_indices", {-1, outliers}, getF32Type());
    Value kept =
        dense(prefix + "_outlier_values", {-1, outliers}, getF32Type());
    UnpackOp::create(*this, view, head, begin, end, codes, scales, zeros,
                     values, part.outliers ? indices : Value(),
                     part.outliers ? kept : Value(), tensor, number);
  };
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value}) {
    const spec::Scheme *scheme = spec::schemeOf(spec, tensor);
    size_t parts = scheme ? scheme->parts.size() : 0;
    for (unsigned i = 0; i < parts; ++i)
      unpackPart(tensor, i,
                 stringifyTensor(tensor).str() +
                     (parts > 1 ? std::to_string(i) : ""));
  }
}

struct CreateKernelsPass : kvc::impl::CreateKernelsBase<CreateKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    AttentionSpecOp declaration = findSpec();
    if (!declaration || failed(checkNames(declaration)))
      return signalPassFailure();
    OpBuilder builder(declaration);
    auto create = [&](StringRef kind,
                      llvm::function_ref<void(KernelBuilder &)> body) {
      KernelBuilder kernel(declaration, builder, kind);
      body(kernel);
      kernel.finish();
    };
    create("decode", [](KernelBuilder &kernel) { kernel.attend(); });
    create("prefill", [](KernelBuilder &kernel) { kernel.attend(); });
    create("append", [](KernelBuilder &kernel) { kernel.append(); });
    create("merge", [](KernelBuilder &kernel) { kernel.merge(); });
    create("unpack", [](KernelBuilder &kernel) { kernel.unpack(); });
    declaration.erase();
  }

private:
  /// The one spec of the module.
  AttentionSpecOp findSpec() {
    auto specs = llvm::to_vector(getOperation().getOps<AttentionSpecOp>());
    if (specs.size() != 1) {
      getOperation().emitError()
          << "kernels are made from one kvc.attention_spec, got "
          << specs.size();
      return {};
    }
    return specs.front();
  }

  /// The declaration goes, so a spec may well be called "decode".
  LogicalResult checkNames(AttentionSpecOp declaration) {
    for (StringRef name : KVCDialect::getKernelKinds())
      if (Operation *taken = SymbolTable::lookupSymbolIn(getOperation(), name);
          taken && taken != declaration)
        return taken->emitError()
               << "the name of a kernel is taken: '" << name << "'";
    return success();
  }
};

} // namespace
