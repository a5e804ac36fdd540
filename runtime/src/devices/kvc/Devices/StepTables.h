//===- StepTables.h - What the kernels of one step read ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Kernels on a device with memory of its own read everything that changes from
// step to step (arguments, page tables, lengths) in one buffer of the device,
// whose address never changes: a captured step reads what the buffer holds
// then. The host fills one of two buffers of its own and copies it over in the
// order of a stream, while the device may still work on the step before.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DEVICES_STEPTABLES_H
#define KVC_DEVICES_STEPTABLES_H

#include "kvc/Devices/Memory.h"

#include <vector>

namespace kvc {

class StepTables {
public:
  StepTables() = default;
  StepTables(const StepTables &) = delete;
  StepTables &operator=(const StepTables &) = delete;
  ~StepTables() { destroy(); }

  /// Makes an empty object a buffer of sections of so many bytes, all zeros.
  kvc_status create(const kvc_device &device, const std::vector<int64_t> &bytes,
                    kvc_diag *diag);
  /// Waits for its copies and makes it empty again.
  void destroy();
  bool isEmpty() const { return sections.empty(); }
  int64_t capacity(size_t section) const { return sections[section].bytes; }

  /// Begins a step. Waits while the copies of the last but one are under way.
  kvc_status begin(kvc_diag *diag);
  /// Adds `bytes` bytes to a section; `address` is where the device finds them.
  /// KVC_UNSUPPORTED, with `what` there is too much of, where they don't fit.
  kvc_status add(size_t section, const void *from, int64_t bytes,
                 const char *what, kvc_diag *diag, const void **address);
  /// Bytes that were added to a section in this step.
  int64_t used(size_t section) const { return sections[section].used; }
  /// The section's address on the device.
  const uint8_t *address(size_t section) const {
    return memory.data() + sections[section].begin;
  }
  /// Copies what was added. What earlier steps added behind it becomes zeros.
  kvc_status upload(void *stream, kvc_diag *diag);

private:
  struct Section {
    int64_t begin, bytes; ///< In the buffer.
    int64_t used = 0;
    int64_t filled = 0; ///< That are not zero on the device.
  };
  /// Memory of the host, and when the device has read it.
  struct Staging {
    uint8_t *data = nullptr;
    void *event = nullptr;
  };

  const kvc_device *device = nullptr;
  std::vector<Section> sections;
  Memory memory;
  Staging staging[2];
  size_t current = 0;
};

} // namespace kvc

#endif // KVC_DEVICES_STEPTABLES_H
