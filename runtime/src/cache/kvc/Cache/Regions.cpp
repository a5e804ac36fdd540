//===- Regions.cpp - Where the regions of a cache lie ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Cache/Regions.h"

#include "kvc/Base/Checked.h"

using namespace kvc;
using layout::TargetFamily;
using spec::Tensor;

/// K and V of one run begin on cache lines of their own.
static constexpr int64_t kTensorAlignment = 64;

kvc_tensor_view kvc::placeTensor(const layout::PageLayout &layout,
                                 const layout::TensorStrides &strides,
                                 uint8_t *base) {
  kvc_tensor_view view = {};
  for (size_t i = 0; i < layout.regions.size(); ++i) {
    const layout::RegionStrides &from = strides.regions[i];
    kvc_region region = {base + from.offset, from.pageStride, from.headStride};
    switch (layout.regions[i].kind) {
    case layout::RegionKind::Codes:
      view.codes = region;
      break;
    case layout::RegionKind::Scales:
      view.scales = region;
      break;
    case layout::RegionKind::Zeros:
      view.zeros = region;
      break;
    }
  }
  return view;
}

kvc_status ContiguousRun::allocate(const spec::Spec &spec,
                                   const kvc_device &device, int64_t tokens,
                                   bool isPoisoned, kvc_diag *diag) {
  layout::TensorStrides key =
      layout::tensorStrides(spec, Tensor::Key, TargetFamily::Host, tokens);
  layout::TensorStrides value =
      layout::tensorStrides(spec, Tensor::Value, TargetFamily::Host, tokens);
  int64_t keyBytes = divideCeil(key.bytes, kTensorAlignment) * kTensorAlignment;
  KVC_TRY(memory.allocate(device, keyBytes + value.bytes, diag));
  if (isPoisoned && memory.data())
    KVC_TRY(
        device.fill(device.self, memory.data(), 0xFF, memory.bytes(), diag));
  capacity = tokens;
  view.key =
      placeTensor(layout::pageLayout(spec, Tensor::Key, TargetFamily::Host),
                  key, memory.data());
  view.value =
      placeTensor(layout::pageLayout(spec, Tensor::Value, TargetFamily::Host),
                  value, memory.data() + keyBytes);
  return KVC_OK;
}

static kvc_status copyRegion(const kvc_device &device, const kvc_region &from,
                             int64_t pages, int64_t heads, kvc_region &to,
                             kvc_diag *diag) {
  if (!from.base || pages == 0)
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
  int64_t pages = divideCeil(tokens, layout::kContiguousPageTokens);
  int64_t heads = spec.attention.kvHeads;
  auto copyTensor = [&](const kvc_tensor_view &source,
                        kvc_tensor_view &target) -> kvc_status {
    KVC_TRY(copyRegion(device, source.codes, pages, heads, target.codes, diag));
    KVC_TRY(
        copyRegion(device, source.scales, pages, heads, target.scales, diag));
    return copyRegion(device, source.zeros, pages, heads, target.zeros, diag);
  };
  KVC_TRY(copyTensor(from.view.key, to.view.key));
  return copyTensor(from.view.value, to.view.value);
}
