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

/// Rows of one part of a tensor, of all kv heads: [head, token, ..].
struct PartRows {
  int64_t channels, blocks, outliers;
  bool isRaw, hasZero;
  std::vector<int8_t> codes;
  std::vector<float> scales, zeros, values, outlierIndices, outlierValues;

  PartRows(const spec::PartScheme &part, int64_t rows)
      : channels(part.channels()), blocks(part.blocks()),
        outliers(part.outliers), isRaw(part.codec.isRaw()),
        hasZero(part.zero != spec::Zero::None), codes(size_t(rows * channels)),
        scales(size_t(rows * blocks)), zeros(size_t(rows * blocks)),
        values(size_t(rows * channels)),
        outlierIndices(size_t(rows * outliers)),
        outlierValues(size_t(rows * outliers)) {}

  /// What the kernel writes of the rows from `row` on.
  kvc_unpack_part from(int64_t row) {
    return {codes.data() + row * channels,
            scales.data() + row * blocks,
            zeros.data() + row * blocks,
            values.data() + row * channels,
            outlierIndices.data() + row * outliers,
            outlierValues.data() + row * outliers};
  }
};

/// Those of the key, then those of the value.
std::vector<PartRows> partsOf(const spec::Spec &spec) {
  std::vector<PartRows> parts;
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value})
    if (const spec::Scheme *scheme = spec::schemeOf(spec, tensor))
      for (const spec::PartScheme &part : scheme->parts)
        parts.emplace_back(part, spec.attention.kvHeads * kRoundTokens);
  return parts;
}

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

void scatterPart(const PartRows &from, int64_t heads, int64_t tokens,
                 int64_t firstToken, const kvc_unpacked &to) {
  scatter(from.values, heads, tokens, from.channels, firstToken, to.values);
  if (from.isRaw)
    return;
  scatter(from.codes, heads, tokens, from.channels, firstToken, to.codes);
  scatter(from.scales, heads, tokens, from.blocks, firstToken, to.scales);
  if (from.hasZero)
    scatter(from.zeros, heads, tokens, from.blocks, firstToken, to.zeros);
  scatter(from.outlierIndices, heads, tokens, from.outliers, firstToken,
          to.outlier_indices);
  scatter(from.outlierValues, heads, tokens, from.outliers, firstToken,
          to.outlier_values);
}

kvc_status unpack(const kvc_cache &cache, const kvc_module &module,
                  const Sequence &sequence, Range tokens,
                  const kvc_parallel_for *threads, kvc_diag *diag,
                  const std::vector<kvc_unpacked> &wanted) {
  int64_t heads = module.spec->spec.attention.kvHeads;
  std::vector<PartRows> parts = partsOf(module.spec->spec);
  const size_t argBytes =
      sizeof(kvc_unpack_args) + parts.size() * sizeof(kvc_unpack_part);
  std::vector<std::byte> args(argBytes * size_t(heads));
  for (int64_t begin = tokens.begin; begin < tokens.end;) {
    int64_t end =
        std::min(roundDown(begin, kRoundTokens) + kRoundTokens, tokens.end);
    for (int64_t head = 0; head < heads; ++head) {
      kvc_unpack_args first = {cache.viewOf(sequence), head, begin, end};
      std::byte *at = args.data() + size_t(head) * argBytes;
      std::memcpy(at, &first, sizeof(first));
      at += sizeof(first);
      for (PartRows &part : parts) {
        kvc_unpack_part to = part.from(head * kRoundTokens);
        std::memcpy(at, &to, sizeof(to));
        at += sizeof(to);
      }
    }
    kvc_launch launch = {module.unpack->function, args.data(),
                         int64_t(argBytes), heads};
    KVC_TRY(
        cache.device->launch(cache.device->self, &launch, 1, threads, diag));
    for (size_t i = 0; i < parts.size(); ++i)
      scatterPart(parts[i], heads, end - begin, begin - tokens.begin,
                  wanted[i]);
    begin = end;
  }
  return KVC_OK;
}

} // namespace

extern "C" kvc_status
kvc_cache_unpack(const kvc_cache *cache, const kvc_module *module,
                 kvc_sequence sequence, int64_t token_begin, int64_t token_end,
                 const kvc_parallel_for *threads, kvc_diag *diag,
                 const kvc_unpacked *parts, int64_t num_parts) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(cache, "cache", diag));
    KVC_TRY(requirePointer(module, "module", diag));
    KVC_TRY(requireKernel(module->unpack, "unpack", diag));
    if (cache->spec->hash != module->spec->hash)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "cache: expected the module's layout hash %s, got %s",
                  module->spec->hash.c_str(), cache->spec->hash.c_str());
    const spec::Spec &spec = module->spec->spec;
    auto expected = int64_t(spec.key.parts.size());
    if (spec.value)
      expected += int64_t(spec.value->parts.size());
    if (num_parts != expected || !parts)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "parts: expected the %lld of the spec's key and value, got "
                  "%lld",
                  static_cast<long long>(expected),
                  static_cast<long long>(parts ? num_parts : 0));
    std::vector<kvc_unpacked> wanted(static_cast<size_t>(expected));
    // The caller's structs are as far apart as the caller's header says.
    const size_t stride = parts->struct_size;
    const auto *at = reinterpret_cast<const char *>(parts);
    for (kvc_unpacked &part : wanted) {
      const auto *given = reinterpret_cast<const kvc_unpacked *>(at);
      KVC_TRY(readStruct(given, "parts", diag, part));
      if (given->struct_size != stride)
        return fail(diag, KVC_INVALID_ARGUMENT,
                    "parts: expected one struct_size, %zu, got %zu", stride,
                    given->struct_size);
      at += stride;
    }
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
    kvc_cache_view view = cache->viewOf(*found);
    const int64_t kept =
        std::max({view.key_coded_end, view.value_coded_end, found->reached}) -
        cache->ringTokens;
    if (cache->ringTokens && token_end > spec.segments.sink &&
        std::max(token_begin, spec.segments.sink) < kept)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "tokens: expected a range in the sink or from %lld on, which "
                  "the ring keeps, got %lld to %lld",
                  static_cast<long long>(kept),
                  static_cast<long long>(token_begin),
                  static_cast<long long>(token_end));
    return unpack(*cache, *module, *found, {token_begin, token_end}, threads,
                  diag, wanted);
  });
}
