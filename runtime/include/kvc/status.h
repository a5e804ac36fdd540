/*===- status.h - How every call answers --------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* Rules of the whole C API:
|*  - Every call but the two at the end of this file returns a kvc_status. No
|*    exception and no abort crosses the border, nothing is printed.
|*  - A call that fails changes nothing: no object, no output, no cache.
|*  - Out-parameters come last and are written only on KVC_OK.
|*  - Structs that may grow begin with `struct_size`, which the caller sets to
|*    sizeof of the struct as it knows it; fields that it does not know count as
|*    zero. Zero is the default of every field.
|*  - Handles are opaque. `*_free` of null is KVC_OK.
|*  - Unless a comment says otherwise, calls on different objects may run at the
|*    same time, and calls that take an object as const beside each other.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_STATUS_H_
#define KVC_STATUS_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define KVC_API __attribute__((visibility("default")))
#else
#define KVC_API
#endif

/** Enums are 32 bits wide, and any number that a caller passes is only a wrong
 *  number: in C++ that takes an underlying type, which C11 cannot say. */
#ifdef __cplusplus
#define KVC_ENUM_BASE : int32_t
#else
#define KVC_ENUM_BASE
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kvc_status KVC_ENUM_BASE {
  KVC_OK = 0,
  KVC_INVALID_ARGUMENT = 1, /**< The call is wrong: a null, a count. */
  KVC_INVALID_DATA = 2,     /**< What was read: a spec, a NaN, a file. */
  KVC_UNSUPPORTED = 3,      /**< Valid, but not for this object. */
  KVC_OUT_OF_BLOCKS = 4,    /**< The cache has too few free blocks. */
  KVC_STALE = 5,            /**< A handle of what no longer exists. */
  KVC_FAILED = 6,           /**< The system: memory, a thread, a file. */
  KVC_INEXACT_POSITION = 7, /**< A cut there would lose what was given. */
  KVC_WAIT = 8 /**< Blocks are there as soon as steps have retired. */
} kvc_status;

/** Where a failed call puts its message, "PLACE: what, expected, got". The
 *  buffer is the caller's. Every `kvc_diag *` of the API may be null. Calls
 *  that succeed leave it alone. One thread at a time writes to a kvc_diag. */
typedef struct kvc_diag {
  size_t struct_size; /**< sizeof(kvc_diag). */
  char *message;   /**< Zero-terminated and cut to `capacity`; may be null. */
  size_t capacity; /**< Bytes of `message`, the terminator included. */
  size_t length;   /**< Out: bytes of the whole message without terminator. */
} kvc_diag;

/** Initialiser of a kvc_diag over the array `buffer`. */
#define KVC_DIAG_INIT(buffer) {sizeof(kvc_diag), (buffer), sizeof(buffer), 0}

/** "ok", "invalid argument", .. ; "unknown status" for any other number. */
KVC_API const char *kvc_status_name(kvc_status status);

/** Version of the library, "0.1.0". */
KVC_API const char *kvc_version(void);

#ifdef __cplusplus
}
#endif

#endif /* KVC_STATUS_H_ */
