//===- Driver.cpp - What the backend calls of the CUDA driver -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <dlfcn.h>

using namespace kvc;
using namespace kvc::cuda;

kvc_status Driver::open(const char *library, kvc_diag *diag) {
  // Never closed: a driver has threads and state of its own.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *error = dlerror();
    return fail(diag, KVC_UNSUPPORTED, "cuda: expected a driver, got: %s",
                error ? error : library);
  }
#define KVC_CALL(SYMBOL, PARAMETERS)                                           \
  SYMBOL = reinterpret_cast<decltype(SYMBOL)>(dlsym(handle, #SYMBOL));         \
  if (!(SYMBOL))                                                               \
    return fail(diag, KVC_UNSUPPORTED,                                         \
                "cuda: expected a driver with " #SYMBOL ", got %s", library);
  KVC_CUDA_CALLS(KVC_CALL)
#undef KVC_CALL
  return KVC_OK;
}

kvc_status Driver::check(Result result, const char *what,
                         kvc_diag *diag) const {
  if (result == Success)
    return KVC_OK;
  const char *name = nullptr;
  if (cuGetErrorName(result, &name) != Success || !name)
    name = "an unknown error";
  return fail(diag, KVC_FAILED, "cuda: %s: expected success, got %s (%d)", what,
              name, static_cast<int>(result));
}
