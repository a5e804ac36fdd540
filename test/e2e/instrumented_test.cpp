//===- instrumented_test.cpp - AddressSanitizer looks into kernels --------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Under AddressSanitizer the matrix passes if no kernel touches what it must
// not. Here each kernel does: every one of its buffers is once an element too
// short, and the report must come from the kernel itself.
//
//===----------------------------------------------------------------------===//

#include "kvc/Engine.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Spec/Spec.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <new>
#include <optional>

using namespace kvc;

namespace {

/// Whole pages, so that the last token's bytes are the last ones.
constexpr int64_t kTokens = layout::kContiguousPageTokens;
constexpr int64_t kQueries = 2, kKVHeads = 2, kGroup = 3, kSplits = 2;
constexpr int64_t kQHeads = kKVHeads * kGroup, kRows = kQueries * kGroup;
/// The last one, which reaches the ends of buffers.
constexpr int64_t kHead = kKVHeads - 1;

constexpr const char *kIntegers = R"({"kvc": 1, "name": "integers",
    "attention": {"q_heads": 6, "kv_heads": 2, "head_dim": 64, "value_dim": 40,
                  "alibi": true, "sink_logits": true},
    "io": {"query": "f16"},
    "key": {"codec": "int4", "zero": "min",
            "scale": {"tokens": 1, "channels": 32, "dtype": "f16"}},
    "value": {"codec": "int8", "zero": "code",
              "scale": {"tokens": 1, "channels": "all", "dtype": "bf16"}}})";
constexpr const char *kFloats = R"({"kvc": 1, "name": "floats",
    "attention": {"q_heads": 6, "kv_heads": 2, "head_dim": 24, "value_dim": 40},
    "io": {"query": "bf16", "output": "f32"},
    "key": {"codec": "f16"}, "value": {"codec": "f32"},
    "layout": {"order": "nhd"}})";

/// What a kernel does with a buffer first.
enum class Access : uint8_t { Read, Write, Either };

struct Made {
  std::string name;
  Access access;
};

/// Buffers as large as they must be, but for one that lacks its last element.
class Memory {
public:
  explicit Memory(std::string shortened = "")
      : shortened(std::move(shortened)) {}

  /// Zeros, at a multiple of 64, with red zones around.
  void *make(const std::string &name, Access access, int64_t count,
             int64_t elementBytes) {
    made.push_back({name, access});
    const auto bytes = size_t((count - (name == shortened)) * elementBytes);
    buffers.emplace_back(::operator new(bytes, kAlignment));
    return std::memset(buffers.back().get(), 0, bytes);
  }
  float *floats(const std::string &name, Access access, int64_t count) {
    return static_cast<float *>(make(name, access, count, sizeof(float)));
  }
  const std::vector<Made> &all() const { return made; }

private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(void *buffer) const {
      ::operator delete(buffer, kAlignment);
    }
  };
  std::string shortened;
  std::vector<Made> made;
  std::vector<std::unique_ptr<void, Free>> buffers;
};

struct Case {
  const char *name, *spec, *target;
};
void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

class Instrumented : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    const std::string target = GetParam().target;
    kvc_compile_options options = compileOptionsFor(target);
    options.asan = 1;
    engine.emplace(compiler.get(), GetParam().spec, GetParam().name, options);
    spec = *spec::parseSpec(GetParam().spec);
  }

  /// Calls `kernel` with whole buffers, then with each of them cut short.
  template <typename Kernel>
  void expectReports(Kernel kernel) const {
    Memory whole;
    kernel(whole);
    ASSERT_FALSE(whole.all().empty());
    for (const Made &each : whole.all()) {
      const std::string access = each.access == Access::Read ? "READ"
                                 : each.access == Access::Write
                                     ? "WRITE"
                                     : "(READ|WRITE)";
      EXPECT_DEATH(
          {
            Memory memory(each.name);
            kernel(memory);
          },
          "heap-buffer-overflow on address [^\n]*\n" + access +
              " of size [0-9]+ at [^\n]*\n"
              "    #0 0x[0-9a-f]+ +\\(<unknown module>\\)")
          << each.name;
    }
  }

  void call(const char *name, const void *args) const {
    const kvc_module_table &table = engine->table();
    for (const kvc_kernel_info &kernel :
         std::span(table.kernels, size_t(table.num_kernels)))
      if (!std::strcmp(kernel.name, name))
        return kernel.function(args);
    FAIL() << "no kernel " << name;
  }

  void append(Memory &memory) const;
  void attend(const char *kernel, Memory &memory) const;
  void merge(Memory &memory) const;
  void unpack(Memory &memory) const;

private:
  /// Regions of the key, then of the value.
  std::vector<kvc_region> regions(Memory &memory, Access access) const;
  /// [tokens, heads, channels] of io.query.
  void *rows(Memory &memory, const std::string &name, int64_t elements) const {
    return memory.make(name, Access::Read, elements,
                       spec::bitsOf(spec.io.query) / 8);
  }
  const spec::PartScheme &part(spec::Tensor which) const {
    return spec::schemeOf(spec, which)->parts.front();
  }

  const CompilerHandle compiler = createCompiler();
  std::optional<Engine> engine;
  spec::Spec spec;
};

std::vector<kvc_region> Instrumented::regions(Memory &memory,
                                              Access access) const {
  const auto family = layout::TargetFamily::Host;
  std::vector<kvc_region> result;
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value}) {
    const layout::PageLayout page = layout::pageLayout(spec, tensor, family);
    const layout::TensorStrides strides =
        layout::tensorStrides(spec, tensor, family, kTokens);
    const spec::PartScheme &scheme = part(tensor);
    const std::string prefix = tensor == spec::Tensor::Key ? "key" : "value";
    for (size_t i = 0; i < page.regions.size(); ++i) {
      std::string name = prefix + " codes";
      int64_t bits = scheme.codec.isRaw() ? spec::bitsOf(scheme.codec.raw)
                                          : scheme.codec.bits;
      int64_t columns = scheme.channels();
      // Bytes may hold codes of several tokens: append reads those it keeps.
      Access first = access == Access::Write ? Access::Either : access;
      if (page.regions[i].kind != layout::RegionKind::Codes) {
        const bool isScales =
            page.regions[i].kind == layout::RegionKind::Scales;
        name = prefix + (isScales ? " scales" : " zeros");
        bits = spec::bitsOf(scheme.scale->dtype);
        columns = scheme.blocks();
        first = access;
      }
      const int64_t elementBytes = std::max<int64_t>(bits / 8, 1);
      const int64_t bytes = kTokens * kKVHeads * columns * bits / 8;
      void *base = memory.make(name, first, bytes / elementBytes, elementBytes);
      result.push_back({static_cast<uint8_t *>(base),
                        strides.regions[i].pageStride,
                        strides.regions[i].headStride});
    }
  }
  return result;
}

void Instrumented::append(Memory &memory) const {
  const std::vector<kvc_region> cache = regions(memory, Access::Write);
  kvc_append_args args{};
  args.cache.regions = cache.data();
  args.key_head_stride = spec.attention.headDim;
  args.key_token_stride = kKVHeads * args.key_head_stride;
  args.key = rows(memory, "key", kTokens * args.key_token_stride);
  args.value_head_stride = spec.attention.valueDim;
  args.value_token_stride = kKVHeads * args.value_head_stride;
  args.value = rows(memory, "value", kTokens * args.value_token_stride);
  args.kv_head = kHead;
  args.token_end = kTokens;
  call("append", &args);
}

void Instrumented::attend(const char *kernel, Memory &memory) const {
  const std::vector<kvc_region> cache = regions(memory, Access::Read);
  kvc_attend_args args{};
  args.cache.regions = cache.data();
  args.query_head_stride = spec.attention.headDim;
  args.query_token_stride = kQHeads * args.query_head_stride;
  args.query = rows(memory, "query", kQueries * args.query_token_stride);
  args.partial_out = memory.floats("partial_out", Access::Write,
                                   kRows * spec.attention.valueDim);
  args.partial_lse = memory.floats("partial_lse", Access::Write, kRows);
  if (spec.attention.alibi)
    args.alibi_slopes = memory.floats("alibi_slopes", Access::Read, kQHeads);
  args.kv_head = kHead;
  args.num_queries = kQueries;
  args.length = kTokens;
  args.row_end = kRows;
  args.key_end = kTokens;
  call(kernel, &args);
}

void Instrumented::merge(Memory &memory) const {
  kvc_merge_args args{};
  args.partial_out_split_stride = kRows * spec.attention.valueDim;
  args.partial_out = memory.floats("partial_out", Access::Read,
                                   kSplits * args.partial_out_split_stride);
  args.partial_lse_split_stride = kRows;
  args.partial_lse =
      memory.floats("partial_lse", Access::Read, kSplits * kRows);
  if (spec.attention.sinkLogits)
    args.sink_logits = memory.floats("sink_logits", Access::Read, kQHeads);
  args.out_head_stride = spec.attention.valueDim;
  args.out_token_stride = kQHeads * args.out_head_stride;
  args.out = memory.make("out", Access::Write, kQueries * args.out_token_stride,
                         spec::bitsOf(spec.io.output) / 8);
  args.lse_head_stride = 1;
  args.lse_token_stride = kQHeads;
  args.lse = memory.floats("lse", Access::Write, kQueries * kQHeads);
  args.kv_head = kHead;
  args.row_end = kRows;
  args.num_splits = kSplits;
  call("merge", &args);
}

void Instrumented::unpack(Memory &memory) const {
  const std::vector<kvc_region> cache = regions(memory, Access::Read);
  auto partOf = [&](spec::Tensor tensor, const std::string &prefix) {
    const spec::PartScheme &scheme = part(tensor);
    kvc_unpack_part to{};
    to.values = memory.floats(prefix + " values", Access::Write,
                              kTokens * scheme.channels());
    if (scheme.codec.isRaw())
      return to;
    to.codes = static_cast<int8_t *>(
        memory.make(prefix + " unpacked codes", Access::Write,
                    kTokens * scheme.channels(), 1));
    to.scales = memory.floats(prefix + " unpacked scales", Access::Write,
                              kTokens * scheme.blocks());
    to.zeros = memory.floats(prefix + " unpacked zeros", Access::Write,
                             kTokens * scheme.blocks());
    return to;
  };
  struct {
    kvc_unpack_args args{};
    kvc_unpack_part key, value;
  } all;
  all.key = partOf(spec::Tensor::Key, "key");
  all.value = partOf(spec::Tensor::Value, "value");
  all.args.cache.regions = cache.data();
  all.args.kv_head = kHead;
  all.args.token_end = kTokens;
  call("unpack", &all);
}

TEST_P(Instrumented, Append) {
  expectReports([&](Memory &memory) { append(memory); });
}
TEST_P(Instrumented, Decode) {
  expectReports([&](Memory &memory) { attend("decode", memory); });
}
TEST_P(Instrumented, Prefill) {
  expectReports([&](Memory &memory) { attend("prefill", memory); });
}
TEST_P(Instrumented, Merge) {
  expectReports([&](Memory &memory) { merge(memory); });
}
TEST_P(Instrumented, Unpack) {
  expectReports([&](Memory &memory) { unpack(memory); });
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Instrumented,
    testing::Values(Case{"integers", kIntegers, "host"},
                    Case{"integers_portable", kIntegers, "portable"},
                    Case{"floats", kFloats, "host"},
                    Case{"floats_portable", kFloats, "portable"}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
