//===- Diag.h - Failing across the C border ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Inside the runtime a function that can fail returns kvc_status and takes the
// caller's kvc_diag; `fail` writes the message and gives the status back, so
// that an error is one `return fail(..)`. Every public call runs in `guarded`.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_BASE_DIAG_H
#define KVC_BASE_DIAG_H

#include "kvc/status.h"

#include <new>

/// Leaves the function with the status of `call` unless it is KVC_OK.
#define KVC_TRY(call)                                                          \
  do {                                                                         \
    if (kvc_status kvcTryStatus = (call); kvcTryStatus != KVC_OK)              \
      return kvcTryStatus;                                                     \
  } while (false)

namespace kvc {

/// Writes a message "PLACE: what, expected X, got Y" and returns `status`.
/// Allocates nothing.
[[gnu::format(printf, 3, 4)]] kvc_status fail(kvc_diag *diag, kvc_status status,
                                              const char *format, ...) noexcept;

/// KVC_INVALID_ARGUMENT, "NAME: expected a pointer, got null", if it is null.
kvc_status requirePointer(const void *pointer, const char *name,
                          kvc_diag *diag) noexcept;

/// Runs the body of a public call; no exception leaves it.
template <typename Body>
kvc_status guarded(kvc_diag *diag, Body &&body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(diag, KVC_FAILED,
                "memory: the system has no more for this call");
  } catch (...) {
    return fail(diag, KVC_FAILED, "runtime: unexpected internal failure");
  }
}

} // namespace kvc

#endif // KVC_BASE_DIAG_H
