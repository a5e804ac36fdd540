//===- Status.cpp - Names and messages of statuses ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Diag.h"

#include <cstdarg>
#include <cstdio>

kvc_status kvc::fail(kvc_diag *diag, kvc_status status, const char *format,
                     ...) noexcept {
  if (!diag || diag->struct_size < sizeof(kvc_diag))
    return status;
  char none[1];
  bool hasRoom = diag->message && diag->capacity > 0;
  va_list args;
  va_start(args, format);
  int length =
      std::vsnprintf(hasRoom ? diag->message : none,
                     hasRoom ? diag->capacity : sizeof(none), format, args);
  va_end(args);
  diag->length = length > 0 ? static_cast<size_t>(length) : 0;
  return status;
}

kvc_status kvc::requirePointer(const void *pointer, const char *name,
                               kvc_diag *diag) noexcept {
  return pointer ? KVC_OK
                 : fail(diag, KVC_INVALID_ARGUMENT,
                        "%s: expected a pointer, got null", name);
}

extern "C" const char *kvc_status_name(kvc_status status) {
  switch (status) {
  case KVC_OK:
    return "ok";
  case KVC_INVALID_ARGUMENT:
    return "invalid argument";
  case KVC_INVALID_DATA:
    return "invalid data";
  case KVC_UNSUPPORTED:
    return "unsupported";
  case KVC_OUT_OF_BLOCKS:
    return "out of blocks";
  case KVC_STALE:
    return "stale handle";
  case KVC_FAILED:
    return "failed";
  case KVC_INEXACT_POSITION:
    return "inexact position";
  case KVC_WAIT:
    return "wait";
  }
  return "unknown status";
}

extern "C" const char *kvc_version(void) { return KVC_VERSION; }
