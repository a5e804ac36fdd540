//===- PageLayout.h - The bytes of a cache ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The one computation of where a cache keeps its bytes: the append kernel, the
// attention kernel, the runtime and the documentation's tables all read it.
//
// A tensor (K or V) is a few *regions*: codes, scales, zeros, outliers, for
// each part of its scheme. Inside a region the element (token t, kv head h,
// channel c) of a page is at
//
//   region base + page number * page stride + h * head stride + in-page bytes
//
// where base, page stride and head stride are run-time values (kvc_region of
// kernel_abi.h) and the in-page bytes follow from `storage`, whose address
// digits are those of t (below pageTokens) and c (b for metadata) and, in
// orders that keep heads inside a row, h.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_LAYOUT_PAGELAYOUT_H
#define KVC_LAYOUT_PAGELAYOUT_H

#include "kvc/Layout/Derive.h"
#include "kvc/Layout/Layout.h"
#include "kvc/Spec/Spec.h"

namespace kvc::layout {

/// Machines whose kernels share one cache. All x86 levels and the portable path
/// are one family.
enum class TargetFamily : uint8_t { Host, Nvptx };

/// Tokens in a page of a contiguous cache.
inline constexpr int64_t kContiguousPageTokens = 64;
/// Every region begins at a multiple of this many bytes and page slices are
/// multiples of it.
inline constexpr int64_t kRegionAlignment = 16;

/// What the dot product of a family wants of one tensor: K is summed over its
/// channels, V over its tokens.
struct DotOperand {
  RegisterLayout layout; ///< Of `tokens` x `channels`.
  ElementForm element;
  std::vector<Role> roles;
  DeriveOptions options;

  /// The order in which plain loads deliver the operand, or nothing.
  std::optional<Storage> storage() const {
    return deriveStorage(layout, roles, options);
  }
};

/// Nothing if the tile is no multiple of the operand's fragment or the codec's
/// codes have no conversion to the family's operands.
std::optional<DotOperand> dotOperand(const spec::Codec &codec,
                                     spec::Tensor tensor, int64_t channels,
                                     int64_t tokens, TargetFamily family);

enum class RegionKind : uint8_t {
  Codes,
  Scales,
  Zeros,
  HighCodes, ///< Bits of codes that lie apart from the lower ones.
  OutlierIndices,
  OutlierValues
};

/// Bits of a code in `Codes`; those above lie in `HighCodes`.
unsigned lowBits(const spec::Layout &layout, const spec::Codec &codec);
/// "codes", "scales", "zeros".
std::string_view nameOf(RegionKind kind);

struct Region {
  RegionKind kind;
  unsigned part = 0; ///< Index into Scheme::parts.
  /// Digits of t in [0, pageTokens), of c (codes), b (metadata) or o
  /// (outliers), and of h. The t digits of metadata begin at the tokens of a
  /// scale block. h is absent where its stride depends on the capacity:
  /// contiguous "hnd". Kernels take the terms of t and c or b (termsOf with
  /// dims) and add RegionStrides for the rest.
  Storage storage;
  /// Bytes from the start of the page slice; of contiguous caches those inside
  /// of a record.
  int64_t offset = 0;
  /// Tokens of a page of this region: those of the layout, but contiguous
  /// metadata whose scale blocks do not divide them have pages of one block.
  int64_t pageTokens = 0;
};

/// How the page slice of one tensor is laid out.
struct PageLayout {
  /// Tokens of a page; contiguous caches count pages of 64.
  int64_t pageTokens = 0;
  std::vector<Region> regions;
  int64_t bytes = 0; ///< Size of one page slice, a multiple of 16; paged only.

  const Region &region(RegionKind kind, unsigned part = 0) const;
  bool has(RegionKind kind, unsigned part = 0) const;
};

/// The layout of a tensor of a spec. A value that is the key has no regions and
/// no bytes.
PageLayout pageLayout(const spec::Spec &spec, spec::Tensor tensor,
                      TargetFamily family);

/// Where a region stands in `regions` of a kvc_cache_view: the key's come
/// first, then the value's, each in the order of their page layout.
unsigned regionNumber(const spec::Spec &spec, spec::Tensor tensor,
                      RegionKind kind, unsigned part, TargetFamily family);

/// Run-time numbers of one region: what a kvc_region holds besides its base.
/// Interleaved pages hold K's slice, then V's: there both tensors share one
/// memory, V's offsets begin behind K's slice, and the page stride is that of
/// whole pages.
struct RegionStrides {
  int64_t offset;     ///< Bytes from the tensor's memory to the region.
  int64_t pageStride; ///< Bytes between pages.
  int64_t headStride; ///< Bytes between kv heads.
};

/// Strides of every region (in `regions` order) and the total bytes of one
/// tensor of a contiguous cache that holds `capacity` body tokens (a multiple
/// of 64); for paged caches `capacity` is ignored and `bytes` is the page
/// slice.
struct TensorStrides {
  std::vector<RegionStrides> regions;
  int64_t bytes = 0;
  int64_t record = 0; ///< Bytes of a token and head, where its elements of all
                      ///< regions lie together; otherwise 0.
};
TensorStrides tensorStrides(const spec::Spec &spec, spec::Tensor tensor,
                            TargetFamily family, int64_t capacity);

/// Bytes of one page of all tensors (K and V, interleaved or not); of a
/// contiguous cache the bytes of 64 tokens.
int64_t pageBytes(const spec::Spec &spec, TargetFamily family);

/// A Markdown table of every region: element bits, offset in the page slice and
/// order, lowest digit first.
std::string layoutTable(const spec::Spec &spec, TargetFamily family);

} // namespace kvc::layout

#endif // KVC_LAYOUT_PAGELAYOUT_H
