//===- Exports.h - The library's symbols by name ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DRIVER_EXPORTS_H
#define KVC_DRIVER_EXPORTS_H

#include "kvc/Driver/Types.h"

#include <span>
#include <string_view>

namespace kvc::driver {

struct Exported {
  std::string_view name; ///< Without a version.
  int version = 0;       ///< Of CUDA, from which on this is meant.
  void *function = nullptr;
  void *ofThread = nullptr; ///< The one whose stream 0 is the thread's own.
};
std::span<const Exported> allCalls();
/// Names with their version, 0 beside all.
std::span<const Exported> missingCalls();

/// Null for a number that is no result.
const char *nameOf(CUresult result);

} // namespace kvc::driver

#endif // KVC_DRIVER_EXPORTS_H
