//===- StepTables.cpp - What the kernels of one step read -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Devices/StepTables.h"

#include "kvc/Base/Checked.h"

#include <cstring>

using namespace kvc;

namespace {

/// What is added begins at multiples of it, sections too.
constexpr int64_t kTableAlignment = 16;

constexpr int64_t aligned(int64_t bytes) {
  return divideCeil(bytes, kTableAlignment) * kTableAlignment;
}

} // namespace

kvc_status StepTables::create(const kvc_device &from,
                              const std::vector<int64_t> &bytes,
                              kvc_diag *diag) {
  device = &from;
  int64_t all = 0;
  for (int64_t each : bytes) {
    sections.push_back({all, aligned(each)});
    all += aligned(each);
  }
  kvc_status status = memory.allocate(from, all, diag);
  if (status == KVC_OK && all > 0)
    status = from.fill(from.self, memory.data(), 0, all, diag);
  for (Staging &each : staging) {
    void *data = nullptr;
    if (status == KVC_OK && all > 0)
      status = from.allocate_host(from.self, all, diag, &data);
    each.data = static_cast<uint8_t *>(data);
    if (status == KVC_OK)
      status = from.event_create(from.self, diag, &each.event);
  }
  if (status != KVC_OK)
    destroy();
  return status;
}

void StepTables::destroy() {
  for (Staging &each : staging) {
    if (each.event) {
      device->event_synchronize(device->self, each.event, nullptr);
      device->event_destroy(device->self, each.event);
    }
    if (each.data)
      device->release_host(device->self, each.data);
    each = Staging();
  }
  memory = Memory();
  sections.clear();
}

kvc_status StepTables::begin(kvc_diag *diag) {
  current = 1 - current;
  for (Section &section : sections)
    section.used = 0;
  return device->event_synchronize(device->self, staging[current].event, diag);
}

kvc_status StepTables::add(size_t index, const void *from, int64_t bytes,
                           const char *what, kvc_diag *diag,
                           const void **address) {
  Section &section = sections[index];
  if (bytes > section.bytes - section.used)
    return fail(diag, KVC_UNSUPPORTED,
                "batch: expected %s of at most the plan's %lld bytes, got more",
                what, static_cast<long long>(section.bytes));
  const int64_t at = section.begin + section.used;
  if (bytes > 0)
    std::memcpy(staging[current].data + at, from, size_t(bytes));
  section.used = std::min(aligned(section.used + bytes), section.bytes);
  *address = memory.data() + at;
  return KVC_OK;
}

kvc_status StepTables::upload(void *stream, kvc_diag *diag) {
  Staging &from = staging[current];
  for (Section &section : sections) {
    const int64_t bytes = std::max(section.used, section.filled);
    if (bytes == 0)
      continue;
    uint8_t *begin = from.data + section.begin;
    std::memset(begin + section.used, 0, size_t(bytes - section.used));
    KVC_TRY(device->copy_async(device->self, stream, KVC_COPY_TO_DEVICE,
                               memory.data() + section.begin, begin, bytes,
                               diag));
    section.filled = section.used;
  }
  return device->event_record(device->self, from.event, stream, diag);
}
