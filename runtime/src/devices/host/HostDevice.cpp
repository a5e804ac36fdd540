//===- HostDevice.cpp - The host behind the device table ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Checked.h"
#include "kvc/Base/Diag.h"
#include "kvc/device.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace kvc;

namespace {

/// From here on memory comes straight from the system: as zero pages that cost
/// nothing until they are touched, and in huge pages where it has them, since a
/// decode reads all of it once per step and would miss the TLB on every page.
constexpr int64_t kMappedBytes = int64_t(2) << 20;
constexpr int64_t kAlignment = 64;

kvc_status allocate(void *, int64_t bytes, kvc_diag *diag, void **memory) {
  void *result = nullptr;
  if (bytes >= kMappedBytes) {
    result = mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (result == MAP_FAILED)
      result = nullptr;
    else
      madvise(result, size_t(bytes), MADV_HUGEPAGE);
  } else if (bytes > 0) {
    result = std::aligned_alloc(
        kAlignment, size_t(divideCeil(bytes, kAlignment) * kAlignment));
  }
  if (!result)
    return fail(diag, KVC_FAILED, "memory: expected %lld bytes, got none",
                static_cast<long long>(bytes));
  *memory = result;
  return KVC_OK;
}

kvc_status release(void *, void *memory, int64_t bytes) {
  if (bytes >= kMappedBytes)
    return munmap(memory, size_t(bytes)) == 0 ? KVC_OK : KVC_INVALID_ARGUMENT;
  std::free(memory);
  return KVC_OK;
}

kvc_status copy(void *, void *to, const void *from, int64_t bytes, kvc_diag *) {
  std::memcpy(to, from, size_t(bytes));
  return KVC_OK;
}

kvc_status fill(void *, void *to, int32_t byte, int64_t bytes, kvc_diag *) {
  std::memset(to, byte, size_t(bytes));
  return KVC_OK;
}

void call(void *ctx, int64_t index) {
  const kvc_launch &launch = *static_cast<const kvc_launch *>(ctx);
  launch.function(static_cast<const char *>(launch.args) +
                  index * launch.args_stride);
}

kvc_status launch(void *, const kvc_launch *launches, int64_t num_launches,
                  const kvc_parallel_for *threads, kvc_diag *) {
  for (int64_t i = 0; i < num_launches; ++i) {
    kvc_launch current = launches[i];
    if (threads && current.count > 1)
      threads->run(threads->user, current.count, call, &current);
    else
      for (int64_t index = 0; index < current.count; ++index)
        call(&current, index);
  }
  return KVC_OK;
}

constexpr kvc_device makeHost() {
  kvc_device host = {};
  host.struct_size = sizeof(kvc_device);
  host.name = "host";
  host.allocate = allocate;
  host.release = release;
  host.copy = copy;
  host.fill = fill;
  host.launch = launch;
  return host;
}

constexpr kvc_device kHost = makeHost();

} // namespace

extern "C" kvc_status kvc_host_device(const kvc_device **device) {
  if (!device)
    return KVC_INVALID_ARGUMENT;
  *device = &kHost;
  return KVC_OK;
}
