/*===- device.h - Where kernels run -------------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* A device is a table of functions; the library has the host's. A module is a
|* table of compiled kernels (kernel_abi.h) with its spec, made by the compiler
|* in memory or opened from an ahead-of-time object.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_DEVICE_H_
#define KVC_DEVICE_H_

#include "kvc/kernel_abi.h"
#include "kvc/spec.h"
#include "kvc/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/** `count` calls of one kernel, in any order and at the same time: call i gets
 *  the argument struct at `args + i * args_stride` bytes. */
typedef struct kvc_launch {
  kvc_kernel_fn function;
  const void *args;
  int64_t args_stride;
  int64_t count;
} kvc_launch;

/** A device. Functions may be called from several threads at once. Its memory
 * is what functions of this process can address, for kernels are such
 * functions. A status of `release` other than KVC_OK has no reader. */
typedef struct kvc_device {
  size_t struct_size;
  const char *name; /**< "host". */
  void *self;       /**< First argument of every function. */
  /** `bytes` > 0 bytes with unspecified content, aligned to 64 or more. */
  kvc_status (*allocate)(void *self, int64_t bytes, kvc_diag *diag,
                         void **memory);
  /** `bytes` as allocated. */
  kvc_status (*release)(void *self, void *memory, int64_t bytes);
  /** `bytes` bytes between two places of this device, which do not overlap. */
  kvc_status (*copy)(void *self, void *to, const void *from, int64_t bytes,
                     kvc_diag *diag);
  /** Sets `bytes` bytes to the low 8 bits of `byte`. */
  kvc_status (*fill)(void *self, void *to, int32_t byte, int64_t bytes,
                     kvc_diag *diag);
  /** Runs a list: launch i + 1 begins when all calls of launch i have returned.
   *  `threads` may be null. */
  kvc_status (*launch)(void *self, const kvc_launch *launches,
                       int64_t num_launches, const kvc_parallel_for *threads,
                       kvc_diag *diag);
} kvc_device;

/** The host. Lives as long as the process. */
KVC_API kvc_status kvc_host_device(const kvc_device **device);

/** Compiled kernels of one spec. Never changes. */
typedef struct kvc_module kvc_module;

/** Wraps `table`, which the compiler made in memory and which must outlive
 *  `*module`. KVC_UNSUPPORTED where abi_version is not this library's;
 *  KVC_INVALID_DATA where the table contradicts itself. The caller frees it. */
KVC_API kvc_status kvc_module_create(const kvc_module_table *table,
                                     kvc_diag *diag, kvc_module **module);

/** Opens the shared object at `path` and wraps the kvc_module_table that it
 *  exports as `symbol` (null: "kvc_module"). Freeing `*module` closes it. */
KVC_API kvc_status kvc_module_open(const char *path, const char *symbol,
                                   kvc_diag *diag, kvc_module **module);
/** A plan, or a spec that kvc_module_spec gave, may not be used afterwards. */
KVC_API kvc_status kvc_module_free(kvc_module *module);

/** The spec that the kernels were compiled for; owned by `module`. */
KVC_API kvc_status kvc_module_spec(const kvc_module *module, kvc_diag *diag,
                                   const kvc_spec **spec);
/** The table that `module` wraps. */
KVC_API kvc_status kvc_module_get_table(const kvc_module *module,
                                        kvc_diag *diag,
                                        const kvc_module_table **table);

#ifdef __cplusplus
}
#endif

#endif /* KVC_DEVICE_H_ */
