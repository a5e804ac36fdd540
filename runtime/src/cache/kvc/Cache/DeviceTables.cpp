//===- DeviceTables.cpp - What kernels on a device read of a cache --------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Cache/DeviceTables.h"

#include <cstring>

using namespace kvc;

kvc_status DeviceTables::create(const kvc_device &device,
                                const std::vector<kvc_region> &pages,
                                const std::vector<kvc_region> &rawRows,
                                const std::vector<std::vector<float>> &rows,
                                kvc_diag *diag) {
  constexpr size_t alignment = 16;
  std::vector<uint8_t> image;
  auto add = [&](const void *from, size_t bytes) {
    const size_t at = (image.size() + alignment - 1) / alignment * alignment;
    image.resize(at + bytes);
    if (bytes > 0)
      std::memcpy(image.data() + at, from, bytes);
    return at;
  };
  const size_t pagesAt = add(pages.data(), pages.size() * sizeof(kvc_region));
  const size_t rawAt = add(rawRows.data(), rawRows.size() * sizeof(kvc_region));
  std::vector<size_t> rowsAt;
  for (const std::vector<float> &each : rows)
    rowsAt.push_back(add(each.data(), each.size() * sizeof(float)));
  const size_t inputsAt = add(nullptr, 0);
  image.resize(inputsAt + rows.size() * sizeof(const float *));

  KVC_TRY(memory.allocate(device, int64_t(image.size()), diag));
  const uint8_t *base = memory.data();
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint8_t *row = base + rowsAt[i];
    std::memcpy(image.data() + inputsAt + i * sizeof(row), &row, sizeof(row));
  }
  KVC_TRY(
      copyToDevice(device, memory.data(), image.data(), memory.bytes(), diag));
  if (!pages.empty())
    regions = reinterpret_cast<const kvc_region *>(base + pagesAt);
  if (!rawRows.empty())
    rawRegions = reinterpret_cast<const kvc_region *>(base + rawAt);
  if (!rows.empty())
    inputs = reinterpret_cast<const float *const *>(base + inputsAt);
  return KVC_OK;
}
