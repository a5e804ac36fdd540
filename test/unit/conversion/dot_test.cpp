//===- dot_test.cpp - kvk.dot and kvk.quantize_rows by execution ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every case is a kernel of its own; all cases of a target are one module. The
// expected value is a sum in f64 over elements that the layout library
// addressed.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string_view>

using namespace kvc;
using namespace kvc::test;
using spec::Tensor;

namespace {

/// Codecs whose codes are decoded, by the names of cases: floats of a format,
/// or tables of f32.
struct Decoding {
  std::string_view name;
  int exponentBits, mantissaBits, bias; ///< 0 mantissa bits: a table.
  std::vector<float> table;

  unsigned bits() const {
    return mantissaBits > 0 ? unsigned(1 + exponentBits + mantissaBits)
                            : unsigned(std::countr_zero(table.size()));
  }
  double valueOf(uint32_t code) const {
    if (mantissaBits == 0)
      return double(table[code]);
    uint32_t magnitude = code & ((1U << (bits() - 1)) - 1),
             exponent = magnitude >> mantissaBits,
             mantissa = magnitude & ((1U << mantissaBits) - 1);
    double value = exponent == 0
                       ? std::ldexp(mantissa, 1 - bias - mantissaBits)
                       : std::ldexp(mantissa + (1U << mantissaBits),
                                    int(exponent) - bias - mantissaBits);
    return magnitude == code ? value : -value;
  }
  std::string tableText() const {
    std::string text;
    for (float entry : table)
      text += (text.empty() ? "" : ", ") + std::to_string(entry);
    return text;
  }
};

const Decoding kDecodings[] = {
    {"fp8_e4m3", 4, 3, 7, {}},
    {"fp8_e5m2", 5, 2, 15, {}},
    {"fp4_e2m1",
     2,
     1,
     1,
     {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6}},
    {"lut4",
     0,
     0,
     0,
     {-1, -0.696193F, -0.525073F, -0.394917F, -0.284441F, -0.184773F, -0.09105F,
      0, 0.07958F, 0.160930F, 0.246112F, 0.337915F, 0.440709F, 0.562617F,
      0.722956F, 1}},
    {"lut3", 0, 0, 0, {-1, -0.57F, -0.31F, -0.11F, 0.11F, 0.31F, 0.57F, 1}},
    {"lut2", 0, 0, 0, {-1, -0.312345F, 0.412345F, 1}},
    // Multiples of a power of two: integers.
    {"lut4_integers",
     0,
     0,
     0,
     {-31.75F, -20, -11.25F, -7, -4.5F, -2, -1, -0.25F, 0, 0.5F, 1.5F, 3, 5.75F,
      9, 16, 30}},
    {"lut2_integers", 0, 0, 0, {-96, -32, 32, 64}}};

const Decoding *decodingOf(std::string_view codec) {
  for (const Decoding &decoding : kDecodings)
    if (decoding.name == codec)
      return &decoding;
  return nullptr;
}

struct DotCase {
  const char *codec;
  const char *zero;
  const char *order;
  int64_t page; ///< 0: contiguous.
  int64_t channels;
  Tensor tensor; ///< Key: channels are contracted; value: tokens.
  bool isInteger;
  int64_t rows, valid;
  bool rowScale = true, laneScale = false, accumulate = false, hasTable = true;
  int64_t firstChannel = 0, numChannels = 0; ///< 0: all.

  int64_t tokens() const { return 64; }
  int64_t firstToken() const { return 128; }
  int64_t slice() const { return numChannels ? numChannels : channels; }
  bool isKey() const { return tensor == Tensor::Key; }
  const Decoding *decoding() const { return decodingOf(codec); }
  bool isTable() const { return decoding() && !decoding()->table.empty(); }
  bool isRaw() const {
    return !decoding() && (codec[0] == 'f' || codec[0] == 'b');
  }
  unsigned bits() const {
    return decoding() ? decoding()->bits()
           : isRaw()  ? 0
                      : unsigned(codec[3] - '0');
  }
  int64_t bias() const {
    bool isSigned = bits() == 8 && std::string(zero) == "none";
    return decoding() || isSigned ? 0 : int64_t(1) << (bits() - 1);
  }
  int64_t depth() const { return isKey() ? slice() : tokens(); }
  int64_t lanes() const { return isKey() ? tokens() : slice(); }

  std::string json() const {
    bool isLut = isTable() && decoding()->mantissaBits == 0;
    std::string scheme =
        std::string("{\"codec\": \"") + (isLut ? "lut" : codec) + "\"";
    if (isLut)
      scheme += ", \"table\": [" + decoding()->tableText() + "]";
    if (!isRaw())
      scheme += std::string(", \"scale\": {\"tokens\": 1, \"channels\": "
                            "\"all\", \"dtype\": \"f16\"}, \"zero\": \"") +
                zero + "\"";
    scheme += "}";
    std::string d = std::to_string(channels);
    std::string layout =
        page ? "{\"kind\": \"paged\", \"page\": " + std::to_string(page) +
                   ", \"order\": \"" + order + "\"}"
             : std::string("{\"kind\": \"contiguous\", \"order\": \"") + order +
                   "\"}";
    return "{\"kvc\": 1, \"name\": \"t\", \"attention\": {\"q_heads\": 4, "
           "\"kv_heads\": 2, \"head_dim\": " +
           d + ", \"value_dim\": " + d +
           "}, \"io\": {\"query\": \"f32\"}, \"key\": " + scheme +
           ", \"value\": " + scheme + ", \"layout\": " + layout + "}";
  }
  std::string str() const {
    return std::string(codec) + " " + zero + " " + order + " page " +
           std::to_string(page) + " channels " + std::to_string(channels) +
           (isKey() ? " key" : " value") + (isInteger ? " i16" : " f32") +
           " rows " + std::to_string(rows) + " valid " + std::to_string(valid) +
           " slice " + std::to_string(firstChannel) + "+" +
           std::to_string(slice());
  }
};

/// Any code that an append may store: no infinity, no NaN.
uint32_t randomCode(const DotCase &c, std::mt19937 &random) {
  uint32_t code = uint32_t(random()) & ((1U << c.bits()) - 1);
  bool isFinite =
      !c.decoding() || std::abs(c.decoding()->valueOf(code)) <= 57344;
  return isFinite ? code : 0;
}

/// The data of one case: its cache, its weights and what they come to.
struct DotData {
  TestCache cache;
  std::vector<int16_t> integers;
  std::vector<float> weights, rowScale, laneScale, acc;
  std::vector<double> elements; ///< [valid][slice], as the dot sees them.

  DotData(const DotCase &c, unsigned seed)
      : cache(c.json(), c.firstToken() + c.valid, c.hasTable) {
    std::mt19937 random(seed);
    auto normal = [&] { return std::normal_distribution<float>()(random); };
    const auto &codec = spec::schemeOf(cache.spec, c.tensor)->parts[0].codec;
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t t = 0; t < c.firstToken() + c.valid; ++t)
        for (int64_t ch = 0; ch < c.channels; ++ch)
          cache.set(c.tensor, layout::RegionKind::Codes, t, h, ch,
                    c.isRaw() ? toBits(codec.raw, normal())
                              : randomCode(c, random));
    int64_t most =
        std::min<int64_t>(32767, ((int64_t(1) << 31) - 1) / (128 * c.depth()));
    for (int64_t r = 0; r < c.rows; ++r)
      for (int64_t k = 0; k < c.depth(); ++k) {
        bool isDead = !c.isKey() && k >= c.valid;
        // The first row holds the largest weights there are.
        int64_t integer =
            r == 0 ? most : int64_t(random() % (2 * most + 1)) - most;
        integers.push_back(isDead ? int16_t(0) : int16_t(integer));
        weights.push_back(isDead ? 0.0f : normal());
      }
    for (int64_t r = 0; r < c.rows; ++r)
      rowScale.push_back(1.0f + 0.25f * float(r));
    for (int64_t j = 0; j < c.lanes(); ++j)
      laneScale.push_back(0.5f + float(j % 7));
    for (int64_t i = 0; i < c.rows * c.lanes(); ++i)
      acc.push_back(normal());
    for (int64_t t = 0; t < c.valid; ++t)
      for (int64_t ch = 0; ch < c.slice(); ++ch)
        elements.push_back(stored(c, t, ch));
  }

  double element(const DotCase &c, int64_t t, int64_t ch) const {
    return elements[size_t(t * c.slice() + ch)];
  }

private:
  double stored(const DotCase &c, int64_t t, int64_t ch) const {
    uint32_t bits =
        cache.get(c.tensor, layout::RegionKind::Codes, c.firstToken() + t,
                  /*h=*/1, c.firstChannel + ch);
    if (c.isRaw())
      return fromBits(spec::schemeOf(cache.spec, c.tensor)->parts[0].codec.raw,
                      bits);
    if (const Decoding *decoding = c.decoding())
      return decoding->valueOf(bits);
    return c.bias() == 0 ? double(int8_t(bits))
                         : double(bits) - double(c.bias());
  }
};

std::string kernelText(const DotCase &c, const TestCache &cache) {
  auto n = [](int64_t value) { return std::to_string(value); };
  std::string weight = c.isInteger ? "i16" : "f32",
              stored = c.isRaw() ? c.codec : "i" + n(c.bits());
  std::string extents = n(c.tokens()) + "x" + n(c.slice()) + "x",
              dims = ", #kvc.dims<t, c>>";
  std::string w = "memref<" + n(c.rows) + "x" + n(c.depth()) + "x" + weight +
                  ">",
              acc = "memref<" + n(c.rows) + "x" + n(c.lanes()) + "xf32>";
  std::string f = "memref<" + n(c.rows) + "xf32>",
              g = "memref<" + n(c.lanes()) + "xf32>";
  std::string tensor = c.isKey() ? "key" : "value";
  std::string decoding =
      c.isTable()    ? "table = array<f32: " + c.decoding()->tableText() + ">"
      : c.decoding() ? "format = \"" + std::string(c.codec) + "\""
                     : "bias = " + n(c.isRaw() ? 0 : c.bias()) + " : i64";
  return "func.func @KERNEL(%cache: " + cache.type() + ", %w: " + w +
         ", %acc: " + acc + ", %f: " + f + ", %g: " + g +
         ", %h: index, %t: index, %n: index, %c: index) KERNEL {\n" +
         "  %x = kvk.load %cache[%h, %t] valid %n channels %c {tensor = "
         "#kvc.tensor<" +
         tensor +
         ">, storage = " + cache.storage(c.tensor, layout::RegionKind::Codes) +
         ", page = " + n(cache.page(c.tensor)) + " : i64} : " + cache.type() +
         " to !kvk.tile<" + extents + stored + dims +
         "\n  %y = kvk.widen %x {" + decoding + "} : !kvk.tile<" + extents +
         stored + dims + " to !kvk.tile<" + extents + weight + dims +
         "\n  kvk.dot %w, %y into %acc" + (c.rowScale ? " scale_rows %f" : "") +
         (c.laneScale ? " scale_lanes %g" : "") + " {contract = \"" +
         (c.isKey() ? "c" : "t") + "\"" + (c.accumulate ? ", accumulate" : "") +
         "} : " + w + ", !kvk.tile<" + extents + weight + dims + " into " +
         acc + (c.rowScale ? " scale_rows " + f : "") +
         (c.laneScale ? " scale_lanes " + g : "") + "\n  return\n}\n";
}

void check(const DotCase &c, const DotData &data,
           const std::vector<float> &got) {
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t j = 0; j < c.lanes(); ++j) {
      if (c.isKey() && j >= c.valid)
        continue;
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < c.depth(); ++k) {
        int64_t t = c.isKey() ? j : k, ch = c.isKey() ? k : j;
        if (t >= c.valid)
          continue;
        double weight = c.isInteger ? data.integers[size_t(r * c.depth() + k)]
                                    : data.weights[size_t(r * c.depth() + k)];
        double product = weight * data.element(c, t, ch);
        sum += product;
        magnitude += std::abs(product);
      }
      double factor = (c.rowScale ? data.rowScale[size_t(r)] : 1.0) *
                      (c.laneScale ? data.laneScale[size_t(j)] : 1.0);
      size_t at = size_t(r * c.lanes() + j);
      double want = sum * factor + (c.accumulate ? data.acc[at] : 0.0);
      // Integer sums are exact; what rounds is their conversion and the scales.
      double bound =
          c.isInteger ? 3e-7 * (std::abs(sum * factor) + std::abs(data.acc[at]))
                      : 2e-6 * (magnitude * factor + std::abs(data.acc[at]));
      ASSERT_LE(std::abs(got[at] - want), bound + 1e-30)
          << c.str() << " at row " << r << " lane " << j << ": got " << got[at]
          << " want " << want;
    }
}

void runAll(const std::vector<DotCase> &cases) {
  std::vector<std::unique_ptr<DotData>> data;
  std::vector<Kernel> kernels;
  for (size_t i = 0; i < cases.size(); ++i) {
    data.push_back(std::make_unique<DotData>(cases[i], unsigned(i)));
    kernels.push_back(
        {"dot" + std::to_string(i), kernelText(cases[i], data.back()->cache)});
  }
  for (const std::string &target : runnableTargets()) {
    Program program(kernels, target);
    for (size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(target);
      const DotCase &c = cases[i];
      std::vector<float> acc = data[i]->acc;
      Args args;
      args.add(data[i]->cache.view)
          .add(c.isInteger ? static_cast<const void *>(data[i]->integers.data())
                           : data[i]->weights.data());
      args.add(acc.data())
          .add(data[i]->rowScale.data())
          .add(data[i]->laneScale.data());
      args.add(int64_t(1)).add(c.firstToken()).add(c.valid).add(c.firstChannel);
      program.call("dot" + std::to_string(i), args);
      check(c, *data[i], acc);
    }
  }
}

constexpr Tensor K = Tensor::Key, V = Tensor::Value;

TEST(Dot, IntegerCodesInWords) {
  runAll({{"int4", "min", "auto", 64, 128, K, true, 4, 64},
          {"int4", "min", "auto", 64, 128, V, true, 4, 64},
          {"int4", "min", "auto", 16, 128, K, true, 4, 33},
          {"int4", "min", "auto", 16, 128, V, true, 4, 33},
          {"int4", "none", "auto", 0, 80, K, true, 3, 17},
          {"int4", "none", "auto", 0, 80, V, true, 3, 17},
          {"int8", "none", "auto", 64, 128, K, true, 8, 63},
          {"int8", "none", "auto", 64, 128, V, true, 8, 63},
          {"int8", "min", "auto", 32, 96, K, true, 1, 1},
          {"int8", "min", "auto", 32, 96, V, true, 1, 1},
          {"int8", "min", "auto", 128, 72, K, true, 12, 50},
          {"int8", "min", "auto", 128, 72, V, true, 12, 50},
          {"int8", "none", "auto", 256, 576, K, true, 7, 64},
          {"int4", "min", "auto", 256, 576, V, true, 71, 40}});
}

TEST(Dot, IntegerCodesInRows) {
  runAll({{"int4", "min", "nhd", 64, 128, K, true, 4, 64},
          {"int4", "min", "nhd", 64, 128, V, true, 4, 64},
          {"int4", "none", "hnd", 8, 72, K, true, 5, 33},
          {"int4", "none", "hnd", 8, 72, V, true, 5, 33},
          {"int8", "none", "nhd", 1, 80, K, true, 4, 19},
          {"int8", "none", "nhd", 1, 80, V, true, 4, 19},
          {"int8", "min", "hnd", 0, 128, K, true, 9, 61},
          {"int8", "min", "hnd", 0, 128, V, true, 9, 61},
          {"int4", "min", "nhd", 2, 112, K, true, 1, 7},
          {"int4", "min", "nhd", 2, 112, V, true, 1, 7},
          {"int8", "none", "nhd", 16, 576, K, true, 8, 64},
          {"int4", "min", "auto", 4, 16, V, true, 16, 30}});
}

TEST(Dot, RawElements) {
  runAll({{"f16", "none", "auto", 64, 128, K, false, 4, 64},
          {"f16", "none", "auto", 64, 128, V, false, 4, 62},
          {"bf16", "none", "auto", 16, 72, K, false, 3, 21},
          {"bf16", "none", "auto", 16, 72, V, false, 3, 21},
          {"f32", "none", "auto", 0, 80, K, false, 8, 3},
          {"f32", "none", "auto", 0, 80, V, false, 8, 3},
          {"f16", "none", "nhd", 64, 128, K, false, 4, 63},
          {"f16", "none", "nhd", 64, 128, V, false, 4, 63},
          {"bf16", "none", "hnd", 1, 40, K, false, 5, 18},
          {"bf16", "none", "hnd", 1, 40, V, false, 5, 18},
          {"f32", "none", "nhd", 2, 24, V, false, 20, 5},
          {"f16", "none", "hnd", 0, 576, K, false, 1, 64}});
}

TEST(Dot, IntegerCodesWithFloatWeights) {
  runAll({{"int4", "min", "auto", 64, 128, K, false, 4, 64},
          {"int4", "min", "auto", 64, 128, V, false, 4, 64},
          {"int8", "none", "auto", 32, 80, K, false, 6, 35},
          {"int8", "none", "auto", 32, 80, V, false, 6, 35},
          {"int4", "none", "nhd", 8, 72, K, false, 2, 13},
          {"int4", "none", "nhd", 8, 72, V, false, 2, 13},
          {"int8", "min", "hnd", 1, 48, K, false, 4, 64},
          {"int8", "min", "hnd", 1, 48, V, false, 4, 64}});
}

TEST(Dot, SmallFloats) {
  runAll({{"fp8_e4m3", "none", "auto", 64, 128, K, false, 4, 64},
          {"fp8_e4m3", "none", "auto", 64, 128, V, false, 4, 63},
          {"fp8_e5m2", "none", "auto", 16, 72, K, false, 1, 33},
          {"fp8_e5m2", "none", "auto", 16, 72, V, false, 1, 33},
          {"fp8_e4m3", "none", "nhd", 64, 80, K, false, 3, 17},
          {"fp8_e4m3", "none", "nhd", 64, 80, V, false, 3, 17},
          {"fp8_e5m2", "none", "hnd", 1, 128, K, false, 8, 50},
          {"fp8_e5m2", "none", "hnd", 1, 128, V, false, 8, 50}});
}

/// Codes of 3, 5, 6 and 7 bits, and a table of 8 entries.
TEST(Dot, CodesAcrossBytes) {
  std::vector<DotCase> cases;
  for (const char *codec : {"int3", "int5", "int6", "int7", "lut3"})
    for (Tensor tensor : {K, V}) {
      bool isInteger = codec[0] == 'i';
      auto add = [&](const char *order, int64_t page, int64_t channels,
                     bool integerWeights, int64_t rows, int64_t valid) {
        cases.push_back({codec, isInteger ? "min" : "none", order, page,
                         channels, tensor, integerWeights, rows, valid});
      };
      add("auto", 64, 128, isInteger, 4, 63);
      add("nhd", 16, 72, isInteger, 1, 33);
      add("hnd", 1, 80, false, 9, 20);
      add("auto", 0, 128, isInteger, 4, 50);
      cases.back().firstChannel = 48, cases.back().numChannels = 16;
      cases.back().laneScale = cases.back().accumulate = true;
      add("nhd", 64, 80, isInteger, 4, 50);
      cases.back().firstChannel = 10, cases.back().numChannels = 5;
    }
  runAll(cases);
}

TEST(Dot, TablesOfFloats) {
  std::vector<DotCase> cases;
  for (const char *codec : {"lut4", "lut2", "fp4_e2m1"})
    for (Tensor tensor : {K, V}) {
      cases.push_back({codec, "none", "auto", 64, 128, tensor, false, 4, 63});
      cases.push_back({codec, "none", "auto", 16, 72, tensor, false, 3, 33});
      cases.push_back({codec, "none", "nhd", 64, 128, tensor, false, 1, 64});
      cases.push_back({codec, "none", "hnd", 8, 80, tensor, false, 9, 20});
    }
  runAll(cases);
}

TEST(Dot, TablesOfIntegers) {
  std::vector<DotCase> cases;
  for (const char *codec : {"fp4_e2m1", "lut4_integers", "lut2_integers"})
    for (Tensor tensor : {K, V}) {
      cases.push_back({codec, "none", "auto", 64, 128, tensor, true, 4, 63});
      cases.push_back({codec, "none", "auto", 16, 72, tensor, true, 3, 33});
      cases.push_back({codec, "none", "nhd", 64, 128, tensor, true, 1, 64});
      cases.push_back({codec, "none", "hnd", 8, 80, tensor, true, 9, 20});
      cases.push_back({codec, "none", "auto", 64, 128, tensor, true, 4, 50});
      cases.back().firstChannel = 48, cases.back().numChannels = 16;
      cases.back().laneScale = cases.back().accumulate = true;
      cases.push_back({codec, "none", "auto", 64, 80, tensor, true, 4, 50});
      cases.back().firstChannel = 10, cases.back().numChannels = 5;
    }
  runAll(cases);
}

TEST(Dot, ScalesAndAccumulates) {
  std::vector<DotCase> cases;
  for (int i = 0; i < 8; ++i)
    for (Tensor tensor : {K, V}) {
      cases.push_back({"int4", "min", "auto", 64, 128, tensor, true, 4, 64});
      cases.push_back({"f16", "none", "nhd", 64, 128, tensor, false, 4, 64});
      for (size_t back : {1, 2}) {
        DotCase &c = cases[cases.size() - back];
        c.rowScale = i & 1, c.laneScale = i & 2, c.accumulate = i & 4;
      }
    }
  runAll(cases);
}

TEST(Dot, SlicesOfChannels) {
  std::vector<DotCase> cases;
  for (const char *order : {"auto", "nhd"})
    for (Tensor tensor : {K, V}) {
      cases.push_back({"int4", "min", order, 64, 128, tensor, true, 4, 64});
      cases.back().firstChannel = 96, cases.back().numChannels = 32;
      cases.push_back({"int8", "none", order, 64, 96, tensor, true, 4, 41});
      cases.back().firstChannel = 48, cases.back().numChannels = 24;
      cases.push_back({"f16", "none", order, 64, 80, tensor, false, 4, 64});
      cases.back().firstChannel = 40, cases.back().numChannels = 40;
      cases.push_back({"int4", "min", order, 64, 128, tensor, true, 4, 64});
      cases.back().firstChannel = 8, cases.back().numChannels = 8;
    }
  runAll(cases);
}

/// Slices of channels that cut words and bytes: of 4, of 5 and of 3 channels.
TEST(Dot, SlicesThatCutWords) {
  std::vector<DotCase> cases;
  for (const char *order : {"auto", "nhd"})
    for (Tensor tensor : {K, V})
      for (bool isInteger : {true, false}) {
        auto add = [&](const char *codec, int64_t channels, int64_t first,
                       int64_t count) {
          cases.push_back(
              {codec, "min", order, 64, channels, tensor, isInteger, 4, 50});
          cases.back().firstChannel = first;
          cases.back().numChannels = count;
          cases.back().laneScale = cases.back().accumulate = true;
        };
        add("int4", 128, 124, 4);
        add("int4", 80, 75, 5);
        add("int4", 80, 10, 5);
        add("int8", 96, 93, 3);
        add("int8", 16, 7, 1);
      }
  runAll(cases);
}

TEST(Dot, PagesWithoutATable) {
  std::vector<DotCase> cases = {
      {"int4", "min", "auto", 16, 128, K, true, 4, 64},
      {"int8", "none", "nhd", 4, 64, V, true, 4, 50}};
  for (DotCase &c : cases)
    c.hasTable = false;
  runAll(cases);
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

TEST(Dot, Panels) {
  struct Panel {
    const char *contract;
    int64_t rows, depth, lanes;
  };
  const Panel panels[] = {{"major", 4, 64, 128}, {"minor", 4, 128, 64},
                          {"major", 13, 30, 72}, {"minor", 9, 72, 64},
                          {"minor", 1, 20, 6},   {"major", 1, 7, 5}};
  std::vector<Kernel> kernels;
  auto n = [](int64_t value) { return std::to_string(value); };
  for (size_t i = 0; i < std::size(panels); ++i) {
    const Panel &p = panels[i];
    bool isMajor = p.contract[1] == 'a';
    std::string w = "memref<" + n(p.rows) + "x" + n(p.depth) + "xf32>",
                acc = "memref<" + n(p.rows) + "x" + n(p.lanes) + "xf32>";
    std::string x = "memref<" + n(isMajor ? p.depth : p.lanes) + "x" +
                    n(isMajor ? p.lanes : p.depth) + "xf32>";
    kernels.push_back(
        {"panel" + n(int64_t(i)),
         "func.func @KERNEL(%w: " + w + ", %x: " + x + ", %acc: " + acc +
             ") KERNEL {\n  kvk.dot %w, %x into %acc {contract = \"" +
             p.contract + "\"} : " + w + ", " + x + " into " + acc +
             "\n  return\n}\n"});
  }
  for (const std::string &target : runnableTargets()) {
    Program program(kernels, target);
    for (size_t i = 0; i < std::size(panels); ++i) {
      const Panel &p = panels[i];
      bool isMajor = p.contract[1] == 'a';
      std::mt19937 random{unsigned(i)};
      std::vector<float> w(size_t(p.rows * p.depth)),
          x(size_t(p.depth * p.lanes)), acc(size_t(p.rows * p.lanes));
      for (std::vector<float> *values : {&w, &x})
        for (float &value : *values)
          value = std::normal_distribution<float>()(random);
      program.call("panel" + std::to_string(i),
                   Args().add(w.data()).add(x.data()).add(acc.data()));
      for (int64_t r = 0; r < p.rows; ++r)
        for (int64_t j = 0; j < p.lanes; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < p.depth; ++k)
            sum += double(w[size_t(r * p.depth + k)]) *
                   x[size_t(isMajor ? k * p.lanes + j : j * p.depth + k)];
          ASSERT_NEAR(acc[size_t(r * p.lanes + j)], sum, 2e-5)
              << target << " panel " << i << " " << r << " " << j;
        }
    }
  }
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

TEST(QuantizeRows, RoundsToTheWidestWeights) {
  const char *text =
      R"(func.func @KERNEL(%x: memref<8x72xf32>, %w: memref<8x72xi16>, %s: memref<8xf32>) KERNEL {
    kvk.quantize_rows %x into %w, %s : memref<8x72xf32> into memref<8x72xi16>, memref<8xf32>
    return
  })";
  constexpr int64_t kRows = 8, kDepth = 72, kMost = 32767;
  // Of a subnormal scale.
  const double quantum = std::ldexp(1.0, -149);
  std::vector<float> x;
  std::mt19937 random(1);
  for (double size : {1.0, 1e-38, 1e30, 0.0, 1e-33, 3e4, 2e-45, 3e38})
    for (int64_t k = 0; k < kDepth; ++k)
      x.push_back(
          float(size * std::uniform_real_distribution<double>(-1, 1)(random)));
  x[5] = -2.0f; // The largest of a row may be negative.
  for (const std::string &target : runnableTargets()) {
    SCOPED_TRACE(target);
    std::vector<int16_t> w(kRows * kDepth);
    std::vector<float> scale(kRows);
    Program({{"q", text}}, target)
        .call("q", Args().add(x.data()).add(w.data()).add(scale.data()));
    for (int64_t r = 0; r < kRows; ++r) {
      double largest = 0;
      for (int64_t k = 0; k < kDepth; ++k)
        largest =
            std::max(largest, std::abs(double(x[size_t(r * kDepth + k)])));
      if (largest == 0) {
        EXPECT_EQ(scale[size_t(r)], 0.0f);
      } else {
        EXPECT_NEAR(scale[size_t(r)] * double(kMost), largest,
                    1e-6 * largest + 2 * kMost * quantum)
            << r;
      }
      for (int64_t k = 0; k < kDepth; ++k) {
        size_t at = size_t(r * kDepth + k);
        double step = largest == 0 ? 0 : largest / kMost + 2 * quantum;
        EXPECT_LE(std::abs(w[at] * double(scale[size_t(r)]) - x[at]),
                  0.501 * step)
            << r << " " << k;
        EXPECT_LE(std::abs(int(w[at])), kMost);
      }
    }
  }
}

} // namespace
