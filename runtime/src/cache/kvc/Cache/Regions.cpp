//===- Regions.cpp - Where the regions of a cache lie ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Cache/Regions.h"

#include "kvc/Base/Checked.h"
#include "kvc/Cache/DeviceTables.h"

using namespace kvc;
using spec::Tensor;

/// K and V of one run begin on cache lines of their own.
static constexpr int64_t kTensorAlignment = 64;

void kvc::placeTensor(const layout::TensorStrides &strides, uint8_t *base,
                      std::vector<kvc_region> &regions) {
  for (const layout::RegionStrides &region : strides.regions)
    regions.push_back({base ? base + region.offset : nullptr, region.pageStride,
                       region.headStride});
}

kvc_status ContiguousRun::allocate(const spec::Spec &spec,
                                   const kvc_device &device, int64_t tokens,
                                   bool isPoisoned, kvc_diag *diag) {
  layout::TensorStrides key =
      layout::tensorStrides(spec, Tensor::Key, familyOf(device), tokens);
  layout::TensorStrides value =
      layout::tensorStrides(spec, Tensor::Value, familyOf(device), tokens);
  int64_t keyBytes = divideCeil(key.bytes, kTensorAlignment) * kTensorAlignment;
  KVC_TRY(memory.allocate(device, keyBytes + value.bytes, diag));
  if (isPoisoned && memory.data())
    KVC_TRY(
        device.fill(device.self, memory.data(), 0xFF, memory.bytes(), diag));
  capacity = tokens;
  placeTensor(key, memory.data(), regions);
  placeTensor(value, memory.data() + keyBytes, regions);
  return KVC_OK;
}

static kvc_status copyRegion(const kvc_device &device, const kvc_region &from,
                             int64_t pages, int64_t heads, const kvc_region &to,
                             kvc_diag *diag) {
  if (pages == 0)
    return KVC_OK;
  // Heads inside of pages: the strides of both runs are the same.
  if (from.head_stride * heads <= from.page_stride)
    return device.copy(device.self, to.base, from.base,
                       pages * from.page_stride, diag);
  for (int64_t head = 0; head < heads; ++head)
    KVC_TRY(device.copy(device.self, to.base + head * to.head_stride,
                        from.base + head * from.head_stride,
                        pages * from.page_stride, diag));
  return KVC_OK;
}

kvc_status kvc::copyRun(const spec::Spec &spec, const kvc_device &device,
                        const ContiguousRun &from, int64_t tokens,
                        ContiguousRun &to, kvc_diag *diag) {
  int64_t heads = spec.attention.kvHeads;
  if (from.regions.empty() || tokens == 0)
    return KVC_OK;
  size_t first = 0;
  for (Tensor tensor : {Tensor::Key, Tensor::Value}) {
    layout::TensorStrides strides =
        layout::tensorStrides(spec, tensor, familyOf(device), from.capacity);
    layout::PageLayout layout =
        layout::pageLayout(spec, tensor, familyOf(device));
    size_t count = strides.regions.size();
    if (strides.record && count > 0) {
      // Regions lie in each other: one copy of them all.
      kvc_region source = from.regions[first], target = to.regions[first];
      source.base -= strides.regions[0].offset;
      target.base -= strides.regions[0].offset;
      KVC_TRY(copyRegion(device, source,
                         divideCeil(tokens, layout::kContiguousPageTokens),
                         heads, target, diag));
    } else {
      for (size_t i = 0; i < count; ++i)
        KVC_TRY(copyRegion(device, from.regions[first + i],
                           divideCeil(tokens, layout.regions[i].pageTokens),
                           heads, to.regions[first + i], diag));
    }
    first += count;
  }
  return KVC_OK;
}
