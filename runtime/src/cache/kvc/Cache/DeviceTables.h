//===- DeviceTables.h - What device kernels read of a cache -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CACHE_DEVICETABLES_H
#define KVC_CACHE_DEVICETABLES_H

#include "kvc/Devices/Memory.h"
#include "kvc/Layout/PageLayout.h"

#include <span>
#include <vector>

namespace kvc {

/// Whose order "auto" a cache on this device has.
inline layout::TargetFamily familyOf(const kvc_device &device) {
  return hasOwnMemory(device) ? layout::TargetFamily::Nvptx
                              : layout::TargetFamily::Host;
}

/// What never changes of a cache's view, copied to a device with memory of its
/// own; addresses of that. Null where there is nothing.
struct DeviceTables {
  const kvc_region *regions = nullptr;    ///< Of pages.
  const kvc_region *rawRegions = nullptr; ///< Of raw rows.
  const float *const *inputs = nullptr;

  kvc_status create(const kvc_device &device,
                    const std::vector<kvc_region> &pages,
                    const std::vector<kvc_region> &rawRows,
                    const std::vector<std::vector<float>> &rows,
                    kvc_diag *diag);

private:
  Memory memory;
};

} // namespace kvc

#endif // KVC_CACHE_DEVICETABLES_H
