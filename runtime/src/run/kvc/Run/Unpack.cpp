//===- Unpack.cpp - Reading a cache back ----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The unpack kernel writes dense rows of one kv head; the caller's arrays have
// the heads inside of tokens. So a few hundred tokens at a time are unpacked
// into buffers of their own and copied over.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Checked.h"
#include "kvc/Base/Struct.h"
#include "kvc/Cache/Cache.h"
#include "kvc/Run/Items.h"
#include "kvc/runtime.h"

#include <algorithm>
#include <cstring>

using namespace kvc;

namespace {

/// Tokens of one round; a multiple of every page.
constexpr int64_t kRoundTokens = 512;

/// One tensor's rows of all kv heads, [head, token, channel].
struct Buffers {
  int64_t channels, blocks;
  bool isRaw, hasZero;
  std::vector<int8_t> codes;
  std::vector<float> scales, zeros, values;

  Buffers(const spec::Spec &spec, spec::Tensor tensor, int64_t tokens) {
    const spec::Scheme *scheme = spec::schemeOf(spec, tensor);
    int64_t rows = spec.attention.kvHeads * tokens;
    channels = spec::channelsOf(spec, tensor);
    blocks = 0;
    hasZero = false;
    isRaw = !scheme || scheme->isRaw();
    if (scheme)
      for (const spec::PartScheme &part : scheme->parts) {
        blocks += part.blocks();
        hasZero |= part.zero != spec::Zero::None;
      }
    // At least one element each: kernels get no null.
    codes.resize(size_t(rows * channels) + 1);
    scales.resize(size_t(rows * blocks) + 1);
    zeros.resize(size_t(rows * blocks) + 1);
    values.resize(size_t(rows * channels) + 1);
  }
};

/// Copies rows [head, token, width] of a round to [token, head, width].
template <typename T>
void scatter(const std::vector<T> &from, int64_t heads, int64_t tokens,
             int64_t width, int64_t firstToken, T *to) {
  if (!to || width == 0)
    return;
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t token = 0; token < tokens; ++token)
      std::memcpy(to + ((firstToken + token) * heads + head) * width,
                  from.data() + (head * kRoundTokens + token) * width,
                  size_t(width) * sizeof(T));
}

void scatterTensor(const Buffers &buffers, int64_t heads, int64_t tokens,
                   int64_t firstToken, const kvc_unpacked &to) {
  scatter(buffers.values, heads, tokens, buffers.channels, firstToken,
          to.values);
  if (buffers.isRaw)
    return;
  scatter(buffers.codes, heads, tokens, buffers.channels, firstToken, to.codes);
  scatter(buffers.scales, heads, tokens, buffers.blocks, firstToken, to.scales);
  if (buffers.hasZero)
    scatter(buffers.zeros, heads, tokens, buffers.blocks, firstToken, to.zeros);
}

kvc_unpack_args argsOf(const kvc_cache_view &view, Buffers &key, Buffers &value,
                       int64_t head, int64_t begin, int64_t end) {
  int64_t row = head * kRoundTokens;
  kvc_unpack_args args = {};
  args.cache = view;
  args.key_codes = key.codes.data() + row * key.channels;
  args.key_scales = key.scales.data() + row * key.blocks;
  args.key_zeros = key.zeros.data() + row * key.blocks;
  args.key = key.values.data() + row * key.channels;
  args.value_codes = value.codes.data() + row * value.channels;
  args.value_scales = value.scales.data() + row * value.blocks;
  args.value_zeros = value.zeros.data() + row * value.blocks;
  args.value = value.values.data() + row * value.channels;
  args.kv_head = head;
  args.token_begin = begin;
  args.token_end = end;
  return args;
}

kvc_status unpack(const kvc_cache &cache, const kvc_module &module,
                  const Sequence &sequence, Range tokens,
                  const kvc_parallel_for *threads, kvc_diag *diag,
                  const kvc_unpacked &key, const kvc_unpacked &value) {
  const spec::Spec &spec = module.spec->spec;
  int64_t heads = spec.attention.kvHeads;
  Buffers keyBuffers(spec, spec::Tensor::Key, kRoundTokens);
  Buffers valueBuffers(spec, spec::Tensor::Value, kRoundTokens);
  std::vector<kvc_unpack_args> args;
  kvc_cache_view view = cache.viewOf(sequence);
  for (int64_t begin = tokens.begin; begin < tokens.end;) {
    int64_t end =
        std::min(roundDown(begin, kRoundTokens) + kRoundTokens, tokens.end);
    args.clear();
    for (int64_t head = 0; head < heads; ++head)
      args.push_back(argsOf(view, keyBuffers, valueBuffers, head, begin, end));
    kvc_launch launch = {module.unpack->function, args.data(),
                         sizeof(kvc_unpack_args), heads};
    KVC_TRY(
        cache.device->launch(cache.device->self, &launch, 1, threads, diag));
    scatterTensor(keyBuffers, heads, end - begin, begin - tokens.begin, key);
    scatterTensor(valueBuffers, heads, end - begin, begin - tokens.begin,
                  value);
    begin = end;
  }
  return KVC_OK;
}

} // namespace

extern "C" kvc_status
kvc_cache_unpack(const kvc_cache *cache, const kvc_module *module,
                 kvc_sequence sequence, int64_t token_begin, int64_t token_end,
                 const kvc_parallel_for *threads, kvc_diag *diag,
                 const kvc_unpacked *key, const kvc_unpacked *value) {
  return guarded(diag, [&]() -> kvc_status {
    if (!cache || !module)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "%s: expected a pointer, got null",
                  cache ? "module" : "cache");
    KVC_TRY(requireKernel(module->unpack, "unpack", diag));
    if (cache->spec->hash != module->spec->hash)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "cache: expected the module's layout hash %s, got %s",
                  module->spec->hash.c_str(), cache->spec->hash.c_str());
    kvc_unpacked keyOut = {}, valueOut = {};
    if (key)
      KVC_TRY(readStruct(key, "key", diag, keyOut));
    if (value)
      KVC_TRY(readStruct(value, "value", diag, valueOut));
    const Sequence *found = nullptr;
    KVC_TRY(cache->find(sequence, diag, found));
    if (token_begin < 0 || token_begin > token_end ||
        token_end > found->written)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "tokens: expected a range within the %lld written ones, got "
                  "%lld to %lld",
                  static_cast<long long>(found->written),
                  static_cast<long long>(token_begin),
                  static_cast<long long>(token_end));
    return unpack(*cache, *module, *found, {token_begin, token_end}, threads,
                  diag, keyOut, valueOut);
  });
}
