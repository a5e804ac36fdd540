//===- RowMask.cpp - Which bits of a page are whose -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Saved/RowMask.h"

#include "kvc/Layout/PageLayout.h"

using namespace kvc;
using namespace kvc::saved;
using layout::Region;
using layout::RegionKind;
using layout::RegionStrides;
using spec::Tensor;

/// What the elements of a region count beside tokens and heads.
static layout::Dim innerDim(RegionKind kind) {
  switch (kind) {
  case RegionKind::Codes:
  case RegionKind::HighCodes:
    return 'c';
  case RegionKind::Scales:
  case RegionKind::Zeros:
    return 'b';
  case RegionKind::OutlierIndices:
  case RegionKind::OutlierValues:
    return 'o';
  }
  return 'c';
}

void RowMask::mark(Tensor tensor, Span rows, std::vector<uint8_t> &bits) const {
  if (!spec::schemeOf(spec, tensor))
    return;
  constexpr auto kFamily = layout::TargetFamily::Host;
  const layout::PageLayout page = layout::pageLayout(spec, tensor, kFamily);
  const layout::TensorStrides strides =
      layout::tensorStrides(spec, tensor, kFamily, 0);
  // V's slice begins behind K's, unless both are one.
  const bool isBehind = tensor == Tensor::Value && !spec.layout.interleaved;
  const int64_t first = isBehind ? slices.bytes[0] : 0;
  for (size_t i = 0; i < page.regions.size(); ++i) {
    const Region &region = page.regions[i];
    const layout::Dim dim = innerDim(region.kind);
    // Addresses are sums over the dims.
    std::vector<int64_t> inner(size_t(extentOf(region.storage, dim)));
    for (size_t c = 0; c < inner.size(); ++c)
      inner[c] = bitAddressOf(region.storage, {{dim, int64_t(c)}});
    for (int64_t token = rows.begin; token < rows.end; ++token)
      for (int64_t head = 0; head < spec.attention.kvHeads; ++head) {
        const int64_t row = 8 * (first + strides.regions[i].offset +
                                 head * strides.regions[i].headStride) +
                            bitAddressOf(region.storage, {{'t', token}});
        for (const int64_t at : inner)
          for (int64_t bit = row + at;
               bit < row + at + int64_t(region.storage.width);) {
            const bool isByte =
                bit % 8 == 0 &&
                bit + 8 <= row + at + int64_t(region.storage.width);
            bits[size_t(bit / 8)] |= isByte ? 0xFF : uint8_t(1u << bit % 8);
            bit += isByte ? 8 : 1;
          }
      }
  }
}

const std::vector<uint8_t> &RowMask::of(const Rows &rows) {
  for (const Made &one : made)
    if (one.rows == rows)
      return one.bits;
  Made &one = made.emplace_back();
  one.rows = rows;
  one.bits.resize(size_t(slices.total()));
  mark(Tensor::Key, rows.key, one.bits);
  mark(Tensor::Value, rows.value, one.bits);
  return one.bits;
}

void RowMask::clearOthers(const Rows &rows, int64_t layers, uint8_t *bytes) {
  const std::vector<uint8_t> &bits = of(rows);
  for (int64_t layer = 0; layer < layers; ++layer)
    for (const uint8_t kept : bits)
      *bytes++ &= kept;
}

bool RowMask::isClearBeside(const Rows &rows, int64_t layers,
                            const uint8_t *bytes) {
  const std::vector<uint8_t> &bits = of(rows);
  uint8_t others = 0;
  for (int64_t layer = 0; layer < layers; ++layer)
    for (const uint8_t kept : bits)
      others |= uint8_t(*bytes++ & ~kept);
  return others == 0;
}
