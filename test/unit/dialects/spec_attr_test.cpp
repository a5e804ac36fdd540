//===- spec_attr_test.cpp - Specs as attributes and back ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Test/Combinations.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

using namespace kvc;

namespace {

class SpecAttrTest : public testing::Test {
protected:
  SpecAttrTest() { context.loadDialect<KVCDialect>(); }

  std::string print(mlir::Attribute attr) {
    std::string text;
    llvm::raw_string_ostream os(text);
    attr.print(os);
    return text;
  }

  mlir::MLIRContext context;
};

spec::Spec parse(std::string_view json) {
  spec::Expected<spec::Spec> parsed = spec::parseSpec(json);
  EXPECT_TRUE(parsed) << parsed.error().str();
  return *parsed;
}

constexpr std::string_view kWhole = R"({
  "kvc": 1, "name": "whole",
  "attention": {"q_heads": 6, "kv_heads": 2, "head_dim": 64, "scale": 0.1,
                "window": 9, "window_sinks": 2, "softcap": 50, "alibi": true,
                "sink_logits": true},
  "io": {"query": "bf16", "output": "f32"},
  "key": {"codec": "lut", "table": [-1, -0.1, 1e-30, 1],
          "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}},
  "value": {"codec": "int3", "zero": "min", "clip": 0.9,
            "scale": {"tokens": 1, "channels": "all", "dtype": "f32"}},
  "segments": {"sink": 4, "recent": 8},
  "layout": {"kind": "paged", "page": 32, "order": "nhd"}})";

TEST_F(SpecAttrTest, HoldsTheSpecItWasMadeOf) {
  spec::Spec spec = parse(kWhole);
  EXPECT_EQ(SpecAttr::get(&context, spec).getSpec(), spec);
}

TEST_F(SpecAttrTest, IsUniqued) {
  spec::Spec spec = parse(kWhole);
  SpecAttr attr = SpecAttr::get(&context, spec);
  EXPECT_EQ(attr, SpecAttr::get(&context, spec));
  spec.attention.softcap = 51;
  EXPECT_NE(attr, SpecAttr::get(&context, spec));
}

TEST_F(SpecAttrTest, DefaultSectionsAreAbsent) {
  SpecAttr attr = SpecAttr::get(&context, parse(R"({"kvc": 1, "name": "k",
      "attention": {"q_heads": 1, "kv_heads": 1, "head_dim": 16,
                    "value_is_key": "all"},
      "io": {"query": "f16"}, "key": {"codec": "f16"}})"));
  EXPECT_FALSE(attr.getValue());
  EXPECT_FALSE(attr.getSegments());
  EXPECT_FALSE(attr.getLayout());
}

// Every spec of the conformance corpus: parsed, as attribute, as text, back.
TEST_F(SpecAttrTest, KeepsEverySpecOfTheCorpus) {
  int numSpecs = 0;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::filesystem::path(KVC_TEST_DATA) / "conformance")) {
    std::ifstream file(entry.path() / "spec.json");
    if (!file)
      continue;
    std::stringstream json;
    json << file.rdbuf();
    spec::Expected<spec::Spec> spec = spec::parseSpec(json.str());
    ASSERT_TRUE(spec) << entry.path() << ": " << spec.error().str();
    SpecAttr attr = SpecAttr::get(&context, *spec);
    EXPECT_EQ(attr.getSpec(), *spec) << entry.path();
    EXPECT_EQ(mlir::parseAttribute(print(attr), &context), attr)
        << entry.path();
    ++numSpecs;
  }
  EXPECT_GT(numSpecs, 40);
}

/// What no combination says.
constexpr std::string_view kRare[] = {
    R"({"kvc": 1, "name": "rare",
  "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 64, "value_dim": 32,
                "scale": 0.25},
  "io": {"query": "f16", "output": "bf16"},
  "key": {"codec": "int8", "smooth": true,
          "scale": {"tokens": 1, "channels": "all", "dtype": "f16",
                    "round": "up"},
          "rope": {"style": "pairs", "dims": 32, "offset": 16,
                   "theta": 500000}},
  "value": {"codec": "int4", "round": "up",
            "scale": {"tokens": 1, "channels": "all", "dtype": "e8m0",
                      "round": "down"}},
  "layout": {"kind": "paged", "page": 16, "order": "token"}})"};

// Any three options together, and the rest of the keys.
TEST_F(SpecAttrTest, KeepsEveryCombination) {
  std::string all;
  auto check = [&](std::string_view json) {
    SCOPED_TRACE(json);
    all += json;
    const spec::Spec spec = parse(json);
    SpecAttr attr = SpecAttr::get(&context, spec);
    EXPECT_EQ(attr.getSpec(), spec);
    EXPECT_EQ(mlir::parseAttribute(print(attr), &context), attr) << print(attr);
  };
  for (const test::Combination &combination : test::validCombinations())
    check(combination.text("combination"));
  for (std::string_view json : kRare)
    check(json);
  for (std::string_view said : {R"("smooth": true)",
                                R"("sink_logits": true)",
                                R"("interleaved": true)",
                                R"("order": "hnd")",
                                R"("order": "token")",
                                R"("order": "ggml")",
                                R"("dtype": "e8m0")",
                                R"("round": "up")",
                                R"("round": "down")",
                                R"("round": "away")",
                                R"("estimate": "signed")",
                                R"("codes_from": "exact")",
                                R"("offset": )",
                                R"("theta": )",
                                R"("style": "pairs")",
                                R"("scale": 0.25)",
                                R"("value_dim": )",
                                R"("outliers": )",
                                R"("parts": )",
                                R"("floor": )",
                                R"("kind": "ring")",
                                R"("value_is_key": [)"})
    EXPECT_NE(all.find(said), std::string::npos) << said;
}

// MLIR's own text of an f64 may be its bits in hexadecimal, an integer to who
// reads it.
TEST_F(SpecAttrTest, KeepsNumbersOfEveryKind) {
  for (double number :
       {4294967296.0, 16777217.0, 1e22, 1e23, 1e-30, 0.1, 3.4028234e38, 1e-45,
        123456789.125, 100000000.0, 2147483648.0, 5e-5}) {
    spec::Spec spec = parse(kWhole);
    spec.attention.scale = number;
    const float entry = static_cast<float>(number);
    spec.key.parts[0].codec.table = {-entry, -0.0F, 0.5F, entry};
    SpecAttr attr = SpecAttr::get(&context, spec);
    EXPECT_EQ(attr.getSpec(), spec) << number;
    EXPECT_EQ(mlir::parseAttribute(print(attr), &context), attr) << print(attr);
  }
}

TEST_F(SpecAttrTest, AcceptsFloatsThatAreWhole) {
  SpecAttr attr = SpecAttr::get(&context, parse(kWhole));
  auto softcap = attr.getAttention().getValue().get("softcap");
  EXPECT_TRUE(mlir::isa<mlir::FloatAttr>(softcap));
  EXPECT_TRUE(mlir::isa<mlir::IntegerAttr>(
      attr.getAttention().getValue().get("window")));
}

TEST_F(SpecAttrTest, InvalidTextIsADiagnosticWithPathAndRule) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  std::string text = print(SpecAttr::get(&context, parse(kWhole)));
  size_t position = text.find("kv_heads = 2");
  ASSERT_NE(position, std::string::npos);
  text.replace(position, 12, "kv_heads = 4");
  EXPECT_FALSE(mlir::parseAttribute(text, &context));
  EXPECT_NE(message.find("invalid spec: $.attention"), std::string::npos)
      << message;
  EXPECT_EQ(message.back(), ']') << message;
}

// Passes read specs on many threads; run under -fsanitize=thread.
TEST_F(SpecAttrTest, IsReadAndMadeOnManyThreads) {
  spec::Spec base = parse(kWhole);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int64_t window = 2; window < 40; ++window) {
        spec::Spec spec = base;
        spec.attention.window = window;
        EXPECT_EQ(SpecAttr::get(&context, spec).getSpec(), spec);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
