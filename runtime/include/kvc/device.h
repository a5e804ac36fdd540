/*===- device.h - Where kernels run -------------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* A device is a table of functions; the library has the host's and that of CUDA
|* devices (cuda.h). A module is a table of compiled kernels (kernel_abi.h) with
|* its spec, made by the compiler in memory or opened from an ahead-of-time
|* object.
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

enum {
  /** The device has memory of its own: addresses that it gives mean nothing to
   *  this process, and kernels are code that it loads. */
  KVC_DEVICE_OWN_MEMORY = 1
};

/** What plans need to know of a device with memory of its own. */
typedef struct kvc_device_info {
  size_t struct_size;
  char name[64];           /**< "NVIDIA H100", .. */
  int32_t capability;      /**< 10 * major + minor: 80, 90, .. */
  int32_t multiprocessors; /**< That run blocks at the same time. */
  int64_t memory_bytes;
} kvc_device_info;

/** Which memory a copy reads and writes. */
typedef enum kvc_copy_kind {
  KVC_COPY_TO_DEVICE = 0,
  KVC_COPY_FROM_DEVICE = 1,
  KVC_COPY_ON_DEVICE = 2
} kvc_copy_kind;

/** A grid of `blocks` blocks of `threads` threads of one kernel. */
typedef struct kvc_grid {
  void *function; /**< Of module_function. */
  uint32_t blocks, threads;
  uint32_t shared_bytes; /**< Dynamic shared memory of a block. */
  /** The kernel's parameters as its module lays them out; read by the call. */
  const void *params;
  int64_t param_bytes;
} kvc_grid;

/** A device. Functions may be called from several threads at once. A status of
 *  a function without `diag` other than KVC_OK has no reader.
 *
 *  Without KVC_DEVICE_OWN_MEMORY its memory is what functions of this process
 *  can address, kernels are such functions, and the table may end before
 *  `flags`, as in earlier versions of this header.
 *
 *  With it `launch` is null and every other function is there. Work of one
 *  stream runs in order, that of several streams in any order that events
 *  allow. A null stream is the device's own, which waits for no other. An error
 *  of a kernel is told by a later call. */
typedef struct kvc_device {
  size_t struct_size;
  const char *name; /**< "host", "cuda", "sim". */
  void *self;       /**< First argument of every function. */
  /** `bytes` > 0 bytes with unspecified content, aligned to 64 or more. */
  kvc_status (*allocate)(void *self, int64_t bytes, kvc_diag *diag,
                         void **memory);
  /** `bytes` as allocated; work that uses them has ended. */
  kvc_status (*release)(void *self, void *memory, int64_t bytes);
  /** `bytes` bytes between two places of this device, which do not overlap;
   *  done when the call returns. */
  kvc_status (*copy)(void *self, void *to, const void *from, int64_t bytes,
                     kvc_diag *diag);
  /** Sets `bytes` bytes to the low 8 bits of `byte`; done when the call
   *  returns. */
  kvc_status (*fill)(void *self, void *to, int32_t byte, int64_t bytes,
                     kvc_diag *diag);
  /** Runs a list: launch i + 1 begins when all calls of launch i have returned.
   *  `threads` may be null. */
  kvc_status (*launch)(void *self, const kvc_launch *launches,
                       int64_t num_launches, const kvc_parallel_for *threads,
                       kvc_diag *diag);

  uint32_t flags; /**< KVC_DEVICE_OWN_MEMORY. */
  /** Fills `*info`, whose struct_size the caller has set. */
  kvc_status (*get_info)(void *self, kvc_diag *diag, kvc_device_info *info);
  /** Waits for all work of the device. */
  kvc_status (*synchronize)(void *self, kvc_diag *diag);

  /** Memory of the host that asynchronous copies read and write directly. */
  kvc_status (*allocate_host)(void *self, int64_t bytes, kvc_diag *diag,
                              void **memory);
  kvc_status (*release_host)(void *self, void *memory);

  kvc_status (*stream_create)(void *self, kvc_diag *diag, void **stream);
  /** Its work has ended. */
  kvc_status (*stream_destroy)(void *self, void *stream);
  kvc_status (*stream_synchronize)(void *self, void *stream, kvc_diag *diag);
  /** In the stream's order; memory of the host stays valid until then. */
  kvc_status (*copy_async)(void *self, void *stream, kvc_copy_kind kind,
                           void *to, const void *from, int64_t bytes,
                           kvc_diag *diag);
  kvc_status (*fill_async)(void *self, void *stream, void *to, int32_t byte,
                           int64_t bytes, kvc_diag *diag);

  /** An event that nothing was recorded in is done. */
  kvc_status (*event_create)(void *self, kvc_diag *diag, void **event);
  kvc_status (*event_destroy)(void *self, void *event);
  /** Done when the stream's work until now is. */
  kvc_status (*event_record)(void *self, void *event, void *stream,
                             kvc_diag *diag);
  /** Later work of the stream begins when the event is done. */
  kvc_status (*event_wait)(void *self, void *event, void *stream,
                           kvc_diag *diag);
  kvc_status (*event_query)(void *self, void *event, kvc_diag *diag,
                            int32_t *is_done);
  kvc_status (*event_synchronize)(void *self, void *event, kvc_diag *diag);

  /** Loads PTX text with its final NUL, or a cubin. */
  kvc_status (*module_load)(void *self, const void *code, int64_t bytes,
                            kvc_diag *diag, void **module);
  kvc_status (*module_unload)(void *self, void *module);
  /** An entry of the module, which lives as long as that does. */
  kvc_status (*module_function)(void *self, void *module, const char *symbol,
                                kvc_diag *diag, void **function);
  /** Blocks of so many threads that fit on a multiprocessor at once, 0 where
   *  none does. */
  kvc_status (*occupancy)(void *self, void *function, uint32_t threads,
                          uint32_t shared_bytes, kvc_diag *diag,
                          int32_t *blocks);
  kvc_status (*launch_grid)(void *self, void *stream, const kvc_grid *grid,
                            kvc_diag *diag);

  /** Work that is given to `stream`, which is not null, from here on is kept
   *  instead of run. */
  kvc_status (*capture_begin)(void *self, void *stream, kvc_diag *diag);
  kvc_status (*capture_end)(void *self, void *stream, kvc_diag *diag,
                            void **graph);
  /** Runs what was kept, in the stream's order. */
  kvc_status (*graph_launch)(void *self, void *graph, void *stream,
                             kvc_diag *diag);
  kvc_status (*graph_destroy)(void *self, void *graph);

  /** Events whose times can be told; null in earlier versions of this table and
   *  where a device has no clock. */
  kvc_status (*timed_event_create)(void *self, kvc_diag *diag, void **event);
  /** Between two such events, both recorded and done. */
  kvc_status (*event_elapsed)(void *self, void *begin, void *end,
                              kvc_diag *diag, double *milliseconds);
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
/** Opens the manifest at `path` that `kvc compile --target sm_N` writes, and
 *  the code (PTX or a cubin) that it names, which lies beside it. */
KVC_API kvc_status kvc_module_open_code(const char *path, kvc_diag *diag,
                                        kvc_module **module);
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
