//===- places_test.cpp - Every place of every factor, as machine code -----===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Costs pick one place for each scale and zero; here every legal pair of places
// becomes kernels that run, and all give outputs within the bounds. Outliers
// leave the codes.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"
#include "kvc/Codegen/Emit.h"
#include "kvc/Codegen/Pipelines.h"
#include "kvc/Compiler/SpecText.h"
#include "kvc/JIT/LoadedModule.h"
#include "kvc/Transforms/Placement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

struct SchemeCase {
  const char *name, *query, *scheme;
  /// Pairs of places of K's factors and of V's.
  size_t keyPairs, valuePairs;
};

constexpr SchemeCase kSchemes[] = {
    {"per_token", "f16",
     R"("codec": "int8", "zero": "min", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"})",
     3, 3},
    {"per_block", "f16",
     R"("codec": "int4", "scale": {"tokens": 1, "channels": 32, "dtype": "f32"})",
     2, 2},
    {"block_minimum", "bf16",
     R"("codec": "int4", "zero": "min", "scale": {"tokens": 1, "channels": 16, "dtype": "bf16"})",
     3, 3},
    {"block_code", "f16",
     R"("codec": "int4", "zero": "code", "scale": {"tokens": 1, "channels": 16, "dtype": "bf16"})",
     4, 4},
    {"block_code_f32", "f32",
     R"("codec": "int4", "zero": "code", "scale": {"tokens": 1, "channels": 32, "dtype": "f16"})",
     4, 4},
    {"thin_blocks", "f16",
     R"("codec": "int4", "zero": "min", "scale": {"tokens": 1, "channels": 8, "dtype": "f16"})",
     2, 2},
    {"outliers", "f16",
     R"("codec": "int4", "zero": "min", "outliers": 3, "scale": {"tokens": 1, "channels": 16, "dtype": "f16"})",
     3, 3},
    {"outliers_code", "f32",
     R"("codec": "int4", "zero": "code", "outliers": 1, "scale": {"tokens": 1, "channels": "all", "dtype": "bf16"})",
     4, 4},
    {"outliers_table", "bf16",
     R"("codec": "lut", "table": [-1, -0.25, 0.5, 1], "zero": "mid", "outliers": 2, "scale": {"tokens": 1, "channels": 32, "dtype": "f32"})",
     3, 3},
};

struct Pair {
  Place scale;
  std::optional<Place> zero;
};

std::vector<Pair> legalPairs(const CodeContraction &contraction) {
  std::vector<Pair> pairs;
  DequantizeOp dequantize = contraction.dequantize;
  for (PlaceCost scale : scalePlaces(contraction)) {
    if (!dequantize.getZero())
      pairs.push_back({scale.place, std::nullopt});
    else
      for (PlaceCost zero : zeroPlaces(contraction, scale.place))
        pairs.push_back({scale.place, zero.place});
  }
  return pairs;
}

std::string nameOf(const Pair &pair) {
  return (stringifyPlace(pair.scale) + ", " +
          (pair.zero ? stringifyPlace(*pair.zero) : "no zero"))
      .str();
}

/// One spec through the stages, stopped where places are chosen.
class Compilation {
public:
  Compilation(const spec::Spec &spec, const std::string &target, bool asan)
      : context(dialects(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    options.target = llvm::cantFail(parseTarget(target));
    options.asan = asan;
    tiles = makeSpecModule(spec, context);
    next = hostStages().begin();
    for (; next->name != "placement"; ++next)
      run(*next, *tiles);
    table.specJson = spec::printSpecCompact(spec);
    table.layoutHash = spec::layoutHash(spec);
    symbol = uniqueTableSymbol(spec.name, options.target.name, "0123456789");
  }

  /// The pairs of K's factors (number 0) or V's (1); all kernels have the same.
  std::vector<Pair> pairs(size_t number) {
    return legalPairs(contractionsOf(*tiles, "decode")[number]);
  }

  /// The kernels with this pair for K's factors or V's.
  std::unique_ptr<LoadedModule> compile(size_t number, const Pair &pair) {
    mlir::OwningOpRef<mlir::ModuleOp> module = tiles->clone();
    for (const char *kernel : {"decode", "prefill"}) {
      CodeContraction contraction = contractionsOf(*module, kernel)[number];
      DequantizeOp op = contraction.dequantize;
      if (contraction.patch)
        contraction.patch.setPlace(number == 0 ? Place::Score : Place::Output);
      op.setScalePlace(pair.scale);
      if (pair.zero)
        op.setZeroPlace(*pair.zero);
    }
    for (const Stage *stage = next; stage != hostStages().end(); ++stage)
      run(*stage, *module);
    Emitter emitter = valueOf(
        Emitter::create(options.target, {options.asan, symbol, "places"}));
    check(emitter.translate(*module, table));
    check(emitter.optimise());
    return valueOf(
        LoadedModule::load(valueOf(emitter.emitObject()), options.asan));
  }

private:
  static mlir::DialectRegistry dialects() {
    mlir::DialectRegistry registry;
    registerHostDialects(registry);
    return registry;
  }

  void run(const Stage &stage, mlir::ModuleOp module) {
    mlir::PassManager passes(&context);
    stage.build(passes, options);
    if (failed(passes.run(module)))
      throw Failure("stage " + stage.name.str() + " failed");
  }
  static void check(llvm::Error error) {
    if (error)
      throw Failure(llvm::toString(std::move(error)));
  }
  template <typename T>
  static T valueOf(llvm::Expected<T> value) {
    check(value.takeError());
    return std::move(*value);
  }
  static llvm::SmallVector<CodeContraction>
  contractionsOf(mlir::ModuleOp module, const char *kernel) {
    return codeContractionsIn(module.lookupSymbol<mlir::func::FuncOp>(kernel));
  }

  mlir::MLIRContext context;
  CompileOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> tiles;
  const Stage *next;
  KernelTable table;
  std::string symbol;
};

class Places : public testing::TestWithParam<SchemeCase> {};

TEST_P(Places, AllGiveTheResult) {
  const SchemeCase &scheme = GetParam();
  const std::string text = std::string(R"({"kvc": 1, "name": "places",
       "attention": {"q_heads": 3, "kv_heads": 1, "head_dim": 64, "value_dim": 96},
       "io": {"query": ")") +
                           scheme.query + "\"}, \"key\": {" + scheme.scheme +
                           "}, \"value\": {" + scheme.scheme + "}}";
  const auto spec = spec::parseSpec(text);
  ASSERT_TRUE(spec) << spec.error().str();
  const Lengths lengths[] = {{1, 150}, {5, 90}};
  const Inputs inputs = randomInputs(*spec, lengths, InputMode::Normal, 5);
  const Answer expected = answer(*spec, inputs);
  const CompilerHandle compiler = createCompiler();
  const std::string target = "host";
  const kvc_compile_options options = testOptionsFor(target);
  const Engine engine(compiler.get(), text, "places", options);
  const Session session(engine, *spec, inputs, RowOrder::Dense, 0);

  Compilation compilation(*spec, target, options.asan);
  const size_t counts[] = {scheme.keyPairs, scheme.valuePairs};
  for (size_t number : {0, 1}) {
    const std::vector<Pair> pairs = compilation.pairs(number);
    EXPECT_EQ(pairs.size(), counts[number]);
    for (const Pair &pair : pairs) {
      SCOPED_TRACE((number ? "value: " : "key: ") + nameOf(pair));
      const std::unique_ptr<LoadedModule> loaded =
          compilation.compile(number, pair);
      Diag diag;
      kvc_module *module = nullptr;
      diag.check(kvc_module_create(&loaded->table(), diag, &module));
      const Handle<kvc_module, kvc_module_free> handle(module);
      EXPECT_EQ(wrongAttended(*spec, inputs, session.attend(module, nullptr),
                              expected),
                std::vector<std::string>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Places, testing::ValuesIn(kSchemes),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
