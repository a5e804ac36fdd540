//===- canonical_test.cpp - The canonical form is a fixed point -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "SpecText.h"
#include "kvc/Test/Sanitizers.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace kvc;
using namespace kvc::spec;
using nlohmann::json;

namespace {

/// Parsing the printed form gives the same struct and the same text.
void expectFixedPoint(const Spec &spec, const std::string &context) {
  std::string printed = printSpec(spec);
  Expected<Spec> again = parseSpec(printed);
  ASSERT_TRUE(again) << again.error().str() << "\n"
                     << printed << "\nfrom " << context;
  EXPECT_EQ(*again, spec) << printed << "\nfrom " << context;
  EXPECT_EQ(printSpec(*again), printed);
  std::string compact = printSpecCompact(spec);
  EXPECT_EQ(compact.find('\n'), std::string::npos);
  Expected<Spec> third = parseSpec(compact);
  ASSERT_TRUE(third) << third.error().str() << "\n" << compact;
  EXPECT_EQ(*third, spec) << compact;
  EXPECT_EQ(json::parse(compact), json::parse(printed));
}

TEST(CanonicalTest, DefaultsAreLeftOut) {
  Spec spec = test::parsePatched(R"({
    "attention": {"value_dim": 128, "scale": 0.08838834764831845, "mask": "causal", "window_sinks": 0,
                  "alibi": false, "sink_logits": false},
    "io": {"output": "f16"},
    "key": {"zero": "none", "clip": 1.0, "estimate": "amax", "codes_from": "stored", "round": "even",
            "smooth": false, "scale": {"static": false}, "rope": {"style": "half", "dims": 64, "offset": 0, "theta": 10000}},
    "value": {"scale": {"dtype": "e4m3", "global": 1}},
    "segments": {"sink": 0, "recent": 0},
    "layout": {"kind": "contiguous", "order": "auto", "interleaved": false}})");
  EXPECT_EQ(printSpec(spec), R"({
  "kvc": 1,
  "name": "base",
  "attention": {
    "q_heads": 32,
    "kv_heads": 8,
    "head_dim": 128
  },
  "io": {
    "query": "f16"
  },
  "key": {
    "codec": "int4",
    "scale": {
      "tokens": 1,
      "channels": "all",
      "dtype": "f16"
    },
    "rope": {
      "style": "half",
      "dims": 64
    }
  },
  "value": {
    "codec": "int4",
    "scale": {
      "tokens": 1,
      "channels": "all",
      "dtype": "e4m3"
    }
  }
}
)");
}

TEST(CanonicalTest, KeysHaveTheDocumentedOrder) {
  Spec spec = test::parsePatched(R"({
    "attention": {"sink_logits": true, "alibi": true, "softcap": 50, "window_sinks": 4, "window": 4096, "scale": 0.1, "value_dim": 64},
    "io": {"output": "bf16", "query": "f32"},
    "key": {"codec": "lut", "outliers": 2, "smooth": true, "rotate": 32, "codes_from": "exact", "clip": 0.9,
            "zero": "none", "table": [1, -0.5, 0, 3e-7], "scale": {"dtype": "bf16", "tokens": 2, "channels": 32, "round": "up"}},
    "value": {"codec": "int3", "scale": {"floor": 1e-4}, "zero": "code", "round": "away"},
    "segments": {"recent": 128, "sink": 4},
    "layout": {"order": "hnd", "page": 64, "kind": "paged"}})");
  EXPECT_EQ(
      printSpecCompact(spec),
      R"({"kvc": 1, "name": "base", "attention": {"q_heads": 32, "kv_heads": 8, "head_dim": 128, )"
      R"("value_dim": 64, "scale": 0.1, "window": 4096, "window_sinks": 4, "softcap": 50.0, "alibi": true, )"
      R"("sink_logits": true}, "io": {"query": "f32", "output": "bf16"}, "key": {"codec": "lut", )"
      R"("table": [1.0, -0.5, 0.0, 3e-07], "scale": {"tokens": 2, "channels": 32, "dtype": "bf16", )"
      R"("round": "up"}, "clip": 0.9, "codes_from": "exact", "rotate": 32, "smooth": true, "outliers": 2}, )"
      R"("value": {"codec": "int3", "scale": {"tokens": 1, "channels": "all", "dtype": "f16", "floor": 1e-04}, )"
      R"("zero": "code", "round": "away"}, "segments": {"sink": 4, "recent": 128}, )"
      R"("layout": {"kind": "paged", "page": 64, "order": "hnd"}})");
}

TEST(CanonicalTest, WholeSliceIsAll) {
  Spec spec = test::parsePatched(
      R"({"attention": {"value_is_key": [0, 128]}, "value": null})");
  EXPECT_NE(printSpecCompact(spec).find(R"("value_is_key": "all")"),
            std::string::npos);
  spec = test::parsePatched(
      R"({"attention": {"value_is_key": [0, 64]}, "value": null})");
  EXPECT_NE(printSpecCompact(spec).find(R"("value_is_key": [0, 64])"),
            std::string::npos);
}

TEST(CanonicalTest, OddNamesSurvive) {
  json text = test::baseSpec();
  for (const char *name : {"a \"quoted\" \\ name", "tab\tnew\nline\x01\x1f",
                           "caf\xC3\xA9 \xF0\x9F\x98\x80", "\x7f", "/../x"}) {
    text["name"] = name;
    Expected<Spec> spec = parseSpec(text.dump());
    ASSERT_TRUE(spec) << spec.error().str();
    EXPECT_EQ(spec->name, name);
    expectFixedPoint(*spec, name);
  }
}

TEST(CanonicalTest, NumbersSurvive) {
  json text = test::baseSpec();
  std::mt19937_64 random(7);
  for (int i = 0; i < test::fewerUnderAsan(2000); ++i) {
    double value =
        std::ldexp(double(random() >> 11) + 1, int(random() % 240) - 190);
    text["attention"]["scale"] = value;
    text["key"]["codec"] = "lut";
    json table = json::array();
    for (int entry = 0; entry < 16; ++entry)
      table.push_back(
          (random() & 1 ? 1 : -1) *
          std::ldexp(double(random() >> 11) + 1, int(random() % 200) - 170));
    text["key"]["table"] = table;
    Expected<Spec> spec = parseSpec(text.dump());
    ASSERT_TRUE(spec) << spec.error().str();
    EXPECT_EQ(spec->attention.scale, value);
    for (int entry = 0; entry < 16; ++entry)
      EXPECT_EQ(spec->key.parts[0].codec.table[entry],
                float(table[entry].get<double>()));
    expectFixedPoint(*spec, text.dump());
  }
}

/// Writes specs of random keys and values. Many break a rule; the parser sorts
/// them out, and both halves are checked.
class RandomSpec {
public:
  explicit RandomSpec(uint64_t seed) : random(seed) {}

  json make() {
    headDim = pick<int>({16, 64, 64, 128, 576});
    valueDim = chance(20) ? pick<int>({16, 32, 64}) : headDim;
    json spec = test::baseSpec();
    json attention = {{"q_heads", pick<int>({4, 6, 8})},
                      {"kv_heads", pick<int>({1, 2, 2})},
                      {"head_dim", headDim}};
    if (valueDim != headDim)
      attention["value_dim"] = valueDim;
    if (chance(30))
      attention["scale"] = number();
    if (chance(20))
      attention["mask"] = pick<const char *>({"causal", "none"});
    if (chance(40))
      attention["window"] = pick<int>({1, 8, 4096});
    if (chance(20))
      attention["window_sinks"] = pick<int>({0, 1, 4});
    if (chance(20))
      attention["softcap"] = number();
    if (chance(20))
      attention["alibi"] = chance(50);
    if (chance(20))
      attention["sink_logits"] = chance(50);
    bool shared = chance(15);
    if (shared)
      attention["value_is_key"] = chance(50) ? json("all") : json{0, valueDim};
    spec["attention"] = attention;
    spec["io"] = {{"query", pick<const char *>({"f16", "bf16", "f32"})}};
    if (chance(40))
      spec["io"]["output"] = pick<const char *>({"f16", "bf16", "f32"});
    spec["key"] = tensor(headDim, /*isKey=*/true);
    spec.erase("value");
    if (!shared)
      spec["value"] =
          chance(40) && headDim == valueDim && !spec["key"].contains("rope")
              ? spec["key"]
              : tensor(valueDim, false);
    if (chance(60))
      spec["segments"] = {{"sink", pick<int>({0, 4})},
                          {"recent", pick<int>({0, 8, 128})}};
    if (chance(70)) {
      json layout = {{"kind", pick<const char *>(
                                  {"contiguous", "paged", "paged", "ring"})}};
      if (layout["kind"] == "paged")
        layout["page"] = pick<int>({1, 8, 64, 256});
      if (chance(70))
        layout["order"] =
            pick<const char *>({"nhd", "hnd", "auto", "ggml", "token"});
      if (chance(20))
        layout["interleaved"] = chance(70);
      spec["layout"] = layout;
    }
    return spec;
  }

private:
  bool chance(int percent) { return int(random() % 100) < percent; }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[random() % list.size()];
  }
  json number() {
    if (chance(30))
      return int64_t(random() % 100) + 1;
    return std::ldexp(double(random() >> 11) + 1, -int(random() % 60) - 20);
  }

  json part() {
    json part;
    const char *codec = pick<const char *>(
        {"f16", "bf16", "f32", "int8", "int7", "int6", "int5", "int4", "int3",
         "int2", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "lut", "lut"});
    part["codec"] = codec;
    std::string name = codec;
    bool raw = name == "f16" || name == "bf16" || name == "f32";
    if (name == "lut") {
      int bits = pick<int>({2, 3, 4});
      if (chance(40)) {
        part["table"] = {{"bits", bits}};
      } else {
        part["table"] = json::array();
        for (int i = 0; i < 1 << bits; ++i)
          part["table"].push_back(chance(20)
                                      ? json(int(random() % 5) - 2)
                                      : json(double(int64_t(random())) / 3e18));
      }
    }
    if (!raw) {
      bool isStatic = chance(15);
      json scale = {
          {"tokens", isStatic ? json("all") : json(pick<int>({1, 1, 1, 2, 8}))},
          {"channels",
           chance(50) ? json("all") : json(pick<int>({1, 8, 16, 32}))},
          {"dtype",
           pick<const char *>({"f16", "f16", "bf16", "f32", "e8m0", "e4m3"})}};
      if (isStatic || chance(10))
        scale["static"] = isStatic;
      if (chance(15))
        scale["round"] = pick<const char *>({"down", "up"});
      if (chance(15))
        scale["floor"] = number();
      if (scale["dtype"] == "e4m3" && chance(50))
        scale["global"] = number();
      part["scale"] = scale;
      if (chance(15))
        part["clip"] =
            chance(20) ? json(1) : json(double(random() % 1000 + 1) / 1000);
      if (chance(20))
        part["estimate"] = pick<const char *>({"amax", "signed", "rms"});
      if (chance(15))
        part["codes_from"] = pick<const char *>({"stored", "exact"});
      if (chance(20))
        part["round"] = pick<const char *>({"even", "away", "up"});
      if (chance(15))
        part["outliers"] = pick<int>({1, 3});
      if (chance(40))
        part["zero"] = pick<const char *>({"none", "min", "code", "mid"});
    }
    if (chance(10))
      part["rotate"] = pick<int>({1, 8, 16});
    if (chance(10))
      part["smooth"] = chance(70);
    return part;
  }

  json tensor(int channels, bool isKey) {
    json tensor;
    if (chance(20)) {
      tensor["parts"] = json::array();
      int cut = chance(30) ? channels : channels / 2;
      for (int begin = 0; begin < channels; begin += cut) {
        json entry = part();
        entry["channels"] = {begin, begin + cut};
        tensor["parts"].push_back(entry);
      }
    } else {
      tensor = part();
    }
    if (isKey && chance(20)) {
      tensor["rope"] = {{"style", pick<const char *>({"half", "pairs"})},
                        {"dims", pick<int>({8, 16})}};
      if (chance(30))
        tensor["rope"]["offset"] = pick<int>({0, 8});
      if (chance(30))
        tensor["rope"]["theta"] = number();
    }
    return tensor;
  }

  std::mt19937_64 random;
  int headDim = 0, valueDim = 0;
};

TEST(CanonicalTest, RandomSpecsAreFixedPoints) {
  RandomSpec make(20240601);
  std::set<std::string> words, rules;
  int valid = 0;
  for (int i = 0; i < test::fewerUnderAsan(20000); ++i) {
    std::string text = make.make().dump();
    Expected<Spec> spec = parseSpec(text);
    if (!spec) {
      EXPECT_EQ(spec.error().path.front(), '$') << text;
      rules.insert(spec.error().rule);
      continue;
    }
    ++valid;
    expectFixedPoint(*spec, text);
    EXPECT_EQ(layoutHash(*spec).size(), 64u);
    // Which words the valid ones used, to know that the property was tested.
    for (const Scheme *scheme :
         {schemeOf(*spec, Tensor::Key), schemeOf(*spec, Tensor::Value)})
      if (scheme)
        for (const PartScheme &part : scheme->parts) {
          words.insert(codecName(part.codec));
          words.insert("zero " + std::to_string(int(part.zero)));
          words.insert("estimate " + std::to_string(int(part.estimate)));
          words.insert("round " + std::to_string(int(part.round)));
          words.insert("from " + std::to_string(int(part.codesFrom)));
          if (part.scale)
            words.insert("scale " + std::string(nameOf(part.scale->dtype)) +
                         (part.scale->isStatic ? " static" : "") + " " +
                         std::to_string(int(part.scale->round)));
        }
    words.insert("order " + std::to_string(int(spec->layout.order)));
    words.insert("kind " + std::to_string(int(spec->layout.kind)));
    if (spec->layout.interleaved)
      words.insert("interleaved");
    if (spec->key.rope)
      words.insert("rope");
    if (!spec->value)
      words.insert("shared");
  }
  EXPECT_GE(valid, test::fewerUnderAsan(1000));
  EXPECT_GE(rules.size(), 20u);
  // 14 codecs, 4 zeros, 3 estimates, 3 roundings, 2 code sources, 5 orders, 3
  // kinds, interleaved, rope, shared, and at least 10 kinds of scale.
  EXPECT_GE(words.size(), 47u);
}

} // namespace
