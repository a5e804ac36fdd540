//===- InitCalls.cpp - The driver itself ----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"
#include "kvc/Driver/Exports.h"

#include <cstdio>

using namespace kvc::driver;

CUresult calls::init(unsigned int flags) {
  return flags == 0 ? startDriver() : CUDA_ERROR_INVALID_VALUE;
}

CUresult calls::driverGetVersion(int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = kVersion;
  return CUDA_SUCCESS;
}

CUresult calls::getErrorName(CUresult error, const char **name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  *name = nameOf(error);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult calls::getErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  switch (error) {
#define KVC_ERROR(NAME, VALUE, TEXT)                                           \
  case NAME:                                                                   \
    *text = TEXT;                                                              \
    break;
#include "kvc/Driver/Errors.def"
#undef KVC_ERROR
  }
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------===//
// Calls by name
//===----------------------------------------------------------------------===//

/// A name without "_v2".
static std::string_view withoutVersion(std::string_view name) {
  const size_t at = name.rfind("_v");
  return at != std::string_view::npos && at + 3 == name.size()
             ? name.substr(0, at)
             : name;
}

CUresult
calls::getProcAddressAndStatus(const char *symbol, void **function, int version,
                               cuuint64_t flags,
                               CUdriverProcAddressQueryResult *status) {
  if (!symbol || !function ||
      (flags & ~cuuint64_t(CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)))
    return CUDA_ERROR_INVALID_VALUE;
  const std::string_view name = symbol;
  const Exported *best = nullptr;
  bool isKnown = false;
  for (const Exported &each : allCalls()) {
    if (each.name != name)
      continue;
    isKnown = true;
    if (each.version <= version && (!best || each.version > best->version))
      best = &each;
  }
  if (!best) {
    // Names stand in order, so the newest of a name is its last.
    for (const Exported &each : missingCalls())
      if (each.name == name || withoutVersion(each.name) == name)
        best = &each;
    isKnown |= best != nullptr;
  }
  *function = nullptr;
  if (best)
    *function = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) &&
                        best->ofThread
                    ? best->ofThread
                    : best->function;
  if (status)
    *status = best      ? CU_GET_PROC_ADDRESS_SUCCESS
              : isKnown ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                        : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (best || status)
    return CUDA_SUCCESS;
  return because(CUDA_ERROR_NOT_FOUND, std::string(name));
}

CUresult calls::getProcAddress(const char *symbol, void **function, int version,
                               cuuint64_t flags) {
  return getProcAddressAndStatus(symbol, function, version, flags, nullptr);
}

CUresult calls::getExportTable(const void **table, const CUuuid *id) {
  if (!table || !id)
    return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  std::string text;
  for (unsigned char byte : id->bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    text += digits;
  }
  return refuse("cuGetExportTable of the runtime API's private table " + text +
                " (programs of the driver API alone can run)");
}

//===----------------------------------------------------------------------===//
// Profilers: there is nothing to start
//===----------------------------------------------------------------------===//

CUresult calls::profilerInitialize(const char *, const char *, CUoutput_mode) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult calls::profilerStart() { return CUDA_SUCCESS; }
CUresult calls::profilerStop() { return CUDA_SUCCESS; }
