//===- Guard.cpp - Memory that ends at a page no one may touch ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Guard.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#if KVC_TEST_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#endif

using namespace kvc::test;

GuardedRuns::GuardedRuns(int64_t count, int64_t bytes, int64_t stride)
    : count(count) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  auto toPages = [page](int64_t size) {
    return (size + page - 1) / page * page;
  };
  const int64_t usable = toPages(bytes);
  guarded = usable + page;
  step = std::max(guarded, toPages(stride));
  inset = usable - bytes;
  // A mapping of nothing would be refused.
  mappedBytes = size_t(std::max<int64_t>(count, 1) * step);
  void *mapped = mmap(nullptr, mappedBytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::bad_alloc();
  mapping = static_cast<uint8_t *>(mapped);
  for (int64_t i = 0; i < count && usable > 0; ++i) {
    if (mprotect(mapping + i * step, size_t(usable), PROT_READ | PROT_WRITE))
      throw std::bad_alloc();
    std::memset(mapping + i * step, 0xFF, size_t(usable));
  }
  for (int64_t i = 0; i < count; ++i) {
    ASAN_POISON_MEMORY_REGION(mapping + i * step, size_t(guarded));
    ASAN_UNPOISON_MEMORY_REGION(run(i), size_t(bytes));
  }
}

GuardedRuns::~GuardedRuns() {
  if (!mapping)
    return;
  // For whatever is mapped here next.
  for (int64_t i = 0; i < count; ++i)
    ASAN_UNPOISON_MEMORY_REGION(mapping + i * step, size_t(guarded));
  munmap(mapping, mappedBytes);
}

GuardedRuns::GuardedRuns(GuardedRuns &&other) noexcept
    : mapping(std::exchange(other.mapping, nullptr)),
      mappedBytes(other.mappedBytes), count(other.count), step(other.step),
      inset(other.inset), guarded(other.guarded) {}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

static constexpr int64_t kDeviceAlignment = 64;

static int64_t aligned(int64_t bytes) {
  return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

GuardedDevice::GuardedDevice() {
  const kvc_device *host = nullptr;
  kvc_host_device(&host);
  // The host's other functions need no state of their own.
  device = *host;
  device.self = this;
  device.allocate = allocate;
  device.release = release;
}

kvc_status GuardedDevice::allocate(void *self, int64_t bytes, kvc_diag *,
                                   void **memory) {
  auto &live = static_cast<GuardedDevice *>(self)->live;
  try {
    live.emplace_back(aligned(bytes));
  } catch (const std::bad_alloc &) {
    return KVC_FAILED;
  }
  *memory = live.back().data();
  ASAN_POISON_MEMORY_REGION(live.back().data() + bytes,
                            size_t(aligned(bytes) - bytes));
  return KVC_OK;
}

kvc_status GuardedDevice::release(void *self, void *memory, int64_t bytes) {
  auto *device = static_cast<GuardedDevice *>(self);
  auto found = std::find_if(
      device->live.begin(), device->live.end(),
      [&](const GuardedBuffer &buffer) { return buffer.data() == memory; });
  if (found == device->live.end() ||
      int64_t(found->bytes().size()) != aligned(bytes))
    return KVC_INVALID_ARGUMENT;
  auto behind = found->bytes().subspan(size_t(bytes));
  ASAN_UNPOISON_MEMORY_REGION(behind.data(), behind.size());
  if (std::any_of(behind.begin(), behind.end(),
                  [](uint8_t byte) { return byte != 0xFF; }))
    ++device->numOverruns;
  device->live.erase(found);
  return KVC_OK;
}
