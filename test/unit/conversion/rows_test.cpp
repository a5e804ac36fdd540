//===- rows_test.cpp - Rows and metadata of tokens by execution -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;
using spec::Tensor;

namespace {

struct RowCase {
  const char *codec, *order, *dtype;
  int64_t page, channels;
  Tensor tensor;
  int64_t firstChannel = 0, numChannels = 0; ///< 0: all.
  bool hasTable = true;
  int64_t block = 8; ///< Channels of a scale.

  int64_t slice() const { return numChannels ? numChannels : channels; }
  bool isRaw() const { return codec[0] == 'f' || codec[0] == 'b'; }
  int64_t blocks() const { return channels / block; }
  std::string json() const {
    std::string d = std::to_string(channels),
                scheme = std::string("{\"codec\": \"") + codec + "\"";
    if (!isRaw())
      scheme += std::string(", \"scale\": {\"tokens\": 1, \"channels\": ") +
                std::to_string(block) + ", \"dtype\": \"" + dtype +
                "\"}, \"zero\": \"min\"";
    scheme += "}";
    std::string layout =
        page ? "\"kind\": \"paged\", \"page\": " + std::to_string(page)
             : "\"kind\": \"contiguous\"";
    return "{\"kvc\": 1, \"name\": \"t\", \"attention\": {\"q_heads\": 2, "
           "\"kv_heads\": 2, \"head_dim\": " +
           d + ", \"value_dim\": " + d +
           "}, \"io\": {\"query\": \"f32\"}, \"key\": " + scheme +
           ", \"value\": " + scheme + ", \"layout\": {" + layout +
           ", \"order\": \"" + order + "\"}}";
  }
  std::string str() const {
    return json() + (tensor == Tensor::Key ? " key " : " value ") +
           std::to_string(firstChannel);
  }
};

const std::vector<RowCase> kCases = {
    {"int4", "auto", "f16", 64, 128, Tensor::Key},
    {"int4", "auto", "f16", 64, 128, Tensor::Value},
    {"int8", "auto", "bf16", 16, 80, Tensor::Key},
    {"int8", "auto", "bf16", 16, 80, Tensor::Value},
    {"int8", "auto", "f32", 0, 72, Tensor::Key},
    {"int4", "auto", "f32", 0, 72, Tensor::Value},
    {"int4", "nhd", "f16", 1, 96, Tensor::Key},
    {"int8", "hnd", "f16", 0, 576, Tensor::Value},
    {"int4", "hnd", "f32", 8, 40, Tensor::Key, 8, 24},
    {"int4", "auto", "f16", 32, 128, Tensor::Key, 64, 32},
    {"int4", "auto", "f16", 32, 128, Tensor::Value, 24, 8},
    {"int4", "auto", "f16", 32, 128, Tensor::Key, 5, 3},
    {"int4", "nhd", "f16", 32, 64, Tensor::Key, 7, 3},
    {"int8", "auto", "f16", 64, 64, Tensor::Value, 3, 2},
    {"f16", "auto", "f16", 64, 128, Tensor::Key},
    {"bf16", "auto", "f16", 16, 72, Tensor::Value},
    {"f32", "nhd", "f16", 4, 24, Tensor::Key},
    {"f32", "auto", "f16", 0, 16, Tensor::Key, 8, 8},
    {"int4", "auto", "f16", 16, 64, Tensor::Key, 0, 0, false},
    // Records, whose bytes are odd numbers too.
    {"int4", "token", "f16", 64, 128, Tensor::Key},
    {"int8", "token", "f32", 0, 72, Tensor::Value, 16, 24},
    {"f16", "token", "f16", 8, 24, Tensor::Key},
    {"int4", "token", "bf16", 1, 40, Tensor::Value, 7, 3, true, 40},
    {"int4", "ggml", "f16", 64, 128, Tensor::Key, 0, 0, true, 32},
    {"int4", "ggml", "f16", 0, 96, Tensor::Value, 32, 32, true, 32},
    {"int4", "ggml", "f16", 16, 160, Tensor::Key, 80, 80, true, 32},
    {"bf16", "ggml", "f16", 0, 64, Tensor::Value},
};

std::string num(int64_t value) { return std::to_string(value); }

/// Kernels load<i> and store<i>: the row of token %t as a memref.
std::vector<Kernel> rowKernels(const RowCase &c, size_t i,
                               const TestCache &cache) {
  std::string element = c.isRaw() ? c.codec : "i8", n = num(c.slice());
  std::string vector = "vector<" + n + "x" + element + ">",
              memref = "memref<" + n + "x" + element + ">";
  std::string attributes =
      std::string("{tensor = #kvc.tensor<") +
      (c.tensor == Tensor::Key ? "key" : "value") +
      ">, storage = " + cache.storage(c.tensor, layout::RegionKind::Codes) +
      ", page = " + num(cache.page(c.tensor)) + " : i64}";
  std::string begin = "func.func @KERNEL(%cache: " + cache.type() +
                      ", %row: " + memref +
                      ", %h: index, %t: index, %c: index) KERNEL {\n  %zero = "
                      "arith.constant 0 : index\n";
  std::string load = "  %v = kvk.load_row %cache[%h, %t] channels %c " +
                     attributes + " : " + cache.type() + " to " + vector +
                     "\n  vector.store %v, %row[%zero] : " + memref + ", " +
                     vector + "\n  return\n}\n";
  std::string store =
      "  %v = vector.load %row[%zero] : " + memref + ", " + vector +
      "\n  kvk.store_row %v, %cache[%h, %t] channels %c " + attributes + " : " +
      vector + ", " + cache.type() + "\n  return\n}\n";
  return {{"load" + num(int64_t(i)), begin + load},
          {"store" + num(int64_t(i)), begin + store}};
}

TEST(Rows, LoadAndStoreInEveryOrder) {
  constexpr int64_t kTokens = 70;
  std::vector<std::unique_ptr<TestCache>> caches;
  std::vector<Kernel> kernels;
  for (size_t i = 0; i < kCases.size(); ++i) {
    caches.push_back(std::make_unique<TestCache>(kCases[i].json(), kTokens,
                                                 kCases[i].hasTable));
    for (Kernel &kernel : rowKernels(kCases[i], i, *caches.back()))
      kernels.push_back(std::move(kernel));
  }
  for (const std::string &target : runnableTargets()) {
    Program program(kernels, target);
    for (size_t i = 0; i < kCases.size(); ++i) {
      const RowCase &c = kCases[i];
      SCOPED_TRACE(target + " " + c.str());
      TestCache cache(c.json(), kTokens, c.hasTable),
          expected(c.json(), kTokens, c.hasTable);
      std::mt19937 random{unsigned(i)};
      unsigned width =
          layout::pageLayout(cache.spec, c.tensor, layout::TargetFamily::Host)
              .region(layout::RegionKind::Codes)
              .storage.width;
      size_t size = std::max<size_t>(1, width / 8);
      uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;
      // Stores keep every other bit: both caches begin as 0xff everywhere.
      for (int64_t t : {0, 1, 15, 16, 37, 69}) {
        std::vector<uint8_t> row;
        for (int64_t k = 0; k < c.slice(); ++k) {
          uint32_t bits = uint32_t(random()) & mask;
          expected.set(c.tensor, layout::RegionKind::Codes, t, 1,
                       c.firstChannel + k, bits);
          const auto *bytes = reinterpret_cast<const uint8_t *>(&bits);
          row.insert(row.end(), bytes, bytes + size);
        }
        auto args = [&](std::vector<uint8_t> &values) {
          return Args()
              .add(cache.view)
              .add(values.data())
              .add(int64_t(1))
              .add(t)
              .add(c.firstChannel);
        };
        program.call("store" + num(int64_t(i)), args(row));
        ASSERT_EQ(cache.bytes(), expected.bytes()) << "token " << t;
        std::vector<uint8_t> back(row.size());
        program.call("load" + num(int64_t(i)), args(back));
        ASSERT_EQ(back, row) << "token " << t;
      }
    }
  }
}

/// Kernels one<i> (store and load a token's value) and many<i> (64 tokens).
std::vector<Kernel> metaKernels(const RowCase &c, size_t i,
                                const TestCache &cache,
                                layout::RegionKind kind) {
  std::string attributes =
      std::string("{tensor = #kvc.tensor<") +
      (c.tensor == Tensor::Key ? "key" : "value") + ">, kind = #kvk.meta<" +
      (kind == layout::RegionKind::Scales ? "scale" : "zero") +
      ">, storage = " + cache.storage(c.tensor, kind) +
      ", page = " + num(cache.page(c.tensor)) + " : i64}";
  std::string begin =
      "func.func @KERNEL(%cache: " + cache.type() +
      ", %x: memref<64xf32>, %h: index, %t: index, %b: index, %n: index) "
      "KERNEL {\n  %zero = arith.constant 0 : index\n";
  std::string one =
      "  %one = arith.constant 1 : index\n  %v = memref.load %x[%zero] : "
      "memref<64xf32>\n  kvk.store_meta %v, %cache[%h, %t] block %b " +
      attributes + " : f32, " + cache.type() +
      "\n  %w = kvk.load_meta %cache[%h, %t] block %b " + attributes + " : " +
      cache.type() +
      " to f32\n  memref.store %w, %x[%one] : memref<64xf32>\n  return\n}\n";
  std::string many = "  %v = kvk.load_meta %cache[%h, %t] block %b valid %n " +
                     attributes + " : " + cache.type() +
                     " to vector<64xf32>\n  vector.store %v, %x[%zero] : "
                     "memref<64xf32>, vector<64xf32>\n  return\n}\n";
  return {{"one" + num(int64_t(i)), begin + one},
          {"many" + num(int64_t(i)), begin + many}};
}

TEST(Rows, Metadata) {
  constexpr int64_t kTokens = 64 + 37;
  std::vector<std::unique_ptr<TestCache>> caches;
  std::vector<Kernel> kernels;
  auto kindOf = [](size_t i) {
    return i % 2 ? layout::RegionKind::Zeros : layout::RegionKind::Scales;
  };
  for (size_t i = 0; i < kCases.size(); ++i) {
    caches.push_back(std::make_unique<TestCache>(kCases[i].json(), kTokens,
                                                 kCases[i].hasTable));
    if (!kCases[i].isRaw())
      for (Kernel &kernel :
           metaKernels(kCases[i], i, *caches.back(), kindOf(i)))
        kernels.push_back(std::move(kernel));
  }
  for (const std::string &target : runnableTargets()) {
    Program program(kernels, target);
    for (size_t i = 0; i < kCases.size(); ++i) {
      const RowCase &c = kCases[i];
      if (c.isRaw())
        continue;
      SCOPED_TRACE(target + " " + c.str());
      TestCache &cache = *caches[i];
      layout::RegionKind kind = kindOf(i);
      spec::DType dtype =
          spec::schemeOf(cache.spec, c.tensor)->parts[0].scale->dtype;
      int64_t block = c.blocks() - 1;
      auto valueOf = [&](int64_t t) {
        return fromBits(dtype, toBits(dtype, float(t) - 3.25f));
      };
      std::vector<float> x(64);
      auto args = [&](int64_t t, int64_t n) {
        return Args()
            .add(cache.view)
            .add(x.data())
            .add(int64_t(1))
            .add(t)
            .add(block)
            .add(n);
      };
      for (int64_t t = 0; t < kTokens; ++t) {
        x[0] = valueOf(t);
        program.call("one" + num(int64_t(i)), args(t, 0));
        ASSERT_EQ(x[1], x[0]) << t;
        ASSERT_EQ(cache.get(c.tensor, kind, t, 1, block), toBits(dtype, x[0]))
            << t;
      }
      for (int64_t n : {1, 7, 8, 16, 37}) {
        program.call("many" + num(int64_t(i)), args(64, n));
        for (int64_t t = 0; t < 64; ++t)
          ASSERT_EQ(x[size_t(t)], t < n ? valueOf(64 + t) : 0.0f)
              << n << " " << t;
      }
    }
  }
}

} // namespace
