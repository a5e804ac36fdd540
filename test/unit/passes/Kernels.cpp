//===- Kernels.cpp - Kernels of a spec, made and run ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/Register.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace kvc;
using namespace kvc::test;

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

namespace {

struct SchemeRow {
  const char *name, *codec;
  const char *channels; ///< Null for raw codecs.
  const char *zero;
  const char *dtype = "f16";
  bool isStatic = false;
};

// Scales are so short that x' is exact in f32 on ordinary data: the reference
// then starts from the same values as f64 arithmetic does.
constexpr SchemeRow kSchemes[] = {
    {"f32", "f32", nullptr, nullptr},
    {"f16", "f16", nullptr, nullptr},
    {"bf16", "bf16", nullptr, nullptr},
    {"int8", "int8", "'all'", "none"},
    {"int8_32", "int8", "32", "none"},
    {"int8_16", "int8", "16", "none"},
    {"int8_8", "int8", "8", "none"},
    {"int8_min", "int8", "'all'", "min"},
    {"int8_min_32", "int8", "32", "min"},
    {"int8_wide", "int8", "'all'", "none", "bf16"},
    {"int8_min_wide", "int8", "'all'", "min", "bf16"},
    {"int8_code", "int8", "'all'", "code", "bf16"},
    {"int4", "int4", "'all'", "none"},
    {"int4_16", "int4", "16", "none"},
    {"int4_min", "int4", "'all'", "min"},
    {"int4_min_32", "int4", "32", "min"},
    {"int4_min_16", "int4", "16", "min"},
    {"int4_min_8", "int4", "8", "min"},
    {"int4_min_32_wide", "int4", "32", "min", "bf16"},
    {"int4_code", "int4", "'all'", "code", "bf16"},
    {"int4_code_32", "int4", "32", "code", "bf16"},
    {"int4_code_16", "int4", "16", "code", "bf16"},
    {"int8_static", "int8", "'all'", "none", "f16", true},
    {"int4_static_16", "int4", "16", "none", "f16", true},
    {"int4_static_1", "int4", "1", "none", "bf16", true},
};

struct VariantRow {
  const char *name, *attention;
  Lengths lengths;
};

// Lengths are no multiples of a tile.
constexpr VariantRow kVariants[] = {
    {"causal", "'q_heads': 8, 'kv_heads': 2", {7, 75}},
    {"full", "'q_heads': 4, 'kv_heads': 2, 'mask': 'none'", {3, 70}},
    {"one_head", "'q_heads': 2, 'kv_heads': 2", {5, 65}},
    {"odd_group", "'q_heads': 6, 'kv_heads': 2", {5, 90}},
    {"few_keys", "'q_heads': 4, 'kv_heads': 1", {9, 4}},
    {"window", "'q_heads': 4, 'kv_heads': 2, 'window': 11", {6, 107}},
    {"window_sinks",
     "'q_heads': 4, 'kv_heads': 1, 'window': 20, 'window_sinks': 3",
     {6, 133}},
    {"many_sinks",
     "'q_heads': 4, 'kv_heads': 1, 'window': 17, 'window_sinks': 70",
     {5, 141}},
    // The window begins in a tile of the sinks.
    {"near_sinks",
     "'q_heads': 4, 'kv_heads': 1, 'window': 30, 'window_sinks': 40",
     {5, 75}},
    {"softcap", "'q_heads': 4, 'kv_heads': 2, 'softcap': 3.0", {4, 66}},
    {"alibi", "'q_heads': 4, 'kv_heads': 2, 'alibi': true", {4, 66}},
    {"alibi_softcap",
     "'q_heads': 4, 'kv_heads': 2, 'alibi': true, 'softcap': 5.0",
     {4, 66}},
    {"sink_logits",
     "'q_heads': 4, 'kv_heads': 2, 'sink_logits': true",
     {4, 66}},
};

std::string schemeText(const std::string &name) {
  const auto *row = llvm::find_if(
      kSchemes, [&](const SchemeRow &r) { return r.name == name; });
  std::string text = std::string("'codec': '") + row->codec + "'";
  if (row->channels)
    text += std::string(", 'scale': {'tokens': ") +
            (row->isStatic ? "'all', 'static': true" : "1") +
            ", 'channels': " + row->channels + ", 'dtype': '" + row->dtype +
            "'}, 'zero': '" + row->zero + "'";
  return "{" + text + "}";
}

} // namespace

std::vector<std::string> kvc::test::schemeNames() {
  std::vector<std::string> names;
  for (const SchemeRow &row : kSchemes)
    names.push_back(row.name);
  return names;
}

std::vector<std::string> kvc::test::variantNames() {
  std::vector<std::string> names;
  for (const VariantRow &row : kVariants)
    names.push_back(row.name);
  return names;
}

Case kvc::test::makeCase(const std::string &scheme,
                         const std::string &variant) {
  return makeCase(scheme, scheme, variant);
}

Case kvc::test::makeCase(const std::string &keyScheme,
                         const std::string &valueScheme,
                         const std::string &variant) {
  const auto *row = llvm::find_if(
      kVariants, [&](const VariantRow &r) { return r.name == variant; });
  std::string text =
      "{'kvc': 1, 'name': 'test', 'attention': {" +
      std::string(row->attention) +
      ", 'head_dim': 64, 'value_dim': 96}, 'io': {'query': 'f16', 'output': "
      "'f32'}, 'key': " +
      schemeText(keyScheme) + ", 'value': " + schemeText(valueScheme) + "}";
  std::replace(text.begin(), text.end(), '\'', '"');
  spec::Expected<spec::Spec> parsed = spec::parseSpec(text);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().str() << "\n" << text;
    return {};
  }
  return {keyScheme + "/" + valueScheme + "/" + variant, *parsed, row->lengths};
}

/// A scheme of parts: their schemes' names and ends.
static spec::Scheme
partsOf(std::initializer_list<std::pair<const char *, int64_t>> parts) {
  spec::Scheme result;
  result.explicitParts = true;
  int64_t begin = 0;
  for (auto [scheme, end] : parts) {
    spec::PartScheme part = makeCase(scheme, "causal").spec.key.parts.front();
    part.begin = begin;
    part.end = begin = end;
    result.parts.push_back(std::move(part));
  }
  return result;
}

std::vector<std::string> kvc::test::partitionNames() {
  return {"parts",    "shared",        "shared_slice",   "shared_parts",
          "outliers", "outliers_code", "outliers_table", "outliers_static"};
}

Case kvc::test::makePartitioned(const std::string &partition,
                                const std::string &variant) {
  const char *scheme = partition == "outliers_code"     ? "int4_code_16"
                       : partition == "outliers_table"  ? "int4_16"
                       : partition == "outliers_static" ? "int4_static_1"
                                                        : "int4_min_16";
  Case c = makeCase(scheme, variant);
  c.name = partition + "/" + variant;
  spec::Attention &attention = c.spec.attention;
  auto share = [&](int64_t begin, int64_t end) {
    attention.valueIsKey = {begin, end};
    attention.valueDim = end - begin;
    c.spec.value.reset();
  };
  if (partition.starts_with("outliers")) {
    for (spec::Scheme *tensor : {&c.spec.key, &*c.spec.value}) {
      spec::PartScheme &part = tensor->parts.front();
      part.outliers = tensor == &c.spec.key ? 3 : 1;
      // Code 0 stands for something.
      if (partition == "outliers_table" || partition == "outliers_static") {
        part.codec = {};
        part.codec.kind = spec::CodecKind::Lut;
        part.codec.bits = 2;
        part.codec.table = {-0.75, 0, 0.5, 1};
      }
    }
  } else if (partition == "parts") {
    c.spec.key = partsOf({{"int8", 16}, {"f16", 24}, {"int4_min_8", 64}});
    c.spec.value = partsOf({{"int8_min_32", 64}, {"bf16", 96}});
  } else if (partition == "shared") {
    share(0, 64);
  } else if (partition == "shared_slice") {
    share(8, 48);
  } else {
    // The first part belongs to K alone, the last one to V in part.
    c.spec.key = partsOf({{"int8", 16}, {"int4_code_16", 48}, {"f16", 64}});
    share(16, 56);
  }
  return c;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

std::unique_ptr<MLIRContext> kvc::test::makeContext() {
  DialectRegistry registry;
  registerKVCDialects(registry);
  registerUpstreamDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

bool kvc::test::runPasses(Operation *op, const Passes &passes) {
  PassManager manager(op->getName());
  for (const auto &create : passes)
    manager.addPass(create());
  return succeeded(manager.run(op));
}

Diagnostics::Diagnostics(MLIRContext &context) : context(context) {
  id = context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    collected += diagnostic.str() + "\n";
    return success();
  });
}

Diagnostics::~Diagnostics() { context.getDiagEngine().eraseHandler(id); }

OwningOpRef<ModuleOp> kvc::test::makeKernels(MLIRContext &context,
                                             const spec::Spec &spec,
                                             const std::string &score) {
  std::string text;
  llvm::raw_string_ostream(text)
      << "kvc.attention_spec @test " << SpecAttr::get(&context, spec) << score;
  Diagnostics diagnostics(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << diagnostics.text() << text;
    return {};
  }
  ScheduleOptions tiles;
  tiles.tileTokens = 32;
  bool made = runPasses(*module, {[] { return createCreateKernels(); }});
  for (auto function : module->getOps<func::FuncOp>())
    made = made && runPasses(function, {[&] { return createSchedule(tiles); },
                                        [] { return createExpand(); }});
  if (!made) {
    ADD_FAILURE() << diagnostics.text();
    return {};
  }
  return module;
}

func::FuncOp kvc::test::kernelOf(ModuleOp module, const char *name) {
  return module.lookupSymbol<func::FuncOp>(name);
}

OwningOpRef<func::FuncOp> kvc::test::withFactorsPlaced(func::FuncOp kernel) {
  OwningOpRef<func::FuncOp> copy = kernel.clone();
  EXPECT_TRUE(runPasses(
      *copy, {[] { return createPlaceFactors(); }, createApplyPlacement}));
  return copy;
}

//===----------------------------------------------------------------------===//
// One sequence
//===----------------------------------------------------------------------===//

Sequence::Sequence(const spec::Spec &spec, const Lengths &lengths,
                   uint64_t seed)
    : spec(spec), lengths(lengths),
      inputs(
          randomInputs(spec, std::span(&lengths, 1), InputMode::Normal, seed)),
      answer(kvc::test::answer(spec, inputs)),
      cache(hostCache(spec, inputs, answer.k, answer.v)),
      query({lengths.queries, spec.attention.qHeads, spec.attention.headDim},
            inputs.q),
      slopes({int64_t(inputs.slopes.size())}, inputs.slopes),
      sinks({int64_t(inputs.sinks.size())}, inputs.sinks) {}

/// Kernels hold constants as f32. This is the attention whose exact constants
/// are theirs, so that the rest can be compared to the last digits.
static spec::Attention asLowered(spec::Attention attention) {
  if (attention.softcap) {
    double outer = float(*attention.softcap * std::numbers::log2e),
           inner = float(attention.scale * (1.0 / *attention.softcap));
    attention.softcap = outer / std::numbers::log2e;
    attention.scale = inner * *attention.softcap;
  } else {
    attention.scale =
        float(attention.scale * std::numbers::log2e) / std::numbers::log2e;
  }
  return attention;
}

Reference kvc::test::referenceOf(const Sequence &sequence) {
  spec::Attention attention = asLowered(sequence.attention());
  attention.sinkLogits = false;
  const Inputs &inputs = sequence.inputs;
  return attend(attention, sequence.spec.key.rope,
                {inputs.q, sequence.answer.k.x, sequence.answer.v.x, inputs.cuQ,
                 inputs.cuKv, inputs.slopes, inputs.sinks});
}

HostArray kvc::test::lowered(HostArray lse) {
  for (double &x : lse.values)
    x *= double(float(std::numbers::ln2)) / std::numbers::ln2;
  return lse;
}

/// Runs one kernel; what it reports is a failure of the test.
static void runKernel(func::FuncOp kernel, std::vector<Argument> arguments) {
  Diagnostics diagnostics(*kernel.getContext());
  if (failed(interpret(kernel, arguments)))
    ADD_FAILURE() << diagnostics.text();
}

Sequence::Result Sequence::attend(func::FuncOp kernel, int64_t kvHead,
                                  const WorkItem &item) {
  constexpr double unwritten = std::numeric_limits<double>::quiet_NaN();
  int64_t rows = item.rowEnd - item.rowBegin;
  Result result{HostArray({rows, attention().valueDim}, unwritten),
                HostArray({rows}, unwritten)};
  runKernel(kernel, {&cache, &query, &result.out, &result.lse, &slopes, kvHead,
                     lengths.queries, lengths.keys, item.rowBegin, item.rowEnd,
                     item.keyBegin, item.keyEnd});
  return result;
}

Sequence::Result Sequence::attend(func::FuncOp kernel, int64_t kvHead) {
  return attend(kernel, kvHead, {0, rows(), 0, lengths.keys});
}

void Sequence::merge(func::FuncOp kernel, int64_t kvHead, int64_t rowBegin,
                     int64_t rowEnd, const std::vector<Result> &partials,
                     HostArray &out, HostArray &lse) {
  int64_t splits = int64_t(partials.size()), rows = rowEnd - rowBegin;
  HostArray allOut({splits, rows, attention().valueDim}, 0.0),
      allLse({splits, rows}, 0.0);
  for (size_t i = 0; i < partials.size(); ++i) {
    const HostArray &partOut = partials[i].out, &partLse = partials[i].lse;
    llvm::copy(partOut.values,
               allOut.values.begin() + ptrdiff_t(i * partOut.values.size()));
    llvm::copy(partLse.values,
               allLse.values.begin() + ptrdiff_t(i * partLse.values.size()));
  }
  runKernel(kernel, {&allOut, &allLse, &sinks, &out, &lse, kvHead, rowBegin,
                     rowEnd, splits});
}

Sequence::Result Sequence::rowsOf(const Reference &reference,
                                  int64_t kvHead) const {
  const spec::Attention &a = spec.attention;
  Result result{HostArray({rows(), a.valueDim}, 0.0), HostArray({rows()}, 0.0)};
  for (int64_t row = 0; row < rows(); ++row) {
    size_t from = size_t(row / a.group() * a.qHeads + kvHead * a.group() +
                         row % a.group());
    result.lse.values[size_t(row)] = reference.lse[from];
    std::copy_n(reference.out.begin() + ptrdiff_t(from) * a.valueDim,
                a.valueDim, result.out.values.begin() + row * a.valueDim);
  }
  return result;
}

double kvc::test::difference(const HostArray &got, const HostArray &expected) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (got.shape != expected.shape)
    return infinity;
  double largest = 0, error = 0;
  for (size_t i = 0; i < got.values.size(); ++i) {
    double a = got.values[i], b = expected.values[i];
    if (a == b)
      continue;
    double distance = std::fabs(a - b);
    if (!(distance < infinity))
      return infinity;
    error = std::max(error, distance);
  }
  for (double x : expected.values)
    if (std::isfinite(x))
      largest = std::max(largest, std::fabs(x));
  return error == 0 ? 0 : error / largest;
}
