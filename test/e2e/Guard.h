//===- Guard.h - Memory that ends at a page no one may touch ----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Generated code is not instrumented by default, so the tests let the memory
// management unit check it: every buffer that a kernel gets ends where an
// inaccessible page begins, and is filled with 0xFF (NaN in every float type,
// -1 in every integer) before anyone writes to it. Under AddressSanitizer,
// where kernels are instrumented, what lies before a buffer is poisoned too
// (all but up to 7 bytes, where a buffer does not begin at a multiple of 8).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_E2E_GUARD_H
#define KVC_TEST_E2E_GUARD_H

#include "kvc/Test/Sanitizers.h"
#include "kvc/device.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>

namespace kvc::test {

/// `count` runs of `bytes` bytes, each of which ends at an inaccessible page.
/// Of a larger `stride` than they need only the runs themselves take memory.
class GuardedRuns {
public:
  GuardedRuns(int64_t count, int64_t bytes, int64_t stride = 0);
  ~GuardedRuns();
  GuardedRuns(GuardedRuns &&other) noexcept;
  GuardedRuns(const GuardedRuns &) = delete;
  GuardedRuns &operator=(const GuardedRuns &) = delete;

  uint8_t *run(int64_t i) const { return mapping + inset + i * step; }
  /// Bytes between runs.
  int64_t stride() const { return step; }

private:
  uint8_t *mapping = nullptr;
  size_t mappedBytes = 0;
  int64_t count = 0, step = 0, inset = 0, guarded = 0;
};

/// One run.
class GuardedBuffer {
public:
  explicit GuardedBuffer(int64_t bytes) : runs(1, bytes), size(bytes) {}
  uint8_t *data() const { return runs.run(0); }
  std::span<uint8_t> bytes() const { return {data(), size_t(size)}; }

private:
  GuardedRuns runs;
  int64_t size;
};

/// The host, except that what it allocates is guarded. Allocations begin at
/// multiples of 64, so up to 63 bytes lie between an end and its guard page;
/// release() checks that no one wrote to them, AddressSanitizer that no one
/// touches them.
class GuardedDevice {
public:
  GuardedDevice();
  const kvc_device *get() const { return &device; }
  /// Allocations with something written behind them.
  int64_t overruns() const { return numOverruns; }

private:
  static kvc_status allocate(void *self, int64_t bytes, kvc_diag *diag,
                             void **memory);
  static kvc_status release(void *self, void *memory, int64_t bytes);

  kvc_device device{};
  std::list<GuardedBuffer> live;
  int64_t numOverruns = 0;
};

} // namespace kvc::test

#endif // KVC_TEST_E2E_GUARD_H
