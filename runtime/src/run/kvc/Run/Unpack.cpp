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
#include "kvc/Run/DeviceStep.h"
#include "kvc/Run/Items.h"
#include "kvc/runtime.h"

#include <algorithm>
#include <cstring>
#include <functional>

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
  kvc_unpack_part begin; ///< Where the kernel writes row 0.

  PartRows(const spec::PartScheme &part, int64_t rows)
      : channels(part.channels()), blocks(part.blocks()),
        outliers(part.outliers), isRaw(part.codec.isRaw()),
        hasZero(part.zero != spec::Zero::None), codes(size_t(rows * channels)),
        scales(size_t(rows * blocks)), zeros(size_t(rows * blocks)),
        values(size_t(rows * channels)),
        outlierIndices(size_t(rows * outliers)),
        outlierValues(size_t(rows * outliers)),
        begin{codes.data(),  scales.data(),         zeros.data(),
              values.data(), outlierIndices.data(), outlierValues.data()} {}

  /// What the kernel writes of the rows from `row` on.
  kvc_unpack_part from(int64_t row) const {
    return {begin.codes + row * channels,
            begin.scales + row * blocks,
            begin.zeros + row * blocks,
            begin.values + row * channels,
            begin.outlier_indices + row * outliers,
            begin.outlier_values + row * outliers};
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

/// The rows of all parts in the memory of a device that has its own.
class DeviceRows {
public:
  /// Has the kernel write there.
  kvc_status create(const kvc_device &on, std::vector<PartRows> &parts,
                    kvc_diag *diag) {
    device = &on;
    int64_t bytes = 0;
    for (PartRows &part : parts) {
      add(part.codes, part.begin.codes, bytes);
      add(part.scales, part.begin.scales, bytes);
      add(part.zeros, part.begin.zeros, bytes);
      add(part.values, part.begin.values, bytes);
      add(part.outlierIndices, part.begin.outlier_indices, bytes);
      add(part.outlierValues, part.begin.outlier_values, bytes);
    }
    KVC_TRY(memory.allocate(on, bytes, diag));
    // What a part lacks is not written, but copied.
    KVC_TRY(on.fill(on.self, memory.data(), 0, bytes, diag));
    for (const Array &array : arrays)
      array.point(memory.data() + array.offset);
    return KVC_OK;
  }
  /// After the kernel: to where the host reads them.
  kvc_status fetch(kvc_diag *diag) const {
    for (const Array &array : arrays)
      KVC_TRY(copyFromDevice(*device, array.host, memory.data() + array.offset,
                             array.bytes, diag));
    return KVC_OK;
  }

private:
  struct Array {
    void *host;
    int64_t offset, bytes;
    std::function<void(uint8_t *)> point;
  };

  template <typename T>
  void add(std::vector<T> &rows, T *&begin, int64_t &bytes) {
    const auto size = int64_t(rows.size() * sizeof(T));
    arrays.push_back({rows.data(), bytes, size, [&begin](uint8_t *at) {
                        begin = reinterpret_cast<T *>(at);
                      }});
    bytes += divideCeil(size, 64) * 64;
  }

  const kvc_device *device = nullptr;
  Memory memory;
  std::vector<Array> arrays;
};

/// One round of unpacking on a device with memory of its own.
class DeviceUnpack {
public:
  kvc_status create(const kvc_cache &of, const kvc_module &module,
                    const ViewExtent &extentOf, int64_t itemBytes,
                    std::vector<PartRows> &parts, kvc_diag *diag) {
    cache = &of;
    info = module.unpack;
    extent = extentOf;
    KVC_TRY(module.codeOn(*of.device, diag, code));
    std::vector<int64_t> bytes(NumSections, 0);
    bytes[AppendItems] = itemBytes;
    bytes[Views] = viewBytes(extent.regions, of.raw.has_value());
    bytes[Pages] = pageBytes(extent.pages) + pageBytes(extent.rawPages);
    KVC_TRY(tables.create(*of.device, bytes, diag));
    return rows.create(*of.device, parts, diag);
  }
  kvc_status run(const kvc_cache_view &view, std::vector<std::byte> &items,
                 int64_t count, kvc_diag *diag) {
    KVC_TRY(tables.begin(diag));
    ViewPlacer views(tables);
    kvc_cache_view placed = view;
    KVC_TRY(views.place(*cache, extent, diag, placed));
    const size_t stride = items.size() / size_t(count);
    for (size_t at = 0; at < items.size(); at += stride)
      std::memcpy(items.data() + at, &placed, sizeof(placed));
    const void *address = nullptr;
    KVC_TRY(tables.add(AppendItems, items.data(), int64_t(items.size()),
                       "items", diag, &address));
    // Rows may still be written in the order of any stream.
    KVC_TRY(cache->device->synchronize(cache->device->self, diag));
    KVC_TRY(tables.upload(nullptr, diag));
    KVC_TRY(launchItems(*cache->device, nullptr, code->unpack, *info, address,
                        count, diag));
    return rows.fetch(diag);
  }

private:
  const kvc_cache *cache = nullptr;
  const kvc_kernel_info *info = nullptr;
  const DeviceCode *code = nullptr;
  ViewExtent extent;
  StepTables tables;
  DeviceRows rows;
};

kvc_status unpack(const kvc_cache &cache, const kvc_module &module,
                  const Sequence &sequence, Range tokens,
                  const kvc_parallel_for *threads, kvc_diag *diag,
                  const std::vector<kvc_unpacked> &wanted) {
  int64_t heads = module.spec->spec.attention.kvHeads;
  std::vector<PartRows> parts = partsOf(module.spec->spec);
  const size_t argBytes =
      sizeof(kvc_unpack_args) + parts.size() * sizeof(kvc_unpack_part);
  std::vector<std::byte> args(argBytes * size_t(heads));
  DeviceUnpack onDevice;
  if (cache.hasOwnMemory())
    KVC_TRY(onDevice.create(cache, module, cache.extentOf(sequence),
                            int64_t(args.size()), parts, diag));
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
    if (cache.hasOwnMemory())
      KVC_TRY(onDevice.run(cache.viewOf(sequence), args, heads, diag));
    else
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
    KVC_TRY(requireDevice(*module, *cache->device, diag));
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
