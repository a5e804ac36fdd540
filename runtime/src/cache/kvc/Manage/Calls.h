//===- Calls.h - The frame of a public call ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_CALLS_H
#define KVC_MANAGE_CALLS_H

#include "kvc/Manage/Manager.h"

namespace kvc::manage {

/// Runs a call that changes the manager.
template <typename Body>
kvc_status mutate(kvc_manager *manager, kvc_diag *diag, Body &&body) noexcept {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(manager, "manager", diag));
    std::unique_lock lock(manager->mutex, std::defer_lock);
    if (manager->isLocked)
      lock.lock();
    return body(*manager);
  });
}

/// Runs a call that does not.
template <typename Body>
kvc_status probe(const kvc_manager *manager, kvc_diag *diag,
                 Body &&body) noexcept {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(manager, "manager", diag));
    std::shared_lock lock(manager->mutex, std::defer_lock);
    if (manager->isLocked)
      lock.lock();
    return body(*manager);
  });
}

} // namespace kvc::manage

#endif // KVC_MANAGE_CALLS_H
