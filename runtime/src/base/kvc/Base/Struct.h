//===- Struct.h - Structs that grow between versions ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A struct of the C API begins with its size as the caller knows it. A shorter
// one comes from an older header: what it lacks is zero. A longer one comes
// from a newer header and is accepted as long as nothing is said that this
// library would not hear.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_BASE_STRUCT_H
#define KVC_BASE_STRUCT_H

#include "kvc/Base/Diag.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace kvc {

/// No version of any struct is longer: what says so has never been set.
inline constexpr size_t kMaxStructBytes = 4096;

/// Checks what a struct of the caller's says of its own size.
inline kvc_status checkStructSize(size_t size, const char *place,
                                  kvc_diag *diag) {
  if (size >= sizeof(size_t) && size <= kMaxStructBytes)
    return KVC_OK;
  return fail(diag, KVC_INVALID_ARGUMENT,
              "%s.struct_size: expected sizeof of the struct, got %zu", place,
              size);
}

/// Reads a struct of the caller's into `read`; `place` names it in messages.
template <typename T>
kvc_status readStruct(const T *given, const char *place, kvc_diag *diag,
                      T &read) {
  static_assert(std::is_trivially_copyable_v<T> &&
                offsetof(T, struct_size) == 0);
  if (!given)
    return fail(diag, KVC_INVALID_ARGUMENT, "%s: expected a struct, got null",
                place);
  size_t size = given->struct_size;
  KVC_TRY(checkStructSize(size, place, diag));
  const char *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      return fail(diag, KVC_UNSUPPORTED,
                  "%s: byte %zu belongs to a field that this library does not "
                  "know, expected 0, got %d",
                  place, i, bytes[i]);
  read = T{};
  std::memcpy(&read, given, std::min(size, sizeof(T)));
  return KVC_OK;
}

/// Writes `value` to a struct of the caller's, as far as the caller knows it.
template <typename T>
kvc_status writeStruct(const T &value, const char *place, kvc_diag *diag,
                       T *target) {
  static_assert(std::is_trivially_copyable_v<T> &&
                offsetof(T, struct_size) == 0);
  if (!target)
    return fail(diag, KVC_INVALID_ARGUMENT, "%s: expected a struct, got null",
                place);
  size_t size = target->struct_size;
  KVC_TRY(checkStructSize(size, place, diag));
  char *bytes = reinterpret_cast<char *>(target);
  std::memcpy(bytes + sizeof(size_t),
              reinterpret_cast<const char *>(&value) + sizeof(size_t),
              std::min(size, sizeof(T)) - sizeof(size_t));
  if (size > sizeof(T))
    std::memset(bytes + sizeof(T), 0, size - sizeof(T));
  return KVC_OK;
}

} // namespace kvc

#endif // KVC_BASE_STRUCT_H
