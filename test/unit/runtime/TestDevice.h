//===- TestDevice.h - A device that looks closely ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIME_TESTDEVICE_H
#define KVC_TEST_UNIT_RUNTIME_TESTDEVICE_H

#include "kvc/device.h"

#include <cstring>
#include <vector>

namespace kvc::test {

/// The host, but calls of one launch run last to first (they may run in any
/// order), and what is written behind an allocation is counted.
class TestDevice {
public:
  TestDevice() {
    kvc_host_device(&host);
    device = *host;
    device.self = this;
    device.allocate = [](void *self, int64_t bytes, kvc_diag *diag,
                         void **memory) {
      const kvc_device *host = static_cast<TestDevice *>(self)->host;
      kvc_status status =
          host->allocate(host->self, bytes + kGuard, diag, memory);
      if (status == KVC_OK)
        std::memset(static_cast<char *>(*memory) + bytes, kMark, kGuard);
      return status;
    };
    device.release = [](void *self, void *memory, int64_t bytes) {
      auto *test = static_cast<TestDevice *>(self);
      auto *guard = static_cast<unsigned char *>(memory) + bytes;
      for (int64_t i = 0; i < kGuard; ++i)
        test->writesBehind += guard[i] != kMark;
      return test->host->release(test->host->self, memory, bytes + kGuard);
    };
    device.launch = [](void *self, const kvc_launch *launches, int64_t count,
                       const kvc_parallel_for *, kvc_diag *) {
      for (int64_t i = 0; i < count; ++i) {
        static_cast<TestDevice *>(self)->launched.push_back(launches[i].count);
        for (int64_t call = launches[i].count; call-- > 0;)
          launches[i].function(static_cast<const char *>(launches[i].args) +
                               call * launches[i].args_stride);
      }
      return KVC_OK;
    };
  }

  const kvc_device *get() const { return &device; }

  std::vector<int64_t> launched; ///< Calls of each launch.
  int64_t writesBehind = 0;      ///< Bytes behind released memory.

private:
  static constexpr int64_t kGuard = 1 << 16;
  static constexpr unsigned char kMark = 0xAB;

  const kvc_device *host = nullptr;
  kvc_device device;
};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIME_TESTDEVICE_H
