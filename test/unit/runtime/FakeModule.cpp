//===- FakeModule.cpp - Kernels written by hand, for the runtime ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "FakeModule.h"

#include "kvc/Layout/PageLayout.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>

using namespace kvc;
using namespace kvc::test;

namespace {

/// Where a tensor's elements lie in a page, looked up since tests read many.
struct Elements {
  int64_t pageTokens, channels;
  std::vector<int64_t> offsets; ///< Of head 0, [token, channel].

  Elements(const spec::Spec &spec, spec::Tensor tensor)
      : channels(spec::channelsOf(spec, tensor)) {
    layout::PageLayout page =
        layout::pageLayout(spec, tensor, layout::TargetFamily::Host);
    pageTokens = page.pageTokens;
    const layout::Storage &storage =
        page.region(layout::RegionKind::Codes).storage;
    for (int64_t token = 0; token < pageTokens; ++token)
      for (int64_t channel = 0; channel < channels; ++channel)
        offsets.push_back(layout::addressOf(
            storage, {{'t', token}, {'c', channel}, {'h', 0}}));
  }

  float *at(const kvc_region &region, const int32_t *table, int64_t head,
            int64_t token, int64_t channel) const {
    int64_t slot = token / pageTokens;
    int64_t page = table ? table[slot] : slot;
    return reinterpret_cast<float *>(region.base + page * region.page_stride +
                                     head * region.head_stride) +
           offsets[size_t(token % pageTokens * channels + channel)];
  }
};

/// What the kernels were "compiled" for.
struct Compiled {
  spec::Spec spec;
  Elements key, value;
  Tiles tiles;

  float *keyAt(const kvc_cache_view &cache, int64_t head, int64_t token,
               int64_t channel) const {
    return key.at(cache.regions[0], cache.page_table, head, token, channel);
  }
  float *valueAt(const kvc_cache_view &cache, int64_t head, int64_t token,
                 int64_t channel) const {
    return value.at(cache.regions[1], cache.page_table, head, token, channel);
  }
};

Compiled *compiled = nullptr;
std::atomic<int64_t> decodes, prefills, appends, merges, broken;

void expect(bool isKept) {
  if (!isKept)
    ++broken;
}

bool isVisible(int64_t key, int64_t position) {
  const spec::Attention &attention = compiled->spec.attention;
  if (attention.causal && key > position)
    return false;
  return !attention.window || key > position - *attention.window ||
         key < attention.windowSinks;
}

void attend(const kvc_attend_args &args, int64_t tileRows, int64_t split) {
  const spec::Attention &attention = compiled->spec.attention;
  int64_t group = attention.group(), tile = compiled->tiles.tokens;
  expect(args.row_begin >= 0 && args.row_begin < args.row_end &&
         args.row_end <= args.num_queries * group);
  expect(args.row_begin % tileRows == 0);
  expect(args.key_begin >= 0 && args.key_begin < args.key_end &&
         args.key_end <= args.length && args.key_begin % tile == 0 &&
         (args.key_end % tile == 0 || args.key_end == args.length));
  expect(args.key_begin / split == (args.key_end - 1) / split);
  auto *queries = static_cast<const float *>(args.query);
  for (int64_t row = args.row_begin; row < args.row_end; ++row) {
    int64_t query = row / group, head = args.kv_head * group + row % group;
    int64_t position = args.length - args.num_queries + query;
    const float *q = queries + query * args.query_token_stride +
                     head * args.query_head_stride;
    std::vector<double> out(size_t(attention.valueDim), 0);
    double sum = 0, largest = -INFINITY;
    std::vector<double> scores;
    for (int64_t key = args.key_begin; key < args.key_end; ++key) {
      double score = 0;
      for (int64_t c = 0; c < attention.headDim; ++c)
        score +=
            double(q[c]) * *compiled->keyAt(args.cache, args.kv_head, key, c);
      score *= attention.scale;
      if (attention.alibi)
        score += double(args.alibi_slopes[head]) * double(key - position);
      scores.push_back(isVisible(key, position) ? score : -INFINITY);
      largest = std::max(largest, scores.back());
    }
    for (int64_t key = args.key_begin; key < args.key_end; ++key) {
      double score = scores[size_t(key - args.key_begin)];
      if (score == -INFINITY)
        continue;
      double p = std::exp(score - largest);
      sum += p;
      for (int64_t c = 0; c < attention.valueDim; ++c)
        out[size_t(c)] +=
            p * *compiled->valueAt(args.cache, args.kv_head, key, c);
    }
    int64_t local = row - args.row_begin;
    args.partial_lse[local] =
        sum > 0 ? float(largest + std::log(sum)) : -INFINITY;
    for (int64_t c = 0; c < attention.valueDim; ++c)
      args.partial_out[local * attention.valueDim + c] =
          sum > 0 ? float(out[size_t(c)] / sum) : 0.f;
  }
}

void decodeKernel(const void *args) {
  ++decodes;
  attend(*static_cast<const kvc_attend_args *>(args),
         compiled->tiles.decodeRows, compiled->tiles.split);
}

void prefillKernel(const void *args) {
  ++prefills;
  attend(*static_cast<const kvc_attend_args *>(args),
         compiled->tiles.prefillRows, compiled->tiles.prefillSplit);
}

/// Both ends of a workspace, which no other call may write meanwhile.
struct WorkspaceEnds {
  int64_t *first = nullptr, *last = nullptr;

  WorkspaceEnds(void *workspace, int64_t bytes) {
    expect((workspace != nullptr) == (bytes > 0));
    expect(reinterpret_cast<uintptr_t>(workspace) % 64 == 0);
    if (bytes == 0)
      return;
    first = static_cast<int64_t *>(workspace);
    last = first + bytes / 8 - 1;
  }
  void write(int64_t mark) const {
    if (first)
      *first = *last = mark;
  }
  void expectStill(int64_t mark) const {
    expect(!first || (*first == mark && *last == mark));
  }
};

void appendKernel(const void *given) {
  const int64_t number = ++appends;
  const auto &args = *static_cast<const kvc_append_args *>(given);
  expect(args.token_begin < args.token_end);
  const WorkspaceEnds ends(args.workspace, compiled->tiles.appendWorkspace);
  ends.write(number);
  auto *keys = static_cast<const float *>(args.key);
  auto *values = static_cast<const float *>(args.value);
  const spec::Attention &attention = compiled->spec.attention;
  for (int64_t token = args.token_begin; token < args.token_end; ++token) {
    int64_t row = token - args.token_begin;
    for (int64_t c = 0; c < attention.headDim; ++c)
      *compiled->keyAt(args.cache, args.kv_head, token, c) =
          keys[row * args.key_token_stride +
               args.kv_head * args.key_head_stride + c];
    for (int64_t c = 0; c < attention.valueDim; ++c)
      *compiled->valueAt(args.cache, args.kv_head, token, c) =
          values[row * args.value_token_stride +
                 args.kv_head * args.value_head_stride + c];
  }
  ends.expectStill(number);
}

bool isOutside(const float *place, const float *begin, int64_t count) {
  auto at = [](const float *pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
  };
  return at(place) < at(begin) || at(place) >= at(begin + count);
}

void mergeKernel(const void *given) {
  ++merges;
  const auto &args = *static_cast<const kvc_merge_args *>(given);
  const spec::Attention &attention = compiled->spec.attention;
  int64_t group = attention.group();
  auto *outs = static_cast<float *>(args.out);
  for (int64_t row = args.row_begin; row < args.row_end; ++row) {
    int64_t local = row - args.row_begin;
    int64_t query = row / group, head = args.kv_head * group + row % group;
    double largest = attention.sinkLogits ? args.sink_logits[head] : -INFINITY;
    auto lseOf = [&](int64_t split) {
      return double(
          args.partial_lse[split * args.partial_lse_split_stride + local]);
    };
    for (int64_t split = 0; split < args.num_splits; ++split)
      largest = std::max(largest, lseOf(split));
    double sum = 0;
    std::vector<double> out(size_t(attention.valueDim), 0);
    if (largest > -INFINITY) {
      if (attention.sinkLogits)
        sum = std::exp(double(args.sink_logits[head]) - largest);
      for (int64_t split = 0; split < args.num_splits; ++split) {
        double weight = std::exp(lseOf(split) - largest);
        sum += weight;
        for (int64_t c = 0; c < attention.valueDim; ++c)
          out[size_t(c)] +=
              weight * args.partial_out[split * args.partial_out_split_stride +
                                        local * attention.valueDim + c];
      }
    }
    float *lse =
        args.lse + query * args.lse_token_stride + head * args.lse_head_stride;
    // Wherever it goes, it is no partial result that other rows need.
    expect(isOutside(lse, args.partial_out,
                     args.num_splits * args.partial_out_split_stride) &&
           isOutside(lse, args.partial_lse,
                     args.num_splits * args.partial_lse_split_stride));
    *lse = sum > 0 ? float(largest + std::log(sum)) : -INFINITY;
    for (int64_t c = 0; c < attention.valueDim; ++c)
      outs[query * args.out_token_stride + head * args.out_head_stride + c] =
          sum > 0 ? float(out[size_t(c)] / sum) : 0.f;
  }
}

void unpackKernel(const void *given) {
  const auto &args = *static_cast<const kvc_unpack_args *>(given);
  const auto *parts = reinterpret_cast<const kvc_unpack_part *>(&args + 1);
  const spec::Attention &attention = compiled->spec.attention;
  for (int64_t token = args.token_begin; token < args.token_end; ++token) {
    int64_t row = token - args.token_begin;
    for (int64_t c = 0; c < attention.headDim; ++c)
      parts[0].values[row * attention.headDim + c] =
          *compiled->keyAt(args.cache, args.kv_head, token, c);
    for (int64_t c = 0; c < attention.valueDim; ++c)
      parts[1].values[row * attention.valueDim + c] =
          *compiled->valueAt(args.cache, args.kv_head, token, c);
  }
}

} // namespace

std::string SpecText::json() const {
  return R"({"kvc": 1, "name": "fake", "attention": {"q_heads": )" +
         std::to_string(qHeads) + R"(, "kv_heads": )" +
         std::to_string(kvHeads) + R"(, "head_dim": )" +
         std::to_string(headDim) + R"(, "value_dim": )" +
         std::to_string(valueDim) + attention + R"(}, "io": {"query": ")" +
         query + R"("}, "key": {"codec": ")" + codec +
         R"("}, "value": {"codec": ")" + codec + R"("}, "layout": )" + layout +
         "}";
}

SpecPtr kvc::test::parse(const std::string &json) {
  Message message;
  kvc_spec *spec = nullptr;
  EXPECT_EQ(kvc_spec_parse(json.data(), json.size(), message.get(), &spec),
            KVC_OK)
      << message.text;
  return SpecPtr(spec);
}

FakeModule::FakeModule(const SpecText &text, Tiles tiles)
    : json(text.json()), parsed(parse(json)) {
  const char *hash = nullptr;
  kvc_layout_hash(parsed.get(), &hash);
  kernels = {{"decode", decodeKernel, tiles.decodeRows, tiles.tokens,
              tiles.split, "f32", nullptr, 0, 0, 0, 0},
             {"prefill", prefillKernel, tiles.prefillRows, tiles.tokens,
              tiles.prefillSplit, "f32", nullptr, 0, 0, 0, 0},
             {"append", appendKernel, 0, 0, 0, "", nullptr, 0, 0, 0,
              tiles.appendWorkspace},
             {"merge", mergeKernel, 0, 0, 0, "", nullptr, 0, 0, 0, 0},
             {"unpack", unpackKernel, 0, 0, 0, "", nullptr, 0, 0, 0, 0}};
  moduleTable = {KVC_KERNEL_ABI_VERSION,
                 int32_t(kernels.size()),
                 json.c_str(),
                 hash,
                 "fake",
                 kernels.data(),
                 "",
                 nullptr,
                 0};
  Message message;
  kvc_module *made = nullptr;
  EXPECT_EQ(kvc_module_create(&moduleTable, message.get(), &made), KVC_OK)
      << message.text;
  module.reset(made);
  spec::Spec spec = *spec::parseSpec(json);
  delete compiled;
  compiled = new Compiled{spec, Elements(spec, spec::Tensor::Key),
                          Elements(spec, spec::Tensor::Value), tiles};
  resetCounts();
}

FakeModule::~FakeModule() {
  delete compiled;
  compiled = nullptr;
}

int64_t FakeModule::decodeCalls() { return decodes; }
int64_t FakeModule::prefillCalls() { return prefills; }
int64_t FakeModule::appendCalls() { return appends; }
int64_t FakeModule::mergeCalls() { return merges; }
int64_t FakeModule::brokenPromises() { return broken; }
void FakeModule::resetCounts() {
  decodes = prefills = appends = merges = broken = 0;
}
